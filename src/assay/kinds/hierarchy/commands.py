"""assay fit: fits the confidences of a study's racing systems and the detectors of its abstaining systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

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
    from assay.kinds.hierarchy.fitted import Confidence, Detector
    from assay.kinds.hierarchy.fitting import Fit

Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="k=v", help="The factors to fit on; without it, the first of each."),
]


def command(study: StudyPath, system: Systems = None, where: Where = None, as_json: AsJson = False) -> None:
    """Fit what finds impossible queries, and what a race decides by, on the items of tune and dev."""
    from assay.kinds.hierarchy.fitting import fit_confidences, fit_detectors
    from assay.study.study import open_study

    chosen = selected(where or [], system or [], None)
    opened = open_study(study)
    with ProgressDisplay() as progress:
        # first, because a detector of a race is fitted on what the race answers
        races = fit_confidences(opened, chosen.systems, chosen.where, progress)
        detectors = fit_detectors(opened, chosen.systems, chosen.where, progress)
    if not races and not detectors:
        which = f"none of {', '.join(chosen.systems)}" if chosen.systems else "no system"
        what = f"{opened.lines.where}: {which} is `abstaining` or a race, so there is nothing to fit."
        fix = "Add one, such as abstaining(of=bm25, detector=bm25.json), or name the confidence of a race."
        raise UsageError(f"{what} {fix} See docs/abstention.md and docs/tree-systems.md")
    for race in races:
        say(f"{race.model.fitted.arm}: {race.path}")
    for detector in detectors:
        say(f"{detector.model.fitted.arm}: {detector.path}")
    if as_json:
        confidences, fits = map(_confidence_json, races), map(_detector_json, detectors)
        print_json({"schema": "assay/fit/1", "confidences": [*confidences], "fits": [*fits]})
        return
    if races:
        header = ["system", "path", "dev answers", f"A@{races[0].model.fitted.budget}"]
        plain_console().print(table(header, [row for race in races for row in _race_rows(race)], {2, 3}))
    if detectors:
        header = ["system", "kind", "threshold", "dev items", "precision", "recall", "F1"]
        rows = [row for fit in detectors for row in _detector_rows(fit)]
        plain_console().print(table(header, rows, {2, 3, 4, 5, 6}))


def _confidence_json(fit: Fit[Confidence]) -> dict[str, Any]:
    origin = fit.model.fitted
    return {
        "system": fit.system,
        "arm": origin.arm,
        "confidence": fit.path,
        "budget": origin.budget,
        "seeds": origin.seeds,
        "counts": origin.counts,
        "strengths": {name: path.strength for name, path in fit.model.paths.items()},
        "reached": origin.reached,
    }


def _detector_json(fit: Fit[Detector]) -> dict[str, Any]:
    origin = fit.model.fitted
    return {
        "system": fit.system,
        "arm": origin.arm,
        "detector": fit.path,
        "counts": origin.counts,
        "thresholds": {kind: model.threshold for kind, model in fit.model.kinds.items()},
        "reached": origin.reached,
    }


def _race_rows(fit: Fit[Confidence]) -> Iterator[list[str]]:
    """Yields the shares of dev answers that are enough: for each path, the race, and the best choice."""
    origin = fit.model.fitted
    reached, answers = origin.reached, str(origin.counts["dev"].answers)
    choices = {"race": reached.race, "uncalibrated": reached.uncalibrated, "perfect choice": reached.perfect}
    for name, share in {**reached.alone, **choices}.items():
        yield [fit.system, name, answers, f"{share:.3f}"]


def _detector_rows(fit: Fit[Detector]) -> Iterator[list[str]]:
    """Yields one row per kind of impossible query: what the detector reached on dev."""
    for kind, reached in fit.model.fitted.reached.items():
        model = fit.model.kinds.get(kind)
        threshold = "" if model is None else f"{model.threshold:.3f}"
        rates = (reached.precision, reached.recall, reached.f1)
        numbers = ["–" if each is None else f"{each:.2f}" for each in rates]
        yield [fit.system, kind, threshold, str(reached.n), *numbers]
