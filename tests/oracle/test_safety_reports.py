"""The corpus of real safety reports and its golden set: what the set declares holds on what is prepared."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.core.errors import DataError
from assay.core.yaml_lines import read_yaml
from assay.kinds.models.measures import is_section
from small_study import assay

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[2] / "studies" / "safety_reports" / "prepare.py"
GOLD: dict[str, Any] = read_yaml(SCRIPT.with_name("gold_queries.yaml"))[0]
CATEGORIES = {
    "incident_lookup": "INC",
    "conceptual_queries": "CON",
    "section_queries": "SEC",
    "comparative_queries": "CMP",
    "aircraft_queries": "ACF",
    "phase_queries": "PHS",
}
QUERIES: list[dict[str, Any]] = [query for category in CATEGORIES for query in GOLD[category]]
WITH_CLAUSE = [query for query in QUERIES if "verification_sql" in query["ground_truth"]]
HEADER = (
    '"ID", "SAFENET ID", "Iteration", "Event Start Date", "Incident Name", "Event State",'
    ' "Event Jurisdiction", "Event Local Unit", "Event Incident Type", "Event Incident Activity",'
    ' "Event Incident Stage", "Event Resources", "Contributing Factors", "Human Factors",'
    ' "Other Factors", "Narrative", "Immediate Action Taken"\n'
)
SAFECOM_HEADER = (
    "Tracking #,Agency,Unit,Region,Location,Date,Mission Type,Type,Manufacturer,Model,Accident,Airspace,"
    "Hazard,Incident,Maintenance,Management,UAS,Narrative,Corrective Action\n"
)
Prepare = Callable[[Path, Path], pl.DataFrame]
Table = duckdb.DuckDBPyConnection


def id_of(query: dict[str, Any]) -> str:
    return str(query["id"])


@pytest.fixture(scope="module")
def prepare() -> Prepare:
    found: Prepare = runpy.run_path(str(SCRIPT))["prepare"]
    return found


@pytest.fixture(scope="module")
def parquet(
    shared_data: Callable[[str], Path], prepare: Prepare, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("prepared") / "chunks.parquet"
    prepare(shared_data("safety_reports").parent, out)
    return out


@pytest.fixture(scope="module")
def table(parquet: Path) -> Iterator[Table]:
    with duckdb.connect() as connection:
        connection.read_parquet(str(parquet)).create("chunks")
        yield connection


# ------------------------------------------------------------------------------------ the golden set


def test_the_golden_set_has_the_queries_it_says() -> None:
    assert len(QUERIES) == GOLD["metadata"]["total_queries"] >= 36
    assert len(GOLD["conceptual_queries"] + GOLD["comparative_queries"]) >= 16
    for category, prefix in CATEGORIES.items():
        expected = [f"{prefix}-{number:03}" for number in range(1, len(GOLD[category]) + 1)]
        assert [query["id"] for query in GOLD[category]] == expected
    assert {query["difficulty"] for query in QUERIES} == {"easy", "medium", "hard"}
    assert {query["intent"] for query in QUERIES} == {"lookup", "exploratory", "analytical"}


def test_the_corpus_has_the_size_declared(parquet: Path) -> None:
    frame = pl.read_parquet(parquet)
    assert GOLD["metadata"]["corpus_stats"] == {
        "total_chunks": frame.height,
        "total_reports": frame["report_id"].n_unique(),
        "total_sections": frame["section_name"].n_unique(),
    }


@pytest.mark.parametrize("query", WITH_CLAUSE, ids=id_of)
def test_a_clause_finds_what_is_declared(table: Table, query: dict[str, Any]) -> None:
    truth = query["ground_truth"]
    clause = truth["verification_sql"]
    found = table.execute(f"SELECT report_id FROM chunks {clause}").fetchall()  # noqa: S608
    reports = {report for (report,) in found}
    assert truth["expected_chunk_count"] == len(found)
    assert truth.get("min_relevant_reports", 0) <= len(reports)
    assert truth.get("expected_report_count", len(reports)) == len(reports)
    if query["intent"] == "lookup":
        assert reports == set(truth["expected_report_ids"])


def test_a_negative_query_expects_nothing() -> None:
    negatives = [
        query for query in GOLD["incident_lookup"] if not query["ground_truth"]["expected_report_ids"]
    ]
    assert [query["ground_truth"]["expected_chunk_count"] for query in negatives] == [0, 0]


def test_every_expected_report_exists(parquet: Path) -> None:
    known = set(pl.read_parquet(parquet)["report_id"])
    named = {each for query in QUERIES for each in query["ground_truth"].get("expected_report_ids", [])}
    assert len(named) > 40
    assert named <= known


@pytest.mark.parametrize("query", GOLD["section_queries"], ids=id_of)
def test_a_section_query_declares_its_sections(parquet: Path, query: dict[str, Any]) -> None:
    truth = query["ground_truth"]
    assert set(truth) == {"primary_sections", "section_chunk_count", "min_section_accuracy"}
    names = pl.read_parquet(parquet)["section_name"]
    assert truth["section_chunk_count"] == sum(is_section(name, truth["primary_sections"]) for name in names)


# ---------------------------------------------------------------------------------------- the corpus


def test_preparing_twice_gives_the_same(
    shared_data: Callable[[str], Path], prepare: Prepare, parquet: Path, tmp_path: Path
) -> None:
    again = prepare(shared_data("safety_reports").parent, tmp_path / "again.parquet")
    assert_frame_equal(again, pl.read_parquet(parquet))


def test_passages_are_short_whole_and_numbered(parquet: Path) -> None:
    frame = pl.read_parquet(parquet)
    words = frame["chunk_text"].str.count_matches(r"\S+")
    assert frame["chunk_id"].n_unique() == frame.height
    assert words.max() <= 300  # type: ignore[operator]
    last_of_section = frame["section_name"].ne_missing(frame["section_name"].shift(-1)) | frame[
        "report_id"
    ].ne_missing(frame["report_id"].shift(-1))
    full = words.filter(~last_of_section)
    assert full.quantile(0.05) >= 150  # type: ignore[operator]
    assert 190 <= full.mean() <= 220  # type: ignore[operator]
    assert set(frame["collection"]) == {"SAFENET", "SAFECOM", "LLIS"}
    assert frame.filter(collection="LLIS")["year"].null_count() == frame.filter(collection="LLIS").height
    assert frame["year"].drop_nulls().is_between(1999, 2021).all()


def csv_row(*fields: str) -> str:
    return ",".join(f'"{field}"' for field in fields) + "\n"


def safenet_row(report_id: str, iteration: str, narrative: str, action: str = "", other: str = "") -> str:
    place = ("EAST RIM", "AZ", "BLM", "Strip", "Wildland;Training;", "Line;", "Mop Up;", "Engine")
    date = "06/30/2005 14:00"
    return csv_row(
        "1", report_id, iteration, date, *place, "Equipment;", "Fatigue;", other, narrative, action
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A made-up data folder with the quirks of the real one."""
    folder = tmp_path / "data" / "safety_reports"
    folder.mkdir(parents=True)
    withheld = "This account was not published."
    rows = [
        safenet_row("AAA", "2", "The first account of it was short."),
        safenet_row("", "", " "),
        *(safenet_row(f"N{number}", "2", withheld, "Told the caf\xe9 staff at once.") for number in range(4)),
    ]
    (folder / "SAFENET_2005.csv").write_bytes((HEADER + "".join(rows)).encode("latin-1"))
    later = safenet_row(
        "AAA", "10", "A pump leaked.<br/>Nobody was hurt.", "See above.", "Worn hose, no spare"
    )
    middle = safenet_row("AAA", "9", "The second account of it was longer.")
    (folder / "SAFENET_2006.csv").write_text(HEADER + later + middle)
    flight = (
        '15-1,Forest Service (USFS),,Region 5,Elk Fire,8/1/2015,"Fire, Recon",Helicopter,Bell,407,,Intrusion'
    )
    (folder / "SAFECOM_UAS_fire_data.csv").write_text(
        f"{SAFECOM_HEADER}{flight},,,,,,A drone passed below us twice.,All flights were put on hold.\n"
    )
    for name, column in (("Driving_Event", "Driving Event"), ("Recommendations", "Recommendation(s)")):
        (folder / f"LLIS_{name}.jsonl").write_text(
            f'{{"{column}":"A clamp fell sixteen floors.","Lesson ID":58}}\n'
        )
    (folder / "LLIS_Lessons_Learned.jsonl").write_text('{"Lesson(s) Learned":"Tether it.","Lesson ID":58}\n')
    return folder.parent


