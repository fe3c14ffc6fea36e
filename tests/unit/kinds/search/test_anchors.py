"""Relevance by anchors: which passages count, what hits of unknown place count as, what cannot be judged."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import AssayError
from assay.core.protocols import FreeJudge, Kit
from assay.core.records import Arm, Budget, Document, Hit, Item, Judgment, Passage, Query, Response, Span
from assay.core.registry import JUDGES, SYSTEMS, Registry
from assay.core.results import Results
from assay.kinds.search.anchor_index import AnchorIndex, anchors_of, stretch_hashes
from assay.kinds.search.anchor_text import without_markup
from assay.kinds.search.anchors import Anchors, shared_text
from assay.kinds.search.golden.resolve import resolve_golden
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.store.journal import Answer, JudgmentEntry, answer_columns, select_by_key
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_golden import APPLES, CROSSING, OAR, ROPE, STUDY, entry, expected, write_golden, write_set
from small_study import assay

# Chapter 1 has words of nine letters and a blank: word n is the characters [10 n, 10 n + 9).
WORDS = [f"chapter{n:02d}" for n in range(40)]
ONE = " ".join(WORDS)
TWO = "The wave rose; the wave fell.\n\nThe ocean “never” moved — it was the wave’s own dream of motion."
OLA = "La ola subió; la ola cayó. El océano no se movió nunca, y la ola soñaba."


def document(language: str, chapter: int, text: str) -> Document:
    doc_id = f"{language}/book/{chapter:02d}"
    return Document(doc_id, text, metadata={"book": "book", "chapter": chapter, "language": language})


DOCUMENTS = [document("en", 1, ONE), document("en", 2, TWO), document("es", 2, OLA)]


def cut(words: int) -> list[Passage]:
    """Chapter 1 in passages of so many words; the others whole."""
    first, *others = DOCUMENTS
    spans = [Span(10 * at, min(10 * (at + words), 400) - 1) for at in range(0, 40, words)]
    pieces = [(first, span) for span in spans] + [(each, Span(0, len(each.text))) for each in others]
    return [
        Passage(f"{source.doc_id}#{span.start}", source.text[span.start : span.end], "", source.doc_id, span)
        for source, span in pieces
    ]


def anchor(
    text: str | None, chapter: int | None = 1, relevance: str = "high", book: str = "book"
) -> dict[str, Any]:
    return {"book": book, "chapter": chapter, "text": text, "relevance": relevance}


def item(*anchors: dict[str, Any], expects: str | None = None, **more: Any) -> Item:
    language = more.pop("language", "en")
    return Item("q", "a query", language, gold={"anchors": list(anchors), **more}, expects=expects)


def dataset(*items: Item, passages: Sequence[Passage] | None = None) -> Dataset:
    corpus = Corpus(cut(5) if passages is None else passages, {each.doc_id: each for each in DOCUMENTS})
    return Dataset(
        "d", corpus, items, places={each.item_id: Place("golden-set-en.json", 7) for each in items}
    )


def block(data: Dataset, hits: Sequence[Hit], arm: str = "server") -> Block:
    """The same hits for every item."""
    answers = [Answer(each.item_id, each.item_id, Response(list(hits))) for each in data.items]
    stored = select_by_key(answer_columns(answers), [each.item_id for each in data.items])
    return Block(Arm(arm), 0, data.items, stored, Labels.none(), corpus=data.corpus)


def judged(
    data: Dataset, hits: Sequence[Hit] = (), judge: Anchors | None = None, label: str = "relevance"
) -> dict[str, float]:
    found = (judge or Anchors()).judge(data, [block(data, hits)], Kit())
    return {each.target or "": each.grade for each in found if each.label == label}


def words(first: int, last: int) -> str:
    return " ".join(WORDS[first:last])


# ------------------------------------------------------------------------------------------ passages


def test_a_passage_that_holds_the_anchor_counts_and_says_why() -> None:
    found = Anchors().judge(dataset(item(anchor("CHAPTER06\n  chapter07"))), [], Kit())
    assert found == [
        Judgment(
            "q",
            "relevance",
            2.0,
            "anchors",
            target="en/book/01#50",
            category="high",
            reason="CHAPTER06 chapter07",
        )
    ]


@pytest.mark.parametrize(
    ("first", "last", "starts"),
    [
        (3, 7, [0, 50]),  # two words in each passage: a half of the anchor, 18 of 36 letters
        (2, 6, [0]),  # three words and one
        (3, 12, [50]),  # 2 and 5 and 2 words of nine: only the whole passage in the middle is enough
        (4, 10, [50]),  # 1 and 5
        (2, 13, [0, 50, 100]),  # 3 and 5 and 3 of the passages' own 5 words lie in the anchor
    ],
)
def test_half_of_the_anchor_or_half_of_the_passage_is_enough(
    first: int, last: int, starts: list[int]
) -> None:
    found = judged(dataset(item(anchor(words(first, last)))))
    assert found == {f"en/book/01#{start}": 2.0 for start in starts}


@pytest.mark.parametrize("size", range(1, 40))
def test_wherever_boundaries_cut_one_passage_counts(size: int) -> None:
    for first, last in [(0, 2), (7, 9), (11, 24), (38, 40)]:
        assert judged(dataset(item(anchor(words(first, last))), passages=cut(size)))


def test_white_space_between_passages_takes_nothing_from_them() -> None:
    first, text = "The wave rose; the wave fell.", "fell.\n\nThe o"
    # of the anchor's 12 characters 5 are in either passage, less than a half; of the 10 letters, a half
    second = TWO.index("The ocean")
    pieces = [
        Passage("a", first, source="en/book/02", span=Span(0, len(first))),
        Passage("b", TWO[second:], source="en/book/02", span=Span(second, len(TWO))),
    ]
    # the word is cut: "fell." has 5 letters, "The o" 4
    assert judged(dataset(item(anchor(text, 2)), passages=pieces)) == {"a": 2.0}
    assert judged(dataset(item(anchor("fell. The oc", 2)), passages=pieces)) == {"a": 2.0, "b": 2.0}


def test_the_best_anchor_of_a_passage_counts() -> None:
    data = dataset(item(anchor(words(0, 2), relevance="partial"), anchor(words(3, 5)), anchor(words(5, 6))))
    assert judged(data) == {"en/book/01#0": 2.0, "en/book/01#50": 2.0}
    data = dataset(item(anchor(words(0, 2), relevance="partial")))
    assert judged(data) == {"en/book/01#0": 1.0}


def test_an_anchor_counts_in_its_book_chapter_and_language() -> None:
    wave = anchor("the wave's own dream", 2)
    assert list(judged(dataset(item(wave)))) == ["en/book/02#0"]
    assert list(judged(dataset(item(wave | {"chapter": None})))) == ["en/book/02#0"]
    assert judged(dataset(item(wave | {"chapter": 1}))) == {}
    assert judged(dataset(item(wave | {"book": "another"}))) == {}
    assert judged(dataset(item(wave, language="es"))) == {}
    assert list(judged(dataset(item(anchor("la ola soñaba", 2), language="es")))) == ["es/book/02#0"]


def test_a_huge_passage_does_not_win_by_its_size() -> None:
    whole = cut(40)  # all of chapter 1, 399 characters
    data = dataset(item(anchor(words(0, 2))), passages=whole)
    assert list(judged(data, judge=Anchors(longest=399))) == ["en/book/01#0"]
    assert judged(data, judge=Anchors(longest=398)) == {}


def test_a_met_intent_is_not_relevance() -> None:
    data = dataset(item(anchor(words(0, 5)), anchor(words(5, 10), relevance="partial"), expects="intent"))
    assert judged(data) == {}
    assert judged(data, label="intent") == {"en/book/01#0": 1.0, "en/book/01#50": 0.0}


def test_without_documents_passages_stand_for_them() -> None:
    texts = {"a": "one two three", "b": "four five six"}
    passages = [Passage(key, text, metadata={"book": "book"}) for key, text in texts.items()]
    plain = Dataset("d", Corpus(passages), [item(anchor("five six", chapter=3))])
    assert judged(plain) == {"b": 2.0}
    named = Dataset("d", Corpus([Passage("a", "one two")]), [item(anchor("two", book="a"))])
    assert judged(named) == {"a": 2.0}


def test_items_without_anchors_say_nothing() -> None:
    data = Dataset("d", Corpus(cut(5)), [Item("q", "?"), Item("r", "?", gold={"anchors": []})])
    assert Anchors().judge(data, [], Kit()) == []
    assert Anchors().examine(data, Kit()) == ([], [])


# -------------------------------------------------------------------------------- what is forbidden


def forbidding(*entries: dict[str, Any]) -> Dataset:
    return dataset(item(expects="route", forbidden=list(entries)))


def forbidden(data: Dataset, hits: Sequence[Hit] = (), judge: Anchors | None = None) -> set[str]:
    return set(judged(data, hits, judge, "forbidden"))


def test_forbidden_text_counts_from_forty_characters_on() -> None:
    # words 3 to 21: the passages at both ends share 2 words each, 18 letters, less than a half and than 40
    assert forbidden(forbidding(anchor(words(3, 22)))) == {f"en/book/01#{at}" for at in (50, 100, 150)}
    # passages of 12 words: the first shares 5 of them, 45 letters, no half of either but more than 40
    wide = dataset(item(expects="route", forbidden=[anchor(words(7, 40))]), passages=cut(12))
    assert forbidden(wide) == {f"en/book/01#{at}" for at in (0, 120, 240, 360)}


def test_a_whole_chapter_or_book_is_forbidden_in_every_language() -> None:
    assert forbidden(forbidding(anchor(None, 2))) == {"en/book/02#0", "es/book/02#0"}
    assert len(forbidden(forbidding(anchor(None, None)))) == len(cut(5))


def test_what_is_forbidden_is_so_at_any_size() -> None:
    data = dataset(item(expects="route", forbidden=[anchor(words(0, 2))]), passages=cut(40))
    assert forbidden(data, judge=Anchors(longest=10)) == {"en/book/01#0"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (words(10, 20), True),  # all of it is forbidden
        (words(0, 12), True),  # its end is: 7 of 12 words, more than a half
        (words(0, 11), True),  # 6 of 11
        (words(0, 9), False),  # 4 of 9 words, 36 letters: no half of either, and fewer than 40
        ("something else that was made up and stands nowhere in any of the chapters", False),
    ],
)
def test_forbidden_text_is_known_in_hits_with_other_ids(text: str, found: bool) -> None:
    data = forbidding(anchor(words(5, 20)))
    assert ("x~1" in forbidden(data, [Hit("x~1", 1.0, text=text)])) == found


def test_forbidden_stretches_put_together_are_known() -> None:
    data = forbidding(anchor(None, 1))
    mixed = "An introduction of ours … " + words(5, 20) + " … and " + words(30, 40)
    assert "x" in forbidden(data, [Hit("x", 1.0, text=mixed)])
    assert "x" not in forbidden(data, [Hit("x", 1.0, text="An introduction of ours … " + words(5, 8))])


# 40 words of four letters, of which no stretch of 40 letters repeats; 10 of them are 40 letters
ALLOWED, SECRET = ([f"{sign}{n:03d}" for n in range(40)] for sign in "ab")


def two_books(*entries: dict[str, Any], allowed: str = "") -> Dataset:
    """A book that may come back, with some words more, and a secret one."""
    texts = {"open": " ".join([*ALLOWED, allowed]), "secret": "# A Title\n\n" + " ".join(SECRET)}
    books = {key: Document(key, text, metadata={"book": key}) for key, text in texts.items()}
    withheld = [anchor(None, None, book="secret"), *entries]
    passages = [Passage(f"{key}#0", each.text, "", key, Span(0, 9)) for key, each in books.items()]
    return Dataset("d", Corpus(passages, books), [item(expects="route", forbidden=withheld)])


def secret(first: int, last: int) -> str:
    return " ".join(SECRET[first:last])


@pytest.mark.parametrize("before", [0, 1, 7, 39, 40, 41, 79, 200])
@pytest.mark.parametrize("first", [0, 1, 13, 30])
def test_forty_characters_of_forbidden_text_are_seen_wherever_they_stand(before: int, first: int) -> None:
    data = two_books()
    lead = ("x" * before + " " if before else "") + "Lesson 4 (student edition): "
    for n, tail in [(10, ""), (10, " and so on, as it is written there"), (9, secret(39, 40)[:3] + " on")]:
        hit = Hit("h", 1.0, text=f"{lead}{secret(first, first + n)}{tail}")
        # nine words are 36 letters, and less than half of the hit
        assert ("h" in forbidden(data, [hit])) == (n == 10), (n, tail)


def test_words_that_the_allowed_books_have_too_are_no_secret() -> None:
    both, more = secret(5, 15), secret(5, 16)
    data = two_books(allowed=both)
    assert "h" in forbidden(two_books(), [Hit("h", 1.0, text=f"A title: {both}")])
    assert "h" not in forbidden(data, [Hit("h", 1.0, text=f"A title: {both}")])
    assert "h" not in forbidden(data, [Hit("h", 1.0, text=both)])
    assert "h" not in forbidden(
        data, [Hit("h", 1.0, text=secret(6, 12))]
    )  # 24 letters, all in it, and in both
    assert "h" in forbidden(data, [Hit("h", 1.0, text=secret(20, 26))])  # 24 letters of the secret alone
    assert "h" in forbidden(data, [Hit("h", 1.0, text=f"A title: {more}")])  # the last 40 letters are its own
    # what an author forbids word by word is forbidden wherever else it stands
    named = two_books(anchor(both, None, book="secret"), allowed=both)
    assert "h" in forbidden(named, [Hit("h", 1.0, text=f"A title: {both}, and more")])


def test_forbidden_text_in_part_of_a_chapter_leaves_the_rest_allowed() -> None:
    data = dataset(item(expects="route", forbidden=[anchor(words(10, 20))]))
    assert "h" in forbidden(data, [Hit("h", 1.0, text="A title: " + words(14, 19))])  # 45 letters
    assert "h" not in forbidden(data, [Hit("h", 1.0, text="A title: " + words(20, 40))])


def test_a_hash_of_every_stretch_is_that_of_its_characters() -> None:
    text = "".join(SECRET)  # 160 characters, no 40 of them twice
    hashes = stretch_hashes(text)
    assert len(hashes) == len(set(hashes.tolist())) == 160 - 40 + 1
    assert [stretch_hashes(text[at : at + 40]).tolist() for at in (0, 60, 120)] == [
        [hashes[at]] for at in (0, 60, 120)
    ]
    assert len(stretch_hashes(text[:39])) == len(stretch_hashes("")) == 0


def test_a_forbidden_book_and_a_thousand_hits_take_a_moment() -> None:
    sentence = "The {n} pilgrim, weary of the road and of {n} masters, sat down by river {n}.\n"
    texts = {
        name: "".join(sentence.format(n=n) for n in range(start, start + 12_000))
        for name, start in [("open", 100_000), ("secret", 200_000)]
    }
    books = {key: Document(key, text, metadata={"book": key}) for key, text in texts.items()}
    items = [
        Item(f"q{n}", "?", "en", gold={"forbidden": [{"book": "secret"}]}, expects="route") for n in range(96)
    ]
    passages = [Passage(key, text[:100], "", key, Span(0, 100)) for key, text in texts.items()]
    data = Dataset("d", Corpus(passages, books), items)
    starts = range(0, 960_000, 1000)
    hits = [Hit(f"x{at}", 1.0, text=f"A title: {texts['open'][at : at + 1500]}") for at in starts]
    leak = Hit("leak", 1.0, text=f"A title: {texts['secret'][70_015:70_115]} and more of ours")
    answers = [
        Answer(
            each.item_id, each.item_id, Response([*hits[10 * n : 10 * n + 9], *([leak] if n == 50 else [])])
        )
        for n, each in enumerate(items)
    ]
    stored = select_by_key(answer_columns(answers), [each.item_id for each in items])
    start = time.process_time()
    found = Anchors().judge(data, [Block(Arm("a"), 0, items, stored, Labels.none())], Kit())
    assert time.process_time() - start < 5  # 0.4 seconds here
    assert [each.item_id for each in found if each.target == "leak"] == ["q50"]
    assert {each.target for each in found} == {"leak", "secret"}  # the passage is forbidden by its place


# ------------------------------------------------------------------------------ hits with other ids


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (words(8, 20), True),  # holds it
        (words(11, 14), True),  # lies in it
        (words(11, 13), False),  # so does this, but 18 letters might stand anywhere
        (words(5, 12), False),  # its end has 2 words of the anchor's 6, and 2 of its own 7
        (words(5, 13), True),  # 3 of 6
        ("…" + words(13, 30) + " …", True),  # its beginning has 3 of 6, behind the dots of a snippet
        (words(14, 30), False),
        (words(13, 18), True),  # 3 of 6, and of its own 5
        ("“" + words(8, 20).upper().replace(" ", "\n") + "”", True),
        (words(20, 30), False),
        ("", False),
    ],
)
def test_a_hit_with_another_id_is_judged_by_its_text(text: str, found: bool) -> None:
    data = dataset(item(anchor(words(10, 16))))
    assert ("9~abc" in judged(data, [Hit("9~abc", 1.0, text=text or None)])) == found


def test_shared_characters() -> None:
    wanted = "abcdefghijklmnopqrstuvwxyz"
    assert len(shared_text("__" + wanted + "__", wanted)) == 26
    assert len(shared_text(wanted[:22], wanted)) == 22
    assert len(shared_text(wanted[:19], wanted)) == 0  # too short to say where it is from
    assert len(shared_text("__" + wanted[:20], wanted)) == 20
    assert len(shared_text("__" + wanted[:19], wanted)) == 0
    assert len(shared_text(wanted[5:] + "__", wanted)) == 21
    assert len(shared_text("", wanted)) == 0
    assert len(shared_text("ab" * 15, "ab" * 12 + "c")) == 24  # the longest of many places


def test_a_huge_hit_does_not_win_by_its_size() -> None:
    data = dataset(item(anchor(words(10, 16))))
    hit = Hit("chapter", 1.0, text=ONE)
    assert "chapter" in judged(data, [hit])
    assert "chapter" not in judged(data, [hit], Anchors(longest=398))


def test_an_id_that_is_ours_is_judged_by_its_place() -> None:
    data = dataset(item(anchor(words(10, 15))))
    assert set(judged(data, [Hit("en/book/01#0", 1.0, text=words(10, 15))])) == {"en/book/01#100"}


def test_a_passage_that_came_back_under_another_id_is_not_to_be_found_twice() -> None:
    data = dataset(item(anchor(words(8, 17))))
    ours = {"en/book/01#50", "en/book/01#100", "en/book/01#150"}
    assert set(judged(data)) == {"en/book/01#100"}  # 2, 5 and 2 words
    data = dataset(item(anchor(words(7, 18))))
    assert set(judged(data)) == ours  # 3, 5 and 3
    other = Hit("7~x", 1.0, text=words(10, 15))
    assert set(judged(data, [other])) == ours - {"en/book/01#100"} | {"7~x"}
    both = [other, Hit("en/book/01#100", 0.5)]
    assert set(judged(data, both)) == ours | {"7~x"}  # some system does find it by its own id


def test_what_is_said_of_a_hit_with_another_id_holds_where_it_came_back() -> None:
    data = dataset(item(anchor(words(10, 15))))
    hit, wrong = Hit("7~x", 1.0, text=words(9, 16)), Hit("8~y", 1.0, text=words(30, 40))

    def places(*returned: tuple[str, int, Hit]) -> list[tuple[str | None, int | None]]:
        blocks = [dataclasses.replace(block(data, [each], arm), seed=seed) for arm, seed, each in returned]
        found = Anchors().judge(data, blocks, Kit())
        assert [(each.arm, each.seed) for each in found if each.target == "en/book/01#100"] == [(None, None)]
        return [(each.arm, each.seed) for each in found if each.target == "7~x"]

    assert places(("a", 0, hit)) == [(None, None)]
    assert places(("a", 0, hit), ("b", 0, wrong)) == [("a", None)]
    assert places(("a", 0, hit), ("a", 1, wrong), ("b", 0, hit), ("b", 1, hit)) == [("a", 0), ("b", None)]


def test_a_passage_stays_wanted_of_an_arm_that_did_not_get_it_under_another_id() -> None:
    data = dataset(item(anchor(words(10, 15))))
    twin, other = Hit("7~x", 1.0, text=words(10, 15)), Hit("8~y", 1.0, text=words(30, 40))
    found = Anchors().judge(data, [block(data, [twin], "a"), block(data, [other], "b")], Kit())
    assert {(each.target, each.arm) for each in found} == {("7~x", "a"), ("en/book/01#100", "b")}


def test_an_id_with_other_text_elsewhere_is_judged_for_each_arm() -> None:
    data = dataset(item(anchor(words(10, 16))))
    right, wrong = Hit("7", 1.0, text=words(10, 20)), Hit("7", 1.0, text=words(30, 40))
    blocks = [block(data, [right], "new"), block(data, [wrong], "old")]
    found = [each for each in Anchors().judge(data, blocks, Kit()) if each.target == "7"]
    assert [(each.arm, each.seed, each.grade) for each in found] == [("new", None, 2.0)]


# ------------------------------------------------------------------------------------- before a run


def test_anchors_that_stand_nowhere_are_problems() -> None:
    wrong = item(
        anchor("the ocean ever moved", 2),
        anchor("it was the wave's own dream", 1),
        anchor("anything", book="bok"),
        anchor("anything", 9),
        anchor("qqqqq", 1),
        forbidden=[anchor("zzzzz", 1)],
    )
    problems, warnings = Anchors().examine(dataset(wrong), Kit())
    assert warnings == []
    assert {problem.where for problem in problems} == {"golden-set-en.json"}
    assert {problem.line for problem in problems} == {7}
    assert [(problem.field, problem.what) for problem in problems] == [
        ("q.expected_passages.0.passage_substring", "'the ocean ever moved' is not in chapter 2 of 'book'"),
        (
            "q.expected_passages.1.passage_substring",
            "\"it was the wave's own dream\" is not in chapter 1 of 'book'",
        ),
        ("q.expected_passages.2.passage_substring", "the corpus has no book 'bok'"),
        ("q.expected_passages.3.passage_substring", "the corpus has no chapter 9 of 'book' in 'en'"),
        ("q.expected_passages.4.passage_substring", "'qqqqq' is not in chapter 1 of 'book'"),
        ("q.forbidden", "'zzzzz' is not in chapter 1 of 'book'"),
    ]
    nothing = "Quote the text as it stands. Nothing there is like it."
    assert [problem.fix for problem in problems] == [
        # the 20 characters wanted against as many, "the ocean 'never' mo": 17 alike of 20 + 20, 2 × 17 / 40
        "Quote the text as it stands. Nearest: 'The ocean “never” moved' in en/book/02, 85% alike.",
        "It is in en/book/02: correct the chapter.",
        "Did you mean 'book'?",
        "Correct the chapter, or add it to the corpus.",
        nothing,
        nothing,
    ]


def test_anchors_of_several_places_or_of_no_passage_are_doubtful() -> None:
    data = dataset(item(anchor("the wave", 2), anchor(words(0, 1))), passages=cut(40))
    problems, warnings = Anchors(longest=200).examine(data, Kit())
    assert problems == []
    where = "golden-set-en.json:7: q: "
    long = "no passage counts as 'chapter00': those that hold it have more than 200 characters"
    several = "'the wave' stands at 3 places (en/book/02), and all of them count"
    assert warnings == [where + several, where + long]
    _, warnings = Anchors(least=0.9).examine(dataset(item(anchor(words(3, 5)))), Kit())
    assert warnings == []
    _, warnings = Anchors(least=0.9).examine(dataset(item(anchor(words(4, 6)))), Kit())
    assert warnings == [where + "no passage counts as 'chapter04 chapter05': none shares 90% of it"]


def test_what_every_item_must_not_get_is_told_once() -> None:
    gold = {"anchors": [], "forbidden": [anchor("zzzzz", 1)]}
    items = [Item(name, "?", "en", gold=gold) for name in ("a", "b")]
    problems, _ = Anchors().examine(dataset(*items), Kit())
    assert [problem.field for problem in problems] == ["a.forbidden"]


@pytest.mark.parametrize("wrong", [{"least": 0}, {"least": 1.1}, {"least": -1}, {"longest": 0}])
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(AssayError, match=next(iter(wrong))):
        Registry().create(JUDGES, {"use": "anchors", **wrong})


def test_it_is_a_judge_that_knows_only_some_of_what_is_right() -> None:
    judge: Anchors = Registry().create(JUDGES, "anchors(least=0.4)")
    assert isinstance(judge, FreeJudge)
    assert judge == Anchors(least=0.4)
    assert judge.closed_labels == {"relevance", "intent", "forbidden"}
    assert judge.incomplete == {"relevance", "intent"}


def test_a_book_and_a_thousand_hits_take_a_moment() -> None:
    sentence = "The {n} pilgrim, “weary” of the road -- and of {n} masters -- sat down by river {n}.\n"
    text = "".join(sentence.format(n=n) for n in range(11_000))
    book = document("en", 1, text)
    step = len(text) // 1000
    spans = [Span(at, at + step) for at in range(0, len(text) - step, step)]
    passages = [
        Passage(f"p{each.start}", text[each.start : each.end], "", book.doc_id, each) for each in spans
    ]
    wanted = [sentence.format(n=n * 100).replace("“weary”", '"weary"').strip() for n in range(96)]
    items = [Item(f"q{n}", "?", "en", gold={"anchors": [anchor(each)]}) for n, each in enumerate(wanted)]
    data = Dataset("d", Corpus(passages, {book.doc_id: book}), items)
    hits = [Hit(f"x{each.start}", 1.0, text=text[each.start - 5 : each.end - 5]) for each in spans[1:961]]
    answers = [
        Answer(each.item_id, each.item_id, Response(hits[10 * n : 10 * n + 10]))
        for n, each in enumerate(items)
    ]
    stored = select_by_key(answer_columns(answers), [each.item_id for each in items])
    start = time.process_time()
    found = Anchors().judge(data, [Block(Arm("a"), 0, items, stored, Labels.none())], Kit())
    assert time.process_time() - start < 3  # 0.3 seconds here
    assert {each.item_id for each in found} == {each.item_id for each in items}


# ------------------------------------------------------------------------------------- resolutions

GOLDEN_STUDY = """\
kind: search
data: data
chunk: {small: "tokens(size=8)", whole: whole}
factors: {chunk: [small, whole]}
systems: {lexical: bm25}
judges: [anchors(longest=60)]
measures: [Success(rel=2)@3]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    import msgspec

    folder = tmp_path / "data"
    folder.mkdir()
    gold: list[Mapping[str, Any]] = [anchor("the wave fell", 2), anchor("the wave felt", 2)]
    items = [Item("q", "wave", "en", gold={"anchors": gold})]
    (folder / "items.jsonl").write_bytes(msgspec.json.encode(items[0]))
    (folder / "documents.jsonl").write_bytes(b"\n".join(msgspec.json.encode(each) for each in DOCUMENTS))
    passages = [Passage(each.doc_id, each.text, metadata=each.metadata) for each in DOCUMENTS]
    (folder / "passages.jsonl").write_bytes(b"\n".join(msgspec.json.encode(each) for each in passages))
    (tmp_path / "study.yaml").write_text(GOLDEN_STUDY)
    return open_study(tmp_path)


