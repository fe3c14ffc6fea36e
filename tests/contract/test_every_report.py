"""The contract of every renderer and every insight found by entry points, ours and those of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from plugins import each

from assay.core.block import Block
from assay.core.registry import INSIGHTS, RENDERERS
from assay.core.results import MeasureInfo, Results, TrustSummary
from assay.core.section import Section
from assay.measures.parse import parse_measure
from assay.measures.score import score_blocks
from assay.pipeline.evaluation import Evaluation
from assay.report.views import measure_infos
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows

# Where an insight of ours has something to say.
SPEAKS_OF = {
    "blinded_scoring": "scored",
    "budget_curves": "walked",
    "routing_trees": "walked",
    "walks": "walked",
}


@pytest.fixture(scope="module")
def results(block: Block) -> Results:
    measures = [parse_measure("nDCG@5"), parse_measure("Success@1")]
    scores = score_blocks(measures, [block])
    rows = Rows(scores, block.items)
    estimates, comparisons = summarise(rows, measures, ComparisonSettings("any", resamples=200))
    infos: list[MeasureInfo] = measure_infos(measures)
    trust = TrustSummary({"any": {"scored": 2}}, ["<b>a warning & more</b>"], {"assay": "test"})
    return Results(
        "tiny", "search", ["any"], ["any"], None, infos, [], scores, estimates, comparisons, [], None, trust
    )


@pytest.mark.parametrize("plugin", each(RENDERERS), indirect=True)
class TestRenderers:
    def test_it_renders_bytes_and_the_same_ones_twice(self, plugin: Any, results: Results) -> None:
        first, second = self._contents(plugin, results), self._contents(plugin, results)
        assert first == second
        assert all(isinstance(content, bytes) and content for content in first.values())

    def test_its_files_have_a_suffix(self, plugin: Any, results: Results) -> None:
        for name in self._contents(plugin, results):
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


@pytest.mark.parametrize("plugin", each(INSIGHTS), indirect=True)
@pytest.mark.parametrize("about", ["walked", "scored"])
def test_an_insight_is_a_section_or_none_and_the_same_one_twice(
    plugin: Any, about: str, evaluations: dict[str, Evaluation], request: pytest.FixtureRequest
) -> None:
    first, second = (plugin.of(evaluations[about]) for _ in range(2))
    if SPEAKS_OF.get(request.node.callspec.params["plugin"].name) == about:
        assert first is not None
    if first is None:
        assert second is None
        return
    assert isinstance(first, Section)
    assert first.key
    assert first.title
    assert first.lead
    assert first.place in {"verdict", "systems", "items"}
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
