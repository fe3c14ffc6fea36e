"""What a plugin has to look like. Structural: nothing needs to inherit from anything.

A plugin is a frozen dataclass whose fields are its parameters; `name(k=v)` in a study makes one.
Services (cache, clock, secrets) reach it through the `Kit`, never through globals.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

from assay.core.errors import NotSet, UsageError
from assay.core.records import (
    Budget,
    Finding,
    Item,
    Judgment,
    Query,
    Question,
    Response,
    Step,
    Structure,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.core.block import Block
    from assay.core.dataset import Corpus, Dataset
    from assay.core.results import Results

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


Tell = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


def unheard(stage: str, done: int, total: int) -> None:
    """Shows nothing."""


def unpaid(cost: float) -> None:
    """Books nothing."""


def default_cache() -> Path:
    """Where re-creatable work is kept: ASSAY_CACHE, or the user's cache folder."""
    if chosen := os.environ.get("ASSAY_CACHE"):
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"
    except RuntimeError:  # a user without a home, as containers have
        fix = "Set ASSAY_CACHE to a folder that may be written"
        raise UsageError(f"You have no home folder in which work could be cached. {fix}.") from None


@dataclass(frozen=True)
class Kit:
    """The services a plugin may use. Tests pass their own."""

    cache: Path = field(default_factory=default_cache)
    clock: Callable[[], float] = time.time
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = field(default_factory=Path)  # what relative paths in a study are relative to
    progress: Tell = field(
        default=unheard, compare=False
    )  # told how far long work, such as embedding, has come
    pay: Callable[[float], None] = field(default=unpaid, compare=False)  # books a cost as it arises
    told: set[str] = field(default_factory=set, compare=False, repr=False)  # variables that were given out

    def secret(self, name: str) -> str:
        """The value of an environment variable that must be set; no message may hold it afterwards."""
        self.told.add(name)
        if (value := self.env.get(name)) is None:
            raise NotSet(f"The environment variable {name} is not set. Set it, or remove what asks for it.")
        return value

    def path(self, given: str | Path) -> Path:
        """A path from a study file, relative to the study."""
        return self.root / given


class Session(Protocol):
    """One conversation with an index: cheap, holds all state, used by one thread."""

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response: ...


class Index(Protocol):
    """A built system: thread-safe, opens sessions.

    May offer `structure() -> Structure`, `close()` and `cost` (what building it cost).
    """

    def session(self) -> Session: ...


@runtime_checkable
class Structured(Protocol):
    """An index that publishes the tree or graph behind it."""

    def structure(self) -> Structure: ...


class System(Protocol):
    """A system under test.

    Optional attributes:
    `version`   bump it when answers change; default: the distribution's version
    `identity`  (kit) -> what else decides its answers: hashes of models, prompts, files
    `gives`     what its responses can hold, such as {"hits", "contexts"}: a measure that needs more does not
                apply to it
    `gives_in`  (kit) -> the same, where files decide it
    `seeded`    False where the seed changes nothing: it is then asked with the first seed alone
    `threads`   how many items may be in flight; default 1 for systems that compute, more for those that wait
    `problems`  (dataset, kit) -> list[Problem]: why it cannot serve this dataset, told before it is asked
    `warnings`  (dataset, kit) -> list[str]: what of this dataset looks like a slip to it; `assay validate`
                and every report show them
    `origin`    "imported": it repeats answers from elsewhere, which are not timed
    """

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Index: ...


class DatasetPlugin(Protocol):
    """Something that loads a dataset."""

    def load(self, kit: Kit) -> Dataset: ...


@runtime_checkable
class Judge(Protocol):
    """Somebody or something whose judgments a study counts.

    `names` are what its judgments are signed with, best first. `closed_labels` are the labels it decides
    wholly: what it does not name under one of them is not relevant; under any other label it is unknown.
    `incomplete` may name those of them under which it knows only some of what is right: figures are lower
    bounds then, unless a judge that looks at whatever came back lists the label in `opens`; that makes what
    nobody has judged yet unknown, whoever closed it. Such a judge may have a `depth`, how many hits of an
    item it looks at; measures that read further are refused.
    `examine(dataset, kit)` may say before a run what it cannot judge (problems) and what looks wrong
    (warnings).
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def closed_labels(self) -> Set[str]: ...


@runtime_checkable
class FreeJudge(Judge, Protocol):
    """A judge whose judgments cost nothing: gold, rules, SQL. They are worked out at every evaluation."""

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]: ...


@runtime_checkable
class PayingJudge(Judge, Protocol):
    """A judge each of whose findings costs something: it is asked each question once, and that is stored.

    `ask` may raise Retryable; an error may carry `cost`, which is booked. Findings are signed with the first
    of its names. Optional attributes: `version` (bump it when findings change), `threads` (how many questions
    may be in flight; default 1) and `within(kit)`: the judge with the files of the study that it reads.
    """

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterable[Question]: ...
    def ask(self, question: Question, kit: Kit) -> Finding: ...


@runtime_checkable
class PersonJudge(Judge, Protocol):
    """A judge that people stand behind: `raters` are those of its names whose marks agreement compares.

    One that counts everybody who marked, without naming them, has `everybody`.
    """

    @property
    def raters(self) -> Sequence[str]: ...


class ItemFact(NamedTuple):
    """What people who judge an item's passages are told of it, beside its text."""

    name: str  # its field in forms
    value: str | tuple[str, ...]
    title: str = ""  # what it is called at the desk; empty: only forms show it