def test_every_anchor_is_resolved_in_every_chunking(study: Study) -> None:
    small, felt, whole, _ = resolve_golden(study)
    assert (small.item_id, small.anchor, small.doc_id) == ("q", "the wave fell", "en/book/02")
    assert small.span == Span(15, 28)
    assert (small.chunking, small.problem, small.nearest) == ("small", "", "")
    assert small.passages >= 1
    assert (felt.doc_id, felt.span, felt.passages) == (None, None, 0)
    assert felt.problem == "'the wave felt' is not in chapter 2 of 'book'"
    assert felt.nearest == "'the wave fell.' in en/book/02, 92% alike"
    # whole chapters have more than 60 characters: the text is there, and nothing counts as it
    assert (whole.chunking, whole.doc_id, whole.passages) == ("whole", "en/book/02", 0)
    assert whole.problem == (
        "no passage counts as 'the wave fell': those that hold it have more than 60 characters"
    )


def test_an_index_finds_what_it_found_before() -> None:
    index = AnchorIndex(dataset().corpus)
    (wanted,) = anchors_of(item(anchor("The ocean 'never' moved", 2)))
    assert index.places(wanted) == index.places(wanted)
    assert [found.text for found in index.places(wanted)] == ["The ocean “never” moved"]


MARKED = 'the **old man** kept one hand upon the [rope](http://x.org/r_(1).html "t") while <i>fog</i> lay'
BREATH = (
    "Breathe in for *four counts*, hold the **breath** for four, and let it <b>go</b> as slowly as an oar"
)
CHAPTER = CROSSING + "Long after, nothing at all happened on the water. " * 90  # above 4,000 characters


