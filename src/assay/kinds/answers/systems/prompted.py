"""Prompted: a language model that answers each question from the content of one condition.

The model is asked over OpenAI's chat protocol, at temperature 0 and with the seed of the run. It gets the
question and the item's content documents of its condition, in order, and nothing else. Both conditions of a
study have the same prompt, so that they differ only in their content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter
from typing import ClassVar

from assay.core.dataset import Corpus, Dataset
from assay.core.endpoint import RequestRefusal
from assay.core.errors import Problem, Retryable
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Observed, Passage, Query, Response
from assay.core.registry import outside_identity
from assay.kinds.answers.content_pairs import as_hits, check_condition, content_of, join_texts
from assay.retrieval.chat import Message
from assay.retrieval.chat_model import (
    Bill,
    ChatModel,
    ChatParameters,
    chat_fault,
    check_at_least,
    fill_prompt,
)

FIRST_ADDRESS = "assay.systems.prompted"

INSTRUCTIONS = """\
You answer questions about documentation that is given to you. Use that documentation alone. If it does not
hold what is asked for, say so."""
PROMPT = """\
Documentation:

{content}

Question: {question}"""
WARM_UP = "Say that you are ready."
NO_CONTENT = "NoContent"  # the fault of an item without content


@dataclass(frozen=True, repr=False)
class Prompted(ChatParameters):
    """A model that is given the content documents of one condition with each question.

    `url` is the address of the service. If `model` is empty, the only model of the service is asked.
    `instructions` are the system message; if they are empty, no system message is sent. {content} and
    {question} in the `prompt` are filled in. The fields of `extra` are added to the request; a field that is
    null is removed from it. First, `warm_up` requests are sent, and their answers are ignored. Prices are per
    million tokens. The observed tokens are the tokens of the answer.
    """

    condition: str
    instructions: str = INSTRUCTIONS
    prompt: str = PROMPT
    warm_up: int = outside_identity(1)
    _: KW_ONLY
    threads: int = outside_identity(1)
    timeout: float = outside_identity(300.0)
    # derived from the url, so that no identity contains a password
    service: str = field(default="", init=False)
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "answer"})

    def __post_init__(self) -> None:
        check_condition(self.condition)
        check_at_least(0, "warm_up", self.warm_up)
        object.__setattr__(self, "service", self.check_service(self.prompt, ("content", "question")))

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> PromptedIndex:
        model = ChatModel.of(self, seed, kit)
        bill = Bill()
        try:
            for _ in range(self.warm_up):
                model.ask(self.messages(WARM_UP), bill)
        except (Retryable, RequestRefusal):
            kit.pay(bill.cost)
            model.close()
            raise
        return PromptedIndex(self, model, content_of(corpus, self.condition), bill.cost or None)

    def messages(self, text: str) -> list[Message]:
        """Returns the messages of a request: the instructions, and `text` as the user's message."""
        system = [{"role": "system", "content": self.instructions}] if self.instructions else []
        return [*system, {"role": "user", "content": text}]

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns a problem if the dataset has items but no content of this condition."""
        if not dataset.items or content_of(dataset.corpus, self.condition):
            return []
        what = f"there is no content of the condition {self.condition} to give to a model"
        return [Problem(what, dataset.name, fix="Add content-pairs.json and its pages to the data.")]


@dataclass(frozen=True)
class PromptedIndex:
    """Open connections to the model, and the content for each item. The index never changes."""

    part: Prompted
    model: ChatModel
    content: Mapping[str, Sequence[Passage]]
    cost: float | None = None  # of the warm-up requests

    def session(self) -> PromptedIndex:
        return self

    def close(self) -> None:
        self.model.close()

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Returns the model's answer unchanged, or a fault if there is no content or the request fails."""
        if not (given := self.content.get(query.item_id, ())):
            what = f"there is no content of the condition {self.part.condition} for this question"
            return Response(error=Fault(NO_CONTENT, what))
        content = join_texts(passage.text for passage in given)
        asked = fill_prompt(self.part.prompt, {"content": content, "question": query.text})
        bill = Bill()
        began = perf_counter()
        try:
            said = self.model.ask(self.part.messages(asked), bill)
        except (Retryable, RequestRefusal) as error:
            return Response(error=chat_fault(error), observed=Observed(cost=bill.cost or None))
        seconds = {"total": perf_counter() - began}
        seen = Observed(seconds, tokens=bill.written, cost=bill.cost or None)
        return Response(hits=as_hits(given), answer=said.required_text, observed=seen)
