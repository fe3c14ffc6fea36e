"""Finding plugins, making them from specs, and their identity."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest

from assay.core.errors import PluginError, UsageError
from assay.core.parts import Fusion
from assay.core.protocols import Kit
from assay.core.registry import (
    FUSIONS,
    MEASURES,
    SYSTEMS,
    Registry,
    identity,
    outside_identity,
    part_groups,
    part_identities,
)
from assay.core.spec import Spec, WrongParameter, make_plugin, parse_spec


@dataclass(frozen=True)
class Search:
    """A search with parameters of several types."""

    index: str
    k: int = 10
    mode: Literal["fast", "exact"] = "fast"
    weight: float | None = None
    version: ClassVar[str] = "3"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k is {self.k}. It must be at least 1.")


@dataclass(frozen=True)
class Plain:
    """A plugin without parameters."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a plugin takes by the name of something."""

    by: Literal["words", "sense"] = "words"
    count: Annotated[int, msgspec.Meta(ge=0)] | None = None


@dataclass(frozen=True)
class Ruled:
    """A plugin whose parameters are made of parts."""

    rules: dict[str, Rule] = field(default_factory=dict)
    levels: list[dict[str, Rule]] | None = None
    pair: tuple[int, Literal["up", "down"]] = (1, "up")


@dataclass(frozen=True)
class Outer:
    """A plugin with a part."""

    part: Annotated[Any, SYSTEMS]


REGISTRY = Registry({SYSTEMS: {"search": Search, "plain": Plain, "ruled": Ruled, "outer": Outer}})


def test_a_spec_becomes_a_plugin() -> None:
    assert REGISTRY.create(SYSTEMS, "search(index=main, k='5', weight=2)") == Search("main", 5, weight=2.0)
    assert REGISTRY.create(SYSTEMS, {"use": "search", "index": "main"}) == Search("main")


def test_the_text_after_a_colon_is_the_first_parameter() -> None:
    assert REGISTRY.create(SYSTEMS, "search:a/b:c") == Search("a/b:c")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("serch(index=x)", "There is no system 'serch'. Did you mean 'search'?"),
        ("search", "'search' needs more parameters. Write search(index=…)."),
        ("search(index=x, kk=3)", "'search' has no parameter 'kk'. Did you mean 'k'?"),
        ("search(index=x, k=many)", "'search': k: expected int, got str"),
        ("search(index=x, mode=slow)", "'search': mode: it cannot be 'slow'. It takes fast, exact"),
        ("search(index=x, weight=heavy)", "'search': weight: expected float or null, got str"),
        ("plain:text", "'plain' takes no parameter, so nothing may follow the colon."),
        ("plain(k=3)", "'plain' has no parameter 'k'."),
    ],
)
def test_a_wrong_spec_is_explained(spec: str, told: str) -> None:
    with pytest.raises(PluginError) as caught:
        REGISTRY.create(SYSTEMS, spec)
    assert str(caught.value).strip() == told


SOUND: dict[str, Any] = {"a": {"by": "sense", "count": 3}}


@pytest.mark.parametrize(
    ("params", "told", "path"),
    [
        (
            {"rules": {**SOUND, "b": {"by": "meaning"}}},
            "rules.b.by: it cannot be 'meaning'. It takes words, sense",
            ("rules", "b", "by"),
        ),
        (
            {"rules": {**SOUND, "b": {"cuont": 4}}},
            "rules.b.cuont: there is no such field. Did you mean 'count'?",
            ("rules", "b", "cuont"),
        ),
        ({"rules": {"b": {"count": -1}}}, "rules.b.count: expected int >= 0", ("rules", "b", "count")),
        ({"rules": {**SOUND, "b": "words"}}, "rules.b: expected object, got str", ("rules", "b")),
        (
            {"levels": [SOUND, {**SOUND, "c": {"by": "ear"}}]},
            "levels.1.c.by: it cannot be 'ear'. It takes words, sense",
            ("levels", "1", "c", "by"),
        ),
        ({"pair": [1, "left"]}, "pair.1: it cannot be 'left'. It takes up, down", ("pair", "1")),
        ({"pair": ["x", "up"]}, "pair.0: expected int, got str", ("pair", "0")),
    ],
)
def test_an_error_inside_a_parameter_has_its_path(
    params: dict[str, Any], told: str, path: tuple[str, ...]
) -> None:
    with pytest.raises(WrongParameter) as caught:
        REGISTRY.create(SYSTEMS, {"use": "ruled", **params})
    assert (str(caught.value), caught.value.path) == (f"'ruled': {told}", path)
    with pytest.raises(WrongParameter) as caught:
        REGISTRY.create(SYSTEMS, {"use": "outer", "part": {"use": "ruled", **params}})
    assert (str(caught.value), caught.value.path) == (f"'outer': part: 'ruled': {told}", ("part", *path))


