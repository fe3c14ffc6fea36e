"""Two versions of a study compared: what is kept, what counts as the same item, what is refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Budget, Comparison, Finding, Hit, Judgment, Query, Question, Response
from assay.core.registry import JUDGES, MEASURES, SYSTEMS, Registry
from assay.measures.ranking import RR
from assay.pipeline.baselines import tags
from assay.pipeline.baselines.diff import BaselineDiff, Change, diff_baselines
from assay.pipeline.baselines.tags import list_baselines, tag_baseline
from assay.pipeline.evaluate import evaluate, judge_study
from assay.pipeline.runner import Selection, run_study
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_study import WORDS, apart_from_size, edited, write_lines, write_study

N = len(WORDS)  # 12 items, one a word
IDS = [f"q{n}" for n in range(N)]
ONLY_OLD = """\
kind: search
data: data
systems:
  old: replay(path=old.run)
measures: [RR@5, nDCG@10]
compare: {resamples: 200}
"""


def opened(folder: Path, registry: Registry | None = None, at: float = 1000.0) -> Study:
    return open_study(folder, registry=registry, kit=Kit(clock=lambda: at))


def place(folder: Path, ranks: dict[int, int]) -> None:
    """Rewrites the replayed run with the right passage at given ranks of 3; at 2 where nothing is given."""
    lines = []
    for n in range(N):
        others = [f"d{(n + 1) % N}", f"d{(n - 1) % N}"]
        others.insert(ranks.get(n, 2) - 1, f"d{n}")
        lines += [f"q{n} Q0 {doc} {rank} {10 - rank} old\n" for rank, doc in enumerate(others, 1)]
    (folder / "old.run").write_text("".join(lines))


def items_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study that was run and tagged "march"; RR of old is 1/2 everywhere."""
    folder = write_study(tmp_path / "small", ONLY_OLD)
    evaluate(folder)
    tag_baseline(opened(folder), "march", "the first")
    return folder


def compared(found: BaselineDiff, arm: str = "old") -> dict[str, Comparison]:
    (one,) = [each for each in found.arms if each.arm == arm]
    return {comparison.measure: comparison for comparison in one.comparisons}


def moved(found: BaselineDiff) -> list[tuple[str, float, float]]:
    return [(one.item_id, one.before, one.after) for each in found.arms for one in each.moved]


# ------------------------------------------------------------------------------------- differing


def test_a_study_that_did_not_change_differs_in_nothing(folder: Path) -> None:
    found = diff_baselines(opened(folder), "march")
    for one in compared(found).values():
        assert (one.a, one.b, one.difference, one.p, one.n, one.refused) == ("new", "old", 0.0, 1.0, N, None)
        assert (one.wins, one.ties, one.losses) == (0, N, 0)
    assert found.items.unchanged == [f"q{n}" for n in range(N)]
    others = found.items.added, found.items.removed, found.items.changed, found.items.relabelled
    assert not any(others)
    assert (found.gates, found.provenance, apart_from_size(found.warnings), moved(found)) == ({}, {}, [], [])
    assert found.only_old == found.only_new == {"arms": [], "measures": []}


def test_a_difference_worked_out_by_hand(folder: Path) -> None:
    place(folder, dict.fromkeys(range(5), 1))  # rank 2 to rank 1 on five of twelve
    evaluate(folder)
    found = compared(diff_baselines(opened(folder), "march"))
    reciprocal, ndcg = found["RR@5"], found["nDCG@10"]
    assert reciprocal.difference == pytest.approx(5 * (1 - 1 / 2) / 12)
    assert ndcg.difference == pytest.approx(5 * (1 - 1 / np.log2(3)) / 12)
    assert (reciprocal.wins, reciprocal.ties, reciprocal.losses, reciprocal.n) == (5, 7, 0, 12)
    # of the 2^5 signs of five equal differences, two are as far from zero
    assert reciprocal.p == ndcg.p == pytest.approx(2 / 2**5)
    # Holm over two measures: twice the smaller, and no less for the other
    assert reciprocal.p_adjusted == ndcg.p_adjusted == pytest.approx(4 / 2**5)
    assert reciprocal.family == "old"
    assert reciprocal.low is not None
    assert reciprocal.high is not None
    assert reciprocal.low < 0 < 5 / 24 < reciprocal.high
    # nothing is shown, so what could have been found is said
    assert reciprocal.mde is not None


