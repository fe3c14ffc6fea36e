"""Candidates that a person accepted, appended; everything else left behind with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.kinds.search.golden.add import CandidateImport, add_candidates, append_entries
from assay.kinds.search.golden.candidates import SCHEMA
from assay.kinds.search.golden.check import check_golden, freeze_golden
from assay.kinds.search.golden.study import GoldenStudy, open_golden
from small_golden import APPLES, CUERDA, ROPE, english, entry, expected, spanish, write_golden, write_set

DAY = 1_772_359_200.0  # 2026-03-01
SEEN = {"unhelpful": 3, "helpful": 0, "first": "2026-02-01", "last": "2026-02-09", "wordings": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path)


def candidate(query: str, category: str = "odd", **more: Any) -> dict[str, Any]:
    blank = {"retrieval_intent": "", "expected_flags": [], "themes": [], "notes": "", "expected_passages": []}
    route = {"expected_routing": "no_results", "accepted_by": "Ana", "seen": SEEN}
    return {"id": "", "query": query, "language": "en", "category": category, **blank, **route, **more}


def direct(query: str, text: str = APPLES, **more: Any) -> dict[str, Any]:
    return candidate(query, "direct", expected_routing="search", expected_passages=[expected(text)], **more)


def write_candidates(folder: Path, *candidates: Any) -> Path:
    path = folder / "candidates-en.json"
    path.write_text(json.dumps({"schema": SCHEMA, "candidates": candidates}))
    return path


def opened_at(folder: Path) -> GoldenStudy:
    """The study on a known day."""
    study, golden = open_golden(folder)
    object.__setattr__(study, "kit", Kit(root=folder, clock=lambda: DAY))
    return GoldenStudy(study, golden)


def added(folder: Path, *candidates: Any) -> CandidateImport:
    return add_candidates(opened_at(folder), write_candidates(folder, *candidates))


def entries(folder: Path, language: str = "en") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / f"golden-set-{language}.json").read_text())
    return found


def test_an_accepted_candidate_becomes_the_last_entry(folder: Path) -> None:
    before = (folder / "golden-set-en.json").read_bytes()
    found = added(folder, direct("fruit left for deer", themes=["work"], notes="Seen in spring."))
    assert [(each.item_id, each.query) for each in found.taken] == [("en-direct-003", "fruit left for deer")]
    assert found.left == []
    assert entries(folder)[-1] == {
        "id": "en-direct-003",
        "query": "fruit left for deer",
        "language": "en",
        "category": "direct",
        "expected_passages": [expected(APPLES)],
        "expected_routing": "search",
        "themes": ["work"],
        "notes": "Seen in spring. Accepted by Ana.",
        "added": "2026-03-01",
    }
    after = (folder / "golden-set-en.json").read_bytes()
    assert before.endswith(b"\n  }\n]\n")
    assert after.startswith(before.removesuffix(b"\n]\n") + b",\n  {\n    ")
    assert after.endswith(b"\n  }\n]\n")
    assert check_golden(open_golden(folder)).problems == []


def test_what_was_taken_leaves_the_file_of_candidates(folder: Path) -> None:
    unsigned = candidate("lottery numbers", accepted_by=" ")
    added(folder, candidate("stock market"), unsigned)
    left = json.loads((folder / "candidates-en.json").read_text())
    assert left == {"schema": SCHEMA, "candidates": [unsigned]}
    again = add_candidates(open_golden(folder), folder / "candidates-en.json")
    assert (again.taken, len(again.left)) == ([], 1)
    assert len(entries(folder)) == 6


def test_numbers_are_never_used_twice(folder: Path) -> None:
    write_set(folder, [*english(), entry("en-odd-007", "a b c", expected_routing="no_results")])
    freeze_golden(open_golden(folder))
    write_set(folder, english())  # en-odd-007 is gone, and its number still taken
    found = added(folder, candidate("stock market"), candidate("lottery numbers"))
    assert [each.item_id for each in found.taken] == ["en-odd-008", "en-odd-009"]


def test_each_language_has_its_file(folder: Path) -> None:
    spanish_one = direct("la mano en la niebla", CUERDA, language="es")
    found = added(folder, candidate("stock market"), spanish_one)
    assert [Path(each.file).name for each in found.taken] == ["golden-set-en.json", "golden-set-es.json"]
    assert entries(folder, "es")[-1]["id"] == "es-direct-002"


LEFT = [
    ("unsigned", candidate("x", accepted_by=""), "nobody accepted it: accepted_by is empty"),
    ("signed by a number", candidate("x", accepted_by=7), "nobody accepted it: accepted_by is empty"),
    ("no object", 7, "nobody accepted it: accepted_by is empty"),
    ("no category", candidate("x", ""), "category: it is empty. Fill it in."),
    ("category", candidate("x", "od"), "category: there is no category 'od'. Did you mean 'odd'?"),
    ("no route", candidate("x", expected_routing=""), "expected_routing: it is empty. Fill it in."),
    (
        "no passage",
        candidate("x", "direct", expected_routing="search"),
        (
            "expected_passages: 'direct' is decided by passages, and none of high relevance is given. "
            "Add the passage that answers the query."
        ),
    ),
    ("unknown field", candidate("x", note="y"), "note: there is no such field. Did you mean 'notes'?"),
    (
        "language",
        candidate("x", language="fr"),
        "language: no golden set is in 'fr'. Start one.",
    ),
    ("known query", candidate("Weather  Tomorrow"), "query: en-odd-001 asks it already"),
    (
        "anchor",
        direct("x", ROPE.replace("man", "cat")),
        (
            "expected_passages.0.passage_substring: "
            "'the old cat kept one hand upon the rope while fog lay' is not in chapter 1 of 'ferry'. "
            "Quote the text as it stands. "
            "Nearest: 'the old man kept one hand upon the rope while fog lay' in en/ferry/01, 96% alike."
        ),
    ),
    (
        "book",
        candidate(
            "x", "direct", expected_routing="search", expected_passages=[expected(ROPE, 1, book="lamp")]
        ),
        "expected_passages.0.book_slug: the corpus has no book 'lamp' in 'en'. Known: ferry, oar.",
    ),
]


@pytest.mark.parametrize(("one", "why"), [pytest.param(*case[1:], id=case[0]) for case in LEFT])
def test_what_is_not_in_order_stays_behind(folder: Path, one: Any, why: str) -> None:
    before = (folder / "golden-set-en.json").read_bytes()
    path = write_candidates(folder, one)
    content = path.read_bytes()
    found = add_candidates(open_golden(folder), path)
    assert found.taken == []
    assert found.left[0].why == [why]
    assert (folder / "golden-set-en.json").read_bytes() == before
    assert path.read_bytes() == content


def test_one_candidate_twice_is_taken_once(folder: Path) -> None:
    found = added(folder, candidate("stock market"), candidate("Stock market"))
    assert [each.item_id for each in found.taken] == ["en-odd-002"]
    assert found.left[0].why == ["query: en-odd-002 asks it already"]


def test_what_was_appended_before_it_broke_off_is_not_appended_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("assay.kinds.search.golden.add.write_file", full)
        with pytest.raises(OSError, match="no space"):
            added(folder, candidate("stock market"))
    assert len(entries(folder)) == 6
    again = add_candidates(open_golden(folder), folder / "candidates-en.json")
    assert (again.taken, again.left[0].why) == ([], ["query: en-odd-002 asks it already"])
    assert len(entries(folder)) == 6


def test_a_set_that_changes_meanwhile_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = folder / "golden-set-en.json", open_golden(folder)
    candidates, sets = (
        write_candidates(folder, candidate("stock market")),
        opened.golden.read(opened.study.kit),
    )
    monkeypatch.setattr(type(opened.golden), "read", lambda *_: sets)
    newer = path.read_bytes().replace(b"weather tomorrow", b"weather on Sunday")
    path.write_bytes(newer)
    with pytest.raises(DataError) as caught:
        add_candidates(opened, candidates)
    assert "the file changed while it was worked on" in str(caught.value)
    assert path.read_bytes() == newer


def test_files_that_cannot_be_added_to(folder: Path) -> None:
    path = folder / "x.json"
    for content in ("[]", '{"candidates": []}', '{"schema": "assay/golden-candidates/1", "candidates": {}}'):
        path.write_text(content)
        with pytest.raises(DataError) as caught:
            add_candidates(open_golden(folder), path)
        assert "this is not a file of candidates" in str(caught.value)
    (folder / "golden-set-es.json").write_text("[")
    with pytest.raises(DataError):
        added(folder, candidate("stock market"))


# ------------------------------------------------------------------------------ byte for byte

NEW = {"id": "é", "n": [1]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b'[\n  {"id": "a"}\n]\n',
            '[\n  {"id": "a"},\n  {\n    "id": "é",\n    "n": [\n      1\n    ]\n  }\n]\n',
        ),
        (
            b'[\r\n\t{"id": "a"}\r\n]',
            '[\r\n\t{"id": "a"},\r\n\t{\r\n\t  "id": "é",\r\n\t  "n": [\r\n\t    1\r\n\t  ]\r\n\t}\r\n]',
        ),
        (b'[{"id": "a"} ]\n', '[{"id": "a"}, {"id": "é", "n": [1]} ]\n'),
        (b'\xef\xbb\xbf[ {"id": "]"}]', '\ufeff[ {"id": "]"}, {"id": "é", "n": [1]}]'),
    ],
)
def test_entries_follow_in_the_indentation_of_the_file(before: bytes, after: str) -> None:
    assert append_entries(before, [NEW]).decode() == after


def test_every_byte_of_a_file_in_odd_formatting_is_kept(folder: Path) -> None:
    one, two, *rest = (json.dumps(each) for each in english())
    text = f"[\n    {one},\n\n{two}  ,{','.join(rest)}\n\n\n]\n\n"
    (folder / "golden-set-en.json").write_text(text)
    added(folder, candidate("stock market"))
    after = (folder / "golden-set-en.json").read_text()
    head, tail = text[: text.rindex("}") + 1], text[text.rindex("}") + 1 :]
    assert after.startswith(f"{head},\n    {{\n")
    assert after.endswith(f"}}{tail}")
    assert len(entries(folder)) == 6


def test_spanish_stays_as_it_is(folder: Path) -> None:
    before = (folder / "golden-set-es.json").read_bytes()
    added(folder, candidate("stock market"))
    assert (folder / "golden-set-es.json").read_bytes() == before
    assert entries(folder, "es") == spanish()
