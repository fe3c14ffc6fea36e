"""Puts a release into its folder: downloads it and checks its checksum, or copies it from this machine.

Files are written under another name, and are renamed when they are complete and correct. The lock is written
last.
"""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec

from assay.core.errors import DataError, Problem, UsageError
from assay.core.protocols import Kit
from assay.core.registry import DATASETS, Registry
from assay.datasets.public.catalogue import (
    LOCK,
    SCHEMA,
    ContentSum,
    DataLock,
    Download,
    LockedFile,
    Pinned,
    Release,
    ReleaseFile,
    content_sum,
    find_on_disk,
    read_data_lock,
    study_data,
    without_secrets,
)
from assay.datasets.public.transfer import CHANGED, Transfer, new_folder, reporting_write_errors, unpack
from assay.store.disk import sync

LICENCE = "LICENSE"
LOOKED_AT = 3  # records of a local copy that are loaded to check its form
_DATA = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_NAMED = 5
_ONE_FILE = "A file of another name can be given by itself: --from FILE."
_STATED = "The release states its licence as "  # the beginning of a LICENSE without the licence text


class InstalledFile(msgspec.Struct, frozen=True):
    """A file in its final place, the way it came there, and the source of its checksum."""

    name: str
    how: Literal["downloaded", "kept", "copied"]
    sha256: str
    bytes: int
    pinned: Pinned
    source: str


@dataclass(frozen=True)
class InstalledRelease:
    """A release in its folder: its files, the `data` of a study that reads it, and notes for the user."""

    release: Release
    files: Sequence[InstalledFile]
    data: Mapping[str, str]
    notes: Sequence[str]


# ------------------------------------------------------------------------------------- downloaded


def get_release(release: Release, transfer: Transfer) -> InstalledRelease:
    """Downloads the missing files, and checks every file. Raises a DataError for a wrong checksum.

    A downloaded file with a wrong checksum is removed.
    """
    locked = read_data_lock(release)
    _check_one_copy(release, locked, [each.name for each in release.kept])
    files: list[InstalledFile] = []
    with new_folder(release.folder):
        for download in release.entry.downloads:
            here = [_check_in_place(release, download, each, locked.get(each.name)) for each in download.kept]
            there = [each for each in here if each is not None]
            files += there if len(there) == len(here) else _download(release, download, locked, transfer)
        notes = [*_pin_notes(files, locked), *_add_licence(release, transfer)]
        return _write_lock(release, files, notes)


def _check_in_place(
    release: Release, download: Download, kept: ReleaseFile, lock: LockedFile | None
) -> InstalledFile | None:
    """Checks the file that is in its place, and returns it; None if there is no file."""
    if (path := find_on_disk(release.folder, kept.name)) is None:
        return None
    found = content_sum(path, kept.name)
    expected = lock.sha256 if lock else kept.sha256
    if expected and found.sha256 != expected:
        what, fix = (
            f"its checksum is {found.sha256}, not {expected}",
            "Move it away, and run the command again.",
        )
        raise DataError(Problem(what, str(path), fix=fix))
    if lock is not None:
        return InstalledFile(kept.name, "kept", *found, lock.pinned, lock.source)
    pinned: Pinned = "release" if expected else "local copy"
    return InstalledFile(kept.name, "kept", *found, pinned, download.source if expected else str(path))


def _download(
    release: Release, download: Download, locked: Mapping[str, LockedFile], transfer: Transfer
) -> list[InstalledFile]:
    part = release.folder / f".{download.name}.part"
    earlier = None if download.members else locked.get(download.name)
    found = _download_checked(
        download, part, download.sha256 or (earlier.sha256 if earlier else ""), transfer
    )
    if not download.members:
        _rename(part, release.folder / download.name)
        pinned: Pinned = "release" if download.sha256 else "first download"
        return [InstalledFile(download.name, "downloaded", *found, pinned, download.source)]
    try:
        with TemporaryDirectory(dir=release.folder, prefix=".unpacked-") as folder:
            files = [_unpack_member(each, part, Path(folder), download.source) for each in download.members]
            for each in files:
                _check_against_lock(each, download.source, locked.get(each.name))
                _rename(Path(folder) / each.name, release.folder / each.name)
    finally:
        part.unlink(missing_ok=True)
    return files


def _download_checked(download: Download, part: Path, expected: str, transfer: Transfer) -> ContentSum:
    """Downloads a file and checks its checksum.

    If the checksum is wrong, the download is repeated only if it resumed an old part.
    """
    while True:
        resumed = bool(expected) and part.exists()
        _check_room(download, part)
        transfer.fetch(download.url, part, download.bytes, resume=bool(expected))
        found = content_sum(part, part.name)
        if not expected or found.sha256 == expected:
            return found
        part.unlink()
        if not resumed:
            what = f"{download.name} has the checksum {found.sha256}, not {expected}: it was removed"
            raise DataError(Problem(what, download.source, fix=f"Run the command again. {CHANGED}"))


