"""Facts that a reader needs before trusting a result: counts, warnings, provenance, time and cost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from assay.core.block import RESPONSE_PARTS, Block, Labels
from assay.core.dataset import Dataset
from assay.core.errors import AssayError, DataError, PluginError, Problem, did_you_mean
from assay.core.optional import WarningSystem
from assay.core.protocols import AnswerReferringMeasure, Measure
from assay.core.records import Arm, Estimate, Judgment
from assay.gates.gate import systems_of
from assay.measures.declaration import cutoff_of
from assay.measures.score import BrokenMeasures
from assay.report.views import Bounded, is_lower_bound
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.stats.checked_judge import LabelSources

SHOWN_ITEMS, SHOWN_FAULTS = 3, 2
SHOWN_TO_COVER = 30  # items. In simulations with so many, intervals covered the truth as often as promised


def status_counts(scores: pl.DataFrame, measure: str) -> dict[str, dict[str, int]]:
    """Counts the scores of one measure with each status, by arm."""
    counts: dict[str, dict[str, int]] = {}
    found = scores.filter(pl.col("measure") == measure).group_by("arm", "status", maintain_order=True).len()
    for arm, status, n in found.iter_rows():
        counts.setdefault(arm, {})[status] = n
    return counts


def provenance(
    study: Study, datasets: Mapping[str, Dataset], labels: Labels, manifest: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the hashes, versions and seeds that are needed to get the same results again."""
    described = []
    for label, n in labels.frame.group_by("label", maintain_order=True).len().iter_rows():
        pool = f", pool {labels.pools[label]}" if label in labels.pools else ""
        described.append(f"{label}: {n} ({labels.world(label)} world{pool})")
    return {
        "study fingerprint": study.fingerprint,
        "corpus": ", ".join(dict.fromkeys(dataset.corpus.hash for dataset in datasets.values())),
        "labels": "; ".join(described) or "none",
        "seeds": ", ".join(map(str, study.seeds)),
        "resamples": str(study.file.compare.resamples),
        "assay": str(manifest.get("assay", "not known")),
        "python": str(manifest.get("python", "not known")),
    }


def latency(blocks: Sequence[Block]) -> dict[str, dict[str, float]]:
    """Computes percentiles of the seconds per answer, by arm, over all seeds."""
    seconds: dict[str, list[float]] = {}
    for block in blocks:
        for response in block.responses:
            if response is not None and response.error is None and "total" in response.observed.seconds:
                seconds.setdefault(block.arm.name, []).append(response.observed.seconds["total"])
    return {
        arm: {f"p{share}": float(np.percentile(taken, share)) for share in (50, 95, 99)}
        for arm, taken in seconds.items()
    }


# -------------------------------------------------------------------------------- errors in results


def check_something_computed(broken: BrokenMeasures, scores: pl.DataFrame) -> None:
    """Raises a PluginError if every measure broke on every system, because there is nothing to report."""
    if broken and len(broken) == scores.select("system", "measure").n_unique():
        raise PluginError("\n".join(broken_measure_warnings(broken)))


def check_known_documents(blocks: Sequence[Block], datasets: dict[str, Dataset]) -> None:
    """Raises a DataError if no hit of an arm is in the corpus: then the arm searched another corpus.

    Without this check such an arm would get a row of zeros.
    """
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


# ------------------------------------------------------------------------- of a study and its data


def data_warnings(
    study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure], *, sealed: bool = False
) -> list[str]:
    """Warns about what is allowed but may be a mistake. While `sealed`, no warning names a condition."""
    found: list[str] = []
    for dataset in datasets.values():
        found += dataset.warnings
        size = len(dataset.corpus)
        for measure in measures:
            cutoff = cutoff_of(measure)
            if measure.at == "rank" and cutoff is not None and 0 < size <= cutoff:
                found.append(f"{measure.name} looks as deep as the corpus is large ({size} passages)")
        bare = [item.item_id for item in dataset.items if not item.gold and item.expects is None]
        if 0 < len(bare) < len(dataset.items):  # if no item has gold, people or models will judge
            about = f"{len(bare)} of {len(dataset.items)} items"
            found.append(f"{about} have neither gold nor `expects` ({_name_some(bare)})")
        for tag in study.file.by:
            if not any(item.values(tag) for item in dataset.items):
                tags = {"language", *(name for item in dataset.items for name in item.tags)}
                near = did_you_mean(tag, tags)
                found.append(f"no item has the tag {tag!r}, which `by` asks for. {near}".rstrip(". "))
    of_systems = list(_system_warnings(study, datasets))
    hidden = "there are warnings about single conditions: people who do not mark see them by assay validate"
    found += [hidden] if sealed and of_systems else of_systems
    if study.file.recommend:
        named = systems_of(study.gates, study)
        found += [
            f"no gate reads {name}: it is measured, and cannot be recommended"
            for name in study.file.systems
            if name not in named
        ]
    return list(dict.fromkeys(found))


