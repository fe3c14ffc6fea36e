"""Reads TREC datasets: topics and qrels.

Topics are lines of `id<TAB>text`, or have the classic form with tags:

    <top>
    <num> Number: 301
    <title> International Organized Crime
    </top>
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.reading import FolderReader
from assay.datasets.trec_files import read_bytes, read_qrels

_TOP = re.compile(r"<top>(.*?)(?=<top>|\Z)", re.DOTALL | re.IGNORECASE)
_NUM = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?([^<]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Trec:
    """Topics and qrels in TREC form. Without a corpus, the dataset can only be used with imported runs."""

    topics: str
    qrels: str
    corpus: str | None = None

    def load(self, kit: Kit) -> Dataset:
        topics = read_topics(kit.path(self.topics))
        relevant: dict[str, dict[str, int]] = {}
        for item, doc, grade in read_qrels(kit.path(self.qrels)).iter_rows():
            relevant.setdefault(item, {})[doc] = grade
        items = [
            Item(item_id, text, gold={"relevant": relevant[item_id]} if item_id in relevant else {})
            for item_id, text in topics.items()
        ]
        warnings = [
            *_warn_of_unmatched("topics have no judgment", [item for item in topics if item not in relevant]),
            *_warn_of_unmatched(
                "judged queries have no topic", [item for item in relevant if item not in topics]
            ),
        ]
        corpus = Corpus(_passages(kit.path(self.corpus)) if self.corpus else [])
        return Dataset(Path(self.topics).name.partition(".")[0], corpus, items, warnings=warnings)


def read_topics(path: str | Path) -> dict[str, str]:
    """Returns topic texts by id, in the order of the file. Raises a DataError with all its problems."""
    where = str(path)
    try:
        text = read_bytes(Path(path)).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(decoding_problem(error, where, line)) from error
    topics: dict[str, str] = {}
    problems = []
    for line, item_id, words in _tagged_topics(text) if _TOP.search(text) else _tabbed_topics(text):
        if not item_id or not words:
            fix = "Write id<TAB>text, or <top> with <num> and <title>."
            problems.append(Problem("a topic needs an id and a text", where, line, fix=fix))
        elif item_id in topics:
            problems.append(
                Problem(f"topic {item_id!r} stands here twice", where, line, fix="Ids must be unique.")
            )
        else:
            topics[item_id] = words
    if not topics and not problems:
        problems.append(Problem("the file is empty", where, fix="Check the path, or what wrote it."))
    if problems:
        raise DataError(problems)
    return topics


def _tabbed_topics(text: str) -> Iterator[tuple[int, str, str]]:
    for line, row in enumerate(text.splitlines(), 1):
        if row.strip():
            item_id, _, words = row.partition("\t")
            yield line, item_id.strip(), words.strip()


def _tagged_topics(text: str) -> Iterator[tuple[int, str, str]]:
    for top in _TOP.finditer(text):
        num, title = _NUM.search(top[1]), _TITLE.search(top[1])
        line = text.count("\n", 0, top.start()) + 1
        yield line, num[1] if num else "", " ".join(title[1].split()) if title else ""


def _warn_of_unmatched(what: str, ids: list[str]) -> list[str]:
    return [f"{len(ids)} {what}, such as {ids[0]!r}."] if ids else []


def _passages(path: Path) -> list[Passage]:
    reader = FolderReader(path.parent)
    rows = reader.jsonl(path, _passage, key="doc_id")
    reader.finish()
    return rows.records


def _passage(line: bytes) -> Passage:
    record = msgspec.json.decode(line, type=dict[str, Any])
    if "doc_id" not in record and "_id" in record:
        record["doc_id"] = record.pop("_id")
    return msgspec.convert(record, Passage)
