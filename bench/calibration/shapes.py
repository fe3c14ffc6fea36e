"""Gates of every shape, each with systems that it must not pass and systems that it must not stop.

False go is counted where it is easiest: at the edge of what the clauses allow, with all other parts of the
gate out of the way. A clause that asks for a margin promises a gain ("gain shown"), so systems without a
gain violate it. Clauses without a margin are strict on the side where systems equal to the baseline must
not pass, and not strict on the side where they must not be stopped. Clauses about times are about medians,
or about means under a limit: plain means of times are refused by the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.calibration.families import (
    LOWER_IS_BETTER,
    SECONDS,
    ScoreFamily,
    margin_of,
    measure_of,
    median_of,
    most_gain,
    most_loss,
    unit_of,
)

SLICES = 5
GO, NO_GO = "go", "no-go"


@dataclass(frozen=True)
class Side:
    """A gate, and the true gains of the systems it is tried on: per slice, then per candidate."""

    rules: dict[str, Any]
    gains: tuple[tuple[float, ...], ...]  # one entry: the same in every slice
    word: str  # the verdict that is counted
    truth: float | None = None  # left minus right of its only clause; None if there are several


@dataclass(frozen=True)
class Shape:
    """One form of gate: what a false go, a false no-go and a find look like for a family."""

    name: str
    false_go: Callable[[ScoreFamily], Side] | None
    false_no_go: Callable[[ScoreFamily], Side] | None
    find: Callable[[ScoreFamily], Side] | None = None
    measures: frozenset[str] | None = None  # None: all
    against: bool = False  # decided as a new version against a baseline, not by a gate
    samples: int = 1  # candidates or slices of which one may decide alone
    sliced: bool = False  # these are slices
    guarded: bool = True  # false: it promises nothing, and its figures are only shown
    sums: bool = True  # of means, for which there are strict bounds

    def sides(self, family: ScoreFamily) -> dict[str, Side]:
        made = {"false go": self.false_go, "false no-go": self.false_no_go, "power": self.find}
        return {what: side(family) for what, side in made.items() if side is not None}

    def __reduce__(self) -> tuple[Callable[[str], Shape], tuple[str]]:
        return shape_named, (self.name,)  # functions within functions do not travel between processes


@dataclass(frozen=True)
class _Words:
    """The clauses of a family's measure: which way is better, and how a margin is written."""

    family: ScoreFamily

    @property
    def sign(self) -> int:
        return -1 if self.family.measure in LOWER_IS_BETTER else 1

    @property
    def up(self) -> str:
        return ">" if self.sign > 0 else "<"

    @property
    def down(self) -> str:
        return "<" if self.sign > 0 else ">"

    def of(self, system: str) -> str:
        named = f"{measure_of(self.family)}({system})"
        return named if median_of(self.family) is None else f"p50({named})"

    def value(self, gain: float) -> float:
        """What a gain in the mean is in terms of the clause."""
        return self.sign * gain * unit_of(self.family)

    @property
    def margin(self) -> str:
        return f"{'+' if self.sign > 0 else '-'} {abs(self.value(margin_of(self.family))):.12g}"

    def better(self, left: str, op: str = "=", margin: bool = True) -> str:
        """That the left side is better than the baseline; op "=": or equal."""
        return f"{left} {self.up}{op} {self.of('old')}{f' {self.margin}' if margin else ''}"


def planted(family: ScoreFamily) -> float:
    """The gain whose detection is called power: 0.05, or a quarter of the mean of times."""
    wanted = 0.25 * family.mean if family.measure == SECONDS else 0.05
    return min(wanted, most_gain(family))


def candidates(number: int) -> list[str]:
    return [f"v{index}" for index in range(number)]


def twins(number: int) -> tuple[tuple[float, ...], ...]:
    return ((0.0,) * number,)


def first(value: float, rest: float, number: int) -> tuple[float, ...]:
    return (value, *(rest,) * (number - 1))


