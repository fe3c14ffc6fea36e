"""assay init: a study to start from, with data of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.showing import print_json, say
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.kinds import kind_packages, template_of

_FIRST = re.compile(
    rb"^# First: (.+)$", re.MULTILINE
)  # what a template needs that the program does not install


def command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"What to study: {', '.join(kind_packages())}.")
    ],
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Where; default: the kind.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a study of a kind: its study.yaml and data of its own to replace with yours."""
    if kind not in (kinds := kind_packages()):
        raise UsageError(f"There is no template {kind!r}. {did_you_mean(kind, kinds)}")
    target = folder or Path(kind)
    parts = dict(_files(template_of(kind)))
    if taken := [name for name in parts if (target / name).exists()]:
        fix = "Name another folder, or remove what is there."
        raise DataError([Problem("is there already", str(target / name), fix=fix) for name in sorted(taken)])
    try:
        for name, content in parts.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
    except OSError:
        for name in parts:  # half a template would be in the way of the next attempt
            with suppress(OSError):
                (target / name).unlink()
        raise
    if as_json:
        print_json({"schema": "assay/init/1", "study": str(target), "files": sorted(parts)})
    top = sorted({name.partition("/")[0] + "/" * ("/" in name) for name in parts})
    first = _FIRST.search(parts["study.yaml"])
    needed = f"first: {first[1].decode()}; " if first else ""
    say(f"wrote {', '.join(top)} to {target}; {needed}next: assay run {target}")


_MADE = ("__pycache__", "run", "sweep", "baselines", "desk", "results")  # what running a study leaves behind
_SEALED = ("blind", "blind.key", "blind.acts")  # what blinding leaves beside a study; a scored copy keeps it


def _files(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """Every file of a template with its path in it."""
    for each in folder.iterdir():
        if each.name in _MADE or (not above and each.name in _SEALED):
            continue
        if each.is_file():
            yield f"{above}{each.name}", each.read_bytes()
        elif not each.name.endswith((".run", ".sweep")):
            yield from _files(each, f"{above}{each.name}/")
