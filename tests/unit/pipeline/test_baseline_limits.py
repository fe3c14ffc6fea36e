"""Limits on what may be lost since a baseline: points of a measure, and seconds beside a reference."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.errors import DataError, SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Budget, ClauseResult, Hit, Observed, Query, Response, Verdict
from assay.core.registry import MEASURES, SYSTEMS, Registry, template_of
from assay.measures.ranking import Success
from assay.pipeline.baselines.gate import compare_with_baseline
from assay.pipeline.baselines.tags import tag_baseline
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, run_study
from assay.study.study import Study, open_study
from small_study import write_lines

N = 60
DAY = 86_400.0
STUDY = """\
data: data
systems: {graph: served(path=graph.json), plain: served(path=plain.json)}
measures: [Success@1, Seconds, Abstain]
compare: {resamples: 300}
limits:
  worse: {Success@1: 0.02, Abstain: 0.02}
  latency: 1.2
  reference: plain
gates:
  ship: {go: ["Success@1(graph) >= 10%"]}
"""
LOSS = "Success@1(graph) >= Success@1(main) - 0.02"
LATENCY = "Seconds(graph)/Seconds(plain) <= 1.2 * main"


@dataclass(frozen=True)
class Served:
    """Answers from a file: by item the document, null where it fails, and the seconds it claims."""

    path: str
    copy: str = ""

    version: ClassVar[str] = "1"

    def identity(self, kit: Kit) -> str:
        return kit.path(self.path).read_text()

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Answers:
        return Answers(json.loads(kit.path(self.path).read_text()))


@dataclass(frozen=True)
class Answers:
    found: dict[str, tuple[str | None, float]]

    def session(self) -> Answers:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        doc, seconds = self.found[query.item_id]
        if doc is None:
            raise SystemFailure("HTTP 500")
        return Response(hits=[Hit(doc, 1.0)], observed=Observed(seconds={"total": seconds}))


@dataclass(frozen=True)
class Missed(Success):
    """1 where no hit within the cut-off is relevant."""

    family: ClassVar[str] = "Missed"
    better: ClassVar[str] = "lower"

    def values(self, block: Block) -> NDArray[np.float64]:
        return 1.0 - super().values(block)


def write(folder: Path, study: str = STUDY, n: int = N, marked: Iterable[int] = ()) -> Path:
    """Items whose right document bears their number; the text of those `marked` is another."""
    others = set(marked)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(study)
    items = [
        {
            "item_id": f"q{i}",
            "text": f"{'other' if i in others else 'query'} {i}",
            "gold": {"relevant": {f"d{i}": 1}},
        }
        for i in range(n)
    ]
    write_lines(folder / "data/items.jsonl", items)
    passages = [{"doc_id": f"d{i}", "text": f"text {i}"} for i in range(N + 9)]
    write_lines(folder / "data/passages.jsonl", passages)
    return folder


def serve(
    folder: Path,
    right: Iterable[int] = range(45),
    seconds: Mapping[str, float] | None = None,
    failing: Iterable[int] = (),
) -> Path:
    """What both systems answer: seconds spread around a middle, an item's spread its own in each system."""
    found, lost, middle = set(right), set(failing), seconds or {"graph": 2.0, "plain": 1.0}
    for place, (name, value) in enumerate(middle.items()):
        answers = {
            f"q{i}": (
                None if name == "graph" and i in lost else f"d{i if i in found else (i + 1) % N}",
                value * (1 + ((7 + 4 * place) * i % N - (N - 1) / 2) / 300),
            )
            for i in range(N + 5)
        }
        (folder / f"{name}.json").write_text(json.dumps(answers))
    return folder


def opened(folder: Path, clock: float = 0.0, fresh: bool = False) -> Study:
    plugins: dict[str, dict[str, type]] = {SYSTEMS: {"served": Served}, MEASURES: {"Missed": Missed}}
    study = open_study(folder, registry=Registry(plugins), kit=Kit(clock=lambda: clock))
    run_study(study, fresh=fresh)
    return study


def held(
    folder: Path, clock: float = 0.0, fresh: bool = False, selection: Selection | None = None
) -> Verdict:
    """What is concluded of the study as it is now, against its baseline."""
    study = opened(folder, clock, fresh)
    return compare_with_baseline(Evaluation(study, selection or Selection()), "main").verdicts[-1]


