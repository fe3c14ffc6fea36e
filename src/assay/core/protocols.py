"""The protocols of plugins. A plugin must have the members of its protocol. It need not inherit from it.

A plugin is a frozen dataclass whose fields are its parameters; `name(k=v)` in a study makes an instance. A
plugin gets services (cache, clock, secrets) from the `Kit`, never from globals. `core/optional.py` has the
optional members of plugins.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

from assay.core.errors import MissingVariable, UsageError
from assay.core.records import (
    Budget,
    Finding,
    Item,
    Judgment,
    Query,
    Question,
    Response,
    Step,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.core.block import Block
    from assay.core.dataset import Corpus, Dataset
    from assay.core.results import Results

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


ProgressCallback = Callable[[str, int, int], None]  # the stage, the amount done, and the total amount


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Shows nothing."""


def ignore_cost(cost: float) -> None:
    """Counts nothing as spent."""


def default_cache() -> Path:
    """Returns the folder for work that can be done again.

    It is the value of ASSAY_CACHE, or a folder in the user's cache folder.
    """
    if chosen := os.environ.get("ASSAY_CACHE"):
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"
    except RuntimeError:  # a user without a home folder, as in containers
        fix = "Set ASSAY_CACHE to a folder that may be written"
        raise UsageError(f"You have no home folder, so there is no place for the cache. {fix}.") from None


@dataclass(frozen=True)
class Kit:
    """The services that a plugin may use. Tests pass their own services."""

    cache: Path = field(default_factory=default_cache)
    clock: Callable[[], float] = time.time
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = field(default_factory=Path)  # what relative paths in a study are relative to
    progress: ProgressCallback = field(default=ignore_progress, compare=False)  # called during long work
    pay: Callable[[float], None] = field(default=ignore_cost, compare=False)  # called with each cost
    given_secrets: set[str] = field(default_factory=set, compare=False, repr=False)  # names of variables

    def secret(self, name: str) -> str:
        """Returns the value of an environment variable, which must be set.

        After this call, no message may contain the value.
        """
        self.given_secrets.add(name)
        if (value := self.env.get(name)) is None:
            raise MissingVariable(
                f"The environment variable {name} is not set. Set it, or remove what asks for it."
            )
        return value

    def path(self, given: str | Path) -> Path:
        """Returns the full path of a path in a study file, which is relative to the study."""
        return self.root / given


class Session(Protocol):
    """One conversation with an index. A session is cheap, holds all state, and is used by one thread."""

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response: ...


class Index(Protocol):
    """A built system, which opens sessions. Threads may share it.

    It may also be a `StructuredIndex`, `ClosableIndex` or `PricedIndex` of `core/optional.py`.
    """

    def session(self) -> Session: ...


class System(Protocol):
    """A system under test.

    `core/optional.py` has a protocol for each optional member of a system: `version`, `identity`, `gives` or
    `gives_in`, `seeded`, `threads`, `budgets`, `problems`, `warnings` and `origin`.
    """

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Index: ...


class DatasetPlugin(Protocol):
    """A plugin that loads a dataset."""

    def load(self, kit: Kit) -> Dataset: ...


@runtime_checkable
class Judge(Protocol):
    """A person or program whose judgments a study counts.

    `names` are the names under which its judgments are stored, the most trusted name first. `closed_labels`
    are the labels that it decides completely: under such a label, a target that it does not name is not
    relevant. Under any other label, such a target is unknown. `core/optional.py` has a protocol for each
    optional member of a judge: `incomplete`, `opens`, `depth`, `examine`, `within`, `version`, `threads`,
    `everybody`, `label` and `grades`.
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def closed_labels(self) -> Set[str]: ...


@runtime_checkable
class FreeJudge(Judge, Protocol):
    """A judge whose judgments cost nothing, such as gold, rules or SQL.

    They are computed at every evaluation.
    """

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]: ...


@runtime_checkable
class PayingJudge(Judge, Protocol):
    """A judge whose findings cost something. It is asked each question once, and the finding is stored.

    `ask` may raise Retryable. If an error has a `cost`, that cost is counted as spent. Findings are stored
    under the first of the judge's names.
    """

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterable[Question]: ...
    def ask(self, question: Question, kit: Kit) -> Finding: ...


@runtime_checkable
class PersonJudge(Judge, Protocol):
    """A judge whose judgments are marks of people.

    Agreement compares the marks of the `raters`, who are among the judge's names. An `EverybodyJudge` counts
    all people who marked, without naming them.
    """

    @property
    def raters(self) -> Sequence[str]: ...


class ItemFact(NamedTuple):
    """A fact about an item. People see it beside the item's text when they judge its passages."""

    name: str  # the name of its field in forms
    value: str | tuple[str, ...]
    title: str = ""  # the name of the fact at the desk; empty: only forms show it


