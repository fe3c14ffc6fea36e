"""What was measured before verdicts kept one budget: each fault, through what users see, and no longer there.

Nothing here imports what mended a fault, so that an older version fails by what it says and not by its names.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from scipy import stats

from assay.core.records import Verdict
from assay.core.registry import Registry, template_of
from assay.gates.evaluator import Evaluator
from assay.gates.gate import Gate, GateFile
from assay.gates.verdict import decide_gates
from assay.pipeline.evaluate import evaluate
from assay.report.html import HtmlReport
from assay.report.verdicts import verdict_sentence
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from score_rows import REGISTRY, M, decided, gate, items_of, rows_of
from small_study import Done, assay, write_lines, write_study

Floats = NDArray[np.float64]
Columns = dict[tuple[Any, ...], Floats]
Random = np.random.Generator


def verdict(rows: Rows, resamples: int = 500, **file: Any) -> Verdict:
    (found,) = decide_gates([gate(**file)], Evaluator(rows, REGISTRY, resamples=resamples))
    return found


def pair(new: Floats, old: Floats) -> Rows:
    return rows_of({("new", "M"): new, ("old", "M"): old})


# ------------------------------------------------------------------------- several tries at one gate

TEN = [f"M(v{number})" for number in range(10)]
SLICES = [f"part=p{number}" for number in range(5)]


def ranked_twins(random: Random, number: int, n: int = 66) -> Columns:
    """Systems of one quality: ties with the first on half of the items, exchangeable on the others."""
    ranks = np.array([1, 1 / 2, 1 / 3, 1 / 5, 0])
    old = random.choice(ranks, n)
    made = {("old", "M"): old}
    for name in range(number):
        made[f"v{name}", "M"] = np.where(random.random(n) < 0.5, old, random.choice(ranks, n))
    return made


def sliced_twins(random: Random, number: int, n: int = 200) -> Columns:
    """Twins with slices of 40 items, of which each can show a difference by itself."""
    old = random.uniform(0.2, 0.8, n)
    made = {("old", "M"): old}
    for name in range(number):
        made[f"v{name}", "M"] = np.clip(old + random.normal(0, 0.1, n), 0, 1)
    return made


def false_words(studies: int, word: str, make: Any, number: int, **file: Any) -> float:
    """How often a gate over twins says a word that none of them deserves; items are in five slices."""
    random, said = np.random.default_rng(7), 0
    for _ in range(studies):
        columns = make(random, number)
        n = len(columns["old", "M"])
        items = items_of(n, part=[f"p{place % 5}" for place in range(n)])
        said += verdict(rows_of(columns, items), **file).verdict == word
    return said / studies


@pytest.mark.parametrize(
    "clause",
    [
        f"max({', '.join(TEN)}) >= M(old) + 0.02",
        f"max({', '.join(TEN)}) / M(old) >= 1.02",
        f"(max({', '.join(TEN)}) - M(old)) / M(old) >= 2%",
        f"(2 - 1) * max({', '.join(TEN)}) >= M(old) + 0.02",
        f"M(old) / max({', '.join(TEN)}) <= 0.98",
        f"max({', '.join(f'median({each})' for each in TEN)}) / median(M(old)) >= 1.02",
    ],
)
def test_the_best_of_ten_twins_is_no_gain(clause: str) -> None:
    assert false_words(60, "go", ranked_twins, 10, go=[clause]) <= 0.12  # 2.5 % are allowed; it was 70 %


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "make", "number", "file"),
    [
        ("go", ranked_twins, 10, {"go": [f"max({', '.join(TEN)}) >= M(old) + 0.02"]}),
        ("go", ranked_twins, 3, {"go": [f"max({', '.join(TEN[:3])}) >= M(old) + 0.02"]}),
        ("go", ranked_twins, 10, {"go": {"any": [f"{each} >= M(old) + 0.02" for each in TEN]}}),
        ("go", sliced_twins, 1, {"go": ["M(v0) >= M(old) for 1 of part=*"]}),
        ("no-go", sliced_twins, 1, {"kill": {"any": [f"M(v0) < M(old) where {each}" for each in SLICES]}}),
    ],
    ids=["max of ten", "max of three", "any of ten", "for 1 of 5", "kill any of 5"],
)
def test_several_tries_share_one_budget(word: str, make: Any, number: int, file: dict[str, Any]) -> None:
    # 2.5 % allowed, and three deviations of 200 studies are 3.3 %; it was 11 to 70 %
    assert false_words(200, word, make, number, **file) <= 0.058


# --------------------------------------------------------------------- one page, one and the same word

MODELS = ["new", "m1", "m2", "m3"]
N = 40


def ranked_study(folder: Path, ranks: dict[str, list[int]], gates: dict[str, Any], n: int = N) -> Path:
    """Replayed systems that have the one right passage at these ranks."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    items = [{"item_id": f"q{i}", "text": f"query {i}", "gold": {"relevant": {f"d{i}": 1}}} for i in range(n)]
    write_lines(folder / "data/items.jsonl", items)
    names = [*(f"d{i}" for i in range(50)), *(f"x{place}" for place in range(10))]
    passages = [{"doc_id": name, "text": f"text {name}"} for name in names]
    write_lines(folder / "data/passages.jsonl", passages)
    for name, own in ranks.items():  # of more items than are asked, where there are more
        lines = []
        for i, rank in enumerate(own):
            docs = [f"x{place}" for place in range(10)]
            docs[rank - 1] = f"d{i}"
            lines += [f"q{i} Q0 {doc} {place + 1} {20 - place} x\n" for place, doc in enumerate(docs)]
        (folder / f"{name}.run").write_text("".join(lines))
    study = {
        "data": "data",
        "systems": {name: f"replay(path={name}.run)" for name in ranks},
        "baseline": "old",
        "measures": ["RR@10"],
        "compare": {"resamples": 1000},
        "gates": gates,
    }
    (folder / "study.yaml").write_text(json.dumps(study))
    return folder


