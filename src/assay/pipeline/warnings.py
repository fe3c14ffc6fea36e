"""What a reader should know before trusting a figure: counts, warnings, where it came from, time and cost."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from assay.core.block import RESPONSE_PARTS, Block, Labels, View
from assay.core.dataset import Dataset
from assay.core.errors import AssayError, DataError, PluginError, Problem, did_you_mean
from assay.core.protocols import AnswerReferringMeasure, Measure, Reference
from assay.core.records import FORBIDDEN, INTENT, Arm, Budget, Estimate, Judgment
from assay.core.yaml_lines import Loc
from assay.gates.gate import measures_of, systems_of
from assay.measures.score import BrokenMeasures
from assay.measures.semantic import REVIEW
from assay.report.views import Bounded, is_lower_bound
from assay.study.study import Study, StudyReferringMeasure

if TYPE_CHECKING:
    from assay.stats.checked_judge import LabelSources

SHOWN_ITEMS, SHOWN_FAULTS = 3, 2
SHOWN_TO_COVER = 30  # items from which simulated intervals hold the truth as often as they say


def status_counts(scores: pl.DataFrame, measure: str) -> dict[str, dict[str, int]]:
    """How many scores of one measure have each status, by arm."""
    counts: dict[str, dict[str, int]] = {}
    found = scores.filter(pl.col("measure") == measure).group_by("arm", "status", maintain_order=True).len()
    for arm, status, n in found.iter_rows():
        counts.setdefault(arm, {})[status] = n
    return counts


def data_warnings(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], *, sealed: bool = False
) -> list[str]:
    """What is allowed, but worth a second look; while `sealed`, nothing that is about one condition."""
    found: dict[str, None] = {}
    for dataset in datasets.values():
        found.update(dict.fromkeys(dataset.warnings))
        size = len(dataset.corpus)
        for measure in measures:
            cutoff = getattr(measure, "cutoff", None)
            if measure.at == "rank" and isinstance(cutoff, int) and 0 < size <= cutoff:
                found[f"{measure.name} looks as deep as the corpus is large ({size} passages)"] = None
        for gap in _without_gold(dataset):
            found[gap] = None
        for tag in study.file.by:
            if not any(item.values(tag) for item in dataset.items):
                tags = {"language", *(name for item in dataset.items for name in item.tags)}
                near = did_you_mean(tag, tags)
                found[f"no item has the tag {tag!r}, which `by` asks for. {near}".rstrip(". ")] = None
    doubts = list(_doubts_of_systems(study, datasets))
    hidden = "there are warnings about single conditions: who does not score sees them by assay validate"
    found.update(dict.fromkeys([hidden] if sealed and doubts else doubts))
    found.update(dict.fromkeys(_undecided_systems(study)))
    return list(found)


def _doubts_of_systems(study: Study, datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """What systems find odd about the data that they are asked of."""
    for arm in study.arms:
        if (dataset := datasets.get(arm.name)) is None:
            continue
        try:
            doubting = getattr(study.system(arm), "warnings", None)
            yield from () if doubting is None else doubting(dataset, study.kit)
        except AssayError:  # stored answers are reported whether or not their system can still be had
            continue


def _undecided_systems(study: Study) -> list[str]:
    """Where a study recommends: systems that no gate speaks of, which can never be what it recommends."""
    if not study.file.recommend:
        return []
    named = systems_of(study.gates, study)
    left_out = [name for name in study.file.systems if name not in named]
    return [f"{name} stands in no gate: it is measured, and cannot be recommended" for name in left_out]


def small_sample_warnings(estimates: Sequence[Estimate]) -> list[str]:
    """Studies so small that their intervals are not shown to cover."""
    most = max((each.n_scored for each in estimates if not each.where), default=0)
    if not 0 < most < SHOWN_TO_COVER:
        return []
    few = f"only {most} item{'s' * (most > 1)}"
    return [f"{few}: an interval from fewer than {SHOWN_TO_COVER} can be too narrow if scores are skewed"]


def imported_time_warnings(study: Study, blocks: Sequence[Block]) -> list[str]:
    """Imported answers whose seconds were not taken here."""
    imported = [block for block in blocks if study.imported(block.arm)]
    return [
        f"{arm}: its seconds are those that its file reports, measured elsewhere" for arm in latency(imported)
    ]


def _without_gold(dataset: Dataset) -> list[str]:
    """Items that nothing can be scored on: an oversight more often than a wish."""
    bare = [item.item_id for item in dataset.items if not item.gold and item.expects is None]
    if not bare or len(bare) == len(dataset.items):  # where no item has gold, people or models will judge
        return []
    return [f"{len(bare)} of {len(dataset.items)} items have neither gold nor `expects` ({_name_some(bare)})"]


def lower_bound_warnings(measures: Sequence[Measure], bounded: Bounded) -> list[str]:
    """The figures that somebody who looked at every result could only raise."""
    names = [each.name for each in measures if is_lower_bound(each, bounded)]
    if not names:
        return []
    what = "neither a model nor a person looked at every result that matches no anchor"
    return [f"lower bounds: {', '.join(names)} ({what})"]


def correction_warnings(estimates: Sequence[Estimate]) -> list[str]:
    """The figures in which people's word on a judge's verdicts counts for those they did not see."""
    named = [
        f"{each.measure} of {Arm(each.system, each.factors).name}: {each.method}"
        for each in estimates
        if not each.where and "people" in each.method
    ]
    return [f"set right by people who checked the judge: {'; '.join(named)}"] if named else []


def unused_mark_warnings(study: Study, sides: LabelSources, judgments: Sequence[Judgment]) -> list[str]:
    """Where people graded what a paying judge did, and no figure is set right by it."""
    by_people, by_judge = (
        {each.label for each in judgments if each.judge in names} for names in (sides.people, sides.paying)
    )
    if by_people.isdisjoint(by_judge):
        return []
    what = "people's marks on the judge are not used beyond the items they saw"
    if study.file.cluster:
        why = "what sets figures right takes items as independent"
        return [f"{what}: the items are in clusters (`cluster: {study.file.cluster}`), and {why}"]
    subsets = [name for name, gate in study.file.gates.items() if gate.interval == "subsets"]
    return [f"{what}: the gate {name!r} takes its intervals from subsets" for name in subsets]


def fault_warnings(blocks: Sequence[Block], *, by_arm: bool = True) -> list[str]:
    """For each arm, or for all together, what failed most often, on how many items, and on which."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for block in blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None and response.error is not None:
                what = f"{response.error.kind}: {response.error.message}"
                where = block.arm.name if by_arm else "responses"
                found.setdefault(where, {}).setdefault(what, {})[item.item_id] = None
    return [
        f"{arm}: {len(items)} item{'s' * (len(items) != 1)} failed with {what} ({_name_some(list(items))})"
        for arm, whats in found.items()
        for what, items in sorted(whats.items(), key=lambda pair: -len(pair[1]))[:SHOWN_FAULTS]
    ]


