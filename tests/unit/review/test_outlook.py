"""Whether marks still to be made can change a verdict: never fewer outcomes than some completion reaches."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from assay.core.records import Judgment
from assay.measures.marks import FALSE_POSITIVE, GRADES, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.reviewing import export_review
from assay.store.journal import JudgmentEntry
from assay.study.study import open_study
from small_benchmark import GOLDEN, STUDY, write_benchmark, write_run

# Seven queries that want a review; each system has two passages of its own for each, and one they share.
QUERIES = 7
SEMANTIC = "\n".join(
    f"""  - id: CON-{n}
    query: question {n}
    ground_truth: {{verification_sql: "chunk_text LIKE '%nothing of the kind%'"}}"""
    for n in range(QUERIES)
)
SMALL = {f"CON-{n}": ["R1.pdf#0", "R2.pdf#0", "R3.pdf#0"] for n in range(QUERIES)}
LARGE = {f"CON-{n}": ["R1.pdf#0", "R4.pdf#0", "R5.pdf#0"] for n in range(QUERIES)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(tmp_path, golden=f"conceptual_queries:\n{SEMANTIC}\n")
    write_run(tmp_path / "small.run", SMALL)
    write_run(tmp_path / "large.run", LARGE)
    evaluate(tmp_path)
    return tmp_path


def mark(folder: Path, marks: dict[tuple[str, str], str]) -> Evaluation:
    with Evaluation(open_study(folder)).store.writer() as writer:
        for (item, doc), word in marks.items():
            writer.append(
                JudgmentEntry(Judgment(item, "review", GRADES[word], "anna", target=doc, category=word))
            )
    return Evaluation(open_study(folder))


def own(system: dict[str, list[str]], word: str) -> dict[tuple[str, str], str]:
    """Every passage that this system alone returned, marked so."""
    return {(item, doc): word for item, docs in system.items() for doc in docs[1:]}


@pytest.mark.slow
def test_before_any_mark_everything_can_happen(folder: Path) -> None:
    found = Evaluation(open_study(folder)).review
    assert found is not None
    assert (found.items, found.open, found.marked) == (7, 35, 0)
    assert found.verdicts == ["go", "no-go"]
    assert found.complete == []
    assert found.bounds["SemanticLift@5"] == {arm: (0.0, pytest.approx(1.0)) for arm in ("small", "large")}
    assert found.outlook == "the verdict can still be go or no-go: 35 passages to judge"


@pytest.mark.slow
def test_shared_passages_need_no_mark_to_settle_it(folder: Path) -> None:
    # d = 2/3 in each of seven rows: all subsets have mean 2/3, and the lower end is above 0
    now = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE))
    found = now.review
    assert found is not None
    assert found.open == 7  # the seven that both returned
    assert found.verdicts == ["go"]
    assert found.settled
    assert found.partial
    assert now.results.verdict == "go"  # although the clause itself is open
    assert now.results.verdicts[0].clauses[0].holds is None
    assert now.results.verdicts[0].reason.startswith("settled: whatever the 7 passages still open")
    assert now.results.recommendation == "use large"


@pytest.mark.slow
def test_one_side_can_settle_that_nothing_is_gained(folder: Path) -> None:
    found = mark(folder, own(LARGE, FALSE_POSITIVE)).review
    assert found is not None
    assert found.verdicts == ["no-go"]  # whatever the other system's passages are, this one cannot lead


@pytest.mark.slow
def test_a_keyword_match_that_a_person_sees_is_no_lift(folder: Path) -> None:
    found = mark(folder, own(LARGE, KEYWORD_MATCH) | own(SMALL, FALSE_POSITIVE)).review
    assert found is not None
    assert found.verdicts == ["no-go"]


@pytest.mark.slow
def test_the_ends_bound_every_completion(folder: Path) -> None:
    half = {key: word for key, word in own(LARGE, SEMANTIC_MATCH).items() if key[0] < "CON-4"}
    now = mark(folder, half)
    possible = now.review
    assert possible is not None
    words = [SEMANTIC_MATCH, FALSE_POSITIVE]
    seen = set()
    for large, small, shared in itertools.product(words, repeat=3):
        by_side = {"R4": large, "R5": large, "R2": small, "R3": small, "R1": shared}
        completion = {each.key: by_side[each.doc_id[:2]] for each in now.reviewing.pool.open}
        evaluator = now.reviewing._completed(completion, now.evaluator)
        from assay.gates.verdict import decide_gates

        seen.add(decide_gates(now.study.gates, evaluator)[0].verdict)
    assert seen == {"go", "no-go"}
    assert seen <= set(possible.verdicts)


@pytest.mark.slow
def test_a_bootstrap_interval_is_never_called_settled_while_marks_are_open(folder: Path) -> None:
    (folder / "study.yaml").write_text(STUDY.replace("interval: subsets", "interval: bootstrap"))
    found = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE)).review
    assert found is not None
    assert not found.settled


@pytest.mark.slow
def test_a_complete_review_gives_rates_on_all_queries(folder: Path) -> None:
    shared = {(item, "R1.pdf#0"): SEMANTIC_MATCH for item in SMALL}
    now = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE) | shared)
    found = now.review
    assert found is not None
    assert not found.partial
    assert found.outlook == "every passage is judged"
    lift = {each.system: each.value for each in found.estimates if each.measure == "SemanticLift@5"}
    assert lift == {"small": pytest.approx(1 / 3), "large": 1.0}
    (comparison,) = [each for each in found.comparisons if each.measure == "SemanticLift@5"]
    assert comparison.difference == pytest.approx(2 / 3)
    assert now.results.verdict == "go"
    assert now.results.recommendation == "use large"


@pytest.mark.slow
def test_rates_are_given_only_on_queries_judged_for_every_system(folder: Path) -> None:
    # large is judged on all seven queries, small on two: means of seven and of two would not be comparable
    everything = own(LARGE, SEMANTIC_MATCH) | {(item, "R1.pdf#0"): FALSE_POSITIVE for item in SMALL}
    two = {key: word for key, word in own(SMALL, SEMANTIC_MATCH).items() if key[0] in {"CON-0", "CON-1"}}
    found = mark(folder, everything | two).review
    assert found is not None
    assert found.complete == ["CON-0", "CON-1"]
    assert found.complete_by_arm == {"small": 2, "large": 7}
    lift = {each.system: (each.value, each.n_scored) for each in found.estimates if "Lift" in each.measure}
    assert lift == {"small": (pytest.approx(2 / 3), 2), "large": (pytest.approx(2 / 3), 2)}
    assert found.bounds["SemanticLift@5"]["small"] == (pytest.approx(4 / 21), pytest.approx(14 / 21))


@pytest.mark.slow
def test_a_factor_of_one_value_changes_nothing(folder: Path) -> None:
    (folder / "study.yaml").write_text(STUDY + "factors: {golden: [gold.yaml]}\n")
    evaluate(folder)
    found = Evaluation(open_study(folder)).review
    assert found is not None
    assert found.verdicts == ["go", "no-go"]
    found = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE)).review
    assert found is not None
    assert found.verdicts == ["go"]


def test_a_clause_that_may_stay_without_figures_keeps_it_open(folder: Path) -> None:
    kappa = STUDY.replace(
        "go: SemanticLift@5(large) > SemanticLift@5(small)",
        'go: ["RR@10(large) > 0.9", "kappa(review) >= 0.6"]',
    ).replace("otherwise: no-go", "kill: RR@10(large) < 0\n    otherwise: no-go")
    (folder / "study.yaml").write_text(kappa)
    found = Evaluation(open_study(folder)).review
    assert found is not None
    assert "inconclusive" in found.verdicts


@pytest.mark.slow
def test_a_clause_whose_cut_off_is_repeated_is_read_value_by_value(folder: Path) -> None:
    study = STUDY.replace(
        "    otherwise: no-go", "    kill: RR@cut(large) < 0 for each cut=5|10\n    otherwise: no-go"
    )
    (folder / "study.yaml").write_text(study)
    found = Evaluation(open_study(folder)).review
    assert found is not None
    assert found.verdicts == ["inconclusive"]  # no item here has a label that RR could read
    export_review(open_study(folder), folder / "first", first=3)


@pytest.mark.slow
def test_too_many_outcomes_to_try_are_never_called_settled(folder: Path) -> None:
    clauses = "".join(f"\"RR(label='review|relevance')@{cut}(large) > 2\", " for cut in range(1, 9))
    go = STUDY.replace("go: SemanticLift@5(large) > SemanticLift@5(small)", f"go: [{clauses}]")
    (folder / "study.yaml").write_text(go.replace(" > 2", " > 0.99"))
    found = Evaluation(open_study(folder)).review
    assert found is not None
    assert found.verdicts == ["go", "inconclusive", "no-go"]


@pytest.mark.slow
def test_a_step_that_can_still_be_stopped_is_not_settled(folder: Path) -> None:
    steps = STUDY.replace(
        "gates:\n", "gates:\n  pre: {interval: subsets, deciding: false, kill: SemanticLift@5(small) > 0.5}\n"
    )
    (folder / "study.yaml").write_text(steps + "steps: [pre, large]\n")
    now = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE))
    assert now.review is not None
    assert now.review.verdicts == ["go"]  # small cannot pass a half any more: two of three are wrong
    everything = {(item, "R1.pdf#0"): SEMANTIC_MATCH for item in SMALL}
    (folder / "study.yaml").write_text(
        steps.replace("small) > 0.5", "large) > 0.5") + "steps: [pre, large]\n"
    )
    now = mark(folder, everything)
    assert now.review is not None
    assert now.results.verdict == "inconclusive"  # pre is no-go, so that large is never reached
    assert now.review.verdicts == ["inconclusive"]


@pytest.mark.slow
def test_what_was_not_answered_is_not_judged(folder: Path) -> None:
    now = mark(folder, own(LARGE, SEMANTIC_MATCH) | own(SMALL, FALSE_POSITIVE))
    assert now.review is not None
    limited = dataclasses.replace(now.reviewing.pool, unanswered=frozenset({("CON-0", "large")}))
    shared = {(item, "R1.pdf#0"): FALSE_POSITIVE for item in SMALL}
    done = dataclasses.replace(
        limited,
        candidates=[
            dataclasses.replace(each, mark=each.mark or shared[each.key]) for each in limited.candidates
        ],
    )
    assert "CON-0" not in done.complete()
    assert "CON-0" in done.complete(["small"])


@pytest.mark.slow
def test_another_query_makes_earlier_marks_stale(folder: Path) -> None:
    from assay.judges.labels import text_hash, text_with_query

    passages = Evaluation(open_study(folder)).datasets["small"].corpus
    with Evaluation(open_study(folder)).store.writer() as writer:
        for item, doc in own(LARGE, SEMANTIC_MATCH):
            seen = text_hash(text_with_query(f"question {item[-1]}", passages.text_of(doc) or ""))
            said = Judgment(item, "review", 1.0, "anna", target=doc, category=SEMANTIC_MATCH, seen=seen)
            writer.append(JudgmentEntry(said))
    before = Evaluation(open_study(folder)).review
    assert before is not None
    assert before.marked == 14
    golden = (folder / "gold.yaml").read_text()
    (folder / "gold.yaml").write_text(golden.replace("question 3", "another question"))
    evaluate(folder)
    after = Evaluation(open_study(folder))
    assert after.review is not None
    assert after.review.marked == 12
    assert any("marks by anna do not count" in each for each in after.results.trust.warnings)


def test_a_study_without_such_items_has_no_review(tmp_path: Path) -> None:
    golden = GOLDEN.partition("conceptual_queries")[0].replace("total_queries: 5", "total_queries: 4")
    write_benchmark(tmp_path, golden=golden)
    assert evaluate(tmp_path).review is None
