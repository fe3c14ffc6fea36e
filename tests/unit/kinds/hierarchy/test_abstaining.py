"""Abstaining: what it flags, what it leaves as it was, and what it says before it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, PluginError, Problem
from assay.core.optional import StructuredIndex
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Hit, Item, Node, Observed, Passage, Query, Response, Structure
from assay.core.registry import SYSTEMS, Registry, identity
from assay.kinds.hierarchy.features import NAMES, VERSION
from assay.kinds.hierarchy.fitted import (
    DETECTOR_FORMAT,
    Detector,
    DetectorOrigin,
    FeatureScale,
    KindModel,
    encode_fitted,
)
from assay.kinds.hierarchy.systems.abstaining import AbstainingSystem, feature_extractor
from assay.systems.flat import BM25

CORPUS = Corpus([Passage("mill", "Ada Finch built the mill."), Passage("ferry", "The ferry holds 40 cars.")])
DATASET = Dataset("d", CORPUS, [Item("q", "?")])


@dataclass(frozen=True)
class Fixed:
    """A system that finds the mill, whatever it is asked."""

    broken: bool = False
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    threads: ClassVar[int] = 3

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Fixed:
        return self

    def session(self) -> Fixed:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        if self.broken:
            return Response(error=Fault("Broken", "it broke"))
        seen = Observed(seconds={"search": 0.5})
        return Response(hits=[Hit("mill", 2.0)], flags={"unsure": True}, answer="Ada", observed=seen)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        return [Problem("cannot serve it", dataset.name)]

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        return ["odd"]

    def identity(self, kit: Kit) -> str:
        return "fixed"


class Drawn(Fixed):
    """One that publishes a graph, and cost something to build."""

    cost = 0.5

    def structure(self) -> Structure:
        return Structure([Node("mill")], [])


def detector(of: object = None) -> Detector:
    """Calls a query an aggregation where it enumerates, and out of the base where ferries are asked for.

    A logit of 10 times the cue words less 5, and of 10 times the heaviest word lost less 5.
    """
    zero = dict.fromkeys(NAMES, 0.0)
    kinds = {
        "aggregation": KindModel(0.5, 1.0, -5.0, zero | {"enumerating": 10.0}),
        "out_of_kb": KindModel(0.5, 1.0, -5.0, zero | {"heaviest_lost": 10.0}),
    }
    origin = DetectorOrigin("d", "", CORPUS.hash, "shy", {}, identity(of or Fixed()), {}, {})
    return Detector(DETECTOR_FORMAT, VERSION, origin, dict.fromkeys(NAMES, FeatureScale(0.0, 1.0)), kinds)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    (tmp_path / "detector.json").write_bytes(encode_fitted(detector()))
    return Kit(cache=tmp_path / "cache", root=tmp_path)


def answered(kit: Kit, text: str, of: Fixed | None = None) -> Response:
    return AbstainingSystem(of or Fixed()).build(CORPUS, 0, kit).session().answer(Query("q", text), [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who built the mill?", None),
        ("List all who built a mill", "aggregation"),
        ("Who built the aqueduct?", "out_of_kb"),  # the weight of a word that is nowhere is 1
    ],
)
def test_what_the_detector_calls_is_flagged(kit: Kit, text: str, kind: str | None) -> None:
    response = answered(kit, text)
    assert response.flags == {"unsure": True} | ({"impossible": kind} if kind else {})


def test_what_the_system_found_stays_and_looking_takes_its_time(kit: Kit) -> None:
    response = answered(kit, "List all aqueducts")
    assert (response.hits, response.answer) == ([Hit("mill", 2.0)], "Ada")
    seconds = response.observed.seconds
    assert set(seconds) == {"search", "detect", "total"}
    assert seconds["total"] == pytest.approx(0.5 + seconds["detect"])


def test_a_failure_is_passed_on(kit: Kit) -> None:
    response = answered(kit, "List all aqueducts", Fixed(broken=True))
    assert response.error == Fault("Broken", "it broke")
    assert response.flags == {}


def test_contexts_of_a_flat_system_stay(kit: Kit) -> None:
    index = AbstainingSystem(BM25()).build(CORPUS, 0, kit)
    response = index.session().answer(Query("q", "all about the ferry"), [200])
    assert response.flags == {"impossible": "aggregation"}
    assert "40 cars" in response.contexts[0].text
    index.close()


def test_what_the_system_says_of_itself_is_passed_on(kit: Kit) -> None:
    system = AbstainingSystem(Fixed())
    assert (system.gives, system.threads) == (frozenset({"hits", "flags"}), 3)
    drawn = AbstainingSystem(Drawn()).build(CORPUS, 0, kit)
    assert isinstance(drawn, StructuredIndex)
    assert (drawn.structure().nodes, drawn.cost) == ([Node("mill")], 0.5)
    plain = system.build(CORPUS, 0, kit)
    assert not isinstance(plain, StructuredIndex)
    assert plain.cost is None
    plain.close()
    assert AbstainingSystem(BM25()).threads == 1
    assert (system.seeded, AbstainingSystem(BM25()).seeded) == (True, False)
    assert system.problems(DATASET, kit) == [Problem("cannot serve it", "d")]
    assert AbstainingSystem(BM25()).problems(DATASET, kit) == []
    assert system.warnings(DATASET, kit) == ["odd"]


def test_a_detector_of_another_system_or_corpus_is_warned_of(kit: Kit) -> None:
    (warning,) = AbstainingSystem(BM25()).warnings(DATASET, kit)
    assert warning == "detector.json was fitted on another system's answers: fit it again"
    other = replace(DATASET, corpus=Corpus(CORPUS.passages[:1]))
    assert AbstainingSystem(Fixed()).warnings(other, kit)[1:] == [
        "detector.json was fitted on d (shy), and is used on d"
    ]


def test_without_its_file_it_is_not_fitted_yet(tmp_path: Path) -> None:
    kit, system = Kit(root=tmp_path), AbstainingSystem(BM25(), "sub/d.json")
    (problem,) = system.problems(DATASET, kit)
    assert str(problem) == f"{tmp_path / 'sub/d.json'}: not fitted yet. Fit it: run `assay fit STUDY`."
    with pytest.raises(DataError, match="not fitted yet"):
        system.identity(kit)
    with pytest.raises(DataError, match="not fitted yet"):
        system.build(CORPUS, 0, kit)


def test_its_identity_is_the_file_s_content_and_the_system_s(kit: Kit) -> None:
    system, path = AbstainingSystem(Fixed()), kit.root / "detector.json"
    (kit.root / "same.json").write_bytes(path.read_bytes())
    first = system.identity(kit)
    assert first["of"] == "fixed"
    assert AbstainingSystem(Fixed(), "same.json").identity(kit) == first
    assert identity(AbstainingSystem(Fixed(), "same.json")) == identity(system)
    kinds = {"aggregation": detector().kinds["aggregation"]}
    path.write_bytes(encode_fitted(msgspec.structs.replace(detector(), kinds=kinds)))
    assert system.identity(kit)["detector"] != first["detector"]
    assert identity(AbstainingSystem(BM25(k=7))) != identity(AbstainingSystem(BM25()))


def test_a_study_names_it_with_the_system_it_is_put_around() -> None:
    made = Registry().create(SYSTEMS, "abstaining(of=bm25(k=7), detector=d.json)")
    assert made == AbstainingSystem(BM25(k=7), "d.json")
    with pytest.raises(PluginError, match="'abstaining': of: There is no system 'bm26'"):
        Registry().create(SYSTEMS, "abstaining(of=bm26)")


def test_words_of_a_large_corpus_are_counted_once(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    kit = Kit(cache=tmp_path, progress=lambda *what: told.append(what))
    corpus = Corpus([Passage(str(n), f"word{n % 7} ferry") for n in range(2_000)])
    first = feature_extractor(corpus, kit).frequencies
    assert (first.words["ferri"], first.words["word3"], first.total) == (2_000, 286, 2_000)  # 2000 / 7, up
    assert told == [("counting words", 0, 2_000), ("counting words", 2_000, 2_000)]
    assert feature_extractor(corpus, kit).frequencies == first
    assert len(told) == 2
    (kept,) = tmp_path.glob("frequencies/*/frequencies.json")
    kept.write_text("{")
    assert feature_extractor(corpus, kit).frequencies == first
    assert len(told) == 4  # counted again