def test_items_that_changed_most_come_worst_first(folder: Path) -> None:
    place(folder, {4: 3, 7: 1, 9: 3})
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert found.arms[0].measure == "RR@5"
    assert [name for name, _, _ in moved(found)] == ["q4", "q9", "q7"]
    assert [before for _, before, _ in moved(found)] == [0.5] * 3
    assert [after for _, _, after in moved(found)] == pytest.approx([1 / 3, 1 / 3, 1])


def test_only_ten_items_are_shown_and_they_are_those_that_changed_most(folder: Path) -> None:
    # ten gain 1/2; the two that lose 1/6 changed least
    place(folder, {n: 3 if n < 2 else 1 for n in range(N)})
    evaluate(folder)
    assert [name for name, _, _ in moved(diff_baselines(opened(folder), "march"))] == [
        f"q{n}" for n in range(2, N)
    ]


def test_lower_is_better_where_a_measure_says_so(tmp_path: Path) -> None:
    registry = Registry({MEASURES: {"Lost": Lost}})
    folder = write_study(tmp_path, edited("[RR@5, nDCG@10]", "[Lost@5]", ONLY_OLD))
    evaluate(folder, registry=registry)
    tag_baseline(opened(folder, registry), "march")
    place(folder, {4: 1, 7: 3})
    evaluate(folder, registry=registry)
    found = diff_baselines(opened(folder, registry), "march")
    # 1 - RR: from 1/2 to 0 on q4, from 1/2 to 2/3 on q7
    assert compared(found)["Lost@5"].difference == pytest.approx((-1 / 2 + 1 / 6) / 12)
    assert (compared(found)["Lost@5"].wins, compared(found)["Lost@5"].losses) == (1, 1)
    assert [name for name, _, _ in moved(found)] == ["q7", "q4"]


def test_seeds_are_averaged_and_arms_kept_apart(tmp_path: Path) -> None:
    registry = Registry({SYSTEMS: {"seeded": Seeded}})
    text = edited("replay(path=old.run)", "seeded(shift=0)", ONLY_OLD) + "seeds: [0, 1]\n"
    folder = write_study(tmp_path, text + "factors: {place: ['1', '2']}\n")
    evaluate(folder, registry=registry)
    tag_baseline(opened(folder, registry), "march")
    (folder / "study.yaml").write_text((folder / "study.yaml").read_text().replace("shift=0", "shift=1"))
    evaluate(folder, registry=registry)
    found = diff_baselines(opened(folder, registry), "march")
    assert [each.arm for each in found.arms] == ["old[place=1]", "old[place=2]"]
    # seeds 0 and 1 are a rank apart: ranks 1 and 2 become 2 and 3, ranks 2 and 3 become 3 and 4
    first, second = (compared(found, each.arm)["RR@5"] for each in found.arms)
    assert first.difference == pytest.approx((1 / 2 + 1 / 3) / 2 - (1 + 1 / 2) / 2)
    assert second.difference == pytest.approx((1 / 3 + 1 / 4) / 2 - (1 / 2 + 1 / 3) / 2)
    assert first.n == second.n == N
    assert "system old[place=1]" in found.provenance


# ----------------------------------------------------------------------------------------- items


