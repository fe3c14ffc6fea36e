"""Who may come in: links that open once, passwords, and the cookie that says who somebody is.

Nothing secret is kept but the one file of `secrets_file`: of a link the disk holds a hash, of a session
nothing until it ends. What was used or ended is on disk before the answer: no restart makes it good again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from assay.desk.limits import LoginAttempts
from assay.desk.secrets_file import secret_in
from assay.review.messages import Credentials
from assay.store.journal import JournalWriter, read_lines

LINK_LIFE, SESSION_LIFE = 12 * 3600.0, 30 * 24 * 3600.0  # seconds
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
_SCRYPT = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 2**20}


class LoginRefused(Exception):
    """This opens nothing."""


class TooManyLogins(Exception):
    """Too much was tried of late; after so many seconds it may be tried again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many attempts; wait {seconds} s")
        self.seconds = seconds


class LoginLink(msgspec.Struct, frozen=True, tag="link"):
    """A link was given out."""

    mark: str  # the hash of its token
    rater: str
    until: float


class Revocation(msgspec.Struct, frozen=True, tag="gone"):
    """A link was used, or a session ended."""

    mark: str


class SessionCookie(msgspec.Struct, frozen=True, array_like=True):
    """What a cookie says."""

    rater: str
    session: str
    until: float


@dataclass(frozen=True)
class Visitor:
    """Somebody who is logged in."""

    rater: str
    session: str
    csrf: str  # what every change has to bring with it


class Access:
    """The door of one desk. Threads may share it."""

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
        """`names` are hosts it is served under beside this machine; `digits`: any address in digits too."""
        self._state, self._raters, self._clock = state, frozenset(raters), clock
        secret = secret_in(state)
        # Another password, or none: whoever came in by the old one has to log in anew.
        self._key = _mac(secret, "sessions", password or "")
        self.cookie = f"assay_desk_{_mac(secret, 'name', '').hex()[:12]}"  # cookies do not tell ports apart
        self._names, self._digits = LOOPBACK | {name.lower() for name in names}, digits
        self._attempts, self._turn = LoginAttempts(clock), threading.Lock()
        self._salt = secrets.token_bytes(16)
        self._password = None if password is None else self._stretched(password)
        self._links: dict[str, LoginLink] = {}
        self._gone: set[str] = set()
        self._writer: JournalWriter | None = None
        for line in read_lines(self._doors, LoginLink | Revocation) if self._doors.is_dir() else ():
            self._take(line)

    @property
    def _doors(self) -> Path:
        return self._state / "doors"

    # ------------------------------------------------------------------------------- coming in

    def link(self, rater: str) -> str:
        """A token that lets a rater in once."""
        token = secrets.token_urlsafe(32)
        with self._turn:
            self._keep(LoginLink(_hash(token), rater, self._clock() + LINK_LIFE))
        return token

    def enter(self, entry: Credentials, client: str) -> str:
        """The cookie of a new session; raises Refused or TooMany."""
        keys = [f"from {client}"]
        if entry.token is None and entry.rater is not None:
            keys.append(f"as {entry.rater.casefold()}")
        with self._turn:  # one after another: nobody gains by trying many at once
            if wait := self._attempts.wait(keys):
                raise TooManyLogins(wait)
            rater = self._by_link(entry.token) if entry.token is not None else self._by_password(entry)
            if rater is None:
                self._attempts.failed(keys)
                raise LoginRefused
        session = secrets.token_urlsafe(16)
        return self._signed(SessionCookie(rater, session, self._clock() + SESSION_LIFE))

    def _by_link(self, token: str) -> str | None:
        link = self._links.get(_hash(token))
        usable = self._password is None and link is not None and link.mark not in self._gone
        if link is None or not usable or link.until <= self._clock() or link.rater not in self._raters:
            return None
        self._keep(Revocation(link.mark))
        return link.rater

    def _by_password(self, entry: Credentials) -> str | None:
        if self._password is None:
            return None
        # Worked out for unknown names too: how long it takes must not tell who is a rater.
        right = hmac.compare_digest(self._stretched(entry.password or ""), self._password)
        return entry.rater if right and entry.rater in self._raters else None

    def _stretched(self, password: str) -> bytes:
        return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=self._salt, **_SCRYPT)

    # ---------------------------------------------------------------------------- being there

    def visitor(self, cookie: str | None) -> Visitor | None:
        """Who a cookie speaks for; None where it was not made here, or is over."""
        body, _, signature = (cookie or "").partition(".")
        if not hmac.compare_digest(self._signature(body).encode(), signature.encode("utf-8", "replace")):
            return None
        said = msgspec.json.decode(base64.urlsafe_b64decode(body + "=="), type=SessionCookie)
        if said.until <= self._clock() or said.session in self._gone or said.rater not in self._raters:
            return None
        return Visitor(said.rater, said.session, _text(_mac(self._key, "csrf", said.session)))

    def leave(self, visitor: Visitor) -> None:
        """Ends a session, also for whoever copied its cookie."""
        with self._turn:
            self._keep(Revocation(visitor.session))

    def _signed(self, said: SessionCookie) -> str:
        body = _text(msgspec.json.encode(said))
        return f"{body}.{self._signature(body)}"

    def _signature(self, body: str) -> str:
        return _text(_mac(self._key, "cookie", body))

    # --------------------------------------------------------------------- where it comes from

    def knows_host(self, host: str) -> bool:
        """Whether the desk is served under a name: a foreign one may point at this machine all the same."""
        name = _name_of(host)
        return name in self._names or (self._digits and _is_address(name))

    def is_own_page(self, host: str, origin: str | None, site: str | None) -> bool:
        """Whether a request comes from a page of this desk, or from no page at all."""
        if site is not None and site not in {"same-origin", "none"}:
            return False
        if origin is None:
            return True
        try:
            return urlsplit(origin).netloc.lower() == host.lower()
        except ValueError:
            return False

    # --------------------------------------------------------------------------------- on disk

    def _keep(self, line: LoginLink | Revocation) -> None:
        if self._writer is None:
            self._writer = JournalWriter(self._doors)
        self._writer.append(line, now=True)
        self._take(line)

    def _take(self, line: LoginLink | Revocation) -> None:
        if isinstance(line, LoginLink):
            self._links[line.mark] = line
        else:
            self._gone.add(line.mark)

    def close(self) -> None:
        """Lets go of its files."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    return host.lower() in LOOPBACK or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """A host without its port; nothing where it is no host."""
    found = _HOST.fullmatch(host)
    return found["name"].strip("[]").lower() if found else ""


def _mac(key: bytes, what: str, text: str) -> bytes:
    return hmac.digest(key, f"{what}\0{text}".encode("utf-8", "surrogatepass"), "sha256")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
