"""Quoting strangers to a model: nothing unseen, no turns of a chat, and marks that no quotation can end."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence

from assay.core.dataset import digest

# Signs that no reader sees, in which orders can be hidden: controls, changes of direction, tags, selectors.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
# How models mark turns of a chat. Servers that find these in a message take them for the real ones.
_TURN = re.compile(
    r"[<\[](?=[|｜]|/?(?:s|bos|eos|pad|unk|(?:bos|eos|pad)_token|start_of_turn|end_of_turn|end_of_utterance)>"
    r"|/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\]|</?SYS>>)",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """A text as a model gets it: without what nobody sees, and with nothing a server takes for a new turn."""
    whole = text.encode("utf-8", "replace").decode()  # half a character can be sent to nobody
    return _TURN.sub(lambda found: found[0] + " ", _UNSEEN.sub("", whole)).strip()


def code_for(texts: Sequence[str]) -> str:
    """A code that stands in none of the texts, in whatever letters; the same texts have the same one."""
    plain, parts = [_letters(text) for text in texts], [text.encode() for text in texts]
    codes = (digest([str(attempt).encode(), *parts])[:16] for attempt in itertools.count())
    return next(code for code in codes if not any(code in text for text in plain))


def _letters(text: str) -> str:
    """The letters and digits of a text alone: full-width ones, spaces and capitals do not hide a code."""
    return re.sub(r"[^0-9a-z]+", "", unicodedata.normalize("NFKC", text).casefold())


def fenced(name: str, text: str, code: str) -> str:
    """A quotation between its marks."""
    return f"[[{name} {code} begins]]\n{text}\n[[{name} {code} ends]]"
