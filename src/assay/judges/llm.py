"""Judging by a language model behind any service that uses OpenAI's chat protocol.

Each text is judged in a separate request, by a versioned prompt (`llm_prompt`). An answer counts only if its
first line is a grade and nothing else. After any other answer the model is asked again. If no attempt gives a
grade, the question fails: a missing grade is never replaced by another value.

`ModelJudge` is the common part of such judges. `Llm` judges passages, for relevance or intent.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import msgspec

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.endpoint import Client, RequestRefusal
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Finding, Item, Question
from assay.core.registry import outside_identity
from assay.core.yaml_lines import read_text
from assay.judges.llm_prompt import (
    ModelGrade,
    Prompt,
    UnreadableGrade,
    expected_of,
    is_packaged_name,
    read_packaged_prompt,
    read_prompt,
)
from assay.retrieval.chat import Chat
from assay.retrieval.chat_model import ChatParameters

EXPECTS = {"relevance": None, "intent": "intent"}  # by label of the prompt: what its items expect


@dataclass(frozen=True, repr=False)
class ModelJudge(ChatParameters):
    """A model that grades texts by a prompt. Without a `url`, the model is not asked, and no label changes.

    `prompt` is the name of a prompt that comes with the program (`relevance`, or `relevance-1` for a fixed
    version), a file in the study, or the text of the prompt. If there are several `samples`, the median grade
    counts, or the lower one of two medians. Each sample has its own `seed`, from 1 on. `extra` is added to
    the request; null removes a field. Prices are per million tokens. `name` is for a second judge with the
    same prompt.
    """

    url: str = outside_identity("")
    prompt: str = outside_identity("")
    samples: int = 1
    temperature: float = 0.0
    name: str = ""
    _: KW_ONLY
    max_tokens: int = 200
    # computed, so that no identity contains a password, and the same prompt has the same identity
    service: str = field(default="", init=False)
    version: str = field(default="1", init=False)

    closed_labels: ClassVar[frozenset[str]] = frozenset()
    labels: ClassVar[tuple[str, ...]] = ()  # the labels that its prompt may have
    counts: ClassVar[tuple[str, ...]] = ("samples",)  # other parameters of at least 1

    def __post_init__(self) -> None:
        self.check_numbers(*self.counts, amounts=["temperature"])
        if self.url:
            object.__setattr__(self, "service", self.endpoint.identity)  # checks address, key and patience
        if not self._in_a_file:
            object.__setattr__(self, "version", f"{self.asks.name}-{self.asks.version} {self.asks.hash}")
            if self.label not in self.labels:
                what = f"The prompt {self.asks.name!r} is for the label {self.label!r}"
                raise UsageError(f"{what}. This judge takes one for {' or '.join(self.labels)}.")

    # -------------------------------------------------------------------------------- identity

    def within(self, kit: Kit) -> Self:
        """Returns the judge with its prompt, read from the study's folder if the prompt is a file."""
        if not self._in_a_file:
            return self
        path = kit.path(self.prompt)
        text = read_text(path)
        read_prompt(text, str(path))  # its problems name the file
        return replace(self, prompt=text.rstrip() + "\n")

    @property
    def _in_a_file(self) -> bool:
        return "\n" not in self.prompt and not is_packaged_name(self.prompt)

    @cached_property
    def asks(self) -> Prompt:
        """The prompt, read and checked."""
        if "\n" in self.prompt:
            return read_prompt(self.prompt, "prompt")
        if self._in_a_file:
            fix = "Read it with `within(kit)`, which knows the study's folder."
            raise UsageError(f"The prompt {self.prompt!r} was not read yet. {fix}")
        return read_packaged_prompt(self.prompt)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name or f"llm:{self.asks.name}",)

    @property
    def label(self) -> str:
        return self.asks.label

    @property
    def grades(self) -> dict[str, float]:
        """The grades by name."""
        return self.asks.grades

    @property
    def opens(self) -> frozenset[str]:
        """The label for which the judge looks at all returned passages; empty without a `url`."""
        return frozenset({self.label}) if self.url else frozenset()

    @cached_property
    def _client(self) -> Client:
        return self.endpoint.open()

    # ------------------------------------------------------------------------------- questions

    def shown_with(self, quoted: Mapping[str, str]) -> str:
        """Returns the `about` of a question: all quotations except its text, and the hash of the prompt."""
        return msgspec.json.encode({"prompt": self.asks.hash, **quoted}, order="sorted").decode()

    def ask(self, question: Question, kit: Kit) -> Finding:
        quoted: dict[str, str] = msgspec.json.decode(question.about)
        messages = self.asks.messages({**quoted, "passage": question.text})
        spent: list[float] = []
        try:
            said = [self._sample(messages, seed, spent) for seed in range(1, self.samples + 1)]
        except (Retryable, RequestRefusal) as error:
            raise self._failure(error, math.fsum(spent)) from error
        middle = statistics.median_low(each.grade for each in said)
        found = next(each for each in said if each.grade == middle)
        votes = f"{', '.join(each.category for each in said)}: " if len(said) > 1 else ""
        reason = self.endpoint.conceal(votes + found.reason) or None
        return Finding(found.grade, found.category, reason, math.fsum(spent) if self._priced else None)

    def _sample(self, messages: list[dict[str, str]], seed: int, spent: list[float]) -> ModelGrade:
        sent = self.chat.request(
            messages, temperature=self.temperature, max_tokens=self.max_tokens, seed=seed
        )
        return self._client.post(Chat.PATH, sent, partial(self._read, messages, spent))

    def _read(self, messages: list[dict[str, str]], spent: list[float], answer: Any) -> ModelGrade:
        """Reads the grade in an answer; a ValueError if there is none. The cost counts in both cases."""
        said = self.chat.parse_reply(messages, answer)
        spent.append(said.cost)
        return self.asks.read(said.required_text)

    # ----------------------------------------------------------------------------------- costs

    @property
    def _priced(self) -> bool:
        return self.endpoint.price > 0

    def _failure(self, error: Retryable | RequestRefusal, cost: float) -> JudgeRefusal | JudgeUnavailable:
        """Returns the error of a failed question, with its cost.

        If a model does not follow the form, the runner does not ask it again: the model was already asked
        `retries` more times, and each attempt cost something.
        """
        form = isinstance(error.__cause__, UnreadableGrade)
        if isinstance(error, Retryable) and not form:
            return JudgeUnavailable(str(error), cost)
        if not form:
            return JudgeRefusal(str(error), cost)
        times = f"{self.retries + 1} attempt{'s' * (self.retries > 0)}"
        what = f"{self.endpoint.address} gave no grade in {times}: {error.__cause__}"
        fix = "Use a model that keeps to the form, or hold it to that by `extra` (grammar, response_format)."
        return JudgeRefusal(f"{self.endpoint.conceal(what)}. {fix}", cost)


