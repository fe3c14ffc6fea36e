"""An earlier version of a golden set: what was frozen, another file, or a git revision."""

from __future__ import annotations

import fnmatch
import glob
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from assay.core.errors import DataError, Problem, UsageError
from assay.datasets.reading import parse_json, read_json
from assay.kinds.search.datasets.golden_entry import name_of
from assay.kinds.search.datasets.golden_lock import Known, known, lock_from, read_lock
from assay.kinds.search.golden.opening import GoldenStudy

_PATIENCE = 60.0  # seconds for git, which may have to fetch from a partial clone


class Earlier(NamedTuple):
    """The items of an earlier version, and what to call it."""

    name: str
    items: dict[str, Known]


def earlier_version(opened: GoldenStudy, against: str | None) -> Earlier | None:
    """The version to compare with: a file, a git revision, or by default the lock, if there is one."""
    if against is None:
        lock = read_lock(opened.lock)
        return None if lock is None else Earlier(f"{opened.lock.name}, version {lock.version}", lock.items)
    if Path(against).is_dir():
        raise UsageError(f"{against} is a folder. Name a lock or a golden-set file in it, or a git revision.")
    if not Path(against).is_file():
        return Earlier(against, dict(_from_git(opened, against)))
    content, _ = read_json(Path(against))
    if isinstance(content, dict):
        return Earlier(against, lock_from(content, Path(against)).items)
    return Earlier(against, dict(_entries(content, against)))


def _entries(content: Any, where: str) -> Iterator[tuple[str, Known]]:
    if not isinstance(content, list):
        fix = "Name a golden-set file or a lock."
        raise DataError(Problem("expected an array of queries", where, 1, fix=fix))
    for raw in content:
        if name := name_of(raw):
            yield name, known(raw)


# ------------------------------------------------------------------------------------------- git


def _from_git(opened: GoldenStudy, revision: str) -> Iterator[tuple[str, Known]]:
    """The items of every golden-set file that the study's `sets` name at a revision."""
    folder = opened.study.folder
    if revision.startswith("-"):
        raise UsageError(f"{revision!r} is neither a file nor a git revision.")
    commit = _commit(folder, revision)
    some = False
    for pattern in opened.golden.patterns():
        for path in _at_commit(folder, pattern, commit):
            some = True
            text = _git(folder, "show", f"{commit}:{path}").decode("utf-8-sig", errors="replace")
            where = f"{revision}:{path}"
            yield from _entries(parse_json(text, where)[0], where)
    if not some:
        what = f"no golden set was there at {revision!r}"
        named = ", ".join(opened.golden.patterns())
        raise DataError(Problem(what, str(folder), fix=f"Looked for: {named}. Name a later revision."))


def _commit(folder: Path, revision: str) -> str:
    inside = _run(folder, ("rev-parse", "--is-inside-work-tree"))
    if inside.stdout.strip() != b"true":
        said = f" ({inside.stderr.decode(errors='replace').strip().splitlines()[0]})" if inside.stderr else ""
        fix = "Name a golden-set file or a lock instead."
        raise UsageError(f"{revision!r} is no file, and git finds no repository at {folder}{said}. {fix}")
    commit = _git_says(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        raise UsageError(f"{revision!r} is neither a file nor a git revision. Check it with: git log")
    return commit.decode()


def _at_commit(folder: Path, pattern: str, commit: str) -> list[str]:
    """The files that a pattern names at a commit, as paths from the repository's top."""
    top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n"))).resolve()
    try:
        wanted = Path(os.path.normpath(folder.resolve() / pattern)).relative_to(top).as_posix()
    except ValueError:
        raise UsageError(f"{pattern} lies outside the git repository {top}. Name a file instead.") from None
    parent = PurePosixPath(wanted).parent
    while glob.has_magic(str(parent)):
        parent = parent.parent
    below = [] if str(parent) == "." else ["--", f"{parent}/"]
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", commit, *below)
    names = [os.fsdecode(each) for each in listed.split(b"\0") if each]
    return sorted(name for name in names if _matches(name, wanted))


def _matches(name: str, wanted: str) -> bool:
    """Part by part, so that a star stays within its folder."""
    parts, patterns = PurePosixPath(name).parts, PurePosixPath(wanted).parts
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def _git(folder: Path, *args: str) -> bytes:
    done = _run(folder, args)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise DataError(
            Problem(f"git {args[0]} failed: {said[-1] if said else done.returncode}", str(folder))
        )
    return done.stdout


def _git_says(folder: Path, *args: str) -> bytes | None:
    """What git answers; None where it says no."""
    done = _run(folder, args)
    return None if done.returncode else done.stdout.strip()


def _run(folder: Path, args: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(folder), *args]
    try:
        return subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except FileNotFoundError:
        raise UsageError("git is not installed. Name a golden-set file or a lock instead.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {args[0]} did not answer within {_PATIENCE:.0f} s. Try again.") from None
