"""A gate as a study file or a gate file writes it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from assay.core.yaml_lines import Share, Word


class GateFile(BaseModel, extra="forbid", frozen=True):
    """One gate: clauses that must hold first, clauses for go, clauses that kill."""

    about: Word = Field("", description="what it is for, in a sentence; shown under its name")
    on: Literal["estimate", "interval"] | None = None
    first: Any = None
    go: Any = None
    kill: Any = None
    otherwise: Literal["inconclusive", "no-go"] | None = None
    min_items: int = Field(5, ge=1)
    failures: Literal["impute", "worst"] = "impute"
    max_failed: Share = Field(
        0.05, description="the share of its items on which a system may fail; beyond it, its clauses fail"
    )
    interval: Literal["bootstrap", "subsets"] = "bootstrap"
    planned: int | None = Field(
        None, ge=2, description="how many items it will be decided on in the end, for sharper bounds there"
    )
    strict: bool = Field(False, description="bounds reckon with rare losses that no item has shown")
    deciding: bool = Field(True, description="false: it informs a recommendation, and decides nothing")
    harmless: dict[Word, Word] = Field(
        {}, description="controls that may pass it, each with the reason (docs/controls.md)"
    )