def _system_warnings(study: Study, datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """Yields what systems report as a possible mistake in the dataset that they are asked about."""
    for arm in study.arms:
        if (dataset := datasets.get(arm.name)) is None:
            continue
        try:
            system = study.system(arm)
            if isinstance(system, WarningSystem):
                yield from system.warnings(dataset, study.kit)
        except AssayError:  # stored answers are reported whether or not their system is still available
            continue


def missing_part_warnings(study: Study, arms: Sequence[Arm], measures: Sequence[Measure]) -> Iterator[str]:
    """Warns about measures that will be n/a for systems that never give what the measures need.

    If another system gives that part, only contexts are mentioned: any system that answers could show
    contexts, but a flat system rightly has no trace of a walk.
    """
    gives = {arm.system: study.gives(arm) for arm in arms}
    somewhere = RESPONSE_PARTS if None in gives.values() else frozenset().union(*filter(None, gives.values()))
    left_out: dict[tuple[str, str], list[str]] = {}
    for name, given in gives.items():
        lacking = RESPONSE_PARTS - (somewhere - {"contexts"}) - (RESPONSE_PARTS if given is None else given)
        for measure in measures:
            if missing := sorted(measure.needs & lacking):
                left_out.setdefault((name, " and no ".join(missing)), []).append(measure.name)
    for (name, parts), names in left_out.items():
        verb = "does" if len(names) == 1 else "do"
        yield f"{name} gives no {parts}: {', '.join(names)} {verb} not apply to it"


# --------------------------------------------------------------------------------------- of results


def small_sample_warnings(estimates: Sequence[Estimate]) -> list[str]:
    """Warns if there are so few items that intervals may be too narrow."""
    most = max((each.n_scored for each in estimates if not each.where), default=0)
    if not 0 < most < SHOWN_TO_COVER:
        return []
    few = f"only {most} item{'s' * (most > 1)}"
    return [f"{few}: an interval from fewer than {SHOWN_TO_COVER} can be too narrow if scores are skewed"]


def imported_time_warnings(study: Study, blocks: Sequence[Block]) -> list[str]:
    """Warns about imported answers whose seconds were measured elsewhere."""
    imported = [block for block in blocks if study.is_imported(block.arm)]
    return [
        f"{arm}: its seconds are those that its file reports, measured elsewhere" for arm in latency(imported)
    ]


def lower_bound_warnings(measures: Sequence[Measure], bounded: Bounded) -> list[str]:
    """Warns about measures whose values could only rise if every result were judged."""
    names = [each.name for each in measures if is_lower_bound(each, bounded)]
    if not names:
        return []
    what = "no model and no person looked at every result that matches no anchor"
    return [f"lower bounds: {', '.join(names)} ({what})"]


def correction_warnings(estimates: Sequence[Estimate]) -> list[str]:
    """Lists estimates in which people's marks correct a judge's grades on items that they did not see."""
    named = [
        f"{each.measure} of {Arm(each.system, each.factors).name}: {each.method}"
        for each in estimates
        if not each.where and "people" in each.method
    ]
    return [f"corrected by people who checked the judge: {'; '.join(named)}"] if named else []


def unused_mark_warnings(study: Study, sources: LabelSources, judgments: Sequence[Judgment]) -> list[str]:
    """Explains why no estimate is corrected by people's marks on texts that a paying judge graded."""
    by_people, by_judge = (
        {each.label for each in judgments if each.judge in names}
        for names in (sources.people, sources.paying)
    )
    if by_people.isdisjoint(by_judge):
        return []
    what = "people's marks on the judge are not used beyond the items they saw"
    if study.file.cluster:
        why = "the correction takes items as independent"
        return [f"{what}: the items are in clusters (`cluster: {study.file.cluster}`), and {why}"]
    subsets = [name for name, gate in study.file.gates.items() if gate.interval == "subsets"]
    return [f"{what}: the gate {name!r} takes its intervals from subsets" for name in subsets]


def fault_warnings(blocks: Sequence[Block], *, by_arm: bool = True) -> list[str]:
    """Lists the most frequent faults of each arm, or of all arms together, with the items that failed."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for block in blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None and response.error is not None:
                what = f"{response.error.kind}: {response.error.message}"
                where = block.arm.name if by_arm else "responses"
                found.setdefault(where, {}).setdefault(what, {})[item.item_id] = None
    return [
        f"{arm}: {len(items)} item{'s' * (len(items) != 1)} failed with {what} ({_name_some(list(items))})"
        for arm, faults in found.items()
        for what, items in sorted(faults.items(), key=lambda pair: -len(pair[1]))[:SHOWN_FAULTS]
    ]


def empty_answer_warnings(blocks: Sequence[Block]) -> list[str]:
    """Warns about arms whose answers are all empty, though their system gives hits."""
    is_filled: dict[str, list[bool]] = {}
    for block in blocks:
        if block.lacks(frozenset({"hits"})) or block.expects_nothing.all():
            continue
        is_filled.setdefault(block.arm.name, []).extend(
            bool(each.hits or each.contexts or each.answer or each.route)
            for each in block.responses
            if each is not None and each.error is None
        )
    what = "answers has a hit, so it scores as if it had found nothing"
    fix = "Check that it searches this corpus, and how its answers are read"
    return [
        f"{arm}: none of its {len(filled)} {what}. {fix}"
        for arm, filled in is_filled.items()
        if filled and not any(filled)
    ]


def broken_measure_warnings(broken: BrokenMeasures) -> list[str]:
    """Lists the measures that broke, for which systems, and why. Their scores have the status failed."""
    found: dict[str, dict[str, str]] = {}
    for (system, measure), why in broken.items():
        found.setdefault(measure, {})[system] = why.rstrip(".")
    after = "Its scores are `failed`, and clauses that read it are undecided"
    return [
        f"{measure} could not be computed for {', '.join(whys)}: {next(iter(whys.values()))}. {after}"
        for measure, whys in found.items()
    ]


def unknown_name_warnings(measures: Sequence[Measure], blocks: Sequence[Block]) -> Iterator[str]:
    """Warns about measures that name a stage or level that no answer and no tree has."""
    for measure in (each for each in measures if isinstance(each, AnswerReferringMeasure)):
        for what, name, known in measure.references_in(blocks):
            if known and name not in known:
                why = f"no answer has the {what} {name!r}. {did_you_mean(name, known)}"
                yield f"{measure.name} has no value: {why}"


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_ITEMS
    return ", ".join(names[:SHOWN_ITEMS]) + (f" and {more} more" if more > 0 else "")
