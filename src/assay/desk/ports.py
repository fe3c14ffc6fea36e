"""A port of this machine for a local server, and the signals that end one."""

from __future__ import annotations

import signal
import socket

from assay.core.errors import UsageError

HOST = "127.0.0.1"
USUAL_PORT = 8501
ENDING = (signal.SIGINT, signal.SIGTERM)


def port_for(wanted: int | None) -> int:
    """The port asked for, if it is free; without one the usual one, or any that is free."""
    for port in (USUAL_PORT, 0) if wanted is None else (wanted,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise UsageError(f"Port {wanted} of {HOST} cannot be used. Name another with --port, or leave it out.")
