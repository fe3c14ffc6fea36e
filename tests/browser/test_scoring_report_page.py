"""A blinded scoring in a real browser: pictures that fit, figures as tables, open to all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boxes import boxes

from assay.report.html import HtmlReport
from scored_study import scored_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scoring") / "report.html"
    path.write_bytes(HtmlReport().render(scored_results()))
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1600, "height": 1000})
    opened.goto(report.as_uri())
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [380, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_fill_their_place_and_no_more(browser: Any, report: Path, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    places = (".scatter-chart .drawn", "svg.scatter", "svg.scatter circle.dot")
    [drawn, *_], [picture, *_], [dot, *_] = boxes(page, *places)
    assert picture["width"] == pytest.approx(drawn["width"] - 44, abs=2)  # the steps stand to the left
    assert page.locator("svg.scatter g").count() == 572
    assert dot["width"] == pytest.approx(dot["height"], abs=0.5)
    assert said == []
    page.close()


def test_a_narrow_page_hides_no_figure_of_a_test(browser: Any, report: Path) -> None:
    page = browser.new_page(viewport={"width": 380, "height": 900})
    page.goto(report.as_uri())
    [cells] = boxes(page, '[aria-label="Tests by family"] td[data-label]')
    assert len(cells) >= 16
    for cell in cells[:16]:
        assert cell["width"] > 0
        assert 0 <= cell["left"] <= cell["right"] <= 380
    assert page.locator("svg.scatter text.fine").first.is_hidden()
    page.close()


def test_figures_stand_in_tables_beside_the_pictures(page: Any) -> None:
    assert page.locator("svg.scatter").get_attribute("aria-hidden") == "true"
    heads = (
        page.get_by_role("region", name="Agreement of raters").get_by_role("columnheader").all_inner_texts()
    )
    assert heads == ["Metric", "Raters", "Outcome", "Value [95 %]", "n", "Equal"]
    first = (
        page.get_by_role("region", name="Agreement of raters")
        .get_by_role("row")
        .nth(1)
        .inner_text()
        .split("\t")
    )
    assert first[0] == "Accuracy: kappa, linear weights"
    assert "passes: needs 0.6" in first[2]
    assert (
        page.get_by_role("region", name="Tokens by site, llama3").get_by_role("row").count() == 38
    )  # 37 sites and the head
    parts = (
        page.get_by_role("region", name="Accuracy, over all and in parts")
        .get_by_role("rowheader")
        .all_inner_texts()
    )
    assert parts[:2] == ["all", "single-fact"]


def test_the_second_tokenizer_is_opened_by_keyboard(page: Any) -> None:
    second = page.locator("#scoring details").filter(has_text="tokenizer cl100k")
    assert not second.locator("table").is_visible()
    second.locator("summary").focus()
    page.keyboard.press("Enter")
    second.locator("table").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, report: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": 1600, "height": 1000}, color_scheme=scheme)
    page.goto(report.as_uri())
    # pictures are hidden from screen readers, and 572 dots take axe seconds
    found = axe.Axe().run(page, context={"exclude": ["svg"]}).response["violations"]
    serious = [
        f"{fault['id']}: {fault['nodes'][0]['html'][:200]}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
    ]
    assert serious == []
    page.close()
