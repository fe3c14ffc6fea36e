"""The stages after the run, each reading what is stored: judge, score, compare, gate.

None of them asks a system again. A stage's output lies in the run folder under the hash of its input, and is
made anew when that hash differs.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

import assay
from assay.datasets.dataset import Dataset, digest
from assay.errors import DataError, Problem, UsageError
from assay.gates.evaluate import Evaluator
from assay.gates.verdict import decide, measures_of, overall
from assay.judges.resolve import resolve
from assay.measures.block import PENDING, Block, Labels
from assay.measures.score import score_blocks
from assay.plugins import Registry, identity
from assay.protocols import Measure
from assay.records import Arm, Comparison, Estimate, Item, Judgment, Verdict
from assay.report.views import item_views, measure_infos
from assay.results import Results, Trust
from assay.run.keys import in_item_order, index_key, plan_units
from assay.run.runner import run_study
from assay.run.selection import Selection
from assay.run.store import Store, in_order, write_atomic
from assay.stats.compare import Comparing, summarise
from assay.stats.rows import Rows
from assay.study import Study, open_study
from assay.trust import cost, latency, provenance, status_counts, warnings_of


def evaluate(path: str | Path, registry: Registry | None = None) -> Results:
    """Runs a study, as far as it was not run yet, and returns everything found."""
    study = open_study(path, registry=registry)
    run_study(study)
    return Evaluation(study).results


@dataclass(frozen=True)
class Evaluation:
    """A study's stored responses and everything that follows from them, worked out on demand.

    A selection narrows it to some arms and to items with some tags. A limit narrows nothing: items that were
    left out by one are pending.
    """

    study: Study
    selection: Selection = field(default_factory=Selection)

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
    def arms(self) -> list[Arm]:
        """The selected arms that were run."""
        run = self.store.manifest().get("arms", {})
        return [arm for arm in self.selection.arms(self.study) if arm.name in run]

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The dataset of every arm."""
        return {arm.name: self.study.dataset(arm) for arm in self.arms}

    @cached_property
    def items(self) -> list[Item]:
        """Every item of every arm, in order of appearance."""
        return list({item.item_id: item for block in self._asked for item in block.items}.values())

    @cached_property
    def _asked(self) -> list[Block]:
        """Blocks before anything is judged."""
        stored, structures = self.store.answers(), self.store.structures()
        chosen = dataclasses.replace(self.selection, limit=None)
        blocks = []
        for arm, seed in itertools.product(self.arms, self.study.seeds):
            dataset = self.study.dataset(arm)
            keys = in_item_order(plan_units(self.study, arm, seed, dataset), len(dataset.items))
            places = sorted(chosen.positions(self.study, dataset))
            answers = in_order(stored, [keys[place] for place in places])
            structure = structures.get(index_key(self.study, arm, seed, dataset))
            items = [dataset.items[place] for place in places]
            blocks.append(Block(arm, seed, items, answers, Labels.none(), (), structure))
        if not any((block.asked != PENDING).any() for block in blocks):
            raise UsageError(f"Nothing was run yet. Run: assay run {self.study.folder}")
        return blocks

    @cached_property
    def judgments(self) -> list[Judgment]:
        """What every judge said, and what people and models said before."""
        made = list(self.store.judgments())
        distinct = {id(dataset): dataset for dataset in self.datasets.values()}
        for judge, dataset in itertools.product(self.study.judges, distinct.values()):
            blocks = [block for block in self._asked if self.datasets[block.arm.name] is dataset]
            made += judge.judge(dataset, blocks, self.study.kit)
        return made

    @cached_property
    def labels(self) -> Labels:
        judges = self.study.judges
        names = [name for judge in judges for name in judge.names]
        return resolve(self.judgments, names, [judge.world for judge in judges])

    @cached_property
    def blocks(self) -> list[Block]:
        """One block an arm and seed, labels in place."""
        return [
            dataclasses.replace(block, labels=self.labels, judgments=self.judgments) for block in self._asked
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
    def summary(self) -> tuple[list[Estimate], list[Comparison]]:
        """Estimates of every arm, and the comparisons that the study declares."""
        settings = self.study.file.compare
        how = Comparing(
            self.study.baseline,
            settings.against,
            settings.correction,
            settings.resamples,
            settings.level,
            by=self.study.file.by,
        )
        return summarise(self.rows, self.study.measures, how)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the gates say."""
        settings = self.study.file.compare
        evaluator = Evaluator(
            self.rows,
            self.study.registry,
            self.judgments,
            settings.resamples,
            level=settings.level,
            systems=list(self.study.file.systems),
        )
        return decide(self.study.gates, evaluator, self.study.file.steps)

    @cached_property
    def results(self) -> Results:
        """Everything, ready to be shown."""
        estimates, comparisons = self.summary
        return Results(
            study=self.study.name,
            kind=self.study.file.kind,
            systems=self.rows.systems,
            arms=list(self.datasets),
            baseline=self.study.baseline if len(self.rows.systems) > 1 else None,
            measures=measure_infos(self.study.measures),
            by=self.study.file.by,
            scores=self.scores,
            estimates=estimates,
            comparisons=comparisons,
            verdicts=self.verdicts,
            verdict=overall(self.verdicts),
            trust=Trust(
                status_counts(self.scores, self.study.measures[0].name),
                [*warnings_of(self.study, self.datasets, self.measures), *self.store.warnings()],
                provenance(self.study, self.datasets, self.labels, self.store.manifest()),
                latency(self.blocks),
                cost(self.blocks),
            ),
            items=item_views(self.items, self.blocks, self.datasets),
        )


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
