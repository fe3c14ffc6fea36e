"""The page on clauses shows the truth: what it accepts reads, and what it refuses has the remedy shown."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from test_clauses_people_write import problems

from assay.core.errors import UsageError
from assay.gates import grammar
from assay.gates.grammar import parse_clause
from assay.stats.intervals import FEW, LEAST_EFFECTIVE, clopper_pearson

PAGE = (Path(__file__).parents[3] / "docs" / "clauses.md").read_text()
CODE = re.compile(r"`([^`]+)`")


def rows(header: str) -> list[tuple[str, str]]:
    """The two cells of every row of the tables with a header."""
    found, inside = [], False
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        inside = bool(cells) and (inside or cells[0] == header)
        if inside and len(cells) == 2 and cells[0].startswith("`"):
            found.append((cells[0].replace("\\|", "|").strip("`"), cells[1].replace("\\|", "|")))
    return found


ACCEPTED, REFUSED = rows("clause"), rows("written")


def test_the_page_has_its_tables() -> None:
    assert (len(ACCEPTED), len(REFUSED)) == (41, 14)


@pytest.mark.parametrize("text", [text for text, _ in ACCEPTED])
def test_what_the_page_shows_reads(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(("text", "instead"), REFUSED)
def test_what_the_page_refuses_is_refused_with_what_it_says(text: str, instead: str) -> None:
    (problem,) = problems(text)
    remedies = CODE.findall(instead)
    assert remedies
    for remedy in remedies:
        assert f"`{remedy}`" in problem
        assert problems(remedy) == []


def test_what_is_read_as_another_spelling() -> None:
    said = {text: reads for text, reads in ACCEPTED if "`for " in reads}
    assert len(said) == 3
    for text, reads in said.items():
        assert str(parse_clause(text)).endswith(CODE.findall(reads)[0])


def test_the_mistake_on_the_page_is_the_real_one() -> None:
    (shown,) = re.findall(r"```\n(column .+?)\n```", PAGE, re.DOTALL)
    with pytest.raises(UsageError) as caught:
        parse_clause("nDCG@10(new) => 0.3")
    assert str(caught.value) == shown


def test_the_grammar_on_the_page_is_that_of_the_parser() -> None:
    shown = [line.strip() for line in PAGE.splitlines() if line.startswith("    ")]
    rules = {
        line.split("=")[0].strip(): line for line in (grammar.__doc__ or "").splitlines() if " = " in line
    }
    for name in ("clause", "tail", "sum", "atom", "slice", "cond"):
        (line,) = [line for line in shown if line.startswith(f"{name} ")]
        assert line == rules[name].strip()


def test_the_numbers_of_items_on_the_page() -> None:
    # by itself: the least n with share^n <= 0.025; in an expression: eight rows beyond it
    alone = [math.ceil(math.log(0.025) / math.log(share)) for share in (0.95, 0.99, 0.90)]
    assert alone == [72, 368, 36]
    assert [round(FEW / (1 - share)) for share in (0.95, 0.99, 0.90)] == [160, 800, 80]
    assert LEAST_EFFECTIVE == 30
    assert 30 * clopper_pearson(0, 30).high == pytest.approx(3.47, abs=0.01)
