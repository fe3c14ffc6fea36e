"""Releases: the catalogue, downloads and their faults, local copies, locks, checks."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.core.errors import DataError, UsageError
from assay.core.registry import DATASETS, Registry
from assay.datasets.public import transfer
from assay.datasets.public.catalogue import (
    LOCK,
    CatalogueEntry,
    Download,
    Licence,
    LicenceText,
    Release,
    ReleaseFile,
    check_release,
    content_sum,
    data_folder,
    find_release,
    is_here,
    read_catalogue,
    read_data_lock,
)
from assay.datasets.public.install import get_release, take_local
from assay.datasets.public.transfer import Transfer
from stand_ins.release_server import ReleaseServer, Reply

DIALOGUE = {
    "sample_id": "conv-1",
    "conversation": {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "The boat is red. " * 400}]},
    "qa": [{"question": "Which boat?", "answer": "the red one", "evidence": ["D1:1"], "category": 4}],
}
BODY = json.dumps([DIALOGUE]).encode()
WORDING = b"You may use it.\n"
NAME = "locomo10.json"
QUICK = Transfer(sleep=lambda _: None, timeout=5.0)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def server() -> Iterator[ReleaseServer]:
    replies = {f"/{NAME}": Reply(BODY), "/LICENSE": Reply(WORDING, kind="text/plain")}
    with ReleaseServer(replies) as started:
        yield started


def release(folder: Path, url: str, *downloads: Download, **other: Any) -> Release:
    licence = Licence("MIT", "https://example.org", text=LicenceText(f"{url}/LICENSE"))
    parts = downloads or (Download(NAME, f"{url}/{NAME}", sha(BODY), len(BODY)),)
    return Release(
        "small", CatalogueEntry("a dialogue", "locomo", url, licence, list(parts), **other), folder / "small"
    )


# ---------------------------------------------------------------------------------- the catalogue


def test_the_catalogue_is_sound() -> None:
    catalogue = read_catalogue()
    wanted = {
        "hotpotqa",
        "musique",
        "2wikimultihopqa",
        "hover",
        "longmemeval",
        "longmemeval_oracle",
        "locomo",
    }
    assert wanted == set(catalogue)
    known = Registry().names(DATASETS)
    for name, entry in catalogue.items():
        assert entry.dataset in known, name
        assert all(download.sha256 and download.bytes for download in entry.downloads), name
        assert all(member.sha256 for download in entry.downloads for member in download.members), name
        assert entry.licence.stated.startswith("https://"), name


def test_a_release_is_found_by_its_name_or_its_dataset(tmp_path: Path) -> None:
    catalogue = read_catalogue()
    assert find_release(catalogue, "twowiki", tmp_path).name == "2wikimultihopqa"
    assert find_release(catalogue, "longmemeval", tmp_path).kept[0].name == "longmemeval_s_cleaned.json"
    assert find_release(catalogue, "musique", tmp_path).kept[0].name == "musique_ans_v1.0_dev.jsonl"
    with pytest.raises(UsageError, match="'hotpotqa'"):
        find_release(catalogue, "hotpot", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("bytes: 46320117", "bytes: -1", "bytes"),
        ("sha256: 4e9e", "sha256: XYZ", "sha256"),
        ("- name: hotpot_dev", "- name: ../../hotpot_dev", "name"),
        ("needs: corpus", "wants: corpus", "wants"),
    ],
)
def test_a_wrong_catalogue_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = (Path(transfer.__file__).parent / "catalogue.yaml").read_text()
    assert old in text
    (tmp_path / "c.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(DataError, match=told):
        read_catalogue(tmp_path / "c.yaml")


def test_where_data_is_kept() -> None:
    assert data_folder({}) == Path("data")
    assert data_folder({"ASSAY_DATA": "/srv/data"}) == Path("/srv/data")


# -------------------------------------------------------------------------------------- downloads


def test_a_download_lies_beside_its_licence_and_its_lock(tmp_path: Path, server: ReleaseServer) -> None:
    wanted = release(tmp_path, server.url)
    got = get_release(wanted, QUICK)
    assert sorted(path.name for path in wanted.folder.iterdir()) == ["LICENSE", LOCK, NAME]
    assert (wanted.folder / NAME).read_bytes() == BODY
    assert (wanted.folder / "LICENSE").read_bytes() == WORDING
    assert got.data == {"use": "locomo", "path": str(wanted.folder / NAME)}
    assert not got.notes
    lock = read_data_lock(wanted)[NAME]
    assert (lock.sha256, lock.bytes, lock.pinned) == (sha(BODY), len(BODY), "release")
    assert lock.source == f"{server.url}/{NAME}"


def test_what_is_there_is_not_downloaded_again(tmp_path: Path, server: ReleaseServer) -> None:
    wanted = release(tmp_path, server.url)
    get_release(wanted, QUICK)
    asked = len(server.asked)
    assert [file.how for file in get_release(wanted, QUICK).files] == ["kept"]
    assert len(server.asked) == asked


def test_a_wrong_checksum_is_refused_and_the_file_removed(tmp_path: Path, server: ReleaseServer) -> None:
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/{NAME}", "0" * 64, len(BODY)))
    with pytest.raises(DataError, match=f"checksum {sha(BODY)}, not {'0' * 64}: it was removed"):
        get_release(wanted, QUICK)
    assert not wanted.folder.exists()


def test_a_checksum_that_nobody_published_is_pinned_by_the_first_download(
    tmp_path: Path, server: ReleaseServer
) -> None:
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/{NAME}"))
    got = get_release(wanted, QUICK)
    assert got.notes == [f"{NAME}: no checksum is published; {sha(BODY)} is recorded from now on"]
    assert got.files[0].pinned == "first download"
    assert [each.said for each in check_release(wanted)] == ["as first downloaded"]

    (wanted.folder / NAME).unlink()
    server.replies[f"/{NAME}"] = Reply(BODY + b" ")
    with pytest.raises(DataError, match=f"not {sha(BODY)}"):
        get_release(wanted, QUICK)
    server.replies[f"/{NAME}"] = Reply(BODY)
    assert get_release(wanted, QUICK).files[0].how == "downloaded"


def test_a_file_that_was_changed_is_not_replaced(tmp_path: Path, server: ReleaseServer) -> None:
    wanted = release(tmp_path, server.url)
    get_release(wanted, QUICK)
    (wanted.folder / NAME).write_bytes(b"[]")
    with pytest.raises(DataError, match="Move it away"):
        get_release(wanted, QUICK)
    assert (wanted.folder / NAME).read_bytes() == b"[]"


def test_a_transfer_that_breaks_off_goes_on_where_it_stopped(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies[f"/{NAME}"] = Reply(BODY, cut=1000)
    get_release(release(tmp_path, server.url), QUICK)
    assert server.asked[:2] == [(f"/{NAME}", ""), (f"/{NAME}", "bytes=1000-")]


def test_a_server_without_ranges_sends_it_anew(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies[f"/{NAME}"] = Reply(BODY, cut=1000, ranges=False)
    assert get_release(release(tmp_path, server.url), QUICK).files[0].sha256 == sha(BODY)


def test_without_a_checksum_nothing_is_pieced_together(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies[f"/{NAME}"] = Reply(BODY, cut=1000)
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/{NAME}"))
    assert get_release(wanted, QUICK).files[0].sha256 == sha(BODY)
    assert {range_ for _, range_ in server.asked} == {""}


def test_after_a_crash_the_next_run_goes_on(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies[f"/{NAME}"] = Reply(BODY, cut=1000, cuts=99)
    wanted = release(tmp_path, server.url)
    once = replace(QUICK, attempts=1)
    with pytest.raises(DataError, match="continues where this one stopped"):
        get_release(wanted, once)
    assert not is_here(wanted)
    server.replies[f"/{NAME}"] = Reply(BODY)
    get_release(wanted, once)
    assert (f"/{NAME}", "bytes=1000-") in server.asked
    assert (wanted.folder / NAME).read_bytes() == BODY


@pytest.mark.parametrize("left", [b"x" * 500, b"x" * 99_999])
def test_half_of_something_else_is_thrown_away(tmp_path: Path, server: ReleaseServer, left: bytes) -> None:
    wanted = release(tmp_path, server.url)
    wanted.folder.mkdir()
    (wanted.folder / f".{NAME}.part").write_bytes(left)
    get_release(wanted, QUICK)
    assert (wanted.folder / NAME).read_bytes() == BODY


def test_a_redirect_is_followed(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies["/moved"] = Reply(status=302, location=f"/{NAME}")
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/moved", sha(BODY), len(BODY)))
    assert get_release(wanted, QUICK).files[0].how == "downloaded"


def test_a_redirect_in_a_circle_is_told(tmp_path: Path, server: ReleaseServer) -> None:
    server.replies["/moved"] = Reply(status=302, location="/moved")
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/moved", sha(BODY)))
    with pytest.raises(DataError, match="redirects"):
        get_release(wanted, QUICK)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(status=404), "404 Not Found. Download it by hand, and name the file with --from"),
        (Reply(status=403), "403 Forbidden"),
        (Reply(b"<html>", kind="text/html; charset=utf-8"), "a web page in place of the file"),
        (Reply(status=503), "nothing whole came in 4 attempts. The last: the server answers 503"),
        (Reply(BODY + b" " * 9), f"more than the {len(BODY):,} bytes"),
    ],
    ids=["404", "403", "html", "503", "longer"],
)
def test_answers_that_are_not_the_file(
    tmp_path: Path, server: ReleaseServer, reply: Reply, told: str
) -> None:
    server.replies[f"/{NAME}"] = reply
    with pytest.raises(DataError) as caught:
        get_release(release(tmp_path, server.url), QUICK)
    assert told in str(caught.value)


def test_nobody_listens(tmp_path: Path, server: ReleaseServer) -> None:
    address = "http://127.0.0.1:1"
    wanted = release(tmp_path, address)
    with pytest.raises(DataError, match="nothing whole came in 4 attempts"):
        get_release(wanted, QUICK)


def test_a_full_disk_is_told(tmp_path: Path, server: ReleaseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def full(path: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if "b" in mode and path.name.endswith(".part"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(DataError, match=r"\.part: cannot be written: No space left on device"):
        get_release(release(tmp_path, server.url), QUICK)


def test_too_little_room_is_told_beforehand(
    tmp_path: Path, server: ReleaseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=10))
    with pytest.raises(DataError, match="10 are left on the disk"):
        get_release(release(tmp_path, server.url), QUICK)
    assert not server.asked


def test_progress_is_told(tmp_path: Path, server: ReleaseServer) -> None:
    told: list[tuple[str, int, int]] = []
    body = b" " * 2_500_000
    server.replies[f"/{NAME}"] = Reply(body)
    wanted = release(tmp_path, server.url, Download(NAME, f"{server.url}/{NAME}", sha(body), len(body)))
    get_release(wanted, Transfer(lambda *what: told.append(what)))
    assert (f"{NAME}, MB", 2, 2) in told


def test_a_licence_that_cannot_be_had_is_named(tmp_path: Path, server: ReleaseServer) -> None:
    del server.replies["/LICENSE"]
    wanted = release(tmp_path, server.url)
    (note,) = get_release(wanted, QUICK).notes
    assert "its wording was not downloaded (the server answers 404 Not Found)" in note
    assert (
        (wanted.folder / "LICENSE").read_text().startswith("The release states its licence as MIT: https://")
    )
    server.replies["/LICENSE"] = Reply(WORDING, kind="text/plain")
    assert not get_release(wanted, QUICK).notes
    assert (wanted.folder / "LICENSE").read_bytes() == WORDING


# --------------------------------------------------------------------------------------- archives


def packed(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def marked(content: bytes, flag: int = 0, method: int | None = None) -> bytes:
    """An archive of one file whose headers say that it is encrypted, or packed in some other way."""
    found = bytearray(content)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = found.index(mark) + at
        found[start] |= flag
        if method is not None:
            found[start + 2] = method
    return bytes(found)


def archived(folder: Path, server: ReleaseServer, content: bytes, member: ReleaseFile) -> Release:
    server.replies["/all.zip"] = Reply(content)
    return release(
        folder, server.url, Download("all.zip", f"{server.url}/all.zip", sha(content), members=[member])
    )


def test_members_of_an_archive_are_kept(tmp_path: Path, server: ReleaseServer) -> None:
    content = packed({"data/locomo10.json": BODY, "data/other": b"", "__MACOSX/data/locomo10.json": b"x"})
    wanted = archived(tmp_path, server, content, ReleaseFile(NAME, sha(BODY), len(BODY)))
    assert get_release(wanted, QUICK).files[0].sha256 == sha(BODY)
    assert sorted(path.name for path in wanted.folder.iterdir()) == ["LICENSE", LOCK, NAME]
    assert [file.how for file in get_release(wanted, QUICK).files] == ["kept"]


@pytest.mark.parametrize(
    ("content", "member", "told"),
    [
        (packed({"a": BODY}), ReleaseFile(NAME), "it holds 0 files called"),
        (packed({f"a/{NAME}": BODY, f"b/{NAME}": BODY}), ReleaseFile(NAME), "it holds 2 files called"),
        (packed({NAME: BODY}), ReleaseFile(NAME, "0" * 64), "has the checksum"),
        (packed({NAME: BODY}), ReleaseFile(NAME, bytes=10), "longer than 10 bytes"),
        (b"no archive", ReleaseFile(NAME), "not a whole zip archive"),
        (
            marked(packed({NAME: BODY}), flag=1),
            ReleaseFile(NAME),
            "cannot be unpacked: .* is encrypted.*--from",
        ),
        (marked(packed({NAME: BODY}), method=97), ReleaseFile(NAME), "cannot be unpacked: .*not supported"),
        (
            marked(packed({NAME: BODY}), method=12),
            ReleaseFile(NAME),
            "not a whole zip archive: Invalid data stream",
        ),
        (marked(packed({NAME: BODY}), method=14), ReleaseFile(NAME), "not a whole zip archive"),
    ],
    ids=["missing", "twice", "checksum", "bomb", "no zip", "encrypted", "method 97", "no bzip2", "no lzma"],
)
def test_wrong_archives(
    tmp_path: Path, server: ReleaseServer, content: bytes, member: ReleaseFile, told: str
) -> None:
    wanted = archived(tmp_path, server, content, member)
    with pytest.raises(DataError, match=told):
        get_release(wanted, QUICK)
    assert not wanted.folder.exists()


# ----------------------------------------------------------------------------------- local copies


def test_a_local_copy_of_the_release(tmp_path: Path) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    (source / f"{NAME}.gz").write_bytes(gzip.compress(BODY))
    (source / "LICENSE.txt").write_bytes(WORDING)
    wanted = release(tmp_path, "https://example.org")
    got = take_local(wanted, source)
    assert (got.files[0].how, got.files[0].pinned, got.files[0].sha256) == ("copied", "release", sha(BODY))
    assert got.data["path"] == str(wanted.folder / f"{NAME}.gz")
    assert (wanted.folder / "LICENSE").read_bytes() == WORDING
    assert not got.notes
    assert [(each.state, each.said) for each in check_release(wanted)] == [("ok", "as released")]


def test_a_copy_of_something_else_of_its_form_is_told_to_be_that(tmp_path: Path) -> None:
    source = tmp_path / "sample.json"
    source.write_bytes(BODY)
    wanted = release(tmp_path, "https://example.org", Download(NAME, "https://example.org", "0" * 64))
    got = take_local(wanted, source)
    assert got.notes[0] == "sample.json: a copy that is not the official release; its checksum is recorded"
    assert "its wording was not downloaded" in got.notes[1]
    assert [each.said for each in check_release(wanted)] == [
        "as it was copied here, which is not the official release"
    ]
    assert got.data["path"] == str(wanted.folder / "sample.json")


def test_an_archive_can_be_the_copy(tmp_path: Path, server: ReleaseServer) -> None:
    content = packed({f"data/{NAME}": BODY})
    wanted = archived(tmp_path, server, content, ReleaseFile(NAME, sha(BODY)))
    (tmp_path / "all.zip").write_bytes(content)
    for given in (tmp_path / "all.zip", tmp_path):
        assert take_local(wanted, given).files[0].pinned == "release"
    assert not server.asked


def test_what_does_not_load_is_no_copy(tmp_path: Path) -> None:
    source = tmp_path / NAME
    source.write_text('[{"something": "else"}]')
    wanted = release(tmp_path, "https://example.org")
    with pytest.raises(DataError) as caught:
        take_local(wanted, source)
    first, second = caught.value.problems
    assert first.what == "this does not look like 'small'"
    assert second.field == "sample_id"
    assert ".copied" not in str(caught.value)
    assert not wanted.folder.exists()


def test_copies_that_are_nowhere_or_empty(tmp_path: Path) -> None:
    wanted = release(tmp_path, "https://example.org")
    with pytest.raises(UsageError, match="there is no such file"):
        take_local(wanted, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=f"it is empty. It would hold {NAME}"):
        take_local(wanted, tmp_path / "empty")
    (tmp_path / "empty" / "notes.txt").write_text("")
    (tmp_path / "empty" / "pictures").mkdir()
    with pytest.raises(DataError, match=r"there are notes.txt, pictures. .* --from FILE"):
        take_local(wanted, tmp_path / "empty")
    (tmp_path / "empty" / "package.json").write_text("{}")
    with pytest.raises(DataError, match=r"does not look like 'small': package.json. .* --from FILE"):
        take_local(wanted, tmp_path / "empty")
    assert not wanted.folder.exists()


@pytest.mark.parametrize("licence", ["LICENSE", "LICENSES/LICENSE-DATA", ""])
def test_a_folder_that_get_wrote_can_be_the_copy(tmp_path: Path, licence: str) -> None:
    source = tmp_path / "sample.json"
    source.write_bytes(BODY)
    take_local(release(tmp_path / "a", "https://example.org"), source)
    copy = tmp_path / "a" / "small"
    (copy / "LICENSE").unlink()
    if licence:
        (copy / licence).parent.mkdir(exist_ok=True)
        (copy / licence).write_bytes(WORDING)
    wanted = release(tmp_path / "b", "https://example.org")
    got = take_local(wanted, copy)
    assert [file.name for file in got.files] == ["sample.json"]
    assert sorted(path.name for path in wanted.folder.iterdir()) == ["LICENSE", LOCK, "sample.json"]
    assert ((wanted.folder / "LICENSE").read_bytes() == WORDING) == bool(licence)


def test_a_dataset_without_a_limit_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    """`cases` has no parameter limit."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "lease.md").write_text("1 The rent is due.\n")
    case = {"case_id": "a", "query": "When?", "expectation": {"evidence_node_ids": ["lease:1"]}}
    header = {"dataset_id": "x", "dataset_name": "x", "domain_pack_name": "policy"}
    content = {**header, "document_directory": str(tmp_path / "papers"), "cases": [case]}
    (tmp_path / "x.json").write_text(json.dumps(content))
    plain = release(tmp_path, "https://example.org")
    wanted = replace(plain, entry=msgspec.structs.replace(plain.entry, dataset="cases"))
    assert take_local(wanted, tmp_path / "x.json").files[0].name == "x.json"
    content["cases"] = []
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match="does not look like 'small'") as caught:
        take_local(replace(wanted, folder=tmp_path / "other"), tmp_path / "x.json")
    assert caught.value.problems[1].where == str(tmp_path / "x.json")


