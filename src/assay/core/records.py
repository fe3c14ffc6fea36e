"""The records that pass through a study, in the order in which they arise.

Data:     Passage, Document, Item, Query
Systems:  Hit, Piece, Context, Step, Fault, Observed, Response, Node, Edge, Structure
Judges:   Judgment, Question, Finding
Results:  Status, Arm, Estimate, Comparison, ClauseResult, Verdict

All are msgspec Structs, which are typed and fast to write and read. Records of facts are immutable. A budget
is a number of tokens; None means unbounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

Budget = int | None
Tags = dict[str, list[str]]
Factors = dict[str, str]
NO_RESULTS = "no_results"  # the route of an answer that there is nothing, and of a query that expects it
PATH = "path"  # the kind of the steps that lead to one hit; the first of them has depth 0
IMPOSSIBLE = "impossible"  # the flag of an answer, and the field of gold: the query cannot be answered
# labels: it answers the query; it meets the intent of a person; it must not be shown
RELEVANCE, INTENT, FORBIDDEN = "relevance", "intent", "forbidden"
# the grade of a text that gold quotes, by label and by its author's word for it
QUOTED_GRADES: Mapping[str, Mapping[str, float]] = {
    RELEVANCE: {"high": 2.0, "partial": 1.0},
    INTENT: {"high": 1.0, "partial": 0.0},
}


class Span(msgspec.Struct, frozen=True, array_like=True):
    """A span from `start` to `end` (exclusive) in the text of a document, in characters."""

    start: int
    end: int

    def overlap(self, other: Span) -> int:
        """Returns the number of characters that both spans share."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))


# ---------------------------------------------------------------------------------- dataset


class Document(msgspec.Struct, frozen=True):
    """A source text that does not change. Labels can point to its text, however it is cut into passages."""

    doc_id: str
    text: str
    title: str = ""
    metadata: dict[str, Any] = {}


class Passage(msgspec.Struct, frozen=True):
    """A text that a system indexes. A hit names it by its `doc_id`."""

    doc_id: str
    text: str
    title: str = ""
    source: str | None = None  # the document it was cut from; None: it is a document itself
    span: Span | None = None  # the place of the passage in that document
    section: str | None = None
    metadata: dict[str, Any] = {}


class Query(msgspec.Struct, frozen=True):
    """The part of an item that a system sees. It has no gold, no tags and no split."""

    item_id: str
    text: str
    language: str | None = None


class Item(msgspec.Struct, frozen=True):
    """One case of a golden set: a question, its right answer, and tags by which items are grouped.

    `gold` is the author's material for each judge: {"relevant": {doc_id: grade}}, {"evidence": […]}, …
    """

    item_id: str
    text: str
    language: str | None = None
    tags: Tags = {}
    gold: dict[str, Any] = {}
    expects: str | None = None  # the right answer: passages (None), "nothing", "route" or "intent"
    sequence: str | None = None  # items of one sequence run in order in one session
    scope: list[str] | None = None  # the doc_ids that are indexed for this item; None: the whole corpus
    split: str | None = None
    added: str | None = None  # version or date in which the item entered the golden set

    @property
    def query(self) -> Query:
        return Query(self.item_id, self.text, self.language)

    @property
    def label(self) -> str:
        """The label under which results for this item are right or wrong."""
        return INTENT if self.expects == "intent" else RELEVANCE

    def values(self, name: str) -> list[str]:
        """Returns the values that the item has for a tag. Language, split and sequence are tags too."""
        if name in self.tags:
            return self.tags[name]
        own = {"language": self.language, "split": self.split, "sequence": self.sequence}.get(name)
        return [own] if own is not None else []


# ----------------------------------------------------------------------------------- system


class Hit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One result of a search. The hits of a response are in order, the best first."""

    doc_id: str
    score: float
    span: Span | None = None
    text: str | None = None


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of text inside a context."""

    doc_id: str
    text: str
    span: Span | None = None


class Context(msgspec.Struct, frozen=True):
    """The text that a reader would see under one token budget."""

    budget: Budget
    pieces: list[Piece]
    tokens: int
    tokenizer: str
    route: str | None = None
    reason: str | None = None

    @property
    def text(self) -> str:
        """The text that the reader sees. `tokens` is the number of its tokens."""
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
    role: str | None = None  # what the target is, in the words of the system: exception, remedy, step


class Fault(msgspec.Struct, frozen=True):
    """The reason why a system did not answer."""

    kind: str
    message: str
    retryable: bool = False


class Observed(msgspec.Struct, omit_defaults=True):
    """Measurements made from outside while a system answered. They are never part of an identity."""

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
    weight: float | None = None  # the importance of the node, independent of the query
    about: str | None = None  # the content of the node, in the words by which queries are routed
    entities: list[str] = []  # the names that distinguish the node from its siblings


