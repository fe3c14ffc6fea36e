"""What a study found, ready to be shown: the one input of every renderer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from assay.core.records import Arm, Comparison, Estimate, Factors, Verdict
from assay.core.section import Section

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "assay/results/2"
GO, NO_GO, INCONCLUSIVE = "go", "no-go", "inconclusive"
# why a gate says what it says, where that depends on some of its clauses only
FIRST_FAILS = "what must hold first does not hold, so nothing else is decided"
FIRST_OPEN = "what must hold first is open, so nothing else is decided"
GO_FAILS = "a go clause fails"
PRIVATE = "private"
PRIVATE_ALONE = "Private data by itself backs no general claim: confirm it on public or structured data."


class MeasureInfo(msgspec.Struct, frozen=True):
    """How to read one measure's column."""

    name: str
    better: str  # "higher" or "lower"
    low: float
    high: float | None  # None: unbounded
    unit: str = ""
    about: str = ""  # the first line of its docstring
    lower_bound: bool = False  # not everything that came back was looked at: the truth may be higher


class ExpectedTarget(msgspec.Struct, frozen=True):
    """What an item's gold names, best grade first."""

    target: str
    grade: float
    text: str = ""


class RankedResult(msgspec.Struct, frozen=True):
    """What a system put at one rank."""

    doc_id: str
    score: float
    grade: float | None  # a person's before a rule's; None: unjudged
    text: str = ""
    mark: str | None = None  # what a review made of it: KEYWORD_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE
    reason: str = ""  # why it is relevant, where a judge says so
    by: str = "rule"  # whose grade it is: a rule's, a model's or a person's
    ruled: bool = False  # whether a rule or a model finds it relevant, whatever a person said

    @property
    def status(self) -> str:
        """relevant_by_rule, relevant_by_model, relevant_by_person, not_relevant or not_judged."""
        if self.grade is None:
            return "not_judged"
        return f"relevant_by_{self.by}" if self.grade > 0 else "not_relevant"


class ItemView(msgspec.Struct, frozen=True):
    """One item, what was expected and what each arm returned (its top hits)."""

    item_id: str
    text: str
    tags: dict[str, list[str]]
    expected: list[ExpectedTarget]
    returned: dict[str, list[RankedResult]]  # by arm name
    faults: dict[str, str] = {}  # by arm name: why it did not answer
    expects: str | None = None
    language: str | None = None
    route: str | None = None  # the route it should take, where that decides
    flags: dict[str, bool | str] = {}  # and the flags that must be set
    routes: dict[str, str] = {}  # by arm name: the route it took
    flagged: dict[str, dict[str, bool | str]] = {}  # and the flags it set
    enough: tuple[int, int] | None = None  # how many of how many expected suffice, where that is not all

    @property
    def expectation(self) -> str:
        """What should come of it where that is not passages, in words."""
        route = f"the route {self.route}" if self.route and self.expects in {"route", "nothing"} else ""
        return ", ".join(filter(None, [route or self.expects or "", *_flags(self.flags)]))

    @property
    def sufficient(self) -> str:
        """How much of what was expected is enough, in words; nothing where all of it is."""
        return f"any {self.enough[0]} of {self.enough[1]}" if self.enough is not None else ""

    def took(self, arm: str) -> str:
        """The route an arm took and the flags it set, in words."""
        route = f"route {self.routes[arm]}" if arm in self.routes else ""
        return ", ".join(filter(None, [route, *_flags(self.flagged.get(arm, {}))]))


def _flags(flags: dict[str, bool | str]) -> list[str]:
    return [name if value is True else f"{name} = {value}" for name, value in flags.items() if value]


class ReviewSummary(msgspec.Struct, frozen=True):
    """How far people have come, and what their marks show on the items they finished for every arm."""

    depth: int  # how many hits of each arm are looked at
    items: int  # that want a review
    complete: list[str]  # those judged for every arm: rates are given on these alone
    complete_by_arm: dict[str, int]
    marked: int  # distinct passages that a person judged
    open: int  # distinct passages still to be judged
    estimates: list[Estimate]  # precision, lift and false positives on the complete items
    comparisons: list[Comparison]  # paired, on the same items
    bounds: dict[str, dict[str, tuple[float, float]]]  # by measure and arm: over all items, whatever is open
    verdicts: list[str]  # those the gates can still end in: one, and the verdict is settled
    outlook: str = ""  # the same in words

    @property
    def settled(self) -> bool:
        return len(self.verdicts) <= 1

    @property
    def partial(self) -> bool:
        return len(self.complete) < self.items


