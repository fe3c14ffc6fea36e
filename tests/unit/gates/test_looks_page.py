"""The pages on looks and on sample size show what the program reckons with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy import special

from assay.gates.gate import GateFile
from assay.gates.looks import Look, NextLook
from assay.stats.planning import chance_to_decide

DOCS = Path(__file__).parents[3] / "docs"
LOOKS = (DOCS / "looks.md").read_text()
SIZES = (DOCS / "sample-size.md").read_text()
TABLES = re.findall(r"<!-- looks:(?: planned=(\d+))? ([\d ]+) -->\n((?:\|.*\n)+)", LOOKS)


def reach(level: float) -> float:
    return float(special.ndtri((1 + level) / 2))


def looks_table(sizes: list[int], planned: int | None = None) -> str:
    """Looks at so many items, one after the other, as the page shows them."""
    lines = ["| look | items | level | width against plain |", "|---|---|---|---|"]
    taken: list[Look] = []
    for size in sizes:
        now = NextLook.at("", map(str, range(size)), taken, planned)
        level = now.level(0.95)
        lines.append(
            f"| {now.number} | {size} | {level:.2%} | {reach(level) / reach(0.95):.2f} |".replace("%", " %")
        )
        taken.append(now.recorded({}))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("planned", "sizes", "table"), TABLES)
def test_the_tables_of_looks_are_what_they_cost(planned: str, sizes: str, table: str) -> None:
    assert table == looks_table([int(size) for size in sizes.split()], int(planned) if planned else None)


def test_the_page_shows_every_kind_of_look() -> None:
    assert [bool(planned) for planned, _, _ in TABLES] == [False, False, True]
    assert GateFile(planned=300, go="a > 0").planned == 300


def test_the_sizes_by_hand_are_those_that_are_advised() -> None:
    look = NextLook.of_size(100)
    assert [look.size_after(steps) for steps in range(1, 7)] == [130, 169, 220, 286, 372, 483]
    for steps, shown in ((4, "53 %"), (6, "83 %")):
        asked = reach(look.level_after(steps, 0.95))
        more = look.size_after(steps) - 100
        chance = chance_to_decide(0.015, 0.015, 0.0, 0.010, 100, more, asked)
        assert f"{asked:.2f} standard errors" in SIZES
        assert shown == f"{chance:.0%}".replace("%", " %")
        assert shown in SIZES
