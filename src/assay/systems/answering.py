"""Makes a response from a ranking: the hits, the passages that links lead to, and the contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from time import perf_counter

import numpy as np

from assay.core.dataset import Corpus
from assay.core.parts import LEADS, Floats, LinkedPassage, Links, Ranking, ScoresOf
from assay.core.records import Budget, Hit, Observed, Response, Step
from assay.retrieval.context import Arrival, ContextBuilder, rank_relevance


class Meter:
    """Measures the seconds, tokens and cost of each stage, from the moment it is made.

    The times of a stage that occurs twice are added.
    """

    def __init__(self) -> None:
        self._last = perf_counter()
        self._stages: dict[str, float] = {}
        self._tokens = 0
        self._cost = 0.0

    def lap(self, stage: str, *, took: float | None = None, tokens: int = 0, cost: float = 0.0) -> None:
        """Adds the time since the last lap to a stage, or `took` if the work was done at another time."""
        now = perf_counter()
        self._stages[stage] = self._stages.get(stage, 0.0) + (now - self._last if took is None else took)
        self._last = now
        self._tokens += tokens
        self._cost += cost

    def observed(self) -> Observed:
        """Returns the seconds of each stage and in total, the tokens and the cost."""
        seconds = {**self._stages, "total": sum(self._stages.values())}
        return Observed(seconds=seconds, tokens=self._tokens or None, cost=self._cost or None)


PassageScoring = Callable[[str, Ranking], ScoresOf]  # for a query and a ranking: the score of any passage
LINK = "link"  # the kind of steps along a link in a trace


@dataclass(frozen=True)
class RankedPassage:
    """A passage that is a hit: its position, score and relevance, and the link to it, if a link led to it."""

    position: int
    score: float
    relevance: float
    by: LinkedPassage | None = None


@dataclass(frozen=True)
class AnswerBuilder:
    """Builds the responses of systems that rank passages: `k` hits, and contexts of the first `show` hits.

    Contexts also show all passages that links led to. Such passages may have a low rank, because they need
    not share a word with the query.
    """

    corpus: Corpus
    showing: ContextBuilder
    k: int
    show: int
    links: Links | None = None

    def response(
        self,
        query: str,
        ranking: Ranking,
        budgets: Sequence[Budget],
        meter: Meter,
        scoring: PassageScoring | None = None,
    ) -> Response:
        """Builds the response from a ranking. `scoring` scores the passages that links lead to."""
        return self.respond(query, self.gather(query, ranking, meter, scoring), budgets, meter)

    def gather(
        self, query: str, ranking: Ranking, meter: Meter, scoring: PassageScoring | None = None
    ) -> list[RankedPassage]:
        """Returns the best hits from the ranking and from links. The meter counts the time as `link`."""
        linked: list[LinkedPassage] = []
        if self.links is not None and scoring is not None and len(ranking.positions):
            linked = self.links.follow(query, ranking, scoring(query, ranking))
            meter.lap(LINK)
        return merge_links(ranking, linked, self.k)

    def hits(self, found: Sequence[RankedPassage]) -> list[Hit]:
        """Returns the gathered passages as hits."""
        return [Hit(self.corpus.passages[each.position].doc_id, each.score) for each in found]

    def respond(
        self, query: str, found: Sequence[RankedPassage], budgets: Sequence[Budget], meter: Meter
    ) -> Response:
        """Builds hits and contexts from the gathered passages. The meter counts the time as `select`.

        The trace has only the steps of links: a system that routes adds its own steps before them.
        """
        response = Response(hits=self.hits(found), trace=self._steps(found))
        if budgets:
            shown = [found[at] for at in self._shown(found)]
            came = [self._arrival(each) for each in shown] if any(each.by for each in found) else ()
            passages = [self.corpus.passages[each.position] for each in shown]
            response.contexts = self.showing.contexts(query, passages, budgets, came)
            meter.lap("select")
        response.observed = meter.observed()
        return response

    def _shown(self, found: Sequence[RankedPassage]) -> list[int]:
        """Returns the places of the shown hits: the first ones of the ranking, and all from links."""
        own = accumulate(each.by is None for each in found)
        return [
            at
            for at, (each, count) in enumerate(zip(found, own, strict=True))
            if each.by or count <= self.show
        ]

    def _steps(self, found: Sequence[RankedPassage]) -> list[Step]:
        """Returns the links that led to hits, in the order of the hits."""
        passages = self.corpus.passages
        return [
            Step(
                LINK,
                each.by.hop,
                passages[each.position].doc_id,
                source=passages[each.by.source].doc_id,
                scores={"weight": each.by.weight, "score": each.by.score},
                edge=LEADS,
                role=each.by.name,
            )
            for each in found
            if each.by is not None
        ]

    def _arrival(self, found: RankedPassage) -> Arrival:
        if found.by is None or self.links is None:
            return Arrival(found.relevance)
        return Arrival(found.relevance, found.by.name, self.links.floor)


def merge_links(ranking: Ranking, linked: Sequence[LinkedPassage], k: int) -> list[RankedPassage]:
    """Returns the `k` most relevant passages of a ranking and of links, without duplicates.

    The relevance of a passage comes from its rank, or from a link to it if the link gives more. A linked
    passage gets the score of a hit with the same relevance, so that scores fall from hit to hit. Other
    passages keep their order, scores and relevance.
    """
    positions, scores = ranking.positions[:k].tolist(), ranking.scores[:k]
    relevance = rank_relevance(len(positions))
    own = dict(zip(positions, relevance.tolist(), strict=True))
    better = {each.position: each for each in linked if each.score > own.get(each.position, 0.0)}
    found = [
        RankedPassage(position, score, own[position])
        for position, score in zip(positions, scores.tolist(), strict=True)
        if position not in better
    ]
    found += [
        RankedPassage(each.position, _score_at(each.score, relevance, scores), each.score, each)
        for each in better.values()
    ]
    return sorted(found, key=lambda each: -each.relevance)[:k]


def _score_at(relevance: float, known: Floats, scores: Floats) -> float:
    """Returns the score for a relevance, interpolated between a ranking's scores or continued below them."""
    last = scores[-1] - max(float(scores[0] - scores[-1]), abs(float(scores[0])), 1e-9)
    return float(np.interp(relevance, [0.0, *known[::-1]], [last, *scores[::-1]]))
