"""Reads the judgments in review forms: who made each judgment, and whether it is new.

A row that a rule filled in is not a person's judgment. A row in which an export repeated a judgment is not a
new judgment. Every other judgment in a form is its reviewer's, even if it contradicts a rule. Earlier
judgments stay, except those that their reviewer changes. Importing a form twice changes nothing, even if its
texts changed in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple, get_args

from assay.core.dataset import Corpus, digest
from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.records import Item, Judgment
from assay.judges.labels import current_judgments as still_standing
from assay.judges.labels import text_with_query
from assay.measures.marks import GRADES, KEYWORD_MATCH, REVIEW
from assay.review.export import rule_notes
from assay.review.forms import (
    AUTO,
    DONE,
    FormRow,
    ReviewForm,
    added_notes,
    collapse_spaces,
    parse_mark,
    reviewer_notes,
)
from assay.review.passage_work import FilledPassage, PassageTask
from assay.review.pool import Candidate, Pool

Key = tuple[str, str]  # item and passage
Who = tuple[str, str, str]  # reviewer, item and passage
Kind = Literal["unread", "blank", "auto", "outdated", "remarked", "older", "done", "repeated", "spoken"]
_SAID_BEFORE: tuple[Kind, ...] = ("older", "done", "repeated")


class BlankRow(NamedTuple):
    """A row that nobody has judged yet."""

    file: str
    line: int | None
    item_id: str
    doc_id: str


@dataclass(frozen=True)
class ReviewImport:
    """The result of reading forms: the new marks, and counts of the other rows."""

    filled: list[FilledPassage]
    unchanged: int  # rows judged before in the same words
    auto: int  # rows that a rule filled in
    blanks: list[BlankRow]
    notes: list[str]  # what a person should know, one sentence each


@dataclass(frozen=True)
class _FormMark:
    """A row of a form, with its reviewer."""

    form: ReviewForm
    index: int
    row: FormRow
    reviewer: str

    @property
    def mark(self) -> str:
        return parse_mark(self.row.judgment) or ""

    @property
    def key(self) -> Key:
        return self.form.item_id, self.row.doc_id

    @property
    def blank(self) -> BlankRow:
        return BlankRow(self.form.lines.where, self.form.lines.of(("results", self.index)), *self.key)

    @property
    def who(self) -> Who:
        return self.reviewer, *self.key


@dataclass(frozen=True)
class _ReviewState:
    """The data with which forms are compared: the pool, the corpus, and earlier judgments."""

    pool: Pool
    corpus: Corpus
    earlier: Sequence[Judgment]

    @cached_property
    def items(self) -> Mapping[str, Item]:
        return {item.item_id: item for item in self.pool.items}

    @cached_property
    def candidates(self) -> Mapping[Key, Candidate]:
        return {each.key: each for each in self.pool.candidates}

    @cached_property
    def standing(self) -> Mapping[Who, Judgment]:
        """The current judgment of each reviewer, item and passage."""
        return {(each.judge, each.item_id, each.target or ""): each for each in still_standing(self.earlier)}

    @cached_property
    def ever(self) -> set[tuple[str, ...]]:
        """Every mark that an item and passage ever got, once with its reviewer and once without."""
        marks = [(each.item_id, each.target or "", each.category or "", each.judge) for each in self.earlier]
        return {*marks, *(mark[:3] for mark in marks)}

    def kind(self, said: _FormMark) -> Kind:
        """Returns the kind of a row: who made its judgment, and whether the judgment is new."""
        known = self.candidates.get(said.key)
        if not said.mark:
            return "unread" if parse_mark(said.row.judgment) is None else "blank"
        changed = self.of_query(said.form) is not None or self.of_text(said) is not None
        if changed and self.known_before(said):
            return "older"
        if said.row.tag == AUTO and said.mark == KEYWORD_MATCH:
            if added_notes(said.row.notes, rule_notes(known.reason if known else ""), self.pool.reasons):
                return "spoken" if said.reviewer else "remarked"
            # A reviewer who calls the form complete confirms it, also if the rule is gone.
            gone = known is not None and known.mark is None
            return "auto" if not gone else "spoken" if said.form.complete and not changed else "outdated"
        if said.row.tag == DONE and not reviewer_notes(said.row.notes):
            before = (*said.key, said.mark) in self.ever
            if before if known is None else known.by_person and known.mark == said.mark:
                return "done"
            # A reviewer with a later mark need not have looked at this row, which is as it was exported.
            own = self.standing.get(said.who)
            if own is not None and before and own.category != said.mark:
                return "repeated"
        return "spoken"

    def known_before(self, said: _FormMark) -> bool:
        """Whether the reviewer made this judgment before, or an export repeats an earlier one."""
        own = (*said.key, said.mark, said.reviewer) in self.ever
        repeats = said.row.tag == DONE and not reviewer_notes(said.row.notes)
        # Forms of earlier versions show a keyword match if a rule found the passage after a person marked it.
        alike = (mark for mark, grade in GRADES.items() if grade == GRADES[said.mark])
        return own or (repeats and any((*said.key, mark) in self.ever for mark in alike))

    def overtaken(self, said: _FormMark, latest: Mapping[Who, str]) -> bool:
        """Whether a row repeats an earlier judgment that its reviewer has changed.

        The change is known because a later form shows the reviewer's newer judgment.
        """
        changed = said.row.tag != DONE and latest.get(said.who, said.mark) != said.mark
        return changed and (*said.key, said.mark, said.reviewer) in self.ever

    def of_query(self, form: ReviewForm) -> Problem | None:
        """Returns the problem of a form's query, if no new judgment about the query is possible."""
        if (item := self.items.get(form.item_id)) is not None:
            return form.query_changed(item.text)
        what, fix = f"no query {form.item_id!r} wants a review", did_you_mean(form.item_id, self.items)
        return form.lines.problem(("metadata", "query_id"), what, fix)

    def of_text(self, said: _FormMark) -> Problem | None:
        """Returns the problem of a row's passage, if no new judgment about the passage is possible."""
        doc_id, form = said.row.doc_id, said.form
        if (text := self.corpus.text_of(doc_id)) is not None:
            return form.text_changed(said.index, text)
        fix = did_you_mean(doc_id, [each.doc_id for each in self.pool.of_item(form.item_id)])
        what = f"no system returned {doc_id!r} for this query, and the corpus has no such passage"
        return form.problem(said.index, "chunk_id", what, fix)