class Edge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A typed edge between two nodes, with the rule that created the edge."""

    source: str
    target: str
    kind: str = "child"
    weight: float = 1.0
    rule: str | None = None


class Structure(msgspec.Struct, frozen=True):
    """The tree or graph behind an index. There is one structure per arm and seed."""

    nodes: list[Node]
    edges: list[Edge]


# ------------------------------------------------------------------------------------ judge


class Judgment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement of a judge: a target is relevant, right or supported, or nothing was found."""

    item_id: str
    label: str
    grade: float
    judge: str
    target: str | None = None  # doc_id, node_id, …; None: the whole response, or nothing was found
    span: Span | None = None
    category: str | None = None
    arm: str | None = None  # None: gold, which is true for every arm
    seed: int | None = None  # None: for every seed
    version: str = "1"
    seen: str | None = None  # hash of the text that was shown: if the text changes, a mark is stale
    reason: str | None = None
    time: float | None = None
    judgment_id: str | None = None
    replaces: str | None = None  # an earlier judgment of the same judge
    withdrawn: bool = False  # True: it only withdraws the judgment that it replaces


class Question(msgspec.Struct, frozen=True):
    """A question to a paying judge. It holds everything on which the finding of the judge may depend."""

    item_id: str
    label: str
    text: str  # the text to judge: of the target, or the answer if there is no target
    about: str = ""  # what is shown with it: the query, a reference answer, a prompt from a file
    target: str | None = None
    span: Span | None = None
    arm: str | None = None
    seed: int | None = None


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of a paying judge to a question, with its cost."""

    grade: float
    category: str | None = None
    reason: str | None = None
    cost: float | None = None


# ----------------------------------------------------------------------------------- result


class Status(StrEnum):
    """How a score arose. Only scores with the status `scored` or `missing` count in a mean."""

    SCORED = "scored"
    MISSING = "missing"  # asked, nothing returned: it counts with the measure's value for absence
    FAILED = "failed"  # the system failed
    UNJUDGED = "unjudged"
    PENDING = "pending"  # not asked yet, because of a limit or cap, or since the run was killed
    NOT_APPLICABLE = "not_applicable"


# For an item with several seeds: a status without a value comes before one with a value.
GRAVEST_FIRST = (
    *(Status.PENDING, Status.FAILED, Status.UNJUDGED),
    *(Status.SCORED, Status.MISSING, Status.NOT_APPLICABLE),
)


class Arm(msgspec.Struct, frozen=True):
    """One system on one corpus, with its factors."""

    system: str
    factors: Factors = {}

    @property
    def name(self) -> str:
        if not self.factors:
            return self.system
        return f"{self.system}[{','.join(f'{key}={value}' for key, value in sorted(self.factors.items()))}]"


class Estimate(msgspec.Struct, frozen=True):
    """The mean of one measure for one system over one slice, with its 95 % interval."""

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
    counts: dict[str, int] = {}  # the number of scores of each status except scored


class Comparison(msgspec.Struct, frozen=True):
    """System `a` minus system `b` on the rows that both have, with interval, tests and effect size."""

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
    mde: float | None = None  # the smallest difference that n rows would find with 80 % power
    p_wilcoxon: float | None = None  # the p-value of the signed-rank test, if values are not binary
    refused: str | None = None  # why there is no comparison
    shown: str = ""  # whether the interval at `level` shows that a is "better" or "worse" than b
    level: float | None = None  # the level of the family's interval; `low` and `high` are at 95 %


THRESHOLD_SHOWN, GAIN_SHOWN, LOSS_SHOWN, NO_LOSS_SHOWN, NOT_GUARDED = (
    "threshold shown",  # the interval excludes the threshold
    "gain shown",  # the interval excludes a loss
    "loss shown",  # of a kill condition, or since a baseline: the interval excludes a gain
    "no loss shown",  # since a baseline: a loss up to the smallest detectable difference is possible
    "not guarded",  # the estimate decides
)
LABELS = ("", THRESHOLD_SHOWN, GAIN_SHOWN, LOSS_SHOWN, NO_LOSS_SHOWN, NOT_GUARDED)  # the weakest last


class Advice(msgspec.Struct, frozen=True):
    """How many more items are likely to decide an undecided clause, or what to do instead."""

    items: int | None
    where: str = ""  # the slice in which the items must be
    chance: float | None = None  # the probability that they decide it if the effect is as estimated
    by_luck: float | None = None  # the probability that they decide it if there is no effect
    instead: str = ""


class ClauseResult(msgspec.Struct, frozen=True):
    """The result of one clause of a gate, with its evidence. A clause passes, fails or is undecided."""

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
    advice: Advice | None = None  # only if the clause is undecided for lack of items
    role: str = "go"  # first, go or kill
    ways: list[int] = []  # if a gate has several ways to go: the ways with this clause
    shows: str = ""  # the reason for the result: one of LABELS


class Verdict(msgspec.Struct, frozen=True):
    """The conclusion of a gate: go, no-go or inconclusive."""

    gate: str
    verdict: str
    clauses: list[ClauseResult]
    reason: str = ""
    deciding: bool = True  # whether the gate counts in the verdict over all gates
    about: str = ""  # the purpose of the gate, in its author's words
    reads: list[str] = []  # the measures that the gate's clauses read
    look: int = 1  # how often the gate was decided on different evidence, with this time
    level: float | None = None  # the level of the bounds, before clauses share it; None: no intervals
    unseen: float | None = None  # for a go: the share of items that could have lost everything unnoticed
