"""assay init, assay demo and assay plugins: write a first study, and list what a study can name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, plain_console, print_json, say, table
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.registry import kind_packages, template_of

if TYPE_CHECKING:
    from assay.pipeline.plugins import PluginEntry

STUDY = "study.yaml"
AFTER_AT = ("measures", "cutoff")  # nDCG@10
_FIRST = re.compile(rb"^# First: (.+)$", re.MULTILINE)  # what a template needs that is not installed yet
_MADE = ("__pycache__", "run", "sweep", "baselines", "desk", "results")  # what running a study leaves behind
_SEALED = ("blind", "blind.key", "blind.acts")  # what blinding leaves beside a study; a scored copy keeps it


def init(
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
    parts = dict(_files_in(template_of(kind)))
    _write_files(target, parts)
    if as_json:
        print_json({"schema": "assay/init/1", "study": str(target), "files": sorted(parts)})
    top = sorted({name.partition("/")[0] + "/" * ("/" in name) for name in parts})
    first = _FIRST.search(parts[STUDY])
    needed = f"first: {first[1].decode()}; " if first else ""
    say(f"wrote {', '.join(top)} to {target}; {needed}next: assay run {target}")


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to put the study.")] = Path(
        "assay-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Run the built-in study: three searches over a small organisation's knowledge base."""
    from importlib.resources import files

    from assay.cli.run import run_and_show

    target = folder / STUDY
    parts = dict(_files_in(files("assay") / "studies" / "demo"))
    if not target.exists():
        same = {name for name in parts if (at := folder / name).is_file() and at.read_bytes() == parts[name]}
        data = [name for name in parts if name != STUDY and name not in same]
        _write_files(folder, {name: parts[name] for name in (*data, STUDY)})  # the study last
        say(f"wrote {target} and its data; change it and run: assay run {folder}")
    elif target.read_bytes() != parts[STUDY]:
        say(f"running {target} as it is: it is not the demo's own")
    run_and_show(folder, as_json=as_json)


def _write_files(target: Path, parts: Mapping[str, bytes]) -> None:
    """Writes files by their paths in a folder: all of them, or none if one exists already."""
    if taken := [name for name in parts if (target / name).exists()]:
        fix = "Name another folder, or remove what is there."
        raise DataError([Problem("is there already", str(target / name), fix=fix) for name in sorted(taken)])
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, content in parts.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content)
    except OSError:
        for name in parts:  # an incomplete template would block the next attempt
            with suppress(OSError):
                (target / name).unlink()
        raise


def _files_in(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """Yields every file of a template with its path in the template."""
    for each in folder.iterdir():
        if each.name in _MADE or (not above and each.name in _SEALED):
            continue
        if each.is_file():
            yield f"{above}{each.name}", each.read_bytes()
        elif not each.name.endswith((".run", ".sweep")):
            yield from _files_in(each, f"{above}{each.name}/")


def plugins(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="A group (measures) or a plugin (nDCG); default: all, by name."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what a study can name: systems, data sets, judges, measures and parts, with their parameters."""
    from assay.core.registry import Registry

    registry = Registry()
    if name is None and not as_json:  # only names, for which nothing has to be loaded
        _show_groups({group.partition(".")[2]: registry.names(group) for group in registry.groups})
        return
    from assay.pipeline.plugins import list_plugins

    found = list_plugins(registry, name)
    if as_json:
        print_json({"schema": "assay/plugins/1", "plugins": found})
    elif any(each.group == name for each in found):
        rows = [(each.name, each.problem or each.about) for each in found]
        plain_console().print(table(("name", "what"), rows, figures=set()))
    else:
        for each in found:
            _show_plugin(each)


def _show_groups(names: dict[str, list[str]]) -> None:
    """Prints groups and names in the form of `table`, but without `table`, which would load the measures."""
    console, first = plain_console(), max(map(len, names)) + 2
    for group, each in {"group": ["names"], **names}.items():
        lines = wrap(", ".join(each), console.width - first, break_long_words=False, break_on_hyphens=False)
        for head, line in zip([group, *[""] * len(lines)], lines, strict=False):
            console.print(f"{head:{first}}{line}", markup=False, soft_wrap=True)
    say("assay plugins measures says what each measure is; assay plugins nDCG, which parameters it takes")


def _show_plugin(found: PluginEntry) -> None:
    from rich.text import Text

    console = plain_console()
    console.print(Text(f"{found.group}.{found.name}", "bold"), f"({found.provider})")
    console.print(Text(f"{found.problem or found.description}\n"))
    rows = [
        (
            f"@ ({each.name})" if (found.group, each.name) == AFTER_AT else each.name,
            each.takes,
            "has to be given" if each.default is None else each.default,
        )
        for each in found.parameters
    ]
    console.print(
        table(("parameter", "takes", "default"), rows, figures=set()) if rows else "It takes no parameter."
    )
    console.print()