def test_items_added_removed_and_changed_are_listed_and_not_compared(folder: Path) -> None:
    items = items_of(folder)
    items[1]["gold"] = {"relevant": {"d5": 1}}
    items[2]["text"] = "gamma ray"
    items[3]["tags"] = {"topic": "moved"}  # a tag groups; the item is the same
    del items[4]
    items.append({"item_id": "q99", "text": "omega", "gold": {"relevant": {"d0": 1}}})
    write_lines(folder / "data/items.jsonl", items)
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert found.items.added == ["q99"]
    assert found.items.removed == ["q4"]
    assert found.items.changed == {"q1": ["gold"], "q2": ["text"]}
    assert found.items.unchanged == ["q0", "q3", *(f"q{n}" for n in range(5, N))]
    one = compared(found)["RR@5"]
    assert (one.n, one.difference, one.refused) == (9, 0.0, None)  # 12 less q1, q2 and q4


def test_where_no_item_is_the_same_nothing_is_compared(folder: Path) -> None:
    items = [{**item, "text": f"what is {item['text']}"} for item in items_of(folder)]
    write_lines(folder / "data/items.jsonl", items)
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert (len(found.items.changed), found.items.unchanged, found.arms) == (N, [], [])


def test_a_question_asked_of_less_is_another_item(folder: Path) -> None:
    items = items_of(folder)
    items[0]["scope"] = ["d0", "d1", "d11"]
    items[1]["expects"], items[1]["gold"] = "nothing", {}
    write_lines(folder / "data/items.jsonl", items)
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert found.items.changed == {"q0": ["scope"], "q1": ["gold", "expects"]}


def test_items_scored_on_one_side_only_refuse_the_comparison(tmp_path: Path) -> None:
    folder = write_study(tmp_path, ONLY_OLD)
    run_study(opened(folder), Selection(limit=8))
    tag_baseline(opened(folder), "part")
    evaluate(folder)
    one = compared(diff_baselines(opened(folder), "part"))["RR@5"]
    assert one.refused == "old: 4 items not run yet (q8, q9, q10 and 1 more)"
    assert one.difference is None
    assert one.p_adjusted is None


def test_open_worlds_judged_on_different_pools_are_not_compared(tmp_path: Path) -> None:
    text = edited("[RR@5, nDCG@10]", "[R@1, P@1]", ONLY_OLD) + "judges: [human]\n"
    folder = write_study(tmp_path, text)
    study = opened(folder)
    run_study(study)
    mark(study, {f"q{n}": f"d{(n + 1) % N}" for n in range(N)})
    tag_baseline(study, "march")
    same = diff_baselines(opened(folder), "march")
    assert (compared(same)["R@1"].n, compared(same)["R@1"].refused) == (N, None)
    mark(study, {"q3": "d3"})
    found = diff_baselines(opened(folder), "march")
    assert compared(found)["R@1"].refused == "judged on different pools: q3"
    assert compared(found)["P@1"].n == N  # which never asks how much there was to find
    assert found.items.relabelled == []  # d3 was not judged then, so nobody says otherwise
    assert found.items.unchanged == [f"q{n}" for n in range(N)]
    assert "labels" in found.provenance


def test_what_is_judged_otherwise_is_named_and_what_was_not_judged_then_is_not(tmp_path: Path) -> None:
    text = edited("[RR@5, nDCG@10]", "[P@1]", ONLY_OLD) + "judges: [human]\n"
    folder = write_study(tmp_path, text)
    study = opened(folder)
    run_study(study)
    first = {f"q{n}": f"d{(n + 1) % N}" for n in range(N)}
    mark(study, first)
    tag_baseline(study, "march")
    mark(study, {"q5": first["q5"]}, 0.0)
    mark(study, {"q7": "d7"})
    found = diff_baselines(opened(folder), "march")
    assert found.items.relabelled == ["q5"]
    one = compared(found)["P@1"]
    assert one.refused is None
    assert one.difference == pytest.approx(-1 / 12)


# -------------------------------------------------------------------------------------- who judged

MODEL = ONLY_OLD + "judges: [ids, {use: model, on: true}]\n"


def judged(folder: Path, text: str) -> Study:
    (folder / "study.yaml").write_text(text)
    study = opened(folder, Registry({JUDGES: {"model": Model}}))
    run_study(study)
    judge_study(study)
    return study


