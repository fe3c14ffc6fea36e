"""The scoring of a real study in a real browser, served by the command that people use."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from desk_server import TAKES_KEYS, StudyDeskServer, close_dialog, open_task, press, wait_for_heading

from assay.kinds.answers.scoring.marks import Mark, current_marks, score_book
from assay.kinds.answers.scoring_steps.blinding import blind_study, check_blinding
from assay.pipeline.runner import run_study
from assay.study.study import open_study
from small_scoring import keep_keys

pytestmark = pytest.mark.browser

STUDY = Path(__file__).parents[2] / "src/assay/kinds/answers/template"
ALL, DRAWN = 60, 12  # 30 questions in two conditions by one model; a fifth of them for ben
SEND = """async ([step, taskIds, choice]) => {
  const { csrf } = await (await fetch("/api/session")).json();
  const open = (await (await fetch(`/api/steps/${step}`)).json()).tasks.filter((each) => !each.done);
  for (const { task_id } of open) if (!taskIds || taskIds.includes(task_id))
    await fetch(`/api/steps/${step}/tasks/${task_id}/mark`, {
      method: "PUT", headers: { "X-CSRF": csrf, "Content-Type": "application/json" },
      body: JSON.stringify({ mark_id: crypto.randomUUID(), choice, flags: choice ? [] : ["none_found"] }) });
  return open.map((each) => each.task_id);
}"""


@pytest.fixture(scope="module")
def blinded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answers study with one model alone, collected and blinded."""
    pytest.importorskip("uvicorn", reason="the desk's server is not installed")
    folder = tmp_path_factory.mktemp("study") / "answers"
    shutil.copytree(STUDY, folder, ignore=shutil.ignore_patterns("scored", "run", "blind*"))
    spec = yaml.safe_load((folder / "study.yaml").read_text())
    spec |= {"factors": {"model": ["small-3b"]}, "measures": ["Accuracy"]}
    spec["judges"] = [{"use": "panel", "primary": "anna", "others": ["ben"], "share": 0.2}]
    del spec["gates"], spec["by"]
    (folder / "study.yaml").write_text(yaml.safe_dump(spec))
    study = open_study(folder)
    run_study(study)
    with pytest.MonkeyPatch.context() as patch:
        keep_keys(patch)
        blind_study(study, by="tests")
    assert not check_blinding(study, "tests")
    return folder


@pytest.fixture
def folder(blinded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(blinded, tmp_path / "answers"))


@pytest.fixture
def server(folder: Path) -> Iterator[StudyDeskServer]:
    started = StudyDeskServer(folder, ["anna", "ben"])
    yield started
    started.stop()


