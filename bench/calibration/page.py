"""The results as files: JSON in bench/results, and the page docs/calibration.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import size
from bench.calibration import foreign, foreign_later, held_out
from bench.calibration.cells import every_cell, outside_families
from bench.calibration.families import LIMIT
from bench.calibration.intervals import (
    HIGHEST,
    LOWEST,
    PROMISED_FROM,
    SIZES,
    IntervalResult,
    every_family,
)
from bench.calibration.power import EARLIER, ITEMS, MOST_LOST
from bench.calibration.program import RESAMPLES
from bench.calibration.simulate import BUDGET, DOUBTFUL, CellResult, Rate

RESULTS = size.RESULTS / "calibration"
PAGE = (size.RESULTS if size.SMALL else Path(__file__).parents[2] / "docs") / "calibration.md"
WORDS = {"kept": "kept", "FAILS": "**FAILS**", "not yet": "not yet", "shown": "shown only"}
COUNTED = {**WORDS, "FAILS": "over budget"}

LEAD = """# Calibration

This page shows how often verdicts are wrong, and how often intervals hold the truth, on simulated
studies in which the truth is known. `make calibration` makes it again, and `make calibration-quick`
runs a few cells in a minute. The families of scores are in `bench/calibration/families.py`, the gates
in `bench/calibration/shapes.py`. The study is decided by the same code as a real one, with
{resamples} resamples.

## Verdicts

Each line is a gate, a family of scores and a number of items, with {studies} studies per rate: more
if the first studies leave it in doubt (a rate above {doubtful}).
*False go* is the share of go among systems that violate the gate. *False no-go* is the share of no-go
among systems that satisfy it. Both are counted at the edge, where mistakes are easiest, and the budget
of each is {budget}. In brackets are the 99 % lower and upper Monte Carlo bounds. A cell fails if the
lower bound of a rate is above the budget.

*Coverage* is how often the interval of the gate's only clause held the truth, at every look if there
are several. *Width* is its mean width relative to the plain percentile interval, or to the interval of
a single look. *Power* is the share of right decisions with a planted gain of 0.05 (a quarter of the
mean for times). For kills it is a loss of 0.2 in one slice, against a baseline a loss of 0.1, for
equivalence no difference.

Clauses about times are about medians. If the shapes of times differ and only their means are known, clauses
are about means under a limit of {limit} s: a plain mean of times is refused.

A cell is *shown only* if its gate promises nothing: clauses decided on the estimate, and, without
`strict`, families whose truth hangs on items so rare that a sample of this size may well hold none of
them. A cell is *not yet* if the program cannot decide it as promised. Figures beside it are those of a
plain decision.
"""
OUTSIDE = {
    "Families of authors who did not know the methods; some methods changed after they met them": (
        *foreign.FAMILIES,
        *foreign_later.FAMILIES,
    ),
    "Families of such an author that came when the methods were final, simulated once": held_out.FAMILIES,
}
INTERVALS = """
## Intervals

How often the 95 % interval of a table holds the truth: of one system's mean, and of its difference from
the baseline. From {promised} items on it is to be {low} to {high}. A figure is in bold if it lies outside and
chance in the simulation does not explain that. After the slash is the mean width relative to the plain
percentile interval. A mean of times without a limit gets no interval. Shown only, as above, are families
and sizes whose samples may well hold none of the items that matter: of catastrophes one sample of 30 in
three, of memory sessions one of 50 in eleven. Above the band are families in which hardly any item
differs from the others (*ceiling*, *ties*): as in a sign test, five items that differ show nothing at
95 %, and no interval that is honest about that can hold the truth less often.
"""
POWER = """
## Power beside an earlier version

