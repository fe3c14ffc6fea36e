"""The records that travel through a study, left to right.

Dataset side:  Passage, Document, Item, Query
System side:   Hit, Piece, Context, Step, Fault, Observed, Response, Node, Edge, Structure
Judge side:    Judgment, Question, Finding
Result side:   Status, Arm, Estimate, Comparison, ClauseResult, Verdict

They are msgspec Structs: typed, immutable where they are facts, quick to write and to read back.
A budget is a number of tokens; None means unbounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

Budget = int | None
Tags = dict[str, list[str]]
Factors = dict[str, str]
NO_RESULTS = "no_results"  # the route of an answer that says there is nothing, and of a query that wants that
PATH = "path"  # the kind of the steps that lead to one hit; the first of them has depth 0
IMPOSSIBLE = "impossible"  # the flag of an answer, and the field of gold: it cannot be answered
# labels: it answers what is asked; it meets a person as asked; it must be withheld
RELEVANCE, INTENT, FORBIDDEN = "relevance", "intent", "forbidden"
# what a text that gold quotes is worth, by label and by its author's word for it
QUOTED_GRADES: Mapping[str, Mapping[str, float]] = {
    RELEVANCE: {"high": 2.0, "partial": 1.0},
    INTENT: {"high": 1.0, "partial": 0.0},
}


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Characters [start, end) of a document's text."""

    start: int
    end: int

    def overlap(self, other: Span) -> int:
        """How many characters both spans share."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))


# ---------------------------------------------------------------------------------- dataset


class Document(msgspec.Struct, frozen=True):
    """A source text as it was frozen: what labels point at, whatever the chunking."""

    doc_id: str
    text: str
    title: str = ""
    metadata: dict[str, Any] = {}


class Passage(msgspec.Struct, frozen=True):
    """A retrieval unit: what a system indexes and a hit names by `doc_id`."""

    doc_id: str
    text: str
    title: str = ""
    source: str | None = None  # the document it was cut from; None: it is its own document
    span: Span | None = None  # where it lies in that document
    section: str | None = None
    metadata: dict[str, Any] = {}


class Query(msgspec.Struct, frozen=True):
    """What a system sees of an item: no gold, no tags, no split."""

    item_id: str
    text: str
    language: str | None = None


class Item(msgspec.Struct, frozen=True):
    """One case of a golden set: the question, what is right, and how to group it.

    `gold` is the author's material, by judge: {"relevant": {doc_id: grade}}, {"evidence": […]}, {"sql": …}.
    """

    item_id: str
    text: str
    language: str | None = None
    tags: Tags = {}
    gold: dict[str, Any] = {}
    expects: str | None = None  # "nothing": the right answer is no answer; "route", "intent": not passages
    sequence: str | None = None  # items of one sequence run in order in one session
    scope: list[str] | None = None  # doc_ids indexed for this item alone; None: the whole corpus
    split: str | None = None
    added: str | None = None  # version or date in which the item entered the golden set

    @property
    def query(self) -> Query:
        return Query(self.item_id, self.text, self.language)

    @property
    def label(self) -> str:
        """The label under which what comes back for it is right or wrong."""
        return INTENT if self.expects == "intent" else RELEVANCE

    def values(self, name: str) -> list[str]:
        """Its values of a tag; language, split and sequence read as tags."""
        if name in self.tags:
            return self.tags[name]
        own = {"language": self.language, "split": self.split, "sequence": self.sequence}.get(name)
        return [own] if own is not None else []


# ----------------------------------------------------------------------------------- system


class Hit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One retrieved unit, best first."""

    doc_id: str
    score: float
    span: Span | None = None
    text: str | None = None


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of text inside a context."""

    doc_id: str
    text: str
    span: Span | None = None


class Context(msgspec.Struct, frozen=True):
    """What a reader would be shown under one token budget."""

    budget: Budget
    pieces: list[Piece]
    tokens: int
    tokenizer: str
    route: str | None = None
    reason: str | None = None

    @property
    def text(self) -> str:
        """Exactly what the reader sees, and what `tokens` counts."""
        return "\n".join(piece.text for piece in self.pieces)


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event of a trace: a routing decision in a tree, or a hop along a typed edge of a graph."""

    kind: str
    depth: int  # level of a tree, hop of a walk
    target: str
    source: str | None = None
    scores: dict[str, float] = {}
    selected: bool = True
    edge: str | None = None
    stop: str | None = None
    role: str | None = None  # what the target is, in the system's words: exception, remedy, step


class Fault(msgspec.Struct, frozen=True):
    """Why a system did not answer."""

    kind: str
    message: str
    retryable: bool = False


class Observed(msgspec.Struct, omit_defaults=True):
    """What was seen from outside while it answered. Never part of an identity."""

    seconds: dict[str, float] = {}
    tokens: int | None = None
    cost: float | None = None
    attempts: int = 1
    concurrency: int = 1
    time: float | None = None


class Response(msgspec.Struct, omit_defaults=True):
    """Everything a system returned for one query."""

    hits: list[Hit] = []
    contexts: list[Context] = []
    route: str | None = None
    flags: dict[str, bool | str] = {}
    answer: str | None = None
    trace: list[Step] = []
    error: Fault | None = None
    observed: Observed = msgspec.field(default_factory=Observed)


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node of a tree or graph that an index publishes."""

    node_id: str
    level: int | None = None
    role: str | None = None
    doc_id: str | None = None
    span: Span | None = None
    weight: float | None = None  # how much it matters, whatever is asked
    about: str | None = None  # what lies below it, in the words that queries are routed by
    entities: list[str] = []  # the names that tell it from its siblings


class Edge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A typed edge between two nodes, with the rule that made it."""

    source: str
    target: str
    kind: str = "child"
    weight: float = 1.0
    rule: str | None = None


