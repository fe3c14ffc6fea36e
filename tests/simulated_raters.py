"""Responses and raters whose truth is known: what a population of studies would show, and draws from it.

A response has a latent quality: its model's, what its question and site share, the condition's effect, and
chance. Cut into grades it is the true accuracy; two raters see it through confusion matrices. Nothing here is
estimated: `truth` integrates over questions and sites by Gauss-Hermite quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.kinds.answers.scoring.agreement import RaterMarks
from assay.kinds.answers.scoring.analysis import ScoredResponse
from assay.kinds.answers.scoring.marks import Claim

Floats = NDArray[np.float64]

CATEGORIES = ("H-FAB", "H-SRC", "H-EXT", "H-TMP")
CATEGORY_SHARES = np.array([0.4, 0.3, 0.2, 0.1])
COUNTS = np.arange(40)  # hallucinations of one response, far beyond what occurs
MODELS = {"small-8b": -0.3, "large-70b": 0.3}
_TOKENS = float(np.exp(8 + 0.4**2 / 2))  # mean content of A, before a model's tokenizer
COMPLEXITIES = ("single-fact", "multi-section-synthesis", "conceptual-relationship")


@dataclass(frozen=True, eq=False)
class Rater:
    """How one rater sees: the chance of each grade given the true one, row by row."""

    accuracy: Floats
    citation: Floats
    complete: Floats  # (2 × 2)
    detects: float  # of the true hallucinations
    invents: float  # hallucinations a response, by mistake
    category: float  # chance of the right one; the others are alike

    @property
    def categories(self) -> Floats:
        rest = (1 - self.category) / (len(CATEGORIES) - 1)
        return np.full((4, 4), rest) + np.eye(4) * (self.category - rest)


FIRST = Rater(
    np.array(
        [[0.88, 0.11, 0.01, 0.0], [0.09, 0.79, 0.11, 0.01], [0.01, 0.11, 0.79, 0.09], [0, 0.01, 0.12, 0.87]]
    ),
    np.array([[0.90, 0.08, 0.02], [0.08, 0.84, 0.08], [0.02, 0.08, 0.90]]),
    np.array([[0.92, 0.08], [0.04, 0.96]]),
    0.90,
    0.05,
    0.90,
)
SECOND = Rater(
    np.array(
        [[0.82, 0.15, 0.03, 0.0], [0.12, 0.72, 0.14, 0.02], [0.02, 0.15, 0.72, 0.11], [0, 0.02, 0.16, 0.82]]
    ),
    np.array([[0.86, 0.11, 0.03], [0.11, 0.78, 0.11], [0.03, 0.11, 0.86]]),
    np.array([[0.88, 0.12], [0.06, 0.94]]),
    0.85,
    0.08,
    0.85,
)


@dataclass(frozen=True, eq=False)
class World:
    """A population of questions, sites and models. `effect` is the condition's, in deviations of chance."""

    effect: float = 0.35
    site: float = 0.3  # deviations of what a site's questions share
    question: float = 0.8
    own: float = 0.0  # deviation between sites of the effect itself
    first: Rater = FIRST
    second: Rater = SECOND
    cuts: Floats = field(default_factory=lambda: np.array([-1.0, -0.1, 0.8]))
    citation_cuts: Floats = field(default_factory=lambda: np.array([-0.9, 0.2]))

    def shares(self, quality: Floats, cuts: Floats) -> Floats:
        """The chances of each grade, given the quality before chance."""
        below = stats.norm.cdf(cuts - quality[..., None])
        return np.diff(below, prepend=0.0, append=1.0, axis=-1)

    def complete(self, quality: Floats) -> Floats:
        return np.asarray(stats.norm.cdf(0.8 + 0.8 * quality))

    def hallucinations(self, quality: Floats) -> Floats:
        return np.asarray(np.exp(-0.6 - 0.5 * quality))


# -------------------------------------------------------------------------------------- the population


