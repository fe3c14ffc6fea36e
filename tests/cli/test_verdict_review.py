"""assay review --verdicts: people check a model judge, from the draw to the agreement and the scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from assay.judges.llm_prompt import read_packaged_prompt
from assay.store.run_store import Store
from small_study import assay, edited, write_study
from stand_ins.chat_server import ChatStandIn, gullible

# Twelve items of three passages each: the item's own is HIGH to the judge, the two others NOT_RELEVANT.
STUDY = edited("measures:", "judges: [human, {use: llm, url: '${CHAT_URL}', backoff: 0}]\nmeasures:")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with ChatStandIn(gullible) as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        write_study(tmp_path, STUDY)
        assert assay("run", tmp_path).code in {0, 10, 11}
        yield tmp_path


def forms_in(folder: Path) -> dict[str, Path]:
    """The forms below a folder, by item."""
    return {path.stem.removeprefix("review_"): path for path in sorted(folder.rglob("*.yaml"))}


def fill(path: Path, reviewer: str = "Anna", every: str = "", **words: str) -> None:
    """Grades every passage as the judge did; `words` are what this person says otherwise, by passage."""
    form = yaml.safe_load(path.read_text())
    form["metadata"] |= {"reviewer": reviewer, "review_date": "2026-01-19", "review_complete": True}
    for row in form["results"]:
        own = form["query"]["text"] in row["text"].split()
        row["judgment"] = every or words.get(row["chunk_id"], "high" if own else "not relevant")
    path.write_text(yaml.safe_dump(form, sort_keys=False))


def rr(folder: Path) -> dict[str, float]:
    """The replayed run's reciprocal ranks, by item."""
    scores = assay("gate", folder, "--json").json["scores"]
    wanted = ("old", "RR@5")
    return {each["item"]: each["value"] for each in scores if (each["system"], each["measure"]) == wanted}


def test_items_are_drawn_at_random_and_shown_blind(folder: Path) -> None:
    done = assay("review", "export", folder, "--verdicts", "--items", 5, "--seed", 3)
    place = folder / "review" / "verdicts"
    assert done.out == f"5 forms in {place}: 15 to judge, 0 filled in\n"
    forms = forms_in(place)
    for item, path in forms.items():
        content = yaml.safe_load(path.read_text())
        assert content["metadata"]["query_id"] == item
        assert len(content["results"]) == 3
        assert content["instructions"]["grades"] == read_packaged_prompt("relevance").meanings
        told = path.read_text().partition("results:")[2]
        assert not any(word in told for word in ("HIGH", "RELEVANT", "rank", "score", "old", "words agree"))
    again = folder / "again"
    assay("review", "export", folder, "--verdicts", "--items", 5, "--seed", 3, "--out", again)
    assert [path.read_text() for path in forms_in(again).values()] == [
        path.read_text() for path in forms.values()
    ]
    more = folder / "more"
    assay("review", "export", folder, "--verdicts", "--items", 8, "--seed", 3, "--out", more)
    assert set(forms) < set(forms_in(more))


@pytest.mark.slow
def test_grades_come_in_once_count_before_the_judges_and_are_compared(folder: Path) -> None:
    assay("review", "export", folder, "--verdicts", "--for", "Anna")
    forms = forms_in(folder / "review" / "Anna")
    assert len(forms) == 12
    for item, path in forms.items():
        # of q0 the person says that the judge's find is partly right, and of q1 that it is not at all
        fill(path, **{"q0": {"d0": "Partial"}, "q1": {"d1": "not-relevant"}}.get(item, {}))
    before = rr(folder)
    taken = assay("review", "import", folder)
    assert taken.out.splitlines()[:2] == [
        "36 judgments taken, 0 known before, 0 left blank, 0 filled in by rule",
        "people finished 12 of the 12 items that a model judged; from 10 on, estimates combine both",
    ]
    stored = [each.judgment for each in Store(folder / "run").judged() if each.key is None]
    assert {(each.judge, each.label) for each in stored if each} == {("Anna", "relevance")}
    assert assay("review", "import", folder).out.startswith("0 judgments taken, 36 known before")

    found = assay("review", "agreement", folder, "--json").json
    (pair,) = found["verdicts"]
    assert pair["raters"] == ["llm:relevance", "Anna"]
    # 34 of 36 alike; by chance 12/36 · 10/36 + 24/36 · 25/36 = 720/1296, so (34/36 - 5/9) / (4/9) = 7/8
    assert (pair["n"], pair["agree"], pair["kappa"]) == (36, pytest.approx(34 / 36), pytest.approx(7 / 8))
    assert pair["confusion"]["HIGH"] == {"HIGH": 10, "PARTIAL": 1, "NOT_RELEVANT": 1}
    shown = assay("review", "agreement", folder).out
    assert "llm:relevance and Anna" in shown
    assert "94.4%" in shown
    assert "llm:relevance said / Anna said" in shown

    after = rr(folder)
    # the replayed run has its only good passage on rank 2; q1 has none left
    assert (before.pop("q1"), after.pop("q1")) == (0.5, 0.0)
    assert before == after


