"""Asking a model over OpenAI's chat protocol: what is sent, what came back, and what that cost."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.core.dataset import digest
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

    def said(self, messages: Sequence[Message], answer: Any) -> ChatReply:
        """What came back. An answer that is not one of this protocol raises a ValueError."""
        found = msgspec.convert(answer, _ChatCompletion)
        text = found.choices[0].message.content if found.choices else None
        told = found.usage if isinstance(found.usage, dict) else {}
        asked = [each["content"] for each in messages]
        tokens_in = self.endpoint.counted({"total_tokens": told.get("prompt_tokens")}, asked)
        tokens_out = self.endpoint.counted({"total_tokens": told.get("completion_tokens")}, [text or ""])
        cost = (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
        return ChatReply(text, tokens_in + tokens_out, cost)


class ChatReply(msgspec.Struct, frozen=True):
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


class _ReplyMessage(msgspec.Struct):
    content: str | None = None


class _ReplyChoice(msgspec.Struct):
    message: _ReplyMessage


class _ChatCompletion(msgspec.Struct):
    choices: list[_ReplyChoice]
    usage: Any = None


# Signs that no reader sees, in which orders can be hidden: controls, changes of direction, tags, selectors.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
# How models mark turns of a chat. Servers that find these in a message take them for the real ones.
_TURN = re.compile(
    r"[<\[](?=[|｜]|/?(?:s|bos|eos|pad|unk|(?:bos|eos|pad)_token|start_of_turn|end_of_turn|end_of_utterance)>"
    r"|/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|</?SYS>>)",
    re.IGNORECASE,
)


def sanitize(text: str) -> str:
    """A text as a model gets it: without what nobody sees, and with nothing a server takes for a new turn."""
    whole = text.encode("utf-8", "replace").decode()  # half a character can be sent to nobody
    return _TURN.sub(lambda found: found[0] + " ", _UNSEEN.sub("", whole)).strip()


def fence_code(texts: Sequence[str]) -> str:
    """A code that stands in none of the texts, in whatever letters; the same texts have the same one."""
    plain, parts = [_letters_only(text) for text in texts], [text.encode() for text in texts]
    codes = (digest([str(attempt).encode(), *parts])[:16] for attempt in itertools.count())
    return next(code for code in codes if not any(code in text for text in plain))


def _letters_only(text: str) -> str:
    """The letters and digits of a text alone: full-width ones, spaces and capitals do not hide a code."""
    return re.sub(r"[^0-9a-z]+", "", unicodedata.normalize("NFKC", text).casefold())


def fence(name: str, text: str, code: str) -> str:
    """A quotation between its marks."""
    return f"[[{name} {code} begins]]\n{text}\n[[{name} {code} ends]]"
