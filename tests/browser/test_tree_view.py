"""The routing tree in a real browser: as wide as there is room, read by pointer and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boxes import boxes

from assay.report.html import HtmlReport
from tree_study import tree_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    path = folder / "report.html"
    path.write_bytes(HtmlReport().render(tree_results(folder)))
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1600, "height": 1000})
    opened.goto(report.as_uri())
    yield opened
    opened.close()


def wait_for_spoken(page: Any, start: str) -> None:
    words = page.get_by_text(re.compile(f"^{re.escape(start)}"))
    page.locator(".spoken").first.and_(words).wait_for()


@pytest.mark.parametrize("width", [380, 1600])
def test_the_picture_fills_its_place_and_no_more(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    [panel, *_], [picture, *_], cells = boxes(page, "#trees .panel", ".icicle", ".icicle .cell > rect")
    assert picture["width"] == pytest.approx(panel["width"], abs=1)
    # L1:0, L1:1 and L1:2 have 4, 4 and 2 of 10 passages' room
    assert [cell["width"] / picture["width"] for cell in cells[1:4]] == pytest.approx(
        [0.4, 0.4, 0.2], abs=0.02
    )
    assert said == []
    page.close()


def test_the_keyboard_goes_from_node_to_node(page: Any) -> None:
    assert page.locator('.icicle [tabindex="0"]').count() == 1
    page.locator(".icicle .cell").first.focus()
    wait_for_spoken(page, "root.")
    for key, name in (("ArrowDown", "L1:1, travel"), ("ArrowLeft", "L1:0, contracts"), ("ArrowUp", "root.")):
        page.keyboard.press(key)
        wait_for_spoken(page, name)
    page.keyboard.press("ArrowLeft")  # there is nothing to the left of the root
    assert page.locator(".spoken").first.inner_text().startswith("root.")
    assert page.locator('.icicle [tabindex="0"]').count() == 1


def test_the_pointer_reads_a_node(page: Any) -> None:
    page.locator(".icicle .cell").nth(3).hover()
    wait_for_spoken(page, "L1:2, incidents. 4 passages. 2 queries")


def test_one_route_is_open_at_a_time(page: Any) -> None:
    routes = page.locator("details.route")
    routes.nth(0).locator("summary").click()
    table = routes.nth(0).locator("table").first
    assert table.get_by_role("row").nth(2).inner_text().split("\t")[-1].strip() == "right, outside the beam"
    routes.nth(2).locator("summary").click()
    routes.nth(2).locator("table").first.wait_for()
    assert [each.get_attribute("open") is not None for each in routes.all()[:3]] == [False, False, True]


def test_figures_stand_in_tables_beside_the_picture(page: Any) -> None:
    rows = page.get_by_role("region", name="Nodes that lose most").get_by_role("row").all_inner_texts()
    assert rows[0].split("\t")[:2] == ["Node", "Passages"]
    assert [row.split("\n")[0].split("\t")[0] for row in rows[1:]] == ["root", "L1:0", "L2:1"]


def test_it_prints_without_the_words_of_one_node(page: Any) -> None:
    page.emulate_media(media="print")
    assert not page.locator(".spoken").first.is_visible()
    assert page.locator(".icicle").first.is_visible()
