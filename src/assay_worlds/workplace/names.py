"""Names that nobody has to write down: invented words, each drawn once, from an endless supply."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from assay_worlds.organisation import vocabulary

ONSETS = (
    *("b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kr", "l", "m", "n", "p", "pr"),
    *("qu", "r", "s", "sk", "st", "str", "t", "th", "tr", "v", "w", "y", "z", ""),
)
VOWELS = ("a", "e", "i", "o", "u", "ae", "ei", "ia", "oa", "ou", "y")
CODAS = (
    "",
    "l",
    "ld",
    "m",
    "n",
    "nd",
    "ng",
    "r",
    "rk",
    "rn",
    "rt",
    "s",
    "sk",
    "st",
    "t",
    "th",
    "x",
    "lm",
    "ck",
)

FIRST_NAMES = (
    *vocabulary.FIRST_NAMES,
    *(
        "Agnes",
        "Bram",
        "Carla",
        "Dmitri",
        "Elif",
        "Fergus",
        "Gunnar",
        "Helga",
        "Ivo",
        "Jana",
        "Kofi",
        "Liesl",
    ),
    *("Mirko", "Nora", "Oskar", "Petra", "Quentin", "Rosa", "Stefan", "Tilda", "Ulrich", "Vera", "Wanda"),
    *("Ximena", "Yara", "Zoltan", "Amir", "Birgit", "Cosimo", "Dagny", "Emeka", "Fiona", "Goran", "Hilde"),
)
SURNAME_ENDS = (
    "sen",
    "son",
    "berg",
    "man",
    "ski",
    "ini",
    "eira",
    "strom",
    "ton",
    "ley",
    "holt",
    "ova",
    "ez",
    "aux",
)
TOWNS = (
    *(town for town, _, _ in vocabulary.OFFICES),
    *("Graz", "Ghent", "Porto", "Malmo", "Tampere"),
    *(
        "Brno",
        "Galway",
        "Rennes",
        "Vigo",
        "Kassel",
        "Utrecht",
        "Trieste",
        "Lublin",
        "Uppsala",
        "Odense",
        "Cork",
    ),
    *(
        "Dundee",
        "Lille",
        "Girona",
        "Linz",
        "Basel",
        "Parma",
        "Tartu",
        "Kaunas",
        "Riga",
        "Split",
        "Zadar",
        "Varna",
    ),
    *(
        "Patras",
        "Izmir",
        "Haifa",
        "Tunis",
        "Rabat",
        "Dakar",
        "Accra",
        "Nairobi",
        "Pune",
        "Osaka",
        "Busan",
        "Perth",
    ),
    *("Quito", "Leon"),
)


def word(rng: Random, syllables: int) -> str:
    """An invented word of so many syllables."""
    parts = [rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(syllables)]
    return "".join(parts) + rng.choice(CODAS)


def words(rng: Random, syllables: int = 2) -> Iterator[str]:
    """Invented words without end, none twice, none shorter than four letters; "a" stands well before each."""
    seen: set[str] = set()
    while True:
        found = word(rng, syllables + (rng.random() < 0.3))
        if len(found) > 3 and found[0] not in "aeiou" and found not in seen:
            seen.add(found)
            yield found


def surnames(rng: Random) -> Iterator[str]:
    """Invented family names without end."""
    for found in words(rng, 1):
        yield (found + rng.choice(SURNAME_ENDS)).capitalize()


def person_names(rng: Random) -> Iterator[str]:
    """Full names without end, none twice."""
    families = surnames(rng)
    some: list[str] = []
    seen: set[str] = set()
    while True:
        if not some or rng.random() < 0.5:
            some.append(next(families))
        found = f"{rng.choice(FIRST_NAMES)} {rng.choice(some)}"
        if found not in seen:
            seen.add(found)
            yield found
