"""A system that does as it is told and keeps a record of it.

`behaviour.json` beside the study says what happens to an item: it is no parameter, so that a study can be
mended without changing a key. The answers depend on everything that is part of a key.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from assay.core.dataset import Corpus
from assay.core.errors import Retryable
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Observed, Query, Response


@dataclass
class ProbeSession:
    index: ProbeIndex
    earlier: list[str] = field(default_factory=list)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        probe = self.index.probe
        record(self.index.log, {"item": query.item_id, "seed": self.index.seed, "top": probe.top})
        self.earlier.append(query.text)
        if probe.pause:
            time.sleep(probe.pause)
        if (what := self.index.behaviour.get(query.item_id)) is not None:
            return misbehave(what, self.index.log, query.item_id)
        seen = [str(self.index.seed), str(list(budgets)), *self.earlier]
        scored = [
            (int.from_bytes(hashlib.blake2b(repr([text, *seen]).encode(), digest_size=6).digest()), doc_id)
            for doc_id, text in self.index.texts.items()
        ]
        hits = [Hit(doc_id, float(score)) for score, doc_id in sorted(scored, reverse=True)[: probe.top]]
        return Response(hits=hits, observed=Observed(cost=probe.cost or None))


@dataclass
class ProbeIndex:
    probe: Probe
    texts: dict[str, str]
    seed: int
    log: Path
    behaviour: dict[str, str]

    def session(self) -> ProbeSession:
        return ProbeSession(self)

    def close(self) -> None:
        record(self.log.with_name("closed.log"), {"passages": len(self.texts)})


@dataclass(frozen=True)
class Probe:
    """Hits by a hash of seed, budgets, passage, query and what was asked before in the session."""

    top: int = 3
    pause: float = 0.0
    cost: float = 0.0
    model: str = ""
    unbuildable: bool = False

    version: ClassVar[str] = "1"
    threads: ClassVar[int] = 2

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ProbeIndex:
        if self.unbuildable:
            raise FileNotFoundError("no such model")
        rules = kit.path("behaviour.json")
        behaviour = json.loads(rules.read_text()) if rules.is_file() else {}
        texts = {passage.doc_id: passage.text for passage in corpus.passages}
        return ProbeIndex(self, texts, seed, kit.path("asked.log"), behaviour)

    def identity(self, kit: Kit) -> str:
        """What stands in the model's file, as a model's hash would."""
        return kit.path(self.model).read_text() if self.model else ""


def misbehave(what: str, log: Path, item_id: str) -> Response:
    """Does the thing named, or gives a bad response."""
    if what == "hang":
        time.sleep(60)
    if what == "hang once" and sum(line["item"] == item_id for line in asked(log.parent)) == 1:
        time.sleep(60)
    if what == "die":
        os._exit(9)
    if what == "retryable":
        raise Retryable("too busy")
    if what == "passes on the third" and sum(line["item"] == item_id for line in asked(log.parent)) < 3:
        raise ConnectionError("reset")
    if what in RAISED:
        raise RAISED[what]
    return RETURNED.get(what, Response(hits=[Hit("d1", 1.0)]))  # type: ignore[no-any-return]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


RAISED: dict[str, BaseException] = {
    "value error": ValueError("no such thing"),
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "unprintable": Unprintable(),
    "surrogate": ValueError("half a pair: \ud800"),
}
RETURNED: dict[str, Any] = {
    "none": None,
    "nan": Response(hits=[Hit("d1", float("nan"))]),
    "inf": Response(hits=[Hit("d1", float("inf"))]),
    "twice": Response(hits=[Hit("d1", 2.0), Hit("d1", 1.0)]),
    "unsorted": Response(hits=[Hit("d1", 1.0), Hit("d2", 2.0)]),
    "number for an id": Response(hits=[Hit(7, 1.0)]),  # type: ignore[arg-type]
    "set in flags": Response(flags={"odd": {1}}),  # type: ignore[dict-item]
}


def record(log: Path, line: Mapping[str, Any]) -> None:
    """One line in one write, which a kill leaves whole or out."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, json.dumps(line).encode() + b"\n")
    os.close(handle)


def asked(folder: Path) -> list[dict[str, Any]]:
    """Every answer the probe was asked for, in the order in which it was asked."""
    log = folder / "asked.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
