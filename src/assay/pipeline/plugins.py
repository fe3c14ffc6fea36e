"""Finds the plugins that concern a study, and lists all installed plugins.

Checks, insights and controls concern a study if they come from a package from which the study uses a plugin.
Each kind of study is a package. The core and the kind that a study names always concern it, so that a kind
can report what is missing. No other plugins are loaded.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from assay.core.errors import MissingVariable, PluginError, UsageError, did_you_mean
from assay.core.registry import (
    CORE,
    DATASETS,
    INSIGHTS,
    Registry,
    as_plugin_error,
    is_plugin_group,
    kind_packages,
    package_of,
    part_groups,
)
from assay.core.section import Section
from assay.gates.figures import operands_of_figure
from assay.gates.gate import operands_of
from assay.gates.operand import StatisticOperand, means_of
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.pipeline.evaluation import Evaluation


def plugins_for(study: Study, group: str) -> list[Any]:
    """Returns the plugins of a group that concern a study, sorted by name."""
    return list(named_plugins_for(study, group).values())


def named_plugins_for(study: Study, group: str) -> dict[str, Any]:
    """Returns the plugins of a group that concern a study, by name."""
    used = {package_of(cls.__module__) for cls in used_classes(study)}
    own = kind_packages().get(study.file.kind, CORE)
    return study.registry.of_packages(group, used | {CORE, package_of(own)})


def make_sections(evaluation: Evaluation) -> tuple[list[Section], list[str]]:
    """Returns the sections of insights, and their warnings. A broken insight loses only its own section."""
    sections, cautions = list[Section](), list[str]()
    for insight in plugins_for(evaluation.study, INSIGHTS):
        try:
            with as_plugin_error(f"the insight {type(insight).__name__} broke, and its section is left out"):
                found = insight.of(evaluation)
        except PluginError as error:
            cautions.append(str(error))
            continue
        if found is not None:
            sections.append(found)
            cautions += found.cautions
    return sections, cautions


def used_classes(study: Study) -> Iterator[type]:
    """Yields the classes of all plugins of a study (datasets, systems, judges, …), and of their parts."""
    for arm in study.arms:
        spec = study.with_factors(DATASETS, study.data_spec, arm.factors)
        yield from _with_parts(study.registry.create(DATASETS, spec))
        try:
            yield from _with_parts(study.system(arm, secrets=False))
        except MissingVariable:  # a report needs no secrets; if the system is asked, others report it
            yield study.system_class(arm)
    for judge in study.judges:
        yield from _with_parts(judge)
    yield from map(type, study.measures)
    clauses = (clause for gate in study.gates for clause in gate.clauses())
    leaves = [found for clause in clauses for found in operands_of(clause, study)]
    leaves += [found for name in study.file.figures for found in operands_of_figure(study, name)]
    for found in leaves:
        yield from (type(mean.measure) for mean in means_of(found))
        if isinstance(found, StatisticOperand):
            yield type(found.statistic)


def _with_parts(plugin: object) -> Iterator[type]:
    yield type(plugin)
    for name in part_groups(type(plugin)):
        held = getattr(plugin, name)
        for part in held if isinstance(held, list) else [held] if held is not None else []:
            yield from _with_parts(part)


@dataclasses.dataclass(frozen=True)
class PluginParameter:
    """A parameter of a plugin. If it has no default, a study must give its value."""

    name: str
    takes: str
    default: str | None


@dataclasses.dataclass(frozen=True)
class PluginEntry:
    """A plugin with the name that studies use. If it cannot be loaded, `problem` has the reason."""

    group: str
    name: str
    provider: str
    about: str = ""
    description: str = ""
    parameters: tuple[PluginParameter, ...] = ()
    problem: str = ""


def list_plugins(registry: Registry, wanted: str | None = None) -> list[PluginEntry]:
    """Returns the plugins of a group (`measures`), the plugins of a name (`nDCG`, `packs.rules`), or all."""
    every = [(group.partition(".")[2], name) for group in registry.groups for name in registry.names(group)]
    known = [(short, name) for short, name in every if wanted in {None, short, name, f"{short}.{name}"}]
    if not known:
        near = did_you_mean(str(wanted), {word for pair in every for word in pair})
        raise UsageError(f"There is no plugin and no group of plugins called {wanted!r}. {near}")
    return [_listed(registry, short, name) for short, name in known]


def _listed(registry: Registry, short: str, name: str) -> PluginEntry:
    group = f"assay.{short}"
    provider = registry.provider(group, name)
    try:
        cls = registry.load(group, name)
    except PluginError as error:
        return PluginEntry(short, name, provider, problem=str(error))
    paragraphs = [" ".join(each.split()) for each in (inspect.getdoc(cls) or "").split("\n\n")]
    about, described = paragraphs[0], "\n\n".join(paragraphs)
    return PluginEntry(short, name, provider, about, described, tuple(_parameters(registry, cls)))


def _parameters(registry: Registry, cls: type) -> list[PluginParameter]:
    if not dataclasses.is_dataclass(cls):
        return []
    hints = get_type_hints(cls, include_extras=True)
    parts = part_groups(cls)
    return [
        PluginParameter(
            field.name,
            _takes(hints[field.name]),
            _default(registry, field, parts.get(field.name)),
        )
        for field in sorted(dataclasses.fields(cls), key=lambda each: bool(each.kw_only))
        if field.init
    ]


def _takes(hint: Any) -> str:
    """Describes a type in the words of a study: `int`, `GET | POST`, or the plugin group of a part."""
    if groups := [mark for mark in getattr(hint, "__metadata__", ()) if is_plugin_group(mark)]:
        return f"one of {groups[0].partition('.')[2]}"
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(str(word) for word in args)
    if origin in {Union, types.UnionType}:
        return " or ".join(_takes(part) for part in args if part is not type(None))
    if origin in {list, tuple}:
        return f"list of {_takes(args[0])}"
    if origin is dict:
        return f"map of {_takes(args[1])}"
    if hasattr(hint, "__metadata__"):
        return _takes(args[0])
    return "anything" if hint is Any else getattr(hint, "__name__", str(hint))


def _default(registry: Registry, field: dataclasses.Field[Any], group: str | None) -> str | None:
    """Returns a default as a study would write it, with a part by its name; None if there is no default."""
    if field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    elif field.default is not dataclasses.MISSING:
        value = field.default
    else:
        return None
    if group is not None and dataclasses.is_dataclass(value):
        return next(
            (name for name in registry.names(group) if _is(registry, group, name, value)), repr(value)
        )
    if isinstance(value, list | tuple | dict):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def _is(registry: Registry, group: str, name: str, value: Any) -> bool:
    try:
        return type(value) is registry.load(group, name)
    except PluginError:
        return False
