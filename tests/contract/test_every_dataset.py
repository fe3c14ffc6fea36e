"""The contract of every dataset and of every source of texts found by entry points."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from plugins import each

from assay.core.dataset import Dataset
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.core.registry import DATASETS
from assay_worlds.sources.source import SOURCES, TextSource, passages_of

SLOW = {"organisation", "workplace"}  # they write a whole world


def load_twice(plugin: Any, kit: Kit) -> tuple[Dataset, Dataset]:
    return plugin.load(kit), plugin.load(kit)


@pytest.mark.parametrize(
    "plugin",
    [
        pytest.param(
            *param.values, id=param.id, marks=[*param.marks, *[pytest.mark.slow] * (param.id in SLOW)]
        )
        for param in each(DATASETS)
    ],
    indirect=True,
)
def test_a_dataset_is_whole_and_the_same_every_time(plugin: Any, kit: Kit) -> None:
    first, second = load_twice(plugin, kit)
    assert first.hash == second.hash
    assert first.name
    assert first.items
    assert len(first.corpus) or first.corpus.is_uncut
    assert len({item.item_id for item in first.items}) == len(first.items)
    named = {doc_id for item in first.items for doc_id in item.gold.get("relevant", {})}
    assert named <= set(first.corpus.position)
    for item in first.items:
        assert isinstance(item, Item)
        assert item.item_id
        assert item.text.strip()
        assert set(item.scope or ()) <= set(first.corpus.position)
        assert all(isinstance(value, str) for values in item.tags.values() for value in values)
    for passage in first.corpus.passages:
        assert passage.doc_id
        document = first.corpus.documents.get(passage.source or "")
        if document is not None and passage.span is not None:
            assert 0 <= passage.span.start <= passage.span.end <= len(document.text)


@pytest.mark.parametrize("plugin", each(SOURCES), indirect=True)
class TestSources:
    def test_pages_have_sections_and_passages_that_lie_in_them(self, plugin: Any, kit: Kit) -> None:
        assert isinstance(plugin, TextSource)
        pages = list(plugin.pages(kit))
        assert pages
        assert len({page.document.doc_id for page in pages}) == len(pages)
        for page in pages:
            text = page.document.text
            assert text.strip()
            assert page.document.metadata["kind"] == plugin.kind
            for section in page.sections:
                assert 0 <= section.span.start <= section.span.end <= len(text)
            for passage in passages_of(page):
                assert passage.span is not None
                assert passage.text == text[passage.span.start : passage.span.end]

    def test_pages_come_in_one_order(self, plugin: Any, kit: Kit) -> None:
        assert list(plugin.pages(kit)) == list(plugin.pages(kit))

    def test_other_content_than_what_is_pinned_is_refused(self, plugin: Any, kit: Kit) -> None:
        pinned = dataclasses.replace(plugin, sha256="0" * 64)
        with pytest.raises(DataError, match="the content has changed"):
            list(pinned.pages(kit))
