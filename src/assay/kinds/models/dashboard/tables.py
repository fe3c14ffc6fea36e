"""Reads the files of a benchmark: those that Assay wrote, or others with the same names and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import DataError, Problem

if TYPE_CHECKING:
    import polars as pl

AGGREGATES, QUERIES = "aggregate_metrics.parquet", "query_comparison.parquet"
DECISION, REVIEW = "benchmark_decision.parquet", "human_review_details.parquet"
SLICES = {"category": "category_metrics.parquet", "difficulty": "difficulty_metrics.parquet"}
COMBINED, COMPARISON = "combined_metrics.json", "comparison_report.json"
REQUIRED = (AGGREGATES, QUERIES, DECISION, SLICES["category"])
WRITES = "assay report STUDY --format benchmark"
TIE = "Tie"
_ABOUT = ("query_id", "query_text", "category", "difficulty")


@dataclass(frozen=True)
class BenchmarkTables:
    """The contents of a benchmark's files."""

    folder: Path
    aggregates: pl.DataFrame  # one row per model
    queries: pl.DataFrame  # one row per pair of models and query
    slices: dict[str, pl.DataFrame]  # by tag: one row per value and model
    recommendation: str | None
    review: pl.DataFrame | None  # one row per query and model; None without a review
    combined: dict[str, Any] = field(default_factory=dict)
    comparison: dict[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        return self.aggregates["model"].to_list()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair of models in the order of the files. The challenger comes first in its pair."""
        return list(dict.fromkeys(self.queries.select("model_a", "model_b").iter_rows()))

    def of_pair(self, a: str, b: str) -> pl.DataFrame:
        """Returns the queries of one pair."""
        import polars as pl

        return self.queries.filter(pl.col("model_a") == a, pl.col("model_b") == b)

    def reading(self, model: str, name: str) -> dict[str, Any]:
        """Returns one reading of a model's measures: automated, human_adjusted, mixed, … Empty if unknown."""
        found = self.combined.get("models", {}).get(model, {}).get(name)
        return found if isinstance(found, dict) else {}

    def results_path(self, model: str) -> Path | None:
        """Returns the file with a model's results query by query, or None if there is none."""

        from assay.kinds.models.benchmark.folder import model_file_names

        wanted = f"{model_file_names(self.models)[model]}_results.json".casefold()
        return next((path for path in self.folder.iterdir() if path.name.casefold() == wanted), None)


def find_tables(folder: Path) -> Path:
    """Returns the folder of the tables: `folder`, its `results`, or the benchmark of a study's run."""
    for place in (folder / "results", folder, folder / "run" / "benchmark" / "results"):
        if any((place / name).is_file() for name in REQUIRED):
            return place
    study = folder if (folder / "study.yaml").is_file() else None
    command = WRITES if study is None else WRITES.replace("STUDY", str(study))
    what = "holds no files of a benchmark" if folder.is_dir() else "is not a folder"
    raise DataError(Problem(what, str(folder), fix=f"Write them with: {command}"))


def read_tables(folder: Path) -> BenchmarkTables:
    """Reads all tables of a folder. One error reports every file that is missing or cannot be read."""
    place = find_tables(folder)
    problems = [
        Problem("is missing", str(place / name), fix=f"Write all files again with: {WRITES}")
        for name in REQUIRED
        if not (place / name).is_file()
    ]
    present = [name for name in (*REQUIRED, REVIEW, SLICES["difficulty"]) if (place / name).is_file()]
    frames = {name: _read_parquet(place / name, problems) for name in present}
    facts = {name: _read_json(place / name, problems) for name in (COMBINED, COMPARISON)}
    if problems:
        raise DataError(problems)
    aggregates, decision = frames[AGGREGATES], frames[DECISION]
    for name, column in (
        (AGGREGATES, "model"),
        (QUERIES, "query_id"),
        *((file, tag) for tag, file in SLICES.items()),
        *((file, "model") for file in (*SLICES.values(), REVIEW)),
    ):
        if name in frames and column not in frames[name].columns:
            problems.append(_missing_column(place / name, column))
    if problems:
        raise DataError(problems)
    said = decision["recommendation"].to_list() if "recommendation" in decision.columns else []
    return BenchmarkTables(
        folder=place,
        aggregates=aggregates,
        queries=_pair_rows(frames[QUERIES], aggregates["model"].to_list(), place / QUERIES),
        slices={tag: frames[name] for tag, name in SLICES.items() if name in frames},
        recommendation=next((text for text in said if text), None),
        review=frames.get(REVIEW),
        combined=facts[COMBINED],
        comparison=facts[COMPARISON],
    )


def top_results(path: Path, query_id: str) -> dict[str, Any]:
    """Returns what one model returned for a query. It is empty if the model's file lacks the query."""
    problems: list[Problem] = []
    found = _read_json(path, problems)
    if problems:
        raise DataError(problems)
    return next((one for one in found.get("query_results", []) if one.get("query_id") == query_id), {})


def _missing_column(path: Path, column: str) -> Problem:
    return Problem(f"has no column {column!r}", str(path), fix=f"Write it again with: {WRITES}")


def _read_parquet(path: Path, problems: list[Problem]) -> pl.DataFrame:
    import polars as pl
    from polars import selectors

    try:
        # Other writers of Parquet put NaN for unknown values.
        return pl.read_parquet(path, glob=False).with_columns(selectors.float().fill_nan(None))
    except pl.exceptions.PolarsError as error:
        first = str(error).partition("\n")[0]
        problems.append(Problem(f"cannot be read as Parquet: {first}", str(path), fix="Write it again."))
        return pl.DataFrame()


def _read_json(path: Path, problems: list[Problem]) -> dict[str, Any]:
    import msgspec

    if not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        problems.append(Problem(f"cannot be read as JSON: {error}", str(path), fix="Write it again."))
        return {}


def _pair_rows(raw: pl.DataFrame, models: list[str], path: Path) -> pl.DataFrame:
    """Returns one row per pair and query. In the file, two models may also be side by side in one row."""
    import polars as pl

    named = {model.casefold(): model for model in models}
    if not {"model_a", "model_b", "a_mrr", "b_mrr"} <= set(raw.columns):
        # Side by side, the challenger's column is the second.
        wanted = {f"{name}_mrr": model for name, model in named.items()}
        found = {column: wanted[column.casefold()] for column in raw.columns if column.casefold() in wanted}
        if len(found) != 2:
            missing = [column for column in wanted if column not in {each.casefold() for each in found}]
            raise DataError([_missing_column(path, column) for column in missing or ["model_a"]])
        (b_column, b), (a_column, a) = found.items()
        raw = raw.rename({a_column: "a_mrr", b_column: "b_mrr"})
        raw = raw.with_columns(model_a=pl.lit(a), model_b=pl.lit(b))
    absent = [pl.lit(None, pl.String).alias(name) for name in (*_ABOUT, "winner") if name not in raw.columns]
    difference = pl.col("a_mrr") - pl.col("b_mrr")
    ahead = (
        pl.when(difference > 0)
        .then("model_a")
        .when(difference < 0)
        .then("model_b")
        .when(difference == 0)
        .then(pl.lit(TIE))
    )
    told = pl.col("winner").str.to_lowercase().replace_strict(named | {TIE.lower(): TIE}, default=None)
    return (
        raw.with_columns(absent)
        .with_columns(mrr_diff=difference, winner=pl.coalesce(told, ahead))
        .select(*_ABOUT, "model_a", "model_b", "a_mrr", "b_mrr", "mrr_diff", "winner")
    )