def truth(world: World) -> dict[str, float]:
    """What the first rater's scores, and both raters' agreement, are in the whole population."""
    quality, weights = _nodes(world)  # (nodes × models × conditions), weights of nodes and models
    first, second = world.first, world.second
    accuracy = world.shares(quality, world.cuts)
    complete = world.complete(quality)
    yes = complete * first.complete[1, 1] + (1 - complete) * first.complete[0, 1]
    rate = world.hallucinations(quality)
    counts = stats.poisson.pmf(COUNTS, (rate * first.detects + first.invents)[..., None])
    citation = world.shares(quality, world.citation_cuts)
    only_b, only_a = (
        np.sum(weights * x) for x in (yes[..., 1] * (1 - yes[..., 0]), yes[..., 0] * (1 - yes[..., 1]))
    )
    halves = np.repeat(weights[..., None] / 2, 2, axis=-1)
    both_complete = _met(halves, np.stack([1 - complete, complete], -1), first.complete, second.complete)
    graded = _met(halves, accuracy, first.accuracy, second.accuracy)
    cited = _met(halves, citation, first.citation, second.citation)
    named = first.categories.T @ np.diag(CATEGORY_SHARES) @ second.categories
    return {
        **_apart("accuracy", accuracy @ first.accuracy, weights),
        **_apart("hallucinations", counts, weights),
        **_apart("citation", citation @ first.citation, weights),
        "completeness": float(only_b - only_a),
        "completeness odds": float(only_b / only_a),
        # B has exp(N(-0.5, 0.3)) of A's tokens; the two tokenizers count 1 and 1.1
        "tokens": _TOKENS * 1.05 * float(np.exp(-0.5 + 0.3**2 / 2) - 1),
        "tokens delta": float(1 - 2 * stats.norm.cdf(0.5 / 0.3)),
        "kappa linear": kappa(graded, 1),
        "kappa quadratic": kappa(graded, 2),
        "citation kappa": kappa(cited, 1),
        "completeness kappa": kappa(both_complete, 0),
        "category kappa": kappa(named, 0),
        "rho": _rho(_counted_by_both(world, halves, rate)),
    }


def kappa(joint: Floats, power: int) -> float:
    """Cohen's kappa of a table of chances; a disagreement costs its steps to this power."""
    steps = np.abs(np.subtract.outer(np.arange(len(joint)), np.arange(len(joint)))).astype(float)
    cost = np.where(steps > 0, steps**power, 0.0)
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(1 - np.sum(cost * joint) / np.sum(cost * expected))


def _nodes(world: World) -> tuple[Floats, Floats]:
    """The qualities under A and B at every node of the quadrature, and the weight of each node and model."""
    points, masses = np.polynomial.hermite_e.hermegauss(48)
    masses = masses / masses.sum()
    shared = points * np.hypot(world.site, world.question)
    shift = world.effect + (points * world.own if world.own else np.zeros(1))
    shift_masses = masses if world.own else np.ones(1)
    a = shared[:, None, None] + np.array([*MODELS.values()]) + 0 * shift[None, :, None]
    quality = np.stack([a, a + shift[None, :, None]], axis=-1)
    weights = np.einsum("i,j,m->ijm", masses, shift_masses, np.full(len(MODELS), 1 / len(MODELS)))
    return quality.reshape(-1, len(MODELS), 2), weights.reshape(-1, len(MODELS))


def _apart(name: str, chances: Floats, weights: Floats) -> dict[str, float]:
    """Mean difference and Cliff's delta of pairs that are independent given their node and model."""
    a, b = chances[:, :, 0], chances[:, :, 1]
    grades = np.arange(chances.shape[-1])
    under = np.cumsum(a, axis=-1) - a
    over = np.sum(a, axis=-1, keepdims=True) - np.cumsum(a, axis=-1)
    return {
        name: float(np.sum(weights * ((b - a) @ grades))),
        f"{name} delta": float(np.sum(weights * np.sum(b * (under - over), axis=-1))),
    }


def _met(weights: Floats, true: Floats, first: Floats, second: Floats) -> Floats:
    """The chances of every pair of grades of two raters, over all nodes, models and conditions."""
    shares = np.sum(weights[..., None] * true, axis=(0, 1, 2))
    return first.T @ np.diag(shares) @ second


