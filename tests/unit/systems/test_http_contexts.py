"""Contexts that a service shows under token budgets: read, counted and measured; none is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Budget, Context, Passage, Piece, Query, Span
from assay.core.registry import identity
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.study.study import open_study
from assay.systems.http import Http
from small_study import write_lines
from stand_ins.search_server import Reply, SearchServer

CORPUS = Corpus(
    [Passage("d1", "Ferries leave at nine.", source="page", span=Span(10, 32)), Passage("d2", "No.")]
)


def contexts(answer: dict[str, Any], places: dict[int | str, str], *budgets: Budget) -> list[Context]:
    with SearchServer(Reply({"results": [], **answer})) as server:
        index = Http(server.url, params={"q": "{query}"}, contexts=places).build(CORPUS, 0, Kit())
        try:
            return index.session().answer(Query("q1", "when?"), budgets).contexts
        finally:
            index.close()


def test_a_text_or_pieces_are_a_context_counted_by_our_tokenizer() -> None:
    shown = {
        "small": "Ferries leave.",
        "whole": [{"id": "d1", "text": "Ferries leave at nine."}, "And back."],
    }
    found = contexts({"shown": shown}, {400: "shown.small", "inf": "shown.whole"}, 400, None)
    assert found == [
        Context(400, [Piece("", "Ferries leave.")], 4, "o200k_base"),
        # where a piece is a passage of ours, it has its place in the document
        Context(
            None,
            [Piece("d1", "Ferries leave at nine.", Span(10, 32)), Piece("", "And back.")],
            9,  # a full stop and a line break are one
            "o200k_base",
        ),
    ]


def test_only_the_budgets_that_are_asked_for_are_read() -> None:
    assert contexts({"a": "one"}, {200: "nowhere", 400: "a"}, 400) == [
        Context(400, [Piece("", "one")], 1, "o200k_base")
    ]
    assert contexts({"a": "one"}, {400: "a"}) == []


def test_an_empty_context_is_one_and_an_absent_one_is_a_failure() -> None:
    assert contexts({"a": ""}, {400: "a"}, 400) == [Context(400, [], 0, "o200k_base")]
    with pytest.raises(SystemFailure, match=r"At 'b' there is nothing, not a context.* Correct contexts.400"):
        contexts({"a": ""}, {400: "b"}, 400)
    with pytest.raises(
        SystemFailure, match="A piece of the context at 'a' is an object, without a text at 'text'"
    ):
        contexts({"a": [{"id": "d1"}]}, {400: "a"}, 400)


def test_a_budget_that_is_none_and_a_place_that_is_none_are_told() -> None:
    with pytest.raises(UsageError, match="contexts: 'small' is not a budget"):
        Http("http://a.example/{query}", contexts={"small": "a"})
    with pytest.raises(UsageError, match=r"contexts.400: 'a\[' is not a JMESPath expression"):
        Http("http://a.example/{query}", contexts={400: "a["})


def test_a_system_without_contexts_is_what_it_was() -> None:
    plain = Http("http://a.example/{query}")
    assert "contexts" not in plain.gives
    assert "contexts" not in identity(plain)
    assert "tokenizer" not in identity(plain)
    shown = Http("http://a.example/{query}", contexts={400: "a"})
    assert "contexts" in shown.gives
    assert identity(shown) == identity(Http("http://a.example/{query}", contexts={"400": "a"}))


STUDY = """\
data: data
budgets: [3, 400]
systems:
  portal:
    use: http
    url: {url}
    params: {{q: "{{query}}"}}
    contexts: {{3: shown.few, 400: shown.many}}
measures: [A@400, ER@400, A@3]
compare: {{resamples: 200}}
"""


def test_budget_measures_apply_to_a_service_that_shows_contexts(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    text = "Ferries leave at nine. They come back at noon."
    write_lines(tmp_path / "data/passages.jsonl", [{"doc_id": "d1", "text": text}])
    unit = {"doc_id": "d1", "source": "d1", "start": 0, "end": 22, "text": "Ferries leave at nine."}
    items = [{"item_id": f"q{n}", "text": "when?", "gold": {"evidence": [unit]}} for n in (1, 2, 3)]
    write_lines(tmp_path / "data/items.jsonl", items)
    shown = {"few": "Ferries leave", "many": [{"id": "d1", "text": text}]}
    right, wrong = {"results": [], "shown": shown}, {"results": [], "shown": {"few": "", "many": "At ten."}}
    too_long = {"results": [], "shown": {"few": "Ferries leave at nine.", "many": ""}}
    with SearchServer(Reply(right), Reply(wrong), Reply(too_long)) as server:
        (tmp_path / "study.yaml").write_text(STUDY.format(url=server.url) + "run: {threads: 1}\n")
        study = open_study(tmp_path)
        assert run_study(study).failed == 1
    scores = Evaluation(study).scores
    found = {tuple(row) for row in scores.select("item", "measure", "value", "status").iter_rows()}
    assert {("q1", "A@400", 1.0, "scored"), ("q1", "A@3", 0.0, "scored")} <= found
    assert {("q2", "A@400", 0.0, "scored"), ("q2", "ER@400", 0.0, "scored")} <= found
    assert ("q3", "A@400", None, "failed") in found  # six tokens for a budget of three
