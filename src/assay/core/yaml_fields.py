"""How fields of YAML and JSON files are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints


def _word(value: Any) -> Any:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else str(value)
        if isinstance(value, int | float)
        else value
    )


def as_list(value: Any) -> Any:
    return value if isinstance(value, list | Mapping) or value is None else [value]


def _share(value: Any) -> Any:
    """A share as a number: 5% is 0.05."""
    try:
        found = float(value.removesuffix("%")) / 100 if str(value).endswith("%") else float(value)
    except (TypeError, ValueError):
        found = -1.0
    if isinstance(value, bool) or not 0 <= found <= 1:
        raise ValueError("expected a share, such as 5% or 0.05")
    return found


Word = Annotated[str, BeforeValidator(_word)]  # yes and 5 are words where a word is expected
Words = Annotated[list[Word], BeforeValidator(as_list)]
FilledText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Share = Annotated[float, BeforeValidator(_share)]