def models(seed: int, names: list[str]) -> dict[str, list[int]]:
    """Ranks of an old model and of newer ones, of which the first is slightly better."""
    random = np.random.default_rng(seed)
    old = random.integers(1, 6, N)
    made = {"old": old.tolist()}
    for name in names:
        chances = [0.4, 0.3, 0.3] if name == "new" else [0.3, 0.4, 0.3]
        made[name] = np.clip(old + random.choice([-1, 0, 1], N, p=chances), 1, 10).tolist()
    return made


@pytest.mark.parametrize(("seed", "names"), [(21, MODELS[:1]), (8, MODELS)], ids=["two", "five"])
def test_no_page_says_go_above_and_no_difference_below(tmp_path: Path, seed: int, names: list[str]) -> None:
    gates = {"ship": {"go": ["RR@10(new) >= RR@10(old)"]}}
    results = evaluate(ranked_study(tmp_path / "s", models(seed, names), gates))
    page = " ".join(unescape(re.sub(r"<[^>]+>", " ", HtmlReport().render(results).decode())).split())
    assert results.verdict == "go"
    assert "new is better than old" in page
    assert not re.search(r"new[^.;]* clearly differs? from old", page)


def test_a_go_among_five_models_is_no_adjusted_p_of_8_percent(tmp_path: Path) -> None:
    gates = {"ship": {"go": ["RR@10(new) >= RR@10(old)"]}}
    results = evaluate(ranked_study(tmp_path / "s", models(8, MODELS), gates))
    (one,) = [each for each in results.comparisons if each.a == "new"]
    assert results.verdict == "go"
    assert one.p_adjusted is not None
    assert one.p_adjusted < 0.05  # Holm over four pairs made 0.08 of it


# ---------------------------------------------------------------------------------- looks and advice


