"""Relevance by rule: which rules count, what they find, and what contradicts the corpus."""

from __future__ import annotations

import re
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import AssayError
from assay.core.protocols import Kit
from assay.core.records import Item, Judgment, Passage
from assay.core.registry import JUDGES, Registry
from assay.kinds.models.judges.rules import RelevanceRules, RuleIndex
from assay.kinds.models.judges.sql_clause import ClauseRefused
from assay.kinds.models.measures import is_section
from assay.kinds.models.sectioned import SectionedReports
from small_benchmark import GOLDEN, write_benchmark

BY_CATEGORY = {
    "incident_lookup": ["report"],
    "section_queries": ["section"],
    "aircraft_queries": ["sql"],
    "conceptual_queries": ["report", "sql", "signals"],
}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return loaded(tmp_path)


def loaded(folder: Path, golden: str = GOLDEN) -> Dataset:
    write_benchmark(folder, golden=golden)
    return SectionedReports("chunks.parquet", "gold.yaml").load(Kit(root=folder))


def judged(dataset: Dataset, rules: RelevanceRules, item: str) -> dict[str, Judgment]:
    return {each.target or "": each for each in rules.judge(dataset, [], Kit()) if each.item_id == item}


def made(**given: object) -> RelevanceRules:
    rules: RelevanceRules = Registry().create(JUDGES, {"use": "rules", **given})
    return rules


def test_each_category_goes_by_its_own_rule(dataset: Dataset) -> None:
    rules = made(rules=BY_CATEGORY)
    assert list(judged(dataset, rules, "INC-001")) == [f"R1.pdf#{place}" for place in range(5)]
    assert sorted(judged(dataset, rules, "SEC-001")) == [f"R{n}.pdf#3" for n in range(1, 7)]
    clamps = ["R5.pdf#2", "R5.pdf#3", "R6.pdf#2", "R6.pdf#3"]
    assert list(judged(dataset, rules, "ACF-001")) == clamps


def test_a_judgment_says_which_rules_found_it_and_by_what(dataset: Dataset) -> None:
    found = judged(dataset, made(rules=BY_CATEGORY, grades={"sql": 2}), "CON-001")
    # R1 has "crew fatigue" (sql) and both fatigue and duty (two signals); R6 has fatigue alone
    assert set(found) == {"R1.pdf#2", "R1.pdf#3"}
    assert found["R1.pdf#2"].grade == 2  # the better of sql's 2 and signals' 1
    assert found["R1.pdf#2"].category == "sql+signals"
    clause = "WHERE lower(chunk_text) LIKE '%crew fatigue%'"
    assert found["R1.pdf#2"].reason == f"sql: {clause}; signals: fatigue, duty"


def test_signals_are_words_not_letters(dataset: Dataset) -> None:
    texts = {"a": "Restricted dutyfree zone", "b": "no rest on duty", "c": "rested; duties"}
    corpus = Corpus([Passage(doc_id, text) for doc_id, text in texts.items()])
    item = Item("q", "?", gold={"signals": ["rest", "duty"]})
    found = RelevanceRules().judge(Dataset("d", corpus, [item]), [], Kit())
    assert [each.target for each in found] == ["b"]  # "rested" is rest, "duties" is not spelled duty


def test_fewer_signals_than_asked_for_must_all_be_there() -> None:
    corpus = Corpus([Passage("a", "a lone crack"), Passage("b", "nothing")])
    item = Item("q", "?", gold={"signals": ["crack"]})
    assert [each.target for each in RelevanceRules().judge(Dataset("d", corpus, [item]), [], Kit())] == ["a"]


def test_a_negative_item_is_labelled_with_what_must_stay_away(tmp_path: Path) -> None:
    golden = GOLDEN.replace("%submarine%", "%icing%")
    dataset = loaded(tmp_path, golden)
    found = judged(dataset, made(rules=BY_CATEGORY), "INC-002")
    assert list(found) == ["R3.pdf#2", "R3.pdf#3"]
    _, warnings = made(rules=BY_CATEGORY).examine(dataset, Kit())
    assert any("INC-002: nothing is expected, but its clause matches 2 passages" in each for each in warnings)


