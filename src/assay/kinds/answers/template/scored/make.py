"""Makes the scored copy again: collects, blinds, imports what anna and ben said, and unblinds.

    python make.py          in this folder; first remove blind, blind.key and blind.acts

What they said is kept by question, model and condition in anna.jsonl and ben.jsonl. Raters know none of the
three, so this script, which has the key, puts each line under its random id.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.kinds.answers.blinding.masks import to_shown
from assay.kinds.answers.blinding.pack import OriginalResponse
from assay.kinds.answers.scoring.marks import ScoringFolder

HERE = Path(__file__).parent
STEPS = ("accuracy", "hallucination", "completeness", "citation")


def assay(*words: str) -> None:
    subprocess.run(["assay", *words], cwd=HERE, check=False)  # noqa: S603, S607


def rows_of(rater: str, files: ScoringFolder) -> Iterator[tuple[dict[str, Any], OriginalResponse]]:
    """What a rater says of each response that this rater scores."""
    rows = {
        (row["question_id"], row["model_id"], row["condition"]): row
        for row in map(json.loads, (HERE / f"{rater}.jsonl").read_text().splitlines())
    }
    originals = files.originals()
    mine = originals if rater == files.pack.panel.primary else files.pack.drawn
    for response_id in mine:
        original = originals[response_id]
        condition, _, model = original.arm.partition("[model=")
        yield rows[original.item_id, model.rstrip("]"), condition], original


def score(rater: str, row: dict[str, Any], original: OriginalResponse, step: str) -> dict[str, Any]:
    """One line as `assay review import` takes it."""
    line: dict[str, Any] = {"rater": rater, "response_id": original.response_id, "step": step}
    line["note"] = row["notes"].get(step, "")
    if step == "hallucination":
        return {**line, "claims": [claim(each, original) for each in row["claims"]]}
    line["choice"] = "na" if row[step] is None else row[step]
    return {**line, "flags": ["refusal"]} if step == "accuracy" and row["refusal"] else line


def claim(given: dict[str, str], original: OriginalResponse) -> dict[str, Any]:
    at = original.text.index(given["text"])
    start, end = to_shown((at, at + len(given["text"])), original.masks)
    about = {name: given[name] for name in ("category", "claim", "note")}
    return {**about, "start": start, "end": end}


def main() -> None:
    if (HERE / "blind").exists():
        raise SystemExit("It is scored already. To make it again, remove blind, blind.key and blind.acts.")
    assay("run", ".")
    assay("review", "blind", ".", "--by", "the authors")
    assay("review", "check", ".")
    files = ScoringFolder(HERE / "blind")
    first, reconciled = [], []
    for rater in (files.pack.panel.primary, *files.pack.panel.others):
        for row, original in rows_of(rater, files):
            first += [score(rater, row, original, step) for step in STEPS]
            if again := row.get("reconciled"):
                about = {"rater": rater, "response_id": original.response_id, "step": "accuracy"}
                reconciled.append({**about, "choice": again["accuracy"], "note": again["note"]})
    for name, lines in (("first.jsonl", first), ("reconciled.jsonl", reconciled)):
        path = HERE / "run" / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assay("review", "import", ".", str(path.relative_to(HERE)))
    assay("review", "agreement", ".")
    assay("review", "unblind", ".", "--by", "the authors")
    assay("run", ".")


if __name__ == "__main__":
    main()
