"""Who scores what and when, and what has to be looked at again: contradictions and precedents."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.kinds.answers.blinding.pack import Assignment, BlindPack
from assay.kinds.answers.scoring.marks import BookEntry, Mark, RaterPrecedent
from assay.kinds.answers.scoring.passes import (
    HOUR,
    concerned_responses,
    contradiction,
    due_time,
    format_time,
    join_precedents,
    next_precedent_id,
    passes_of,
    precedents_named,
    why_again,
)
from assay.kinds.answers.scoring.progress import (
    MarkIndex,
    current_pass,
    pass_states,
    progress,
    remaining_work,
)
from assay.kinds.answers.scoring.rubric import rubric
from scoring_packs import claim, mark, pack_of

NAMES = [step.name for step in rubric().steps]
ALONE = Assignment("anna", wait_hours=48)


def all_of(response_id: str, round_: str = "first", time: float = 0.0) -> list[BookEntry]:
    return [mark(response_id, name, 1, round=round_, time=time) for name in NAMES]


def test_the_primary_scores_all_and_others_what_was_drawn() -> None:
    pack = pack_of(4, drawn=["R-02"])
    assert [of.name for of in passes_of(pack, "anna")] == NAMES
    assert {len(of.response_ids) for of in passes_of(pack, "anna")} == {4}
    assert [of.response_ids for of in passes_of(pack, "ben")] == [{"R-02"}] * 4
    assert passes_of(pack, "eve") == []


def test_one_who_is_alone_scores_a_part_again() -> None:
    found = passes_of(pack_of(4, panel=ALONE, drawn_again=["R-03"]), "anna")
    assert [of.name for of in found] == [*NAMES, *(f"{name}:again" for name in NAMES)]
    assert found[4].response_ids == {"R-03"}
    assert found[4].key("R-03") == ("anna", "again", "accuracy", "R-03")


def test_a_pass_waits_for_the_one_before() -> None:
    pack = pack_of(2)
    index = MarkIndex(pack, [mark("R-01")])
    states = pass_states(index, "anna", now=0)
    assert [state.state for state in states] == ["open", "waiting", "waiting", "waiting"]
    assert states[1].why == "Factual accuracy comes first: 1 of 2 left."
    index.add(mark("R-02", grade=2))
    states = pass_states(index, "anna", now=0)
    assert [state.state for state in states] == ["done", "open", "waiting", "waiting"]
    index.add(mark("R-02", grade=None, withdrawn=True))
    assert pass_states(index, "anna", now=0)[1].blocked


def test_the_second_time_waits_48_hours_for_each_response() -> None:
    pack = pack_of(2, panel=ALONE, drawn_again=["R-01", "R-02"])
    lines = [*all_of("R-01", time=1000.0), *all_of("R-02", time=1600.0)]
    index = MarkIndex(pack, lines)
    last = pass_states(index, "anna", now=2000.0)[4]
    # 1000 s + 48 h = 173,800 s: the third day of 1970, 00:16:40, left as the minute after
    assert (last.state, last.blocked) == ("waiting", False)
    assert last.why == "2 left, the next of them from 1970-01-03 00:17 UTC on."
    assert pass_states(index, "anna", now=173_799.0)[4].state == "waiting"
    assert pass_states(index, "anna", now=173_800.0)[4].state == "open"
    index.add(mark("R-01", round="again", time=173_800.0))
    assert pass_states(index, "anna", now=173_900.0)[4].why.startswith("1 left")
    assert pass_states(index, "anna", now=174_400.0)[4].state == "open"  # 1600 s + 48 h
    assert current_pass(pass_states(index, "anna", now=173_900.0)) is None


def test_a_changed_mark_starts_the_wait_again() -> None:
    pack = pack_of(1, panel=ALONE, drawn_again=["R-01"])
    assert due_time(pack, mark("R-01", time=10.0)) == 10.0 + 48 * HOUR
    assert due_time(pack, None) == float("inf")
    assert format_time(60.0) == "1970-01-01 00:01 UTC"


def test_progress_counts_only_what_was_assigned() -> None:
    pack = pack_of(2, drawn=["R-02"])
    lines: list[BookEntry] = [mark("R-01"), mark("R-01", rater="ben"), mark("R-02", rater="ben")]
    assert progress(MarkIndex(pack, lines))["anna"]["accuracy"] == (1, 2)
    assert progress(MarkIndex(pack, lines))["ben"]["accuracy"] == (1, 1)


def test_complete_says_what_is_left_until_nothing_is() -> None:
    pack = pack_of(1, panel=ALONE, drawn_again=["R-01"])
    assert remaining_work(MarkIndex(pack, []), now=0)[0] == "anna: Factual accuracy: 1 of 1 to score"
    lines = all_of("R-01")
    left = remaining_work(MarkIndex(pack, lines), now=0)
    assert left[0] == (
        "anna: Factual accuracy, second time: 1 of 1 to score: 1 left, the next of them from "
        "1970-01-03 00:00 UTC on."
    )
    assert remaining_work(MarkIndex(pack, [*lines, *all_of("R-01", "again")]), now=0) == []


CASE = RaterPrecedent(
    "EC-11", "case-0001", "anna", "It gives days", "Take it as hours", "The same.", "accuracy", ["R-01"]
)


def queue_of(pack: BlindPack, lines: list[BookEntry], rater: str = "anna") -> dict[str, str]:
    index = MarkIndex(pack, lines)
    return dict(index.queue(index.passes[rater][0]))


def test_numbers_go_on_after_the_ten() -> None:
    assert next_precedent_id([]) == "EC-11"
    assert next_precedent_id([CASE]) == "EC-12"


def test_what_fits_is_reported_by_question_words_or_all() -> None:
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


def test_every_rater_looks_at_their_own_and_is_reported_no_name() -> None:
    pack = pack_of(1, drawn=["R-01"])
    lines: list[BookEntry] = [mark("R-01", rater="ben", grade=2), CASE]
    assert list(queue_of(pack, lines, "ben")) == ["R-01"]
    assert queue_of(pack, lines, "anna") == {}
    assert "anna" not in queue_of(pack, lines, "ben")["R-01"]


def test_one_mark_settles_several_precedents() -> None:
    second = replace(CASE, case_id="EC-12", mark_id="case-0002")
    pack = pack_of(1)
    lines: list[BookEntry] = [mark("R-01"), CASE, second]
    index = MarkIndex(pack, lines)
    of = index.passes["anna"][0]
    assert index.concerning(of, "R-01") == ["EC-11", "EC-12"]
    assert (index.count_open(CASE, "anna"), index.count_queued(of)) == (1, 1)
    both = mark("R-01", case=join_precedents(["EC-11", "EC-12"]))
    assert precedents_named(both) == ["EC-11", "EC-12"]
    assert queue_of(pack, [*lines, both]) == {}
    assert join_precedents([]) is None
    assert why_again([CASE]).count("EC-") == 1


def test_a_line_sent_twice_counts_once() -> None:
    first = mark("R-01")
    index = MarkIndex(pack_of(1), [first, first, CASE, CASE])
    assert index.done(index.passes["anna"][0]) == 1
    assert list(index.concerning(index.passes["anna"][0], "R-01")) == ["EC-11"]


def claims(response_id: str, *categories: str) -> Mark:
    made = [claim(category, what=f"claim {at}") for at, category in enumerate(categories)]
    return mark(response_id, "hallucination", None, claims=made)


@pytest.mark.parametrize(
    ("grade", "categories", "capped"),
    [
        (3, ["H-FAB"], True),
        (3, ["H-EXT"], True),
        (3, ["H-TMP", "H-SRC"], True),
        (3, ["H-SRC"], False),
        (3, [], False),
        (2, ["H-FAB"], False),
        (None, ["H-FAB"], False),
    ],
)
def test_only_the_best_grade_and_claims_that_cap_exclude_each_other(
    grade: int | None, categories: list[str], capped: bool
) -> None:
    found = contradiction(mark("R-01", grade=grade), claims("R-01", *categories))
    assert (found is not None) == capped


def test_it_comes_up_once_the_second_pass_is_through() -> None:
    pack = pack_of(2)
    lines: list[BookEntry] = [mark("R-01"), mark("R-02"), claims("R-01", "H-FAB")]
    assert queue_of(pack, lines) == {}  # R-02 has no mark in the second pass yet
    lines.append(claims("R-02", "H-SRC"))
    assert list(queue_of(pack, lines)) == ["R-01"]
    assert "1 H-FAB" in queue_of(pack, lines)["R-01"]
    assert "anna: Factual accuracy: 1 to look at again" in remaining_work(MarkIndex(pack, lines), now=0)


def test_a_lower_grade_settles_it_and_a_higher_one_opens_it_again() -> None:
    pack = pack_of(1)
    lines: list[BookEntry] = [mark("R-01"), claims("R-01", "H-FAB")]
    assert queue_of(pack, lines)
    lines.append(mark("R-01"))  # saying 3 once more settles nothing
    assert queue_of(pack, lines)
    lines.append(mark("R-01", grade=2, note="a daily job is made up"))
    assert queue_of(pack, lines) == {}
    lines.append(mark("R-01"))
    assert queue_of(pack, lines)


def test_taking_the_claim_back_settles_it_and_nothing_is_rewritten() -> None:
    pack = pack_of(1)
    first = mark("R-01")
    lines: list[BookEntry] = [first, claims("R-01", "H-FAB"), claims("R-01", "H-SRC")]
    assert queue_of(pack, lines) == {}
    index = MarkIndex(pack, lines)
    assert index.mark(first.key) is first


def test_each_round_is_reconciled_on_its_own() -> None:
    pack = pack_of(1, drawn_again=["R-01"])
    first: list[BookEntry] = [mark("R-01", grade=2), claims("R-01", "H-FAB")]
    again: list[BookEntry] = [
        mark("R-01", round="again"),
        mark("R-01", "hallucination", None, claims=[claim()], round="again"),
    ]
    index = MarkIndex(pack, [*first, *again])
    passes = {of.name: of for of in index.passes["anna"]}
    assert index.count_queued(passes["accuracy"]) == 0
    assert index.count_queued(passes["accuracy:again"]) == 1


# ---------------------------------------------------------------------------- a part that is left out


def gap(response_id: str, grade: int = 0) -> Mark:
    return mark(response_id, "completeness", grade)


@pytest.mark.parametrize(("grade", "complete", "capped"), [(3, 0, True), (3, 1, False), (2, 0, False)])
def test_the_best_grade_leaves_nothing_out(grade: int, complete: int, capped: bool) -> None:
    assert (contradiction(mark("R-01", grade=grade), gap("R-01", complete)) is not None) == capped


def test_a_gap_comes_up_once_the_third_pass_is_through() -> None:
    pack = pack_of(2)
    lines: list[BookEntry] = [mark("R-01"), mark("R-02"), claims("R-01"), claims("R-02"), gap("R-01")]
    assert queue_of(pack, lines) == {}
    lines.append(gap("R-02", 1))
    assert list(queue_of(pack, lines)) == ["R-01"]
    assert "called it incomplete" in queue_of(pack, lines)["R-01"]
    assert "anna: Factual accuracy: 1 to look at again" in remaining_work(MarkIndex(pack, lines), now=0)
    assert queue_of(pack, [*lines, mark("R-01", grade=2, note="a part is missing")]) == {}
    assert queue_of(pack, [*lines, gap("R-01", 1)]) == {}


def test_a_claim_and_a_gap_are_reported_together() -> None:
    why = queue_of(pack_of(1), [mark("R-01"), claims("R-01", "H-FAB"), gap("R-01")])["R-01"]
    assert "1 H-FAB" in why
    assert "called it incomplete" in why
