"""Whether verdicts keep their error budget, on simulated studies of known truth: `make calibration`.

python -m bench.calibration                  every cell, the coverage of intervals, the power beside an
                                             earlier version; then docs/calibration.md
python -m bench.calibration --quick          a few cells with few studies: exit code 1 if one is far off
python -m bench.calibration --only "max of"  the cells whose name contains this; the others stay as they were
python -m bench.calibration --resume         what an interrupted run has left
python -m bench.calibration --page           the page again, from the last results

Results are in bench/results/calibration/.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

STUDIES, QUICK_STUDIES, INTERVAL_STUDIES, POWER_STUDIES = 200, 100, 1_000, 400
CLOSER_STUDIES = 1_000  # of cells that the first studies leave in doubt


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.calibration")
    parser.add_argument("--quick", action="store_true", help="a few cells with few studies")
    parser.add_argument("--only", action="append", help="only cells whose name contains this; repeatable")
    parser.add_argument("--resume", action="store_true", help="leave out cells that have results")
    parser.add_argument("--studies", type=int, help=f"studies per cell and side (default {STUDIES})")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="write the page from the last results")
    parser.add_argument("--part", choices=["cells", "intervals", "power"], help="only this part")
    return parser.parse_args()


def main() -> int:
    # one thread per process: the processes take all cores between them
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1")
    from bench.calibration import page

    given = arguments()
    if given.quick:
        return quick(given)
    for part, work in {"cells": add_cells, "intervals": add_intervals, "power": add_power}.items():
        if not given.page and given.part in {None, part} and (part == "cells" or not given.only):
            work(given)
    page.write()
    failing = page.failing()
    print(f"{len(failing)} beyond their limit", *failing, sep="\n  ", file=sys.stderr)
    return 1 if failing else 0


def add_cells(given: argparse.Namespace) -> None:
    from bench.calibration import page
    from bench.calibration.cells import every_cell
    from bench.calibration.simulate import CellResult, run_cells

    every, had, started = every_cell(), page.load("cells") or {}, time.monotonic()
    wanted = sorted(
        (cell for cell in every if any(each in cell.name for each in given.only or [""])),
        key=lambda cell: cell.n,
    )
    if given.resume:
        wanted = [cell for cell in wanted if not had.get(cell.name, {}).get("rates")]
    found = {cell.name: had[cell.name] for cell in every if cell.name in had}
    for studies in (given.studies or STUDIES, CLOSER_STUDIES):
        for done, result in enumerate(run_cells(wanted, studies, given.processes), 1):
            found[result.name] = result.as_json()
            page.save("cells", found)
            line = f"{result.state:8} {result.name} {rates_in_short(result)}"
            report(f"{done}/{len(wanted)}", started, line)
        known = {name: CellResult.from_json(each) for name, each in found.items()}
        wanted = [cell for cell in every if cell.name in known and known[cell.name].doubtful(CLOSER_STUDIES)]


def add_intervals(given: argparse.Namespace) -> None:
    from bench.calibration import page
    from bench.calibration.intervals import run_intervals

    found, started = [], time.monotonic()
    for done, result in enumerate(run_intervals(given.studies or INTERVAL_STUDIES, given.processes), 1):
        found.append(result.as_json())
        page.save("intervals", found)
        covered = f"{result.estimate.share:.1%} {result.comparison.share:.1%}"
        report(str(done), started, f"{result.family} {result.n}: {covered} {' '.join(result.off)}")


def add_power(given: argparse.Namespace) -> None:
    from bench.calibration import page
    from bench.calibration.power import compare_power

    page.save("power", compare_power(given.studies or POWER_STUDIES, given.processes))


def quick(given: argparse.Namespace) -> int:
    """A few cells; nothing is stored."""
    from bench.calibration.cells import quick_cells
    from bench.calibration.simulate import run_cells

    started, failing = time.monotonic(), 0
    for result in run_cells(quick_cells(), given.studies or QUICK_STUDIES, given.processes):
        failing += result.state == "FAILS"
        report("quick", started, f"{result.state:8} {result.name} {rates_in_short(result)}")
    return 1 if failing else 0


def rates_in_short(result: Any) -> str:
    return " ".join(
        f"{side} {rate.share:.1%} ({rate.low:.1%}–{rate.high:.1%})" for side, rate in result.rates.items()
    )


def report(done: str, started: float, what: str) -> None:
    print(f"{time.monotonic() - started:6.0f} s  {done:>8}  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
