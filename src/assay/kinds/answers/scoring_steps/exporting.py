"""Exports a blinded scoring for other programs: marks at any time, the rest once it is unblinded."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from assay.core.block import Block
from assay.core.protocols import Kit
from assay.kinds.answers.blinding.masks import to_original
from assay.kinds.answers.blinding.pack import BlindedResponse, OriginalResponse
from assay.kinds.answers.content_pairs import delta_distributions
from assay.kinds.answers.measures.content import ContentChars, ContentTokens, OutputTokens
from assay.kinds.answers.panel import MODEL, Panel, panel_of, scoring_folder
from assay.kinds.answers.results import PairTokens, ScoringResults, SiteTokens
from assay.kinds.answers.scoring.marks import Mark, rater_label
from assay.kinds.answers.scoring_steps.summary import summarise_scoring
from assay.pipeline.evaluation import Evaluation
from assay.report.markdown import escaped
from assay.store.disk import write_atomic
from assay.study.study import Study

RAW_DATA, SECOND, DETAILS = "raw-data.csv", "second-scores.csv", "hallucination-details.json"
EFFICIENCY, NOTEBOOK, RESULTS = "token-efficiency.json", "analysis.ipynb", "results.json"
FOLDER = "results"
MODEL_TOKENS = "input_token_count"
_SCRIPT = "scoring.notebook"

# A text that a spreadsheet reads as a formula, even if it is indented, or that is quoted already.
_FORMULA = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")


def export_scoring(study: Study, folder: Path | None = None) -> list[Path]:
    """Writes the files that may be seen now. Before unblinding, no file gives a condition away."""
    place, paths = folder or study.folder / FOLDER, []
    for name, content in result_files(study).items():
        write_atomic(place / name, partial(Path.write_bytes, data=content))
        paths.append(place / name)
    return paths


def result_files(study: Study) -> dict[str, bytes]:
    """Returns the content of the files that may be seen now, by file name."""
    table = _MarkTable(study)
    found = {
        RAW_DATA: raw_data_csv(table.rows(), blinded=not table.is_open).encode(),
        DETAILS: hallucination_details(dict(table.claims())),
    }
    if not table.is_open:
        return found
    evaluation, panel = Evaluation(study), panel_of(study)
    if (scoring := summarise_scoring(evaluation)) is not None:
        cluster = "site_id" if study.file.cluster == "site" else "question_id"
        found[SECOND] = raw_data_csv(table.second_rows()).encode()
        found[EFFICIENCY] = token_efficiency(scoring.pairs, scoring.sites)
        found[RESULTS] = msgspec.json.format(msgspec.json.encode(evaluation.results.as_json()), indent=1)
        found[NOTEBOOK] = notebook(
            study.name, scoring, correction=panel.correction, sizes=panel.sizes, cluster=cluster
        )
    return found


# -------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class ScoreRow:
    """One response with its marks, column by column; None is an empty cell."""

    response_id: str
    site_id: str
    question_id: str
    complexity: str
    model_id: str | None = None
    condition: str | None = None
    factual_accuracy: int | None = None
    hallucination_count: int | None = None
    hallucination_categories: tuple[str, ...] = ()  # one code per hallucination, so that they can be counted
    input_token_count: int | None = None
    ref_token_count: int | None = None
    output_token_count: int | None = None
    content_chars: int | None = None
    completeness: int | None = None
    citation_fidelity: int | None = None
    scoring_notes: str = ""
    scorer_id: str = ""
    scoring_date: str = ""  # ISO 8601

    def blinded(self) -> ScoreRow:
        """Returns the same row without the values that would reveal the condition."""
        return replace(
            self,
            model_id=None,
            condition=None,
            input_token_count=None,
            ref_token_count=None,
            output_token_count=None,
            content_chars=None,
        )


COLUMNS = tuple(field.name for field in fields(ScoreRow))


@dataclass(frozen=True)
class HallucinationDetail:
    """One unsupported claim in the details file. `model_text_span` is the marked text of the response."""

    category: str
    model_text_span: str
    claim: str
    note: str


class _ResponseSizes(NamedTuple):
    """The model and the condition of a response, and the sizes of its content and of its answer."""

    model: str
    condition: str
    tokens: tuple[int | None, int | None, int | None, int | None]  # input, reference, output, characters


class _MarkTable:
    """The marks of a study as rows of a table, ordered by response."""

    def __init__(self, study: Study) -> None:
        self.study, self.panel, self.files = study, panel_of(study), scoring_folder(study)
        self.is_open = self.files.is_open

    @cached_property
    def _marks(self) -> Mapping[str, Mapping[str, Mapping[str, Mark]]]:
        """The current marks by scorer, response and pass."""
        found: dict[str, dict[str, dict[str, Mark]]] = {self.panel.primary: {}}
        for mark in self.files.marks:
            of = found.setdefault(rater_label(mark.rater, mark.round), {})
            of.setdefault(mark.response_id, {})[mark.step] = mark
        return found

    @cached_property
    def _originals(self) -> Mapping[str, OriginalResponse]:
        return self.files.originals() if self.is_open else {}

    @cached_property
    def _sizes(self) -> Mapping[tuple[str, str, int], _ResponseSizes]:
        """The sizes by item, arm and seed; empty until the seal is open."""
        found = {}
        for block in Evaluation(self.study).blocks if self.is_open else ():
            for item, sizes in zip(block.items, _sizes_of(block, self.panel, self.study.kit), strict=True):
                found[item.item_id, block.arm.name, block.seed] = sizes
        return found

    def rows(self) -> Iterator[ScoreRow]:
        """Yields one row per response, with the primary rater's marks. These marks are analysed."""
        for response in self.files.pack.responses:
            yield self._row(response, self.panel.primary)

    def second_rows(self) -> Iterator[ScoreRow]:
        """Yields one row per other scorer and response. These marks only measure agreement."""
        for scorer, marks in self._marks.items():
            if scorer != self.panel.primary:
                yield from (
                    self._row(each, scorer) for each in self.files.pack.responses if each.response_id in marks
                )

    def _row(self, response: BlindedResponse, scorer: str) -> ScoreRow:
        asked = self.files.pack.questions[response.question_id]
        marks = self._marks[scorer].get(response.response_id, {})
        grades = {step: mark.grade for step, mark in marks.items()}
        claims = marks["hallucination"].claims if "hallucination" in marks else None
        notes = {
            step: " / ".join(filter(None, [mark.note, *(claim.note for claim in mark.claims)]))
            for step, mark in marks.items()
        }
        last = max((mark.time for mark in marks.values()), default=None)
        original = self._originals.get(response.response_id)
        sizes = self._sizes.get((original.item_id, original.arm, original.seed)) if original else None
        return ScoreRow(
            response.response_id,
            asked.site,
            asked.question_id,
            asked.complexity,
            sizes.model if sizes else None,
            sizes.condition if sizes else None,
            grades.get("accuracy"),
            None if claims is None else len(claims),
            tuple(claim.category for claim in claims or ()),
            *(sizes.tokens if sizes else (None, None, None, None)),
            grades.get("completeness"),
            grades.get("citation"),
            "; ".join(f"{step}: {note}" for step, note in notes.items() if note),
            scorer if marks else "",
            "" if last is None else datetime.fromtimestamp(last, UTC).date().isoformat(),
        )

    def claims(self) -> Iterator[tuple[str, list[HallucinationDetail]]]:
        """Yields the primary rater's unsupported claims. After unblinding, they quote the original text."""
        for response in self.files.pack.responses:
            mark = self._marks[self.panel.primary].get(response.response_id, {}).get("hallucination")
            original = self._originals.get(response.response_id)
            found = []
            for claim in mark.claims if mark else ():
                span = (claim.start, claim.end)
                text = response.text if original is None else original.text
                start, end = span if original is None else to_original(span, original.masks)
                found.append(HallucinationDetail(claim.category, text[start:end], claim.claim, claim.note))
            if mark is not None:
                yield response.response_id, found


