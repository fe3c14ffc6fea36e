"""Makes invented names without end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from assay_worlds.organisation.world import company
from assay_worlds.texts import TextEntry, read_texts


class NameParts(TextEntry, frozen=True):
    """The parts of names."""

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    codas: tuple[str, ...]
    first_names: tuple[str, ...]
    surname_ends: tuple[str, ...]
    towns: tuple[str, ...]
    team_functions: tuple[str, ...]
    service_forms: tuple[str, ...]
    vendor_forms: tuple[str, ...]
    customer_forms: tuple[str, ...]
    asset_prefixes: tuple[str, ...]
    code_prefixes: tuple[str, ...]


@cache
def parts() -> NameParts:
    return read_texts(NameParts, __package__, "names")


@cache
def towns() -> tuple[str, ...]:
    """Returns the towns with offices. The towns of the small organisation come first."""
    return (*(office.name for office in company().offices), *parts().towns)


def word(rng: Random, syllables: int) -> str:
    """Returns an invented word with `syllables` syllables."""
    known = parts()
    spoken = [rng.choice(known.onsets) + rng.choice(known.vowels) for _ in range(syllables)]
    return "".join(spoken) + rng.choice(known.codas)


def words(rng: Random, syllables: int = 2) -> Iterator[str]:
    """Yields invented words without end and without repetition.

    A word has four letters or more, and begins with a consonant.
    """
    seen: set[str] = set()
    while True:
        found = word(rng, syllables + (rng.random() < 0.3))
        if len(found) > 3 and found[0] not in "aeiou" and found not in seen:
            seen.add(found)
            yield found


def surnames(rng: Random) -> Iterator[str]:
    """Yields invented family names without end."""
    for found in words(rng, 1):
        yield (found + rng.choice(parts().surname_ends)).capitalize()


def person_names(rng: Random) -> Iterator[str]:
    """Yields full names without end and without repetition."""
    families = surnames(rng)
    first_names = (*company().first_names, *parts().first_names)
    some: list[str] = []
    seen: set[str] = set()
    while True:
        if not some or rng.random() < 0.5:
            some.append(next(families))
        found = f"{rng.choice(first_names)} {rng.choice(some)}"
        if found not in seen:
            seen.add(found)
            yield found
