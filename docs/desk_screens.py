"""Renews the pictures of the review desk in docs/images: a rater at work on the answers study.

.venv/bin/python docs/desk_screens.py [FOLDER]   (needs Chromium; FOLDER: where to write, default docs/images)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
ASSAY = [sys.executable, "-m", "assay"]
# Two claims of one response in the study that its pages do not support.
MADE_UP = ("all nodes are upgraded together during the night", "the old binary is kept for two weeks")
TAKES_KEYS = "main:not([inert])"  # between two screens the page takes none
WIDE, TABLET, PHONE = ((1600, 1000), (820, 1180), (380, 800))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The study, blinded and served; gives the first rater's link."""
    study = folder / "answers"
    shutil.copytree(
        ROOT / "src/assay/kinds/answers/template", study, ignore=shutil.ignore_patterns("scored", "run")
    )
    for command in (["run"], ["review", "blind"], ["review", "check"]):
        # A study that nobody has scored yet ends inconclusive, with a code of its own.
        subprocess.run([*ASSAY, *command, str(study)], capture_output=True, check=False)
    command = [*ASSAY, "review", "serve", str(study)]
    with (
        (folder / "said").open("w+") as said,
        subprocess.Popen(command, stderr=said) as child,
    ):
        try:
            yield first_link(folder / "said", child)
        finally:
            child.terminate()


def first_link(said: Path, child: subprocess.Popen[bytes]) -> str:
    while child.poll() is None:
        if found := re.findall(r"http\S+#\S+(?=\n)", said.read_text()):
            return str(found[0])
        time.sleep(0.1)
    raise SystemExit(said.read_text())


def score(page: Any, count: int) -> None:
    """Scores some responses, the last with a note half written."""
    for number in range(1, count + 1):
        at(page, number)
        page.keyboard.press("3" if number % 3 else "2")
        if not number % 3:
            page.keyboard.press("n")
            page.keyboard.type("Right in the main, but the window is not given.")
            page.keyboard.press("Escape")
        page.keyboard.press("Enter")
    at(page, count + 1)


def at(page: Any, number: int) -> None:
    heading = re.compile(rf": {number} of \d+$")
    page.locator(TAKES_KEYS).get_by_role("heading", level=1, name=heading).wait_for()


def skip_to_claims(page: Any) -> None:
    """Scores the first pass through the API, as 3, so that the second one opens."""
    page.evaluate("""async () => {
      const { csrf } = await (await fetch("/api/session")).json();
      const { tasks } = await (await fetch("/api/steps/accuracy")).json();
      for (const { task_id } of tasks) await fetch(`/api/steps/accuracy/tasks/${task_id}/mark`, {
        method: "PUT", headers: { "X-CSRF": csrf, "Content-Type": "application/json" },
        body: JSON.stringify({ mark_id: crypto.randomUUID(), choice: "3" }) });
    }""")


def find(page: Any, words: str) -> str:
    """The task whose response holds some words."""
    found = page.evaluate(
        """async (words) => {
          const get = (path) => fetch(path).then((answer) => answer.json());
          for (const { task_id } of (await get("/api/steps/hallucination")).tasks) {
            const { blocks } = await get(`/api/steps/hallucination/tasks/${task_id}`);
            if (blocks.some(({ role, text }) => role === "response" && text.includes(words))) return task_id;
          }
        }""",
        words,
    )
    return str(found)


def select(page: Any, words: str) -> None:
    page.evaluate(
        """(words) => {
          const text = document.querySelector(".markable .text");
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.data.indexOf(words);
            if (at >= 0) getSelection().setBaseAndExtent(node, at, node, at + words.length);
          }
        }""",
        words,
    )
    page.locator(".marking-bar.ready").wait_for()


def mark_two(page: Any) -> None:
    """Marks one claim and leaves a second selection open."""
    page.locator(f"{TAKES_KEYS} .markable").wait_for()
    select(page, MADE_UP[0])
    press(page, "1", "Tab")
    page.keyboard.type("The page says one node at a time.")
    press(page, "Escape")
    page.get_by_role("button", name="Done with claim 1").click()
    select(page, MADE_UP[1])


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def take(page: Any, folder: Path, name: str, size: tuple[int, int], scheme: str) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_timeout(250)
    path = folder / f"desk-{name}.png"
    page.screenshot(path=str(path))
    from PIL import Image

    # Few colours are in it: as many as a palette holds, at a third of the size.
    with Image.open(path) as taken:
        taken.convert("RGB").quantize(255, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def pictures(page: Any, folder: Path, link: str) -> None:
    page.goto(link)
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    page.keyboard.press("Enter")
    score(page, 7)
    press(page, "2", "n")
    page.keyboard.type("Right in the main; it does not say")
    take(page, folder, "task", WIDE, "light")
    take(page, folder, "task-tablet", TABLET, "dark")
    page.keyboard.press("Escape")
    take(page, folder, "phone", PHONE, "light")
    page.keyboard.press("u")
    page.keyboard.press("g")
    page.locator(f"{TAKES_KEYS} .steps").wait_for()
    take(page, folder, "overview", (1000, 900), "light")
    skip_to_claims(page)
    page.goto(f"{link.partition('#')[0]}#/hallucination/{find(page, MADE_UP[0])}")
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    mark_two(page)
    take(page, folder, "claims", WIDE, "dark")


def main() -> None:
    from playwright.sync_api import sync_playwright

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as link, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page()
        page.on("pageerror", lambda error: print(error, file=sys.stderr))
        page.on("dialog", lambda dialog: dialog.accept())
        pictures(page, target, link)
        browser.close()


if __name__ == "__main__":
    main()