@dataclass(frozen=True)
class Server:
    """Answers with texts of its own, by query; ids of its own as well."""

    says: ClassVar[dict[str, list[str]]] = {}
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "texts", "route"})
    version: str = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Server:
        return self

    def session(self) -> Server:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        texts = self.says.get(query.item_id, ["nothing of the sort"])
        route = "practice_bridge" if "boundary" in query.item_id else "search"
        hits = [Hit(f"x{n}", 9.0 - n, text=text) for n, text in enumerate(texts, 1)]
        return Response(hits=hits, route=route)


def shown(folder: Path, texts: dict[str, list[str]], study: str = STUDY) -> Results:
    """The results of a system that shows these texts."""
    serving = type("Serving", (Server,), {"says": texts})
    text = study.replace("words: bm25", "new: server").replace("[Success@3]", "[Success@3, Routed, RR@10]")
    return evaluate(write_golden(folder, text), registry=Registry({SYSTEMS: {"server": serving}}))


def statuses(results: Results, measure: str = "Success@3") -> dict[str, tuple[float | None, str]]:
    rows = results.scores.filter(results.scores["measure"] == measure).select("item", "value", "status")
    return {item: (value, status) for item, value, status in rows.iter_rows()}


def near(results: Results) -> list[str]:
    return [each for each in results.trust.warnings if each.startswith("near misses")]


