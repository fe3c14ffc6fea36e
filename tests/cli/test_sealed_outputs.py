"""While people score blind, no output tells one condition's responses from the other's."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from assay.kinds.answers.panel import scoring_folder
from assay.kinds.answers.scoring_steps.blinding import blind_study
from assay.study.study import open_study
from small_scoring import collected, keep_keys, responses, write_lines, write_study
from small_study import assay

SLOW, LONG = 71.5, 977  # seconds and tokens of one condition's responses, the other's are 1.5 and 11


@pytest.fixture(autouse=True)
def same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_keys(monkeypatch)


def write_uneven(folder: Path, slow: str) -> Path:
    """A study in which one condition is slow, wordy, expensive, and fails on one question."""
    folder.mkdir()
    write_study(folder)
    rows: list[dict[str, Any]] = []
    for row in responses():
        worse = row["condition"] == slow
        size = (
            {"seconds": SLOW, "output_token_count": LONG}
            if worse
            else {"seconds": 1.5, "output_token_count": 11}
        )
        more = " It goes on and on about it." * 20 if worse else ""
        rows.append({**row, **size, "cost": 9.5 if worse else 0.5, "response": row["response"] + more})
    failed = next(row for row in rows if row["condition"] == slow)
    failed |= {"error": "timed out", "response": None}
    write_lines(folder / "responses.jsonl", rows)
    file = yaml.safe_load((folder / "study.yaml").read_text())
    file["name"] = "uneven"
    file["measures"] += ["Seconds", "OutputTokens", "ContentChars"]
    file["gates"]["fast"] = {
        "min_items": 2,
        "go": ["p95(Seconds(A)) <= 5", "median(OutputTokens(B)) <= median(OutputTokens(A))"],
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    return folder


def told(folder: Path, *words: object) -> str:
    """What a command prints, without what differs between any two runs."""
    done = assay(*words)
    text = (done.out + done.err).replace(str(folder), "STUDY")
    return re.sub(r"in \d+\.\d s|(study fingerprint|corpus)\W+\w+", "", text)


def report(folder: Path, kind: str) -> str:
    return told(folder, "report", folder, "--format", kind, "-o", "-")


OUTPUTS: dict[str, Callable[[Path], str]] = {
    "run": lambda folder: told(folder, "run", folder, "--verbose"),
    "gate": lambda folder: told(folder, "gate", folder),
    "status": lambda folder: told(folder, "status", folder),
    "status as JSON": lambda folder: told(folder, "status", folder, "--json"),
    "markdown": lambda folder: report(folder, "markdown"),
    "junit": lambda folder: report(folder, "junit"),
    "github": lambda folder: report(folder, "github"),
    "review status": lambda folder: told(folder, "review", "status", folder),
}


@pytest.mark.parametrize("blinded", [False, True])
def test_outputs_are_the_same_whichever_condition_is_slow_and_long(tmp_path: Path, blinded: bool) -> None:
    studies = [write_uneven(tmp_path / name, name) for name in "AB"]
    for folder in studies:
        study = collected(folder)
        if blinded:
            blind_study(study, by="owner")
    for name, output in OUTPUTS.items():
        first, second = map(output, studies)
        assert first == second, name
        assert "71.5" not in first, name
    first, second = (json.loads(assay("report", folder, "--json").out) for folder in studies)
    for found in (first, second):
        found["trust"].pop("provenance")
        found.pop("report")
    assert first == second
    for folder in studies:
        page = assay("report", folder, "--format", "html", "-o", "-").out
        assert "71.5" not in page
        assert "sings in" not in page  # what responses say
        assay("report", folder, "--format", "parquet")
        for path in (folder / "run" / "report.parquet", folder / "run" / "scores.parquet"):
            frame = pl.read_parquet(io.BytesIO(path.read_bytes()))
            assert frame["value"].null_count() == len(frame)
            assert frame["status"].unique().to_list() == ["unjudged"]


def test_figures_by_condition_are_shown_once_the_seal_is_open(tmp_path: Path) -> None:
    folder = write_uneven(tmp_path / "A", "A")
    blind_study(collected(folder), by="owner")
    assert assay("review", "unblind", folder, "--force", "--reason", "a try").code == 0
    assert "71.5" in assay("run", folder).out
    assert "A[model=small]" in assay("status", folder).out
    assert assay("export", folder).code == 0
    assert assay("tokens", folder).code == 0
    assert assay("tokens", folder / "corpus" / "pages").code == 0


def test_sizes_and_contents_by_condition_wait_for_the_seal(tmp_path: Path) -> None:
    folder = write_uneven(tmp_path / "A", "A")
    for _ in range(2):  # before and after responses are blinded
        for path in (folder, folder / "study.yaml", folder / "corpus" / "pages"):
            done = assay("tokens", path)
            assert (done.code, done.out) == (2, "")
            assert done.err.strip().endswith(f"Count the tokens after: assay review unblind {folder}")
        done = assay("export", folder)
        assert done.code == 2
        assert f"assay review unblind {folder}" in done.err
        if not scoring_folder(open_study(folder)).has_pack:
            blind_study(collected(folder), by="owner")
    assert not (folder / "run" / "trec").exists()


def test_one_condition_by_itself_gives_no_figures_either(tmp_path: Path) -> None:
    folder = write_uneven(tmp_path / "B", "B")
    study = collected(folder)
    rows = [json.loads(line) for line in (folder / "responses.jsonl").read_text().splitlines()]
    missing = next(row for row in reversed(rows) if row["condition"] == "B")
    write_lines(folder / "responses.jsonl", [row for row in rows if row != missing])
    lines = {name: assay("run", folder, "--system", name) for name in "AB"}
    last = {name: done.err.splitlines()[-1] for name, done in lines.items()}
    assert last["A"] == last["B"]  # neither failures, nor seconds, nor cost
    assert "responses stored" in last["A"]
    blind_study(study, by="owner")
    for shown in (assay("run", folder), assay("report", folder, "--format", "markdown", "-o", "-")):
        told = " ".join((shown.out + shown.err).split())
        assert "under condition" not in told
        assert "warnings about single conditions" in told
    assert "has no row under condition B" in assay("validate", folder).err  # for whoever does not score


# ------------------------------------------------------------------------------------ check, then serve


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the desk was opened for; it ends at once."""
    opened: list[Any] = []

    def serve(work: Any, **how: Any) -> None:
        opened.append(work)
        work.close()

    monkeypatch.setattr("assay.desk.serving.serve", serve)
    return opened


