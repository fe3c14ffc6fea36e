"""A third-party distribution with one plugin of each sort, installed as a wheel and used by the program."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from small_study import Done, assay, real_assay

EXAMPLE = Path(__file__).parents[1] / "example_plugin"
GROUPS = ["systems", "datasets", "judges", "measures", "statistics", "renderers", "embedders"]
NAMES = ["overlap", "alphabet", "same_letter", "FirstHit", "spread", "lines", "letters"]
STUDY = """\
data: alphabet(letters=8)
systems:
  theirs: overlap(k=5)
  ours: bm25
  mixed: dense(model=letters(weight=3))
baseline: ours
judges: [same_letter]
measures: [FirstHit, nDCG@5]
compare: {resamples: 200}
gates:
  ship:
    go: ["spread(FirstHit(theirs)) <= 0.1", "FirstHit(theirs) >= 0.9"]
"""


def build_wheel(source: Path, folder: Path) -> Path:
    """A wheel of a pure package, as any build tool makes it, without asking for one."""
    project = tomllib.loads((source / "pyproject.toml").read_text())
    about = project["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    files = {str(path.relative_to(source)): path.read_bytes() for path in source.glob("assay_example/*.py")}
    groups = about["entry-points"].items()
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in groups
    )
    metadata = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    files[f"{stem}.dist-info/METADATA"] = metadata.encode()
    files[f"{stem}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{stem}.dist-info/entry_points.txt"] = points.encode()
    record = "".join(f"{name},sha256={_sha256(data)},{len(data)}\n" for name, data in files.items())
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode()
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return path


def _sha256(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    wheel = build_wheel(EXAMPLE, folder)
    command = "-m pip install --quiet --no-deps --no-index --disable-pip-version-check --no-compile --target"
    subprocess.run([sys.executable, *command.split(), folder / "site", wheel], check=True)
    return folder / "site"


@pytest.fixture(scope="module")
def ran(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(STUDY)
    return folder, real_assay("run", folder, "--json", env={"PYTHONPATH": str(installed)})


@pytest.mark.slow
def test_a_study_names_all_its_plugins(ran: tuple[Path, Done]) -> None:
    _, done = ran
    assert done.code == 0, done.err
    # "where is c" shares only the letter with a passage: the right passage is first, for every letter
    # ("a" alone is a stop word of bm25, not of theirs), so FirstHit is 1 throughout and its spread 0.
    value = {
        (one["system"], one["measure"]): one["value"] for one in done.json["estimates"] if not one["where"]
    }
    assert value["theirs", "FirstHit"] == 1.0
    assert [clause["holds"] for clause in done.json["verdicts"][0]["clauses"]] == [True, True]


@pytest.mark.slow
def test_its_renderer_writes_a_report(ran: tuple[Path, Done], installed: Path) -> None:
    done = real_assay("report", ran[0], "--format", "lines", "-o", "-", env={"PYTHONPATH": str(installed)})
    assert done.code == 0, done.err
    assert "theirs\tFirstHit\t1.0\n" in done.out


@pytest.mark.slow
def test_its_section_is_in_every_report(ran: tuple[Path, Done], installed: Path) -> None:
    for report in ("html", "markdown"):
        done = real_assay("report", ran[0], "--format", report, "-o", "-", env={"PYTHONPATH": str(installed)})
        assert done.code == 0, done.err
        assert "How many hits came back?" in done.out
    (section,) = ran[1].json["sections"]
    assert section["key"] == "hits_returned"
    hits = {row[0]["text"]: int(row[1]["text"]) for row in section["blocks"][-1]["rows"]}
    assert hits["theirs"] == 8  # for each of eight letters, the one passage that has it
    assert 0 < hits["ours"] <= 8 * 8


@pytest.mark.slow
def test_its_check_warns_and_its_command_runs(ran: tuple[Path, Done], installed: Path) -> None:
    done = real_assay("validate", ran[0], env={"PYTHONPATH": str(installed)})
    assert "an alphabet of 8 letters shows little" in done.out + done.err
    assert real_assay("spell", "abc", env={"PYTHONPATH": str(installed)}).out == "a\nb\nc\n"


def test_without_it_the_study_names_what_is_missing(ran: tuple[Path, Done]) -> None:
    done = assay("validate", ran[0])
    assert done.code == 3
    for missing in ("dataset 'alphabet'", "system 'overlap'", "judge 'same_letter'", "measure 'FirstHit'"):
        assert f"There is no {missing}" in done.err


@pytest.mark.slow
def test_it_passes_the_contract_every_plugin_passes(installed: Path) -> None:
    suites = [EXAMPLE.parent / "contract" / f"test_every_{what}.py" for what in ("plugin", "part")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", " or ".join(NAMES), *suites],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert all(f"assay.{group}:{name}]" in done.stdout for group, name in zip(GROUPS, NAMES, strict=True))