def test_looking_again_at_more_items_costs_width(tmp_path: Path) -> None:
    def width(folder: Path, n: int) -> float:
        gates = {"ship": {"go": ["RR@10(new) >= RR@10(old)"]}}
        ranked_study(folder, models(3, ["new"]), gates, n)
        assay("run", folder)
        (clause,) = assay("gate", folder, "--json").json["verdicts"][0]["clauses"]
        return float(clause["high"] - clause["low"])

    width(tmp_path / "grown", 20)
    assert width(tmp_path / "grown", N) > 1.05 * width(tmp_path / "fresh", N)


def remembered() -> dict[str, Any]:
    """What carries looks from one decision to the next: nothing, in a version that has none."""
    try:
        from assay.gates.looks import LookHistory
    except ImportError:
        return {}
    return {"book": LookHistory()}


@pytest.mark.slow
def test_ten_looks_at_a_growing_study_of_twins_keep_the_budget() -> None:
    sizes = [int(np.ceil(60 * 1.3**step)) for step in range(10)]
    random, studies, false = np.random.default_rng(11), 200, 0
    for _ in range(studies):
        old = random.uniform(0.2, 0.8, sizes[-1])
        new = np.clip(old + random.normal(0, 0.1, sizes[-1]), 0, 1)
        book = remembered()
        for size in sizes:
            evaluator = Evaluator(pair(new[:size], old[:size]), REGISTRY, resamples=300)
            (found,) = decide_gates([gate(go=["M(new) >= M(old)"])], evaluator, **book)
            if found.verdict != "inconclusive":
                false += found.verdict == "go"
                break
    # the 99 % bound of 5 % in 200 studies is 8.6 %; it was 12 %
    assert false / studies <= 0.086


ADVICE = re.compile(r"with (\d+) more items?.*?, (\d+)% to settle it .*?, (\d+)% if there is none")


@pytest.mark.slow
def test_collecting_what_is_advised_settles_as_often_as_was_said() -> None:
    def rows(scores: Floats) -> Rows:
        return pair(scores, np.full(len(scores), 0.5))

    def settled(scores: Floats) -> bool:
        book = remembered()
        evaluators = [Evaluator(rows(each), REGISTRY, resamples=500) for each in (new, scores)]
        found = [decide_gates([gate(go=[clause])], each, **book)[0] for each in evaluators]
        return found[1].verdict != "inconclusive"

    new, clause = 0.515 + np.tile([0.1, -0.1], 50), "M(new) >= M(old)"
    said = ADVICE.search(verdict_sentence(verdict(rows(new), 2_000, go=[clause])))
    assert said is not None, "advice says its probability"
    more, looks_so, by_luck = int(said[1]), int(said[2]) / 100, int(said[3]) / 100
    random, studies = np.random.default_rng(1), 100
    for effect, promised in ((0.015, looks_so), (0.0, by_luck)):
        drawn = [0.5 + effect + random.choice([0.1, -0.1], more) for _ in range(studies)]
        share = sum(settled(np.concatenate([new, each])) for each in drawn) / studies
        assert share == pytest.approx(promised, abs=0.1)  # scores of two values are coarse


def test_nobody_is_told_to_collect_hundreds_of_thousands_of_items() -> None:
    old = np.full(66, 0.5)
    new = old + np.tile([0.1, -0.1], 33) + 0.0005
    said = verdict_sentence(verdict(pair(new, old), go=["M(new) >= M(old)"]))
    assert not re.search(r"\d{4,} more items|\d,\d{3} more items", said)
    assert "more items are unlikely to settle it" in said


# -------------------------------------------------------------------- what a clause shows, beside it


