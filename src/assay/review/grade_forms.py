"""Writes and reads forms on which people grade passages that a model judge graded.

These forms look like the other review forms, and the same command imports them. They differ in the label
under `metadata`: it names the question that the judge was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.records import Judgment
from assay.core.yaml_lines import read_yaml
from assay.judges.labels import current_judgments, text_hash
from assay.review.export import file_name, to_yaml
from assay.review.form_import import BlankRow, ReviewImport
from assay.review.forms import BLANKS, DONE, FormRow, ReviewForm, collapse_spaces, read_form, reviewer_notes
from assay.review.judged_items import JudgedItem
from assay.review.passage_work import FilledPassage, PassageTask
from assay.store.disk import write_atomic

_NOTE = (
    "Give every passage one of the grades, by its text only, for this query and its intent; notes may say"
    " why. What is expected shows the kind of text that is wanted: a passage may be as good without it. Put"
    " your name and the date under metadata, and set review_complete to true once no judgment is empty."
    " [DONE] marks what was graded before; to change it, change the judgment."
)
_RESULTS = "\nresults:\n"
_UNUSED = '\n  report_id: ""\n  section_name: ""\n'
_NO_WORD = re.compile(r"[\W_]+")

GradeKey = tuple[str, str, str]  # item, label and passage


@dataclass(frozen=True)
class GradeForm:
    """A form with the passages of one item, to be graded under one label."""

    form: ReviewForm
    label: str
    query: Mapping[str, Any] = field(default_factory=dict)  # what is shown of the query
    rules: Mapping[str, Any] = field(default_factory=dict)  # what the judge's prompt says about the grades


def grade_word(judgment: str, grades: Mapping[str, float]) -> str | None:
    """Returns the judge's word for a grade as a person wrote it.

    It is empty for a blank grade, and None for a grade that the judge does not have.
    """
    plain = normalize_grade(judgment)
    return "" if plain in BLANKS else next((word for word in grades if normalize_grade(word) == plain), None)


def normalize_grade(text: str) -> str:
    """Returns a grade in the form used for comparison: capitals, with one underscore between two words."""
    return _NO_WORD.sub("_", text).strip("_").upper()


def grade_form(asked: JudgedItem, seed: int, told: Mapping[GradeKey, str], reviewer: str = "") -> GradeForm:
    """Returns a form with every passage, in a random order. `told` holds the earlier grades."""
    rows = []
    for doc_id in asked.order(seed):
        word = told.get((*asked.key, doc_id), "")
        rows.append(FormRow(doc_id, asked.passages[doc_id], judgment=word, notes=DONE if word else ""))
    item = asked.item
    category = ", ".join(item.values("category"))
    form = ReviewForm(item.item_id, tuple(rows), item.text, category=category, reviewer=reviewer)
    return GradeForm(form, asked.label, asked.query, asked.rules)


def write_grade_forms(forms: Sequence[GradeForm], folder: Path, taken: Sequence[Judgment]) -> list[Path]:
    """Writes one file per form. If a file holds a person's grades that were not imported, it writes none."""
    paths = [folder / each.label / file_name(each.form) for each in forms]
    said = {(each.item_id, each.label, each.target, normalize_grade(each.category or "")) for each in taken}
    pairs = list(zip(paths, forms, strict=True))
    if problems := [problem for path, each in pairs if (problem := _at_stake(path, each, said)) is not None]:
        raise DataError(problems)
    for path, each in pairs:
        write_atomic(path, partial(Path.write_bytes, data=grade_form_yaml(each).encode()))
    return paths


def _at_stake(path: Path, form: GradeForm, said: set[tuple[str, str, str | None, str]]) -> Problem | None:
    """Returns the reason why the form may not replace the file, or None if it may."""
    if not path.exists():
        return None
    fix = "Import it first, move it away, or export to another folder."
    there = read_form(path)
    if there.item_id != form.form.item_id:
        return Problem(f"the form of {there.item_id!r} is there already", str(path), fix=fix)
    for index, row in enumerate(there.rows):
        key = (there.item_id, form.label, row.doc_id, normalize_grade(row.judgment))
        if normalize_grade(row.judgment) not in BLANKS and key not in said:
            what = "it holds what a person said, and nobody took it in"
            return Problem(what, str(path), there.lines.of(("results", index)), fix=fix)
    return None


