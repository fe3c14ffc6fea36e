"""Every benchmark in one run: `make bench`. Ratios against named peers on the same work, same machine.

python -m bench            the table in the README
python -m bench --small    every file of this folder, only to see that it runs: figures mean nothing
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile

PARTS = ("measures", "resampling", "gating", "runner", "retrieval", "judging", "search_api", "memory", "desk")
APART = {
    "curve": "draw",
    "hierarchy": "main",
    "workplace": "main",
}  # runs of their own, with no row in the table


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def main() -> int:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    if sys.argv[1:] == ["--small"]:
        return small()
    if sys.argv[1:]:
        print(f"{' '.join(sys.argv[1:])}: there is only --small", file=sys.stderr)
        return 2
    aimed, missed = table()
    print("\n* timed on a part of the work (4 of its columns, or 3 pairs of ranx's own runs) and scaled up")
    print(f"{aimed - missed} of {aimed} targets met")
    return 0


def small() -> int:
    """Everything at a size that says nothing but that it runs."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BENCH_SMALL"] = folder  # before any part is imported: bench.size reads it
        table()
        for part, work in APART.items():
            print(f"  {part}", file=sys.stderr)
            module = importlib.import_module(f"bench.{part}")
            getattr(module, work)(*([list(module.ALL)] if work == "main" else []))
    print("\nEvery benchmark ran. The figures are of a small size: none is compared with a target.")
    return 0


def table() -> tuple[int, int]:
    """Prints every row; how many have a target, and how many miss it."""
    header = ("what", "ours s", "peer", "peer s", "ratio", "target", "met")
    shown = [header]
    aimed = missed = 0
    for part in PARTS:
        for row in importlib.import_module(f"bench.{part}").rows():
            ratio = row.get("ratio")
            aimed += row["met"] is not None
            missed += row["met"] is False
            shown.append(
                (
                    row["what"],
                    seconds(row["ours_s"]),
                    row["peer"],
                    seconds(row["peer_s"]),
                    f"{ratio:.1f}×" if isinstance(ratio, float | int) else "",
                    f"{row['target']:g}×" if isinstance(row["target"], int | float) else row["target"] or "",
                    {True: "yes", False: "NO", None: ""}[row["met"]],
                )
            )
            print(f"  {part}: {row['what']} vs {row['peer'] or 'target'}", file=sys.stderr)
    if "BENCH_SMALL" in os.environ:
        shown = [row[:-3] for row in shown]  # no ratio, no target
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return aimed, missed


if __name__ == "__main__":
    sys.exit(main())
