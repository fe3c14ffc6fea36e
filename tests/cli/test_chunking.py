"""Re-chunking as a parameter of a study: the same gold for every chunking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from small_study import assay, write_lines

STUDY = """\
data: data
chunk:
  small: tokens(size=12)
  large: {use: sentences, tokens: 60, overlap: 1}
factors: {chunk: [small, large]}
systems: {lexical: bm25}
measures: [RR@10, R@10]
budgets: [20]
"""
FILLER = "Nothing of note was recorded on that day by anybody at the station. " * 3


def write_study(folder: Path, text: str = STUDY) -> Path:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(text)
    subjects = ["otters", "lanterns", "harbours", "violins"]
    write_lines(
        folder / "data/passages.jsonl",
        [
            {"doc_id": subject, "text": f"{FILLER}This page is about {subject}. {FILLER}"}
            for subject in subjects
        ],
    )
    write_lines(
        folder / "data/items.jsonl",
        [
            {"item_id": f"q-{subject}", "text": f"what about {subject}", "gold": {"relevant": {subject: 1}}}
            for subject in subjects
        ],
    )
    return folder


def values(results: dict[str, Any], measure: str) -> dict[str, float]:
    return {
        each["factors"]["chunk"]: each["value"]
        for each in results["estimates"]
        if each["measure"] == measure and not each["where"]
    }


def test_every_chunking_is_scored_against_the_same_gold(tmp_path: Path) -> None:
    done = assay("run", write_study(tmp_path), "--json")
    assert done.code == 0, done.err
    # bm25 finds the one passage of each page that names its subject, however it is cut
    assert values(done.json, "RR@10") == {"small": 1.0, "large": 1.0}
    assert values(done.json, "R@10") == {"small": 1.0, "large": 1.0}


def test_one_chunking_needs_no_factor(tmp_path: Path) -> None:
    text = STUDY.replace("factors: {chunk: [small, large]}\n", "")
    text = text[: text.index("chunk:")] + "chunk: tokens(size=10)\n" + text[text.index("systems:") :]
    done = assay("run", write_study(tmp_path, text), "--json")
    assert done.code == 0, done.err
    assert assay("validate", tmp_path).code == 0
    passages = assay("validate", tmp_path, "--json").json["passages"]
    assert passages > 4 * 5


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("small: tokens(size=12)", "small: tokens(size=0)", "chunk.small: size is 0. Give 1 or more"),
        ("small: tokens", "small: tokns", "There is no chunker 'tokns'. Did you mean 'tokens'?"),
        ("factors: {chunk: [small, large]}\n", "", "several chunkings, and no factor to choose one"),
        ("[small, large]", "[small, lareg]", "there is no chunking 'lareg'. Did you mean 'large'?"),
        ("small: tokens(size=12)", "small: 12", "expected name(k=v), {use: name, k: v}, or several"),
    ],
)
def test_what_is_wrong_with_a_chunking_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in STUDY
    done = assay("validate", write_study(tmp_path, STUDY.replace(old, new)))
    assert done.code == 3
    assert told in done.err
    assert "study.yaml:" in done.err


@pytest.mark.parametrize("chunk", ["tokens(size=0)", "{use: tokns}", "{size: 200}", "{}"])
def test_a_chunking_that_is_wrong_hides_no_other_problem(tmp_path: Path, chunk: str) -> None:
    text = STUDY[: STUDY.index("chunk:")] + f"chunk: {chunk}\n" + STUDY[STUDY.index("systems:") :]
    done = assay("validate", write_study(tmp_path, text + "seeds: 0\n"))
    assert done.code == 3
    assert "study.yaml:2: chunk: " in done.err
    assert "seeds" in done.err
