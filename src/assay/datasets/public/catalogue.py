"""The catalogue of official releases, and the copies on disk, which are checked for changes.

A release is in a folder of its own, below ASSAY_DATA or ./data. The file `data.lock.json` in this folder
records the checksums of the files when they arrived. A checksum is computed from the content, so a file may
be gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from assay.core.endpoint import Endpoint
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.yaml_lines import read_yaml
from assay.datasets.reading import read_json

CATALOGUE = Path(__file__).with_name("catalogue.yaml")
SCHEMA = "assay/data-lock/1"
LOCK = "data.lock.json"
FOLDER = "ASSAY_DATA"  # the variable with the folder of all data
_BLOCK = 1 << 20

Checksum = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]  # empty: nobody has published one
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$")]  # never a path
Size = Annotated[int, msgspec.Meta(ge=0)]
Pinned = Literal["release", "first download", "local copy"]  # the source of a file's checksum


class ReleaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a release on disk."""

    name: FileName
    sha256: Checksum = ""
    bytes: Size | None = None


class Download(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to download. If `members` is not empty, it is a zip archive, and only its members are kept."""

    name: FileName
    url: str
    sha256: Checksum = ""
    bytes: Size | None = None
    members: list[ReleaseFile] = []

    @property
    def source(self) -> str:
        """The URL without secrets, for messages and locks."""
        return without_secrets(self.url)

    @property
    def kept(self) -> list[ReleaseFile]:
        return self.members or [ReleaseFile(self.name, self.sha256, self.bytes)]


class LicenceText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The address of the text of a licence, and the checksum of the text."""

    url: str
    sha256: Checksum = ""


class Licence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The licence of a release: its SPDX name, and the page where the release states it."""

    name: str
    stated: str
    note: str = ""
    text: LicenceText | None = None


class CatalogueEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A release in the catalogue. `needs` is the name of a parameter that its dataset requires."""

    about: str
    dataset: str
    home: str
    licence: Licence
    downloads: Annotated[list[Download], msgspec.Meta(min_length=1)]
    needs: str = ""


@dataclass(frozen=True)
class Release:
    """A release with its name and the folder of its copy."""

    name: str
    entry: CatalogueEntry
    folder: Path

    @property
    def kept(self) -> list[ReleaseFile]:
        """The files of the release on disk."""
        return [each for download in self.entry.downloads for each in download.kept]

    @property
    def size(self) -> int | None:
        """The number of bytes of all downloads; None if it is unknown."""
        sizes = [download.bytes for download in self.entry.downloads]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def read_catalogue(path: Path | None = None) -> dict[str, CatalogueEntry]:
    """Returns the releases of a catalogue by name. By default it is the catalogue that comes with Assay."""
    where = path or CATALOGUE
    content, _ = read_yaml(where)
    try:
        found = msgspec.convert(content, dict[FileName, CatalogueEntry])
    except msgspec.ValidationError as error:
        raise DataError(decoding_problem(error, str(where))) from None
    return {name: _without_shown_secrets(entry) for name, entry in found.items()}


def without_secrets(text: str) -> str:
    """Returns a URL without credentials and secret parameters. Other text is returned unchanged."""
    if not text.startswith(("http://", "https://")):
        return text
    try:
        endpoint = Endpoint(text)
    except UsageError as error:
        raise DataError(Problem(str(error), fix="Correct it in the catalogue.")) from None
    return endpoint.identity if endpoint.secrets else text


def _without_shown_secrets(entry: CatalogueEntry) -> CatalogueEntry:
    """Removes secrets from the addresses that are only shown. Download addresses stay unchanged."""
    licence = msgspec.structs.replace(entry.licence, stated=without_secrets(entry.licence.stated))
    return msgspec.structs.replace(entry, home=without_secrets(entry.home), licence=licence)


def data_folder(env: Mapping[str, str]) -> Path:
    """Returns the folder of all data. Commands may use another folder instead."""
    return Path(env.get(FOLDER) or "data")


def find_release(catalogue: Mapping[str, CatalogueEntry], name: str, below: Path) -> Release:
    """Returns the release of that name, or the only release that the dataset plugin of that name reads."""
    read_by = [each for each, entry in catalogue.items() if entry.dataset == name]
    found = name if name in catalogue else read_by[0] if len(read_by) == 1 else None
    if found is None:
        raise UsageError(f"There is no release {name!r}. {did_you_mean(name, catalogue)}")
    return Release(found, catalogue[found], below / found)


# ------------------------------------------------------------------------------------------ the lock


class LockedFile(msgspec.Struct, frozen=True):
    """A file when it arrived: checksum and length of its content, its source, and the source of the
    checksum."""

    sha256: str
    bytes: int
    source: str
    pinned: Pinned


class DataLock(msgspec.Struct, frozen=True):
    """The content of `data.lock.json`, with the files in the folder of a release."""

    schema: str
    name: str
    files: dict[str, LockedFile]


def read_data_lock(release: Release) -> dict[str, LockedFile]:
    """Returns the recorded files by name; nothing if there is no lock."""
    path = release.folder / LOCK
    if not path.is_file():
        return {}
    content, _ = read_json(path)
    try:
        lock = msgspec.convert(content, DataLock)
    except msgspec.ValidationError as error:
        fix = "Restore it, or remove it and run assay data get again."
        raise DataError(Problem(f"the lock is damaged: {error}", str(path), fix=fix)) from None
    if (lock.schema, lock.name) != (SCHEMA, release.name):
        what = f"this is the lock of {lock.name!r} ({lock.schema}), not of {release.name!r} ({SCHEMA})"
        raise DataError(Problem(what, str(path), fix="Name another folder, or update Assay."))
    return lock.files


# ------------------------------------------------------------------------------- what lies on disk


class ContentSum(NamedTuple):
    """The checksum and the length of some content."""

    sha256: str
    bytes: int


def content_sum(path: Path, name: str) -> ContentSum:
    """Returns checksum and length of a file's content. A file that is stored as NAME.gz is unpacked."""
    state, size = hashlib.sha256(), 0
    try:
        with gzip.open(path) if path.name == f"{name}.gz" else path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                state.update(block)
                size += len(block)
    except (OSError, EOFError, zlib.error) as error:
        fix = "Check that the file is whole and may be read."
        raise DataError(Problem(f"cannot be read: {error}", str(path), fix=fix)) from error
    return ContentSum(state.hexdigest(), size)


def find_on_disk(folder: Path, name: str) -> Path | None:
    """Returns the path of a file in a folder, or of its gzipped form; None if neither exists."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


class FileCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of comparing a file of a release with its checksum."""

    name: str
    state: Literal["ok", "changed", "missing", "unknown"]
    said: str
    path: str = ""
    sha256: str = ""
    expected: str = ""

    @property
    def sound(self) -> bool:
        return self.state == "ok"


def is_here(release: Release) -> bool:
    """Whether the lock or at least one file of a release is in its folder."""
    return (release.folder / LOCK).is_file() or any(
        find_on_disk(release.folder, each.name) for each in release.kept
    )


def check_release(release: Release) -> Iterator[FileCheck]:
    """Compares every file of a release with the lock, or with the catalogue if there is no lock."""
    locked = read_data_lock(release)
    published = {each.name: each.sha256 for each in release.kept}
    for name in locked or published:
        lock = locked.get(name)
        expected = lock.sha256 if lock else published[name]
        if (path := find_on_disk(release.folder, name)) is None:
            yield FileCheck(name, "missing", "it is not there", expected=expected)
            continue
        found = content_sum(path, name).sha256
        if not expected:
            said = "no checksum is known: assay data get records one"
            yield FileCheck(name, "unknown", said, str(path), found)
        elif found != expected:
            yield FileCheck(name, "changed", "it is not what it was", str(path), found, expected)
        else:
            yield FileCheck(
                name, "ok", _describe_match(found, published.get(name), lock), str(path), found, expected
            )


def _describe_match(found: str, published: str | None, lock: LockedFile | None) -> str:
    if found == published:
        return "as released"
    if lock is not None and lock.pinned == "first download":
        return "as first downloaded"
    return "as it was copied here, which is not the official release"


def study_data(release: Release, names: list[str]) -> dict[str, str]:
    """Returns the `data` of a study that reads these files. Several files are read as a folder."""
    place = release.folder if len(names) != 1 else find_on_disk(release.folder, names[0]) or release.folder
    return {"use": release.entry.dataset, "path": str(place.resolve())}
