"""A biased judge corrected by people: in simulated studies, slice by slice, and where it is not tried."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from assay.core.block import Block, Labels
from assay.core.dataset import Dataset
from assay.core.protocols import Judge, Kit
from assay.core.records import Arm, Estimate, Finding, Item, Judgment, Question
from assay.judges.direct import Human, Ids
from assay.judges.labels import resolve
from assay.measures.ranking import RR, Success
from assay.stats.checked_judge import LabelSources, PredictionPowered
from assay.stats.intervals import wilson

Bools = NDArray[np.bool_]
NAMES = ["anna", "anchors", "model"]
SOURCES = LabelSources(frozenset({"anna"}), frozenset({"model"}))
AT3 = Success(3)


def judgment(judge: str, item: int, doc: str, right: bool, label: str = "relevance") -> Judgment:
    return Judgment(f"q{item}", label, float(right), judge, target=doc)


def block_of(items: int, judgments: Sequence[Judgment], hits: int = 3, seed: int = 0) -> Block:
    """Every item has hits h0, h1, … in this order."""
    answers = pl.DataFrame(
        {
            "failed": [False] * items,
            "docs": [[f"h{n}" for n in range(hits)]] * items,
            "scores": [[float(hits - n) for n in range(hits)]] * items,
            "rest": ["{}"] * items,
        }
    )
    labels = resolve(judgments, NAMES, frozenset())
    return Block(Arm("A"), seed, [Item(f"q{n}", "?") for n in range(items)], answers, labels)


def study(random: np.random.Generator, items: int, people: int) -> tuple[PredictionPowered, Bools, Bools]:
    """A judge that calls every fourth wrong hit right; people checked the first so many items.

    A hit is right in 25 % of cases, so that any of three is in 1 - 0.75³ = 0.578; to the judge, who sees 0.25
    + 0.75 / 4 = 0.4375, in 1 - 0.5625³ = 0.822.
    """
    right = random.random((items, 3)) < 0.25
    called = right | (random.random((items, 3)) < 0.25)
    found = [
        judgment("model", n, f"h{rank}", bool(called[n, rank])) for n in range(items) for rank in range(3)
    ]
    found += [
        judgment("anna", n, f"h{rank}", bool(right[n, rank])) for n in range(people) for rank in range(3)
    ]
    return PredictionPowered([block_of(items, found)], NAMES, SOURCES), right, called


def everything(items: int) -> list[str]:
    return [f"q{n}" for n in range(items)]


def test_a_lenient_judge_is_corrected() -> None:
    truth, lenient = 1 - 0.75**3, 1 - 0.5625**3
    covers = wrong = 0
    widths = np.zeros(2)
    for seed in range(25):
        found, right, called = study(np.random.default_rng(seed), 250, 50)
        mean = found.mean(["A"], AT3, everything(250))
        assert mean is not None
        covers += mean.low <= truth <= mean.high
        plain = wilson(int(called.any(axis=1).sum()), 250)
        wrong += plain.low > truth
        alone = wilson(int(right[:50].any(axis=1).sum()), 50)
        widths += (mean.high - mean.low, alone.high - alone.low)
    assert lenient - truth > 0.2
    assert wrong == 25  # whoever believes the judge is wrong in every study
    assert covers >= 21  # 95 % of 25 are 23.75; two and a half deviations are 2.7
    assert widths[0] < widths[1]


def test_both_kinds_of_labels_are_scored_with_their_own_labels() -> None:
    found, right, called = study(np.random.default_rng(1), 30, 12)
    scores = found.labelled_scores("A", AT3)
    assert scores is not None
    assert scores.judge.tolist() == called.any(axis=1).astype(float).tolist()
    assert scores.people[:12].tolist() == right[:12].any(axis=1).astype(float).tolist()
    assert scores.people[12:].tolist() == scores.judge[12:].tolist()
    assert scores.judged.all()
    assert scores.finished.tolist() == [True] * 12 + [False] * 18


def test_a_slice_is_a_list_of_items_and_needs_ten_finished_ones() -> None:
    found, _, _ = study(np.random.default_rng(1), 30, 12)
    assert found.mean(["A"], AT3, everything(30)[3:]) is None  # nine of them
    mean = found.mean(["A"], AT3, everything(30)[2:])
    assert mean is not None
    assert (mean.people, mean.judge, mean.known) == (10, 18, 0)
    assert found.mean(["A"], AT3, everything(12)) is None  # people judged them all: a plain mean is right


def test_an_item_counts_as_finished_only_within_the_cut_off_and_with_every_hit() -> None:
    found, _, _ = study(np.random.default_rng(1), 30, 12)
    frame = found.blocks[0].labels.frame
    some = frame.filter(~((pl.col("item") == "q0") & (pl.col("target") == "h2") & (pl.col("rank") == 0)))
    block = dataclasses.replace(found.blocks[0], labels=Labels(some))
    less = PredictionPowered([block], NAMES, SOURCES)
    for cutoff, done in ((1, 12), (2, 12), (3, 11)):
        scores = less.labelled_scores("A", Success(cutoff))
        assert scores is not None
        assert scores.finished.sum() == done


def test_items_that_gold_decides_stand_beside_the_draw() -> None:
    found, _, _ = study(np.random.default_rng(1), 40, 15)
    gold = [judgment("anchors", n, f"h{rank}", rank == 0) for n in range(40, 60) for rank in range(3)]
    said = [
        Judgment(item, label, grade, NAMES[rank], target=target)
        for item, label, target, grade, rank in found.blocks[0]
        .labels.frame.select("item", "label", "target", "grade", "rank")
        .iter_rows()
    ]
    whole = PredictionPowered([block_of(60, [*said, *gold])], NAMES, SOURCES)
    part = found.mean(["A"], AT3, everything(40))
    mean = whole.mean(["A"], AT3, everything(60))
    assert part is not None
    assert mean is not None
    assert (mean.people, mean.judge, mean.known) == (15, 25, 20)
    # 40 items as before and 20 at 1: were these counted as finished, the judge would seem better than it is
    assert mean.value == pytest.approx((40 * part.value + 20) / 60)


def test_a_hit_that_gold_decides_was_never_the_judges() -> None:
    said = [judgment("anchors", 0, "h0", True), judgment("model", 0, "h0", False)]
    found = PredictionPowered([block_of(1, said, hits=1)], NAMES, SOURCES)
    assert found.labelled_scores("A", AT3) is None


def test_another_label_has_its_own_judge() -> None:
    said = [judgment("model", n, "h0", True, "intent") for n in range(30)]
    said += [judgment("anna", n, "h0", n % 2 == 0, "intent") for n in range(12)]
    said += [judgment("anchors", n, "h0", True) for n in range(30)]
    found = PredictionPowered([block_of(30, said, hits=1)], NAMES, SOURCES)
    assert found.mean(["A"], Success(3), everything(30)) is None
    mean = found.mean(["A"], Success(3, label="intent"), everything(30))
    assert mean is not None
    assert (mean.value, mean.weight) == (0.5, 0.0)  # a judge that always says yes says nothing


def test_several_seeds_are_one_value_an_item() -> None:
    one, _, _ = study(np.random.default_rng(1), 30, 12)
    block = one.blocks[0]
    both = PredictionPowered([block, dataclasses.replace(block, seed=1)], NAMES, SOURCES)
    assert both.mean(["A"], RR(10), everything(30)) == one.mean(["A"], RR(10), everything(30))


def test_an_estimate_says_how_it_was_found_and_stays_where_nothing_is_known() -> None:
    found, _, called = study(np.random.default_rng(2), 250, 50)
    plain = Estimate("A", {}, AT3.name, {}, float(called.any(axis=1).mean()), 0.7, 0.9, 250, 250, "wilson")
    powered = found.estimate(plain, "A", AT3, everything(250))
    assert powered.method == "prediction-powered (50 items by people, 200 by the judge only)"
    assert powered.value is not None
    assert plain.value is not None
    assert powered.value < plain.value - 0.1
    assert (powered.n_scored, powered.n_expected) == (250, 250)
    assert found.estimate(plain, "A", AT3, everything(9)) is plain
    nobody = PredictionPowered(found.blocks, NAMES, LabelSources(frozenset(), frozenset({"model"})))
    assert nobody.estimate(plain, "A", AT3, everything(250)) is plain


@dataclasses.dataclass(frozen=True)
class Model:
    """A judge that costs something."""

    names: tuple[str, ...] = ("model",)
    closed_labels: frozenset[str] = frozenset()

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        raise NotImplementedError

    def ask(self, question: Question, kit: Kit) -> Finding:
        raise NotImplementedError


def test_only_people_who_come_before_the_judge_correct_it() -> None:
    judges: list[Judge] = [Human(["anna"]), Ids(), Model()]
    assert LabelSources.of(judges, ["anna", "ids", "model"]) == LabelSources(
        frozenset({"anna"}), frozenset({"model"})
    )
    assert LabelSources.of([Model(), Human(["anna"])], ["model", "anna"]).people == frozenset()
    assert LabelSources.of([Human(), Ids()], ["anna", "ids"]).paying == frozenset()
