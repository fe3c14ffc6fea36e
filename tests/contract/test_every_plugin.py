"""The contract of every plugin found by entry points, ours and those of other distributions."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import AssayError
from assay.core.protocols import FreeJudge, Index, Judge, Kit
from assay.core.records import Arm, Item, Judgment, Query, Response
from assay.core.registry import (
    CONTROLS,
    DATASETS,
    GROUPS,
    JUDGES,
    MEASURES,
    RENDERERS,
    STATISTICS,
    SYSTEMS,
    Registry,
    identity,
)
from assay.core.results import MeasureInfo, Results, Trust
from assay.measures.parse import parse_measure

REGISTRY = Registry()

# What a plugin cannot be made without. A plugin of another distribution that needs more is left out.
NEEDED: dict[str, dict[str, Any]] = {"replay": {"path": "any.run"}}


def made(group: str, **extra: Any) -> list[Any]:
    """A parameter a plugin of a group that can be made without further ado."""
    found = []
    for name in REGISTRY.names(group):
        try:
            found.append(
                pytest.param(REGISTRY.create(group, {"use": name, **NEEDED.get(name, {}), **extra}), id=name)
            )
        except AssayError:
            continue
    return found


EVERY = [
    pytest.param(group, name, id=f"{group}:{name}") for group in GROUPS for name in REGISTRY.names(group)
]


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_a_plugin_is_a_frozen_dataclass_that_says_what_it_is(group: str, name: str) -> None:
    cls = REGISTRY.load(group, name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert (cls.__doc__ or "").splitlines()[0].strip()
    assert not (cls.__doc__ or "").startswith(f"{cls.__name__}(")  # the dataclass's own, in place of one


@pytest.mark.parametrize(
    "plugin",
    [param for group in GROUPS for param in made(group)],
    ids=lambda plugin: type(plugin).__qualname__,
)
def test_equal_parameters_give_equal_plugins_and_one_identity(plugin: Any) -> None:
    again = dataclasses.replace(plugin)
    assert again == plugin
    assert identity(again) == identity(plugin)


# ------------------------------------------------------------------------------------- systems


def answered(index: Index, text: str, item_id: str = "q1") -> Response:
    return index.session().answer(Query(item_id, text), [])


def well_formed(response: Response, corpus: Corpus) -> None:
    scores = [hit.score for hit in response.hits]
    names = [hit.doc_id for hit in response.hits]
    assert response.error is None
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)
    assert len(set(names)) == len(names)
    assert set(names) <= set(corpus.position)


@pytest.mark.parametrize("system", made(SYSTEMS))
class TestSystems:
    @pytest.mark.parametrize(
        "text",
        [
            "brown fox",
            "",
            " \n\t",
            "検索 größe ПОИСК 🦊",
            "fox " * 10_000,
            'AND OR "( ) * ~ : ^ \\ \0',
            "e\u0301" * 50,
        ],
        ids=["words", "empty", "blank", "unicode", "long", "syntax", "combining"],
    )
    def test_any_query_gets_well_formed_hits(
        self, system: Any, dataset: Dataset, kit: Kit, text: str
    ) -> None:
        well_formed(answered(system.build(dataset.corpus, 0, kit), text), dataset.corpus)

    def test_an_empty_corpus_has_nothing(self, system: Any, kit: Kit) -> None:
        index = system.build(Corpus([]), 0, kit)
        response = answered(index, "brown fox", "an item that nobody knows")
        assert response.error is None
        assert response.hits == []

    def test_the_same_seed_gives_the_same_answer(self, system: Any, dataset: Dataset, kit: Kit) -> None:
        first, second = (system.build(dataset.corpus, 7, kit) for _ in range(2))
        for item in dataset.items:
            assert (
                answered(first, item.text, item.item_id).hits
                == answered(second, item.text, item.item_id).hits
            )

    def test_sessions_in_threads_agree(self, system: Any, dataset: Dataset, kit: Kit) -> None:
        index = system.build(dataset.corpus, 0, kit)
        asked = [item for item in dataset.items for _ in range(8)]
        alone = [answered(index, item.text, item.item_id).hits for item in asked]
        with ThreadPoolExecutor(4) as pool:
            together = pool.map(lambda item: answered(index, item.text, item.item_id).hits, asked)
        assert list(together) == alone


# ------------------------------------------------------------------------------------ datasets


@pytest.mark.slow
@pytest.mark.parametrize("plugin", made(DATASETS))
def test_a_dataset_that_needs_no_file_is_whole_and_the_same_every_time(plugin: Any, kit: Kit) -> None:
    first, second = plugin.load(kit), plugin.load(kit)
    assert first.hash == second.hash
    assert first.items
    assert len(first.corpus)
    named = {doc_id for item in first.items for doc_id in item.gold.get("relevant", {})}
    assert named <= set(first.corpus.position)
    for item in first.items:
        assert isinstance(item, Item)
        assert item.item_id
        assert item.text.strip()
        assert all(isinstance(value, str) for values in item.tags.values() for value in values)


# -------------------------------------------------------------------------------------- judges


@pytest.mark.parametrize("judge", made(JUDGES))
class TestJudges:
    def test_it_says_who_it_is_and_what_it_decides_wholly(self, judge: Any) -> None:
        assert isinstance(judge, Judge)
        assert all(isinstance(name, str) for name in judge.names)
        assert all(isinstance(label, str) for label in judge.closed_labels)

    def test_its_judgments_are_about_items_there_are(
        self, judge: Any, dataset: Dataset, block: Block, kit: Kit
    ) -> None:
        found = judge.judge(dataset, [block], kit) if isinstance(judge, FreeJudge) else []
        items = {item.item_id for item in dataset.items}
        assert all(isinstance(each, Judgment) and each.item_id in items for each in found)
        assert all(math.isfinite(each.grade) for each in found)
        assert {each.judge for each in found} <= set(judge.names)

    def test_it_judges_the_same_twice(self, judge: Any, dataset: Dataset, block: Block, kit: Kit) -> None:
        if isinstance(judge, FreeJudge):
            assert judge.judge(dataset, [block], kit) == judge.judge(dataset, [block], kit)


# ------------------------------------------------------------------------------------ measures


@pytest.mark.parametrize(
    "measure", [*made(MEASURES), *made(MEASURES, cutoff=3), *made(MEASURES, rel=2, cutoff=5)]
)
class TestMeasures:
    def test_its_name_parses_back(self, measure: Any) -> None:
        assert parse_measure(measure.name) == measure

    def test_it_declares_itself(self, measure: Any) -> None:
        assert measure.better in {"higher", "lower"}
        assert measure.high is None or measure.low < measure.high
        assert isinstance(measure.needs, frozenset)
        assert isinstance(measure.binary, bool)
        if measure.absent is not None:
            assert measure.low <= measure.absent <= (math.inf if measure.high is None else measure.high)

    def test_values_lie_in_its_range(self, measure: Any, block: Block) -> None:
        applies, values = measure.applies(block), measure.values(block)
        assert applies.shape == values.shape == (len(block.items),)
        assert applies.dtype == bool
        inside = values[applies & ~np.isnan(values)]
        assert (inside >= measure.low).all()
        assert measure.high is None or (inside <= measure.high).all()
        if measure.binary:
            assert set(inside) <= {0.0, 1.0}

    def test_no_items_have_no_values(self, measure: Any, block: Block) -> None:
        none = dataclasses.replace(block, items=[], answers=block.answers.head(0))
        assert measure.values(none).shape == measure.applies(none).shape == (0,)


# ---------------------------------------------------------------------------------- statistics


@pytest.mark.parametrize("statistic", made(STATISTICS))
class TestStatistics:
    @staticmethod
    def of(statistic: Any, weights: Any) -> Any:
        """The statistic over as many columns as it takes."""
        rng = np.random.default_rng(3)
        columns = [rng.integers(0, 3, weights.shape[1]).astype(float) for _ in range(2)]
        try:
            return statistic.values(columns, weights)
        except (AssayError, ValueError):
            return statistic.values(columns[:1], weights)

    def test_one_value_a_resample(self, statistic: Any) -> None:
        assert self.of(statistic, np.ones((5, 40))).shape == (5,)

    def test_equal_weights_are_no_weights(self, statistic: Any) -> None:
        plain, doubled = (self.of(statistic, np.full((1, 40), weight)) for weight in (1.0, 2.0))
        if statistic.reads == "scores" and not hasattr(statistic, "share"):
            assert doubled == pytest.approx(plain)
        every = self.of(statistic, np.ones((4, 40)))
        assert every == pytest.approx(np.repeat(plain, 4))

    def test_a_row_without_weight_is_not_there(self, statistic: Any) -> None:
        weights = np.ones((2, 40))
        weights[1, :5] = 0
        whole, part = self.of(statistic, weights)
        assert np.isfinite(whole)
        assert np.isfinite(part)

    def test_it_reads_scores_or_judgments(self, statistic: Any) -> None:
        assert statistic.reads in {"scores", "judgments"}


# ----------------------------------------------------------------------------------- renderers


@pytest.fixture(scope="module")
def results(block: Block) -> Results:
    from assay.measures.score import score_blocks
    from assay.report.views import measure_infos
    from assay.stats.compare import Comparing, summarise
    from assay.stats.rows import Rows

    measures = [parse_measure("nDCG@5"), parse_measure("Success@1")]
    scores = score_blocks(measures, [block])
    rows = Rows(scores, block.items)
    estimates, comparisons = summarise(rows, measures, Comparing("any", resamples=200))
    infos: list[MeasureInfo] = measure_infos(measures)
    trust = Trust({"any": {"scored": 2}}, ["<b>a warning & more</b>"], {"assay": "test"})
    return Results(
        "tiny", "search", ["any"], ["any"], None, infos, [], scores, estimates, comparisons, [], None, trust
    )


@pytest.mark.parametrize("renderer", made(RENDERERS))
class TestRenderers:
    def test_it_renders_bytes_and_the_same_ones_twice(self, renderer: Any, results: Results) -> None:
        first, second = self._contents(renderer, results), self._contents(renderer, results)
        assert first == second
        assert all(isinstance(content, bytes) and content for content in first.values())

    def test_its_files_have_a_suffix(self, renderer: Any, results: Results) -> None:
        for name in self._contents(renderer, results):
            assert Path(name).suffix.startswith(".")
            assert not Path(name).is_absolute()

    @staticmethod
    def _contents(renderer: Any, results: Results) -> dict[str, bytes]:
        """What it writes, by file: one of its own suffix, or a folder of them."""
        found: dict[str, bytes] = (
            renderer.files(results)
            if hasattr(renderer, "files")
            else {f"report{renderer.suffix}": renderer.render(results)}
        )
        assert found
        return found


# ------------------------------------------------------------------------------------ controls


@pytest.mark.parametrize("control", made(CONTROLS))
def test_a_control_says_what_it_expects_and_how_often_it_is_drawn(control: Any) -> None:
    assert control.expected in {"refused", "passes", "either"}
    assert control.draws == 1 or control.draws >= 200
    assert callable(control.mutants)


@pytest.mark.parametrize("control", made(CONTROLS))
def test_a_control_is_made_the_same_way_twice_or_says_why_it_is_not(control: Any, block: Block) -> None:
    from assay.controls.candidates import Roles
    from assay.controls.trial import DoesNotApply, Trial
    from assay.measures.score import score_blocks
    from assay.stats.rows import Rows

    blocks = [dataclasses.replace(block, arm=Arm(name)) for name in ("old", "new")]
    measures = [parse_measure("R@5", REGISTRY)]
    scores = score_blocks(measures, blocks)
    rows = Rows(scores, blocks[0].items)
    roles = Roles({"new": "old"}, ("old",))
    trials = [Trial(roles, measures, blocks, rows, scores, every=measures) for _ in range(2)]
    try:
        mutants = [control.mutants(trial) for trial in trials]
    except DoesNotApply as why:
        reason = str(why)
        mutants = []
    if not mutants:
        assert reason
        assert not reason.endswith(".")
        return
    assert mutants[0].keys() == mutants[1].keys()
    assert mutants[0]
    for name in mutants[0]:
        first, second = (each[name](np.random.default_rng(5)) for each in mutants)
        assert first.columns.keys() == second.columns.keys()
        for key, column in first.columns.items():
            assert column.values.shape == (len(rows),)
            np.testing.assert_array_equal(column.values, second.columns[key].values)