def _sizes_of(block: Block, panel: Panel, kit: Kit) -> Iterator[_ResponseSizes]:
    model = block.arm.factors.get(MODEL, "")
    own, reference = panel.tokens(model, kit).counts, panel.tokens("", kit).counts
    sizes = [ContentTokens.counted(block, counts) for counts in (own, reference)]
    sizes += [OutputTokens.counted(block, own), ContentChars().values(block)]
    for response, *row in zip(block.responses, *sizes, strict=True):
        one, two, three, four = (None if np.isnan(value) else int(value) for value in row)
        if response is not None and response.observed.tokens is not None:
            three = response.observed.tokens  # counted by the model's own tokenizer while it ran
        yield _ResponseSizes(model, block.arm.system, (one, two, three, four))


# ------------------------------------------------------------------------------------- formats


def raw_data_csv(rows: Iterable[ScoreRow], *, blinded: bool = False) -> str:
    """Returns `raw-data.csv`, with one row per response, ordered by response id.

    A text that a spreadsheet would run as a formula gets an apostrophe; `unquote_formula` removes it.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda row: (row.response_id, row.scorer_id)):
        shown = row.blinded() if blinded else row
        cells = (getattr(shown, name) for name in COLUMNS)
        texts = (",".join(cell) if isinstance(cell, tuple) else cell for cell in cells)
        writer.writerow([quote_formula(text) if isinstance(text, str) else text for text in texts])
    return written.getvalue()


def quote_formula(text: str) -> str:
    """Returns the text, with an apostrophe before it if a spreadsheet would read the text as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquote_formula(cell: str) -> str:
    """Returns the text of a cell as it was before `quote_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def hallucination_details(found: Mapping[str, Sequence[HallucinationDetail]]) -> bytes:
    """Returns `hallucination-details.json`: for each response, the number of its claims, and the claims."""
    return _json(
        {
            response_id: {
                "hallucination_count": len(found[response_id]),
                "hallucinations": msgspec.to_builtins(list(found[response_id])),
            }
            for response_id in sorted(found)
        }
    )


def token_efficiency(pairs: Sequence[PairTokens], sites: Sequence[SiteTokens]) -> bytes:
    """Returns `token-efficiency.json`: all content pairs, all sites, and the distribution of site changes."""
    return _json(
        {
            "pairs": [
                {
                    "content_pair_id": pair.content_pair_id,
                    "site_id": pair.site_id,
                    "condition_a_tokens": pair.condition_a_tokens,
                    "condition_b_tokens": pair.condition_b_tokens,
                    "tokenizer": pair.tokenizer,
                    "delta": pair.delta,
                    "delta_pct": round(pair.delta_pct, 1),
                }
                for pair in pairs
            ],
            "sites": msgspec.to_builtins(list(sites)),
            "distribution": msgspec.to_builtins(delta_distributions(sites)),
        }
    )


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def notebook(
    study: str,
    scoring: ScoringResults,
    *,
    correction: str,
    sizes: Mapping[str, str] | None = None,
    cluster: str = "question_id",
) -> bytes:
    """Returns `analysis.ipynb`, which repeats the analysis from the files beside it.

    The notebook compares its results with `results.json`. Rows with the same value in the column `cluster` of
    `raw-data.csv` depend on each other. `sizes` has the size of each model.
    """
    settings = {
        "A": scoring.a,
        "B": scoring.b,
        "CORRECTION": correction,
        "TOKENS": MODEL_TOKENS,
        "CLUSTER": cluster,
        "SIZES": dict(sizes or {}),
    }
    cells = [
        ("markdown", f"# {escaped(study)}: the analysis of blinded scores"),
        ("code", "\n".join(f"{name} = {value!r}" for name, value in settings.items())),
        *_script_cells(files(__package__).joinpath(_SCRIPT).read_text(encoding="utf-8")),
    ]
    written = {
        "cells": [
            {
                "cell_type": kind,
                "id": f"cell-{place}",
                "metadata": {},
                "source": source.splitlines(keepends=True),
                **({"execution_count": None, "outputs": []} if kind == "code" else {}),
            }
            for place, (kind, source) in enumerate(cells)
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(written, indent=1, ensure_ascii=False).encode() + b"\n"


def _script_cells(script: str) -> Iterator[tuple[str, str]]:
    """Yields the cells of a script. `# %%` begins a code cell, `# %% [markdown]` a cell of prose."""
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in source.strip().split("\n")]
            yield "markdown", "\n".join(lines)
        else:
            yield "code", source.strip("\n")