class ItemChange(msgspec.Struct, frozen=True):
    """An item whose value of one measure is not what it was."""

    item_id: str
    text: str
    arm: str
    measure: str
    before: float
    after: float
    varies: bool = False  # asked again without any change, the system gave another value by itself


class BaselineChanges(msgspec.Struct, frozen=True):
    """What changed since a baseline, on the items that both have unchanged, in what gates read."""

    baseline: str
    created: float | None
    verdict: str | None  # what the baseline's own gates said
    comparisons: list[Comparison]  # now less then, over all and by slice; the family is the arm
    regressions: list[ItemChange]  # worst first
    recoveries: list[ItemChange]  # best first
    added: list[str]  # items newer than the baseline: listed, not compared
    removed: list[str]
    changed: list[str]
    relabelled: list[str]  # of those compared: judges say something else of them now
    repeated: dict[
        str, int
    ] = {}  # by arm: how often its items were asked again, to see what varies by itself


class Figure(msgspec.Struct, frozen=True):
    """An expression that the study wants shown, of one system or of none in particular, with its interval.

    Value and ends are None where there is none, and infinite where they lie above `most`.
    """

    name: str
    system: str | None  # None: it names its systems itself
    factors: Factors
    text: str  # the expression as written
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""  # why there is no value, or what to know of it
    where: str | None = ""  # the slice; None: its parts are about different ones
    reads: list[str] = []  # the measures
    unit: str = ""
    most: float | None = None

    @property
    def arm(self) -> str:
        """The system with its factors, as arms are named; without a system the factors alone."""
        return Arm(self.system or "", self.factors).name


class TrustSummary(msgspec.Struct, frozen=True):
    """What decides how far the figures can be trusted."""

    counts: dict[str, dict[str, int]]  # arm name -> status -> number of item scores of the first measure
    warnings: list[str]
    provenance: dict[str, str]  # hashes, versions, seeds, times
    seconds: dict[str, dict[str, float]] = {}  # arm name -> p50, p95, p99 of total seconds
    cost: dict[str, float] = {}


# ------------------------------------------------------------------------------ proofs of gates

PROVED, EXPOSED, UNPROVED = "proved", "exposed", "unproved"


class ControlResult(msgspec.Struct, frozen=True):
    """What became of one control in one gate."""

    control: str
    mutant: str = ""  # which one, of a control that makes several
    about: str = ""
    expected: str = "refused"  # what a sound gate does with it: refused, passes, or either
    passed: int = 0  # draws in which it passed the gate
    draws: int = 0  # 0: it does not apply
    rate: float | None = None
    low: float | None = None  # of the 95 % interval of the rate, where it is drawn at random
    high: float | None = None
    verdict: str = ""  # what the gate says of one that is not drawn at random
    reason: str = ""  # why it does not apply, or why the gate refuses it
    harmless: str = ""  # why the gate's author says that it may pass

    @property
    def name(self) -> str:
        """The control with the mutant that is meant."""
        return f"{self.control} ({self.mutant})" if self.mutant else self.control

    @property
    def applies(self) -> bool:
        return self.draws > 0

    def passes(self, alpha: float) -> bool:
        """Whether it passes the gate, or does so more often than the gate may err."""
        return self.applies and (self.passed > 0 if self.draws == 1 else self.passed > alpha * self.draws)


class CaughtLoss(msgspec.Struct, frozen=True):
    """The smallest planted loss that a gate refuses at this size."""

    of: str = ""  # whose answers it was planted in: the candidate's or the oracle's
    share: float | None = None  # of the items that were emptied; None: none was caught, or none was planted
    items: int = 0  # how many items that is
    missed: float | None = None  # the largest share that was not caught
    draws: int = 0
    reason: str = ""  # why nothing was planted


