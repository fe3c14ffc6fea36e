"""What `assay golden check` refuses, tells and counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import DataError, UsageError
from assay.kinds.search.golden.check import GoldenCheck, ThemeShare, check_golden, freeze_golden
from assay.kinds.search.golden.content_words import ContentWords, similar_pairs
from assay.kinds.search.golden.resolve import resolve_golden
from assay.kinds.search.golden.study import open_golden
from assay.study.study import open_study
from small_golden import (
    APPLES,
    CROSSING,
    DARK,
    ROPE,
    STUDY,
    english,
    entry,
    expected,
    spanish,
    write_golden,
    write_set,
)
from small_study import write_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path)


def checked(folder: Path, against: str | None = None) -> GoldenCheck:
    return check_golden(open_golden(folder), against)


def told(folder: Path, which: str = "problems", against: str | None = None) -> list[str]:
    """Problems, changes or warnings, without the folder."""
    return [str(each).replace(f"{folder}/", "") for each in getattr(checked(folder, against), which)]


def odd_ones() -> list[dict[str, Any]]:
    """Five more queries that are about nothing."""
    words = enumerate(["stocks", "football", "recipe", "lottery", "passport"], 2)
    return [entry(f"en-odd-00{n}", word, expected_routing="no_results") for n, word in words]


def test_a_sound_golden_set(folder: Path) -> None:
    found = checked(folder)
    assert (found.problems, found.changes, found.warnings, found.against) == ([], [], [], "")
    assert found.declared == {"direct": 2, "boundary": 1, "night": 1}
    assert found.counts == {
        "en": {"direct": 2, "boundary": 1, "night": 1, "odd": 1},
        "es": {"direct": 1, "boundary": 1, "night": 1, "odd": 0},
    }
    assert found.themes == {"en": ThemeShare("work", 1.0, 1)}


def test_the_share_of_content_words_in_the_paragraph_around_an_anchor(folder: Path) -> None:
    found = checked(folder)
    # who, the and in say nothing: held, rope, fog, of which the paragraph has the last two
    assert found.overlaps["en-direct-001"] == pytest.approx(2 / 3)
    # appl, nobodi and gather are there as stems, Nobody and gather outside the anchor
    assert found.overlaps["en-direct-002"] == 1.0
    # nothing, left; the lamp's paragraph has neither
    assert found.overlaps["en-night-001"] == 0.0
    mean = found.overlap["en"]["direct"]
    assert mean.value == pytest.approx(5 / 6)
    assert mean.n == 2
    # nobody expects a passage
    assert "en-boundary-001" not in found.overlaps
    assert "boundary" not in found.overlap["en"]


def test_of_several_passages_the_best_counts(folder: Path) -> None:
    items = english()
    items[0]["expected_passages"].append(expected(APPLES))
    items[0]["query"] = "apples in the orchard"
    items[1]["expected_passages"][1]["relevance"] = "partial"  # which does not count
    write_set(folder, items)
    # the first passage has neither word, the second both
    assert checked(folder).overlaps["en-direct-001"] == 1.0


def test_words_that_stand_everywhere_say_nothing_in_a_language_without_a_list(tmp_path: Path) -> None:
    folder = write_golden(tmp_path)
    book = folder / "corpus/xx/ferry/01.md"
    book.parent.mkdir(parents=True)
    book.write_text("ka alpha\n\nka beta\n\nka gamma\n\nka delta\n\nka omega\n\nka sigma")
    words = ContentWords(open_golden(folder).golden.books(open_golden(folder).study.kit))
    assert words.of("xx", "Ka alpha ki") == ["alpha", "ki"]


# ---------------------------------------------------------------------------------- the anchors


def test_anchors_that_are_not_there_or_more_than_once(folder: Path) -> None:
    chapter = folder / "corpus/en/ferry/02-the-lamp.md"
    chapter.write_text(chapter.read_text() + "\n" + CROSSING.splitlines()[2] + "\n")
    items = english()
    items[0]["expected_passages"] = [expected(ROPE), expected(ROPE.replace("old man", "young man"))]
    items[1]["expected_passages"] = [expected(ROPE, None)]
    write_set(folder, items)
    assert told(folder) == [
        (
            "golden-set-en.json:17: en-direct-001.expected_passages.1.passage_substring: "
            "'the young man kept one hand upon the rope while fog lay' is not in chapter 1 of 'ferry'. "
            "Quote the text as it stands. "
            "Nearest: 'the old man kept one hand upon the rope while fog lay on' in en/ferry/01, 93% alike."
        ),
        (
            "golden-set-en.json:35: en-direct-002.expected_passages.0.passage_substring: "
            "it stands 2 times in 'ferry' (en/ferry/01, en/ferry/02). "
            "Quote more of the passage, or other words of it."
        ),
    ]


def test_words_of_another_chapter_are_told_with_the_chapter(folder: Path) -> None:
    items = english()
    items[0]["expected_passages"] = [expected(DARK, 1)]  # it stands in chapter 2
    write_set(folder, items)
    (problem,) = told(folder)
    assert problem == (
        "golden-set-en.json:11: en-direct-001.expected_passages.0.passage_substring: "
        f"{DARK!r} is not in chapter 1 of 'ferry'. It is in en/ferry/02: correct the chapter."
    )
    # looked up in the corpus as the study cuts it, it is told in the same words and at the same place
    lost = [each.message for each in resolve_golden(open_study(folder)) if each.problem]
    assert lost == [f"{folder}/{problem}"]


def test_quotes_and_blanks_do_not_matter(folder: Path) -> None:
    items = english()
    items[0]["expected_passages"] = [expected(ROPE.replace(" ", "\u00a0 ").upper())]
    write_set(folder, items)
    assert told(folder) == []


# ---------------------------------------------------------------------------------- the balance


def test_fewer_than_declared_and_categories_that_a_language_lacks(folder: Path) -> None:
    write_set(folder, english()[1:3])
    write_set(folder, spanish()[1:], "es")
    assert told(folder) == [
        "golden-set-en.json: direct: 1 of the 2 queries that the study declares. Add some, or declare fewer.",
        "golden-set-en.json: night: 0 of the 1 queries that the study declares. Add some, or declare fewer.",
        (
            "golden-set-es.json: direct: no query in 'es', and the study declares the category. "
            "Add some, or declare no count."
        ),
    ]


def test_the_main_language_may_be_named(folder: Path) -> None:
    study = STUDY.replace("  corpus: corpus\n", "  corpus: corpus\n  main: es\n")
    (folder / "study.yaml").write_text(study)
    assert told(folder) == [
        "golden-set-es.json: direct: 1 of the 2 queries that the study declares. Add some, or declare fewer."
    ]
    (folder / "study.yaml").write_text(study.replace("main: es", "main: fr"))
    assert told(folder) == ["data.main: no golden set is in the main language 'fr'. Languages: en, es."]


def test_one_category_is_more_than_half(folder: Path) -> None:
    # 2 direct, 1, 1 and 6 odd: 6 of 10 is more than half, 5 of 9 is too few queries to say so
    more = odd_ones()
    write_set(folder, [*english(), *more[:4]])
    assert told(folder) == []
    write_set(folder, [*english(), *more])
    assert told(folder) == [
        (
            "golden-set-en.json: odd: 6 of 10 queries: more than half of its language. "
            "Add queries of other categories."
        )
    ]


def test_an_entry_that_is_wrong_is_not_also_missing(folder: Path) -> None:
    items = english()
    items[0]["query"] = ""
    write_set(folder, items)
    assert told(folder) == ["golden-set-en.json:4: en-direct-001.query: it is empty. Fill it in."]


def test_a_theme_that_dominates_is_a_warning(folder: Path) -> None:
    items = english() + odd_ones()
    for number, item in enumerate(items):
        item["themes"] = ["work"] if number < 4 else ["love", "loss"][number % 2 : number % 2 + 1]
    write_set(folder, items)
    assert told(folder, "warnings") == []  # 4 of 10 is 40 %, and not more
    items[4]["themes"] = ["work", "love"]
    write_set(folder, items)
    assert told(folder, "warnings") == [
        (
            "golden-set-en.json: 50% of 10 queries have the theme 'work'. "
            "Add queries of others: the study declares 40% at most."
        )
    ]


def test_queries_that_are_nearly_the_same_are_warnings(folder: Path) -> None:
    items = [
        *english(),
        entry("en-odd-002", "The weather, tomorrow?", expected_routing="no_results"),
        entry("en-odd-003", "wether tomorrow", expected_routing="no_results"),
        entry("en-odd-004", "winter tomorrow", expected_routing="no_results"),
    ]
    write_set(folder, items)
    found = [each.partition(":")[2].partition(": ")[2] for each in told(folder, "warnings")]
    fix = "Keep both only if each tests something of its own."
    assert found == [
        f"en-odd-002.query: the same as en-odd-001: 'weather tomorrow'. {fix}",
        f"en-odd-003.query: nearly en-odd-001: 'weather tomorrow'. {fix}",
        f"en-odd-003.query: nearly en-odd-002: 'The weather, tomorrow?'. {fix}",
    ]


def test_alike_is_by_letters_in_common() -> None:
    # all 8 letters of the shorter are in the longer of 9: 2 * 8 / (8 + 9); the third shares too little
    ((one, other, likeness),) = similar_pairs(["yoganada", "yogananda", "ferry"])
    assert (one, other) == (0, 1)
    assert likeness == pytest.approx(16 / 17)


# ------------------------------------------------------------------------------ earlier versions


def earlier_file(folder: Path) -> str:
    path = folder / "before.json"
    path.write_text((folder / "golden-set-en.json").read_text())
    return str(path)


def test_what_an_append_only_set_may_not_do(folder: Path) -> None:
    before = earlier_file(folder)
    items = english()
    items[0]["query"] = "who held the ropes in the fog"
    items[1]["query"] = "the price of bread"
    del items[4]
    items.append(entry("en-odd-002", "stock market", expected_routing="no_results"))
    write_set(folder, items)
    fix = "Put it back, and give the new one an id of its own."
    assert told(folder, against=before) == [
        f"golden-set-en.json: en-odd-001: the item is gone; {before} has it. "
        "Put it back: old queries stay, as they guard against regressions.".replace(f"{folder}/", ""),
        (
            "golden-set-en.json:4: en-direct-001.query: the query changed; "
            f"it was 'who held the rope in the fog'. {fix}"
        ),
        (
            "golden-set-en.json:23: en-direct-002.query: the id is used again for another query; "
            f"it was 'apples nobody gathered'. {fix}"
        ),
    ]
    assert checked(folder, before).new == ["en-odd-002", "es-direct-001", "es-boundary-001", "es-night-001"]


def test_changed_expectations_are_told_and_refuse_nothing(folder: Path) -> None:
    before = earlier_file(folder)
    items = english()
    items[0]["expected_passages"].append(expected(APPLES, 1, "partial"))
    items[2]["expected_routing"] = "search"
    items[3]["retrieval_intent"] = "meet_first"
    items[4]["notes"] = "a note is no expectation"
    write_set(folder, items)
    assert told(folder, against=before) == []
    changes = told(folder, "changes", before)
    assert [each.partition(": ")[2] for each in changes] == [
        "en-direct-001.expected_passages: other passages are expected",
        "en-boundary-001.expected_routing: it was 'practice_bridge', and is 'search'",
        "en-night-001.expected_flags: another intent or other flags are expected",
    ]


def test_writing_the_same_in_another_way_changes_nothing(folder: Path) -> None:
    before = earlier_file(folder)
    items = english()
    items[0]["query"] += "  "
    items[0]["expected_passages"][0] = dict(reversed(items[0]["expected_passages"][0].items()))
    items[1]["expected_passages"][1]["chapter_number"] = None
    items[3]["expected_flags"] = {"safety_interstitial": True}
    write_set(folder, items)
    found = checked(folder, before)
    assert (found.problems, found.changes) == ([], [])


def test_an_id_of_another_category_is_used_again(folder: Path) -> None:
    before = Path(earlier_file(folder))
    items = json.loads(before.read_text())
    items[4]["category"], items[4]["language"] = "direct", "hi"
    before.write_text(json.dumps(items))
    language, category = told(folder, against=str(before))
    assert "en-odd-001.language: the id is used again: it was an item of language 'hi'" in language
    assert "en-odd-001.category: the id is used again: it was an item of category 'direct'" in category


def test_a_file_that_cannot_be_read_hides_no_removal_and_invents_none(folder: Path) -> None:
    before = earlier_file(folder)
    (folder / "golden-set-en.json").write_text("[")
    found = told(folder, against=before)
    assert len(found) == 2  # that the file is no JSON, and that Spanish, now the first, has too few
    assert "this is not JSON" in found[0]


def test_against_a_lock(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    assert checked(folder).against == "golden.lock.json, version 1"
    items = english()
    items[0]["query"] = "who let go"
    write_set(folder, items)
    (found,) = told(folder)
    assert "en-direct-001.query: the query is not the one that was frozen" in found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "its schema is None, not 'assay/golden-lock/1'"),
        ('{"schema": "assay/golden-lock/1"}', "the lock is damaged: Object missing required field `version`"),
        ("3", "expected an array of queries"),
        ("[", "this is not JSON"),
    ],
)
def test_an_earlier_version_that_is_none(folder: Path, content: str, said: str) -> None:
    path = folder / "old.json"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        checked(folder, str(path))
    assert said in str(caught.value)


# ------------------------------------------------------------------------------------ the study


def test_only_problems_of_the_data_count(folder: Path) -> None:
    (folder / "study.yaml").write_text(STUDY.replace("bm25", '"no_such(key=${NOT_SET})"'))
    assert told(folder) == []
    (folder / "study.yaml").write_text(STUDY.replace("corpus: corpus", "korpus: corpus"))
    with pytest.raises(DataError) as caught:
        checked(folder)
    assert "'golden' has no parameter 'korpus'" in str(caught.value)


def test_a_study_of_other_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        checked(write_study(tmp_path))
    assert "is 'folder', which has no golden sets in JSON" in str(caught.value)


def test_the_corpus_and_the_withheld_text_are_checked_too(folder: Path) -> None:
    (folder / "technique.json").write_text('[{"book_slug": "oars"}]')
    (found,) = told(folder)
    assert found.startswith("technique.json:1: 0.book_slug: the corpus has no book 'oars'")
    (folder / "corpus/en/ferry/03.md").write_text("")
    (found,) = told(folder)
    assert found.startswith("corpus/en/ferry/03.md: the chapter is empty")


def test_as_json_holds_all_of_it(folder: Path) -> None:
    items = english()
    items[0]["query"] = ""
    write_set(folder, items)
    found: dict[str, Any] = json.loads(json.dumps(checked(folder).as_json()))
    assert found["schema"] == "assay/golden-check/1"
    assert found["overlap"]["en"]["direct"] == {"value": 1.0, "n": 1}
    (problem,) = found["problems"]
    assert (problem["line"], problem["field"], problem["fix"]) == (4, "en-direct-001.query", "Fill it in.")
    assert problem["text"].endswith("golden-set-en.json:4: en-direct-001.query: it is empty. Fill it in.")
