"""The analysis of unblinded scores: tests, effects, families and subgroups, by hand."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import TYPE_CHECKING

import pytest

from assay.core.errors import UsageError
from assay.kinds.answers.scoring.analysis import MCNEMAR, WILCOXON, AnalysisOptions, ScoredResponse, analyse
from assay.kinds.answers.scoring.subgroups import interactions, mean_differences, token_changes
from assay.stats.families import benjamini_hochberg, holm
from assay.stats.intervals import bonett_price
from assay.stats.paired_tests import mcnemar, wilcoxon
from assay.stats.planning import detectable_difference

if TYPE_CHECKING:
    from assay.kinds.answers.results import ConditionTest  # its name would make a test of it

HOW = AnalysisOptions(resamples=200)
MODELS = ("small", "large")

# accuracy under A and B, of the small model and the large, question by question
ACCURACY = {
    "q1": ((1, 3), (2, 3)),
    "q2": ((0, 2), (2, 2)),
    "q3": ((2, 1), (3, 3)),
    "q4": ((1, 2), (1, 3)),
    "q5": ((2, 2), (3, 2)),
    "q6": ((0, 1), (0, 3)),
}


def rows_of(accuracy: dict[str, tuple[tuple[int, int], ...]], **more: float) -> list[ScoredResponse]:
    """Sites of two questions each; q1 to q3 are simple."""
    return [
        ScoredResponse(
            item,
            model,
            condition,
            site=f"s{at // 2}",
            complexity="simple" if at < 3 else "hard",
            size={"small": "8b", "large": "70b"}[model],
            accuracy=pair[side],
            **more,
        )
        for at, (item, pairs) in enumerate(accuracy.items())
        for model, pair in zip(MODELS, pairs, strict=True)
        for side, condition in enumerate("AB")
    ]


def found(rows: list[ScoredResponse], how: AnalysisOptions = HOW) -> dict[tuple[str, ...], ConditionTest]:
    return {(one.metric, one.family, *one.where.values()): one for one in analyse(rows, how)}


def test_accuracy_by_hand() -> None:
    one = found(rows_of(ACCURACY))["accuracy", "primary"]
    # B - A by question, small then large: 2 1, 2 0, -1 0, 1 2, 0 -1, 1 3; 10 in all over 12 pairs
    assert (one.n, one.clusters, one.left_out) == (12, 6, 0)
    assert (one.mean_a, one.mean_b) == (pytest.approx(17 / 12), pytest.approx(27 / 12))
    assert one.difference == pytest.approx(10 / 12)
    assert (one.wins, one.ties, one.losses) == (7, 3, 2)
    assert (one.effect_name, one.effect, one.size) == ("Cliff's delta", pytest.approx(5 / 12), "medium")
    # the questions' sums 3, 2, -1, 3, -1, 4 are what is ranked: 1s rank 1.5, 2 is third, 3s 4.5, 4 sixth
    assert one.test == WILCOXON
    assert one.p == pytest.approx(wilcoxon([3, 2, -1, 3, -1, 4]))
    # losing ranks sum to 3 of 21; of 64 sign vectors those with a negative sum of at most 3 are
    # {}, {1.5}, {1.5'}, {3}, {1.5, 1.5'}: 5, and as many on the other side
    assert one.p == pytest.approx(10 / 64)
    assert one.low is not None
    assert one.high is not None
    assert one.low < one.difference < one.high


def test_fewer_hallucinations_and_tokens_are_better() -> None:
    rows = [
        ScoredResponse("q1", "m", "A", hallucinations=2, tokens=400),
        ScoredResponse("q1", "m", "B", hallucinations=0, tokens=300),
        ScoredResponse("q2", "m", "A", hallucinations=1, tokens=200),
        ScoredResponse("q2", "m", "B", hallucinations=1, tokens=250),
    ]
    lines = found(rows)
    fewer, tokens = lines["hallucinations", "primary"], lines["tokens", "primary"]
    assert (fewer.difference, fewer.effect) == (-1.0, -0.5)  # as B - A has it
    assert (fewer.wins, fewer.ties, fewer.losses) == (1, 1, 0)
    assert (tokens.difference, tokens.wins, tokens.losses, tokens.test) == (-25.0, 1, 1, WILCOXON)
    assert ("accuracy", "primary") not in lines  # nobody scored it


def complete(pairs: list[tuple[int, int]], models: int = 1) -> list[ScoredResponse]:
    """Completeness under A and B, `models` pairs a question."""
    return [
        ScoredResponse(f"q{at // models}", f"m{at % models}", condition, completeness=pair[side])
        for at, pair in enumerate(pairs)
        for side, condition in enumerate("AB")
    ]


def test_completeness_of_one_model_is_mcnemar() -> None:
    pairs = [(0, 1)] * 9 + [(1, 0)] * 2 + [(1, 1)] * 5
    one = found(complete(pairs))["completeness", "secondary"]
    a, b = zip(*pairs, strict=True)
    # 2 · (1 + 11 + 55) / 2048
    assert (one.test, one.p) == (MCNEMAR, pytest.approx(134 / 2048))
    assert one.p == pytest.approx(mcnemar(a, b))
    assert one.effect == pytest.approx(9.5 / 2.5)
    plain = bonett_price(9, 2, 16)
    assert (one.low, one.high) == (pytest.approx(plain.low), pytest.approx(plain.high))
    assert one.size == ""  # words are for Cliff's delta


def test_completeness_of_two_models_flips_questions() -> None:
    one = found(complete([(0, 1), (0, 1), (0, 1), (1, 1), (1, 1), (1, 0)], models=2))[
        "completeness", "secondary"
    ]
    # sums 2, 1, -1: six of eight sign vectors are as extreme as 2
    assert one.p == pytest.approx(6 / 8)
    assert (one.n, one.clusters) == (6, 3)


def test_citations_count_where_both_apply() -> None:
    rows = [
        ScoredResponse("q1", "m", "A", citation=0),
        ScoredResponse("q1", "m", "B", citation=2),
        ScoredResponse("q2", "m", "A", citation=None),
        ScoredResponse("q2", "m", "B", citation=2),
        ScoredResponse("q3", "m", "B", citation=1),  # the other response failed
        ScoredResponse("q4", "m", "A", citation=None),
        ScoredResponse("q4", "m", "B", citation=None),
    ]
    one = found(rows)["citation", "secondary"]
    assert (one.n, one.left_out, one.mean_a, one.mean_b) == (1, 3, 0.0, 2.0)


def test_nothing_that_both_have_is_no_figure() -> None:
    rows = [ScoredResponse("q1", "m", "A", citation=1), ScoredResponse("q2", "m", "B", citation=1)]
    one = found(rows)["citation", "secondary"]
    assert (one.n, one.p, one.difference, one.left_out) == (0, None, None, 2)


@pytest.mark.parametrize(("name", "correct"), [("holm", holm), ("benjamini-hochberg", benjamini_hochberg)])
def test_corrected_within_families(name: str, correct: object) -> None:
    rows = [dataclasses.replace(row, hallucinations=3 - (row.accuracy or 0)) for row in rows_of(ACCURACY)]
    lines = analyse(rows, dataclasses.replace(HOW, correction=name))
    sizes = {}
    for family in ("primary", "complexity", "size", "site"):
        members = [one for one in lines if one.family == family]
        sizes[family] = len(members)
        expected = correct([one.p for one in members])  # type: ignore[operator]
        assert [one.p_adjusted for one in members] == pytest.approx(expected)
    assert sizes == {"primary": 2, "complexity": 4, "size": 4, "site": 2}
    assert sum(sizes.values()) == len(lines)


def test_what_could_have_been_found_stands_beside_what_was_not() -> None:
    one = found(rows_of(ACCURACY))["accuracy", "primary"]
    assert one.low is not None
    assert one.high is not None
    assert one.mde == pytest.approx(detectable_difference(one.low, one.high))
    better = {f"q{at}": ((0, 2 + at % 2), (1, 3)) for at in range(12)}
    sure = found(rows_of(better))["accuracy", "primary"]
    assert sure.p_adjusted is not None
    assert sure.p_adjusted < 0.05
    assert sure.mde is None


def test_subgroups_are_the_rows_they_name() -> None:
    lines = found(rows_of(ACCURACY))
    simple = lines["accuracy", "complexity", "simple"]
    # q1 to q3: 2 1 2 0 -1 0
    assert (simple.n, simple.clusters, simple.difference) == (6, 3, pytest.approx(4 / 6))
    small = lines["accuracy", "size", "8b"]
    # 2 2 -1 1 0 1
    assert (small.n, small.clusters, small.difference) == (6, 6, pytest.approx(5 / 6))


def test_models_are_a_family_where_sizes_do_not_say_the_same() -> None:
    rows = rows_of(ACCURACY)
    assert "model" not in {one.family for one in analyse(rows, HOW)}  # one model of each size
    unsized = [dataclasses.replace(row, size="") for row in rows]
    lines = found(unsized)
    assert {one.family for one in lines.values()} == {"primary", "complexity", "model", "site"}
    assert lines["accuracy", "model", "small"].difference == pytest.approx(5 / 6)
    third = [dataclasses.replace(row, model="third", size="8b") for row in rows if row.model == "small"]
    assert {"size", "model"} <= {one.family for one in analyse([*rows, *third], HOW)}


def test_one_model_is_no_subgroup() -> None:
    rows = [row for row in rows_of(ACCURACY) if row.model == "small"]
    assert {one.family for one in analyse(rows, HOW)} == {"primary", "complexity", "site"}


def test_sites_weigh_alike_by_hand() -> None:
    rows = [row for row in rows_of(ACCURACY) if not (row.item_id == "q2" and row.model == "small")]
    site = found(rows)["accuracy", "site"]
    # cells small: s0 {2} = 2, s1 {-1, 1} = 0, s2 {0, 1} = 0.5; large: {1, 0} = 0.5, {0, 2} = 1, {-1, 3} = 1
    assert (site.n, site.clusters) == (6, 3)
    assert site.difference == pytest.approx(5 / 6)
    assert (site.wins, site.ties, site.losses) == (5, 1, 0)
    # sums over models 2.5, 1, 1.5, all up: 2 of 8
    assert (site.test, site.p) == (WILCOXON, pytest.approx(2 / 8))


def test_a_sites_share_is_ranked_though_it_is_0_or_1() -> None:
    rows = [dataclasses.replace(row, site=row.item_id) for row in complete([(0, 1), (0, 1), (1, 0)])]
    lines = found(rows)
    assert lines["completeness", "secondary"].test == MCNEMAR
    assert lines["completeness", "site"].test == WILCOXON


def test_clusters_may_be_sites() -> None:
    by_site = found(rows_of(ACCURACY), dataclasses.replace(HOW, cluster="site"))["accuracy", "primary"]
    assert (by_site.n, by_site.clusters) == (12, 3)
    # sums 5, 2, 3
    assert by_site.p == pytest.approx(2 / 8)


def test_the_order_of_rows_changes_nothing() -> None:
    rows = rows_of(ACCURACY)
    assert analyse(rows[::-1], HOW) == analyse(rows, HOW)


def test_seeds_are_pairs_of_their_own_and_doubles_are_refused() -> None:
    rows = [
        ScoredResponse("q1", "m", condition, seed=seed, accuracy=1)
        for condition, seed in product("AB", (0, 1))
    ]
    assert found(rows)["accuracy", "primary"].n == 2
    with pytest.raises(UsageError, match="q1 has two rows of m under A"):
        analyse([*rows, rows[0]], HOW)


def test_no_rows_no_tests() -> None:
    assert analyse([], HOW) == []
    assert analyse([ScoredResponse("q1", "m", "C", accuracy=1)], HOW) == []
    assert token_changes([], HOW) == ([], [])
    assert interactions([], HOW) == []


def test_mean_differences_of_models_and_sites() -> None:
    rows = rows_of(ACCURACY)
    assert mean_differences(rows, HOW, "model") == pytest.approx({"large": 5 / 6, "small": 5 / 6})
    assert mean_differences(rows, HOW, "site") == pytest.approx({"s0": 5 / 4, "s1": 2 / 4, "s2": 3 / 4})


def test_tokens_against_accuracy_by_hand() -> None:
    rows = []
    for at, (tokens, accuracy) in enumerate([(-100, 2), (-50, 1), (0, 1), (20, 0)]):
        rows += [
            ScoredResponse(f"q{at}", "m", "A", accuracy=1, tokens=500),
            ScoredResponse(f"q{at}", "m", "B", accuracy=1 + accuracy, tokens=500 + tokens),
        ]
    rows.append(ScoredResponse("q9", "m", "A", accuracy=1, tokens=500))  # the other response failed
    points, (line,) = token_changes(rows, HOW)
    assert [(point.tokens, point.accuracy) for point in points] == [(-100, 2), (-50, 1), (0, 1), (20, 0)]
    # ranks 1 2 3 4 against 4 2.5 2.5 1: covariance -(1.5² + 1.5²) = -4.5; 5 and 4.5 around their means
    assert line.value == pytest.approx(-4.5 / (5 * 4.5) ** 0.5)
    assert line.n == 4


def test_whether_the_effect_differs_between_subgroups() -> None:
    lines = {one.where["between"]: one for one in interactions(rows_of(ACCURACY), HOW)}
    # question means 1.5, 1, -0.5 against 1.5, -0.5, 2: ranks 4.5, 3, 1.5 = 9 and 4.5, 1.5, 6 = 12;
    # H = 12 / 42 · (81 + 144) / 3 - 21 = 3/7, two tied twos: / (1 - 12 / 210); chi-square with 1
    assert lines["complexity"].test == "Kruskal-Wallis"
    assert lines["complexity"].p == pytest.approx(0.5002, abs=1e-4)
    assert lines["complexity"].p_adjusted is None
    # sizes answer the same questions: small less large is 1, 2, -1, -1, 1, -2
    assert lines["size"].test == WILCOXON
    assert lines["size"].p == pytest.approx(wilcoxon([1, 2, -1, -1, 1, -2]))
    assert (lines["size"].clusters, lines["size"].n) == (6, 12)


def test_three_sizes_are_friedmans() -> None:
    rows = [
        ScoredResponse(
            f"q{at}", size, condition, size=size, accuracy=(at + place) % 3 if condition == "B" else 0
        )
        for at in range(3)
        for place, size in enumerate(("8b", "70b", "400b"))
        for condition in "AB"
    ]
    (line,) = interactions(rows, HOW)
    # every size is first, second and third once: rank sums 6, 6, 6, statistic 0
    assert (line.test, line.p) == ("Friedman", pytest.approx(1.0))
    alike = [dataclasses.replace(row, accuracy=1) for row in rows]
    assert interactions(alike, HOW)[0].p == 1.0
