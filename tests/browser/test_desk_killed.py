"""The server is killed, the connection is lost, the session ends: nothing is lost, and the page goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from desk_server import TAKES_KEYS, DeskServer, wait_for_heading

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tmp_path: Any) -> Iterator[DeskServer]:
    pytest.importorskip("uvicorn", reason="the desk's server is not installed")
    started = DeskServer(tmp_path, ["anna"])
    yield started
    started.stop()


@pytest.fixture
def page(browser: Any, server: DeskServer) -> Iterator[Any]:
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(server.links["anna"])
    opened.locator(f"{TAKES_KEYS} .steps").wait_for()
    opened.keyboard.press("Enter")
    at(opened, 1)
    yield opened
    context.close()


def at(page: Any, number: int) -> None:
    wait_for_heading(page, f"Accuracy: {number} of 20")


def score(page: Any, first: int, last: int) -> None:
    for number in range(first, last + 1):
        at(page, number)
        page.keyboard.press("1")
        page.keyboard.press("n")
        page.keyboard.type(f"reason {number}")
        page.keyboard.press("Control+Enter")


def notes(page: Any) -> list[str | None]:
    """What the server has of every task, in order; None where nothing stands."""
    found = page.evaluate("""async () => {
      const get = (path) => fetch(path).then((answer) => answer.json());
      const { tasks } = await get("/api/steps/accuracy");
      return Promise.all(tasks.map(({ task_id }) => get(`/api/steps/accuracy/tasks/${task_id}`)));
    }""")
    return [task["mark"] and task["mark"]["note"] for task in found]


def test_a_killed_server_loses_nothing_and_the_page_goes_on_by_itself(page: Any, server: DeskServer) -> None:
    score(page, 1, 8)
    at(page, 9)
    server.kill()
    page.keyboard.press("2")
    page.keyboard.press("n")
    page.keyboard.type("while nobody heard")
    page.keyboard.press("Control+Enter")
    saving = page.locator("#saving", has_text="Not saved: no connection, trying again")
    saving.wait_for()
    assert page.locator("#note").input_value() == "while nobody heard"
    server.start()
    at(page, 10)  # sent again by itself, with the session of before
    assert page.locator("#saving").inner_text() == "Saved"
    score(page, 10, 20)
    page.get_by_role("heading", level=1, name="A small study").wait_for()
    wanted = [f"reason {number}" for number in range(1, 21)]
    wanted[8] = "while nobody heard"
    assert notes(page) == wanted


def test_a_mark_whose_answer_was_lost_is_saved_once(page: Any) -> None:
    """It arrives, the answer does not: the same mark is sent again under the same id."""
    sent: list[str] = []

    def lose_the_first_answer(route: Any) -> None:
        sent.append(route.request.post_data_json["mark_id"])
        if len(sent) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/mark", lose_the_first_answer)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    at(page, 2)
    assert len(sent) == 2
    assert sent[0] == sent[1]
    page.keyboard.press("k")
    at(page, 1)
    page.keyboard.press("h")
    assert page.locator("dialog li").count() == 1


def test_changing_ones_mind_while_offline_saves_the_last_word(page: Any) -> None:
    """The first word had arrived unanswered: the second is put over it, and no conflict is shown."""
    lost = 0

    def lose(route: Any) -> None:
        nonlocal lost
        lost += 1
        if lost == 1:
            route.fetch()
        route.abort()

    page.route("**/mark", lose)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.locator("#saving.lost").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.press("n")
    page.keyboard.type("on second thoughts")
    page.keyboard.press("Control+Enter")
    page.unroute("**/mark")
    at(page, 2)
    assert notes(page)[0] == "on second thoughts"


def test_a_page_that_is_closed_too_soon_sends_what_it_had_begun(page: Any, server: DeskServer) -> None:
    page.route("**/mark", lambda route: route.abort())
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.locator("#saving.lost").wait_for()
    other = page.context.new_page()
    asked: list[str] = []

    def leave(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
    other.goto(server.address)
    other.locator("#saving.saved").wait_for()
    assert notes(other)[0] == ""


def test_a_session_that_ended_is_renewed_and_the_draft_is_sent(page: Any, server: DeskServer) -> None:
    page.keyboard.press("3")
    page.context.clear_cookies()
    server.kill()
    server.start()  # which prints a new link
    page.keyboard.press("Enter")
    dialog = page.locator("dialog", has_text="You are logged out")
    dialog.wait_for()
    page.keyboard.press("Escape")  # there is nothing to do here without logging in
    assert dialog.is_visible()
    dialog.get_by_label("Link").fill(server.links["anna"])
    dialog.get_by_role("button", name="Enter").first.click()
    at(page, 2)
    assert notes(page)[0] == ""
