"""The results of a study in the form in which they are shown. Renderers read nothing else."""

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
# the reason of a verdict that depends on some of the gate's clauses only
FIRST_FAILS = "what must hold first does not hold, so nothing else is decided"
FIRST_OPEN = "what must hold first is undecided, so nothing else is decided"
GO_FAILS = "a go clause fails"
PRIVATE = "private"
PRIVATE_ALONE = "Private data by itself backs no general claim: confirm it on public or structured data."


class MeasureInfo(msgspec.Struct, frozen=True):
    """What a reader needs to know about one measure."""

    name: str
    better: str  # "higher" or "lower"
    low: float
    high: float | None  # None: unbounded
    unit: str = ""
    about: str = ""  # the first line of its docstring
    lower_bound: bool = False  # not every result was looked at: the true value may be higher


class ExpectedTarget(msgspec.Struct, frozen=True):
    """A target that the gold of an item names. Lists of targets begin with the best grade."""

    target: str
    grade: float
    text: str = ""


class RankedResult(msgspec.Struct, frozen=True):
    """The result of a system at one rank."""

    doc_id: str
    score: float
    grade: float | None  # a person's before a rule's; None: unjudged
    text: str = ""
    mark: str | None = None  # the mark of a review: KEYWORD_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE
    reason: str = ""  # why it is relevant, if a judge gives a reason
    by: str = "rule"  # who gave the grade: rule, model or person
    ruled: bool = False  # whether a rule or a model finds it relevant, even if a person does not

    @property
    def status(self) -> str:
        """One of relevant_by_rule, relevant_by_model, relevant_by_person, not_relevant and not_judged."""
        if self.grade is None:
            return "not_judged"
        return f"relevant_by_{self.by}" if self.grade > 0 else "not_relevant"


class ItemView(msgspec.Struct, frozen=True):
    """One item with its expected outcome and the top hits of each arm."""

    item_id: str
    text: str
    tags: dict[str, list[str]]
    expected: list[ExpectedTarget]
    returned: dict[str, list[RankedResult]]  # by arm name
    faults: dict[str, str] = {}  # by arm name: why the arm did not answer
    expects: str | None = None
    language: str | None = None
    route: str | None = None  # the route that is expected, if the route decides
    flags: dict[str, bool | str] = {}  # the flags that must be set
    routes: dict[str, str] = {}  # by arm name: the route that the arm took
    flagged: dict[str, dict[str, bool | str]] = {}  # by arm name: the flags that the arm set
    enough: tuple[int, int] | None = None  # (n, m): n of m expected targets are enough; None: all

    @property
    def expectation(self) -> str:
        """The expected outcome in words. It is empty if passages are expected and no flags."""
        route = f"the route {self.route}" if self.route and self.expects in {"route", "nothing"} else ""
        return ", ".join(filter(None, [route or self.expects or "", *_flags(self.flags)]))

    @property
    def sufficient(self) -> str:
        """How many of the expected targets are enough, in words. It is empty if all are needed."""
        return f"any {self.enough[0]} of {self.enough[1]}" if self.enough is not None else ""

    def took(self, arm: str) -> str:
        """Returns in words the route that an arm took, and the flags that it set."""
        route = f"route {self.routes[arm]}" if arm in self.routes else ""
        return ", ".join(filter(None, [route, *_flags(self.flagged.get(arm, {}))]))


def _flags(flags: dict[str, bool | str]) -> list[str]:
    return [name if value is True else f"{name} = {value}" for name, value in flags.items() if value]