@runtime_checkable
class DescribingJudge(Judge, Protocol):
    """A judge whose findings people complete, and who can tell them what it looks for."""

    @property
    def reasons(self) -> Sequence[str]:
        """The words that its reasons begin with, before a colon: what a reviewer adds is told from them."""
        ...

    def describe_item(self, item: Item) -> Sequence[ItemFact]: ...


class NearMiss(NamedTuple):
    """A hit that nearly counts, and that no judge has decided."""

    judgment: Judgment  # what would be said of it if it counted
    size: int = 0  # characters of a hit that is too long to count; 0: it does not count for another reason


@runtime_checkable
class NearMissJudge(Judge, Protocol):
    """A judge that can name hits that nearly count: a score that would differ if they did is unjudged.

    `near_misses` is given what counts; `describe` says in warnings which were found and what to do.
    """

    def near_misses(
        self, dataset: Dataset, blocks: Sequence[Block], judged: Iterable[Judgment]
    ) -> Iterable[NearMiss]: ...
    def describe(self, near: Sequence[NearMiss]) -> Iterable[str]: ...


@runtime_checkable
class WithholdingJudge(Judge, Protocol):
    """A judge who is still to speak without knowing which system is which.

    While it withholds, nothing is shown by system: no scores, times, costs, sizes, routes or traces.
    """

    def withholds(self, kit: Kit) -> bool: ...


class Measure(Protocol):
    """A frozen value that prints and parses as its name, and scores all items of an arm at once.

    `needs`    what a block must hold: "hits", "labels", "contexts", "trace", "route", "structure", …
               (a block holds the structures of indexes only where some measure of the study needs them)
    `at`       what the number after @ means: "rank", "tokens", "level", or "" for none
    `better`   "higher" or "lower"
    `low/high` the range; high None: unbounded (failures then cannot be bounded either)
    `absent`   the value when nothing came back; None: such a score stays out of the mean
    `limit`    of one without an upper end: what larger values count as, if a study declares it
    `against`  of a measure of two systems: the other one, whose block is then `block.beside`
    `of_failures`  True: a failed item is a value like any other, as for the failure rate
    `unit`     "s" where thresholds may have a unit of time
    `family`   its name without parameters, for one that takes its name from `measure_name`
    `cutoff`   the number after @, if it has one; `seen_in` the view and label that it reads
    `blank`    which of its needs count as given, and empty, if an answer says nothing of them
    `pooled`   False: it does not depend on which passages were judged; True if not declared
    `check`    may say before a run that it cannot be computed, by an AssayError: a part is not installed, …
               (one that breaks on a run costs itself alone: its scores are failed)
    """

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> frozenset[str]: ...
    @property
    def at(self) -> str: ...
    @property
    def better(self) -> str: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float | None: ...
    @property
    def absent(self) -> float | None: ...
    @property
    def binary(self) -> bool: ...

    def applies(self, block: Block) -> Bools: ...
    def values(self, block: Block) -> Floats: ...


class Reference(NamedTuple):
    """A name that a measure refers to, and the names that there are."""

    what: str  # flag, stage, level, …
    name: str
    known: Set[str]


@runtime_checkable
class RefersToAnswers(Protocol):
    """A measure that names something that only answers can have."""

    def references_in(self, blocks: Sequence[Block]) -> Iterable[Reference]: ...


class Statistic(Protocol):
    """What spans items: a function of columns and resampling weights; one engine gives every interval.

    `columns` are arrays of length n; `weights` is (resamples × n); returns one value a resample.
    `reads` is "scores" (each argument of the call is a measure of a system) or "judgments" (a label; the
    columns are raters, NaN where a rater did not judge the row). One that reads judgments may have a field
    `raters`: "anna|llm" are the judges to compare; empty, the people the study lists.

    May have `of(measures) -> Statistic`, bound to the measures of its arguments; `stepwise`: values jump, so
    that the ends of an interval are drawn values; `most`, which an infinite value lies above; `unit`;
    `settled`, False where a value that no resample moves is not certain for that; `trials(columns)`: of
    a share of rows, successes and trials, which then give its interval; `indicator(columns)`: of a share of
    all rows, or (`total`) a number of them, 1 on each that counts; `tests`: its argument is a test of each
    item; `tag`: a tag whose number is its last column; `takes`: how many arguments; `smooth`: it has a
    jackknife; `low` and `high`: its range; `keeps_range`: that is the range of the values it reads.
    """

    reads: ClassVar[str]

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats: ...


class Renderer(Protocol):
    """A report format: a pure function of the results."""

    suffix: ClassVar[str]

    def render(self, results: Results) -> bytes: ...


@runtime_checkable
class FolderRenderer(Protocol):
    """A report format that is a folder of files, by their paths in it."""

    def files(self, results: Results) -> dict[str, bytes]: ...


class OraclePart(Protocol):
    """What the oracle's answers hold beside hits: the way that items of a kind expect.

    `documents` are what is labelled for each item, the best first. It gives the steps of each answer's trace;
    None: the answer stays as it is.
    """

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterable[list[Step] | None]: ...
