r"""Text in the form in which anchors are compared, and the search for such text.

Differences that a reader does not see, or would not call another wording, are ignored. These are equal:
composed and decomposed letters, ligatures and their letters, full and half width, upper and lower case, any
run of white space and one blank, all quotation marks and primes, all hyphens, dashes and runs of them, an
ellipsis and three dots. Soft hyphens and characters without width, such as the joiners of Devanagari, are
dropped. Underscores and asterisks of emphasis are plain text.

If a text is not found in this form, it is searched in a second form, without hyphens and the white space
around them. The second form finds words and compounds that are divided at the end of a line, and dashes with
or without blanks.

    source = SourceText("The philos-\nophy of “rest”")
    source.spans('philosophy of "rest"')  -> [Span(4, 26)]
"""

from __future__ import annotations

import html
import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from assay.core.records import Span

Offsets = NDArray[np.int64]

BLANK, QUOTE, DASH = " ", "'", "-"
_QUOTES = frozenset("\"'`´‘’‚‛“”„‟‹›«»′″‴‵‶‷⁗ʹʺʻʼʽˈ❛❜❝❞〝〞〟＂＇｀")
_MORE_DASHES = frozenset("−⁃")  # dashes that Unicode does not call dashes
_SOFT_BREAK = "\u00ad\\s+"
_MARKS = dict.fromkeys(map(ord, string.punctuation + "•·▪◦‣…|"))
_TARGET = r"\((?:[^()\n]|\([^()\n]{0,200}\)){0,1000}\)"
_MARKUP = (
    re.compile(r"^[ \t]*(?:```|~~~)[^`\n]{0,200}$", re.MULTILINE),  # a fence of a block of code
    re.compile(r"<!--(?:[^<-]|-(?!->)|<(?!!--)){0,5000}-->|\x1b\[[\d;]{0,20}m"),
    re.compile(
        r"<su[pb]\b[^<>]{0,200}>\W{0,2}\d{1,3}\W{0,2}</su[pb]>|\[\d{1,3}\](?!\()"
    ),  # the mark of a footnote
    re.compile(r"<[a-zA-Z][\w-]{0,50}\s(?:[^<>\"']|\"[^\"<]{0,500}\"|'[^'<]{0,500}'){0,2000}>"),
    re.compile(r"<[/!]?[a-zA-Z-][\w-]{0,50}(?:[\s/][^<>]{0,2000})?>"),  # not <https://…>
    re.compile(r"\{(?:[.#:]|\w{1,30}=)[\w.#:=\"' -]{0,80}\}"),  # attributes of the element before
    re.compile(rf"!\[[^\[\]\n]{{0,500}}\]{_TARGET}"),  # an image shows no text
    re.compile(rf"(?<=\]){_TARGET}|(?<=\])\[[^\[\]\n]{{0,200}}\]|\[\^[^\[\]\n]{{1,50}}\]"),
    re.compile(r"^[ \t]*\[[^\[\]\n]{1,200}\]:[ \t]*\S{1,2000}$", re.MULTILINE),
    re.compile(r"^[ \t]*(?:[#>*+-]{1,6}[ \t]{1,9}){0,3}\d{1,9}[.)](?:[ \t]|$)", re.MULTILINE),
)
# The nearest text is searched around a few rare words, so that a book takes little longer than a page.
_WORD = re.compile(r"[^\s.,;:!?()\[\]'_*।-]{3,}")
_WORDS, _MOST_PLACES, _WINDOWS = 16, 500, 4
_PAGE = 10_000  # characters of a text that is searched as a whole if no word is shared
_UNLIKE = 0.6  # the least similarity of a text that is shown


@dataclass(frozen=True)
class SimilarText:
    """The place of the text that is most similar to a wanted text; an empty place if no text is similar."""

    span: Span
    text: str
    similarity: float  # 0 to 1


@dataclass(frozen=True)
class _ComparableText:
    """A text in the form in which it is compared, with the original place of each of its characters."""

    text: str
    starts: Offsets
    ends: Offsets

    def select(self, mask: NDArray[np.bool_]) -> _ComparableText:
        text = _to_text(_codes(self.text)[mask])
        return _ComparableText(text, self.starts[mask], self.ends[mask])

    def spans(self, wanted: str) -> Iterator[Span]:
        """Yields the places of a text in this form.

        Each span begins and ends at whole characters of the original.
        """
        size, place = len(wanted), self.text.find(wanted) if wanted else -1
        while place >= 0:
            whole = self._edge(place) and self._edge(place + size)
            if whole:
                yield Span(int(self.starts[place]), int(self.ends[place + size - 1]))
            place = self.text.find(wanted, place + (size if whole else 1))

    def _edge(self, place: int) -> bool:
        """Whether a character of the original begins at this place, or the text begins or ends there."""
        inside = 0 < place < len(self.text)
        return not inside or bool(self.starts[place] != self.starts[place - 1])


