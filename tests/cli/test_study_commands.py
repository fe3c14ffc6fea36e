"""Commands on a study: run, resume, gate, report, status, validate, demo."""

from __future__ import annotations

import io
import json
import re
import socket
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from small_study import STUDY, Done, assay, edited, write_study


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path / "small")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """A study that was run once; tests that change it take one of their own."""
    folder = write_study(tmp_path_factory.mktemp("ran") / "small")
    return folder, assay("run", folder)


def estimates(done: Done) -> dict[tuple[str, str], float]:
    return {
        (one["system"], one["measure"]): one["value"] for one in done.json["estimates"] if not one["where"]
    }


def test_run_ends_in_a_verdict(ran: tuple[Path, Done]) -> None:
    folder, done = ran
    assert done.code == 0
    assert done.out.rstrip().endswith(f"Go  report: {folder}/run/report.html")
    assert "24 answered, 0 reused, 0 failed, 0 pending" in done.err
    assert (folder / "run/report.html").read_text().lower().startswith("<!doctype html>")


def test_run_again_reuses_every_answer(study: Path) -> None:
    first, second = assay("run", study, "--json"), assay("run", study, "--json")
    assert "0 answered, 24 reused" in second.err
    assert "24 of 24 answers are stored already" in second.err
    assert first.out == second.out


def test_figures_are_those_worked_by_hand(ran: tuple[Path, Done]) -> None:
    # lexical has the one relevant passage first: nDCG 1, RR 1.
    # old has it second: nDCG = (1 / log2 3) / (1 / log2 2) = 0.63093, RR = 1/2.
    found = estimates(assay("report", ran[0], "--json"))
    assert found["lexical", "nDCG@10"] == found["lexical", "RR@5"] == 1.0
    assert found["old", "nDCG@10"] == pytest.approx(0.6309297535714575)
    assert found["old", "RR@5"] == 0.5


def test_a_run_in_two_halves_equals_one_in_one(study: Path, ran: tuple[Path, Done]) -> None:
    half = assay("run", study, "--limit", 5)
    assert half.code == 11
    assert "10 answered, 0 reused, 0 failed, 0 pending, 14 not asked (--limit) in" in half.err
    whole = assay("run", study)
    assert "14 answered, 10 reused" in whole.err
    stripped = [json.loads(assay("report", one, "--json").out) for one in (study, ran[0])]
    for one in stripped:
        one["trust"].pop("seconds")
    assert stripped[0] == stripped[1]


def test_status_tells_what_was_never_asked(study: Path) -> None:
    assay("run", study, "--where", "topic=odd", "--system", "lexical")
    told = assay("status", study)
    assert re.search(r"^arm +seed +answered +failed +not asked *$", told.out, re.MULTILINE)
    assert re.search(r"^lexical +0 +6 +0 +6 *$", told.out, re.MULTILINE)
    assert told.out.endswith(f"next: assay run {study} (asks the 18 not asked yet)\n")  # 6 and all 12 of old


def test_a_system_alone_then_the_rest(study: Path) -> None:
    alone = assay("run", study, "--system", "old")
    assert "12 answered" in alone.err
    assert "12 answered, 12 reused" in assay("run", study).err


def test_where_selects_by_tag(study: Path) -> None:
    done = assay("run", study, "--where", "topic=odd", "--system", "lexical")
    assert "6 answered, 0 reused, 0 failed, 0 pending, 6 not asked (--where) in" in done.err
    both = assay("run", study, "--where", "topic=odd|even", "--system", "lexical")
    assert "6 answered, 6 reused, 0 failed, 0 pending in" in both.err


def test_factors_make_arms_and_where_chooses_among_them(tmp_path: Path) -> None:
    text = edited("measures:", "factors: {k: [1, 2]}\nmeasures:")
    folder = write_study(tmp_path / "small", text)
    done = assay("run", folder, "--where", "k=1", "--json")
    assert done.json["scores"][0]["factors"] == {"k": "1"}
    status = assay("status", folder)
    assert "lexical[k=2]" in status.out
    assert [arm["arm"] for arm in json.loads(assay("status", folder, "--json").out)["arms"]] == [
        "lexical[k=1]",
        "lexical[k=2]",
        "old",
    ]


