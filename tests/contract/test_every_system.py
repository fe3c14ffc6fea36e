"""The contract of every system found by entry points, ours and those of others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from plugins import each
from samples import ITEMS, TEXTS

from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Index, Kit
from assay.core.records import Observed, Passage, Query, Response
from assay.core.registry import SYSTEMS

EVERY = pytest.mark.parametrize("plugin", each(SYSTEMS), indirect=True)

# Of systems that only know what they were given, the fault of an item they know nothing of.
UNKNOWN = {"imported": "absent", "prompted": "NoContent", "responses": "absent", "traced": "absent"}
# Systems that do not answer from the corpus they are given, and why an empty one changes nothing for them.
HAS_ITS_OWN_CORPUS = {"http": "the service searches what it has indexed itself"}
# Systems that answer with the content documents of an item, as an answer study has them.
OF_CONTENT = {"prompted", "responses"}


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """The name of the system that a test is about."""
    return str(request.node.callspec.params["plugin"].name)


@pytest.fixture
def corpus(dataset: Dataset, name: str) -> Corpus:
    """The tiny corpus; for systems of content documents, as the content of every item."""
    if name not in OF_CONTENT:
        return dataset.corpus
    about = {"pair": "P1", "condition": "A", "site": "S1", "questions": [item.item_id for item in ITEMS]}
    return Corpus([Passage(doc_id, text, metadata=about) for doc_id, text in TEXTS.items()])


@contextmanager
def built(system: Any, corpus: Corpus, kit: Kit, seed: int = 0) -> Iterator[Index]:
    """An index, which is closed at the end."""
    index = system.build(corpus, seed, kit)
    try:
        yield index
    finally:
        if hasattr(index, "close"):
            index.close()


def answered(index: Index, text: str, item_id: str = "q1") -> Response:
    """The answer without what was seen from outside, which differs from time to time."""
    response = index.session().answer(Query(item_id, text), [])
    return msgspec.structs.replace(response, observed=Observed())


def well_formed(response: Response, corpus: Corpus) -> None:
    scores = [hit.score for hit in response.hits]
    names = [hit.doc_id for hit in response.hits]
    assert response.error is None
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)
    assert len(set(names)) == len(names)
    assert set(names) <= set(corpus.position)


@EVERY
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
def test_any_query_gets_well_formed_hits(plugin: Any, corpus: Corpus, kit: Kit, text: str) -> None:
    with built(plugin, corpus, kit) as index:
        well_formed(answered(index, text), corpus)


@EVERY
def test_a_query_of_words_that_the_corpus_has_finds_something(plugin: Any, corpus: Corpus, kit: Kit) -> None:
    with built(plugin, corpus, kit) as index:
        assert answered(index, ITEMS[0].text).hits


@EVERY
def test_an_empty_corpus_has_nothing(plugin: Any, name: str, kit: Kit) -> None:
    if name in HAS_ITS_OWN_CORPUS:
        pytest.skip(f"{name}: {HAS_ITS_OWN_CORPUS[name]}")
    with built(plugin, Corpus([]), kit) as index:
        response = answered(index, "brown fox", "an item that nobody knows")
    assert response.hits == []
    assert (response.error.kind if response.error else None) == UNKNOWN.get(name)


@EVERY
def test_the_same_seed_gives_the_same_answer(plugin: Any, corpus: Corpus, dataset: Dataset, kit: Kit) -> None:
    with built(plugin, corpus, kit, 7) as first, built(plugin, corpus, kit, 7) as second:
        for item in dataset.items:
            assert answered(first, item.text, item.item_id) == answered(second, item.text, item.item_id)


@EVERY
def test_sessions_in_threads_agree(plugin: Any, corpus: Corpus, dataset: Dataset, kit: Kit) -> None:
    with built(plugin, corpus, kit) as index:
        asked = [item for item in dataset.items for _ in range(8)]
        alone = [answered(index, item.text, item.item_id) for item in asked]
        with ThreadPoolExecutor(4) as pool:
            together = pool.map(lambda item: answered(index, item.text, item.item_id), asked)
        assert list(together) == alone


@EVERY
def test_a_context_fits_its_budget(plugin: Any, corpus: Corpus, kit: Kit) -> None:
    if "contexts" not in (getattr(plugin, "gives", None) or ()):
        return  # it does not say that it gives any
    with built(plugin, corpus, kit) as index:
        response = index.session().answer(ITEMS[0].query, [5, None])
    assert [context.budget for context in response.contexts] == [5, None]
    for context in response.contexts:
        assert context.tokens <= (math.inf if context.budget is None else context.budget)
        assert {piece.doc_id for piece in context.pieces} <= set(corpus.position)
