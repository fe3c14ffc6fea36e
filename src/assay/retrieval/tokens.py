"""Tokenizers: the vocabularies of well-known models, which need no network, and any `tokenizer.json`."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from assay.core.dataset import digest
from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.core.records import Span

if TYPE_CHECKING:
    import tokenizers

    from assay.core.parts import Tokens
    from assay.core.protocols import Kit

PACKAGED = ("o200k_base", "cl100k_base", "llama3")
_SPECIAL = "<|"  # how every special token of the packaged vocabularies begins
_TEXTS_AT_ONCE = 1024  # an encoding weighs some hundred times its text, so they are not all held at once


@dataclass(frozen=True)
class _Packaged:
    """A byte-level BPE vocabulary that comes inside splintr, under the name it has there."""

    vocabulary: ClassVar[str]
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> Tokens:
        return packaged(self.vocabulary)

    def identity(self, kit: Kit) -> str:
        """The vocabulary, and the library that applies it."""
        return f"{self.vocabulary} by {release('splintr-rs')}"


@dataclass(frozen=True)
class O200kBase(_Packaged):
    """The tokens of OpenAI's GPT-4o and its successors."""

    vocabulary = "o200k_base"


@dataclass(frozen=True)
class Cl100kBase(_Packaged):
    """The tokens of OpenAI's GPT-4 and text-embedding-3 models."""

    vocabulary = "cl100k_base"


@dataclass(frozen=True)
class Llama3(_Packaged):
    """The tokens of Meta's Llama 3 models."""

    vocabulary = "llama3"


@dataclass(frozen=True)
class TokenizerJson:
    """The tokens of any model that comes with a `tokenizer.json`. The path is relative to the study."""

    path: str
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if not self.path:
            raise UsageError("tokenizer_json needs a path. Write tokenizer_json(path=models/tokenizer.json).")

    def load(self, kit: Kit) -> Tokens:
        content = self._content(kit)
        try:
            return _from_json(content)
        except ValueError as error:
            raise self._problem(kit, f"no tokenizer can be made of it: {error}") from error

    def identity(self, kit: Kit) -> str:
        """A hash of the file, and the library that reads it."""
        return f"{digest([self._content(kit)])} by {release('tokenizers')}"

    def _content(self, kit: Kit) -> bytes:
        try:
            return kit.path(self.path).read_bytes()
        except OSError as error:
            raise self._problem(kit, f"it cannot be read: {error.strerror or error}") from error

    def _problem(self, kit: Kit, what: str) -> DataError:
        fix = "Give the path of a tokenizer.json, as Hugging Face's tokenizers library writes it."
        return DataError(Problem(what, str(kit.path(self.path)), fix=fix))


class ByteLevelTokens:
    """A loaded byte-level BPE vocabulary."""

    def __init__(self, name: str, encoder: Any) -> None:
        self.name = name
        self._encoder = encoder

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has. What looks like a special token is text like any other."""
        plain = [text for text in texts if _SPECIAL not in text]
        # Only the batch uses every core, and only one text at a time can be kept from matching specials.
        _, offsets = self._encoder.encode_batch_flat(plain)
        sizes = iter(np.diff(np.frombuffer(offsets, np.uint64)).tolist())
        return [
            len(self._encoder.encode_ordinary(text)) if _SPECIAL in text else next(sizes) for text in texts
        ]

    def spans(self, text: str) -> list[Span]:
        """The characters of each token. One that ends inside a character ends before it, and may be empty."""
        lengths = map(len, map(self._encoder.decode_token_bytes, self._encoder.encode_ordinary(text)))
        ends = np.cumsum(np.fromiter(lengths, np.int64))
        raw = np.frombuffer(text.encode() + b" ", np.uint8)  # the blank closes the last character
        begins = (raw & 0xC0) != 0x80  # in UTF-8 every other byte of a character is 10xxxxxx
        # Characters begun before each end, less the one that goes on beyond it.
        whole = np.cumsum(begins)[ends] - 1
        return _between(whole.tolist())


class JsonTokens:
    """A tokenizer read from a `tokenizer.json`."""

    def __init__(self, name: str, tokenizer: tokenizers.Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, those that frame a text for its model not counted."""
        found: list[int] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = list(texts[start : start + _TEXTS_AT_ONCE])
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            found.extend(map(len, encoded))
        return found

    def spans(self, text: str) -> list[Span]:
        """The characters of each token, and those before it that the tokenizer passes over.

        What it passes over at the end goes to the last token. Of tokens of the same characters, such as the
        bytes of one it does not know, the first has them and the others are empty.
        """
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        ends = list(accumulate((end for _, end in offsets), max))
        return _between([*ends[:-1], len(text)] if ends else [])


def _between(ends: Iterable[int]) -> list[Span]:
    """Neighbouring spans from the start of a text, by where each ends."""
    return [Span(start, end) for start, end in pairwise((0, *ends))]


@cache
def packaged(vocabulary: str) -> ByteLevelTokens:
    """The tokenizer of a vocabulary that comes with the program."""
    release("splintr-rs")
    from splintr import Tokenizer

    return ByteLevelTokens(vocabulary, Tokenizer.from_pretrained(vocabulary))


@lru_cache(maxsize=8)
def _from_json(content: bytes) -> JsonTokens:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text: it is split as any other
    return JsonTokens(f"tokenizer_json {digest([content])[:12]}", tokenizer)


@cache
def release(package: str) -> str:
    """Name and version of a package that a part is made with, for its identity."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError as error:
        raise PluginError(f"{package} is not installed. Install it: pip install {package}") from error
