"""Answers that exist already, read from files: `imported` (JSON of a benchmark) and `replay` (a TREC run).

    {"model_name": "minilm", "query_results": [{"query_id": "Q-1", "query_text": "…", …}, …]}

A result of a benchmark names its hits best first. The hits are in parallel lists (retrieved_chunk_ids,
retrieved_report_ids, retrieved_sections, retrieved_scores), or in mappings under top_results (chunk_id,
report_id, section_name, score). If a result has both, the lists are read. embed_latency_ms, search_latency_ms
and total_latency_ms are the times that the benchmark measured. Other fields are ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Hit, Observed, Query, Response
from assay.datasets.trec_files import read_bytes, read_run

if TYPE_CHECKING:
    import polars as pl

ABSENT = Fault("absent", "the file has no result for this query")
_RESULTS = "query_results"
_STAGES = ("embed", "search", "total")
_LISTS = {  # a part of a hit -> the list that has it, if hits are in lists
    "chunk_id": "retrieved_chunk_ids",
    "report_id": "retrieved_report_ids",
    "section_name": "retrieved_sections",
    "score": "retrieved_scores",
}
_NAMED = 5  # the number of chunks that a message names


class ImportedHit(msgspec.Struct, frozen=True):
    """A hit as the file has it. A missing part is None."""

    chunk_id: str
    report_id: str | None = None
    section_name: str | None = None
    score: float | None = None


class ImportedResult(msgspec.Struct, frozen=True):
    """The result of one query, with its place in the file. A field that is null counts as missing."""

    number: int  # its place in query_results, from 0
    query_id: str
    query_text: str
    retrieved_chunk_ids: list[str] | None = None
    retrieved_report_ids: list[str | None] | None = None
    retrieved_sections: list[str | None] | None = None
    retrieved_scores: list[float] | None = None
    top_results: list[ImportedHit] | None = None
    embed_latency_ms: float | None = None
    search_latency_ms: float | None = None
    total_latency_ms: float | None = None

    def place(self, part: str) -> str:
        """Returns the path of a field of the hits or the query, such as query_results.3.retrieved_scores."""
        name = _LISTS.get(part, part) if self.retrieved_chunk_ids is not None else "top_results"
        return _place(self.number, name if part in _LISTS else part)

    @property
    def returned(self) -> Sequence[ImportedHit]:
        if (ids := self.retrieved_chunk_ids) is None:
            return self.top_results or ()
        columns = [getattr(self, name) or [None] * len(ids) for name in _LISTS.values()]
        return [ImportedHit(*row) for row in zip(*columns, strict=True)]

    @property
    def hits(self) -> list[Hit]:
        """The hits in the order of the file, with the file's scores if these fall from hit to hit.

        If scores tie, rise or are missing, the score of a hit is the number of hits from this hit to the end.
        """
        returned = self.returned
        scores = [each.score for each in returned if each.score is not None]
        if len(scores) < len(returned) or any(above <= below for above, below in pairwise(scores)):
            scores = [float(left) for left in range(len(returned), 0, -1)]
        return [Hit(each.chunk_id, score) for each, score in zip(returned, scores, strict=True)]

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage, as the benchmark measured them."""
        taken = {stage: getattr(self, f"{stage}_latency_ms") for stage in _STAGES}
        return {stage: value / 1000 for stage, value in taken.items() if value is not None}


@dataclass(frozen=True)
class ResultsFile:
    """A file of finished results, as far as it could be read, and the problems of its form.

    No query changes the file, so it is its own index and session.
    """

    where: str
    data: bytes = b""
    model: str | None = None
    results: Mapping[str, ImportedResult] = field(default_factory=dict)  # by query_id
    problems: Sequence[Problem] = ()

    def session(self) -> ResultsFile:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Returns the file's answer for the item, with its seconds; a fault if the file has none."""
        if (result := self.results.get(query.item_id)) is None:
            return Response(error=ABSENT)
        return Response(hits=result.hits, observed=Observed(seconds=result.seconds))


