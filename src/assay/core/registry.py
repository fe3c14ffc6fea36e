"""Finds plugins, of this program and of other packages, by entry points.

A plugin is loaded when it is needed.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points, packages_distributions
from importlib.metadata import version as distribution_version
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from assay.core.errors import AssayError, PluginError, UsageError, did_you_mean
from assay.core.optional import IdentifiedPlugin, VersionedPlugin
from assay.core.spec import Spec, WrongParameter, make_plugin, parameters_by_name, parse_spec

if TYPE_CHECKING:
    from assay.core.protocols import Kit


SYSTEMS = "assay.systems"
DATASETS = "assay.datasets"
JUDGES = "assay.judges"
MEASURES = "assay.measures"
STATISTICS = "assay.statistics"
RENDERERS = "assay.renderers"
CONTROLS = "assay.controls"
ORACLES = "assay.oracles"
CHECKS = "assay.checks"
REVIEWS = "assay.reviews"
INSIGHTS = "assay.insights"
TOKENIZERS = "assay.tokenizers"
CHUNKERS = "assay.chunkers"
EMBEDDERS = "assay.embedders"
STORES = "assay.stores"
FUSIONS = "assay.fusions"
RERANKERS = "assay.rerankers"
SELECTORS = "assay.selectors"
LINKS = "assay.links"
STAGES = (
    *(SYSTEMS, DATASETS, JUDGES, MEASURES, STATISTICS, RENDERERS),
    *(CONTROLS, ORACLES, CHECKS, INSIGHTS, REVIEWS),
)
_PARTS = (TOKENIZERS, CHUNKERS, EMBEDDERS, STORES, FUSIONS, RERANKERS, SELECTORS, LINKS)  # parts of the core
CORE, COMMANDS = "assay", "assay.commands"
KINDS = "assay.kinds"  # each package in it is of one kind of study

T = TypeVar("T")
_OUTSIDE, _LATER = "outside identity", "added later"
Fill = Callable[[Any], Any]


def _unchanged(value: Any) -> Any:
    return value


@contextmanager
def as_plugin_error(what: str) -> Iterator[None]:
    """Turns an error that a plugin's code raises into a PluginError whose message begins with `what`."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:  # a plugin is anybody's code
        raise PluginError(f"{what}: {type(error).__name__}: {error}") from error


class Registry:
    """The known plugins, by group and name. `extra` adds or replaces plugins in this process only."""

    def __init__(self, extra: Mapping[str, Mapping[str, type]] | None = None) -> None:
        self._extra = extra or {}

    @property
    def extended(self) -> bool:
        """Whether the registry has plugins that only this process knows."""
        return any(self._extra.values())

    @cached_property
    def _found(self) -> dict[str, dict[str, EntryPoint]]:
        every = entry_points()  # only once, since it reads a file of each installed distribution
        others = sorted(group for group in every.groups - {*STAGES, *_PARTS} if is_plugin_group(group))
        found: dict[str, dict[str, EntryPoint]] = {group: {} for group in (*STAGES, *_PARTS, *others)}
        for point in (point for group in found for point in every.select(group=group)):
            other = found[point.group].setdefault(point.name, point)
            if other.value != point.value:
                who = " and ".join(sorted(each.dist.name for each in (other, point) if each.dist))
                what = f"Two plugins are called {point.name!r} in {point.group}, by {who}."
                raise PluginError(f"{what} Uninstall one.")
        return found

    @property
    def groups(self) -> list[str]:
        """The names of all groups: first the stages of a run, then parts of the core, then others."""
        return list(self._found)

    def names(self, group: str) -> list[str]:
        """Returns the names of the plugins of a group."""
        return sorted({*self._found.get(group, {}), *self._extra.get(group, {})})

    def load(self, group: str, name: str) -> type:
        """Returns the plugin class with that name."""
        if name in (extra := self._extra.get(group, {})):
            return extra[name]
        if (point := self._found.get(group, {}).get(name)) is None:
            kind = group.rpartition(".")[2].removesuffix("s")
            raise PluginError(f"There is no {kind} {name!r}. {did_you_mean(name, self.names(group))}")
        try:
            loaded = point.load()
        except Exception as error:
            what = f"The plugin {name!r} ({point.value}) does not load: {error}"
            raise PluginError(f"{what}{_new_import(error)}") from error
        if not isinstance(loaded, type):
            raise PluginError(f"The plugin {name!r} ({point.value}) is not a class.")
        return loaded

    def create(self, group: str, given: str | Mapping[str, Any] | Spec, fill: Fill = _unchanged) -> Any:
        """Makes a plugin from its spec, and checks the parameters against the fields of its class.

        `fill` is applied to each value after the spec was parsed. So the text that it fills in is never read
        as a spec.
        """
        spec = parse_spec(given)
        cls = self.load(group, spec.name)
        if not dataclasses.is_dataclass(cls):
            return make_plugin(cls, spec)
        groups = part_groups(cls)
        made = {
            name: self._part(spec.name, name, groups[name], value, fill) if name in groups else fill(value)
            for name, value in parameters_by_name(cls, spec).items()
        }
        return make_plugin(cls, Spec(spec.name, made))

    def _part(self, whole: str, name: str, group: str, value: Any, fill: Fill) -> Any:
        """Makes the part that a parameter names, or each part of a list. Other values stay as they are."""
        if isinstance(value, list):
            return [self._part(whole, name, group, each, fill) for each in value]
        if not isinstance(value, str | Mapping | Spec):
            return value
        try:
            return self.create(group, value, fill)
        except (PluginError, UsageError) as error:
            path = (name, *error.path) if isinstance(error, WrongParameter) else (name,)
            raise WrongParameter(f"{whole!r}: {name}: {error}", path) from error

    def of_packages(self, group: str, packages: Set[str]) -> dict[str, Any]:
        """Makes all plugins of a group that are in one of these packages.

        Returns them by name, sorted by name.
        """
        extra = self._extra.get(group, {})
        modules = {name: point.module for name, point in self._found[group].items()}
        modules.update({name: cls.__module__ for name, cls in extra.items()})
        names = [name for name in self.names(group) if package_of(modules[name]) in packages]
        return {name: self.create(group, name) for name in names}

    def provider(self, group: str, name: str) -> str:
        """Returns the name and version of the distribution that has a plugin.

        Identities contain this text.
        """
        point = self._found[group].get(name)
        return f"{point.dist.name} {point.dist.version}" if point is not None and point.dist else ""


