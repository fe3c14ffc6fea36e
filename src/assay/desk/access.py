"""Decides who may use the desk, by login links that work once, passwords, and the session cookie.

The only secret on disk is the file `secret`. For a link there is only a hash on disk. For a session there is
nothing on disk until the session ends. The use of a link and the end of a session are written to disk before
the answer is sent, so no restart makes them valid again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import os
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from assay.core.errors import DataError, Problem
from assay.review.work import Credentials
from assay.store.disk import explain_write_errors, sync
from assay.store.journal import JournalWriter, read_lines

LINK_LIFE, SESSION_LIFE = 12 * 3600.0, 30 * 24 * 3600.0  # seconds
ATTEMPTS, WINDOW = 5, 60.0  # failed logins, and the seconds in which they are counted
SECRET_SIZE = 32  # bytes
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_SCRYPT = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 2**20}
_RIGHTS_OF_OTHERS = 0o077


class LoginRefused(Exception):
    """Raised when the link or the password is not valid."""


class TooManyLogins(Exception):
    """Raised when too many logins failed. The next login is possible after `seconds` seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many attempts; wait {seconds} s")
        self.seconds = seconds


class LoginLink(msgspec.Struct, frozen=True, tag="link"):
    """A login link that was given to a rater."""

    mark: str  # the hash of the link's token
    rater: str
    until: float


class Revocation(msgspec.Struct, frozen=True, tag="gone"):
    """The record that a link was used, or that a session ended."""

    mark: str


class SessionCookie(msgspec.Struct, frozen=True, array_like=True):
    """The content of a session's cookie."""

    rater: str
    session: str
    until: float


@dataclass(frozen=True)
class Visitor:
    """A rater who is logged in."""

    rater: str
    session: str
    csrf: str  # every change has to send it


class LoginAttempts:
    """A counter of failed logins, by address and by name. Threads that share it need a lock."""

    def __init__(self, clock: Callable[[], float], most: int = ATTEMPTS, window: float = WINDOW) -> None:
        self._clock, self._most, self._window = clock, most, window
        self._failed: dict[str, deque[float]] = {}

    def wait(self, keys: Iterable[str]) -> int:
        """Returns the seconds until another attempt is allowed; 0 means now."""
        now = self._clock()
        for key, times in list(self._failed.items()):
            # A time in the future, from before the clock was set back, would lock everybody out until then.
            recent = [each for each in times if now - self._window < each <= now]
            if recent:
                self._failed[key] = deque(recent, maxlen=self._most)
            else:
                del self._failed[key]
        counted = [self._failed[key] for key in keys if key in self._failed]
        full = [times[0] for times in counted if len(times) == self._most]
        return math.ceil(max(full) + self._window - now) if full else 0

    def failed(self, keys: Iterable[str]) -> None:
        """Counts one more failed attempt for each key."""
        for key in keys:
            self._failed.setdefault(key, deque(maxlen=self._most)).append(self._clock())