@dataclass(frozen=True)
class Imported:
    """Answers by `item_id` from the JSON file of a finished benchmark.

    Hits keep the order of the file. If their scores do not fall, ranks replace the scores. An item without a
    result was never asked: it fails with the fault `absent`, so that it never counts as a miss. A result
    without hits was asked, and is a miss. Seconds are those of the file.
    """

    path: str
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    origin: ClassVar[str] = "imported"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ResultsFile:
        benchmark = read_results_file(kit.path(self.path))
        if benchmark.problems:
            raise DataError(benchmark.problems)
        return benchmark

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns the problems in the file, and signs that the file is about other data."""
        benchmark = read_results_file(kit.path(self.path))
        return [*benchmark.problems, *foreign_data_problems(benchmark, dataset)]

    def identity(self, kit: Kit) -> str:
        """Hashes the content of the file. A packed file has the same hash."""
        return digest([read_bytes(kit.path(self.path))])


# ------------------------------------------------------------------------------------ the file


def read_results_file(path: Path) -> ResultsFile:
    """Reads the results in a file. Problems of its form are returned, never raised."""
    where = str(path)
    try:
        data = read_bytes(path)
        content = _parsed(data)
    except DataError as error:
        return ResultsFile(where, problems=[replace(problem, where=where) for problem in error.problems])
    problems: list[Problem] = []
    results: dict[str, ImportedResult] = {}
    for number, raw in enumerate(content[_RESULTS]):
        try:
            result = _result(raw, number)
        except DataError as error:
            problems += (replace(each, field=_place(number, each.field)) for each in error.problems)
            continue
        problems += _hit_problems(result)
        if (first := results.setdefault(result.query_id, result)) is not result:
            what = f"{result.query_id!r} is in {_place(first.number)} already"
            problems.append(Problem(what, field=result.place("query_id"), fix="Keep one of the two."))
    model = content.get("model_name")
    placed = [replace(problem, where=where) for problem in problems]
    return ResultsFile(where, data, model if isinstance(model, str) else None, results, placed)


def _place(number: int, name: str = "") -> str:
    return f"{_RESULTS}.{number}.{name}" if name else f"{_RESULTS}.{number}"


def _parsed(data: bytes) -> dict[str, Any]:
    # Python's own reader accepts the NaN that Python's own writer writes, so that a message can name it
    try:
        content = json.loads(data.decode())
    except (UnicodeDecodeError, RecursionError) as error:
        raise DataError(decoding_problem(error)) from None
    except ValueError as error:
        raise DataError(Problem(f"not JSON: {error}", fix="Check that the file is whole.")) from None
    results = content.get(_RESULTS) if isinstance(content, dict) else None
    if not isinstance(results, list) or not results:
        fix = "Give the JSON file of a benchmark that was run."
        raise DataError(Problem("expected a list of results", field=_RESULTS, fix=fix))
    return {**content, _RESULTS: results}


def _result(raw: Any, number: int) -> ImportedResult:
    """Reads one result field by field. Raises a DataError with all its problems."""
    if not isinstance(raw, dict):
        raise DataError(Problem("expected a mapping", fix="Write query_id, query_text and the hits."))
    given, read = {**raw, "number": number}, {}
    problems = []
    for each in msgspec.structs.fields(ImportedResult):
        try:
            if (value := given.get(each.name)) is not None:
                read[each.name] = msgspec.convert(value, each.type)
            elif each.required:
                problems.append(Problem("the field is missing", field=each.name, fix=f"Add {each.name!r}."))
        except msgspec.ValidationError as error:
            found = decoding_problem(error)
            dot = "." if found.field and not found.field.startswith("[") else ""
            problems.append(replace(found, field=f"{each.name}{dot}{found.field}"))
        except UnicodeEncodeError:
            what = "it holds half of a surrogate pair"
            problems.append(Problem(what, field=each.name, fix="Write whole characters."))
    if problems or (problems := [*_form_problems(ImportedResult(**read))]):
        raise DataError(problems)
    return ImportedResult(**read)


def _form_problems(result: ImportedResult) -> Iterator[Problem]:
    """Yields problems that concern several fields of a result together."""
    ids = result.retrieved_chunk_ids
    if ids is None and result.top_results is None:
        fix = "Add the hits; an empty list says that there were none."
        yield Problem("neither retrieved_chunk_ids nor top_results is there", fix=fix)
    for name in _LISTS.values():
        values = getattr(result, name)
        if ids is not None and values is not None and len(values) != len(ids):
            what = f"{len(values)} values for {len(ids)} retrieved_chunk_ids"
            yield Problem(what, field=name, fix="Give one for each, in the same order.")
    for stage, taken in result.seconds.items():
        if not (math.isfinite(taken) and taken >= 0):
            what = f"{taken * 1000} is not a duration"
            yield Problem(what, field=f"{stage}_latency_ms", fix="Write milliseconds, or null.")


def _hit_problems(result: ImportedResult) -> Iterator[Problem]:
    """Yields scores that are not finite, and chunks that are named twice."""
    first: dict[str, int] = {}
    for rank, each in enumerate(result.returned, 1):
        if each.score is not None and not math.isfinite(each.score):
            what = f"{each.chunk_id!r} on rank {rank} has the score {each.score}"
            yield Problem(what, field=result.place("score"), fix="Write a finite number.")
        if (earlier := first.setdefault(each.chunk_id, rank)) != rank:
            what = f"{each.chunk_id!r} is on rank {earlier} and on rank {rank}"
            yield Problem(what, field=result.place("chunk_id"), fix="A result names each chunk once.")


# --------------------------------------------------------------------------------- the dataset


def foreign_data_problems(benchmark: ResultsFile, dataset: Dataset) -> list[Problem]:
    """Returns signs that results are about other data: unknown chunks, reports, sections or queries.

    A golden query without a result is not a problem here: its item fails, and reports say so.
    """
    results = benchmark.results.values()
    problems = [*_unknown_chunks(results, dataset.corpus), *_other_chunks(results, dataset.corpus)]
    asked = {item.item_id: item.text for item in dataset.items}
    for result in results:
        if (text := asked.get(result.query_id)) is None:
            what = f"the golden set has no item {result.query_id!r}"
            fix = "Add it there, or import results of this golden set."
            problems.append(Problem(what, field=result.place("query_id"), fix=fix))
        elif text.split() != result.query_text.split():
            what = f"{result.query_id!r} asked {result.query_text!r} here, and is {text!r} in the golden set"
            fix = "It answers another question: run the benchmark on this golden set."
            problems.append(Problem(what, field=result.place("query_text"), fix=fix))
    return [replace(problem, where=benchmark.where) for problem in problems]


def _unknown_chunks(results: Iterable[ImportedResult], corpus: Corpus) -> Iterator[Problem]:
    """Yields one problem for all chunks that are not in the corpus. In another chunking all are unknown."""
    named: dict[str, str] = {}  # each chunk, and where it is named first
    for result in results:
        for each in result.returned:
            named.setdefault(each.chunk_id, result.place("chunk_id"))
    if lost := [chunk_id for chunk_id in named if chunk_id not in corpus.position]:
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        some = ", ".join(map(repr, lost[:_NAMED])) + more
        what = f"{len(lost)} of {len(named)} chunks are not in the corpus: {some}"
        fix = "Import results of this corpus, in this chunking."
        yield Problem(what, field=named[lost[0]], fix=fix)


def _other_chunks(results: Iterable[ImportedResult], corpus: Corpus) -> Iterator[Problem]:
    """Yields chunks whose report or section differs from that in the corpus, if both have one."""
    named = [(result, each) for result in results for each in result.returned]
    here = [(result, each) for result, each in named if each.chunk_id in corpus.position]
    for part, attribute, word in (("report_id", "source", "report"), ("section_name", "section", "section")):
        differing = []
        for result, each in here:
            own = getattr(corpus.passages[corpus.position[each.chunk_id]], attribute)
            if (said := getattr(each, part)) and own and said != own:
                what = f"{each.chunk_id!r} is of the {word} {said!r} here, of {own!r} in the corpus"
                differing.append((what, result.place(part)))
        for what, place in differing[:1]:
            more = f"; {len(differing) - 1} more like it" if len(differing) > 1 else ""
            yield Problem(what + more, field=place, fix="It is another chunking: import results of this one.")


@dataclass(frozen=True)
class ReplayIndex:
    """The hits of a run file, by item. No query changes them, so the index is its own session."""

    ranked: Mapping[str, tuple[pl.Series, pl.Series]]  # doc_ids and scores of an item, best first

    def session(self) -> ReplayIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Returns the file's hits for the item. There are no seconds, because the file has none."""
        if query.item_id not in self.ranked:
            return Response()
        return Response(hits=[Hit(*pair) for pair in zip(*self.ranked[query.item_id], strict=True)])


