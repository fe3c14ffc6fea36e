"""A study held against a baseline: a real loss fails, noise does not, and new items are listed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Budget, ClauseResult, Hit, Judgment, Query, Response
from assay.core.registry import JUDGES, MEASURES, SYSTEMS, Registry
from assay.core.results import Results
from assay.measures.ranking import Success
from assay.pipeline.baselines.gate import compare_with_baseline
from assay.pipeline.baselines.tags import tag_baseline
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Selection, run_study
from assay.study.study import Study, open_study
from small_study import write_lines

N = 60
STUDY = """\
data: data
systems: {server: replay(path=server.run)}
measures: [Success@1, RR@3]
compare: {resamples: 500}
by: [lang]
gates:
  ship: {go: ["Success@1(server) >= 10%"]}
  watch: {go: ["RR@3(server) >= 99%"], deciding: false}
"""


def write(folder: Path, right: Iterable[int], n: int = N) -> None:
    """A study whose system finds the right passage first for some of its items, and never for the others."""
    found = set(right)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY)
    tag = ["en", "es"]
    write_lines(
        folder / "data/items.jsonl",
        [
            {
                "item_id": f"q{i}",
                "text": f"query {i}",
                "gold": {"relevant": {f"d{i}": 1}},
                "tags": {"lang": tag[i % 2]},
            }
            for i in range(n)
        ],
    )
    write_lines(
        folder / "data/passages.jsonl", [{"doc_id": f"d{i}", "text": f"text {i}"} for i in range(N + 9)]
    )
    hits = [(i, i if i in found else (i + 1) % N) for i in range(n)]
    (folder / "server.run").write_text("".join(f"q{i} Q0 d{doc} 1 1 server\n" for i, doc in hits))


def opened(folder: Path) -> Study:
    plugins: dict[str, dict[str, type]] = {
        SYSTEMS: {"server": Server},
        JUDGES: {"reader": Reader},
        MEASURES: {"Missed": Missed},
    }
    study = open_study(folder, registry=Registry(plugins))
    run_study(study)
    return study


def results(folder: Path, against: str = "main", selection: Selection | None = None) -> Results:
    return compare_with_baseline(Evaluation(opened(folder), selection or Selection()), against)


def last(found: Results) -> list[ClauseResult]:
    """The clauses of what was lost since the baseline."""
    return found.verdicts[-1].clauses


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tagged `main` with 45 of 60 right."""
    write(tmp_path / "s", range(45))
    study = open_study(tmp_path / "s")
    run_study(study)
    tag_baseline(study, "main")
    return tmp_path / "s"


def test_a_real_loss_is_a_no_go_that_names_the_items(folder: Path) -> None:
    write(folder, range(10, 45))  # ten lost, none won: p = 1 / 2^11
    found = results(folder)
    assert (found.verdict, found.verdicts[-1].gate) == ("no-go", "against main")
    assert [verdict.verdict for verdict in found.verdicts[:2]] == ["go", "no-go"]  # its own gates
    (clause,) = found.verdicts[-1].clauses  # a gate that decides nothing is not held against anything
    assert clause.text == "Success@1(server) >= Success@1(main)"
    assert clause.value == pytest.approx(-10 / 60)
    assert clause.high is not None
    assert clause.high < 0
    assert found.against is not None
    assert {turn.item_id for turn in found.against.regressions} == {f"q{i}" for i in range(10)}
    assert found.against.recoveries == []
    by_slice = {one.where["lang"]: one.losses for one in found.against.comparisons if one.where}
    assert by_slice == {"en": 5, "es": 5}
    assert found.as_json()["against"]["regressions"][0]["measure"] == "Success@1"


def test_noise_is_told_and_fails_nothing(folder: Path) -> None:
    write(folder, [*range(3, 45), 50, 51])  # three lost, two won
    found = results(folder)
    assert found.verdict == "go"
    (clause,) = found.verdicts[-1].clauses
    assert (clause.holds, clause.reason) == (
        True,
        "3 lost, 2 won, 55 unchanged, p = 0.344; churn not measured",  # (6 + 10 / 2) / 32
    )
    assert clause.shows == "no loss shown"
    assert clause.mde is not None  # what this many items could have shown
    assert found.against is not None
    assert [turn.item_id for turn in found.against.recoveries] == ["q50", "q51"]


def test_items_newer_than_the_baseline_are_listed_and_not_compared(folder: Path) -> None:
    write(folder, range(45), n=N + 5)
    found = results(folder)
    assert found.against is not None
    assert found.against.added == [f"q{i}" for i in range(N, N + 5)]
    assert found.verdicts[-1].clauses[0].n == N
    assert found.verdict == "go"


