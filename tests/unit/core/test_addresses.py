"""Answers, scores and proofs of earlier releases are found again: identities did not move with the code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.registry import Registry, identity

KEPT = json.loads((Path(__file__).parents[2] / "records" / "identities.json").read_text())


@pytest.mark.parametrize("spec", sorted(KEPT))
def test_a_plugin_is_identified_as_it_was(spec: str) -> None:
    group, _, text = spec.partition(" ")
    assert identity(Registry().create(group, text), provider="RELEASE") == KEPT[spec]
