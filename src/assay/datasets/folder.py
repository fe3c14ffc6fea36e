"""Assay's own layout: a folder of plain files. Each JSONL file may be gzipped.

items.jsonl                          the fields of `records.Item`; a tag is a value or a list of values
passages.jsonl or passages.parquet   doc_id, text, title, source, span, section; other fields become metadata
documents.jsonl                      optional: the documents from which the passages were cut
qrels.tsv                            optional: item, document and grade, instead of gold.relevant in the items
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage
from assay.core.spec import Spec, parse_spec
from assay.datasets.reading import FileRecords, FolderReader, Relevant, missing_passages, unknown_documents

_object = msgspec.json.Decoder(dict[str, Any]).decode
_TEXT_COLUMNS = ("doc_id", "text", "title", "source", "section")


@dataclass(frozen=True)
class Folder:
    """A golden set with its corpus in Assay's own layout."""

    path: str

    def load(self, kit: Kit) -> Dataset:
        reader = FolderReader(kit.path(self.path))
        items = reader.jsonl(reader.need("items.jsonl"), lambda line: _item(_object(line)), key="item_id")
        passages = _read_passages(reader)
        documents = reader.jsonl(
            reader.find("documents.jsonl"), lambda line: _document(_object(line)), key="doc_id"
        )
        qrels = reader.qrels(reader.find("qrels.tsv"))
        reader.finish()

        corpus = Corpus(passages.records, {document.doc_id: document for document in documents.records})
        ids = {item.item_id for item in items.records}
        relevant = reader.relevant(qrels, ids, corpus.position)
        reader.problems += _unresolved_items(items, corpus.position, relevant)
        if corpus.documents:
            reader.problems += _unplaced_passages(passages, corpus)
        reader.finish()
        return Dataset(
            reader.folder.resolve().name, corpus, [_with_grades(item, relevant) for item in items.records]
        )


# -------------------------------------------------------------------------------- passages


def _read_passages(reader: FolderReader) -> FileRecords[Passage]:
    path = reader.need("passages.jsonl", "passages.parquet")
    table = reader.find("passages.parquet")
    if path is None or table is None:
        return reader.jsonl(path, lambda line: _passage(_object(line)), key="doc_id")
    if path != table:
        what = "the folder also has passages.jsonl"
        reader.problems.append(Problem(what, str(table), fix="Remove one of the two."))
    from assay.datasets.reading import table_rows

    rows = table_rows(reader, table, ("doc_id", "text"), _TEXT_COLUMNS)
    return reader.collect(table, rows, _passage, key="doc_id")


def _passage(record: dict[str, Any]) -> Passage:
    return msgspec.convert(_with_metadata(record, Passage.__struct_fields__), Passage)


def _document(record: dict[str, Any]) -> Document:
    return msgspec.convert(_with_metadata(record, Document.__struct_fields__), Document)


def _with_metadata(record: dict[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """Moves keys that are not fields into the metadata. A key with the value null counts as absent."""
    own = {key: value for key, value in record.items() if value is not None and key in fields}
    other = {key: value for key, value in record.items() if value is not None and key not in fields}
    given = own.get("metadata", {})
    if other and isinstance(given, dict):
        own["metadata"] = {**other, **given}
    return own


def _unplaced_passages(passages: FileRecords[Passage], corpus: Corpus) -> list[Problem]:
    """Returns problems of passages whose document does not exist, or does not contain their span."""
    problems = []
    for line, passage in passages:
        source = corpus.documents.get(passage.source or passage.doc_id)
        span, length = passage.span, len(source.text) if source else 0
        if passage.source is not None and source is None:
            what, fix = f"there is no document {passage.source!r}", "Add it to documents.jsonl."
            problems.append(Problem(what, passages.where, line, "source", fix))
        elif span and source and not 0 <= span.start <= span.end <= length:
            what = f"[{span.start}, {span.end}) is not within the {length} characters of {source.doc_id!r}"
            problems.append(Problem(what, passages.where, line, "span", "Correct the span."))
    return problems


# ----------------------------------------------------------------------------------- items


def _item(record: dict[str, Any]) -> Item:
    problems = [
        Problem("is not a field of an item", field=key, fix=did_you_mean(key, Item.__struct_fields__))
        for key in record
        if key not in Item.__struct_fields__
    ]
    if record.get("expects") not in (None, "nothing"):
        what, fix = f"{record['expects']!r} cannot be expected", "Write 'nothing', or leave the field out."
        problems.append(Problem(what, field="expects", fix=fix))
    given = {key: value for key, value in record.items() if value is not None}
    if isinstance(tags := given.get("tags"), dict):
        given["tags"] = {key: _tag_values(value) for key, value in tags.items() if value is not None}
    try:
        item = msgspec.convert(given, Item)
        problems += _check_grades(item.gold.get("relevant", {}))
    except msgspec.ValidationError as error:
        problems.append(decoding_problem(error))
    if problems:
        raise DataError(problems)
    return item


def _check_grades(relevant: Any) -> list[Problem]:
    if isinstance(relevant, dict) and all(type(grade) in (int, float) for grade in relevant.values()):
        return []
    fix = 'Write {"DOC_ID": GRADE}, with a number for each grade.'
    return [Problem("is not a map from doc_id to grade", field="gold.relevant", fix=fix)]


def _tag_values(value: Any) -> list[Any]:
    """Returns a tag's values as a list of strings.

    Values that are not scalars stay as they are, and the type check reports them.
    """
    values = value if isinstance(value, list) else [value]
    return [
        msgspec.json.encode(each).decode() if isinstance(each, bool | int | float) else each
        for each in values
    ]


def _unresolved_items(items: FileRecords[Item], docs: Collection[str], relevant: Relevant) -> list[Problem]:
    """Returns problems of items whose gold or scope names missing passages, or whose gold is given twice."""
    problems = []
    for line, item in items:
        gold = item.gold.get("relevant", {})
        if missing := unknown_documents(gold, docs):
            problems.append(missing_passages(missing, items.where, line, "gold.relevant"))
        if missing := [doc_id for doc_id in item.scope or () if doc_id not in docs]:
            problems.append(missing_passages(missing, items.where, line, "scope"))
        if gold and item.item_id in relevant:
            fix = "Keep one of the two."
            problems.append(Problem("qrels.tsv has grades too", items.where, line, "gold.relevant", fix))
    return problems


def _with_grades(item: Item, relevant: Relevant) -> Item:
    if item.item_id not in relevant:
        return item
    return msgspec.structs.replace(item, gold={**item.gold, "relevant": relevant[item.item_id]})


_MARKS = {"beir": ("corpus.jsonl", "corpus.jsonl.gz"), "folder": ("items.jsonl", "items.jsonl.gz")}


def dataset_spec(given: str | Mapping[str, Any], kit: Kit) -> Spec:
    """Returns the spec of the dataset in a study's `data`.

    `data` gives a plugin with its parameters, or a folder. The files in a folder decide which plugin reads
    it.
    """
    if isinstance(given, Mapping):
        return parse_spec(given)
    path = kit.path(given)
    if path.is_dir():
        for plugin, names in _MARKS.items():
            if any((path / name).is_file() for name in names):
                return Spec(plugin, {"path": given})
        known = " or ".join(names[0] for names in _MARKS.values())
        raise UsageError(f"no dataset lies in {path}. The folder needs {known}.")
    if path.exists():
        raise UsageError(f"{path} is a file. Name its folder, or say what it is: trec(topics=…, qrels=…).")
    try:
        return parse_spec(given)
    except UsageError:
        raise UsageError(f"there is no folder {path}. Check the path: it is relative to the study.") from None
