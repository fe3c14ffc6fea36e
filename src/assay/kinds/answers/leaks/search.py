"""Looks for anything that would tell a rater which condition a response comes from, before raters see it.

What it looks at is what raters can get at: every file of the pack, and every page and answer that is served.
No finding says which response is whose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.kinds.answers.blinding.ids import telling_ids
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.order import can_separate, count_neighbours
from assay.kinds.answers.blinding.pack import MAP, PACK, BlindPack, SealedMap
from assay.kinds.answers.blinding.seal import is_sealed, key_in
from assay.kinds.answers.leaks.fields import field_leaks, file_name_leaks, value_leaks
from assay.kinds.answers.leaks.look import Leak, LeakSearch
from assay.kinds.answers.leaks.statistics import features_of, guess_conditions

if TYPE_CHECKING:
    from assay.core.protocols import Floats

IDS, ORDER, TWINS, TEXT = "ids", "order", "neighbours", "text"
SOURCE, MAPPED, GUESS = "sources", "map", "guess"


def find_leaks(
    folder: Path,
    pack: BlindPack,
    sealed: SealedMap,
    words: Sequence[str],
    served: Mapping[str, str] | None = None,
    masking: Masker | None = None,
    exported: Mapping[str, str] | None = None,
) -> list[Leak]:
    """Everything that gives a condition away.

    `words` are names of arms, systems and models (`words_of`), `served` is what the desk sends, by any name,
    `masking` is what the responses were masked with, and `exported` are the files that may be had meanwhile.
    """
    look = LeakSearch(folder, pack, sealed, words, masking or Masker(), served or {}, exported or {})
    return [found for check in _CHECKS for found in check(look)]


# ----------------------------------------------------------------------- ids, order, neighbours


def _ids(look: LeakSearch) -> Iterator[Leak]:
    for what in telling_ids(look.ids, look.words, look.conditions):
        yield Leak(IDS, what, PACK)


def _order(look: LeakSearch) -> Iterator[Leak]:
    shown: dict[str, list[list[int]]] = defaultdict(list)
    for (rater, step), ids in look.orders.items():
        shown[f"the order of {rater}, {step}"].append([look.place[each] for each in ids])
    for seen in (seen for seen in look.seen if not seen.said and seen.name != MAP):
        shown[seen.name] += [[look.place[each] for each in ids] for ids in seen.sequences()]
    figures = {
        name: _together([look.deals.in_sequence(places) for places in some]) for name, some in shown.items()
    }
    for name in look.deals.alarms(figures):
        yield Leak(ORDER, "who is listed, or in which order, goes with the condition", name)


def _drawn(look: LeakSearch) -> Iterator[Leak]:
    """Apart from the orders, among which many chances have to be allowed for: a draw is made once."""
    for name in ("drawn", "drawn_again"):
        drawn = frozenset(getattr(look.pack, name))
        there = [float(each in drawn) for each in look.ids]
        if look.deals.alarms({name: look.deals.with_values(np.array(there))}):
            yield Leak(ORDER, f"who is {name.replace('_', ' ')} goes with the condition", PACK)


def _together(sequences: list[list[Floats]]) -> list[Floats]:
    """The figures of each sequence, and their sums: many short lists tell together what none does alone."""
    each = [figure for figures in sequences for figure in figures]
    return each + [sum(some) for some in zip(*sequences, strict=True)] if len(sequences) > 1 else each


def _twins(look: LeakSearch) -> Iterator[Leak]:
    shown = [(f"the order of {rater}, {step}", ids) for (rater, step), ids in look.orders.items()]
    shown += [(seen.name, ids) for seen in look.seen if seen.name in look.served for ids in seen.sequences()]
    for name, ids in shown:
        if count := count_neighbours(look.pack, ids):
            what = f"{count} responses follow another one to the same question"
            why = "" if can_separate(look.pack, ids) else ": no order of so few questions can part them"
            yield Leak(TWINS, what + why, name)


# -------------------------------------------------------------------------- text, sources, the map


def _text(look: LeakSearch) -> Iterator[Leak]:
    counts: dict[str, int] = defaultdict(int)
    for each in look.pack.responses:
        asked, source = look.pack.questions.get(each.question_id), look.pack.sources.get(each.source)
        read = (asked.text, asked.gold) if asked else ()
        for rule in look.masking.betraying(each.text, read, source.text if source else ""):
            counts[rule] += 1
    for rule, count in sorted(counts.items()):
        # Not which: that a response holds such a word says whose it is
        yield Leak(TEXT, f"{count} responses hold what the rule {rule!r} masks", PACK)


def _unmasked(look: LeakSearch) -> Iterator[Leak]:
    """Responses as they were written, in a file or an answer that should hold them masked or not at all."""
    shown = {each.response_id: each.text for each in look.pack.responses}
    hidden = {
        each.text
        for each in look.sealed.originals
        if each.text.strip() != shown.get(each.response_id, "").strip()  # blanks around it hide nothing
    }
    for seen in (seen for seen in look.seen if seen.name != MAP):
        values = (each.value for each in seen.fields if isinstance(each.value, str))
        if not hidden.isdisjoint(values) or (seen.tree is None and any(text in seen.text for text in hidden)):
            yield Leak(TEXT, "it holds responses as they were written, without masks", seen.name)


def _sources(look: LeakSearch) -> Iterator[Leak]:
    question = {each.response_id: each.question_id for each in look.pack.responses}
    given: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in look.pack.responses:
        given[each.question_id, PACK].add(each.source)
    for seen in (seen for seen in look.seen if seen.path is None and isinstance(seen.tree, dict)):
        blocks = seen.tree.get("blocks")
        owner = next(
            (each for each in seen.tree.values() if isinstance(each, str) and each in look.place), None
        )
        if owner is not None and isinstance(blocks, list):
            texts = [block for block in blocks if isinstance(block, dict) and block.get("role") == "source"]
            given[question[owner], "what is served"].add(repr([block.get("text") for block in texts]))
    for (question_id, where), sources in given.items():
        if len(sources) > 1:
            yield Leak(SOURCE, f"the responses to {question_id!r} are shown beside different sources", where)


def _map(look: LeakSearch) -> Iterator[Leak]:
    for seen in look.seen:
        keys = {key for each in seen.fields for key in each.keys}
        if seen.name == MAP and seen.path is not None and not is_sealed(seen.path.read_bytes()):
            yield Leak(MAPPED, "it is not encrypted", MAP)
        elif "originals" in keys or {"arm", "item_id"} <= keys:
            yield Leak(MAPPED, "it says which response is whose", seen.name)
        if key_in(seen.text.encode()) is not None or seen.name.endswith(".key"):
            yield Leak(MAPPED, "it is a key, which must not lie with the pack", seen.name)


def _guess(look: LeakSearch) -> Iterator[Leak]:
    sequences = [look.place, *({each: at for at, each in enumerate(ids)} for ids in look.orders.values())]
    if look.ids and (guess := guess_conditions(look.deals, features_of(look.ids, sequences))).beats_chance:
        what = (
            f"ids and order foretell the condition better than chance: AUC {guess.auc:.2f}, p {guess.p:.4f}"
        )
        yield Leak(GUESS, what, PACK)


_CHECKS: Sequence[Callable[[LeakSearch], Iterable[Leak]]] = (
    *(_ids, field_leaks, file_name_leaks, _order, _drawn, _twins, value_leaks),
    *(_text, _unmasked, _sources, _map, _guess),
)
