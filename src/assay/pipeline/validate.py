"""The validate stage: it checks a study, its data and its gates without asking any system."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.dataset import Condition, Dataset, numbers
from assay.core.errors import AssayError, DataError, Problem, did_you_mean
from assay.core.optional import (
    BudgetedSystem,
    CheckedMeasure,
    CheckingSystem,
    ExaminingJudge,
    LabellingJudge,
    OpeningJudge,
    PairMeasure,
    ShallowJudge,
)
from assay.core.protocols import Measure, Reference
from assay.core.records import FORBIDDEN, INTENT, Arm
from assay.core.registry import CHECKS, Registry, as_plugin_error
from assay.core.shown import evidence_problems
from assay.core.yaml_lines import Loc
from assay.gates.expansion import expand_for_each
from assay.gates.figures import figure_clauses, measures_of_figures
from assay.gates.gate import measures_of, operands_of
from assay.gates.operand import StatisticOperand, calls_in
from assay.gates.syntax import Clause
from assay.measures.declaration import cutoff_of, view_of
from assay.measures.marks import REVIEW
from assay.measures.reach import cut_list_warnings, inapplicable_measures
from assay.pipeline.plugins import plugins_for
from assay.pipeline.warnings import (
    broken_measure_warnings,
    correction_warnings,
    data_warnings,
    empty_answer_warnings,
    fault_warnings,
    imported_time_warnings,
    lower_bound_warnings,
    missing_part_warnings,
    small_sample_warnings,
    unknown_name_warnings,
    unused_mark_warnings,
)
from assay.study.study import Study, StudyReferringMeasure, examine_study

if TYPE_CHECKING:
    from assay.pipeline.evaluation import Evaluation

OWN_PACKAGE = "assay"  # the labels of this package's plugins are all known
RELEVANCE = "relevance"


@dataclass(frozen=True)
class Validation:
    """The size of a study, the names of its parts, and warnings about possible mistakes."""

    study: str
    items: int
    passages: int
    arms: list[str]
    measures: list[str]
    gates: list[str]
    warnings: list[str]

    @property
    def summary(self) -> str:
        parts = {"arm": self.arms, "measure": self.measures, "gate": self.gates}
        counts = [f"{len(named)} {word}{'s' * (len(named) != 1)}" for word, named in parts.items()]
        return f"{self.study}: ok, {self.items} items, {self.passages} passages, {', '.join(counts)}"

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/validation/1", **asdict(self)}


def validate_study(path: str | Path, registry: Registry | None = None) -> Validation:
    """Opens the study and its data, and checks both. One DataError has all problems."""
    study, problems = examine_study(path, registry=registry)
    if not problems:
        return check_study(study, study.arms)
    # the data is read too, unless the study has problems in naming it
    if not any(problem.field.partition(".")[0] in {"data", "split", "chunk"} for problem in problems):
        try:
            study.dataset(Arm(""))
        except DataError as error:
            problems = [*problems, *error.problems]
    raise DataError(problems)


def check_study(study: Study, arms: Sequence[Arm]) -> Validation:
    """Checks a study before any system is asked: the data of some arms, systems, measures, judges, slices."""
    datasets: dict[str, Dataset] = {}
    problems: list[Problem] = []
    for arm in arms:
        try:
            dataset = study.dataset(arm)
            study.system_identity(arm)
            system = study.system(arm)
            if isinstance(system, CheckingSystem):
                problems += system.problems(dataset, study.kit)
            datasets[arm.name] = dataset
        except DataError as error:
            problems += error.problems
        except AssayError as error:
            problems.append(study.lines.problem(["systems", arm.system], str(error)))
    read = [*study.measures, *measures_of(study.gates, study), *measures_of_figures(study)]
    measures = {each.name: each for each in read}
    problems += _slice_problems(study, datasets)
    found, warnings = _judge_problems(study, datasets, list(measures.values()))
    problems += found
    for measure in measures.values():
        try:  # a measure may be able to tell that it cannot be computed
            if isinstance(measure, CheckedMeasure):
                measure.check()
        except AssayError as error:
            problems.append(study.lines.problem(_place(study, measure), str(error)))
    if not problems:  # which names exist is known only if the whole study can be opened
        problems += _name_problems(study, datasets, list(measures.values()))
        problems += _budget_problems(study, arms)
    if any("contexts" in each.needs for each in measures.values()):
        for dataset in {id(each): each for each in datasets.values()}.values():
            problems += evidence_problems(dataset.items, dataset.corpus)
    if problems:
        raise DataError(dict.fromkeys(problems))
    first = next(iter(datasets.values()))
    return Validation(
        study.name,
        len(first.items),
        len(first.corpus),
        list(datasets),
        list(measures),
        [gate.name for gate in study.gates],
        warnings,
    )


# ------------------------------------------------------------------------------- judges and checks


def study_warnings(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], *, sealed: bool = False
) -> list[str]:
    """Returns the warnings of `validate`. If data changed since the check, its problems are among them."""
    problems, warnings = _judge_problems(study, datasets, measures, sealed)
    return [*map(str, problems), *warnings]


def _judge_problems(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], sealed: bool = False
) -> tuple[list[Problem], list[str]]:
    """Returns the problems that judges and checks find in a study, and all warnings before a run."""
    problems, warnings = _depth_problems(study, measures)
    found: list[str] = []
    for check in plugins_for(study, CHECKS):
        with as_plugin_error(f"the check {type(check).__name__} broke"):
            more, own = check.of(study)
        problems += more
        found += own
    for dataset in {id(each): each for each in datasets.values()}.values():
        for judge in study.judges:
            if isinstance(judge, ExaminingJudge):
                with as_plugin_error(f"the judge {type(judge).__name__} broke"):
                    more, own = judge.examine(dataset, study.kit)
                problems += more
                found += own
    arms = [arm for arm in study.arms if arm.name in datasets]
    warnings += dict.fromkeys(found)
    warnings += missing_part_warnings(study, arms, measures)
    warnings += data_warnings(study, datasets, measures, sealed=sealed)
    return list(dict.fromkeys(problems)), warnings


def _depth_problems(study: Study, measures: Sequence[Measure]) -> tuple[list[Problem], list[str]]:
    """Finds measures that read more hits than any judge looks at. The hits in between would stay unjudged."""
    looking: dict[str, dict[int, float]] = {}  # by label: how deep each judge looks, by its place
    for place, judge in enumerate(study.judges):
        for label in judge.opens if isinstance(judge, OpeningJudge) else ():
            depth = judge.depth if isinstance(judge, ShallowJudge) else math.inf
            looking.setdefault(label, {})[place] = depth
    problems, warnings = list[Problem](), list[str]()
    for label, depths in looking.items():
        place, depth = max(depths.items(), key=lambda pair: pair[1])
        looks = f"the depth of {study.judges[place].names[0]} is {depth:g}, and"
        cutoffs = _cutoffs(label, measures)
        if deeper := [name for name, cutoff in cutoffs.items() if depth < cutoff < math.inf]:
            needed = max(cutoffs[name] for name in deeper)
            what = f"{looks} {', '.join(deeper)} read{'s' * (len(deeper) == 1)} further"
            fix = f"Set depth: {needed:g}, or lower the cut-off: what it does not look at stays unjudged."
            problems.append(study.lines.problem(["judges", place], what, fix))
        if uncut := [name for name, cutoff in cutoffs.items() if depth < cutoff == math.inf]:
            warnings.append(f"{looks} {', '.join(uncut)} may read further: such items stay unjudged")
    return problems, warnings


def _cutoffs(label: str, measures: Sequence[Measure]) -> dict[str, float]:
    """Returns how many hits each measure of a label reads. Measures of documents have no limit."""
    found: dict[str, float] = {}
    for measure in measures:
        view = view_of(measure)
        if {"hits", "labels"} <= measure.needs and label in view.labels:
            cutoff = cutoff_of(measure) if view.level == "passage" else None
            found[measure.name] = math.inf if cutoff is None else cutoff
    return found


# ------------------------------------------------------------------------------ measures and budgets


def _name_problems(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure]
) -> Iterator[Problem]:
    """Yields flags, labels and stages that measures name, but that neither data, judges nor systems can have.

    Such a measure would be n/a for every item. For most systems, stages and levels are known only from the
    answers: `unknown_name_warnings` looks there.
    """
    for measure in measures:
        for what, name, known in _references(study, datasets, measure):
            if name not in known:
                missing = f"{measure.name}: there is no {what} {name!r}"
                yield study.lines.problem(_place(study, measure), missing, did_you_mean(name, known))


def _references(study: Study, datasets: Mapping[str, Dataset], measure: Measure) -> Iterator[Reference]:
    if isinstance(measure, StudyReferringMeasure):
        yield from measure.references(study, datasets)
    if isinstance(measure, PairMeasure):
        yield Reference("system", measure.against, {*study.file.systems})
    fields = {each.name for each in dataclasses.fields(measure)} if dataclasses.is_dataclass(measure) else ()
    is_own = (type(judge).__module__.partition(".")[0] == OWN_PACKAGE for judge in study.judges)
    if "labels" in measure.needs and "label" in fields and all(is_own):
        known = {RELEVANCE, REVIEW, INTENT, FORBIDDEN}
        for judge in study.judges:
            known |= {*judge.closed_labels, *(judge.opens if isinstance(judge, OpeningJudge) else ())}
            known.add(judge.label if isinstance(judge, LabellingJudge) else RELEVANCE)
        known = known.union(*(dataset.label_definitions for dataset in datasets.values()))
        for label in view_of(measure).labels:
            yield Reference("label", label, known)


def _place(study: Study, measure: Measure) -> Loc:
    """Returns the place where the study file names a measure."""
    for index, each in enumerate(study.measures):
        if each.name == measure.name:
            return ("measures", index)
    for gate in study.gates:
        if any(each.name == measure.name for each in measures_of([gate], study)):
            return ("gates", gate.name)
    return ("figures",)


def _budget_problems(study: Study, arms: Sequence[Arm]) -> Iterator[Problem]:
    """Yields systems that lack contexts for some of the budgets. A response needs one context per budget."""
    for arm in arms:
        system = study.system(arm)
        given = system.budgets if isinstance(system, BudgetedSystem) else frozenset()
        if given and (missing := [budget for budget in study.budgets if budget not in given]):
            named = ", ".join("inf" if budget is None else str(budget) for budget in missing)
            what = f"budgets asks for {named}, and its contexts have no place for that"
            fix = f"Add {named} to its contexts, or take it out of budgets."
            yield study.lines.problem(("systems", arm.system), what, fix)


# ------------------------------------------------------------------------------------------- slices


def _slice_problems(study: Study, datasets: dict[str, Dataset]) -> Iterator[Problem]:
    """Yields tags and values that no item has. A misspelt tag would leave its clauses undecided for ever."""
    if not datasets:
        return
    known: dict[str, set[str]] = {name: set(values) for name, values in study.file.factors.items()}
    for item in {id(item): item for dataset in datasets.values() for item in dataset.items}.values():
        for name in (*item.tags, "language", "split", "sequence"):
            known.setdefault(name, set()).update(item.values(name))
    if (cluster := study.file.cluster) is not None and not known.get(cluster):
        yield study.lines.problem(["cluster"], f"no item has the tag {cluster!r}", _nearest(cluster, known))
    for gate in study.gates:
        for clause in gate.clauses():
            operands = (each for each in operands_of(clause, study) if isinstance(each, StatisticOperand))
            weighed_by = list(dict.fromkeys(each.tag for each in operands if each.tag))
            for what, fix in _impossible_parts(clause, known, weighed_by):
                yield study.lines.problem(["gates", gate.name], what, fix)
    for name, text in study.file.figures.items():
        clause = figure_clauses(name, text, list(study.file.systems))[0].clause
        for what, fix in _impossible_parts(clause, known):
            yield study.lines.problem(["figures", name], what, fix)


def _impossible_parts(
    clause: Clause, known: Mapping[str, set[str]], weighed_by: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yields the conditions of a clause that no item meets, each with a fix."""
    conditions = {
        condition: None
        for _, one in expand_for_each(clause, lambda name: sorted(known.get(name, ())))
        for where in (one.where, *(call.where for side in (one.left, one.right) for call in calls_in(side)))
        for condition in where
    }
    for condition in conditions:
        if fix := _fix_for(condition, known):
            yield f"no item has {condition}, which {clause.text!r} asks for", fix
    for tag in weighed_by:
        if not list(numbers(known.get(tag, ()))):
            what = f"no item has a number for {tag!r}, which {clause.text!r} weighs items by"
            yield what, _nearest(tag, known)


