"""Items asked again: what varies by itself is known, and never taken for an answer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Observed, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.core.results import Results
from assay.pipeline.baselines.gate import compare_with_baseline
from assay.pipeline.baselines.tags import tag_baseline
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, repeat_study, run_study
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_study import STUDY as SMALL
from small_study import assay, edited, write_lines, write_study

N = 42
STUDY = """\
data: data
systems: {server: moody}
measures: [Success@1]
compare: {resamples: 200}
gates:
  ship: {go: ["Success@1(server) >= 10%"]}
"""


@dataclass(frozen=True)
class Moody:
    """Finds the passages that a file lists for the round it is built in; its identity is another file."""

    version: ClassVar[str] = "1"

    def identity(self, kit: Kit) -> str:
        return kit.path("identity").read_text()

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Mood:
        rounds = json.loads(kit.path("rounds.json").read_text())
        kit.path("rounds.json").write_text(json.dumps(rounds[1:] or rounds))
        return Mood(frozenset(rounds[0]))


@dataclass(frozen=True)
class Mood:
    found: frozenset[int]

    def session(self) -> Mood:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        number = int(query.item_id[1:])
        return Response(
            hits=[Hit(f"d{number if number in self.found else 99}", 1.0)], observed=Observed(cost=0.5)
        )


def serve(folder: Path, identity: str, *rounds: Iterable[int]) -> Study:
    """The study with a server of some identity, and what it finds each time that it is asked."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "identity").write_text(identity)
    (folder / "rounds.json").write_text(json.dumps([sorted(each) for each in rounds]))
    write_lines(
        folder / "data/items.jsonl",
        [{"item_id": f"q{i}", "text": f"query {i}", "gold": {"relevant": {f"d{i}": 1}}} for i in range(N)],
    )
    write_lines(
        folder / "data/passages.jsonl", [{"doc_id": f"d{i}", "text": f"text {i}"} for i in range(100)]
    )
    return open_study(folder, registry=Registry({SYSTEMS: {"moody": Moody}}))


def against(folder: Path, *rounds: Iterable[int]) -> Results:
    """A newer version of the server, held against `main`."""
    study = serve(folder, f"new {rounds}", *rounds)
    run_study(study)
    return compare_with_baseline(Evaluation(study), "main")


def kept(folder: Path, *rounds: Iterable[int]) -> None:
    """Tags `main` after the first round, all others being repeats."""
    study = serve(folder, "old", *rounds)
    run_study(study)
    for number in range(1, len(rounds)):
        repeat_study(study, number)
    tag_baseline(study, "main")


def reason(found: Results) -> str:
    (clause,) = found.verdicts[-1].clauses
    return clause.reason


def test_a_system_that_was_never_repeated_says_so(tmp_path: Path) -> None:
    kept(tmp_path, range(N))
    found = against(tmp_path, range(N))
    assert reason(found) == "0 lost, 0 won, 42 unchanged, p = 1.000; churn not measured"
    assert found.against is not None
    assert found.against.repeated == {}


def test_a_stable_system_loses_what_it_loses(tmp_path: Path) -> None:
    kept(tmp_path, range(N), range(N), range(N))
    found = against(tmp_path, range(6, N))
    assert reason(found) == "6 lost, 0 won, 36 unchanged, p = 0.008; repeated twice: 0 of 42 items changed"
    assert found.verdicts[-1].clauses[0].shows == "loss shown"
    assert found.verdict == "no-go"
    assert found.against is not None
    assert found.against.repeated == {"server": 2}
    assert [turn.varies for turn in found.against.regressions] == [False] * 6


def test_items_that_vary_by_themselves_are_marked(tmp_path: Path) -> None:
    kept(tmp_path, range(N), range(3, N))  # asked again, it misses q0, q1 and q2
    found = against(tmp_path, range(2, N))
    counts = "2 lost (2 vary by themselves), 0 won, 40 unchanged, p = 0.125"
    assert reason(found) == f"{counts}; repeated once: 3 of 42 items changed"
    assert found.against is not None
    assert {turn.item_id: turn.varies for turn in found.against.regressions} == {"q0": True, "q1": True}
    found = against(tmp_path, range(N - 1))
    assert found.against is not None
    assert [(turn.item_id, turn.varies) for turn in found.against.regressions] == [("q41", False)]