@pytest.mark.parametrize(
    ("now", "refused"),
    [
        (MODEL, None),
        (MODEL.replace("true", "false"), "judged by ids and model then, by only ids now"),
        (MODEL.replace("true", "true, grade: 0"), "judged by another version of model"),
    ],
)
def test_figures_that_others_judged_are_not_compared(tmp_path: Path, now: str, refused: str | None) -> None:
    folder = write_study(tmp_path, MODEL)
    tag_baseline(judged(folder, MODEL), "march")
    found = diff_baselines(judged(folder, now), "march")
    for one in compared(found).values():
        assert (one.refused or "").startswith(refused or "")
        assert (one.refused is None, one.family) == (refused is None, "old")
    assert moved(found) == []
    assert found.items.relabelled == (IDS if "grade" in now else [])


def test_a_baseline_from_before_this_was_kept_is_compared_as_ever(tmp_path: Path) -> None:
    folder = write_study(tmp_path, MODEL)
    tag_baseline(judged(folder, MODEL), "march")
    path = folder / "baselines/march/items.json"
    kept = json.loads(path.read_bytes())
    assert kept["labelled"]["RR@5"] == {"world": "open", "judges": kept["labelled"]["nDCG@10"]["judges"]}
    assert set(kept["labelled"]["RR@5"]["judges"]) == {"ids", "model"}
    del kept["labelled"], kept["grades"]
    path.write_text(json.dumps(kept))
    found = diff_baselines(judged(folder, MODEL.replace("true", "false")), "march")
    # with the model every first hit is right; without, the one that gold names, on rank 2
    assert compared(found)["RR@5"].difference == pytest.approx(-1 / 2)
    assert found.items.relabelled == IDS


# ------------------------------------------------------------------------------ systems, measures


def test_what_only_one_side_has_is_named(folder: Path) -> None:
    text = edited("  old: replay", "  renamed: replay", ONLY_OLD)
    (folder / "study.yaml").write_text(edited("[RR@5, nDCG@10]", "[P@1, RR@5]", text))
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert found.only_old == {"arms": ["old"], "measures": ["nDCG@10"]}
    assert found.only_new == {"arms": ["renamed"], "measures": ["P@1"]}
    assert found.arms == []


def test_times_are_compared_on_request_only(tmp_path: Path) -> None:
    text = edited(
        "old: replay(path=old.run)", "old: bm25", edited("[RR@5, nDCG@10]", "[Seconds, RR@5]", ONLY_OLD)
    )
    folder = write_study(tmp_path, text)
    evaluate(folder)
    tag_baseline(opened(folder), "march")
    found = diff_baselines(opened(folder), "march")
    assert (found.timings, list(compared(found))) == (["Seconds"], ["RR@5"])
    found = diff_baselines(opened(folder), "march", timings=True)
    assert (found.timings, list(compared(found))) == ([], ["Seconds", "RR@5"])


def test_verdict_gates_and_corpus_then_and_now(tmp_path: Path) -> None:
    gate = "gates: {ship: {go: ['RR@5(old) <= 0.6']}}\n"
    folder = write_study(tmp_path, ONLY_OLD + gate + "recommend: {deploy: {ship: go}, wait: {ship: no-go}}\n")
    evaluate(folder)
    tag_baseline(opened(folder), "march")
    place(folder, dict.fromkeys(range(N), 1))  # from 0.5 to 1
    passages = folder / "data/passages.jsonl"
    passages.write_text(passages.read_text() + '{"doc_id": "d12", "text": "omega"}\n')
    evaluate(folder)
    found = diff_baselines(opened(folder), "march")
    assert found.verdict == Change("go", "no-go")
    assert found.recommendation == Change("deploy", "wait")
    assert found.gates == {
        "ship": Change("go", "no-go"),
        "ship: RR@5(old) <= 0.6": Change("passes", "fails"),
    }
    assert set(found.provenance) == {"corpus", "system old"}


