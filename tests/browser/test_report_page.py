"""The report in a real browser: quiet, offline, safe, usable by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boxes import boxes
from planted import OWN_IMAGE, wait_until_planted_would_have_run

from assay.report.html import HtmlReport
from fake_results import build_results, with_review

pytestmark = pytest.mark.browser

PLANTS = """<script>window.hit=1</script>"><img src=x onerror=window.hit=2>'</script><!--
<svg onload=window.hit=3> javascript:window.hit=4 {{7*7}} {% raw %} ${7*7} \u2028 ]]>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(HtmlReport().render(build_results()))
    return path


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "report.html"
    path.write_bytes(HtmlReport().render(build_results(n=60, plant=PLANTS)))
    return path


@pytest.fixture(scope="module")
def under_review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study half way through a review, whose reviewers wrote what they should not."""
    path = tmp_path_factory.mktemp("review") / "report.html"
    path.write_bytes(HtmlReport().render(with_review(build_results(n=60), plant=PLANTS)))
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1440, "height": 1000})
    opened.goto(report.as_uri())
    yield opened
    opened.close()


def column(page: Any, place: int) -> list[str]:
    return list(page.locator(f"#rows tr:not(.drilldown) > :nth-child({place})").all_inner_texts())


def wait_for_shown(page: Any, words: str) -> None:
    page.locator("#shown").and_(page.get_by_text(words, exact=True)).wait_for()


def test_the_page_is_small_silent_and_asks_for_nothing(browser: Any, report: Path) -> None:
    assert report.stat().st_size < 2_000_000
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.locator(".toggle").first.click()
    page.locator("#more").click()
    wait_for_shown(page, "100 of 500 matching items, 500 in all")
    assert said == []
    assert asked == [report.as_uri()]
    page.close()


def test_the_answer_comes_first(page: Any) -> None:
    assert page.locator("h1").inner_text() == "No-go"
    assert page.locator(".lead").inner_text().startswith("Seconds(hybrid) is 0.0684")
    assert page.locator("h1").bounding_box()["y"] < 150


@pytest.mark.parametrize("width", [380, 700, 1600])
def test_the_page_never_scrolls_sideways(
    browser: Any, report: Path, planted: Path, under_review: Path, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    for path in (report, planted, under_review):
        page.goto(path.as_uri())
        page.locator(".toggle").first.click()
        page.locator(".detail").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        [[detail]] = boxes(page, ".detail")
        assert 0 < detail["width"] <= width
    page.close()


def test_sorting_by_click_and_by_keyboard(page: Any) -> None:
    assert page.locator("[aria-sort]").inner_text() == "dense - bm25"
    changed = [float(text) for text in column(page, 6)]
    assert changed == sorted(changed)
    page.get_by_role("button", name="hybrid", exact=True).click()
    page.locator("[aria-sort=ascending]", has_text="hybrid").wait_for()
    rising = [float(text) for text in column(page, 5)]
    assert rising == sorted(rising)
    page.keyboard.press("Enter")  # the focus stays on the header that was just used
    page.locator("[aria-sort=descending]", has_text="hybrid").wait_for()
    falling = [float(text) for text in column(page, 5)]
    assert falling == sorted(falling, reverse=True)
    assert page.locator("[aria-sort]").inner_text() == "hybrid"


def test_filters_narrow_the_table_and_clear(page: Any) -> None:
    page.fill("#f-text", "q0005")
    wait_for_shown(page, "1 of 1 matching items, 500 in all")
    page.fill("#f-text", "no such words")
    wait_for_shown(page, "No item matches. Clear the filters to see all.")
    page.get_by_role("button", name="Clear").click()
    page.select_option("#f-arm", label="dense")
    page.select_option("#f-status", label="failed")
    wait_for_shown(page, "6 of 6 matching items, 500 in all")  # items 5, 102, 199, 296, 393 and 490
    assert column(page, 4) == ["failed"] * 6
    page.get_by_role("button", name="Clear").click()
    page.select_option("#f-tag", label="edge case")
    wait_for_shown(page, "5 of 5 matching items, 500 in all")
    assert all(text.startswith("edge case") for text in column(page, 2))
    page.get_by_role("button", name="Clear").click()
    page.select_option("#f-arm", label="hybrid")
    page.select_option("#f-change", label="better")
    wait_for_shown(page, "50 of 311 matching items, 500 in all")  # the 311 wins of the comparison
    page.get_by_role("button", name="Clear").click()
    wait_for_shown(page, "50 of 500 matching items, 500 in all")


def test_drill_down_by_keyboard_shows_expected_beside_returned(page: Any) -> None:
    page.locator(".toggle").first.focus()
    page.keyboard.press("Enter")
    detail = page.locator(".detail")
    detail.wait_for()
    assert page.locator(".toggle").first.get_attribute("aria-expanded") == "true"
    assert detail.locator("h4").all_inner_texts() == ["Expected", "bm25", "dense", "hybrid"]
    expected = detail.locator("li").first.locator(".under").inner_text()
    assert set(detail.locator("mark").all_inner_texts()) == {expected}
    page.keyboard.press("Space")
    detail.wait_for(state="detached")


def test_a_fault_is_shown_where_hits_would_be(page: Any) -> None:
    page.fill("#f-text", "q0005")
    page.locator(".toggle").click()
    page.locator(".fault", has_text="Timeout: no answer within 10 s").last.wait_for()
    assert page.locator(".columns > div").nth(2).locator("li").count() == 0


def test_a_flip_links_to_its_item(page: Any) -> None:
    link = page.locator("#changes a").first
    wanted = link.inner_text()
    page.fill("#f-text", "hides everything")
    link.click()
    page.locator(".detail").wait_for()
    assert page.evaluate("document.activeElement.innerText").endswith(wanted)


def test_slices_show_one_measure_at_a_time(page: Any) -> None:
    page.select_option("#slice-measure", label="R@10")
    assert page.locator(".slice:visible h3").all_inner_texts() == ["R@10"]


def test_pictures_are_beside_tables_a_screen_reader_reads(page: Any) -> None:
    unheard = page.evaluate(
        "[...document.querySelectorAll('svg.plot')]"
        ".filter(s => !s.closest('table') || !s.closest('[aria-hidden=true]')).length"
    )
    assert unheard == 0
    assert page.get_by_role("row", name="hybrid 0.554 [0.532, 0.576] 500").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_both_schemes(browser: Any, report: Path, scheme: str) -> None:
    """Body and quiet text reach the 4.5 : 1 of WCAG AA against the paper."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(report.as_uri())
    ratios = page.evaluate("""() => {
      const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      const paper = light(getComputedStyle(document.body).backgroundColor);
      return ["body", ".quiet", "h1", ".gate .word", "nav a"].map((q) => {
        const ink = light(getComputedStyle(document.querySelector(q)).color);
        return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05);
      });
    }""")
    assert min(ratios) >= 4.5
    page.close()


