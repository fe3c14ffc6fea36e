"""Which items and arms are asked: --where, --system, --limit, --fresh, and the spending cap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Fault, Judgment, Observed, Query, Response
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, run_study, study_status
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import open_study
from probe import Probe, asked
from probing import (
    behave,
    finished,
    forget_asked,
    hits_of,
    items,
    opened,
    run_only,
    scores_of,
    sequence,
    times_asked,
    write_plugin,
    write_study,
)


def tagged() -> list[dict[str, Any]]:
    """q0 hard, q1 easy, q2 both, q3 without the tag, q4 hard and German; then a sequence, its second hard."""
    given = [*items(5), *sequence("talk", 2)]
    for index, values in {0: ["hard"], 1: ["easy"], 2: ["hard", "easy"], 4: ["hard"], 6: ["hard"]}.items():
        given[index]["tags"] = {"level": values}
    given[4]["language"] = "de"
    return given


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection({"level": ["hard"]}), {"q0", "q2", "q4", "talk0", "talk1"}),  # a sequence runs whole
        (Selection({"level": ["easy"]}), {"q1", "q2"}),
        (Selection({"level": ["easy", "hard"]}, limit=2), {"q0", "q1"}),
        (Selection({"level": ["easy"]}, limit=2), {"q1", "q2"}),  # the first two of those selected
        (Selection({"language": ["de"]}), {"q4"}),
        (Selection({"level": ["hard"], "language": ["de"]}), {"q4"}),
        (Selection({"sequence": ["talk"]}), {"talk0", "talk1"}),
        (Selection(limit=3), {"q0", "q1", "q2"}),
        (Selection(limit=6), {"q0", "q1", "q2", "q3", "q4", "talk0", "talk1"}),
        (Selection(), {"q0", "q1", "q2", "q3", "q4", "talk0", "talk1"}),
    ],
)
def test_items_are_selected_as_the_options_say(
    tmp_path: Path, selection: Selection, expected: set[str]
) -> None:
    study = opened(write_study(tmp_path, tagged()))
    outcome = run_study(study, selection)
    assert set(times_asked(tmp_path)) == expected
    assert (outcome.answered, outcome.pending, outcome.left_out) == (len(expected), 0, 7 - len(expected))


def primed() -> list[dict[str, Any]]:
    """A sequence of a prime and two probes, then the unprimed twins of both."""
    given = [*sequence("talk", 3), *items(2)]
    for index, part in enumerate(["prime", "probe", "probe", "unprimed", "unprimed"]):
        given[index]["tags"] = {"part": [part]}
    for index, probe in {3: "talk1", 4: "talk2"}.items():
        given[index]["gold"] = {"unprimed_of": probe}
    return given


def test_with_a_probe_goes_its_twin(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, primed(), measures=["PrimingShift"]))
    probes = Selection({"part": ["probe"]})
    run_study(study, probes)
    assert set(times_asked(tmp_path)) == {"talk0", "talk1", "talk2", "q0", "q1"}
    scores = Evaluation(study, probes).scores
    shown = dict(scores.select("item", "status").iter_rows())
    assert (shown["talk1"], shown["talk2"]) == ("scored", "scored")
    dataset = study.dataset(study.arms[0])
    assert Selection({"part": ["probe"]}, limit=1).positions(study, dataset) == {1, 3}
    assert Selection({"part": ["prime"]}).positions(study, dataset) == {0}


def test_systems_and_factors_select_arms(tmp_path: Path) -> None:
    given = {"wide": "probe", "narrow": {"use": "probe", "top": 1}}
    study = opened(write_study(tmp_path, items(2), systems=given))
    run_study(study, Selection(systems=["narrow"]))
    assert {line["top"] for line in asked(tmp_path)} == {1}
    with pytest.raises(UsageError, match=r"no system 'narow'\. Did you mean 'narrow'"):
        run_study(study, Selection(systems=["narow"]))


def test_a_factor_selects_arms_not_items(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(2), factors={"top": [1, 2]}))
    run_study(study, Selection({"top": ["2"]}))
    assert Counter(line["top"] for line in asked(tmp_path)) == {2: 2}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"levl": ["hard"]}, "Did you mean 'level'"),
        ({"level": ["hrad"]}, "selects nothing. Did you mean 'hard'"),
    ],
)
def test_a_condition_that_nothing_meets_is_refused(
    tmp_path: Path, where: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_study(opened(write_study(tmp_path, tagged())), Selection(where))


def test_a_narrow_run_and_then_the_whole_ask_each_item_once(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, tagged()))
    run_study(study, Selection(limit=2))
    assert study_status(study).arms[0].pending == 5
    run_study(study)
    assert set(times_asked(tmp_path).values()) == {1}
    assert study_status(study).arms[0].answered == 7


def test_fresh_asks_what_is_selected_again_and_keeps_judgments_and_the_rest(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(3), systems={"a": "probe", "b": {"use": "probe", "top": 1}}))
    run_study(study)
    store = Store(study.run_folder)
    mark = Judgment("q0", "relevance", 1.0, "ann", target="d1")
    with store.writer() as desk:
        desk.append(JudgmentEntry(mark), now=True)
    forget_asked(tmp_path)
    outcome = run_study(study, Selection(systems=["b"]), fresh=True)
    assert (outcome.answered, outcome.reused) == (3, 0)
    assert {line["top"] for line in asked(tmp_path)} == {1}
    assert store.judgments() == [mark]
    assert run_study(study).reused == 6


def test_fresh_with_an_endpoint_that_is_down_costs_no_answer(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(4), run={"retries": 0}))
    run_study(study)
    before = hits_of(tmp_path)
    behave(tmp_path, **{f"q{number}": "value error" for number in range(4)})
    with pytest.raises(SystemFailure, match="probe failed on all 4 items"):
        run_study(study, fresh=True)
    assert hits_of(tmp_path).equals(before)
    assert run_study(study).reused == 4


def test_fresh_replaces_what_it_got_and_keeps_what_it_did_not(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(4), run={"retries": 0}))
    run_study(study)
    before = dict(hits_of(tmp_path).select("item", "docs").iter_rows())
    behave(tmp_path, q0="a fixed answer", q1="value error")  # d1 alone for q0
    run_study(study, fresh=True)
    after = dict(hits_of(tmp_path).select("item", "docs").iter_rows())
    assert after == {**before, "q0": ["d1"]}
    assert before["q0"] != ["d1"]
    sealed = pl.concat(pl.read_parquet(path) for path in (tmp_path / "run/sealed").iterdir())
    assert sorted(sealed["item"]) == ["q0", "q1", "q2", "q3"]  # the older ones went
    behave(tmp_path)
    run_study(study, fresh=True)
    assert dict(hits_of(tmp_path).select("item", "docs").iter_rows()) == before


def test_an_interrupted_fresh_run_leaves_a_whole_one(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(6)))
    run_study(study)
    behave(tmp_path, q0="a fixed answer", q5="a fixed answer")
    run_study(study, Selection(limit=2), fresh=True)  # as far as it came
    outcome = run_study(study)
    assert (outcome.reused, outcome.answered, outcome.pending) == (6, 0, 0)
    docs = dict(hits_of(tmp_path).select("item", "docs").iter_rows())
    assert docs["q0"] == ["d1"] != docs["q5"]


# ------------------------------------------------------------------------------------- spending cap


def capped(folder: Path, cap: float | None, **more: Any) -> Path:
    """Twelve items for each of two systems; an answer costs 1."""
    systems = {"a": "probe(cost=1)", "b": "probe(cost=1, top=2)"}
    run = {"threads": 2} if cap is None else {"max_cost": cap, "threads": 2}
    return write_study(folder, items(12), systems=systems, run={**run, **more})


def test_the_cap_stops_asking_and_raising_it_resumes(tmp_path: Path) -> None:
    outcome = run_study(opened(capped(tmp_path, 5)))
    assert 5 <= outcome.cost <= 5 + 2  # two threads may be in flight when it is reached
    assert outcome.pending == 24 - outcome.answered
    spent = len(asked(tmp_path))
    assert run_study(opened(tmp_path)).answered == 0  # what was spent stays spent
    assert len(asked(tmp_path)) == spent
    outcome = run_study(opened(capped(tmp_path, 100)))
    assert outcome.pending == 0
    assert len(asked(tmp_path)) == 24


def test_a_spent_cap_does_not_even_build(tmp_path: Path) -> None:
    run_study(opened(capped(tmp_path, 2)))
    path = tmp_path / "study.yaml"
    content = yaml.safe_load(path.read_text())
    content["systems"]["b"] = "probe(unbuildable=true)"
    path.write_text(yaml.safe_dump(content))
    assert run_study(opened(tmp_path)).answered == 0  # building would raise


@dataclass
class Billed:
    """An index and its session: each attempt costs 1, and so did building it."""

    failing: Container[str]
    cost: float = 1.0

    def session(self) -> Billed:
        return self

    def answer(self, query: Query, budgets: object) -> Response:
        fault = Fault("Down", "down") if query.item_id in self.failing else None
        return Response(error=fault, observed=Observed(cost=1.0))


class Bills(Probe):
    """Sends bills; items that have a behaviour fail."""

    def build(self, *given: Any) -> Any:
        return Billed(super().build(*given).behaviour)


def test_what_was_paid_is_never_forgotten(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(3), run={"retries": 0}), Bills)
    store = Store(study.run_folder)
    behave(tmp_path, q0="fails")
    assert run_study(study).cost == 4.0  # the index and three attempts, one of which failed
    behave(tmp_path)
    assert run_study(study).cost == 2.0  # the index and the failed item again; sealed now
    assert store.cost() == 6.0
    run_study(study, fresh=True)
    assert store.cost() == 10.0  # and the index and three answers afresh
    assert list(store.journal.glob("*.jsonl")) != []  # builds stay
    capped = opened(write_study(tmp_path, items(4), run={"max_cost": 10}), Bills)
    assert run_study(capped).answered == 0


def test_free_runs_keep_no_accounts(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(2)))
    run_study(study)
    assert not Store(study.run_folder).spending.exists()


@pytest.mark.slow
def test_the_cap_holds_across_processes(tmp_path: Path) -> None:
    env = write_plugin(tmp_path / "plugin")
    folder = capped(tmp_path / "study", 6)
    assert finished(run_only(folder, "processes"), env).returncode == 0
    spent = len(asked(folder))
    assert 6 <= spent <= 6 + 2 * 2  # two processes of two threads
    run_study(opened(capped(folder, None)))
    assert len(asked(folder)) == 24


# ------------------------------------------------------------------------------------------ engines


@pytest.mark.slow
def test_processes_give_the_answers_that_threads_give(tmp_path: Path) -> None:
    given = [*items(6), *sequence("talk", 3)]
    fields = {"seeds": 2, "systems": {"a": "probe", "b": "probe(top=2)"}}
    here, there = (write_study(tmp_path / name, given, **fields) for name in ("here", "there"))
    run_study(opened(here))
    path = (there / "study.yaml").rename(there / "other.yaml")  # a study file may have any name
    done = finished(run_only(path, "processes"), write_plugin(tmp_path / "plugin"))
    assert (done.returncode, done.stdout) == (0, "36\n"), done.stderr
    path.rename(there / "study.yaml")
    (there / "other.run").rename(there / "run")
    assert hits_of(there).equals(hits_of(here))
    assert scores_of(there).equals(scores_of(here))


def test_processes_refuse_what_would_not_reach_them(tmp_path: Path) -> None:
    folder = write_study(tmp_path, items(1))
    with pytest.raises(UsageError, match=r"'processes' cannot run a study with plugins of this process"):
        run_study(opened(folder), engine="processes")
    assert not (folder / "run").exists()
    given = open_study(write_study(folder, items(1), systems={"a": "bm25"}), kit=Kit(cache=tmp_path))
    with pytest.raises(UsageError, match=r"a kit of its own\. Set environment variables, or use 'local'"):
        run_study(given, engine="processes")


def test_an_unknown_engine_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"no engine 'locl'\. Did you mean 'local'"):
        run_study(opened(write_study(tmp_path, items(1))), engine="locl")
