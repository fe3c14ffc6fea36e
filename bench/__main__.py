"""Every benchmark in one run: `make bench`. Ratios against named peers on the same work, same machine."""

from __future__ import annotations

import importlib
import os
import platform
import sys

PARTS = ("measures", "resampling", "runner", "retrieval", "judging", "http", "memory", "desk")


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def main() -> int:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    header = ("what", "ours s", "peer", "peer s", "ratio", "target", "met")
    table = [header]
    aimed = missed = 0
    for part in PARTS:
        for row in importlib.import_module(f"bench.{part}").rows():
            ratio = row.get("ratio")
            aimed += row["met"] is not None
            missed += row["met"] is False
            table.append(
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
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("\n* timed on a part of the work (4 of its columns, or 3 pairs of ranx's own runs) and scaled up")
    print(f"{aimed - missed} of {aimed} targets met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
