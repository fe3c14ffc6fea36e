"""Writes review forms as YAML files that are easy to fill in: blind forms, or forms of one model.

A blind form shows a passage once, for all arms that returned it. The order of the passages is by hash. So
neither a name nor a position reveals which arm a judgment will help. A form of one model shows the ranking of
that model, so it is not blind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from yaml.emitter import ScalarAnalysis
from yaml.representer import SafeRepresenter

from assay.core.block import Block
from assay.core.dataset import Corpus, digest
from assay.core.errors import DataError, Problem
from assay.core.protocols import ItemFact
from assay.core.records import Item, Judgment
from assay.measures.marks import KEYWORD_MATCH, marked_hits
from assay.review.forms import (
    AUTO,
    DONE,
    FormRow,
    ReviewForm,
    added_notes,
    parse_mark,
    read_form,
    reviewer_notes,
)
from assay.review.pool import Candidate, Pool
from assay.store.disk import write_atomic

_MarkKey = tuple[str, str | None, str | None]  # item, passage and mark

PREVIEW = 500  # characters of a passage in a form of one model
LONGEST_NAME = 80  # characters of an id in the name of a file

_MAP, _SEQ, _STR = (f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str"))
_INSTRUCTIONS = {
    "keyword_match": "Relevant, and a rule finds it too. Filled in where a rule did; change it where the rule"
    " is wrong.",
    "semantic_match": "Relevant to the query, although no rule finds it. Write SEMANTIC_MATCH.",
    "false_positive": "Not relevant to the query. Write FALSE_POSITIVE.",
    "note": "Judge the rows whose judgment is empty, by their text; notes may say why. Put your name and the"
    " date under metadata, and set review_complete to true once no judgment is empty. [DONE] marks what was"
    " judged before; to change it, change the judgment and say why after [DONE].",
}
# The characters that a literal block keeps unchanged. Others, such as \r or U+2028, need an escape.
_LITERAL = re.compile(
    "[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010fffe]+"
)


# ------------------------------------------------------------------------- what forms hold


def blind_forms(
    pool: Pool, corpus: Corpus, *, only: Collection[tuple[str, str]] | None = None, seed: int = 0
) -> list[ReviewForm]:
    """Returns one form per item, which lists each passage of the item once.

    `only` limits the forms to these pairs of item and passage.
    """
    wanted = {each.key for each in pool.candidates} if only is None else set(only)
    _need_texts(wanted, corpus)
    forms = []
    for item in pool.items:
        chosen = [each for each in pool.of_item(item.item_id) if each.key in wanted]
        chosen.sort(key=lambda each: digest(part.encode() for part in (str(seed), *each.key)))
        if chosen:
            rows = [_row(each.doc_id, each, corpus) for each in chosen]
            forms.append(_form(item, rows, pool.facts.get(item.item_id, ())))
    return forms


def model_forms(blocks: Sequence[Block], pool: Pool, corpus: Corpus) -> list[ReviewForm]:
    """Returns one form per item and arm, with the best hit first.

    If an arm has several seeds, a passage has the best of its ranks.
    """
    arms: dict[str, dict[str, dict[str, tuple[int, float]]]] = {}  # arm -> item -> doc -> rank and score
    for block in blocks:
        scores = {(item_id, doc_id): score for item_id, doc_id, score in block.ranking.iter_rows()}
        reached: Counter[str] = Counter()
        for item_id, doc_id, _ in marked_hits(block, pool.depth).iter_rows():
            reached[item_id] += 1
            places = arms.setdefault(block.arm.name, {}).setdefault(item_id, {})
            place = (reached[item_id], scores[item_id, doc_id])
            places[doc_id] = min(places.get(doc_id, place), place, key=lambda each: each[0])
    _need_texts((each.key for each in pool.candidates), corpus)
    known = {each.key: each for each in pool.candidates}
    forms = []
    for item in pool.items:
        for arm, hits in arms.items():
            best = sorted(hits.get(item.item_id, {}).items(), key=lambda hit: hit[1][0])
            rows = [_row(doc_id, known.get((item.item_id, doc_id)), corpus, place) for doc_id, place in best]
            if rows:
                forms.append(_form(item, rows, pool.facts.get(item.item_id, ()), arm))
    return forms


def _need_texts(keys: Iterable[tuple[str, str]], corpus: Corpus) -> None:
    problems = [
        Problem(f"the corpus has no text of {doc_id!r}, returned for {item_id!r}", fix="Add the passage.")
        for item_id, doc_id in sorted(keys)
        if corpus.text_of(doc_id) is None
    ]
    if problems:
        raise DataError(problems)


def _form(
    item: Item, rows: Sequence[FormRow], facts: Sequence[ItemFact], model: str | None = None
) -> ReviewForm:
    return ReviewForm(
        item_id=item.item_id,
        rows=tuple(rows),
        text=item.text,
        model=model,
        category=", ".join(item.values("category")),
        difficulty=", ".join(item.values("difficulty")),
        facts=tuple(facts),
    )


def _row(
    doc_id: str, known: Candidate | None, corpus: Corpus, place: tuple[int, float] | None = None
) -> FormRow:
    text = corpus.text_of(doc_id) or ""
    mark = "" if known is None else known.mark or ""
    notes = ""
    if known is not None and mark:
        notes = DONE if known.by_person else rule_notes(known.reason)
    return FormRow(
        doc_id=doc_id,
        text=text if place is None else "",
        preview="" if place is None else text[:PREVIEW],
        judgment=mark,
        notes=notes,
        document=corpus.document_of(doc_id),
        section=corpus.section_of(doc_id) or "",
        rank=None if place is None else place[0],
        score=None if place is None else float(f"{place[1]:.6g}"),
    )


def rule_notes(reason: str) -> str:
    """Returns the notes of a row that a rule filled in."""
    return f"{AUTO} {reason}".rstrip()


# ---------------------------------------------------------------------------- files of forms


def write_forms(
    forms: Sequence[ReviewForm],
    folder: Path,
    *,
    taken: Sequence[Judgment] = (),
    reasons: Collection[str] = (),
) -> list[Path]:
    """Writes one file per form. If a file holds a person's judgments that were not imported, it writes none.

    A judgment is imported if the new form shows it as done, or if it is among `taken`. `reasons` are the
    words with which the reasons of rules begin.
    """
    names = Counter(file_name(form).casefold() for form in forms)
    clash = {name for name, times in names.items() if times > 1}
    paths = [folder / file_name(form, marked=file_name(form).casefold() in clash) for form in forms]
    said: dict[_MarkKey, set[str]] = {}
    for each in taken:
        said.setdefault((each.item_id, each.target, each.category), set()).add(each.reason or "")
    pairs = list(zip(paths, forms, strict=True))
    problems = [problem for path, form in pairs if (problem := _at_stake(path, form, said, reasons))]
    if problems:
        raise DataError(problems)
    for path, form in pairs:
        write_atomic(path, partial(Path.write_bytes, data=to_yaml(form).encode()))
    return paths


def file_name(form: ReviewForm, *, marked: bool = False) -> str:
    """Returns a file name that every file system accepts.

    `marked` adds a hash, for names that would clash.
    """
    parts = [form.item_id] if form.model is None else [form.item_id, form.model]
    stem = "_".join(_safe(part) for part in parts)
    return f"review_{stem}-{_mark(*parts)}.yaml" if marked else f"review_{stem}.yaml"


def _safe(name: str) -> str:
    quoted = quote(name, safe="[]=,", errors="surrogatepass")
    return quoted if len(quoted) <= LONGEST_NAME else f"{quoted[:LONGEST_NAME]}-{_mark(name)}"


def _mark(*parts: str) -> str:
    return digest(part.encode(errors="surrogatepass") for part in parts)[:12]


def _at_stake(
    path: Path, form: ReviewForm, said: Mapping[_MarkKey, set[str]], reasons: Collection[str]
) -> Problem | None:
    """Returns the reason why the form may not replace the file, or None if it may."""
    if not path.exists():
        return None
    fix = "Import it first, move it away, or export to another folder."
    try:
        there = read_form(path)
    except DataError as error:
        what = f"a file is there already that does not read as a form ({error.problems[0].what})"
        return Problem(what, str(path), error.problems[0].line, fix="Mend it, or move it away.")
    if (there.item_id, there.model) != (form.item_id, form.model):
        return Problem(f"the form of {there.item_id!r} is there already", str(path), fix=fix)
    done = {(row.doc_id, row.judgment) for row in form.rows if row.tag == DONE}
    filled = {row.doc_id: row.notes for row in form.rows if row.tag == AUTO}
    remarks = [added_notes(row.notes, filled.get(row.doc_id, AUTO), reasons) for row in there.rows]
    own = [(index, row) for index, row in enumerate(there.rows) if remarks[index] or _by_person(row)]
    lost = [index for index, row in own if (row.doc_id, parse_mark(row.judgment)) not in done]
    lost = [
        index for index in lost if not _is_imported(form.item_id, there.rows[index], remarks[index], said)
    ]
    if lost:
        what = f"it holds what a person said of {len(lost)} passages, and nobody took it in"
        return Problem(what, str(path), there.lines.of(("results", lost[0])), fix=fix)
    if there.signed and not there.complete and all(row.tag == DONE for _, row in own):
        what = f"{there.signed} signed it, and may be at work on it"
        return Problem(what, str(path), there.lines.of(("metadata", "reviewer")), "metadata.reviewer", fix)
    return None


def _by_person(row: FormRow) -> bool:
    if parse_mark(row.judgment) == "":
        return bool(row.notes.strip())
    return not (parse_mark(row.judgment) == KEYWORD_MATCH and row.tag == AUTO)


def _is_imported(item_id: str, row: FormRow, remark: str, said: Mapping[_MarkKey, set[str]]) -> bool:
    """Whether a stored judgment has the mark of the row.

    If a person wrote notes in the row, the judgment must also have these notes as its reason.
    """
    reasons = said.get((item_id, row.doc_id, parse_mark(row.judgment)))
    own = remark if row.tag == AUTO else reviewer_notes(row.notes)
    return reasons is not None and (not own or own in reasons)


class _Dumper(yaml.SafeDumper):
    """A dumper that allows a literal block for every text that a block can hold.

    PyYAML escapes a whole text because of a tab or a space at the end of a line. In a block it loses U+0085.
    """

    def analyze_scalar(self, scalar: str) -> ScalarAnalysis:
        found = super().analyze_scalar(scalar)
        found.allow_block = _LITERAL.fullmatch(scalar) is not None
        return found


def to_yaml(form: ReviewForm) -> str:
    """Returns the form as text.

    No line is wrapped, rows are separate, and every text reads back unchanged.
    """
    auto = sum(row.tag == AUTO for row in form.rows)
    done = sum(row.tag == DONE for row in form.rows)
    model = {} if form.model is None else {"model": form.model}
    metadata = {"query_id": form.item_id, **model, "category": form.category, "difficulty": form.difficulty}
    metadata |= {"reviewer": form.reviewer, "review_date": form.review_date}
    query = {"text": form.text, **{fact.name: fact.value for fact in form.facts}}
    summary = {"auto_keyword_matches": auto, "needs_human_review": len(form.rows) - auto - done}
    parts: list[dict[str, Any]] = [
        {"metadata": {**metadata, "review_complete": form.complete}},
        {"query": query},
        {"instructions": _INSTRUCTIONS},
        {"summary": summary | ({"already_judged": done} if done else {})},
    ]
    head = "\n".join(_dumped(_node(part)) for part in parts)
    if not form.rows:
        return f"{head}\nresults: []\n"
    rows = (_dumped(_row_node(row, blind=form.model is None)) for row in form.rows)
    return f"{head}\nresults:\n" + "\n".join(rows)


def _row_node(row: FormRow, *, blind: bool) -> yaml.Node:
    fields = {"chunk_id": row.doc_id, "report_id": row.document, "section_name": row.section}
    shown: dict[str, Any] = {**fields} if blind else {"rank": row.rank, **fields, "score": row.score}
    pairs = [(_node(key), _node(value)) for key, value in shown.items()]
    name, text = ("text", row.text) if blind else ("text_preview", row.preview)
    pairs.append((_node(name), _scalar(text, "|")))
    pairs += [(_node("judgment"), _scalar(row.judgment, '"')), (_node("notes"), _scalar(row.notes, '"'))]
    return yaml.SequenceNode(_SEQ, [yaml.MappingNode(_MAP, pairs, flow_style=False)], flow_style=False)


def _node(value: Any) -> yaml.Node:
    if isinstance(value, Mapping):
        pairs = [(_node(key), _node(each)) for key, each in value.items()]
        return yaml.MappingNode(_MAP, pairs, flow_style=False)
    if isinstance(value, tuple):
        return yaml.SequenceNode(_SEQ, [_node(each) for each in value], flow_style=True)
    if isinstance(value, str):
        # Text that begins with a letter never reads as a number; PyYAML quotes the words of YAML.
        return _scalar(value, None if value[:1].isalpha() and value.isprintable() else '"')
    node: yaml.Node = SafeRepresenter().represent_data(value)
    return node


def _scalar(text: str, style: str | None) -> yaml.ScalarNode:
    return yaml.ScalarNode(_STR, text, style=style)


def _dumped(node: yaml.Node) -> str:
    return str(yaml.serialize(node, Dumper=_Dumper, allow_unicode=True, width=2**31))