@dataclass(frozen=True)
class Replay:
    """Answers by `item_id` from a TREC run file. An item that is not in the file has no hits."""

    path: str
    first_address: ClassVar[str] = "assay.systems.replay:Replay"
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    origin: ClassVar[str] = "imported"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ReplayIndex:
        # The order trec_eval gives a run: score, then document id, both descending. Ranks are not read.
        run = read_run(kit.path(self.path)).sort("score", "doc", descending=True)
        items = run.group_by("item").agg("doc", "score")
        return ReplayIndex(
            dict(zip(items["item"], zip(items["doc"], items["score"], strict=True), strict=True))
        )

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns signs that the file is about other data: no item, or no passage, is in both."""
        run = read_run(kit.path(self.path))
        items = [item.item_id for item in dataset.items]
        shared = [("item", run["item"], items), ("doc", run["doc"], list(dataset.corpus.position))]
        fix = "Check that run and dataset belong together and write ids the same way."
        return [
            Problem(
                f"no {what}_id of the dataset occurs here: here {found[0]!r}, there {known[0]!r}",
                str(kit.path(self.path)),
                fix=fix,
            )
            for what, found, known in shared
            if known and set(known).isdisjoint(found.unique())
        ]

    def identity(self, kit: Kit) -> str:
        """Hashes the content of the file. A packed file has the same hash."""
        return digest([read_bytes(kit.path(self.path))])
