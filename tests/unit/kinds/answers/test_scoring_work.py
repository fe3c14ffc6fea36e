"""Scoring at the desk: what is shown, what is saved, what is refused, and what a crash leaves."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from assay.core.errors import UsageError
from assay.kinds.answers.blinding.pack import MARKS, Assignment, BlindPack, write_pack
from assay.kinds.answers.desk.scoring_work import ScoringWork
from assay.kinds.answers.scoring.marks import Mark, SuggestionView, score_book
from assay.review.work import (
    Conflict,
    DeskWork,
    Draft,
    NewPrecedent,
    NotFound,
    RuleViolation,
    SaveReceipt,
    SpanClaim,
    Undo,
)
from scoring_packs import TEXT, by_id, pack_of

NUMBERS = count(1)
CLAIM = SpanClaim(category="H-FAB", start=22, end=54, claim="a daily job", note="not in the source")
STEPS = ["accuracy", "hallucination", "completeness", "citation"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """A work on a folder, opened anew at will."""

    def __init__(self, folder: Path, pack: BlindPack) -> None:
        self.folder, self.clock = folder, Clock()
        write_pack(folder, pack)
        self.work = self.open()

    def open(self) -> ScoringWork:
        return ScoringWork(self.folder, clock=self.clock, order=by_id)

    def reopen(self) -> None:
        self.work.close()
        self.work = self.open()

    def save(self, task: str, choice: str | None = "3", step: str = "accuracy", **more: Any) -> SaveReceipt:
        """Saves over whatever stands."""
        rater = more.pop("rater", "anna")
        if "base" not in more:
            stands = self.work.task(rater, step, task).mark
            more["base"] = None if stands is None else stands.mark_id
        more.setdefault("mark_id", fresh())
        if step.startswith("hallucination") and not more.get("spans"):
            more.setdefault("flags", ["none_found"])
        more.setdefault("note", "" if choice in {"3", "na", None} else "because")
        return self.work.save(rater, step, task, Draft(choice=choice, **more))

    def undo(self, task: str, step: str = "accuracy") -> SaveReceipt:
        stands = self.work.task("anna", step, task).mark
        assert stands is not None
        return self.work.undo("anna", step, task, Undo(mark_id=fresh(), base=stands.mark_id))

    def through(self, *steps: str, rater: str = "anna", claims: tuple[SpanClaim, ...] = ()) -> None:
        choices = {"accuracy": "3", "hallucination": None, "completeness": "1", "citation": "na"}
        for step in steps:
            for task in self.work.step(rater, step).tasks:
                spans = claims if step == "hallucination" else ()
                choice = choices[step.partition(":")[0]]
                self.save(task.task_id, choice, step, rater=rater, spans=list(spans))


def fresh() -> str:
    return f"mark-{next(NUMBERS):08d}"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path, pack_of(4, drawn=["R-02", "R-03"]))
    yield made
    made.work.close()


# --------------------------------------------------------------------------------------- what is shown


def test_it_is_a_work(desk: Desk) -> None:
    work: DeskWork = desk.work
    assert (work.title, list(work.raters)) == ("tokens", ["anna", "ben"])
    state = work.state("anna")
    assert [(each.step, each.state, each.total) for each in state.steps] == [
        ("accuracy", "open", 4),
        ("hallucination", "waiting", 4),
        ("completeness", "waiting", 4),
        ("citation", "waiting", 4),
    ]
    assert (state.current, state.register_open) == ("accuracy", True)
    assert {each.total for each in work.state("ben").steps} == {2}


def test_a_screen_holds_the_response_and_what_is_right_and_no_more(desk: Desk) -> None:
    task = desk.work.task("anna", "accuracy", "R-03")
    assert (task.number, task.total, task.mark, task.history) == (3, 4, None, [])
    assert [block.role for block in task.blocks] == [
        "question",
        "response",
        "reference",
        "source",
        "fact",
        "fact",
    ]
    assert task.blocks[1].text == TEXT
    assert not task.blocks[1].markable
    assert task.blocks[4].text.startswith("single-fact. 2 or 3 is a matter of precision")
    assert task.blocks[5].text == "Tokens\nLimits"
    desk.through("accuracy")
    assert desk.work.task("anna", "hallucination", "R-03").blocks[1].markable


def test_a_pass_comes_with_its_form_and_rules(desk: Desk) -> None:
    view = desk.work.step("anna", "accuracy")
    assert [choice.key for choice in view.form.choices] == ["0", "1", "2", "3"]
    assert (view.form.flags[0].name, view.form.flags[0].forces) == ("refusal", "0")
    assert view.form.note_needed_for == ["0", "1", "2"]
    titles = [rule.title for rule in view.rules]
    assert any("single-fact" in title for title in titles)
    assert any(title.startswith("EC-10") for title in titles)
    assert [title for title in titles if title.startswith("Worked")] == [
        "Worked example (single-fact)",
        "Worked example (multi-section-synthesis)",
        "Worked example (conceptual-relationship)",
    ]
    claims = desk.work.step("anna", "hallucination")
    assert [each.value for each in claims.form.categories] == ["H-FAB", "H-SRC", "H-EXT", "H-TMP"]
    assert claims.form.choices == []
    # What each category means can be read without pointing at its button.
    assert [rule.title for rule in claims.rules[:2]] == ["H-FAB: Made up", "H-SRC: Wrong source"]
    assert all(rule.text for rule in claims.rules)


def test_nobody_gets_what_is_not_theirs(desk: Desk) -> None:
    for rater, step, task in [
        ("ben", "accuracy", "R-01"),  # not drawn
        ("anna", "accuracy", "R-99"),
        ("anna", "accuracy:again", "R-01"),
        ("anna", "tokens", "R-01"),
        ("eve", "accuracy", "R-01"),
    ]:
        with pytest.raises(NotFound):
            desk.work.task(rater, step, task)
    desk.save("R-02", "1", note="anna's own words")
    seen = desk.work.task("ben", "accuracy", "R-02")
    assert (seen.mark, seen.history) == (None, [])
    assert "anna's own words" not in desk.work.step("ben", "accuracy").model_dump_json()


# --------------------------------------------------------------------------------------------- saving


def test_a_saved_mark_is_on_disk_and_there_after_a_restart(desk: Desk) -> None:
    saved = desk.save("R-01", "2", note="nearly", mark_id="mark-aaaaaaaa")
    assert saved.mark is not None
    assert (saved.mark.choice, saved.step.done, saved.next) == ("2", 1, "R-02")
    (line,) = score_book(desk.folder / MARKS).lines
    assert isinstance(line, Mark)
    assert (line.mark_id, line.rater, line.grade, line.note) == ("mark-aaaaaaaa", "anna", 2, "nearly")
    assert line.time == 1000.0
    desk.reopen()
    assert desk.work.task("anna", "accuracy", "R-01").mark == saved.mark
    assert desk.work.state("anna").steps[0].done == 1


def test_sending_twice_saves_once(desk: Desk) -> None:
    first = desk.save("R-01", "1", mark_id="mark-aaaaaaaa", base=None)
    assert desk.save("R-01", "1", mark_id="mark-aaaaaaaa", base=None) == first
    desk.reopen()
    assert desk.save("R-01", "1", mark_id="mark-aaaaaaaa", base=None).mark == first.mark
    assert len(score_book(desk.folder / MARKS).lines) == 1
    with pytest.raises(Conflict, match="for something else"):
        desk.save("R-02", "1", mark_id="mark-aaaaaaaa")
    with pytest.raises(Conflict, match="for something else"):
        desk.save("R-02", "1", mark_id="mark-aaaaaaaa", rater="ben")


def test_a_page_that_is_behind_is_reported_what_stands(desk: Desk) -> None:
    desk.save("R-01", "1", mark_id="mark-aaaaaaaa")
    with pytest.raises(Conflict) as caught:
        desk.save("R-01", "3", base=None)
    assert caught.value.current is not None
    assert caught.value.current.choice == "1"
    desk.undo("R-01")
    with pytest.raises(Conflict, match="taken back") as caught:
        desk.save("R-01", "3", base="mark-aaaaaaaa")
    assert caught.value.current is None


def test_what_a_rule_forbids_is_not_saved(desk: Desk) -> None:
    with pytest.raises(RuleViolation, match="Write a note"):
        desk.save("R-01", "1", note="")
    assert not score_book(desk.folder / MARKS).lines
    with pytest.raises(Conflict, match="Factual accuracy comes first: 4 of 4 left"):
        desk.save("R-01", None, "hallucination", base=None)


def test_undo_goes_back_step_by_step_and_keeps_the_history(desk: Desk) -> None:
    for choice in ("1", "2", "1"):
        desk.save("R-01", choice)
    assert [saved.mark and saved.mark.choice for saved in (desk.undo("R-01"), desk.undo("R-01"))] == [
        "2",
        "1",
    ]
    desk.reopen()
    last = desk.undo("R-01")
    assert (last.mark, last.step.done, last.next) == (None, 0, "R-02")
    task = desk.work.task("anna", "accuracy", "R-01")
    assert task.mark is None
    assert [(each.choice, each.withdrawn) for each in task.history] == [
        ("1", False),
        ("2", False),
        ("1", False),
        ("2", False),
        ("1", False),
        (None, True),
    ]
    with pytest.raises(Conflict, match="taken back"):
        desk.work.undo("anna", "accuracy", "R-01", Undo(mark_id=fresh(), base="mark-aaaaaaaa"))


def test_undo_may_not_break_a_rule_either(desk: Desk) -> None:
    desk.save("R-01", "0", flags=["refusal"])
    desk.save("R-01", "2")
    desk.through("accuracy")
    desk.save("R-01", "2")
    desk.save("R-01", None, "hallucination", spans=[CLAIM])
    desk.undo("R-01")  # to the 3 of `through`
    desk.undo("R-01")  # to the 2 before it
    with pytest.raises(RuleViolation, match="A refusal claims nothing"):
        desk.undo("R-01")


# --------------------------------------------------------------------------------------------- queues


def test_accuracy_3_with_a_made_up_claim_comes_back_after_the_second_pass(desk: Desk) -> None:
    desk.through("accuracy", "hallucination")
    assert desk.work.task("anna", "hallucination", "R-02").reminders == []
    saved = desk.save("R-02", None, "hallucination", spans=[CLAIM])
    assert saved.step.state == "done"
    state = desk.work.state("anna")
    assert (state.current, state.steps[0].queued, state.steps[2].state) == ("accuracy", 1, "open")
    queued = {each.task_id: each.queued for each in desk.work.step("anna", "accuracy").tasks if each.queued}
    assert list(queued) == ["R-02"]
    task = desk.work.task("anna", "accuracy", "R-02")
    assert task.queued == queued["R-02"]
    assert task.mark is not None
    assert task.mark.choice == "3"  # nothing was rewritten
    assert task.reminders == [
        "You marked in it: H-FAB “a daily job”. All but H-SRC allow accuracy 2 at most."
    ]
    assert desk.save("R-01", "3").next == "R-02"
    assert desk.save("R-02", "3").next == "R-02"  # which settles nothing: the page stays
    desk.save("R-02", "2")
    assert desk.work.state("anna").steps[0].queued == 0
    assert desk.work.state("anna").current == "completeness"


def test_what_does_not_settle_a_contradiction_does_not_lead_on(desk: Desk) -> None:
    desk.through("accuracy", "hallucination")
    for task in ("R-01", "R-02"):
        desk.save(task, None, "hallucination", spans=[CLAIM])
    assert desk.save("R-01", "3").next == "R-01"  # else the two would lead to each other for ever
    assert desk.save("R-01", "2").next == "R-02"
    assert desk.save("R-02", "2").next is None


def case(again: str = "none", **more: Any) -> NewPrecedent:
    why = {"situation": "It gives days", "decision": "Take it as hours", "rationale": "The same"}
    return NewPrecedent(**{"mark_id": fresh(), "step": "accuracy", "again": again, **why, **more})


def test_a_precedent_sends_back_what_was_scored_before_it(desk: Desk) -> None:
    desk.save("R-01", "2")
    desk.save("R-02", "2")
    desk.save("R-02", "1", rater="ben")
    sent = case("question", task_id="R-01")
    entry = desk.work.add_case("anna", sent)
    assert (entry.case_id, entry.to_look_at, entry.step) == ("EC-11", 2, "accuracy")
    assert desk.work.add_case("anna", sent).case_id == "EC-11"
    assert desk.work.add_case("ben", case()).case_id == "EC-12"
    assert [each.case_id for each in desk.work.register("ben")][9:] == ["EC-10", "EC-11", "EC-12"]
    why = desk.work.task("ben", "accuracy", "R-02").queued
    assert why is not None
    assert "It gives days" in why
    assert "anna" not in why
    assert desk.work.state("ben").steps[0].queued == 1
    desk.save("R-02", "2")  # the same again confirms it
    desk.reopen()
    assert desk.work.state("anna").steps[0].queued == 1
    assert [line.case for line in score_book(desk.folder / MARKS).lines if isinstance(line, Mark)][
        -1
    ] == "EC-11"
    assert [mark.case for mark in desk.work.task("anna", "accuracy", "R-02").history] == [None, "EC-11"]
    desk.undo("R-02")
    assert desk.work.state("anna").steps[0].queued == 2
    assert "EC-11: It gives days" in [rule.title for rule in desk.work.step("ben", "accuracy").rules]


def test_a_precedent_says_everything(desk: Desk) -> None:
    for wrong, why in [
        (case(situation=" "), "Say the situation"),
        (case("question"), "which response"),
        (case("words", words="?!"), "Give the words"),
    ]:
        with pytest.raises(RuleViolation, match=why):
            desk.work.add_case("anna", wrong)
    with pytest.raises(NotFound):
        desk.work.add_case("ben", case("question", task_id="R-01"))
    sent = case()
    desk.work.add_case("anna", sent)
    with pytest.raises(Conflict):
        desk.work.add_case("ben", sent)


# ---------------------------------------------------------------------------------------- suggestions


def test_a_suggestion_is_kept_with_the_mark_that_follows(desk: Desk) -> None:
    desk.through("accuracy", "hallucination")
    assert desk.work.task("anna", "completeness", "R-01").suggestion
    assert not desk.work.task("anna", "hallucination", "R-01").suggestion
    with pytest.raises(NotFound):
        desk.work.suggestion("anna", "hallucination", "R-01")
    found = desk.work.suggestion("anna", "completeness", "R-01")
    assert (found.value, found.by) == ("1", "rule")
    assert desk.work.suggestion("anna", "completeness", "R-01") == found
    desk.save("R-01", "0", "completeness")
    desk.save("R-02", "0", "completeness")
    lines = score_book(desk.folder / MARKS).lines
    assert sum(isinstance(line, SuggestionView) for line in lines) == 1
    said = [line.suggested for line in lines if isinstance(line, Mark) and line.step == "completeness"]
    assert said == ["1", None]


# --------------------------------------------------------------------------------------- second round


def test_the_second_round_waits_and_shows_nothing_of_the_first(tmp_path: Path) -> None:
    desk = Desk(tmp_path, pack_of(2, panel=Assignment("anna"), drawn_again=["R-01", "R-02"]))
    desk.through(*STEPS)
    state = desk.work.state("anna")
    assert state.current is None
    assert state.finished.startswith("Nothing to do now. Factual accuracy, second time: 2 left, the next")
    assert desk.work.step("anna", "accuracy:again").tasks == []
    with pytest.raises(Conflict, match="from 1970-01-03 00:17 UTC on"):
        desk.work.task("anna", "accuracy:again", "R-01")
    desk.clock.now += 48 * 3600
    assert desk.work.state("anna").current == "accuracy:again"
    task = desk.work.task("anna", "accuracy:again", "R-01")
    assert (task.mark, task.history, task.reminders, task.suggestion) == (None, [], [], False)
    with pytest.raises(RuleViolation, match="first round"):
        desk.work.add_case("anna", case(step="accuracy:again"))
    with pytest.raises(Conflict, match="second time"):
        desk.work.task("anna", "accuracy", "R-01")
    desk.through(*(f"{step}:again" for step in STEPS))
    assert desk.work.state("anna").finished.startswith("Everything is scored")
    desk.work.close()


# --------------------------------------------------------------------------------------------- load


def test_only_one_process_serves_a_folder(desk: Desk) -> None:
    with pytest.raises(UsageError, match="Another process is serving"):
        desk.open()
    desk.reopen()


def test_raters_at_once_lose_nothing(tmp_path: Path) -> None:
    ids = [f"R-{at:02d}" for at in range(1, 21)]
    names = [f"rater{at}" for at in range(4)]
    desk = Desk(tmp_path, pack_of(20, panel=Assignment(names[0], names[1:]), drawn=ids))
    wrong: list[str] = []

    def score(rater: str) -> None:
        for task in ids:
            desk.save(task, "3", rater=rater)
            if desk.work.task(rater, "accuracy", task).mark is None:
                wrong.append(task)
        desk.work.add_case(rater, case())

    crew = [threading.Thread(target=score, args=(name,)) for name in names]
    for each in crew:
        each.start()
    for each in crew:
        each.join()
    desk.reopen()
    assert wrong == []
    assert [desk.work.state(name).steps[0].done for name in names] == [20] * 4
    assert [each.case_id for each in desk.work.register(names[0])][10:] == [
        "EC-11",
        "EC-12",
        "EC-13",
        "EC-14",
    ]
    desk.work.close()


@pytest.mark.slow
def test_2000_responses_and_eight_raters_stay_quick(tmp_path: Path) -> None:
    ids = [f"R-{at:02d}" for at in range(1, 2001)]
    names = [f"rater{at}" for at in range(8)]
    desk = Desk(tmp_path, pack_of(2000, panel=Assignment(names[0], names[1:]), drawn=ids))
    for rater in names:
        desk.work.state(rater)
    took: dict[str, list[float]] = {"step": [], "task": [], "save": []}
    for rater in names:
        for task in ids[:25]:
            draft = Draft(mark_id=fresh(), choice="3")
            acts: list[tuple[str, Callable[[], object]]] = [
                ("step", partial(desk.work.step, rater, "accuracy")),
                ("task", partial(desk.work.task, rater, "accuracy", task)),
                ("save", partial(desk.work.save, rater, "accuracy", task, draft)),
            ]
            for name, act in acts:
                began = time.perf_counter()
                act()
                took[name].append(time.perf_counter() - began)
    middle = {name: statistics.median(each) for name, each in took.items()}
    assert middle["step"] < 0.05, middle
    assert middle["task"] < 0.005, middle
    assert middle["save"] < 0.02, middle
    desk.work.close()


# -------------------------------------------------------------------------------- raters who differ


def test_raters_who_agree_too_little_are_reported_to_discuss_and_score_again(desk: Desk) -> None:
    desk.through(*STEPS)
    desk.through(*STEPS[:1], rater="ben")
    desk.save("R-02", "0", rater="ben")
    why = desk.work.state("anna").finished
    assert why.endswith("it can be unblinded once everybody is through.")  # nothing yet of what ben gave
    desk.through(*STEPS[1:], rater="ben")
    for rater in ("anna", "ben"):
        state = desk.work.state(rater)
        assert "raters agree too little on accuracy: the study cannot be unblinded yet" in state.finished
        assert "score these responses again" in state.finished
        assert state.register_open  # a rule that was missing becomes a precedent
    desk.save("R-02", "3", rater="ben")
    state = desk.work.state("anna")
    assert (state.finished.startswith("Everything is scored. Tell"), state.register_open) == (True, False)
    desk.save("R-02", "0", rater="ben")  # what stands counts, not what was said once
    assert "agree too little" in desk.work.state("ben").finished


def test_where_no_source_is_known_no_empty_panel_is_shown(tmp_path: Path) -> None:
    pack = pack_of(2)
    empty = {key: structs.replace(source, title="", text=" \n") for key, source in pack.sources.items()}
    for number, sources in enumerate((empty, {})):
        desk = Desk(tmp_path / str(number), structs.replace(pack, sources=sources))
        blocks, about = desk.work.task("anna", "accuracy", "R-01").blocks, desk.work.state("anna").about
        desk.work.close()
        assert about == "Score every response against its reference answer, one pass after the other."
        assert "source" not in [block.role for block in blocks]
        (why,) = [block.text for block in blocks if block.title == "Source"]
        assert "there is no source to compare the response with" in why


def test_an_empty_form_is_not_taken_for_none_found(desk: Desk) -> None:
    desk.through("accuracy")
    for empty in ({}, {"note": "fine"}, {"spans": []}):
        with pytest.raises(RuleViolation, match="if there is none, choose “None found”"):
            desk.save("R-01", None, "hallucination", **{"flags": [], **empty})
    assert desk.work.task("anna", "hallucination", "R-01").history == []
    desk.save("R-01", None, "hallucination", flags=["none_found"])
    desk.save("R-01", None, "hallucination", spans=[CLAIM])
    assert desk.undo("R-01", "hallucination").mark is not None
    stands = desk.work.task("anna", "hallucination", "R-01").mark
    assert stands is not None
    assert (stands.spans, stands.flags) == ([], ["none_found"])


def test_none_found_from_before_it_had_to_be_said_still_stands(desk: Desk) -> None:
    desk.through("accuracy")
    desk.work.close()
    book = score_book(desk.folder / "marks")
    book.add(Mark("mark-earlier", "anna", "R-01", "hallucination", time=desk.clock()))
    book.close()
    desk.work = desk.open()
    stands = desk.work.task("anna", "hallucination", "R-01").mark
    assert stands is not None
    assert stands.flags == ["none_found"]
    desk.save("R-01", None, "hallucination", spans=[CLAIM])
    back = desk.undo("R-01", "hallucination").mark
    assert back is not None
    assert (back.spans, back.flags) == ([], ["none_found"])
