"""Abstaining: any system with a fitted detector, which says which queries the system cannot answer, and why.

The detector calls a query impossible by features of the query and of the hits. Hits and contexts do not
change, so all other measures have the same values as without the detector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated, Any, ClassVar

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem
from assay.core.optional import DeclaringSystem, SeededSystem, StructuredIndex, ThreadedPlugin
from assay.core.protocols import Kit, Session
from assay.core.records import Budget, Query, Response
from assay.core.registry import SYSTEMS, identity, outside_identity, part_identities
from assay.kinds.hierarchy.features import VERSION, FeatureExtractor, feature_extractor
from assay.kinds.hierarchy.fitted import Detector, fitted_hash, read_detector
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.lexical import engine_version
from assay.study.parameters import conceal_variables
from assay.systems.wrapping import AnySystem, StructuredWrapper, WrappedIndex, inner_problems, inner_warnings

FIRST_ADDRESS = "assay.systems.abstaining"

FLAG = "impossible"


@dataclass(frozen=True)
class AbstainingSystem:
    """A system that flags queries as impossible, with the kind of impossibility. The system in `of` answers.

    `detector` is the file that `assay fit` writes, relative to the study.
    """

    first_address: ClassVar[str] = "assay.systems.abstaining:Abstaining"

    of: Annotated[AnySystem, SYSTEMS]
    detector: str = outside_identity("detector.json")  # its content decides, not its name
    version: ClassVar[str] = "1"

    @property
    def gives(self) -> frozenset[str] | None:
        """The outputs of the wrapped system, and flags. None if the wrapped system declares no outputs."""
        given = self.of.gives if isinstance(self.of, DeclaringSystem) else None
        return None if given is None else given | {"flags"}

    @property
    def threads(self) -> int:
        """The number of threads of the wrapped system."""
        return self.of.threads if isinstance(self.of, ThreadedPlugin) else 1

    @property
    def seeded(self) -> bool:
        """Whether a seed changes the answers of the wrapped system."""
        return self.of.seeded if isinstance(self.of, SeededSystem) else True

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> AbstainingIndex:
        detector = read_detector(kit.path(self.detector))
        found = self.of.build(corpus, seed, kit)
        kind = StructuredAbstainingIndex if isinstance(found, StructuredIndex) else AbstainingIndex
        return kind(found, feature_extractor(corpus, kit), detector)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns why the detector's file cannot be used, and the problems of the wrapped system."""
        found = inner_problems(self.of, dataset, kit)
        try:
            read_detector(kit.path(self.detector))
        except DataError as error:
            found += error.problems
        return found

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Returns the warnings of the wrapped system, and how the detector's origin differs."""
        found = inner_warnings(self.of, dataset, kit)
        origin = read_detector(kit.path(self.detector)).fitted
        return found + origin.warnings(self.detector, dataset, conceal_variables(identity(self.of), kit))

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns what decides answers besides parameters: the file's content and what features depend on."""
        made_with = {"signs": VERSION, "words": engine_version(), "static": StaticEmbedder().identity(kit)}
        return {"detector": fitted_hash(kit.path(self.detector)), **made_with, **part_identities(self, kit)}


@dataclass(frozen=True)
class AbstainingIndex(WrappedIndex):
    """The index of the wrapped system, with the detector that examines its answers."""

    extractor: FeatureExtractor
    detector: Detector

    def session(self) -> AbstainingSession:
        return AbstainingSession(self, self.index.session())


@dataclass(frozen=True)
class StructuredAbstainingIndex(StructuredWrapper, AbstainingIndex):
    """An abstaining index whose wrapped index publishes the tree or graph behind its answers."""


@dataclass(frozen=True)
class AbstainingSession:
    """One conversation with the system. The detector examines each response."""

    index: AbstainingIndex
    session: Session

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        response = self.session.answer(query, budgets)
        if response.error is not None:
            return response
        began = perf_counter()
        features = self.index.extractor.features(query.text, response.hits)
        (kind,) = self.index.detector.decide([features])
        if kind is not None:
            response.flags = {**response.flags, FLAG: kind}
        seen, took = response.observed, perf_counter() - began
        before = seen.seconds.get("total", math.fsum(seen.seconds.values()))
        seen.seconds = {**seen.seconds, "detect": took, "total": before + took}
        return response