def test_a_part_of_the_study_is_held_against_the_same_part(folder: Path) -> None:
    found = results(folder, selection=Selection({"lang": ["es"]}))
    assert found.against is not None
    assert (found.against.removed, found.against.added) == ([], [])
    assert found.verdicts[-1].clauses[0].n == N // 2


def test_a_baseline_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no baseline 'mian'"):
        results(folder, "mian")


def test_baselines_lie_where_the_study_says(folder: Path) -> None:
    kept = folder.parent / "elsewhere"
    text = (folder / "study.yaml").read_text() + "baselines: ../elsewhere\n"
    (folder / "study.yaml").write_text(text)
    tag_baseline(open_study(folder), "main")
    assert json.loads((kept / "main/items.json").read_text())["schema"] == "assay/baseline/1"


# ------------------------------------------------------------------------------------ failed items


@dataclass(frozen=True)
class Server:
    """Answers from a file with what it returns by item; where that is null, it fails."""

    path: str = "answers.json"
    version: ClassVar[str] = "1"

    def identity(self, kit: Kit) -> str:
        return kit.path(self.path).read_text()

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Answers:
        return Answers(json.loads(kit.path(self.path).read_text()))


@dataclass(frozen=True)
class Answers:
    docs: dict[str, str | None]

    def session(self) -> Answers:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        doc = self.docs[query.item_id]
        if doc is None:
            raise SystemFailure("HTTP 500")
        return Response(hits=[Hit(doc, 1.0)])


def serve(folder: Path, right: Iterable[int], failing: Iterable[int] = (), study: str = STUDY) -> Path:
    """The study as before, its answers from a server that may fail."""
    write(folder, ())
    found, lost = set(right), set(failing)
    docs = {f"q{i}": None if i in lost else f"d{i if i in found else (i + 1) % N}" for i in range(N)}
    (folder / "answers.json").write_text(json.dumps(docs))
    tolerant = study.replace('0%"]}', '0%"], max_failed: 60%}', 1)
    (folder / "study.yaml").write_text(tolerant.replace("replay(path=server.run)", "server"))
    return folder


UNTURNED = "counted at either end of the range, it does not change this"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("then", "now", "verdict", "reason"),
    [
        # ten of which nobody knows: lost p = 1/2^11, or not at all
        (
            ((), range(N)),
            (range(10), range(N)),
            "inconclusive",
            "0 lost, 0 won, 50 unchanged, p = 1.000; 10 items failed, and could turn it; churn not measured",
        ),
        # three lost could be chance: p = 1/2^4
        (
            ((), range(N)),
            (range(3), range(N)),
            "go",
            f"0 lost, 0 won, 57 unchanged, p = 1.000; 3 items failed; {UNTURNED}; churn not measured",
        ),
        # failed then, wrong now: they were right then, or they were not
        (
            (range(10), range(N)),
            ((), range(10, N)),
            "inconclusive",
            "0 lost, 0 won, 50 unchanged, p = 1.000; 10 items failed, and could turn it; churn not measured",
        ),
        # failed then, right now: no worse, whatever they were
        (
            (range(10), range(N)),
            ((), range(N)),
            "go",
            f"0 lost, 0 won, 50 unchanged, p = 1.000; 10 items failed; {UNTURNED}; churn not measured",
        ),
        # twenty lost and two failed: 22 losses, or 20 and none won
        (
            ((), range(N)),
            (range(2), range(22, N)),
            "no-go",
            f"20 lost, 0 won, 38 unchanged, p < 0.001; 2 items failed; {UNTURNED}; churn not measured",
        ),
        # half failed then, the other half now
        (
            (range(30), range(N)),
            (range(30, N), range(N)),
            "inconclusive",
            "no item applies to both; 60 items failed",
        ),
    ],
)
def test_failed_items_count_at_both_ends(
    tmp_path: Path,
    then: tuple[Iterable[int], Iterable[int]],
    now: tuple[Iterable[int], Iterable[int]],
    verdict: str,
    reason: str,
) -> None:
    tag_baseline(opened(serve(tmp_path / "s", then[1], then[0])), "main")
    found = results(serve(tmp_path / "s", now[1], now[0]))
    (clause,) = last(found)
    assert clause.reason == reason
    assert found.verdicts[-1].verdict == verdict


@dataclass(frozen=True)
class Missed(Success):
    """1 where no hit within the cut-off is relevant."""

    family: ClassVar[str] = "Missed"
    better: ClassVar[str] = "lower"

    def values(self, block: Block) -> NDArray[np.float64]:
        return 1.0 - super().values(block)


