"""Reads datasets in the BEIR layout: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, plain or gzipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import Problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.reading import FolderReader


class _Document(msgspec.Struct):
    doc_id: str = msgspec.field(name="_id")
    text: str
    title: str | None = None
    metadata: dict[str, Any] | None = None


class _Query(msgspec.Struct):
    item_id: str = msgspec.field(name="_id")
    text: str


_decode_document = msgspec.json.Decoder(_Document).decode
_decode_query = msgspec.json.Decoder(_Query).decode


def _passage(line: bytes) -> Passage:
    document = _decode_document(line)
    return Passage(document.doc_id, document.text, document.title or "", metadata=document.metadata or {})


@dataclass(frozen=True)
class Beir:
    """A folder in the BEIR layout. The items are the queries that have qrels in the split."""

    path: str
    split: str = "test"

    def load(self, kit: Kit) -> Dataset:
        reader = FolderReader(kit.path(self.path))
        passages = reader.jsonl(reader.need("corpus.jsonl"), _passage, key="doc_id")
        queries = reader.jsonl(reader.need("queries.jsonl"), _decode_query, key="item_id")
        qrels = reader.qrels(self._qrels_file(reader))
        reader.finish()

        corpus = Corpus(passages.records)
        asked = {query.item_id for query in queries.records}
        relevant = reader.relevant(qrels, asked, corpus.position)
        reader.finish()

        items = [
            Item(query.item_id, query.text, gold={"relevant": relevant[query.item_id]}, split=self.split)
            for query in queries.records
            if query.item_id in relevant
        ]
        return Dataset(reader.folder.resolve().name, corpus, items)

    def _qrels_file(self, reader: FolderReader) -> Path | None:
        if found := reader.find(f"qrels/{self.split}.tsv"):
            return found
        folder = reader.folder / "qrels"
        splits = sorted({path.name.partition(".")[0] for path in folder.glob("*.tsv*")})
        fix = f"Choose a split that is there: {', '.join(splits)}." if splits else "Add the file."
        reader.problems.append(Problem("the file is missing", str(folder / f"{self.split}.tsv"), fix=fix))
        return None
