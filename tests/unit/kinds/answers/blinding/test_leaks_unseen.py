"""Leaks that nobody would notice: blanks at an end, the order of fields; and what exports may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blind_pack import Made, made, written

from assay.kinds.answers.blinding.pack import PACK
from assay.kinds.answers.leaks.search import Leak, find_leaks

ONE = made()
A = frozenset(each for each, condition in ONE.conditions.items() if condition == "A")


def found(folder: Path, one: Made = ONE, **more: Any) -> list[Leak]:
    return find_leaks(folder, one.pack, one.sealed, one.words, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "blind", ONE)


def test_scores_in_an_export_may_favour_a_condition(folder: Path) -> None:
    """A check after scoring must neither take the effect for a leak nor tell that there is one."""
    rows = [
        {
            "response_id": each,
            "factual_accuracy": "1" if each in A else "3",
            **({"hallucination_categories": "H-FAB"} if each in A else {}),
            "completeness": "0" if each in A else "1",
            "scoring_notes": "condition: A would be my guess",
            "scoring_date": "2026-03-01" if each in A else "2026-03-02",
        }
        for each in ONE.conditions
    ]
    claim = {"category": "H-FAB", "model_text_span": "keys", "claim": "keys", "note": "none are named"}
    claims = {each: [claim] if each in A else [] for each in sorted(ONE.conditions)}
    details = {
        each: {"hallucination_count": len(some), "hallucinations": some} for each, some in claims.items()
    }
    exported = {"raw-data.csv": json.dumps(rows), "hallucination-details.json": json.dumps(details)}
    assert found(folder, exported=exported) == []


@pytest.mark.parametrize("keyed", [True, False])
def test_the_order_of_fields_in_an_export(folder: Path, keyed: bool) -> None:
    about = {each: {"site_id": "S001", "complexity": "single-fact"} for each in ONE.conditions}
    turned = {each: dict(reversed(row.items())) if each in A else row for each, row in about.items()}
    content = turned if keyed else [{"response_id": each, **row} for each, row in turned.items()]
    what = "which fields there are, or their order, goes with the condition"
    assert Leak("words", what, "export.json") in found(folder, exported={"export.json": json.dumps(content)})


def test_a_field_that_only_some_have(folder: Path) -> None:
    rows = [{"response_id": each, **({"seen": 1} if each in A else {})} for each in ONE.conditions]
    assert "words" in {leak.check for leak in found(folder, exported={"export.json": json.dumps(rows)})}


@pytest.mark.parametrize("blank", [" ", "\n", "\u00a0", "\u200b"])
def test_blanks_at_the_end_of_a_response(folder: Path, blank: str) -> None:
    one = ONE._replace(
        pack=msgspec.structs.replace(
            ONE.pack,
            responses=[
                msgspec.structs.replace(each, text=each.text + blank) if each.response_id in A else each
                for each in ONE.pack.responses
            ],
        )
    )
    what = "60 responses hold what the rule 'blanks at an end' masks"
    assert Leak("text", what, PACK) in found(folder, one)


def test_a_plain_text_of_responses_as_shown_is_no_leak(folder: Path) -> None:
    first = ONE.pack.responses[0]
    originals = [
        msgspec.structs.replace(
            each, text=each.text + "\n", masks=[(len(each.text),) * 3 + (len(each.text) + 1,)]
        )
        for each in ONE.sealed.originals
    ]
    one = ONE._replace(sealed=msgspec.structs.replace(ONE.sealed, originals=originals))
    (folder / "sample.txt").write_text(f"{first.text}\nwas the first\n")
    assert found(folder, one) == []
