"""Folders of built things, whole or absent."""

from __future__ import annotations

import errno
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.core.errors import SystemFailure
from assay.store.disk import ArtifactCache


def filling(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text(text)

    return write


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_put_is_found(tmp_path: Path) -> None:
    shelf = ArtifactCache(tmp_path / "shelf")
    assert shelf.find("a") is None
    place = shelf.put("a", filling("one"))
    assert shelf.find("a") == place
    assert (place / "inner" / "file").read_text() == "one"
    assert names(shelf.folder) == ["a", "lock"]


def test_who_comes_second_finds_what_the_first_put(tmp_path: Path) -> None:
    shelf = ArtifactCache(tmp_path)
    shelf.put("a", filling("one"))
    place = shelf.put("a", filling("two"))
    assert (place / "inner" / "file").read_text() == "one"
    assert names(tmp_path) == ["a", "lock"]


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        ArtifactCache(tmp_path).put("a", write)
    assert names(tmp_path) == ["lock"]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.ENOSPC, "the disk is full. Free some space, or set ASSAY_CACHE"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "it may not be written. Change its rights, or set ASSAY_CACHE"),
    ],
)
def test_a_disk_that_refuses_is_told_of_and_nothing_is_left(tmp_path: Path, code: int, told: str) -> None:
    def write(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise OSError(code, "refused")

    with pytest.raises(SystemFailure, match=told):
        ArtifactCache(tmp_path).put("a", write)
    assert names(tmp_path) == ["lock"]


WRITER = """
import sys, time
from pathlib import Path
from assay.store.disk import ArtifactCache
def write(folder):
    for n in range(10_000):
        (folder / f"{n}").write_text("x" * 1000)
        if n == 20: print("writing", flush=True)
        time.sleep(0.01)
ArtifactCache(Path(sys.argv[1])).put("a", write)
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    return writer


def test_what_a_killed_writer_left_is_swept_by_the_next(tmp_path: Path) -> None:
    with start_writer(tmp_path) as writer:
        writer.kill()
    assert any(name.startswith(".building-") for name in names(tmp_path))
    shelf = ArtifactCache(tmp_path)
    assert shelf.find("a") is None
    shelf.put("b", filling("whole"))
    assert names(tmp_path) == ["b", "lock"]


def test_what_a_living_writer_has_begun_is_left_alone(tmp_path: Path) -> None:
    with start_writer(tmp_path) as writer:
        ArtifactCache(tmp_path).put("b", filling("whole"))
        drafts = [name for name in names(tmp_path) if name.startswith(".building-")]
        before = len(list((tmp_path / drafts[0]).iterdir()))
        time.sleep(0.2)
        assert len(drafts) == 1
        assert len(list((tmp_path / drafts[0]).iterdir())) > before
        writer.kill()


def test_many_writers_of_one_key_see_one_content(tmp_path: Path) -> None:
    shelf = ArtifactCache(tmp_path)

    def put_and_read(number: int) -> str:
        return (shelf.put("a", filling(str(number))) / "inner" / "file").read_text()

    with ThreadPoolExecutor(8) as pool:
        seen = set(pool.map(put_and_read, range(32)))
    assert len(seen) == 1
    assert names(tmp_path) == ["a", "lock"]