@pytest.mark.parametrize(
    ("hit", "quoted"),
    [
        (MARKED, ROPE),
        ("> ## the old man\n> kept one hand | upon | the `rope` while fog lay on", ROPE),
        ("the old man kept one hand upon the <a href='x' id=1>rope</a>&nbsp;while fog&#32;lay", ROPE),
        ("![a boat](b.png) the ~~old~~ man[^1] kept one hand upon the [rope][1] while fog lay", ROPE),
        (ROPE, MARKED),  # the other way round: the corpus has the markup, the server shows none
    ],
)
def test_markup_is_a_near_miss(tmp_path: Path, hit: str, quoted: str) -> None:
    folder = write_golden(tmp_path)
    crossing = CROSSING.replace(ROPE, quoted)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(crossing)
    write_set(folder, [entry("en-direct-001", "who held the rope", expected(quoted))])
    (folder / "golden-set-es.json").unlink()
    study = STUDY.replace("words: bm25", "new: server").replace("count: 2", "count: 1")
    study = study.replace(", count: 1, withhold", ", withhold").replace(
        "{by: intent, count: 1}", "{by: intent}"
    )
    (folder / "study.yaml").write_text(study + 'gates: {ship: {go: "Success@3(new) >= 80%"}}\n')
    serving = type("Serving", (Server,), {"says": {"en-direct-001": ["another text", hit]}})
    results = evaluate(folder, registry=Registry({SYSTEMS: {"server": serving}}))
    assert statuses(results) == {"en-direct-001": (None, "unjudged")}
    assert (results.verdict, results.verdicts[0].clauses[0].reason) == ("inconclusive", "1 item not judged")
    (warning,) = near(results)
    assert warning.startswith("near misses, 1 item: hits show an anchor's words with other markup")
    assert "en-direct-001: hit 'x2' has '" in warning
    assert warning.endswith("return text as the anchors quote it, or let people judge these hits")


