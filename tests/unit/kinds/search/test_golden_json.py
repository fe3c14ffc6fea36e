"""Golden sets in JSON: what becomes of a query, and what is refused, where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Dataset, Place
from assay.core.errors import DataError, PluginError
from assay.core.protocols import Kit
from assay.core.registry import DATASETS, Registry
from assay.datasets.reading import parse_json
from assay.kinds.search.golden.dataset import Golden
from assay.kinds.search.golden.entry import Category
from assay.study.study import open_study
from small_golden import (
    APPLES,
    CROSSING,
    DARK,
    ROPE,
    english,
    entry,
    expected,
    spanish,
    write_golden,
    write_set,
)

CATEGORIES = {
    "direct": Category("passages", 2),
    "boundary": Category("route", 1, withhold=True),
    "night": Category("intent", 1),
    "odd": Category("route"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path)


def golden(**changes: Any) -> Golden:
    given = {"sets": "golden-set-*.json", "corpus": "corpus", "forbidden": "technique.json", **changes}
    return Golden(**{"categories": CATEGORIES, **given})


def loaded(folder: Path, **changes: Any) -> Dataset:
    return golden(**changes).load(Kit(root=folder))


def problems(folder: Path, **changes: Any) -> list[str]:
    """What is said of a golden set that is refused, without the folder."""
    with pytest.raises(DataError) as caught:
        loaded(folder, **changes)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


# --------------------------------------------------------------------------------- what is read


def test_a_query_by_passages(folder: Path) -> None:
    one, two = loaded(folder).items[:2]
    assert (one.item_id, one.text, one.language, one.expects) == (
        "en-direct-001",
        "who held the rope in the fog",
        "en",
        None,
    )
    assert one.tags == {"category": ["direct"], "route": ["search"], "theme": ["work"]}
    anchor = {"book": "ferry", "chapter": 1, "text": ROPE, "relevance": "high"}
    assert one.gold == {"anchors": [anchor], "route": "search", "flags": {}}
    assert two.gold["anchors"] == [
        {"book": "ferry", "chapter": 1, "text": APPLES, "relevance": "high"},
        {"book": "ferry", "chapter": None, "text": ROPE, "relevance": "partial"},
    ]


def test_queries_by_route_and_by_intent(folder: Path) -> None:
    items = {item.item_id: item for item in loaded(folder).items}
    boundary, night, odd = (items[f"en-{name}-001"] for name in ("boundary", "night", "odd"))
    assert (boundary.expects, boundary.gold) == (
        "route",
        {
            "anchors": [],
            "route": "practice_bridge",
            "flags": {},
            "forbidden": [{"book": "oar", "chapter": None, "text": None}],
        },
    )
    assert (night.expects, night.added, night.tags["intent"]) == ("intent", "2026-01-31", ["console"])
    assert (night.gold["intent"], night.gold["flags"]) == ("console", {"safety_interstitial": True})
    assert night.gold["anchors"][0]["text"] == DARK
    assert (odd.expects, "forbidden" in odd.gold, "intent" in odd.gold) == ("nothing", False, False)
    assert items["es-night-001"].language == "es"


def test_documents_are_chapters_and_nothing_is_cut(folder: Path) -> None:
    corpus = loaded(folder).corpus
    assert list(corpus.documents) == ["en/ferry/01", "en/ferry/02", "en/oar/01", "es/ferry/01", "es/oar/01"]
    assert corpus.passages == ()
    document = corpus.documents["en/ferry/01"]
    assert (document.title, document.text) == ("The Crossing", CROSSING)  # the heading stays text
    assert document.metadata == {"book": "ferry", "chapter": 1, "language": "en"}


def test_places_are_lines_of_the_files(folder: Path) -> None:
    places = loaded(folder).places
    path = folder / "golden-set-en.json"
    lines = path.read_text().splitlines()
    assert places["en-direct-001"] == Place(str(path), 2)
    place = places["en-direct-002"]
    assert lines[(place.line or 0) - 1] == "  {"
    assert '"en-direct-002"' in lines[place.line or 0]


def test_a_study_loads_and_cuts_it(folder: Path) -> None:
    study = open_study(folder)
    dataset = study.dataset(study.arms[0])
    assert len(dataset.items) == 8
    passage = dataset.corpus.passages[0]
    assert (passage.source, passage.span is not None) == ("en/ferry/01", True)


def test_flags_as_a_mapping_and_one_theme_as_a_word(folder: Path) -> None:
    items = english()
    items[0] |= {"expected_flags": {"a": True, "b": False}, "themes": "work", "notes": None}
    write_set(folder, items)
    one = loaded(folder).items[0]
    assert (one.gold["flags"], one.tags["theme"]) == ({"a": True, "b": False}, ["work"])


def test_a_study_without_a_corpus_or_a_forbidden_list(folder: Path) -> None:
    dataset = loaded(folder, corpus="", forbidden="")
    assert dataset.corpus.documents == {}
    assert all("forbidden" not in item.gold for item in dataset.items)
    assert dataset.warnings == [
        "nothing says which text 'boundary' must withhold. Name a file of it as data.forbidden."
    ]


def test_sets_may_be_listed(folder: Path) -> None:
    assert len(loaded(folder, sets=("golden-set-es.json",)).items) == 3


def test_the_default_words_are_those_of_the_design() -> None:
    default = Golden("any")
    assert sum(each.count or 0 for each in default.categories.values()) == 66  # 10 + 12 + 12 + 8 + 8 + 8 + 8
    assert {name: each.by for name, each in default.categories.items() if each.by != "passages"} == {
        "technique_boundary": "route",
        "dark_night": "intent",
        "adversarial": "route",
    }
    assert [name for name, each in default.categories.items() if each.withhold] == ["technique_boundary"]
    assert default.routes == ("search", "practice_bridge", "no_results")


def test_documents_in_one_file(folder: Path) -> None:
    rows = [
        {"book_slug": "ferry", "chapter_number": 1, "language": "en", "text": CROSSING, "year": 1901},
        {"book_slug": "ferry", "chapter_number": 2, "language": "en", "text": "x", "title": "Two"},
    ]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    one = {"sets": ("golden-set-en.json",), "forbidden": ""}
    write_set(folder, english()[:2])
    by_file, by_folder = loaded(folder, corpus="documents.jsonl", **one), loaded(folder, corpus=".", **one)
    assert by_file.corpus.hash == by_folder.corpus.hash
    first, second = by_file.corpus.documents.values()
    assert first.doc_id == "en/ferry/01"
    assert first.metadata == {"year": 1901, "book": "ferry", "chapter": 1, "language": "en"}
    assert second.title == "Two"


# ------------------------------------------------------------------------------ what is refused


def test_everything_that_is_wrong_is_said_at_once(folder: Path) -> None:
    items = english()
    items[0] |= {"query": " ", "expected_pasages": []}
    items[1] |= {"category": "direkt"}
    items[2] |= {"expected_routing": "bridge", "language": 3}
    items[3]["expected_passages"][0] |= {"relevance": "hi", "chapter_number": "2"}
    write_set(folder, items)
    (folder / "technique.json").write_text('[\n{"book_slug": "oars"},\n{"book": "oar"}]')
    assert problems(folder) == [
        "golden-set-en.json:4: en-direct-001.query: it is empty. Fill it in.",
        (
            "golden-set-en.json:20: en-direct-001.expected_pasages: there is no such field. "
            "Did you mean 'expected_passages' or 'expected_flags' or 'expected_routing'?"
        ),
        (
            "golden-set-en.json:26: en-direct-002.category: there is no category 'direkt'. "
            "Did you mean 'direct'?"
        ),
        "golden-set-en.json:45: en-boundary-001.language: expected some text, found 3. Write it in quotes.",
        (
            "golden-set-en.json:58: en-night-001.expected_passages.0.chapter_number: expected a whole number "
            "from 0, found '2'. Write a number such as 12, or leave the field out."
        ),
        (
            "golden-set-en.json:60: en-night-001.expected_passages.0.relevance: expected 'high' or 'partial'"
            ", found 'hi'. Write one of the two."
        ),
        "technique.json:2: 0.book_slug: the corpus has no book 'oars'. Did you mean 'oar'?",
        "technique.json:3: 1.book_slug: this field is required. Add it.",
        "technique.json:3: 1.book: there is no such field. Did you mean 'book_slug'?",
    ]


Change = Callable[[list[Any]], object]


def put(index: int, **fields: Any) -> Change:
    return lambda items: items[index].update(fields)


LONG = " ".join(["word"] * 41)
CASES: list[tuple[str, Change, str]] = [
    (
        "number",
        put(0, id="en-direct-1"),
        "id: the id of an item of this language and category is en-direct-NNN",
    ),
    ("other category", put(0, id="en-odd-009"), "id: the id of an item of this language and category is"),
    ("other digits", put(0, id="en-direct-٠٠١"), "id: the id of an item of this language and category is"),
    (
        "route",
        put(0, expected_routing="seek"),
        "expected_routing: there is no route 'seek'. Known: no_results",
    ),
    (
        "intent",
        put(3, retrieval_intent="consle"),
        "retrieval_intent: there is no intent 'consle'. Did you mean",
    ),
    (
        "no intent",
        put(3, retrieval_intent=None),
        "retrieval_intent: 'night' is decided by intent, and none is",
    ),
    (
        "no passage",
        put(0, expected_passages=[]),
        "expected_passages: 'direct' is decided by passages, and none",
    ),
    (
        "none of high relevance",
        put(0, expected_passages=[expected(ROPE, 1, "partial")]),
        "expected_passages: 'direct' is decided by passages, and none of high relevance is given",
    ),
    (
        "four",
        put(0, expected_passages=[expected(ROPE)] * 4),
        "expected_passages: 4 passages are expected, 3 at",
    ),
    (
        "short",
        put(0, expected_passages=[expected("the old man")]),
        "the substring has 3 words; it takes 10 to 40",
    ),
    ("long", put(0, expected_passages=[expected(LONG)]), "the substring has 41 words; it takes 10 to 40"),
    (
        "nothing, by passages",
        put(0, expected_routing="no_results"),
        "'direct' is decided by passages, so results",
    ),
    (
        "nothing, with passages",
        put(4, expected_passages=[expected(ROPE)]),
        "passages are expected, and no results",
    ),
    (
        "book",
        put(0, expected_passages=[expected(ROPE, 1, "high", "fery")]),
        "no book 'fery' in 'en'. Did you mean",
    ),
    (
        "chapter",
        put(0, expected_passages=[expected(ROPE, 9)]),
        "'ferry' has no chapter 9 in 'en'. It has chapters",
    ),
    ("language", put(0, language="es", id="es-direct-009"), "language: this file is in 'en'"),
    ("flags", put(0, expected_flags=[1]), "expected_flags: expected names of flags, or a mapping"),
    ("flag", put(0, expected_flags={"a": "yes"}), "expected_flags.a: expected names of flags, or a mapping"),
    ("themes", put(0, themes=[[]]), "expected a list of words, found []"),
    (
        "passages",
        put(0, expected_passages="none"),
        "expected_passages: expected a list of passages, found 'none'",
    ),
    ("passage", put(0, expected_passages=["x"]), "expected_passages.0: expected a passage with its fields"),
    ("key", put(0, expected_passages=[{**expected(ROPE), "chapter": 1}]), "Did you mean 'chapter_number'"),
    ("missing", lambda items: items[0].pop("expected_routing"), "expected_routing: this field is required"),
    (
        "no object",
        lambda items: items.insert(0, 7),
        "0: expected an object, found 7. Write {…} with id, query",
    ),
    (
        "twice",
        lambda items: items.append(dict(items[0])),
        "en-direct-001.id: the id stands at golden-set-en.json:2",
    ),
]


@pytest.mark.parametrize(("change", "said"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_an_entry_that_breaks_a_rule(folder: Path, change: Change, said: str) -> None:
    items = english()
    change(items)
    write_set(folder, items)
    (found,) = problems(folder)
    assert found.startswith("golden-set-en.json:")
    assert said in found


def test_ids_are_unique_over_all_files(folder: Path) -> None:
    write_set(folder, [*spanish(), entry("en-odd-001", "tiempo mañana", expected_routing="no_results")], "es")
    first, second = problems(folder)
    assert "en-odd-001.id: the id stands at golden-set-en.json:69 already" in first
    assert "en-odd-001.language: this file is in 'es'" in second


def test_a_file_of_another_name_is_in_the_language_of_most_of_its_entries(folder: Path) -> None:
    items = english()
    items[0] |= {"language": "es", "id": "es-direct-009"}
    (folder / "mine.json").write_text(json.dumps(items))
    (found,) = problems(folder, sets="mine.json", forbidden="", corpus="")
    assert "language: this file is in 'en'" in found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "golden-set-en.json:1: this is not JSON: expecting value"),
        ('[\n{"id": "x"\n "query": "y"}]', "golden-set-en.json:3: this is not JSON: expecting ',' delimiter"),
        ("[NaN]", "golden-set-en.json: this is not JSON: it holds NaN"),
        (
            '["\\ud800"]',
            "golden-set-en.json: this is not JSON: it holds NaN, Infinity, a number out of range or",
        ),
        ("[" * 5000, "golden-set-en.json: it is nested too deeply"),
        ('{"id": 3}', "golden-set-en.json:1: expected an array of queries"),
        ("[]", "golden-set-en.json:1: the golden set is empty"),
        ('[{"id": "a",\n"id": "b"}]', "golden-set-en.json:2: 0.id: this field is already on line 1"),
    ],
)
def test_a_file_that_is_no_golden_set(folder: Path, content: str, said: str) -> None:
    (folder / "golden-set-en.json").write_text(content)
    assert problems(folder)[0].startswith(said)


def test_files_that_are_not_there(folder: Path) -> None:
    assert problems(folder, sets=["none-*.json", "none.json"], corpus="books", forbidden="no.json") == [
        "none-*.json: no golden set has this name. Check data.sets: it is relative to the study.",
        "none.json: there is no such file. Check the path.",
        "books: there is no such corpus. Name a folder LANGUAGE/BOOK/NN.md, or a documents.jsonl.",
        "no.json: there is no such file. Check the path.",
    ]


def test_a_corpus_folder_that_is_wrong_in_many_ways(folder: Path) -> None:
    corpus = folder / "corpus"
    for name, content in {
        "en/loose.md": b"x",
        "en/ferry/prologue.md": b"x",
        "en/ferry/01-again.txt": b"x",
        "en/ferry/03.md": b" \n",
        "en/ferry/04.md": b"\xff",
        "en/ferry/part/05.md": b"x",
        "en/ferry/.hidden.md": b"x",
        "README.md": b"not a chapter",
    }.items():
        (corpus / name).parent.mkdir(exist_ok=True)
        (corpus / name).write_bytes(content)
    move = "Move it to LANGUAGE/BOOK/NN.md."
    assert problems(folder) == [
        f"corpus/en/loose.md: a chapter lies in the folder of its book. {move}",
        "corpus/en/ferry/01-the-crossing.md: 01-again.txt is chapter 1 too. Renumber one of the two.",
        "corpus/en/ferry/03.md: the chapter is empty. Fill it, or remove it.",
        "corpus/en/ferry/04.md:1: bytes that are not UTF-8. Save the file as UTF-8.",
        (
            "corpus/en/ferry/prologue.md: its name begins with no chapter number. "
            "Name it like 03.md or 03-the-ferry.md."
        ),
        f"corpus/en/ferry/part/05.md: a book has no folders in it. {move}",
    ]


def test_documents_that_are_wrong(folder: Path) -> None:
    good = '{"book_slug": "ferry", "chapter_number": 1, "language": "en", "text": "x"}'
    lines = [
        good,
        good,
        '{"book_slug": "ferry", "chapter_number": -1, "language": "", "text": "x"}',
        '{"book_slug": "ferry", "language": "en", "text": "x"}',
        "{",
    ]
    (folder / "documents.jsonl").write_text("\n".join(lines))
    write_set(folder, english()[:1])
    one = {"sets": ("golden-set-en.json",), "forbidden": "", "corpus": "documents.jsonl"}
    assert problems(folder, **one) == [
        "documents.jsonl:3: language: it is empty. Fill it in.",
        "documents.jsonl:3: chapter_number: it is below zero. Count from 0 or 1.",
        "documents.jsonl:4: chapter_number: the field is missing. Add 'chapter_number'.",
        "documents.jsonl:5: not JSON: Input data was truncated. Write one complete JSON object per line.",
        "documents.jsonl:2: the doc_id 'en/ferry/01' stands on line 1 already. Ids must be unique.",
    ]


def test_an_empty_corpus(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert problems(folder, corpus="empty")[0].startswith("empty: there is no chapter here.")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"words": [40, 10]}, "words: [40, 10] is not a range of lengths. Write [10, 40]"),
        (
            {"categories": {"odd": {}, "direct": {"by": "passage"}}},
            "categories.direct.by: it cannot be 'passage'. It takes passages, route, intent",
        ),
        ({"categories": {"direct": {"count": -1}}}, "categories.direct.count: expected int >= 0"),
        (
            {"categories": {"direct": {"counts": 1}}},
            "direct.counts: there is no such field. Did you mean 'count'",
        ),
        ({"dominant": 2}, "dominant: "),
        ({"set": "x"}, "'golden' has no parameter 'set'. Did you mean 'sets'?"),
    ],
)
def test_parameters_that_make_no_sense(params: dict[str, Any], said: str) -> None:
    with pytest.raises(PluginError) as caught:
        Registry().create(DATASETS, {"use": "golden", "sets": "x.json", **params})
    assert said in str(caught.value)


# ------------------------------------------------------------------------------- lines of JSON


def test_every_field_of_a_json_text_has_its_line() -> None:
    text = '{\n "a": [1,\n {"b": "}]\\"",\n "c":\n null}],\n "é\\n": {}, "e": []\n}'
    content, lines = parse_json(text, "x")
    assert content == {"a": [1, {"b": '}]"', "c": None}], "é\n": {}, "e": []}
    # the line of a member is its key's, that of an element where it begins
    assert lines.at == {
        (): 1,
        ("a",): 2,
        ("a", 0): 2,
        ("a", 1): 3,
        ("a", 1, "b"): 3,
        ("a", 1, "c"): 4,
        ("é\n",): 6,
        ("e",): 6,
    }
