"""Who scores what and when: all, a drawn part, and the same again after a while."""

from __future__ import annotations

from assay.kinds.answers.blinding.pack import Assignment
from assay.kinds.answers.scoring.marks import BookEntry
from assay.kinds.answers.scoring.passes import HOUR, due_time, format_time, passes_of
from assay.kinds.answers.scoring.progress import (
    MarkIndex,
    current_pass,
    pass_states,
    progress,
    remaining_work,
)
from assay.kinds.answers.scoring.rubric import STEPS
from scoring_packs import mark, pack_of

NAMES = [step.name for step in STEPS]
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
    ledger = MarkIndex(pack, [mark("R-01")])
    states = pass_states(ledger, "anna", now=0)
    assert [state.state for state in states] == ["open", "waiting", "waiting", "waiting"]
    assert states[1].why == "Factual accuracy comes first: 1 of 2 left."
    ledger.add(mark("R-02", grade=2))
    states = pass_states(ledger, "anna", now=0)
    assert [state.state for state in states] == ["done", "open", "waiting", "waiting"]
    ledger.add(mark("R-02", grade=None, withdrawn=True))
    assert pass_states(ledger, "anna", now=0)[1].blocked


def test_the_second_time_waits_48_hours_for_each_response() -> None:
    pack = pack_of(2, panel=ALONE, drawn_again=["R-01", "R-02"])
    lines = [*all_of("R-01", time=1000.0), *all_of("R-02", time=1600.0)]
    ledger = MarkIndex(pack, lines)
    last = pass_states(ledger, "anna", now=2000.0)[4]
    # 1000 s + 48 h = 173,800 s: the third day of 1970, 00:16:40, told as the minute after
    assert (last.state, last.blocked) == ("waiting", False)
    assert last.why == "2 left, the next of them from 1970-01-03 00:17 UTC on."
    assert pass_states(ledger, "anna", now=173_799.0)[4].state == "waiting"
    assert pass_states(ledger, "anna", now=173_800.0)[4].state == "open"
    ledger.add(mark("R-01", round="again", time=173_800.0))
    assert pass_states(ledger, "anna", now=173_900.0)[4].why.startswith("1 left")
    assert pass_states(ledger, "anna", now=174_400.0)[4].state == "open"  # 1600 s + 48 h
    assert current_pass(pass_states(ledger, "anna", now=173_900.0)) is None


def test_a_changed_mark_starts_the_wait_anew() -> None:
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
    told = remaining_work(MarkIndex(pack, lines), now=0)
    assert told[0] == (
        "anna: Factual accuracy, second time: 1 of 1 to score: 1 left, the next of them from "
        "1970-01-03 00:00 UTC on."
    )
    assert remaining_work(MarkIndex(pack, [*lines, *all_of("R-01", "again")]), now=0) == []
