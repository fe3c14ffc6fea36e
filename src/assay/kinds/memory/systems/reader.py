"""A reader: a system whose hits are read by a language model, which then answers the question.

The model is asked over OpenAI's chat protocol, at temperature 0 and with the seed of the run. It sees only
the question and the texts of the first hits. If there is no hit, the model is not asked, and the response has
no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from time import perf_counter
from typing import Annotated, Any, ClassVar

from assay.core.dataset import Corpus, Dataset
from assay.core.endpoint import RequestRefusal
from assay.core.errors import Problem, Retryable
from assay.core.optional import DeclaringSystem, StructuredIndex
from assay.core.protocols import Kit, Session
from assay.core.records import Budget, Hit, Observed, Query, Response
from assay.core.registry import SYSTEMS, part_identities
from assay.retrieval.chat import ChatReply
from assay.retrieval.chat_model import (
    Bill,
    ChatModel,
    ChatParameters,
    chat_fault,
    check_at_least,
    fill_prompt,
)
from assay.systems.wrapping import AnySystem, StructuredWrapper, WrappedIndex, inner_problems, inner_warnings

FIRST_ADDRESS = "assay.systems.reader"

PROMPT = """\
Answer the question from the passages below. Give the shortest answer there is: a name, a date, a number, a
few words at most, or yes or no. No sentence, and no explanation. If the passages do not hold the answer, give
your best guess.

{passages}

Question: {question}
Answer:"""


@dataclass(frozen=True, repr=False)
class Reader(ChatParameters):
    """A system whose answers come from a language model that reads its first `k` hits.

    `of` is the system that finds the hits. {passages} and {question} in the `prompt` are filled in. `url` is
    the service of the model. If `model` is empty, the only model of the service is asked. `extra` is added to
    the request as it is; null removes a field. Prices are per million tokens.
    """

    of: Annotated[AnySystem, SYSTEMS]
    prompt: str = PROMPT
    k: int = 5
    _: KW_ONLY
    max_tokens: int = 50
    # derived from the url, so that no identity holds a password
    service: str = field(default="", init=False)
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        check_at_least(1, "k", self.k)
        object.__setattr__(self, "service", self.check_service(self.prompt, ("passages", "question")))

    @property
    def gives(self) -> frozenset[str] | None:
        """The outputs of the inner system, and an answer; None if that system declares no outputs."""
        given = self.of.gives if isinstance(self.of, DeclaringSystem) else None
        return None if given is None else given | {"answer"}

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ReaderIndex:
        found = self.of.build(corpus, seed, kit)
        kind = StructuredReaderIndex if isinstance(found, StructuredIndex) else ReaderIndex
        return kind(found, self, corpus, ChatModel.of(self, seed, kit))

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns why the inner system cannot serve a dataset."""
        return inner_problems(self.of, dataset, kit)

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Returns what looks to the inner system like a mistake in a dataset."""
        return inner_warnings(self.of, dataset, kit)

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns what decides answers besides parameters. A silent change of the model goes unnoticed."""
        return part_identities(self, kit)


@dataclass(frozen=True)
class ReaderIndex(WrappedIndex):
    """The index of the inner system, and the connections to the model."""

    part: Reader
    corpus: Corpus
    model: ChatModel

    def session(self) -> ReaderSession:
        return ReaderSession(self, self.index.session())

    def close(self) -> None:
        self.model.close()
        super().close()

    def shown(self, hits: Sequence[Hit]) -> str:
        """Returns the texts of the first hits, numbered and under their titles.

        Hits without a text are left out.
        """
        passages = [text for hit in hits[: self.part.k] if (text := self._text(hit)).strip()]
        return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(passages, 1))

    def _text(self, hit: Hit) -> str:
        position = self.corpus.position.get(hit.doc_id)
        title = "" if position is None else self.corpus.passages[position].title
        text = hit.text or self.corpus.text_of(hit.doc_id) or ""
        return f"{title}\n{text}" if title and text else text

    def read(self, question: str, passages: str, bill: Bill) -> ChatReply:
        """Asks the model for an answer, and returns its reply. Every attempt is billed, even a failed one."""
        asked = fill_prompt(self.part.prompt, {"question": question, "passages": passages})
        return self.model.ask([{"role": "user", "content": asked}], bill)


@dataclass(frozen=True)
class StructuredReaderIndex(StructuredWrapper, ReaderIndex):
    """The index of a reader whose inner system publishes the tree or graph behind it."""


class ReaderSession:
    """A conversation with the inner system. The model reads each response of the system.

    If the model fails, the response of the system is kept for the next attempt, because a system that learns
    from queries must not get a query twice.
    """

    def __init__(self, index: ReaderIndex, session: Session) -> None:
        self._index, self._session = index, session
        self._kept: tuple[Query, Response] | None = None

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        kept, self._kept = self._kept, None
        is_kept = kept is not None and kept[0] == query
        response = kept[1] if kept is not None and is_kept else self._session.answer(query, budgets)
        passages = "" if response.error is not None else self._index.shown(response.hits)
        if not passages:
            return response
        bill = Bill()
        began = perf_counter()
        try:
            read = self._index.read(query.text, passages, bill)
        except (Retryable, RequestRefusal) as error:
            return self._failed(query, response, error, bill.cost)
        seen = response.observed
        took = perf_counter() - began
        before = seen.seconds.get("total", math.fsum(seen.seconds.values()))
        seen.seconds = {**seen.seconds, "read": took, "total": before + took}
        seen.tokens = (seen.tokens or 0) + read.tokens or None
        seen.cost = (seen.cost or 0.0) + bill.cost or None
        response.answer = read.required_text.strip()
        return response

    def _failed(
        self, query: Query, response: Response, error: Retryable | RequestRefusal, cost: float
    ) -> Response:
        """Keeps the response for the next attempt, and returns the error with all costs so far.

        The costs are then removed from the kept response, so that they are not counted twice.
        """
        paid = (response.observed.cost or 0.0) + cost
        response.observed.cost = None
        self._kept = (query, response)
        return Response(error=chat_fault(error), observed=Observed(cost=paid or None))