def read_marks(
    forms: Sequence[ReviewForm],
    pool: Pool,
    corpus: Corpus,
    *,
    reviewer: str | None = None,
    when: float,
    standing: Sequence[Judgment],
    counted: Collection[str] | None = None,
) -> ReviewImport:
    """Returns the marks that forms add to earlier ones. Raises DataError with every problem of every form.

    `reviewer` is the reviewer of forms without a name, and `when` the time of forms without a date.
    `standing` holds all earlier judgments, replaced or not. `counted` are the people whose marks the study
    counts; None means all people.
    """
    known = _ReviewState(
        pool, corpus, [one for one in standing if one.label == REVIEW and one.target is not None]
    )
    of_kind: dict[Kind, list[_FormMark]] = {kind: [] for kind in get_args(Kind)}
    for form in forms:
        for index, row in enumerate(form.rows):
            said = _FormMark(form, index, row, form.signed or collapse_spaces(reviewer or ""))
            of_kind[known.kind(said)].append(said)
    shown = (*of_kind["done"], *of_kind["spoken"])
    latest = {said.who: said.mark for said in shown if said.row.tag == DONE}
    spoken = [said for said in of_kind["spoken"] if not known.overtaken(said, latest)]
    problems = [*_wrong([*spoken, *of_kind["unread"]], known), *_unsigned(spoken), *_contradictions(spoken)]
    if problems:
        raise DataError(problems)
    made = [_filled(group, known, when) for group in _grouped(spoken)]
    filled = [each for each in made if each is not None]
    counts = {kind: len(found) for kind, found in of_kind.items()}
    notes = [*_of_rows(filled, counts, known), *_uncounted(filled, counted)]
    return ReviewImport(
        filled,
        made.count(None) + counts["spoken"] - len(spoken) + sum(counts[kind] for kind in _SAID_BEFORE),
        counts["auto"] + counts["remarked"],
        [said.blank for said in (*of_kind["blank"], *of_kind["outdated"])],
        [*_of_forms(forms, spoken if filled else ()), *notes],
    )


def _wrong(new: Sequence[_FormMark], known: _ReviewState) -> list[Problem]:
    """Returns the problems of rows with a new or unreadable judgment. Problems in other rows are ignored."""
    found = [known.of_query(form) for form in {id(said.form): said.form for said in new}.values()]
    found += [known.of_text(said) for said in new]
    fix = f"Write {', '.join(GRADES)}, or leave it empty."
    for said in (each for each in new if not each.mark):
        found.append(
            said.form.problem(said.index, "judgment", f"{said.row.judgment!r} is not a judgment", fix)
        )
    return sorted((each for each in found if each), key=lambda each: (each.where, each.line or 0))


def _unsigned(spoken: Iterable[_FormMark]) -> list[Problem]:
    found = {id(said.form): said.form for said in spoken if not said.reviewer}
    what, fix = "the form holds judgments and names no reviewer", "Write the reviewer's name there."
    return [form.lines.problem(("metadata", "reviewer"), what, fix) for form in found.values()]


def _contradictions(spoken: Iterable[_FormMark]) -> list[Problem]:
    problems = []
    for first, *others in _grouped(spoken):
        for said in (each for each in others if each.mark != first.mark):
            what = f"{said.mark}, where {first.form.place(first.index)} has {first.mark} for the same passage"
            problems.append(said.form.problem(said.index, "judgment", what, "Decide for one of the two."))
    return problems


# ------------------------------------------------------------------------------------ marks


def _grouped(spoken: Iterable[_FormMark]) -> list[list[_FormMark]]:
    """Groups rows by reviewer and passage. The rows of a group may come from several forms."""
    groups: dict[Who, list[_FormMark]] = {}
    for said in spoken:
        groups.setdefault(said.who, []).append(said)
    return list(groups.values())


def _filled(group: Sequence[_FormMark], known: _ReviewState, when: float) -> FilledPassage | None:
    """Returns a reviewer's judgment of a passage, or None if the reviewer made the same judgment before."""
    said = group[0]
    candidate = known.candidates.get(said.key)
    filled = rule_notes(candidate.reason if candidate else "")
    notes = (reviewer_notes(each.row.notes, filled, known.pool.reasons) for each in group)
    reason = next(filter(None, notes), None)
    text = known.corpus.text_of(said.row.doc_id) or ""
    shown = text_with_query(known.items[said.form.item_id].text, text)
    subject = PassageTask(said.form.item_id, said.row.doc_id, REVIEW, shown)
    before = known.standing.get(said.who)
    # The same mark for another text or another query would be another judgment.
    if before is not None and (before.category, before.reason, before.seen) == (
        said.mark,
        reason,
        subject.seen,
    ):
        return None
    time = when if said.form.time is None else said.form.time
    replaces = None if before is None else before.judgment_id
    # What it replaces is part of the id: going back to an earlier mark is a new judgment.
    parts = (*said.key, said.reviewer, said.mark, reason or "", repr(time), replaces or "")
    mark_id = digest(part.encode() for part in parts)
    place = partial(said.form.problem, said.index, "judgment")
    return FilledPassage(subject, said.reviewer, said.mark, reason or "", mark_id, time, GRADES, place)


# ------------------------------------------------------------------------------------ notes


def _of_rows(filled: Sequence[FilledPassage], counts: Mapping[Kind, int], known: _ReviewState) -> list[str]:
    found = [(each.word, known.candidates.get((each.task.item_id, each.task.doc_id))) for each in filled]
    called = [each for mark, each in found if mark == KEYWORD_MATCH and each is not None]
    unruled = sum(not each.reason and (each.mark is None or each.by_person) for each in called)
    outside = sum(each is None for _, each in found)
    said = {
        "Called KEYWORD_MATCH although no rule matches, taken as the reviewer's word": unruled,
        f"Taken although no system returns the passage within {known.pool.depth} now": outside,
        f"Marked {AUTO} where no rule matches any more, not taken and still to judge": counts["outdated"],
        f"An earlier mark again under {DONE}; say why after {DONE} to go back to it; not taken": counts[
            "repeated"
        ],
        f"Remarks on {AUTO} in forms that nobody signed, not taken": counts["remarked"],
        "About a query or text that has changed since the form was written, taken in before": counts["older"],
    }
    return [f"{what}: {count}." for what, count in said.items() if count]


def _uncounted(filled: Iterable[FilledPassage], counted: Collection[str] | None) -> list[str]:
    by = Counter(each.rater for each in filled if counted is not None and each.rater not in counted)
    listed = ", ".join(counted or ["nobody"])
    return [f"{n} judgments by {name!r} do not count: the study lists {listed}." for name, n in by.items()]


def _of_forms(forms: Iterable[ReviewForm], spoken: Iterable[_FormMark]) -> list[str]:
    notes = [note for form in forms if (note := form.unfinished)]
    dated = list({id(said.form): said.form for said in spoken}.values())
    what, fix = "this is not a date, and the time of the import counts", "Write it as 2026-01-31."
    wrong = [form for form in dated if form.review_date.strip() and form.time is None]
    notes += [str(form.lines.problem(("metadata", "review_date"), what, fix)) for form in wrong]
    if undated := sum(not form.review_date.strip() for form in dated):
        notes.append(f"Forms without a review_date, for which the time of the import counts: {undated}.")
    return notes