def _counted_by_both(world: World, weights: Floats, rate: Floats) -> Floats:
    """The chances of every pair of two raters' counts of hallucinations."""
    true = np.sum(weights[..., None] * stats.poisson.pmf(COUNTS, rate[..., None]), axis=(0, 1, 2))
    seen = []
    for rater in (world.first, world.second):
        found = stats.binom.pmf(COUNTS[None, :], COUNTS[:, None], rater.detects)
        extra = stats.poisson.pmf(COUNTS, rater.invents)
        seen.append(np.array([np.convolve(row, extra)[: len(COUNTS)] for row in found]))
    return seen[0].T @ np.diag(true) @ seen[1]


def _rho(joint: Floats) -> float:
    """Spearman's rho of a table of chances: the correlation of the middles of each value's ranks."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    x, y = (np.cumsum(each) - each / 2 - 0.5 * each.sum() for each in (rows, columns))
    return float(x @ joint @ y / np.sqrt((rows @ x**2) * (columns @ y**2)))


# ------------------------------------------------------------------------------------------- one study


@dataclass(frozen=True)
class Simulated:
    """One study: all scores of the first rater, and what both gave where the second scored too."""

    rows: list[ScoredResponse]
    first: RaterMarks
    second: RaterMarks  # of the responses that were drawn
    questions: dict[str, str]  # of every response
    true_accuracy: dict[str, int]


def corpus(questions: int = 286, sites: int = 37) -> list[tuple[str, str]]:
    """Questions with their sites, as evenly as they go: 27 sites of 8 and 10 of 7."""
    site_of = [f"S{1 + at % sites:03d}" for at in range(questions)]
    return [(f"{site}-Q{1 + at // sites:02d}", site) for at, site in enumerate(site_of)]


def simulated(
    world: World, seed: int, asked: Sequence[tuple[str, str]] | None = None, share: float = 0.15
) -> Simulated:
    """A study of these questions under both conditions by two models; a second rater scores a drawn share."""
    random = np.random.default_rng(seed)
    asked = corpus() if asked is None else asked
    quality = _quality(world, asked, random)
    true = _graded(world.shares(quality, world.cuts), random)
    keys = [
        (item, site, model, condition) for item, site in asked for model in MODELS for condition in ("A", "B")
    ]
    ids = [f"{item}|{model}|{condition}" for item, _, model, condition in keys]
    drawn = random.random(len(ids)).argsort()[: round(share * len(ids))].tolist()
    scores = _Scores(world, quality, true, random)
    first, second = scores.given("first", world.first), scores.given("second", world.second)
    tokens = _content(len(asked), random)
    rows = [
        ScoredResponse(
            item,
            model,
            condition,
            site,
            COMPLEXITIES[at // 4 % 3],
            model.partition("-")[0],
            accuracy=first.accuracy[at],
            hallucinations=len(first.claims[at]),
            completeness=first.completeness[at],
            citation=first.citation[at],
            tokens=tokens[at],
        )
        for at, (item, site, model, condition) in enumerate(keys)
    ]
    return Simulated(
        rows,
        _named(first, ids, range(len(ids))),
        _named(second, ids, drawn),
        {name: key[0] for name, key in zip(ids, keys, strict=True)},
        dict(zip(ids, true.ravel().tolist(), strict=True)),
    )


def rated_accuracy(world: World, seed: int, asked: Sequence[tuple[str, str]] | None = None) -> Floats:
    """The (questions × models) differences B - A of the first rater's accuracy in one study."""
    random = np.random.default_rng(seed)
    quality = _quality(world, corpus() if asked is None else asked, random)
    grades = _graded(world.first.accuracy[_graded(world.shares(quality, world.cuts), random)], random)
    return (grades[..., 1] - grades[..., 0]).astype(np.float64)


def rated_completeness(
    world: World, seed: int, asked: Sequence[tuple[str, str]] | None = None
) -> tuple[Floats, Floats]:
    """The (questions × models) completeness that the first rater sees in one study, of A and of B."""
    random = np.random.default_rng(seed)
    quality = _quality(world, corpus() if asked is None else asked, random)
    true = (random.random(quality.shape) < world.complete(quality)).astype(int)
    grades = _graded(world.first.complete[true], random).astype(np.float64)
    return grades[..., 0], grades[..., 1]


