"""assay import: finished results of others as runs of a study."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from small_study import WORDS, Done, assay, edited, write_study

STUDY = """\
data: data
systems:
  minilm: imported(path=imported/minilm.json)
  mika: {use: imported, path: ./imported/mika.json}
  lexical: bm25
baseline: minilm
measures: [RR@5]
compare: {resamples: 200}
gates:
  ship:
    go: ["RR@5(mika) >= RR@5(minilm) + 0.2"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_study(tmp_path / "small", STUDY)


def results(path: Path, model: Any, rank: int, items: int = len(WORDS)) -> Path:
    """A file of results with the right passage of each item on one rank, all scores alike."""
    rows = []
    for n in range(items):
        others = [f"d{(n + step) % len(WORDS)}" for step in (1, 2)]
        chunks = [*others[: rank - 1], f"d{n}", *others[rank - 1 :]]
        rows.append({"query_id": f"q{n}", "query_text": WORDS[n], "retrieved_chunk_ids": chunks})
    path.write_text(json.dumps({"model_name": model, "query_results": rows}))
    return path


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    return results(tmp_path / "benchmark_minilm_1.json", "minilm", 2)


@pytest.fixture
def mika(tmp_path: Path) -> Path:
    return results(tmp_path / "benchmark_mika_1.json", "mika", 1)


def refused(folder: Path, *args: object) -> Done:
    """An import that must not go ahead: a message, and the study's folder as it was."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = assay("import", folder, *args)
    assert (done.code, done.out) == (3, "")
    assert "Traceback" not in done.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return done


def test_results_become_runs_that_are_gated_and_reported(folder: Path, minilm: Path, mika: Path) -> None:
    done = assay("import", folder, minilm, mika)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"small: stored minilm (12 answers), mika (12 answers); next: assay report {folder}\n"
    )
    assert (folder / "imported/minilm.json").read_bytes() == minilm.read_bytes()
    # rank 1 everywhere against rank 2 everywhere: 1 - 0.5 is more than 0.2
    assert assay("gate", folder).code == 0
    assert assay("validate", folder).code == 0
    report = assay("report", folder, "--json").json
    means = {each["system"]: each["value"] for each in report["estimates"] if not each["where"]}
    assert means == {"minilm": 0.5, "mika": 1.0}
    # lexical was not asked by the import; a run adds it to what is there
    assert "12 answered, 24 reused" in assay("run", folder).err


def test_the_outcome_as_json(folder: Path, minilm: Path) -> None:
    done = assay("import", folder, minilm, "--json")
    assert done.json == {
        "schema": "assay/import/1",
        "study": "small",
        "stored": [{"arm": "minilm", "seed": 0, "answered": 12, "failed": 0, "pending": 0, "changed": []}],
        "next_step": f"assay report {folder}",
    }


def test_where_people_judge_their_marks_come_next(folder: Path, minilm: Path) -> None:
    (folder / "study.yaml").write_text(edited("baseline", "judges: [ids, human]\nbaseline", STUDY))
    done = assay("import", folder, minilm)
    assert done.out.endswith(f"next: assay review import {folder} FORMS…\n")


def test_the_same_again_changes_nothing(folder: Path, minilm: Path) -> None:
    first = assay("import", folder, minilm)
    kept = folder / "imported/minilm.json"
    stamp, report = kept.stat().st_mtime_ns, assay("report", folder, "--json").out
    again = assay("import", folder, minilm)
    assert (again.code, again.out) == (0, first.out)
    assert assay("import", folder, kept).out == first.out
    assert kept.stat().st_mtime_ns == stamp
    assert assay("report", folder, "--json").out == report


def test_an_item_without_a_result_stays_open_whenever_it_is_imported(folder: Path, tmp_path: Path) -> None:
    short = results(tmp_path / "short.json", "minilm", 1, items=10)
    for _ in range(2):
        [row] = assay("import", folder, short, "--json").json["stored"]
        assert (row["answered"], row["failed"], row["pending"]) == (10, 2, 0)
    report = assay("report", folder, "--json").json
    # rank 1 for each of the ten; the other two are no misses, which would make it 10/12
    assert [each["value"] for each in report["estimates"] if not each["where"]] == [1.0]


def test_other_results_of_a_model_need_a_word(folder: Path, minilm: Path, tmp_path: Path) -> None:
    assay("import", folder, minilm)
    better = results(tmp_path / "benchmark_minilm_2.json", "minilm", 1)
    done = refused(folder, better)
    assert f"other results are kept as {folder}/imported/minilm.json already. Add --replace" in done.err
    assert assay("import", folder, better, "--replace").code == 0
    report = assay("report", folder, "--json").json
    assert [each["value"] for each in report["estimates"] if not each["where"]] == [1.0]
    assert not any("has changed" in each for each in report["trust"]["warnings"])


def test_one_bad_file_of_two_stores_neither(folder: Path, minilm: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"model_name": "mika", "query_results": [{"query_id": 1}]}')
    done = refused(folder, minilm, tmp_path / "bad.json")
    assert f"{tmp_path}/bad.json: query_results.0.query_id: expected str, got int" in done.err
    assert not (folder / "imported").exists()
    assert not (folder / "run").exists()


def test_two_files_of_one_model_are_refused(folder: Path, minilm: Path, tmp_path: Path) -> None:
    other = results(tmp_path / "benchmark_minilm_2.json", "minilm", 2)
    done = refused(folder, minilm, other)
    assert f"{other}: model_name: {minilm} holds results of 'minilm' too. Give one" in done.err


def test_a_model_that_no_system_reads_is_told_with_the_lines_to_add(
    folder: Path, minilm: Path, tmp_path: Path
) -> None:
    group = results(tmp_path / "group.json", "group/bge 1", 1)
    lexical = results(tmp_path / "lexical.json", "lexical", 1)
    done = refused(folder, minilm, group, lexical)
    assert done.err == (
        f"{folder}/study.yaml:2: systems: no system reads imported/group_bge_1.json and "
        "imported/lexical.json. Add under systems:\n"
        "  group_bge_1: imported(path=imported/group_bge_1.json)\n"
        "  lexical_imported: imported(path=imported/lexical.json)\n"
    )
    added = "\n".join(done.err.splitlines()[1:])
    (folder / "study.yaml").write_text(edited("systems:", f"systems:\n{added}", STUDY))
    assert assay("import", folder, minilm, group, lexical).code == 0


@pytest.mark.parametrize("name", [None, 7, "", "..", "/"])
def test_a_model_needs_a_name_that_a_file_may_have(folder: Path, tmp_path: Path, name: Any) -> None:
    done = refused(folder, results(tmp_path / "unnamed.json", name, 1))
    assert f"{tmp_path}/unnamed.json: model_name: expected a name" in done.err


def test_a_name_cannot_leave_the_folder(folder: Path, tmp_path: Path) -> None:
    done = refused(folder, results(tmp_path / "sly.json", "../../etc/passwd", 1))
    assert "no system reads imported/etc_passwd.json" in done.err


def test_a_review_goes_another_way(folder: Path, minilm: Path) -> None:
    done = refused(folder, minilm, "minilm.yaml")
    assert done.err == (
        "minilm.yaml: a YAML file holds a person's review, not results. "
        f"Import it with: assay review import {folder} minilm.yaml\n"
    )


def test_files_that_are_not_there_are_named_all_at_once(folder: Path, tmp_path: Path) -> None:
    done = refused(folder, tmp_path / "a.json", tmp_path / "b.json", tmp_path)
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [
        f"{tmp_path}/a.json",
        f"{tmp_path}/b.json",
        str(tmp_path),
    ]


def test_results_of_another_golden_set_are_refused(folder: Path, minilm: Path) -> None:
    minilm.write_text(minilm.read_text().replace('"alpha"', '"omega"').replace('"d3"', '"d99"'))
    done = refused(folder, minilm)
    assert "query_results.0.query_text: 'q0' asked 'omega' here, and is 'alpha' in the golden set" in done.err
    assert "1 of 12 chunks are not in the corpus: 'd99'" in done.err


def test_a_kept_file_that_was_spoilt_is_found_by_validate(folder: Path, minilm: Path, mika: Path) -> None:
    assay("import", folder, minilm, mika)
    (folder / "imported/mika.json").write_text("{")
    done = assay("validate", folder)
    assert done.code == 3
    assert f"{folder}/imported/mika.json: not JSON" in done.err


def test_nothing_is_kept_while_somebody_runs_the_study(folder: Path, minilm: Path) -> None:
    (folder / "run").mkdir()
    with (folder / "run/lock").open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = assay("import", folder, minilm)
    assert done.code == 2
    assert "Another process" in done.err
    assert not (folder / "imported").exists()
