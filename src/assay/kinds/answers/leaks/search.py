"""Searches, before raters see a pack, for anything that would reveal the condition of a response.

The search covers everything that raters can reach: every file of the pack, and every text that is served or
exported. No leak that it reports says which condition a response has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.kinds.answers.blinding.ids import (
    LETTERS,
    WORDS,
    can_separate,
    count_neighbours,
    telling_ids,
    words_as_in_ids,
    words_in_id,
)
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.pack import (
    ACTS,
    MAP,
    PACK,
    Assignment,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    MergedSource,
    SealedMap,
    is_sealed,
    parse_key,
)
from assay.kinds.answers.leaks.statistics import features_of, guess_conditions
from assay.kinds.answers.leaks.texts import FieldValue, Leak, LeakSearch, SearchedText

if TYPE_CHECKING:
    from assay.core.protocols import Floats

IDS, ORDER, TWINS, TEXT = "ids", "order", "neighbours", "text"
SOURCE, MAPPED, GUESS = "sources", "map", "guess"
WORD, NAME, SIZE, TIME = "words", "names", "sizes", "times"

_SIZES = re.compile(
    r"token|chars?(?:acter|\b|_)|bytes|_len|(?<!max)(?<!min)length|size|cost|words?_|price|latency|seconds"
)
_TIMES = re.compile(r"time|date|stamp|collected|created|modified")
_TELLS = re.compile(r"condition|\barms?\b|system|model|factor|variant|tokeni[sz]er|original|unmask")
_FREE = {  # free text, which may contain any word
    *("text", "gold", "title", "about", "note", "claim", "reason", "study", "why", "finished", "label"),
    *("what", "scoring_notes", "model_text_span"),
}
# What raters said, which may go with the condition: the names in marks, then the names in exports
_SAID = {"mark", "history", "grade", "choice", "time", "done", "queued", "spans", "claims", "rater", "raters"}
_SCORES = {
    *("factual_accuracy", "hallucination_count", "hallucination_categories", "hallucinations"),
    *("model_text_span", "completeness", "citation_fidelity", "scoring_notes", "scorer_id", "scoring_date"),
}
_WRITTEN = {"text"}  # by the models; the study is about how it goes with the condition
_OF_THE_QUESTION = {"question_id", "source", "key"}  # the same for all responses to a question
_FEW = 12  # a field with at most this many values is treated as a name
_NAMES = "names of the fields"


def find_leaks(
    folder: Path,
    pack: BlindPack,
    sealed: SealedMap,
    words: Sequence[str],
    served: Mapping[str, str] | None = None,
    masker: Masker | None = None,
    exported: Mapping[str, str] | None = None,
) -> list[Leak]:
    """Returns everything that gives a condition away.

    `words` are the names of arms, systems and models (`telling_words`). `served` has the texts that the desk
    sends, and `exported` the files that can be exported now; both are keyed by a name. `masker` is the masker
    that the responses were masked with.
    """
    search = LeakSearch(folder, pack, sealed, words, masker or Masker(), served or {}, exported or {})
    return [found for check in _CHECKS for found in check(search)]


# ------------------------------------------------------------------------------ fields and file names


def _fields(search: LeakSearch) -> Iterator[Leak]:
    """Finds fields that raters do not need, by their names or by their values."""
    found: dict[Leak, None] = {}
    for text in (text for text in search.texts if text.name not in {ACTS, MAP}):
        for each in text.fields:
            checked = [*_check_name(text, each), *_check_value(search, each)]
            found |= {Leak(check, what, text.name): None for check, what in checked}
        if text.tree is None:
            found |= {Leak(WORD, what, text.name): None for what in _named(search, text.text)}
    yield from found


def _check_name(text: SearchedText, each: FieldValue) -> Iterator[tuple[str, str]]:
    name, packed = each.name, text.name == PACK and text.path is not None
    if (text.has_marks and name in _SAID) or name in _SCORES or (packed and each.keys[0] == "masked"):
        return  # `masked` has a count per rule over all responses
    if _SIZES.search(name.lower()):
        yield SIZE, f"there is a field {name!r}"
    elif _TELLS.search(name.lower()):
        yield WORD, f"there is a field {name!r}"
    elif packed and not _is_pack_field(each.keys):
        yield TIME if _TIMES.search(name.lower()) else WORD, f"there is a field {name!r}, which no pack has"


def _check_value(search: LeakSearch, each: FieldValue) -> Iterator[tuple[str, str]]:
    if not isinstance(each.value, str):
        return
    if each.response_id is not None and each.name not in _FREE | _SAID | _SCORES | _OF_THE_QUESTION:
        bare = each.value.strip().casefold()
        for word in sorted({word for word in search.words if word.casefold() == bare}):
            yield WORD, f"the field {each.name!r} holds {word!r}"
    yield from ((WORD, what) for what in _named(search, each.value, free=each.name in _FREE))


def _is_pack_field(keys: tuple[str, ...]) -> bool:
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


def _named(search: LeakSearch, text: str, *, free: bool = False) -> Iterator[str]:
    """Finds full names of arms in any text, and conditions given as a value in a text that is not free."""
    if "[" in text:
        yield from (f"it holds {word!r}" for word in search.words if "[" in word and word in text)
    if not free and (found := search.stated.search(text)):
        yield f"it names {found['word']!r} as somebody's condition"


def _file_names(search: LeakSearch) -> Iterator[Leak]:
    """Finds files and folders that are named after a condition."""
    words, found = words_as_in_ids(search.words) | WORDS | LETTERS, dict[Leak, None]()
    for text in search.texts:
        if text.path is None or text.is_pack_file:
            continue
        # without the id: beside the word, it would reveal the condition of a response
        name = _without(text.name, search.response_of(text))
        for word in words_in_id(name.removesuffix(text.path.suffix), words):
            found[Leak(NAME, f"the name of the file holds {word!r}", name)] = None
    yield from found


def _values(search: LeakSearch) -> Iterator[Leak]:
    """Finds values and names of fields, and names and times of files, that go with the condition."""
    columns: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
    first: dict[tuple[str, ...], str] = {}
    for text in (text for text in search.texts if not text.has_marks):
        for each in text.fields:
            if each.response_id is not None and not (_SAID | _SCORES | _WRITTEN) & set(each.keys):
                columns[each.keys].setdefault(each.response_id, each.value)
                first.setdefault(each.keys, text.name)
        for record in text.records():  # which fields there are, and in which order
            keys = (*record.keys, _NAMES)
            names = [name for name in record.names if name not in _SAID | _SCORES]
            columns[keys].setdefault(record.response_id, " ".join(names))
            first.setdefault(keys, text.name)
        if text.path is not None and (owner := search.response_of(text)):
            columns["modified",][owner] = text.path.stat().st_mtime
            columns["name",][owner] = _without(text.name, owner)
            first["modified",] = first["name",] = "the files of single responses"
    statistics = {"\0".join(keys): list(_statistics(search, values)) for keys, values in columns.items()}
    alarms = set(search.permutations.alarms(statistics))
    for keys in (keys for keys in columns if "\0".join(keys) in alarms):
        if keys[-1] == _NAMES:
            yield Leak(WORD, "which fields there are, or their order, goes with the condition", first[keys])
            continue
        check = TIME if _TIMES.search(keys[-1].lower()) else NAME if keys == ("name",) else SIZE
        yield Leak(check, f"the values of {keys[-1]!r} go with the condition", first[keys])


def _without(name: str, response_id: str) -> str:
    return name.replace(response_id, "*") if response_id else name


def _statistics(search: LeakSearch, values: Mapping[str, Any]) -> Iterator[Floats]:
    at = [search.place[each] for each in values]
    numbers = [_number(each) for each in values.values()]
    if len(numbers) > 1 and all(each is not None for each in numbers):
        yield from search.permutations.with_values(np.array(numbers, dtype=np.float64), at)
    elif len(kinds := set(map(str, values.values()))) <= _FEW and len(kinds) > 1:
        for kind in sorted(kinds):
            holds = [float(str(each) == kind) for each in values.values()]
            yield from search.permutations.with_values(np.array(holds), at)


def _number(value: Any) -> float | None:
    for read in (float, lambda text: datetime.fromisoformat(text).timestamp()):
        try:
            return read(value)
        except (TypeError, ValueError):
            continue
    return None


# ----------------------------------------------------------------------- ids, order, neighbours


def _ids(search: LeakSearch) -> Iterator[Leak]:
    for what in telling_ids(search.ids, search.words, search.conditions):
        yield Leak(IDS, what, PACK)


def _orders(search: LeakSearch) -> Iterator[Leak]:
    shown: dict[str, list[list[int]]] = defaultdict(list)
    for (rater, step), ids in search.orders.items():
        shown[f"the order of {rater}, {step}"].append([search.place[each] for each in ids])
    for text in (text for text in search.texts if not text.has_marks and text.name != MAP):
        shown[text.name] += [[search.place[each] for each in ids] for ids in text.sequences()]
    statistics = {}
    for name, some in shown.items():
        each = [search.permutations.in_sequence(places) for places in some]
        statistics[name] = [one for found in each for one in found]
        if len(each) > 1:  # many short lists together may show what no single list shows
            statistics[name] += [sum(parts) for parts in zip(*each, strict=True)]
    for name in search.permutations.alarms(statistics):
        yield Leak(ORDER, "who is listed, or in which order, goes with the condition", name)


def _drawn(search: LeakSearch) -> Iterator[Leak]:
    """Checks whether the draw of responses goes with the condition.

    The draw is made only once. It is tested separately from the orders, because their test has to allow for
    many chances.
    """
    for name, ids in (("drawn", search.pack.drawn), ("drawn_again", search.pack.drawn_again)):
        drawn = frozenset(ids)
        there = np.array([float(each in drawn) for each in search.ids])
        if search.permutations.alarms({name: search.permutations.with_values(there)}):
            yield Leak(ORDER, f"who is {name.replace('_', ' ')} goes with the condition", PACK)


def _neighbours(search: LeakSearch) -> Iterator[Leak]:
    shown = [(f"the order of {rater}, {step}", ids) for (rater, step), ids in search.orders.items()]
    shown += [
        (text.name, ids) for text in search.texts if text.name in search.served for ids in text.sequences()
    ]
    for name, ids in shown:
        if count := count_neighbours(search.pack, ids):
            why = "" if can_separate(search.pack, ids) else ": no order of so few questions can separate them"
            yield Leak(TWINS, f"{count} responses follow another one to the same question{why}", name)


# -------------------------------------------------------------------------- text, sources, the map


def _unmasked_words(search: LeakSearch) -> Iterator[Leak]:
    counts: dict[str, int] = defaultdict(int)
    for each in search.pack.responses:
        asked, source = search.pack.questions.get(each.question_id), search.pack.sources.get(each.source)
        read = (asked.text, asked.gold) if asked else ()
        for rule in search.masker.matching_rules(each.text, read, source.text if source else ""):
            counts[rule] += 1
    for rule, count in sorted(counts.items()):
        # The ids are not listed: such a word reveals the condition of its response
        yield Leak(TEXT, f"{count} responses hold what the rule {rule!r} masks", PACK)


def _originals(search: LeakSearch) -> Iterator[Leak]:
    """Finds unmasked responses in a file or a served text that must not contain them."""
    shown = {each.response_id: each.text for each in search.pack.responses}
    hidden = {
        each.text
        for each in search.sealed.originals
        if each.text.strip() != shown.get(each.response_id, "").strip()  # blanks around a text hide nothing
    }
    for text in (text for text in search.texts if text.name != MAP):
        values = (each.value for each in text.fields if isinstance(each.value, str))
        plain = text.tree is None and any(original in text.text for original in hidden)
        if plain or not hidden.isdisjoint(values):
            yield Leak(TEXT, "it holds responses as they were written, without masks", text.name)


def _sources(search: LeakSearch) -> Iterator[Leak]:
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in search.pack.responses:
        given[each.question_id, PACK].add(each.source)
    for text in (text for text in search.texts if text.path is None and isinstance(text.tree, dict)):
        blocks = text.tree.get("blocks")
        owner = next(
            (each for each in text.tree.values() if isinstance(each, str) and each in search.place), None
        )
        if owner is not None and isinstance(blocks, list):
            sources = [block for block in blocks if isinstance(block, dict) and block.get("role") == "source"]
            texts = repr([block.get("text") for block in sources])
            given[search.pack.question_of[owner], "what is served"].add(texts)
    for (question_id, where), different in given.items():
        if len(different) > 1:
            yield Leak(SOURCE, f"the responses to {question_id!r} are shown beside different sources", where)


def _map(search: LeakSearch) -> Iterator[Leak]:
    for text in search.texts:
        keys = {key for each in text.fields for key in each.keys}
        if text.name == MAP and text.path is not None and not is_sealed(text.path.read_bytes()):
            yield Leak(MAPPED, "it is not encrypted", MAP)
        elif "originals" in keys or {"arm", "item_id"} <= keys:
            yield Leak(MAPPED, "it says which response is whose", text.name)
        if parse_key(text.text.encode()) is not None or text.name.endswith(".key"):
            yield Leak(MAPPED, "it is a key, which must not lie with the pack", text.name)


def _guess(search: LeakSearch) -> Iterator[Leak]:
    if not search.ids:
        return
    sequences = [search.place, *({each: at for at, each in enumerate(ids)} for ids in search.orders.values())]
    guess = guess_conditions(search.permutations, features_of(search.ids, sequences))
    if guess.beats_chance:
        what = "ids and order predict the condition better than chance"
        yield Leak(GUESS, f"{what}: AUC {guess.auc:.2f}, p {guess.p:.4f}", PACK)


_CHECKS: Sequence[Callable[[LeakSearch], Iterable[Leak]]] = (
    *(_ids, _fields, _file_names, _orders, _drawn, _neighbours, _values),
    *(_unmasked_words, _originals, _sources, _map, _guess),
)