class ReviewSummary(msgspec.Struct, frozen=True):
    """The progress of a review, and the results on those items whose review is complete for every arm."""

    depth: int  # the number of hits of each arm that people look at
    items: int  # the number of items that need a review
    complete: list[str]  # items that were judged for every arm: only these enter the rates
    complete_by_arm: dict[str, int]
    marked: int  # the number of different passages that a person judged
    open: int  # the number of different passages still to be judged
    estimates: list[Estimate]  # precision, lift and false positives on the complete items
    comparisons: list[Comparison]  # paired, on the same items
    bounds: dict[str, dict[str, tuple[float, float]]]  # by measure and arm, over all items, open ones too
    verdicts: list[str]  # the verdicts that are still possible; if there is one, it is settled
    outlook: str = ""  # the possible verdicts in words

    @property
    def settled(self) -> bool:
        return len(self.verdicts) <= 1

    @property
    def partial(self) -> bool:
        return len(self.complete) < self.items


class ItemChange(msgspec.Struct, frozen=True):
    """An item whose value of one measure has changed."""

    item_id: str
    text: str
    arm: str
    measure: str
    before: float
    after: float
    varies: bool = False  # the value also changes if the same system is asked again


class BaselineChanges(msgspec.Struct, frozen=True):
    """The changes since a baseline, in the measures that gates read and on items that did not change."""

    baseline: str
    created: float | None
    verdict: str | None  # the verdict of the baseline's own gates
    comparisons: list[Comparison]  # now minus then, over all items and by slice; the family is the arm
    regressions: list[ItemChange]  # worst first
    recoveries: list[ItemChange]  # best first
    added: list[str]  # items newer than the baseline: listed, not compared
    removed: list[str]
    changed: list[str]
    relabelled: list[str]  # compared items that judges now label differently
    repeated: dict[str, int] = {}  # by arm: how often items were asked again, to see what varies by itself


class Figure(msgspec.Struct, frozen=True):
    """An expression under `figures:` of a study, with its value and interval, for one system or for none.

    A value or an end of the interval is None if it is unknown, and infinite if it is above `most`.
    """

    name: str
    system: str | None  # None: the expression names its systems itself
    factors: Factors
    text: str  # the expression as written
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""  # why there is no value, or a note on it
    where: str | None = ""  # the slice; None: parts of the expression have different slices
    reads: list[str] = []  # the measures that the expression reads
    unit: str = ""
    most: float | None = None

    @property
    def arm(self) -> str:
        """The name of the arm: the system with its factors, or only the factors."""
        return Arm(self.system or "", self.factors).name


class TrustSummary(msgspec.Struct, frozen=True):
    """Facts that show how far the values can be trusted."""

    counts: dict[str, dict[str, int]]  # arm name -> status -> number of item scores of the first measure
    warnings: list[str]
    provenance: dict[str, str]  # hashes, versions, seeds, times
    seconds: dict[str, dict[str, float]] = {}  # arm name -> p50, p95, p99 of total seconds
    cost: dict[str, float] = {}


# ------------------------------------------------------------------------------ proofs of gates

PROVED, EXPOSED, UNPROVED = "proved", "exposed", "unproved"


class ControlResult(msgspec.Struct, frozen=True):
    """The result of one control in one gate."""

    control: str
    mutant: str = ""  # the name of the mutant, if the control makes several
    about: str = ""
    expected: str = "refused"  # what a sound gate does with the control: refused, passes, or either
    passed: int = 0  # the number of draws that passed the gate
    draws: int = 0  # the number of draws; 0: the control does not apply
    rate: float | None = None
    low: float | None = None  # the lower end of the 95 % interval of the rate, if draws are random
    high: float | None = None
    verdict: str = ""  # the gate's verdict on the control, if it is not drawn at random
    reason: str = ""  # why the control does not apply, or why the gate refuses it
    harmless: str = ""  # the author's reason why the control may pass the gate

    @property
    def name(self) -> str:
        """The name of the control, with the name of its mutant."""
        return f"{self.control} ({self.mutant})" if self.mutant else self.control

    @property
    def applies(self) -> bool:
        return self.draws > 0

    def passes(self, alpha: float) -> bool:
        """Whether the control passes the gate.

        A control that is drawn at random passes if more than the share `alpha` of its draws pass.
        """
        return self.applies and (self.passed > 0 if self.draws == 1 else self.passed > alpha * self.draws)


