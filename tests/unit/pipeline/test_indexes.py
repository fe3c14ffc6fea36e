"""Indexes of scopes: one while its items are in flight, its structure kept, and nothing left open."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Hit, Node, Query, Response, Structure
from assay.core.registry import MEASURES, SYSTEMS, Registry
from assay.measures.observed import Seconds
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.pipeline.worker_pool import RESERVE, IndexPool
from assay.store.keys import SessionTask
from assay.store.run_store import Store
from assay.study.study import open_study
from probing import items, opened, write_study

SCOPES = (["d1", "d2"], ["d3", "d4", "d5"])


@dataclass(frozen=True)
class Nodes(Seconds):
    """How many nodes the graph has that an item was answered from."""

    family: ClassVar[str] = "Nodes"
    needs: ClassVar[frozenset[str]] = frozenset({"structure"})

    def values(self, block: Block) -> NDArray[np.float64]:
        found = [block.structure_of(item) for item in block.items]
        return np.array([np.nan if each is None else len(each.nodes) for each in found])


def evaluated(folder: Path) -> Evaluation:
    plugins = {SYSTEMS: {"probe": trees(Seen())}, MEASURES: {"Nodes": Nodes}}
    return Evaluation(open_study(folder, registry=Registry(plugins)))


@dataclass
class Seen:
    """What became of the indexes of one run."""

    built: Counter[tuple[str, ...]] = field(default_factory=Counter)
    closed: Counter[tuple[str, ...]] = field(default_factory=Counter)
    most: int = 0  # open at once


@dataclass
class TreeIndex:
    docs: tuple[str, ...]
    seen: Seen

    def session(self) -> TreeIndex:
        return self

    def answer(self, query: Query, budgets: object) -> Response:
        return Response(hits=[Hit(self.docs[0], 1.0)])

    def structure(self) -> Structure:
        return Structure([Node(doc) for doc in self.docs], [])

    def close(self) -> None:
        self.seen.closed[self.docs] += 1


def trees(seen: Seen) -> type:
    @dataclass(frozen=True)
    class Trees:
        version: ClassVar[str] = "1"
        threads: ClassVar[int] = 4

        def build(self, corpus: Corpus, seed: int, kit: Kit) -> TreeIndex:
            time.sleep(0.01)  # long enough for others to come and want it too
            docs = tuple(passage.doc_id for passage in corpus.passages)
            seen.built[docs] += 1
            seen.most = max(seen.most, (seen.built - seen.closed).total())
            return TreeIndex(docs, seen)

    return Trees


def scoped(number: int) -> list[dict[str, Any]]:
    """Items whose scopes take turns, and two without one."""
    given = items(number)
    for index, item in enumerate(given):
        item["scope"] = SCOPES[index % 2][:: -1 if index % 4 > 1 else 1]  # the order of a scope means nothing
    return [*given, {"item_id": "wide", "text": "wide"}, {"item_id": "wider", "text": "wider"}]


def test_a_scope_that_items_share_is_built_once_and_closed(tmp_path: Path) -> None:
    seen = Seen()
    run_study(opened(write_study(tmp_path, scoped(12)), trees(seen)))
    assert set(seen.built.values()) == {1}
    assert {len(docs) for docs in seen.built} == {2, 3, 8}
    assert seen.closed == seen.built


def test_indexes_are_dropped_when_their_items_are_done(tmp_path: Path) -> None:
    seen = Seen()
    given = items(40)
    for index, item in enumerate(given):
        item["scope"] = [f"d{index % 8}", f"d{index // 8}"]  # some are shared, most are not
    run_study(opened(write_study(tmp_path, given, run={"threads": 1}), trees(seen)))
    assert set(seen.built.values()) == {1}
    assert len(seen.built) > 20
    assert seen.most <= 1 + RESERVE  # the one in use, and those of answers that nobody has looked at yet


def test_structures_are_not_read_where_no_measure_looks_at_them(tmp_path: Path) -> None:
    run_study(opened(write_study(tmp_path, scoped(2)), trees(Seen())))
    (block,) = evaluated(tmp_path).blocks
    assert [block.structure_of(item) for item in block.items] == [None] * 4


@pytest.mark.parametrize("seeds", [1, 2])
def test_structures_of_scopes_are_stored_and_found_by_item(tmp_path: Path, seeds: int) -> None:
    study = opened(write_study(tmp_path, scoped(4), seeds=seeds), trees(Seen()))
    run_study(study)
    assert len(Store(study.run_folder).structures()) == 3 * seeds
    write_study(tmp_path, scoped(4), seeds=seeds, measures=["Nodes"])
    for block in evaluated(tmp_path).blocks:
        found = [block.structure_of(item) for item in block.items]
        sizes = [len(structure.nodes) for structure in found if structure is not None]
        assert sizes == [2, 3, 2, 3, 8, 8]


def test_an_item_outside_every_stored_scope_has_no_structure(tmp_path: Path) -> None:
    write_study(tmp_path, scoped(1))
    run_study(opened(tmp_path, trees(Seen())))
    more = ({**item, "item_id": "new", "scope": ["d7"]} for item in items(1))
    write_study(tmp_path, [*scoped(1), *more], measures=["Nodes"])
    (block,) = evaluated(tmp_path).blocks
    assert [block.structure_of(item) is None for item in block.items] == [False, False, False, True]


def test_a_build_that_failed_is_tried_again() -> None:
    calls: list[object] = []

    def build(scope: object) -> Any:
        calls.append(scope)
        if len(calls) == 1:
            raise ConnectionError
        return object()

    indexes = IndexPool(build, [SessionTask((0,), ("k",))])
    with pytest.raises(ConnectionError):
        indexes.get(None)
    assert indexes.get(None) is indexes.get(None)
    assert calls == [None, None]


def test_scopes_are_built_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=10)
    units = [SessionTask((number,), (str(number),), (f"d{number}",)) for number in range(2)]

    def build(scope: object) -> Any:
        meeting.wait()  # breaks where one build waits for another
        return scope

    indexes = IndexPool(build, units)
    threads = [threading.Thread(target=indexes.get, args=(unit.scope,)) for unit in units]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    built: list[Any] = [indexes.get(unit.scope) for unit in units]
    assert built == [("d0",), ("d1",)]
