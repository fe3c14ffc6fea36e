"""Finding plugins: entry points, ours and others' alike, looked up by name and loaded one at a time."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from assay.errors import PluginError, did_you_mean
from assay.spec import Spec, parse_spec

SYSTEMS = "assay.systems"
DATASETS = "assay.datasets"
JUDGES = "assay.judges"
MEASURES = "assay.measures"
STATISTICS = "assay.statistics"
RENDERERS = "assay.renderers"
GROUPS = (SYSTEMS, DATASETS, JUDGES, MEASURES, STATISTICS, RENDERERS)

_PLACE = re.compile(r"(?P<what>.*) - at `\$\.(?P<name>\w+).*`", re.DOTALL)


class Registry:
    """Plugins by group and name. `extra` adds or replaces some, for embedding and for tests."""

    def __init__(self, extra: Mapping[str, Mapping[str, type]] | None = None) -> None:
        self._extra = extra or {}

    @property
    def extended(self) -> bool:
        """Whether it knows plugins that only this process does."""
        return any(self._extra.values())

    @cached_property
    def _found(self) -> dict[str, dict[str, EntryPoint]]:
        every = entry_points()  # one look at what is installed: each look reads a file a distribution
        found: dict[str, dict[str, EntryPoint]] = {group: {} for group in GROUPS}
        for point in (point for group in GROUPS for point in every.select(group=group)):
            other = found[point.group].setdefault(point.name, point)
            if other.value != point.value:
                who = " and ".join(sorted(each.dist.name for each in (other, point) if each.dist))
                what = f"Two plugins are called {point.name!r} in {point.group}, by {who}."
                raise PluginError(f"{what} Uninstall one.")
        return found

    def names(self, group: str) -> list[str]:
        """Every name known in a group."""
        return sorted({*self._found[group], *self._extra.get(group, {})})

    def load(self, group: str, name: str) -> type:
        """The plugin class of that name."""
        if name in (extra := self._extra.get(group, {})):
            return extra[name]
        if (point := self._found[group].get(name)) is None:
            kind = group.rpartition(".")[2].removesuffix("s")
            raise PluginError(f"There is no {kind} {name!r}. {did_you_mean(name, self.names(group))}")
        try:
            loaded = point.load()
        except Exception as error:
            raise PluginError(f"The plugin {name!r} ({point.value}) does not load: {error}") from error
        if not isinstance(loaded, type):
            raise PluginError(f"The plugin {name!r} ({point.value}) is not a class.")
        return loaded

    def create(self, group: str, given: str | Mapping[str, Any] | Spec) -> Any:
        """A plugin made from its spec, parameters checked against its fields."""
        spec = parse_spec(given)
        return make(self.load(group, spec.name), spec)

    def provider(self, group: str, name: str) -> str:
        """Name and version of the distribution a plugin comes from, for identities."""
        point = self._found[group].get(name)
        return f"{point.dist.name} {point.dist.version}" if point is not None and point.dist else ""


def make(cls: type, spec: Spec) -> Any:
    """An instance of a plugin class; a parameter it lacks, or of a wrong type, is a PluginError."""
    if not dataclasses.is_dataclass(cls):
        raise PluginError(f"{cls.__name__} is not a dataclass, so {spec.name!r} can take no parameters.")
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    params = dict(spec.params)
    if "" in params:
        if not fields:
            raise PluginError(f"{spec.name!r} takes no parameter, so nothing may follow the colon.")
        params[next(iter(fields))] = params.pop("")
    for name in params:
        if name not in fields:
            raise PluginError(f"{spec.name!r} has no parameter {name!r}. {did_you_mean(name, fields)}")
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
        return msgspec.convert(params, cls, dec_hook=_keep, strict=False)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise PluginError(f"{spec.name!r}: {_refusal(error, cls)}") from error


def _refusal(error: Exception, cls: type) -> str:
    """What msgspec refuses, in the words of a study: the parameter, what it takes, what it got."""
    found = _PLACE.fullmatch(str(error))
    if found is None:
        return str(error)
    what, name = found["what"].replace("`", "").replace(" | ", " or "), found["name"]
    taken = _literals(get_type_hints(cls).get(name))
    choices = f". It takes {', '.join(taken)}" if taken and "enum" in what else ""
    return f"{name}: {what[:1].lower()}{what[1:]}{choices}".replace("invalid enum value", "it cannot be")


def _literals(hint: Any) -> list[str]:
    """The words that a type allows, where it lists them."""
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    return [word for part in get_args(hint) for word in _literals(part)]


def _keep(wanted: type, value: Any) -> Any:
    """Lets nested specs and already made objects pass through msgspec untouched."""
    if isinstance(value, wanted):
        return value
    raise ValueError(f"expected {wanted.__name__}, got {value!r}")


def identity(plugin: object, provider: str = "") -> str:
    """The canonical text of a plugin: where its code is, its version and every parameter."""
    cls = type(plugin)
    version = getattr(cls, "version", provider)
    fields = {field.name: _plain(getattr(plugin, field.name)) for field in dataclasses.fields(plugin)}  # type: ignore[arg-type]
    return (
        f"{cls.__module__}:{cls.__qualname__}@{version}{msgspec.json.encode(fields, order='sorted').decode()}"
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return identity(value)
    return str(value) if isinstance(value, Spec) else value