def test_the_message_of_a_plugins_own_check_is_kept() -> None:
    with pytest.raises(UsageError, match=r"k is 0\. It must be at least 1"):
        REGISTRY.create(SYSTEMS, "search(index=x, k=0)")


def test_a_secret_that_does_not_fit_is_not_printed() -> None:
    with pytest.raises(PluginError) as caught:
        REGISTRY.create(SYSTEMS, {"use": "search", "index": "x", "k": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_a_class_that_is_not_a_dataclass_takes_no_parameters() -> None:
    with pytest.raises(PluginError, match="is not a dataclass"):
        make_plugin(object, Spec("thing"))


def test_a_plugin_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    registry = Registry()
    points = {
        "broken": EntryPoint("broken", "no_such_module:Thing", SYSTEMS),
        "function": EntryPoint("function", "json:dumps", SYSTEMS),
    }
    monkeypatch.setitem(registry._found, SYSTEMS, points)
    with pytest.raises(
        PluginError, match=r"'broken' \(no_such_module:Thing\) does not load: No module named"
    ):
        registry.load(SYSTEMS, "broken")
    with pytest.raises(PluginError, match="is not a class"):
        registry.load(SYSTEMS, "function")


@pytest.mark.parametrize(
    ("imported", "now"),
    [
        ("assay.records", "assay.core.records"),
        ("assay.plugins", "assay.core.registry"),
        ("assay.datasets.dataset", "assay.core.dataset"),
        ("assay.never_there", None),
        ("not_ours.records", None),
    ],
)
def test_a_plugin_with_old_imports_is_told_the_new_ones(
    imported: str, now: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.metadata import EntryPoint

    name = f"written_before_{imported.replace('.', '_')}"
    (tmp_path / f"{name}.py").write_text(f"import {imported}\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry()
    monkeypatch.setitem(registry._found, SYSTEMS, {"mine": EntryPoint("mine", f"{name}:Mine", SYSTEMS)})
    with pytest.raises(PluginError, match="does not load: No module named") as error:
        registry.load(SYSTEMS, "mine")
    assert str(error.value).endswith(f". Import {now} instead." if now else "'")


def test_an_extra_plugin_replaces_an_installed_one() -> None:
    assert Registry({SYSTEMS: {"bm25": Plain}}).load(SYSTEMS, "bm25") is Plain
    assert {"bm25", "dense", "plain"} <= set(REGISTRY.names(SYSTEMS))


def test_built_in_plugins_come_from_our_distribution() -> None:
    assert Registry().provider(SYSTEMS, "bm25").startswith("retrieval-assay ")
    assert Registry().provider(SYSTEMS, "nobody's") == ""


def test_identity_changes_with_parameters_and_version() -> None:
    first = identity(Search("x"))
    assert first == identity(Search("x"))
    assert first != identity(Search("y"))
    assert "Search@3" in first
    assert identity(Plain(), "their-package 1.0") != identity(Plain(), "their-package 1.1")


def test_an_identity_does_not_depend_on_the_process() -> None:
    code = "from assay.core.registry import *; print(identity(Registry().create(SYSTEMS, 'bm25(k=7)')))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "4711"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == identity(Registry().create(SYSTEMS, parse_spec("bm25(k=7)")))


def test_looking_up_a_name_loads_nothing_else() -> None:
    code = (
        "import sys; from assay.core.registry import *; registry = Registry()\n"
        "[registry.names(group) for group in registry.groups]\n"
        "sys.exit('assay.systems.flat' in sys.modules or 'assay.measures.ranking' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert "nDCG" in Registry().names(MEASURES)


# ------------------------------------------------------------------------------------------ parts


@dataclass(frozen=True)
class Ranker:
    """A part with a part of its own."""

    depth: int = 5
    inner: Annotated[Fusion, FUSIONS] | None = None
    patience: float = outside_identity(1.0)

    def fuse(self, rankings: object) -> object:
        return rankings

    def identity(self, kit: Kit) -> str:
        return f"ranker on {kit.root}"


@dataclass(frozen=True)
class Composed:
    """A system made of parts."""

    ranker: Annotated[Fusion, FUSIONS] = Ranker()
    other: Annotated[Fusion, FUSIONS] | None = None
    name: str = ""


COMPOSED = Registry({SYSTEMS: {"composed": Composed}, FUSIONS: {"ranker": Ranker}})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("composed", Composed()),
        ("composed(ranker=ranker(depth=2))", Composed(Ranker(2))),
        ("composed(ranker=ranker(inner=ranker(depth=1)))", Composed(Ranker(inner=Ranker(1)))),
        ("composed(other=none)", Composed()),
        ("composed:ranker", Composed(Ranker())),
        ({"use": "composed", "ranker": {"use": "ranker", "depth": 3}}, Composed(Ranker(3))),
        (
            {"use": "composed", "other": "ranker(depth=4)", "name": "ranker"},
            Composed(other=Ranker(4), name="ranker"),
        ),
    ],
)
def test_a_parameter_that_takes_a_part_makes_it(spec: Any, expected: Composed) -> None:
    assert COMPOSED.create(SYSTEMS, spec) == expected


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("composed(ranker=rankr)", "'composed': ranker: There is no fusion 'rankr'. Did you mean 'ranker'?"),
        ("composed(ranker=ranker(deep=1))", "'composed': ranker: 'ranker' has no parameter 'deep'."),
        (
            "composed(ranker=ranker(inner=ranker(depth=x)))",
            "'composed': ranker: 'ranker': inner: 'ranker': depth:",
        ),
        ("composed(ranker=5)", "'composed': ranker: expected Fusion, got 5"),
        ("composed(ranker='(')", "'composed': ranker: expected a name at column 1"),
    ],
)
def test_a_part_that_cannot_be_made_names_the_way_to_it(spec: str, told: str) -> None:
    with pytest.raises(PluginError, match=re.escape(told)):
        COMPOSED.create(SYSTEMS, spec)


def test_identities_hold_parts_and_leave_out_what_decides_nothing() -> None:
    one, patient = Composed(Ranker(2)), Composed(Ranker(2, patience=60.0))
    assert identity(one) == identity(patient)
    assert identity(one) != identity(Composed(Ranker(3)))
    assert identity(one) != identity(Composed(Ranker(2), other=Ranker(2)))


def test_the_identities_of_parts_are_collected_by_field() -> None:
    kit = Kit(root=Path("here"))
    assert part_identities(Composed(), kit) == {"ranker": "ranker on here"}
    nested = Composed(Ranker(inner=Ranker()), other=Ranker())
    assert part_identities(nested, kit) == {
        "ranker": ["ranker on here", {"inner": "ranker on here"}],
        "other": "ranker on here",
    }


@dataclass(frozen=True)
class Cow:
    legs: int = 4


@dataclass(frozen=True)
class Farm:
    herd: Annotated[Cow, "assay.herds"] = Cow()
    word: Annotated[str, "a word about it"] = ""


def test_a_package_can_have_groups_of_parts_of_its_own() -> None:
    registry = Registry({"assay.farms": {"farm": Farm}, "assay.herds": {"cow": Cow}})
    assert part_groups(Farm) == {"herd": "assay.herds"}
    assert registry.create("assay.farms", "farm(herd=cow(legs=3))") == Farm(Cow(3))
