"""assay fit: what is fitted on which items, the file it writes, its table, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.kinds.hierarchy.fitted import read_detector
from assay.kinds.hierarchy.fitting import fit_detectors
from assay.study.study import open_study
from small_detecting import STUDY, small_items, write_small
from small_study import assay, edited


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("fitted"))
    fit_detectors(open_study(folder))
    return folder


def test_the_file_says_what_it_was_fitted_on_and_what_it_reached(fitted: Path) -> None:
    detector = read_detector(fitted / "shy.json")
    origin = detector.fitted
    assert (origin.dataset, origin.arm, origin.factors) == ("data", "shy", {})
    assert "BM25" in origin.system
    # 18 of 20 possible items, by turns; 10 of each other kind
    counts = {"aggregation": 5, "out_of_kb": 5, "possible": 9}
    assert origin.counts == {"tune": counts, "dev": counts}
    assert set(detector.kinds) == {"aggregation", "out_of_kb"}
    for kind in ("aggregation", "out_of_kb", "any"):
        reached = origin.reached[kind]
        assert (reached.precision, reached.recall, reached.f1) == (1.0, 1.0, 1.0)
    assert (origin.reached["any"].n, origin.reached["out_of_kb"].n) == (10, 5)


def test_the_weights_are_those_one_would_expect(fitted: Path) -> None:
    kinds = read_detector(fitted / "shy.json").kinds
    assert kinds["aggregation"].weights["enumerating"] > 0.1
    assert kinds["out_of_kb"].weights["heaviest_lost"] > 0.1
    assert kinds["out_of_kb"].weights["mass_first"] < 0


def test_the_same_inputs_give_the_same_bytes_and_test_items_are_not_looked_at(
    fitted: Path, tmp_path: Path
) -> None:
    items = small_items()
    for item in items:
        if item["split"] == "test":
            item["gold"], item["text"] = {"impossible": "aggregation"}, "changed"
    fit_detectors(open_study(write_small(tmp_path, items=items)))
    assert (tmp_path / "shy.json").read_bytes() == (fitted / "shy.json").read_bytes()


def test_a_fitted_study_runs_and_flags_what_cannot_be_answered(tmp_path: Path) -> None:
    folder = write_small(tmp_path, edited("split: test\n", "", STUDY))
    before = assay("validate", folder)
    assert before.code == 3
    assert f"{folder / 'shy.json'}: not fitted yet. Fit it: run `assay fit STUDY`." in before.err
    done = assay("fit", folder, "--json")
    assert (done.code, done.json["schema"]) == (0, "assay/fit/1")
    (fit,) = done.json["fits"]
    assert (fit["system"], fit["arm"], fit["reached"]["any"]["recall"]) == ("shy", "shy", 1.0)
    assert assay("validate", folder).code == 0


def test_the_table(tmp_path: Path) -> None:
    done = assay("fit", write_small(tmp_path))
    assert done.code == 0
    assert done.err.splitlines()[-1] == f"shy: {tmp_path / 'shy.json'}"
    header, *rows = [line.split() for line in done.out.splitlines()]
    assert header == ["system", "kind", "threshold", "dev", "items", "precision", "recall", "F1"]
    assert [row[:2] for row in rows] == [["shy", "aggregation"], ["shy", "out_of_kb"], ["shy", "any"]]
    assert rows[2][2:] == ["10", "1.00", "1.00", "1.00"]


def test_with_factors_the_first_arm_is_fitted_on_or_the_one_asked_for(tmp_path: Path) -> None:
    folder = write_small(tmp_path, edited("systems:", "factors: {of.k: [20, 30]}\nsystems:", STUDY))
    (fit,) = fit_detectors(open_study(folder))
    assert fit.model.fitted.factors == {"of.k": "20"}
    done = assay("fit", folder, "--where", "of.k=30")
    assert f"shy[of.k=30]: {folder / 'shy.json'}" in done.err
    assert read_detector(folder / "shy.json").fitted.factors == {"of.k": "30"}
    assert "selects nothing" in assay("fit", folder, "--where", "of.k=31").err
    assert "no factor is called that" in assay("fit", folder, "--where", "kk=31").err


def test_a_system_inside_another_is_fitted(tmp_path: Path) -> None:
    inner = "abstaining(of=bm25, detector=shy.json)"
    text = edited(inner, f"reader(of={inner}, url='http://127.0.0.1:9/v1')", STUDY)
    (fit,) = fit_detectors(open_study(write_small(tmp_path, text)))
    assert (fit.system, Path(fit.path).name) == ("shy", "shy.json")


def only(*kept: str, split: str | None = None) -> list[dict[str, Any]]:
    """The items whose letter is among those kept, all of one split where it is given."""
    items = [item for item in small_items() if item["item_id"][0] in kept]
    return [{**item, "split": split} if split else item for item in items]


@pytest.mark.parametrize(
    ("items", "what"),
    [
        (only("p", "a", split="test"), ["no item has the split 'tune'", "no item has the split 'dev'"]),
        (only("p", "a", split="tune"), ["no item has the split 'dev'"]),
        (only("p"), ["no item of tune has gold 'impossible'"]),
        (only("a", "o"), ["all items of tune are impossible"]),
        (
            [*only("p"), *only("a")[:4]],
            ["2 items of tune are 'aggregation'. At least 5 are needed."],
        ),
        ([*only("p"), *only("a", split="tune")], ["no item of dev is 'aggregation'"]),
    ],
)
def test_data_that_nothing_can_be_fitted_on_is_refused(
    tmp_path: Path, items: list[dict[str, Any]], what: list[str]
) -> None:
    done = assay("fit", write_small(tmp_path, items=items))
    assert done.code == 3
    for each in what:
        assert f"study.yaml:2: data: {each}" in done.err
    assert not (tmp_path / "shy.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "options", "what"),
    [
        ("  shy: abstaining(of=bm25, detector=shy.json)\n", "", [], "no system is `abstaining`"),
        ("", "", ["--system", "plain"], "none of plain is `abstaining` or a race"),
        ("", "", ["--system", "shyy"], "There is no system 'shyy'. Did you mean 'shy'?"),
        (
            "plain: bm25",
            "other: abstaining(of=dense, detector=shy.json)",
            [],
            "The systems other and shy both read shy.json.",
        ),
    ],
)
def test_studies_that_nothing_can_be_fitted_in_are_refused(
    tmp_path: Path, old: str, new: str, options: list[str], what: str
) -> None:
    done = assay("fit", write_small(tmp_path, edited(old, new, STUDY)), *options)
    assert done.code == 2
    assert what in done.err


@dataclass(frozen=True)
class Failing:
    """A system that breaks at every question."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Failing:
        return self

    def session(self) -> Failing:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        return Response(error=Fault("Broken", "it broke"))


def test_a_system_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    folder = write_small(tmp_path, edited("of=bm25", "of=failing", STUDY))
    old = '{"format": "assay/detector/1"}'
    (folder / "shy.json").write_text(old)
    study = open_study(folder, registry=Registry({SYSTEMS: {"failing": Failing}}))
    with pytest.raises(SystemFailure, match=r"p0 failed \(Broken: it broke\), so nothing was fitted"):
        fit_detectors(study)
    assert (folder / "shy.json").read_text() == old


def test_a_file_that_is_not_a_detector_is_not_overwritten(tmp_path: Path) -> None:
    folder = write_small(tmp_path)
    (folder / "shy.json").write_text("my notes")
    with pytest.raises(UsageError, match="exists and is not a detector"):
        fit_detectors(open_study(folder))
    assert (folder / "shy.json").read_text() == "my notes"
