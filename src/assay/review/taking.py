"""Review forms in: everything is checked first, then people's words become judgments.

What a rule filled in is nobody's word, and neither is what an export repeated from before. Every other
judgment in a form is its reviewer's, also where it contradicts a rule. Earlier judgments stay as they are;
one that its reviewer changes is replaced by the new one. Taking the same forms twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from assay.datasets.dataset import Corpus, digest
from assay.errors import DataError, Problem, did_you_mean
from assay.judges.marks import standing as still_standing
from assay.judges.marks import text_hash
from assay.measures.semantic import GRADES, KEYWORD_MATCH, REVIEW
from assay.records import Item, Judgment
from assay.review.forms import AUTO, DONE, Form, Row, bare, filled_notes, mark_of, own_notes
from assay.review.pool import Candidate, Pool

Key = tuple[str, str]  # item and passage
Who = tuple[str, str, str]  # reviewer, item and passage
Kind = Literal["blank", "auto", "outdated", "done", "repeated", "spoken"]


class Blank(NamedTuple):
    """A row that nobody judged yet."""

    file: str
    line: int | None
    item_id: str
    doc_id: str


@dataclass(frozen=True)
class Taking:
    """What forms bring: new judgments, and what became of every other row."""

    judgments: list[Judgment]
    unchanged: int  # said before in the same words
    auto: int  # a rule's, as filled in by the export
    blanks: list[Blank]
    notes: list[str]  # what a person should know, a sentence each


@dataclass(frozen=True)
class _Said:
    """One row and who says it."""

    form: Form
    index: int
    reviewer: str

    @property
    def row(self) -> Row:
        return self.form.rows[self.index]

    @property
    def mark(self) -> str:
        return mark_of(self.row.judgment) or ""

    @property
    def key(self) -> Key:
        return self.form.item_id, self.row.doc_id

    @property
    def blank(self) -> Blank:
        return Blank(self.form.lines.where, self.form.lines.of(("results", self.index)), *self.key)

    @property
    def who(self) -> Who:
        return self.reviewer, *self.key


@dataclass(frozen=True)
class _Known:
    """What forms are checked against: the pool, the corpus, and what people said before."""

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
        """The word of a reviewer on an item and passage that still counts."""
        return {(each.judge, each.item_id, each.target or ""): each for each in still_standing(self.earlier)}

    @cached_property
    def ever(self) -> set[tuple[str, ...]]:
        """Every mark that an item and passage ever got: from anybody, and by reviewer."""
        marks = [(each.item_id, each.target or "", each.category or "", each.judge) for each in self.earlier]
        return {*marks, *(mark[:3] for mark in marks)}

    def kind(self, said: _Said) -> Kind:
        """Whose word a row is, and whether it is new."""
        known = self.candidates.get(said.key)
        if not said.mark:
            return "blank"
        if said.row.tag == AUTO and said.mark == KEYWORD_MATCH:
            # A reviewer who calls the form complete lets stand what it says, also where the rule is gone.
            gone = known is not None and known.mark is None
            return "auto" if not gone else "spoken" if said.form.complete else "outdated"
        if said.row.tag == DONE and not own_notes(said.row.notes):
            before = (*said.key, said.mark) in self.ever
            if before if known is None else known.by_person and known.mark == said.mark:
                return "done"
            # Who has spoken since need not have looked at this row: it says what it said at the export.
            own = self.standing.get(said.who)
            if own is not None and before and own.category != said.mark:
                return "repeated"
        return "spoken"

    def overtaken(self, said: _Said, latest: Mapping[Who, str]) -> bool:
        """Whether a row is an older word, which its reviewer has changed where a later form showed it."""
        if said.row.tag == DONE or latest.get(said.who, said.mark) == said.mark:
            return False
        return (*said.key, said.mark, said.reviewer) in self.ever


def take(
    forms: Sequence[Form],
    pool: Pool,
    corpus: Corpus,
    *,
    reviewer: str | None = None,
    when: float,
    standing: Sequence[Judgment],
) -> Taking:
    """The judgments that forms add to earlier ones; raises with every problem, and then nothing is taken.

    `reviewer` is who filled in the forms that name nobody, `when` the time of what has no date, and
    `standing` all that people said before, replaced or not.
    """
    earlier = [each for each in standing if each.label == REVIEW and each.target is not None]
    known = _Known(pool, corpus, earlier)
    of_kind: dict[Kind, list[_Said]] = {kind: [] for kind in get_args(Kind)}
    for form in forms:
        for index in range(len(form.rows)):
            said = _Said(form, index, form.signed or bare(reviewer or ""))
            of_kind[known.kind(said)].append(said)
    shown = [*of_kind["done"], *(said for said in of_kind["spoken"] if said.row.tag == DONE)]
    latest = {said.who: said.mark for said in shown}
    spoken = [said for said in of_kind["spoken"] if not known.overtaken(said, latest)]
    problems = [problem for form in forms for problem in _wrong(form, known)]
    problems += [*_unsigned(spoken), *_contradictions(spoken)]
    if problems:
        raise DataError(problems)
    made = [_judgment(group, known, when) for group in _grouped(spoken)]
    judgments = [each for each in made if each is not None]
    counts = {kind: len(found) for kind, found in of_kind.items()}
    overtaken = counts["spoken"] - len(spoken)
    return Taking(
        judgments,
        made.count(None) + overtaken + counts["done"] + counts["repeated"],
        counts["auto"],
        [said.blank for said in (*of_kind["blank"], *of_kind["outdated"])],
        [*_incomplete(forms), *_of_rows(judgments, counts, known), *_of_dates(spoken if judgments else ())],
    )


# --------------------------------------------------------------------------------- problems


def _wrong(form: Form, known: _Known) -> list[Problem]:
    problems = []
    item = known.items.get(form.item_id)
    if item is None:
        what = f"no query {form.item_id!r} wants a review"
        fix = did_you_mean(form.item_id, known.items)
        problems.append(form.lines.problem(("metadata", "query_id"), what, fix))
    elif form.text.strip() and bare(form.text) != bare(item.text):
        what = f"the query has changed since the form was written: it reads {item.text!r} now"
        fix = "Export the form again, and judge for the query as it is now."
        problems.append(form.lines.problem(("query", "text"), what, fix))
    for index, row in enumerate(form.rows):
        if mark_of(row.judgment) is None:
            what, fix = f"{row.judgment!r} is no judgment", f"Write {', '.join(GRADES)}, or leave it empty."
            problems.append(form.problem(index, "judgment", what, fix))
        text = known.corpus.text_of(row.doc_id)
        if text is None:
            fix = did_you_mean(row.doc_id, [each.doc_id for each in known.pool.of_item(form.item_id)])
            what = f"no system returned {row.doc_id!r} for this query, and the corpus has no such passage"
            problems.append(form.problem(index, "chunk_id", what, fix))
        elif (name := row.outdated(text)) is not None:
            fix = "Export the form again, and judge the text as it is now."
            what = "the text has changed since the form was written"
            problems.append(form.problem(index, name, what, fix))
    return problems


def _unsigned(spoken: Iterable[_Said]) -> list[Problem]:
    found = {id(said.form): said.form for said in spoken if not said.reviewer}
    what, fix = "the form holds judgments and names no reviewer", "Write the reviewer's name there."
    return [form.lines.problem(("metadata", "reviewer"), what, fix) for form in found.values()]


def _contradictions(spoken: Iterable[_Said]) -> list[Problem]:
    problems = []
    for first, *others in _grouped(spoken):
        for said in (each for each in others if each.mark != first.mark):
            what = f"{said.mark}, where {first.form.place(first.index)} has {first.mark} for the same passage"
            problems.append(said.form.problem(said.index, "judgment", what, "Decide for one of the two."))
    return problems


# -------------------------------------------------------------------------------- judgments


def _grouped(spoken: Iterable[_Said]) -> list[list[_Said]]:
    """What each reviewer says of each passage, in one form or several."""
    groups: dict[Who, list[_Said]] = {}
    for said in spoken:
        groups.setdefault(said.who, []).append(said)
    return list(groups.values())


def _judgment(group: Sequence[_Said], known: _Known, when: float) -> Judgment | None:
    """What a reviewer says of a passage; None where the reviewer said so before."""
    said = group[0]
    candidate = known.candidates.get(said.key)
    filled = filled_notes(candidate.reason if candidate else "")
    reason = next((own for each in group if (own := own_notes(each.row.notes, filled))), None)
    seen = text_hash(known.corpus.text_of(said.row.doc_id) or "")
    before = known.standing.get(said.who)
    # Said of another text it would be another judgment.
    if before is not None and (before.category, before.reason, before.seen) == (said.mark, reason, seen):
        return None
    time = when if said.form.time is None else said.form.time
    replaces = None if before is None else before.judgment_id
    # What it replaces is part of the id: who goes back to an earlier word says something new by it.
    parts = (*said.key, said.reviewer, said.mark, reason or "", repr(time), replaces or "")
    return Judgment(
        said.form.item_id,
        REVIEW,
        GRADES[said.mark],
        said.reviewer,
        target=said.row.doc_id,
        category=said.mark,
        seen=seen,
        reason=reason,
        time=time,
        judgment_id=digest(part.encode() for part in parts),
        replaces=replaces,
    )


# ------------------------------------------------------------------------------------ notes


def _incomplete(forms: Iterable[Form]) -> list[str]:
    notes = []
    for form in forms:
        blank = [index for index, row in enumerate(form.rows) if mark_of(row.judgment) == ""]
        if form.complete and blank:
            where = form.place(blank[0])
            notes.append(f"{where}: the form says that it is complete; judgments left blank: {len(blank)}.")
    return notes


def _of_rows(judgments: Sequence[Judgment], counts: Mapping[Kind, int], known: _Known) -> list[str]:
    found = [(each.category, known.candidates.get((each.item_id, each.target or ""))) for each in judgments]
    unruled = sum(mark == KEYWORD_MATCH and each is not None and not _ruled(each) for mark, each in found)
    outside = sum(each is None for _, each in found)
    said = {
        "Called KEYWORD_MATCH although no rule matches, taken as the reviewer's word": unruled,
        f"Taken although no system returns the passage within {known.pool.depth} now": outside,
        f"Marked {AUTO} where no rule matches any more, not taken and still to judge": counts["outdated"],
        f"Marked {DONE} with a mark that its reviewer has changed since, not taken": counts["repeated"],
    }
    return [f"{what}: {count}." for what, count in said.items() if count]


def _ruled(candidate: Candidate) -> bool:
    """Whether a rule finds the passage, as far as a pool tells of one that a person judged."""
    return bool(candidate.reason) or (candidate.mark is not None and not candidate.by_person)


def _of_dates(spoken: Iterable[_Said]) -> list[str]:
    forms = list({id(said.form): said.form for said in spoken}.values())
    what, fix = "this is no date, and the time of the import counts", "Write it as 2026-01-31."
    notes = [
        str(form.lines.problem(("metadata", "review_date"), what, fix))
        for form in forms
        if form.review_date.strip() and form.time is None
    ]
    if undated := sum(not form.review_date.strip() for form in forms):
        notes.append(f"Forms without a review_date, for which the time of the import counts: {undated}.")
    return notes
