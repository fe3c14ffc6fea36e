"""Baselines: results of a study that are kept under a name, to compare later versions with them.

baselines/NAME/
  scores.parquet   every score
  results.json     the results without their scores
  looks/           the looks at the gates until then
  items.json       the items then, other inputs of the scores, and the hashes of the other files

A baseline also records how scores vary by themselves (`Churn`): if a system does not give the same answer
twice, a difference between two versions need not be a loss. `assay run --repeat` asks items again without any
change, and keeps these answers apart. Here the same judges score them, and the scores are compared.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.optional import OpeningJudge
from assay.core.protocols import PersonJudge
from assay.core.records import Item, Status
from assay.core.registry import identity
from assay.core.results import Results
from assay.measures.declaration import declaration_of, view_of
from assay.measures.observed import Seconds
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.stored_results import LOOKS as LOOKS_FOLDER
from assay.pipeline.stored_results import baselines_folder, stored_looks
from assay.report.formats import ParquetReport
from assay.stats.columns import TIE
from assay.store.disk import explain_write_errors, sync
from assay.store.keys import scope_hash
from assay.study.study import Study

SCHEMA = "assay/baseline/1"
SCORES, RESULTS, ITEMS = "scores.parquet", "results.json", "items.json"
LOOKS = f"{LOOKS_FOLDER}/000001.jsonl"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
KEY = 16  # hex digits that identify a judged thing of one item
PEOPLE = "people"  # the name of all people together among the judges of a measure
Grade = tuple[float | None, str | None]  # a grade and its category
_encode = msgspec.json.Encoder(order="sorted").encode


@dataclasses.dataclass(frozen=True)
class Baseline:
    """A baseline in a list: its name, date, note, verdict and number of items."""

    name: str
    created: float | None = None
    note: str = ""
    verdict: str | None = None
    items: int = 0
    problem: str = ""  # why it cannot be read; empty if it can


def tag_baseline(study: Study, name: str, note: str = "", replace: bool = False) -> Baseline:
    """Keeps the present results of the study under a name."""
    if not _NAME.fullmatch(name):
        rule = "Use letters, digits, dot, dash and underscore, at most 100, and begin with none of . and -."
        raise UsageError(f"{name!r} is not a name for a baseline. {rule}")
    target = baselines_folder(study) / name
    if target.exists() and not replace:
        raise UsageError(f"There is a baseline {name!r} already. Choose another name, or add --replace.")
    evaluation = Evaluation(study)
    results = _computed(evaluation)
    looks = [_encode(look) + b"\n" for look in stored_looks(study, evaluation.store)]
    content = {
        SCORES: ParquetReport().render(results),
        RESULTS: _encode(_without_scores(results)),
        LOOKS: b"".join(looks),
    }
    files = {file: digest([data]) for file, data in content.items()}
    kept = msgspec.structs.replace(_kept(evaluation, note), files=files)
    _store(target, {**content, ITEMS: _encode(kept)})
    return Baseline(name, kept.created, note, results.verdict, len(kept.items))


def list_baselines(study: Study) -> list[Baseline]:
    """Returns all baselines of a study, oldest first. Unreadable ones come last, with the reason."""
    found = [_listed(study, name) for name in _names(study)]
    return sorted(found, key=lambda each: (each.created is None, each.created or 0.0, each.name))


class LabelJudges(msgspec.Struct, frozen=True):
    """The judges of the labels that a measure reads, with their hashes, and the world of the labels."""

    world: str
    judges: dict[str, str]

    def since(self, then: LabelJudges) -> str:
        """Says how the judges differ from those of an earlier version; empty if they do not differ."""
        if set(self.judges) != set(then.judges):
            return f"judged by {then.names} then, by {self.names} now"
        if others := [name for name, what in self.judges.items() if then.judges[name] != what]:
            return f"judged by another version of {', '.join(others)}, or with other settings, then"
        if self.world != then.world:
            return f"the world of its labels was {then.world} then, and is {self.world} now"
        return ""

    @property
    def names(self) -> str:
        """The names of all judges as a phrase."""
        *most, last = self.judges or ["nobody"]
        return f"{', '.join(most)} and {last}" if most else f"only {last}" if self.judges else last


class _BaselineRecord(msgspec.Struct, frozen=True):
    """The content of items.json. The gold and the scope of an item are stored as hashes."""

    schema: str
    created: float
    note: str
    cluster: str | None
    systems: dict[str, str]  # "system ARM": a hash of what its answers depend on
    items: list[Item]
    labels: dict[str, str]  # by item: a hash of its labels
    views: dict[str, str]  # by measure that reads an open world: the labels that it reads
    pools: dict[str, dict[str, str]]  # by these labels, then by item: a hash of what was judged
    files: dict[str, str] = {}  # the hash of each other file
    labelled: dict[str, LabelJudges] = {}  # by measure that reads labels; none: unknown
    grades: dict[str, dict[str, Grade]] | None = None  # by item and hash of the thing judged; None: unknown
    churn: dict[str, Churn] = {}  # by arm whose items were repeated: what varied by itself


class Version(NamedTuple):
    """The results of a study at one time. `shown` is the content of results.json."""

    kept: _BaselineRecord
    shown: dict[str, Any]
    scores: pl.DataFrame

    def distinct(self, column: str) -> list[str]:
        return self.scores[column].unique(maintain_order=True).to_list()

    def seeds(self, arm: str) -> int:
        """Returns the number of seeds with which an arm was asked."""
        return self.scores.filter(pl.col("arm") == arm)["seed"].n_unique()


def _names(study: Study) -> list[str]:
    root = baselines_folder(study)
    found = root.iterdir() if root.is_dir() else ()
    return sorted(path.name for path in found if path.is_dir() and _NAME.fullmatch(path.name))


def _store(target: Path, content: Mapping[str, bytes]) -> None:
    """Writes a folder beside the target, then renames it. So there is either a whole baseline or none."""
    draft, gone = (target.with_name(f".{target.name}.{os.getpid()}.{end}") for end in ("tmp", "old"))
    with explain_write_errors(target):
        try:
            draft.mkdir(parents=True, exist_ok=True)
            for name, data in content.items():
                (draft / name).parent.mkdir(exist_ok=True)
                (draft / name).write_bytes(data)
                sync(draft / name)
            sync(draft)
            if target.exists():
                target.rename(gone)
            draft.rename(target)
            sync(target.parent)
        finally:
            if gone.exists() and not target.exists():
                gone.rename(target)
            for left in (draft, gone):
                shutil.rmtree(left, ignore_errors=True)


def _computed(evaluation: Evaluation) -> Results:
    """Returns the results without the scores of broken measures, which a baseline does not keep."""
    results, lost = evaluation.results, pl.lit(False)
    for system, measure in evaluation.broken:
        lost |= pl.col("system").eq(system) & pl.col("measure").eq(measure)
    return dataclasses.replace(results, scores=results.scores.filter(~lost))


def _without_scores(results: Results) -> dict[str, Any]:
    found = dataclasses.replace(results, scores=results.scores.clear()).as_json()
    return {name: value for name, value in found.items() if name != "scores"}


def _kept(evaluation: Evaluation, note: str = "") -> _BaselineRecord:
    study, labels, bases = evaluation.study, evaluation.labels, evaluation.store.bases(evaluation.study)
    datasets = list(evaluation.datasets.values())
    # the first dataset of an item counts, so that an added arm changes no item
    items = {item.item_id: item for dataset in reversed(datasets) for item in dataset.items}
    reading = [each for each in evaluation.measures if "labels" in each.needs]
    views = {each.name: view_of(each).label for each in reading}
    # measures that count what was missed depend on the pool: it decides how much can be missed
    pooled = {each.name for each in reading if declaration_of(each).pooled}
    unknown = {name: view for name, view in views.items() if name in pooled and labels.world(view) == "open"}
    looked = labels.frame.select("item", "label", "target", "start", "end")
    return _BaselineRecord(
        SCHEMA,
        study.kit.clock(),
        note,
        study.file.cluster,
        {f"system {arm}": bases[arm].identity for arm in evaluation.datasets},
        [_hashed(item) for item in items.values()],
        _by_item(labels.frame.drop("rank")),
        unknown,
        {view: _by_item(looked.filter(pl.col("label").is_in(view.split("|")))) for view in unknown.values()},
        labelled={name: _labelled_by(evaluation, view) for name, view in views.items()},
        grades=_grades(labels.frame),
        churn=measure_churn(evaluation),
    )


def _labelled_by(evaluation: Evaluation, view: str) -> LabelJudges:
    """Returns the judges that declare a label of the view, or that made a judgment with such a label."""
    judging, labels = evaluation.judging, set(view.split("|"))
    ranks = evaluation.labels.frame.filter(pl.col("label").is_in(labels))["rank"].unique()
    said = {judging.names[rank] for rank in ranks}
    others = [judge for judge in evaluation.study.judges if not isinstance(judge, PersonJudge)]
    able = [
        judge
        for judge in others
        if not labels.isdisjoint(judge.closed_labels)
        or (isinstance(judge, OpeningJudge) and not labels.isdisjoint(judge.opens))
        or not said.isdisjoint(judge.names)
    ]
    people = said.difference(*(judge.names for judge in others))
    return LabelJudges(
        evaluation.labels.world(view),
        dict.fromkeys([PEOPLE] if people else [], "")
        | {judge.names[0]: digest([identity(judge).encode()]) for judge in able},
    )


def _grades(frame: pl.DataFrame) -> dict[str, dict[str, Grade]]:
    """Returns the grade of each judged thing, by item."""
    about = ["label", "target", "start", "end", "arm", "seed"]
    best = frame.sort("rank").unique(["item", *about], keep="first", maintain_order=True)
    found: dict[str, dict[str, Grade]] = {}
    for item, grade, category, *thing in best.select("item", "grade", "category", *about).iter_rows():
        found.setdefault(item, {})[digest([_encode(thing)])[:KEY]] = (grade, category)
    return found


def _hashed(item: Item) -> Item:
    scope = None if item.scope is None else [scope_hash(item.scope)]
    return msgspec.structs.replace(item, gold={"hash": digest([_encode(item.gold)])}, scope=scope)


def _by_item(frame: pl.DataFrame) -> dict[str, str]:
    """Hashes the rows of each item. The hash does not depend on the order of the rows."""
    parts = frame.unique().partition_by("item", as_dict=True)
    return {str(item): digest(sorted(map(_encode, part.rows()))) for (item,), part in parts.items()}


def _listed(study: Study, name: str) -> Baseline:
    try:
        kept, shown, _ = load_version(study, name)
    except DataError as error:
        return Baseline(name, problem=str(error))
    return Baseline(name, kept.created, kept.note, shown["verdict"], len(kept.items))


def current_version(evaluation: Evaluation) -> Version:
    return Version(_kept(evaluation), _without_scores(evaluation.results), evaluation.scores)


def load_version(study: Study, name: str) -> Version:
    """Loads a baseline. Raises a DataError if the baseline is damaged."""
    if name not in (names := _names(study)):
        fix = did_you_mean(name, names) or "Keep one with: assay baseline tag STUDY NAME"
        raise UsageError(f"There is no baseline {name!r}. {fix}")
    folder = baselines_folder(study) / name
    try:
        data = {file: (folder / file).read_bytes() for file in (ITEMS, RESULTS, SCORES)}
        schema = msgspec.json.decode(data[ITEMS], type=dict[str, Any]).get("schema")
        if schema != SCHEMA:
            what = f"the baseline was kept in the form {schema!r}; this version of Assay reads {SCHEMA!r}"
            raise DataError(Problem(what, str(folder), fix="Update Assay, or tag the study again."))
        kept = msgspec.json.decode(data[ITEMS], type=_BaselineRecord)
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(_damaged(folder, str(error))) from error
    if other := [file for file in (RESULTS, SCORES) if kept.files.get(file) != digest([data[file]])]:
        raise DataError([_damaged(folder / file, "it is not the file that was kept") for file in other])
    return Version(kept, msgspec.json.decode(data[RESULTS]), pl.read_parquet(data[SCORES]))


def _damaged(path: Path, what: str) -> Problem:
    return Problem(f"the baseline is damaged: {what}", str(path), fix="Restore it, or tag the study again.")


_COUNTED = (Status.SCORED.value, Status.MISSING.value)


class Churn(msgspec.Struct, frozen=True):
    """How the scores of an arm varied when its items were asked again, by measure."""

    repeats: int
    items: dict[str, list[str]]  # items with a value each time
    varied: dict[str, list[str]]  # those of `items` whose value was not the same each time


def measure_churn(evaluation: Evaluation) -> dict[str, Churn]:
    """Measures how scores vary by themselves, for each arm whose items were asked again.

    Returns nothing while scores are sealed.
    """
    begun = evaluation.store.repetition(1).root.parent.glob("*/")
    numbers = sorted(int(path.name) for path in begun if path.name.isdecimal())
    if not numbers or evaluation.repetition or evaluation.sealed:
        return {}
    again = [Evaluation(evaluation.study, evaluation.selection, number) for number in numbers]
    rounds = [_answered(each) for each in (evaluation, *again)]
    found = {}
    for arm in rounds[0]["arm"].unique(maintain_order=True):
        asked = [part for each in rounds if len(part := each.filter(pl.col("arm") == arm))]
        if len(asked) > 1:
            found[arm] = _churn(asked)
    return found


def _answered(evaluation: Evaluation) -> pl.DataFrame:
    """Averages the values of an arm, measure and item over its seeds, if every seed has a value."""
    counted = pl.col("status").cast(pl.String).is_in(_COUNTED)
    values = evaluation.scores.filter(pl.col("measure") != Seconds().name)
    by_item = values.group_by("arm", "measure", "item", maintain_order=True)
    return by_item.agg(pl.col("value").mean(), counted=counted.all()).filter("counted").drop("counted")


def _churn(asked: list[pl.DataFrame]) -> Churn:
    """Computes the churn of one arm from the frame of its answers and one frame per repetition."""
    together = pl.concat(asked).group_by("measure", "item", maintain_order=True)
    spread = (pl.col("value").max() - pl.col("value").min()).alias("spread")
    whole = together.agg(spread, times=pl.len()).filter(pl.col("times") == len(asked))
    measures = asked[0]["measure"].unique(maintain_order=True).to_list()
    items, varied = (
        {name: part.filter(pl.col("measure") == name)["item"].to_list() for name in measures}
        for part in (whole, whole.filter(pl.col("spread") > TIE))
    )
    return Churn(len(asked) - 1, items, varied)
