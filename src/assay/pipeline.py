"""The stages after the run, each reading what is stored: judge, score, compare, gate.

None of them asks a system again. A stage's output lies in the run folder under the hash of its input, and is
made anew when that hash differs.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import polars as pl

import assay
from assay.datasets.dataset import Dataset, digest
from assay.errors import DataError, Problem, UsageError
from assay.gates.evaluate import Evaluator
from assay.gates.verdict import decide, measures_of, overall
from assay.judges.resolve import resolve
from assay.measures.block import Block, Labels
from assay.measures.score import score_blocks
from assay.plugins import identity
from assay.protocols import Measure
from assay.records import Arm, Comparison, Estimate, Item, Judgment, Verdict
from assay.report.views import item_views, measure_infos
from assay.results import Results, Trust
from assay.run.keys import in_item_order, plan_units
from assay.run.store import Store, in_order, write_atomic
from assay.stats.compare import Comparing, summarise
from assay.stats.rows import Rows
from assay.study import Study


class Findings(msgspec.Struct):
    """What the compare and gate stages found."""

    estimates: list[Estimate]
    comparisons: list[Comparison]
    verdicts: list[Verdict]


@dataclass(frozen=True)
class Evaluation:
    """A study's stored responses and everything that follows from them, worked out on demand."""

    study: Study

    @cached_property
    def store(self) -> Store:
        return Store(self.study.run_folder)

    @cached_property
    def measures(self) -> list[Measure]:
        """The study's measures, and those that only its gates read."""
        named = {measure.name: measure for measure in self.study.measures}
        for measure in measures_of(self.study.gates, self.study):
            named.setdefault(measure.name, measure)
        return list(named.values())

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The dataset of every arm that was run."""
        run = self.store.manifest().get("arms", {})
        return {arm.name: self.study.dataset(arm) for arm in self.study.arms if arm.name in run}

    @cached_property
    def items(self) -> list[Item]:
        """Every item of every arm's dataset, in order of appearance."""
        found: dict[str, Item] = {}
        for dataset in self.datasets.values():
            for item in dataset.items:
                found.setdefault(item.item_id, item)
        return list(found.values())

    @cached_property
    def _asked(self) -> list[Block]:
        """Blocks before anything is judged."""
        stored, structures = self.store.answers(), self.store.structures()
        blocks = [
            Block(
                arm,
                seed,
                dataset.items,
                in_order(stored, keys),
                Labels.none(),
                (),
                structures.get((arm.name, seed)),
            )
            for arm, seed, dataset, keys in self._expected()
        ]
        if not any((block.asked != 0).sum() < len(block.items) or len(block.ranking) for block in blocks):
            raise UsageError(f"Nothing was run yet. Run: assay run {self.study.folder}")
        return blocks

    def _expected(self) -> Iterator[tuple[Arm, int, Dataset, list[str]]]:
        arms = {arm.name: arm for arm in self.study.arms}
        for name, dataset in self.datasets.items():
            for seed in self.study.seeds:
                units = plan_units(self.study, arms[name], seed, dataset)
                yield arms[name], seed, dataset, in_item_order(units, len(dataset.items))

    @cached_property
    def judgments(self) -> list[Judgment]:
        """What every judge said, and what people and models said before."""
        made = list(self.store.judgments())
        for judge in self.study.judges:
            seen: set[str] = set()
            for dataset in self.datasets.values():
                if dataset.hash not in seen:
                    seen.add(dataset.hash)
                    blocks = [block for block in self._asked if self.datasets[block.arm.name] is dataset]
                    made += judge.judge(dataset, blocks, self.study.kit)
        return made

    @cached_property
    def labels(self) -> Labels:
        names = [
            str(given) if isinstance(given, str) else str(given["use"]) for given in self.study.file.judges
        ]
        return resolve(self.judgments, names, [judge.world for judge in self.study.judges])

    @cached_property
    def blocks(self) -> list[Block]:
        """One block an arm and seed, labels in place."""
        return [
            Block(
                block.arm,
                block.seed,
                block.items,
                block.answers,
                self.labels,
                self.judgments,
                block.structure,
            )
            for block in self._asked
        ]

    @cached_property
    def scores(self) -> pl.DataFrame:
        """Every score, from the run folder where nothing it depends on has changed."""
        _refuse_strangers(self.blocks, self.datasets)
        return self._kept(
            "scores.parquet", self._scores_input(), lambda: score_blocks(self.measures, self.blocks)
        )

    def _scores_input(self) -> str:
        return digest(
            [
                assay.__version__.encode(),
                *(measure.name.encode() for measure in self.measures),
                *(identity(judge).encode() for judge in self.study.judges),
                *(dataset.hash.encode() for dataset in self.datasets.values()),
                *(block.answers.hash_rows(0).to_numpy().tobytes() for block in self.blocks),
                self.labels.frame.hash_rows(0).to_numpy().tobytes(),
            ]
        )

    def _kept(self, name: str, key: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        path, mark = self.store.root / name, self.store.root / f"{name}.input"
        if path.is_file() and mark.is_file() and mark.read_text() == key:
            return pl.read_parquet(path)
        frame = make()
        write_atomic(path, frame.write_parquet)
        write_atomic(mark, lambda target: target.write_text(key))
        return frame

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.scores, self.items, self.study.file.cluster)

    @cached_property
    def findings(self) -> Findings:
        """Estimates, comparisons and verdicts."""
        settings = self.study.file.compare
        how = Comparing(
            self.study.baseline,
            settings.against,
            settings.correction,
            settings.resamples,
            settings.level,
            by=self.study.file.by,
        )
        estimates, comparisons = summarise(self.rows, self.study.measures, how)
        return Findings(estimates, comparisons, self.verdicts)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the gates say."""
        settings = self.study.file.compare
        evaluator = Evaluator(
            self.rows, self.study.registry, self.judgments, settings.resamples, level=settings.level
        )
        return decide(self.study.gates, evaluator, self.study.file.steps)

    @cached_property
    def results(self) -> Results:
        """Everything, ready to be shown."""
        return Results(
            study=self.study.name,
            kind=self.study.file.kind,
            systems=self.rows.systems,
            arms=list(self.datasets),
            baseline=self.study.baseline if len(self.rows.systems) > 1 else None,
            measures=measure_infos(self.study.measures),
            by=self.study.file.by,
            scores=self.scores,
            estimates=self.findings.estimates,
            comparisons=self.findings.comparisons,
            verdicts=self.verdicts,
            verdict=overall(self.verdicts),
            trust=self._trust(),
            items=item_views(self.items, self.blocks, self.datasets),
        )

    def _trust(self) -> Trust:
        first = self.scores.filter(pl.col("measure") == self.study.measures[0].name)
        counts: dict[str, dict[str, int]] = {}
        for arm, status, n in first.group_by("arm", "status", maintain_order=True).len().iter_rows():
            counts.setdefault(arm, {})[status] = n
        manifest = self.store.manifest()
        return Trust(
            counts,
            warnings_of(self.study, self.datasets, self.measures),
            {
                "study fingerprint": self.study.fingerprint,
                "corpus": ", ".join(dict.fromkeys(dataset.corpus.hash for dataset in self.datasets.values())),
                "labels": f"{self.labels.frame.height} ({self.labels.world} world)",
                "seeds": ", ".join(map(str, self.study.seeds)),
                "resamples": str(self.study.file.compare.resamples),
                "assay": str(manifest.get("assay", assay.__version__)),
                "python": str(manifest.get("python", platform.python_version())),
            },
            {block.arm.name: seconds for block in self.blocks if (seconds := _latency(block))},
            {block.arm.name: cost for block in self.blocks if (cost := _cost(block))},
        )


def warnings_of(study: Study, datasets: dict[str, Dataset], measures: Sequence[Measure]) -> list[str]:
    """What a reader should know before trusting a figure."""
    found: dict[str, None] = {}
    for dataset in datasets.values():
        found.update(dict.fromkeys(dataset.warnings))
        size = len(dataset.corpus)
        for measure in measures:
            cutoff = getattr(measure, "cutoff", None)
            if measure.at == "rank" and isinstance(cutoff, int) and 0 < size <= cutoff:
                found[f"{measure.name} looks as deep as the corpus is large ({size} passages)"] = None
        for tag in study.file.by:
            if not any(Rows.values_of(item, tag) for item in dataset.items):
                found[f"no item has the tag {tag!r}, which `by` asks for"] = None
    return list(found)


def _refuse_strangers(blocks: Sequence[Block], datasets: dict[str, Dataset]) -> None:
    """An arm none of whose hits is in the corpus ran on something else: an error, not a row of zeros."""
    problems = []
    for block in blocks:
        corpus = datasets[block.arm.name].corpus
        if not len(corpus) or not len(block.ranking):
            continue
        docs = block.ranking["doc"].unique()
        if not docs.is_in(list(corpus.position)).any():
            seen, known = docs[0], next(iter(corpus.position))
            problems.append(
                Problem(f"{block.arm.name}: no hit is in the corpus (a hit: {seen!r}, a passage: {known!r})")
            )
    if problems:
        raise DataError(problems)


def _latency(block: Block) -> dict[str, float]:
    seconds = [
        response.observed.seconds["total"]
        for response in block.responses
        if response is not None and response.error is None and "total" in response.observed.seconds
    ]
    if not seconds:
        return {}
    return {f"p{share}": float(np.percentile(seconds, share)) for share in (50, 95, 99)}


def _cost(block: Block) -> float:
    return sum(response.observed.cost or 0.0 for response in block.responses if response is not None)
