"""Renews what the README shows: the demo's real output, and its report as a picture.

.venv/bin/python docs/refresh.py            the output
.venv/bin/python docs/refresh.py --picture  also docs/images/report.png (needs Chromium)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DEMO = re.compile(r"(?<=```\n\$ make demo\n).*?(?=```\n)", re.DOTALL)
CHROMIUM = "/usr/bin/chromium"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def demo_output(folder: Path) -> str:
    """What `make demo` prints, without the talk."""
    command = [sys.executable, "-m", "assay", "demo", "demo"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def take_picture(page: Path, target: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        opened = browser.new_page(viewport={"width": 1280, "height": 1150}, color_scheme="light")
        opened.goto(page.as_uri())
        opened.screenshot(path=str(target))
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = demo_output(folder)
        README.write_text(DEMO.sub(lambda _: output, README.read_text()))
        if "--picture" in sys.argv:
            take_picture(folder / "demo" / "run" / "report.html", ROOT / "docs" / "images" / "report.png")


if __name__ == "__main__":
    main()
