"""What a blinded scoring shows: tests by metric, agreement of raters, tokens by site and pair.

Differences are the challenger's condition minus the baseline's, B - A; a negative difference of tokens means
that B needs fewer. Conditions have the names of the study's systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

SEALED = ("open", "blinded")  # states in which nobody may know a condition: before and while people score
PRIMARY, SECONDARY = "primary", "secondary"
ACCURACY, TOKENS = "accuracy", "tokens"


@dataclass(frozen=True)
class Metric:
    """A metric: the measure and family it belongs to, its scale, and how it reads in reports."""

    name: str
    title: str
    about: str
    above: str  # what it means if B - A is positive
    below: str
    measure: str = ""  # as studies name it
    family: str = SECONDARY
    reach: float | None = None  # how far the two responses of a pair can be apart; None: unlimited
    better: str = ""  # "higher", "lower", or "" if neither is good; then fewer counts as a win
    binary: bool = False

    @property
    def higher(self) -> bool:
        """Whether a higher value wins."""
        return self.better == "higher"

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and highest difference of a pair."""
        return None if self.reach is None else (-self.reach, self.reach)


METRICS = (
    Metric(
        ACCURACY,
        "Accuracy",
        "0 to 3, against the gold answer.",
        "{b} answers more accurately than {a}",
        "{b} answers less accurately than {a}",
        "Accuracy",
        PRIMARY,
        3.0,
        "higher",
    ),
    Metric(
        "hallucinations",
        "Hallucinations",
        "Unsupported claims in a response.",
        "{b} makes up more than {a}",
        "{b} makes up less than {a}",
        "Hallucinations",
        PRIMARY,
        better="lower",
    ),
    Metric(
        TOKENS,
        "Tokens of content",
        "Neither more nor fewer is good by itself.",
        "{b} needs more tokens than {a}",
        "{b} needs fewer tokens than {a}",
        "ContentTokens",
        PRIMARY,
    ),
    Metric(
        "completeness",
        "Completeness",
        "Whether every part of the question is answered: 0 or 1.",
        "{b} answers completely more often than {a}",
        "{b} answers completely less often than {a}",
        "Completeness",
        SECONDARY,
        1.0,
        "higher",
        binary=True,
    ),
    Metric(
        "citation",
        "Citation fidelity",
        "0 to 2, where citations apply to both responses.",
        "{b} cites more faithfully than {a}",
        "{b} cites less faithfully than {a}",
        "CitationFidelity",
        SECONDARY,
        2.0,
        "higher",
    ),
)


def metric_of(name: str) -> Metric:
    """The metric with this name, or one for a name that is not known here."""
    known = next((each for each in METRICS if each.name == name), None)
    above, below = (f"{name} is {word} for {{b}} than for {{a}}" for word in ("higher", "lower"))
    return known or Metric(name, name.capitalize(), "", above, below)


class ConditionTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The test of one metric: both conditions on the same questions and models."""

    metric: str  # accuracy, hallucinations, completeness, citation, tokens
    family: str  # primary, secondary, complexity, size, site, model, interaction
    where: dict[str, str]  # the subgroup: {"complexity": "single-fact"}; empty: all
    n: int  # pairs: questions times models
    clusters: int  # questions; sites in the family "site"
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None  # mean of B - A, with its interval
    low: float | None = None
    high: float | None = None
    test: str = ""
    p: float | None = None
    p_adjusted: float | None = None  # within the family
    effect_name: str = ""  # Cliff's delta, odds ratio
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    size: str = ""  # negligible, small, medium, large
    wins: int = 0  # pairs on which B is better
    ties: int = 0
    losses: int = 0
    left_out: int = 0  # pairs in which one side has no value
    mde: float | None = None  # the smallest difference that this n would find, if nothing was found
    shown: str = ""  # "better" or "worse": what the interval shows of B at the family's level
    level: float | None = None  # the level of that interval; `low` and `high` stay at 95 %
    only_model: str | None = None  # the model of all answers, if there is only one; "" if it has no name
    by: str = ""  # the gate that decides it; p is then adjusted within the gate, not the family


class RaterAgreement(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far two raters, or one rater twice, agree on one metric."""

    metric: str
    statistic: str  # "kappa, linear weights", "kappa", "Spearman's rho"
    raters: tuple[str, str]
    n: int  # responses that both scored; hallucinations that both marked, for categories
    value: float | None = None
    low: float | None = None
    high: float | None = None
    equal: float | None = None  # share of equal scores
    threshold: float | None = None  # what it has to reach; None: it only informs
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it reaches its threshold; None if it has no threshold or no value."""
        return None if self.value is None or self.threshold is None else self.value >= self.threshold


class DisputedResponse(msgspec.Struct, frozen=True):
    """A response that two raters marked differently."""

    metric: str
    response_id: str
    raters: tuple[str, str]
    marks: tuple[str, str]


class ClaimOverlap(msgspec.Struct, frozen=True):
    """How many hallucinations two raters share, matched by the text that they mark."""

    raters: tuple[str, str]
    both: int
    only_first: int
    only_second: int
    categories: dict[str, dict[str, int]]  # of the shared: first's category -> second's -> how many


class PairTokens(msgspec.Struct, frozen=True):
    """The tokens of a content pair under one tokenizer."""

    content_pair_id: str
    site_id: str
    tokenizer: str
    condition_a_tokens: int
    condition_b_tokens: int
    delta: int  # B - A
    delta_pct: float  # of A


class SiteTokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tokens of a site's content pairs under one tokenizer."""

    site_id: str
    tokenizer: str
    pairs: int
    mean_a: float
    mean_b: float
    median_a: float
    median_b: float
    delta: float  # of the means
    delta_pct: float
    accuracy_difference: float | None = None  # mean of B - A over its questions and models


class TokenChange(msgspec.Struct, frozen=True):
    """One question and model: the difference in tokens of content, and in accuracy."""

    item_id: str
    model: str
    tokens: float  # B - A, by the model's tokenizer if it is known
    accuracy: float  # B - A


class Correlation(msgspec.Struct, frozen=True):
    """Whether fewer tokens go with better or worse answers."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int


class SuggestionUptake(msgspec.Struct, frozen=True):
    """How often people's marks were as a rule or a model had suggested."""

    step: str
    by: str
    n: int
    equal: float | None
    kappa: float | None
    seen: int  # how many of the suggestions the rater had seen before


class ScoringResults(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of a blinded scoring. Until it is unblinded, nothing in them needs a condition."""

    state: str  # blinded, unblinded, forced
    a: str
    b: str
    primary: str
    others: list[str]
    responses: int
    progress: dict[str, dict[str, tuple[int, int]]]  # rater -> pass -> done, of
    agreement: list[RaterAgreement] = []
    matched: list[ClaimOverlap] = []
    suggestions: list[SuggestionUptake] = []
    tests: list[ConditionTest] = []
    categories: dict[str, dict[str, int]] = {}  # condition -> hallucination category -> how many
    pairs: list[PairTokens] = []
    sites: list[SiteTokens] = []
    points: list[TokenChange] = []
    correlations: list[Correlation] = []
    by_model: dict[str, float] = {}  # model -> mean B - A of accuracy: does each point the same way?
    masked: dict[str, int] = {}
    excluded: dict[str, int] = {}  # condition -> responses that failed and were never scored
    acts: list[str] = []  # what was done with the seal, in words
    cautions: list[str] = []
    checked: bool = False  # whether the last check found no leaks, or its leaks were accepted
    left: list[str] = []  # what is to be done before the seal can be opened
    # responses to discuss, still blind, once nothing is left and agreement is too low
    differences: list[DisputedResponse] = []

    @property
    def failing(self) -> list[RaterAgreement]:
        """The statistics of agreement below their threshold."""
        return [each for each in self.agreement if each.holds is False]