def grade_form_yaml(asked: GradeForm) -> str:
    """Returns the form as text: a head of its own, and then the rows of a blind review form."""
    form = asked.form
    metadata = {"query_id": form.item_id, "label": asked.label, "category": form.category}
    metadata |= {"reviewer": form.reviewer, "review_date": form.review_date}
    parts = [
        {"metadata": {**metadata, "review_complete": form.complete}},
        {"query": dict(asked.query)},
        {"instructions": {**asked.rules, "note": _NOTE}},
    ]
    head = [str(yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=2**31)) for part in parts]
    # the lines of texts are indented further, so none of them can be confused with these
    rows = to_yaml(form).partition(_RESULTS)[2].replace(_UNUSED, "\n")
    return "\n".join(head) + _RESULTS + rows


def split_forms(forms: Sequence[ReviewForm]) -> tuple[list[ReviewForm], list[GradeForm]]:
    """Splits forms into review forms of marks and forms for grades, which have a label."""
    plain, verdicts = [], []
    for form in forms:
        content, _ = read_yaml(Path(form.lines.where))
        head = content.get("metadata") or {}
        if isinstance(head, dict) and (label := head.get("label")):
            verdicts.append(GradeForm(form, str(label)))
        else:
            plain.append(form)
    return plain, verdicts


# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _GradeRow:
    """A row of a form, with its reviewer and the judged item that it belongs to."""

    form: ReviewForm
    index: int
    reviewer: str
    label: str
    asked: JudgedItem | None

    @property
    def row(self) -> FormRow:
        return self.form.rows[self.index]

    @property
    def word(self) -> str | None:
        return grade_word(
            self.row.judgment, self.asked.grades if self.asked else {normalize_grade(self.row.judgment): 0}
        )

    @property
    def key(self) -> GradeKey:
        return self.form.item_id, self.label, self.row.doc_id

    @property
    def who(self) -> tuple[str, ...]:
        return self.reviewer, *self.key

    def problem(self, name: str, what: str, fix: str) -> Problem:
        return self.form.problem(self.index, name, what, fix)


def read_grades(
    forms: Sequence[GradeForm],
    asked: Sequence[JudgedItem],
    *,
    reviewer: str | None = None,
    when: float,
    earlier: Sequence[Judgment],
) -> ReviewImport:
    """Returns the grades that forms add to earlier ones.

    Raises DataError with every problem of every form.
    """
    known = {each.key: each for each in asked}
    said = [
        _GradeRow(
            each.form, index, each.form.signed or collapse_spaces(reviewer or ""), each.label, known.get(key)
        )
        for each in forms
        for key in [(each.form.item_id, each.label)]
        for index in range(len(each.form.rows))
    ]
    blank = [each for each in said if each.word == ""]
    before = _EarlierGrades(earlier, said)
    new = [each for each in said if each.word != "" and not before.knows(each)]
    if problems := [*_wrong(new), *_contradictions(new)]:
        raise DataError(sorted(problems, key=lambda each: (each.where, each.line or 0)))
    first = {each.who: each for each in reversed(new)}
    filled = [_filled(each, before.standing.get(who), when) for who, each in reversed(first.items())]
    blanks = [
        BlankRow(each.form.lines.where, each.form.lines.of(("results", each.index)), each.key[0], each.key[2])
        for each in blank
    ]
    return ReviewImport(filled, len(said) - len(blank) - len(filled), 0, blanks, _notes(forms, blank))


class _EarlierGrades:
    """The earlier grades. They decide whether a row only repeats one of them."""

    def __init__(self, earlier: Sequence[Judgment], said: Sequence[_GradeRow]) -> None:
        known = [each for each in earlier if each.target is not None]
        self.standing = {_who(each): each for each in current_judgments(known)}
        self._ever = {(*_who(each), normalize_grade(each.category or "")) for each in known}
        self._anybody = {
            (*who[1:], normalize_grade(each.category or "")) for who, each in self.standing.items()
        }
        # an older form in the same import must not take back a later grade
        self._kept = {each.who for each in said if self._stands(each)}

    def _stands(self, said: _GradeRow) -> bool:
        own = self.standing.get(said.who)
        if own is None or normalize_grade(own.category or "") != normalize_grade(said.row.judgment):
            return False
        notes = reviewer_notes(said.row.notes)
        text = said.asked.passages.get(said.row.doc_id) if said.asked else None
        # the same word for another text is another judgment, if the form shows that text
        same = text is None or own.seen == text_hash(text) or said.form.text_changed(said.index, text)
        return bool(same) and notes in {"", own.reason or ""}

    def knows(self, said: _GradeRow) -> bool:
        """Whether the reviewer gave this grade before, or an export filled it in."""
        word = normalize_grade(said.row.judgment)
        older = (
            said.who in self._kept and (*said.who, word) in self._ever and not reviewer_notes(said.row.notes)
        )
        filled = said.row.tag == DONE and (*said.key, word) in self._anybody
        return self._stands(said) or older or filled


