"""Chat models over OpenAI's protocol: requests, replies and their cost; and safe quotations in prompts.

Text from unknown sources is quoted without invisible characters, and without marks that a server reads as a
new turn. Each quotation is put between marks with a code. The code occurs in no quotation, so no quotation
can end itself.
"""

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
    """A chat model behind a service. Prices are per million tokens."""

    endpoint: Endpoint
    model: str = ""  # empty: the service has only one model
    price_in: float = 0.0
    price_out: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)  # added to each request; None removes a field

    PATH = "/chat/completions"

    def request(self, messages: Sequence[Message], **wanted: Any) -> dict[str, Any]:
        """Returns the request for some messages, as JSON."""
        payload = {"model": self.model or None, "messages": list(messages), **wanted, **self.extra}
        return {name: value for name, value in payload.items() if value is not None}

    def parse_reply(self, messages: Sequence[Message], answer: Any) -> ChatReply:
        """Parses the answer of the service. Raises a ValueError if it does not follow the protocol."""
        found = msgspec.convert(answer, _ChatCompletion)
        text = found.choices[0].message.content if found.choices else None
        usage = found.usage if isinstance(found.usage, dict) else {}
        asked = [each["content"] for each in messages]
        tokens_in = self.endpoint.counted({"total_tokens": usage.get("prompt_tokens")}, asked)
        tokens_out = self.endpoint.counted({"total_tokens": usage.get("completion_tokens")}, [text or ""])
        cost = (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
        return ChatReply(text, tokens_in + tokens_out, cost)


class ChatReply(msgspec.Struct, frozen=True):
    """The reply of a model, the number of tokens that were read and written, and their cost.

    `text` is None if the model gave no text.
    """

    text: str | None
    tokens: int
    cost: float

    @property
    def required_text(self) -> str:
        """The text of the reply. Raises a ValueError if there is no text."""
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


# Characters that no reader sees, in which instructions can be hidden: controls, changes of direction, tags,
# selectors.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
# How models mark turns of a chat. A server would read them in a message as real turns.
_TURN = re.compile(
    r"[<\[](?=[|｜]|/?(?:s|bos|eos|pad|unk|(?:bos|eos|pad)_token|start_of_turn|end_of_turn|end_of_utterance)>"
    r"|/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|</?SYS>>)",
    re.IGNORECASE,
)


def sanitize(text: str) -> str:
    """Removes invisible characters from a text, and breaks marks that a server would read as a new turn."""
    whole = text.encode("utf-8", "replace").decode()  # half a character cannot be sent
    return _TURN.sub(lambda found: found[0] + " ", _UNSEEN.sub("", whole)).strip()


def fence_code(texts: Sequence[str]) -> str:
    """Returns a code that occurs in none of the texts, in any spelling.

    The same texts always give the same code.
    """
    plain, parts = [_letters_only(text) for text in texts], [text.encode() for text in texts]
    codes = (digest([str(attempt).encode(), *parts])[:16] for attempt in itertools.count())
    return next(code for code in codes if not any(code in text for text in plain))


def _letters_only(text: str) -> str:
    """Returns only the letters and digits of a text.

    Wide letters, spaces and capitals then cannot hide a code.
    """
    return re.sub(r"[^0-9a-z]+", "", unicodedata.normalize("NFKC", text).casefold())


def fence(name: str, text: str, code: str) -> str:
    """Puts a quotation between marks with its name and the code."""
    return f"[[{name} {code} begins]]\n{text}\n[[{name} {code} ends]]"