def test_a_pack_is_served_only_after_a_check_that_found_nothing(tmp_path: Path, served: list[Any]) -> None:
    folder = write_study(tmp_path)
    blind_study(collected(folder), by="owner")
    for options in ([], ["--accept-leaks"]):
        done = assay("review", "serve", folder, *options)
        assert done.code == 2
        assert f"Run: assay review check {folder}" in done.err
    assert f"next: assay review check {folder}" in assay("review", "status", folder).err
    assert assay("review", "check", folder).code == 0
    assert f"next: assay review serve {folder}" in assay("review", "status", folder).err
    assert assay("review", "serve", folder).code == 0
    assert len(served) == 1
    assert assay("review", "blind", folder, "--fresh").code == 0
    assert assay("review", "serve", folder).code == 2  # what was checked is not what lies there now
    assert len(served) == 1


def test_leaks_keep_the_desk_closed_unless_somebody_accepts_them(tmp_path: Path, served: list[Any]) -> None:
    folder = write_study(tmp_path)
    blind_study(study := collected(folder), by="owner")
    assert assay("review", "check", folder).code == 0
    (folder / "blind" / "A.txt").write_text("condition A\n")
    assert assay("review", "check", folder).code == 3
    done = assay("review", "serve", folder)
    assert done.code == 2
    assert "The last check found leaks (names" in done.err
    assert f"assay review check {folder}" in done.err
    assert not served
    assert assay("review", "serve", folder, "--accept-leaks", "--by", "otto").code == 0
    assert assay("review", "serve", folder).code == 0
    assert len(served) == 2
    acts = scoring_folder(study).acts
    assert [each.act for each in acts.acts] == ["blinded", "checked", "leaking", "accepted"]
    assert "leaks accepted by otto (names" in acts.sentences[-1]
    shown = " ".join(assay("run", folder).out.split())
    assert "the desk was opened though a check had found leaks" in shown
    assert "leaks accepted by otto" in shown
    assert assay("review", "check", folder).code == 3
    assert assay("review", "serve", folder).code == 2  # accepted was what an earlier check had found
    (folder / "blind" / "A.txt").unlink()
    assert assay("review", "check", folder).code == 0
    assert assay("review", "serve", folder).code == 0