def test_a_hit_that_is_too_long_is_a_near_miss(tmp_path: Path) -> None:
    results = shown(tmp_path, {"en-direct-001": [CHAPTER], "en-direct-002": ["**" + CHAPTER]})
    assert len(CHAPTER) > 4000
    assert [statuses(results)[f"en-direct-00{n}"] for n in (1, 2)] == [(None, "unjudged")] * 2
    (warning,) = near(results)
    assert "near misses, 2 items: hits show an anchor's words too long to count" in warning
    assert "en-direct-001: hit 'x1' has 'the old man kept" in warning
    assert f"{len(CHAPTER)} characters" in warning
    assert "return shorter passages, or raise `longest`" in warning


def test_a_passage_of_the_corpus_that_is_too_long_is_one_too(tmp_path: Path) -> None:
    text = STUDY.replace("chunk: tokens(size=30, overlap=5)", "chunk: whole")
    folder = write_golden(tmp_path, text)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CHAPTER)
    results = evaluate(folder)
    assert statuses(results)["en-direct-001"] == (None, "unjudged")
    assert "hit 'en/ferry/01" in near(results)[0]


def test_what_no_near_miss_can_change_is_scored(tmp_path: Path) -> None:
    found = {"en-direct-001": [ROPE, MARKED], "en-direct-002": [MARKED, f"and {APPLES} fed"]}
    results = shown(tmp_path, found)
    assert statuses(results)["en-direct-001"] == (1.0, "scored")
    assert statuses(results, "RR@10")["en-direct-001"] == (1.0, "scored")
    # the first hit nearly shows the rope, which is partly right: it decides the reciprocal rank
    assert statuses(results)["en-direct-002"] == (1.0, "scored")
    assert statuses(results, "RR@10")["en-direct-002"] == (None, "unjudged")


