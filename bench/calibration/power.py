"""What a kept budget costs: the power of a plain gate today beside that of an earlier version of the program.

Both versions decide the same studies: `M(new) >= M(old)`, one look, 100 items, a planted gain that a t-test
would find in about 80 % of the studies. The earlier version is taken from the history of this repository and
runs in processes of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from bench.calibration import program
from bench.calibration.cells import CATASTROPHES
from bench.calibration.families import FAMILIES, ScoreFamily, measure_of, most_gain
from bench.calibration.shapes import BY_NAME, GO, Side
from bench.calibration.simulate import draw_study, generator_of

EARLIER = "3eeb404"
# where modules that this folder imports were then
MOVED = {
    "core/errors": "errors",
    "core/protocols": "protocols",
    "core/records": "records",
    "core/registry": "plugins",
}
ITEMS = 100
MOST_LOST = 0.05
ROOT = Path(__file__).parents[2]


def gain_for(family: ScoreFamily) -> float:
    """A gain of 2.8 standard errors (1.96 + 0.84: found in 80 % of studies), if the family has room."""
    drawn = family.draw(generator_of("power", family.name), 20_000, [0.0])
    differences = drawn.candidates[0] - drawn.baseline
    if drawn.clusters is not None:
        size = len(differences) / len(np.unique(drawn.clusters))
        differences = np.bincount(drawn.clusters, differences) / np.sqrt(size)
    return float(min(2.8 * differences.std() / np.sqrt(ITEMS), most_gain(family)))


def decisions(family: ScoreFamily, studies: range) -> list[bool]:
    """Whether each study ends in go, with the version of the program that this process imports."""
    side = BY_NAME["one clause"].sides(family)["power"]
    planted = Side(side.rules, ((gain_for(family),),), GO)
    gate = program.gate_of(planted.rules)
    found = []
    for study in studies:
        scores = draw_study(generator_of("power", family.name, study), family, ITEMS, planted.gains)
        found.append(program.verdict_on(gate, program.rows_of(scores, measure_of(family))).verdict == GO)
    return found


def compare_power(studies: int, processes: int) -> dict[str, Any]:
    """By family: power today, power then; or why the earlier version cannot be asked."""
    with tempfile.TemporaryDirectory() as folder:
        if reason := _check_out(Path(folder)):
            return {"skipped": reason, "families": {}}
        families = [family for family in FAMILIES if family.name != CATASTROPHES]
        with ThreadPoolExecutor(processes) as pool:
            sources = (ROOT / "src", Path(folder) / "src")
            asked = [(family.name, source, studies) for family in families for source in sources]
            found = list(pool.map(lambda one: _in_own_process(*one), asked))
    table = {}
    for family, now, then in zip(families, found[::2], found[1::2], strict=True):
        table[family.name] = {"gain": gain_for(family), "now": np.mean(now), "then": np.mean(then)}
        print(f"power {family.name}: {np.mean(now):.1%}, {EARLIER}: {np.mean(then):.1%}", file=sys.stderr)
    return {"skipped": "", "studies": studies, "families": table}


def _check_out(folder: Path) -> str:
    """The earlier version's source in a folder; if there is no such history, the reason."""
    command = ["git", "archive", EARLIER, "src"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    except FileNotFoundError:
        return "git is not installed"
    if done.returncode:
        return f"commit {EARLIER} is not in the history of this checkout"
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    for name, earlier in MOVED.items():
        place = folder / "src" / "assay" / f"{name}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"from assay.{earlier} import *\n")
    return ""


def _in_own_process(family: str, source: Path, studies: int) -> list[bool]:
    path = os.pathsep.join([str(source), str(ROOT)])
    command = [sys.executable, "-m", "bench.calibration.power", family, str(studies), str(source)]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: list[bool] = json.loads(done.stdout)
    return found


def main() -> None:
    import assay

    name, studies, source = sys.argv[1:]
    if not Path(assay.__file__).is_relative_to(source):
        raise SystemExit(f"assay was imported from {assay.__file__}, not from {source}")
    (family,) = (each for each in FAMILIES if each.name == name)
    print(json.dumps(decisions(family, range(int(studies)))))


if __name__ == "__main__":
    main()
