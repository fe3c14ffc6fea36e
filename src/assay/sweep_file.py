"""The section `sweep` of a study file, as written: a grid of parameters of one system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from assay.errors import UsageError
from assay.spec import parse_spec

_CUT = "a comma inside […] ends a value: put each in quotes, or on a line of its own"


def _text(value: Any) -> str:
    """A value of a factor: text as it is, a part as its spec, anything else as it would stand in a spec."""
    if isinstance(value, str):
        if value.count("(") != value.count(")"):
            raise ValueError(_CUT)
        return value
    if isinstance(value, Mapping):
        try:
            return str(parse_spec(value))
        except UsageError as error:
            raise ValueError(str(error)) from error
    if value is None:
        raise ValueError("a value is empty")
    return json.dumps(value)


def _texts(value: Any) -> list[str]:
    """Values of a factor or tag, each once; one alone needs no list."""
    texts = [_text(each) for each in (value if isinstance(value, list) else [value])]
    if len(set(texts)) < len(texts):
        raise ValueError("a value is listed twice")
    return texts


Texts = Annotated[list[str], BeforeValidator(_texts), Field(min_length=1)]


class SweepFile(BaseModel):
    """Which parameters of which system take which values, and what tells the better of two settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str | None = Field(None, description="default: the study's first")
    measure: str | None = Field(None, description="what settings are ranked by; default: the study's first")
    grid: dict[str, Texts] = Field(min_length=1, description="by parameter: its values; dotted inside a part")
    where: dict[str, Texts] = Field({}, description="only items with these tags")
    by: str | None = Field(None, description="the tag that the heat map shows; default: the study's first")
