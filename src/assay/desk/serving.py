"""Serves the desk on this machine, with a link for each rater, or on a network, with a password."""

from __future__ import annotations

import gc
import importlib.util
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import PluginError, UsageError
from assay.review.work import SHORT, DeskWork
from assay.store.disk import explain_write_errors, hold_lock_for

HOST = "127.0.0.1"
USUAL_PORT = 8501
ENDING = (signal.SIGINT, signal.SIGTERM)
INSTALL = "The review desk needs FastAPI and uvicorn. Install them with: pip install 'retrieval-assay[desk]'"
ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, and refused without a password
SHORTEST = 8  # characters of a password
AT_ONCE = 64  # connections accepted at once; more could use up the file handles before any is checked
GRACE = 3  # seconds for requests that are under way at the end


@dataclass(frozen=True)
class ServedDesk:
    """A running desk: its address, its raters, and a login link for each rater.

    A desk with a password has no links.
    """

    address: str
    raters: Sequence[str]
    links: Mapping[str, str]

    @property
    def in_words(self) -> str:
        """The address and the links, as the command prints them."""
        head = f"desk: {self.address} (Ctrl-C ends it)"
        if not self.links:
            return f"{head}\n  log in with the password, as one of: {', '.join(self.raters)}"
        return "\n".join([head, *(f"  {rater}: {link}" for rater, link in self.links.items())])


def serve(
    work: DeskWork,
    *,
    state: Path,
    host: str = HOST,
    port: int | None = None,
    raters: Sequence[str] | None = None,
    password: str | None = None,
    names: Sequence[str] = (),
    opened: Callable[[ServedDesk], None],
) -> None:
    """Serves the desk until Ctrl-C or SIGTERM, and then closes the work.

    It calls `opened` once the desk accepts connections. `state` is the folder of the secret and of the used
    links. `raters` are the raters of the work who may log in; None means all. `names` are further host names
    of the desk, such as the name of a proxy.
    """
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise PluginError(INSTALL)
    from assay.desk.access import Access, is_loopback
    from assay.desk.app import make_app

    try:
        chosen = _known(work, raters)
        _check(host, password, is_loopback(host))
        with ExitStack() as held:
            held.callback(_lock_desk(work, state))
            listener = held.enter_context(_listening(host, port))
            called = [host, socket.gethostname(), *names]
            access = Access(state, chosen, password=password, names=called, digits=host in ANYWHERE)
            held.callback(access.close)
            address = _address(host, listener.getsockname()[1])
            links = (
                {} if password is not None else {each: f"{address}/#{access.link(each)}" for each in chosen}
            )
            app = make_app(work, access)
            opened(ServedDesk(address, chosen, links))
            with _swept():
                _run(app, listener)
    finally:
        work.close()


def _known(work: DeskWork, raters: Sequence[str] | None) -> list[str]:
    unknown = [name for name in raters or () if name not in work.raters]
    if unknown:
        known = ", ".join(work.raters) or "nobody"
        raise UsageError(f"{unknown[0]!r} is not a rater of this study. Its raters: {known}.")
    return list(raters if raters is not None else work.raters)


def _check(host: str, password: str | None, loopback: bool) -> None:
    if not loopback and password is None:
        what = f"Others can reach {host}, so the desk needs a password there."
        raise UsageError(f"{what} Give one with --password-file, or leave out --host.")
    if password is not None and not SHORTEST <= len(password) <= SHORT:
        raise UsageError(
            f"The password has {len(password)} characters: use {SHORTEST} or more, and at most {SHORT}."
        )


def _address(host: str, port: int) -> str:
    shown = socket.gethostname() if host in ANYWHERE else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _lock_desk(work: DeskWork, state: Path) -> Callable[[], object]:
    """Locks the desk, so that a study has only one desk. Returns a function that unlocks it."""
    with explain_write_errors(state):
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
    return hold_lock_for(work, state, busy=f"serving {state}, or taking scores in")


@contextmanager
def _listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """Opens a socket that accepts connections, and closes it at the end."""
    chosen = port_for(port)
    try:
        family = socket.getaddrinfo(host, chosen, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, chosen), family=family, backlog=AT_ONCE)
        # Every connection inherits this. Without it the second part of an answer waits 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise UsageError(
            f"The desk cannot be served at {host}, port {chosen}: {error.strerror or error}. "
            "Name another with --host and --port, or leave them out."
        ) from None
    with listener:
        yield listener


@contextmanager
def _swept() -> Iterator[None]:
    """Exempts all objects that exist now from garbage collection, which would stop all threads for 0.1 s."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _run(app: object, listener: socket.socket) -> None:
    """Runs the server until a signal ends it. The log never contains the address of a request."""
    import uvicorn

    from assay.desk.connections import DeskConnection

    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=DeskConnection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        access_log=False,
        log_level="error",  # the sender of a bad request is the only one who sees why
        server_header=False,
        proxy_headers=False,
        backlog=AT_ONCE,
        timeout_graceful_shutdown=GRACE,
    )
    # uvicorn stops cleanly and then raises the signal again. The process must close its files before that.
    before = {each: signal.signal(each, signal.default_int_handler) for each in ENDING}
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


# ----------------------------------------------------------------------------------------------


def port_for(wanted: int | None) -> int:
    """Returns the wanted port. If none is wanted, returns the usual port if it is free, else any free port.

    Raises UsageError if the wanted port is not free.
    """
    for port in (USUAL_PORT, 0) if wanted is None else (wanted,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise UsageError(f"Port {wanted} of {HOST} cannot be used. Name another with --port, or leave it out.")