# ------------------------------------------------------------------------------------------ secrets

SECRETS = ("hunter2", "s3cret", "ann")


def test_no_secret_of_an_address_is_told_or_written(tmp_path: Path, server: ReleaseServer) -> None:
    address = server.url.replace("http://", "http://ann:hunter2@") + f"/{NAME}?token=s3cret&part=1"
    server.replies[f"/{NAME}?token=s3cret&part=1"] = Reply(BODY)
    plain = release(tmp_path, server.url, Download(NAME, address))
    licence = Licence("MIT", address, text=LicenceText(address.replace(NAME, "LICENSE")))
    wanted = replace(plain, entry=msgspec.structs.replace(plain.entry, licence=licence))
    got = get_release(wanted, QUICK)
    assert server.asked[0][0].endswith("?token=s3cret&part=1")
    told = str([got.files, got.notes]) + (wanted.folder / LOCK).read_text()
    told += (wanted.folder / "LICENSE").read_text().partition("Its wording")[2]
    assert f"{server.url}/{NAME}?part=1" in told
    failing = {
        "status": Reply(status=404),
        "html": Reply(b"<html>", kind="text/html"),
        "again": Reply(status=503),
        "circle": Reply(status=302, location=f"/{NAME}?token=s3cret&part=1"),
        "longer": Reply(BODY + b" "),
        "changed": Reply(BODY[:-1]),
    }
    for name, reply in failing.items():
        server.replies[f"/{NAME}?token=s3cret&part=1"] = reply
        sized = Download(NAME, address, sha(BODY), len(BODY))
        with pytest.raises(DataError) as caught:
            get_release(release(tmp_path / name, server.url, sized), QUICK)
        told += str(caught.value)
    dead = address.replace(server.url.rpartition(":")[2], "1", 1)
    with pytest.raises(DataError) as caught:
        get_release(release(tmp_path / "dead", server.url, Download(NAME, dead)), QUICK)
    told += str(caught.value)
    assert not [secret for secret in SECRETS if secret in told]