def test_counts_that_are_true_raise_nothing(dataset: Dataset) -> None:
    assert made(rules=BY_CATEGORY).examine(dataset, Kit()) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "expected_chunk_count: 5",
            "expected_chunk_count: 7",
            "expected_chunk_count says 7, its clause matches 5",
        ),
        ("expected_report_count: 2", "expected_report_count: 9", "says 9, distinct reports match: 2"),
        (
            "section_chunk_count: 6",
            "section_chunk_count: 5",
            "section_chunk_count says 5, those sections hold 6",
        ),
        ("min_relevant_reports: 1", "min_relevant_reports: 4", "says 4, and its clause matches 1 reports"),
        ("%crew fatigue%", "%whales%", "CON-001: its clause matches no passage"),
        ("[Probable Cause]", "[Probable Causes]", "no passage stands in Probable Causes"),
    ],
)
def test_what_contradicts_the_corpus_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    dataset = loaded(tmp_path, GOLDEN.replace(old, new))
    problems, warnings = made(rules=BY_CATEGORY).examine(dataset, Kit())
    assert problems == []
    (warning,) = [each for each in warnings if says in each]
    assert warning.startswith(f"{tmp_path / 'gold.yaml'}:")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("WHERE chunk_text ILIKE '%clamp%'", "chunk_txt LIKE 'x'", "chunk_text"),
        ("WHERE chunk_text ILIKE '%clamp%'", "1=1; drop table passages", "one"),
        ("expected_report_ids: [R1]", "expected_report_ids: [R9]", "not in the corpus: R9"),
    ],
)
def test_what_cannot_be_judged_is_a_problem(tmp_path: Path, old: str, new: str, says: str) -> None:
    problems, _ = made(rules=BY_CATEGORY).examine(loaded(tmp_path, GOLDEN.replace(old, new)), Kit())
    (problem,) = problems
    assert says in str(problem)
    assert problem.line is not None


def test_an_item_that_no_rule_can_judge_is_a_problem(dataset: Dataset) -> None:
    problems, _ = made(rules={**BY_CATEGORY, "section_queries": ["sql"]}).examine(dataset, Kit())
    assert [problem.field for problem in problems] == ["SEC-001"]


@pytest.mark.parametrize("given", [{"signals": 0}, {"grades": {"sql": 0}}, {"rules": {"a": ["magic"]}}])
def test_rules_that_make_no_sense_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(AssayError):
        made(**given)


@pytest.mark.parametrize(
    ("name", "wanted", "same"),
    [
        ("(b) PROBABLE CAUSE", "Probable Cause", True),
        ("1.18.2 Probable Cause and Findings", "PROBABLE CAUSE", True),
        ("IV. ANALYSIS", "analysis", True),
        ("CAUSE", "Probable Cause", False),
        ("PROBABLY CAUSED", "Probable Cause", False),
        ("POST-CRASH FIRE", "Fire", True),
        ("FIREFIGHTING", "Fire", False),
        ("Search & Rescue", "SEARCH AND RESCUE", True),
        ("APPENDIX A", "APPENDIX", True),
        ("", "Fire", False),
        (None, "Fire", False),
        ("2 ANALYSIS", "1.6 Analysis", True),
    ],
)
def test_section_names_are_read_flexibly(name: str | None, wanted: str, same: bool) -> None:
    assert is_section(name, [wanted]) is same


LETTERS = "abeds ing-_.ßİıſσΣéÉ\u0301日1\ud800"
TEXTS = st.lists(st.text(LETTERS, max_size=30), max_size=6)
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=4)


def index(texts: list[str], words: list[str], clauses: list[str] | None = None) -> RuleIndex:
    corpus = Corpus([Passage(str(at), text) for at, text in enumerate(texts)])
    return RuleIndex(Dataset("d", corpus, []), clauses or [], words, 5.0, "512MB")


def plainly(texts: list[str], signals: list[str], least: int) -> list[tuple[str, str]]:
    """Every word's pattern on every text."""
    words = {word.lower(): word for word in signals}
    found = []
    for at, text in enumerate(texts):
        pattern = r"\b{}(?:s|es|d|ed|ing)?\b"
        held = [
            word for lower, word in words.items() if re.search(pattern.format(re.escape(lower)), text.lower())
        ]
        if len(held) >= least:
            found.append((str(at), ", ".join(held)))
    return found


@settings(max_examples=300)
@given(TEXTS, WORDS, st.integers(1, 3))
def test_signals_are_found_as_by_every_pattern_on_every_text(
    texts: list[str], words: list[str], least: int
) -> None:
    assert list(index(texts, words).with_signals(words, least)) == plainly(texts, words, least)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Cracks and ICE.", "crack, ice"),
        ("cracked; iced", "crack, ice"),
        ("crackle, nice ice", ""),  # of two words only one
        ("a crack of an icebreaker, then ices", "crack, ice"),  # the first "ice" is not the one
        ("crack", ""),
    ],
)
def test_two_words_make_a_passage_found(text: str, held: str) -> None:
    found = list(index([text], ["crack", "ice"]).with_signals(["crack", "ice"], 2))
    assert found == ([("0", held)] if held else [])


def test_words_and_clauses_are_looked_up_beside_each_other() -> None:
    clauses = ["text LIKE '%tea%'", "lower(text) LIKE '%t%'", "nonsense = 1"]
    found = index(["Tea", "tea and toast", "coffee"], ["tea", "toast"], clauses)
    assert list(found.with_signals(["tea", "toast"], 1)) == [("0", "tea"), ("1", "tea, toast")]
    assert found.satisfying(clauses[0]) == ["1"]
    assert found.satisfying(clauses[1]) == ["0", "1"]
    with pytest.raises(ClauseRefused, match="no column 'nonsense'"):
        found.satisfying(clauses[2])
