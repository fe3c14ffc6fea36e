"""assay fit: the detectors of a study's abstaining systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.progress import Shown
from assay.cli.run import Systems, selected
from assay.cli.showing import plain_console, print_json, say, table

if TYPE_CHECKING:
    from assay.detecting import Fit

Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="k=v", help="The factors to fit on; without it, the first of each."),
]


def command(study: StudyPath, system: Systems = None, where: Where = None, as_json: AsJson = False) -> None:
    """Fit what tells impossible queries: weights on the items of tune, thresholds on those of dev."""
    from assay.detecting import fit_study
    from assay.study import open_study

    chosen = selected(where or [], system or [], None)
    with Shown() as progress:
        fits = fit_study(open_study(study), chosen.systems, chosen.where, progress)
    for fit in fits:
        say(f"{fit.detector.fitted.arm}: {fit.path}")
    if as_json:
        print_json({"schema": "assay/fit/1", "fits": [fit.as_json() for fit in fits]})
        return
    header = ["system", "kind", "threshold", "dev items", "precision", "recall", "F1"]
    plain_console().print(table(header, [row for fit in fits for row in _rows(fit)], {2, 3, 4, 5, 6}))


def _rows(fit: Fit) -> Iterator[list[str]]:
    """What a detector reached on dev, a row a kind."""
    for kind, reached in fit.detector.fitted.reached.items():
        model = fit.detector.kinds.get(kind)
        threshold = "" if model is None else f"{model.threshold:.3f}"
        figures = [_figure(each) for each in (reached.precision, reached.recall, reached.f1)]
        yield [fit.system, kind, threshold, str(reached.n), *figures]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
