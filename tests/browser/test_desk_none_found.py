"""“None found” has a key of its own, and is taken of a response that was on screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from desk_server import DeskServer, open_claims, press, seats, wait_for_heading

pytestmark = pytest.mark.browser

RATERS = [f"rater{number}" for number in range(12)]
SIZES = {"wide": (1600, 1000), "tablet": (820, 1180), "phone": (380, 800)}
TASK = """async ([step, at]) => {
  const get = (path) => fetch(path).then((answer) => answer.json());
  const { tasks } = await get(`/api/steps/${step}`);
  return get(`/api/steps/${step}/tasks/${tasks[at].task_id}`);
}"""
# The box that scrolls: on a wide screen the column of the response, elsewhere the page.
SCROLL = """(share) => {
  const column = document.querySelector(".reading");
  const box = column.scrollHeight > column.clientHeight + 1 ? column : document.documentElement;
  const before = box.scrollTop;
  const text = document.querySelector(".markable .text").getBoundingClientRect();
  if (share === "end") box.scrollTop += text.bottom - innerHeight / 2;
  else if (share === "start") box.scrollTop = 0;
  else box.scrollTop += share * innerHeight;
  return box.scrollTop !== before;
}"""
PAINTED = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"


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


def history(page: Any, step: str, number: int) -> list[Any]:
    """All that the server has of one task."""
    return list(page.evaluate(TASK, [step, number - 1])["history"])


def scroll(page: Any, share: float | str) -> bool:
    moved = page.evaluate(SCROLL, share)
    page.evaluate(PAINTED)
    return bool(moved)


def test_enter_records_nothing_and_says_what_to_press(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    press(page, "Enter", "Enter")
    page.locator(".problems", has_text="choose “None found”").wait_for()
    wait_for_heading(page, "Unsupported claims: 1 of 20")
    assert history(page, "hallucination", 1) == []
    press(page, "n")
    page.keyboard.type("nothing to see")
    press(page, "Control+Enter")
    page.locator(".problems", has_text="choose “None found”").wait_for()
    assert history(page, "hallucination", 1) == []
    press(page, "Escape", "0")
    assert page.get_by_role("checkbox", name="None found").is_checked()
    assert page.get_by_role("button", name="Save: none found").count() == 1
    assert history(page, "hallucination", 1) == []  # chosen, and not saved yet
    press(page, "Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    (mark,) = history(page, "hallucination", 1)
    assert (mark["flags"], mark["spans"]) == (["none_found"], [])
    page.get_by_role("checkbox", name="None found").check()
    page.get_by_role("button", name="Save: none found").click()
    wait_for_heading(page, "Unsupported claims: 3 of 20")
    assert len(history(page, "hallucination", 2)) == 1


@pytest.mark.parametrize("size", SIZES)
def test_what_is_refused_is_on_screen_and_not_called_saved(sit: Any, size: str) -> None:
    width, height = SIZES[size]
    page = sit(viewport={"width": width, "height": height})
    open_claims(page, 1)
    press(page, "0", "Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    page.get_by_role("button", name="Save and go on").click()
    refusal = page.locator(".problems", has_text="choose “None found”")
    refusal.wait_for()
    page.locator("#saving", has_text="Not saved").wait_for()
    bar = page.locator("#bar").bounding_box()
    box = refusal.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= min(height, bar["y"] if bar["y"] > height / 2 else height)


@pytest.mark.parametrize("size", SIZES)
def test_none_is_found_in_what_was_on_screen_to_its_end(sit: Any, size: str) -> None:
    width, height = SIZES[size]
    page = sit(viewport={"width": width, "height": height})

    def long_response(route: Any) -> None:
        task = route.fetch().json()
        for block in task["blocks"]:
            if block["markable"]:
                block["text"] = "\n".join([block["text"]] * 120)
        route.fulfill(json=task)

    page.route("**/api/steps/hallucination/tasks/*", long_response)
    open_claims(page, 1)
    unread = page.locator(".problems", has_text="Not all of the text has been on screen yet.")
    none = page.get_by_role("checkbox", name="None found")
    press(page, "0")
    unread.wait_for()
    assert not none.is_checked()
    scroll(page, "end")  # past what lies between
    press(page, "0")
    unread.wait_for()
    assert not none.is_checked()
    scroll(page, "start")
    while scroll(page, 0.4):
        pass
    press(page, "0", "Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    assert history(page, "hallucination", 1)[0]["flags"] == ["none_found"]


def test_a_draft_from_before_is_not_saved_unread(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    press(page, "0")
    page.set_viewport_size({"width": 380, "height": 300})  # the response is below what is on screen
    page.reload()
    page.locator("main:not([inert]) .notice.draft").wait_for()
    press(page, "Enter")
    page.locator(".problems", has_text="Not all of the text has been on screen yet.").wait_for()
    assert history(page, "hallucination", 1) == []


def test_the_next_response_is_on_screen_and_not_what_lies_below_it(sit: Any) -> None:
    page = sit(viewport={"width": 380, "height": 800})
    open_claims(page, 1)
    press(page, "0")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    press(page, "Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    assert page.evaluate("scrollY") == 0


def test_claims_and_none_found_do_not_stand_together(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    none = page.get_by_role("checkbox", name="None found")
    press(page, "0", "m", "Shift+ArrowRight", "1")
    assert not none.is_checked()
    press(page, "Tab")
    page.keyboard.type("made up")
    press(page, "Escape", "0")
    page.locator(".problem", has_text="Delete them before you choose “None found”.").wait_for()
    assert not none.is_checked()
    page.get_by_role("button", name="Delete claim 1").click()
    press(page, "0")
    assert none.is_checked()
    press(page, "0")
    assert not none.is_checked()


def test_enter_on_what_is_saved_already_saves_nothing_and_goes_on(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "3", "Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    assert len(history(page, "accuracy", 1)) == 1


def test_what_is_to_be_looked_at_again_is_kept_by_a_key_of_its_own(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "3", "Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight", "1", "Tab")
    page.keyboard.type("made up")
    press(page, "Control+Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    page.goto(f"{page.url.partition('#')[0]}#/accuracy")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    page.locator("main:not([inert]) .notice.again").wait_for()
    press(page, "Enter", "Enter")
    page.locator(".told:text-is('Nothing is changed here. To keep it as it is, press y.')").wait_for()
    assert len(history(page, "accuracy", 1)) == 1
    press(page, "y")
    wait_for_heading(page, "Accuracy: 2 of 20")
    assert len(history(page, "accuracy", 1)) == 2
