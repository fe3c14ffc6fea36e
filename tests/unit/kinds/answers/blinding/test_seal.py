"""The seal: what opens it, and what does not."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import msgspec
import pytest
from blind_pack import made

from assay.core.errors import DataError, PluginError, UsageError
from assay.kinds.answers.blinding.pack import (
    commitment,
    new_key,
    parse_key,
    read_key,
    seal,
    unseal,
    write_key,
)

ONE = made(questions=3)
SEALED = seal(ONE.sealed, ONE.key)


def test_a_sealed_map_opens_with_its_key_and_shows_nothing_before() -> None:
    assert unseal(SEALED, ONE.key, ONE.pack.commitment) == ONE.sealed
    assert b"small-8b" not in SEALED
    assert seal(ONE.sealed, ONE.key) != SEALED  # never the same twice: nobody can compare two


def test_a_wrong_key_is_reported() -> None:
    with pytest.raises(DataError, match="does not open with this key"):
        unseal(SEALED, new_key(), ONE.pack.commitment)


@pytest.mark.parametrize("at", [20, 40, -1])
def test_a_changed_file_is_reported(at: int) -> None:
    changed = bytearray(SEALED)
    changed[at] ^= 1
    with pytest.raises(DataError, match="does not open with this key"):
        unseal(bytes(changed), ONE.key, ONE.pack.commitment)


@pytest.mark.parametrize(
    "content", [b"", b"{}", SEALED[5:], SEALED[:20]], ids=["empty", "json", "beheaded", "cut"]
)
def test_what_is_no_sealed_map_is_reported(content: bytes) -> None:
    with pytest.raises(DataError, match="not a sealed map"):
        unseal(content, ONE.key, ONE.pack.commitment)


def test_a_map_that_was_replaced_is_reported() -> None:
    swapped = [
        msgspec.structs.replace(each, arm="B" if each.arm[0] == "A" else "A") for each in ONE.sealed.originals
    ]
    other = msgspec.structs.replace(ONE.sealed, originals=swapped)
    with pytest.raises(DataError, match="not the map that the pack committed to"):
        unseal(seal(other, ONE.key), ONE.key, ONE.pack.commitment)


def test_a_commitment_is_to_content_not_to_order_and_needs_its_salt() -> None:
    turned = msgspec.structs.replace(ONE.sealed, originals=ONE.sealed.originals[::-1])
    assert commitment(turned) == ONE.pack.commitment
    assert commitment(msgspec.structs.replace(ONE.sealed, salt="other")) != ONE.pack.commitment


def test_a_key_on_disk_is_its_owners_and_never_lost(tmp_path: Path) -> None:
    path, key = tmp_path / "run" / "blinding.key", new_key()
    write_key(path, key)
    assert read_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(DataError, match="there is a key already"):
        write_key(path, new_key())
    assert read_key(path) == key
    write_key(path, ONE.key, replace=True)
    assert read_key(path) == ONE.key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_is_none_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the key of the seal is not there"):
        read_key(tmp_path / "blinding.key")
    (tmp_path / "blinding.key").write_text("secret")
    with pytest.raises(DataError, match="the file is not a key"):
        read_key(tmp_path / "blinding.key")
    with pytest.raises(UsageError, match="A key has 32 bytes; this one has 3"):
        seal(ONE.sealed, b"abc")
    assert parse_key(b"00" * 31) is None


def test_without_cryptography_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(PluginError, match=r"pip install 'retrieval-assay\[desk\]'"):
        unseal(SEALED, ONE.key, ONE.pack.commitment)
