"""What a study can name, told from the classes themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from assay.core.errors import UsageError
from assay.core.registry import EMBEDDERS, SYSTEMS, Registry
from assay.pipeline.plugins import PluginParameter, list_plugins
from assay.retrieval.embed.static import StaticEmbedder


@dataclass(frozen=True)
class Sample:
    """Looks things up
    in a drawer.

    Drawers are opened one at a time.
    """

    drawer: str
    order: Literal["up", "down"] = "up"
    most: int | None = None
    weights: tuple[float, ...] = (1.0, 2.0)
    model: Annotated[Any, EMBEDDERS] = StaticEmbedder()


def test_a_plugin_is_told_from_its_class() -> None:
    (found,) = list_plugins(Registry({SYSTEMS: {"drawer": Sample}}), "drawer")
    assert (found.group, found.name, found.provider) == ("systems", "drawer", "")
    assert found.about == "Looks things up in a drawer."
    assert found.description == "Looks things up in a drawer.\n\nDrawers are opened one at a time."
    assert found.parameters == (
        PluginParameter("drawer", "str", None),
        PluginParameter("order", "up | down", "up"),
        PluginParameter("most", "int", "none"),
        PluginParameter("weights", "list of float", "1.0, 2.0"),
        PluginParameter("model", "one of embedders", "static"),
    )


def test_every_plugin_that_is_installed_loads_and_says_what_it_does() -> None:
    registry = Registry()
    found = list_plugins(registry)
    assert [each.name for each in found] == [
        name for group in registry.groups for name in registry.names(group)
    ]
    assert [each.name for each in found if each.problem or not each.about] == []
    assert all(each.takes and "typing" not in each.takes for one in found for each in one.parameters)


def test_a_name_in_several_groups_is_told_of_each_or_of_one() -> None:
    assert [each.group for each in list_plugins(Registry(), "rules")] == ["judges", "packs"]
    assert [each.group for each in list_plugins(Registry(), "packs.rules")] == ["packs"]
    assert {each.group for each in list_plugins(Registry(), "stores")} == {"stores"}


def test_a_name_that_nothing_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"called 'ndgc'\. Did you mean 'nDCG'"):
        list_plugins(Registry(), "ndgc")
