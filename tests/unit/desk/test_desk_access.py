"""Who may come in: links, passwords, cookies, and what a restart remembers."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.desk.access import (
    LINK_LIFE,
    SESSION_LIFE,
    Access,
    LoginAttempts,
    LoginRefused,
    TooManyLogins,
    is_loopback,
    read_secret,
)
from assay.review.work import Credentials
from desk_client import Clock

RATERS = ("anna", "ben")
RIGHT, WRONG = "correct horse", "battery staple"


@pytest.fixture
def clock() -> Clock:
    return Clock()


def door(folder: Path, clock: Clock, password: str | None = None, raters: tuple[str, ...] = RATERS) -> Access:
    return Access(folder, raters, password=password, clock=clock)


def by_token(token: str) -> Credentials:
    return Credentials(token=token)


# --------------------------------------------------------------------------------------------- links


def test_a_link_lets_its_rater_in_once(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    token = access.link("anna")
    assert len(base64.urlsafe_b64decode(token + "==")) == 32  # 256 bits
    visitor = access.visitor(access.enter(by_token(token), "here"))
    assert visitor is not None
    assert visitor.rater == "anna"
    with pytest.raises(LoginRefused):
        access.enter(by_token(token), "here")


def test_a_used_link_stays_used_after_a_restart_and_an_unused_one_works(tmp_path: Path, clock: Clock) -> None:
    before = door(tmp_path, clock)
    used, unused = before.link("anna"), before.link("ben")
    before.enter(by_token(used), "here")
    after = door(tmp_path, clock)  # nothing was closed, as after a kill
    with pytest.raises(LoginRefused):
        after.enter(by_token(used), "here")
    assert after.enter(by_token(unused), "here")


def test_a_link_is_over_after_twelve_hours(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    late, early = access.link("anna"), access.link("ben")
    clock.now += LINK_LIFE - 1
    assert access.enter(by_token(early), "here")
    clock.now += 1
    with pytest.raises(LoginRefused):
        access.enter(by_token(late), "here")


def test_no_token_lies_on_the_disk(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    token = access.link("anna")
    access.close()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert token.encode() not in written


# ----------------------------------------------------------------------------------------- passwords


def test_a_password_lets_every_rater_in_and_nobody_else(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock, RIGHT)
    visitor = access.visitor(access.enter(Credentials(rater="ben", password=RIGHT), "here"))
    assert visitor is not None
    assert visitor.rater == "ben"
    for rater, password in (
        ("ben", WRONG),
        ("mallory", RIGHT),
        ("ben", None),
        (None, None),
    ):
        with pytest.raises(LoginRefused):
            access.enter(Credentials(rater=rater, password=password), f"from {rater} {password}")


def test_links_open_nothing_where_there_is_a_password_and_the_other_way_round(
    tmp_path: Path, clock: Clock
) -> None:
    token = door(tmp_path, clock).link("anna")
    with pytest.raises(LoginRefused):
        door(tmp_path, clock, RIGHT).enter(by_token(token), "here")
    with pytest.raises(LoginRefused):
        door(tmp_path, clock).enter(Credentials(rater="anna", password=""), "here")


def test_another_password_ends_every_session(tmp_path: Path, clock: Clock) -> None:
    cookie = door(tmp_path, clock, RIGHT).enter(Credentials(rater="ben", password=RIGHT), "here")
    assert door(tmp_path, clock, RIGHT).visitor(cookie) is not None
    assert door(tmp_path, clock, WRONG).visitor(cookie) is None


# ------------------------------------------------------------------------------------------- cookies


def test_a_session_outlives_the_server_and_ends_after_thirty_days(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    cookie = access.enter(by_token(access.link("anna")), "here")
    again = door(tmp_path, clock)
    assert again.visitor(cookie) == access.visitor(cookie)  # the same proof for changes, too
    assert again.cookie == access.cookie
    clock.now += SESSION_LIFE
    assert again.visitor(cookie) is None


def test_an_edited_cookie_speaks_for_nobody(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    cookie = access.enter(by_token(access.link("anna")), "here")
    body, _, signature = cookie.partition(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=="))
    said[0] = "ben"
    forged = base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
    for wrong in (
        f"{forged}.{signature}",
        body,
        f"{body}.",
        f".{signature}",
        "",
        ".",
        "ä.ö",
        None,
        cookie + "x",
    ):
        assert access.visitor(wrong) is None
    assert access.visitor(cookie) is not None


def test_a_session_that_ended_and_a_rater_struck_off_are_out(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock)
    cookie = access.enter(by_token(access.link("anna")), "here")
    assert door(tmp_path, clock, raters=("ben",)).visitor(cookie) is None
    visitor = access.visitor(cookie)
    assert visitor is not None
    access.leave(visitor)
    assert access.visitor(cookie) is None
    assert door(tmp_path, clock).visitor(cookie) is None


def test_two_desks_share_nothing(tmp_path: Path, clock: Clock) -> None:
    one, other = door(tmp_path / "one", clock), door(tmp_path / "other", clock)
    cookie = one.enter(by_token(one.link("anna")), "here")
    assert other.visitor(cookie) is None
    assert one.cookie != other.cookie  # a browser keeps both, though ports do not tell cookies apart


def test_only_its_owner_can_read_the_secret(tmp_path: Path) -> None:
    secret = read_secret(tmp_path / "desk")
    path = tmp_path / "desk/secret"
    assert (path.stat().st_mode & 0o777, len(secret), read_secret(tmp_path / "desk")) == (0o600, 32, secret)
    path.chmod(0o644)
    with pytest.raises(DataError, match="others than its owner"):
        read_secret(tmp_path / "desk")
    path.write_bytes(b"short")
    with pytest.raises(DataError, match="does not hold a secret"):
        read_secret(tmp_path / "desk")


# -------------------------------------------------------------------------------------------- limits


def test_five_failures_a_minute_and_then_a_wait() -> None:
    clock = Clock()
    attempts = LoginAttempts(clock)
    for _ in range(5):
        assert attempts.wait(["a"]) == 0
        attempts.failed(["a"])
        clock.now += 10
    assert attempts.wait(["a"]) == 10  # the first of them is 50 s old
    assert attempts.wait(["b"]) == 0
    clock.now += 10
    assert attempts.wait(["a"]) == 0
    clock.now += 60
    attempts.wait([])
    assert not attempts._failed  # nothing is remembered for ever


def test_a_clock_put_back_shuts_nobody_out() -> None:
    clock = Clock()
    attempts = LoginAttempts(clock)
    for _ in range(4):
        attempts.failed(["from here"])
    clock.now -= 3600
    attempts.failed(["from here"])  # one that counts; four an hour ahead do not
    assert attempts.wait(["from here"]) == 0
    for _ in range(4):
        attempts.failed(["from here"])
    assert attempts.wait(["from here"]) == 60


def test_guessing_is_slowed_by_address_and_by_name_and_success_is_not_counted(
    tmp_path: Path, clock: Clock
) -> None:
    access = door(tmp_path, clock)
    for _ in range(8):
        access.enter(by_token(access.link("anna")), "here")  # eight raters behind one address
    for number in range(5):
        with pytest.raises(LoginRefused):
            access.enter(by_token(f"guess {number}"), "here")
    good = access.link("anna")
    with pytest.raises(TooManyLogins) as caught:
        access.enter(by_token(good), "here")
    assert caught.value.seconds == 60
    assert access.enter(by_token(access.link("ben")), "elsewhere")
    clock.now += 60
    assert access.enter(by_token(good), "here")  # it was not used up


def test_one_name_is_guarded_from_many_addresses(tmp_path: Path, clock: Clock) -> None:
    access = door(tmp_path, clock, RIGHT)
    for number in range(5):
        with pytest.raises(LoginRefused):
            access.enter(
                Credentials(rater="Anna" if number % 2 else "anna", password=WRONG), f"address {number}"
            )
    with pytest.raises(TooManyLogins):
        access.enter(Credentials(rater="anna", password=RIGHT), "address 9")
    assert access.enter(Credentials(rater="ben", password=RIGHT), "address 9")


# --------------------------------------------------------------------------------------------- hosts


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8501", True),
        ("localhost:9000", True),  # a tunnel from another port
        ("[::1]:8501", True),
        ("LOCALHOST", True),
        ("evil.example:8501", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1:8501@evil.example", False),
        ("evil.example/127.0.0.1", False),
        ("192.168.0.7:8501", False),
        ("", False),
        ("127.0.0.1:8501, evil.example", False),
    ],
)
def test_the_desk_answers_to_its_own_names(tmp_path: Path, clock: Clock, host: str, known: bool) -> None:
    assert door(tmp_path, clock).knows_host(host) is known


def test_given_host_names_are_known_and_digits_cannot_be_rebound(tmp_path: Path, clock: Clock) -> None:
    access = Access(tmp_path, RATERS, names=["desk.example"], digits=True, password=RIGHT, clock=clock)
    assert all(map(access.knows_host, ("desk.example", "192.168.0.7:8501", "[fe80::1]:8501")))
    assert not access.knows_host("evil.example")


@pytest.mark.parametrize(
    ("origin", "site", "own"),
    [
        (None, None, True),  # no browser
        ("http://127.0.0.1:8501", "same-origin", True),
        (None, "none", True),
        ("https://127.0.0.1:8501", None, True),  # a proxy before it speaks TLS
        ("http://evil.example", None, False),
        ("null", None, False),
        ("http://127.0.0.1:9999", None, False),
        ("http://[", None, False),
        (None, "cross-site", False),
        (None, "same-site", False),  # another port of this machine
    ],
)
def test_whose_page_asks(
    tmp_path: Path, clock: Clock, origin: str | None, site: str | None, own: bool
) -> None:
    assert door(tmp_path, clock).is_own_page("127.0.0.1:8501", origin, site) is own


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("192.168.0.7", False),
        ("desk.example", False),
    ],
)
def test_what_only_this_machine_reaches(host: str, alone: bool) -> None:
    assert is_loopback(host) is alone
