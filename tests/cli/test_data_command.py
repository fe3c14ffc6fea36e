"""assay data: what it prints, where it puts things, how it ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from assay.cli import data
from assay.cli.main import with_errors
from assay.core.protocols import Kit
from assay.core.registry import DATASETS, Registry
from small_study import Done
from stand_ins.release_server import ReleaseServer, Reply

BODY = json.dumps(
    [
        {
            "sample_id": "conv-1",
            "conversation": {"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "The boat is red."}]},
            "qa": [{"question": "Which boat?", "answer": "red", "evidence": ["D1:1"], "category": 4}],
        }
    ]
).encode()
SHA = hashlib.sha256(BODY).hexdigest()

CATALOGUE = """\
small:
  about: one dialogue
  dataset: locomo
  home: https://example.org
  licence: {{name: MIT, stated: "https://example.org/licence", text: {{url: "{url}/LICENSE"}}}}
  downloads:
    - {{name: small.json, url: "{url}/small.json", sha256: {sha}, bytes: {size}}}
"""


def assay_data(*args: object) -> Done:
    """The command as the main program has it."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    steps: dict[str, Callable[..., None]] = {"list": data.list_, "get": data.get, "verify": data.verify}
    for name, step in steps.items():
        app.command(name)(with_errors(step))
    done = CliRunner().invoke(app, [*map(str, args)])
    return Done(done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def server() -> Iterator[ReleaseServer]:
    with ReleaseServer(
        {"/small.json": Reply(BODY), "/LICENSE": Reply(b"Use it.\n", kind="text/plain")}
    ) as one:
        yield one


@pytest.fixture
def options(tmp_path: Path, server: ReleaseServer) -> list[str]:
    path = tmp_path / "catalogue.yaml"
    path.write_text(CATALOGUE.format(url=server.url, sha=SHA, size=len(BODY)))
    return ["--catalogue", str(path)]


def test_list_says_what_there_is_and_what_is_not_there(tmp_path: Path) -> None:
    done = assay_data("list", "--in", tmp_path)
    assert done.code == 0
    for word in ("hotpotqa", "CC-BY-NC-4.0", "277.4 MB", "not there"):
        assert word in done.out
    rows = assay_data("list", "--in", tmp_path, "--json").json["releases"]
    locomo = next(row for row in rows if row["name"] == "locomo")
    assert (locomo["bytes"], locomo["here"]) == (2_805_274, False)


def test_get_prints_what_a_study_says(tmp_path: Path, options: list[str]) -> None:
    done = assay_data("get", "small", "--to", tmp_path / "my data", *options)
    assert done.code == 0
    assert "licence: MIT, stated at https://example.org/licence" in done.err
    named = yaml.safe_load(done.out)["data"]
    (item,) = Registry().create(DATASETS, named).load(Kit()).items
    assert item.item_id == "conv-1/q1"


def test_get_as_json(tmp_path: Path, options: list[str]) -> None:
    found = assay_data("get", "small", "--to", tmp_path, *options, "--json").json
    assert found["schema"] == "assay/data-get/1"
    (file,) = found["files"]
    assert (file["sha256"], file["how"], file["pinned"]) == (SHA, "downloaded", "release")
    assert found["data"] == {"use": "locomo", "path": str(tmp_path / "small" / "small.json")}


def test_data_is_kept_where_the_variable_says(
    tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA", str(tmp_path / "kept"))
    assert assay_data("get", "small", *options).code == 0
    assert (tmp_path / "kept/small/small.json").read_bytes() == BODY
    monkeypatch.delenv("ASSAY_DATA")
    monkeypatch.chdir(tmp_path)
    assert assay_data("get", "small", *options).code == 0
    assert (tmp_path / "data/small/small.json").read_bytes() == BODY


def test_verify_ends_with_3_where_a_file_changed(tmp_path: Path, options: list[str]) -> None:
    assert "No release is in" in assay_data("verify", "--in", tmp_path, *options).out
    assay_data("get", "small", "--to", tmp_path, *options)
    assert assay_data("verify", "small", "--in", tmp_path, *options).code == 0
    (tmp_path / "small/small.json").write_bytes(b"[]")
    done = assay_data("verify", "--in", tmp_path, *options)
    assert (done.code, "changed" in done.out) == (3, True)
    found = assay_data("verify", "--in", tmp_path, *options, "--json")
    assert (found.code, found.json["problems"], found.json["files"][0]["expected"]) == (3, 1, SHA)


def test_verify_of_what_is_not_there_says_how_to_get_it(tmp_path: Path, options: list[str]) -> None:
    done = assay_data("verify", "small", "--in", tmp_path, *options)
    assert (done.code, done.out) == (3, "")
    assert "Run: assay data get small" in done.err


def test_a_wrong_checksum_ends_with_3(tmp_path: Path, server: ReleaseServer, options: list[str]) -> None:
    server.replies["/small.json"] = Reply(BODY.replace(b"red", b"rot"))
    done = assay_data("get", "small", "--to", tmp_path, *options)
    assert (done.code, done.out) == (3, "")
    assert "it was removed" in done.err
    assert not (tmp_path / "small").exists()


def test_an_unknown_name_ends_with_2(tmp_path: Path, options: list[str]) -> None:
    done = assay_data("get", "smal", "--to", tmp_path, *options)
    assert (done.code, "'small'" in done.err) == (2, True)


def test_a_local_copy_is_taken_without_a_download(
    tmp_path: Path, server: ReleaseServer, options: list[str]
) -> None:
    (tmp_path / "mine.json").write_bytes(BODY + b"\n")
    done = assay_data("get", "small", "--to", tmp_path, "--from", tmp_path / "mine.json", *options)
    assert done.code == 0
    assert "note: mine.json: a copy that is not the official release" in done.err
    assert yaml.safe_load(done.out)["data"]["path"] == str(tmp_path / "small/mine.json")
    assert not server.asked
    (tmp_path / "bad.json").write_text("[1]")
    refused = assay_data("get", "small", "--to", tmp_path / "b", "--from", tmp_path / "bad.json", *options)
    assert (refused.code, "does not look like 'small'" in refused.err) == (3, True)


def test_a_folder_that_cannot_be_made_ends_with_3(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "file").write_text("")
    done = assay_data("get", "small", "--to", tmp_path / "file", *options)
    assert done.code == 3
    assert "cannot be written" in done.err