@dataclass(frozen=True, repr=False)
class Llm(ModelJudge):
    """A model that grades passages. Without a `url`, the model is not asked, and no label changes.

    The model judges the first `depth` hits; a hit without a text stays unjudged. The program has the prompts
    `relevance` and `intent`. The other parameters are those of every model judge.
    """

    prompt: str = outside_identity("relevance")
    depth: int = outside_identity(10)

    labels: ClassVar[tuple[str, ...]] = tuple(EXPECTS)
    counts: ClassVar[tuple[str, ...]] = ("depth", *ModelJudge.counts)

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        """Yields one question per passage among the first `depth` hits of any arm, for the prompt's items."""
        if not self.url:
            return
        asked = {item.item_id: item for item in dataset.items if item.expects == EXPECTS[self.label]}
        returned: dict[str, dict[str, str]] = {item_id: {} for item_id in asked}
        for block in blocks:
            rows = {item_id: row for row, item_id in enumerate(block.item_ids)}
            for item_id, doc_id, _ in block.top(self.depth).iter_rows():
                if item_id in asked and not returned[item_id].get(doc_id):
                    returned[item_id][doc_id] = _text_of(block, rows[item_id], doc_id)
        for item_id, texts in returned.items():
            about = self._about(asked[item_id])
            for doc_id, text in texts.items():
                if text.strip():
                    yield Question(item_id, self.label, text, about, target=doc_id)

    def _about(self, item: Item) -> str:
        expected, intent = "\n".join(expected_of(item)), str(item.gold.get("intent") or "")
        return self.shown_with({"query": item.text, "expected": expected, "intent": intent})


class JudgeRefusal(SystemFailure):
    """The model gives no grade, and another attempt would not help. `cost` is the cost of asking."""

    fault_kind = "NoVerdict"

    def __init__(self, message: str, cost: float) -> None:
        super().__init__(message)
        self.cost = cost


class JudgeUnavailable(Retryable):
    """No answer could be read; another attempt may succeed. `cost` is the cost of this attempt."""

    fault_kind = "NoAnswer"

    def __init__(self, message: str, cost: float) -> None:
        super().__init__(message)
        self.cost = cost


def _text_of(block: Block, row: int, doc_id: str) -> str:
    """Returns the text of a hit, from the corpus or from the hit itself."""
    text = block.corpus.text_of(doc_id)
    if text is None:
        response = block.responses[row]
        hits = response.hits if response is not None else []
        text = next((hit.text for hit in hits if hit.doc_id == doc_id and hit.text), "")
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored
