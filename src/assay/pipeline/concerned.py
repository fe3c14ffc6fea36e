"""Whose checks, insights and controls concern a study: those of every package that it uses a plugin of.

The package of a plugin is what is installed as one; each kind of study is a package of its own. The core
concerns every study, and so does the kind that a study names, so that it can say what is missing. Nothing
else is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.core.errors import MissingVariable, PluginError
from assay.core.registry import (
    CORE,
    DATASETS,
    INSIGHTS,
    as_plugin_error,
    kind_packages,
    package_of,
    part_groups,
)
from assay.core.section import Section
from assay.gates.figures import leaves_of_figure
from assay.gates.leaf import Spanning, means_of
from assay.gates.verdict import leaves_of
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.pipeline.evaluation import Evaluation


def plugins_for(study: Study, group: str) -> list[Any]:
    """The plugins of a group that concern a study, in the order of their names."""
    return list(named_plugins_for(study, group).values())


def named_plugins_for(study: Study, group: str) -> dict[str, Any]:
    """The same, by name."""
    used = {package_of(cls.__module__) for cls in used_classes(study)}
    own = kind_packages().get(study.file.kind, CORE)
    return study.registry.of_packages(group, used | {CORE, package_of(own)})


def make_sections(evaluation: Evaluation) -> tuple[list[Section], list[str]]:
    """What insights find, and what they warn of; one that breaks costs its section, and no verdict."""
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
    """The class of every dataset, system, judge, measure and statistic of a study, and of their parts."""
    for arm in study.arms:
        spec = study.with_factors(DATASETS, study.data_spec, arm.factors)
        yield from _with_parts(study.registry.create(DATASETS, spec))
        try:
            yield from _with_parts(study.system(arm, secrets=False))
        except (
            MissingVariable
        ):  # a report is written without what asking takes; if it is to be asked, others say so
            yield study.system_class(arm)
    for judge in study.judges:
        yield from _with_parts(judge)
    yield from map(type, study.measures)
    clauses = (clause for gate in study.gates for clause in gate.clauses())
    leaves = [found for clause in clauses for found in leaves_of(clause, study)]
    leaves += [found for name in study.file.figures for found in leaves_of_figure(study, name)]
    for found in leaves:
        yield from (type(mean.measure) for mean in means_of(found))
        if isinstance(found, Spanning):
            yield type(found.statistic)


def _with_parts(plugin: object) -> Iterator[type]:
    yield type(plugin)
    for name in part_groups(type(plugin)):
        held = getattr(plugin, name)
        for part in held if isinstance(held, list) else [held] if held is not None else []:
            yield from _with_parts(part)