One clause `M(new) >= M(old)`, one look, {items} items, a gain of 2.8 standard errors if the family has
room for it, and the same studies for both versions. At most {most} may be lost since commit {earlier}.
"""


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def load(part: str) -> Any:
    file = RESULTS / f"{part}.json"
    return json.loads(file.read_text()) if file.exists() else None


def save(part: str, found: Any) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{part}.json").write_text(json.dumps(found, indent=1) + "\n")


def results() -> list[CellResult]:
    """The stored cells, in the order of the table."""
    stored = load("cells") or {}
    return [CellResult.from_json(stored[cell.name]) for cell in every_cell() if cell.name in stored]


def failing() -> list[str]:
    """Everything that exceeds its limit, in words."""
    found = [f"{each.name}: {', '.join(each.broken)}" for each in results() if each.state == "FAILS"]
    found += [
        f"interval of {each.family} at n = {each.n}: {', '.join(each.off)}"
        for each in _intervals()
        if each.fails
    ]
    lost = {
        name: one["then"] - one["now"]
        for name, one in (load("power") or {"families": {}})["families"].items()
    }
    return found + [
        f"power of {name}: {percent(loss)} lost" for name, loss in lost.items() if loss > MOST_LOST
    ]


def write() -> None:
    """The page from all stored results."""
    lines = [*_cells(results()), *_interval_table(_intervals()), *_power_table(load("power"))]
    PAGE.write_text("\n".join(lines).rstrip() + "\n")


def _intervals() -> list[IntervalResult]:
    return [IntervalResult.from_json(each) for each in load("intervals") or []]


def _cells(found: Sequence[CellResult]) -> Iterator[str]:
    sizes = {rate.studies for each in found for side, rate in each.rates.items() if side != "power"} or {0}
    studies = " to ".join(map(str, sorted({min(sizes), max(sizes)})))
    budget = percent(BUDGET, 0)
    yield LEAD.format(
        limit=LIMIT, studies=studies, resamples=f"{RESAMPLES:,}", budget=budget, doubtful=percent(DOUBTFUL, 0)
    ).rstrip()
    states = [each.state for each in found]
    counts = [f"{states.count(state)} {word}" for state, word in COUNTED.items() if state in states]
    yield f"\n**{len(found)} cells: {', '.join(counts)}.**\n"
    ours = [each for each in found if each.family not in {family.name for family in outside_families()}]
    yield from _table(ours)
    for title, families in OUTSIDE.items():
        if theirs := [each for each in found if each.family in {family.name for family in families}]:
            yield f"\n{title}:\n"
            yield from _table(theirs)


def _table(found: Sequence[CellResult]) -> Iterator[str]:
    yield "| gate · family · items | false go | false no-go | coverage | width | power | budget |"
    yield "|---" * 7 + "|"
    for each in found:
        sides = [_rate(each.rates.get(side), side in each.broken) for side in ("false go", "false no-go")]
        power = each.rates.get("power")
        why = f": {each.not_yet or each.shown_only}" if each.not_yet or each.shown_only else ""
        figures = [
            percent(each.coverage.share) if each.coverage else "",
            f"{each.width:.2f}" if each.width else "",
            percent(power.share, 0) if power else "",
        ]
        yield f"| {' | '.join([each.name, *sides, *figures, WORDS[each.state] + why])} |"


def _rate(rate: Rate | None, exceeds: bool) -> str:
    if rate is None:
        return ""
    shown = f"{percent(rate.share)} ({100 * rate.low:.1f}–{100 * rate.high:.1f})"
    return f"**{shown}**" if exceeds else shown


def _interval_table(found: Sequence[IntervalResult]) -> Iterator[str]:
    if not found:
        return
    yield INTERVALS.format(promised=PROMISED_FROM, low=percent(LOWEST, 0), high=percent(HIGHEST, 0))
    by_place = {(each.family, each.n): each for each in found}
    for what in ("estimate", "comparison"):
        yield (
            f"| {what}, {found[0].estimate.studies:,} studies | "
            + " | ".join(f"n = {n}" for n in SIZES)
            + " |"
        )
        yield "|---" * (1 + len(SIZES)) + "|"
        for family in every_family():
            cells = [_coverage(by_place.get((family.name, n)), what) for n in SIZES]
            yield f"| {family.name} | {' | '.join(cells)} |"
        yield ""


def _coverage(found: IntervalResult | None, what: str) -> str:
    if found is None:
        return ""
    rate, width = getattr(found, what), getattr(found, f"{what}_width")
    if width is None:
        return "none given"
    covered = f"**{percent(rate.share)}**" if what in found.off else percent(rate.share)
    return f"{covered} / {width:.2f}"


def _power_table(found: dict[str, Any] | None) -> Iterator[str]:
    if found is None:
        return
    yield POWER.format(items=ITEMS, most=f"{100 * MOST_LOST:.0f} points", earlier=EARLIER)
    if found["skipped"]:
        yield f"Not compared: {found['skipped']}."
        return
    yield f"| family, {found['studies']:,} studies | gain | now | {EARLIER} | |"
    yield "|---|---|---|---|---|"
    for name, one in found["families"].items():
        state = "**FAILS**" if one["then"] - one["now"] > MOST_LOST else "kept"
        yield f"| {name} | {one['gain']:.3g} | {percent(one['now'])} | {percent(one['then'])} | {state} |"