def _check_room(download: Download, part: Path) -> None:
    missing = (download.bytes or 0) - (part.stat().st_size if part.exists() else 0)
    free = shutil.disk_usage(part.parent).free
    if missing > free:
        what = f"{download.name} needs {missing:,} bytes, and {free:,} are left on the disk"
        raise DataError(Problem(what, str(part.parent), fix="Make room, or name another folder with --to."))


def _unpack_member(member: ReleaseFile, archive: Path, folder: Path, source: str) -> InstalledFile:
    unpack(archive, member.name, member.bytes, folder / member.name, source)
    found = content_sum(folder / member.name, member.name)
    if member.sha256 and found.sha256 != member.sha256:
        what = f"{member.name!r} in it has the checksum {found.sha256}, not {member.sha256}"
        raise DataError(Problem(what, source, fix=CHANGED))
    return InstalledFile(
        member.name, "downloaded", *found, "release" if member.sha256 else "first download", source
    )


def _check_against_lock(file: InstalledFile, source: str, lock: LockedFile | None) -> None:
    """Raises a DataError for a file that differs from the file in the lock."""
    if lock is not None and lock.sha256 != file.sha256:
        what = f"{file.name} has the checksum {file.sha256}, not {lock.sha256} as the first time"
        fix = f"{CHANGED} To take it all the same, name another folder with --to."
        raise DataError(Problem(what, source, fix=fix))


# ---------------------------------------------------------------------------------------- a local copy


def take_local(release: Release, given: Path) -> InstalledRelease:
    """Copies a release, or data of the same form, from a file or folder of this machine."""
    if not given.exists():
        raise UsageError(f"{given}: there is no such file or folder. Check the path.")
    sources = _find_sources(release, given)
    locked = read_data_lock(release)
    with new_folder(release.folder):
        with TemporaryDirectory(dir=release.folder, prefix=".copied-") as staged:
            files = [file for source in sources for file in _copy(release, source, Path(staged))]
            _check_one_copy(release, locked, [each.name for each in files])
            notes = _try_loading(release, given, Path(staged), [each.name for each in files])
            for each in files:
                _check_against_lock(each, str(given), locked.get(each.name))
            for path in sorted(Path(staged).iterdir()):
                _rename(path, release.folder / path.name)
        if (wording := _find_licence(given)) and not (release.folder / LICENCE).exists():
            shutil.copyfile(wording, release.folder / LICENCE)
        notes += [*_pin_notes(files, locked), *_add_licence(release, None)]
        return _write_lock(release, files, notes)


def _find_licence(given: Path) -> Path | None:
    """Returns the licence beside a local copy: a file, or the first file in a folder of licences."""
    named = sorted(given.glob(f"{LICENCE}*")) if given.is_dir() else []
    inside = [path for folder in named if folder.is_dir() for path in sorted(folder.iterdir())]
    return next((path for path in [*named, *inside] if path.is_file()), None)


def _find_sources(release: Release, given: Path) -> list[Path]:
    """Returns the files of a local copy.

    These are the files with the release's names, otherwise all data files of the folder.
    """
    if given.is_file():
        return [given]
    whole = [each.name for each in release.kept]
    packed = [each.name for each in release.entry.downloads if each.members]
    for names in (whole, packed):
        if found := [path for name in names if (path := find_on_disk(given, name))]:
            return found
    there = sorted(path for path in given.iterdir() if path.name != LOCK and not path.name.startswith("."))
    if found := [path for path in there if path.is_file() and path.name.endswith(_DATA)]:
        return found
    seen = f"; there are {_name_some(there)}" if there else "; it is empty"
    fix = f"It would hold {' or '.join(whole + packed)}. {_ONE_FILE}"
    raise DataError(Problem(f"nothing of {release.name!r} is in it{seen}", str(given), fix=fix))


