"""The stages after the run: judge, score, compare, gate. They read stored answers and never ask a system.

The output of a stage is in the run folder with the hash of its input. If that hash has changed, the stage is
computed again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import msgspec
import polars as pl

from assay.core.block import PENDING, Block, Labels
from assay.core.dataset import Condition, Dataset
from assay.core.errors import UsageError
from assay.core.protocols import Measure, PayingJudge
from assay.core.records import Arm, Comparison, Estimate, Item, Judgment, Verdict
from assay.core.results import Results, ReviewSummary, TrustSummary
from assay.gates.evaluator import Evaluator
from assay.gates.figures import evaluate_figures, measures_of_figures
from assay.gates.gate import measures_of
from assay.gates.looks import LookHistory
from assay.gates.verdict import decide_gates, find_decided_differences, find_recommendation, overall_verdict
from assay.measures.marks import wants_review
from assay.measures.same_answers import StoredAnswers
from assay.measures.score import BrokenMeasures
from assay.pipeline.judging import JudgeStage
from assay.pipeline.plugins import make_sections
from assay.pipeline.runner import Selection, command_path
from assay.pipeline.stored_results import (
    list_changed_gates,
    list_changes_since_run,
    load_or_score,
    load_proofs,
    look_book,
)
from assay.pipeline.validate import evaluation_warnings
from assay.pipeline.warnings import (
    check_known_documents,
    latency,
    provenance,
    status_counts,
)
from assay.report.views import item_views, measure_infos
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from assay.store.journal import COLUMNS, select_by_key
from assay.store.keys import AnswerBasis, keys_by_item, plan_tasks, scope_hash
from assay.store.run_store import Store
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.core.section import Section
    from assay.review.outlook import Outlook, PassageReview
    from assay.stats.checked_judge import LabelSources, PredictionPowered
    from assay.stats.families import GateDifference


@dataclass(frozen=True)
class Evaluation:
    """A study's stored responses and all results that follow from them. Each result is computed when needed.

    A selection restricts the evaluation to some arms and to items with some tags. Its limit does not restrict
    it: the items beyond the limit count as pending.
    """

    study: Study
    selection: Selection = field(default_factory=Selection)
    repetition: int = 0  # evaluate the answers of this repetition; 0: the answers of the study
    detailed: bool = True  # False: the results have no items, traces and trees. A verdict does not need them

    @cached_property
    def store(self) -> Store:
        return Store(self.study.run_folder)

    @cached_property
    def _answers(self) -> Store:
        return self.store.repetition(self.repetition)

    @cached_property
    def measures(self) -> list[Measure]:
        """The study's measures, and the measures that only its gates or figures name."""
        named = {measure.name: measure for measure in self.study.measures}
        for measure in (*measures_of(self.study.gates, self.study), *measures_of_figures(self.study)):
            named.setdefault(measure.name, measure)
        return list(named.values())

    @cached_property
    def arms(self) -> list[Arm]:
        """The selected arms that were run."""
        return [arm for arm in self.selection.arms(self.study) if arm.name in self._bases]

    @cached_property
    def _bases(self) -> dict[str, AnswerBasis]:
        return self.store.bases(self.study)

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The dataset of every arm, by the name of the arm."""
        return {arm.name: self.study.dataset(arm) for arm in self.arms}

    @cached_property
    def items(self) -> list[Item]:
        """All items of all arms, in order of appearance."""
        blocks = self._unjudged_blocks
        return list({item.item_id: item for block in blocks for item in block.items}.values())

    @cached_property
    def _unjudged_blocks(self) -> list[Block]:
        """The blocks of all arms and seeds, still without labels."""
        # one graph per question and arm is larger than all answers: it is read only if a measure needs it
        wanted = any("structure" in measure.needs for measure in self.measures)
        stored, structures = self._answers.answers(), self.store.structures() if wanted else {}
        chosen = dataclasses.replace(self.selection, limit=None)
        blocks = []
        seeded = [(arm, seed) for arm in self.arms for seed in self.study.seeds_of(arm)]
        for arm, seed in seeded:
            dataset, basis = self.study.dataset(arm), self._bases[arm.name]
            keys = keys_by_item(plan_tasks(basis, seed, dataset), len(dataset.items))
            places = sorted(chosen.positions(self.study, dataset))
            answers = select_by_key(stored, [keys[place] for place in places])
            items = [dataset.items[place] for place in places]
            whole = structures.get(basis.index_key(seed))
            scoped = {
                item.item_id: structures[key]
                for item in items
                if item.scope is not None
                and (key := basis.index_key(seed, scope_hash(item.scope))) in structures
            }
            gives = self.study.gives(arm)
            blocks.append(
                Block(arm, seed, items, answers, Labels.none(), (), whole, scoped, gives, dataset.corpus)
            )
        if not self.repetition and not any((block.asked != PENDING).any() for block in blocks):
            raise UsageError(f"Nothing was run yet. Run: assay run {command_path(self.study)}")
        return blocks

    @cached_property
    def _left_out(self) -> list[Block]:
        """Blocks, without answers, of the items that the selection leaves out: clauses may need them."""
        chosen, blocks = dataclasses.replace(self.selection, limit=None), []
        for arm in self.arms if self.selection.where else []:
            dataset = self.study.dataset(arm)
            places = chosen.positions(self.study, dataset)
            items = [item for place, item in enumerate(dataset.items) if place not in places]
            none = select_by_key(pl.DataFrame(schema=COLUMNS), [""] * len(items))
            gives = self.study.gives(arm)
            blocks.append(
                Block(arm, 0, items, none, self.labels, self.judgments, gives=gives, corpus=dataset.corpus)
            )
        return blocks

    @cached_property
    def judging(self) -> JudgeStage:
        return JudgeStage(self.study, self._unjudged_blocks, self.store)

    @cached_property
    def judgments(self) -> list[Judgment]:
        """All judgments that count."""
        return self.judging.judgments

    @cached_property
    def labels(self) -> Labels:
        return self.judging.labels

    @cached_property
    def blocks(self) -> list[Block]:
        """One block per arm and seed, with labels."""
        return [
            dataclasses.replace(block, labels=self.labels, judgments=self.judgments)
            for block in self._unjudged_blocks
        ]

    @property
    def scores(self) -> pl.DataFrame:
        return self._scored[0]

    @property
    def broken(self) -> BrokenMeasures:
        """The measures that could not be computed."""
        return self._scored[1]

    @cached_property
    def _scored(self) -> tuple[pl.DataFrame, BrokenMeasures]:
        check_known_documents(self.blocks, self.datasets)
        return load_or_score(self.study, self._answers, self.measures, self.blocks, sealed=self.sealed)

    @cached_property
    def sealed(self) -> bool:
        """Whether people still mark responses without knowing the arms. Then nothing is shown per arm."""
        return self.study.withholds

    @cached_property
    def rows(self) -> Rows:
        variants = {block.arm.name: block.items for block in self._unjudged_blocks}
        return Rows(self.scores, self.items, self.study.file.cluster, variants)

    @cached_property
    def decided_differences(self) -> list[GateDifference]:
        """The differences between two systems that gates decide, with the numbers of the gates."""
        return find_decided_differences(self.study.gates, self.verdicts, self.evaluator, self._book)

    @cached_property
    def summary(self) -> tuple[list[Estimate], list[Comparison]]:
        """The estimates of every arm, and the comparisons that the study declares."""
        estimates, comparisons = summarise(
            self.rows, self.study.measures, self._comparing, self.decided_differences, self.evaluator.draws
        )
        return [self._corrected(each) for each in estimates], comparisons

    @cached_property
    def prediction_powered(self) -> PredictionPowered | None:
        """The correction of a judge's grades by people's marks; None if the study does not allow it."""
        if not self.has_paying_judge or self.study.file.cluster or self.sealed:
            return None
        from assay.stats.checked_judge import PredictionPowered

        usable = self.label_sources.people and self.label_sources.paying
        return PredictionPowered(self.blocks, self.judging.names, self.label_sources) if usable else None

    @property
    def has_paying_judge(self) -> bool:
        """Whether asking a judge of the study costs something."""
        return any(isinstance(judge, PayingJudge) for judge in self.study.judges)

    @cached_property
    def label_sources(self) -> LabelSources:
        """Which people and which paying judges judged the same things."""
        from assay.stats.checked_judge import LabelSources  # needed only with a paying judge

        return LabelSources.of(self.study.judges, self.judging.names)

    def _corrected(self, plain: Estimate) -> Estimate:
        """Corrects an estimate from a judge's many grades by people's few marks, if these are enough."""
        if self.prediction_powered is None or (plain.system, plain.measure) in self.broken:
            return plain
        measure = next(each for each in self.study.measures if each.name == plain.measure)
        where = [Condition(name, True, (value,)) for name, value in plain.where.items()]
        arm = Arm(plain.system, plain.factors).name
        return self.prediction_powered.estimate(plain, arm, measure, self.rows.item_ids(where))

    @cached_property
    def _comparing(self) -> ComparisonSettings:
        settings = self.study.file.compare
        return ComparisonSettings(
            self.study.baseline,
            settings.against,
            settings.correction,
            settings.resamples,
            by=self.study.file.by,
        )

    @cached_property
    def evaluator(self) -> Evaluator:
        """Evaluates the clauses of gates."""
        return Evaluator(
            self.rows,
            self.study.registry,
            self.judgments,
            self.study.file.compare.resamples,
            systems=list(self.study.file.systems),
            raters=self.judging.raters,
            prediction_powered=self.prediction_powered,
            left_out=self._left_out,
            broken=self.broken,
            same_answers=StoredAnswers(self._unjudged_blocks),
        )

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of the gates. They do not wait for open marks that can no longer change them."""
        settling = {"settled": self.outlook.settle} if self.outlook else {}
        return decide_gates(
            self.study.gates, self.evaluator, self.study.file.steps, book=self._book, **settling
        )

    @cached_property
    def _book(self) -> LookHistory:
        return look_book(self.study, self.store, self._bases)

    @cached_property
    def reviewing(self) -> PassageReview:
        """The passages that people should review, and their marks so far."""
        from assay.review.outlook import PassageReview  # few studies ask people about passages

        study = self.study
        return PassageReview(self.blocks, self.items, self.measures, study.file.cluster, study.judges)

    @cached_property
    def review(self) -> ReviewSummary | None:
        """The progress of the review; None if no item asks for a review."""
        return self.reviewing.summary(self._comparing, self.outlook) if self.outlook else None

    @cached_property
    def outlook(self) -> Outlook | None:
        """The verdicts that gates can still reach after the review; None if no item asks for a review."""
        if not self.wants_review:
            return None
        return self.reviewing.outlook(self.study.gates, self.evaluator, self.study.file.steps)

    @property
    def wants_review(self) -> bool:
        """Whether an item asks for a review by people."""
        return any(wants_review(block).any() for block in self._unjudged_blocks)

    @cached_property
    def results(self) -> Results:
        """All results. A comparison that a section tests is not listed a second time."""
        sections, cautions = make_sections(self)
        trust = msgspec.structs.replace(
            self.base_results.trust, warnings=[*cautions, *self.base_results.trust.warnings]
        )
        tested = {each for section in sections for each in section.tested}
        comparisons = [
            one
            for one in self.base_results.comparisons
            if one.where
            or not {(one.measure, Arm(side, one.factors).name) for side in (one.a, one.b)} & tested
        ]
        return dataclasses.replace(self.base_results, sections=sections, trust=trust, comparisons=comparisons)

    @cached_property
    def base_results(self) -> Results:
        """The results without the sections of insights. Insights read these results."""
        estimates, comparisons = self.summary
        return Results(
            study=self.study.name,
            kind=self.study.file.kind,
            systems=self.rows.systems,
            arms=list(self.datasets),
            baseline=self.study.baseline if len(self.rows.systems) > 1 else None,
            measures=measure_infos(self.study.measures, self.judging.bounded),
            by=self.study.file.by,
            scores=self.scores,
            estimates=estimates,
            comparisons=comparisons,
            verdicts=self.verdicts,
            verdict=overall_verdict(self.verdicts),
            trust=TrustSummary(
                status_counts(self.scores, self.study.measures[0].name),
                evaluation_warnings(self),
                provenance(self.study, self.datasets, self.labels, self.store.manifest()),
                {} if self.sealed else latency(self.blocks),
                {}
                if self.sealed
                else {arm: paid for arm, paid in self.store.paid().items() if arm in self.datasets},
            ),
            items=[]
            if self.sealed or not self.detailed
            else item_views(self.items, self.blocks, self.datasets, self.judging.kinds),
            review=self.review,
            recommendation=find_recommendation(self.verdicts, self.study.file.recommend),
            created=self.store.manifest().get("started"),
            only={name: list(values) for name, values in self.selection.where.items()},
            layer=" and ".join(self._each(lambda dataset: [dataset.layer] if dataset.layer else [])),
            unproven=self._each(lambda dataset: dataset.unproven),
            figures=evaluate_figures(self.study.file.figures, self.evaluator),
            outdated=self.outdated,
            proofs=load_proofs(self),
            traced=[] if self.sealed else self._traced,
        )

    @property
    def _traced(self) -> list[str]:
        """The names of the arms whose responses have traces."""
        arms = [
            block.arm.name
            for block in self.blocks
            if any(response is not None and response.trace for response in block.responses)
        ]
        return list(dict.fromkeys(arms))

    def _each(self, what: Callable[[Dataset], Iterable[str]]) -> list[str]:
        """Applies a function to every dataset, and returns the distinct values."""
        return list(dict.fromkeys(said for dataset in self.datasets.values() for said in what(dataset)))

    @cached_property
    def outdated(self) -> list[str]:
        """The reasons why stored answers are older than the study, the data or the gates."""
        changed = list_changes_since_run(self.study, self.store, self.arms, self._bases)
        return [*changed, *list_changed_gates(self.study, self.store.declared(), self.blocks)]


class Insight(Protocol):
    """Makes a section of every report from an evaluation. It returns None if there is nothing to show.

    `evaluation.base_results` has the results without sections.
    """

    def of(self, evaluation: Evaluation) -> Section | None: ...
