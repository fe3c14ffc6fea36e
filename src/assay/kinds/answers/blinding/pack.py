"""A pack: everything that a rater may see of a study. It does not reveal the condition of a response.

blind/
  pack.json      questions, gold answers, responses as shown, sources, who scores what
  map.sealed     the item, arm and seed of each response, encrypted; the key lies beside the folder
  marks/         the entries of raters, in the order of saving
  acts.jsonl     what was done with the seal, each line with the hash of the line before it
blind.key        the key of the map
blind.acts       how many acts there are, and the hash of the last act

The map is encrypted until scoring is done. The pack contains a hash of the map from the first day. This hash
proves in the end that the opened map is the map that was sealed. The hash is salted, so that nobody can try
out possible maps against it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.store.disk import explain_write_errors, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SCHEMA = "assay/pack/1"
FOLDER = "blind"
PACK, MAP, MARKS, ACTS = "pack.json", "map.sealed", "marks", "acts.jsonl"

KEY_BYTES, NONCE_BYTES = 32, 12
_HEAD = b"assay/seal/1\n"
_HEX = re.compile(rb"\s*([0-9a-f]{64})\s*")


class BlindedResponse(msgspec.Struct, frozen=True):
    """One response as raters see it."""

    response_id: str
    question_id: str
    text: str  # with telling words masked
    source: str  # the key of the source that its question is about


class GoldQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question with its gold answer."""

    question_id: str
    text: str
    gold: str
    complexity: str = ""
    site: str = ""
    sections: list[str] = []


class MergedSource(msgspec.Struct, frozen=True):
    """The content that the models were given under both conditions, merged into one text."""

    title: str
    text: str


class Assignment(msgspec.Struct, frozen=True, omit_defaults=True):
    """The division of work: the primary rater scores everything, and a drawn share is scored twice."""

    primary: str
    others: list[str] = []
    share: float = 0.15  # of the responses, for each of the others
    again: float = 0.05  # of the responses, for the same rater, if there is no other
    wait_hours: float = 48.0  # between a rater's two marks on one response

    @property
    def raters(self) -> list[str]:
        """All raters. The primary rater comes first."""
        return [self.primary, *self.others]


class BlindPack(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """The content of `pack.json`."""

    study: str
    panel: Assignment
    commitment: str  # hash of the sealed map before it was encrypted
    order_key: str  # shuffles the order of each rater and pass; it does not depend on conditions
    responses: list[BlindedResponse]  # sorted by id
    questions: dict[str, GoldQuestion]
    sources: dict[str, MergedSource]
    masked: dict[str, int] = {}  # how often each rule was used, over all responses
    drawn: list[str] = []  # response_ids that the others score
    drawn_again: list[str] = []  # response_ids that the primary rater scores again, if there are no others
    schema: str = SCHEMA

    @cached_property
    def question_of(self) -> dict[str, str]:
        """The question_id of each response."""
        return {each.response_id: each.question_id for each in self.responses}


class OriginalResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a response that the seal hides: its item, arm, seed and original text."""

    response_id: str
    item_id: str
    arm: str
    seed: int
    text: str  # as the model wrote it
    # masks: start and end in the text as shown, start and end in the text as written
    masks: list[tuple[int, int, int, int]] = []


class SealedMap(msgspec.Struct, frozen=True):
    """The hidden part of every response, and the salt of the map's hash."""

    salt: str
    originals: list[OriginalResponse]


def write_pack(folder: Path, pack: BlindPack) -> None:
    """Writes `pack.json` atomically: the whole file or nothing."""
    content = msgspec.json.format(msgspec.json.encode(pack), indent=1)
    write_atomic(folder / PACK, partial(Path.write_bytes, data=content))


def read_pack(folder: Path) -> BlindPack:
    """Reads `pack.json`. Raises a DataError if the file is missing or damaged."""
    path = folder / PACK
    try:
        return msgspec.json.decode(path.read_bytes(), type=BlindPack)
    except FileNotFoundError:
        fix = "Make one with: assay review blind STUDY"
        raise DataError(Problem("there is no pack of blinded responses", str(path), fix=fix)) from None
    except msgspec.DecodeError as error:
        fix = "Restore it: marks are made on what it shows."
        raise DataError(Problem(f"it cannot be read: {error}", str(path), fix=fix)) from None


# ----------------------------------------------------------------------------------------- the seal


def commitment(sealed: SealedMap) -> str:
    """Returns the SHA-256 of a map with its salt. The order of the map's rows does not matter."""
    rows = sorted(sealed.originals, key=lambda each: each.response_id)
    content = msgspec.json.encode(msgspec.structs.replace(sealed, originals=rows), order="sorted")
    return hashlib.sha256(content).hexdigest()


def seal(sealed: SealedMap, key: bytes) -> bytes:
    """Encrypts and authenticates a map (AES-256-GCM)."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return _HEAD + nonce + _cipher(key).encrypt(nonce, msgspec.json.encode(sealed), _HEAD)


def unseal(content: bytes, key: bytes, committed: str) -> SealedMap:
    """Decrypts a sealed map. Raises a DataError if that fails, or if the map's hash is not `committed`."""
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    restore = "as they were when the responses were blinded."
    if not is_sealed(content):
        what, fix = "it is not a sealed map", "Restore the file as it was written by assay review blind."
        raise DataError(Problem(what, MAP, fix=fix))
    nonce, hidden = content[len(_HEAD) :][:NONCE_BYTES], content[len(_HEAD) + NONCE_BYTES :]
    try:
        found = msgspec.json.decode(cipher.decrypt(nonce, hidden, _HEAD), type=SealedMap)
    except InvalidTag:
        what = "it does not open with this key: the key is another study's, or the file was changed"
        raise DataError(Problem(what, MAP, fix=f"Restore the map and its key {restore}")) from None
    except msgspec.DecodeError as error:
        what, fix = f"its content cannot be read: {error}", "Use the version of Assay that sealed it."
        raise DataError(Problem(what, MAP, fix=fix)) from None
    if not secrets.compare_digest(commitment(found), committed):
        what = "it is not the map that the pack committed to: map or pack were replaced since"
        raise DataError(Problem(what, MAP, fix=f"Restore both {restore}"))
    return found


def is_sealed(content: bytes) -> bool:
    """Whether a file's content begins like a sealed map."""
    return content.startswith(_HEAD) and len(content) > len(_HEAD) + NONCE_BYTES


def _cipher(key: bytes) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise PluginError(
            "Sealing which response is whose needs the package cryptography. "
            "Install it: pip install 'retrieval-assay[desk]'"
        ) from error
    if len(key) != KEY_BYTES:
        raise UsageError(f"A key has {KEY_BYTES} bytes; this one has {len(key)}. Make one with new_key().")
    return AESGCM(key)


# ------------------------------------------------------------------------------------------ the key


def new_key() -> bytes:
    """Returns a new key from the system's source of randomness."""
    return secrets.token_bytes(KEY_BYTES)


def write_key(path: Path, key: bytes, *, replace: bool = False) -> None:
    """Writes a key file that only its owner can read.

    `replace` allows overwriting another key. The map of that key can then not be opened any more.
    """
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not replace:
            fix = "Unblind the study that it is for, or take the file away by hand."
            raise DataError(Problem("there is a key already", str(path), fix=fix))
        write_atomic(path, partial(_write_private, content=key.hex().encode() + b"\n"))


def _write_private(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, content)
    finally:
        os.close(handle)


def read_key(path: Path) -> bytes:
    """Reads a key file. Raises a DataError if the file is missing, unreadable or not a key."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        fix = "Restore it: without it nobody can say which response is whose."
        raise DataError(Problem("the key of the seal is not there", str(path), fix=fix)) from None
    except OSError as error:
        what, fix = (
            f"it cannot be read: {error.strerror or error}",
            "Let its owner do this, or allow reading it.",
        )
        raise DataError(Problem(what, str(path), fix=fix)) from None
    if (key := parse_key(content)) is None:
        fix = "Restore it: 64 hexadecimal digits, one line."
        raise DataError(Problem("the file is not a key", str(path), fix=fix))
    return key


def parse_key(content: bytes) -> bytes | None:
    """Returns the key if the content is a key and nothing else; otherwise None."""
    found = _HEX.fullmatch(content.lower())
    return bytes.fromhex(found[1].decode()) if found else None
