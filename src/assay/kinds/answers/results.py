"""What a blinded scoring shows, ready to be drawn: tests by metric, agreement, tokens by site and pair.

Differences are the challenger's condition less the baseline's, B - A; a negative difference of tokens means
that B needs fewer. Conditions are named as the study names its systems.
"""

from __future__ import annotations

import msgspec

SEALED = ("open", "blinded")  # states in which nobody may know a condition: before and while people score


class ConditionTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One metric of both conditions on the same questions and models, by the test that fits its scale."""

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
    left_out: int = 0  # pairs of which a side has no value
    mde: float | None = None  # what this n would find, where nothing was found
    shown: str = ""  # "better" or "worse", of B against A: what its interval shows at the family's level
    level: float | None = None  # the level of that interval; `low` and `high` stay at 95 %
    only_model: str | None = None  # the one that gave all answers, if it is one; "" if none is named
    by: str = ""  # the gate that decides it, and within which p is adjusted in place of the family


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
    threshold: float | None = None  # what it has to reach; None: it informs
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it reaches its threshold; None where it has none, or there is no figure."""
        return None if self.value is None or self.threshold is None else self.value >= self.threshold


class DisputedResponse(msgspec.Struct, frozen=True):
    """A response on which two raters differ, and what each of them gave."""

    metric: str
    response_id: str
    raters: tuple[str, str]
    marks: tuple[str, str]


class ClaimOverlap(msgspec.Struct, frozen=True):
    """What two raters' hallucinations have in common, matched by the text they mark."""

    raters: tuple[str, str]
    both: int
    only_first: int
    only_second: int
    categories: dict[str, dict[str, int]]  # of those both marked: first's category -> second's -> how many


class PairTokens(msgspec.Struct, frozen=True):
    """A content pair, as the design records it."""

    content_pair_id: str
    site_id: str
    tokenizer: str
    condition_a_tokens: int
    condition_b_tokens: int
    delta: int  # B - A
    delta_pct: float  # of A


class SiteTokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """A site's content pairs under one tokenizer."""

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
    """One question and model: how the tokens of its content differ, and how the accuracy does."""

    item_id: str
    model: str
    tokens: float  # B - A, by the model's tokenizer where it is known
    accuracy: float  # B - A


class Correlation(msgspec.Struct, frozen=True):
    """Whether fewer tokens go with better or worse answers."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int


class SuggestionUptake(msgspec.Struct, frozen=True):
    """How often people's word was what a rule or a model had suggested."""

    step: str
    by: str
    n: int
    equal: float | None
    kappa: float | None
    seen: int  # how many of them the rater had looked at before


class ScoringResults(msgspec.Struct, frozen=True, omit_defaults=True):
    """A blinded scoring. Until it is unblinded only what needs no condition is there."""

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
    checked: bool = False  # whether the last look for leaks found none, or what it found was accepted
    left: list[str] = []  # what is to be scored or looked at before the seal can be opened
    differences: list[
        DisputedResponse
    ] = []  # what to discuss, blind, once nothing is left and agreement fails

    @property
    def failing(self) -> list[RaterAgreement]:
        """The figures of agreement below their threshold."""
        return [each for each in self.agreement if each.holds is False]
