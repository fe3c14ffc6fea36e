"""The desk for fingers, for ears, and for eyes that need the system's own colours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from desk_server import TAKES_KEYS, DeskServer, close_dialog, open_claims, press, seats, wait_for_heading

pytestmark = pytest.mark.browser

RATERS = [f"rater{number}" for number in range(16)]
TABLET, PHONE = {"width": 820, "height": 1180}, {"width": 390, "height": 844}
KEYBOARD = 340  # pixels that an on-screen keyboard takes
TOO_SMALL = """() => [...document.querySelectorAll("a, button, select, textarea, summary, label, input")]
  .filter((each) => each.checkVisibility() && !each.matches("label > *, .skip, .field, [for]"))
  .filter((each) => !document.querySelector("dialog") || each.closest("dialog"))
  .map((each) => [each.innerText || each.tagName, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 40 || box.height < 40)
  .map(([name, box]) => `${name} ${Math.round(box.width)}x${Math.round(box.height)}`)"""
FOCUSED = """() => {
  const edge = (name, side) => document.querySelector(name).getBoundingClientRect()[side];
  const focused = document.activeElement.getBoundingClientRect();
  return [focused.top - edge(".top", "bottom"), edge("#bar", "top") - focused.bottom];
}"""
COLOURS = ("color", "backgroundColor")
TITLES = "all => all.map((each) => `${each.tagName} ${each.innerText}`)"
HEAR = """() => {
  window.heard = [];
  const places = ["#said", "#saving", ".told", ".problems"].map((each) => document.querySelector(each));
  const hear = ({ target }) => { if (target.textContent) window.heard.push(target.textContent); };
  const listen = new MutationObserver((changes) => changes.forEach(hear));
  for (const place of places) listen.observe(place, { childList: true });
}"""
DONE = """async (step) => {
  const { csrf } = await (await fetch("/api/session")).json();
  const { tasks } = await (await fetch(`/api/steps/${step}`)).json();
  const choice = { accuracy: "3", completeness: "1" }[step];
  for (const { task_id } of tasks) await fetch(`/api/steps/${step}/tasks/${task_id}/mark`, {
    method: "PUT", headers: { "X-CSRF": csrf, "Content-Type": "application/json" },
    body: JSON.stringify({ mark_id: crypto.randomUUID(), choice, flags: choice ? [] : ["none_found"] }) });
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    pytest.importorskip("uvicorn", reason="the desk's server is not installed")
    started = DeskServer(tmp_path_factory.mktemp("desk"), RATERS)
    yield started
    started.stop()


@pytest.fixture
def sit(browser: Any, server: DeskServer) -> Iterator[Callable[..., Any]]:
    with seats(browser, server) as seat:
        yield seat


def begin(page: Any) -> None:
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")


def heard(page: Any, last: str) -> list[str]:
    """What the places that screen readers listen to have said, up to some last words."""
    page.wait_for_function("(last) => window.heard.at(-1) === last", arg=last)
    return list(page.evaluate("window.heard.splice(0)"))


# --------------------------------------------------------------------------------------- by finger


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
def test_all_that_is_tapped_is_large_enough(sit: Any, size: dict[str, int]) -> None:
    page = sit(viewport=size, has_touch=True, is_mobile=True)
    assert page.evaluate(TOO_SMALL) == []
    begin(page)
    assert page.evaluate(TOO_SMALL) == []
    for key in ("h", "l", "e", "?"):
        press(page, key)
        page.locator("dialog").wait_for()
        assert page.evaluate(TOO_SMALL) == []
        close_dialog(page)
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight", "1")
    assert page.evaluate(TOO_SMALL) == []
    page.get_by_role("button", name="Done with claim 1").tap()
    assert page.evaluate(TOO_SMALL) == []


def long_response(route: Any) -> None:
    task = route.fetch().json()
    for block in task["blocks"]:
        if block["markable"]:
            block["text"] *= 40
    route.fulfill(json=task)


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
def test_what_is_selected_in_a_long_response_can_be_marked_with_the_thumb(
    sit: Any, size: dict[str, int]
) -> None:
    page = sit(viewport=size, has_touch=True, is_mobile=True)
    page.route("**/api/steps/hallucination/tasks/*", long_response)
    open_claims(page, 1)
    page.evaluate("""() => {
      const node = document.querySelector(".markable .text").firstChild;
      getSelection().setBaseAndExtent(node, 18, node, 26);
    }""")
    page.locator(".marking-bar.ready").wait_for()
    categories, bar = (page.locator(each).bounding_box() for each in (".categories", "#bar"))
    assert size["height"] / 2 < categories["y"]
    assert categories["y"] + categories["height"] <= bar["y"]
    # As where a touch takes the selection away before it is heard as a press.
    button = page.get_by_role("button", name="Extrapolated")
    button.dispatch_event("pointerdown")
    page.evaluate("getSelection().collapse(document.querySelector('h1'))")
    page.locator(".marking-bar:not(.ready)").wait_for()
    button.dispatch_event("click")
    assert page.get_by_label("What is claimed").input_value() == "24 hours"


def test_what_is_written_stays_between_the_bars_and_above_the_keyboard(sit: Any) -> None:
    page = sit(viewport=PHONE, has_touch=True, is_mobile=True)
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight", "1")
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    assert min(page.evaluate(FOCUSED)) >= 0
    page.set_viewport_size(PHONE | {"height": PHONE["height"] - KEYBOARD})
    page.wait_for_function(f"Math.min(...({FOCUSED})()) >= 0")
    page.get_by_label("Why the source does not support it").focus()
    page.wait_for_function(f"Math.min(...({FOCUSED})()) >= 0")
    viewport = page.locator("meta[name=viewport]").get_attribute("content")
    assert "interactive-widget=resizes-content" in viewport


def test_the_focus_is_never_behind_a_bar(sit: Any) -> None:
    page = sit(viewport=PHONE)
    open_claims(page, 1)
    hidden = []
    for _ in range(24):
        press(page, "Tab")
        if page.evaluate("document.activeElement.matches('main *:not(.marking-bar *)')"):
            hidden += [gap for gap in page.evaluate(FOCUSED) if gap < 0]
    assert hidden == []


# ----------------------------------------------------------------------------------------- by ear


def test_each_thing_is_said_once(sit: Any) -> None:
    page = sit()
    begin(page)
    page.evaluate(HEAR)
    press(page, "2")
    assert heard(page, "Mostly right chosen") == ["Changed, not saved yet", "Mostly right chosen"]
    press(page, "r")
    assert heard(page, "It refuses to answer on. Wrong chosen") == ["It refuses to answer on. Wrong chosen"]
    page.get_by_role("radio", name="Partly right", exact=True).check()  # the browser says this one itself
    assert heard(page, "It refuses to answer taken off") == ["It refuses to answer taken off"]
    press(page, "Enter")  # the note is missing: the field says so as it gets the focus
    page.locator("#note[aria-invalid=true]:focus").wait_for()
    assert heard(page, "Changed, not saved yet") == ["Saving…", "Changed, not saved yet"]
    described = page.locator("#note").get_attribute("aria-describedby")
    assert page.locator(f"#{described}").inner_text() == "A note is needed for this grade."
    press(page, "Control+Enter")  # the focus is there already: it has to be said
    assert heard(page, "A note is needed for this grade.")[-2:] == [
        "Changed, not saved yet",
        "A note is needed for this grade.",
    ]
    page.keyboard.type("why")
    press(page, "Control+Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    assert heard(page, "Saved") == ["Saving…", "Loading…", "Saved"]


def test_the_screen_is_read_in_the_order_of_the_work(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    told = page.locator("main h1, main h2, main h3").evaluate_all(TITLES)
    assert told == [
        "H1 Unsupported claims: 1 of 20",
        "H2 Question",
        "H2 Answer",
        "H2 Reference answer",
        "H2 Source",
        "H2 Your score",
        "H3 No claim marked",
        "H2 Rules",
    ]
    page.goto(page.url.partition("#")[0])
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    begin(page)
    snapshot = page.locator(".asked").aria_snapshot()
    assert '- radio "Wrong"' in snapshot  # what it means is its description
    meaning = page.get_by_role("radio", name="Wrong", exact=True).get_attribute("aria-describedby")
    assert page.locator(f"#{meaning}").inner_text().startswith("Nothing in it is right")


def test_the_focus_is_always_somewhere_and_the_window_has_the_name_of_what_is_shown(sit: Any) -> None:
    page = sit()
    focused = "document.activeElement.className + document.activeElement.tagName"
    begin(page)
    press(page, "n", "Escape")
    assert page.evaluate(focused) == "askedSECTION"
    press(page, "g")
    wait_for_heading(page, "A small study")
    assert (page.evaluate(focused), page.title()) == ("H1", "A small study · Review desk")
    page.get_by_role("link", name="Precedents").click()
    wait_for_heading(page, "Precedents")
    assert (page.evaluate(focused), page.title()) == ("H1", "Precedents · Review desk")
    page.get_by_role("button", name="Log out").click()
    wait_for_heading(page, "Review desk")
    assert (page.evaluate(focused), page.title()) == ("H1", "Review desk")


# ----------------------------------------------------------------------------------------- by eye


def test_nothing_vanishes_in_the_systems_own_colours(sit: Any) -> None:
    page = sit(forced_colors="active", reduced_motion="reduce", color_scheme="dark")
    style = "(all, [part, name]) => getComputedStyle(all[0], part)[name]"
    assert page.locator(".step progress").evaluate_all(style, ["", "borderTopWidth"]) == "1px"
    open_claims(page, 1)
    for name in ("color", "borderTopColor"):
        off = page.locator(".categories button").evaluate_all(style, ["", name])
        assert off != page.locator("#bar .first").evaluate_all(style, ["", name])
    press(page, "m", "Shift+ArrowRight")
    assert page.locator(".caret").evaluate_all(style, ["", "borderLeftWidth"]) == "2px"
    press(page, "1")
    words, ground = (page.locator("mark").evaluate_all(style, ["::after", each]) for each in COLOURS)
    assert words != ground
    assert page.locator("button").evaluate_all(style, ["", "transitionDuration"]) == "0s"


def test_scrollbars_are_dark_in_the_dark(sit: Any) -> None:
    page = sit(color_scheme="dark")
    begin(page)
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).scrollbarColor") == (
        "rgb(163, 173, 181) rgba(0, 0, 0, 0)"
    )


# ------------------------------------------------------------------------------------- what is next


def test_the_history_says_why_a_task_came_back(sit: Any) -> None:
    page = sit()
    begin(page)
    press(page, "3", "Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight", "1", "Tab")
    page.keyboard.type("made up")
    press(page, "Control+Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    page.goto(page.url.partition("#")[0])
    page.locator(".step .again").wait_for()
    page.goto(f"{page.url}#/accuracy")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "h")
    told = page.locator("dialog .again").inner_text()
    assert told == "To look at again: Accuracy 3 with a claim that the source does not support."


def test_a_review_without_precedents_has_no_link_to_them(sit: Any) -> None:
    page = sit()
    assert page.get_by_role("link", name="Precedents").count() == 1

    def closed(route: Any) -> None:
        route.fulfill(json=route.fetch().json() | {"register_open": False})

    page.route("**/api/work", closed)
    page.reload()
    page.get_by_role("link", name="Precedents").wait_for()  # none can be set any more, and there are some
    page.route("**/api/register", lambda route: route.fulfill(body=json.dumps([])))
    page.reload()
    page.get_by_text("You score as").wait_for()
    assert page.get_by_role("link", name="Precedents").count() == 0


def test_a_rater_who_is_done_sees_what_to_do_next(sit: Any) -> None:
    page = sit()
    begin(page)
    press(page, "o")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "k")
    page.locator(".told:text-is('This is the first one.')").wait_for()
    for step in ("accuracy", "hallucination", "completeness"):
        page.evaluate(DONE, step)
    page.goto(page.url.partition("#")[0])
    page.locator(".finished:text-is('Every pass is complete: tell whoever leads the study.')").wait_for()
    press(page, "?")
    assert "Go on with the open pass" not in page.locator("dialog").inner_text()
    close_dialog(page)
    page.get_by_role("button", name="Look again: Accuracy").click()
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "o")
    page.locator(".told", has_text="All of this pass is done. Press g for the overview").wait_for()
