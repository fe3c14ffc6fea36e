"""Forms on which people grade what a model judge graded, as they are written and told apart.

They look like the other review forms, and the same command takes them. What tells them apart is the label
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

from assay.core.errors import DataError, Problem
from assay.core.records import Judgment
from assay.core.yaml_lines import read_yaml
from assay.review.export import file_name, to_yaml
from assay.review.forms import BLANKS, DONE, FormRow, ReviewForm, read_form
from assay.review.verdicts import JudgedItem
from assay.store.disk import write_atomic

_NOTE = (
    "Give every passage one of the grades, by its text alone, for this query and its intent; notes may say"
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
    """The passages of one item, to be graded under one label."""

    form: ReviewForm
    label: str
    query: Mapping[str, Any] = field(default_factory=dict)  # what is shown of it
    rules: Mapping[str, Any] = field(default_factory=dict)  # what the judge was told of grades and intents


def grade_word(judgment: str, grades: Mapping[str, float]) -> str | None:
    """The judge's word that a judgment as written stands for: "" where it is blank, None where it is none."""
    plain = normalize_grade(judgment)
    return "" if plain in BLANKS else next((word for word in grades if normalize_grade(word) == plain), None)


def normalize_grade(text: str) -> str:
    """A grade as it is compared: in capitals, with one underscore for whatever stands between two words."""
    return _NO_WORD.sub("_", text).strip("_").upper()


def grade_form(asked: JudgedItem, seed: int, told: Mapping[GradeKey, str], reviewer: str = "") -> GradeForm:
    """A form with every passage, in an order that no ranking decides; `told` is what was graded before."""
    rows = []
    for doc_id in asked.order(seed):
        word = told.get((*asked.key, doc_id), "")
        rows.append(FormRow(doc_id, asked.passages[doc_id], judgment=word, notes=DONE if word else ""))
    item = asked.item
    category = ", ".join(item.values("category"))
    form = ReviewForm(item.item_id, tuple(rows), item.text, category=category, reviewer=reviewer)
    return GradeForm(form, asked.label, asked.query, asked.rules)


def write_grade_forms(forms: Sequence[GradeForm], folder: Path, taken: Sequence[Judgment]) -> list[Path]:
    """Writes a file a form, all or none: no file goes that holds what a person said and nobody took in."""
    paths = [folder / each.label / file_name(each.form) for each in forms]
    said = {(each.item_id, each.label, each.target, normalize_grade(each.category or "")) for each in taken}
    pairs = list(zip(paths, forms, strict=True))
    if problems := [problem for path, each in pairs if (problem := _at_stake(path, each, said)) is not None]:
        raise DataError(problems)
    for path, each in pairs:
        write_atomic(path, partial(Path.write_bytes, data=grade_form_yaml(each).encode()))
    return paths


def _at_stake(path: Path, form: GradeForm, said: set[tuple[str, str, str | None, str]]) -> Problem | None:
    """Why the file may not be replaced by the form."""
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
    """The form as text: its own head over the rows of a blind review form."""
    form = asked.form
    metadata = {"query_id": form.item_id, "label": asked.label, "category": form.category}
    metadata |= {"reviewer": form.reviewer, "review_date": form.review_date}
    parts = [
        {"metadata": {**metadata, "review_complete": form.complete}},
        {"query": dict(asked.query)},
        {"instructions": {**asked.rules, "note": _NOTE}},
    ]
    head = [str(yaml.safe_dump(part, sort_keys=False, allow_unicode=True, width=2**31)) for part in parts]
    # texts are indented by more, so that none of their lines can be taken for these
    rows = to_yaml(form).partition(_RESULTS)[2].replace(_UNUSED, "\n")
    return "\n".join(head) + _RESULTS + rows


def split_forms(forms: Sequence[ReviewForm]) -> tuple[list[ReviewForm], list[GradeForm]]:
    """Review forms, and those that ask for grades beside a judge."""
    plain, verdicts = [], []
    for form in forms:
        content, _ = read_yaml(Path(form.lines.where))
        head = content.get("metadata") or {}
        if isinstance(head, dict) and (label := head.get("label")):
            verdicts.append(GradeForm(form, str(label)))
        else:
            plain.append(form)
    return plain, verdicts
