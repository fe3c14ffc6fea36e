"""Whose checks and insights are asked about a study: those of every package that it uses a plugin of.

The package of a plugin is what is installed as one; each kind of study is a package of its own. The kind that
a study names is asked as well, so that it can say what is missing. Nothing else is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.core.registry import DATASETS, KINDS, package_of, part_groups
from assay.gates.figures import leaves_of_figure
from assay.gates.leaf import Spanning, means_of
from assay.gates.verdict import leaves_of
from assay.study.study import Study


def asked_about(study: Study, group: str) -> list[Any]:
    """The plugins of a group, checks or insights, that a study concerns, in the order of their names."""
    used = {package_of(type(plugin).__module__) for plugin in plugins_of(study)}
    return study.registry.of_packages(group, used | {f"{KINDS}.{study.file.kind}"})


def plugins_of(study: Study) -> Iterator[object]:
    """Every dataset, system, judge, measure and statistic of a study, and the parts that they are made of."""
    for arm in study.arms:
        spec = study.with_factors(DATASETS, study.data_spec, arm.factors)
        yield from _with_parts(study.registry.create(DATASETS, spec))
        yield from _with_parts(study.system(arm, secrets=False))
    for judge in study.judges:
        yield from _with_parts(judge)
    yield from study.measures
    clauses = (clause for gate in study.gates for clause in gate.clauses())
    leaves = [found for clause in clauses for found in leaves_of(clause, study)]
    leaves += [found for name in study.file.figures for found in leaves_of_figure(study, name)]
    for found in leaves:
        yield from (mean.measure for mean in means_of(found))
        if isinstance(found, Spanning):
            yield found.statistic


def _with_parts(plugin: object) -> Iterator[object]:
    yield plugin
    for name in part_groups(type(plugin)):
        held = getattr(plugin, name)
        for part in held if isinstance(held, list) else [held] if held is not None else []:
            yield from _with_parts(part)