def one_clause(margin: bool) -> dict[str, Any]:
    def false_go(family: ScoreFamily) -> Side:
        words = _Words(family)
        clause = words.better(words.of("v0"), "=" if margin else "", margin)
        return Side({"go": [clause]}, twins(1), GO, words.value(-margin_of(family) if margin else 0.0))

    def false_no_go(family: ScoreFamily) -> Side:
        words = _Words(family)
        gain = margin_of(family) if margin else 0.0
        return Side({"go": [words.better(words.of("v0"), "=", margin)]}, ((gain,),), NO_GO)

    def find(family: ScoreFamily) -> Side:
        words = _Words(family)
        return Side({"go": [words.better(words.of("v0"), "=", margin)]}, ((planted(family),),), GO)

    return {"false_go": false_go, "false_no_go": false_no_go, "find": find}


def all_of(number: int) -> dict[str, Any]:
    def rules(family: ScoreFamily) -> dict[str, Any]:
        words = _Words(family)
        return {"go": [words.better(words.of(each)) for each in candidates(number)]}

    return {
        # one twin, and the others so good that only the twin is left to stop a go
        "false_go": lambda family: Side(rules(family), (first(0.0, most_gain(family), number),), GO),
        "false_no_go": lambda family: Side(rules(family), ((margin_of(family),) * number,), NO_GO),
        "find": lambda family: Side(rules(family), ((planted(family),) * number,), GO),
    }


def one_of(number: int, largest: bool, ratio: bool = False) -> dict[str, Any]:
    """`any` of several clauses, or `max` over several systems; `ratio`: in proportion to the baseline."""

    def rules(family: ScoreFamily) -> dict[str, Any]:
        words = _Words(family)
        if ratio:
            best = "min" if family.measure in LOWER_IS_BETTER else "max"
            chosen = f"{best}({', '.join(words.of(each) for each in candidates(number))})"
            return {"go": [f"{chosen} / {words.of('old')} {words.up} 1"]}
        if not largest:
            return {"go": {"any": [words.better(words.of(each)) for each in candidates(number)]}}
        best = "min" if family.measure in LOWER_IS_BETTER else "max"
        return {"go": [words.better(f"{best}({', '.join(words.of(each) for each in candidates(number))})")]}

    return {
        "false_go": lambda family: Side(rules(family), twins(number), GO),
        "false_no_go": lambda family: Side(
            rules(family), (first(0.0 if ratio else margin_of(family), most_loss(family), number),), NO_GO
        ),
        "find": lambda family: Side(rules(family), (first(planted(family), 0.0, number),), GO),
    }


def for_some(need: int) -> dict[str, Any]:
    """`for k of` five slices."""

    def rules(family: ScoreFamily) -> dict[str, Any]:
        words = _Words(family)
        return {"go": [f"{words.better(words.of('v0'))} for {need} of part=*"]}

    def sliced(number: int, value: float, other: float) -> tuple[tuple[float, ...], ...]:
        """One candidate's gain by slice: so many slices have `value`, the rest `other`."""
        return ((value,),) * number + ((other,),) * (SLICES - number)

    return {
        # one slice fewer than asked for is far above, the others are equal to the baseline
        "false_go": lambda family: Side(rules(family), sliced(need - 1, most_gain(family), 0.0), GO),
        "false_no_go": lambda family: Side(
            rules(family), sliced(need, margin_of(family), most_loss(family)), NO_GO
        ),
        "find": lambda family: Side(rules(family), sliced(SLICES, planted(family), 0.0), GO),
    }


