"""Dotted parameters: `fuse.k` inside a part, `params.rrf_k` in a mapping, `chunk.size` in the chunking."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from assay.core.errors import AssayError, DataError, UsageError
from assay.core.parts import Fusion
from assay.core.records import Arm
from assay.core.registry import FUSIONS, SYSTEMS, Registry, identity
from assay.core.spec import parse_spec
from assay.retrieval.fuse import RRF, WeightedFusion
from assay.study.parameters import part_parameter_names, set_parameter
from assay.study.study import open_study
from small_study import write_study


@dataclass(frozen=True)
class Endpoint:
    """A system that sends a mapping somewhere."""

    url: str = "here"
    params: dict[str, Any] = field(default_factory=dict)
    fuse: Annotated[Fusion, FUSIONS] = RRF()
    second: Annotated[Fusion | None, FUSIONS] = None
    version: ClassVar[str] = "1"


REGISTRY = Registry({SYSTEMS: {"endpoint": Endpoint}})


def made(given: str | dict[str, Any], *settings: tuple[str, str]) -> Any:
    spec = parse_spec(given)
    for path, text in settings:
        spec = set_parameter(REGISTRY, SYSTEMS, spec, path, text)
    return REGISTRY.create(SYSTEMS, spec)


@pytest.mark.parametrize(
    ("given", "path", "text", "fuse"),
    [
        ("endpoint", "fuse.k", "40", RRF(k=40)),  # a default part, made again
        ("endpoint(fuse=rrf)", "fuse.k", "40", RRF(k=40)),
        ({"use": "endpoint", "fuse": {"use": "rrf", "k": 7}}, "fuse.k", "40", RRF(k=40)),
        (
            "endpoint(fuse=weighted(norm=max))",
            "fuse.weights",
            "[0.6, 0.4]",
            WeightedFusion((0.6, 0.4), "max"),
        ),
        ("endpoint", "fuse", "weighted(norm=max)", WeightedFusion(norm="max")),
    ],
)
def test_a_parameter_of_a_part(given: Any, path: str, text: str, fuse: object) -> None:
    assert made(given, (path, text)).fuse == fuse


def test_null_sets_none() -> None:
    assert made("endpoint(second=rrf)", ("second", "null")).second is None
    with pytest.raises(AssayError, match="'endpoint': url: "):
        made("endpoint", ("url", "null"))


def test_parameters_of_parts_have_dotted_names() -> None:
    wrapped = parse_spec({"use": "abstaining", "of": {"use": "hybrid", "fuse": "weighted"}})
    found = list(part_parameter_names(Registry(), SYSTEMS, wrapped))
    assert {"of.depth", "of.fuse.norm", "of.fuse.weights"} <= set(found)
    assert "of.fuse.k" not in found  # weighted has none
    # a part that nobody wrote is the default of its field
    assert "fuse.k" in part_parameter_names(Registry(), SYSTEMS, parse_spec("hybrid"))


def test_a_parameter_in_a_mapping_keeps_its_type_and_its_neighbours() -> None:
    given = {"use": "endpoint", "params": {"q": "{query}", "inner": {"a": 1}}}
    found = made(given, ("params.rrf_k", "60"), ("params.inner.b", "x y"), ("params.exact", "true"))
    assert found.params == {"q": "{query}", "inner": {"a": 1, "b": "x y"}, "rrf_k": 60, "exact": True}
    assert made("endpoint", ("params.lang", "en")).params == {"lang": "en"}
    assert made("endpoint", ("params.text", "f(x=1)")).params == {"text": "f(x=1)"}  # no part of a mapping
    assert made("endpoint", ("params.text", "a, b=1")).params == {"text": "a, b=1"}


@pytest.mark.parametrize(
    ("given", "path", "told"),
    [
        ("endpoint", "fuse.kk", "'RRF' has no parameter 'kk'. Did you mean 'k'"),
        ("endpoint(fuse=rrf)", "fuse.kk", "'rrf' has no parameter 'kk'. Did you mean 'k'"),
        ("endpoint", "url.host", "url.host: 'endpoint' takes a url that is 'here': there is nothing inside"),
        ("endpoint", "fuse.k.deep", "k.deep: RRF has no part 'k'"),
        ({"use": "endpoint", "params": {"a": 1}}, "params.a.b", "a.b: a is 1, not a mapping. Set a itself"),
    ],
)
def test_a_parameter_that_cannot_be_set_is_a_problem(given: Any, path: str, told: str) -> None:
    with pytest.raises(AssayError) as error:
        made(given, (path, "1"))
    assert told in str(error.value)


def study_of(folder: Path, more: str, systems: str = "{s: hybrid}") -> Any:
    text = f"data: data\nsystems: {systems}\nmeasures: [RR@5]\n{more}"
    return open_study(write_study(folder, text))


def test_a_dotted_factor_makes_arms(tmp_path: Path) -> None:
    study = study_of(tmp_path, "factors: {fuse.k: [40, 80]}\n", "{s: hybrid, other: bm25}")
    assert [arm.name for arm in study.arms] == ["s[fuse.k=40]", "s[fuse.k=80]", "other"]
    assert [study.system(arm).fuse for arm in study.arms[:2]] == [RRF(40), RRF(80)]
    assert len({identity(study.system(arm)) for arm in study.arms}) == 3


def test_a_part_is_chosen_before_what_is_inside_it(tmp_path: Path) -> None:
    study = study_of(tmp_path, "factors: {fuse.norm: [max, rank], fuse: [weighted]}\n")
    assert [study.system(arm).fuse.norm for arm in study.arms] == ["max", "rank"]


def test_a_dotted_factor_that_fits_no_value_of_its_part_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'weighted' has no parameter 'k'"):
        study_of(tmp_path, "factors: {fuse: [rrf, weighted], fuse.k: [40]}\n")
    with pytest.raises(DataError, match="neither the dataset nor any system has such a parameter"):
        study_of(tmp_path, "factors: {fusion.k: [40]}\n")


def test_the_chunking_has_parameters_too(tmp_path: Path) -> None:
    study = study_of(tmp_path, "chunk: tokens(size=9, overlap=1)\nfactors: {chunk.size: [2, 3]}\n")
    # four words and a few tokens each: smaller chunks are more
    sizes = [len(study.dataset(arm).corpus) for arm in study.arms]
    assert sizes[0] > sizes[1] > 12
    assert study.chunker({"chunk.size": "3"}).overlap == 1
    assert len(study.dataset(Arm("s")).corpus) == 12
    with pytest.raises(UsageError, match=r"chunk\.size: there is no chunking to set it in"):
        study_of(tmp_path, "").chunker({"chunk.size": "3"})


def test_a_factor_that_could_be_meant_for_either_is_refused(tmp_path: Path) -> None:
    more = "data: folder(path=data)\nsystems: {s: tree, other: bm25}\nmeasures: [RR@5]\n"
    with pytest.raises(DataError) as error:
        open_study(write_study(tmp_path, more + "factors: {path: [beam, race], k: [1, x]}\n"))
    first, *others = error.value.problems
    assert str(first).endswith(
        "factors.path: the dataset (folder) and s both have such a parameter. "
        "Write data.path for the dataset's; for a system's, list a system for each value."
    )
    assert {problem.field for problem in others} == {"factors.k"}
    study = open_study(write_study(tmp_path, more + "factors: {data.path: [data, ./data]}\n"))
    assert [arm.name for arm in study.arms] == [
        f"{name}[data.path={path}]" for name in ("s", "other") for path in ("data", "./data")
    ]
    assert [len(study.dataset(arm).items) for arm in study.arms] == [12] * 4