class SourceText:
    """A text in which other texts are looked up, with any form of quotes, blanks and hyphens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._form = _normal_form(text)

    @property
    def normal(self) -> str:
        """The text in the form in which it is compared."""
        return self._form.text

    @property
    def joined(self) -> str:
        """The text in the form in which it is compared, without hyphens and the white space around them."""
        return self._joined.text

    @cached_property
    def _joined(self) -> _ComparableText:
        return self._form.select(_outside_dashes(self._form.text))

    def spans(self, wanted: str) -> list[Span]:
        """Returns the places of a wanted text in the original, in order and without repetition."""
        found = list(self._form.spans(normalize(wanted)))
        return found or list(self._joined.spans(join_hyphens(wanted)))

    def nearest(self, wanted: str) -> SimilarText:
        """Returns the place that is most similar to a wanted text.

        The search looks around the words that both texts have.
        """
        from rapidfuzz.fuzz import partial_ratio_alignment

        sought, best = normalize(wanted), (0.0, 0, 0)
        whole = [(0, _PAGE)] if len(self.normal) <= _PAGE else []
        for start, end in list(_windows(sought, self.normal)) or whole:
            found = partial_ratio_alignment(sought, self.normal[start:end])
            if found is not None and found.score > best[0]:
                best = found.score, start + found.dest_start, start + found.dest_end
        score, start, end = best
        if score < 100 * _UNLIKE:
            return SimilarText(Span(0, 0), "", 0.0)
        start, end = _whole_words(self.normal, start, end)
        span = Span(int(self._form.starts[start]), int(self._form.ends[end - 1]))
        return SimilarText(span, self.text[span.start : span.end], score / 100)


def normalize(text: str) -> str:
    """Converts a text to the form in which it is compared, without white space at its ends."""
    return _normal_form(text).text


def join_hyphens(text: str) -> str:
    """Converts a text to the form that is compared, without hyphens and the white space around them."""
    form = _normal_form(text)
    return form.select(_outside_dashes(form.text)).text


def without_markup(text: str) -> str:
    """Removes Markdown, HTML and punctuation from a text, in the form in which it is compared.

    This need not be a parser, because both sides of a comparison go through it: text that looks like markup
    is lost on both sides. Every pattern stops at the next sign of its own kind, so the time is linear.
    """
    for markup in _MARKUP:
        text = markup.sub(" ", html.unescape(text) if "&" in text else text)
    return join_hyphens(text).replace(BLANK, "").translate(_MARKS)


# ----------------------------------------------------------------------------- the form compared


def _normal_form(text: str) -> _ComparableText:
    composed = _compose(text)
    if not composed.text:
        return composed
    codes = _codes(composed.text)
    alphabet = sorted(set(composed.text))
    folded = [_fold(char) for char in alphabet]
    number = np.zeros(int(codes.max()) + 1, np.int64)
    number[_codes("".join(alphabet))] = np.arange(len(alphabet))
    letters = number[codes]
    lengths = np.array([len(each) for each in folded], np.int64)
    # all folded letters in one array, and where those of each letter begin
    starts_of = np.cumsum(lengths) - lengths
    place = np.repeat(np.arange(len(codes)), lengths[letters])
    out = _codes("".join(folded))[starts_of[letters[place]] + _places_within_runs(lengths[letters])]
    return _collapse(out, composed.starts[place], composed.ends[place])


def _collapse(codes: NDArray[np.uint32], starts: Offsets, ends: Offsets) -> _ComparableText:
    """Replaces each run of blanks, quotes or dashes by one of them, and strips white space at the ends."""
    repeated = np.zeros(len(codes), np.bool_)
    for char in (BLANK, QUOTE, DASH):
        same = codes == ord(char)
        repeated[1:] |= same[1:] & same[:-1]
    first = np.flatnonzero(~repeated)
    if not len(first):
        return _ComparableText("", starts[:0], ends[:0])
    last = np.append(first[1:], len(codes)) - 1
    form = _ComparableText(_to_text(codes[first]), starts[first], ends[last])
    begin, end = int(form.text[:1] == BLANK), len(form.text) - int(form.text[-1:] == BLANK)
    return _ComparableText(form.text[begin:end], form.starts[begin:end], form.ends[begin:end])


@lru_cache(maxsize=65536)
def _fold(char: str) -> str:
    """Returns the form in which a character is compared.

    This is nothing, its lower case, or the common sign of its group.
    """
    if char in _QUOTES:
        return QUOTE
    if char.isspace():
        return BLANK
    category = unicodedata.category(char)
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f":  # a character without width, or a variation selector
        return ""
    return DASH if category == "Pd" or char in _MORE_DASHES else char.casefold()


def _compose(text: str) -> _ComparableText:
    """Returns the text in normal form KC. Each cluster of a letter and its marks is converted separately.

    Soft hyphens at the ends of lines are removed.
    """
    size = len(text)
    if "\u00ad" not in text and unicodedata.is_normalized("NFKC", text):
        places = np.arange(size)
        return _ComparableText(text, places, places + 1)
    parts: list[str] = []
    rows: list[tuple[int, int, int]] = []  # start and length in the text, length when composed
    done = 0
    for match in _cluster_pattern(text).finditer(text):
        cluster = match.group()
        if (made := _to_nfkc(cluster)) != cluster:
            start = match.start()
            parts += text[done:start], made
            rows += (done, start - done, start - done), (start, len(cluster), len(made))
            done = match.end()
    parts.append(text[done:])
    rows.append((done, size - done, size - done))
    starts, lengths, sizes = np.array(rows, np.int64).T
    as_it_was = np.arange(len(rows)) % 2 == 0
    own = np.repeat(as_it_was, sizes)
    begins = np.repeat(starts, sizes) + np.where(own, _places_within_runs(sizes), 0)
    return _ComparableText(
        "".join(parts), begins, np.where(own, begins + 1, np.repeat(starts + lengths, sizes))
    )


def _cluster_pattern(text: str) -> re.Pattern[str]:
    """Returns a pattern of all clusters that have another form.

    These are compatible characters, and letters with marks.
    """
    alphabet = sorted(set(text))
    other = [char for char in alphabet if _to_nfkc(char) != char]
    marks = [char for char in alphabet if _is_continuation(char)]
    branches = [_SOFT_BREAK]
    after = f"[{_escape(marks)}]" if marks else ""
    if other:
        branches.append(f"[{_escape(other)}]" + (f"{after}*" if after else ""))
    if after:
        branches.append(f".{after}+")
    return re.compile("|".join(branches), re.DOTALL)


def _escape(chars: list[str]) -> str:
    return "".join(re.escape(char) for char in chars)


@lru_cache(maxsize=65536)
def _to_nfkc(cluster: str) -> str:
    """Returns a cluster in normal form KC.

    Quotation marks stay as they are, because some of them would become a blank with an accent.
    """
    if cluster in _QUOTES:
        return cluster
    if cluster[0] == "\u00ad" and cluster[1:].isspace():
        return ""
    return unicodedata.normalize("NFKC", cluster)


@lru_cache(maxsize=65536)
def _is_continuation(char: str) -> bool:
    """Whether a character may combine with the one before it."""
    vowel_or_final = "\u1160" <= char <= "\u11ff"  # of a Korean syllable
    return vowel_or_final or char in "\uff9e\uff9f" or unicodedata.category(char).startswith("M")


def _outside_dashes(text: str) -> NDArray[np.bool_]:
    """Returns a mask of the characters of a normal text that are neither dashes nor blanks beside a dash."""
    codes = _codes(text)
    dash, blank = codes == ord(DASH), codes == ord(BLANK)
    beside = np.zeros(len(codes), np.bool_)
    beside[1:] |= dash[:-1]
    beside[:-1] |= dash[1:]
    outside: NDArray[np.bool_] = ~(dash | (blank & beside))
    return outside


def _places_within_runs(sizes: Offsets) -> Offsets:
    """Returns the place of each element in its run, for adjacent runs of these sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _to_text(codes: NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


# -------------------------------------------------------------------------------------- the nearest


def _windows(sought: str, text: str) -> Iterator[tuple[int, int]]:
    """Yields the few stretches of a text that hold most of the rarest words of the sought text."""
    size, votes = max(len(sought), 1), defaultdict[int, float](float)
    counts = {word.group(): text.count(word.group()) for word in _WORD.finditer(sought)}
    rarest = sorted((word for word, count in counts.items() if count), key=lambda word: counts[word])
    for word in rarest[:_WORDS]:
        at = sought.index(word)
        places = islice(re.finditer(re.escape(word), text), _MOST_PLACES)
        for bucket in {max(place.start() - at, 0) // size for place in places}:
            votes[bucket] += 1 / counts[word]  # rare words locate the text better
    for bucket in nlargest(_WINDOWS, votes, key=votes.__getitem__):
        yield max((bucket - 1) * size, 0), (bucket + 3) * size


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Widens a stretch of a normalized text to whole words, without blanks at its ends."""
    stretch = text[start:end]
    start, end = start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())
    after = text.find(BLANK, end)
    return text.rfind(BLANK, 0, start) + 1, len(text) if after < 0 else after