def _fix_for(condition: Condition, known: Mapping[str, set[str]]) -> str:
    """Returns the fix for a condition that no item can meet; an empty text if some item may meet it."""
    values = known.get(condition.name, set())
    if not values:
        return _nearest(condition.name, known)
    if condition.sign:
        found = sorted(numbers(values))
        if any(condition.met_by([value]) for value in values):
            return ""
        return f"Its numbers go from {found[0]:g} to {found[-1]:g}." if found else "It has no numbers."
    if not condition.equal or "*" in condition.values or values & set(condition.values):
        return ""
    return did_you_mean(condition.values[0], values)


def _nearest(name: str, known: Mapping[str, set[str]]) -> str:
    return did_you_mean(name, [each for each, values in known.items() if values]) or "No item has any tag."


# ------------------------------------------------------------------------------------------ results


def evaluation_warnings(evaluation: Evaluation) -> list[str]:
    """Returns all warnings about an evaluation, the most serious first."""
    study, blocks, measures = evaluation.study, evaluation.blocks, evaluation.measures
    chosen = [f"{name}={'|'.join(values)}" for name, values in evaluation.selection.where.items()]
    chosen += [f"system {name}" for name in evaluation.selection.systems]
    found = []
    if chosen:
        found.append(f"only a part of the study: {', '.join(chosen)} ({len(evaluation.items)} items)")
    found += evaluation.outdated
    found += small_sample_warnings(evaluation.summary[0])
    found += fault_warnings(blocks, by_arm=not evaluation.sealed)
    found += broken_measure_warnings(evaluation.broken)
    if not evaluation.sealed:
        found += [*imported_time_warnings(study, blocks), *empty_answer_warnings(blocks)]
    found += evaluation.store.warnings()
    found += unknown_name_warnings(measures, blocks)
    found += inapplicable_measures(measures, blocks)
    found += cut_list_warnings(measures, blocks)
    found += lower_bound_warnings(measures, evaluation.judging.bounded)
    found += correction_warnings(evaluation.summary[0])
    if evaluation.has_paying_judge:
        found += unused_mark_warnings(study, evaluation.label_sources, evaluation.judgments)
    found += evaluation.judging.warnings
    if evaluation.wants_review:
        found += evaluation.reviewing.warnings
    return found + study_warnings(study, evaluation.datasets, measures, sealed=evaluation.sealed)
