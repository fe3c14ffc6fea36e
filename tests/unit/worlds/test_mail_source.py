"""Mail as a source: three forms, broken messages, threads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay_worlds.sources.mail import Mail, bare, read_message, says_reply
from assay_worlds.sources.source import SourcePage, TextSource, fingerprint, passages_of

FIRST = """From: =?iso-8859-1?q?Ren=E9_Roy?= <rene@example.org>
Date: Thu, 22 Aug 2002 18:26:25 +0700
Subject: [List] New window
Message-Id: <one@example.org>
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The caf=E9 is open.


Come by.
--=20
Ren=E9
"""
REPLY = """From: Ann Lee <ann@example.org>
Date: Fri, 23 Aug 2002 09:00:00 +0000
Subject: Re: [List] New window
Message-Id: <two@example.org>
In-Reply-To: <one@example.org>

René Roy wrote:
> The café is open at 10 €.

Good.
"""
BROKEN = """From: "Unclosed <x@example.org
Date: some day
Subject: =?no-such-charset?q?abc?=
Content-Type: text/plain; charset=no-such-charset

Still readable.
"""
HTML = """From: Bo Ek <bo@example.org>
Date: Sat, 24 Aug 2002 09:00:00 +0000
Subject: Offer
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: text/html; charset=utf-8

<html><head><style>p {}</style></head><body><p>Cheap &amp; good.</p>

<p>Second.</p></body></html>
--B
Content-Type: application/pdf
Content-Disposition: attachment; filename=a.pdf
Content-Transfer-Encoding: base64

