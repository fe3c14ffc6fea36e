"""Decompresses the body of a foreign HTTP answer in small pieces, so that it never exceeds the allowed size.

HTTP libraries decompress each network read at once, and a body may be compressed several times
(`Content-Encoding: gzip, gzip`). A body of 13 kB became 8 GB before its size could be checked. Here every
layer of compression yields pieces of limited size, and each piece is counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

ACCEPTED = "gzip, deflate"  # what requests may ask for: the standard library can give both in small pieces
_PIECE = 64 * 1024
_LAYERS = 5  # the most that any client accepts; each costs memory
_GZIP, _BARE = 16 + zlib.MAX_WBITS, -zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"  # how a gzip stream begins


class OversizedContent(ValueError):
    """A body has more bytes than allowed, compressed or not."""


def decompress(parts: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """Yields the content of a body in small pieces. `parts` is the body as it was sent.

    Raises OversizedContent if there are more than `most` bytes before, after or between layers of
    compression, and ValueError if the body cannot be decompressed.
    """
    layers = [name for each in encoding.lower().split(",") if (name := each.strip()) not in {"", "identity"}]
    if unknown := {*layers} - {"gzip", "x-gzip", "deflate"}:
        raise ValueError(f"an answer that is packed as {min(unknown)!r}, which nobody asked for")
    if len(layers) > _LAYERS:
        raise ValueError(f"an answer that is packed {len(layers)} times over")
    content = _counted(parts, most)
    for name in reversed(layers):
        content = _counted(_inflate(content, gzip=name != "deflate"), most)
    return content


def _counted(parts: Iterable[bytes], most: int) -> Iterator[bytes]:
    for part in parts:
        most -= len(part)
        if most < 0:
            raise OversizedContent("an answer that is too large")
        yield part


def _inflate(parts: Iterable[bytes], gzip: bool) -> Iterator[bytes]:
    """Removes one layer of compression.

    Several gzip streams may follow each other. A `deflate` stream may have the header of zlib.
    """
    machine, left = None, b""
    try:
        for part in parts:
            left += part
            while left:
                if machine is None or machine.eof:
                    if machine is not None and not (gzip and _MAGIC.startswith(left[:2])):
                        left = b""  # what follows the last stream is not content
                        break
                    if not gzip and len(left) < 2:
                        break
                    bare = not gzip and (left[0] & 15 != 8 or int.from_bytes(left[:2]) % 31 != 0)
                    machine = zlib.decompressobj(_GZIP if gzip else _BARE if bare else zlib.MAX_WBITS)
                piece = machine.decompress(left, _PIECE)
                left = machine.unconsumed_tail or machine.unused_data
                if piece:
                    yield piece
    except zlib.error as error:
        raise ValueError(f"an answer that cannot be unpacked: {error}") from error
    if left or (machine is not None and not machine.eof):
        raise ValueError("an answer that is cut short")
