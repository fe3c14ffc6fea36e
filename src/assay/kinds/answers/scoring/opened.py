"""A pack with its marks, and, once the seal was opened by an act on record, which response is whose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from assay.core.dataset import digest
from assay.core.records import Judgment, Span
from assay.judges.labels import text_hash
from assay.kinds.answers.blinding.acts import ActLog, read_acts
from assay.kinds.answers.blinding.masks import to_original
from assay.kinds.answers.blinding.pack import MAP, MARKS, PACK, BlindPack, OriginalResponse, read_pack
from assay.kinds.answers.blinding.seal import read_key, unseal
from assay.kinds.answers.measures.rubric import (
    ACCURACY,
    CITATION,
    CITATION_APPLIES,
    COMPLETENESS,
    HALLUCINATION,
    HALLUCINATIONS,
)
from assay.kinds.answers.scoring.agreement import rater_label
from assay.kinds.answers.scoring.marks import BookEntry, Mark, current_marks, distinct_marks, score_book
from assay.store.disk import hold_lock


def key_path(folder: Path) -> Path:
    """Where the key of a pack lies: beside it, never inside."""
    return folder.with_name(f"{folder.name}.key")


def head_path(folder: Path) -> Path:
    """Where the number of a pack's acts and the hash of the last are kept a second time: beside it."""
    return folder.with_name(f"{folder.name}.acts")


@dataclass(frozen=True)
class ScoringFolder:
    """The files of one blinded scoring, read as far as they may be read now."""

    folder: Path

    @property
    def there(self) -> bool:
        return (self.folder / PACK).is_file()

    @cached_property
    def pack(self) -> BlindPack:
        return read_pack(self.folder)

    @cached_property
    def acts(self) -> ActLog:
        return read_acts(self.folder, head_path(self.folder))

    @cached_property
    def lines(self) -> list[BookEntry]:
        return score_book(self.folder / MARKS).lines

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks that count, of every rater, round and pass."""
        return list(current_marks(distinct_marks(self.lines)).values())

    def hold_lock(self) -> AbstractContextManager[None]:
        """Hold the lock of the one process that may take marks or open the seal."""
        return hold_lock(self.folder, busy=f"serving {self.folder}, or taking scores in")

    @property
    def open(self) -> bool:
        """Whether the seal was opened."""
        return self.there and self.acts.opened is not None

    def originals(self) -> dict[str, OriginalResponse]:
        """What the seal hides, whatever the acts say: for the acts themselves and for checks."""
        sealed = (self.folder / MAP).read_bytes()
        found = unseal(sealed, read_key(key_path(self.folder)), self.pack.commitment)
        return {each.response_id: each for each in found.originals}

    def judgments(self) -> list[Judgment]:
        """What people said, of the responses as they are known once the seal was opened; none before."""
        if not self.open:
            return []
        originals = self.originals()
        return [each for mark in self.marks for each in judged(mark, originals[mark.response_id])]


def judged(mark: Mark, original: OriginalResponse) -> Iterator[Judgment]:
    """A mark as judgments on the response as it was written."""
    said: dict[str, dict[str, int | None]] = {
        ACCURACY: {ACCURACY: mark.grade},
        HALLUCINATION: {HALLUCINATIONS: len(mark.claims)},
        COMPLETENESS: {COMPLETENESS: mark.grade},
        CITATION: {CITATION_APPLIES: int(mark.grade is not None), CITATION: mark.grade},
    }
    plain = Judgment(
        original.item_id,
        mark.step,
        0.0,
        rater_label(mark.rater, mark.round),
        arm=original.arm,
        seed=original.seed,
        seen=text_hash(original.text),
        time=mark.time,
    )
    for label, grade in said[mark.step].items():
        if grade is not None:
            note = mark.note or None
            yield replace(plain, label=label, grade=float(grade), reason=note, judgment_id=_id(mark, label))
    for number, claim in enumerate(mark.claims):
        span = Span(*to_original((claim.start, claim.end), original.masks))
        own = _id(mark, str(number))
        kind, note = claim.category, claim.note
        yield replace(plain, grade=1.0, span=span, category=kind, reason=note, judgment_id=own)


def _id(mark: Mark, part: str) -> str:
    return digest([mark.mark_id.encode(), part.encode()])
