"""The dashboard in a real browser: it answers, shows the headline, and asks nobody but its own server."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl
import pytest

pytestmark = pytest.mark.browser

START = """
import sys
from pathlib import Path
from assay.kinds.models.dashboard.serve import serve
serve(Path(sys.argv[1]), int(sys.argv[2]), lambda text: print(text, flush=True))
"""
PLANT = "![x](http://example.org/x.png) <img src='http://example.org/y.png'> question"


def write_tables(folder: Path) -> None:
    models = ["MiniLM", "MIKA"]
    frames = {
        "aggregate_metrics": {"model": models, "mean_mrr": [0.5, 0.75], "mean_latency_ms": [40.0, 80.0]},
        "query_comparison": {
            "query_id": ["a", "b"], "query_text": [PLANT, PLANT], "category": ["x", PLANT],
            "difficulty": ["easy", "hard"], "minilm_mrr": [1.0, 0.0], "mika_mrr": [1.0, 0.5],
        },
        "category_metrics": {"category": ["x", "x"], "model": models, "mrr": [0.5, 0.75]},
        "benchmark_decision": {"recommendation": ["use MIKA"]},
    }  # fmt: skip
    for name, columns in frames.items():
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("streamlit", reason="Streamlit is not installed")
    folder = tmp_path_factory.mktemp("benchmark")
    write_tables(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", START, str(folder), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as child:
        try:
            assert child.stdout is not None
            # The server is given a minute to answer, and ends with an error after that.
            assert child.stdout.readline() == f"dashboard: http://127.0.0.1:{port} (Ctrl-C ends it)\n"
            yield f"http://127.0.0.1:{port}"
        finally:
            child.send_signal(signal.SIGINT)
            try:
                left = child.wait(timeout=30)
            except subprocess.TimeoutExpired:
                child.kill()
                raise
    assert left == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0  # the server has gone with its parent


@pytest.mark.parametrize("width", [390, 1440])
def test_the_headline_shows_and_no_request_leaves_the_machine(browser: Any, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_default_timeout(60_000)
    page.goto(address)
    # it is sent piece by piece, and its pictures are drawn after that
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.get_by_role("heading", name="Where this comes from").wait_for()
    page.locator("svg.marks").nth(3).wait_for()
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for()
    assert page.locator("h1").inner_text() == "Recommendation: use MIKA"
    assert page.get_by_role("heading", name="Queries won: MIKA 1, MiniLM 0; tied: 1").count() == 1
    assert page.locator("[data-testid=stException]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width
    hosts = {urlsplit(url).hostname for url in asked if urlsplit(url).scheme not in {"data", "blob"}}
    assert hosts == {"127.0.0.1"}
    assert said == []
    page.close()