@pytest.mark.slow
def test_how_far_people_are_with_what_was_drawn(folder: Path) -> None:
    status = assay("review", "status", folder)
    told = "people finished 0 of the 12 items that a model judged; from 10 on, estimates combine both\n"
    assert (status.code, status.out) == (0, told)
    nobody = assay("review", "agreement", folder)
    export = f"assay review export {folder} --verdicts, then assay review import {folder}"
    assert nobody.out == f"Nobody has graded what llm:relevance graded yet: {export}\n"

    assay("review", "export", folder, "--verdicts", "--items", 4, "--for", "Anna")
    forms = forms_in(folder / "review" / "Anna")
    assert "people finished 0 of the 4 items that were drawn;" in assay("review", "status", folder).out
    nobody = assay("review", "agreement", folder)
    fill_in = f"fill in the forms in {folder}/review, then assay review import {folder}"
    assert nobody.out == f"Nobody has graded what llm:relevance graded yet: {fill_in}\n"
    for path in list(forms.values())[:3]:
        fill(path)
    assay("review", "import", folder)
    assert "people finished 3 of the 4 items that were drawn;" in assay("review", "status", folder).out
    found = assay("review", "status", folder, "--json").json
    assert found["review"] is None
    assert found["verdicts"] == {
        "items": 12,
        "finished": 3,
        "before": [],
        "drawn": 4,
        "drawn_finished": 3,
    }


def test_a_second_person_does_not_see_the_first_ones_grades(folder: Path) -> None:
    assay("review", "export", folder, "--verdicts", "--items", 2, "--for", "Anna")
    for path in forms_in(folder / "review" / "Anna").values():
        fill(path)
    assay("review", "import", folder)
    ben = assay("review", "export", folder, "--verdicts", "--items", 2, "--for", "Ben")
    assert ben.out.endswith("6 to judge, 0 filled in\n")
    anna = assay("review", "export", folder, "--verdicts", "--items", 4, "--for", "Anna")
    assert anna.out.endswith("6 to judge, 6 filled in\n")


def test_what_is_wrong_keeps_everything_out(folder: Path) -> None:
    assay("review", "export", folder, "--verdicts", "--items", 2)
    one, other = forms_in(folder / "review").values()
    fill(one)
    fill(other, reviewer="", every="perhaps")
    done = assay("review", "import", folder)
    assert done.code == 3
    assert "names no reviewer" in done.err
    assert "'perhaps' is not a grade" in done.err
    assert [each for each in Store(folder / "run").judged() if each.key is None] == []
    fill(other)
    assert assay("review", "import", folder).code == 0
    # filled in and taken in, the forms may be written anew; filled in alone, they may not
    assert assay("review", "export", folder, "--verdicts", "--items", 2).code == 0
    fill(one, every="partial")
    done = assay("review", "export", folder, "--verdicts", "--items", 2)
    assert (done.code, "nobody took it in" in done.err) == (3, True)


def test_a_form_half_filled_in_lists_what_is_left(folder: Path) -> None:
    assay("review", "export", folder, "--verdicts", "--items", 1)
    (path,) = forms_in(folder / "review").values()
    text = path.read_text().replace('judgment: ""', "judgment: HIGH", 1)
    path.write_text(text.replace("reviewer: ''", "reviewer: Anna"))
    done = assay("review", "import", folder)
    assert done.out.startswith("1 judgments taken, 0 known before, 2 left blank")
    assert "people finished 0 of the 12 items" in done.out


def test_options_that_do_not_go_together_are_refused(folder: Path, tmp_path: Path) -> None:
    for more in (["--verdicts", "--first", 2], ["--verdicts", "--per-model"], ["--items", 3]):
        assert assay("review", "export", folder, *more).code == 2
    plain = write_study(tmp_path / "plain")
    assay("run", plain)
    done = assay("review", "export", plain, "--verdicts")
    assert done.code == 2
    assert "No paying judge" in done.err
    done = assay("review", "status", plain)
    assert done.code == 2
    assert "There is nothing to review" in done.err