def test_quirks_of_the_files_are_handled(prepare: Prepare, small: Path, tmp_path: Path) -> None:
    frame = prepare(small, tmp_path / "out.parquet")
    assert frame.select("chunk_id", "section_name", "chunk_text").rows() == [
        ("LLIS-58_chunk_001", "DRIVING EVENT", "A clamp fell sixteen floors."),
        ("LLIS-58_chunk_002", "RECOMMENDATIONS", "A clamp fell sixteen floors."),
        ("SAFECOM-15-1_chunk_001", "NARRATIVE", "A drone passed below us twice."),
        ("SAFECOM-15-1_chunk_002", "CORRECTIVE ACTION", "All flights were put on hold."),
        # The tenth iteration; "See above." and the four times repeated texts are left out.
        ("SAFENET-AAA_chunk_001", "NARRATIVE", "A pump leaked. Nobody was hurt."),
    ]
    assert frame.row(-1, named=True) | {"chunk_text": ""} == {
        "chunk_id": "SAFENET-AAA_chunk_001",
        "report_id": "SAFENET-AAA",
        "section_name": "NARRATIVE",
        "chunk_text": "",
        "collection": "SAFENET",
        "title": "EAST RIM",
        "year": 2005,
        "state": "AZ",
        "agency": "BLM",
        "unit": "Strip",
        "incident_type": "Wildland; Training",
        "activity": "Line",
        "stage": "Mop Up",
        "contributing_factors": "Equipment",
        "human_factors": "Fatigue",
        "resources": "Engine",
        "aircraft_type": None,
        "aircraft_model": None,
    }
    flight = frame.filter(collection="SAFECOM").row(0, named=True)
    assert (flight["agency"], flight["unit"], flight["year"]) == ("USFS", "Region 5", 2015)
    assert (flight["aircraft_type"], flight["aircraft_model"]) == ("Helicopter", "Bell 407")
    assert flight["incident_type"] == "Airspace: Intrusion"