def _name_some(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(path.name for path in paths[:_NAMED]) + more


def _copy(release: Release, source: Path, staged: Path) -> Iterator[InstalledFile]:
    members = [each for download in release.entry.downloads for each in download.members]
    if members and zipfile.is_zipfile(source):
        for member in members:
            plain = msgspec.structs.replace(member, sha256="")  # a copy may differ; a note says so
            file = _unpack_member(plain, source, staged, str(source))
            pinned: Pinned = "release" if file.sha256 == member.sha256 else "local copy"
            yield msgspec.structs.replace(file, how="copied", pinned=pinned)
        return
    with reporting_write_errors(staged):
        copy = Path(shutil.copyfile(source, staged / source.name))
    name = source.name.removesuffix(".gz")
    found = content_sum(copy, name)
    published = {each.sha256 for each in release.kept if each.name == name} - {""}
    yield InstalledFile(
        name, "copied", *found, "release" if found.sha256 in published else "local copy", str(source)
    )


def _try_loading(release: Release, given: Path, staged: Path, names: Sequence[str]) -> list[str]:
    """Loads a few records. Raises a DataError if that fails: then this is not a copy of the release."""
    if release.entry.needs:
        return [f"it was not looked into: {release.entry.dataset} needs a {release.entry.needs} for that"]
    path = find_on_disk(staged, names[0]) if len(names) == 1 else staged
    spec: dict[str, Any] = {"use": release.entry.dataset, "path": str(path)}
    if "limit" in {field.name for field in _parameters(release.entry.dataset)}:
        spec["limit"] = LOOKED_AT
    try:
        dataset = Registry().create(DATASETS, spec).load(Kit())
    except DataError as error:
        what, fix = f"this does not look like {release.name!r}", "Give the path of a copy of the release."
        if given.is_dir():
            what += f": {_name_some([Path(name) for name in names])}"
            fix = f"{fix} {_ONE_FILE}"
        # problems name the given file or folder, not the temporary copy
        one = path if path is not None and given.is_file() else staged
        problems = [
            dataclasses.replace(each, where=each.where.replace(str(one), str(given)))
            for each in error.problems
        ]
        raise DataError([Problem(what, str(given), fix=fix), *problems]) from error
    if not dataset.items:
        raise DataError(
            Problem("it holds no question", str(given), fix="Give the path of a copy of the release.")
        )
    return []


def _parameters(dataset: str) -> Sequence[dataclasses.Field[Any]]:
    plugin = Registry().load(DATASETS, dataset)
    return dataclasses.fields(plugin) if dataclasses.is_dataclass(plugin) else ()


# ------------------------------------------------------------------------------------- what both do


def _check_one_copy(release: Release, locked: Mapping[str, LockedFile], names: Sequence[str]) -> None:
    """Raises a DataError if the files of two copies would be mixed in one folder."""
    if others := [name for name in locked if name not in names]:
        what, fix = f"another copy is here: {', '.join(others)}", "Name another folder, or remove this one."
        raise DataError(Problem(what, str(release.folder), fix=fix))


def _pin_notes(files: Sequence[InstalledFile], locked: Mapping[str, LockedFile]) -> Iterator[str]:
    for each in files:
        if each.pinned == "first download" and each.name not in locked:
            yield f"{each.name}: no checksum is published; {each.sha256} is recorded from now on"
        elif each.pinned == "local copy":
            yield f"{each.name}: a copy that is not the official release; its checksum is recorded"


def _add_licence(release: Release, transfer: Transfer | None) -> list[str]:
    """Puts a LICENSE beside the data. Without a transfer, the text of the licence is not downloaded."""
    licence, target = release.entry.licence, release.folder / LICENCE
    if target.is_file() and not target.read_bytes().startswith(_STATED.encode()):
        return []
    failed = ""
    if licence.text is not None and transfer is not None:
        wording = Download(LICENCE, licence.text.url, licence.text.sha256)
        part = release.folder / f".{LICENCE}.part"
        try:
            _download_checked(wording, part, wording.sha256, transfer)
            _rename(part, target)
            return []
        except DataError as error:
            part.unlink(missing_ok=True)
            failed = f" ({error.problems[0].what})"
    where = f" Its wording: {without_secrets(licence.text.url)}" if licence.text is not None else ""
    note = f" {licence.note}" if licence.note else ""
    with reporting_write_errors(target):
        target.write_text(f"{_STATED}{licence.name}: {licence.stated}.{note}{where}\n", encoding="utf-8")
    return [f"{LICENCE} names the licence and where it is; its wording was not downloaded{failed}"]


def _write_lock(release: Release, files: Sequence[InstalledFile], notes: list[str]) -> InstalledRelease:
    """Writes a lock with the files that are in the folder now."""
    entries = {each.name: LockedFile(each.sha256, each.bytes, each.source, each.pinned) for each in files}
    lock = msgspec.json.encode(DataLock(SCHEMA, release.name, entries))
    part = release.folder / f".{LOCK}.part"
    with reporting_write_errors(part):
        part.write_bytes(msgspec.json.format(lock, indent=2) + b"\n")
    _rename(part, release.folder / LOCK)
    return InstalledRelease(release, files, study_data(release, [each.name for each in files]), notes)


def _rename(part: Path, target: Path) -> None:
    with reporting_write_errors(target):
        sync(part)
        part.replace(target)
        sync(target.parent)
