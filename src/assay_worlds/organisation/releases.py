"""Release notes: versions of each product, the defects they repair and the defaults they move."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from random import Random

from assay_worlds.organisation.draft import Draft, Paragraph, prose, state
from assay_worlds.organisation.release_text import DEFECTS, SETTING, SETTINGS, UPGRADE
from assay_worlds.organisation.world import Fact, Product, World


def releases(world: World) -> Iterator[Draft]:
    """One release of each product after the other, without end."""
    streams = [_versions(product, world.rng("release", product.name)) for product in world.products]
    for stream in cycle(streams):
        yield next(stream)


def _versions(product: Product, rng: Random) -> Iterator[Draft]:
    major, minor, month = rng.randint(1, 6), 0, rng.randint(1, 6) + 12 * 2021
    ticket = rng.randint(1100, 1900)
    defects = cycle(rng.sample(range(len(DEFECTS)), len(DEFECTS)))
    values = {name: rng.choice(choices) for name, _, choices in SETTINGS}
    number = 0
    while True:
        number += 1
        month += rng.randint(1, 3)
        major, minor = (major + 1, 0) if minor > 2 and rng.random() < 0.3 else (major, minor + 1)
        slots = {"product": product.name, "version": f"{major}.{minor}"}
        repaired = []
        for _ in range(2):
            ticket += rng.randint(3, 60)
            repaired.append(_repair(next(defects), {**slots, "ticket": f"{product.prefix}-{ticket}"}))
        moved = [_move(index, slots, values, rng) for index in sorted(rng.sample(range(len(SETTINGS)), 2))]
        doc_id = f"release-{product.name.lower()}-{number:02d}"
        date = f"{month // 12}-{month % 12 + 1:02d}-{rng.randint(1, 28):02d}"
        metadata = {"kind": "release", "date": date, "version": slots["version"], "product": product.name}
        title = f"{product.name} {slots['version']} release notes"
        yield Draft(doc_id, title, metadata, _sections(product, repaired, moved, rng))


def _sections(
    product: Product, repaired: list[Fact], moved: list[Fact], rng: Random
) -> tuple[Paragraph, ...]:
    upgrade = rng.sample(UPGRADE, 6)
    summary = f"This version of {product.about} is available to all tenants and signed with the new key."
    return (
        Paragraph("Summary", prose(summary, *upgrade[:2])),
        Paragraph("Repaired", tuple(map(state, repaired))),
        Paragraph("Changed", (*map(state, moved), *prose(upgrade[2]))),
        Paragraph("Upgrading", prose(*upgrade[3:])),
    )


def _repair(index: int, slots: dict[str, str]) -> Fact:
    return Fact("release", f"release/defect/{index}", DEFECTS[index], slots["version"], slots)


def _move(index: int, slots: dict[str, str], values: dict[str, str], rng: Random) -> Fact:
    """A default that moves on from the value the release before left it at."""
    name, plain, choices = SETTINGS[index]
    old = values[name]
    values[name] = rng.choice([choice for choice in choices if choice != old])
    own = {**slots, "setting": name, "plain": plain, "old": old}
    return Fact("release", f"release/setting/{name}", SETTING, values[name], own, contested=True)
