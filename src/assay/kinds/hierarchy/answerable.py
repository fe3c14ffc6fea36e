"""A language model judges whether a query can be answered from the context that a reader gets.

The model gets the query, the reference answer and the text of one context, as the system showed it under one
token budget. The model's grade is a label of this response only. It says nothing about the response of
another system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.errors import Problem, UsageError
from assay.core.protocols import Kit
from assay.core.records import Finding, Item, Question
from assay.core.registry import outside_identity
from assay.core.shown import context_target
from assay.judges.llm import ModelJudge

FIRST_ADDRESS = "assay.judges.answerable"

UNBOUNDED = "inf"  # a budget without a limit, as it is written


@dataclass(frozen=True, repr=False)
class AnswerabilityJudge(ModelJudge):
    """A model that judges whether contexts hold the answer. Without a `url` it is not asked.

    It judges the items that have evidence, under each of `budgets`. It judges each different text once: two
    arms that show the same text share the grade. An empty context gets the lowest grade, and the model is not
    asked. The other parameters are the same for every model that judges.
    """

    first_address: ClassVar[str] = "assay.judges.answerable:Answerable"

    prompt: str = outside_identity("answerable")
    samples: int = 3
    budgets: tuple[int | str, ...] = outside_identity((400,))  # tokens, or inf

    labels: ClassVar[tuple[str, ...]] = ("answerable",)

    def __post_init__(self) -> None:
        super().__post_init__()
        for budget in self.budgets:
            if budget != UNBOUNDED and (isinstance(budget, str) or budget < 1):
                raise UsageError(f"a budget is {budget}. It must be a number of tokens, or inf.")
        if not self.budgets or len(set(self.budgets)) < len(self.budgets):
            raise UsageError("budgets must list at least one budget, and none twice.")

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """Returns no errors, and warnings about the items that the model cannot judge well."""
        if not self.url:
            return [], []
        name, judged = self.names[0], [item for item in dataset.items if item.gold.get("evidence")]
        if not judged:
            return [], [f"{name} has nothing to judge: no item of {dataset.name} has evidence"]
        without = [item.item_id for item in judged if not _reference_answer(item)]
        found = f"{len(without)} of {len(judged)} items that {name} judges have no reference answer"
        return [], [f"{found}, such as {without[0]}"] if without else []

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        """Yields one question per arm, seed, item with evidence, and budget with a context."""
        wanted = {None if budget == UNBOUNDED else budget for budget in self.budgets} if self.url else set()
        for block in blocks if wanted else ():
            for item, response in zip(block.items, block.responses, strict=True):
                if response is None or not item.gold.get("evidence"):
                    continue
                about = self.shown_with({"query": item.text, "expected": _reference_answer(item)})
                for context in response.contexts:
                    if context.budget in wanted:
                        text = context.text if context.text.strip() else ""
                        target, arm, seed = context_target(context.budget), block.arm.name, block.seed
                        yield Question(item.item_id, self.label, text, about, target, arm=arm, seed=seed)

    def ask(self, question: Question, kit: Kit) -> Finding:
        if question.text:
            return super().ask(question, kit)
        word = min(self.grades, key=lambda word: self.grades[word])
        return Finding(self.grades[word], word, "There is nothing to read.")


def _reference_answer(item: Item) -> str:
    """Returns the reference answer of an item, with one part per line."""
    answer = item.gold.get("answer") or ""
    return answer if isinstance(answer, str) else "\n".join(map(str, answer))
