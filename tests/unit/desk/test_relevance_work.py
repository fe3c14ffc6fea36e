"""Relevance review at the desk: what is asked, and that a mark counts as one from a form would."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.core.errors import UsageError
from assay.core.records import Judgment
from assay.desk.reviews import RelevanceWork
from assay.judges.labels import current_judgments, text_hash, text_with_query
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.review.work import Conflict, DeskWork, Draft, NewPrecedent, NotFound, RuleViolation, Undo
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_study import WORDS, write_study

# The replayed run has three passages a query: one is relevant by its id, so that 2 of 3 are open: 24 in all.
STUDY = """\
data: data
systems: {lexical: bm25, old: replay(path=old.run)}
baseline: old
judges: [human, ids]
measures: [SemanticLift@10]
compare: {resamples: 200}
"""
OPEN = 2 * len(WORDS)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_study(tmp_path_factory.mktemp("relevance"), STUDY)
    items = [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]
    tagged = [{**item, "tags": {"review": ["yes"], "category": ["words"]}} for item in items]
    (folder / "data/items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in tagged))
    run_study(open_study(folder))
    return folder


@pytest.fixture
def study(ran: Path, tmp_path: Path) -> Study:
    """The study as it was run, with a journal of its own."""
    return open_study(shutil.copytree(ran, tmp_path / "study"))


def open_work(study: Study, **how: object) -> RelevanceWork:
    return RelevanceWork(study, ["anna", "ben"], **how)  # type: ignore[arg-type]


def ids(work: DeskWork, rater: str = "anna") -> list[str]:
    return [each.task_id for each in work.step(rater, "relevance").tasks]


def marked(n: int, word: str = "SEMANTIC_MATCH", base: str | None = None, note: str = "") -> Draft:
    return Draft(mark_id=f"mark-{n:04d}", base=base, choice=word, note=note)


def stored(study: Study) -> list[Judgment]:
    return Store(study.run_folder).judgments()


# ------------------------------------------------------------------------------------------ what is asked


def test_every_open_passage_is_asked_for_once(study: Study) -> None:
    work = open_work(study)
    state = work.state("anna")
    assert [(each.step, each.total, each.done, each.state) for each in state.steps] == [
        ("relevance", OPEN, 0, "open")
    ]
    assert (state.current, state.title) == ("relevance", study.name)
    assert len(set(ids(work))) == OPEN
    form = work.step("anna", "relevance").form
    assert [(each.value, each.key) for each in form.choices] == [
        ("SEMANTIC_MATCH", "1"),
        ("FALSE_POSITIVE", "2"),
        ("KEYWORD_MATCH", "3"),
    ]


def test_a_screen_shows_query_and_text_and_no_arm_or_rank(study: Study) -> None:
    work = open_work(study)
    tasks = [work.task("anna", "relevance", each) for each in ids(work)]
    assert [each.number for each in tasks] == list(range(1, OPEN + 1))
    for task in tasks:
        shown = {block.title: block.text for block in task.blocks}
        assert shown["Query"] in WORDS
        assert " is about " in shown["Passage"]
        assert shown["Category"] == "words"
        whole = task.model_dump_json()
        assert not any(secret in whole for secret in ("lexical", "old", "score", "rank", "bm25"))
        assert task.task_id.isalnum()
        assert not task.suggestion


def test_all_orders_hold_the_same_and_first_holds_fewer(study: Study) -> None:
    decisive, blind, few = open_work(study), open_work(study, decisive=False), open_work(study, first=5)
    assert sorted(ids(decisive)) == sorted(ids(blind))
    assert len(ids(few)) == 5
    assert ids(decisive) == ids(open_work(study))  # the same each time


def test_what_the_review_does_not_have_is_refused(study: Study) -> None:
    work = open_work(study)
    task_id = ids(work)[0]
    for step, task in (("accuracy", task_id), ("relevance", "r-1")):
        with pytest.raises(NotFound):
            work.task("anna", step, task)
    with pytest.raises(NotFound):
        work.suggestion("anna", "relevance", task_id)
    case = NewPrecedent(mark_id="mark-0001", step="relevance", situation="s", decision="d", rationale="r")
    with pytest.raises(Conflict):
        work.add_case("anna", case)
    assert work.register("anna") == []


def test_a_study_without_anything_to_review_says_so(tmp_path: Path) -> None:
    plain = open_study(write_study(tmp_path))
    run_study(plain)
    with pytest.raises(UsageError, match="No item of this study asks for a review"):
        open_work(plain)


# ------------------------------------------------------------------------------------------ what is saved


def test_a_mark_is_in_the_journal_as_a_form_would_put_it(study: Study) -> None:
    work = open_work(study)
    task = work.task("anna", "relevance", ids(work)[0])
    query, passage = task.blocks[0].text, task.blocks[1].text
    saved = work.save("anna", "relevance", task.task_id, marked(1, note=" a synonym "))
    (judgment,) = stored(study)  # while the desk is open
    assert (judgment.label, judgment.category, judgment.grade) == ("review", "SEMANTIC_MATCH", 1.0)
    assert (judgment.judge, judgment.reason, judgment.judgment_id) == ("anna", "a synonym", "mark-0001")
    assert judgment.item_id == f"q{WORDS.index(query)}"
    assert judgment.seen == text_hash(text_with_query(query, passage))
    assert saved.mark is not None
    assert (saved.mark.choice, saved.mark.note, saved.step.done) == ("SEMANTIC_MATCH", "a synonym", 1)
    assert saved.next == ids(work)[1]


def test_marks_count_at_once(study: Study) -> None:
    work = open_work(study)
    for number, task_id in enumerate(ids(work)):
        word = "FALSE_POSITIVE" if number % 3 else "SEMANTIC_MATCH"
        work.save("anna", "relevance", task_id, marked(number, word))
        if number == 0:
            assert len(Evaluation(study).reviewing.pool.open) == OPEN - 1
    assert (work.state("anna").current, work.state("anna").steps[0].state) == (None, "done")
    assert work.state("anna").finished
    lifts = {each.system: each.value for each in Evaluation(study).results.estimates if not each.where}
    # 8 of the 24 open passages are semantic matches, of 3 that the old run returned for each of 12 queries
    assert lifts["old"] == pytest.approx(8 / 36)
    assert lifts["lexical"] == 0.0


def test_a_rater_sees_only_their_own_also_after_a_restart(study: Study) -> None:
    work = open_work(study)
    task_id = ids(work)[0]
    work.save("anna", "relevance", task_id, marked(1))
    assert work.task("ben", "relevance", task_id).mark is None
    assert work.state("ben").steps[0].done == 0
    again = open_work(study)  # the first was killed: nobody closed it
    assert sorted(ids(again)) == sorted(ids(work))
    mark = again.task("anna", "relevance", task_id).mark
    assert mark is not None
    assert mark.mark_id == "mark-0001"
    assert again.task("ben", "relevance", task_id).history == []


def test_sending_a_mark_twice_saves_it_once(study: Study) -> None:
    work = open_work(study)
    first, second = ids(work)[:2]
    for _ in range(2):
        work.save("anna", "relevance", first, marked(1))
    assert len(stored(study)) == 1
    with pytest.raises(Conflict, match="another passage"):
        work.save("anna", "relevance", second, marked(1))
    work.save("ben", "relevance", second, marked(1))  # his own numbers are his own
    open_work(study).save("anna", "relevance", first, marked(1))  # also after a restart
    assert len(stored(study)) == 2


def test_a_stale_page_gets_the_current_mark(study: Study) -> None:
    work = open_work(study)
    task_id = ids(work)[0]
    work.save("anna", "relevance", task_id, marked(1))
    with pytest.raises(Conflict) as caught:
        work.save("anna", "relevance", task_id, marked(2, "FALSE_POSITIVE"))
    assert caught.value.current is not None
    assert caught.value.current.mark_id == "mark-0001"
    work.save("anna", "relevance", task_id, marked(2, "FALSE_POSITIVE", base="mark-0001"))
    assert [each.category for each in current_judgments(stored(study))] == ["FALSE_POSITIVE"]


def test_undo_goes_back_step_by_step_and_nothing_is_erased(study: Study) -> None:
    work = open_work(study)
    task_id = ids(work)[0]
    work.save("anna", "relevance", task_id, marked(1))
    work.save("anna", "relevance", task_id, marked(2, "FALSE_POSITIVE", base="mark-0001"))
    back = work.undo("anna", "relevance", task_id, Undo(mark_id="undo-0001", base="mark-0002"))
    assert back.mark is not None
    assert (back.mark.mark_id, back.mark.choice) == ("mark-0001", "SEMANTIC_MATCH")
    assert back == work.undo("anna", "relevance", task_id, Undo(mark_id="undo-0001", base="mark-0002"))
    gone = work.undo("anna", "relevance", task_id, Undo(mark_id="undo-0002", base="mark-0001"))
    assert (gone.mark, gone.step.done) == (None, 0)
    history = work.task("anna", "relevance", task_id).history
    assert [(each.choice, each.withdrawn) for each in history] == [
        ("SEMANTIC_MATCH", False),
        ("FALSE_POSITIVE", False),
        ("SEMANTIC_MATCH", False),
        ("SEMANTIC_MATCH", True),
    ]
    assert (len(stored(study)), current_judgments(stored(study))) == (4, [])
    assert len(Evaluation(study).reviewing.pool.open) == OPEN
    with pytest.raises(Conflict):
        work.undo("anna", "relevance", task_id, Undo(mark_id="undo-0003", base="mark-0001"))
    assert open_work(study).task("anna", "relevance", task_id).history == history


@pytest.mark.parametrize(
    "wrong",
    [
        {"choice": None},
        {"choice": "MAYBE"},
        {"choice": "SEMANTIC_MATCH", "flags": ["refusal"]},
        {
            "choice": "SEMANTIC_MATCH",
            "spans": [{"category": "H-FAB", "start": 0, "end": 1, "claim": "c", "note": "n"}],
        },
    ],
)
def test_what_the_form_does_not_have_is_not_saved(study: Study, wrong: dict[str, object]) -> None:
    work = open_work(study)
    with pytest.raises(RuleViolation):
        work.save("anna", "relevance", ids(work)[0], Draft.model_validate({"mark_id": "mark-0001", **wrong}))
    assert stored(study) == []


def test_a_mark_on_an_older_text_is_asked_for_again_and_replaced(study: Study) -> None:
    work = open_work(study)
    task = work.task("anna", "relevance", ids(work)[0])
    work.save("anna", "relevance", task.task_id, marked(1))
    work.close()
    path = study.folder / "data/passages.jsonl"
    path.write_text(path.read_text().replace(task.blocks[1].text, f"{task.blocks[1].text} and more"))
    now = open_study(study.folder)
    again = open_work(now)
    assert again.task("anna", "relevance", task.task_id).mark is None
    again.save("anna", "relevance", task.task_id, marked(2, "FALSE_POSITIVE"))
    assert [each.judgment_id for each in current_judgments(stored(now))] == ["mark-0002"]
