"""Safety reports as a source: fields as lines, sections, passages of a size."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay_worlds.sources.safety_reports import SafetyReports, clean, report_files
from assay_worlds.sources.source import SourcePage, TextSource, fingerprint, passages_of

COLUMNS = [
    "SAFENET ID", "Iteration", "Event Start Date", "Incident Name", "Event State", "Event Jurisdiction",
    "Event Local Unit", "Event Position Title", "Event Task", "Event Resources", "Event Incident Type",
    "Event Incident Activity", "Event Incident Stage", "Contributing Factors", "Human Factors",
    "Other Factors", "Narrative", "Immediate Action Taken",
]  # fmt: skip
SAFECOM = (
    "Tracking #,Agency,Unit,Region,Location,Date,Mission Type,Type,Manufacturer,Model,Accident,Airspace,"
    "Hazard,Incident,Maintenance,Management,UAS,Narrative,Corrective Action\n"
    "15-1,Forest Service (USFS),,Region 5,Elk Fire,8/1/2015,Recon,Helicopter,Bell,407,,,,,,,,"
    "A drone passed below us twice.,All flights were put on hold.\n"
)


def safenet(report_id: str, iteration: str, narrative: str) -> str:
    fields = [report_id, iteration, "06/30/2005 14:00", "EAST RIM FIRE", "AZ", "BLM", "Strip", "Engine Boss"]
    fields += ["Mop up", "Engine", "Wildland;", "Line;", "Mop Up;", "Equipment;", "Fatigue;", ""]
    fields += [narrative, "We told everyone on the line."]
    return ", ".join(f'"{field}"' for field in fields).replace('", "', '","') + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    header = ", ".join(f'"{name}"' for name in COLUMNS) + "\n"
    rows = safenet("AAA", "1", "The first account was short.") + safenet(
        "AAA", "2", "A pump leaked near camp.<br/>Nobody was hurt by it.   It was mended the same day."
    )
    (tmp_path / "SAFENET_2005.csv").write_text(header + rows)
    (tmp_path / "SAFECOM_UAS_fire_data.csv").write_text(SAFECOM)
    texts = {
        "LLIS_Driving_Event.jsonl": '{"Driving Event":"A clamp fell sixteen floors.","Lesson ID":58}\n',
        "LLIS_Lessons_Learned.jsonl": '{"Lesson(s) Learned":"Tether it.","Lesson ID":58}\n',
        "LLIS_Recommendations.jsonl": '{"Recommendation(s)":"Tether tools used at height.","Lesson ID":58}\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def pages(path: Path, sha256: str = "") -> dict[str, SourcePage]:
    return {page.document.doc_id: page for page in SafetyReports(str(path), sha256).pages(Kit())}


def test_a_report_begins_with_its_fields(folder: Path) -> None:
    page = pages(folder)["report/SAFENET-AAA"]
    assert page.document.text == (
        "Report: SAFENET report AAA\nIncident: EAST RIM FIRE\nDate: 2005-06-30\nState: AZ\n"
        "Jurisdiction: BLM\nLocal unit: Strip\nPosition: Engine Boss\nTask: Mop up\nIncident type: Wildland\n"
        "Activity: Line\n\nNARRATIVE\n\nA pump leaked near camp.\nNobody was hurt by it.\n\n"
        "It was mended the same day.\n\n"
        "IMMEDIATE ACTION TAKEN\n\nWe told everyone on the line."
    )
    assert [section.heading for section in page.sections] == ["NARRATIVE", "IMMEDIATE ACTION TAKEN"]
    assert page.document.title == "SAFENET report AAA: EAST RIM FIRE"
    assert page.document.metadata == {
        "kind": "report",
        "path": "SAFENET-AAA",
        "id": "AAA",
        "collection": "SAFENET",
        "date": "2005-06-30",
        "state": "AZ",
        "agency": "BLM",
    }
    assert isinstance(SafetyReports("x"), TextSource)


def test_all_collections_are_read_in_the_order_of_ids(folder: Path) -> None:
    found = pages(folder)
    assert list(found) == ["report/LLIS-58", "report/SAFECOM-15-1", "report/SAFENET-AAA"]
    assert found["report/LLIS-58"].document.text.startswith(
        "Report: LLIS lesson 58\n\nDRIVING EVENT\n\nA clamp"
    )
    flight = found["report/SAFECOM-15-1"].document.text
    assert "Date: 2015-08-01\n" in flight
    assert "Aircraft: Bell 407\n" in flight


def test_a_long_account_is_cut_between_sentences(folder: Path) -> None:
    # 40 sentences of 7 words: 280 words are three stretches of at most 120.
    text = " ".join(f"Engine {number} drove up the steep road." for number in range(40))
    parts = clean(text).split("\n\n")
    assert [len(part.split()) for part in parts] == [119, 119, 42]
    assert " ".join(parts) == text


def test_passages_keep_fields_with_the_account(folder: Path) -> None:
    first = passages_of(pages(folder)["report/SAFENET-AAA"])[0]
    assert first.section == "NARRATIVE"
    assert "Incident: EAST RIM FIRE" in first.text
    assert "A pump leaked" in first.text


def test_the_content_can_be_pinned(folder: Path) -> None:
    pin = fingerprint(report_files(folder).named)
    assert len(pages(folder, pin)) == 3
    (folder / "LLIS_Recommendations.jsonl").write_text("")
    with pytest.raises(DataError, match="the content has changed"):
        pages(folder, pin)


def test_missing_files_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        pages(tmp_path)
    assert len(caught.value.problems) == 5  # a year of SAFENET, SAFECOM, three of LLIS
