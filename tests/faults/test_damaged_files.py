"""A run folder whose files were damaged: what is derived is made again, what is evidence is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from small_study import apart_from_size, assay, write_study

DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "cut": lambda data: data[:-7],
    "empty": lambda _: b"",
    "garbage": lambda _: bytes(range(256)) * 4,
    "list": lambda _: b"[]\n",
    "shape": lambda _: b'{"schema": "assay/run/2", "arms": [1]}\n',
    "changed": lambda data: data.replace(b'"basis"', b'"based"') if b'"basis"' in data else _flipped(data),
    "gone": lambda _: None,
}
COMMANDS = ("gate", "report", "status", "run", "gate")


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 3
    return data[:middle] + bytes(255 ^ byte for byte in data[middle : middle + 3]) + data[middle + 3 :]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_study(tmp_path_factory.mktemp("whole") / "small")
    assert assay("run", folder).code == 0
    return folder


@pytest.fixture
def ran(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "small"))


def damage(path: Path, how: str) -> None:
    data = DAMAGES[how](path.read_bytes())
    path.unlink()
    if data is not None:
        path.write_bytes(data)


def answered(folder: Path) -> tuple[str, list[float]]:
    """The verdict and every figure, from what is stored."""
    found = assay("gate", folder, "--json").json
    return found["verdict"], [score["value"] for score in found["scores"]]


@pytest.mark.parametrize("how", DAMAGES)
def test_scores_are_made_again(ran: Path, how: str) -> None:
    before, path = answered(ran), ran / "run/scores.parquet"
    kept = pl.read_parquet(path)
    damage(path, how)
    assert answered(ran) == before
    assert pl.read_parquet(path).equals(kept)
    assert {assay(command, ran).code for command in COMMANDS} == {0}


def test_scores_that_somebody_changed_are_made_again(ran: Path) -> None:
    before, path = answered(ran), ran / "run/scores.parquet"
    held = pl.read_parquet_metadata(path)
    made = {name: held[name] for name in ("input", "scores")}
    pl.read_parquet(path).with_columns(value=pl.lit(0.0)).write_parquet(path, metadata=made)
    assert answered(ran) == before


@pytest.mark.parametrize("how", DAMAGES)
def test_a_manifest_is_made_again(ran: Path, how: str) -> None:
    before, path = answered(ran), ran / "run/manifest.json"
    damage(path, how)
    found = assay("gate", ran, "--json")
    assert (found.code, answered(ran)) == (0, before)
    (warning,) = [each for each in found.json["trust"]["warnings"] if "manifest.json" in each]
    assert "the time is unknown" in warning
    arms = assay("status", ran, "--json").json["arms"]
    assert [(arm["answered"], arm["pending"]) for arm in arms] == [(12, 0), (12, 0)]
    assert assay("report", ran).code == 0
    assert assay("run", ran, "--system", "lexical").code == 11  # of which alone nothing can be decided
    assert "12 reused" in assay("run", ran, "--system", "lexical").err
    assert answered(ran) == before  # the other arm is listed as well
    assert apart_from_size(assay("gate", ran, "--json").json["trust"]["warnings"]) == []


def test_a_folder_in_the_place_of_a_file(ran: Path) -> None:
    before = answered(ran)
    for name in ("manifest.json", "scores.parquet"):
        (ran / "run" / name).unlink()
        (ran / "run" / name).mkdir()
    done = assay("gate", ran)
    assert (done.code, "run/scores.parquet: cannot be written: Is a directory. Move it away" in done.err) == (
        3,
        True,
    )
    (ran / "run/scores.parquet").rmdir()
    assert answered(ran) == before
    done = assay("run", ran)
    assert (done.code, "manifest.json: cannot be written: Is a directory. Move it away" in done.err) == (
        3,
        True,
    )


@pytest.mark.parametrize("how", [each for each in DAMAGES if each != "gone"])
def test_damaged_answers_are_named_and_never_fewer(ran: Path, how: str) -> None:
    path = next((ran / "run/sealed").glob("lexical*.parquet"))
    damage(path, how)
    for command in COMMANDS:
        done = assay(command, ran)
        assert (done.code, done.out) == (3, "")
        assert f"{path}: " in done.err
        assert "Remove the file and run again" in done.err
    path.unlink()
    assert assay("gate", ran).code == 11  # and not asked is not answered
    assert assay("run", ran).code == 0


@pytest.mark.parametrize("how", DAMAGES)
def test_gates_that_nobody_can_vouch_for_do_not_count(ran: Path, how: str) -> None:
    (path,) = (ran / "run/declared").glob("*.jsonl")
    damage(path, how)
    done = assay("gate", ran)
    assert (done.code, "it is not known that the gates 'ship' were declared before" in done.err) == (12, True)
    assert [assay(command, ran).code for command in ("report", "run", "gate")] == [0, 12, 12]
    assert assay("run", ran, "--fresh").code == 0
    assert assay("gate", ran).code == 0


@pytest.mark.parametrize("name", ["journal", "spending", "lock"])
@pytest.mark.parametrize("how", DAMAGES)
def test_what_else_lies_in_a_run_folder(tmp_path: Path, name: str, how: str) -> None:
    folder = write_study(tmp_path / "small")
    assert assay("run", folder, "--limit", "7").code == 11
    place = folder / "run" / name
    for path in [place] if place.is_file() else list(place.glob("*.jsonl")):
        damage(path, how)
    assert {assay(command, folder).code for command in ("report", "status")} <= {0, 2}  # 2: nothing is left
    assert [assay(command, folder).code for command in ("run", "gate")] == [0, 0]
