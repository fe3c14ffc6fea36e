"""Several at the desk: raters who must not see each other's marks, and one rater in two places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from desk_server import TAKES_KEYS, DeskServer, close_dialog, wait_for_heading

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tmp_path: Any) -> Iterator[DeskServer]:
    pytest.importorskip("uvicorn", reason="the desk's server is not installed")
    started = DeskServer(tmp_path, ["anna", "ben"])
    yield started
    started.stop()


def enter(context: Any, link: str) -> Any:
    page = context.new_page()
    page.goto(link)
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    return page


def at(page: Any, number: int) -> None:
    wait_for_heading(page, f"Accuracy: {number} of 20")


def test_two_raters_in_two_browsers_never_see_each_other(browser: Any, server: DeskServer) -> None:
    contexts = [browser.new_context(), browser.new_context()]
    anna, ben = (
        enter(context, server.links[name]) for context, name in zip(contexts, ("anna", "ben"), strict=True)
    )
    seen: list[str] = []
    ben.on("response", lambda answer: seen.append(answer.text()) if "/api/" in answer.url else None)
    for page in (anna, ben):
        page.keyboard.press("Enter")
        at(page, 1)
    for number in (1, 2, 3):  # in turn, as two people work
        anna.keyboard.press("1")
        anna.keyboard.press("n")
        anna.keyboard.type("a word of anna's alone")
        anna.keyboard.press("Control+Enter")
        at(anna, number + 1)
        assert ben.locator(".choice:has(:checked)").count() == 0
        ben.keyboard.press("3")
        ben.keyboard.press("Enter")
        at(ben, number + 1)
    for page, grade in ((anna, "Partly right"), (ben, "Right")):
        page.keyboard.press("k")
        at(page, 3)
        assert page.locator(".choice:has(:checked) b").inner_text() == grade
        page.keyboard.press("h")
        assert page.locator("dialog li").count() == 1
        close_dialog(page)
        page.keyboard.press("g")
        page.locator(f"{TAKES_KEYS} .steps").wait_for()
        assert page.locator(".step .figure").first.inner_text() == "3 of 20"
    assert len(seen) > 6
    assert not any("anna" in text for text in seen)
    for context in contexts:
        context.close()


def test_two_people_at_one_browser_do_not_find_each_others_drafts(browser: Any, server: DeskServer) -> None:
    context = browser.new_context()
    page = enter(context, server.links["anna"])
    page.keyboard.press("Enter")
    at(page, 1)
    page.keyboard.press("2")
    page.on(
        "dialog", lambda dialog: dialog.accept()
    )  # something is not saved: the page asks before it is left
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="With a link").wait_for()
    page.get_by_label("Link").fill(server.links["ben"])
    page.get_by_role("button", name="Enter").first.click()
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    assert "ben" in page.locator(".overview > p.quiet").inner_text()
    page.keyboard.press("Enter")
    at(page, 1)
    assert page.locator(".choice:has(:checked), .notice.draft").count() == 0
    context.close()


def test_who_logs_in_in_another_tab_gets_nothing_of_what_this_one_saves(
    browser: Any, server: DeskServer
) -> None:
    context = browser.new_context()
    anna = enter(context, server.links["anna"])
    anna.keyboard.press("Enter")
    at(anna, 1)
    ben = enter(context, server.links["ben"])
    anna.bring_to_front()
    anna.keyboard.press("3")
    anna.keyboard.press("Enter")
    anna.get_by_text("ben has logged in in this browser since").first.wait_for()
    ben.bring_to_front()
    ben.reload()
    ben.locator(f"{TAKES_KEYS} .steps").wait_for()
    done = ben.evaluate("fetch('/api/work').then(answer => answer.json())")
    assert [step["done"] for step in done["steps"]] == [0] * len(done["steps"])
    context.close()


def test_two_tabs_of_one_rater_show_a_conflict_and_let_choose(browser: Any, server: DeskServer) -> None:
    context = browser.new_context()
    one = enter(context, server.links["anna"])
    one.keyboard.press("Enter")
    at(one, 1)
    two = context.new_page()
    two.goto(one.url)
    at(two, 1)
    two.keyboard.press("2")
    two.keyboard.press("n")
    two.keyboard.type("mine in tab two")
    one.keyboard.press("3")
    one.keyboard.press("Enter")
    at(one, 2)
    two.keyboard.press("Control+Enter")
    dialog = two.locator("dialog")
    dialog.wait_for()
    sides = dialog.locator(".two section").all_inner_texts()
    assert "3 Right" in sides[0]
    assert "2 Mostly right" in sides[1]
    assert "mine in tab two" in sides[1]
    assert two.locator("#saving").inner_text() == "Changed, not saved yet"
    dialog.get_by_role("button", name="Save mine over it").click()
    at(two, 2)
    two.keyboard.press("k")
    at(two, 1)
    two.keyboard.press("h")
    told = two.locator("dialog li").all_inner_texts()
    assert len(told) == 2  # the other tab's word stays in the history
    assert "mine in tab two" in told[0]
    context.close()


def test_keeping_what_stands_drops_the_draft(browser: Any, server: DeskServer) -> None:
    context = browser.new_context()
    one = enter(context, server.links["anna"])
    one.keyboard.press("Enter")
    at(one, 1)
    two = context.new_page()
    two.goto(one.url)
    at(two, 1)
    two.keyboard.press("0")
    one.keyboard.press("3")
    one.keyboard.press("Enter")
    at(one, 2)
    two.keyboard.press("n")
    two.keyboard.type("x")
    two.keyboard.press("Control+Enter")
    two.get_by_role("button", name="Keep what stands").click()
    two.locator(".choice:has(:checked) b", has_text="Right").wait_for()
    assert two.locator(".choice:has(:checked) b").inner_text() == "Right"
    assert two.locator("#saving").inner_text() != "Changed, not saved yet"
    assert two.evaluate("Object.keys(localStorage).filter((key) => key.includes('|draft|')).length") == 0
    context.close()


def test_another_tab_is_brought_up_to_date(browser: Any, server: DeskServer) -> None:
    context = browser.new_context()
    one = enter(context, server.links["anna"])
    two = context.new_page()
    two.goto(one.url)
    two.locator(f"{TAKES_KEYS} .steps").wait_for()
    one.keyboard.press("Enter")
    at(one, 1)
    one.keyboard.press("3")
    one.keyboard.press("Enter")
    two.locator(".step .figure", has_text="1 of 20").wait_for()
    context.close()
