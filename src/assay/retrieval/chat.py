"""Asking a model over OpenAI's chat protocol: what is sent, what came back, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.core.endpoint import Endpoint

Message = dict[str, str]


@dataclass(frozen=True)
class Chat:
    """A model behind a service. Prices are those of a million tokens."""

    endpoint: Endpoint
    model: str = ""  # empty: the only one that is served there
    price_in: float = 0.0
    price_out: float = 0.0
    extra: Mapping[str, Any] = field(
        default_factory=dict
    )  # into the request as it is; None takes a field out

    PATH = "/chat/completions"

    def request(self, messages: Sequence[Message], **wanted: Any) -> dict[str, Any]:
        """What is sent for some messages."""
        payload = {"model": self.model or None, "messages": list(messages), **wanted, **self.extra}
        return {name: value for name, value in payload.items() if value is not None}

    def said(self, messages: Sequence[Message], answer: Any) -> Said:
        """What came back. An answer that is not one of this protocol raises a ValueError."""
        found = msgspec.convert(answer, _Answer)
        text = found.choices[0].message.content if found.choices else None
        told = found.usage if isinstance(found.usage, dict) else {}
        asked = [each["content"] for each in messages]
        tokens_in = self.endpoint.counted({"total_tokens": told.get("prompt_tokens")}, asked)
        tokens_out = self.endpoint.counted({"total_tokens": told.get("completion_tokens")}, [text or ""])
        cost = (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
        return Said(text, tokens_in + tokens_out, cost)


class Said(msgspec.Struct, frozen=True):
    """What a model said, None where it said nothing, with the tokens that were read and written."""

    text: str | None
    tokens: int
    cost: float

    @property
    def spoken(self) -> str:
        """The text; a ValueError where there is none."""
        if self.text is None:
            raise ValueError("an answer without a text")
        return self.text


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None
