"""assay fit: the confidences of a study's racing systems, and the detectors of its abstaining ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import (
    AsJson,
    ProgressDisplay,
    StudyPath,
    Systems,
    plain_console,
    print_json,
    say,
    selected,
    table,
)
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.kinds.hierarchy.fitting.detectors import Fit
    from assay.kinds.hierarchy.fitting.races import Calibration

Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="k=v", help="The factors to fit on; without it, the first of each."),
]


def command(study: StudyPath, system: Systems = None, where: Where = None, as_json: AsJson = False) -> None:
    """Fit what tells impossible queries, and what a race decides by, on the items of tune and dev."""
    from assay.kinds.hierarchy.fitting.detectors import fit_study
    from assay.kinds.hierarchy.fitting.races import calibrate_study
    from assay.study.study import open_study

    chosen = selected(where or [], system or [], None)
    opened = open_study(study)
    with ProgressDisplay() as progress:
        # first: a detector of a race is fitted on what the race answers
        races = calibrate_study(opened, chosen.systems, chosen.where, progress)
        fits = fit_study(opened, chosen.systems, chosen.where, progress, required=False)
    if not races and not fits:
        which = f"none of {', '.join(chosen.systems)}" if chosen.systems else "no system"
        what = f"{opened.lines.where}: {which} is `abstaining` or a race, so there is nothing to fit."
        fix = "Add one, such as abstaining(of=bm25, detector=bm25.json), or name the confidence of a race."
        raise UsageError(f"{what} {fix} See docs/abstention.md and docs/tree-systems.md")
    for race in races:
        say(f"{race.confidence.fitted.arm}: {race.path}")
    for fit in fits:
        say(f"{fit.detector.fitted.arm}: {fit.path}")
    if as_json:
        confidences = [race.as_json() for race in races]
        print_json(
            {"schema": "assay/fit/1", "confidences": confidences, "fits": [fit.as_json() for fit in fits]}
        )
        return
    if races:
        header = ["system", "way", "dev answers", f"A@{races[0].confidence.fitted.budget}"]
        plain_console().print(table(header, [row for race in races for row in _ways(race)], {2, 3}))
    if fits:
        header = ["system", "kind", "threshold", "dev items", "precision", "recall", "F1"]
        plain_console().print(table(header, [row for fit in fits for row in _rows(fit)], {2, 3, 4, 5, 6}))


def _ways(race: Calibration) -> Iterator[list[str]]:
    """What is shown on dev by each way alone, by the race, and at best, a row each."""
    origin = race.confidence.fitted
    reached, asked = origin.reached, str(origin.counts["dev"].answers)
    choices = {"race": reached.race, "uncalibrated": reached.uncalibrated, "perfect choice": reached.perfect}
    for name, share in {**reached.alone, **choices}.items():
        yield [race.system, name, asked, f"{share:.3f}"]


def _rows(fit: Fit) -> Iterator[list[str]]:
    """What a detector reached on dev, a row a kind."""
    for kind, reached in fit.detector.fitted.reached.items():
        model = fit.detector.kinds.get(kind)
        threshold = "" if model is None else f"{model.threshold:.3f}"
        figures = [_figure(each) for each in (reached.precision, reached.recall, reached.f1)]
        yield [fit.system, kind, threshold, str(reached.n), *figures]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
