"""Precedents set late: which responses are looked at again, by whom, and what settles it."""

from __future__ import annotations

from msgspec.structs import replace

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import BookEntry, RaterPrecedent
from assay.kinds.answers.scoring.passes import (
    concerned_responses,
    join_precedents,
    next_precedent_id,
    precedents_named,
    why_again,
)
from assay.kinds.answers.scoring.progress import MarkIndex, remaining_work
from scoring_packs import mark, pack_of

CASE = RaterPrecedent(
    "EC-11", "case-0001", "anna", "It gives days", "Take it as hours", "The same.", "accuracy", ["R-01"]
)


def queue_of(pack: BlindPack, lines: list[BookEntry], rater: str = "anna") -> dict[str, str]:
    ledger = MarkIndex(pack, lines)
    return dict(ledger.queue(ledger.passes[rater][0]))


def test_numbers_go_on_after_the_ten() -> None:
    assert next_precedent_id([]) == "EC-11"
    assert next_precedent_id([CASE]) == "EC-12"


def test_what_fits_is_told_by_question_words_or_all() -> None:
    pack = pack_of(4, texts=["A day, or 24 hours.", "24 hours", "Two DAYS and hours", "hours of a day"])
    assert concerned_responses(pack, "none") == set()
    assert concerned_responses(pack, "all") == {"R-01", "R-02", "R-03", "R-04"}
    assert concerned_responses(pack, "question", question_id="Q2") == {"R-03", "R-04"}
    assert concerned_responses(pack, "words", words="Day hours") == {"R-01", "R-04"}  # "DAYS" is another word
    assert concerned_responses(pack, "words", words=" ?! ") == set()


def test_what_was_scored_before_is_looked_at_again_and_what_comes_later_is_not() -> None:
    pack = pack_of(2, drawn=["R-01"])
    about = replace(CASE, about=["R-01", "R-02"])
    lines: list[BookEntry] = [mark("R-01", grade=1), about, mark("R-02", grade=1)]
    assert list(queue_of(pack, lines)) == ["R-01"]
    assert "It gives days. Take it as hours. Save it again" in queue_of(pack, lines)["R-01"]
    assert queue_of(pack, [*lines, mark("R-01", rater="ben")], "ben") == {}  # scored with it in view


def test_saving_the_same_grade_again_confirms_it() -> None:
    pack = pack_of(1)
    lines: list[BookEntry] = [mark("R-01", grade=1), CASE]
    assert "anna: Factual accuracy: 1 to look at again" in remaining_work(MarkIndex(pack, lines), now=0)
    lines.append(mark("R-01", grade=1, case="EC-11"))
    assert queue_of(pack, lines) == {}
    lines.append(mark("R-01", grade=1))  # as an undo brings the first mark back: it was not looked at again
    assert list(queue_of(pack, lines)) == ["R-01"]


def test_every_rater_looks_at_their_own_and_is_told_no_name() -> None:
    pack = pack_of(1, drawn=["R-01"])
    lines: list[BookEntry] = [mark("R-01", rater="ben", grade=2), CASE]
    assert list(queue_of(pack, lines, "ben")) == ["R-01"]
    assert queue_of(pack, lines, "anna") == {}
    assert "anna" not in queue_of(pack, lines, "ben")["R-01"]


def test_one_mark_settles_several_precedents() -> None:
    second = replace(CASE, case_id="EC-12", mark_id="case-0002")
    pack = pack_of(1)
    lines: list[BookEntry] = [mark("R-01"), CASE, second]
    ledger = MarkIndex(pack, lines)
    of = ledger.passes["anna"][0]
    assert ledger.concerning(of, "R-01") == ["EC-11", "EC-12"]
    assert (ledger.count_open(CASE, "anna"), ledger.count_queued(of)) == (1, 1)
    both = mark("R-01", case=join_precedents(["EC-11", "EC-12"]))
    assert precedents_named(both) == ["EC-11", "EC-12"]
    assert queue_of(pack, [*lines, both]) == {}
    assert join_precedents([]) is None
    assert why_again([CASE]).count("EC-") == 1


def test_a_line_sent_twice_counts_once() -> None:
    first = mark("R-01")
    ledger = MarkIndex(pack_of(1), [first, first, CASE, CASE])
    assert ledger.done(ledger.passes["anna"][0]) == 1
    assert list(ledger.concerning(ledger.passes["anna"][0], "R-01")) == ["EC-11"]
