"""assay review: forms out and in, how far it is, how reviewers agree, and the trap of unequal query sets."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from small_benchmark import STUDY, write_benchmark, write_run
from small_study import assay

QUERIES = 20
SEMANTIC = "conceptual_queries:\n" + "\n".join(
    f"""  - id: CON-{n:03d}
    query: question {n}
    difficulty: hard
    intent: exploratory
    ground_truth: {{verification_sql: "chunk_text LIKE '%nothing of the kind%'"}}"""
    for n in range(QUERIES)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_benchmark(tmp_path)
    assert assay("run", tmp_path).code == 10  # one query alone can never show that large is better
    return tmp_path


def fill(path: Path, marks: dict[str, str], reviewer: str = "Anna") -> None:
    """Judges what is empty in a form, as a person would with an editor."""
    form = yaml.safe_load(path.read_text())
    form["metadata"] |= {"reviewer": reviewer, "review_date": "2026-01-19", "review_complete": True}
    for row in form["results"]:
        if not row["judgment"] and row["chunk_id"] in marks:
            row["judgment"] = marks[row["chunk_id"]]
    path.write_text(yaml.safe_dump(form, sort_keys=False, allow_unicode=True))


@pytest.mark.slow
def test_forms_go_out_blind_and_come_back_once(folder: Path) -> None:
    done = assay("review", "export", folder)
    assert done.out.startswith(f"1 form in {folder / 'review'}: 7 to judge, 1 filled in")
    (form,) = (folder / "review").glob("*.yaml")
    assert form.name == "review_CON-001.yaml"
    for word in ("small", "large", "score", "rank"):
        assert word not in form.read_text()

    fill(form, {"R2.pdf#2": "semantic match", "R2.pdf#3": "Semantic_Match", "R6.pdf#2": "false positive"})
    taken = assay("review", "import", folder)
    assert taken.out.splitlines()[0] == "3 judgments taken, 0 known before, 4 left blank, 1 filled in by rule"
    again = assay("review", "import", folder)
    assert again.out.splitlines()[0].startswith("0 judgments taken, 3 known before")
    status = assay("review", "status", folder, "--json").json["review"]
    assert (status["marked"], status["open"], status["complete"]) == (3, 4, [])
    # large has two semantic matches of five, two open; small none, three open
    assert status["bounds"]["SemanticLift@5"] == {"small": [0.0, 0.6], "large": [0.4, 0.8]}


@pytest.mark.slow
def test_only_the_most_decisive_passages_are_asked_for_first(folder: Path) -> None:
    first = assay("review", "export", folder, "--first", 2)
    assert first.out.startswith(f"1 form in {folder / 'review' / '001'}: 2 to judge")
    second = assay("review", "export", folder, "--first", 2)
    assert str(folder / "review" / "002") in second.out


@pytest.mark.slow
def test_forms_by_model_warn_that_they_are_not_blind(folder: Path) -> None:
    done = assay("review", "export", folder, "--per-model", "--out", folder / "forms")
    assert "not blind" in done.err
    names = sorted(path.name for path in (folder / "forms").iterdir())
    assert names == ["review_CON-001_large.yaml", "review_CON-001_small.yaml"]
    assert assay("review", "export", folder, "--per-model", "--first", 1).code == 2


@pytest.mark.slow
def test_one_wrong_form_keeps_all_of_them_out(folder: Path) -> None:
    assay("review", "export", folder)
    (form,) = (folder / "review").glob("*.yaml")
    fill(form, {"R2.pdf#2": "SEMANTIC_MATCH", "R2.pdf#3": "maybe"})
    done = assay("review", "import", folder)
    assert done.code == 3
    assert "maybe" in done.err
    assert assay("review", "status", folder, "--json").json["review"]["marked"] == 0


@pytest.mark.slow
def test_a_second_reviewer_does_not_see_the_first_ones_marks(folder: Path) -> None:
    assay("review", "export", folder, "--for", "Anna")
    (form,) = (folder / "review" / "Anna").glob("*.yaml")
    fill(form, dict.fromkeys(["R2.pdf#2", "R2.pdf#3", "R4.pdf#0"], "SEMANTIC_MATCH"))
    done = assay("review", "import", folder)
    assert done.out.splitlines()[-1] == "Recommendation: use small"
    second = assay("review", "export", folder, "--for", "Ben")
    assert second.out.startswith(f"1 form in {folder / 'review' / 'Ben'}: 7 to judge, 1 filled in")
    assert assay("review", "export", folder, "--for", "Anna", "--out", folder / "again").out.endswith(
        "4 to judge, 4 filled in\n"
    )
    (form,) = (folder / "review" / "Ben").glob("*.yaml")
    assert "SEMANTIC_MATCH" not in form.read_text().partition("results:")[2]
    fill(form, dict.fromkeys(["R2.pdf#2", "R2.pdf#3", "R4.pdf#0"], "SEMANTIC_MATCH"), "Ben")
    assay("review", "import", folder)
    found = assay("review", "agreement", folder, "--json").json
    assert [(pair["n"], pair["agree"]) for pair in found["pairs"]] == [(3, 1.0)]


@pytest.mark.slow
def test_agreement_is_of_those_who_judged_the_same_passage(folder: Path) -> None:
    assert "judged by two people" in assay("review", "agreement", folder).out
    words = ["SEMANTIC_MATCH", "FALSE_POSITIVE"]
    docs = ["R2.pdf#2", "R2.pdf#3", "R4.pdf#0", "R6.pdf#0"]
    for reviewer, marks in (("Anna", [0, 0, 1, 1]), ("Ben", [0, 1, 1, 1])):
        assay("review", "export", folder, "--out", folder / reviewer)
        (form,) = (folder / reviewer).glob("*.yaml")
        fill(form, {doc: words[mark] for doc, mark in zip(docs, marks, strict=True)}, reviewer)
    # both forms went out before either came back, so that neither reviewer saw the other's marks
    assert assay("review", "import", folder, folder / "Anna", folder / "Ben").code == 0
    found = assay("review", "agreement", folder, "--json").json
    # three of four alike; by chance 2/4 · 1/4 + 2/4 · 3/4 = 1/2, so kappa = (3/4 - 1/2) / (1 - 1/2)
    assert found["pairs"] == [{"raters": ["Anna", "Ben"], "n": 4, "agree": 0.75, "kappa": 0.5}]


# ------------------------------------------------------------------------------ unequal query sets


def lifts(query: int) -> tuple[int, int]:
    """How many of its three passages small and large get right: large leads on ten queries, then trails."""
    return (1, 2) if query < 10 else (3, 1)


@pytest.fixture
def forty(tmp_path: Path) -> Path:
    """Twenty queries and two models: forty files, each with three passages that only its model returned."""
    write_benchmark(tmp_path, STUDY, SEMANTIC)
    names = [f"CON-{n:03d}" for n in range(QUERIES)]
    write_run(tmp_path / "small.run", {name: ["R1.pdf#0", "R1.pdf#1", "R1.pdf#2"] for name in names})
    write_run(tmp_path / "large.run", {name: ["R2.pdf#0", "R2.pdf#1", "R2.pdf#2"] for name in names})
    assert assay("run", tmp_path).code == 11
    assay("review", "export", tmp_path, "--per-model", "--out", tmp_path / "forms")
    assert len(list((tmp_path / "forms").iterdir())) == 40
    return tmp_path


def judge(folder: Path, model: str, queries: range) -> None:
    report = {"small": "R1", "large": "R2"}[model]
    for query in queries:
        right = lifts(query)[model == "large"]
        marks = {f"{report}.pdf#{n}": "SEMANTIC_MATCH" if n < right else "FALSE_POSITIVE" for n in range(3)}
        fill(folder / "forms" / f"review_CON-{query:03d}_{model}.yaml", marks)


@pytest.mark.slow
def test_a_decision_on_unequal_query_sets_is_refused(forty: Path) -> None:
    judge(forty, "small", range(3, 14))  # eleven queries
    judge(forty, "large", range(7))  # seven, four of which both have
    assert assay("review", "import", forty, forty / "forms").code == 0

    gate = assay("gate", forty, "--json")
    assert gate.code == 11
    (clause,) = gate.json["verdicts"][0]["clauses"]
    assert (clause["holds"], clause["reason"]) == (None, "16 items not judged")
    assert gate.json["recommendation"] == "review first"

    review = assay("review", "status", forty, "--json").json["review"]
    assert review["complete_by_arm"] == {"small": 11, "large": 7}
    assert review["complete"] == [f"CON-{n:03d}" for n in range(3, 7)]
    lift = {
        each["system"]: (each["value"], each["n_scored"])
        for each in review["estimates"]
        if each["measure"] == "SemanticLift@5"
    }
    # each alone: small (7 · 1 + 4 · 3) / 33 = 0.576, large 14 / 21 = 0.667; on the four both have 1/3 and 2/3
    assert lift == {"small": (pytest.approx(1 / 3), 4), "large": (pytest.approx(2 / 3), 4)}
    (paired,) = [each for each in review["comparisons"] if each["measure"] == "SemanticLift@5"]
    assert paired["difference"] == pytest.approx(1 / 3)
    assert paired["n"] == 4
    assert paired["low"] <= 1 / 3 <= paired["high"]
    assert review["verdicts"] == ["go", "no-go"]


@pytest.mark.slow
def test_on_the_twenty_they_share_the_sign_flips(forty: Path) -> None:
    judge(forty, "small", range(QUERIES))
    judge(forty, "large", range(QUERIES))
    assert assay("review", "import", forty, forty / "forms").code == 0
    gate = assay("gate", forty, "--json")
    # (10 · 1 - 10 · 2) / 60: large trails by a sixth over all twenty
    assert gate.json["verdicts"][0]["clauses"][0]["value"] == pytest.approx(-1 / 6)
    assert gate.code == 10
    assert gate.json["recommendation"] == "use small"


@pytest.mark.slow
def test_status_leads_from_run_to_report(forty: Path) -> None:
    def next_step() -> str:
        found: str = assay("status", forty, "--json").json["next_step"]
        return found

    assert next_step().startswith(f"assay review export {forty} (the verdict can still be go or no-go")
    assay("review", "export", forty)
    assert next_step().endswith(f"then assay review import {forty}")
    for query in range(QUERIES):
        everything = [f"R{report}.pdf#{n}" for report in (1, 2) for n in range(3)]
        fill(forty / "review" / f"review_CON-{query:03d}.yaml", dict.fromkeys(everything, "FALSE_POSITIVE"))
    assay("review", "import", forty)
    assert next_step() == f"assay report {forty} --format benchmark"
    (forty / "run").rename(forty / "kept")
    assert next_step() == f"assay run {forty}"