def test_a_share_decided_on_its_estimate_says_so_beside_the_verdict(tmp_path: Path) -> None:
    right = np.r_[np.ones(17), np.zeros(3)]  # 85 % of 20, where the truth may well be 75 %
    found = verdict(rows_of({("new", "B"): right}), go=["B(new) >= 80%"])
    assert found.verdict == "go"
    assert "not guarded" in found.reason
    assert "not guarded" in verdict_sentence(found)
    folder = ranked_study(tmp_path / "s", models(3, ["new"]), {"ship": {"go": ["RR@10(new) >= 30%"]}})
    done = assay("run", folder)
    assert (done.code, "not guarded" in done.out) == (0, True)
    assert "not guarded" in assay("gate", folder, "--json").out
    assay("report", folder, "--format", "junit", "--out", folder / "junit.xml")
    assert "not guarded" in (folder / "junit.xml").read_text()


@pytest.mark.parametrize("n", [20, 40, 100])
def test_a_true_75_percent_seldom_reads_as_80(n: int) -> None:
    chance = 0.0
    for right in range(n + 1):
        scores = np.r_[np.ones(right), np.zeros(n - right)]
        found = verdict(rows_of({("new", "B"): scores}), go=["B(new) >= 80%"])
        if found.verdict == "go" and "not guarded" not in verdict_sentence(found):
            chance += float(stats.binom(n, 0.75).pmf(right))
    assert chance <= 0.05  # go without a word beside it: it was 15 to 42 %


def test_a_gain_of_less_than_was_asked_for_is_called_a_gain_and_no_more() -> None:
    old = np.full(1_000, 0.5)
    new = old + 0.021 + np.tile([0.1, -0.1], 500)  # a true 0.015 gets here in one study of four
    rows = pair(new, old)
    plain = verdict(rows, go=["M(new) >= M(old) + 0.02"])
    assert (plain.verdict, plain.reason) == ("go", "the clause passes (gain shown)")
    assert "gain shown" in verdict_sentence(plain)
    surer = verdict(rows, go=["M(new) >= M(old) + 0.02 on interval"])
    assert surer.verdict == "inconclusive"


# ------------------------------------------------------------------------- variance where it arises


def seeded(random: Random, between: float, n: int = 500, seeds: int = 3) -> Columns:
    """Two systems of one quality; the new one is better or worse as a whole from seed to seed."""
    old = random.uniform(0.3, 0.6, n)
    made: Columns = {("old", "M", seed): old for seed in range(seeds)}
    for seed in range(seeds):
        moved = old + random.normal(0, 0.1, n) + random.normal(0, between)
        made["new", "M", seed] = np.clip(moved, 0, 1)
    return made


@pytest.mark.parametrize("between", [0.02, 0.04])
def test_three_lucky_seeds_are_no_gain_in_a_gate_or_a_table(between: float) -> None:
    random, studies, gates, tables = np.random.default_rng(17), 60, 0, 0
    for _ in range(studies):
        rows = rows_of(seeded(random, between))
        gates += decided("M(new) >= M(old)", rows, resamples=500).holds is True
        _, (one,) = summarise(rows, [M], ComparisonSettings("old", resamples=500))
        tables += one.low is not None and one.low > 0
    # 2.5 % are allowed: five of 60 are reached in two of a hundred such tests; it was 22 to 47 %
    assert gates <= 5
    assert tables <= 5


@pytest.mark.parametrize(
    "clause",
    [
        "median(M(new)) > median(M(old))",
        "wins(M(new), M(old)) > wins(M(old), M(new))",
        "p10(M(new)) > p10(M(old))",
        "share(M(new) > 0.5) > share(M(old) > 0.5)",
    ],
)
def test_three_lucky_seeds_are_no_gain_in_statistics_either(clause: str) -> None:
    random = np.random.default_rng(18)
    held = sum(decided(clause, rows_of(seeded(random, 0.04)), resamples=500).holds is True for _ in range(60))
    assert held <= 5  # 2.5 % are allowed; it was 9 to 37 %


