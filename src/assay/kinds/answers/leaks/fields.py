"""Leaks in fields that raters can get at: what they are called, what they say, what their values go with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from assay.kinds.answers.blinding.ids import LETTERS, WORDS, words_as_in_ids, words_in_id
from assay.kinds.answers.blinding.pack import (
    ACTS,
    MAP,
    PACK,
    Assignment,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    MergedSource,
)
from assay.kinds.answers.leaks.look import Leak, LeakSearch
from assay.kinds.answers.leaks.texts import FieldValue, VisibleText

WORD, NAME, SIZE, TIME = "words", "names", "sizes", "times"

_SIZES = re.compile(
    r"token|chars?(?:acter|\b|_)|bytes|_len|(?<!max)(?<!min)length|size|cost|words?_|price|latency|seconds"
)
_TIMES = re.compile(r"time|date|stamp|collected|created|modified")
_TELLS = re.compile(r"condition|\barms?\b|system|model|factor|variant|tokeni[sz]er|original|unmask")
# Free text, and what raters said: the first holds any word, the second may go with the condition
_FREE = {
    *("text", "gold", "title", "about", "note", "claim", "reason", "study", "why", "finished", "label"),
    *("what", "scoring_notes", "model_text_span"),
}
_SAID = {"mark", "history", "grade", "choice", "time", "done", "queued", "spans", "claims", "rater", "raters"}
_SCORES = {  # as exports call what raters said
    *("factual_accuracy", "hallucination_count", "hallucination_categories", "hallucinations"),
    *("model_text_span", "completeness", "citation_fidelity", "scoring_notes", "scorer_id", "scoring_date"),
}
_WRITTEN = {"text"}  # by the models: that it goes with the condition is what the study is about
_OF_THE_QUESTION = {"question_id", "source", "key"}  # all responses to a question have the same
_FEW = 12  # values of a field at most to be read as names of something
_NAMES = "names of the fields"


def field_leaks(look: LeakSearch) -> Iterator[Leak]:
    """Fields that raters have no need of, by their name or by what they say."""
    found: dict[Leak, None] = {}
    for seen in (seen for seen in look.seen if seen.name not in {ACTS, MAP}):
        for each in seen.fields:
            said = [*_by_name(seen, each), *_by_value(look, each)]
            found |= {Leak(check, what, seen.name): None for check, what in said}
        if seen.tree is None:
            found |= {Leak(WORD, what, seen.name): None for what in _named(look, seen.text)}
    yield from found


def _by_name(seen: VisibleText, each: FieldValue) -> Iterator[tuple[str, str]]:
    name, packed = each.name, seen.name == PACK and seen.path is not None
    if (seen.said and name in _SAID) or name in _SCORES or (packed and each.keys[0] == "masked"):
        return  # the last is a count over all responses, by rule
    if _SIZES.search(name.lower()):
        yield SIZE, f"there is a field {name!r}"
    elif _TELLS.search(name.lower()):
        yield WORD, f"there is a field {name!r}"
    elif packed and not _belongs(each.keys):
        yield TIME if _TIMES.search(name.lower()) else WORD, f"there is a field {name!r}, which no pack has"


def _by_value(look: LeakSearch, each: FieldValue) -> Iterator[tuple[str, str]]:
    if not isinstance(each.value, str):
        return
    if each.response_id is not None and each.name not in _FREE | _SAID | _SCORES | _OF_THE_QUESTION:
        bare = each.value.strip().casefold()
        for word in sorted({word for word in look.words if word.casefold() == bare}):
            yield WORD, f"the field {each.name!r} holds {word!r}"
    yield from ((WORD, what) for what in _named(look, each.value, free=each.name in _FREE))


def _belongs(keys: tuple[str, ...]) -> bool:
    """Whether keys lead to a field that a pack has."""
    inner: dict[str, Any] = {
        "responses": BlindedResponse,
        "panel": Assignment,
        "questions": GoldQuestion,
        "sources": MergedSource,
    }
    head, rest = keys[0], keys[1:]
    if head not in BlindPack.__struct_fields__:
        return False
    if head in {"questions", "sources"}:
        rest = rest[1:]  # the key of the question or source
    return head not in inner or not rest or rest[0] in inner[head].__struct_fields__


def _named(look: LeakSearch, text: str, *, free: bool = False) -> Iterator[str]:
    """Arms by their full name in any text; conditions given as a value, in a text that is not free."""
    if "[" in text:
        yield from (f"it holds {word!r}" for word in look.words if "[" in word and word in text)
    if not free and (found := look.stated.search(text)):
        yield f"it names {found['word']!r} as somebody's condition"


def file_name_leaks(look: LeakSearch) -> Iterator[Leak]:
    """Files and folders that are called after a condition."""
    words, found = words_as_in_ids(look.words) | WORDS | LETTERS, dict[Leak, None]()
    for seen in look.seen:
        if seen.path is None or seen.ours:
            continue
        name = _without(seen.name, look.of_one(seen))  # no id beside the word: that would say whose it is
        for word in words_in_id(name.removesuffix(seen.path.suffix), words):
            found[Leak(NAME, f"the name of the file holds {word!r}", name)] = None
    yield from found


def value_leaks(look: LeakSearch) -> Iterator[Leak]:
    """Values of fields, and times of files, that go with the condition."""
    columns: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
    first: dict[tuple[str, ...], str] = {}
    for seen in (seen for seen in look.seen if not seen.said):
        for each in seen.fields:
            if each.response_id is not None and not (_SAID | _SCORES | _WRITTEN) & set(each.keys):
                columns[each.keys].setdefault(each.response_id, each.value)
                first.setdefault(each.keys, seen.name)
        for record in seen.records():  # which fields there are, and in which order
            keys = (*record.keys, _NAMES)
            names = [name for name in record.names if name not in _SAID | _SCORES]
            columns[keys].setdefault(record.response_id, " ".join(names))
            first.setdefault(keys, seen.name)
        if seen.path is not None and (owner := look.of_one(seen)):
            columns["modified",][owner] = seen.path.stat().st_mtime
            columns["name",][owner] = _without(seen.name, owner)
            first["modified",] = first["name",] = "the files of single responses"
    figures = {keys: list(_figures(look, values)) for keys, values in columns.items()}
    alarms = set(look.deals.alarms({"\0".join(keys): some for keys, some in figures.items()}))
    for keys in (keys for keys in figures if "\0".join(keys) in alarms):
        if keys[-1] == _NAMES:
            yield Leak(WORD, "which fields there are, or their order, goes with the condition", first[keys])
            continue
        check = TIME if _TIMES.search(keys[-1].lower()) else NAME if keys == ("name",) else SIZE
        yield Leak(check, f"the values of {keys[-1]!r} go with the condition", first[keys])


def _without(name: str, response_id: str) -> str:
    return name.replace(response_id, "*") if response_id else name


def _figures(look: LeakSearch, values: Mapping[str, Any]) -> Iterator[Any]:
    at = [look.place[each] for each in values]
    numbers = [_number(each) for each in values.values()]
    if len(numbers) > 1 and all(each is not None for each in numbers):
        yield from look.deals.with_values(np.array(numbers, dtype=np.float64), at)
    elif len(kinds := set(map(str, values.values()))) <= _FEW and len(kinds) > 1:
        for kind in sorted(kinds):
            holds = [float(str(each) == kind) for each in values.values()]
            yield from look.deals.with_values(np.array(holds), at)


def _number(value: Any) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        pass
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return None
