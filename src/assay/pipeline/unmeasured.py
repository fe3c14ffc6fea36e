"""What measures ask for and nothing in a study has: a name that is misspelt, a part that no answer holds.

Such a measure applies to nothing, and would be n/a without a word. What data, judges and systems say of
themselves is known before a run; stages and levels are, for most systems, known only from their answers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from assay.core.block import RESPONSE_PARTS, Block, View
from assay.core.dataset import Dataset
from assay.core.errors import AssayError, Problem, did_you_mean
from assay.core.protocols import AnswerReferringMeasure, Measure, Reference
from assay.core.records import FORBIDDEN, INTENT, Arm, Budget
from assay.core.yaml_lines import Loc
from assay.gates.verdict import measures_of
from assay.measures.marks import REVIEW
from assay.study.study import Study, StudyReferringMeasure

_OURS = "assay"  # the package of whose plugins every name is known
_RELEVANCE = "relevance"

# ---------------------------------------------------------------------------------- before a run


def name_problems(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure]
) -> Iterator[Problem]:
    """Flags, labels and stages that measures name and that neither data, judges nor systems can have."""
    for measure in measures:
        for what, name, known in _references(study, datasets, measure):
            if name not in known:
                said = f"{measure.name}: there is no {what} {name!r}"
                yield study.lines.problem(_place(study, measure), said, did_you_mean(name, known))


def measure_problems(study: Study, measures: Sequence[Measure]) -> Iterator[Problem]:
    """Measures that cannot be computed, whatever comes back: those that can tell are tried."""
    for measure in measures:
        try:
            getattr(measure, "check", lambda: None)()
        except AssayError as error:
            yield study.lines.problem(_place(study, measure), str(error))


def _references(study: Study, datasets: Mapping[str, Dataset], measure: Measure) -> Iterator[Reference]:
    if isinstance(measure, StudyReferringMeasure):
        yield from measure.references(study, datasets)
    against = getattr(measure, "against", None)
    if against is not None:
        yield Reference("system", against, {*study.file.systems})
    if _names_label(measure) and all(_is_ours(judge) for judge in study.judges):
        known = _labels(study, datasets)
        for label in getattr(measure, "seen_in", View()).labels:
            yield Reference("label", label, known)


def _names_label(measure: Measure) -> bool:
    """Whether a measure reads the label that a study tells it to."""
    named = {each.name for each in dataclasses.fields(measure)} if dataclasses.is_dataclass(measure) else ()
    return "labels" in measure.needs and "label" in named


def _is_ours(plugin: object) -> bool:
    return type(plugin).__module__.partition(".")[0] == _OURS


def _labels(study: Study, datasets: Mapping[str, Dataset]) -> set[str]:
    """What judgments may be called: by judges, by people, by whoever made the data."""
    known = {_RELEVANCE, REVIEW, INTENT, FORBIDDEN}
    for judge in study.judges:
        known |= {*judge.closed_labels, *getattr(judge, "opens", ()), getattr(judge, "label", _RELEVANCE)}
    return known.union(*(dataset.label_definitions for dataset in datasets.values()))


def _place(study: Study, measure: Measure) -> Loc:
    """Where the study file names a measure."""
    for index, each in enumerate(study.measures):
        if each.name == measure.name:
            return ("measures", index)
    for gate in study.gates:
        if any(each.name == measure.name for each in measures_of([gate], study)):
            return ("gates", gate.name)
    return ("figures",)


def missing_part_warnings(study: Study, arms: Sequence[Arm], measures: Sequence[Measure]) -> Iterator[str]:
    """Measures that will be n/a because systems never give what they need.

    Of what some system gives, contexts alone are worth a word: any system that answers could show some, but
    that a flat one has no trace of a walk is no slip.
    """
    gives = {arm.system: study.gives(arm) for arm in arms}
    somewhere = RESPONSE_PARTS if None in gives.values() else frozenset().union(*filter(None, gives.values()))
    left_out: dict[tuple[str, str], list[str]] = {}
    for name, given in gives.items():
        told = RESPONSE_PARTS - (somewhere - {"contexts"}) - (given if given is not None else RESPONSE_PARTS)
        for measure in measures:
            if missing := sorted(measure.needs & told):
                left_out.setdefault((name, " and no ".join(missing)), []).append(measure.name)
    for (name, parts), names in left_out.items():
        verb = "does" if len(names) == 1 else "do"
        yield f"{name} gives no {parts}: {', '.join(names)} {verb} not apply to it"


def budget_problems(study: Study, arms: Sequence[Arm]) -> Iterator[Problem]:
    """Systems that give contexts for some of the budgets alone: a response has one for each."""
    for arm in arms:
        given: frozenset[Budget] = getattr(study.system(arm), "budgets", frozenset())
        if given and (missing := [budget for budget in study.budgets if budget not in given]):
            named = ", ".join("inf" if budget is None else str(budget) for budget in missing)
            what = f"budgets asks for {named}, and its contexts have no place for that"
            fix = f"Add {named} to its contexts, or take it out of budgets."
            yield study.lines.problem(("systems", arm.system), what, fix)


# ----------------------------------------------------------------------------------- after a run


def unknown_name_warnings(measures: Sequence[Measure], blocks: Sequence[Block]) -> Iterator[str]:
    """Stages and levels that measures name and that no answer and no tree has."""
    for measure in (each for each in measures if isinstance(each, AnswerReferringMeasure)):
        for what, name, known in measure.references_in(blocks):
            if known and name not in known:
                said = f"no answer has the {what} {name!r}. {did_you_mean(name, known)}"
                yield f"{measure.name} has no value: {said}"
