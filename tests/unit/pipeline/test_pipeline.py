"""From stored answers to results: what is kept, what is said aloud, what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.errors import PluginError
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response, Span
from assay.core.registry import MEASURES, SYSTEMS, Registry
from assay.core.results import Results
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection
from assay.study.study import open_study
from small_study import STUDY, apart_from_size, assay, edited, write_lines, write_study


def values(results: Results, measure: str) -> dict[str, float | None]:
    return {
        each.system: each.value for each in results.estimates if each.measure == measure and not each.where
    }


def test_scores_follow_their_system_when_two_swap_names(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    assert values(evaluate(folder), "RR@5") == {"lexical": 1.0, "old": 0.5}
    swapped = edited(
        "lexical: bm25\n  old: replay(path=old.run)", "old: bm25\n  lexical: replay(path=old.run)"
    )
    (folder / "study.yaml").write_text(swapped)
    assert values(evaluate(folder), "RR@5") == {"lexical": 0.5, "old": 1.0}


def test_a_gate_that_was_moved_after_the_answers_is_said_aloud(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    assert assay("run", folder).code == 0
    (folder / "study.yaml").write_text(edited("+ 0.2", "+ 0.1"))
    for command in ("gate", "run", "gate"):
        warnings = assay(command, folder, "--json").json["trust"]["warnings"]
        assert [each for each in warnings if "RR@5(lexical) >= RR@5(old) + 0.2" in each]
    (folder / "study.yaml").write_text(STUDY)
    assert apart_from_size(assay("gate", folder, "--json").json["trust"]["warnings"]) == []


def test_a_part_of_a_study_is_called_a_part(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    found = assay("run", folder, "--where", "topic=odd", "--json").json
    assert found["trust"]["warnings"][0] == "only a part of the study: topic=odd (6 items)"
    alone = assay("run", folder, "--system", "lexical")  # without the baseline there is nothing to compare
    assert alone.code == 11
    assert "old was not run" in alone.out


def test_what_failed_is_named_with_its_reason(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("old: replay(path=old.run)", "old: moody"))
    results = evaluate(folder, registry=Registry({SYSTEMS: {"moody": Moody}}))
    warnings = apart_from_size(results.trust.warnings)
    assert warnings == ["old: 6 items failed with ValueError: not today (q1, q3, q5 and 3 more)"]


def test_what_a_system_never_gives_does_not_apply_to_it(tmp_path: Path) -> None:
    text = edited("measures: [nDCG@10, RR@5]", "measures: [RR@5, Answered]")
    results = evaluate(write_study(tmp_path, text), registry=Registry({MEASURES: {"Answered": Answered}}))
    assert values(results, "Answered") == {"lexical": None, "old": None}
    counts = next(each.counts for each in results.estimates if each.measure == "Answered")
    assert counts == {"not_applicable": 12}


def test_spans_of_one_document_are_hits_and_the_best_counts(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("old: replay(path=old.run)", "old: spans"))
    results = evaluate(folder, registry=Registry({SYSTEMS: {"spans": Spans}}))
    # d(n+1) twice, then d(n): two documents, the right one second
    assert values(results, "RR@5")["old"] == 0.5


def test_large_scores_that_differ_are_no_tie(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("old: replay(path=old.run)", "old: dated"))
    assert values(evaluate(folder, registry=Registry({SYSTEMS: {"dated": Dated}})), "RR@5")["old"] == 1.0


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        (lambda _: 1 / 0, "Odd broke on lexical: ZeroDivisionError"),
        (lambda n: np.full(n, 7.0), "Odd gave 7, outside its range 0 to 1"),
        (lambda n: np.zeros(n + 1), r"Odd gave \(13,\) values for 12 items"),
    ],
)
def test_a_measure_that_breaks_costs_itself_alone(tmp_path: Path, gives: Any, message: str) -> None:
    class Odd(Answered):
        name: ClassVar[str] = "Odd"
        needs: ClassVar[frozenset[str]] = frozenset()

        def values(self, block: Block) -> NDArray[np.float64]:
            found: NDArray[np.float64] = gives(len(block.items))
            return found

    gates = STUDY[STUDY.index("gates:") :] + '  odd: {go: ["Odd(lexical) >= 0"], failures: worst}\n'
    text = edited("measures: [nDCG@10, RR@5]", "measures: [RR@5, Odd]").replace(
        STUDY[STUDY.index("gates:") :], gates
    )
    registry, folder = Registry({MEASURES: {"Odd": Odd}}), write_study(tmp_path, text)
    results = evaluate(folder, registry=registry)
    (warning,) = apart_from_size(results.trust.warnings)
    assert re.match(f"Odd could not be computed for lexical, old: .*{message}", warning)
    assert set(results.scores.filter(pl.col("measure") == "Odd")["status"]) == {"failed"}
    assert values(results, "Odd") == {"lexical": None, "old": None}
    assert values(results, "RR@5")["lexical"] == 1.0
    # the gate that reads it is open, whatever its rule for failed items; the other is decided
    assert {each.gate: each.verdict for each in results.verdicts} == {"ship": "go", "odd": "inconclusive"}
    clause = next(each for each in results.verdicts if each.gate == "odd").clauses[0]
    assert (clause.holds, clause.value) == (None, None)
    assert re.search(message, clause.reason)
    assert apart_from_size(evaluate(folder, registry=registry).trust.warnings) == [
        warning
    ]  # stored scores hide nothing

    only = edited("measures: [nDCG@10, RR@5]", "measures: [Odd]")[: -len(STUDY[STUDY.index("gates:") :])]
    with pytest.raises(PluginError, match=message):  # nothing else to show
        evaluate(write_study(tmp_path / "only", only), registry=registry)


def test_runs_over_different_queries_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(10)))
    (tmp_path / "whole.run").write_text("".join(f"q{n} Q0 d{n} 1 1.0 t\n" for n in range(10)))
    (tmp_path / "part.run").write_text("".join(f"q{n} Q0 d{n} 1 1.0 t\n" for n in range(4)))
    command = [
        "compare",
        tmp_path / "whole.run",
        tmp_path / "part.run",
        "--qrels",
        tmp_path / "qrels",
        "-m",
        "RR@5",
    ]
    found = assay(*command, "--json").json
    assert found["comparisons"][0]["refused"] == "part: 6 items not run yet (q4, q5, q6 and 3 more)"
    assert found["trust"]["warnings"] == ["part: 6 of 10 judged queries are not in the run"]
    zero = assay(*command, "--missing-zero", "--json").json["comparisons"][0]
    assert (zero["difference"], zero["n"]) == (-0.6, 10)


# ------------------------------------------------------------------------------------- plugins


class System:
    """An index and a session in one."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> System:
        return self

    def session(self) -> System:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return self.of(int(query.item_id.removeprefix("q")))

    def of(self, n: int) -> Response:
        raise NotImplementedError