def test_the_newer_version_can_be_repeated_instead(tmp_path: Path) -> None:
    kept(tmp_path, range(N))
    study = serve(tmp_path, "new", range(N), range(1, N))
    run_study(study)
    repeat_study(study, 1)
    found = compare_with_baseline(Evaluation(study), "main")
    assert reason(found).endswith("repeated once: 1 of 42 items changed")


def test_what_another_version_was_asked_again_does_not_count(tmp_path: Path) -> None:
    kept(tmp_path, range(N), range(1, N))
    shutil.rmtree(tmp_path / "baselines")
    study = serve(tmp_path, "other", range(N))
    run_study(study)
    tag_baseline(study, "main")
    assert reason(against(tmp_path, range(N))).endswith("churn not measured")


def test_it_travels_with_the_baseline(tmp_path: Path) -> None:
    kept(tmp_path, range(N), range(1, N))
    shutil.rmtree(tmp_path / "run")
    assert reason(against(tmp_path, range(N))).endswith("repeated once: 1 of 42 items changed")


def test_the_answers_stay_and_what_was_paid_is_counted(tmp_path: Path) -> None:
    study = serve(tmp_path, "old", range(N), range(0))
    run_study(study)
    before, store = Evaluation(study).scores, Store(study.run_folder)
    repeat_study(study, 1)
    assert Evaluation(study).scores.equals(before)
    assert store.answers().equals(Store(study.run_folder).answers())
    assert Evaluation(study, repetition=1).scores["value"].sum() == 0
    assert store.cost() == pytest.approx(2 * N * 0.5)


def test_a_repetition_goes_on_where_it_stopped(tmp_path: Path) -> None:
    study = serve(tmp_path, "old", range(N))
    run_study(study)
    part = repeat_study(study, 1, Selection(limit=10))
    assert (part.answered, part.reused) == (10, 0)
    rest = repeat_study(study, 1)
    assert (rest.answered, rest.reused) == (N - 10, 10)
    assert repeat_study(study, 1).answered == 0
    again = repeat_study(study, 1, fresh=True)
    assert again.answered == N


def test_some_items_asked_again_are_counted_as_some(tmp_path: Path) -> None:
    study = serve(tmp_path, "old", range(N), range(1, N))
    run_study(study)
    repeat_study(study, 1, Selection(limit=10))
    tag_baseline(study, "main")
    assert reason(against(tmp_path, range(N))).endswith("repeated once: 1 of 10 items changed")


# ---------------------------------------------------------------------------------------- commands


def test_run_asks_again_and_says_so(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("RR@5(old) + 0.2", "0.5", SMALL))
    done = assay("run", folder, "--repeat", "2")
    assert done.code == 0
    # the replayed system has nobody to ask
    assert "small, repeat 1 of 2: 12 answered, 0 reused, 0 failed" in done.err
    assert "small, repeat 2 of 2: 12 answered" in done.err
    assert "repeat 1 of 2: 0 answered, 12 reused" in assay("run", folder, "--repeat", "1").err.replace(
        "1 of 1", "1 of 2"
    )
    assay("baseline", "tag", folder, "main")
    (verdict,) = [
        each
        for each in assay("run", folder, "--against", "main", "--json").json["verdicts"]
        if each["gate"] == "against main"
    ]
    found = {clause["text"]: clause["reason"].rpartition("; ")[2] for clause in verdict["clauses"]}
    assert found == {
        "RR@5(lexical) >= RR@5(main)": "repeated twice: 0 of 12 items changed",
        "RR@5(old) >= RR@5(main)": "churn not measured",
    }
    assert {clause["shows"] for clause in verdict["clauses"]} == {"no loss shown"}