class Proof(msgspec.Struct, frozen=True):
    """One gate tried on every control."""

    gate: str
    candidates: list[str]
    references: list[str]
    controls: list[ControlResult]
    loss: CaughtLoss
    alpha: float = 0.05
    deciding: bool = True
    evidence: str = ""  # the hash of the gate, the answers and the labels that it was tried with

    @property
    def exposed(self) -> list[ControlResult]:
        """Controls that pass although they must not, and that nobody declared harmless."""
        return [each for each in self._passing if not each.harmless]

    @property
    def harmless(self) -> list[ControlResult]:
        """Controls that pass and may, for the reason that the gate's author gives."""
        return [each for each in self._passing if each.harmless]

    @property
    def _passing(self) -> list[ControlResult]:
        return [each for each in self.controls if each.expected == "refused" and each.passes(self.alpha)]

    @property
    def stuck(self) -> list[ControlResult]:
        """Controls that a gate should let pass, and does not."""
        return [
            each
            for each in self.controls
            if each.applies and each.expected == "passes" and not each.passes(self.alpha)
        ]

    @property
    def _refusable(self) -> list[ControlResult]:
        return [each for each in self.controls if each.applies and each.expected == "refused"]

    @property
    def mutation_score(self) -> float | None:
        """The share of the controls that must not pass which the gate refuses; None where none applies."""
        if not (tried := self._refusable):
            return None
        return sum(not each.passes(self.alpha) for each in tried) / len(tried)

    @property
    def outcome(self) -> str:
        """proved; exposed: a control passes; unproved: no control applies, or the oracle does not pass."""
        if self.exposed:
            return EXPOSED
        stuck = any(not each.harmless for each in self.stuck)
        return UNPROVED if stuck or not self._refusable else PROVED

    def as_json(self) -> dict[str, Any]:
        """The documented form: what is stored, and what follows from it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {
            **found,
            "outcome": self.outcome,
            "mutation_score": self.mutation_score,
            "exposed_by": [each.name for each in self.exposed],
            "harmless": [each.name for each in self.harmless],
            "oracle_passes": not self.stuck if any(each.applies for each in self._oracles) else None,
        }

    @property
    def _oracles(self) -> list[ControlResult]:
        return [each for each in self.controls if each.expected == "passes"]


# ----------------------------------------------------------------------------- everything found


@dataclass(frozen=True)
class Results:
    """Everything a report shows. `scores` has item, system, factors, arm, seed, measure, value, status."""

    study: str
    kind: str
    systems: list[str]
    arms: list[str]
    baseline: str | None
    measures: list[MeasureInfo]
    by: list[str]  # tag names the slices are made of
    scores: pl.DataFrame
    estimates: list[Estimate]
    comparisons: list[Comparison]
    verdicts: list[Verdict]
    verdict: str | None  # over all gates; None where nothing gates
    trust: TrustSummary
    items: list[ItemView] = field(default_factory=list)
    review: ReviewSummary | None = None  # where the study has items that people should review
    against: BaselineChanges | None = None  # where it was compared with a baseline
    recommendation: str | None = None  # what the study's `recommend` says of these verdicts
    created: float | None = None  # when the last answer was stored
    only: dict[str, list[str]] = field(default_factory=dict)  # the part of the study that was looked at
    report: str | None = None  # path of the HTML file
    layer: str = ""  # public, structured or private: what the data can support
    unproven: list[str] = field(default_factory=list)  # what the data says nothing about
    figures: list[Figure] = field(default_factory=list)  # expressions that the study wants shown
    sections: list[Section] = field(default_factory=list)  # what insights add
    traced: list[str] = field(default_factory=list)  # arms that tell how they came to a hit
    outdated: list[str] = field(default_factory=list)  # why the answers are older than what they decide
    proofs: list[Proof] = field(default_factory=list)  # gates tried on controls, as they are now

    @property
    def caveat(self) -> str | None:
        """What a go must not be taken for; None where nothing has to be said."""
        return PRIVATE_ALONE if self.layer == PRIVATE and self.verdict == GO else None

    def section(self, key: str) -> Section | None:
        """A section by its key, such as "scoring"; None where no insight added it."""
        return next((each for each in self.sections if each.key == key), None)

    def as_json(self) -> dict[str, Any]:
        """The documented, versioned JSON form."""
        return {
            "schema": SCHEMA,
            "study": self.study,
            "kind": self.kind,
            "verdict": self.verdict,
            "outdated": self.outdated,
            "lower_bounds": [measure.name for measure in self.measures if measure.lower_bound],
            "recommendation": self.recommendation,
            "layer": self.layer,
            "unproven": self.unproven,
            "caveat": self.caveat,
            "review": msgspec.to_builtins(self.review),
            "against": msgspec.to_builtins(self.against),
            "sections": [section.as_json() for section in self.sections],
            "scores": self._score_rows(),
            "estimates": msgspec.to_builtins(self.estimates),
            "comparisons": msgspec.to_builtins(self.comparisons),
            "verdicts": msgspec.to_builtins(self.verdicts),
            "proofs": [proof.as_json() for proof in self.proofs],
            "figures": msgspec.to_builtins(self.figures),
            "trust": msgspec.to_builtins(self.trust),
            "report": self.report,
        }

    def _score_rows(self) -> list[dict[str, Any]]:
        parsed = {text: msgspec.json.decode(text) for text in self.scores["factors"].unique()}
        rows = self.scores.drop("arm").to_dicts()
        return [{**row, "factors": parsed[row["factors"]]} for row in rows]