AAAA
--B--
"""


def pages(path: Path, **settings: object) -> list[SourcePage]:
    return list(Mail(str(path), **settings).pages(Kit()))  # type: ignore[arg-type]


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    lines = [
        json.dumps({"_id": str(number), "raw": raw})
        for number, raw in enumerate([FIRST, REPLY, BROKEN, HTML], 1)
    ]
    path = tmp_path / "mail.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_a_message_is_plain_text_under_its_head(jsonl: Path) -> None:
    page = pages(jsonl)[0]
    text = page.document.text
    assert text.split("\n")[:3] == [
        "From: René Roy <rene@example.org>",
        "Date: 2002-08-22 18:26+07:00",
        "Subject: [List] New window",
    ]
    assert "\n\nThe café is open.\n\nCome by.\n" in text
    assert [section.heading for section in page.sections] == [
        "[List] New window",
        "[List] New window > signature",
    ]
    assert text[page.sections[1].span.start :] == "--\nRené"
    assert page.document.metadata["date"] == "2002-08-22T18:26:25+07:00"
    assert [passage.doc_id for passage in passages_of(page)] == ["mail/1#p1", "mail/1#p2"]
    assert isinstance(Mail("x"), TextSource)


def test_broken_headers_dates_and_charsets_are_survived(jsonl: Path) -> None:
    page = pages(jsonl)[2]
    assert "Still readable." in page.document.text
    assert "Date: " not in page.document.text
    assert "date" not in page.document.metadata
    assert read_message("").subject == "(no subject)"
    assert read_message(b"\xff\xfe\x00 no header at all").body.endswith("no header at all")


def test_html_is_stripped_only_where_there_is_no_plain_part(jsonl: Path) -> None:
    text = pages(jsonl)[3].document.text
    assert "Cheap & good." in text
    assert "Second." in text
    assert "<p>" not in text
    assert "AAAA" not in text


def test_replies_name_their_thread_and_what_they_answer(jsonl: Path) -> None:
    found = [page.document.metadata for page in pages(jsonl)]
    assert [each["thread"] for each in found] == ["mail/1", "mail/1", "mail/3", "mail/4"]
    assert found[1]["reply_to"] == "mail/1"
    assert "reply_to" not in found[0]


def test_threads_go_by_what_is_absent_and_by_subject(tmp_path: Path) -> None:
    def raw(number: int, subject: str, more: str = "") -> str:
        return f"From: a@b.c\nDate: Mon, {number} Jul 2002 10:00:00 +0000\nSubject: {subject}\n{more}\nHi.\n"

    records = [
        raw(1, "Lunch"),
        raw(2, "Re: Lunch"),  # refers to nothing: the subject decides
        raw(3, "Lunch"),  # no reply: a thread of its own
        raw(4, "Re: Tea", "References: <gone@x>\n"),
        raw(5, "Re: More tea", "In-Reply-To: <gone@x>\n"),  # the same message, which is not here
    ]
    lines = [json.dumps({"_id": str(number), "raw": each}) for number, each in enumerate(records, 1)]
    (tmp_path / "m.jsonl").write_text("\n".join(lines))
    threads = [page.document.metadata["thread"] for page in pages(tmp_path)]
    assert threads == ["mail/1", "mail/1", "mail/3", "mail/4", "mail/4"]


def test_a_tree_of_messages_is_read_in_the_order_of_numbers(tmp_path: Path) -> None:
    inbox = tmp_path / "lee-a" / "inbox"
    inbox.mkdir(parents=True)
    for name in ("10.", "2.", "1."):
        (inbox / name).write_text(f"From: Ann Lee <ann@x.org>\nSubject: Number {name}\n\nText {name}\n")
    (inbox / "notes").write_text("just a note\n")
    assert [page.document.doc_id for page in pages(tmp_path)] == [
        f"mail/lee-a/inbox/{name}" for name in ("1.", "2.", "10.")
    ]
    assert len(pages(tmp_path, limit=2)) == 2


def test_an_mbox_gives_the_same_messages(tmp_path: Path, jsonl: Path) -> None:
    box = tmp_path / "list.mbox"
    box.write_bytes(b"".join(b"From x Thu Aug 22 2002\n" + raw.encode() + b"\n" for raw in (FIRST, REPLY)))
    texts = [page.document.text for page in pages(box)]
    assert texts == [page.document.text for page in pages(jsonl)[:2]]
    assert texts[1].endswith("René Roy wrote:\n> The café is open at 10 €.\n\nGood.")


def test_a_long_paragraph_is_parted_at_the_ends_of_lines(tmp_path: Path) -> None:
    body = "\n".join(f"line {number} of a log without blank lines" for number in range(60))
    (tmp_path / "1.").write_text(f"From: a@b.c\nSubject: Log\n\n{body}\n")
    page = pages(tmp_path)[0]
    # 60 lines of 8 words are 480 words: four stretches of 120, the first perhaps with the head's 4 words.
    assert page.document.text.count("\n\n") == 4
    assert max(len(passage.text.split()) for passage in passages_of(page)) <= 124
    assert page.document.text.split() == ["From:", "a@b.c", "Subject:", "Log", *body.split()]


def test_content_that_is_not_what_was_pinned_is_refused(jsonl: Path) -> None:
    pin = fingerprint([(jsonl.name, jsonl)])
    assert len(pages(jsonl, sha256=pin)) == 4
    with pytest.raises(DataError, match="the content has changed"):
        pages(jsonl, sha256="0" * 64)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        pages(tmp_path / "absent")
    with pytest.raises(DataError, match="no message in the folder"):
        pages(tmp_path)
    (tmp_path / "m.jsonl").write_text('{"_id": "1"}\n')
    with pytest.raises(DataError, match="raw: the field is missing"):
        pages(tmp_path)


@pytest.mark.parametrize(
    ("subject", "rest", "reply"),
    [
        ("Re: [ILUG] Mail", "Mail", True),
        ("[ILUG] Re[2]: Mail", "Mail", True),
        ("Fwd: Mail", "Mail", False),
        ("Mail: Re: x", "Mail: Re: x", False),
    ],
)
def test_subjects_are_bared(subject: str, rest: str, reply: bool) -> None:
    assert (bare(subject), says_reply(subject)) == (rest, reply)