def test_a_catalogue_shows_no_secret(tmp_path: Path) -> None:
    text = (Path(transfer.__file__).parent / "catalogue.yaml").read_text()
    (tmp_path / "c.yaml").write_text(text.replace("home: https://", "home: https://ann:hunter2@"))
    shown = read_catalogue(tmp_path / "c.yaml")
    plain = [entry.home.rstrip("/") for entry in read_catalogue().values()]
    assert [entry.home for entry in shown.values()] == plain
    (tmp_path / "c.yaml").write_text(text.replace("home: https://", "home: https://[ann:hunter2@"))
    with pytest.raises(DataError) as caught:
        read_catalogue(tmp_path / "c.yaml")
    assert "hunter2" not in str(caught.value)


def test_a_second_copy_does_not_replace_the_first(tmp_path: Path) -> None:
    wanted = release(tmp_path, "https://example.org", Download(NAME, "https://example.org"))
    for folder, body in (("a", BODY), ("b", BODY + b"\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / NAME).write_bytes(body)
    take_local(wanted, tmp_path / "a")
    with pytest.raises(DataError, match="as the first time"):
        take_local(wanted, tmp_path / "b")
    assert (wanted.folder / NAME).read_bytes() == BODY
    (tmp_path / "b" / NAME).rename(tmp_path / "b" / "other.json")
    with pytest.raises(DataError, match="another copy is here"):
        take_local(wanted, tmp_path / "b")


def test_a_copy_whose_dataset_needs_more_is_not_looked_into(tmp_path: Path) -> None:
    source = tmp_path / NAME
    source.write_text("[]")
    wanted = release(tmp_path, "https://example.org", needs="corpus")
    assert take_local(wanted, source).notes[0].startswith("it was not looked into: locomo needs a corpus")


def test_the_shared_copy_of_locomo_is_the_release(tmp_path: Path, shared_data: Callable[[str], Path]) -> None:
    wanted = find_release(read_catalogue(), "locomo", tmp_path)
    got = take_local(wanted, shared_data("locomo"))
    assert [(file.name, file.pinned) for file in got.files] == [("locomo10.json", "release")]
    text = (wanted.folder / "LICENSE").read_bytes()
    assert wanted.entry.licence.text is not None
    assert sha(text) == wanted.entry.licence.text.sha256


def test_the_shared_derivative_of_longmemeval_is_taken_as_a_folder(
    tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    wanted = find_release(read_catalogue(), "longmemeval", tmp_path)
    got = take_local(wanted, shared_data("longmemeval_s_trunc500"))
    assert {file.pinned for file in got.files} == {"local copy"}
    assert got.data == {"use": "longmemeval", "path": str(wanted.folder)}


# ------------------------------------------------------------------------------------------ checks


def test_checks_find_what_changed_and_what_is_gone(tmp_path: Path, server: ReleaseServer) -> None:
    wanted = release(tmp_path, server.url)
    get_release(wanted, QUICK)
    assert [each.state for each in check_release(wanted)] == ["ok"]
    (wanted.folder / NAME).write_bytes(BODY + b" ")
    assert [each.state for each in check_release(wanted)] == ["changed"]
    (wanted.folder / NAME).unlink()
    assert [each.state for each in check_release(wanted)] == ["missing"]


def test_a_file_put_there_by_hand_is_held_to_the_catalogue(tmp_path: Path) -> None:
    wanted = release(tmp_path, "https://example.org")
    wanted.folder.mkdir()
    (wanted.folder / NAME).write_bytes(BODY)
    assert is_here(wanted)
    assert [each.said for each in check_release(wanted)] == ["as released"]
    unpublished = release(tmp_path, "https://example.org", Download(NAME, "https://example.org"))
    assert [each.state for each in check_release(unpublished)] == ["unknown"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ('{"schema": "assay/data-lock/1"}', "the lock is damaged"),
        ('{"schema": "assay/data-lock/9", "name": "small", "files": {}}', "assay/data-lock/9"),
        ('{"schema": "assay/data-lock/1", "name": "large", "files": {}}', "the lock of 'large'"),
    ],
)
def test_a_wrong_lock_is_told(tmp_path: Path, text: str, told: str) -> None:
    wanted = release(tmp_path, "https://example.org")
    wanted.folder.mkdir()
    (wanted.folder / LOCK).write_text(text)
    with pytest.raises(DataError, match=told):
        read_data_lock(wanted)


def test_a_torn_gzip_file_is_told(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.gz").write_bytes(gzip.compress(BODY)[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        content_sum(tmp_path / f"{NAME}.gz", NAME)
