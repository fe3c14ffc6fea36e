"""What systems that ask a chat model share: checked parameters, filled prompts, and what asking costs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from assay.core.endpoint import Client, Endpoint, RequestRefusal
from assay.core.errors import Retryable, UsageError
from assay.core.protocols import Kit
from assay.core.records import Fault
from assay.retrieval.chat import Chat, ChatReply, Message


class ChatParameters(Protocol):
    """The parameters by which a system names a model, and how it asks. Prices are of a million tokens."""

    @property
    def url(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def extra(self) -> dict[str, Any]: ...
    @property
    def threads(self) -> int: ...
    @property
    def price_in(self) -> float: ...
    @property
    def price_out(self) -> float: ...
    @property
    def timeout(self) -> float: ...
    @property
    def retries(self) -> int: ...
    @property
    def backoff(self) -> float: ...


def check_service(asking: ChatParameters, places: Collection[str]) -> str:
    """Who is asked, without secrets; a UsageError where a parameter makes no sense.

    `places` are what the prompt has to hold in braces.
    """
    for name in ("max_tokens", "threads"):
        check_at_least(1, name, getattr(asking, name))
    for name in ("price_in", "price_out"):
        if not 0 <= (value := getattr(asking, name)) < math.inf:
            raise UsageError(f"{name} is {value:g}. It must be a number, 0 or more.")
    for place in places:
        if f"{{{place}}}" not in asking.prompt:
            raise UsageError(f"prompt: {{{place}}} is missing. Write it where the model is to see it.")
    if not asking.url:
        raise UsageError("url: no service is named. Write the address that /chat/completions is below.")
    return endpoint_of(asking).identity  # checks address, key and patience


def check_at_least(least: int, name: str, count: int) -> None:
    """Raises a UsageError where a number is too small."""
    if count < least:
        raise UsageError(f"{name} is {count}. It must be at least {least}.")


def endpoint_of(asking: ChatParameters) -> Endpoint:
    """The service that is asked."""
    price = asking.price_in + asking.price_out  # only whether there is one counts: `Chat` works out how much
    return Endpoint(asking.url, asking.key, asking.timeout, asking.retries, asking.backoff, price)


def fill_prompt(prompt: str, values: Mapping[str, str]) -> str:
    """The prompt with each {name} filled in, in one pass: braces in what is filled in stay as they are."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda place: values[place[1]], prompt)


def fault_of(error: Retryable | RequestRefusal) -> Fault:
    """Why a model gave no answer. Responses are stored with a refusal under its first name, `Refused`."""
    kind = "Refused" if isinstance(error, RequestRefusal) else type(error).__name__
    return Fault(kind, str(error), isinstance(error, Retryable))


@dataclass
class Bill:
    """What asking came to: money over all attempts, and the answer's tokens where the service says so."""

    cost: float = 0.0
    written: int | None = None


@dataclass(frozen=True)
class ChatModel:
    """A model behind open connections, asked at temperature 0 and with the seed of the run."""

    chat: Chat
    client: Client
    max_tokens: int
    seed: int

    @classmethod
    def of(cls, asking: ChatParameters, seed: int, kit: Kit) -> ChatModel:
        """The model that a system's parameters name."""
        endpoint = endpoint_of(asking)
        chat = Chat(endpoint, asking.model, asking.price_in, asking.price_out, asking.extra)
        return cls(chat, endpoint.open(clock=kit.clock), asking.max_tokens, seed)

    def ask(self, messages: Sequence[Message], bill: Bill) -> ChatReply:
        """What the model says. Each attempt is put on the bill, also one that comes to nothing."""
        sent = self.chat.request(messages, temperature=0.0, max_tokens=self.max_tokens, seed=self.seed)
        return self.client.post(Chat.PATH, sent, partial(self._said, messages, bill))

    def close(self) -> None:
        self.client.close()

    def _said(self, messages: Sequence[Message], bill: Bill, answer: Any) -> ChatReply:
        said = self.chat.parse_reply(messages, answer)
        if said.text is None and (refusal := _refusal(answer)):
            said = replace(said, text=refusal)
        bill.cost += said.cost
        usage = answer.get("usage")
        written = usage.get("completion_tokens") if isinstance(usage, dict) else None
        bill.written = written if isinstance(written, int) and written >= 0 else None
        _ = said.required_text  # an answer without a text is asked for again
        return said


def _refusal(answer: Any) -> str | None:
    """The words in which a model refuses, where a service keeps them apart: an answer, and no failure."""
    said = answer["choices"][0]["message"].get("refusal") if answer["choices"] else None
    return said if isinstance(said, str) else None
