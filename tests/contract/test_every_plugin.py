"""Every plugin that entry points name is made: ours, or left out by name; of others what can be."""

from __future__ import annotations

import dataclasses
import sys
from importlib.metadata import distribution
from typing import Any

import numpy as np
import pytest
from plugins import (
    LEFT_OUT,
    NEEDED,
    OURS,
    REGISTRY,
    Named,
    create,
    everything,
    is_ours,
    nowhere,
    required,
)

from assay.core.errors import AssayError
from assay.core.protocols import Kit
from assay.core.registry import COMMANDS, EMBEDDERS, KINDS, RERANKERS, STORES, Registry, identity
from assay.retrieval.embed.static import StaticEmbedder

EVERY = pytest.mark.parametrize("named", everything())


@EVERY
def test_a_plugin_is_a_frozen_dataclass_that_says_what_it_is(named: Named) -> None:
    cls = REGISTRY.load(named.group, named.name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert (cls.__doc__ or "").splitlines()[0].strip()
    assert not (cls.__doc__ or "").startswith(f"{cls.__name__}(")  # the dataclass's own, in place of one


@EVERY
def test_equal_parameters_give_equal_plugins_and_one_identity(named: Named) -> None:
    plugin, again = create(named, nowhere), create(named, nowhere)
    assert again == plugin
    assert dataclasses.replace(plugin) == plugin
    assert identity(again) == identity(dataclasses.replace(plugin)) == identity(plugin)


# -------------------------------------------------------------------------- none of ours is missing


def unlisted(registry: Registry) -> list[str]:
    """The plugins of ours that need parameters, and whose parameters nobody listed."""
    return [
        str(param.values[0])
        for param in everything(registry)
        for named in param.values
        if is_ours(named, registry)
        and required(registry.load(named.group, named.name))
        - NEEDED.get((named.group, named.name), {}).keys()
    ]


def test_what_a_plugin_of_ours_needs_is_listed() -> None:
    assert unlisted(REGISTRY) == []


def test_lists_name_plugins_that_there_are() -> None:
    known = {(group, name) for group in REGISTRY.groups for name in REGISTRY.names(group)}
    assert {*NEEDED, *LEFT_OUT} <= known


def test_every_group_of_ours_is_known() -> None:
    groups = {point.group for point in distribution(OURS).entry_points}
    assert {group for group in groups if group.startswith("assay.")} <= {*REGISTRY.groups, COMMANDS, KINDS}


@pytest.mark.parametrize("left_out", [pytest.param(pair, id=":".join(pair)) for pair in LEFT_OUT])
def test_what_is_left_out_cannot_be_used_without_its_packages(
    left_out: tuple[str, str], kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each package is hidden, which is what a machine without it looks like."""
    for package in LEFT_OUT[left_out].packages:
        for module in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, package, None)  # type: ignore[arg-type]
    plugin = create(Named(*left_out), nowhere)
    for kept in vars(sys.modules[type(plugin).__module__]).values():
        if hasattr(kept, "cache_clear"):  # a model that another test has loaded needs no package any more
            kept.cache_clear()
    with pytest.raises(AssayError, match="install"):
        used(left_out[0], plugin, kit)


def used(group: str, plugin: Any, kit: Kit) -> None:
    """Asks a plugin for work that needs what it is made of."""
    uses = {
        EMBEDDERS: lambda: plugin.load(kit).embed(["fox"], "query"),
        RERANKERS: lambda: plugin.load(StaticEmbedder(), kit).scores("fox", ["fox"]),
        STORES: lambda: plugin.build("any", np.eye(2, dtype=np.float32), kit),
    }
    uses[group]()
