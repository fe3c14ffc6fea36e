"""The files that a blinded scoring leaves for other programs: scores, hallucinations, tokens, a notebook."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Any

import msgspec

from assay.kinds.answers.content_pairs import delta_distributions
from assay.kinds.answers.results import PairTokens, ScoringResults, SiteTokens
from assay.report.markdown import escaped

RAW_DATA, SECOND, DETAILS = "raw-data.csv", "second-scores.csv", "hallucination-details.json"
EFFICIENCY, NOTEBOOK = "token-efficiency.json", "analysis.ipynb"
MODEL_TOKENS, REFERENCE_TOKENS = "input_token_count", "ref_token_count"
_SCRIPT = "scoring.notebook"

# What a spreadsheet takes for a formula, however it is indented, and what it is quoted with already.
_FORMULA = re.compile(r"'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])")


@dataclass(frozen=True)
class ScoreRow:
    """One response with its scores, column by column; None is an empty cell."""

    response_id: str
    site_id: str
    question_id: str
    complexity: str
    model_id: str | None = None
    condition: str | None = None
    factual_accuracy: int | None = None
    hallucination_count: int | None = None
    hallucination_categories: tuple[str, ...] = ()  # one code a hallucination, so that they can be counted
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
        """The same without what tells the conditions apart."""
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
    """One unsupported claim as the details file records it; the span is the response's own text."""

    category: str
    model_text_span: str
    claim: str
    note: str


# ------------------------------------------------------------------------------------- scores


def raw_data_csv(rows: Iterable[ScoreRow], *, blinded: bool = False) -> str:
    """`raw-data.csv`: one row per response, ordered by response id.

    A text that a spreadsheet would run as a formula gets an apostrophe; `unquote_formula` undoes it.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda row: (row.response_id, row.scorer_id)):
        shown = row.blinded() if blinded else row
        writer.writerow([_cell(getattr(shown, name)) for name in COLUMNS])
    return written.getvalue()


def _cell(value: str | int | tuple[str, ...] | None) -> str:
    if isinstance(value, tuple):
        return quote_formula(",".join(value))
    return quote_formula(value) if isinstance(value, str) else "" if value is None else str(value)


def quote_formula(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquote_formula(cell: str) -> str:
    """The text of a cell as it was before `quote_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


# ---------------------------------------------------------------------- hallucinations, tokens


def hallucination_details(found: Mapping[str, Sequence[HallucinationDetail]]) -> bytes:
    """`hallucination-details.json`: by response id how many, and each with its text, claim and note."""
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
    """`token-efficiency.json`: every content pair, every site, and how the sites' changes spread."""
    return _json(
        {
            "pairs": [_pair(pair) for pair in pairs],
            "sites": msgspec.to_builtins(list(sites)),
            "distribution": msgspec.to_builtins(delta_distributions(sites)),
        }
    )


def _pair(pair: PairTokens) -> dict[str, Any]:
    return {
        "content_pair_id": pair.content_pair_id,
        "site_id": pair.site_id,
        "condition_a_tokens": pair.condition_a_tokens,
        "condition_b_tokens": pair.condition_b_tokens,
        "tokenizer": pair.tokenizer,
        "delta": pair.delta,
        "delta_pct": round(pair.delta_pct, 1),
    }


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


# ----------------------------------------------------------------------------------- notebook


def notebook(
    study: str,
    scoring: ScoringResults,
    *,
    correction: str,
    sizes: Mapping[str, str] | None = None,
    tokens: str = MODEL_TOKENS,
    cluster: str = "question_id",
) -> bytes:
    """`analysis.ipynb`, which runs the analysis again from the files beside it and checks `results.json`.

    `tokens` is the column of `raw-data.csv` that tokens were tested on, `cluster` the one whose rows depend
    on each other, `sizes` the size of each model.
    """
    settings = {
        "A": scoring.a,
        "B": scoring.b,
        "CORRECTION": correction,
        "TOKENS": tokens,
        "CLUSTER": cluster,
    }
    given = [f"{name} = {value!r}" for name, value in settings.items()]
    given.append(f"SIZES = {dict(sizes or {})!r}")
    script = files(__package__).joinpath(_SCRIPT).read_text(encoding="utf-8")
    cells = [("markdown", f"# {escaped(study)}: the analysis of blinded scores"), ("code", "\n".join(given))]
    cells += _cells(script)
    written = {
        "cells": [_notebook_cell(place, kind, source) for place, (kind, source) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(written, indent=1, ensure_ascii=False).encode() + b"\n"


def _cells(script: str) -> list[tuple[str, str]]:
    """The cells of a script: `# %%` begins one of code, `# %% [markdown]` one of prose in comments."""
    found = []
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in source.strip().split("\n")]
            found.append(("markdown", "\n".join(lines)))
        else:
            found.append(("code", source.strip("\n")))
    return found


def _notebook_cell(place: int, kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{place}",
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell
