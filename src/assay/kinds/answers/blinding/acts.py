"""What was done with the seal, for good: each line holds the hash of the one before it.

A line that was changed, taken out or put in between breaks the chain. Lines cut off at the end do not, so the
number of lines, the last hash and whether the seal was ever forced are kept a second time, in another file
(`head`): a pack that is put back from a copy of before does not forget. Who can write both files can still
write both anew: the chain shows what happened by accident or in haste, it is no notary.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from assay.core.errors import UsageError
from assay.kinds.answers.blinding.pack import ACTS, MARKS
from assay.store.disk import explain_write_errors, lock, sync, write_atomic

What = Literal["blinded", "checked", "leaking", "accepted", "unblinded", "forced"]
WORDS = {
    "leaking": "checked, and found leaking,",
    "accepted": "leaks accepted",
    "forced": "unblinded early, by force",
}


class Act(msgspec.Struct, frozen=True):
    """One thing done: what, by whom, when, and the hash of the line before."""

    act: What
    by: str
    time: float
    detail: str = ""
    previous: str = ""

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"{when}: {WORDS.get(self.act, self.act)} by {self.by}" + (
            f" ({self.detail})" if self.detail else ""
        )


@dataclass(frozen=True)
class ActLog:
    """All acts on record, and whether the record can be believed."""

    acts: tuple[Act, ...]
    problem: str = ""  # why it cannot
    forced: bool = False  # as the second file has it, whatever the acts say now

    @property
    def intact(self) -> bool:
        return not self.problem

    @property
    def state(self) -> str:
        """open (nothing was blinded), blinded, unblinded, or forced: once forced, for ever."""
        done = {each.act for each in self.acts} | ({"forced"} if self.forced else set())
        return next((state for state in ("forced", "unblinded", "blinded") if state in done), "open")

    @property
    def checked(self) -> Act | None:
        """The last check since responses were blinded, or that its leaks were accepted."""
        last = None
        for each in self.acts:
            if each.act in {"blinded", "checked", "leaking", "accepted"}:
                last = None if each.act == "blinded" else each
        return last

    @property
    def opened(self) -> Act | None:
        """The act that opened the seal."""
        return next((each for each in self.acts if each.act in {"unblinded", "forced"}), None)

    @property
    def said(self) -> list[str]:
        """What was done, a sentence each, and what is wrong with the record."""
        return [*map(str, self.acts), *([f"The record is broken: {self.problem}"] if self.problem else [])]


class _LogHead(msgspec.Struct, frozen=True, omit_defaults=True):
    lines: int
    last: str
    forced: bool = False


def read_acts(folder: Path, head: Path | None = None) -> ActLog:
    """The acts of a pack's folder; `head` is the file that keeps their number and last hash."""
    path, kept = folder / ACTS, _kept(head)
    marked, forced = any((folder / MARKS).glob("*.jsonl")), kept is not None and kept.forced
    if not path.is_file():
        known = "marks were made" if marked else f"{kept.lines} acts were recorded" if kept else ""
        return ActLog((), f"{path} is gone, though {known}" if known else "", forced)
    lines = path.read_bytes().split(b"\n")[:-1]  # what has no end was torn by a crash: it was not done
    found, problem = list[Act](), ""
    for number, (line, previous) in enumerate(zip(lines, ["", *map(_hash, lines)], strict=False), 1):
        try:
            act = msgspec.json.decode(line, type=Act)
        except msgspec.DecodeError:
            problem = problem or f"line {number} of {path} cannot be read"
            continue
        found.append(act)
        if act.previous != previous:
            problem = problem or f"line {number} of {path} does not follow from what stands before it"
    if kept and not problem and (len(lines) < kept.lines or _hash(lines[kept.lines - 1]) != kept.last):
        problem = f"{path} ended otherwise before: lines were cut off or written anew"
    if (
        head is not None and kept is None and (marked or len(lines) > 1)
    ):  # one line: a crash before the second
        problem = problem or f"{head} is gone, so that nobody can tell whether lines were cut off"
    return ActLog(tuple(found), problem, forced)


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _kept(head: Path | None) -> _LogHead | None:
    if head is None or not head.is_file():
        return None
    try:
        return msgspec.json.decode(head.read_bytes(), type=_LogHead)
    except msgspec.DecodeError:
        return _LogHead(1, "unreadable")  # no line has this hash: what cannot be checked is not believed


def append_act(folder: Path, act: Act, head: Path | None = None) -> Act:
    """Records an act, on disk before it returns. Its `previous` is filled in.

    A broken record goes on: it stays broken, and the act is not lost.
    """
    path = folder / ACTS
    with explain_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            lock(handle)
            before, known = read_acts(folder, head), _all(handle)
            whole = known.rfind(b"\n") + 1
            lines = known[:whole].split(b"\n")[:-1]
            linked = msgspec.structs.replace(act, previous=_hash(lines[-1]) if lines else "")
            line = msgspec.json.encode(linked)
            os.ftruncate(handle, whole)  # a torn end is no act
            os.pwrite(handle, line + b"\n", whole)
            os.fsync(handle)
            sync(folder)
            if head is not None and before.intact:
                forced = "forced" in (before.state, act.act)
                content = msgspec.json.encode(_LogHead(len(lines) + 1, _hash(line), forced))
                write_atomic(head, partial(Path.write_bytes, data=content))
        finally:
            os.close(handle)
    return linked


def _all(handle: int) -> bytes:
    return b"".join(_blocks(handle))


def _blocks(handle: int) -> Iterator[bytes]:
    while block := os.read(handle, 1 << 16):
        yield block


def record_unblinding(
    folder: Path, act: Act, *, missing: str, force: bool, head: Path | None = None, refusal: str = ""
) -> tuple[Act, bool]:
    """Records that the seal is opened, and whether it was this time: a second opening changes nothing.

    `missing` says what is still to be done, if anything: then it needs `force`, which is kept for ever.
    `refusal` is what is said without it; by default, that scoring is not finished.
    """
    acts = read_acts(folder, head)
    if acts.opened is not None:
        return acts.opened, False
    if acts.state == "open" and acts.intact:
        raise UsageError(
            f"There is nothing to unblind in {folder}. Make a pack first: assay review blind STUDY"
        )
    if missing and not force:
        what = refusal or f"Scoring is not finished: {missing}. Finish it, then unblind."
        forcing = "Whoever forces it now (--force) marks the study for ever as unblinded early."
        raise UsageError(f"{what} {forcing}")
    done: What = "forced" if missing else "unblinded"
    detail = "; ".join(part for part in (act.detail, missing, acts.problem) if part)
    return append_act(folder, msgspec.structs.replace(act, act=done, detail=detail), head), True
