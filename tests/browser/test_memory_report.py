"""The picture of a walk in a real browser: opened with its item, legible, and never wider than its box."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from boxes import boxes
from planted import wait_until_planted_would_have_run

from assay.core.records import Item, Step
from assay.core.results import ExpectedTarget
from assay.kinds.memory.report.walk_section import walk_section
from assay.kinds.memory.report.walks import ArmWalk, WalkedItem
from assay.kinds.memory.walk import ExpectedPath, ExpectedStep
from assay.report.html import HtmlReport
from fake_results import build_results

pytestmark = pytest.mark.browser

PLANT = """</svg></template><script>window.hit=1</script>"><img src=x onerror=window.hit=2>"""
BEST = [
    Step("path", 0, "msa:3", scores={"score": 1.0}, role="exception"),
    Step("path", 1, "msa:2", "msa:3", {"score": 0.8}, edge="exception_to", role="obligation"),
    Step("path", 2, "msa:1", "msa:2", {"score": 0.6}, edge="depends_on", role="remedy"),
]
SPREAD = [
    Step("seed", 0, "msa:3", scores={"energy": 1.0}),
    Step("spread", 1, "msa:2", "msa:3", {"energy": 0.7}, edge="exception_to"),
    *(Step("spread", 1, f"msa:{n}", "msa:3", {"energy": 0.5}, edge="next_unit") for n in range(10, 30)),
    Step("spread", 2, "msa:5", "msa:10", {"energy": 0.01}, False, "next_unit", "below_threshold"),
]
WANTED = [ExpectedStep("msa:3"), ExpectedStep("msa:2", "exception_to"), ExpectedStep("msa:9")]


def write_report(path: Path, plant: str = "") -> None:
    """A page whose first item was walked by two systems, and, planted, whose every text is hostile."""
    made = build_results(n=12)
    trace = [msgspec.structs.replace(step, target=step.target + plant) for step in (*BEST, *SPREAD)]
    shown = msgspec.structs.replace(
        made.items[0],
        expected=[
            ExpectedTarget("msa:2", 1.0, "Every invoice is paid."),
            ExpectedTarget("msa:9", 1.0, plant),
        ],
        tags={"category": ["how-to"], "multi_hop": ["yes"]},
        enough=(1, 2),
    )
    walks = {arm: ArmWalk(trace[:3], trace) for arm in ("dense", "hybrid")}
    nodes = {"msa:2": "Every invoice is paid within 30 days" + plant}
    gold = {"path": msgspec.to_builtins(ExpectedPath(WANTED, "exact"))}
    walked = WalkedItem.of(shown, Item(shown.item_id, shown.text, gold=gold), walks)
    section = walk_section(made, [msgspec.structs.replace(walked, nodes=nodes)])
    assert section is not None
    items = [shown, *made.items[1:]]
    told = dataclasses.replace(made, items=items, layer="structured", sections=[section])
    path.write_bytes(HtmlReport().render(told))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("walks") / "report.html"
    write_report(path)
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1600, "height": 1000})
    opened.goto(report.as_uri())
    yield opened
    opened.close()


def test_a_link_opens_the_item_with_its_walks(browser: Any, report: Path) -> None:
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    assert page.locator("svg.graph").count() == 0  # drawn only where it is opened
    page.get_by_text("Drawn for 1 item").locator("a").click()
    page.locator(".more").wait_for()
    walks = page.locator(".more > .small")
    assert walks.count() == 1
    assert walks.inner_text().startswith("dense Walked msa:3 → 2 → 1, expected msa:3 → 2 → 9 also: hybrid")
    # the picture stands above the lists of hits, and the way to it is short
    tops = [found[0]["top"] for found in boxes(page, "#row-0", ".more", ".columns")]
    assert tops == sorted(tops)
    assert tops[1] - tops[0] < 400
    assert "Any 1 of 2 is enough." in page.locator(".columns").inner_text()
    assert page.locator("#row-0 .tags").inner_text() == "how-to, multi_hop: yes"
    way = page.get_by_role("region", name="Expected path").get_by_role("row").all_inner_texts()
    assert [row.split() for row in way[1:]] == [
        ["msa:3", "walked"],
        ["msa:2", "exception_to", "walked"],
        ["msa:9", "not", "walked"],
    ]
    page.locator("#row-0 .toggle").click()
    page.locator("svg.graph").wait_for(state="detached")
    page.locator("#row-0 .toggle").click()
    page.locator("svg.graph").wait_for()  # the picture can be opened any number of times
    assert page.locator(".limits").all_inner_texts() == ["Layer: structured."]
    assert said == []
    page.close()


def test_the_table_says_to_a_screen_reader_what_the_picture_shows(page: Any) -> None:
    page.goto(page.url + "#item=q0000")
    walk = page.locator(".more > .small").first
    assert walk.locator("svg.graph").get_attribute("aria-hidden") == "true"
    walk.locator("summary").focus()
    page.keyboard.press("Enter")
    rows = walk.get_by_role("region", name="Steps of the walk of dense").get_by_role("row")
    rows.first.wait_for()
    assert rows.count() == 1 + len(BEST) + len(SPREAD)
    assert rows.nth(3).get_by_role("rowheader").inner_text() == "3"
    row = rows.nth(3).get_by_role("cell").all_inner_texts()
    assert row == ["best path", "2", "msa:2", "msa:1", "depends_on", "remedy", "0.600", ""]
    assert rows.last.get_by_role("cell").all_inner_texts()[-1] == "below threshold"


@pytest.mark.parametrize("width", [380, 1600])
def test_a_wide_picture_scrolls_in_its_own_box(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(report.as_uri() + "#item=q0000")
    page.locator(".more").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    box = page.locator(".sides .scroll").first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth") is (width == 380)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_of_the_picture_are_legible(browser: Any, report: Path, scheme: str) -> None:
    """Names, statuses and edges reach the 4.5 : 1 of WCAG AA against what they stand on."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(report.as_uri() + "#item=q0000")
    page.locator(".more").wait_for()
    ratios = page.evaluate("""() => {
      const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      const style = (query) => getComputedStyle(document.querySelector(query));
      const card = light(style(".graph .box").fill), wash = light(style(".detail").backgroundColor);
      return [[".graph .node", card], [".graph .words", card], [".found .status", card],
        [".missed .status", card], [".graph .count", card], [".graph .edge", wash],
        [".graph .stop", wash], [".graph .head", wash]]
        .map(([query, under]) => [light(style(query).fill), under])
        .map(([ink, under]) => (Math.max(ink, under) + .05) / (Math.min(ink, under) + .05));
    }""")
    assert min(ratios) >= 4.5
    page.close()


def test_nothing_planted_in_a_trace_runs(browser: Any, tmp_path: Path) -> None:
    """Escaping has to hold by itself: the policy is switched off."""
    write_report(tmp_path / "report.html", PLANT)
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri() + "#item=q0000")
    page.locator(".more").wait_for()
    wait_until_planted_would_have_run(page)
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.locator("svg.graph").count() == 1
    context.close()