class Access:
    """An object that logs raters in and out of one desk, and checks their cookies. Threads may share it."""

    def __init__(
        self,
        state: Path,
        raters: Sequence[str],
        *,
        password: str | None = None,
        names: Sequence[str] = (),
        digits: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`names` are host names of the desk besides those of this machine.

        `digits` also allows any IP address.
        """
        self._state, self._raters, self._clock = state, frozenset(raters), clock
        secret = read_secret(state)
        # A changed password changes the key: everybody who used the old one has to log in again.
        self._key = _mac(secret, "sessions", password or "")
        self.cookie = f"assay_desk_{_mac(secret, 'name', '').hex()[:12]}"  # cookies ignore the port
        self._names, self._digits = LOOPBACK | {name.lower() for name in names}, digits
        self._attempts, self._turn = LoginAttempts(clock), threading.Lock()
        self._salt = secrets.token_bytes(16)
        self._password = None if password is None else self._password_hash(password)
        self._links: dict[str, LoginLink] = {}
        self._revoked: set[str] = set()
        self._writer: JournalWriter | None = None
        self._journal = state / "doors"
        for line in read_lines(self._journal, LoginLink | Revocation) if self._journal.is_dir() else ():
            self._apply(line)

    # ----------------------------------------------------------------------------- logging in

    def link(self, rater: str) -> str:
        """Returns a token that logs a rater in once."""
        token = secrets.token_urlsafe(32)
        with self._turn:
            self._write(LoginLink(_hash(token), rater, self._clock() + LINK_LIFE))
        return token

    def enter(self, entry: Credentials, client: str) -> str:
        """Logs a rater in, and returns the cookie of the new session.

        Raises LoginRefused or TooManyLogins.
        """
        keys = [f"from {client}"]
        if entry.token is None and entry.rater is not None:
            keys.append(f"as {entry.rater.casefold()}")
        with self._turn:  # one after another: many parallel attempts gain nothing
            if wait := self._attempts.wait(keys):
                raise TooManyLogins(wait)
            rater = self._by_link(entry.token) if entry.token is not None else self._by_password(entry)
            if rater is None:
                self._attempts.failed(keys)
                raise LoginRefused
        cookie = SessionCookie(rater, secrets.token_urlsafe(16), self._clock() + SESSION_LIFE)
        body = _base64(msgspec.json.encode(cookie))
        return f"{body}.{self._signature(body)}"

    def _by_link(self, token: str) -> str | None:
        link = self._links.get(_hash(token))
        usable = self._password is None and link is not None and link.mark not in self._revoked
        if link is None or not usable or link.until <= self._clock() or link.rater not in self._raters:
            return None
        self._write(Revocation(link.mark))
        return link.rater

    def _by_password(self, entry: Credentials) -> str | None:
        if self._password is None:
            return None
        # The hash is computed for unknown names too: the time must not reveal who is a rater.
        right = hmac.compare_digest(self._password_hash(entry.password or ""), self._password)
        return entry.rater if right and entry.rater in self._raters else None

    def _password_hash(self, password: str) -> bytes:
        return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=self._salt, **_SCRYPT)

    # -------------------------------------------------------------------------------- sessions

    def visitor(self, cookie: str | None) -> Visitor | None:
        """Returns the rater that a cookie belongs to.

        Returns None if this desk did not make the cookie, if the session ended, or if the rater may no longer
        log in.
        """
        body, _, signature = (cookie or "").partition(".")
        if not hmac.compare_digest(self._signature(body).encode(), signature.encode("utf-8", "replace")):
            return None
        content = msgspec.json.decode(base64.urlsafe_b64decode(body + "=="), type=SessionCookie)
        ended = content.until <= self._clock() or content.session in self._revoked
        if ended or content.rater not in self._raters:
            return None
        return Visitor(content.rater, content.session, _base64(_mac(self._key, "csrf", content.session)))

    def leave(self, visitor: Visitor) -> None:
        """Ends a session, also for copies of its cookie."""
        with self._turn:
            self._write(Revocation(visitor.session))

    def _signature(self, body: str) -> str:
        return _base64(_mac(self._key, "cookie", body))

    # ------------------------------------------------------------------- where a request comes from

    def knows_host(self, host: str) -> bool:
        """Whether the desk is served under this host name.

        Other names that point to this machine are refused.
        """
        found = _HOST.fullmatch(host)
        name = found["name"].strip("[]").lower() if found else ""
        return name in self._names or (self._digits and _is_address(name))

    def is_own_page(self, host: str, origin: str | None, site: str | None) -> bool:
        """Whether a request comes from a page of this desk, or not from a page at all."""
        if site is not None and site not in {"same-origin", "none"}:
            return False
        if origin is None:
            return True
        try:
            return urlsplit(origin).netloc.lower() == host.lower()
        except ValueError:
            return False

    # --------------------------------------------------------------------------------- on disk

    def _write(self, line: LoginLink | Revocation) -> None:
        if self._writer is None:
            self._writer = JournalWriter(self._journal)
        self._writer.append(line, now=True)
        self._apply(line)

    def _apply(self, line: LoginLink | Revocation) -> None:
        if isinstance(line, LoginLink):
            self._links[line.mark] = line
        else:
            self._revoked.add(line.mark)

    def close(self) -> None:
        """Closes the journal of links and sessions."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host.lower() in LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _mac(key: bytes, what: str, text: str) -> bytes:
    return hmac.digest(key, f"{what}\0{text}".encode("utf-8", "surrogatepass"), "sha256")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# ---------------------------------------------------------------------------------- the secret


def read_secret(folder: Path) -> bytes:
    """Returns the secret in a folder. The first call makes it.

    Raises DataError if others than the owner can read the file, or if its size is wrong.
    """
    path = folder / "secret"
    with explain_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make_secret(path)
        content, mode = path.read_bytes(), path.stat().st_mode
    if len(content) != SECRET_SIZE:
        fix = "Remove it and serve again: everybody then has to log in again, and no mark is lost."
        raise DataError(Problem("does not hold a secret of this desk", str(path), fix=fix))
    if mode & _RIGHTS_OF_OTHERS:
        fix = "Remove it and serve again, or take those rights away: chmod 600."
        raise DataError(Problem("can be read by others than its owner", str(path), fix=fix))
    return content


def _make_secret(path: Path) -> None:
    """Writes a new secret, completely or not at all. Two servers that start at once get the same secret."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_SIZE))
        sync(draft)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)