@dataclass(frozen=True)
class Moody(System):
    def of(self, n: int) -> Response:
        if n % 2:
            raise ValueError("not today")
        return Response(hits=[Hit(f"d{n}", 1.0)])


@dataclass(frozen=True)
class Spans(System):
    def of(self, n: int) -> Response:
        other = f"d{(n + 1) % 12}"
        return Response(hits=[Hit(other, 3.0, Span(0, 2)), Hit(other, 2.0, Span(2, 4)), Hit(f"d{n}", 1.0)])


@dataclass(frozen=True)
class Dated(System):
    def of(self, n: int) -> Response:
        # equal in single precision, where d9… would win by its id
        return Response(hits=[Hit(f"d{n}", 20230002.0), Hit("d99", 20230001.5)])


@dataclass(frozen=True)
class Answered:
    """Whether there is an answer."""

    name: ClassVar[str] = "Answered"
    needs: ClassVar[frozenset[str]] = frozenset({"answer"})
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = True

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.ones(len(block.items))


def test_a_part_of_the_items_does_not_decide_about_all_of_them(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    items = [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]
    for place, item in enumerate(items):
        item["tags"] = {"half": ["first" if place < 6 else "second"]}
    write_lines(folder / "data/items.jsonl", items)
    gates = (
        "gates:\n"
        '  all: {go: ["RR@5(old) >= 1%"]}\n'
        '  half: {go: ["RR@5(old) >= 1% where half=first"]}\n'
        '  other: {go: ["RR@5(old) >= 1% where half!=first"]}\n'
    )
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text[: text.index("gates:")] + gates)
    evaluate(folder)
    study = open_study(folder)
    whole = {each.gate: each.verdict for each in Evaluation(study).verdicts}
    assert whole == {"all": "go", "half": "go", "other": "go"}
    part = {each.gate: each for each in Evaluation(study, Selection({"half": ["first"]})).verdicts}
    assert {name: each.verdict for name, each in part.items()} == {
        "all": "inconclusive",
        "half": "go",
        "other": "inconclusive",
    }
    assert part["all"].clauses[0].reason == "6 items left out by --where"
