"""Feedback that becomes candidates, and what is not taken from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import DataError, UsageError
from assay.kinds.search.golden.candidates import Proposals, find_candidates, read_feedback, write_candidates
from assay.kinds.search.golden.study import open_golden
from small_golden import write_golden


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path)


def vote(query: str, helpful: bool = False, day: int = 1, language: str = "en") -> dict[str, Any]:
    return {"query": query, "language": language, "helpful": helpful, "time": f"2026-03-{day:02d}T10:00:00Z"}


def write_feedback(folder: Path, votes: list[dict[str, Any]]) -> Path:
    path = folder / "feedback.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in votes))
    return path


def proposed(folder: Path, votes: list[dict[str, Any]], least: int = 3) -> Proposals:
    return find_candidates(open_golden(folder), write_feedback(folder, votes), least)


def test_repeated_unhelpful_results_make_a_candidate(folder: Path) -> None:
    votes = [vote("grief at night", day=day) for day in (9, 2, 5)]
    votes += [vote("grief at night", helpful=True)] * 2
    votes += [vote("bread and salt")] * 2  # two are too few
    votes += [vote("morning song")] * 3 + [vote("morning song", helpful=True)] * 3  # as many helped
    (one,) = proposed(folder, votes).candidates
    assert (one.query, one.language, one.seen.unhelpful, one.seen.helpful) == ("grief at night", "en", 3, 2)
    assert (one.seen.first, one.seen.last, one.seen.wordings) == ("2026-03-01", "2026-03-09", [])
    assert len(proposed(folder, votes, least=2).candidates) == 2


def test_wordings_of_one_query_count_together_and_the_most_frequent_leads(folder: Path) -> None:
    votes = [vote("Grief  at night?"), vote("grief at night"), vote("grief at night")]  # alike but for case
    votes += [vote("how do I bear grief at nights")]  # grief, night and bear: another query
    votes += [vote("the grief, at nigth")]  # greif and nigth as typed
    found = proposed(folder, votes, least=4)
    (one,) = found.candidates
    assert one.query == "grief at night"
    assert one.seen.wordings == ["Grief  at night?", "the grief, at nigth"]
    assert one.seen.unhelpful == 4


def test_languages_are_kept_apart(folder: Path) -> None:
    votes = [vote("no", language="en")] * 3 + [vote("no", language="es")] * 3
    assert [each.language for each in proposed(folder, votes).candidates] == ["en", "es"]


def test_what_the_golden_set_has_is_listed_with_the_id_that_covers_it(folder: Path) -> None:
    votes = [vote("WEATHER tomorrow")] * 3 + [vote("the rope held in fog, who")] * 3 + [vote("stars")] * 4
    found = proposed(folder, votes)
    assert [each.query for each in found.candidates] == ["stars"]
    assert {each.query: each.covered_by for each in found.covered} == {
        "WEATHER tomorrow": "en-odd-001",
        "the rope held in fog, who": "en-direct-001",
    }


def test_wordings_with_addresses_or_long_numbers_are_left_out(folder: Path) -> None:
    votes = [vote("mail anna@example.org about grief")] * 3 + [vote("call 555 123 4567")] * 3
    votes += [vote("psalm 23 verse 4")] * 3
    found = proposed(folder, votes)
    assert [each.query for each in found.candidates] == ["psalm 23 verse 4"]
    assert found.personal == 2


def test_a_file_of_candidates_is_for_a_person_to_fill_in(folder: Path) -> None:
    votes = [vote("grief at night")] * 3 + [vote("estrellas", language="es")] * 4
    found = proposed(folder, votes)
    paths = write_candidates(found, folder)
    assert [path.name for path in paths] == ["candidates-en.json", "candidates-es.json"]
    assert json.loads(paths[0].read_text()) == {
        "schema": "assay/golden-candidates/1",
        "candidates": [
            {
                "id": "",
                "query": "grief at night",
                "language": "en",
                "category": "",
                "expected_passages": [],
                "expected_routing": "",
                "retrieval_intent": "",
                "expected_flags": [],
                "themes": [],
                "notes": "",
                "accepted_by": "",
                "seen": {
                    "unhelpful": 3,
                    "helpful": 0,
                    "first": "2026-03-01",
                    "last": "2026-03-01",
                    "wordings": [],
                },
            }
        ],
    }


def test_no_file_is_overwritten(folder: Path) -> None:
    found = proposed(folder, [vote("stars")] * 3)
    write_candidates(found, folder)
    with pytest.raises(UsageError) as caught:
        write_candidates(found, folder)
    assert "candidates-en.json is there already" in str(caught.value)
    assert write_candidates(found, folder, folder / "all.json") == [folder / "all.json"]


def test_nothing_to_propose_writes_nothing(folder: Path) -> None:
    assert write_candidates(proposed(folder, [vote("stars")]), folder) == []


def test_a_golden_set_that_is_wrong_is_told_first(folder: Path) -> None:
    (folder / "golden-set-en.json").write_text("[]")
    with pytest.raises(DataError):
        proposed(folder, [vote("stars")] * 3)


# ----------------------------------------------------------------------------------- the feedback


def test_csv_and_jsonl_say_the_same(folder: Path) -> None:
    path = folder / "feedback.csv"
    path.write_text(
        '\ufefftime,query,helpful,language\n2026-03-01T10:00:00Z,"what, is ""this""\nfor",no,en\n\n'
        "2026-03-01 12:00:00+02:00,stars,1,en\n"
    )
    by_line = [vote('what, is "this"\nfor'), vote("stars", helpful=True)]
    assert read_feedback(path) == read_feedback(write_feedback(folder, by_line))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_column_about_people_is_refused(folder: Path, kind: str) -> None:
    path = folder / f"feedback.{kind}"
    if kind == "csv":
        path.write_text("query,language,helpful,time,ip\nx,en,no,2026-03-01,10.0.0.1\n")
    else:
        path.write_text(json.dumps({**vote("x"), "ip": "10.0.0.1"}))
    with pytest.raises(DataError) as caught:
        read_feedback(path)
    fix = "Take it out: only query, language, helpful, time are read, and nothing about people."
    assert str(caught.value) == f"{path}:1: ip: this column is not taken in. {fix}"
    assert "10.0.0.1" not in str(caught.value)


def test_everything_that_is_wrong_with_feedback(folder: Path) -> None:
    path = folder / "feedback.csv"
    path.write_text(
        "query,language,helpful,time\n,en,perhaps,2026-03-01\nx,,no,yesterday\ny,en\nz,en,no,2026-03-01,9\n"
    )
    with pytest.raises(DataError) as caught:
        read_feedback(path)
    assert [str(each).replace(f"{path}:", "") for each in caught.value.problems] == [
        "2: query: it is empty. Fill it in, or take the row out.",
        "2: helpful: 'perhaps' is neither yes nor no. Write true or false.",
        "3: language: it is empty. Fill it in, or take the row out.",
        "3: time: 'yesterday' is not a time. Write it like 2026-03-15T10:30:00Z.",
        "4: 2 values where 4 columns are named. Write a value for each.",
        "5: 5 values where 4 columns are named. Write a value for each.",
    ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("f.csv", "", "1: query: this column is missing"),
        ("f.csv", "query,query,language,helpful,time\n", "1: a column stands twice"),
        ("f.csv", "query,language,helpful,time\n", "there is no feedback in it"),
        ("f.csv", 'query,language,helpful,time\n"x', "this is not CSV: unexpected end of data"),
        ("f.jsonl", "{}\n", "1: query: this column is missing"),
        ("f.jsonl", "\n[1]\n", "2: expected object, got array"),
        ("f.jsonl", "nonsense", "1: not JSON"),
        ("f.jsonl", '{"query": 3, "language": [], "helpful": null, "time": true}', "1: query: it is empty"),
        (
            "f.jsonl",
            '{"query": "x", "language": "en", "helpful": 2, "time": 1e99}',
            "1: helpful: 2 is neither",
        ),
    ],
)
def test_files_that_are_no_feedback(folder: Path, name: str, content: str, said: str) -> None:
    path = folder / name
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_feedback(path)
    assert str(caught.value).removeprefix(f"{path}:").lstrip().startswith(said)


def test_a_time_in_seconds_and_one_without_a_zone(folder: Path) -> None:
    # 2026-03-01T10:00:00Z is 1772359200 seconds after 1970
    path = write_feedback(
        folder, [vote("x") | {"time": 1772359200}, vote("x") | {"time": "2026-03-01T10:00"}]
    )
    assert read_feedback(path) == read_feedback(write_feedback(folder, [vote("x")] * 2))


def test_other_kinds_of_files(folder: Path) -> None:
    with pytest.raises(UsageError):
        read_feedback(folder / "feedback.xlsx")
    with pytest.raises(DataError):
        read_feedback(folder / "none.csv")
