"""Systems whose stored answers are the same: no loss is certain at any number of items, and so is no gain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Budget, ClauseResult, Hit, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.pipeline.evaluate import evaluate
from small_study import write_lines

N = 42


@dataclass(frozen=True)
class Given:
    """Answers from a file: by item the ids of its hits, or null where it fails."""

    path: str
    scale: float = 1.0
    answer: str = ""
    version: ClassVar[str] = "1"

    def identity(self, kit: Kit) -> str:
        return kit.path(self.path).read_text()

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Answering:
        return Answering(json.loads(kit.path(self.path).read_text()), self.scale, self.answer)


@dataclass(frozen=True)
class Answering:
    hits: dict[str, list[str] | None]
    scale: float
    text: str

    def session(self) -> Answering:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        docs = self.hits[query.item_id]
        if docs is None:
            raise SystemFailure("HTTP 500")
        hits = [Hit(doc, self.scale * (9 - rank)) for rank, doc in enumerate(docs)]
        return Response(hits=hits, answer=self.text or None)


def clauses(
    folder: Path, go: Sequence[str], new: dict[str, Any], twin: str = "", n: int = N, **gate: Any
) -> list[ClauseResult]:
    """The clauses of a gate over `old`, which finds every second passage, and over `twin`."""
    (folder / "data").mkdir(parents=True)
    items = [
        {
            "item_id": f"q{i}",
            "text": f"query {i}",
            "gold": {"relevant": {f"d{i}": 1}},
            "tags": {"half": str(i % 2)},
        }
        for i in range(n)
    ]
    write_lines(folder / "data/items.jsonl", items)
    write_lines(folder / "data/passages.jsonl", [{"doc_id": f"d{i}", "text": f"text {i}"} for i in range(99)])
    (folder / "old.json").write_text(json.dumps(OLD))
    (folder / "new.json").write_text(json.dumps({**OLD, **new}))
    study = {
        "data": "data",
        "systems": {"old": "given(path=old.json)", "twin": f"given(path=new.json{twin})"},
        "measures": ["Success@1", "R@3", "Seconds"],
        "compare": {"resamples": 300},
        "gates": {"ship": {"go": list(go), **gate}},
    }
    (folder / "study.yaml").write_text(json.dumps(study))
    (verdict,) = evaluate(folder, registry=Registry({SYSTEMS: {"given": Given}})).verdicts
    return verdict.clauses


OLD: dict[str, Any] = {f"q{i}": [f"d{i if i % 2 else 70}", "d71", "d72"] for i in range(N)}
NO_LOSS, TOLERATED, GAIN, MORE = (
    "Success@1(twin) >= Success@1(old)",
    "Success@1(old) - 0.02 <= Success@1(twin)",
    "Success@1(twin) >= Success@1(old) + 0.02",
    "Success@1(twin) > Success@1(old)",
)
IDENTICAL = "the answers are identical on all 42 items"


def test_no_loss_holds_and_a_gain_fails(tmp_path: Path) -> None:
    go = [NO_LOSS, TOLERATED, GAIN, MORE, "Success@1(twin) / Success@1(old) >= 0.9"]
    found = clauses(tmp_path / "s", go, {})
    assert [one.holds for one in found] == [True, True, False, False, True]
    assert {one.reason for one in found} == {IDENTICAL}
    assert [(one.low, one.value, one.high) for one in found[:1]] == [(0.0, 0.0, 0.0)]


def test_it_does_not_depend_on_the_number_of_items(tmp_path: Path) -> None:
    (one,) = clauses(tmp_path / "s", [NO_LOSS], {}, n=2)  # a gate asks for five unless it says otherwise
    assert (one.holds, one.reason) == (True, "the answers are identical on all 2 items")


def test_equal_scores_with_other_answers_stay_undecided(tmp_path: Path) -> None:
    # another wrong passage at the end: every score ties, and the answers differ on one item
    (one,) = clauses(tmp_path / "s", [NO_LOSS], {"q0": ["d70", "d71", "d73"]})
    assert (one.value, one.holds) == (0.0, None)
    assert "identical" not in one.reason


@pytest.mark.parametrize("twin", [", answer=yes", ", answer='no answer'"])
def test_the_same_hits_with_another_text_are_another_answer(tmp_path: Path, twin: str) -> None:
    (one,) = clauses(tmp_path / "s", [NO_LOSS], {}, twin)
    assert one.holds is None


def test_the_size_of_scores_is_no_part_of_an_answer(tmp_path: Path) -> None:
    (one,) = clauses(tmp_path / "s", [NO_LOSS], {}, ", scale=0.5")
    assert (one.holds, one.reason) == (True, IDENTICAL)
    # but hits of one score are put in the order of their ids, so that ties count
    (tied,) = clauses(tmp_path / "t", [NO_LOSS], {}, ", scale=0")
    assert "identical" not in tied.reason


def test_only_the_items_of_the_clause_have_to_be_the_same(tmp_path: Path) -> None:
    other = {"q0": ["d70", "d71", "d73"]}  # an even item
    odd, even = (f"{NO_LOSS} where half={half}" for half in (1, 0))
    found = clauses(tmp_path / "s", [odd, even], other)
    assert [one.holds for one in found] == [True, None]
    assert found[0].reason == "the answers are identical on all 21 items"


def test_a_failure_is_no_answer(tmp_path: Path) -> None:
    (one,) = clauses(tmp_path / "s", [NO_LOSS], {"q0": None})
    assert one.holds is not True


def test_times_and_one_system_against_a_number_are_not_proved(tmp_path: Path) -> None:
    go = [
        "median(Seconds(twin)) <= 1.5 * median(Seconds(old))",
        "Success@1(twin) >= 0.6",
        "Success@1(twin) >= 1.1 * Success@1(old)",
    ]
    found = clauses(tmp_path / "s", go, {})
    assert not any("identical" in one.reason for one in found)


def test_another_measure_of_the_twin_is_not_the_same(tmp_path: Path) -> None:
    (one,) = clauses(tmp_path / "s", ["R@3(twin) >= Success@1(old)"], {})
    assert "identical" not in one.reason


def test_a_kill_that_asks_for_a_loss_is_not_met(tmp_path: Path) -> None:
    found = clauses(
        tmp_path / "s", ["Success@1(old) >= 0"], {}, kill="Success@1(twin) < Success@1(old) - 0.02"
    )
    assert [(one.role, one.holds) for one in found] == [("go", True), ("kill", False)]
