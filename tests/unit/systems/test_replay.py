"""Replaying a TREC run file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Query
from assay.core.registry import SYSTEMS, Registry
from assay.systems.imported import Replay

# q1: the rank column and the order of lines disagree with the scores; d2 and d9 tie.
RUN = """\
q1 Q0 d1 1 0.5 tag
q1 Q0 d2 2 0.7 tag
q2 Q0 d1 1 3 tag
q1 Q0 d9 3 0.7 tag
q1 Q0 d3 4 2.5e1 tag
"""


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    (tmp_path / "bm25.run").write_text(RUN)
    return Kit(root=tmp_path)


def answered(kit: Kit, item_id: str) -> list[tuple[str, float]]:
    index = Replay("bm25.run").build(Corpus([]), seed=0, kit=kit)
    response = index.session().answer(Query(item_id, "what it asks plays no part"), budgets=[])
    assert response.error is None
    assert response.observed.seconds == {}
    return [(hit.doc_id, hit.score) for hit in response.hits]


def test_hits_stand_as_trec_eval_orders_them(kit: Kit) -> None:
    assert answered(kit, "q1") == [("d3", 25.0), ("d9", 0.7), ("d2", 0.7), ("d1", 0.5)]
    assert answered(kit, "q2") == [("d1", 3.0)]


def test_an_item_the_file_lacks_has_no_hits(kit: Kit) -> None:
    assert answered(kit, "q3") == []


def test_the_identity_follows_what_the_file_holds(kit: Kit) -> None:
    before = Replay("bm25.run").identity(kit)
    (kit.root / "copy.run.gz").write_bytes(gzip.compress(RUN.encode()))
    assert Replay("copy.run.gz").identity(kit) == before
    (kit.root / "bm25.run").write_text(RUN.replace("0.5", "0.6"))
    assert Replay("bm25.run").identity(kit) != before


def test_a_file_that_is_not_there_is_named(kit: Kit) -> None:
    with pytest.raises(DataError, match=r"absent\.run"):
        Replay("absent.run").identity(kit)
    with pytest.raises(DataError, match=r"absent\.run"):
        Replay("absent.run").build(Corpus([]), seed=0, kit=kit)


def test_a_spec_makes_it() -> None:
    assert Registry().create(SYSTEMS, "replay:runs/bm25.run") == Replay("runs/bm25.run")
