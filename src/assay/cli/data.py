"""assay data: list, get and verify official releases of public data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.terminal import AsJson, ProgressDisplay, plain_console, print_json, say, table
from assay.core.errors import DataError

if TYPE_CHECKING:
    from assay.datasets.public.catalogue import Release
    from assay.datasets.public.install import InstalledRelease

WHERE = "Where data is kept; default: ASSAY_DATA, or ./data."

Below = Annotated[Path | None, typer.Option("--in", metavar="DIR", help=WHERE)]
Listing = Annotated[
    Path | None, typer.Option("--catalogue", metavar="FILE", help="Another catalogue, such as of mirrors.")
]


def list_(below: Below = None, catalogue: Listing = None, as_json: AsJson = False) -> None:
    """List the available releases: what they are, their licence, their size, and their folder."""
    from assay.datasets.public.catalogue import is_here

    releases = _releases(catalogue, below)
    if as_json:
        rows = [_described(release, is_here(release)) for release in releases]
        print_json({"schema": "assay/data-list/1", "releases": rows})
        return
    lines = [
        (
            release.name,
            release.entry.about,
            release.entry.licence.name,
            _megabytes(release.size),
            str(release.folder) if is_here(release) else "not there",
        )
        for release in releases
    ]
    plain_console().print(table(("name", "what", "licence", "download", "where"), lines, figures={3}))


def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A release; assay data list names them.")],
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help=WHERE)] = None,
    given: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR|FILE", help="Use this copy; nothing is downloaded."),
    ] = None,
    catalogue: Listing = None,
    as_json: AsJson = False,
) -> None:
    """Get a release with its licence: download it and verify its checksum, or copy it with --from."""
    from assay.datasets.public.catalogue import find_release, read_catalogue
    from assay.datasets.public.install import get_release, take_local
    from assay.datasets.public.transfer import Transfer

    release = find_release(read_catalogue(catalogue), name, _kept_in(to))
    if given is not None:
        found = take_local(release, given)
    else:
        with ProgressDisplay() as progress:
            found = get_release(release, Transfer(progress.stage))
    for note in found.notes:
        say(f"note: {note}")
    if as_json:
        print_json({"schema": "assay/data-get/1", **_described(release, True), **_as_json(found)})
        return
    for file in found.files:
        say(f"{file.how}: {release.folder / file.name}, {file.bytes:,} bytes, sha256 {file.sha256}")
    licence = release.entry.licence
    say(
        f"licence: {licence.name}, stated at {licence.stated}" + (f". {licence.note}" if licence.note else "")
    )
    say("next: name it in a study as")
    typer.echo(f"data: {_flow(found)}")


def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A release; default: all that are there.")
    ] = None,
    below: Below = None,
    catalogue: Listing = None,
    as_json: AsJson = False,
) -> None:
    """Verify the checksum of every file of a release, or of all releases."""
    from assay.core.errors import Problem
    from assay.datasets.public.catalogue import check_release, is_here

    releases = [release for release in _releases(catalogue, below, name) if is_here(release)]
    if name is not None and not releases:
        fix = f"Run: assay data get {name}"
        raise DataError(Problem(f"{name!r} is not there", str(_kept_in(below)), fix=fix))
    found = [(release, each) for release in releases for each in check_release(release)]
    wrong = [each for _, each in found if each.state in ("changed", "missing")]
    if as_json:
        files = [{"release": release.name, **_plain(each)} for release, each in found]
        print_json({"schema": "assay/data-verify/1", "files": files, "problems": len(wrong)})
    elif found:
        rows = [(release.name, each.name, each.state, each.said) for release, each in found]
        plain_console().print(table(("release", "file", "state", ""), rows, figures=set()))
    else:
        typer.echo(f"No release is in {_kept_in(below)}. Get one with: assay data get NAME")
    if wrong:
        raise typer.Exit(DataError.exit_code)


# ------------------------------------------------------------------------------------- showing


def _kept_in(below: Path | None) -> Path:
    from assay.datasets.public.catalogue import data_folder

    return below or data_folder(os.environ)


def _releases(catalogue: Path | None, below: Path | None, name: str | None = None) -> list[Release]:
    from assay.datasets.public.catalogue import find_release, read_catalogue

    entries = read_catalogue(catalogue)
    names = list(entries) if name is None else [name]
    return [find_release(entries, each, _kept_in(below)) for each in names]


def _described(release: Release, here: bool) -> dict[str, Any]:
    licence = release.entry.licence
    return {
        "name": release.name,
        "about": release.entry.about,
        "home": release.entry.home,
        "licence": {"name": licence.name, "stated": licence.stated, "note": licence.note},
        "bytes": release.size,
        "folder": str(release.folder),
        "here": here,
    }


def _as_json(found: InstalledRelease) -> dict[str, Any]:
    return {"files": found.files, "data": found.data, "notes": found.notes}


def _flow(found: InstalledRelease) -> str:
    """Returns the value of `data` in a study, on one line. Paths are quoted: they may have any character."""
    import json

    quoted = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in found.data.items())
    missing = found.release.entry.needs
    return "{" + quoted + (f", {missing}: …" if missing else "") + "}"


def _megabytes(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1_000_000:.1f} MB"


def _plain(found: Any) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain
