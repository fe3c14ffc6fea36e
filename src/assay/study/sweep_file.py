"""The section `sweep` of a study file, as written: a grid of parameters of one system, or changes to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from assay.core.errors import UsageError
from assay.core.spec import parse_spec
from assay.study.sweep_parameter import NULL

_CUT = "a comma inside {} ends a value: put each in quotes, or on a line of its own"


def _text(value: Any) -> str:
    """A value of a factor: text as it is, a part as its spec, anything else as it would stand in a spec."""
    if isinstance(value, str):
        if value.count("(") != value.count(")"):
            raise ValueError(_CUT.format("[…]"))
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


def _set_to(value: Any) -> str:
    """What a change sets a parameter to: a list is one value here, and nothing is a value too."""
    return NULL if value is None else _text(value)


def _change(value: Any) -> Any:
    if isinstance(value, Mapping) and any(
        each is None and str(name).endswith(")") for name, each in value.items()
    ):
        raise ValueError(_CUT.format("{…}"))
    return value


Texts = Annotated[list[str], BeforeValidator(_texts), Field(min_length=1)]
Change = Annotated[
    dict[str, Annotated[str, BeforeValidator(_set_to)]], BeforeValidator(_change), Field(min_length=1)
]


class SweepFile(BaseModel, extra="forbid", frozen=True):
    """Which parameters of which system take which values, and what tells the better of two settings.

    Either a grid, of which every combination is a setting, or changes to the system as it is, one at a time.
    """

    system: str | None = Field(None, description="default: the study's first")
    measure: str | None = Field(None, description="what settings are ranked by; default: the study's first")
    grid: dict[str, Texts] = Field(
        {}, min_length=1, description="by parameter: its values; dotted inside a part"
    )
    changes: dict[str, Change] = Field(
        {}, min_length=1, description="by name: the parameters that one change sets, and to what"
    )
    where: dict[str, Texts] = Field({}, description="only items with these tags")
    by: str | None = Field(None, description="the tag that the heat map shows; default: the study's first")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.grid) == bool(self.changes):
            raise ValueError("expected either grid or changes" + ", found both" * bool(self.grid))
        return self

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the one of the two that is not there: a grid keeps the fingerprint it had alone."""
        return {
            name: value for name, value in handler(self).items() if value or name not in {"grid", "changes"}
        }
