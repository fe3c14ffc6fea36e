"""Spec strings: `name`, `name(k=v, …)`, `name:value` in a study file, and `{use: name, k: v}`.

    bm25
    bm25(k1=0.9, stem=english)
    ir_datasets:beir/scifact/test          the text after the colon is the plugin's first parameter
    flat_strong(model=static(dims=256), depth=50)

A spec is data until a registry makes a plugin of it. It prints in one canonical form, which is what
identities hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import UsageError

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_NUMBER = re.compile(r"-?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+)(?=[\s,)\]]|$)")
_BARE = re.compile(r"[^\s,()\[\]'\"=]+")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True)
class Spec:
    """The name of a plugin and the parameters it is given."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={_show(self.params[key])}' for key in sorted(self.params))})"


def parse_spec(given: str | Mapping[str, Any] | Spec) -> Spec:
    """A spec from any of the forms a study file allows."""
    if isinstance(given, Spec):
        return given
    if isinstance(given, str):
        return _Scanner(given).whole()
    if "use" not in given or not isinstance(given["use"], str):
        raise UsageError(f"{dict(given)!r} names no plugin. Write it as 'name(k=v)' or {{use: name, k: v}}.")
    head = parse_spec(given["use"])
    params = {key: _nested(value) for key, value in given.items() if key != "use"}
    return Spec(head.name, {**head.params, **params})


def _nested(value: Any) -> Any:
    if isinstance(value, Mapping) and "use" in value:
        return parse_spec(value)
    if isinstance(value, list):
        return [_nested(part) for part in value]
    return value


def _show(value: Any) -> str:
    if isinstance(value, Spec):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_show(part) for part in value) + "]"
    if isinstance(value, str) and _BARE.fullmatch(value) and not _means_something_else(value):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _means_something_else(bare: str) -> bool:
    """Whether this text, without quotes, would be read as a number or a constant."""
    return bare.lower() in _CONSTANTS or _NUMBER.fullmatch(bare) is not None


class _Scanner:
    """Reads one spec string, and names the column of a mistake."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def whole(self) -> Spec:
        spec = self.spec()
        self.space()
        if self.at < len(self.text):
            raise self.mistake("expected the end")
        return spec

    def spec(self) -> Spec:
        self.space()
        name = self.match(_WORD)
        if name is None:
            raise self.mistake("expected a name")
        if self.take(":"):
            rest, self.at = self.text[self.at :].strip(), len(self.text)
            return Spec(name, {"": rest})
        return Spec(name, self.params() if self.take("(") else {})

    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = {}
        while not self.take(")"):
            key = self.match(_WORD)
            if key is None or not self.take("="):
                raise self.mistake("expected 'parameter=value' or ')'")
            if key in params:
                raise self.mistake(f"{key!r} is given twice")
            params[key] = self.value()
            if not self.take(",") and not self.text.startswith(")", self.at):
                raise self.mistake("expected ',' or ')'")
            self.space()
        return params

    def value(self) -> Any:
        self.space()
        if self.take("["):
            parts = []
            while not self.take("]"):
                parts.append(self.value())
                if not self.take(",") and not self.text.startswith("]", self.at):
                    raise self.mistake("expected ',' or ']'")
            return parts
        if self.text[self.at : self.at + 1] in {"'", '"'}:
            return self.quoted()
        if (number := self.match(_NUMBER)) is not None:
            return float(number) if re.search(r"[.eE]", number) else int(number)
        start = self.at
        if (word := self.match(_WORD)) is not None and self.text.startswith("(", self.at):
            self.at = start
            return self.spec()
        self.at = start
        word = self.match(_BARE)
        if word is None:
            raise self.mistake("expected a value")
        return _CONSTANTS.get(word.lower(), word)

    def quoted(self) -> str:
        quote, start = self.text[self.at], self.at
        end = self.text.find(quote, start + 1)
        if end < 0:
            raise self.mistake("this quote is never closed")
        self.at = end + 1
        self.space()
        return self.text[start + 1 : end]

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self.space()
        return found.group()

    def take(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self.space()
        return True

    def space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def mistake(self, what: str) -> UsageError:
        return UsageError(f"{what} at column {self.at + 1} of {self.text!r}")
