"""Review forms in: whose word each row is, what is refused, and that importing twice changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.records import Item, Judgment, Passage
from assay.judges.labels import current_judgments, text_hash, text_with_query
from assay.review.export import blind_forms, write_forms
from assay.review.forms import FormRow, ReviewForm, read_forms
from assay.review.pool import Candidate, Pool
from review_intake import Taken, take

WHEN = 1000.0
DAY = 86_400.0
TEXTS = {f"d{n}": f"Passage number {n},\n  about  rudders." for n in range(1, 7)}
CORPUS = Corpus([Passage(doc_id, text, section="ANALYSIS") for doc_id, text in TEXTS.items()])
ITEMS = [Item("Q1", "first query", tags={"review": ["yes"]}), Item("Q2", "second query")]


def candidate(doc_id: str, mark: str | None = None, *, by: bool = False, reason: str = "") -> Candidate:
    return Candidate("Q1", doc_id, frozenset({"a"}), mark, by, reason)


# d1, d2 open; d3 by rule; d4 by a person; d5 and d6 are in the corpus, and no arm returned them
KNOWN = [
    candidate("d1"),
    candidate("d2"),
    candidate("d3", "KEYWORD_MATCH", reason="signal: rudder"),
    candidate("d4", "SEMANTIC_MATCH", by=True),
]
POOL = Pool(10, ("a",), ITEMS, KNOWN, {}, reasons=("signal", "sql"))


def form(*rows: FormRow, reviewer: str = "Ann", date: str = "1970-01-02", **more: object) -> ReviewForm:
    return ReviewForm("Q1", rows, reviewer=reviewer, review_date=date, **more)  # type: ignore[arg-type]


def taken(*forms: ReviewForm, pool: Pool = POOL, before: list[Judgment] | None = None, **more: str) -> Taken:
    return take(forms, pool, CORPUS, when=WHEN, standing=before or [], **more)


def problems(*forms: ReviewForm, **more: object) -> list[str]:
    with pytest.raises(DataError) as caught:
        taken(*forms, **more)  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


def marks(taking: Taken) -> list[tuple[str | None, str | None]]:
    return [(each.target, each.category) for each in taking.judgments]


# --------------------------------------------------------------------------- whose word it is


def test_a_judgment_becomes_a_record() -> None:
    (judgment,) = taken(form(FormRow("d1", judgment="false positive", notes=" metal fatigue "))).judgments
    assert msgspec.structs.replace(judgment, judgment_id=None) == Judgment(
        "Q1",
        "review",
        0.0,
        "Ann",
        target="d1",
        category="FALSE_POSITIVE",
        seen=text_hash(text_with_query("first query", TEXTS["d1"])),
        reason="metal fatigue",
        time=DAY,
    )
    assert judgment.judgment_id


def test_both_kinds_of_match_are_relevant() -> None:
    found = taken(
        form(FormRow("d1", judgment="SEMANTIC_MATCH"), FormRow("d2", judgment="KEYWORD_MATCH"))
    ).judgments
    assert [each.grade for each in found] == [1.0, 1.0]
    assert [each.reason for each in found] == [None, None]


def test_what_a_rule_filled_in_is_nobodys_word() -> None:
    found = taken(form(FormRow("d3", judgment="KEYWORD_MATCH", notes="[AUTO] signal: rudder"), reviewer=""))
    assert (found.judgments, found.auto, found.blanks, found.notes) == ([], 1, [], [])


def test_a_person_may_overrule_a_rule() -> None:
    (judgment,) = taken(
        form(FormRow("d3", judgment="FALSE_POSITIVE", notes="[AUTO] signal: rudder"))
    ).judgments
    assert (judgment.category, judgment.reason) == ("FALSE_POSITIVE", None)  # the rule's reason is not Ann's
    row = FormRow("d3", judgment="FALSE_POSITIVE", notes="[AUTO] signal: rudder - of a boat")
    assert taken(form(row)).judgments[0].reason == "of a boat"


def test_a_remark_on_what_a_rule_filled_in_is_the_confirmation_of_who_signed() -> None:
    row = FormRow("d3", judgment="KEYWORD_MATCH", notes="[AUTO] signal: rudder; but in passing")
    found = taken(form(row))
    assert [(each.category, each.reason, each.judge) for each in found.judgments] == [
        ("KEYWORD_MATCH", "but in passing", "Ann")
    ]
    assert (found.auto, found.notes) == (0, [])
    again = taken(form(row), before=found.judgments)
    assert (again.judgments, again.unchanged) == ([], 1)
    nobody = taken(form(row, reviewer=""))
    assert (nobody.judgments, nobody.auto) == ([], 1)
    assert nobody.notes == ["Remarks on [AUTO] in forms that nobody signed, not taken: 1."]


@pytest.mark.parametrize(
    "notes",
    [
        "[AUTO] signal:  rudder\n",  # our own, with other spaces
        "[AUTO] Report ID in expected list",  # another program's
        "[AUTO]",
        "[AUTO] signal: rudders",  # ours of an earlier export, when the rules found more
        "[AUTO] signal: rudder; sql: text LIKE '%rudder%'",
    ],
)
def test_notes_that_a_program_wrote_are_no_remark(notes: str) -> None:
    found = taken(form(FormRow("d3", judgment="KEYWORD_MATCH", notes=notes)))
    assert (found.judgments, found.auto, found.notes) == ([], 1, [])


def test_a_remark_that_looks_like_a_reason_is_one_only_if_a_rule_gives_such_reasons() -> None:
    notes = "[AUTO] signal: rudder; wrong: it is another ship"
    found = taken(form(FormRow("d3", judgment="KEYWORD_MATCH", notes=notes)))
    assert [(each.category, each.reason) for each in found.judgments] == [
        ("KEYWORD_MATCH", "wrong: it is another ship")
    ]


def test_where_a_rule_gives_no_reason_what_follows_the_tag_is_the_rules() -> None:
    pool = replace(POOL, candidates=[candidate("d3", "KEYWORD_MATCH")])
    row = FormRow("d3", judgment="KEYWORD_MATCH", notes="[AUTO] Report ID in expected list")
    assert taken(form(row), pool=pool).auto == 1


def test_a_keyword_match_that_no_rule_finds_is_the_reviewers_word() -> None:
    found = taken(form(FormRow("d1", judgment="KEYWORD_MATCH"), FormRow("d3", judgment="KEYWORD_MATCH")))
    assert marks(found) == [("d1", "KEYWORD_MATCH"), ("d3", "KEYWORD_MATCH")]
    assert found.notes == ["Called KEYWORD_MATCH although no rule matches, taken as the reviewer's word: 1."]


def test_a_filled_in_match_whose_rule_is_gone_is_to_be_judged_unless_the_form_was_called_complete() -> None:
    row = FormRow("d1", judgment="KEYWORD_MATCH", notes="[AUTO] signal: gone")
    found = taken(form(row))
    assert (found.judgments, found.auto, [each.doc_id for each in found.blanks]) == ([], 0, ["d1"])
    assert found.notes == ["Marked [AUTO] where no rule matches any more, not taken and still to judge: 1."]
    assert marks(taken(form(row, complete=True))) == [("d1", "KEYWORD_MATCH")]
    outside = replace(row, doc_id="d5")
    assert taken(form(outside, complete=True)).auto == 1


def test_what_was_done_before_is_unchanged_until_somebody_changes_it() -> None:
    done = FormRow("d4", judgment="SEMANTIC_MATCH", notes="[DONE]")
    found = taken(form(done, reviewer=""))
    assert (found.judgments, found.unchanged) == ([], 1)
    (judgment,) = taken(form(replace(done, judgment="FALSE_POSITIVE"))).judgments
    assert (judgment.category, judgment.reason) == ("FALSE_POSITIVE", None)
    (judgment,) = taken(form(replace(done, judgment="FALSE_POSITIVE", notes="[DONE] no"))).judgments
    assert (judgment.category, judgment.reason) == ("FALSE_POSITIVE", "no")


@pytest.mark.parametrize("word", ["", "  ", "TODO", "?", '""'])
def test_blanks_are_listed(tmp_path: Path, word: str) -> None:
    (path,) = write_forms([form(FormRow("d1", TEXTS["d1"], judgment=word), complete=True)], tmp_path)
    found = taken(*read_forms([path]))
    line = path.read_text("utf-8").splitlines().index("- chunk_id: d1") + 1
    assert found.blanks == [(str(path), line, "Q1", "d1")]
    assert found.notes == [f"{path}:{line}: the form says that it is complete; judgments left blank: 1."]
    assert found.judgments == []


def test_a_passage_outside_the_pool_is_taken_and_noted() -> None:
    found = taken(form(FormRow("d5", judgment="SEMANTIC_MATCH")))
    assert marks(found) == [("d5", "SEMANTIC_MATCH")]
    assert found.notes == ["Taken although no system returns the passage within 10 now: 1."]


# -------------------------------------------------------------------------- reviewer and date


def test_the_form_names_its_reviewer_and_the_call_only_where_it_does_not() -> None:
    rows = FormRow("d1", judgment="SEMANTIC_MATCH"), FormRow("d2", judgment="SEMANTIC_MATCH")
    found = taken(form(rows[0], reviewer="Bo"), form(rows[1], reviewer="YOUR NAME"), reviewer="Ann")
    assert [each.judge for each in found.judgments] == ["Bo", "Ann"]


def test_judgments_of_nobody_are_refused() -> None:
    assert problems(form(FormRow("d1", judgment="SEMANTIC_MATCH"), reviewer="[name]")) == [
        "metadata.reviewer: the form holds judgments and names no reviewer. Write the reviewer's name there."
    ]


def test_a_date_that_cannot_be_read_gives_way_to_the_time_of_the_import() -> None:
    row = FormRow("d1", judgment="SEMANTIC_MATCH")
    found = taken(form(row, date="last week"))
    assert found.judgments[0].time == WHEN
    assert found.notes == [
        "metadata.review_date: this is not a date, and the time of the import counts. Write it as 2026-01-31."
    ]
    found = taken(form(row, date=""))
    assert found.judgments[0].time == WHEN
    assert found.notes == ["Forms without a review_date, for which the time of the import counts: 1."]


# ---------------------------------------------------------------------------------- problems


def test_every_problem_of_every_form_comes_at_once(tmp_path: Path) -> None:
    good = FormRow("d1", TEXTS["d1"], judgment="SEMANTIC_MATCH")
    bad = [
        FormRow("d2", TEXTS["d2"], judgment="KM"),
        FormRow("d9", judgment="SEMANTIC_MATCH"),
        FormRow("d4", "something else", judgment="SEMANTIC_MATCH"),
    ]
    forms = [
        ReviewForm("Q9", (good,), reviewer="Ann"),
        ReviewForm("Q1", (good, *bad), text="other query", reviewer="Ann"),
    ]
    write_forms(forms, tmp_path)
    found = problems(*read_forms([tmp_path]))
    lines = (tmp_path / "review_Q1.yaml").read_text("utf-8").splitlines()
    at = [
        lines.index(line) + 1
        for line in ("  text: other query", '  judgment: "KM"', "- chunk_id: d9", "    something else")
    ]
    one, other = (f"{tmp_path}/review_{item_id}.yaml" for item_id in ("Q1", "Q9"))
    again = "Export the form again, and judge"
    changed = "has changed since the form was written"
    words = "KEYWORD_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE"
    nobody = "no system returned 'd9' for this query, and the corpus has no such passage"
    query = f"the query {changed}: it reads 'first query' now. {again} for the query as it is now."
    assert found == [
        f"{one}:{at[0]}: query.text: {query}",
        f"{one}:{at[1]}: results.1.judgment: 'KM' is not a judgment. Write {words}, or leave it empty.",
        f"{one}:{at[2]}: results.2.chunk_id: {nobody}. Known: d1, d2, d3, d4.",
        f"{one}:{at[3] - 1}: results.3.text: the text {changed}. {again} the text as it is now.",
        f"{other}:2: metadata.query_id: no query 'Q9' wants a review. Known: Q1, Q2.",
    ]


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"text": "Passage   number 1, about\trudders. "},
        {"text": "[ANALYSIS] Passage number 1, about rudders."},
        {"preview": "Passage number 1, ab"},
        {"preview": "Passage number 1,..."},
        {"preview": "[ANY SECTION] Passage number 1…"},
    ],
)
def test_a_text_agrees_in_spite_of_spaces_cuts_and_section_names(shown: dict[str, Any]) -> None:
    assert len(taken(form(FormRow("d1", judgment="SEMANTIC_MATCH", **shown))).judgments) == 1


@pytest.mark.parametrize(
    "shown",
    [
        {"text": "Passage number 1, about"},
        {"text": "Passage number 2, about rudders."},
        {"preview": "number 1"},
    ],
)
def test_another_text_is_refused(shown: dict[str, Any]) -> None:
    (found,) = problems(form(FormRow("d1", judgment="SEMANTIC_MATCH", **shown)))
    assert "the text has changed since the form was written" in found


def test_two_words_of_one_reviewer_on_one_passage_are_refused_and_one_word_is_taken_once(
    tmp_path: Path,
) -> None:
    row = FormRow("d1", judgment="SEMANTIC_MATCH", rank=1)
    twice = [form(row, model="x"), form(replace(row, notes="why"), model="y")]
    (judgment,) = taken(*twice).judgments
    assert judgment.reason == "why"
    twice[1] = form(replace(row, judgment="FALSE_POSITIVE"), model="y")
    write_forms(twice, tmp_path)
    (found,) = problems(*read_forms([tmp_path]))
    first = f"{tmp_path}/review_Q1_x.yaml"
    assert found.startswith(f"{tmp_path}/review_Q1_y.yaml:")
    assert f"FALSE_POSITIVE, where {first}:" in found
    other = replace(twice[1], reviewer="Bo")
    assert len(taken(twice[0], other).judgments) == 2  # people may disagree


# ------------------------------------------------------------------------------ earlier marks


def test_importing_twice_changes_nothing() -> None:
    rows = [
        FormRow("d1", judgment="SEMANTIC_MATCH", notes="a"),
        FormRow("d3", judgment="FALSE_POSITIVE", notes="[AUTO] signal: rudder"),
    ]
    first = taken(form(*rows, date="")).judgments
    again = take([form(*rows, date="")], POOL, CORPUS, when=WHEN + 5, standing=first)
    assert (again.judgments, again.unchanged, again.notes) == ([], 2, [])


def test_a_changed_word_replaces_the_reviewers_own_and_nobody_elses() -> None:
    first = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH"))).judgments
    bo = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH"), reviewer="Bo"), before=first).judgments
    assert bo[0].replaces is None
    new = taken(form(FormRow("d1", judgment="FALSE_POSITIVE")), before=[*first, *bo]).judgments
    assert new[0].replaces == first[0].judgment_id
    assert current_judgments([*first, *bo, *new]) == [*bo, *new]


def test_who_goes_back_to_an_earlier_word_is_heard() -> None:
    """The same word, note and day three times over: what stands is the last."""
    said: list[Judgment] = []
    for word in ("SEMANTIC_MATCH", "FALSE_POSITIVE", "SEMANTIC_MATCH"):
        said += taken(form(FormRow("d1", judgment=word)), before=said).judgments
    assert len(said) == 3
    assert current_judgments(said) == [said[2]]


def test_the_same_mark_on_a_changed_text_is_a_new_judgment() -> None:
    (old,) = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH"))).judgments
    stale = msgspec.structs.replace(old, seen=text_hash("an earlier text"))
    (new,) = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH")), before=[stale]).judgments
    assert new.replaces == old.judgment_id


def test_the_same_mark_for_a_changed_query_is_a_new_judgment() -> None:
    (old,) = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH"))).judgments
    pool = replace(POOL, items=[replace_text(ITEMS[0], "another query")])
    (new,) = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH")), pool=pool, before=[old]).judgments
    assert (new.replaces, new.seen) == (
        old.judgment_id,
        text_hash(text_with_query("another query", TEXTS["d1"])),
    )


def replace_text(item: Item, text: str) -> Item:
    return msgspec.structs.replace(item, text=text)


def with_mark(doc_id: str, mark: str) -> Pool:
    known = [replace(each, mark=mark, by_person=True) if each.doc_id == doc_id else each for each in KNOWN]
    return replace(POOL, candidates=known)


def test_a_word_changed_in_one_form_is_not_undone_by_copies_of_the_old_one() -> None:
    """An old form, a new one with the change, and one of another model that nobody touched."""
    old = form(FormRow("d1", judgment="SEMANTIC_MATCH"))
    first = taken(old).judgments
    changed = form(FormRow("d1", judgment="FALSE_POSITIVE", notes="[DONE]"))
    copy = form(FormRow("d1", judgment="SEMANTIC_MATCH", notes="[DONE]"), model="y")
    second = taken(old, changed, copy, pool=with_mark("d1", "SEMANTIC_MATCH"), before=first)
    assert marks(second) == [("d1", "FALSE_POSITIVE")]
    said = [*first, *second.judgments]
    third = taken(old, changed, copy, pool=with_mark("d1", "FALSE_POSITIVE"), before=said)
    assert (third.judgments, third.unchanged) == ([], 3)
    alone = taken(copy, pool=with_mark("d1", "FALSE_POSITIVE"), before=said)
    assert alone.judgments == []
    assert alone.notes == [
        "An earlier mark again under [DONE]; say why after [DONE] to go back to it; not taken: 1."
    ]


def test_a_reviewer_may_agree_with_somebody_who_was_overruled() -> None:
    """Ann said SEMANTIC_MATCH, which counts, Bo FALSE_POSITIVE; Cy changes the row to what Bo said."""
    ann = taken(form(FormRow("d4", judgment="SEMANTIC_MATCH"))).judgments
    bo = taken(form(FormRow("d4", judgment="FALSE_POSITIVE"), reviewer="Bo")).judgments
    cy = form(FormRow("d4", judgment="FALSE_POSITIVE", notes="[DONE]"), reviewer="Cy")
    assert marks(taken(cy, before=[*ann, *bo])) == [("d4", "FALSE_POSITIVE")]


def test_marks_under_other_labels_do_not_count() -> None:
    (old,) = taken(form(FormRow("d1", judgment="SEMANTIC_MATCH"))).judgments
    other = msgspec.structs.replace(old, label="accuracy")
    assert taken(form(FormRow("d1", judgment="FALSE_POSITIVE")), before=[other]).judgments[0].replaces is None


# ------------------------------------------------------------- forms whose texts have changed


CHANGED = "About a query or text that has changed since the form was written, taken in before: {}."
OLD = (
    FormRow("d1", "an old text", judgment="SEMANTIC_MATCH", notes="a"),
    FormRow("d2", "an old text"),
    FormRow("d3", "an old text", judgment="KEYWORD_MATCH", notes="[AUTO] signal: rudder"),
    FormRow("d4", "an old text", judgment="FALSE_POSITIVE", notes="[DONE]"),
)


def said_before() -> list[Judgment]:
    """What Ann said of the old text of d1, and Bo of d4; Bo has changed his mind since."""
    rows = {
        "Ann": FormRow("d1", judgment="SEMANTIC_MATCH", notes="a"),
        "Bo": FormRow("d4", judgment="FALSE_POSITIVE"),
    }
    first = [each for name, row in rows.items() for each in taken(form(row, reviewer=name)).judgments]
    first = [msgspec.structs.replace(each, seen=text_hash("an old text")) for each in first]
    other = form(FormRow("d4", judgment="SEMANTIC_MATCH"), reviewer="Bo")
    return [*first, *taken(other, before=first).judgments]


def test_an_old_form_that_was_taken_in_stands_in_nobodys_way() -> None:
    """A word of Ann's, a blank, a rule's match, a mark repeated; and a new form of the present texts."""
    new = form(FormRow("d1", TEXTS["d1"], judgment="FALSE_POSITIVE"), FormRow("d2", TEXTS["d2"]))
    found = taken(form(*OLD), new, before=said_before())
    assert marks(found) == [("d1", "FALSE_POSITIVE")]
    assert (found.unchanged, found.auto, [each.doc_id for each in found.blanks]) == (2, 1, ["d2", "d2"])
    assert found.notes == [CHANGED.format(2)]
    again = taken(form(*OLD), new, before=[*said_before(), *found.judgments])
    assert (again.judgments, again.unchanged) == ([], 3)


def test_an_old_form_of_a_query_that_has_changed_stands_in_nobodys_way() -> None:
    rows = [replace(row, text=TEXTS[row.doc_id]) for row in OLD]
    found = taken(form(*rows, text="an old query"), before=said_before())
    assert (found.judgments, found.unchanged, found.auto, found.notes) == ([], 2, 1, [CHANGED.format(2)])


def test_an_old_form_of_what_is_gone_stands_in_nobodys_way() -> None:
    gone = [msgspec.structs.replace(each, target="d9") for each in said_before()[:1]]
    assert taken(form(replace(OLD[0], doc_id="d9")), before=gone).notes == [CHANGED.format(1)]
    gone = [msgspec.structs.replace(each, item_id="Q9") for each in said_before()[:1]]
    assert taken(replace(form(OLD[0]), item_id="Q9"), before=gone).notes == [CHANGED.format(1)]


def test_a_new_word_on_an_old_text_is_refused_and_nothing_else_in_the_form() -> None:
    """Ann never called d1 a false positive; Cy never said anything of it."""
    (found,) = problems(form(replace(OLD[0], judgment="FALSE_POSITIVE"), *OLD[1:]), before=said_before())
    assert found.startswith("results.0.text: the text has changed since the form was written")
    (found,) = problems(form(*OLD, reviewer="Cy"), before=said_before())
    assert found.startswith("results.0.text")
    (found,) = problems(form(*OLD[1:3], replace(OLD[3], notes="[DONE] no")), before=said_before())
    assert found.startswith("results.2.text")
    (found,) = problems(form(replace(OLD[0], text=""), text="an old query"))
    assert found.startswith("query.text: the query has changed since the form was written")


def test_a_complete_form_does_not_make_a_persons_word_of_a_match_on_an_old_text() -> None:
    row = FormRow("d1", "an old text", judgment="KEYWORD_MATCH", notes="[AUTO] signal: gone")
    found = taken(form(row, complete=True))
    assert (found.judgments, [each.doc_id for each in found.blanks]) == ([], ["d1"])


def test_a_mark_that_an_export_repeats_as_a_keyword_match_is_no_new_word() -> None:
    """Ann said SEMANTIC_MATCH; a rule found d1 later, and an export showed it so; then the text changed."""
    row = FormRow("d1", "an old text", judgment="KEYWORD_MATCH", notes="[DONE]")
    assert taken(form(row, reviewer="Cy"), before=said_before()).notes == [CHANGED.format(1)]


# --------------------------------------------------------------------------- whose marks count


def test_judgments_of_who_does_not_count_are_taken_and_noted() -> None:
    rows = FormRow("d1", judgment="SEMANTIC_MATCH"), FormRow("d2", judgment="SEMANTIC_MATCH")
    forms = [form(*rows, reviewer="ann"), form(rows[0], reviewer="Bo")]
    found = take(forms, POOL, CORPUS, when=WHEN, standing=[], counted=["Ann", "Bo"])
    assert len(found.judgments) == 3
    assert found.notes == ["2 judgments by 'ann' do not count: the study lists Ann, Bo."]
    assert take(forms, POOL, CORPUS, when=WHEN, standing=[], counted=None).notes == []
    nobody = take(forms[1:], POOL, CORPUS, when=WHEN, standing=[], counted=[])
    assert nobody.notes == ["1 judgments by 'Bo' do not count: the study lists nobody."]


# --------------------------------------------------------------------------- a whole review


def test_forty_forms_of_two_models(tmp_path: Path) -> None:
    """20 queries, 10 passages each model, of which 4 are the same: 20 · (10 + 10 - 4) = 320 judgments."""
    corpus = Corpus([Passage(f"p{n}", f"text {n}") for n in range(16)])
    items = [Item(f"Q{n:02d}", f"query {n}") for n in range(20)]
    known = [Candidate(item.item_id, f"p{n}", frozenset({"x"}), None) for item in items for n in range(16)]
    pool = Pool(10, ("x", "y"), items, known, {})
    forms = [
        ReviewForm(
            item.item_id,
            tuple(
                FormRow(f"p{start + n}", preview=f"text {start + n}", judgment="semantic match")
                for n in range(10)
            ),
            item.text,
            model=model,
            reviewer="Ann",
            review_date="2026/01/31",
            complete=True,
        )
        for item in items
        for model, start in (("x", 0), ("y", 6))
    ]
    assert len(write_forms(forms, tmp_path)) == 40
    found = take(read_forms([tmp_path]), pool, corpus, when=WHEN, standing=[])
    assert (len(found.judgments), found.blanks, found.notes) == (320, [], [])
    assert len({each.judgment_id for each in found.judgments}) == 320
    again = take(read_forms([tmp_path]), pool, corpus, when=WHEN, standing=found.judgments)
    assert (again.judgments, again.unchanged) == ([], 320)


def test_an_export_that_nobody_filled_in_brings_nothing(tmp_path: Path) -> None:
    write_forms(blind_forms(POOL, CORPUS), tmp_path)
    found = taken(*read_forms([tmp_path]))
    assert (found.judgments, found.auto, found.unchanged, found.notes) == ([], 1, 1, [])
    assert {each.doc_id for each in found.blanks} == {"d1", "d2"}