@pytest.fixture
def sit(browser: Any, server: StudyDeskServer) -> Iterator[Callable[[str], Any]]:
    """Seats a rater in a browser of their own; the test fails on whatever the page complains about."""
    contexts: list[Any] = []
    said: list[str] = []

    def seat(rater: str) -> Any:
        contexts.append(browser.new_context(viewport={"width": 1600, "height": 1000}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(server.links[rater])
        page.locator(f"{TAKES_KEYS} .steps").wait_for()
        return page

    yield seat
    for context in contexts:
        context.close()
    assert said == []


def accuracy(page: Any, number: int, of: int = ALL) -> None:
    wait_for_heading(page, f"Factual accuracy: {number} of {of}")


def overview(page: Any) -> list[str]:
    """Each pass of the overview as the server has it now, in one line."""
    page.goto(page.url.partition("#")[0])
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    return [" ".join(text.split()) for text in page.locator(".step").all_inner_texts()]


def on_disk(folder: Path) -> list[Mark]:
    return list(current_marks(score_book(folder / "blind" / "marks").lines).values())


def select(page: Any, words: int) -> None:
    """Selects the first words of the response with the mouse."""
    left, right, height = page.evaluate(
        """(words) => {
          const node = document.querySelector(".markable .text").firstChild;
          const range = document.createRange();
          range.setStart(node, 0);
          range.setEnd(node, node.data.split(" ").slice(0, words).join(" ").length);
          const box = range.getClientRects()[0];
          return [box.left, box.right, (box.top + box.bottom) / 2];
        }""",
        words,
    )
    page.mouse.move(left + 1, height)
    page.mouse.down()
    page.mouse.move(right, height, steps=4)
    page.mouse.up()
    page.locator(".marking-bar.ready").wait_for()


def test_twenty_responses_by_keyboard_through_a_killed_server(
    sit: Any, server: StudyDeskServer, folder: Path
) -> None:
    page = sit("anna")
    press(page, "Enter")
    wanted = []
    for number in range(1, 21):
        accuracy(page, number)
        if number == 11:
            server.kill()
            assert len(on_disk(folder)) == 10  # nothing that the page called saved was under way
        grade = number % 4
        note = "" if grade == 3 else f"reason {number}"
        press(page, str(grade), *(["n"] if note else []))
        page.keyboard.type(note)
        press(page, "Control+Enter")
        if number == 11:
            page.locator("#saving", has_text="Not saved: no connection, trying again").wait_for()
            server.start()
        wanted.append((grade, note))
    accuracy(page, 21)
    assert [(mark.grade, mark.note) for mark in on_disk(folder)] == wanted
    assert overview(page)[0] == f"Factual accuracy Open 20 of {ALL} Go onEnter"
    press(page, "Enter")
    accuracy(page, 21)
    press(page, "k")
    accuracy(page, 20)
    press(page, "u")
    page.locator(".choices:not(:has(:checked))").wait_for()
    press(page, "h")
    assert page.locator("dialog li").count() == 2
    assert len(on_disk(folder)) == 19


def test_accuracy_3_and_a_made_up_claim_are_settled_in_the_page(sit: Any) -> None:
    page = sit("anna")
    ids = page.evaluate(SEND, ["accuracy", None, "3"])
    for task_id, words in ((ids[0], 2), (ids[1], 3)):
        open_task(page, "hallucination", task_id)
        assert page.locator(".notice").count() == 0  # no grade is at stake here
        select(page, words)
        press(page, "1", "Tab")
        page.keyboard.type("The source says nothing of it.")
        press(page, "Control+Enter")
        page.locator(f".task:not([data-task='{task_id}'])").wait_for()  # saved, and gone on by itself
    assert overview(page)[0] == f"Factual accuracy Done {ALL} of {ALL} Look again"  # not before its end
    page.evaluate(SEND, ["hallucination", None, None])
    assert "2 tasks to look at again" in overview(page)[0]
    press(page, "Enter")
    again = page.locator(".notice.again", has_text="You gave accuracy 3 and marked 1 H-FAB.")
    again.wait_for()
    assert page.locator(".notice", has_text="You marked in it: H-FAB “").count() == 1
    press(page, "2", "n")
    page.keyboard.type("It is made up.")
    press(page, "Control+Enter")
    page.locator(".notice.again").wait_for()
    page.locator(".choice:has(:checked) b", has_text="Fully right").wait_for()  # the second one
    press(page, "Enter")
    page.locator(".told:text-is('Nothing is changed here. To keep it as it is, press y.')").wait_for()
    press(page, "y")
    page.locator(".problems", has_text="Saved, but that does not settle why it came back.").wait_for()
    again.get_by_role("link", name="Hallucinations").click()
    page.locator(".claims > li").wait_for()
    page.get_by_role("button", name="Delete claim 1").click()
    press(page, "Escape", "0", "Control+Enter")
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    told = overview(page)
    assert told[0] == f"Factual accuracy Done {ALL} of {ALL} Look again"
    assert told[2].startswith("Completeness Open")


def test_a_precedent_brings_back_what_was_scored_and_both_raters_keep_to_themselves(sit: Any) -> None:
    anna, ben = sit("anna"), sit("ben")
    anna.evaluate(SEND, ["accuracy", None, "3"])
    ids = ben.evaluate(SEND, ["accuracy", None, "3"])
    assert len(ids) == DRAWN
    open_task(anna, "accuracy", ids[0])
    press(anna, "e")
    anna.get_by_label("The situation").fill("A unit is missing")
    anna.get_by_label("What is decided").fill("At most 2")
    anna.get_by_label("Why", exact=True).fill("A figure without a unit misleads")
    anna.get_by_label("Those on the same question").check()
    anna.get_by_role("button", name="Set the precedent").click()
    anna.locator(".notice.again", has_text="EC-11: A unit is missing. At most 2.").wait_for()
    seen = overview(ben)[0]
    found = re.search(rf"^Factual accuracy Open {DRAWN} of {DRAWN} ([12]) tasks? to look at again", seen)
    assert found is not None  # ben drew one or both of the question's responses
    press(ben, "Enter")
    ben.locator(".notice.again", has_text="EC-11").wait_for()
    press(ben, "h")
    assert ben.locator("dialog li").count() == 1  # nothing of anna's
    assert "EC-11: A unit is missing." in ben.locator("dialog .again").inner_text()
    close_dialog(ben)
    for _ in range(int(found[1])):
        before = ben.locator("h1").inner_text()
        ben.get_by_role("button", name="Keep it as it is").click()
        ben.wait_for_function("(before) => document.querySelector('h1').innerText !== before", arg=before)
    ben.locator(f"{TAKES_KEYS} .steps").wait_for()
    assert overview(ben)[0] == f"Factual accuracy Done {DRAWN} of {DRAWN} Look again"
    open_task(ben, "accuracy", ids[0])
    press(ben, "h")
    assert "Looked at again for EC-11" in ben.locator("dialog li").first.inner_text()
    close_dialog(ben)
    overview(ben)
    ben.get_by_role("link", name="Precedents").click()
    wait_for_heading(ben, "Precedents")
    told = ben.locator("main").inner_text()
    assert "A unit is missing" in told
    assert "anna" not in told