def test_forbidden_text_with_markup_is_unjudged_and_never_safe(tmp_path: Path) -> None:
    results = shown(tmp_path, {"en-boundary-001": [BREATH], "es-boundary-001": ["un texto cualquiera"]})
    routed = statuses(results, "Routed")
    assert routed["en-boundary-001"] == (None, "unjudged")
    assert routed["es-boundary-001"] == (1.0, "scored")
    (warning,) = near(results)
    assert warning.startswith("near misses, 1 item: hits show forbidden text with other markup")
    plain = shown(tmp_path / "plain", {"en-boundary-001": [OAR.partition("\n\n")[2]]})
    assert statuses(plain, "Routed")["en-boundary-001"] == (0.0, "scored")  # plainly forbidden


@pytest.mark.parametrize(
    "text",
    [
        "the old man kept one hand upon the tiller while fog lay",  # another word
        "**the old man** kept",  # too little of it
        "# The Crossing\n\nNobody waits for the ferry any more, and the rope was sold. <b>Fog</b>.",
        "<" * 5000 + "](" * 5000,
    ],
)
def test_another_text_is_no_near_miss(tmp_path: Path, text: str) -> None:
    results = shown(tmp_path, {"en-direct-001": [text]})
    assert statuses(results)["en-direct-001"] == (0.0, "scored")
    assert near(results) == []


