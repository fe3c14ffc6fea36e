"""The section `sweep` of a study file, as written: a grid of parameters of one system, or changes to it.

A parameter of a plugin is set by its dotted name: `k`, `fuse.k` inside a part, `params.rrf_k` in a mapping.
Its value comes as the text of a factor and is read as in a spec: `40` is a number, `[0.6, 0.4]` a list,
`null` nothing at all.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
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
from assay.core.registry import Registry, part_groups
from assay.core.spec import Spec, make_plugin, parse_spec

NULL = "null"


def top_parameter(path: str) -> str:
    """The plugin's own parameter that a dotted name begins with."""
    return path.partition(".")[0]


def parameter_names(cls: type) -> list[str]:
    """The names of a plugin's own parameters."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return [field.name for field in fields if field.init]


def set_parameter(registry: Registry, group: str, spec: Spec, path: str, text: str) -> Spec:
    """The spec with one parameter set, its own or one inside a part or a mapping that it takes."""
    name, _, rest = path.partition(".")
    if not rest:
        return Spec(spec.name, {**spec.params, name: _plain(text)})
    cls = registry.load(group, spec.name)
    given = spec.params[name] if name in spec.params else _default(cls, name)
    parts = part_groups(cls)
    if name in parts and isinstance(given, str | Mapping | Spec):
        inside: Any = set_parameter(registry, parts[name], parse_spec(given), rest, text)
    elif isinstance(given, Mapping):
        inside = _in_mapping(given, rest, text)
    elif dataclasses.is_dataclass(given) and not isinstance(given, type):
        inside = _in_part(given, rest, text)
    else:
        what = f"{spec.name!r} takes a {name} that is {given!r}"
        raise UsageError(f"{path}: {what}: there is nothing inside it to set. Set {name} itself.")
    return Spec(spec.name, {**spec.params, name: inside})


def part_parameter_names(registry: Registry, group: str, spec: Spec) -> Iterator[str]:
    """The dotted name of every parameter of every part that a plugin has, however deep."""
    cls = registry.load(group, spec.name)
    for name, inner in part_groups(cls).items():
        given = spec.params[name] if name in spec.params else _default(cls, name)
        if isinstance(given, str | Mapping | Spec):
            part = parse_spec(given)
            own = parameter_names(registry.load(inner, part.name))
            own += part_parameter_names(registry, inner, part)
        else:
            own = _names_inside(given)
        yield from (f"{name}.{each}" for each in own)


def _names_inside(part: Any) -> list[str]:
    """The parameters of a part that is made already, and of those that it has."""
    if isinstance(part, type) or not dataclasses.is_dataclass(part):
        return []
    names = parameter_names(type(part))
    return names + [f"{name}.{each}" for name in names for each in _names_inside(getattr(part, name))]


def _default(cls: type, name: str) -> Any:
    fields = {each.name: each for each in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}
    if name not in fields:
        return None
    field = fields[name]
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _in_part(part: Any, path: str, text: str) -> Any:
    """A part that is made already, made again with another value."""
    name, _, rest = path.partition(".")
    fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part) if field.init}
    if rest and not dataclasses.is_dataclass(fields.get(name)):
        raise UsageError(f"{path}: {type(part).__name__} has no part {name!r}.")
    value = _in_part(fields[name], rest, text) if rest else _plain(text)
    return make_plugin(type(part), Spec(type(part).__name__, {**fields, name: value}))


def _in_mapping(given: Mapping[str, Any], path: str, text: str) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    if not rest:
        value = _read(text)
        return {**given, name: text if isinstance(value, Spec) else value}
    inner = given.get(name, {})
    if not isinstance(inner, Mapping):
        raise UsageError(f"{path}: {name} is {inner!r}, no mapping. Set {name} itself.")
    return {**given, name: _in_mapping(inner, rest, text)}


def _plain(text: str) -> Any:
    """The text itself, which is converted as its parameter asks; only a list or nothing becomes one."""
    return _read(text) if text.startswith("[") or text == NULL else text


def _read(text: str) -> Any:
    """What a text means as a value in a spec; text that would not read there stays as it is."""
    try:
        read = parse_spec(f"one(value={text})").params
    except UsageError:
        return text
    return read["value"] if len(read) == 1 else text


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
