"""The review desk in a real browser: one rater at work, by keyboard and by pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desk_server import TAKES_KEYS, DeskServer, close_dialog, open_claims, press, seats, wait_for_heading

pytestmark = pytest.mark.browser

RATERS = [f"rater{number}" for number in range(32)]
GRADE = ".choice:has(:checked) b"


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


def marks(page: Any, step: str, number: int) -> dict[str, Any]:
    """What the server holds of one task, asked for with the page's own session."""
    ask = "(path) => fetch(path).then((answer) => answer.json())"
    task = page.evaluate(ask, f"/api/steps/{step}")["tasks"][number - 1]["task_id"]
    return dict(page.evaluate(ask, f"/api/steps/{step}/tasks/{task}"))


# ------------------------------------------------------------------------------------ by keyboard


def test_the_token_leaves_the_address_and_works_once(browser: Any, server: DeskServer, sit: Any) -> None:
    page = sit()
    assert page.url == f"{server.address}/"
    used = next(link for link in server.links.values())
    other = browser.new_context().new_page()
    other.goto(used)  # the first link was used by the first test's rater
    other.get_by_role("heading", name="With a link").wait_for()
    assert other.locator(".problem").count() == 1
    other.context.close()


def test_twenty_tasks_are_scored_with_the_keyboard(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    for number in range(1, 21):
        wait_for_heading(page, f"Accuracy: {number} of 20")
        assert page.evaluate("document.activeElement.tagName") == "H1"  # where a screen reader goes on
        press(page, str(number % 4))
        if number % 4 == 3:
            press(page, "Enter")
        else:
            press(page, "n")
            page.keyboard.type(f"reason {number}, with 3 and r in it")  # no key acts inside a text
            press(page, "Control+Enter")
    wait_for_heading(page, "A small study")
    assert page.locator(".step.done .figure").all_inner_texts() == ["20 of 20"]
    assert page.locator("#saving").inner_text() == "Saved"
    for number in (1, 7, 20):
        mark = marks(page, "accuracy", number)["mark"]
        note = "" if number % 4 == 3 else f"reason {number}, with 3 and r in it"
        assert (mark["choice"], mark["note"], mark["flags"]) == (str(number % 4), note, [])


def test_undo_goes_back_step_by_step_and_history_keeps_all(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "3", "Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "ArrowLeft")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "2", "n")
    page.keyboard.type("not quite")
    press(page, "Control+Enter")
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    wait_for_heading(page, "Accuracy: 1 of 20")
    assert page.locator(GRADE).inner_text() == "Mostly right"
    press(page, "u")
    page.locator(GRADE, has_text="Right").and_(page.locator(":text-is('Right')")).wait_for()
    press(page, "u")
    page.locator(".choices:not(:has(:checked))").wait_for()
    assert marks(page, "accuracy", 1)["mark"] is None
    press(page, "h")
    told = page.locator("dialog li").all_inner_texts()
    assert len(told) == 4  # 3, 2, back to 3, back to nothing
    assert "Taken back" in told[0]
    assert "not quite" in told[2]
    close_dialog(page)
    press(page, "u")  # nothing is left
    page.locator(".told", has_text="Nothing is saved here").wait_for()


def test_what_the_server_refuses_stands_beside_the_field_in_its_words(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "Enter")
    page.locator(".problems .problem", has_text="Choose one of the grades.").wait_for()
    press(page, "1", "Enter")
    problem = page.locator("#note-problem")
    page.locator("#note[aria-invalid=true]").wait_for()
    assert problem.inner_text() == "A note is needed for this grade."
    assert page.evaluate("document.activeElement.id") == "note"
    assert page.locator("#saving").inner_text() == "Changed, not saved yet"
    press(page, "Escape", "r")  # a refusal is wrong: the flag brings its grade
    assert page.locator(GRADE).inner_text() == "Wrong"
    press(page, "3")
    assert not page.locator(".flag input").is_checked()


def test_keys_are_listed_and_single_keys_can_be_switched_off(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "?")
    told = " ".join(page.locator(".keys td").all_inner_texts())
    for what in ("Grade: Right", "Undo", "History", "New precedent", "Overview", "Write the note", "Next"):
        assert what in told
    page.get_by_label("Single keys act").uncheck()
    close_dialog(page)
    press(page, "2")
    assert page.locator(":checked").count() == 0
    press(page, "?")
    page.get_by_label("Single keys act").check()
    close_dialog(page)
    press(page, "g")
    wait_for_heading(page, "A small study")


def test_every_key_is_in_the_docs(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    press(page, "?")
    keys = set(page.locator("dialog kbd").all_inner_texts()) - {
        "1",
        "2",
        "3",
        "4",
    }  # digits are told in words
    table = (Path(__file__).parents[2] / "docs/desk.md").read_text()
    assert "m" in keys
    assert [key for key in sorted(keys) if f"`{key}`" not in table] == []


def test_a_suggestion_is_shown_on_request_and_fills_nothing_in(sit: Any) -> None:
    page = sit()
    page.evaluate("""async () => {
      const { csrf } = await (await fetch("/api/session")).json();
      const { tasks } = await (await fetch("/api/steps/accuracy")).json();
      for (const { task_id } of tasks) await fetch(`/api/steps/accuracy/tasks/${task_id}/mark`, {
        method: "PUT", headers: { "X-CSRF": csrf, "Content-Type": "application/json" },
        body: JSON.stringify({ mark_id: crypto.randomUUID(), choice: "3" }) });
    }""")
    page.goto(page.url + "#/completeness")
    wait_for_heading(page, "Completeness: 1 of 20")
    assert page.locator(".told").inner_text() == ""
    press(page, "s")
    page.locator(".told", has_text="Suggested by rule: 1 All parts are answered (").wait_for()
    assert page.locator(":checked").count() == 0


def test_a_precedent_is_set_from_a_task(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "e")
    page.get_by_label("The situation").fill("A unit is missing.")
    page.get_by_label("What is decided").fill("At most 2.")
    page.get_by_label("Why", exact=True).fill("A figure without a unit misleads.")
    page.get_by_role("button", name="Set the precedent").click()
    page.locator("dialog").wait_for(state="detached")
    press(page, "g")
    page.get_by_role("link", name="Precedents").click()
    page.get_by_role("heading", name="A unit is missing.").wait_for()


# --------------------------------------------------------------------------------------- spans


def test_a_claim_is_marked_by_selecting_text_with_the_mouse(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    box = page.locator(".markable .text").bounding_box()
    bar = page.locator(".categories").bounding_box()
    place = page.evaluate("""() => {
      const node = document.querySelector(".markable .text").firstChild;
      const range = document.createRange();
      range.setStart(node, 18); range.setEnd(node, 26);  // "24 hours"
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return [left, right, (top + bottom) / 2];
    }""")
    page.mouse.move(place[0], place[2])
    page.mouse.down()
    page.mouse.move(place[1], place[2], steps=4)
    page.mouse.up()
    page.locator(".marking-bar.ready").wait_for()
    assert page.locator(".categories").bounding_box() == bar  # nothing moves under the pointer
    page.get_by_role("button", name="Extrapolated").click()
    assert page.locator(".markable .text").bounding_box()["y"] == box["y"]
    assert page.get_by_label("What is claimed").input_value() == "24 hours"
    assert page.locator("mark").inner_text() == "24 hours"
    assert page.locator("mark").get_attribute("data-label") == "1 Extrapolated"
    press(page, "Control+Enter")
    page.locator("#claim-problem-0", has_text="Each claim needs its text and a note.").wait_for()
    page.get_by_label("Why the source does not support it").fill("It says 12.")
    press(page, "Control+Enter")
    wait_for_heading(page, "Unsupported claims: 2 of 20")
    saved = marks(page, "hallucination", 1)["mark"]["spans"]
    assert saved == [
        {"category": "H-EXT", "start": 18, "end": 26, "claim": "24 hours", "note": "It says 12."}
    ]


def test_a_claim_is_marked_with_the_keyboard_in_code_points(sit: Any) -> None:
    """The text holds letters beyond the first 65,536, which the browser counts twice and Python once."""
    page = sit()
    open_claims(page, 3)
    text = marks(page, "hallucination", 3)["blocks"][1]["text"]
    press(page, "m", "End", "ArrowLeft")  # before the last full stop
    press(page, "ArrowLeft", "ArrowLeft")  # before "calls", before "500"
    press(page, "Shift+ArrowRight", "Shift+ArrowRight")
    page.locator("#said:text-is('Selected: 500 calls')").wait_for()
    press(page, "Shift+Alt+ArrowLeft")
    page.locator("#said:text-is('Selected: 500 call')").wait_for()
    press(page, "Shift+Alt+ArrowRight", "Enter")
    assert page.evaluate("document.activeElement.textContent") == "Fabricated1"
    press(page, "4")
    press(page, "Tab")
    page.keyboard.type("no figure there")
    press(page, "Control+Enter")
    wait_for_heading(page, "Unsupported claims: 4 of 20")
    (span,) = marks(page, "hallucination", 3)["mark"]["spans"]
    assert text[span["start"] : span["end"]] == "500 calls"
    assert (span["category"], span["note"]) == ("H-TMP", "no figure there")


def test_marking_by_line_and_leaving_it(sit: Any) -> None:
    page = sit(viewport={"width": 700, "height": 900})
    open_claims(page, 4)  # "Limits:", an empty line, two list lines, an empty line, a sentence
    press(page, "m", "ArrowDown", "ArrowDown", "Shift+End")
    page.locator("#said", has_text="Selected: - 100 requests a minute").wait_for()
    press(page, "Escape")
    assert page.locator(".marking").count() == 0
    assert page.locator(".marking-bar.ready").count() == 0
    press(page, "1")  # nothing is selected: no claim
    assert page.locator(".claims > li").count() == 0


def test_claims_are_edited_and_deleted_and_may_overlap(sit: Any) -> None:
    page = sit()
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight", "Shift+ArrowRight", "1")  # "A token"
    press(page, "Tab")
    page.keyboard.type("first")
    press(page, "Escape", "m", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "2")  # "token lives"
    press(page, "Tab")
    page.keyboard.type("second")
    assert page.locator("mark").all_inner_texts() == ["A ", "token", " lives"]
    assert page.locator("mark[data-label]").evaluate_all("all => all.map(e => e.dataset.label)") == [
        "1 Fabricated",
        "2 Wrong source",
    ]
    page.get_by_role("button", name="Edit claim 1").click()
    page.get_by_label("Category").select_option(label="Out of date")
    assert page.locator("mark[data-label]").first.get_attribute("data-label") == "1 Out of date"
    page.get_by_role("button", name="Delete claim 1").click()
    assert page.locator("mark").all_inner_texts() == ["token lives"]
    assert page.get_by_role("button", name="Save 1 claim, go on").count() == 1
    page.reload()  # what was not saved is still there
    page.locator(".notice.draft").wait_for()
    assert page.locator("mark").all_inner_texts() == ["token lives"]


# ----------------------------------------------------------------------------------- safety, looks


def test_a_script_in_a_passage_does_not_run(sit: Any) -> None:
    page = sit(bypass_csp=True)  # escaping has to hold by itself
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "j")
    wait_for_heading(page, "Accuracy: 2 of 20")
    assert "<script>document.title = 'taken'</script>" in page.locator(".response .text").inner_text()
    assert page.title().startswith("2 of 20")
    assert page.locator("main script, main b:not(.choice b)").count() == 0


def test_no_request_leaves_the_machine_and_nothing_breaks_the_policy(sit: Any, server: DeskServer) -> None:
    page = sit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    assert len(asked) > 10
    assert all(url.startswith(server.address) for url in asked)
    inline = "document.querySelectorAll('main [style], header [style], script:not([src]), style').length"
    assert page.evaluate(inline) == 0


@pytest.mark.parametrize("width", [380, 820, 1600])
def test_the_page_never_scrolls_sideways_and_save_is_always_in_view(sit: Any, width: int) -> None:
    page = sit(viewport={"width": width, "height": 1180 if width == 820 else 800})
    for number in (1, 3):
        open_claims(page, number)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        save = page.locator("#bar .first").bounding_box()
        assert save["y"] + save["height"] <= (1180 if width == 820 else 800)
        assert save["x"] + save["width"] <= width


def test_the_theme_follows_the_system_until_it_is_switched(sit: Any) -> None:
    page = sit(color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 24, 27)"
    page.get_by_role("button", name="Theme: auto").click()
    assert page.evaluate(paper) == "rgb(253, 253, 252)"
    page.reload()
    page.get_by_role("button", name="Theme: light").wait_for()
    assert page.evaluate(paper) == "rgb(253, 253, 252)"


def grave_faults(api: Any, page: Any) -> list[tuple[str, str]]:
    found = api.Axe().run(page).response["violations"]
    grave = [each for each in found if each["impact"] in {"serious", "critical"}]
    return [(each["id"], each["nodes"][0]["html"]) for each in grave]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1600])
def test_axe_finds_no_serious_fault(sit: Any, scheme: str, width: int) -> None:
    api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page = sit(color_scheme=scheme, viewport={"width": width, "height": 900})

    def check() -> None:
        assert grave_faults(api, page) == []

    check()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "1", "Enter")
    page.locator("#note[aria-invalid=true]").wait_for()
    check()
    open_claims(page, 1)
    press(page, "m", "Shift+ArrowRight")
    check()
    press(page, "1")
    check()
    press(page, "Escape", "l")
    page.locator("dialog .grid").wait_for()
    check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_what_opens_over_a_task_or_before_it(sit: Any, scheme: str) -> None:
    api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page = sit(color_scheme=scheme, viewport={"width": 380, "height": 800})
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    other = page.context.new_page()  # the same rater in a second tab, who is quicker
    other.goto(page.url)
    wait_for_heading(other, "Accuracy: 1 of 20")
    press(page, "2", "n")
    page.keyboard.type("not quite")
    press(other, "3", "Enter")
    wait_for_heading(other, "Accuracy: 2 of 20")
    press(page, "Control+Enter")
    page.locator("dialog", has_text="Something else stands here now").wait_for()
    assert grave_faults(api, page) == []
    page.get_by_role("button", name="Save mine over it").click()
    wait_for_heading(page, "Accuracy: 2 of 20")
    press(page, "k")
    wait_for_heading(page, "Accuracy: 1 of 20")
    for key, title in (("h", "What you said here"), ("?", "Keys"), ("e", "New precedent")):
        press(page, key)
        page.locator("dialog", has_text=title).wait_for()
        assert grave_faults(api, page) == []
        close_dialog(page)
    press(page, "g")
    page.get_by_role("link", name="Precedents").click()
    wait_for_heading(page, "Precedents")
    assert grave_faults(api, page) == []
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("heading", name="With a link").wait_for()
    page.get_by_label("Link").fill("nothing")
    page.get_by_role("button", name="Enter").first.click()
    page.locator(".problem").wait_for()
    assert grave_faults(api, page) == []


def test_a_precedent_can_be_set_on_a_phone(sit: Any) -> None:
    page = sit(viewport={"width": 380, "height": 800})
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    press(page, "e")
    page.locator("dialog").wait_for()
    frame, words = (page.locator(each).bounding_box() for each in ("dialog", "dialog [name=words]"))
    assert words["width"] > 200
    page.locator("dialog [name=words]").fill("a unit")
    assert page.get_by_label("Those whose text holds these words:").is_checked()
    assert words["x"] + words["width"] <= frame["x"] + frame["width"]
    assert (
        page.evaluate(
            "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))"
        )
        == 0
    )


def test_without_a_source_no_column_is_left_empty(sit: Any) -> None:
    page = sit()
    press(page, "Enter")
    wait_for_heading(page, "Accuracy: 1 of 20")
    page.evaluate("document.querySelector('.sources')?.remove()")  # as in a review of passages
    reading, beside = (page.locator(each).bounding_box() for each in (".reading", ".beside"))
    assert beside["x"] - (reading["x"] + reading["width"]) < 40