@runtime_checkable
class DescribingJudge(Judge, Protocol):
    """A judge whose findings people complete. It can describe to people what it looks for."""

    @property
    def reasons(self) -> Sequence[str]:
        """The words before the colon with which the judge's reasons begin.

        The reasons of a person begin otherwise.
        """
        ...

    def describe_item(self, item: Item) -> Sequence[ItemFact]: ...


class NearMiss(NamedTuple):
    """A hit that nearly counts as relevant, and about which no judge has decided."""

    judgment: Judgment  # the judgment that it would have if it counted
    size: int = 0  # its characters, if it is too long to count; 0: it does not count for another reason


@runtime_checkable
class NearMissJudge(Judge, Protocol):
    """A judge that can name hits that nearly count.

    If counting them would change a score, the score is unjudged. `near_misses` is given the judgments that
    count. `describe` returns warnings that say what was found and what to do about it.
    """

    def near_misses(
        self, dataset: Dataset, blocks: Sequence[Block], judged: Iterable[Judgment]
    ) -> Iterable[NearMiss]: ...
    def describe(self, near: Sequence[NearMiss]) -> Iterable[str]: ...


@runtime_checkable
class WithholdingJudge(Judge, Protocol):
    """A judge that must not know which system is which until it has finished.

    Until then nothing is shown by system: no scores, times, costs, sizes, routes or traces.
    """

    def withholds(self, kit: Kit) -> bool: ...


class Measure(Protocol):
    """A frozen value that prints and parses as its name. It scores all items of an arm at once.

    `needs`    what a block must hold: "hits", "labels", "contexts", "trace", "route", "structure", …
               (a block holds the structures of indexes only if some measure of the study needs them)
    `at`       the meaning of the number after @: "rank", "tokens" or "level"; empty: there is no number
    `better`   "higher" or "lower"
    `low/high` the range; high None: it has no upper end (failures then cannot be bounded either)
    `absent`   the value if nothing was returned; None: such a score stays out of the mean
    `binary`   whether each value is 0 or 1

    A measure usually inherits these from `DeclaredMeasure` of `measures/declaration.py` and states them once,
    as a `Declaration`, which has a few more constants. `core/optional.py` has a protocol for each optional
    member of a measure: `seen_in`, `cutoff`, `least`, `against` and `check`. If a measure raises an error
    during a run, only its own scores fail.
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
    """A name to which a measure refers, and the names that exist."""

    what: str  # flag, stage, level, …
    name: str
    known: Set[str]


@runtime_checkable
class AnswerReferringMeasure(Protocol):
    """A measure that refers to a name that only answers can have."""

    def references_in(self, blocks: Sequence[Block]) -> Iterable[Reference]: ...


class Statistic(Protocol):
    """A value over several items, computed from columns and resampling weights.

    `columns` are arrays of length n, and `weights` is (resamples × n). The result is one value per resample.
    `reads` is "scores" if each argument of the call is a measure of a system. It is "judgments" if the
    argument is a label: the columns are then raters, with NaN if a rater did not judge the row. A statistic
    that reads judgments may have a field `raters`: "anna|llm" names the judges to compare. If it is empty,
    the people that the study lists are compared.

    `StatisticTraits` of `gates/operand.py` lists the optional attributes of a statistic, each with its
    default. `core/optional.py` has a protocol for each optional method: `of`, `trials` and `indicator`.
    """

    reads: ClassVar[str]

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats: ...


class Renderer(Protocol):
    """A format of reports. `render` depends on the results only."""

    suffix: ClassVar[str]

    def render(self, results: Results) -> bytes: ...


@runtime_checkable
class FolderRenderer(Protocol):
    """A format of reports that are folders of files. `files` returns the contents of the files by path."""

    def files(self, results: Results) -> dict[str, bytes]: ...


class OraclePart(Protocol):
    """Adds to the oracle's answers the trace that items of a kind of study expect.

    `documents` has the labelled documents of each item, the best first. `steps` yields the trace of each
    answer, or None if the answer stays as it is.
    """

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterable[list[Step] | None]: ...
