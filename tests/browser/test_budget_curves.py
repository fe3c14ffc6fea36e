"""Budget curves in a real browser: as wide as there is room, legible, and read out as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from boxes import boxes

from assay.report.html import HtmlReport
from budget_results import budget_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("curves") / "report.html"
    path.write_bytes(HtmlReport().render(budget_results(n=60, stages=("10k", "50k"))))
    return path


@pytest.mark.parametrize("width", [380, 1600])
def test_the_picture_fills_its_place_and_no_more(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator("#budgets .chart").count() == 2
    [drawn, *_], [curve, *_], [dot, *_] = boxes(page, ".drawn", "svg.lines", "svg.lines circle.dot")
    assert curve["width"] == pytest.approx(drawn["width"] - 44, abs=2)  # the values stand to the left
    # dots stay round, though lines are stretched with the picture
    assert dot["width"] == pytest.approx(dot["height"], abs=0.5)
    assert said == []
    page.close()


def test_the_table_says_what_the_picture_shows(browser: Any, report: Path) -> None:
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.goto(report.as_uri())
    assert page.locator("svg.lines").first.get_attribute("aria-hidden") == "true"
    table = page.locator("#budgets table").first
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert heads == ["System", "200", "400", "800", "1200", "∞", "AUC@1200", "Parity, tokens", "n"]
    assert table.get_by_role("row").count() == 6
    folded = page.locator("details.folded")
    assert not folded.locator("h3").first.is_visible()
    folded.locator("summary").first.click()
    folded.locator("h3").first.wait_for()
    assert folded.locator("h3").first.inner_text().startswith("A@200")
    page.close()