@pytest.mark.parametrize("bypass", [False, True], ids=["with the policy", "without the policy"])
def test_nothing_planted_in_texts_runs(browser: Any, planted: Path, bypass: bool) -> None:
    """Escaping has to hold by itself; the policy is a second wall."""
    context = browser.new_context(bypass_csp=bypass)
    page = context.new_page()
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(planted.as_uri())
    page.evaluate("document.querySelectorAll('.toggle').forEach((toggle) => toggle.click())")
    assert page.locator(".detail").count() == 50
    page.locator("#changes a").first.click()
    page.wait_for_function("document.activeElement.matches('.toggle')")  # the table is drawn anew
    wait_until_planted_would_have_run(page)
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, base, link').length") == 0
    assert page.evaluate("document.scripts.length") == 2
    live = (
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => /^on/i.test(a.name)"
    )
    assert page.evaluate(f"{live} || (/^(href|src)$/i.test(a.name) && !a.value.startsWith('#'))).length") == 0
    assert "{{7*7}}" in page.locator("h2").first.inner_text()
    own = planted.with_name(OWN_IMAGE).as_uri()
    assert {url.partition("#")[0] for url in asked} - {own} == {planted.as_uri()}
    context.close()


def test_a_hit_shows_what_people_said_and_why(browser: Any, under_review: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(under_review.as_uri())
    assert page.locator("h1").inner_text().startswith("Recommendation: review first<script>")
    assert page.locator("#review svg.plot").count() == 3
    page.fill("#f-text", "q0001")
    page.locator(".toggle").click()
    bm25 = page.locator(".columns > div").nth(1)
    bm25.wait_for()
    words = bm25.locator("li .grade").all_inner_texts()[:4]
    assert words == ["keyword", "keyword", "false positive", "open"]
    assert [item.get_attribute("class") for item in bm25.locator("li").all()[:4]] == [
        "right",
        "right",
        "",
        "",
    ]
    assert bm25.locator(".why").first.inner_text().startswith("signals: roster<script>")
    wait_until_planted_would_have_run(page)
    assert page.evaluate("window.hit") is None
    page.close()
