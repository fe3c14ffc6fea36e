"""The shipped studies come to what they came to when the record was kept: no number has changed."""

from __future__ import annotations

import pytest

from recorded import STUDIES, differences, kept, record

NAMES = [pytest.param(name, marks=[pytest.mark.slow] if each.slow else []) for name, each in STUDIES.items()]


@pytest.mark.parametrize("name", NAMES)
def test_no_number_has_changed(name: str) -> None:
    if name.startswith("models"):
        pytest.importorskip("onnxruntime", reason="MiniLM needs the extra minilm")
    # the last digits of a product of matrices are the processor's; on one machine they are equal
    assert differences(kept(name), record(name), tolerance=1e-9) == []


def test_a_changed_number_is_seen() -> None:
    before = {"a": 1.0, "b": "missing", "c": 2}
    after = {"a": 1.0 + 1e-6, "b": 0.0, "d": 2}
    assert [each.partition(":")[0] for each in differences(before, after, tolerance=1e-9)] == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert differences(before, dict(before)) == []
