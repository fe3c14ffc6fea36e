"""Finds the tokens and the sentences of a text.

Tokenizers use the vocabularies of well-known models, which need no network, or any `tokenizer.json`. The
library sentencex of Wikimedia finds the sentences.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Sequence
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
_SPECIAL = "<|"  # the beginning of all special tokens in the packaged vocabularies
_TEXTS_AT_ONCE = 1024  # encodings take some hundred times the memory of their texts


@dataclass(frozen=True)
class _PackagedTokenizer:
    """A byte-level BPE vocabulary of the package splintr, by its name in that package."""

    vocabulary: ClassVar[str]
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> Tokens:
        return load_packaged(self.vocabulary)

    def identity(self, kit: Kit) -> str:
        """Returns the name of the vocabulary and the version of the library."""
        return f"{self.vocabulary} by {package_release('splintr-rs')}"


@dataclass(frozen=True)
class O200kBase(_PackagedTokenizer):
    """The tokens of OpenAI's GPT-4o and its successors."""

    vocabulary = "o200k_base"


@dataclass(frozen=True)
class Cl100kBase(_PackagedTokenizer):
    """The tokens of OpenAI's GPT-4 and text-embedding-3 models."""

    vocabulary = "cl100k_base"


@dataclass(frozen=True)
class Llama3(_PackagedTokenizer):
    """The tokens of Meta's Llama 3 models."""

    vocabulary = "llama3"


@dataclass(frozen=True)
class TokenizerJson:
    """The tokens of any model with a `tokenizer.json`. The path is relative to the study."""

    path: str
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if not self.path:
            raise UsageError("tokenizer_json needs a path. Write tokenizer_json(path=models/tokenizer.json).")

    def load(self, kit: Kit) -> Tokens:
        content = self._content(kit)
        try:
            return _load_json(content)
        except ValueError as error:
            raise self._problem(kit, f"no tokenizer can be made of it: {error}") from error

    def identity(self, kit: Kit) -> str:
        """Returns a hash of the file and the version of the library."""
        return f"{digest([self._content(kit)])} by {package_release('tokenizers')}"

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
        """Counts the tokens of each text. Special tokens in a text are read as plain text."""
        plain = [text for text in texts if _SPECIAL not in text]
        # only a batch uses all cores, but special tokens can only be turned off for single texts
        _, offsets = self._encoder.encode_batch_flat(plain)
        sizes = iter(np.diff(np.frombuffer(offsets, np.uint64)).tolist())
        return [
            len(self._encoder.encode_ordinary(text)) if _SPECIAL in text else next(sizes) for text in texts
        ]

    def spans(self, text: str) -> list[Span]:
        """Returns the characters of each token.

        A token that ends inside a character does not get that character, so its span may be empty.
        """
        lengths = map(len, map(self._encoder.decode_token_bytes, self._encoder.encode_ordinary(text)))
        ends = np.cumsum(np.fromiter(lengths, np.int64))
        raw = np.frombuffer(text.encode() + b" ", np.uint8)  # the blank ends the last character
        begins = (raw & 0xC0) != 0x80  # in UTF-8 every other byte of a character is 10xxxxxx
        # characters that begin before each end, minus the one that continues after it
        whole = np.cumsum(begins)[ends] - 1
        return _neighbouring_spans(whole.tolist())


class JsonTokens:
    """A tokenizer read from a `tokenizer.json`."""

    def __init__(self, name: str, tokenizer: tokenizers.Tokenizer) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Counts the tokens of each text, without the special tokens that a model puts around a text."""
        found: list[int] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = list(texts[start : start + _TEXTS_AT_ONCE])
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            found.extend(map(len, encoded))
        return found

    def spans(self, text: str) -> list[Span]:
        """Returns the characters of each token, together with the skipped characters before it.

        Skipped characters at the end go to the last token. If several tokens have the same characters, such
        as the bytes of an unknown character, the first token gets them and the other spans are empty.
        """
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        ends = list(accumulate((end for _, end in offsets), max))
        return _neighbouring_spans([*ends[:-1], len(text)] if ends else [])


def _neighbouring_spans(ends: Iterable[int]) -> list[Span]:
    """Returns adjacent spans from the start of a text, given the end of each span."""
    return [Span(start, end) for start, end in pairwise((0, *ends))]


@cache
def load_packaged(vocabulary: str) -> ByteLevelTokens:
    """Loads a vocabulary that comes with the program."""
    package_release("splintr-rs")
    from splintr import Tokenizer

    return ByteLevelTokens(vocabulary, Tokenizer.from_pretrained(vocabulary))


@lru_cache(maxsize=8)
def _load_json(content: bytes) -> JsonTokens:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is plain text
    return JsonTokens(f"tokenizer_json {digest([content])[:12]}", tokenizer)


@cache
def package_release(package: str) -> str:
    """Returns name and version of an installed package, for the identity of things made with it."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError as error:
        raise PluginError(f"{package} is not installed. Install it: pip install {package}") from error


_ITEM = r"(?:[-*+•]|\d{1,3}[.)])[ \t]"  # the beginning of a list item
_LONE = r"[ \t]*(?:#{1,6}[ \t]|\|)"  # the beginning of a heading or a table row; each is one sentence
_BORDER = re.compile(
    rf"^[ \t\r]*$|^(?=[ \t]*{_ITEM})|^{_LONE}.*$", re.MULTILINE
)  # these are borders even without punctuation
_LONE_START = re.compile(_LONE)
_ITEM_START = re.compile(rf"\s*(?:{_ITEM})?\s*")
_STRETCH = 10_000  # characters: sentencex needs quadratic time for quotes and brackets


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Returns the sentences of a text in order, without the white space around them.

    A heading (`# …`) and a table row (`| …`) are a sentence each. A list item or a paragraph is never joined
    with the text after it. For languages that sentencex does not know, it uses general rules.
    """
    package_release("sentencex")
    borders = sorted({0, len(text), *(at for found in _BORDER.finditer(text) for at in found.span())})
    spans = (
        trim_span(text, Span(start, end))
        for block in pairwise(borders)
        for start, end in pairwise(_sentence_borders(text, *block, language))
    )
    return [span for span in spans if span is not None]


def trim_span(text: str, span: Span) -> Span | None:
    """Returns a span without the white space at its ends; None if the span has only white space."""
    inside = text[span.start : span.end]
    start = span.start + len(inside) - len(inside.lstrip())
    end = span.end - len(inside) + len(inside.rstrip())
    return Span(start, end) if start < end else None


def _sentence_borders(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """Yields the start of each sentence of one block, and the end of the last sentence."""
    from sentencex import get_sentence_boundaries

    yield start
    if _LONE_START.match(text, start, end):
        yield end
        return
    if number := _ITEM_START.match(text, start, end):
        start = number.end()  # otherwise "1." would be a sentence
    while end - start > _STRETCH:
        # the last sentence of a stretch may continue after it, so it is the first of the next stretch
        stretch = text[start : start + _STRETCH]
        starts = [start + each["start_index"] for each in get_sentence_boundaries(language, stretch)][1:]
        starts = starts or [start + _last_gap(stretch)]
        yield from starts
        start = starts[-1]
    yield from (start + each["end_index"] for each in get_sentence_boundaries(language, text[start:end]))
    yield end


def _last_gap(stretch: str) -> int:
    """Returns where to cut a stretch without a sentence border: after its last white space, or at its end."""
    return max(stretch.rfind(" "), stretch.rfind("\n")) + 1 or len(stretch)
