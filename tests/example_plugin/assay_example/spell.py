"""A command: `assay spell`."""

from __future__ import annotations

from typing import Annotated

import typer


def command(word: Annotated[str, typer.Argument(help="What to spell.")]) -> None:
    """Spell a word, one letter per line."""
    typer.echo("\n".join(word))
