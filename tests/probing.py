"""Small studies of the probe, in this process and in others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from assay.core.protocols import Kit
from assay.core.registry import SYSTEMS, Registry
from assay.pipeline.evaluation import Evaluation
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from probe import Probe, asked

HERE = Path(__file__).parent


def forget_asked(folder: Path) -> None:
    (folder / "asked.log").unlink(missing_ok=True)


def times_asked(folder: Path) -> Counter[str]:
    return Counter(line["item"] for line in asked(folder))


def items(number: int, **more: Any) -> list[dict[str, Any]]:
    """Plain items q0, q1, …"""
    return [
        {
            "item_id": f"q{index}",
            "text": f"question {index}",
            "gold": {"relevant": {f"d{index % 8}": 1}},
            **more,
        }
        for index in range(number)
    ]


def sequence(name: str, number: int) -> list[dict[str, Any]]:
    """Items name0, name1, … of one sequence."""
    return [
        {**item, "item_id": f"{name}{index}", "text": f"{name} turn {index}", "sequence": name}
        for index, item in enumerate(items(number))
    ]


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_study(folder: Path, given: Sequence[Mapping[str, Any]], **fields: Any) -> Path:
    """A study of the probe over eight passages; `fields` replace those of the study file."""
    write_lines(folder / "data/items.jsonl", given)
    write_lines(
        folder / "data/passages.jsonl",
        [{"doc_id": f"d{index}", "text": f"passage {index}"} for index in range(8)],
    )
    study = {
        "name": "probing",
        "data": "data",
        "systems": {"probe": "probe"},
        "measures": ["nDCG@3", "Success@3"],
        "compare": {"resamples": 200},
        **fields,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    return folder


def behave(folder: Path, **rules: str) -> None:
    (folder / "behaviour.json").write_text(json.dumps(rules))


def opened(folder: Path, probe: type = Probe, env: Mapping[str, str] | None = None) -> Study:
    """The study with the probe known to it, in an environment of its own where one is given."""
    kit = Kit() if env is None else Kit(env=env)
    return open_study(folder, registry=Registry({SYSTEMS: {"probe": probe}}), kit=kit)


def write_plugin(folder: Path) -> dict[str, str]:
    """Installs the probe for processes of their own; returns the environment they need."""
    metadata = folder / "probe-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{SYSTEMS}]\nprobe = probe:Probe\n")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{HERE}"}


def assay_run(folder: Path, *options: str) -> list[str]:
    """`assay run` on a study, as a command line."""
    return [sys.executable, "-c", "from assay.cli.main import main; main()", "run", str(folder), *options]


def run_only(folder: Path, engine: str = "local") -> list[str]:
    """The run stage alone as a command line: a process that starts quickly."""
    return [sys.executable, "-c", RUN_ONLY, str(folder), engine]


RUN_ONLY = """
import sys
from assay.pipeline.runner import run_study
from assay.study.study import open_study
print(run_study(open_study(sys.argv[1]), engine=sys.argv[2]).answered)
"""


def finished(command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What a command said in the end."""
    return subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=60, check=False)


def hits_of(folder: Path) -> pl.DataFrame:
    """Every stored answer, in an order of its own."""
    return Store(folder / "run").answers().sort("key").select("key", "item", "failed", "docs", "scores")


def scores_of(folder: Path) -> pl.DataFrame:
    """The scores that follow from what is stored."""
    return Evaluation(opened(folder)).scores