class CaughtLoss(msgspec.Struct, frozen=True):
    """The smallest planted loss that a gate refuses with this number of items."""

    of: str = ""  # whose answers have the loss: the candidate's or the oracle's
    share: float | None = None  # the share of items that were emptied; None: no loss was caught or planted
    items: int = 0  # the number of these items
    missed: float | None = None  # the largest share of emptied items that was not caught
    draws: int = 0
    reason: str = ""  # why no loss was planted


class Proof(msgspec.Struct, frozen=True):
    """The results of one gate on all controls."""

    gate: str
    candidates: list[str]
    references: list[str]
    controls: list[ControlResult]
    loss: CaughtLoss
    alpha: float = 0.05
    deciding: bool = True
    evidence: str = ""  # a hash of the gate, and of the answers and labels of this proof

    @property
    def exposed(self) -> list[ControlResult]:
        """Controls that pass although they must not, except those that are declared harmless."""
        return [each for each in self._passing if not each.harmless]

    @property
    def harmless(self) -> list[ControlResult]:
        """Controls that pass and that the gate's author declared harmless, with a reason."""
        return [each for each in self._passing if each.harmless]

    @property
    def _passing(self) -> list[ControlResult]:
        return [each for each in self.controls if each.expected == "refused" and each.passes(self.alpha)]

    @property
    def stuck(self) -> list[ControlResult]:
        """Controls that should pass and do not pass."""
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
        """The share of controls that the gate refuses, among those that it must refuse; None without any."""
        if not (tried := self._refusable):
            return None
        return sum(not each.passes(self.alpha) for each in tried) / len(tried)

    @property
    def outcome(self) -> str:
        """The outcome: proved, exposed or unproved.

        It is exposed if a control passes. It is unproved if no control applies, or if the oracle fails.
        """
        if self.exposed:
            return EXPOSED
        stuck = any(not each.harmless for each in self.stuck)
        return UNPROVED if stuck or not self._refusable else PROVED

    def as_json(self) -> dict[str, Any]:
        """Returns the documented JSON form, with all derived values."""
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
    """Everything that a report shows. `scores` has one row per score.

    Its columns are item, system, factors, arm, seed, measure, value and status.
    """

    study: str
    kind: str
    systems: list[str]
    arms: list[str]
    baseline: str | None
    measures: list[MeasureInfo]
    by: list[str]  # the tags by which results are sliced
    scores: pl.DataFrame
    estimates: list[Estimate]
    comparisons: list[Comparison]
    verdicts: list[Verdict]
    verdict: str | None  # the verdict over all gates; None: no gate decides
    trust: TrustSummary
    items: list[ItemView] = field(default_factory=list)
    review: ReviewSummary | None = None  # None: no item needs a review
    against: BaselineChanges | None = None  # None: not compared with a baseline
    recommendation: str | None = None  # the sentence of the study's `recommend` for these verdicts
    created: float | None = None  # when the last answer was stored
    only: dict[str, list[str]] = field(default_factory=dict)  # the part of the study that was evaluated
    report: str | None = None  # path of the HTML file
    layer: str = ""  # public, structured or private: what the data can support
    unproven: list[str] = field(default_factory=list)  # claims that results on the data cannot support
    figures: list[Figure] = field(default_factory=list)  # expressions under `figures:` of the study
    sections: list[Section] = field(default_factory=list)  # the sections that insights add
    traced: list[str] = field(default_factory=list)  # arms whose answers have traces
    outdated: list[str] = field(default_factory=list)  # why the answers are older than study, data or gates
    proofs: list[Proof] = field(default_factory=list)  # proofs that match the current evidence

    @property
    def caveat(self) -> str | None:
        """What a go does not show; None if there is nothing to add."""
        return PRIVATE_ALONE if self.layer == PRIVATE and self.verdict == GO else None

    def section(self, key: str) -> Section | None:
        """Returns a section by its key, such as "scoring"; None if no insight added it."""
        return next((each for each in self.sections if each.key == key), None)

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON form, which is documented and has a version."""
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
