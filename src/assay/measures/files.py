"""Scores a run file against a qrels file, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.core.gains import gain_matrix
from assay.core.records import Status
from assay.core.registry import Registry
from assay.datasets.trec_files import read_qrels, read_run
from assay.measures.fallback import IrMeasure
from assay.measures.parse import parse_measure
from assay.measures.ranking import RankingMeasure
from assay.measures.reach import describe_cut_lists, explain_inapplicable
from assay.measures.score import STATUS

_EXAMPLES = 3


@dataclass(frozen=True)
class FileScores:
    """The scores of one run file, with the columns item, measure, value, status.

    Each query of the qrels has one row per measure.
    """

    scores: pl.DataFrame
    unjudged: list[str]  # queries of the run that the qrels lack; they are not scored
    broken: dict[str, str]  # why a measure could not be computed, by its name; its scores are failed
    inapplicable: list[str]  # why measures apply to no query
    cut: str  # says which measures read further than the lists go; empty: none


def score_files(
    run_path: str | Path, qrels_path: str | Path, measures: Sequence[str], registry: Registry | None = None
) -> FileScores:
    """Scores a run file, query by query.

    If the run lacks a query of the qrels, the query is `missing` and has the value that the measure gives to
    an absent answer. A query whose labels are all negative is `not_applicable`. Raises a DataError if the
    files have no query or no document in common.
    """
    registry = registry or Registry()
    parsed = [_on_rankings(text, registry) for text in measures]
    with ThreadPoolExecutor(1) as beside:  # the qrels are read while the run, the larger file, is read
        reading = beside.submit(read_qrels, qrels_path)
        run, qrels = read_run(run_path), reading.result()
    items, asked = (_distinct(frame["item"]) for frame in (qrels, run))
    _need_shared("query", (run_path, asked), (qrels_path, items))
    gains = gain_matrix(run, qrels, items)
    if np.isnan(gains.grades).all():
        _need_shared("document", (run_path, _distinct(run["doc"])), (qrels_path, _distinct(qrels["doc"])))
    scored, missing = gains.labelled & (gains.returned > 0), gains.labelled & (gains.returned == 0)
    status = np.select([scored, missing], [Status.SCORED, Status.MISSING], Status.NOT_APPLICABLE)
    table = pl.DataFrame({"item": items, "status": pl.Series(status, dtype=pl.String).cast(STATUS)})
    parts, broken, warnings = [], dict[str, str](), list[str]()
    highest = float(gains.ideal.max(initial=0))
    for measure in parsed:
        own, absent = table, np.full(len(items), measure.absent)
        if why := explain_inapplicable(measure, highest):
            warnings.append(why)
            own = table.with_columns(status=pl.lit(Status.NOT_APPLICABLE.value).cast(STATUS))
            parts.append(own.with_columns(measure=pl.lit(measure.name), value=pl.lit(None, pl.Float64)))
            continue
        try:
            found = (
                measure.of(gains)
                if isinstance(measure, RankingMeasure)
                else measure.of_frames(run, qrels, items)
            )
            values = np.select([scored, missing], [found, absent], np.nan)
        except PluginError as error:
            broken[measure.name], values = str(error), np.full(len(items), np.nan)
            failed = pl.lit(Status.FAILED.value).cast(STATUS)
            own = table.with_columns(status=pl.when(scored | missing).then(failed).otherwise("status"))
        parts.append(
            own.with_columns(measure=pl.lit(measure.name), value=pl.Series(values, nan_to_null=True))
        )
    judged = set(items)
    return FileScores(
        pl.concat(parts).select("item", "measure", "value", "status"),
        [item for item in asked if item not in judged],
        broken,
        warnings,
        describe_cut_lists(run_name(Path(run_path)), {each.name: (each, gains) for each in parsed}),
    )


def run_name(path: Path) -> str:
    """Returns the name of a run file's system: the file name without its endings."""
    return path.name.removesuffix(".gz").removesuffix(".run").removesuffix(".trec").removesuffix(".txt")


def _on_rankings(text: str, registry: Registry) -> RankingMeasure | IrMeasure:
    measure = parse_measure(text, registry)
    if isinstance(measure, IrMeasure):
        measure.check()
    if isinstance(measure, RankingMeasure | IrMeasure):
        return measure
    needs = ", ".join(sorted(measure.needs - {"hits", "labels"})) or "what was observed while it ran"
    raise UsageError(
        f"{measure.name} cannot be scored from a run file: it needs {needs}. Score it in a study, "
        "or choose a ranking measure such as nDCG@10."
    )


def _distinct(ids: pl.Series) -> list[str]:
    """Returns each id once, in order. Joining equal neighbours first does nearly all the work."""
    heads = ids.filter((ids != ids.shift()).fill_null(True))
    found: list[str] = heads.unique(maintain_order=True).to_list()
    return found


def _need_shared(what: str, run: tuple[str | Path, list[str]], qrels: tuple[str | Path, list[str]]) -> None:
    if not set(run[1]).isdisjoint(qrels[1]):
        return
    shown = [", ".join(map(repr, ids[:_EXAMPLES])) for _, ids in (run, qrels)]
    raise DataError(
        Problem(
            f"no {what} id is also in {qrels[0]}: here {shown[0]}, there {shown[1]}",
            str(run[0]),
            fix="Check that run and qrels belong together and write ids the same way.",
        )
    )
