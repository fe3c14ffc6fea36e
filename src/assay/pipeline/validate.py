"""The validate stage: a study, its data and its gates, checked without asking any system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.block import View
from assay.core.dataset import Dataset
from assay.core.errors import AssayError, DataError, Problem, did_you_mean
from assay.core.protocols import Measure
from assay.core.records import Arm
from assay.core.registry import CHECKS, Registry, as_plugin_error
from assay.core.shown import evidence_problems
from assay.core.slices import Condition, numbers
from assay.gates.expansion import expand_for_each
from assay.gates.figures import figure_clauses, measures_of_figures
from assay.gates.gate import measures_of, operands_of
from assay.gates.operand import StatisticOperand, calls_in
from assay.gates.syntax import Clause
from assay.measures.reach import cut_list_warnings, inapplicable_measures
from assay.pipeline.plugins import plugins_for
from assay.pipeline.warnings import (
    broken_measure_warnings,
    budget_problems,
    correction_warnings,
    data_warnings,
    empty_answer_warnings,
    fault_warnings,
    imported_time_warnings,
    lower_bound_warnings,
    measure_problems,
    missing_part_warnings,
    name_problems,
    small_sample_warnings,
    unknown_name_warnings,
    unused_mark_warnings,
)
from assay.study.study import Study, examine_study

if TYPE_CHECKING:
    from assay.pipeline.evaluation import Evaluation


@dataclass(frozen=True)
class Validation:
    """What a study consists of, and what is worth a second look."""

    study: str
    items: int
    passages: int
    arms: list[str]
    measures: list[str]
    gates: list[str]
    warnings: list[str]

    @property
    def summary(self) -> str:
        counts = f"{self.items} items, {self.passages} passages, {_count(self.arms, 'arm')}"
        return f"{self.study}: ok, {counts}, {_count(self.measures, 'measure')}, {_count(self.gates, 'gate')}"

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/validation/1", **asdict(self)}


def _count(things: list[str], word: str) -> str:
    return f"{len(things)} {word}" + "s" * (len(things) != 1)


def validate_study(path: str | Path, registry: Registry | None = None) -> Validation:
    """Opens the study and its data; every problem found is in the one DataError."""
    study, problems = examine_study(path, registry=registry)
    if problems:
        raise DataError([*problems, *_data_problems(study, problems)])
    return check_study(study, study.arms)


def check_study(study: Study, arms: Sequence[Arm]) -> Validation:
    """Everything that can be known before a system is asked: the data of some arms, systems, slices."""
    datasets: dict[str, Dataset] = {}
    problems: dict[Problem, None] = {}
    for arm in arms:
        try:
            dataset = study.dataset(arm)
            study.system_identity(arm)
            checking = getattr(study.system(arm), "problems", None)
            if checking is not None:
                problems.update(dict.fromkeys(checking(dataset, study.kit)))
            datasets[arm.name] = dataset
        except DataError as error:
            problems.update(dict.fromkeys(error.problems))
        except AssayError as error:
            problems[study.lines.problem(["systems", arm.system], str(error))] = None
    read = [*study.measures, *measures_of(study.gates, study), *measures_of_figures(study)]
    measures = {each.name: each for each in read}
    problems.update(dict.fromkeys(_slice_problems(study, datasets)))
    examined, warnings = _judging(study, datasets, list(measures.values()))
    problems.update(dict.fromkeys(examined))
    problems.update(dict.fromkeys(measure_problems(study, list(measures.values()))))
    if not problems:  # what there is to name is known only where all of it can be opened
        named = name_problems(study, datasets, list(measures.values()))
        problems.update(dict.fromkeys([*named, *budget_problems(study, arms)]))
    if any("contexts" in each.needs for each in measures.values()):
        for dataset in {id(each): each for each in datasets.values()}.values():
            problems.update(dict.fromkeys(evidence_problems(dataset.items, dataset.corpus)))
    if problems:
        raise DataError(problems)
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


def study_warnings(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], *, sealed: bool = False
) -> list[str]:
    """What `validate` warns of, for results; and what it refuses, where data changed since it was checked."""
    problems, warnings = _judging(study, datasets, measures, sealed)
    return [*map(str, problems), *warnings]


def _judging(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], sealed: bool = False
) -> tuple[list[Problem], list[str]]:
    """What judges cannot judge by, and everything that is worth a second look."""
    shallow, unsure = _too_shallow(study, measures)
    problems, doubts = _examined(study, datasets)
    arms = [arm for arm in study.arms if arm.name in datasets]
    own = data_warnings(study, datasets, measures, sealed=sealed)
    return [*shallow, *problems], [*unsure, *doubts, *missing_part_warnings(study, arms, measures), *own]


def _examined(study: Study, datasets: Mapping[str, Dataset]) -> tuple[list[Problem], list[str]]:
    """What judges find wrong with the data that they would judge by, and checks with the study."""
    problems: dict[Problem, None] = {}
    warnings: dict[str, None] = {}
    for check in plugins_for(study, CHECKS):
        with as_plugin_error(f"the check {type(check).__name__} broke"):
            found, doubts = check.of(study)
        problems.update(dict.fromkeys(found))
        warnings.update(dict.fromkeys(doubts))
    for dataset in {id(each): each for each in datasets.values()}.values():
        for judge in study.judges:
            examine = getattr(judge, "examine", None)
            with as_plugin_error(f"the judge {type(judge).__name__} broke"):
                found, doubts = ([], []) if examine is None else examine(dataset, study.kit)
            problems.update(dict.fromkeys(found))
            warnings.update(dict.fromkeys(doubts))
    return list(problems), list(warnings)


def _too_shallow(study: Study, measures: Sequence[Measure]) -> tuple[list[Problem], list[str]]:
    """Measures that read deeper than any judge looks: what lies between would stay unjudged for ever."""
    looking: dict[str, dict[int, float]] = {}  # by label: how deep each judge looks, by its place
    for place, judge in enumerate(study.judges):
        for label in getattr(judge, "opens", ()):
            looking.setdefault(label, {})[place] = getattr(judge, "depth", math.inf)
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
    """How many hits each measure reads that reads a label; documents may lie at any depth."""
    found: dict[str, float] = {}
    for measure in measures:
        view: View = getattr(measure, "seen_in", View())
        if {"hits", "labels"} <= measure.needs and label in view.labels:
            cutoff = getattr(measure, "cutoff", None) if view.level == "passage" else None
            found[measure.name] = math.inf if cutoff is None else cutoff
    return found


def _data_problems(study: Study, problems: Sequence[Problem]) -> Sequence[Problem]:
    """What is wrong with the data, where the study itself has problems, but not in naming its data."""
    if any(problem.field.partition(".")[0] in {"data", "split", "chunk"} for problem in problems):
        return ()
    try:
        study.dataset(Arm(""))
    except DataError as error:
        return error.problems
    return ()


def _slice_problems(study: Study, datasets: dict[str, Dataset]) -> Iterator[Problem]:
    """Tags and values that no item has: misspelt, they would leave a clause open for ever."""
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
            for what, fix in _impossibilities(clause, known, _weighing(clause, study)):
                yield study.lines.problem(["gates", gate.name], what, fix)
    for name, text in study.file.figures.items():
        clause = figure_clauses(name, text, list(study.file.systems))[0].clause
        for what, fix in _impossibilities(clause, known):
            yield study.lines.problem(["figures", name], what, fix)


def _impossibilities(
    clause: Clause, known: Mapping[str, set[str]], weighing: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """What a clause asks of tags that no item has, and what to do about it."""
    for condition in _conditions(clause, known):
        if fix := _impossible(condition, known):
            yield f"no item has {condition}, which {clause.text!r} asks for", fix
    for tag in weighing:
        if not list(numbers(known.get(tag, ()))):
            what = f"no item has a number for {tag!r}, which {clause.text!r} weighs items by"
            yield what, _nearest(tag, known)


def _weighing(clause: Clause, study: Study) -> list[str]:
    """The tags that statistics of a clause weigh items by."""
    tags = (found.tag for found in operands_of(clause, study) if isinstance(found, StatisticOperand))
    return list(dict.fromkeys(filter(None, tags)))


def _conditions(clause: Clause, known: Mapping[str, set[str]]) -> list[Condition]:
    """Every condition of a clause: its own, those of its calls, those it is repeated for."""
    found = {
        condition: None
        for _, one in expand_for_each(clause, lambda name: sorted(known.get(name, ())))
        for where in (one.where, *(call.where for side in (one.left, one.right) for call in calls_in(side)))
        for condition in where
    }
    return list(found)


def _impossible(condition: Condition, known: Mapping[str, set[str]]) -> str:
    """What to do about a condition that no item can meet; nothing where some item may."""
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


def evaluation_warnings(evaluation: Evaluation) -> list[str]:
    """Every warning about an evaluation, gravest first."""
    study, blocks, measures = evaluation.study, evaluation.blocks, evaluation.measures
    chosen = [f"{name}={'|'.join(values)}" for name, values in evaluation.selection.where.items()]
    chosen += [f"system {name}" for name in evaluation.selection.systems]
    part = (
        [f"only a part of the study: {', '.join(chosen)} ({len(evaluation.items)} items)"] if chosen else []
    )
    return [
        *part,
        *evaluation.outdated,
        *small_sample_warnings(evaluation.summary[0]),
        *fault_warnings(blocks, by_arm=not evaluation.sealed),
        *broken_measure_warnings(evaluation.broken),
        *(
            []
            if evaluation.sealed
            else [*imported_time_warnings(study, blocks), *empty_answer_warnings(blocks)]
        ),
        *evaluation.store.warnings(),
        *unknown_name_warnings(measures, blocks),
        *inapplicable_measures(measures, blocks),
        *cut_list_warnings(measures, blocks),
        *lower_bound_warnings(measures, evaluation.judging.bounded),
        *correction_warnings(evaluation.summary[0]),
        *(
            unused_mark_warnings(study, evaluation.sides, evaluation.judgments)
            if evaluation.has_paying_judge
            else []
        ),
        *evaluation.judging.warnings,
        *(evaluation.reviewing.warnings if evaluation.wants_review else []),
        *study_warnings(study, evaluation.datasets, measures, sealed=evaluation.sealed),
    ]