def empty_answer_warnings(blocks: Sequence[Block]) -> list[str]:
    """Arms none of whose answers holds anything, where hits are what the system gives."""
    answered: dict[str, list[bool]] = {}
    for block in blocks:
        if block.lacks(frozenset({"hits"})) or block.expects_nothing.all():
            continue
        told = [each for each in block.responses if each is not None and each.error is None]
        held = [bool(each.hits or each.contexts or each.answer or each.route) for each in told]
        answered.setdefault(block.arm.name, []).extend(held)
    what = "answers has a hit, so it scores as if it had found nothing"
    fix = "Check that it searches this corpus, and how its answers are read"
    return [
        f"{arm}: none of its {len(held)} {what}. {fix}"
        for arm, held in answered.items()
        if held and not any(held)
    ]


def broken_measure_warnings(broken: BrokenMeasures) -> list[str]:
    """The measures that broke, for which systems, and why: their scores are failed, whatever came back."""
    found: dict[str, dict[str, str]] = {}
    for (system, measure), why in broken.items():
        found.setdefault(measure, {})[system] = why.rstrip(".")
    after = "Its scores are `failed`, and clauses that read it are undecided"
    return [
        f"{measure} could not be computed for {', '.join(whys)}: {next(iter(whys.values()))}. {after}"
        for measure, whys in found.items()
    ]


def check_something_computed(broken: BrokenMeasures, scores: pl.DataFrame) -> None:
    """Where every measure broke on every system there is nothing to report but that."""
    if broken and len(broken) == scores.select("system", "measure").n_unique():
        raise PluginError("\n".join(broken_measure_warnings(broken)))


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_ITEMS
    return ", ".join(names[:SHOWN_ITEMS]) + (f" and {more} more" if more > 0 else "")


def provenance(
    study: Study, datasets: Mapping[str, Dataset], labels: Labels, manifest: Mapping[str, Any]
) -> dict[str, str]:
    """Hashes, versions and seeds: what it takes to get the same figures again."""
    return {
        "study fingerprint": study.fingerprint,
        "corpus": ", ".join(dict.fromkeys(dataset.corpus.hash for dataset in datasets.values())),
        "labels": "; ".join(_describe_labels(labels)) or "none",
        "seeds": ", ".join(map(str, study.seeds)),
        "resamples": str(study.file.compare.resamples),
        "assay": str(manifest.get("assay", "not known")),
        "python": str(manifest.get("python", "not known")),
    }


def _describe_labels(labels: Labels) -> Iterator[str]:
    """Each label: how many there are, in which world, and for an open one the hash of what was looked at."""
    for label, n in labels.frame.group_by("label", maintain_order=True).len().iter_rows():
        pool = f", pool {labels.pools[label]}" if label in labels.pools else ""
        yield f"{label}: {n} ({labels.world(label)} world{pool})"


def latency(blocks: Sequence[Block]) -> dict[str, dict[str, float]]:
    """Percentiles of the seconds an answer took, by arm, over all seeds."""
    seconds: dict[str, list[float]] = {}
    for block in blocks:
        for response in block.responses:
            if response is not None and response.error is None and "total" in response.observed.seconds:
                seconds.setdefault(block.arm.name, []).append(response.observed.seconds["total"])
    return {
        arm: {f"p{share}": float(np.percentile(taken, share)) for share in (50, 95, 99)}
        for arm, taken in seconds.items()
    }


def check_known_documents(blocks: Sequence[Block], datasets: dict[str, Dataset]) -> None:
    """An arm none of whose hits is in the corpus ran on something else: an error, not a row of zeros."""
    problems = []
    for block in blocks:
        corpus = datasets[block.arm.name].corpus
        if not len(corpus) or not len(block.ranking) or "texts" in (block.gives or ()):
            continue  # hits that bring their text are judged by it
        docs = block.ranking["doc"].unique()
        known = {*corpus.position, *corpus.documents, *itertools.chain.from_iterable(corpus.units.values())}
        if known.isdisjoint(docs.to_list()):
            seen, passage = docs[0], next(iter(corpus.position))
            what = f"{block.arm.name}: no hit is in the corpus (a hit: {seen!r}, a passage: {passage!r})"
            problems.append(
                Problem(what, fix="Check that the system searched this corpus and returns its ids.")
            )
    if problems:
        raise DataError(problems)


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
