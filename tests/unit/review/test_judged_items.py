"""People beside a model judge: what they are shown, what is taken in, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError
from assay.core.protocols import Judge, Kit
from assay.core.records import Arm, Finding, Hit, Item, Judgment, Passage, Question, Response
from assay.judges.direct import Human, Ids
from assay.judges.labels import BlockTexts, restrict_to_same_text, text_hash
from assay.judges.llm_prompt import read_prompt
from assay.review.forms import read_forms
from assay.review.grade_forms import grade_form, grade_form_yaml, grade_word, split_forms, write_grade_forms
from assay.review.judged_items import Agreement, GradingProgress, JudgedItem, drawn, judged_items
from assay.store.journal import Answer, answer_columns, select_by_key
from review_intake import Taken, take_grades

GRADES = {"HIGH": 2.0, "PARTIAL": 1.0, "NOT_RELEVANT": 0.0}
ITEMS = [Item(f"q{n}", f"query {n}", tags={"category": ["direct"]}) for n in range(3)]
CORPUS = Corpus([Passage("d1", "first\n  passage"), Passage("d2", "second passage")])
FOREIGN = "x7~0123456789ab"
DAY = 86_400.0


@dataclass(frozen=True)
class Model:
    """A judge that costs something."""

    grades: dict[str, float] = field(default_factory=lambda: dict(GRADES))
    names: ClassVar[tuple[str, ...]] = ("model",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        raise NotImplementedError

    def ask(self, question: Question, kit: Kit) -> Finding:
        raise NotImplementedError


JUDGES: list[Judge] = [Human(), Ids(), Model()]


def present(gives: frozenset[str] | None = None, **texts: str | None) -> BlockTexts:
    """One arm that returned d1 and d2 for every item, and a hit of its own with a text."""
    hits = [Hit("d1", 3.0), Hit("d2", 2.0), *(Hit(FOREIGN, 1.0, None, text) for text in texts.values())]
    stored = answer_columns([Answer(f"k{n}", f"q{n}", Response(hits)) for n in range(len(ITEMS))])
    answers = select_by_key(stored, ["k0", "k1", "k2"])
    return BlockTexts(Block(Arm("A"), 0, ITEMS, answers, Labels.none(), gives=gives, corpus=CORPUS), CORPUS)


def graded(judge: str, item: str, target: str, word: str, **more: Any) -> Judgment:
    return Judgment(item, "relevance", GRADES[word], judge, target=target, category=word, **more)


SAID = [
    graded("model", item, doc, word)
    for item, words in (("q0", ("HIGH", "PARTIAL")), ("q1", ("NOT_RELEVANT", "HIGH")))
    for doc, word in zip(("d1", "d2"), words, strict=True)
]
ASKED = judged_items(JUDGES, SAID, [present()])


# ------------------------------------------------------------------------------------ what is asked


def test_people_are_asked_what_a_paying_judge_graded() -> None:
    assert [(each.key, dict(each.passages)) for each in ASKED] == [
        ((item, "relevance"), {"d1": "first\n  passage", "d2": "second passage"}) for item in ("q0", "q1")
    ]
    assert ASKED[0].grades == GRADES
    ruled = graded("ids", "q2", "d1", "HIGH")  # a judge that costs nothing is not checked
    assert judged_items(JUDGES, [*SAID, ruled], [present()]) == ASKED


def test_a_judge_that_does_not_name_its_grades_has_those_it_was_heard_to_use() -> None:
    (heard, _) = judged_items([Model({})], SAID, [present()])
    assert list(heard.grades) == ["HIGH", "PARTIAL", "NOT_RELEVANT"]


def test_a_hit_of_a_foreign_index_is_shown_with_the_text_it_came_with() -> None:
    here = present(frozenset({"hits", "texts"}), own="a text from elsewhere")
    (found,) = judged_items(JUDGES, [graded("model", "q0", FOREIGN, "HIGH")], [here])
    assert found.passages == {FOREIGN: "a text from elsewhere"}
    mark = graded("anna", "q0", FOREIGN, "HIGH", seen=text_hash("a text from elsewhere"))
    assert restrict_to_same_text(mark, [here]) == [mark]
    gone = present(frozenset({"hits", "texts"}))  # nobody returns it any more: there is nothing to compare
    assert restrict_to_same_text(mark, [gone]) == [mark]
    assert restrict_to_same_text(mark, [present(own="another text")]) == []


def test_a_larger_draw_holds_every_smaller_one() -> None:
    many = [JudgedItem(Item(f"i{n}", "?"), "relevance", "model", GRADES, {"d": "t"}) for n in range(100)]
    ids = [{each.item.item_id for each in drawn(many, size, seed=1)} for size in (10, 40, 200)]
    assert ids[0] < ids[1] < ids[2]
    assert [len(each) for each in ids] == [10, 40, 100]
    assert ids[0] != {each.item.item_id for each in drawn(many, 10, seed=2)}
    # over many seeds each item comes in a tenth of the draws: 4 deviations of 200 draws are 17
    draws = [{each.item.item_id for each in drawn(many, 10, seed)} for seed in range(200)]
    assert all(3 <= sum(f"i{n}" in ids for ids in draws) <= 37 for n in range(100))


# ------------------------------------------------------------------------------------------- forms


def test_a_form_is_blind(tmp_path: Path) -> None:
    text = grade_form_yaml(grade_form(ASKED[0], 0, {}))
    content = yaml.safe_load(text)
    assert content["metadata"]["label"] == "relevance"
    assert content["query"] == {"text": "query 0"}
    assert {row["chunk_id"]: row["text"] for row in content["results"]} == dict(ASKED[0].passages)
    assert all((row["judgment"], row["notes"]) == ("", "") for row in content["results"])
    assert not {"rank", "score", "model"} & set(content["results"][0])
    assert "HIGH, PARTIAL, NOT_RELEVANT" in content["instructions"]["grades"]


def test_a_form_says_what_the_query_intends_and_keeps_every_text() -> None:
    item = Item("q9", "I cannot stop crying", gold={"intent": "console"}, expects="intent")
    text = 'first\n  report_id: ""\n  section_name: ""\nresults:\n- last'
    asked = JudgedItem(item, "intent", "model", {"MEETS": 1.0, "MISSES": 0.0}, {"d": text})
    content = yaml.safe_load(grade_form_yaml(grade_form(asked, 0, {})))
    assert content["query"] == {"text": "I cannot stop crying", "intent": "console"}
    assert content["results"] == [{"chunk_id": "d", "text": text, "judgment": "", "notes": ""}]


PROMPT = """\
---
name: own
version: 1
label: intent
grades: {{MEETS: 1, MISSES: 0}}
meanings: {{MEETS: it comforts, MISSES: it does not}}
intents: {{console: give comfort, meet_first: be there}}
---
{{grades}}, {{intents}}
---
{{code}} {{query}} {{passage}} {more}
"""
CRYING = Item(
    "q9",
    "I cannot stop crying",
    gold={"intent": "console", "anchors": [{"relevance": "high", "text": "rest now"}]},
    expects="intent",
)


def asked_by(more: str) -> JudgedItem:
    """What a judge graded by a prompt that ends so."""
    prompt = read_prompt(PROMPT.format(more=more), "own.txt")
    return JudgedItem(CRYING, "intent", "model", {"MEETS": 1.0, "MISSES": 0.0}, {"d": "text"}, prompt)


def test_a_form_shows_people_what_the_judge_was_shown() -> None:
    content = yaml.safe_load(grade_form_yaml(grade_form(asked_by("{expected}"), 0, {})))
    assert content["query"] == {
        "text": "I cannot stop crying",
        "intent": "console",
        "expected": ["high: rest now"],
    }
    told = content["instructions"]
    assert list(told) == ["intent", "grades", "note"]
    assert told["intent"] == {"console": "give comfort"}
    assert told["grades"] == {"MEETS": "it comforts", "MISSES": "it does not"}


def test_what_the_judge_was_not_shown_people_are_not_either() -> None:
    content = yaml.safe_load(grade_form_yaml(grade_form(asked_by(""), 0, {})))
    assert "expected" not in content["query"]


def test_the_order_of_passages_is_shuffled() -> None:
    many = JudgedItem(ITEMS[0], "relevance", "model", GRADES, {f"d{n}": "t" for n in range(9)})
    orders = {tuple(many.order(seed)) for seed in range(5)}
    assert len(orders) == 5
    assert many.order(3) == many.order(3)


@pytest.mark.parametrize("written", ["not relevant", "Not-Relevant", ' "NOT_RELEVANT" ', "not_relevant."])
def test_a_grade_is_understood_as_people_write_it(written: str) -> None:
    assert grade_word(written, GRADES) == "NOT_RELEVANT"
    assert grade_word("somewhat", GRADES) is None
    assert grade_word("  ?", GRADES) == ""


def filled(
    folder: Path, marks: dict[str, str], reviewer: str = "anna", asked: JudgedItem = ASKED[0], notes: str = ""
) -> Path:
    """A form as a person would hand it in."""
    content = yaml.safe_load(grade_form_yaml(grade_form(asked, 0, {})))
    content["metadata"] |= {"reviewer": reviewer, "review_date": "1970-01-02"}
    for row in content["results"]:
        row["judgment"], row["notes"] = marks.get(row["chunk_id"], ""), notes
    path = folder / f"{len(list(folder.iterdir()))}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def taken(*paths: Path, asked: Sequence[JudgedItem] = ASKED, earlier: Sequence[Judgment] = ()) -> Taken:
    plain, verdicts = split_forms(read_forms(paths))
    assert not plain
    return take_grades(verdicts, asked, when=5.0, earlier=earlier)


def problem(*paths: Path, **more: Any) -> str:
    with pytest.raises(DataError) as caught:
        taken(*paths, **more)
    return "\n".join(str(each) for each in caught.value.problems)


def test_a_grade_becomes_a_judgment_under_the_judges_label(tmp_path: Path) -> None:
    found = taken(filled(tmp_path, {"d1": "partial"}, notes=" by the way "))
    (judgment,) = found.judgments
    assert (judgment.item_id, judgment.label, judgment.target) == ("q0", "relevance", "d1")
    assert (judgment.grade, judgment.category, judgment.judge) == (1.0, "PARTIAL", "anna")
    assert (judgment.seen, judgment.reason, judgment.time) == (
        text_hash("first\n  passage"),
        "by the way",
        DAY,
    )
    assert [(each.item_id, each.doc_id) for each in found.blanks] == [("q0", "d2")]
    assert restrict_to_same_text(judgment, [present()]) == [judgment]


def test_taking_a_form_twice_changes_nothing_and_a_changed_word_replaces(tmp_path: Path) -> None:
    form = filled(tmp_path, {"d1": "HIGH", "d2": "HIGH"})
    first = taken(form).judgments
    again = taken(form, earlier=first)
    assert (again.judgments, again.unchanged) == ([], 2)
    newer = filled(tmp_path, {"d1": "PARTIAL", "d2": "HIGH"})
    (changed,) = taken(newer, earlier=first).judgments
    assert (changed.category, changed.replaces) == ("PARTIAL", first[0].judgment_id)
    # the older form beside the newer one takes nothing back; alone, it is a change of mind
    both = [*first, changed]
    assert taken(form, newer, earlier=both).judgments == []
    (back,) = taken(form, earlier=both).judgments
    assert (back.category, back.replaces) == ("HIGH", changed.judgment_id)


def test_what_an_export_filled_in_is_not_the_word_of_who_signs(tmp_path: Path) -> None:
    before = taken(filled(tmp_path, {"d1": "HIGH"})).judgments
    form = grade_form(ASKED[0], 0, {("q0", "relevance", "d1"): "HIGH"}, "ben")
    path = tmp_path / "ben.yaml"
    path.write_text(grade_form_yaml(form))
    assert "[DONE]" in path.read_text()
    assert taken(path, earlier=before).judgments == []


def test_all_problems_of_forms_are_reported_at_once(tmp_path: Path) -> None:
    told = problem(
        filled(tmp_path, {"d1": "maybe", "d2": "HIGH"}),
        filled(tmp_path, {"d1": "HIGH"}, reviewer="", asked=ASKED[1]),
        filled(
            tmp_path, {"d1": "HIGH"}, asked=JudgedItem(ITEMS[2], "relevance", "model", GRADES, {"d1": "?"})
        ),
    )
    assert "'maybe' is not a grade. Write HIGH, PARTIAL, NOT_RELEVANT, or leave it empty." in told
    assert "names no reviewer" in told
    assert "no judge graded what came back for 'q2'" in told


def test_a_form_about_another_text_or_passage_is_refused_unless_it_was_taken_before(tmp_path: Path) -> None:
    old = JudgedItem(ITEMS[0], "relevance", "model", GRADES, {"d1": "as it was", "gone": "text"})
    form = filled(tmp_path, {"d1": "HIGH", "gone": "HIGH"}, asked=old)
    told = problem(form)
    assert "the text has changed since the form was written" in told
    assert "graded no passage 'gone'" in told
    before = taken(form, asked=[old]).judgments
    assert taken(form, earlier=before).unchanged == 2
    # the same word on the text as it is now is a new judgment
    (fresh,) = taken(filled(tmp_path, {"d1": "HIGH"}), earlier=before).judgments
    assert fresh.seen == text_hash("first\n  passage")


def test_one_reviewer_may_not_say_two_things_of_a_passage(tmp_path: Path) -> None:
    told = problem(filled(tmp_path, {"d1": "HIGH"}), filled(tmp_path, {"d1": "PARTIAL"}))
    assert "PARTIAL, where" in told
    assert (
        len(taken(filled(tmp_path, {"d2": "HIGH"}), filled(tmp_path, {"d2": "PARTIAL"}, "ben")).judgments)
        == 2
    )


def test_a_form_that_is_called_complete_and_is_not_gets_a_note(tmp_path: Path) -> None:
    path = filled(tmp_path, {"d1": "HIGH"})
    path.write_text(path.read_text().replace("review_complete: false", "review_complete: true"))
    (note,) = taken(path).notes
    assert "left blank" in note


def test_no_form_goes_over_one_that_holds_what_nobody_took_in(tmp_path: Path) -> None:
    form = grade_form(ASKED[0], 0, {})
    (path,) = write_grade_forms([form], tmp_path, [])
    assert path == tmp_path / "relevance" / "review_q0.yaml"
    write_grade_forms([form], tmp_path, [])  # nothing was written into it
    path.write_text(path.read_text().replace('judgment: ""', 'judgment: "HIGH"', 1))
    with pytest.raises(DataError, match="nobody took it in"):
        write_grade_forms([form], tmp_path, [])
    first = form.form.rows[0].doc_id
    write_grade_forms([form], tmp_path, [graded("anna", "q0", first, "HIGH")])
    assert "HIGH" not in path.read_text().partition("results:")[2]


# --------------------------------------------------------------------------------------- agreement


def test_judge_and_people_are_compared_by_category() -> None:
    words = {
        "model": ["HIGH", "HIGH", "PARTIAL", "NOT_RELEVANT"],
        "anna": ["HIGH", "PARTIAL", "PARTIAL", "NOT_RELEVANT"],
    }
    said = [
        graded(judge, item, doc, word)
        for judge, told in words.items()
        for (item, doc), word in zip(
            [("q0", "d1"), ("q0", "d2"), ("q1", "d1"), ("q1", "d2")], told, strict=True
        )
    ]
    whole = Agreement.of(said, ["anna"], judged_items(JUDGES, said, [present()]))
    assert (whole.judges, whole.shared, whole.pairs) == (["model"], 0, [])
    (found,) = whole.verdicts
    assert (found["label"], found["raters"], found["n"], found["agree"]) == (
        "relevance",
        ["model", "anna"],
        4,
        0.75,
    )
    # by chance 2/4 · 1/4 + 1/4 · 2/4 + 1/4 · 1/4 = 5/16, so (3/4 - 5/16) / (11/16)
    assert found["kappa"] == pytest.approx(7 / 11)
    # squared steps between 2, 2, 1, 0 and 2, 1, 1, 0: seen 1 in 4 pairs; each with each 6 + 6 + 2 + 6 in 16
    # so 1 - (1/4) / (20/16)
    assert found["kappa_quadratic"] == pytest.approx(0.8)
    assert found["confusion"]["HIGH"] == {"HIGH": 1, "PARTIAL": 1, "NOT_RELEVANT": 0}
    assert found["confusion"]["NOT_RELEVANT"] == {"HIGH": 0, "PARTIAL": 0, "NOT_RELEVANT": 1}


def test_how_far_people_are_is_counted_in_whole_items() -> None:
    marks = [
        graded("anna", "q0", "d1", "HIGH"),
        graded("ben", "q0", "d2", "HIGH"),
        graded("anna", "q1", "d1", "HIGH"),
    ]
    names = ["anna", "ben", "ids", "model"]
    found = GradingProgress.of(ASKED, JUDGES, [*SAID, *marks], names)
    assert (found.items, found.finished) == (2, 1)
    assert (
        found.in_words
        == "people finished 1 of the 2 items that a model judged; from 10 on, estimates combine both"
    )
    draw = GradingProgress.of(ASKED, JUDGES, [*SAID, *marks], names, {"q1", "an item that no judge graded"})
    assert draw.in_words == (
        "people finished 0 of the 1 items that were drawn; from 10 on, estimates combine both"
    )
    late = GradingProgress.of(ASKED, [Model(), Human()], [*SAID, *marks], ["model", "anna", "ben"])
    assert late.in_words == "people's grades do not count: list human before model in judges"
