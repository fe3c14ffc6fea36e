"""Writes the corpus of incident reports: `python -m assay_worlds.incidents PATH`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import UsageError
from assay_worlds.incidents.corpus import write


def main(arguments: Sequence[str]) -> int:
    """Writes the corpus to the Parquet file that the argument names."""
    if len(arguments) != 1:
        print("Name one file to write: python -m assay_worlds.incidents PATH", file=sys.stderr)
        return UsageError.exit_code
    path = Path(arguments[0])
    try:
        count = write(path)
    except OSError as error:
        print(f"{path}: cannot be written: {error}. Name a file in a folder that exists.", file=sys.stderr)
        return UsageError.exit_code
    print(f"{path}: {count} passages", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