def _who(judgment: Judgment) -> tuple[str, ...]:
    return judgment.judge, judgment.item_id, judgment.label, judgment.target or ""


def _wrong(new: Sequence[_GradeRow]) -> list[Problem]:
    """Returns the problems of rows with a new grade."""
    problems = [_of_form(each) for each in {id(each.form): each for each in new}.values()]
    for each in (each for each in new if each.asked is not None):
        asked, doc_id = each.asked, each.row.doc_id
        if asked is None or (text := asked.passages.get(doc_id)) is None:
            fix = did_you_mean(doc_id, asked.passages if asked else ())
            problems.append(each.problem("chunk_id", f"the judge graded no passage {doc_id!r} here", fix))
            continue
        problems.append(each.form.text_changed(each.index, text))
        if each.word is None:
            fix = f"Write {', '.join(asked.grades)}, or leave it empty."
            problems.append(each.problem("judgment", f"{each.row.judgment!r} is not a grade", fix))
    return [problem for problem in problems if problem is not None]


def _of_form(said: _GradeRow) -> Problem | None:
    """Returns the problem of a whole form, if nothing can be imported from it."""
    lines = said.form.lines
    if said.asked is None:
        what = f"no judge graded what came back for {said.form.item_id!r} under {said.label!r}"
        return lines.problem(("metadata", "query_id"), what, "Export the forms again.")
    if not said.reviewer:
        what = "the form holds judgments and names no reviewer"
        return lines.problem(("metadata", "reviewer"), what, "Write the reviewer's name there.")
    return said.form.query_changed(said.asked.item.text)


def _contradictions(new: Sequence[_GradeRow]) -> list[Problem]:
    first: dict[tuple[str, ...], _GradeRow] = {}
    problems = []
    for each in new:
        other = first.setdefault(each.who, each)
        if other.word != each.word:
            what = f"{each.word}, where {other.form.place(other.index)} has {other.word} for the same passage"
            problems.append(each.problem("judgment", what, "Decide for one of the two."))
    return problems


def _filled(said: _GradeRow, before: Judgment | None, when: float) -> FilledPassage:
    asked, word = said.asked, said.word or ""
    text = asked.passages[said.row.doc_id] if asked else ""
    time = when if said.form.time is None else said.form.time
    reason = reviewer_notes(said.row.notes)
    replaces = before.judgment_id if before else None
    # What it replaces is part of the id: going back to an earlier grade is a new judgment.
    parts = (*said.key, said.reviewer, word, reason, repr(time), replaces or "")
    subject = PassageTask(said.form.item_id, said.row.doc_id, said.label, text)
    mark_id, grades = digest(part.encode() for part in parts), asked.grades if asked else {}
    place = partial(said.problem, "judgment")
    return FilledPassage(subject, said.reviewer, word, reason, mark_id, time, grades, place)


def _notes(forms: Sequence[GradeForm], blank: Sequence[_GradeRow]) -> list[str]:
    """Returns notes on forms that are marked complete although a judgment is blank."""
    left = {id(each.form): each for each in reversed(blank)}
    return [
        f"{each.form.place(each.index)}: the form says that it is complete, and a judgment is left blank."
        for form in forms
        if form.form.complete and (each := left.get(id(form.form))) is not None
    ]


def join_imports(imports: Sequence[ReviewImport]) -> ReviewImport:
    """Joins the imports of several kinds of form into one."""
    return ReviewImport(
        [filled for each in imports for filled in each.filled],
        sum(each.unchanged for each in imports),
        sum(each.auto for each in imports),
        [blank for each in imports for blank in each.blanks],
        [note for each in imports for note in each.notes],
    )
