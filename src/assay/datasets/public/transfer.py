"""Downloads and unpacks files. Downloads are limited in size, and are resumed after a break.

An interrupted download is resumed only if a checksum can later prove that both parts belong together.
Otherwise it starts again.
"""

from __future__ import annotations

import lzma
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from assay.core.endpoint import Endpoint, is_passing, pause_before, read_unpacked
from assay.core.errors import DataError, Problem
from assay.core.protocols import ProgressCallback, ignore_progress
from assay.core.unpacking import OversizedContent
from assay.datasets.public.catalogue import without_secrets

if TYPE_CHECKING:
    import ssl

    import httpx

LARGEST = 4 << 30  # bytes of a file whose size nobody has published
CHANGED = "See on its home page whether the release has changed."
_MB = 1_000_000
_BLOCK, _FEW = 1 << 20, 1 << 12
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)


class _BrokenTransfer(Exception):
    """The error of an attempt that failed; another attempt may succeed."""

    def __init__(self, what: str, retry_after: str | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Transfer:
    """The settings of downloads: the number of attempts, the time limit, and the callback for progress."""

    tell: ProgressCallback = ignore_progress
    sleep: Callable[[float], None] = time.sleep
    attempts: int = 4
    timeout: float = 30.0

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        """The trusted certificates. They are read once: reading them takes longer than many downloads."""
        import httpx

        return httpx.create_ssl_context()

    def fetch(self, url: str, part: Path, size: int | None, resume: bool) -> None:
        """Downloads a URL into the file `part`. With `resume`, it continues the part that is there."""
        if not resume:
            part.unlink(missing_ok=True)
        for attempt in range(1, self.attempts + 1):
            try:
                self._attempt(url, part, size, resume)
                return
            except _BrokenTransfer as error:
                if attempt == self.attempts:
                    again = "continues where this one stopped" if resume else "starts again"
                    fix = f"See whether it can be reached, and run the command again: it {again}."
                    what = f"nothing whole came in {attempt} attempts. The last: {error}"
                    raise DataError(Problem(what.rstrip("."), without_secrets(url), fix=fix)) from error
                self.sleep(pause_before(attempt + 1, 1.0, error.retry_after))

    def _attempt(self, url: str, part: Path, size: int | None, resume: bool) -> None:
        import httpx

        have = part.stat().st_size if resume and part.exists() else 0
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
        try:
            with (
                httpx.Client(
                    follow_redirects=True,
                    timeout=self.timeout,
                    verify=self._certificates,
                    trust_env=not Endpoint(url).loopback,  # a proxy cannot reach this machine
                ) as client,
                client.stream("GET", url, headers=headers) as response,
            ):
                if have and response.status_code == 416:  # the file is shorter than the downloaded part
                    part.unlink()
                    raise _BrokenTransfer("the file is not what it was when the download began")
                _check_answer(response, url)
                going_on = have and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
                self._write(response, part, have if going_on else 0, size, without_secrets(url))
        except httpx.RequestError as error:
            said = Endpoint(url).conceal(str(error)) or type(error).__name__
            raise _BrokenTransfer(said) from error

    def _write(self, response: httpx.Response, part: Path, have: int, size: int | None, source: str) -> None:
        coming = response.headers.get("Content-Length", "")
        total = have + int(coming) if coming.isdigit() else size or 0
        most, name = LARGEST if size is None else size, part.name.removesuffix(".part").lstrip(".")
        with reporting_write_errors(part), part.open("ab" if have else "wb") as file:
            try:
                for block in read_unpacked(response, most - have):
                    have += len(block)
                    file.write(block)
                    self.tell(f"{name}, MB", have // _MB, total // _MB)
            except OversizedContent as error:
                file.truncate(0)
                what = f"more than the {most:,} bytes that it may have"
                raise DataError(Problem(what, source, fix=CHANGED)) from error
            except ValueError as error:
                raise _BrokenTransfer(str(error)) from error


def _check_answer(response: httpx.Response, url: str) -> None:
    """Raises an error if the answer is not a file."""
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if is_passing(response.status_code):
        raise _BrokenTransfer(f"the server answers {status}", response.headers.get("Retry-After"))
    by_hand = "Download it by hand, and name the file with --from."
    if not response.is_success:
        raise DataError(Problem(f"the server answers {status}", without_secrets(url), fix=by_hand))
    if response.headers.get("Content-Type", "").startswith("text/html"):
        what = "it answers with a web page in place of the file"
        raise DataError(Problem(what, without_secrets(url), fix=by_hand))


@contextmanager
def reporting_write_errors(path: Path) -> Iterator[None]:
    """Turns a write error into a DataError that names the file; the error of a full disk does not name it."""
    try:
        yield
    except OSError as error:
        fix = "Check the folder's permissions and the space left."
        raise DataError(
            Problem(f"cannot be written: {error.strerror or error}", str(path), fix=fix)
        ) from error


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Makes a folder. Afterwards removes it if it is new and still empty."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    with reporting_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for each in new:
            with suppress(OSError):  # not empty: it holds the data, or a part to resume
                each.rmdir()


def unpack(archive: Path, name: str, size: int | None, target: Path, source: str) -> None:
    """Unpacks the only file of that name in a zip archive, from any folder of the archive."""
    most = LARGEST if size is None else size
    try:
        with zipfile.ZipFile(archive) as opened:
            found = [
                each
                for each in opened.infolist()
                if each.filename.rpartition("/")[2] == name and "__MACOSX" not in each.filename
            ]
            if len(found) != 1:
                what = f"it holds {len(found)} files called {name!r}, not one"
                raise DataError(Problem(what, source, fix=CHANGED))
            if found[0].file_size > most:
                what = f"{name!r} in it is longer than {most:,} bytes"
                raise DataError(Problem(what, source, fix=CHANGED))
            with opened.open(found[0]) as packed, reporting_write_errors(target), target.open("wb") as file:
                # other compressions unpack each block at once, to up to 20,000 times its size
                slow = found[0].compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
                for block in _read_blocks(packed, _FEW if slow else _BLOCK):
                    file.write(block)
    except RuntimeError as error:  # a password, or an unknown compression
        fix = "Unpack it with another program, and name the file with --from."
        raise DataError(Problem(f"{name!r} in it cannot be unpacked: {error}", source, fix=fix)) from error
    except _DAMAGED as error:
        raise DataError(Problem(f"this is not a whole zip archive: {error}", source, fix=CHANGED)) from error


def _read_blocks(packed: IO[bytes], at_once: int) -> Iterator[bytes]:
    try:
        while block := packed.read(at_once):
            yield block
    except OSError as error:  # a broken bzip2 stream, not a full disk
        raise zipfile.BadZipFile(str(error)) from error
