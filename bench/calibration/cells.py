"""The cells of the calibration table: a gate shape, a family, a number of items, looks.

Every pair of shape and family is a cell; their sizes rotate, so that every shape and every family meets every
size. Looks, seeds and `strict` come on top. A cell that the program cannot decide yet says so in its line.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.calibration import foreign, foreign_later, held_out
from bench.calibration.families import DETERMINISTIC, FAMILIES, SEEDED, ScoreFamily, median_of
from bench.calibration.shapes import BY_NAME, SHAPES, SLICES, Shape

SIZES = (30, 50, 100, 300, 1_000)
SMALL_SET = 42
OUTSIDE_SHAPES = (
    "one clause + margin",
    "one clause",
    "max of 10",
    "for 1 of 5",
    "all of 3",
    "kill any of 5",
    "number, interval",
    "equivalence",
)
CATASTROPHES = "catastrophes"
# Families whose truth hangs on a share of the items, or of their clusters. A sample may hold none of them.
HANGS_ON = {CATASTROPHES: 1 / 30, "few large gains": 0.12, "few large losses": 0.12, "memory sessions": 0.25}
TOGETHER = {"memory sessions": foreign_later.MemorySessions.turns}  # items per cluster
ALPHA = 0.05


@dataclass(frozen=True)
class Cell:
    """One line of the table."""

    shape: Shape
    family: ScoreFamily
    n: int  # items at the first look if looks are not planned, at the last one if they are
    looks: int = 1
    planned: bool = True
    strict: bool = False

    @property
    def name(self) -> str:
        looks = f", {self.looks} looks {'planned' if self.planned else 'on advice'}" if self.looks > 1 else ""
        strict = ", strict" if self.strict else ""
        return f"{self.shape.name} · {self.family.name} · {self.n}{looks}{strict}"

    @property
    def shown_only(self) -> str:
        """Why no budget is asked of this cell; empty if one is."""
        if not self.shape.guarded:
            return "not guarded"
        return "strict is the promise" if self.rare and not self.strict else ""

    @property
    def rare(self) -> bool:
        """Whether one of the samples that the gate looks at may well hold none of the items that matter."""
        if self.family.name == CATASTROPHES:
            return True
        items = self.n // SLICES if self.shape.sliced else self.n
        return self.shape.samples * chance_of_none(self.family.name, items) > ALPHA


def chance_of_none(family: str, items: int) -> float:
    """The chance that a sample holds none of the items that the truth of a family hangs on.

    A share q of n items (or clusters) is in none of them with a chance of (1 - q)^n.
    """
    share = HANGS_ON.get(family, 1.0)
    return float((1 - share) ** (items / TOGETHER.get(family, 1)))


def outside_families() -> tuple[ScoreFamily, ...]:
    """Families whose authors did not know the methods. Those held out came when the methods were final."""
    return (*foreign.FAMILIES, *foreign_later.FAMILIES, *held_out.FAMILIES)


def fits(shape: Shape, family: ScoreFamily) -> bool:
    return shape.measures is None or family.measure in shape.measures


def pairs() -> list[Cell]:
    """Every shape with every family, at sizes that rotate."""
    found = []
    for place, shape in enumerate(SHAPES):
        for other, family in enumerate(FAMILIES):
            if fits(shape, family):
                found.append(Cell(shape, family, SIZES[(2 * place + other) % len(SIZES)]))
    times = [family for family in FAMILIES if median_of(family) is not None]
    found += [Cell(BY_NAME["one clause"], family, n) for family in times for n in (30, 100, 300)]
    return list(dict.fromkeys(found))


def strict_cells() -> list[Cell]:
    """What is too rare to be seen, again, under `strict`, where the budget is promised."""
    return [
        Cell(each.shape, each.family, each.n, strict=True)
        for each in (*pairs(), *outside_cells())
        if each.rare and each.shape.guarded and each.shape.sums and not each.shape.against
    ]


def looks_cells() -> list[Cell]:
    """Successive looks: planned up to a size, and as the advice on the next size leads."""
    by_name = {family.name: family for family in FAMILIES}
    chosen = [(BY_NAME["one clause + margin"], by_name["zero-inflated"], looks) for looks in (3, 5, 10)]
    chosen += [(BY_NAME["one clause"], by_name["binary"], looks) for looks in (3, 10)]
    chosen += [(BY_NAME["max of 3"], by_name["ties"], 5), (BY_NAME["for 1 of 5"], by_name["beta"], 5)]
    chosen += [(BY_NAME["all of 3"], by_name["clusters"], 5)]
    return [
        Cell(shape, family, 300 if planned else 50, looks, planned)
        for shape, family, looks in chosen
        for planned in (True, False)
    ]


def seeds_cells() -> list[Cell]:
    """Three seeds per system, alike and with a deviation of their own."""
    chosen = ("one clause + margin", "one clause", "max of 3", "number, interval")
    sizes = {"one clause": (100, 500)}
    return [
        Cell(BY_NAME[shape], family, n)
        for shape in chosen
        for family in SEEDED
        for n in sizes.get(shape, (300,))
    ]


def hard_cells() -> list[Cell]:
    """Shapes and families that are hardest in small studies, where the rotation gives them a large one."""
    by_name = {family.name: family for family in FAMILIES}
    chosen = [("number, interval", family, 30) for family in ("lognormal", "mixture", "zero-inflated")]
    chosen += [("number, interval", "mixture", 50), ("any of 10", "clusters", 100)]
    found = [Cell(BY_NAME[shape], by_name[family], n) for shape, family, n in chosen]
    rare = [("one clause", 30), ("one clause", 50), ("max of 10", 30)]
    return found + [
        Cell(BY_NAME[shape], by_name[CATASTROPHES], n, strict=strict)
        for shape, n in rare
        for strict in (False, True)
    ]


def baseline_cells() -> list[Cell]:
    """A new version against a stored one at the size of a small golden set."""
    chosen = [DETERMINISTIC, *(family for family in FAMILIES if family.name in {"binary", "zero-inflated"})]
    return [Cell(BY_NAME["against a baseline"], family, SMALL_SET) for family in chosen]


def outside_cells() -> list[Cell]:
    """The families of others, each with the main shapes at sizes that rotate."""
    found = []
    for place, family in enumerate(outside_families()):
        for other, name in enumerate(OUTSIDE_SHAPES):
            if fits(BY_NAME[name], family):
                found.append(Cell(BY_NAME[name], family, SIZES[(place + 2 * other) % len(SIZES)]))
    return found


def every_cell() -> list[Cell]:
    """All cells, each name once."""
    return [
        *pairs(),
        *strict_cells(),
        *looks_cells(),
        *seeds_cells(),
        *hard_cells(),
        *baseline_cells(),
        *outside_cells(),
    ]


def quick_cells() -> list[Cell]:
    """A few cells that show in a minute that the simulation runs and that nothing is far off."""
    by_name = {family.name: family for family in (*FAMILIES, *SEEDED)}
    chosen = (
        ("one clause + margin", "zero-inflated"),
        ("one clause", "binary"),
        ("max of 10", "zero-inflated"),
        ("for 1 of 5", "ties"),
        ("kill any of 5", "clusters"),
        ("number, interval", "zero-inflated"),
    )
    return [Cell(BY_NAME[shape], by_name[family], 50) for shape, family in chosen]