def test_an_arm_that_matches_settles_nothing_for_another(tmp_path: Path) -> None:
    """The same ids, one arm with the text as it is quoted, one with markup around it."""
    systems = {
        name: type(name.title(), (Server,), {"says": {"en-direct-001": [text]}})
        for name, text in (("old", ROPE), ("new", MARKED))
    }
    study = STUDY.replace("words: bm25", "old: old, new: new")
    results = evaluate(write_golden(tmp_path, study), registry=Registry({SYSTEMS: systems}))
    rows = results.scores.filter(results.scores["item"] == "en-direct-001").select(
        "system", "value", "status"
    )
    assert set(rows.iter_rows()) == {("old", 1.0, "scored"), ("new", None, "unjudged")}
    assert "en-direct-001: hit 'x1' of new has" in near(results)[0]


def test_what_another_judge_has_decided_is_no_near_miss(tmp_path: Path) -> None:
    serving = type("Serving", (Server,), {"says": {"en-direct-001": [MARKED]}})
    study = STUDY.replace("words: bm25", "new: server").replace("[anchors]", "[anchors, human]")
    folder, registry = write_golden(tmp_path, study), Registry({SYSTEMS: {"server": serving}})
    assert statuses(evaluate(folder, registry=registry))["en-direct-001"] == (None, "unjudged")
    opened = open_study(folder, registry=registry)
    mark = Judgment("en-direct-001", "relevance", 2.0, "anna", target="x1")
    with Store(opened.run_folder).writer() as writer:
        writer.append(JudgmentEntry(mark), now=True)
    results = Evaluation(opened).results
    assert statuses(results)["en-direct-001"] == (1.0, "scored")
    assert near(results) == []