def is_plugin_group(mark: object) -> bool:
    """Whether a value is the name of a group of plugins. Any package may have groups of its own."""
    return isinstance(mark, str) and mark.startswith(f"{CORE}.") and mark not in {KINDS, COMMANDS}


def _new_import(error: Exception) -> str:
    """Returns advice for a plugin that imports a module that has moved; otherwise an empty text."""
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    last = name.rpartition(".")[2]
    now = f"assay.core.{'registry' if last == 'plugins' else last}"
    return f". Import {now} instead." if name.startswith("assay.") and find_spec(now) is not None else ""


def package_of(module: str) -> str:
    """Returns the package of the kind of study to which a module belongs, or else its top-level package."""
    depth = 3 if module.startswith(f"{KINDS}.") else 1
    return ".".join(module.split(".")[:depth])


def part_groups(cls: type) -> Mapping[str, str]:
    """Returns the fields of a plugin that accept a part, each with the group of the part.

    A field declares its group as in `Annotated[Embedder, EMBEDDERS]`.
    """
    found = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        each = [hint, *get_args(hint)]
        marks = (mark for part in each for mark in getattr(part, "__metadata__", ()))
        if groups := [mark for mark in marks if is_plugin_group(mark)]:
            found[name] = groups[0]
    return found


def outside_identity(default: T) -> T:
    """Returns the default for a parameter that never changes results, such as a timeout or a price.

    The parameter is not part of the identity.
    """
    kept: T = dataclasses.field(default=default, metadata={_OUTSIDE: True})
    return kept


def added_later(default: T) -> T:
    """Returns the default for a parameter that was added after answers had been stored.

    The parameter is part of the identity only if its value is not the default.
    """
    kept: T = dataclasses.field(default=default, metadata={_LATER: True})
    return kept


def address(cls: type) -> str:
    """Returns the address under which answers of a class are stored: its first module and name.

    A class that was moved keeps this address, as `FIRST_ADDRESS` of its module or as its own `first_address`,
    written `module:Name`.
    """
    first = vars(sys.modules[cls.__module__]).get("FIRST_ADDRESS", cls.__module__)
    return str(vars(cls).get("first_address", f"{first}:{cls.__qualname__}"))


def identity(plugin: object, provider: str = "") -> str:
    """Returns the canonical text of a plugin: the address and version of its class, and its parameters.

    Parameters that never change results are left out.
    """
    cls = type(plugin)
    release = provider or _release_of(cls.__module__.partition(".")[0])
    version = cls.version if isinstance(cls, VersionedPlugin) else release
    fields = {
        field.name: _plain_value(value)
        for field in dataclasses.fields(plugin)  # type: ignore[arg-type]
        for value in [getattr(plugin, field.name)]
        if _OUTSIDE not in field.metadata and not (_LATER in field.metadata and value == field.default)
    }
    return f"{address(cls)}@{version}{msgspec.json.encode(fields, order='sorted').decode()}"


_OWN, _OWN_PACKAGES = "retrieval-assay", {"assay", "assay_worlds"}


@cache
def _release_of(package: str) -> str:
    """Returns the name and version of the distribution of a package; empty if there is none."""
    # searching all distributions takes a quarter of a second, and our own is known
    names = [_OWN] if package in _OWN_PACKAGES else packages_distributions().get(package, [])
    return " ".join(f"{name} {distribution_version(name)}" for name in sorted(set(names)))


def part_identities(plugin: object, kit: Kit) -> dict[str, Any]:
    """Returns the identities of the parts of a plugin, by field. A part without an own identity has None."""
    found = {}
    for name in part_groups(type(plugin)):
        part = getattr(plugin, name)
        if part is not None and not isinstance(part, list):
            own = part.identity(kit) if isinstance(part, IdentifiedPlugin) else None
            inner = part_identities(part, kit)
            found[name] = [own, inner] if inner else own
    return found


def _plain_value(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return identity(value)
    if isinstance(value, list):
        return [_plain_value(each) for each in value]
    return str(value) if isinstance(value, Spec) else value


def kind_packages() -> dict[str, str]:
    """Returns the package of every kind of study, by the name of the kind. It imports none of them."""
    return dict(sorted((point.name, point.value) for point in entry_points(group=KINDS)))


def template_of(kind: str) -> Traversable:
    """Returns the folder with the template study of a kind."""
    return files(kind_packages()[kind]) / "template"