class Structure(msgspec.Struct, frozen=True):
    """The tree or graph behind an index, one an arm and seed."""

    nodes: list[Node]
    edges: list[Edge]


# ------------------------------------------------------------------------------------ judge


class Judgment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement that something is relevant, right, supported, or was looked for and not found."""

    item_id: str
    label: str
    grade: float
    judge: str
    target: str | None = None  # doc_id, node_id, …; None: about the response as a whole, or nothing was found
    span: Span | None = None
    category: str | None = None
    arm: str | None = None  # None: gold, true for every arm
    seed: int | None = None  # None: for every seed
    version: str = "1"
    seen: str | None = None  # hash of the text shown: a mark whose text changed is stale
    reason: str | None = None
    time: float | None = None
    judgment_id: str | None = None
    replaces: str | None = None  # an earlier judgment of the same judge
    withdrawn: bool = False  # it takes back what it replaces, and says nothing itself


class Question(msgspec.Struct, frozen=True):
    """What a judge that costs something is asked: all that its verdict may depend on."""

    item_id: str
    label: str
    text: str  # what is judged: the target's text, or the answer where there is no target
    about: str = ""  # what is shown with it: the query, a reference answer, a prompt read from a file
    target: str | None = None
    span: Span | None = None
    arm: str | None = None
    seed: int | None = None


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a judge answers to a question, and what the answer cost."""

    grade: float
    category: str | None = None
    reason: str | None = None
    cost: float | None = None


# ----------------------------------------------------------------------------------- result


class Status(StrEnum):
    """How a score came about. Only `scored` and `missing` enter a mean."""

    SCORED = "scored"
    MISSING = "missing"  # asked, nothing returned: counts with the value the measure declares for absence
    FAILED = "failed"  # it broke
    UNJUDGED = "unjudged"
    PENDING = "pending"  # not run: limit, cap, killed
    NOT_APPLICABLE = "not_applicable"


# Where an item was asked with several seeds: what leaves the value open outweighs a value.
GRAVEST_FIRST = (
    *(Status.PENDING, Status.FAILED, Status.UNJUDGED),
    *(Status.SCORED, Status.MISSING, Status.NOT_APPLICABLE),
)


class Arm(msgspec.Struct, frozen=True):
    """One system on one corpus, with the factors that make it this one."""

    system: str
    factors: Factors = {}

    @property
    def name(self) -> str:
        if not self.factors:
            return self.system
        return f"{self.system}[{','.join(f'{key}={value}' for key, value in sorted(self.factors.items()))}]"


class Estimate(msgspec.Struct, frozen=True):
    """A system's mean of one measure over one slice, with its 95 % interval."""

    system: str
    factors: Factors
    measure: str
    where: dict[str, str]
    value: float | None
    low: float | None
    high: float | None
    n_scored: int
    n_expected: int
    method: str = ""
    counts: dict[str, int] = {}  # how many scores of each status other than scored


class Comparison(msgspec.Struct, frozen=True):
    """System a minus system b on the rows both have: difference, interval, tests, effect."""

    a: str
    b: str
    factors: Factors
    measure: str
    where: dict[str, str]
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    effect: float | None
    wins: int
    ties: int
    losses: int
    n: int
    effect_name: str = ""
    test: str = ""
    family: str = ""
    mde: float | None = None  # smallest difference this n would find with 80 % power
    p_wilcoxon: float | None = None  # the signed-rank test's, where values are not plain yes or no
    refused: str | None = None  # why there is no comparison, where there is none
    shown: str = ""  # "better" or "worse", of a against b: what its interval shows at the family's level
    level: float | None = None  # the level of that interval; `low` and `high` stay at 95 %


THRESHOLD_SHOWN, GAIN_SHOWN, LOSS_SHOWN, NO_LOSS_SHOWN, NOT_GUARDED = (
    "threshold shown",  # the interval excludes the threshold
    "gain shown",  # the interval excludes a loss
    "loss shown",  # of a kill condition, or since a baseline: the interval excludes a gain
    "no loss shown",  # since a baseline: what may be lost unseen is its smallest detectable difference
    "not guarded",  # the estimate decides
)
LABELS = ("", THRESHOLD_SHOWN, GAIN_SHOWN, LOSS_SHOWN, NO_LOSS_SHOWN, NOT_GUARDED)  # the weakest last


class Advice(msgspec.Struct, frozen=True):
    """How many more items are likely to decide an open clause, or what to do where no number would."""

    items: int | None
    where: str = ""  # the slice they must be in
    chance: float | None = None  # that they decide it if the effect is what it looks like
    by_luck: float | None = None  # that they decide it if there is no effect
    instead: str = ""


class ClauseResult(msgspec.Struct, frozen=True):
    """One clause of a gate, decided or not, with what it was decided on."""

    text: str
    holds: bool | None
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""
    left: float | None = None
    right: float | None = None
    mde: float | None = None
    advice: Advice | None = None  # where it is open for want of items
    role: str = "go"  # first, go or kill
    ways: list[int] = []  # where there are several ways to go: those it belongs to
    shows: str = ""  # what its outcome rests on: one of LABELS


class Verdict(msgspec.Struct, frozen=True):
    """What a gate concludes: go, no-go or inconclusive."""

    gate: str
    verdict: str
    clauses: list[ClauseResult]
    reason: str = ""
    deciding: bool = True  # whether it counts in the verdict over all gates
    about: str = ""  # what it is for, in its author's words
    reads: list[str] = []  # the measures that its clauses read
    look: int = 1  # how often it was decided on other evidence, this time included
    level: float | None = None  # of its bounds, before clauses share it; None: nothing has an interval
    unseen: float | None = None  # beside a go: the share of items that could have lost everything unseen
