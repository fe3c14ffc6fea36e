"""How far the rankings of two systems agree: rank-biased overlap worked by hand, overlap, and failures."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

from assay.core.block import FAILED, MISSING, NOT_APPLICABLE, PENDING, SCORED, Block
from assay.core.errors import UsageError
from assay.core.records import Arm
from assay.measures.observed import Cost, Failed, Seconds
from assay.measures.overlap import RBO, Overlap
from assay.measures.parse import parse_measure
from assay.measures.score import score_block, score_blocks

RANKED = RBO(against="old")


def test_rbo_of_even_lists_by_hand() -> None:
    # X = 0, 1, 2, 4, 5; (0.1/0.9)(0/1·.9 + 1/2·.81 + 2/3·.729 + 4/4·.6561 + 5/5·.59049) + 5/5·.59049
    by_hand = 0.1 / 0.9 * (0.405 + 0.486 + 0.6561 + 0.59049) + 0.59049
    assert RANKED.alike("12345", "23415") == pytest.approx(by_hand)
    assert round(by_hand, 3) == 0.828  # as published for these two lists


def test_rbo_of_uneven_lists_by_hand() -> None:
    # ab against bac: X = 0, 2, 2, s = 2, l = 3
    # (0.1/0.9)(0 + 2/2·.81 + 2/3·.729 + 2·(3-2)/(2·3)·.729) + ((2-2)/3 + 2/2)·.729
    by_hand = 0.1 / 0.9 * (0.81 + 0.486 + 0.243) + 0.729
    assert RANKED.alike("ab", "bac") == pytest.approx(by_hand)
    assert RANKED.alike("bac", "ab") == pytest.approx(by_hand)


def plain_rbo(one: str, other: str, p: float) -> float:
    """Equation 32 of Webber, Moffat and Zobel, term by term."""
    short, long = sorted((one, other), key=len)
    s, length = len(short), len(long)
    x = [len({*short[:d]} & {*long[:d]}) for d in range(length + 1)]
    total = sum(x[d] / d * p**d for d in range(1, length + 1))
    total += sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    return (1 - p) / p * total + ((x[length] - x[s]) / length + x[s] / s) * p**length


@pytest.mark.parametrize("seed", range(20))
def test_rbo_is_the_equation(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = ("".join(random.permutation(list("abcdefghijkl"))[: random.integers(1, 12)]) for _ in "12")
    p = float(random.uniform(0.5, 0.98))
    assert RBO(against="old", p=p).alike(one, other) == pytest.approx(plain_rbo(one, other, p))


def test_the_ends_of_the_range() -> None:
    assert RANKED.alike("abc", "abc") == pytest.approx(1.0)
    assert RANKED.alike("abc", "xyz") == 0.0
    assert RANKED.alike("abc", "") == 0.0
    assert Overlap(against="old").alike("abc", "cxa") == pytest.approx(2 / 3)
    assert Overlap(against="old").alike("abcd", "ab") == pytest.approx(2 / 4)


def test_names_parse_back_and_wrong_parameters_are_refused() -> None:
    assert parse_measure("RBO(against='old', p=0.98)@100") == RBO(100, against="old", p=0.98)
    assert RBO(10, against="old").name == "RBO(against='old')@10"
    with pytest.raises(UsageError, match="between 0 and 1"):
        RBO(against="old", p=1.0)


def rankings(block: Block, system: str, docs: list[list[str] | None]) -> Block:
    """A block whose answers are these documents, best first; None: it failed."""
    failed = [each is None for each in docs]
    answers = block.answers.head(len(docs)).with_columns(
        failed=pl.Series(failed),
        docs=pl.Series([each or [] for each in docs], dtype=pl.List(pl.String)),
        scores=pl.Series([[-float(n) for n in range(len(each or []))] for each in docs]),
    )
    return dataclasses.replace(block, arm=Arm(system), items=block.items[: len(docs)], answers=answers)


def test_a_measure_of_two_systems_reads_both(block: Block) -> None:
    new = rankings(block, "new", [["a", "b"], ["x"], [], ["a"], None])
    old = rankings(block, "old", [["b", "a"], [], [], None, ["a"]])
    found = score_blocks([Overlap(2, against="old"), Overlap(1, against="old")], [new, old])
    own = found.filter(pl.col("system") == "new")
    two = own.filter(pl.col("measure") == "Overlap(against='old')@2")
    assert two["value"].to_list() == [1.0, 0.0, 1.0, None, None]
    assert two["status"].to_list() == ["scored", "scored", "scored", "failed", "failed"]
    one = own.filter(pl.col("measure") == "Overlap(against='old')@1")
    assert one["value"].to_list()[:2] == [0.0, 0.0]
    itself = found.filter(pl.col("system") == "old", pl.col("measure") == "Overlap(against='old')@2")
    assert itself["value"].to_list()[:2] == [1.0, 1.0]


def test_where_the_other_system_did_not_run_there_is_no_value(block: Block) -> None:
    alone = rankings(block, "new", [["a"], ["b"]])
    assert score_blocks([RBO(against="old")], [alone])["status"].to_list() == ["not_applicable"] * 2


def test_failures_are_counted_not_imputed(block: Block) -> None:
    values, status = score_block(Failed(), block)
    assert status.tolist() == [*[SCORED] * 6, PENDING, SCORED]
    np.testing.assert_array_equal(values, [0, 0, 0, 0, 0, 0, np.nan, 1])
    assert score_block(Seconds(), block)[1][7] == FAILED
    assert MISSING not in status
    assert NOT_APPLICABLE not in status


def test_a_limit_is_the_upper_end(block: Block) -> None:
    limited = Seconds(limit=1)
    np.testing.assert_array_equal(limited.values(block)[:2], [0.5, 1.0])  # 1.5 seconds count as 1
    assert (limited.high, limited.name) == (1, "Seconds(limit=1)")
    assert Seconds().high is None
    for wrong in (0, -1, float("inf")):
        with pytest.raises(UsageError, match="above 0"):
            Seconds(limit=wrong)


def test_cost_is_what_a_system_reports(block: Block) -> None:
    assert np.isnan(Cost().values(block)).all()  # these report none
