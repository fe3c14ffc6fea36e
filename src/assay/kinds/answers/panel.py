"""A panel: people who score blinded responses. Their marks count once the responses are unblinded.

The marks stay in the folder of the pack, and every evaluation reads them from there. Opening the seal copies
nothing, so it cannot leave an incomplete copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, runtime_checkable

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.errors import AssayError, Problem, UsageError
from assay.core.parts import Tokenizer, Tokens
from assay.core.protocols import Kit
from assay.core.records import Judgment
from assay.core.registry import TOKENIZERS, Registry
from assay.core.spec import parse_spec
from assay.judges.labels import BlockTexts, restrict_to_same_text
from assay.kinds.answers.blinding.pack import FOLDER
from assay.kinds.answers.results import SEALED
from assay.kinds.answers.scoring.marks import AGAIN, ScoringFolder, rater_label
from assay.study.study import Study

FIRST_ADDRESS = "assay.review.panel"

LEAST_SHARE, LEAST_AGAIN = 0.10, 0.05
REFERENCE = "llama3"  # counts the tokens of a model that has no tokenizer of its own
MODEL = "model"  # the factor that names the model of a response


@dataclass(frozen=True)
class Panel:
    """One rater scores every response; others score a drawn `share`, so that agreement can be measured.

    Only the primary rater's marks are analysed. Without others, the primary rater scores a drawn share
    `again`, no earlier than `wait_hours` hours after the first time. `sizes` groups models for the analysis.
    `tokenizers` gives the tokenizer of each model: llama3 or tokenizer_json(path=…). `masks` are words of
    this study that would give a condition away. `correction` is how p-values are adjusted within a family.
    `folder` is the folder of the pack, beside the study file.
    """

    primary: str
    others: list[str] = field(default_factory=list)
    share: float = 0.15
    again: float = 0.05
    wait_hours: float = 48.0
    sizes: dict[str, str] = field(default_factory=dict)
    tokenizers: dict[str, str] = field(default_factory=dict)
    masks: list[str] = field(default_factory=list)
    correction: Literal["benjamini-hochberg", "holm", "none"] = "benjamini-hochberg"
    folder: str = FOLDER

    version: ClassVar[str] = "1"
    closed_labels: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or not all(name.strip() for name in self.names):
            raise ValueError("every rater needs a name of their own")
        if not LEAST_SHARE <= self.share <= 1:
            raise ValueError(f"share is {self.share:g}: the others score from {LEAST_SHARE:g} of all to all")
        if not LEAST_AGAIN <= self.again <= 1:
            raise ValueError(f"again is {self.again:g}: from {LEAST_AGAIN:g} of all to all are scored again")
        if not 0 <= self.wait_hours < 24 * 365:
            raise ValueError(f"wait_hours is {self.wait_hours:g}: expected a number of hours, 48 by default")

    @property
    def names(self) -> list[str]:
        """The judge names of the marks: each rater, and the primary rater's second round."""
        return [self.primary, *self.others, rater_label(self.primary, AGAIN)]

    @property
    def raters(self) -> list[str]:
        """The raters whose agreement is measured: all raters, or both rounds of a single rater."""
        return self.names[:-1] if self.others else self.names

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        """Returns the marks on the responses of these blocks; empty until the seal was opened.

        A mark does not count if its response was collected again since then, with another text.
        """
        texts: dict[str | None, list[BlockTexts]] = {}
        for block in blocks:
            texts.setdefault(block.arm.name, []).append(BlockTexts(block, dataset.corpus))
        judgments = (each for each in self.scoring(kit).judgments() if each.arm in texts)
        return [each for each in judgments if restrict_to_same_text(each, texts[each.arm])]

    def withholds(self, kit: Kit) -> bool:
        """Whether results by condition must stay hidden, because the seal was not opened yet."""
        return self.scoring(kit).acts.state in SEALED

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """Checks that every tokenizer can be loaded, before anybody scores."""
        problems = []
        for model in self.tokenizers:
            try:
                self.tokens(model, kit)
            except AssayError as error:
                problems.append(Problem(str(error), field=f"tokenizers.{model}", fix="Name another."))
        return problems, []

    def tokens(self, model: str, kit: Kit) -> Tokens:
        """Loads the tokenizer of a model, or the reference tokenizer if the model has none."""
        spec = parse_spec(self.tokenizers.get(model, REFERENCE))
        tokenizer: Tokenizer = Registry().create(TOKENIZERS, spec)
        return tokenizer.load(kit)

    def scoring(self, kit: Kit) -> ScoringFolder:
        """Returns the folder with the pack and its marks."""
        return ScoringFolder(kit.path(self.folder))


def find_panel(study: Study) -> Panel | None:
    """Returns the panel of a study, or None if the study has no panel."""
    return next((judge for judge in study.judges if isinstance(judge, Panel)), None)


def panel_of(study: Study) -> Panel:
    """Returns the panel of a study. Raises a UsageError if the study has no panel."""
    if (found := find_panel(study)) is None:
        what = "This study has no panel, so that nobody scores its responses"
        raise UsageError(f"{what}. Add one: judges: [{{use: panel, primary: NAME, others: [NAME]}}]")
    return found


def scoring_folder(study: Study) -> ScoringFolder:
    """Returns the folder with a study's pack and its marks. Raises a UsageError without a panel."""
    return panel_of(study).scoring(study.kit)


@runtime_checkable
class ConditionSystem(Protocol):
    """A system that answers from the content of one condition."""

    @property
    def condition(self) -> str: ...


@dataclass(frozen=True)
class TwoConditions:
    """A check before a run: two systems of a study with a panel must not have the same condition."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        """Returns the problems of a study, and its warnings."""
        problems = list[Problem]()
        first: dict[str, str] = {}  # by condition: the system that gives it
        systems = {arm.system: arm for arm in study.arms} if find_panel(study) else {}
        for name, arm in systems.items():
            system = study.system(arm, secrets=False)
            condition = system.condition if isinstance(system, ConditionSystem) else name
            if (other := first.setdefault(condition, name)) != name:
                what = f"it gives condition {condition}, as {other} does: nothing would be compared"
                fix = "Give it the other condition."
                problems.append(study.lines.problem(["systems", name], what, fix))
        return problems, []