@pytest.mark.parametrize(("then", "now", "verdict"), [((), range(10), "inconclusive"), (range(10), (), "go")])
def test_where_less_is_better_the_upper_end_is_the_worse(
    tmp_path: Path, then: Iterable[int], now: Iterable[int], verdict: str
) -> None:
    text = STUDY.replace("Success@1(server) >= 10%", "Missed@1(server) <= 90%")
    tag_baseline(opened(serve(tmp_path / "s", range(N), then, text)), "main")
    found = results(serve(tmp_path / "s", range(N), now, text))
    (clause,) = last(found)
    assert clause.text == "Missed@1(server) <= Missed@1(main)"
    assert found.verdicts[-1].verdict == verdict


# ---------------------------------------------------------------------------------- what came back


@dataclass(frozen=True)
class Reader:
    """A judge that reads whatever came back, and says of each hit whether it is the one."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("reader",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        return [
            Judgment(item, "relevance", float(item[1:] == doc[1:]), "reader", target=doc)
            for block in blocks
            for item, doc, _ in block.top(10).iter_rows()
        ]


def test_other_hits_are_not_the_same_ones_judged_otherwise(tmp_path: Path) -> None:
    text = STUDY.replace("measures:", "judges: [reader]\nmeasures:")
    tag_baseline(opened(serve(tmp_path / "s", range(N), study=text)), "main")
    found = results(serve(tmp_path / "s", range(10, N), study=text))
    assert found.against is not None
    assert (len(found.against.regressions), found.against.relabelled) == (10, [])
    assert found.verdicts[-1].verdict == "no-go"


# ------------------------------------------------------------------------- what the baseline lacks


def test_a_measure_that_a_gate_reads_and_the_baseline_lacks_is_open(folder: Path) -> None:
    write(folder, range(45))
    text = STUDY.replace('10%"]}', '10%", "P@1(server) >= 10%"]}')
    (folder / "study.yaml").write_text(text)
    found = results(folder)
    assert [(clause.text, clause.holds) for clause in last(found)] == [
        ("Success@1(server) >= Success@1(main)", True),
        ("P@1(server) >= P@1(main)", None),
    ]
    assert last(found)[1].reason == "not in the baseline: P@1"
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize("gated", [True, False])
def test_a_system_that_the_baseline_lacks_is_open_where_a_gate_reads_it(folder: Path, gated: bool) -> None:
    write(folder, range(45))
    text = STUDY.replace("server: replay(path=server.run)", "server: replay(path=server.run), new: bm25")
    more = '10%", "Success@1(new) >= 0%"]}' if gated else '10%"]}'
    (folder / "study.yaml").write_text(text.replace('10%"]}', more))
    found = results(folder)
    lacking = [clause for clause in last(found) if clause.holds is None]
    told = [each for each in found.trust.warnings if "baseline" in each]
    if gated:
        assert [clause.reason for clause in lacking] == ["not in the baseline: new"]
        assert (found.verdict, told) == ("inconclusive", [])
    else:
        assert lacking == []
        assert (found.verdict, told) == ("go", ["new is not in the baseline main, so it is not compared"])


def test_times_are_neither_compared_nor_missed(folder: Path) -> None:
    write(folder, range(45))
    (folder / "study.yaml").write_text(STUDY.replace('10%"]}', '10%", "Seconds(server) <= 60"]}'))
    assert [clause.text for clause in last(results(folder))] == ["Success@1(server) >= Success@1(main)"]


@pytest.mark.slow
def test_two_runs_of_an_unchanged_system_seldom_fail(folder: Path) -> None:
    # 40 pairs of versions that each miss any item with probability 1/4: a false alarm in 2.5 % at most
    draw, alarms = random.Random(7), 0
    for place in range(40):
        target = folder.parent / str(place)
        write(target, [i for i in range(N) if draw.random() < 0.75])
        study = open_study(target)
        run_study(study)
        tag_baseline(study, "main")
        write(target, [i for i in range(N) if draw.random() < 0.75])
        alarms += results(target).verdicts[-1].verdict == "no-go"
    assert alarms <= 4  # more than that in about three of a thousand such tests


def test_a_baseline_of_one_seed_says_so(folder: Path) -> None:
    right = range(0, N, 2)
    study = STUDY.replace("replay(path=server.run)", "server")
    serve(folder, right, study=study)
    tag_baseline(opened(folder), "once", "", False)
    assert "one seed" not in results(folder, "once").verdicts[-1].reason
    serve(folder, right, study=study + "seeds: 3\n")
    told = "for this run of the baseline: server was asked with one seed then"
    assert told in results(folder, "once").verdicts[-1].reason
