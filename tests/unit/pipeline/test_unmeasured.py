"""Measures that ask for what nothing in a study has: told before a run or after it, with what there is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.core.block import Block, Labels
from assay.core.errors import DataError
from assay.core.records import Arm, Item, Node, Observed, Response, Step, Structure
from assay.measures.parse import parse_measure
from assay.pipeline.validate import validate_study
from assay.pipeline.warnings import unknown_name_warnings
from assay.store.journal import COLUMNS, select_by_key
from small_study import assay, edited, write_lines, write_study

HTTP = 'old:\n    use: http\n    url: "http://127.0.0.1:1/{query}"'


def with_measures(*measures: str, systems: str = "old: replay(path=old.run)", more: str = "") -> str:
    listed = "".join(f"\n  - {measure}" for measure in measures)
    return (
        edited("measures: [nDCG@10, RR@5]", f"measures:{listed}\n  - RR@5").replace(
            "old: replay(path=old.run)", systems
        )
        + more
    )


@pytest.mark.parametrize(
    ("measure", "systems", "said"),
    [
        (
            "nDCG(label='relevence')@10",
            "old: bm25(k=5)",
            "study.yaml:8: measures.0: nDCG(label='relevence')@10: there is no label 'relevence'",
        ),
        (
            "P(label='review|relevanz')@3",
            "old: bm25(k=5)",
            "P(label='review|relevanz')@3: there is no label 'relevanz'. Did you mean 'relevance'?",
        ),
        (
            "Margin(stage='rerankk')@L1",
            "old: tree",
            "Margin(stage='rerankk')@L1: there is no score 'rerankk'. Did you mean 'rerank'?",
        ),
        ("Flagged(flag='urgent')", "old: bm25(k=5)", "there is no flag 'urgent'. Known: crisis, pager."),
    ],
)
def test_a_name_that_nothing_has_is_a_problem_with_its_line(
    tmp_path: Path, measure: str, systems: str, said: str
) -> None:
    folder = write_study(tmp_path, with_measures(measure, systems=systems))
    asked = [{"item_id": "f1", "text": "alpha", "gold": {"flags": {"crisis": True, "pager": False}}}]
    write_lines(folder / "data/items.jsonl", [*asked, _ranked("q0"), _ranked("q1")])
    for command in ("validate", "run"):
        done = assay(command, folder)
        assert (done.code, said in done.err) == (3, True), done.err


def _ranked(item_id: str) -> dict[str, object]:
    return {"item_id": item_id, "text": "alpha", "tags": {"topic": "odd"}, "gold": {"relevant": {"d0": 1}}}


def test_a_name_in_a_gate_is_told_with_the_gate(tmp_path: Path) -> None:
    gate = "RR@5(lexical) >= RR@5(old) + 0.2"
    folder = write_study(tmp_path, edited(gate, "P(label='relevnce')@3(lexical) >= 0.2"))
    with pytest.raises(DataError, match=r"gates\.ship: P\(label='relevnce'\)@3: there is no label"):
        validate_study(folder)


@pytest.mark.parametrize("measure", ["Margin(stage='first')@L1", "P(label='review|relevance')@3"])
def test_a_name_that_something_may_have_is_none(tmp_path: Path, measure: str) -> None:
    folder = write_study(tmp_path, with_measures(measure, systems="old: tree"))
    assert measure in validate_study(folder).measures


def test_contexts_that_a_service_does_not_give_are_told(tmp_path: Path) -> None:
    text = with_measures("A@400", "ER@400", systems=HTTP, more="budgets: [400]\n")
    warnings = validate_study(write_study(tmp_path, text)).warnings
    assert "old gives no contexts: A@400, ER@400 do not apply to it" in warnings


def test_what_no_system_gives_is_told_and_what_one_gives_is_not(tmp_path: Path) -> None:
    folder = write_study(tmp_path, with_measures("SemanticHit", "Abstain"))
    assert [each for each in validate_study(folder).warnings if " gives no " in each] == [
        "lexical gives no trace: SemanticHit does not apply to it",
        "old gives no trace: SemanticHit does not apply to it",
    ]
    (folder / "study.yaml").write_text(with_measures("Visited", systems="old: tree"))
    assert not [each for each in validate_study(folder).warnings if " gives no " in each]


def test_a_budget_without_a_place_in_an_answer_is_a_problem(tmp_path: Path) -> None:
    systems = f"{HTTP}\n    contexts: {{400: context}}"
    text = with_measures("A@400", systems=systems, more="budgets: [200, 400, inf]\n")
    with pytest.raises(DataError, match=r"systems\.old: budgets asks for 200, inf, .* Add 200, inf to its"):
        validate_study(write_study(tmp_path, text))


# ----------------------------------------------------------------------------------- after a run


def block(response: Response, structure: Structure | None = None) -> Block:
    empty = select_by_key(pl.DataFrame(schema=COLUMNS), [""])
    found = Block(Arm("a"), 0, [Item("q", "text")], empty, Labels.none(), (), structure)
    vars(found)["responses"] = [response]  # as if they had been read from the store
    return found


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("Seconds(stage='serch')", "no answer has the stage 'serch'. Did you mean 'search'?"),
        ("Margin(stage='second')@L1", "no answer has the score 'second'. Known: mine."),
        ("eps@L3", "no answer has the level 'L3'. Known: L1, L2."),
    ],
)
def test_what_no_answer_has_is_told_after_a_run(measure: str, said: str) -> None:
    trace = [Step("route", 1, "n1", scores={"mine": 1.0})]
    answered = Response(trace=trace, observed=Observed(seconds={"total": 1.0, "search": 0.5}))
    tree = Structure([Node("n1", 1, "node"), Node("n2", 2, "node")], [])
    (warning,) = unknown_name_warnings([parse_measure(measure)], [block(answered, tree)])
    assert warning == f"{parse_measure(measure).name} has no value: {said}"


@pytest.mark.parametrize("measure", ["Seconds", "Seconds(stage='search')", "Margin@L1", "eps@L2", "RR@5"])
def test_what_an_answer_has_is_not_told(measure: str) -> None:
    answered = Response(observed=Observed(seconds={"total": 1.0, "search": 0.5}))
    tree = Structure([Node("n1", 1, "node"), Node("n2", 2, "node")], [])
    assert not list(unknown_name_warnings([parse_measure(measure)], [block(answered, tree)]))


def test_a_run_shows_it(tmp_path: Path) -> None:
    folder = write_study(tmp_path, with_measures("Seconds(stage='serch')"))
    warnings = assay("run", folder, "--json").json["trust"]["warnings"]
    assert [each for each in warnings if each.startswith("Seconds(stage='serch') has no value")]