def test_two_baselines_are_compared_whatever_the_study_shows_now(folder: Path) -> None:
    place(folder, {0: 1})
    evaluate(folder)
    tag_baseline(opened(folder), "april")
    place(folder, dict.fromkeys(range(N), 3))
    evaluate(folder)
    there = compared(diff_baselines(opened(folder), "march", "april"))["RR@5"]
    back = compared(diff_baselines(opened(folder), "april", "march"))["RR@5"]
    assert there.difference == pytest.approx(0.5 / 12)
    assert back.difference == pytest.approx(-0.5 / 12)


def test_a_run_older_than_the_study_is_said_aloud(folder: Path) -> None:
    place(folder, {0: 1})
    found = diff_baselines(opened(folder), "march")
    assert apart_from_size(found.warnings) == [
        "the study has changed since this run: old (system); run again"
    ]
    assert compared(found)["RR@5"].difference == 0.0


# --------------------------------------------------------------------------------------- keeping


def test_what_is_kept(folder: Path) -> None:
    place_ = folder / "baselines/march"
    kept_files = ["items.json", "looks", "results.json", "scores.parquet"]
    assert sorted(path.name for path in place_.iterdir()) == kept_files
    assert pl.read_parquet(place_ / "scores.parquet").height == N * 2
    results = json.loads((place_ / "results.json").read_bytes())
    assert results["schema"] == "assay/results/2"
    assert "scores" not in results
    kept = json.loads((place_ / "items.json").read_bytes())
    assert (kept["schema"], kept["note"], kept["created"]) == ("assay/baseline/1", "the first", 1000.0)
    item = kept["items"][0]
    assert (item["item_id"], item["text"], item["tags"]) == ("q0", "alpha", {"topic": ["even"]})
    assert set(item["gold"]) == {"hash"}


def test_baselines_are_listed_oldest_first(folder: Path) -> None:
    tag_baseline(opened(folder, at=500.0), "earlier")
    found = [(each.name, each.created, each.note, each.items) for each in list_baselines(opened(folder))]
    assert found == [("earlier", 500.0, "", N), ("march", 1000.0, "the first", N)]


def test_a_study_file_of_another_name_keeps_its_own(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    (folder / "nightly.yaml").write_text(ONLY_OLD)
    evaluate(folder / "nightly.yaml")
    tag_baseline(opened(folder / "nightly.yaml"), "march")
    assert (folder / "nightly.baselines/march/scores.parquet").is_file()
    assert list_baselines(opened(folder)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "-x", "a/b", "../up", "a b", "é", "x" * 101, "a\n"]
)
def test_a_name_that_is_none_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match="is not a name for a baseline"):
        tag_baseline(opened(folder), name)
    assert [path.name for path in (folder / "baselines").iterdir()] == ["march"]


def test_a_name_that_is_taken_needs_a_word(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"There is a baseline 'march' already.*--replace"):
        tag_baseline(opened(folder), "march", "again")
    tag_baseline(opened(folder), "march", "again", replace=True)
    assert [each.note for each in list_baselines(opened(folder))] == ["again"]
    assert [path.name for path in (folder / "baselines").iterdir()] == ["march"]