def test_stage_is_short_for_where_stage(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    done = assay("run", folder, "--stage", "10k")
    assert done.code == 2
    assert "--where stage: no factor and no tag is called that" in done.err


def test_fresh_asks_everything_again(study: Path) -> None:
    assay("run", study)
    assert "24 answered, 0 reused" in assay("run", study, "--fresh").err


def test_editing_gold_pays_nothing_again(study: Path) -> None:
    assay("run", study)
    items = study / "data/items.jsonl"
    items.write_text(items.read_text().replace('"d0": 1', '"d1": 1', 1))
    done = assay("run", study)
    assert "0 answered, 24 reused" in done.err


def test_gates_are_decided_from_what_is_stored(study: Path) -> None:
    assay("run", study)
    journal = sorted((study / "run" / "answers").rglob("*.jsonl"))
    (study / "study.yaml").write_text(edited("+ 0.2", "+ 0.9"))
    done = assay("gate", study, "--accept-changes")
    assert sorted((study / "run" / "answers").rglob("*.jsonl")) == journal  # nothing was asked
    assert done.code == 10
    assert done.out.rstrip().endswith("No-go")


def test_gate_without_gates_says_where_to_add_them(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", STUDY.partition("gates:")[0])
    assert assay("run", folder).code == 0
    done = assay("gate", folder)
    assert done.code == 2
    assert "declares no gates" in done.err
    assert f"assay report {folder}" in done.err


@pytest.mark.parametrize("command", ["gate", "report"])
def test_nothing_stored_says_what_to_run(study: Path, command: str) -> None:
    done = assay(command, study)
    assert (done.code, done.out) == (2, "")
    assert f"assay run {study}" in done.err
    assert not (study / "run").exists()


def test_status_before_and_after(study: Path) -> None:
    before = assay("status", study)
    assert re.search(r"lexical +0 +0 +0 +12", before.out)
    assert before.out.rstrip().endswith(f"next: assay run {study}")
    assert not (study / "run").exists()
    assay("run", study)
    after = assay("status", study)
    assert re.search(r"lexical +0 +12 +0 +0", after.out)
    assert after.out.rstrip().endswith(f"next: assay report {study}")


def test_validate_says_what_the_study_holds(study: Path) -> None:
    done = assay("validate", study)
    assert (done.code, done.err) == (0, "")
    assert done.out == "small: ok, 12 items, 12 passages, 2 arms, 2 measures, 1 gate\n"
    assert not (study / "run").exists()


def test_a_study_is_a_folder_or_its_file(study: Path) -> None:
    assert assay("validate", study / "study.yaml").out == assay("validate", study).out


def test_paths_in_a_study_are_relative_to_it(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert assay("run", "../small").code == 0
    monkeypatch.chdir(study)
    assert "24 reused" in assay("run", ".").err


# ------------------------------------------------------------------------------------- report


def test_report_markdown(ran: tuple[Path, Done]) -> None:
    assert "| nDCG@10 | lexical |" in assay("report", ran[0], "--format", "markdown", "-o", "-").out


def test_report_junit(ran: tuple[Path, Done], tmp_path: Path) -> None:
    done = assay("report", ran[0], "--format", "junit", "-o", tmp_path / "out.xml")
    assert (done.code, done.out) == (0, "")
    assert done.err == f"wrote {tmp_path / 'out.xml'}\n"
    tree = ET.fromstring((tmp_path / "out.xml").read_bytes())  # noqa: S314  (we wrote it)
    cases = [case.get("name") for case in tree.iter("testcase")]
    assert cases == ["RR@5(lexical) >= RR@5(old) + 0.2", "verdict"]


def test_report_parquet(ran: tuple[Path, Done], tmp_path: Path) -> None:
    assay("report", ran[0], "--format", "parquet", "-o", tmp_path / "scores.parquet")
    frame = pl.read_parquet(io.BytesIO((tmp_path / "scores.parquet").read_bytes()))
    assert frame.height == 12 * 2 * 2  # items × systems × measures


def test_report_json_is_what_the_json_option_prints(ran: tuple[Path, Done]) -> None:
    by_format = assay("report", ran[0], "--format", "json", "-o", "-")
    assert by_format.json == assay("report", ran[0], "--json").json


def test_report_html_lies_beside_the_run(study: Path) -> None:
    assay("run", study)
    (study / "run/report.html").unlink()
    done = assay("report", study)
    assert done.err == f"wrote {study / 'run/report.html'}\n"
    assert (study / "run/report.html").stat().st_size > 10_000


def test_report_that_cannot_be_written(ran: tuple[Path, Done], tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = assay("report", ran[0], "-o", tmp_path)
    assert done.code == 3
    assert str(tmp_path) in done.err
    assert "Is a directory" in done.err
    assert sorted(tmp_path.rglob("*")) == before


# ---------------------------------------------------------------------------------------- json


@pytest.mark.parametrize(
    ("args", "schema"),
    [
        (["validate"], "assay/validation/1"),
        (["run"], "assay/results/2"),
        (["gate"], "assay/results/2"),
        (["report"], "assay/results/2"),
        (["status"], "assay/status/1"),
    ],
)
def test_json_is_alone_on_stdout(ran: tuple[Path, Done], args: list[str], schema: str) -> None:
    done = assay(*args, ran[0], "--json")
    assert done.code == 0
    assert done.json["schema"] == schema


def test_json_has_the_verdict_with_its_evidence(ran: tuple[Path, Done]) -> None:
    found = assay("gate", ran[0], "--json").json
    (verdict,) = found["verdicts"]
    (clause,) = verdict["clauses"]
    assert (found["verdict"], verdict["verdict"], clause["holds"]) == ("go", "go", True)
    assert clause["value"] == pytest.approx(1.0 - (0.5 + 0.2))  # margin: left minus right
    assert clause["n"] == 12


def test_errors_leave_stdout_empty_under_json(tmp_path: Path) -> None:
    done = assay("run", tmp_path / "nowhere", "--json")
    assert (done.code, done.out) == (3, "")


# ------------------------------------------------------------------------------------- display


def test_tables_fit_a_hundred_columns_and_bear_no_colour(ran: tuple[Path, Done]) -> None:
    assert "\x1b" not in ran[1].out
    tables, _, last = ran[1].out.rstrip().rpartition("\n\n")
    assert max(map(len, tables.splitlines())) <= 100
    assert "report:" in last  # the last lines hold a path, which is never folded


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.cli.terminal import plain_console

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert plain_console().no_color


@pytest.mark.slow
def test_demo_is_offline_from_start_to_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("the demo reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    folder = tmp_path / "demo"
    done = assay("demo", folder)
    assert done.code in {0, 10, 11}
    assert f"wrote {folder}/study.yaml" in done.err
    assert {"bm25", "dense", "hybrid"} <= set(done.out.split())
    again = assay("demo", folder, "--json")
    assert again.code == done.code
    assert "0 answered" in again.err
    assert again.json["verdict"]


def test_status_says_what_changed_since_the_run(study: Path) -> None:
    assay("run", study)
    assert "changed since" not in assay("status", study).out
    passages = study / "data" / "passages.jsonl"
    passages.write_text(passages.read_text() + '{"doc_id": "new", "text": "omega"}\n')
    status = assay("status", study)
    assert "changed since" in status.out
    assert "corpus" in status.out
    assert "next: assay run" in status.out
    assert json.loads(assay("status", study, "--json").out)["arms"][0]["changed"] == ["corpus"]
