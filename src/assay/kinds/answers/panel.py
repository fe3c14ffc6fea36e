"""A panel: people who score responses without knowing whose they are. Their marks count once unblinded.

What they said stays in the folder of the pack and is read from there at every evaluation: nothing is copied
when the seal is opened, so that nothing can be half copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

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
from assay.kinds.answers.scoring.agreement import rater_label
from assay.kinds.answers.scoring.marks import AGAIN
from assay.kinds.answers.scoring.opened import ScoringFolder
from assay.study.study import Study

FIRST_ADDRESS = "assay.review.panel"

LEAST_SHARE, LEAST_AGAIN = 0.10, 0.05
REFERENCE = "llama3"  # counts what no tokenizer is named for
MODEL = "model"  # the factor that names who answered


@dataclass(frozen=True)
class Panel:
    """One rater scores every response; others score a drawn `share`, so that agreement can be told.

    The primary rater's word comes first. Without others the same rater scores a drawn share `again`, no
    earlier than `wait_hours` after the first time. `sizes` groups models for the analysis, `tokenizers` names
    what counts a model's tokens, llama3 or tokenizer_json(path=…), `masks` are words of this study that would
    betray a condition, `correction` is how p-values are adjusted within a family, `folder` where the pack
    lies, beside the study file.
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
        return [self.primary, *self.others, rater_label(self.primary, AGAIN)]

    @property
    def raters(self) -> list[str]:
        """Those whose agreement counts: the primary and the others, or the primary twice."""
        return self.names[:-1] if self.others else [self.primary, rater_label(self.primary, AGAIN)]

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        """What they said of the responses of some arms, once the seal was opened.

        A mark on a response that has been collected anew since does not count: its text is another.
        """
        present: dict[str | None, list[BlockTexts]] = {}
        for block in blocks:
            present.setdefault(block.arm.name, []).append(BlockTexts(block, dataset.corpus))
        said = (each for each in self.scoring(kit).judgments() if each.arm in present)
        return [each for each in said if restrict_to_same_text(each, present[each.arm])]

    def withholds(self, kit: Kit) -> bool:
        """Until the seal was opened nothing may be shown by condition."""
        return self.scoring(kit).acts.state in SEALED

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """What cannot count tokens is told before anybody scores."""
        problems = []
        for model in self.tokenizers:
            try:
                self.tokens(model, kit)
            except AssayError as error:
                problems.append(Problem(str(error), field=f"tokenizers.{model}", fix="Name another."))
        return problems, []

    def tokens(self, model: str, kit: Kit) -> Tokens:
        """What counts a model's tokens, or the reference where nothing is said of it."""
        spec = parse_spec(self.tokenizers.get(model, REFERENCE))
        tokenizer: Tokenizer = Registry().create(TOKENIZERS, spec)
        return tokenizer.load(kit)

    def scoring(self, kit: Kit) -> ScoringFolder:
        """The files of the scoring."""
        return ScoringFolder(kit.path(self.folder))


def find_panel(study: Study) -> Panel | None:
    """The panel of a study, if one scores its responses."""
    return next((judge for judge in study.judges if isinstance(judge, Panel)), None)


def panel_of(study: Study) -> Panel:
    """The panel of a study; there must be one."""
    if (found := find_panel(study)) is None:
        what = "This study has no panel, so that nobody scores its responses"
        raise UsageError(f"{what}. Add one: judges: [{{use: panel, primary: NAME, others: [NAME]}}]")
    return found
