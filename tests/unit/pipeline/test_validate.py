"""Validation: names that nothing has, contexts that do not fit, and systems with nothing to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import (
    Arm,
    Budget,
    Context,
    Item,
    Node,
    Observed,
    Piece,
    Query,
    Response,
    Step,
    Structure,
)
from assay.core.registry import SYSTEMS, Registry
from assay.core.results import Results
from assay.measures.parse import parse_measure
from assay.pipeline.evaluate import evaluate
from assay.pipeline.response import check_response
from assay.pipeline.run_files import evaluate_runs
from assay.pipeline.validate import validate_study
from assay.pipeline.warnings import unknown_name_warnings
from assay.store.journal import COLUMNS, select_by_key
from small_study import STUDY, WORDS, Done, apart_from_size, assay, edited, write_lines, write_study

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


LONG_TEXT = "ferry " * 50  # more than 40 tokens, by any count


def context(budget: int | None, text: str = "The ferry.", tokens: int = 3, by: str = "o200k_base") -> Context:
    return Context(budget, [Piece("a", text)], tokens, by)


@pytest.mark.parametrize(
    ("contexts", "what"),
    [
        ([context(40)], "contexts for the budgets 40; asked for were 40, inf"),
        ([context(40), context(40), context(None)], "contexts for the budgets 40, 40, inf"),
        ([context(40), context(99), context(None)], "99"),
        (
            [context(40, LONG_TEXT, 3), context(None)],
            "the context for 40 tokens has 5",
        ),  # told 3, counted anew
        ([context(40, tokens=41, by="mine"), context(None)], "has 41, counted by mine"),
    ],
)
def test_what_breaks_the_budgets_is_a_fault(contexts: list[Context], what: str) -> None:
    error = check_response(Response(contexts=contexts), [40, None]).error
    assert error is not None
    assert what in error.message


def test_what_keeps_them_passes_and_no_context_is_no_fault() -> None:
    good = Response(contexts=[context(None, LONG_TEXT, 900), context(40)])
    assert check_response(good, [40, None]).error is None
    assert check_response(Response(), [40, None]).error is None
    assert check_response(good, ()).error is None


SEARCHING = ["bm25", "dense", "flat_strong", "tree", "scan", "lexical_baseline", "pagerank"]


def refused(folder: Path) -> str:
    """What both `validate` and `run` say of bad data."""
    found = [assay(command, folder) for command in ("validate", "run")]
    assert [each.code for each in found] == [3, 3]
    assert found[0].err == found[1].err
    assert not (folder / "run").exists()
    return found[0].err


@pytest.mark.parametrize("system", SEARCHING)
def test_a_system_that_searches_needs_something_to_search(tmp_path: Path, system: str) -> None:
    folder = write_study(tmp_path, edited("lexical: bm25", f"lexical: '{system}'"))
    (folder / "study.yaml").write_text(
        (folder / "study.yaml").read_text().replace("data: data", "data: trec(topics=t.tsv, qrels=q)")
    )
    (folder / "t.tsv").write_text("".join(f"q{n}\t{word}\n" for n, word in enumerate(WORDS)))
    (folder / "q").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(len(WORDS))))
    assert "t: it has no passages, and" in refused(folder)


def test_runs_from_elsewhere_need_no_passages(tmp_path: Path) -> None:
    text = edited("  lexical: bm25\n", "").replace("data: data", "data: trec(topics=t.tsv, qrels=q)")
    folder = write_study(tmp_path, text[: text.index("gates:")].replace("by: [topic]\n", ""))
    (folder / "t.tsv").write_text("".join(f"q{n}\t{word}\n" for n, word in enumerate(WORDS)))
    (folder / "q").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(len(WORDS))))
    found = assay("run", folder, "--json")
    assert (found.code, apart_from_size(found.json["trust"]["warnings"])) == (0, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" … ", "data: none of its 12 passages has any words"),
        ("TODO", "data: all of its 12 passages have the same text, 'TODO'"),
    ],
)
def test_texts_that_are_empty_or_stubs_are_bad_data(tmp_path: Path, text: str, said: str) -> None:
    folder = write_study(tmp_path)
    write_lines(folder / "data/passages.jsonl", [{"doc_id": f"d{n}", "text": text} for n in range(12)])
    assert said in refused(folder)


def test_a_scope_that_names_nothing_is_bad_data(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    gold = {"relevant": {"d0": 1}}
    items = [{"item_id": f"q{n}", "text": "alpha", "gold": gold, "scope": ["d0"] * n} for n in range(2)]
    write_lines(folder / "data/items.jsonl", items)
    assert "q0.scope: its scope names no passage. Name some" in refused(folder)


@dataclass(frozen=True)
class Mute:
    """Answers every question with nothing."""

    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Mute:
        return self

    def session(self) -> Mute:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response()


def test_an_arm_that_never_returns_anything_is_said_aloud(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("lexical: bm25", "lexical: mute"))
    results = evaluate(folder, registry=Registry({SYSTEMS: {"mute": Mute}}))
    (warning,) = apart_from_size(results.trust.warnings)
    assert warning.startswith("lexical: none of its 12 answers has a hit, so it scores as if")


# ------------------------------------------------------------------------------ grades that no label has


def means(results: Results | Done) -> dict[str, float | None]:
    found = results.json["estimates"] if isinstance(results, Done) else results.as_json()["estimates"]
    return {
        each["measure"]: each["value"]
        for each in found
        if each["system"] == found[0]["system"] and not each["where"]
    }


HIGHER = [
    "P(rel=2)@5",
    "R(rel=2)@5",
    "AP(rel=2)@5",
    "RR(rel=2)@5",
    "Success(rel=2)@5",
    "Rprec(rel=2)",
    "SetP(rel=2)",
]


def test_a_grade_that_no_label_reaches_applies_to_no_item(tmp_path: Path) -> None:
    measures = ", ".join(f"'{each}'" for each in [*HIGHER, "Judged@5", "RR@5"])
    text = edited("measures: [nDCG@10, RR@5]", f"measures: [{measures}]")
    text = text[: text.index("gates:")] + 'gates: {ship: {go: "P(rel=2)@5(old) >= 0"}}\n'
    folder = write_study(tmp_path, text)
    found = assay("run", folder, "--json")
    assert found.code == 11
    assert found.json["verdicts"][0]["clauses"][0]["reason"] == "no item applies"
    assert means(found).items() >= dict.fromkeys(HIGHER).items()
    assert means(found)["RR@5"] == 1.0
    warnings = found.json["trust"]["warnings"]
    for name in HIGHER:
        why = f"{name} applies to no item: no label reaches 2 (the highest is 1)"
        assert f"{why}. Lower rel, or correct the grades" in warnings
    assert not [each for each in warnings if each.startswith(("Judged", "RR@5"))]


def test_where_one_label_reaches_it_the_others_score_nothing(tmp_path: Path) -> None:
    """As trec_eval has it: a query without a label that high counts as 0."""
    (tmp_path / "qrels").write_text("q1 0 a 2\nq2 0 b 1\n")
    (tmp_path / "new.run").write_text("q1 Q0 a 1 2.0 t\nq2 Q0 b 1 1.0 t\n")
    found = evaluate_runs(
        [tmp_path / "new.run"], tmp_path / "qrels", ["RR(rel=2)@5", "nDCG@5"], against="none"
    )
    assert means(found) == {"RR(rel=2)@5": 0.5, "nDCG@5": 1.0}
    assert found.trust.warnings == []


def test_run_files_without_a_label_that_high(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 0\nq2 0 b 0\n")
    for name in ("old", "new"):
        (tmp_path / f"{name}.run").write_text("q1 Q0 a 1 2.0 t\nq2 Q0 b 1 1.0 t\n")
    given = ["--qrels", tmp_path / "qrels", "-m", "nDCG@5", "-m", "R@5", "-m", "ERR@5", "-m", "Judged@5"]
    for command in ("score", "compare"):
        found = assay(command, tmp_path / "old.run", tmp_path / "new.run", *given, "--json")
        assert means(found) == {"nDCG@5": None, "R@5": None, "ERR@5": None, "Judged@5": 1.0}
        assert found.json["trust"]["warnings"] == [
            "nDCG@5 applies to no item: no label is above 0 (the highest is 0). Correct the grades",
            "R@5 applies to no item: no label reaches 1 (the highest is 0). Correct the grades",
            "ERR@5 applies to no item: no label reaches 1 (the highest is 0). Correct the grades",
        ]
    told = assay("score", tmp_path / "old.run", *given, "--per-query")
    assert told.err.startswith("warning: nDCG@5 applies to no item: no label is above 0")


# ------------------------------------------------------------------------------------ lists that were cut


def cut_run(path: Path, depth: int, first: int = 0) -> Path:
    """Three queries with `depth` hits each; what is relevant is document 4, counted from `first`."""
    lines = [
        f"q{n} Q0 d{first + rank} {rank + 1} {100 - rank} t\n" for n in range(3) for rank in range(depth)
    ]
    path.write_text("".join(lines))
    return path


def test_measures_that_read_further_than_lists_go_say_how_deep_they_are(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"q{n} 0 d{doc} 1\n" for n in range(3) for doc in (1, 9)))
    named = ["AP", "R@1000", "nDCG", "R@5", "P", "RR@inf", "Success@100", "Bpref", "Judged@100", "Rprec"]
    found = evaluate_runs([cut_run(tmp_path / "new.run", 5)], qrels, named, against="none")
    # one of two is found within 5: P divides by what came back, RR and Success have what they look for
    (warning,) = found.trust.warnings
    assert warning == (
        "new: its lists end at rank 5 and lack relevant documents, and AP, R@1000, nDCG, Bpref read on. "
        "What is below counts as not found: return longer lists, or cut off at 5 at most"
    )
    qrels.write_text(qrels.read_text() + "q0 0 d6 0\n")  # shared, but not relevant
    nothing = evaluate_runs([cut_run(tmp_path / "no.run", 5, first=2)], qrels, ["RR@inf"], against="none")
    assert "lists end at rank 5" in nothing.trust.warnings[0]


@pytest.mark.parametrize("depth", [10, 12])
def test_lists_that_hold_all_that_is_relevant_are_long_enough(tmp_path: Path, depth: int) -> None:
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d{doc} 1\n" for n in range(3) for doc in (1, 9)))
    run = cut_run(tmp_path / "new.run", depth)
    assert evaluate_runs([run], tmp_path / "qrels", ["AP", "R@1000"], against="none").trust.warnings == []


def test_lists_of_many_lengths_were_not_cut(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q0 0 d0 0\n" + "".join(f"q{n} 0 d9 1\n" for n in range(3)))
    lines = [f"q{n} Q0 d{rank} {rank + 1} {9 - rank} t\n" for n in range(3) for rank in range(n + 2)]
    (tmp_path / "new.run").write_text("".join(lines))
    found = evaluate_runs([tmp_path / "new.run"], tmp_path / "qrels", ["R@9"], against="none")
    assert found.trust.warnings == []


def test_a_study_says_how_deep_its_lists_are(tmp_path: Path) -> None:
    text = edited("measures: [nDCG@10, RR@5]", "measures: [R@5, R@2]")
    folder = write_study(tmp_path, text[: text.index("gates:")])
    run = (folder / "old.run").read_text().splitlines()
    (folder / "old.run").write_text("".join(f"{line}\n" for line in run if line.split()[3] == "1"))
    for command in ("run", "report"):
        warnings = apart_from_size(assay(command, folder, "--json").json["trust"]["warnings"])
        assert [each[:47] for each in warnings] == ["old: its lists end at rank 1 and lack relevant d"[:47]]


def test_a_list_of_the_whole_corpus_is_not_cut(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("measures: [nDCG@10, RR@5]", "measures: [AP, RR@5]"))
    (folder / "old.run").write_text(
        "".join(f"q{n} Q0 d{d} 1 {50 - d} t\n" for n in range(12) for d in range(12))
    )
    assert apart_from_size(assay("run", folder, "--json").json["trust"]["warnings"]) == []


# ------------------------------------------------------------------------------- clauses that say too little


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("min(RR@5(old)) >= 0.01", "min of one value is that value, and a measure of a system is its mean"),
        ("RR@5(lexical) >= max(RR@5(old))", "for the high end p95(RR@5(old)), for the mean RR@5(old)"),
        ("min(RR@5(old)) >= 0.01", "For every item write `count(RR@5(old) < 0.01) <= 0`"),
        ("avg(RR@5(old)) >= 0.3", "a measure of a system is its mean already: `RR@5(old) >= 0.3`"),
        ("min(RR@5(old), by=topic) >= 0.6", "min takes only values, as in min(R@5(a), R@5(b))"),
    ],
)
def test_a_function_of_one_value_is_refused_with_the_right_spelling(
    tmp_path: Path, clause: str, said: str
) -> None:
    folder = write_study(tmp_path, edited("RR@5(lexical) >= RR@5(old) + 0.2", clause))
    found = assay("validate", folder)
    assert (found.code, said in found.err) == (3, True), found.err


@pytest.mark.parametrize(
    "clause", ["mean(RR@5(old)) >= 0.3", "median(RR@5(old)) >= 0.3", "min(RR@5(old) by topic) >= 0.6"]
)
def test_a_function_that_says_enough_is_read(tmp_path: Path, clause: str) -> None:
    folder = write_study(tmp_path, edited("RR@5(lexical) >= RR@5(old) + 0.2", clause))
    assert assay("validate", folder).code == 0


def test_what_the_refusal_names_can_be_written(tmp_path: Path) -> None:
    for clause in ("RR@5(old) >= 0.01 for each topic=*", "p50(RR@5(old)) >= 0.3", "min(RR@5(old), 1) >= 0.3"):
        text = edited("RR@5(lexical) >= RR@5(old) + 0.2", clause)
        assert assay("validate", write_study(tmp_path, text)).code == 0


def test_a_figure_of_one_value_is_refused_too(tmp_path: Path) -> None:
    found: Any = assay("validate", write_study(tmp_path, STUDY + 'figures: {low: "min(RR@5({system}))"}\n'))
    assert (found.code, "min of one value is that value" in found.err) == (3, True)
