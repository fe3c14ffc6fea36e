"""Specs name a plugin and its parameters. A study writes a spec in one of several forms:

    bm25
    bm25(k1=0.9, stem=english)
    ir_datasets:beir/scifact/test          the text after the colon is the plugin's first parameter
    flat_strong(model=static(dims=256), depth=50)
    {use: bm25, k1: 0.9}

A spec is data. `make_plugin` makes an instance of a plugin class from a spec. A spec has one canonical
printed form, which identities hash.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from assay.core.errors import PluginError, UsageError, did_you_mean

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_NUMBER = re.compile(r"-?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+)(?=[\s,)\]]|$)")
_BARE = re.compile(r"[^\s,()\[\]'\"=]+")
_PLACE = re.compile(r"(?P<what>.*) - at `\$(?P<path>\..*)`", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>\d+)\]|\[\.\.\.\]")  # the last: some key of a mapping
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True)
class Spec:
    """The name of a plugin, with the parameters that it is given."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={_show(self.params[key])}' for key in sorted(self.params))})"


def parse_spec(given: str | Mapping[str, Any] | Spec) -> Spec:
    """Parses a spec in any of the forms that a study file allows."""
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
    if isinstance(value, str) and _BARE.fullmatch(value) and not _needs_quotes(value):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _needs_quotes(bare: str) -> bool:
    """Whether a text without quotes would be read as a number or a constant."""
    return bare.lower() in _CONSTANTS or _NUMBER.fullmatch(bare) is not None


class _Scanner:
    """Reads a spec string. Its errors name the column."""

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


# ------------------------------------------------------------------------------ making plugins


class WrongParameter(PluginError):
    """A plugin does not accept a parameter or its value.

    `path` leads from the given parameters to the wrong one, inside parts if necessary.
    """

    def __init__(self, message: str, path: tuple[str, ...]) -> None:
        super().__init__(message)
        self.path = path


def make_plugin(cls: type, spec: Spec) -> Any:
    """Makes an instance of a plugin class. An unknown parameter or a wrong value raises a PluginError."""
    if not dataclasses.is_dataclass(cls):
        raise PluginError(f"{cls.__name__} is not a dataclass, so {spec.name!r} can take no parameters.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    params = parameters_by_name(cls, spec)
    for name in params:
        if name not in fields:
            what = f"{spec.name!r} has no parameter {name!r}. {did_you_mean(name, fields)}"
            raise WrongParameter(what, (name,))
    missing = [
        name
        for name, field in fields.items()
        if name not in params
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        needed = ", ".join(f"{name}=…" for name in missing)
        raise PluginError(f"{spec.name!r} needs more parameters. Write {spec.name}({needed}).")
    try:
        return msgspec.convert(params, cls, dec_hook=_accept_made, strict=False)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        what, path = _conversion_message(error, cls, params)
        raise WrongParameter(f"{spec.name!r}: {what}", path) from error


def parameters_by_name(cls: type, spec: Spec) -> dict[str, Any]:
    """Returns the parameters by name.

    The text after a colon is the value of the first parameter that may be positional.
    """
    params = dict(spec.params)
    if "" in params:
        fields = [field for field in dataclasses.fields(cls) if field.init]
        if not fields:
            raise PluginError(f"{spec.name!r} takes no parameter, so nothing may follow the colon.")
        first = next((field for field in fields if not field.kw_only), fields[0])
        params[first.name] = params.pop("")
    return params


def _conversion_message(
    error: Exception, cls: type, params: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]]:
    """Rewrites an error of msgspec for readers of a study.

    Returns the message and the path of the parameter.
    """
    found = _PLACE.fullmatch(str(error))
    if found is None:
        return str(error), ()
    path, hint = _resolve_path(found["path"], cls, params)
    if unknown := _UNKNOWN.fullmatch(found["what"]):
        name = unknown["name"]
        known = [field for part in _types_in(hint) for field in _fields_of(part)]
        what = f"there is no such field. {did_you_mean(name, known)}"
        return f"{'.'.join((*path, name))}: {what}".rstrip(), (*path, name)
    what = found["what"].replace("`", "").replace(" | ", " or ")
    taken = _literals(hint) if "enum" in what else []
    choices = f". It takes {', '.join(taken)}" if taken else ""
    what = f"{what[:1].lower()}{what[1:]}{choices}".replace("invalid enum value", "it cannot be")
    return f"{'.'.join(path)}: {what}", path


def _resolve_path(path: str, cls: type, params: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Adds to a path of msgspec the keys that it leaves out. Returns the path and the type at its end."""
    hint: Any = cls
    value: Any = params
    walked: list[str] = []
    for step in _STEP.finditer(path):
        key = step["name"] or (int(step["index"]) if step["index"] else None)
        hint = _type_inside(hint, key)
        if key is None:
            key = next((name for name, each in value.items() if not _converts(each, hint)), "")
        value = value[key] if key != "" else None
        walked.append(str(key))
    return tuple(walked), hint


def _type_inside(hint: Any, key: str | int | None) -> Any:
    """Returns the type of a field, or of the value at an index.

    If the key is None, returns the type of the values of a mapping.
    """
    for part in _types_in(hint):
        args = get_args(part)
        if isinstance(key, str) and key in (fields := _fields_of(part)):
            return fields[key]
        if key is None and get_origin(part) is dict:
            return args[1]
        if isinstance(key, int) and get_origin(part) in {list, tuple}:
            return args[key] if key < len(args) and ... not in args else args[0]
    return Any


def _types_in(hint: Any) -> list[Any]:
    """Returns the members of a union or of an annotated type. For any other type, returns the type itself."""
    if get_origin(hint) in {dict, list, tuple, Literal, None}:
        return [hint]
    return [part for each in get_args(hint) for part in _types_in(each)]  # of a union, of Annotated


def _fields_of(cls: Any) -> dict[str, Any]:
    """Returns the fields of a dataclass or Struct with their types; no fields for any other class."""
    is_struct = isinstance(cls, type) and issubclass(cls, msgspec.Struct)
    return get_type_hints(cls, include_extras=True) if is_struct or dataclasses.is_dataclass(cls) else {}


def _converts(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint, dec_hook=_accept_made, strict=False)
    except (msgspec.ValidationError, ValueError, TypeError):
        return False
    return True


def _literals(hint: Any) -> list[str]:
    """Returns the words that a literal type allows."""
    return [str(word) for part in _types_in(hint) if get_origin(part) is Literal for word in get_args(part)]


def _accept_made(wanted: type, value: Any) -> Any:
    """Lets msgspec accept nested specs, and plugins that exist already."""
    if isinstance(value, wanted):
        return value
    raise ValueError(f"expected {wanted.__name__}, got {value!r}")
