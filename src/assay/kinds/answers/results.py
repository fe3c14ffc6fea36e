"""The results of a blinded scoring: tests per metric, agreement of raters, tokens per site and per pair.

A difference is the challenger's condition minus the baseline's condition, B - A. A negative difference of
tokens means that B needs fewer tokens. A condition has the name of its system in the study.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

SEALED = ("open", "blinded")  # states in which nobody may know a condition, as people still have to score
PRIMARY, SECONDARY = "primary", "secondary"
ACCURACY, TOKENS = "accuracy", "tokens"


@dataclass(frozen=True)
class Metric:
    """A metric of the analysis: its measure, its family, its scale, and its wording in reports."""

    name: str
    title: str
    about: str
    above: str  # what it means if B - A is positive
    below: str
    measure: str = ""  # as studies name it
    family: str = SECONDARY
    reach: float | None = None  # how far the two responses of a pair can be apart; None: unlimited
    better: str = ""  # "higher", "lower", or "" if neither is good; then a lower value counts as a win
    binary: bool = False

    @property
    def higher(self) -> bool:
        """Whether a higher value wins."""
        return self.better == "higher"

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest possible difference of a pair; None if there is no limit."""
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
    """Returns the metric with this name, or a new metric with general wording if the name is unknown."""
    known = next((each for each in METRICS if each.name == name), None)
    above, below = (f"{name} is {word} for {{b}} than for {{a}}" for word in ("higher", "lower"))
    return known or Metric(name, name.capitalize(), "", above, below)


class ConditionTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A test of one metric. It compares both conditions on the same questions and models."""

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
    mde: float | None = None  # the smallest difference that this n could detect
    shown: str = ""  # "better" or "worse": B against A, if the interval at the family's level shows it
    level: float | None = None  # the level of the interval behind `shown`; `low` and `high` stay at 95 %
    only_model: str | None = None  # the model of all answers, if there is only one; "" if it has no name
    by: str = ""  # the gate that decides this test; p is then adjusted within the gate, not the family


class RaterAgreement(msgspec.Struct, frozen=True, omit_defaults=True):
    """The agreement of two raters, or of one rater's two rounds, on one metric."""

    metric: str
    statistic: str  # "kappa, linear weights", "kappa", "Spearman's rho"
    raters: tuple[str, str]
    n: int  # responses that both scored; hallucinations that both marked, for categories
    value: float | None = None
    low: float | None = None
    high: float | None = None
    equal: float | None = None  # share of equal scores
    threshold: float | None = None  # the value has to reach it; None: the value only informs
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the agreement reaches its threshold; None if there is no threshold or no value."""
        return None if self.value is None or self.threshold is None else self.value >= self.threshold


class DisputedResponse(msgspec.Struct, frozen=True):
    """A response that two raters marked differently."""

    metric: str
    response_id: str
    raters: tuple[str, str]
    marks: tuple[str, str]


class ClaimOverlap(msgspec.Struct, frozen=True):
    """The numbers of hallucinations that both raters or only one rater marked, matched by the marked text."""

    raters: tuple[str, str]
    both: int
    only_first: int
    only_second: int
    categories: dict[str, dict[str, int]]  # of shared claims: first's -> second's -> how many


class PairTokens(msgspec.Struct, frozen=True):
    """The numbers of tokens of one content pair under one tokenizer."""

    content_pair_id: str
    site_id: str
    tokenizer: str
    condition_a_tokens: int
    condition_b_tokens: int
    delta: int  # B - A
    delta_pct: float  # of A


class SiteTokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers of tokens of one site's content pairs under one tokenizer."""

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
    """The change from A to B for one question and model, in tokens of content and in accuracy."""

    item_id: str
    model: str
    tokens: float  # B - A, by the model's tokenizer if it is known
    accuracy: float  # B - A


class Correlation(msgspec.Struct, frozen=True):
    """A correlation between the change in tokens and the change in accuracy, with its interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int


class SuggestionUptake(msgspec.Struct, frozen=True):
    """How often people's marks in one pass were equal to the suggestions of one rule or model."""

    step: str
    by: str
    n: int
    equal: float | None
    kappa: float | None
    seen: int  # how many of the suggestions the rater had seen before


class ScoringResults(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of a blinded scoring. Before unblinding, only values that need no condition are present."""

    state: str  # blinded, unblinded, forced
    a: str
    b: str
    primary: str
    others: list[str]
    responses: int
    progress: dict[str, dict[str, tuple[int, int]]]  # rater -> pass -> (done, total)
    agreement: list[RaterAgreement] = []
    matched: list[ClaimOverlap] = []
    suggestions: list[SuggestionUptake] = []
    tests: list[ConditionTest] = []
    categories: dict[str, dict[str, int]] = {}  # condition -> hallucination category -> how many
    pairs: list[PairTokens] = []
    sites: list[SiteTokens] = []
    points: list[TokenChange] = []
    correlations: list[Correlation] = []
    by_model: dict[str, float] = {}  # model -> mean B - A of accuracy
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
        """The values of agreement that are below their threshold."""
        return [each for each in self.agreement if each.holds is False]
