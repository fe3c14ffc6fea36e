"""The seal: which response is whose, encrypted until scoring is done, and bound by a hash that all may see.

The hash stands in the pack from the first day: the map that is opened in the end is shown to be the one that
was sealed. It is salted, so that nobody can try out maps against it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.kinds.answers.blinding.pack import MAP, SealedMap
from assay.store.disk import explain_write_errors, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES, NONCE_BYTES = 32, 12
_HEAD = b"assay/seal/1\n"
_HEX = re.compile(rb"\s*([0-9a-f]{64})\s*")


def new_key() -> bytes:
    """A fresh key from the system's source of randomness."""
    return secrets.token_bytes(KEY_BYTES)


def commitment(sealed: SealedMap) -> str:
    """SHA-256 of a map with its salt, whatever the order of its rows."""
    rows = sorted(sealed.originals, key=lambda each: each.response_id)
    content = msgspec.json.encode(msgspec.structs.replace(sealed, originals=rows), order="sorted")
    return hashlib.sha256(content).hexdigest()


def seal(sealed: SealedMap, key: bytes) -> bytes:
    """The map, encrypted and signed (AES-256-GCM)."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return _HEAD + nonce + _cipher(key).encrypt(nonce, msgspec.json.encode(sealed), _HEAD)


def unseal(content: bytes, key: bytes, committed: str) -> SealedMap:
    """The map in a sealed file, which must be the one that was committed to."""
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    if not is_sealed(content):
        raise _broken("it is no sealed map", "Restore the file as it was written by assay review blind.")
    nonce, hidden = content[len(_HEAD) :][:NONCE_BYTES], content[len(_HEAD) + NONCE_BYTES :]
    try:
        found = msgspec.json.decode(cipher.decrypt(nonce, hidden, _HEAD), type=SealedMap)
    except InvalidTag:
        what = "it does not open with this key: the key is another study's, or the file was changed"
        raise _broken(
            what, "Restore the map and its key as they were when the responses were blinded."
        ) from None
    except msgspec.DecodeError as error:
        raise _broken(
            f"what it holds cannot be read: {error}", "Use the version of Assay that sealed it."
        ) from None
    if not secrets.compare_digest(commitment(found), committed):
        what = "it is not the map that the pack committed to: map or pack were replaced since"
        raise _broken(what, "Restore both as they were when the responses were blinded.")
    return found


def is_sealed(content: bytes) -> bool:
    """Whether content is a sealed map, by how it begins."""
    return content.startswith(_HEAD) and len(content) > len(_HEAD) + NONCE_BYTES


def _broken(what: str, fix: str) -> DataError:
    return DataError(Problem(what, MAP, fix=fix))


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


def write_key(path: Path, key: bytes, *, replace: bool = False) -> None:
    """Writes a key that only its owner can read; over another only if told to: its map is lost without it."""
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
    """The key in a file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        fix = "Restore it: without it nobody can say which response is whose."
        raise DataError(Problem("the key of the seal is not there", str(path), fix=fix)) from None
    except OSError as error:
        fix = "Let its owner do this, or allow reading it."
        raise DataError(
            Problem(f"it cannot be read: {error.strerror or error}", str(path), fix=fix)
        ) from None
    if (key := key_in(content)) is None:
        raise DataError(
            Problem("it holds no key", str(path), fix="Restore it: 64 hexadecimal digits, one line.")
        )
    return key


def key_in(content: bytes) -> bytes | None:
    """The key that some content is, and nothing else."""
    found = _HEX.fullmatch(content.lower())
    return bytes.fromhex(found[1].decode()) if found else None
