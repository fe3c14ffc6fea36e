"""A local server for the dashboard: a child process that only this machine can reach."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from assay.core.errors import PluginError
from assay.desk.serving import ENDING, HOST, port_for
from assay.kinds.models.dashboard.tables import read_tables

PATIENCE = 60.0  # seconds until the server has to answer
GRACE = 10.0  # seconds it has to end
INSTALL = "The dashboard needs Streamlit. Install it with: pip install 'retrieval-assay[dashboard]'"


def serve(folder: Path, port: int | None, announce: Callable[[str], None]) -> None:
    """Shows a folder until Ctrl-C, and announces the address when the server answers."""
    read_tables(folder)  # so that problems of the files are reported here, and not in a browser
    if importlib.util.find_spec("streamlit") is None:
        raise PluginError(INSTALL)
    chosen = port_for(port)
    address = f"http://{HOST}:{chosen}"
    before = {each: signal.signal(each, signal.default_int_handler) for each in ENDING}
    # The server prints a greeting on stdout, and ends by itself on Ctrl-C in the terminal.
    child = subprocess.Popen(server_command(folder, chosen), stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        _wait_for(child, address)
        announce(f"dashboard: {address} (Ctrl-C ends it)")
        _check(child.wait())
    except KeyboardInterrupt:
        announce("dashboard ended")
    finally:
        _end(child)
        for each, handler in before.items():
            signal.signal(each, handler)


def server_command(folder: Path, port: int) -> list[str]:
    """Returns the command of a server that opens no browser, reports nothing and watches no source files."""
    settings = {
        "server.address": HOST,
        "server.port": str(port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "viewer",
        "client.showErrorLinks": "false",
        "theme.light.font": "system-ui, sans-serif",
        "theme.dark.font": "system-ui, sans-serif",
        "theme.light.primaryColor": "#0072b2",
        "theme.dark.primaryColor": "#56b4e9",
        "theme.headingFontSizes": "2.1rem,1.6rem,1.4rem,1.1rem",
    }
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    script = str(Path(__file__).with_name("app.py"))
    return [sys.executable, "-m", "streamlit", "run", script, *options, "--", str(folder.resolve())]


def _wait_for(child: subprocess.Popen[bytes], address: str) -> None:
    import httpx

    until = time.monotonic() + PATIENCE
    with httpx.Client(trust_env=False, timeout=2) as client:
        while time.monotonic() < until:
            _check(child.poll())
            try:
                if client.get(f"{address}/_stcore/health").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
    raise PluginError(f"Streamlit did not answer at {address} within {PATIENCE:.0f} seconds.")


def _check(code: int | None) -> None:
    if code:
        raise PluginError(f"Streamlit ended with exit code {code}; its output is above.")


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
