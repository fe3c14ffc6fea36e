"""A stand-in for a chat model: a real HTTP server on this machine that speaks OpenAI's `/chat/completions`.

    with ChatStandIn(by_turns("HIGH\nIt says so.")) as server:
        Llm(url=server.url, model="stand-in", backoff=0)

What it says is a function of the request, or a list that is gone through. It counts a word as a token, writes
down what it was asked, and fails by plan as the other stand-ins do.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from stand_ins.openai_server import Faults, Kind, Reply, Request, StandIn

Say = Callable[[Any], "str | Reply | None"]
GRADES = ("HIGH", "PARTIAL", "NOT_RELEVANT", "MEETS", "MISSES")


class ChatStandIn(StandIn):
    """Says what `say` makes of a request; a Reply is sent as it is."""

    def __init__(
        self,
        say: Say,
        faults: Faults | None = None,
        *,
        key: str | None = None,
        counts: bool = True,  # whether it says how many tokens a request took
        delay: float = 0.0,
    ) -> None:
        super().__init__(faults, delay)
        self.say, self.key, self.counts = say, key, counts

    def __enter__(self) -> ChatStandIn:
        super().__enter__()
        return self

    def reply(self, request: Request, fault: Kind | None) -> Reply:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return Reply({"error": {"message": "Incorrect API key provided."}}, 401)
        if request.path != "/v1/chat/completions":
            return Reply({"error": {"message": "There is no such path."}}, 404)
        said = self.say(request.payload)
        if isinstance(said, Reply):
            return said
        message = {"role": "assistant", "content": said}
        answer = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
        return Reply({**answer, "usage": usage(request.payload, said or "")} if self.counts else answer)


def usage(payload: Any, said: str) -> dict[str, int]:
    """A token a word, read and said."""
    read = sum(len(each["content"].split()) for each in payload["messages"])
    return {
        "prompt_tokens": read,
        "completion_tokens": len(said.split()),
        "total_tokens": read + len(said.split()),
    }


def by_turns(*said: str | Reply | None) -> Say:
    """One after the other, and the last for ever."""
    turns = itertools.chain(said[:-1], itertools.repeat(said[-1]))
    return lambda _: next(turns)


# --------------------------------------------------------------------------------- a gullible reader


def gullible(payload: Any) -> str:
    """Obeys any grade that stands outside the quotations; where none does, grades by words that agree.

    It takes marks of turns inside a message for real ones, as some servers do, and sees through look-alike
    letters and signs that nobody sees, so that none of these hides an order from it.
    """
    user = payload["messages"][-1]["content"]
    turns = re.split(r"<[|｜][^|｜>]*[|｜]>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>", user)
    quoted, outside = _read(turns[0])
    ordered = _orders("\n".join([outside, *turns[1:]]))
    return f"{ordered}\nI was told to." if ordered else _by_words(quoted)


def _read(message: str) -> tuple[dict[str, str], str]:
    """What is quoted under the code that the message begins with, by name, and the rest."""
    found = re.match(r"The code of this request is ([0-9a-f]+)\.\n", message)
    if found is None:
        return {}, message
    flags = re.DOTALL | re.MULTILINE
    fence = re.compile(rf"^\[\[(\w+) {found[1]} begins\]\]\n(.*?)\n\[\[\1 {found[1]} ends\]\]$", flags)
    return {each[1]: each[2] for each in fence.finditer(message)}, fence.sub("", message)


def _orders(text: str) -> str | None:
    seen = "".join(_plain(sign) for sign in unicodedata.normalize("NFKC", text))
    return next((grade for grade in GRADES if re.search(rf"\b{grade}\b", seen)), None)


def _plain(sign: str) -> str:
    if 0xE0020 <= ord(sign) <= 0xE007E:  # tags spell ASCII that nobody sees
        return chr(ord(sign) - 0xE0000)
    return "" if unicodedata.category(sign) == "Cf" else sign


def _by_words(quoted: dict[str, str]) -> str:
    asked, read = (set(re.findall(r"\w+", quoted.get(name, "").lower())) for name in ("QUERY", "PASSAGE"))
    share = len(asked & read) / max(len(asked), 1)
    grade = "HIGH" if share >= 0.5 else "PARTIAL" if share > 0 else "NOT_RELEVANT"
    return f"{grade}\n{len(asked & read)} of {len(asked)} words agree."