def test_bytes_that_are_not_utf_8_are_read_as_latin(prepare: Prepare, small: Path, tmp_path: Path) -> None:
    path = small / "safety_reports" / "SAFENET_2005.csv"
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rows[:-1]))  # three reports now share the texts: they are kept
    texts = prepare(small, tmp_path / "out.parquet").filter(report_id="SAFENET-N0")["chunk_text"]
    assert texts.to_list() == ["This account was not published.", "Told the café staff at once."]


def test_all_missing_files_are_named(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "safety_reports").mkdir()
    with pytest.raises(DataError) as caught:
        prepare(tmp_path, tmp_path / "out.parquet")
    assert len(caught.value.problems) == 5
    assert not (tmp_path / "out.parquet").exists()


def test_a_missing_column_is_named(prepare: Prepare, small: Path, tmp_path: Path) -> None:
    path = small / "safety_reports" / "SAFECOM_UAS_fire_data.csv"
    path.write_text(path.read_text().replace("Tracking #", "Tracking"))
    with pytest.raises(DataError, match=r"Tracking #: the column is missing\. Did you mean 'Tracking'"):
        prepare(small, tmp_path / "out.parquet")


def test_the_script_says_what_it_wrote(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    done = subprocess.run(
        [sys.executable, SCRIPT, small, out], capture_output=True, encoding="utf-8", check=False
    )
    expected = f"5 passages of 3 reports (LLIS 1, SAFECOM 1, SAFENET 1): {out}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", expected)
    wrong = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "nowhere"], capture_output=True, encoding="utf-8", check=False
    )
    assert wrong.returncode == 3
    assert "there is no such folder" in wrong.stderr


# ----------------------------------------------------------------------------------- the study


@pytest.fixture(scope="module")
def study(parquet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    for name in ("study.yaml", "gold_queries.yaml"):
        (folder / name).write_bytes(SCRIPT.with_name(name).read_bytes())
    (folder / "chunks.parquet").write_bytes(parquet.read_bytes())
    return folder


def test_the_program_finds_every_count_as_declared(study: Path) -> None:
    found = assay("validate", study, "--json").json
    assert found["warnings"] == []
    assert found["items"] == len(QUERIES)


@pytest.mark.published
def test_the_figures_in_the_guide(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kept := os.environ.get("ASSAY_PUBLISHED_CACHE"):
        monkeypatch.setenv("ASSAY_CACHE", kept)
    found = assay("run", study, "--json").json
    overall = {
        (each["measure"], each["system"]): round(each["value"], 3)
        for each in found["estimates"]
        if not each["where"] and each["value"] is not None
    }
    expected = {"RR@10": (0.492, 0.546), "Success@10": (0.811, 0.962), "nDCG@10": (0.311, 0.342)}
    for measure, (static, minilm) in expected.items():
        assert overall[measure, "static"] == pytest.approx(static, abs=0.002)
        assert overall[measure, "minilm"] == pytest.approx(minilm, abs=0.002)
    assert found["recommendation"] == "review first"
