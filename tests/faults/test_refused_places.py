"""Places that cannot be written or read, and numbers that cannot be kept: a line and a code, no traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from small_study import edited, real_assay, write_study

HUGE = "999999999999999999999999"
MAIN = "from assay.cli.main import main; main()"
NO_HOME = f"""
import os, pwd

def nobody(uid):
    raise KeyError(uid)

for name in ("HOME", "XDG_CACHE_HOME", "ASSAY_CACHE"):
    os.environ.pop(name, None)
pwd.getpwuid = nobody
{MAIN}
"""


def assay(
    *args: object, code: str = MAIN, before: Callable[[], None] | None = None, **env: str
) -> tuple[int, str]:
    """Exit code and talk of a process whose beginning `before` prepares."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONUNBUFFERED": "",
            **env,
        },  # as users have it: what is printed is held until the end
        preexec_fn=before,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_study(tmp_path_factory.mktemp("places") / "small")
    assert real_assay("run", folder).code == 0
    return folder


# ------------------------------------------------------------------------------------------ output


@pytest.mark.parametrize("command", ["gate", "run", "report", "status", "validate"])
def test_a_closed_output_is_141_before_anything_is_done(ran: Path, command: str) -> None:
    before = sorted(ran.rglob("*"))
    code, said = assay(command, ran, before=lambda: os.close(1))
    assert (code, said) == (
        141,
        "There is nowhere to print to: standard output is closed. Send it to a file, or to /dev/null.\n",
    )
    assert sorted(ran.rglob("*")) == before


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["run", "--help"], ["plugins"]])
def test_a_reader_that_goes_away_is_141_whatever_is_printed(args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert assay(*args, before=lambda: os.dup2(writing, 1)) == (141, "")
    os.close(writing)


def test_talk_that_nobody_wants_is_not_an_error(ran: Path) -> None:
    assert assay("run", ran, before=lambda: os.close(2)) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("args", [["--help"], ["gate", "--help"], ["--version"], ["plugins"]])
def test_an_output_that_is_full_is_3(args: list[str]) -> None:
    code, said = assay(*args, before=lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1))
    assert code == 3
    assert said.startswith("No space left on device. Check ")


# -------------------------------------------------------------------------------------------- disk


def little_room() -> None:
    """Every file may have 1,000 bytes: what is written then fails as it does on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.parametrize(
    ("command", "name"), [("gate", "scores.parquet"), ("report", "scores.parquet"), ("run", "manifest.json")]
)
def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, command: str, name: str) -> None:
    folder = write_study(tmp_path / "small")
    assert real_assay("run", folder).code == 0
    (folder / "run" / "scores.parquet").unlink()
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}
    code, said = assay(command, folder, before=little_room)
    assert code == 3
    assert f"{name}: cannot be written: File too large. Make room" in said
    left = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}
    assert left == kept
    assert real_assay("gate", folder).code == 0


def test_half_a_template_is_taken_away_again(tmp_path: Path) -> None:
    code, said = assay("init", "models", tmp_path / "study", before=little_room)
    assert code == 3
    assert "File too large" in said
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert assay("init", "models", tmp_path / "study")[0] == 0


# -------------------------------------------------------------------------------------------- home


@pytest.mark.parametrize("command", ["validate", "run", "gate"])
def test_a_user_without_a_home_is_asked_for_a_cache(ran: Path, command: str) -> None:
    code, said = assay(command, ran, code=NO_HOME)
    assert code == 2
    assert said.startswith(
        "You have no home folder, so there is no place for the cache. Set ASSAY_CACHE to a folder"
    )


@pytest.mark.parametrize(
    ("home", "why"), [("/dev/null/nobody", "a file is in its way"), ("/proc/nobody", "it cannot be made")]
)
def test_a_home_that_cannot_be_made_names_the_cache(tmp_path: Path, home: str, why: str) -> None:
    folder = write_study(tmp_path / "small", edited("lexical: bm25", "lexical: dense"))
    code, said = assay("run", folder, HOME=home, ASSAY_CACHE="", XDG_CACHE_HOME="")
    assert code == 4
    assert f"{home}/.cache/assay/" in said
    assert why in said
    assert "set ASSAY_CACHE to another folder" in said


# ----------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("grade", [HUGE, f"-{HUGE}", "9223372036854775808", "9" * 400])
def test_a_grade_that_no_column_holds_is_named_by_its_line(tmp_path: Path, grade: str) -> None:
    (tmp_path / "run").write_text("q1 Q0 d1 1 3.0 t\n")
    (tmp_path / "qrels").write_text(f"q1 0 d2 1\nq1 0 d1 {grade}\n")
    code, said = assay("score", tmp_path / "run", "--qrels", tmp_path / "qrels", "-m", "nDCG@10")
    assert code == 3
    assert said == (
        f"{tmp_path / 'qrels'}:2: grade: {grade[:40]} has too many digits. Write an integer of at most 18.\n"
    )


def test_a_seed_that_no_column_holds_is_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("baseline: old", f"baseline: old\nseeds: [{HUGE}]"))
    code, said = assay("run", folder)
    assert code == 3
    assert "study.yaml:7: seeds.0: should be less than" in said


def test_a_limit_beyond_all_items_takes_them_all(ran: Path) -> None:
    code, said = assay("run", ran, "--limit", HUGE)
    assert code == 0
    assert "0 answered, 24 reused" in said
