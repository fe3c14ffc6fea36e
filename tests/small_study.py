"""A study small enough to be wrong in many ways, and the command line to run it with."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from assay.cli.main import main

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "sigma",
]

# One item a word; bm25 finds each word's passage first. The replayed run has it on rank 2 of 3.
STUDY = """\
kind: search
data: data
systems:
  lexical: bm25
  old: replay(path=old.run)
baseline: old
measures: [nDCG@10, RR@5]
by: [topic]
compare: {resamples: 200}
gates:
  ship:
    go: ["RR@5(lexical) >= RR@5(old) + 0.2"]
"""


def apart_from_size(warnings: list[str]) -> list[str]:
    """Warnings, without the one that a study of so few items has anyway."""
    return [each for each in warnings if "can be too narrow" not in each]


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def write_study(folder: Path, text: str | bytes = STUDY) -> Path:
    """The study and its data in a folder; the path of the folder."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    write_lines(
        folder / "data/passages.jsonl",
        [{"doc_id": f"d{n}", "text": f"{word} is about {word}"} for n, word in enumerate(WORDS)],
    )
    write_lines(
        folder / "data/items.jsonl",
        [
            {
                "item_id": f"q{n}",
                "text": word,
                "tags": {"topic": "odd" if n % 2 else "even"},
                "gold": {"relevant": {f"d{n}": 1}},
            }
            for n, word in enumerate(WORDS)
        ],
    )
    ranked = [(n, rank, (n + 2 - rank) % len(WORDS)) for n in range(len(WORDS)) for rank in (1, 2, 3)]
    (folder / "old.run").write_text(
        "".join(f"q{n} Q0 d{doc} {rank} {10 - rank} old\n" for n, rank, doc in ranked)
    )
    return folder


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def edited(old: str, new: str, text: str = STUDY) -> str:
    """The study with one thing changed; a change that finds nothing to change is a mistake of the test."""
    if old not in text:
        raise ValueError(f"{old!r} is not in the study")
    return text.replace(old, new)


def assay(*args: object) -> Done:
    """A command in this process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.StringIO()
    code: int | str | None = None
    with (
        mock.patch.object(sys, "argv", ["assay", *map(str, args)]),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert isinstance(out.buffer, io.BytesIO)
    return Done(int(code or 0), out.buffer.getvalue().decode(), err.getvalue())


def real_assay(*args: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """A command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "from assay.cli.main import main; main()", *map(str, args)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
