"""A study with a golden set, and earlier versions of that set: a lock, another file, or a git revision.

The systems, judges and gates of the study may still be missing.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from assay.core.errors import DataError, Problem, UsageError
from assay.core.registry import DATASETS
from assay.datasets.reading import parse_json, read_json
from assay.kinds.search.golden.dataset import Golden
from assay.kinds.search.golden.entry import entry_id
from assay.kinds.search.golden.lock import LOCK, ItemDigest, digest_item, parse_lock, read_lock
from assay.study.study import Study, examine_study


class GoldenStudy(NamedTuple):
    """A study and the golden set that its data names."""

    study: Study
    golden: Golden

    @property
    def lock(self) -> Path:
        """The path of the lock beside the study: golden.lock.json, or NAME.golden.lock.json.

        The second form is for a study that is not called study.yaml.
        """
        return self.study.folder / f"{self.study.run_folder.name.removesuffix('run')}{LOCK}"


def open_golden(path: Path) -> GoldenStudy:
    """Opens the golden set of a study. Only problems of the study's data are raised."""
    study, problems = examine_study(path)
    if of_data := [problem for problem in problems if problem.field.partition(".")[0] == "data"]:
        raise DataError(of_data)
    golden = golden_of(study)
    if golden is None:
        what = f"The data of {study.name!r} is {study.data_spec.name!r}, which has no golden sets in JSON."
        raise UsageError(f"{what} Write data: {{use: golden, sets: golden-set-*.json, corpus: corpus}}.")
    return GoldenStudy(study, golden)


def golden_of(study: Study) -> Golden | None:
    """Returns the golden set of a study's data, made with the first value of each factor.

    Returns None if the data is of another kind.
    """
    factors = {name: values[0] for name, values in study.file.factors.items() if values}
    found = study.registry.create(DATASETS, study.with_factors(DATASETS, study.data_spec, factors))
    return found if isinstance(found, Golden) else None


_PATIENCE = 60.0  # seconds for git, which may have to fetch from a partial clone


class EarlierVersion(NamedTuple):
    """The items of an earlier version, and the name of this version in messages."""

    name: str
    items: dict[str, ItemDigest]


def earlier_version(opened: GoldenStudy, against: str | None) -> EarlierVersion | None:
    """Returns the version to compare with: a file, a git revision, or by default the lock.

    Returns None if there is no lock.
    """
    if against is None:
        lock = read_lock(opened.lock)
        return (
            None
            if lock is None
            else EarlierVersion(f"{opened.lock.name}, version {lock.version}", lock.items)
        )
    if Path(against).is_dir():
        raise UsageError(f"{against} is a folder. Name a lock or a golden-set file in it, or a git revision.")
    if not Path(against).is_file():
        return EarlierVersion(against, dict(_read_from_git(opened, against)))
    content, _ = read_json(Path(against))
    if isinstance(content, dict):
        return EarlierVersion(against, parse_lock(content, Path(against)).items)
    return EarlierVersion(against, dict(_digest_entries(content, against)))


def _digest_entries(content: Any, where: str) -> Iterator[tuple[str, ItemDigest]]:
    if not isinstance(content, list):
        fix = "Name a golden-set file or a lock."
        raise DataError(Problem("expected an array of queries", where, 1, fix=fix))
    for raw in content:
        if name := entry_id(raw):
            yield name, digest_item(raw)


# ------------------------------------------------------------------------------------------- git


def _read_from_git(opened: GoldenStudy, revision: str) -> Iterator[tuple[str, ItemDigest]]:
    """Yields the items of all golden-set files that the study's `sets` name, at a git revision."""
    folder = opened.study.folder
    if revision.startswith("-"):
        raise UsageError(f"{revision!r} is neither a file nor a git revision.")
    commit = _resolve_commit(folder, revision)
    some = False
    for pattern in opened.golden.patterns():
        for path in _files_at_commit(folder, pattern, commit):
            some = True
            text = _git(folder, "show", f"{commit}:{path}").decode("utf-8-sig", errors="replace")
            where = f"{revision}:{path}"
            yield from _digest_entries(parse_json(text, where)[0], where)
    if not some:
        what = f"no golden set was there at {revision!r}"
        named = ", ".join(opened.golden.patterns())
        raise DataError(Problem(what, str(folder), fix=f"Looked for: {named}. Name a later revision."))


def _resolve_commit(folder: Path, revision: str) -> str:
    inside = _run(folder, ("rev-parse", "--is-inside-work-tree"))
    if inside.stdout.strip() != b"true":
        said = f" ({inside.stderr.decode(errors='replace').strip().splitlines()[0]})" if inside.stderr else ""
        fix = "Name a golden-set file or a lock instead."
        raise UsageError(f"{revision!r} is not a file, and git finds no repository at {folder}{said}. {fix}")
    commit = _try_git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        raise UsageError(f"{revision!r} is neither a file nor a git revision. Check it with: git log")
    return commit.decode()


def _files_at_commit(folder: Path, pattern: str, commit: str) -> list[str]:
    """Returns the files that match a pattern at a commit, as paths from the repository's top folder."""
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
    """Whether a path matches a pattern. They are compared part by part, so a star stays within its folder."""
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


def _try_git(folder: Path, *args: str) -> bytes | None:
    """Returns the output of git; None if git fails."""
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
