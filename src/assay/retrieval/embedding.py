"""Embedding with a memory: no text goes through one model twice, whatever run, seed or corpus asks for it.

Vectors are kept by content in `ASSAY_CACHE/embeddings`, one file a model, and written batch by batch, so
that a killed build goes on where it stopped. Queries are kept too, each with the seconds that embedding it
took: an answer from memory still reports what the model needs.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from time import perf_counter

from assay.core.dataset import digest
from assay.core.errors import SystemFailure
from assay.core.parts import Embedder, Model, Role, Vectors
from assay.core.protocols import Kit
from assay.retrieval.memory import Remembered, VectorMemory

_STRIPES = 64  # queries that can be in hand at once without waiting for each other, by chance


class Embedding:
    """A model and all that it embedded before. Threads may share it."""

    def __init__(self, embedder: Embedder, kit: Kit) -> None:
        self._embedder, self._kit = embedder, kit
        self.identity = embedder.identity(kit)
        self._memory = VectorMemory(kit.cache / "embeddings" / f"{digest([self.identity.encode()])}.sqlite")
        self._model: Model | None = None
        self._loading = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]

    @property
    def model(self) -> Model:
        """The model itself, loaded when something new is to be embedded."""
        with self._loading:
            if self._model is None:
                self._model = self._embedder.load(self._kit)
            return self._model

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A row a text; what embedding the new ones costs is paid as it comes."""
        keys = [_key("passage", text) for text in texts]
        if len(self._memory.known(keys)) < len(set(keys)):
            with self._memory.alone():
                known = self._memory.known(keys)
                self._learn({key: text for key, text in zip(keys, texts, strict=True) if key not in known})
        return self._memory.matrix(keys)

    def query(self, text: str) -> tuple[Remembered, float]:
        """The vector of one query, and what it cost now: nothing where it was remembered."""
        key = _key("query", text)
        with self._stripes[key[0] % _STRIPES]:  # who asks the same meanwhile waits, and remembers
            if (found := self._memory.find(key)) is not None:
                return found, 0.0
            model, started = self.model, perf_counter()
            vectors, tokens, cost = model.embed([text], "query")
            made = Remembered(vectors[0], perf_counter() - started, tokens)
            with suppress(SystemFailure):  # an answer is not lost because it cannot be remembered
                self._memory.keep([(key, made)])
            return made, cost

    def _learn(self, new: Mapping[bytes, str]) -> None:
        """Embeds new texts, the longest first: a batch of like lengths wastes no padding.

        Each batch is kept and paid as it comes, so that one that fails takes no other along.
        """
        if not new:
            return
        model, order = self.model, sorted(new, key=lambda key: (-len(new[key]), key))
        batches = [order[start : start + model.batch] for start in range(0, len(order), model.batch)]
        done = 0
        self._kit.progress("embedding", done, len(order))
        with ThreadPoolExecutor(getattr(model, "threads", 1)) as pool:
            coming = [pool.submit(partial(self._learn_batch, new, batch)) for batch in batches]
            try:
                for future in as_completed(coming):
                    done += future.result()
                    self._kit.progress("embedding", done, len(order))
            finally:  # where one failed, those that have not begun are not worth their price
                pool.shutdown(wait=False, cancel_futures=True)

    def _learn_batch(self, new: Mapping[bytes, str], batch: Sequence[bytes]) -> int:
        vectors, _, cost = self.model.embed([new[key] for key in batch], "passage")
        self._memory.keep((key, Remembered(vector)) for key, vector in zip(batch, vectors, strict=True))
        self._kit.pay(cost)
        return len(batch)

    def close(self) -> None:
        self._memory.close()


def _key(role: Role, text: str) -> bytes:
    return hashlib.blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