def catastrophes(random: Random, n: int) -> Rows:
    """A gain of 0.1 on 30 % of the queries, a loss of 0.9 on 3.3 %: nothing on average."""
    drawn = random.random(n)
    old = np.full(n, 0.9)
    return pair(old + np.where(drawn < 0.3, 0.1, np.where(drawn < 0.3 + 0.1 / 3, -0.9, 0.0)), old)


@pytest.mark.parametrize("n", [30, 50])
def test_rare_catastrophes_are_named_beside_a_go_and_buy_no_strict_one(n: int) -> None:
    random, strict, plain = np.random.default_rng(5), 0, []
    for _ in range(60):
        rows = catastrophes(random, n)
        plain.append(verdict(rows, go=["M(new) >= M(old)"]))
        strict += verdict(rows, go=["M(new) >= M(old)"], strict=True).verdict == "go"
    lucky = [each for each in plain if each.verdict == "go"]
    assert lucky  # what no sample of this size can have seen
    assert all(each.unseen == pytest.approx(1 - 0.05 ** (1 / n)) for each in lucky)
    assert strict <= 1


@pytest.mark.parametrize("form", ["html", "markdown", "junit"])
def test_a_go_says_in_words_what_it_cannot_have_seen(tmp_path: Path, form: str) -> None:
    ranks = {"old": [2] * N, "new": [1] * 30 + [2] * 10}
    folder = ranked_study(tmp_path / "s", ranks, {"ship": {"go": ["RR@10(new) >= RR@10(old)"]}})
    assert assay("run", folder).code == 0
    assay("report", folder, "--format", form, "--out", folder / "report")
    # 1 - 0.05^(1/40) = 0.072
    assert "up to 7.2% of the items could have lost everything unseen" in (folder / "report").read_text()


def test_ten_items_come_with_a_word_about_their_intervals(tmp_path: Path) -> None:
    def warned(folder: Path, n: int) -> bool:
        assay("run", ranked_study(folder, models(3, ["new"]), {}, n))
        warnings = assay("report", folder, "--json").json["trust"]["warnings"]
        return any("too narrow if scores are skewed" in each for each in warnings)

    # of skewed scores, intervals from ten items hold the truth in 83 to 90 % of studies; from 30, in 93 %
    assert warned(tmp_path / "ten", 10)
    assert not warned(tmp_path / "thirty", 30)


