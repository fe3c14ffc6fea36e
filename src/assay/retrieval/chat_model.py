"""Shared code of the plugins that ask a chat model: parameters, open connections and costs."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from msgspec.structs import replace

from assay.core.endpoint import Client, Endpoint, RequestRefusal
from assay.core.errors import Retryable, UsageError, fault_kind
from assay.core.protocols import Kit
from assay.core.records import Fault
from assay.core.registry import identity, outside_identity
from assay.retrieval.chat import Chat, ChatReply, Message


@dataclass(frozen=True, kw_only=True, repr=False)
class ChatParameters:
    """The parameters of every plugin that asks a chat model.

    `url` is the address of the service, without /chat/completions. `model` may be empty if the service has
    only one model. Write `key` as `${OPENAI_API_KEY}` if possible; a server of your own may need no key. The
    fields of `extra` are added to each request; null removes a field. `threads` is the largest number of
    requests at the same time. Prices are per million tokens.
    """

    url: str = outside_identity("")
    model: str = ""
    key: str = outside_identity("")
    max_tokens: int = 1000
    extra: dict[str, Any] = field(default_factory=dict)
    threads: int = outside_identity(4)
    price_in: float = outside_identity(0.0)
    price_out: float = outside_identity(0.0)
    timeout: float = outside_identity(60.0)
    retries: int = outside_identity(3)
    backoff: float = outside_identity(0.5)

    def __repr__(self) -> str:
        return identity(self)  # it contains no secret

    @cached_property
    def endpoint(self) -> Endpoint:
        """The service. Address, key, timeout, retries and backoff are checked when it is made."""
        price = self.price_in + self.price_out  # says only if there is a price; `Chat` computes costs
        return Endpoint(self.url, self.key, self.timeout, self.retries, self.backoff, price)

    @property
    def chat(self) -> Chat:
        return Chat(self.endpoint, self.model, self.price_in, self.price_out, self.extra)

    def check_numbers(self, *counts: str, amounts: Collection[str] = ()) -> None:
        """Raises a UsageError if a number makes no sense.

        `counts` are the names of further parameters that must be at least 1. `amounts` are the names of
        further parameters that must not be negative.
        """
        for name in (*counts, "max_tokens", "threads"):
            check_at_least(1, name, getattr(self, name))
        for name in ("price_in", "price_out", *amounts):
            if not 0 <= (value := getattr(self, name)) < math.inf:
                raise UsageError(f"{name} is {value:g}. It must be a number, 0 or more.")

    def check_service(self, prompt: str, places: Collection[str]) -> str:
        """Returns the identity of the service, without secrets.

        Raises a UsageError if a parameter makes no sense. `places` are the names that the prompt must have in
        braces.
        """
        self.check_numbers()
        for place in places:
            if f"{{{place}}}" not in prompt:
                raise UsageError(f"prompt: {{{place}}} is missing. Write it where the model is to see it.")
        if not self.url:
            raise UsageError("url: no service is named. Write the base address, without /chat/completions.")
        return self.endpoint.identity


def check_at_least(least: int, name: str, count: int) -> None:
    """Raises a UsageError if a number is too small."""
    if count < least:
        raise UsageError(f"{name} is {count}. It must be at least {least}.")


def fill_prompt(prompt: str, values: Mapping[str, str]) -> str:
    """Returns the prompt with a value in place of each {name}. Braces in the values stay as they are."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda place: values[place[1]], prompt)


def chat_fault(error: Retryable | RequestRefusal) -> Fault:
    """Returns the fault of an answer for which a model failed."""
    return Fault(fault_kind(error), str(error), isinstance(error, Retryable))


@dataclass
class Bill:
    """The cost of all attempts, and the number of tokens of the last answer (None: unknown)."""

    cost: float = 0.0
    written: int | None = None


@dataclass(frozen=True)
class ChatModel:
    """A chat model behind open connections.

    It is asked with temperature 0 and with the seed of the run.
    """

    chat: Chat
    client: Client
    max_tokens: int
    seed: int

    @classmethod
    def of(cls, asked: ChatParameters, seed: int, kit: Kit) -> ChatModel:
        """Opens connections to the model that some parameters name."""
        return cls(asked.chat, asked.endpoint.open(clock=kit.clock), asked.max_tokens, seed)

    def ask(self, messages: Sequence[Message], bill: Bill) -> ChatReply:
        """Returns the model's reply. The bill counts every attempt, even one without a usable answer."""
        sent = self.chat.request(messages, temperature=0.0, max_tokens=self.max_tokens, seed=self.seed)
        return self.client.post(Chat.PATH, sent, partial(self._read, messages, bill))

    def close(self) -> None:
        self.client.close()

    def _read(self, messages: Sequence[Message], bill: Bill, answer: Any) -> ChatReply:
        reply = self.chat.parse_reply(messages, answer)
        if reply.text is None and (refusal := _refusal(answer)):
            reply = replace(reply, text=refusal)
        bill.cost += reply.cost
        usage = answer.get("usage")
        written = usage.get("completion_tokens") if isinstance(usage, dict) else None
        bill.written = written if isinstance(written, int) and written >= 0 else None
        _ = reply.required_text  # without a text, this raises an error, and the request is repeated
        return reply


def _refusal(answer: Any) -> str | None:
    """Returns the text with which a model refuses, if the service puts it in a field of its own.

    Such a text counts as an answer.
    """
    said = answer["choices"][0]["message"].get("refusal") if answer["choices"] else None
    return said if isinstance(said, str) else None