def limited(verdict: Verdict) -> dict[str, ClauseResult]:
    """The clauses of limits on the one system, by their text; what no limit says is left out."""
    return {
        one.text: one
        for one in verdict.clauses
        if "(graph" in one.text and (" - " in one.text or " + " in one.text or " * " in one.text)
    }


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tagged `main` with 45 of 60 right and seconds twice those of the reference."""
    place = serve(write(tmp_path_factory.mktemp("limits") / "s"))
    tag_baseline(opened(place), "main")
    return place


@pytest.fixture
def folder(tagged: Path, tmp_path: Path) -> Path:
    """A copy of it to change."""
    return shutil.copytree(tagged, tmp_path / "s")


# ---------------------------------------------------------------------------------------- measures


def test_a_loss_within_the_limit_is_kept_and_one_beyond_is_a_no_go(folder: Path) -> None:
    serve(folder, range(1, 45))  # 44/60 - 45/60 = -1/60, a margin of 0.02 - 1/60
    verdict = held(folder)
    clause = limited(verdict)[LOSS]
    assert clause.holds is True
    assert clause.value == pytest.approx(0.02 - 1 / 60)
    assert clause.left == pytest.approx(44 / 60)
    assert clause.right == pytest.approx(45 / 60 - 0.02)
    assert clause.n == N
    assert verdict.verdict == "go"
    assert verdict.reason.endswith("every limit is kept")
    serve(folder, range(2, 45))  # -2/60 = -0.033: chance alone could do it, yet the limit is 0.02
    verdict = held(folder)
    clause = limited(verdict)[LOSS]
    assert clause.holds is False
    assert clause.shows == "not guarded"
    assert clause.reason.startswith("0.717 now, 0.750 then; 2 lost, 0 won, 58 unchanged; decided on the")
    assert clause.low is not None
    assert clause.high is not None
    assert clause.low < 0 < clause.high
    assert [one.holds for one in verdict.clauses if one.text == "Success@1(graph) >= Success@1(main)"] == [
        True
    ]
    assert (verdict.verdict, verdict.reason) == (
        "no-go",
        "more was lost since the baseline than a limit allows",
    )


def test_a_loss_of_just_the_limit_is_kept(folder: Path) -> None:
    write(folder, STUDY.replace("Success@1: 0.02", "Success@1: 0.05"))
    serve(folder, range(3, 45))  # 42/60 - 45/60 = -0.05
    assert limited(held(folder))["Success@1(graph) >= Success@1(main) - 0.05"].holds is True


def test_where_less_is_better_the_limit_is_on_the_rise(tmp_path: Path) -> None:
    place = serve(write(tmp_path / "s", STUDY.replace("Success@1", "Missed@1").replace(">= 10%", "<= 90%")))
    tag_baseline(opened(place), "main")
    serve(place, range(2, 45))  # 17/60 missed, 15/60 then: up by 0.033
    clause = limited(held(place))["Missed@1(graph) <= Missed@1(main) + 0.02"]
    assert clause.holds is False
    assert clause.value == pytest.approx(2 / 60 - 0.02)


def test_changed_and_new_items_stay_out(folder: Path) -> None:
    write(folder, n=N + 5, marked=range(2))
    serve(folder, range(2, 45))  # the two that are lost have another text than then
    clause = limited(held(folder))[LOSS]
    assert (clause.holds, clause.n) == (True, N - 2)
    assert clause.left == pytest.approx(43 / 58)


@pytest.mark.parametrize(
    ("failing", "holds", "reason"),
    [
        # right or wrong, one more: 44/60 at worst, down by 1/60
        (range(1), True, "at worst 0.733 now, 0.750 then"),
        # right or wrong, two more: 43/60 at worst, down by 2/60
        (range(2), None, "at worst 0.717 now, 0.750 then"),
    ],
)
def test_failed_items_count_at_both_ends(
    folder: Path, failing: Iterable[int], holds: bool | None, reason: str
) -> None:
    serve(folder, failing=failing)
    found = limited(held(folder))
    assert found[LOSS].holds is holds
    assert found[LOSS].reason.startswith(reason)
    assert found[LATENCY].holds is None  # a time has no upper end to count a failure at
    assert "failed items, and Seconds has no upper end" in found[LATENCY].reason


def test_a_measure_that_applies_to_nothing_has_no_clause(folder: Path) -> None:
    assert not any("Abstain" in text for text in limited(held(folder)))


# ----------------------------------------------------------------------------------------- seconds


@pytest.mark.parametrize(
    ("seconds", "holds", "growth"),
    [
        # a machine half as fast: 4.4 / 2 = 2.2 times the reference, 2 / 1 = 2 times then
        ({"graph": 4.4, "plain": 2.0}, True, 1.1),
        ({"graph": 5.0, "plain": 2.0}, False, 1.25),
        # as many seconds as then, beside a reference that takes half of its own
        ({"graph": 2.0, "plain": 0.5}, False, 2.0),
    ],
)
def test_seconds_are_held_beside_the_reference(
    folder: Path, seconds: Mapping[str, float], holds: bool, growth: float
) -> None:
    serve(folder, seconds=seconds)
    clause = limited(held(folder))[LATENCY]
    assert clause.holds is holds
    assert clause.left == pytest.approx(2 * growth)
    assert clause.right == pytest.approx(1.2 * 2)
    assert clause.value == pytest.approx(2 * growth - 2.4)
    assert clause.n == N
    assert clause.reason.startswith(f"{growth:.2f} [")
    assert f"times what it was: {2 * growth:.2f} times plain now, 2.00 times then" in clause.reason


def test_the_interval_of_seconds_is_that_of_their_growth_and_the_same_every_time(folder: Path) -> None:
    serve(folder, seconds={"plain": 1.0, "graph": 2.2})  # each system now has the other's spread
    clause = limited(held(folder))[LATENCY]
    assert clause.low is not None
    assert clause.high is not None
    assert clause.value is not None
    assert clause.low < clause.value < clause.high
    assert limited(held(folder))[LATENCY] == clause


def test_the_reference_is_not_held_beside_itself(folder: Path) -> None:
    texts = [one.text for one in held(folder).clauses]
    assert not any(text.startswith("Seconds(plain)") for text in texts)
    assert "Success@1(plain) >= Success@1(main) - 0.02" in texts


def test_answers_of_two_days_are_not_one_run(folder: Path) -> None:
    serve(folder, seconds={"graph": 2.2, "plain": 1.0})  # the reference's answers are stored already
    clause = limited(held(folder, clock=DAY))[LATENCY]
    assert clause.holds is None
    assert clause.reason == (
        "graph and plain were not asked in one run (60 answers): ask both again with --fresh"
    )
    assert limited(held(folder, clock=2 * DAY, fresh=True))[LATENCY].holds is True


def test_an_imported_arm_has_no_seconds_to_hold(folder: Path) -> None:
    text = STUDY.replace("served(path=graph.json)", "replay(path=graph.run)")
    (folder / "graph.run").write_text("".join(f"q{i} Q0 d{i} 1 1 x\n" for i in range(N)))
    write(folder, text)
    assert set(limited(held(folder))) == {LOSS}


def test_each_arm_is_held_beside_the_reference_of_its_factors(tmp_path: Path) -> None:
    text = STUDY.replace("gates:", "factors: {copy: [a, b]}\ngates:")
    place = serve(write(tmp_path / "s", text))
    tag_baseline(opened(place), "main")
    found = [text for text in limited(held(place)) if text.startswith("Seconds")]
    assert found == [
        f"Seconds(graph[copy={copy}])/Seconds(plain[copy={copy}]) <= 1.2 * main" for copy in ("a", "b")
    ]


# ------------------------------------------------------------------------- what the baseline lacks


def test_what_the_baseline_lacks_is_open(tmp_path: Path) -> None:
    then = STUDY.replace("Success@1, Seconds", "R@1").replace("worse: {Success@1: 0.02, ", "worse: {")
    then = then.replace("  latency: 1.2\n  reference: plain\n", "").replace("Success@1(", "R@1(")
    place = serve(write(tmp_path / "s", then))
    tag_baseline(opened(place), "main")
    write(place)
    found = limited(held(place))
    assert [(found[text].holds, found[text].reason) for text in (LOSS, LATENCY)] == [
        (None, "not in the baseline: Success@1"),
        (None, "not in the baseline: Seconds"),
    ]


def test_an_arm_that_the_baseline_lacks_is_open_where_a_gate_reads_it(folder: Path) -> None:
    new = "graph_new: served(path=graph.json)"
    write(folder, STUDY.replace("plain: served", f"{new}, plain: served"))
    assert not any("graph_new" in text for text in limited(held(folder)))
    write(folder, STUDY.replace("plain: served", f"{new}, plain: served").replace("1(graph)", "1(graph_new)"))
    found = {text: one for text, one in limited(held(folder)).items() if "graph_new" in text}
    assert [(one.holds, one.reason) for one in found.values()] == [
        (None, "not in the baseline: graph_new"),
        (None, "not in the baseline: graph_new"),
    ]


def test_a_reference_that_is_new_or_left_out_leaves_seconds_open(folder: Path) -> None:
    chosen = held(folder, selection=Selection(systems=["graph"]))
    assert limited(chosen)[LATENCY].reason == "plain was not run beside it"
    text = STUDY.replace("plain: served", "fresh: served(path=plain.json), plain: served")
    write(folder, text.replace("reference: plain", "reference: fresh"))
    clause = limited(held(folder))["Seconds(graph)/Seconds(fresh) <= 1.2 * main"]
    assert (clause.holds, clause.reason) == (None, "not in the baseline: fresh")


def test_without_a_common_item_everything_is_open(folder: Path) -> None:
    write(folder, marked=range(N))
    found = limited(held(folder))
    assert {one.reason for one in found.values()} == {"no item is in both unchanged"}
    assert {one.holds for one in found.values()} == {None}


def test_a_study_without_limits_is_held_as_before(folder: Path) -> None:
    write(folder, STUDY[: STUDY.index("limits:")] + STUDY[STUDY.index("gates:") :])
    assert [one.text for one in held(folder).clauses] == [
        "Success@1(graph) >= Success@1(main)",
        "Success@1(plain) >= Success@1(main)",
    ]


# --------------------------------------------------------------------------------- the study file


@pytest.mark.parametrize(
    ("old", "new", "field", "what"),
    [
        ("Success@1: 0.02", "Sucess@1: 0.02", "limits.worse.Sucess@1", "Did you mean 'Success@1'?"),
        ("Success@1: 0.02", "RR@3: 0.02", "limits.worse.RR@3", "RR@3 is not among the study's measures"),
        ("Success@1: 0.02", "Success@1: -0.02", "limits.worse.Success@1", "greater than or equal to 0"),
        ("Success@1: 0.02", "Success@1: few", "limits.worse.Success@1", "expected a number, found 'few'"),
        ("Success@1: 0.02", "Seconds: 0.5", "limits.worse.Seconds", "seconds of two runs do not compare"),
        ("latency: 1.2", "latency: -1", "limits.latency", "greater than 0"),
        ("latency: 1.2", "latenzy: 1.2", "limits.latenzy", "Did you mean 'latency'?"),
        ("  latency: 1.2\n", "", "limits.reference", "there is no latency to limit beside it"),
        ("  reference: plain\n", "", "limits.latency", "Add reference, one of: graph, plain."),
        ("reference: plain", "reference: plan", "limits.reference", "Did you mean 'plain'?"),
        ("1, Seconds", "1", "limits.latency", "Add Seconds to measures."),
        ("served(path=plain.json)", "replay(path=x.run)", "limits.reference", "were taken elsewhere"),
    ],
)
def test_what_is_wrong_with_limits_is_told_at_its_line(
    tmp_path: Path, old: str, new: str, field: str, what: str
) -> None:
    place = write(tmp_path / "s", STUDY.replace(old, new))
    (place / "x.run").write_text("q0 Q0 d0 1 1 x\n")
    plugins: dict[str, dict[str, type]] = {SYSTEMS: {"served": Served}}
    with pytest.raises(DataError) as raised:
        open_study(place, registry=Registry(plugins))
    (problem,) = raised.value.problems
    text = (place / "study.yaml").read_text().splitlines()
    assert problem.field == field
    assert what in str(problem)
    assert problem.line is not None
    assert field.rpartition(".")[2] in text[problem.line - 1]


def test_empty_limits_limit_nothing(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index("limits:")] + "limits: {}\n"
    plugins: dict[str, dict[str, type]] = {SYSTEMS: {"served": Served}}
    with pytest.raises(DataError, match=r"study\.yaml:5: limits: it limits nothing"):
        open_study(write(tmp_path / "s", text), registry=Registry(plugins))


@pytest.mark.parametrize("kind", ["search", "models", "memory", "hierarchy"])
def test_templates_limit_what_they_measure(kind: str) -> None:
    text = (template_of(kind) / "study.yaml").read_text()
    study = yaml.safe_load(text)
    limits = study["limits"]
    assert limits["worse"].keys() <= set(study["measures"])
    assert "decided on the" in text  # its reader is not left to think that chance is kept out
    if "latency" in limits:
        assert limits["reference"] in study["systems"]
        assert "Seconds" in study["measures"]
