"""The optional members of plugins. Required members are in the protocols of `core/protocols.py`.

There is one protocol per optional member. A plugin that has the member fulfils the protocol: it need not
inherit from the protocol or register. The program tests plugins with `isinstance`. Where it matters, a
docstring says what applies to a plugin without the member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from assay.core.errors import Problem
from assay.core.records import Budget, Structure

if TYPE_CHECKING:
    from assay.core.block import View
    from assay.core.dataset import Dataset
    from assay.core.protocols import Floats, Judge, Kit, Measure, Statistic, System

IMPORTED = "imported"  # the origin of answers that are read from files

# ------------------------------------------------------------------------------------ any plugin


@runtime_checkable
class VersionedPlugin(Protocol):
    """A plugin whose author counts versions. A new version means other answers, findings or values.

    For a plugin without `version`, the version of its distribution is used.
    """

    @property
    def version(self) -> str: ...


@runtime_checkable
class IdentifiedPlugin(Protocol):
    """A system or part whose answers depend on more than its parameters: on models, prompts or files.

    `identity` returns the hashes of these, as a value that can become JSON. For a plugin without `identity`,
    only the parameters identify its answers.
    """

    def identity(self, kit: Kit) -> object: ...


@runtime_checkable
class ThreadedPlugin(Protocol):
    """A system, judge or model that several threads may call at the same time.

    `threads` is the greatest number of these threads. It is 1 for a plugin without `threads`.
    """

    @property
    def threads(self) -> int: ...


# --------------------------------------------------------------------------------------- systems


@runtime_checkable
class DeclaringSystem(Protocol):
    """A system that declares which parts its responses can hold, such as {"hits", "contexts"}.

    A measure that needs another part does not apply to the system. If `gives` is None or missing, responses
    may hold any part.
    """

    @property
    def gives(self) -> frozenset[str] | None: ...


@runtime_checkable
class FileDeclaringSystem(Protocol):
    """A system whose files decide which parts its responses can hold. `gives_in` then replaces `gives`."""

    def gives_in(self, kit: Kit) -> frozenset[str] | None: ...


@runtime_checkable
class SeededSystem(Protocol):
    """A system that declares whether the seed changes its answers.

    If `seeded` is false, the system is asked with the first seed only. A system without `seeded` is asked
    with every seed.
    """

    @property
    def seeded(self) -> bool: ...


@runtime_checkable
class BudgetedSystem(Protocol):
    """A system that can give contexts for some token budgets only.

    A system without `budgets` can give contexts for every budget.
    """

    @property
    def budgets(self) -> Set[Budget]: ...


@runtime_checkable
class CheckingSystem(Protocol):
    """A system that can report, before it is asked, the reasons why it cannot serve a dataset."""

    def problems(self, dataset: Dataset, kit: Kit) -> Sequence[Problem]: ...


@runtime_checkable
class WarningSystem(Protocol):
    """A system that can report what looks like a mistake in a dataset.

    Reports and `assay validate` show these warnings.
    """

    def warnings(self, dataset: Dataset, kit: Kit) -> Sequence[str]: ...


@runtime_checkable
class SystemWithOrigin(Protocol):
    """A system whose class declares where its answers come from.

    If `origin` is "imported", its answers are not timed.
    """

    @property
    def origin(self) -> str: ...


@runtime_checkable
class WrappingSystem(Protocol):
    """A system that wraps another system. `of` is the inner system."""

    @property
    def of(self) -> System: ...


@runtime_checkable
class StructuredIndex(Protocol):
    """An index that publishes the tree or graph behind it."""

    def structure(self) -> Structure: ...


@runtime_checkable
class ClosableIndex(Protocol):
    """An index that holds a resource that must be closed, such as a connection or a process."""

    def close(self) -> None: ...


@runtime_checkable
class PricedIndex(Protocol):
    """An index that knows the cost of building it. None or 0 means that building it cost nothing."""

    @property
    def cost(self) -> float | None: ...


# ----------------------------------------------------------------------------------------- parts


@runtime_checkable
class FusionWithWeights(Protocol):
    """A fusion with a weight for each ranking.

    If `weights` is empty or missing, all rankings have the same weight.
    """

    @property
    def weights(self) -> Sequence[float]: ...


# ---------------------------------------------------------------------------------------- judges


@runtime_checkable
class FileReadingJudge(Protocol):
    """A judge that reads files of the study. `within` returns the judge with these files."""

    def within(self, kit: Kit) -> Judge: ...


@runtime_checkable
class ExaminingJudge(Protocol):
    """A judge that can examine a dataset before a run.

    `examine` returns problems (what the judge cannot judge) and warnings (what looks wrong).
    """

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[Sequence[Problem], Sequence[str]]: ...


@runtime_checkable
class IncompleteJudge(Protocol):
    """A judge that closes labels although it knows only some of what is relevant under them.

    `incomplete` has these labels. Values under them are lower bounds, unless an `OpeningJudge` lists the
    label too.
    """

    @property
    def incomplete(self) -> Set[str]: ...


@runtime_checkable
class OpeningJudge(Protocol):
    """A judge that looks at every result that was returned, under some labels.

    `opens` has these labels. Under them, a result that nobody has judged yet is unknown, even if another
    judge closes the label.
    """

    @property
    def opens(self) -> Set[str]: ...


@runtime_checkable
class ShallowJudge(Protocol):
    """A judge that looks only at the first `depth` hits. Measures that read further hits are refused."""

    @property
    def depth(self) -> int: ...


@runtime_checkable
class EverybodyJudge(Protocol):
    """A judge that declares whether it counts the marks of all people, without naming them (default: no)."""

    @property
    def everybody(self) -> bool: ...


@runtime_checkable
class LabellingJudge(Protocol):
    """A judge for whose judgments the study chooses a label (default: "relevance")."""

    @property
    def label(self) -> str: ...


@runtime_checkable
class GradingJudge(Protocol):
    """A judge that has a word for each of its grades. `grades` has the value of each word."""

    @property
    def grades(self) -> Mapping[str, float]: ...


# -------------------------------------------------------------------------------------- controls


@runtime_checkable
class TwinControl(Protocol):
    """A control that declares whether it is a twin (default: no).

    A twin is neither better nor worse than the system with which the candidate is compared.
    """

    @property
    def twin(self) -> bool: ...


# -------------------------------------------------------------------------------------- measures


@runtime_checkable
class ViewMeasure(Protocol):
    """A measure that reads documents, or a label other than "relevance".

    A measure without `seen_in` reads passages under the label "relevance".
    """

    @property
    def seen_in(self) -> View: ...


@runtime_checkable
class CutoffMeasure(Protocol):
    """A measure with a number after @.

    If `cutoff` is None, the measure was written with @inf: nothing is cut. A measure without `cutoff` has no
    number.
    """

    @property
    def cutoff(self) -> int | None: ...


@runtime_checkable
class GradeMeasure(Protocol):
    """A measure that applies only if some label has at least the grade `least`.

    If `least` is None, the measure applies to any grades.
    """

    @property
    def least(self) -> float | None: ...


@runtime_checkable
class PairMeasure(Protocol):
    """A measure of two systems. `against` names the second system, whose block is `block.beside`."""

    @property
    def against(self) -> str: ...


@runtime_checkable
class CheckedMeasure(Protocol):
    """A measure whose `check` raises an AssayError before a run if the measure cannot be computed."""

    def check(self) -> None: ...


# ------------------------------------------------------------------------------------ statistics


@runtime_checkable
class MeasureBoundStatistic(Protocol):
    """A statistic that depends on the measures of its arguments.

    `of` returns the statistic for these measures.
    """

    def of(self, measures: Sequence[Measure]) -> Statistic: ...


@runtime_checkable
class ShareStatistic(Protocol):
    """A statistic that is a share of rows.

    `trials` returns the numbers of successes and of trials, from which the interval is computed.
    """

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]: ...


@runtime_checkable
class IndicatorStatistic(Protocol):
    """A statistic that is a share or a number of all rows. `indicator` returns 1 for each row that counts."""

    def indicator(self, columns: Sequence[Floats]) -> Floats: ...
