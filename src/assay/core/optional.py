"""What plugins may offer besides what their protocol in `core/protocols.py` demands.

There is one protocol per optional member. A plugin offers the member by having it: it inherits from nothing
and registers nothing. The program asks with `isinstance`. Each docstring says what holds for a plugin without
the member.
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
    """A plugin whose author counts versions: a new one means other answers, findings or values.

    Without `version`, the version of the distribution counts.
    """

    @property
    def version(self) -> str: ...


@runtime_checkable
class IdentifiedPlugin(Protocol):
    """A system or part whose answers depend on more than its parameters: on models, prompts or files.

    `identity` gives their hashes, as anything that becomes JSON. Without it, the parameters decide.
    """

    def identity(self, kit: Kit) -> object: ...


@runtime_checkable
class ThreadedPlugin(Protocol):
    """A system, judge or model that may be called from several threads at a time: how many (default: 1)."""

    @property
    def threads(self) -> int: ...


# --------------------------------------------------------------------------------------- systems


@runtime_checkable
class DeclaringSystem(Protocol):
    """A system that says what its responses can hold, such as {"hits", "contexts"}; None: anything.

    A measure that needs more does not apply to it. Without `gives`, responses may hold anything.
    """

    @property
    def gives(self) -> frozenset[str] | None: ...


@runtime_checkable
class FileDeclaringSystem(Protocol):
    """A system whose files decide what its responses can hold. `gives_in` then replaces `gives`."""

    def gives_in(self, kit: Kit) -> frozenset[str] | None: ...


@runtime_checkable
class SeededSystem(Protocol):
    """A system that says whether the seed changes its answers.

    If not, it is asked with the first seed only. Without `seeded`, it is asked with every seed.
    """

    @property
    def seeded(self) -> bool: ...


@runtime_checkable
class BudgetedSystem(Protocol):
    """A system that can give contexts for some budgets only. Without `budgets`, it can for every budget."""

    @property
    def budgets(self) -> Set[Budget]: ...


@runtime_checkable
class CheckingSystem(Protocol):
    """A system that can say, before it is asked, why it cannot serve a dataset."""

    def problems(self, dataset: Dataset, kit: Kit) -> Sequence[Problem]: ...


@runtime_checkable
class WarningSystem(Protocol):
    """A system that can say what looks like a mistake in a dataset. Reports and `assay validate` show it."""

    def warnings(self, dataset: Dataset, kit: Kit) -> Sequence[str]: ...


@runtime_checkable
class SystemWithOrigin(Protocol):
    """A system whose class says where its answers come from. Answers that are "imported" are not timed."""

    @property
    def origin(self) -> str: ...


@runtime_checkable
class WrappingSystem(Protocol):
    """A system around another system."""

    @property
    def of(self) -> System: ...


@runtime_checkable
class StructuredIndex(Protocol):
    """An index that publishes the tree or graph behind it."""

    def structure(self) -> Structure: ...


@runtime_checkable
class ClosableIndex(Protocol):
    """An index that holds something that must be closed: a connection, a process."""

    def close(self) -> None: ...


@runtime_checkable
class PricedIndex(Protocol):
    """An index that knows what building it cost; None or 0: nothing."""

    @property
    def cost(self) -> float | None: ...


# ----------------------------------------------------------------------------------------- parts


@runtime_checkable
class FusionWithWeights(Protocol):
    """A fusion with a weight for each ranking. Without weights, or if there are none, all count alike."""

    @property
    def weights(self) -> Sequence[float]: ...


# ---------------------------------------------------------------------------------------- judges


@runtime_checkable
class FileReadingJudge(Protocol):
    """A judge that reads files of the study: `within` gives the judge with these files."""

    def within(self, kit: Kit) -> Judge: ...


@runtime_checkable
class ExaminingJudge(Protocol):
    """A judge that can say before a run what it cannot judge (problems) and what looks wrong (warnings)."""

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[Sequence[Problem], Sequence[str]]: ...


@runtime_checkable
class IncompleteJudge(Protocol):
    """A judge that knows only some of what is relevant under some of the labels it closes.

    Values under these labels are lower bounds, unless an `OpeningJudge` lists the label too.
    """

    @property
    def incomplete(self) -> Set[str]: ...


@runtime_checkable
class OpeningJudge(Protocol):
    """A judge that looks at everything that came back, under some labels.

    What nobody has judged yet under these labels is unknown, even if another judge closes the label.
    """

    @property
    def opens(self) -> Set[str]: ...


@runtime_checkable
class ShallowJudge(Protocol):
    """A judge that looks only at the first `depth` hits. Measures that read further are refused."""

    @property
    def depth(self) -> int: ...


@runtime_checkable
class EverybodyJudge(Protocol):
    """A judge that says whether everybody who marked counts, without being named (default: no)."""

    @property
    def everybody(self) -> bool: ...


@runtime_checkable
class LabellingJudge(Protocol):
    """A judge whose judgments have a label that the study chooses (default: "relevance")."""

    @property
    def label(self) -> str: ...


@runtime_checkable
class GradingJudge(Protocol):
    """A judge with words for its grades, each with its value."""

    @property
    def grades(self) -> Mapping[str, float]: ...


# -------------------------------------------------------------------------------------- controls


@runtime_checkable
class TwinControl(Protocol):
    """A control that may be a twin of the system that the candidate is compared with (default: no)."""

    @property
    def twin(self) -> bool: ...


# -------------------------------------------------------------------------------------- measures


@runtime_checkable
class ViewMeasure(Protocol):
    """A measure that reads documents or another label (default: passages under the label "relevance")."""

    @property
    def seen_in(self) -> View: ...


@runtime_checkable
class CutoffMeasure(Protocol):
    """A measure with a number after @ (default: none). None: it is "inf", so nothing is cut."""

    @property
    def cutoff(self) -> int | None: ...


@runtime_checkable
class GradeMeasure(Protocol):
    """A measure that applies only if some label has at least this grade. None: it applies to any grades."""

    @property
    def least(self) -> float | None: ...


@runtime_checkable
class PairMeasure(Protocol):
    """A measure of two systems. `against` names the other one, whose block is then `block.beside`."""

    @property
    def against(self) -> str: ...


@runtime_checkable
class CheckedMeasure(Protocol):
    """A measure that can say before a run, by an AssayError, that it cannot be computed."""

    def check(self) -> None: ...


# ------------------------------------------------------------------------------------ statistics


@runtime_checkable
class MeasureBoundStatistic(Protocol):
    """A statistic that depends on the measures of its arguments: `of` gives it bound to them."""

    def of(self, measures: Sequence[Measure]) -> Statistic: ...


@runtime_checkable
class ShareStatistic(Protocol):
    """A statistic that is a share of rows: `trials` counts successes and trials, for its interval."""

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]: ...


@runtime_checkable
class IndicatorStatistic(Protocol):
    """A statistic that is a share or number of all rows: `indicator` is 1 for each row that counts."""

    def indicator(self, columns: Sequence[Floats]) -> Floats: ...