def clauses_checked(folder: Path, *clauses: str) -> Done:
    """Whether the small study takes these clauses for go."""
    write_study(folder)
    study = yaml.safe_load((folder / "study.yaml").read_text())
    systems = {"new": "bm25", "old": "replay(path=old.run)", "mid": "dense"}
    study |= {"systems": systems, "gates": {"ship": {"go": list(clauses)}}, "by": []}
    items = [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]
    for place, item in enumerate(items):
        language = ["en", "de"][place // 2 % 2]
        item["tags"] = {"category": ["direct", "multi"][place % 2], "language": language, "freq": str(place)}
    write_lines(folder / "data/items.jsonl", items)
    (folder / "study.yaml").write_text(json.dumps(study))
    return assay("validate", folder)


@pytest.mark.parametrize("clause", ["Seconds(new) <= Seconds(mid)", "Seconds(new) <= 300ms on interval"])
def test_no_interval_of_a_mean_of_seconds_decides(tmp_path: Path, clause: str) -> None:
    done = clauses_checked(tmp_path, clause)
    said = " ".join(done.err.split())
    assert done.code == 3
    assert "median(Seconds(new))" in said
    assert clauses_checked(tmp_path, "median(Seconds(new)) <= 2 * median(Seconds(mid))").code == 0
    assert clauses_checked(tmp_path, "Seconds(limit=10)(new) <= Seconds(limit=10)(mid)").code == 0


def test_a_mean_of_few_times_decides_nothing_under_a_limit() -> None:
    random, clause = np.random.default_rng(4), "Seconds(limit=20)(new) <= Seconds(limit=20)(old)"

    def found(n: int) -> Verdict:
        times = {"new": random.gamma(2, 0.2, n), "old": np.ones(n)}
        rows = rows_of({(system, "Seconds(limit=20.0)"): each for system, each in times.items()})
        (verdict,) = decide_gates([gate(go=[clause])], Evaluator(rows, Registry(), resamples=500))
        return verdict

    # 25 times the squared skewness of exponential times, 2: 100 items
    few = found(99)
    assert (few.verdict, "that takes 100 items, and a median fewer" in few.clauses[0].reason) == (
        "inconclusive",
        True,
    )
    assert found(100).verdict == "go"


# ------------------------------------------------------------------------------- failures and losses


def test_a_server_that_failed_on_53_of_66_items_stops() -> None:
    scores: list[Any] = ["failed"] * 53 + [0.9] * 13
    found = verdict(rows_of({("new", "M"): scores}), go=["M(new) >= 0.5"])
    assert found.verdict == "no-go"
    assert "failed" in found.reason


READ = ["Success@1", "RR@10"]  # by the gate that decides, and so held against the baseline


def held_against_main(folder: Path, lost: int) -> Done:
    """A new version that lost so many of 42 queries and won none, after the first was tagged `main`."""
    gates = {"ship": {"go": [f"{measure}(old) >= 10%" for measure in READ]}}
    for count in (0, lost):
        place = ranked_study(folder, {"old": [10] * count + [1] * (42 - count)}, gates, 42)
        study = json.loads((place / "study.yaml").read_text()) | {"measures": READ}
        (place / "study.yaml").write_text(json.dumps(study))
        assay("run", place)
        if not (place / "baselines").exists():
            assert assay("baseline", "tag", place, "main").code == 0
    return assay("run", folder, "--against", "main", "--json")


def test_six_of_42_queries_lost_are_a_loss_and_hold_nothing(tmp_path: Path) -> None:
    done = held_against_main(tmp_path / "s", 6)
    assert done.code == 10
    found = done.json["verdicts"][-1]
    assert (found["gate"], found["verdict"]) == ("against main", "no-go")
    assert [(one["holds"], one["shows"]) for one in found["clauses"]] == [(False, "loss shown")] * 2
    text = " ".join(assay("gate", tmp_path / "s", "--against", "main").out.split())
    assert "loss shown" in text


def test_what_is_not_shown_to_be_lost_does_not_read_as_holding(tmp_path: Path) -> None:
    done = held_against_main(tmp_path / "s", 2)
    assert done.code == 0
    text = " ".join(assay("gate", tmp_path / "s", "--against", "main").out.split())
    assert "Success@1(old) >= Success@1(main) holds" not in text
    assert "no loss shown" in text


def test_a_loss_of_ten_points_of_42_is_found_in_most_studies(tmp_path: Path) -> None:
    shown = {lost: held_against_main(tmp_path / str(lost), lost).code == 10 for lost in range(3, 8)}
    # with none won, from some number on all show; three of three lost is a matter of 1 in 8
    assert list(shown.values()) == sorted(shown.values())
    assert shown[7]
    assert not shown[3]
    least = min(lost for lost, found in shown.items() if found)
    assert stats.binom(42, 0.1).sf(least - 1) >= 0.6  # it was 12 %: seven had to be lost


# --------------------------------------------------------------------- clauses that say what they mean


def test_a_no_op_is_no_loss_and_no_gain_at_any_size(tmp_path: Path) -> None:
    write_study(tmp_path)
    study = yaml.safe_load((tmp_path / "study.yaml").read_text())
    gates = {
        "no_loss": {"go": ["nDCG@10(twin) >= nDCG@10(old)"]},
        "gain": {"go": ["nDCG@10(twin) >= nDCG@10(old) + 0.02"]},
    }
    study |= {"systems": {"twin": "bm25", "old": "bm25"}, "gates": gates}
    (tmp_path / "study.yaml").write_text(json.dumps(study))
    done = assay("run", tmp_path, "--json")
    words = {each["gate"]: each["verdict"] for each in done.json["verdicts"]}
    assert words == {"no_loss": "go", "gain": "no-go"}
    assert "more items" not in done.out


def test_a_share_is_not_bounded_by_a_number_of_queries(tmp_path: Path) -> None:
    done = clauses_checked(tmp_path, "lost(nDCG@10(new), nDCG@10(old)) <= 5")
    assert done.code == 3
    assert "`count(nDCG@10(new) < nDCG@10(old)) <= 5`" in " ".join(done.err.split())


def test_a_p95_of_60_items_says_that_they_do_not_reach_it() -> None:
    times = np.random.default_rng(2).lognormal(0, 1, 60)
    found = decided("p95(T(new)) <= 20", rows_of({("new", "T"): times}), on="interval")
    assert found.holds is None
    assert "does not exclude a loss" not in found.reason
    # 0.95^71 = 0.0262 and 0.95^72 = 0.0249
    assert found.reason == "60 items do not reach the upper end of the interval of p95: that takes 72 items"


@pytest.mark.parametrize(
    "clause",
    [
        "nDCG@10(new) within 0.02 of nDCG@10(old)",
        "p10(nDCG@10(new)) >= 0.05",
        "p99(Seconds(new)) - p99(Seconds(old)) <= 50ms",
        "p95(Seconds(new)) <= 300ms",
        "wins(nDCG@10(new), nDCG@10(old)) >= 60%",
        "losses(nDCG@10(new), nDCG@10(old)) <= 10%",
        "count(nDCG@10(new) = 0) <= 3",
        "share(nDCG@10(new) < 0.1) <= 10%",
        "Success@3(new) >= 80% for each language",
        "Success@3(new) >= 80% where freq > 5",
        "min(Success@3(new) by category) >= 60%",
        "nDCG@10(new) >= nDCG@10(old) at 99%",
        "Cost(new) <= 0.01",
        "sum(Cost(new)) <= 5",
        "Failed(new) <= 1%",
        "kendall(nDCG@10(new), nDCG@10(old)) >= 0.6",
        "overlap@10(new, old) >= 0.8",
        "RBO(new, old) >= 0.8",
        "weighted(nDCG@10(new), by=freq) >= 0.3",
        "mean(nDCG@10(new)) >= 0.3",
    ],
)
def test_a_clause_that_could_not_be_said(tmp_path: Path, clause: str) -> None:
    done = clauses_checked(tmp_path, clause)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("clause", "remedy"),
    [
        ("min(nDCG@10(new)) >= 0.01", "`count(nDCG@10(new) < 0.01) <= 0`"),
        ("recall(R@100(new)) >= 0.7", "recall takes 2 measures, not 1"),
    ],
)
def test_a_clause_that_read_as_something_else(tmp_path: Path, clause: str, remedy: str) -> None:
    done = clauses_checked(tmp_path, clause)
    assert (done.code, remedy in " ".join(done.err.split())) == (3, True)


# ------------------------------------------------------------------------------------ a tree's beam


def routing_gate(name: str) -> Gate:
    """A gate as the template of hierarchies ships it."""
    read = yaml.safe_load((template_of("hierarchy") / "gates.yaml").read_text())[name]
    return Gate.from_file(name, GateFile(**{"on" if key is True else key: read[key] for key in read}))


@pytest.mark.parametrize(("visited", "passes"), [(0.999, False), (0.12, True)])
def test_a_beam_that_visits_everything_passes_no_routing_gate(visited: float, passes: bool) -> None:
    columns: Columns = {}
    for system in ("beam", "beam_reranked"):
        columns[system, "eps@L1"] = np.zeros(60)  # it never loses the answer
        columns[system, "Visited"] = np.full(60, visited)
    rows = rows_of(columns)
    (found,) = decide_gates([routing_gate("epsilon")], Evaluator(rows, Registry(), resamples=500))
    assert (found.verdict == "go") is passes