def test_the_warning_is_in_run_gate_report_and_json(tmp_path: Path) -> None:
    text = STUDY.replace("chunk: tokens(size=30, overlap=5)", "chunk: whole")
    folder = write_golden(tmp_path, text + 'gates: {ship: {go: "Success@3(words) >= 80%"}}\n')
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CHAPTER)
    for command in ("run", "gate"):
        found = assay(command, folder)
        assert found.code == 11
        assert "near misses, 2 items" in " ".join(found.out.split())
    for given in ("json", "markdown", "html"):
        out = assay("report", folder, "--format", given, "-o", "-").out
        said = "\n".join(json.loads(out)["trust"]["warnings"]) if given == "json" else out
        assert "near misses, 2 items" in said


def test_an_anchor_that_the_corpus_has_with_other_markup_is_told_so(tmp_path: Path) -> None:
    folder = write_golden(tmp_path)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CROSSING.replace(ROPE, MARKED))
    found = assay("validate", folder)
    assert found.code == 3
    assert "is not in chapter 1 of 'ferry' with this markup and punctuation. Quote the text" in found.err


def test_words_without_their_markup() -> None:
    raw = (
        "# 1. A [link](http://a.b \"t\"), **bold** `code` &amp; <b class='x'>more</b>[^1]\n```py\nx = 1\n```"
    )
    assert without_markup(raw) == without_markup("A link, bold code & more\nx = 1")
    assert without_markup("<https://a.b>") == without_markup("https://a.b")
    assert without_markup("a < b and c > d") == "abandcd"
    footnotes = "a council[1] met<sup>2</sup> <!-- > - --> in <span class='a > b'>May</span>{.note}\x1b[0m"
    assert without_markup(footnotes) == without_markup("a council met in May")
    assert without_markup("a set {x, y} and f[12](x)") == without_markup("a set x y and f 12")
    assert without_markup("<" * 3) == without_markup("") == ""


@pytest.mark.parametrize(
    "sign",
    [
        "<a",
        "](",
        "![a](",
        "[",
        "](a(b",
        "[^",
        "<!--",
        "\n# # # ",
        "\n1. ",
        "```",
        "[a]: ",
        "&amp;",
        "<a ",
        '<a "',
        "{.",
        "<!--a-",
        "<sup>1",
        "\x1b[",
    ],
)
def test_hostile_texts_are_read_once(sign: str) -> None:
    """Nothing is timed: it would take hours if a pattern looked through the rest again at every sign."""
    assert isinstance(without_markup(sign * (1_000_000 // len(sign))), str)
