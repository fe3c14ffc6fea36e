"""The record of what was done with the seal. Each line contains the hash of the line before it.

A changed, removed or inserted line breaks the chain. Lines that are cut off at the end do not break it.
Therefore a second file (`head`) keeps the number of lines, the last hash, and whether the seal was ever
forced. With this file, a pack that was restored from an older copy is noticed. A person who can write both
files can still rewrite both. The chain shows accidents and haste, but does not prevent fraud.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from assay.core.errors import UsageError
from assay.kinds.answers.blinding.pack import ACTS, MARKS
from assay.store.disk import explain_write_errors, lock, sync, write_atomic

ActName = Literal["blinded", "checked", "leaking", "accepted", "unblinded", "forced"]
WORDS = {
    "leaking": "checked, and found leaking,",
    "accepted": "leaks accepted",
    "forced": "unblinded early, by force",
}


class Act(msgspec.Struct, frozen=True):
    """One act on the seal: what was done, by whom and when, and the hash of the line before."""

    act: ActName
    by: str
    time: float
    detail: str = ""
    previous: str = ""

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
        detail = f" ({self.detail})" if self.detail else ""
        return f"{when}: {WORDS.get(self.act, self.act)} by {self.by}{detail}"


@dataclass(frozen=True)
class ActLog:
    """All acts on record, and whether the record is intact."""

    acts: tuple[Act, ...]
    problem: str = ""  # why it is not intact
    forced: bool = False  # according to the second file, even if no act says so

    @property
    def intact(self) -> bool:
        return not self.problem

    @property
    def state(self) -> str:
        """The state: `open` (nothing was blinded), `blinded`, `unblinded` or `forced`, which is final."""
        done = {each.act for each in self.acts} | ({"forced"} if self.forced else set())
        return next((state for state in ("forced", "unblinded", "blinded") if state in done), "open")

    @property
    def last_check(self) -> Act | None:
        """The last check since blinding, or the act that accepted its leaks; None without a check."""
        checks = [each for each in self.acts if each.act in {"blinded", "checked", "leaking", "accepted"}]
        return checks[-1] if checks and checks[-1].act != "blinded" else None

    @property
    def opened(self) -> Act | None:
        """The act that opened the seal; None while the seal is closed."""
        return next((each for each in self.acts if each.act in {"unblinded", "forced"}), None)

    @property
    def sentences(self) -> list[str]:
        """One sentence per act. If the record is broken, a last sentence says why."""
        return [*map(str, self.acts), *([f"The record is broken: {self.problem}"] if self.problem else [])]


class _LogHead(msgspec.Struct, frozen=True, omit_defaults=True):
    lines: int
    last: str
    forced: bool = False


def read_acts(folder: Path, head: Path | None = None) -> ActLog:
    """Reads the acts in a pack's folder. `head` is the second file, with their number and last hash."""
    path, known = folder / ACTS, _read_head(head)
    has_marks, forced = any((folder / MARKS).glob("*.jsonl")), known is not None and known.forced
    if not path.is_file():
        why = "marks were made" if has_marks else f"{known.lines} acts were recorded" if known else ""
        return ActLog((), f"{path} is gone, though {why}" if why else "", forced)
    lines = path.read_bytes().split(b"\n")[:-1]  # a line that a crash cut off: its act was not done
    found, problem = list[Act](), ""
    for number, (line, previous) in enumerate(zip(lines, ["", *map(_hash, lines)], strict=False), 1):
        try:
            act = msgspec.json.decode(line, type=Act)
        except msgspec.DecodeError:
            problem = problem or f"line {number} of {path} cannot be read"
            continue
        found.append(act)
        if act.previous != previous:
            problem = problem or f"line {number} of {path} does not follow from the lines before it"
    if known and not problem and (len(lines) < known.lines or _hash(lines[known.lines - 1]) != known.last):
        problem = f"{path} ended differently before: lines were cut off or rewritten"
    if head is not None and known is None and (has_marks or len(lines) > 1):  # one: a crash before it
        problem = problem or f"{head} is gone, so that nobody can tell whether lines were cut off"
    return ActLog(tuple(found), problem, forced)


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def _read_head(head: Path | None) -> _LogHead | None:
    if head is None or not head.is_file():
        return None
    try:
        return msgspec.json.decode(head.read_bytes(), type=_LogHead)
    except msgspec.DecodeError:
        return _LogHead(1, "unreadable")  # no line has this hash, so the record counts as broken


def append_act(folder: Path, act: Act, head: Path | None = None) -> Act:
    """Records an act, and fills in its `previous`. The act is on disk before the function returns.

    A broken record stays broken, but the act is still recorded.
    """
    path = folder / ACTS
    with explain_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0) as handle:
            lock(handle)
            before, content = read_acts(folder, head), handle.read()
            whole = content.rfind(b"\n") + 1
            lines = content[:whole].split(b"\n")[:-1]
            linked = msgspec.structs.replace(act, previous=_hash(lines[-1]) if lines else "")
            line = msgspec.json.encode(linked)
            handle.truncate(whole)  # an incomplete last line does not count
            handle.seek(whole)
            handle.write(line + b"\n")
            os.fsync(handle)
            sync(folder)
            if head is not None and before.intact:
                forced = "forced" in (before.state, act.act)
                tip = msgspec.json.encode(_LogHead(len(lines) + 1, _hash(line), forced))
                write_atomic(head, partial(Path.write_bytes, data=tip))
    return linked


def record_unblinding(
    folder: Path, act: Act, *, missing: str, force: bool, head: Path | None = None, refusal: str = ""
) -> tuple[Act, bool]:
    """Records that the seal is opened. Returns the opening act, and whether this call opened the seal.

    `missing` says what is still to be done. If `missing` is not empty, the seal opens only with `force`, and
    the record keeps that. `refusal` is the error message without `force`; by default, it says that scoring is
    not finished.
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
        raise UsageError(f"{what} Forcing it now (--force) marks the study for ever as unblinded early.")
    done: ActName = "forced" if missing else "unblinded"
    detail = "; ".join(part for part in (act.detail, missing, acts.problem) if part)
    return append_act(folder, msgspec.structs.replace(act, act=done, detail=detail), head), True
