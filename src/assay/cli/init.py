"""assay init: a study to start from, with data of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.showing import print_json, say
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.registry import kind_packages, template_of

# what a template needs that the program does not install
_FIRST = re.compile(rb"^# First: (.+)$", re.MULTILINE)


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
    parts = dict(files_of(template_of(kind)))
    write_files(target, parts)
    if as_json:
        print_json({"schema": "assay/init/1", "study": str(target), "files": sorted(parts)})
    top = sorted({name.partition("/")[0] + "/" * ("/" in name) for name in parts})
    first = _FIRST.search(parts["study.yaml"])
    needed = f"first: {first[1].decode()}; " if first else ""
    say(f"wrote {', '.join(top)} to {target}; {needed}next: assay run {target}")


def write_files(target: Path, parts: Mapping[str, bytes]) -> None:
    """Writes files of a template by their paths in it: all of them, or none where one is in the way."""
    if taken := [name for name in parts if (target / name).exists()]:
        fix = "Name another folder, or remove what is there."
        raise DataError([Problem("is there already", str(target / name), fix=fix) for name in sorted(taken)])
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, content in parts.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
    except OSError:
        for name in parts:  # half a template would be in the way of the next attempt
            with suppress(OSError):
                (target / name).unlink()
        raise


_MADE = ("__pycache__", "run", "sweep", "baselines", "desk", "results")  # what running a study leaves behind
_SEALED = ("blind", "blind.key", "blind.acts")  # what blinding leaves beside a study; a scored copy keeps it


def files_of(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """Every file of a template with its path in it."""
    for each in folder.iterdir():
        if each.name in _MADE or (not above and each.name in _SEALED):
            continue
        if each.is_file():
            yield f"{above}{each.name}", each.read_bytes()
        elif not each.name.endswith((".run", ".sweep")):
            yield from files_of(each, f"{above}{each.name}/")