def test_a_name_that_nobody_gave(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no baseline 'marsh'\. Did you mean 'march'"):
        diff_baselines(opened(folder), "marsh")
    with pytest.raises(UsageError, match="no baseline 'april'"):
        diff_baselines(opened(folder), "march", "april")


def test_nothing_is_kept_before_anything_was_run(tmp_path: Path) -> None:
    folder = write_study(tmp_path, ONLY_OLD)
    with pytest.raises(UsageError, match="Nothing was run yet"):
        tag_baseline(opened(folder), "march")
    assert not (folder / "baselines").exists()


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interrupted_tag_leaves_nothing_half_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    before = files_in(folder / "baselines")
    monkeypatch.setattr(tags, "sync", Interrupting(after))
    for name, replace in (("april", False), ("march", True)):
        with pytest.raises(KeyboardInterrupt):
            tag_baseline(opened(folder), name, "interrupted", replace)
        assert files_in(folder / "baselines") == before


def test_a_replacement_that_cannot_be_put_in_place_leaves_the_old(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename = files_in(folder / "baselines"), Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path.name.endswith(".tmp"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    with pytest.raises(DataError, match="march: cannot be written: No space left on device"):
        tag_baseline(opened(folder), "march", "again", replace=True)
    assert files_in(folder / "baselines") == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "harm", "message"),
    [
        ("scores.parquet", cut, "scores.parquet: the baseline is damaged: it is not the file that was kept"),
        ("results.json", cut, "results.json: the baseline is damaged"),
        ("results.json", Path.unlink, "the baseline is damaged: .*No such file"),
        ("items.json", cut, "the baseline is damaged: .*Restore it, or tag the study again"),
        ("items.json", lambda path: path.write_text("[]"), "the baseline is damaged"),
        (
            "items.json",
            lambda path: path.write_text(path.read_text().replace("baseline/1", "baseline/2")),
            "kept in the form 'assay/baseline/2'; this version of Assay reads 'assay/baseline/1'. Update",
        ),
    ],
)
def test_a_baseline_that_is_damaged_or_newer(
    folder: Path, file: str, harm: Callable[[Path], object], message: str
) -> None:
    tag_baseline(opened(folder), "april")
    harm(folder / "baselines/march" / file)
    with pytest.raises(DataError, match=message):
        diff_baselines(opened(folder), "march")
    whole, broken = list_baselines(opened(folder))
    assert (whole.name, whole.problem, broken.name) == ("april", "", "march")
    assert "march" in broken.problem


def test_the_json_form_is_versioned(folder: Path) -> None:
    found = diff_baselines(opened(folder), "march").as_json()
    assert found["schema"] == "assay/baseline-diff/1"
    assert set(found) == {"schema", *(field.name for field in dataclasses.fields(BaselineDiff))}
    assert json.loads(json.dumps(found)) == found


# -------------------------------------------------------------------------------------- stand-ins


def files_in(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def mark(study: Study, targets: dict[str, str], grade: float = 1.0) -> None:
    """What a person calls relevant, or not."""
    with Store(study.run_folder).writer() as writer:
        for item_id, doc_id in targets.items():
            writer.append(
                JudgmentEntry(Judgment(item_id, "relevance", grade, "anna", target=doc_id)), now=True
            )


@dataclass(frozen=True)
class Model:
    """Calls every hit relevant, or none; unless it is on, it is asked nothing."""

    on: bool = False
    grade: float = 1.0
    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("model",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()

    @property
    def opens(self) -> frozenset[str]:
        return frozenset({"relevance"}) if self.on else frozenset()

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks if self.on else ():
            for item, doc, _ in block.top(10).iter_rows():
                yield Question(item, "relevance", f"text of {doc}", target=doc)

    def ask(self, question: Question, kit: Kit) -> Finding:
        return Finding(self.grade)


class Interrupting:
    """A disk that is waited for so many times, then no more."""

    def __init__(self, after: int) -> None:
        self.after, self.left = after, after

    def __call__(self, path: Path) -> None:
        if not self.left:
            self.left = self.after
            raise KeyboardInterrupt
        self.left -= 1


@dataclass(frozen=True)
class Lost(RR):
    """What is missing to a reciprocal rank of 1."""

    family: ClassVar[str] = "Lost"
    better: ClassVar[str] = "lower"
    absent: ClassVar[float | None] = 1.0

    def values(self, block: Block) -> NDArray[np.float64]:
        return 1.0 - super().values(block)


@dataclass(frozen=True)
class Seeded:
    """Returns the right passage at a rank that its place, its shift and the seed push down."""

    place: str = "1"
    shift: int = 0
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> SeededIndex:
        return SeededIndex(int(self.place) + self.shift + seed)


@dataclass(frozen=True)
class SeededIndex:
    """An index and a session in one."""

    rank: int

    def session(self) -> SeededIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        n = int(query.item_id.removeprefix("q"))
        docs = [f"d{(n + step) % N}" for step in range(1, self.rank)] + [f"d{n}"]
        return Response(hits=[Hit(doc, -float(at)) for at, doc in enumerate(docs)])
