"""assay baseline: what is said, what is printed, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from small_study import Done, assay, edited, write_lines, write_study


def run(*args: object) -> Done:
    """A command of the group."""
    return assay("baseline", *args)


# Old has the right passage at rank 2. It is alone: what is compared is two versions of it.
GATED = edited("RR@5(lexical) >= RR@5(old) + 0.2", "RR@5(old) <= 0.6", edited("  lexical: bm25\n", ""))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write_study(tmp_path / "small", GATED)
    assert assay("run", folder).code == 0
    return folder


def test_a_study_is_kept_and_listed(folder: Path) -> None:
    done = run("tag", folder, "march", "--note", "before the [new] index")
    assert (done.code, done.out, done.err) == (0, "kept march: Go, 12 items\n", "")
    done = run("list", folder)
    assert done.code == 0
    assert re.search(
        r"^march +\d{4}-\d\d-\d\d \d\d:\d\d +Go +12 +before the \[new\] index", done.out, re.MULTILINE
    )
    listed = run("list", folder, "--json").json
    assert listed["schema"] == "assay/baseline-list/1"
    (one,) = listed["baselines"]
    assert (one["name"], one["verdict"], one["items"], one["problem"]) == ("march", "go", 12, "")


def test_a_part_that_was_run_is_counted(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", GATED)
    assay("run", folder, "--where", "topic=odd")  # six of twelve
    assert run("tag", folder, "part").out.endswith(", 6 of 12 items\n")
    assert re.search(r"^part .* 6 of 12 *$", run("list", folder).out, re.MULTILINE)
    assert run("list", folder, "--json").json["baselines"][0]["items"] == 12


def test_a_tag_as_json(folder: Path) -> None:
    found = run("tag", folder, "march", "--json").json
    assert (found["schema"], found["baseline"]["name"]) == ("assay/baseline-tag/1", "march")


def test_no_baseline_yet(folder: Path) -> None:
    done = run("list", folder)
    assert (done.code, done.out) == (
        0,
        f"No baseline is kept. Keep one with: assay baseline tag {folder} NAME\n",
    )


def test_a_study_that_did_not_change(folder: Path) -> None:
    run("tag", folder, "march")
    done = run("diff", folder, "march")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("small: march -> now\nverdict: Go -> Go\nitems: 12 unchanged\n\n")
    assert re.search(r"^old +RR@5 +0 \[.*\] +1\.000 +0 / 12 / 0 +12", done.out, re.MULTILINE)
    assert "changed most" not in done.out


def test_what_changed_is_told_in_order_and_decides_nothing(folder: Path) -> None:
    run("tag", folder, "march")
    items = [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]
    items[1]["gold"] = {"relevant": {"d5": 1}}
    del items[4]
    items.append({"item_id": "q99", "text": "omega", "gold": {"relevant": {"d0": 1}}})
    write_lines(folder / "data/items.jsonl", items)
    # old finds nine of twelve first, not q0, q1 or q99: 0.75 > 0.6
    lines = [f"q{n} Q0 d{n} 1 9 old\n" for n in range(1, 12)] + ["q0 Q0 d7 1 9 old\n"]
    (folder / "old.run").write_text("".join(lines))
    text = edited("systems:\n", "systems:\n  again: bm25\n", GATED)
    (folder / "study.yaml").write_text(
        edited("measures: [nDCG@10, RR@5]", "measures: [nDCG@10, RR@5, P@1]", text)
    )
    assert assay("run", folder).code == 10
    done = run("diff", folder, "march")
    assert done.code == 0  # a difference decides nothing
    told_in_order = [
        "verdict: Go -> No-go",
        "gate ship: go -> no-go",
        "gate ship: RR@5(old) <= 0.6: passes -> fails",
        "items: 10 unchanged, 1 added, 1 removed, 1 changed",
        "  added: q99",
        "  removed: q4",
        "  changed: q1 (gold)",
        "arms only in now: again",
        "measures only in now: P@1",
        "new - old [95 %]",
        "items that changed most on nDCG@10, worst first",
        "study fingerprint: ",
        "system old: ",
    ]
    places = [done.out.index(line) for line in told_in_order]
    assert places == sorted(places)
    # q0 loses all of 0.631, the nine others gain 0.369; ten are shown
    moved = re.findall(r"^old +(q\d+) +(0\.631) +(\S+) ", done.out, re.MULTILINE)
    assert len(moved) == 10
    assert moved[0] == ("q0", "0.631", "0")
    assert {after for _, _, after in moved[1:]} == {"1.00"}
    found = run("diff", folder, "march", "--json").json
    assert (found["schema"], found["old"], found["new"]) == ("assay/baseline-diff/1", "march", None)


def test_two_baselines(folder: Path) -> None:
    run("tag", folder, "march")
    run("tag", folder, "april")
    done = run("diff", folder, "march", "april")
    assert (done.code, done.out.splitlines()[0]) == (0, "small: march -> april")


def test_times_are_left_out_aloud(tmp_path: Path) -> None:
    folder = write_study(
        tmp_path,
        edited("measures: [nDCG@10, RR@5]", "measures: [RR@5, Seconds]", GATED).replace(
            "replay(path=old.run)", "bm25"
        ),
    )
    assay("run", folder)
    run("tag", folder, "march")
    assert (
        "left out, as times differ from run to run: Seconds (--timings compares)"
        in run("diff", folder, "march").out
    )
    assert re.search(r"^old +Seconds ", run("diff", folder, "march", "--timings").out, re.MULTILINE)


def test_nothing_in_common_is_said(folder: Path) -> None:
    run("tag", folder, "march")
    (folder / "study.yaml").write_text(
        edited("measures: [nDCG@10, RR@5]", "measures: [P@1]", GATED).split("gates:")[0]
    )
    assay("run", folder)
    done = run("diff", folder, "march")
    assert done.code == 0
    assert "nothing is compared: both sides share no arm, no measure or no unchanged item" in done.out
    assert "verdict: Go -> No verdict" in done.out
    assert "gate ship: go -> not declared" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["tag", "a/b"], 2, "'a/b' is not a name for a baseline. Use letters, digits"),
        (["tag", "march"], 2, "There is a baseline 'march' already. Choose another name, or add --replace."),
        (["diff", "marhc"], 2, "There is no baseline 'marhc'. Did you mean 'march'?"),
        (["diff", "march", "april"], 2, "There is no baseline 'april'."),
    ],
)
def test_wrong_names(folder: Path, args: list[str], code: int, message: str) -> None:
    run("tag", folder, "march")
    done = run(args[0], folder, *args[1:])
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_a_study_that_was_never_run(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    done = run("tag", folder, "march")
    assert (done.code, done.out) == (2, "")
    assert "Nothing was run yet. Run: assay run" in done.err


def test_a_damaged_baseline(folder: Path) -> None:
    run("tag", folder, "march")
    (folder / "baselines/march/scores.parquet").write_bytes(b"PAR1")
    done = run("diff", folder, "march")
    assert (done.code, done.out) == (3, "")
    assert "march/scores.parquet: the baseline is damaged: it is not the file that was kept" in done.err
    done = run("list", folder)
    assert done.code == 0
    assert "the baseline is damaged" in " ".join(done.out.split())
