"""A small corpus to sweep over, and an embedder that writes down every text it is given."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.core.parts import EmbeddingResult, Role, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, SYSTEMS, Registry
from assay.study.study import Study, open_study
from small_study import WORDS, write_lines

FILLER = "Nothing of note was recorded on that day by anybody at the station. "

STUDY = """\
data: data
chunk: tokens(size=16)
systems:
  keyword: bm25
  both: {use: hybrid, model: counted(size=8), depth: 20}
measures: [RR@10, Success@3]
by: [topic]
compare: {resamples: 1000}
"""


@dataclass(frozen=True)
class CountedModel:
    """Words hashed into a few places; every text given to it is a line of the log."""

    identity: str
    size: int
    log: Path
    batch: int = 8

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        for text in texts:
            record(self.log, {"model": self.size, "role": role, "text": text})
        vectors = np.zeros((len(texts), self.size), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".").encode()) % self.size] += 1
        return EmbeddingResult(normalize_rows(vectors))


@dataclass(frozen=True)
class Counted:
    """An embedder of `size` dimensions."""

    size: int = 8

    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> CountedModel:
        return CountedModel(self.identity(kit), self.size, kit.path("embedded.log"))

    def identity(self, kit: Kit) -> str:
        """Its own in every study, so that no other test has filled its memory."""
        return f"counted {self.size} {kit.root}"


def record(log: Path, line: dict[str, Any]) -> None:
    """One line in one write, which a kill leaves whole or out."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, json.dumps(line).encode() + b"\n")
    os.close(handle)


def embedded(folder: Path) -> list[tuple[int, str, str]]:
    """Every text that went through a model: the model, the role, the text."""
    log = folder / "embedded.log"
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    return [(line["model"], line["role"], line["text"]) for line in lines]


def write_corpus(folder: Path, sweep: str, study: str = STUDY) -> Path:
    """A page a word, with the word once among filler; an item a word."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(f"{study}sweep:\n{sweep}")
    pages = [
        {"doc_id": word, "text": f"{FILLER * (n % 3)}This page is about {word}. {FILLER * 2}"}
        for n, word in enumerate(WORDS)
    ]
    write_lines(folder / "data/passages.jsonl", pages)
    write_lines(
        folder / "data/items.jsonl",
        [
            {
                "item_id": f"q-{word}",
                "text": f"what about {word}",
                "tags": {"topic": "odd" if n % 2 else "even"},
                "gold": {"relevant": {word: 1}},
            }
            for n, word in enumerate(WORDS)
        ],
    )
    return folder


def opened(folder: Path, systems: dict[str, type] | None = None) -> Study:
    """The study with the embedder known to it, and other systems where they are given."""
    return open_study(folder, registry=Registry({EMBEDDERS: {"counted": Counted}, SYSTEMS: systems or {}}))
