"""Release notes: versions of each product, the defects they repair and the defaults they move."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import cycle
from random import Random

from assay_worlds.organisation.company import Product
from assay_worlds.organisation.draft import Draft, Paragraph, prose, state
from assay_worlds.organisation.phrase import Phrase
from assay_worlds.organisation.world import Fact, World
from assay_worlds.texts import TextEntry, read_texts


class ReleaseSetting(TextEntry, frozen=True):
    """A setting, how a user would ask for it, and the values it may take."""

    name: str
    plain: str
    values: tuple[str, ...]


class ReleaseTexts(TextEntry, frozen=True):
    """What release notes say."""

    defects: tuple[Phrase, ...]
    settings: tuple[ReleaseSetting, ...]
    setting: Phrase
    upgrade: tuple[str, ...]


@cache
def release_texts() -> ReleaseTexts:
    return read_texts(ReleaseTexts, __package__, "releases")


def releases(world: World) -> Iterator[Draft]:
    """One release of each product after the other, without end."""
    streams = [_versions(product, world.rng("release", product.name)) for product in world.products]
    for stream in cycle(streams):
        yield next(stream)


def _versions(product: Product, rng: Random) -> Iterator[Draft]:
    major, minor, month = rng.randint(1, 6), 0, rng.randint(1, 6) + 12 * 2021
    ticket = rng.randint(1100, 1900)
    texts = release_texts()
    defects = cycle(rng.sample(range(len(texts.defects)), len(texts.defects)))
    values = {setting.name: rng.choice(setting.values) for setting in texts.settings}
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
        chosen = sorted(rng.sample(range(len(texts.settings)), 2))
        moved = [_move(texts.settings[index], slots, values, rng) for index in chosen]
        doc_id = f"release-{product.name.lower()}-{number:02d}"
        date = f"{month // 12}-{month % 12 + 1:02d}-{rng.randint(1, 28):02d}"
        metadata = {"kind": "release", "date": date, "version": slots["version"], "product": product.name}
        title = f"{product.name} {slots['version']} release notes"
        yield Draft(doc_id, title, metadata, _sections(product, repaired, moved, rng))


def _sections(
    product: Product, repaired: list[Fact], moved: list[Fact], rng: Random
) -> tuple[Paragraph, ...]:
    upgrade = rng.sample(release_texts().upgrade, 6)
    summary = f"This version of {product.about} is available to all tenants and signed with the new key."
    return (
        Paragraph("Summary", prose(summary, *upgrade[:2])),
        Paragraph("Repaired", tuple(map(state, repaired))),
        Paragraph("Changed", (*map(state, moved), *prose(upgrade[2]))),
        Paragraph("Upgrading", prose(*upgrade[3:])),
    )


def _repair(index: int, slots: dict[str, str]) -> Fact:
    return Fact("release", f"release/defect/{index}", release_texts().defects[index], slots["version"], slots)


def _move(setting: ReleaseSetting, slots: dict[str, str], values: dict[str, str], rng: Random) -> Fact:
    """A default that moves on from the value the release before left it at."""
    name, old = setting.name, values[setting.name]
    values[name] = rng.choice([choice for choice in setting.values if choice != old])
    own = {**slots, "setting": name, "plain": setting.plain, "old": old}
    moves = release_texts().setting
    return Fact("release", f"release/setting/{name}", moves, values[name], own, contested=True)