def _quality(world: World, asked: Sequence[tuple[str, str]], random: np.random.Generator) -> Floats:
    """The (questions × models × conditions) qualities of one draw of sites and questions."""
    sites = {site: place for place, site in enumerate(sorted({site for _, site in asked}))}
    at = [sites[site] for _, site in asked]
    shared = random.normal(0, world.site, len(sites))[at] + random.normal(0, world.question, len(asked))
    shift = world.effect + random.normal(0, 1, len(sites))[at] * world.own
    a = shared[:, None] + np.array([*MODELS.values()])
    return np.stack([a, a + shift[:, None]], axis=-1)


def _graded(chances: Floats, random: np.random.Generator) -> NDArray[Any]:
    """One grade for each row of chances."""
    return np.sum(
        random.random(chances.shape[:-1])[..., None] > np.cumsum(chances, axis=-1)[..., :-1], axis=-1
    )


def _content(questions: int, random: np.random.Generator) -> list[float]:
    """Tokens of the content of every response, in their order: B has about 0.6 of A's."""
    a = np.exp(random.normal(8, 0.4, questions))
    b = a * np.exp(random.normal(-0.5, 0.3, questions))
    counts = np.stack([a, b], axis=-1)[:, None, :] * np.array([1.0, 1.1])[:, None]  # two tokenizers
    return [float(each) for each in counts.ravel()]


@dataclass(frozen=True, eq=False)
class _ByPlace:
    """What one rater gives, by the place of the response."""

    rater: str
    accuracy: list[float]
    claims: list[list[Claim]]
    completeness: list[float]
    citation: list[float | None]


class _Scores:
    """What is true of every response, and how a rater sees it."""

    def __init__(
        self, world: World, quality: Floats, true: NDArray[Any], random: np.random.Generator
    ) -> None:
        self.random, self.accuracy = random, true.ravel()
        flat = quality.ravel()
        self.complete = (random.random(flat.shape) < world.complete(flat)).astype(int)
        self.citation = _graded(world.shares(flat, world.citation_cuts), random)
        framed = np.repeat(random.random(len(quality)) < 0.5, flat.size // len(quality))
        self.applies = framed | (random.random(flat.shape) < 0.2)
        counts = random.poisson(world.hallucinations(flat))
        self.categories = [random.choice(4, size=count, p=CATEGORY_SHARES) for count in counts]

    def given(self, name: str, rater: Rater) -> _ByPlace:
        random = self.random
        accuracy = _graded(rater.accuracy[self.accuracy], random)
        complete = _graded(rater.complete[self.complete], random)
        citation = _graded(rater.citation[self.citation], random)
        grades = [
            float(grade) if applies else None for grade, applies in zip(citation, self.applies, strict=True)
        ]
        own = 10_000 if name == "first" else 20_000  # what raters invent lies where no other claim does
        claims = [self._claims(categories, rater, own) for categories in self.categories]
        return _ByPlace(
            name, accuracy.astype(float).tolist(), claims, complete.astype(float).tolist(), grades
        )

    def _claims(self, categories: NDArray[Any], rater: Rater, own: int) -> list[Claim]:
        random = self.random
        found = []
        for slot, category in enumerate(categories):
            if random.random() < rater.detects:
                called = int(random.choice(4, p=rater.categories[category]))
                cut = int(random.integers(0, 6))  # nobody selects quite the same characters
                found.append(Claim(CATEGORIES[called], 50 * slot + cut, 50 * slot + 30, "claim", "note"))
        places = [own + 50 * slot for slot in range(random.poisson(rater.invents))]
        return [*found, *(Claim(CATEGORIES[0], place, place + 30, "claim", "note") for place in places)]


def _named(given: _ByPlace, ids: Sequence[str], places: Sequence[int]) -> RaterMarks:
    return RaterMarks(
        given.rater,
        {ids[at]: given.accuracy[at] for at in places},
        {ids[at]: given.claims[at] for at in places},
        {ids[at]: given.completeness[at] for at in places},
        {ids[at]: given.citation[at] for at in places},
    )
