"""A slow network and quick hands: a key belongs to the response that is on screen, or to none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from desk_server import DeskServer, press, seats, wait_for_heading

pytestmark = pytest.mark.browser

RATERS = [f"rater{number}" for number in range(12)]
ALL = 20
ACCURACY_DONE = """async () => {
  const { csrf } = await (await fetch("/api/session")).json();
  const { tasks } = await (await fetch("/api/steps/accuracy")).json();
  for (const { task_id } of tasks) await fetch(`/api/steps/accuracy/tasks/${task_id}/mark`, {
    method: "PUT", headers: { "X-CSRF": csrf, "Content-Type": "application/json" },
    body: JSON.stringify({ mark_id: crypto.randomUUID(), choice: "3" }) });
}"""
HISTORIES = """async () => {
  const get = (path) => fetch(path).then((answer) => answer.json());
  const { tasks } = await get("/api/steps/completeness");
  const all = await Promise.all(tasks.map(({ task_id }) => get(`/api/steps/completeness/tasks/${task_id}`)));
  return all.map(({ task_id, history }) => [task_id, history.map(({ choice }) => choice)]);
}"""
# Every answer comes so late, and every key is written down with what was on screen as it came.
SLOW = """(late) => {
  const soon = window.fetch;
  window.fetch = (...asked) => new Promise((go) => setTimeout(go, late)).then(() => soon(...asked));
  window.typed = [];
  addEventListener("keydown", ({ key }) => window.typed.push(
    [key, document.querySelector(".task")?.dataset.task, !document.querySelector("main").inert]), true);
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    pytest.importorskip("uvicorn", reason="the desk's server is not installed")
    started = DeskServer(tmp_path_factory.mktemp("desk"), RATERS)
    yield started
    started.stop()


@pytest.fixture
def page(browser: Any, server: DeskServer) -> Iterator[Any]:
    """A rater at the first task of the pass on completeness, whose grades need no note."""
    with seats(browser, server) as seat:
        seated = seat()
        seated.evaluate(ACCURACY_DONE)
        seated.goto(f"{server.address}/#/completeness")
        at(seated, 1)
        yield seated


class Network:
    """Holds back what goes to some addresses until it is let through."""

    def __init__(self, page: Any, *paths: str) -> None:
        self._page, self._held, self._open = page, list[Any](), False
        for path in paths:
            page.route(path, self._take)

    def _take(self, route: Any) -> None:
        if self._open:
            route.continue_()
        else:
            self._held.append(route)

    def wait(self, count: int = 1) -> None:
        while len(self._held) < count:
            self._page.wait_for_timeout(5)

    def let_through(self) -> None:
        self._open = True
        for route in self._held:
            route.continue_()


def at(page: Any, number: int) -> None:
    wait_for_heading(page, f"Completeness: {number} of {ALL}")


def said(page: Any, number: int) -> list[str]:
    """All that was ever saved of a task."""
    return list(page.evaluate(HISTORIES)[number - 1][1])


def keys(page: Any, *names: str) -> None:
    """Presses keys whatever the page does, as quick hands do."""
    for name in names:
        page.keyboard.press(name)


SLOW_PATHS = {"the save": "**/mark", "the next response": "**/tasks/*", "both": "**/tasks/**"}


@pytest.mark.parametrize("slow", SLOW_PATHS)
def test_keys_typed_before_the_next_response_is_there_are_for_none(page: Any, slow: str) -> None:
    network = Network(page, SLOW_PATHS[slow])
    keys(page, "1", "Enter")
    network.wait()
    keys(page, "0", "Enter", "Enter", "u", "y")
    word = "Loading…" if slow == "the next response" else "Saving…"
    assert page.locator("#saving").inner_text() == word
    network.let_through()
    at(page, 2)
    assert page.locator(":checked").count() == 0
    assert (said(page, 1), said(page, 2)) == (["1"], [])
    keys(page, "0", "Enter")
    at(page, 3)
    assert (said(page, 1), said(page, 2)) == (["1"], ["0"])


@pytest.mark.parametrize("slow", ["the save", "the next response"])
def test_clicks_before_the_next_response_is_there_are_for_none(page: Any, slow: str) -> None:
    boxes = [
        page.locator(each).bounding_box() for each in (".choice >> nth=0", "#bar .first")
    ]  # "0" and save
    network = Network(page, SLOW_PATHS[slow])
    keys(page, "1", "Enter")
    network.wait()
    for box in boxes:
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    network.let_through()
    at(page, 2)
    assert page.locator(":checked").count() == 0
    assert (said(page, 1), said(page, 2)) == (["1"], [])


def test_words_typed_while_it_is_saved_get_into_no_note(page: Any) -> None:
    network = Network(page, "**/mark")
    keys(page, "1", "n")
    page.keyboard.type("one")
    keys(page, "Control+Enter")
    network.wait()
    page.keyboard.type(" two")
    assert page.locator("#note").input_value() == "one"
    network.let_through()
    at(page, 2)
    assert page.locator("#note").input_value() == ""
    press(page, "k")
    at(page, 1)
    assert page.locator("#note").input_value() == "one"


def test_twenty_responses_at_full_speed_each_get_what_was_typed_on_them(page: Any) -> None:
    page.evaluate(SLOW, 40)
    for number in range(60 * ALL):
        keys(page, str(number % 2), "Enter")
        if page.locator(".steps, [data-step=hallucination]").count():
            break
    typed, given = page.evaluate("typed"), dict(page.evaluate(HISTORIES))
    assert len(given) == ALL
    for task_id, history in given.items():
        taken = [key for key, shown, takes in typed if shown == task_id and takes]
        first = taken.index("Enter", next(at for at, key in enumerate(taken) if key != "Enter"))
        assert history == [next(key for key in reversed(taken[:first]) if key != "Enter")]


def test_a_key_that_is_held_down_takes_back_one_mark(page: Any) -> None:
    for grade in ("1", "0"):
        keys(page, grade, "Enter")
        at(page, 2)
        press(page, "k")
        at(page, 1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/undo" in request.url else None)
    page.keyboard.down("u")
    page.locator(".choice:has(:checked) b", has_text="All parts are answered").wait_for()
    press(page, "n", "Escape")  # it takes keys
    page.keyboard.down("u")  # the keyboard repeats it
    page.keyboard.up("u")
    press(page, "j")
    at(page, 2)
    assert len(asked) == 1
    assert said(page, 1) == ["1", "0", "1"]


def test_going_elsewhere_while_it_is_saved_is_not_undone_by_the_answer(page: Any) -> None:
    save, overview = Network(page, "**/mark"), Network(page, "**/api/work")
    keys(page, "1", "Enter")
    save.wait()
    keys(page, "g")
    overview.wait()
    save.let_through()
    page.locator("#saving:text-is('Loading…')").wait_for()  # it is saved
    overview.let_through()
    wait_for_heading(page, "A small study")
    assert said(page, 1) == ["1"]


def test_a_mark_that_waits_for_the_connection_is_changed_only_on_request(page: Any) -> None:
    page.route("**/mark", lambda route: route.abort())
    keys(page, "1", "Enter")
    page.locator("#saving.lost").wait_for()
    keys(page, "0", "Enter")  # meant for the next one, which is not there
    assert page.locator(".choice:has(:checked) b").inner_text() == "All parts are answered"
    page.get_by_role("button", name="Change it").click()
    press(page, "0")
    assert page.locator(".choice:has(:checked) b").inner_text() == "Something is missing"
    page.unroute("**/mark")
    press(page, "Enter")
    at(page, 2)
    assert said(page, 1)[-1] == "0"


def test_a_draft_that_is_opened_again_is_called_not_saved(page: Any) -> None:
    press(page, "1", "j")
    at(page, 2)
    press(page, "k")
    at(page, 1)
    assert page.locator(".notice.draft").count() == 1
    assert page.locator("#saving").inner_text() == "Changed, not saved yet"


def test_a_question_about_one_response_is_not_left_over_another(page: Any) -> None:
    second = page.context.new_page()
    second.goto(page.url)
    at(second, 1)
    press(page, "j")
    at(page, 2)
    press(second, "0")
    page.go_back()
    at(page, 1)
    press(page, "1", "Enter")
    at(page, 2)
    second.bring_to_front()
    press(second, "Enter")
    second.locator("dialog", has_text="Something else stands here now").wait_for()
    second.goto(page.url)
    at(second, 2)
    assert second.locator("dialog").count() == 0
    assert said(page, 1) == ["1"]