def kill_any() -> dict[str, Any]:
    def rules(family: ScoreFamily, op: str) -> dict[str, Any]:
        words = _Words(family)
        clause = f"{words.of('v0')} {words.down}{op} {words.of('old')}"
        return {"kill": {"any": [f"{clause} where part=p{index}" for index in range(SLICES)]}}

    def edge(family: ScoreFamily) -> tuple[tuple[float, ...], ...]:
        return ((0.0,), *((most_gain(family),) for _ in range(SLICES - 1)))

    def lost(family: ScoreFamily) -> tuple[tuple[float, ...], ...]:
        return ((max(-0.2, most_loss(family)),), *((0.0,) for _ in range(SLICES - 1)))

    return {
        "false_go": lambda family: Side(rules(family, "="), edge(family), GO),
        "false_no_go": lambda family: Side(rules(family, ""), twins(1), NO_GO),
        "find": lambda family: Side(rules(family, ""), lost(family), NO_GO),
    }


def equivalence() -> dict[str, Any]:
    def side(family: ScoreFamily, gain: float, word: str) -> Side:
        words = _Words(family)
        band = abs(words.value(margin_of(family)))
        clause = f"{words.of('v0')} within {band:.12g} of {words.of('old')}"
        return Side({"go": [clause]}, ((gain,),), word)

    return {
        "false_go": lambda family: side(family, -margin_of(family), GO),
        "false_no_go": lambda family: side(family, -margin_of(family), NO_GO),
        "find": lambda family: side(family, 0.0, GO),
    }


def against_number(guarded: bool) -> dict[str, Any]:
    """One system against its own true mean; unguarded: against a number 0.05 above it."""

    def side(family: ScoreFamily, op: str, gain: float, word: str) -> Side:
        words = _Words(family)
        clause = f"{words.of('v0')} {words.up}{op} {abs(words.value(family.mean)):.12g}"
        rules = {"go": [f"{clause} on interval" if guarded else clause]}
        return Side(rules, ((gain,),), word, words.value(gain))

    if not guarded:
        return {
            "false_go": lambda family: side(family, "=", -min(0.05, -most_loss(family)), GO),
            "false_no_go": lambda family: side(family, "=", 0.0, NO_GO),
        }
    return {
        "false_go": lambda family: side(family, "", 0.0, GO),
        "false_no_go": lambda family: side(family, "=", 0.0, NO_GO),
        "find": lambda family: side(family, "=", planted(family), GO),
    }


def against_baseline() -> dict[str, Any]:
    """A new version against a stored one: a false alarm with equal versions, a find with a loss of 0.1."""
    return {
        "false_go": None,
        "false_no_go": lambda _: Side({}, twins(1), NO_GO),
        "find": lambda family: Side({}, ((max(-0.1, most_loss(family)),),), NO_GO),
    }


_SCORES = frozenset({"nDCG@10", "Success@10"})  # versions are never compared by their times
SHAPES: tuple[Shape, ...] = (
    Shape("one clause + margin", **one_clause(margin=True)),
    Shape("one clause", **one_clause(margin=False)),
    Shape("all of 3", **all_of(3)),
    Shape("any of 3", **one_of(3, largest=False), samples=3),
    Shape("any of 10", **one_of(10, largest=False), samples=10),
    Shape("max of 3", **one_of(3, largest=True), samples=3),
    Shape("max of 10", **one_of(10, largest=True), samples=10),
    Shape("for 1 of 5", **for_some(1), samples=SLICES, sliced=True),
    Shape("for 2 of 5", **for_some(2), samples=SLICES, sliced=True),
    Shape("kill any of 5", **kill_any(), samples=SLICES, sliced=True),
    Shape("equivalence", **equivalence()),
    Shape("number, interval", **against_number(guarded=True)),
    Shape("number, estimate", **against_number(guarded=False), guarded=False),
    Shape("against a baseline", **against_baseline(), measures=_SCORES, against=True),
    Shape("max of 10, ratio", **one_of(10, largest=True, ratio=True), samples=10, sums=False),
)
BY_NAME = {shape.name: shape for shape in SHAPES}


def shape_named(name: str) -> Shape:
    return BY_NAME[name]
