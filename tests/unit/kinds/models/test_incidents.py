"""The generated incident reports and their golden set: reproducible, varied, and true in every count."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

from assay.kinds.models.measures import is_section
from assay_worlds.incidents.__main__ import main
from assay_worlds.incidents.corpus import ASKED, chunks, frame, themes_of, truth, truth_without_keywords
from assay_worlds.incidents.lexicon import themes
from assay_worlds.incidents.passages import Decks, SentenceFiller, suits

STUDY = Path(__file__).parents[4] / "src/assay/kinds/models/template"
COUNTS = {
    "incident_lookup": ("INC", 10),
    "conceptual_queries": ("CON", 12),
    "section_queries": ("SEC", 10),
    "comparative_queries": ("CMP", 8),
    "aircraft_queries": ("ACF", 6),
    "phase_queries": ("PHS", 4),
}
FIELDS = {
    "incident_lookup": {
        "verification_sql",
        "expected_report_ids",
        "expected_chunk_count",
        "relevance_signals",
    },
    "conceptual_queries": {
        "verification_sql",
        "expected_report_ids",
        "min_relevant_reports",
        "relevance_signals",
    },
    "section_queries": {"primary_sections", "section_chunk_count", "min_section_accuracy"},
    "comparative_queries": {"verification_sql", "min_relevant_reports", "relevance_signals"},
    "aircraft_queries": {
        "verification_sql",
        "expected_chunk_count",
        "expected_report_count",
        "relevance_signals",
    },
    "phase_queries": {
        "verification_sql",
        "expected_chunk_count",
        "expected_report_count",
        "relevance_signals",
    },
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return pl.read_parquet(STUDY / "chunks.parquet")


@pytest.fixture(scope="module")
def gold() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((STUDY / "gold_queries.yaml").read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="module")
def matched(gold: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """The (chunk_id, report_id) rows that each clause of the golden set matches."""
    with duckdb.connect() as database:
        chunk_table = database.read_parquet(str(STUDY / "chunks.parquet"))
        return {
            entry["id"]: chunk_table.filter(entry["ground_truth"]["verification_sql"].removeprefix("WHERE "))
            .select("chunk_id", "report_id")
            .fetchall()
            for entry in entries(gold)
            if "verification_sql" in entry["ground_truth"]
        }


def entries(gold: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for category in COUNTS for entry in gold[category]]


# ----------------------------------------------------------------------------------- corpus


def test_the_committed_file_is_what_the_generator_writes(tmp_path: Path, table: pl.DataFrame) -> None:
    path = tmp_path / "chunks.parquet"
    command = [sys.executable, "-m", "assay_worlds.incidents", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert_frame_equal(pl.read_parquet(path), table)
    assert (done.stdout, done.stderr) == ("", f"{path}: {table.height} passages\n")
    assert (STUDY / "chunks.parquet").stat().st_size < 400_000


def test_another_seed_gives_another_corpus(table: pl.DataFrame) -> None:
    other = set(frame(seed=42)["chunk_text"])
    assert not other & set(table["chunk_text"])


def test_main_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Name one file to write" in capsys.readouterr().err
    assert main([str(tmp_path / "absent" / "chunks.parquet")]) == 2
    assert "Name a file in a folder that exists" in capsys.readouterr().err


def test_reports_have_the_shape_of_the_design(table: pl.DataFrame) -> None:
    assert table["report_id"].n_unique() == 90
    assert 1100 <= table.height <= 1500
    assert table["chunk_id"].n_unique() == table.height
    assert all(re.fullmatch(r"IR\d{4}-\d\d\.pdf_chunk_\d{3}", each) for each in table["chunk_id"])
    assert (table["chunk_id"].str.split("_chunk_").list.first() == table["report_id"]).all()
    sections = table.group_by("report_id").agg(pl.col("section_name").n_unique())["section_name"]
    assert (sections.min(), sections.max()) == (11, 14)
    words = table["chunk_text"].str.split(" ").list.len()
    assert words.is_between(60, 180).all()
    schema = {"report_date": pl.Date, "fatalities": pl.Int64, "vehicle_type": pl.String, "phase": pl.String}
    assert {name: table.schema[name] for name in schema} == schema
    facts = table.select("report_id", *schema, "region").unique()
    assert facts.height == 90  # what is known of an accident is the same in all its passages
    assert not table["chunk_text"].str.contains(r"[{}\[\]|]").any()  # no template is left unfilled


def test_section_names_vary_as_in_real_life(table: pl.DataFrame) -> None:
    names = set(table["section_name"])
    assert {"PROBABLE CAUSE", "(b) PROBABLE CAUSE", "3.2 PROBABLE CAUSE", "Probable Cause"} <= names
    assert {"HISTORY OF THE VOYAGE", "HISTORY OF THE FLIGHT"} <= names
    causes = [name for name in table["section_name"] if is_section(name, ["PROBABLE CAUSE"])]
    assert len(causes) == 90  # every report has one


def test_few_passages_are_nearly_the_same() -> None:
    grams = [five_grams(chunk.written.text) for chunk in chunks()]
    holders: dict[tuple[str, ...], list[int]] = {}
    for place, each in enumerate(grams):
        for gram in each:
            holders.setdefault(gram, []).append(place)
    near = sum(nearest(place, grams, holders) > 0.6 for place in range(len(grams)))
    assert near / len(grams) < 0.05


def five_grams(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(zip(*(words[start:] for start in range(5)), strict=False))


def nearest(
    place: int, grams: list[frozenset[tuple[str, ...]]], holders: dict[tuple[str, ...], list[int]]
) -> float:
    """The largest Jaccard similarity of one passage to another."""
    shared = Counter(other for gram in grams[place] for other in holders[gram] if other != place)
    sizes = len(grams[place])
    return max((count / (sizes + len(grams[other]) - count) for other, count in shared.items()), default=0.0)


# ----------------------------------------------------------------------------------- themes


def test_keyword_sentences_hold_a_keyword_and_paraphrases_none() -> None:
    assert len(themes()) == 20
    for theme in themes().values():
        for sentence in (*theme.keyword, *theme.advice_keyword, *theme.other_sense):
            assert any(word in sentence.lower() for word in theme.words), sentence
        for sentence in (*theme.paraphrase, *theme.advice_paraphrase):
            assert not any(word in sentence.lower() for word in theme.words), sentence


@pytest.mark.parametrize("kind", ["air", "water", "rail", "rope"])
def test_every_theme_has_words_for_the_vehicles_it_befalls(kind: str) -> None:
    for theme in themes().values():
        for pool in (theme.keyword, theme.paraphrase, theme.advice_keyword, theme.advice_paraphrase):
            assert kind not in theme.kinds or sum(suits(each, kind) for each in pool) >= 2, theme.key


def test_the_truth_of_a_passage_is_in_its_text() -> None:
    for chunk in chunks():
        text = chunk.written.text.lower()
        for key, how in chunk.written.themes.items():
            assert chunk.report.has(key)
            assert any(word in text for word in themes()[key].words) == (how == "keyword"), chunk.chunk_id


def test_the_truth_covers_the_twenty_queries_that_need_people(gold: dict[str, Any]) -> None:
    asked = [entry["id"] for key in ("conceptual_queries", "comparative_queries") for entry in gold[key]]
    assert list(truth()) == asked == list(ASKED)
    known = {chunk.chunk_id for chunk in chunks()}
    for item_id, relevant in truth().items():
        assert relevant <= known
        assert len(relevant) >= 20, item_id
        assert all(ASKED[item_id].theme in themes_of(chunk_id) for chunk_id in sorted(relevant)[:3])
    assert themes_of("no such passage") == {}


def test_queries_on_causes_look_only_where_causes_are_weighed() -> None:
    names = {chunk.chunk_id: chunk.written.section.name for chunk in chunks()}
    weighed = ["ANALYSIS", "FINDINGS", "CONCLUSIONS", "PROBABLE CAUSE"]
    assert all(is_section(names[chunk_id], weighed) for chunk_id in truth()["CMP-001"])
    assert not all(is_section(names[chunk_id], weighed) for chunk_id in truth()["CMP-002"])


def test_clauses_miss_much_and_match_too_much(matched: dict[str, list[tuple[str, str]]]) -> None:
    for item_id, relevant in truth().items():
        found = {chunk_id for chunk_id, _ in matched[item_id]}
        assert found & relevant, item_id
        # What a theme says without naming it, a clause cannot find; that is a good part of the truth.
        assert not found & truth_without_keywords()[item_id], item_id
        assert len(truth_without_keywords()[item_id]) / len(relevant) > 0.3, item_id
    wrong = sum(
        len({chunk_id for chunk_id, _ in matched[item_id]} - relevant)
        for item_id, relevant in truth().items()
    )
    assert wrong / sum(len(matched[item_id]) for item_id in truth()) > 0.2  # keywords in another sense


# ---------------------------------------------------------------------------------- wording


def test_templates_are_filled_and_marked_by_vehicle() -> None:
    wording = SentenceFiller(
        Random(1), "air", {"craft": ("twin", "aircraft"), "name": "{craft} X", "model": "Alvar"}
    )
    sentence = wording.say("air,rope: [the|the] {name} is a {model}.")
    assert sentence.text in ("The twin X is an Alvar.", "The aircraft X is an Alvar.")
    assert sentence.slots == {"name", "craft", "model"}
    assert [suits("rail: A.", kind) for kind in ("air", "rail")] == [False, True]


def test_a_deck_deals_all_before_any_comes_again() -> None:
    decks, pool = Decks(Random(1)), ("a", "b", "c", "water: d")
    dealt = [decks.deal(pool, "air", 1)[0] for _ in range(6)]
    assert sorted(dealt[:3]) == sorted(dealt[3:]) == ["a", "b", "c"]
    assert sorted(decks.deal(pool, "water", 9)) == ["a", "b", "c", "water: d"]


# ------------------------------------------------------------------------------- golden set


def test_the_golden_set_has_the_form_of_the_design(gold: dict[str, Any], table: pl.DataFrame) -> None:
    assert set(gold) == {"metadata", *COUNTS, "universal_valid_sections", "evaluation"}
    assert gold["metadata"]["total_queries"] == 50
    stats = gold["metadata"]["corpus_stats"]
    assert (stats["total_chunks"], stats["total_reports"]) == (table.height, 90)
    assert stats["first_report"] == str(table["report_date"].min())
    assert stats["last_report"] == str(table["report_date"].max())
    for category, (prefix, count) in COUNTS.items():
        assert [entry["id"] for entry in gold[category]] == [f"{prefix}-{n:03d}" for n in range(1, count + 1)]
        for entry in gold[category]:
            assert set(entry) == {"id", "query", "difficulty", "intent", "ground_truth"}
            assert set(entry["ground_truth"]) == FIELDS[category]
            assert entry["difficulty"] in ("easy", "medium", "hard")
            assert entry["intent"] in ("lookup", "exploratory", "analytical")


def test_declared_counts_are_true(
    gold: dict[str, Any], table: pl.DataFrame, matched: dict[str, list[tuple[str, str]]]
) -> None:
    for entry in entries(gold):
        declared, rows = entry["ground_truth"], matched.get(entry["id"], [])
        reports = {report_id for _, report_id in rows}
        assert declared.get("expected_chunk_count", len(rows)) == len(rows), entry["id"]
        assert declared.get("expected_report_count", len(reports)) == len(reports), entry["id"]
        assert declared.get("min_relevant_reports", 0) <= len(reports), entry["id"]
        if wanted := declared.get("primary_sections"):
            count = sum(is_section(name, wanted) for name in table["section_name"])
            assert declared["section_chunk_count"] == count > 0, entry["id"]


def test_expected_reports_are_the_right_ones(
    gold: dict[str, Any], matched: dict[str, list[tuple[str, str]]]
) -> None:
    for entry in gold["incident_lookup"]:
        found = sorted({report_id for _, report_id in matched[entry["id"]]})
        assert entry["ground_truth"]["expected_report_ids"] == found
    negative = [entry for entry in gold["incident_lookup"] if not matched[entry["id"]]]
    assert [entry["ground_truth"]["expected_chunk_count"] for entry in negative] == [0]
    for entry in gold["conceptual_queries"]:
        spoken = {chunk_id.partition("_")[0] for chunk_id in truth()[entry["id"]]}
        assert set(entry["ground_truth"]["expected_report_ids"]) <= spoken


def test_queries_on_themes_avoid_the_words_of_their_clauses(gold: dict[str, Any]) -> None:
    named = [
        entry["id"]
        for category in ("conceptual_queries", "comparative_queries")
        for entry in gold[category]
        if any(word in entry["query"].lower() for word in themes()[ASKED[entry["id"]].theme].words)
    ]
    assert named == ["CON-003"]  # cracks are what anybody would call them
