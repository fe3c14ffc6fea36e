"""assay golden: what is said, what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_golden import ROPE, english, expected, write_golden, write_set
from small_study import Done, assay


def run(*args: object) -> Done:
    """A command of the group."""
    return assay("golden", *args)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path / "small")


def test_a_sound_set_is_counted(folder: Path) -> None:
    done = run("check", folder)
    assert (done.code, done.err) == (0, "")
    *table, theme, against, last = done.out.splitlines()
    assert [line.split() for line in table] == [
        ["category", "declared", "en", "en", "overlap", "es", "es", "overlap"],
        ["direct", "2", "2", "0.83", "1", "0.50"],
        ["boundary", "1", "1", "1"],
        ["night", "1", "1", "0.00", "1"],
        ["odd", "1", "0"],
        ["all", "4", "5", "3"],
    ]
    assert theme == "en: the most frequent theme is 'work', in 100% of 1 queries"
    assert against.startswith("against nothing: no earlier version is named")
    assert last == "ok: 8 queries in 2 languages"


def test_every_problem_is_told_and_the_command_fails(folder: Path) -> None:
    items = english()
    for number in range(25):  # more than an error shows
        items.append({**items[0], "id": f"en-direct-{number:03d}x", "query": f"query {number}"})
    write_set(folder, items)
    done = run("check", folder)
    assert done.code == 3
    assert done.err.count("the id of an item of this language and category is en-direct-NNN") == 25
    assert done.err.startswith(f"{folder}/golden-set-en.json:")
    assert done.err.rstrip().endswith("problems: this golden set is refused")
    found = run("check", folder, "--json")
    assert (found.code, found.err) == (3, "")
    assert found.json["schema"] == "assay/golden-check/1"
    assert found.json["counts"]["es"]["direct"] == 1
    assert len(found.json["problems"]) == done.err.count("\n") - 1


def test_a_set_that_grows_and_changes(folder: Path) -> None:
    done = run("freeze", folder)
    assert done.out == (f"{folder}/golden.lock.json: version 1, 8 items, 8 new, 0 with other expectations\n")
    items = english()
    items[0]["expected_passages"].append(expected("the orchard fed the birds and the deer until spring."))
    items[4] = {**items[4], "id": "en-odd-002"}
    write_set(folder, items)
    done = run("check", folder)
    assert done.code == 3
    assert "against golden.lock.json, version 1: 1 new, 1 changed" in done.out
    assert "changed: " in done.err
    assert "en-odd-001: the item is gone" in done.err
    refused = run("freeze", folder)
    assert refused.code == 3
    assert "en-odd-001: the item is gone" in refused.err
    assert refused.err.endswith("\n1 problem: nothing was frozen\n")
    assert run("check", folder, "--against", "no-such-thing").code == 2


def test_freezing_as_json(folder: Path) -> None:
    run("freeze", folder)
    done = run("freeze", folder)
    assert done.out.endswith("version 1, 8 items, nothing new\n")
    found = run("freeze", folder, "--json").json
    assert (found["schema"], found["version"], found["items"], found["new"]) == (
        "assay/golden-freeze/1",
        1,
        8,
        [],
    )


def test_anchors_that_resolve(folder: Path) -> None:
    done = run("resolve", folder)
    assert (done.code, done.err) == (0, "")
    # one of the five is another query's too: 5 pairs, and 4 passages
    assert done.out == "tokens(overlap=5, size=30): 5 of 5 anchors resolve to 4 passages\n"


def test_what_each_anchor_resolves_to(folder: Path) -> None:
    found = run("resolve", folder, "--json").json["anchors"]
    assert [each["passages"] for each in found] == [1, 1, 1, 1, 1]
    ids = [each["passage_ids"] for each in found]
    assert ids[0] == ids[2]  # the rope, of two queries


def test_anchors_that_do_not(folder: Path) -> None:
    items = english()
    items[0]["expected_passages"] = [expected(ROPE.replace("old man", "young man"))]
    write_set(folder, items)
    done = run("resolve", folder)
    assert done.code == 3
    assert "4 of 5 anchors resolve to" in done.out
    assert (
        f"{folder}/golden-set-en.json:11: en-direct-001.expected_passages.0.passage_substring: " in done.err
    )
    assert "Nearest: 'the old man kept one hand upon the rope while fog lay" in done.err
    found = run("resolve", folder, "--json")
    assert (found.code, found.json["schema"], found.json["problems"]) == (3, "assay/golden-resolve/1", 1)
    assert {each["item_id"] for each in found.json["anchors"] if each["problem"]} == {"en-direct-001"}


def test_what_no_longer_is_as_it_was_frozen_is_told_by_every_run(folder: Path) -> None:
    run("freeze", folder)
    write_set(folder, english()[:4])
    told = "1 item of golden.lock.json is gone now: en-odd-001. See: assay golden check"
    assert f"warning: {told}" in assay("validate", folder).err
    assert told in assay("run", folder, "--json").json["trust"]["warnings"]


def test_from_feedback_to_the_golden_set(folder: Path) -> None:
    rows = ["query,language,helpful,time", *["bees in the orchard,en,no,2026-03-01"] * 3]
    rows += ["weather tomorrow,en,no,2026-03-02"] * 4 + ["mail me at x@y.org,en,no,2026-03-02"]
    feedback = folder / "feedback.csv"
    feedback.write_text("\n".join(rows))
    done = run("candidates", folder, feedback)
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()] == [
        ["language", "unhelpful", "helpful", "covered", "by", "query"],
        ["en", "3", "0", "new", "bees", "in", "the", "orchard"],
        ["en", "4", "0", "en-odd-001", "weather", "tomorrow"],
        ["1", "candidate,", "1", "covered", "already"],
    ]
    assert "note: 1 wording with an address or a long number left out" in done.err
    path = folder / "candidates-en.json"
    assert f"then assay golden add {folder} {path}" in done.err

    done = run("add", folder, path)
    assert (done.code, done.out) == (0, "0 added, 1 left behind\n")
    assert done.err == "left behind: 1 that nobody accepted yet: their accepted_by is empty\n"
    content = json.loads(path.read_text())
    content["candidates"][0] |= {"category": "odd", "accepted_by": "Ana"}
    path.write_text(json.dumps(content))
    done = run("add", folder, path)
    assert done.err.startswith("left behind: 'bees in the orchard': expected_routing: it is empty.")
    content["candidates"][0] |= {"category": "odd", "expected_routing": "no_results", "accepted_by": "Ana"}
    path.write_text(json.dumps(content))
    done = run("add", folder, path)
    assert (done.code, done.out) == (0, "en-odd-002: bees in the orchard\n1 added, 0 left behind\n")
    assert f"next: assay golden check {folder}, then assay golden freeze {folder}" in done.err
    assert run("check", folder).code == 0


def test_feedback_and_adding_as_json(folder: Path) -> None:
    feedback = folder / "feedback.jsonl"
    vote = {"query": "stars", "language": "en", "helpful": False, "time": "2026-03-01"}
    feedback.write_text("\n".join([json.dumps(vote)] * 2))
    out = folder / "all.json"
    found = run("candidates", folder, feedback, "--least", 2, "--out", out, "--json").json
    assert (found["schema"], found["files"]) == ("assay/golden-proposals/1", [str(out)])
    assert (found["candidates"][0]["query"], found["candidates"][0]["seen"]["unhelpful"]) == ("stars", 2)
    found = run("add", folder, out, "--json").json
    assert found["schema"] == "assay/golden-add/1"
    assert found["left"] == [{"query": "stars", "why": ["nobody accepted it: accepted_by is empty"]}]


def test_feedback_about_people_is_refused(folder: Path) -> None:
    feedback = folder / "feedback.csv"
    feedback.write_text("query,language,helpful,time,user\nx,en,no,2026-03-01,anna\n")
    done = run("candidates", folder, feedback)
    assert (done.code, done.out) == (3, "")
    assert "user: this column is not taken in" in done.err
    assert "anna" not in done.err
