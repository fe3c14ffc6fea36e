"""What was stored with an earlier version still opens: answers, baselines, and above all people's marks.

The studies in `tests/stored` were stored by that version's own commands; each test opens a copy of one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from starlette.testclient import TestClient

import assay as library
from assay.desk.access import Access
from assay.desk.app import make_app
from assay.desk.reviews import desk_folder, find_work
from assay.kinds.answers.panel import scoring_folder
from assay.kinds.memory.annotation.sheets import SheetMark
from assay.review.marks import folder_book
from desk_client import HERE, mark_path
from recorded import Flat, differences
from small_scoring import STEPS
from small_scoring import scores as scores_of
from small_study import assay

STORED = Path(__file__).parents[1] / "stored"
MODEL = "http://127.0.0.1:18399/v1"  # where the judge of `verdicts` was; nothing answers there now
CODES = {"search": 0, "structures": 0, "review": 10, "verdicts": 0, "scoring-begun": 11, "scoring-open": 0}
STUDIES = sorted(CODES)
same_hashes = pytest.mark.skipif(pl.__version__ != "2.1.0", reason="another Polars hashes rows otherwise")
ENDS = {"low", "high", "mde"}  # what an interval that reaches further changes


@pytest.fixture(autouse=True)
def unreachable_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_URL", MODEL)


def copied(name: str, folder: Path) -> Path:
    """A stored study, to be opened and added to."""
    return shutil.copytree(STORED / name, folder / name)


def said(name: str, part: str) -> Any:
    """What the earlier version printed as JSON."""
    return json.loads((STORED / name / "said" / f"{part}.json").read_text())


def results(folder: Path) -> Any:
    done = assay("report", folder, "--format", "json", "-o", "-")
    assert done.code == 0, done.err
    return done.json


def answer(*args: object) -> Any:
    """What a command prints as JSON."""
    done = assay(*args, "--json")
    assert done.code == 0, done.err
    return done.json


def changed(before: Any, now: Any) -> list[str]:
    """What differs between two JSON values, one line per value; of further looks, bounds left out."""
    plain = (flat(without_later_bounds(each)) for each in (before, now))
    return differences(*plain, tolerance=1e-9)  # the last digits are the processor's


def without_later_bounds(value: Any) -> Any:
    """A JSON value without the bounds of gates that were looked at before: these reach further now."""
    if isinstance(value, list):
        return [without_later_bounds(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    again = "gate" in value and value.get("look", 1) > 1
    found = {key: without_later_bounds(each) for key, each in value.items() if not again or key != "level"}
    if again:
        found["clauses"] = [
            {key: each for key, each in clause.items() if key not in {*ENDS, "advice"}}
            for clause in value["clauses"]
        ]
    return found


def flat(value: Any, name: str = "") -> Flat:
    """Every value of anything nested, by its path."""
    if not isinstance(value, Mapping | list):
        return {name: float(value) if type(value) is int else value}
    found: Flat = {name: len(value)}
    for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
        found |= flat(each, f"{name}.{key}")
    return found


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@contextmanager
def seated(folder: Path, what: str, rater: str) -> Iterator[TestClient]:
    """Somebody logged in at the desk of a study."""
    study = library.open_study(folder)
    work = find_work(study, what, [] if what == "scoring" else [rater])
    access = Access(desk_folder(study), work.raters)
    client = TestClient(make_app(work, access), base_url=HERE)
    entered = client.post("/api/session", json={"token": access.link(rater)})
    client.headers["x-csrf"] = entered.json()["csrf"]
    try:
        yield client
    finally:
        work.close()


# ------------------------------------------------------------------------------ answers and figures


@pytest.mark.parametrize("name", STUDIES)
def test_stored_answers_are_used_and_nothing_is_asked_again(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    before = files_in(folder / "run" / "journal")
    done = assay("run", folder)
    assert done.code == CODES[name], done.err
    told = "16 of 16 answers are stored already" if name.startswith("scoring") else "0 answered, "
    assert f"{name}: {told}" in done.err
    assert " 0 pending" in done.err
    assert files_in(folder / "run" / "journal") == before  # no judge was asked either
    assert results(folder)["outdated"] == []


@same_hashes
@pytest.mark.parametrize("name", STUDIES)
def test_stored_scores_are_not_computed_again(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    results(folder)
    assert files_in(folder / "run")["scores.parquet"] == files_in(STORED / name / "run")["scores.parquet"]


@pytest.mark.parametrize("name", STUDIES)
def test_scores_computed_again_equal_the_stored_ones(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    (folder / "run" / "scores.parquet").unlink()
    results(folder)
    before, now = (pl.read_parquet(each / "run" / "scores.parquet") for each in (STORED / name, folder))
    assert before.drop("value").equals(now.drop("value"))
    assert changed(before["value"].to_list(), now["value"].to_list()) == []


@pytest.mark.parametrize("name", STUDIES)
def test_estimates_and_verdicts_are_those_of_the_earlier_version(name: str, tmp_path: Path) -> None:
    before, now = said(name, "results"), results(copied(name, tmp_path))
    parts = sorted(before.keys() - {"schema", "scoring"})
    assert {"estimates", "verdicts"} <= set(parts)
    different = [each for part in parts for each in changed(before[part], now[part])]
    if name != "scoring-open":
        assert different == []
        return
    # means of claims are skewed, and intervals of such means reach further since: docs/decisions/0027
    assert {each.partition(": ")[0].rpartition(".")[2] for each in different} <= ENDS
    for then, after in zip(before["estimates"], now["estimates"], strict=True):
        assert after["low"] == pytest.approx(then["low"]) or after["low"] < then["low"]
        assert after["high"] == pytest.approx(then["high"]) or after["high"] > then["high"]


def test_the_version_of_the_schema_went_up_with_the_key_that_went(tmp_path: Path) -> None:
    folder = copied("scoring-open", tmp_path)
    before, now = json.loads((folder / "baselines/first/results.json").read_text()), results(folder)
    assert (before["schema"], now["schema"]) == ("assay/results/1", "assay/results/2")
    assert before.keys() - now.keys() == {"scoring"}
    for part in ("estimates", "comparisons", "verdicts"):
        assert before[part][0].keys() <= now[part][0].keys()
    text = (STORED.parents[1] / "docs" / "results-schema.md").read_text()
    assert "`scoring`" in text.partition("## Since version 1")[2]


def test_a_notebook_opens_a_stored_run(tmp_path: Path) -> None:
    found = library.evaluate(copied("search", tmp_path))
    before = said("search", "results")
    assert found.verdict == before["verdict"]
    assert [each.value for each in found.estimates] == pytest.approx(
        [e["value"] for e in before["estimates"]]
    )


# ------------------------------------------------------------------------------ baselines and looks


def test_a_baseline_is_listed_and_compared_as_before(tmp_path: Path) -> None:
    folder = copied("search", tmp_path)
    assert changed(said("search", "list"), answer("baseline", "list", folder)) == []
    assert changed(said("search", "diff"), answer("baseline", "diff", folder, "march")) == []
    before, now = said("search", "against"), answer("run", folder, "--against", "march")
    (then, *_), (after, *_) = (each["verdicts"] for each in (before, now))
    assert then["look"] == after["look"] == 2
    for one, other in zip(then["clauses"], after["clauses"], strict=True):
        assert other["low"] <= one["low"] + 1e-9
        assert other["high"] >= one["high"] - 1e-9
    assert changed(before["verdicts"], now["verdicts"]) == []
    assert changed(before["against"], now["against"]) == []


def test_looks_taken_before_count(tmp_path: Path) -> None:
    folder = copied("search", tmp_path)
    assert results(folder)["verdicts"][0]["look"] == 2  # eight items, then twelve
    items = (folder / "data" / "items.jsonl").read_text().splitlines(keepends=True)
    (folder / "data" / "items.jsonl").write_text("".join(items[:11]))
    assert assay("run", folder).code == 0
    assert results(folder)["verdicts"][0]["look"] == 3
    shutil.rmtree(folder / "run")  # a baseline carries the look that led to it
    assert assay("run", folder).code == 0
    assert results(folder)["verdicts"][0]["look"] == 2


def test_a_baseline_of_a_scoring_is_compared(tmp_path: Path) -> None:
    folder = copied("scoring-open", tmp_path)
    found = answer("baseline", "diff", folder, "first")
    differing = [one for arm in found["arms"] for one in arm["comparisons"] if one["difference"]]
    assert (found["items"]["changed"], differing) == ({}, [])
    assert assay("run", folder, "--against", "first").code == 0


@same_hashes
def test_proofs_kept_before_are_shown(tmp_path: Path) -> None:
    folder = copied("search", tmp_path)
    before = said("search", "prove")["proofs"]
    assert [each["exposed_by"] for each in before] == [["shuffle"]]
    assert changed(before, results(folder)["proofs"]) == []
    (folder / "old.run").write_text("q0 Q0 d0 1 9 old\n")  # another answer
    assay("run", folder)
    assert results(folder)["proofs"] == []


def test_a_gate_proved_again_comes_out_as_before(tmp_path: Path) -> None:
    (before,) = said("search", "prove")["proofs"]
    done = assay("prove", copied("search", tmp_path), "--json")
    assert done.code == 10
    (now,) = done.json["proofs"]
    concern = {each["control"] for each in now["controls"]}  # those of other kinds of study are left out
    left_out = [each for each in before["controls"] if each["control"] not in concern]
    assert [each["draws"] for each in left_out] == [0] * len(left_out)
    kept = [each for each in before["controls"] if each["control"] in concern]
    for each in (*kept, *now["controls"]):
        assert each["about"]  # the sentence may be reworded
        each["about"] = ""
    rest = {"evidence": "", "controls": []}
    assert changed({**before, **rest}, {**now, **rest}) == []
    assert changed(kept, now["controls"]) == []


# ------------------------------------------------------------------------------ forms and the desk


@pytest.mark.parametrize(("name", "what"), [("review", "relevance"), ("verdicts", "verdicts")])
def test_marks_from_forms_and_the_desk_count_as_before(name: str, what: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    assert changed(said(name, "agreement"), answer("review", "agreement", folder)) == []
    assert changed(said(name, "status"), answer("review", "status", folder)) == []
    with seated(folder, what, "Cleo") as desk:
        before, now = said(name, "desk")["Cleo"], desk.get("/api/work").json()
        assert before["about"]
        assert now["about"]  # the sentence may be reworded
        assert changed({**before, "about": ""}, {**now, "about": ""}) == []


@pytest.mark.parametrize("name", ["review", "verdicts"])
def test_forms_filled_in_before_are_imported_to_the_same_effect(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    before = files_in(folder / "run" / "journal")
    assert changed(said(name, "imported"), answer("review", "import", folder, folder / "waiting")) == []
    now = files_in(folder / "run" / "journal")
    assert before.items() < now.items()  # added to, never rewritten
    assert changed(said(name, "imported-agreement"), answer("review", "agreement", folder)) == []
    wanted = said(name, "imported-results")
    found = results(folder)
    assert [each for part in wanted if part != "schema" for each in changed(wanted[part], found[part])] == []
    for place in ("review", "waiting"):
        assert answer("review", "import", folder, folder / place)["taken"] == 0
    assert files_in(folder / "run" / "journal") == now


def test_a_remark_beside_what_a_rule_filled_in_is_its_reviewers_word(tmp_path: Path) -> None:
    folder = copied("review", tmp_path)
    (path,) = (folder / "waiting").glob("*CON-001.yaml")
    form = yaml.safe_load(path.read_text())
    filled = next(row for row in form["results"] if row["notes"].startswith("[AUTO] sql: "))
    filled["notes"] += "; wrong: it is about another ship"
    path.write_text(yaml.safe_dump(form, sort_keys=False))
    refused = assay("review", "export", folder, "--for", "Dora", "--out", folder / "waiting")
    assert (refused.code, "holds what a person said of 2 passages" in refused.err) == (3, True)
    assert answer("review", "import", folder, folder / "waiting")["taken"] == 5  # as the earlier version


def test_a_mark_made_at_the_desk_before_can_be_changed_and_undone(tmp_path: Path) -> None:
    folder = copied("review", tmp_path)
    with seated(folder, "relevance", "Cleo") as desk:
        ids = [each["task_id"] for each in desk.get("/api/steps/relevance").json()["tasks"] if each["done"]]
        tasks = {each: desk.get(f"/api/steps/relevance/tasks/{each}").json() for each in ids}
        once = next(each for each in ids if len(tasks[each]["history"]) == 1)
        twice = next(each for each in ids if len(tasks[each]["history"]) == 2)
        assert (tasks[once]["mark"]["choice"], tasks[once]["mark"]["note"]) == (
            "SEMANTIC_MATCH",
            "seen at the desk",
        )
        draft = {"mark_id": "later-0001", "choice": "FALSE_POSITIVE", "base": tasks[once]["mark"]["mark_id"]}
        assert desk.put(mark_path(once, "relevance"), json=draft).json()["mark"]["choice"] == "FALSE_POSITIVE"
        undo = {"mark_id": "later-0002", "base": tasks[twice]["mark"]["mark_id"]}
        back = desk.post(f"/api/steps/relevance/tasks/{twice}/undo", json=undo).json()
        assert back["mark"]["choice"] == "FALSE_POSITIVE"  # what stood before she changed it
    assert (
        answer("review", "status", folder)["review"]["marked"] == said("review", "status")["review"]["marked"]
    )


# ------------------------------------------------------------------------------ blinded scoring


@pytest.mark.parametrize("name", ["scoring-begun", "scoring-open"])
def test_scores_taken_in_before_count_as_before(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    assert changed(said(name, "agreement"), answer("review", "agreement", folder)) == []
    assert changed(said(name, "status"), answer("review", "status", folder)) == []


def test_a_scoring_that_was_begun_is_finished_unblinded_and_analysed(tmp_path: Path) -> None:
    folder = copied("scoring-begun", tmp_path)
    marks = files_in(folder / "blind" / "marks")
    files = scoring_folder(library.open_study(folder))
    assert answer("review", "import", folder, folder / "anna-1.jsonl")["taken"] == 0
    assert answer("review", "import", folder, folder / "waiting.jsonl")["taken"] == 43
    with seated(folder, "scoring", "ben") as desk:
        assert changed(said("scoring-begun", "desk")["ben"], desk.get("/api/work").json()) == []
        assert [each["case_id"] for each in desk.get("/api/register").json()][-1] == "EC-11"
        for number, line in enumerate(scores_of(files, "ben")):
            step, task_id = line["step"], line["response_id"]
            if desk.get(f"/api/steps/{step}/tasks/{task_id}").json()["mark"] is None:
                choice = str(line["choice"]) if "choice" in line else None
                flags = [] if "choice" in line else ["none_found"]
                sent = {"mark_id": f"ben-{number:05d}", "choice": choice, "note": line.get("note", "")}
                saved = desk.put(mark_path(task_id, step), json={**sent, "flags": flags})
                assert saved.status_code == 200, saved.text
    assert answer("review", "status", folder)["scoring"]["progress"] == {
        rater: {step: [16, 16] for step in STEPS} for rater in ("anna", "ben")
    }
    assert marks.items() < files_in(folder / "blind" / "marks").items()
    assert assay("review", "unblind", folder, "--by", "owner").code == 0
    assert assay("run", folder).code == 0
    (scoring,) = [each["data"] for each in results(folder)["sections"] if each["key"] == "scoring"]
    assert scoring["state"] == "unblinded"
    assert [" by owner" in each for each in scoring["acts"]] == [True] * 3  # blinded, checked, unblinded
    (accuracy,) = [
        each for each in scoring["tests"] if (each["metric"], each["family"]) == ("accuracy", "primary")
    ]
    assert (accuracy["n"], accuracy["difference"]) == (8, 1.0)  # by anna's marks: 3 for B and 2 for A


def test_an_analysis_made_before_comes_out_as_before(tmp_path: Path) -> None:
    before = said("scoring-open", "results")["scoring"]
    sections = results(copied("scoring-open", tmp_path))["sections"]
    (now,) = [each["data"] for each in sections if each["key"] == "scoring"]
    assert (
        changed(*({key: each for key, each in one.items() if key != "tests"} for one in (before, now))) == []
    )
    for then, after in zip(before["tests"], now["tests"], strict=True):
        after.pop("only_model", None)  # new
        different = {each.partition(": ")[0] for each in changed(then, after)}
        assert different <= ({f".{end}" for end in ENDS} if then["metric"] == "hallucinations" else set())


def test_nobody_scores_once_the_seal_is_open(tmp_path: Path) -> None:
    folder = copied("scoring-open", tmp_path)
    done = assay("review", "import", folder, folder / "scores.jsonl")
    assert done.code == 2
    assert "was unblinded" in done.err


# ------------------------------------------------------------------------------ private sets


def test_sheets_filled_in_before_are_taken_in_and_agree_as_before(tmp_path: Path) -> None:
    folder = copied("annotation", tmp_path)
    papers, work = folder / "papers", folder / "papers-annotation"
    sheets = files_in(work / "sheets")
    done = assay("annotate", "agreement", papers, "--json")
    assert done.code == 11
    assert changed(said("annotation", "agreement"), done.json) == []
    marks = folder_book(work / "marks", SheetMark).lines
    assert [(each.rater, each.step) for each in marks] == [("anna", "labelling")] * 3 + [
        ("ben", "labelling")
    ] * 3
    decided = answer("annotate", "adjudicate", papers)
    assert {**decided, "path": ""} == {**said("annotation", "adjudicate"), "path": ""}
    cases = (work / "cases" / "papers.json").read_bytes()
    found = answer("annotate", "export", papers, "--dataset-id", "papers", "--pack", "policy")
    assert changed({**said("annotation", "export"), "files": []}, {**found, "files": []}) == []
    assert (work / "cases" / "papers.json").read_bytes() == cases
    assert len(folder_book(work / "marks", SheetMark).lines) == 7  # six labels and a decision, each once
    assert files_in(work / "sheets") == sheets
