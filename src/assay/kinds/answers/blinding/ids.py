"""Ids of blinded responses, made with a secret key so that they say nothing; ids that tell are refused."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from assay.core.errors import DataError, Problem

ID_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O or U to misread
PREFIX, LENGTH = "R-", 8
OURS = re.compile(rf"{PREFIX}[{ID_CHARACTERS}]{{{LENGTH}}}")
CHANCE = 1e-6  # what no pattern among random ids comes near
NAMED = 5  # ids that a message lists

LETTERS = frozenset("ab")  # what conditions are called where nobody gives them a name
WORDS = frozenset({"baseline", "condition", "control", "html", "llms", "markdown", "md", "treatment"})
_WITHIN = 4  # a word of as many signs tells wherever it stands in an id; a shorter one only on its own


def keyed_hash(key: bytes, *parts: str) -> bytes:
    """HMAC-SHA256 of some parts, so put together that no two lists of parts give the same."""
    state = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


def response_ids(
    key: bytes, originals: Iterable[tuple[str, str, int]], words: Iterable[str] = ()
) -> list[str]:
    """An id for each (item_id, arm, seed), in their order. Without the key nobody can make or guess one.

    An id that happens to hold one of the `words` is passed over for the next that the key gives.
    """
    wanted = list(originals)
    if len(set(wanted)) < len(wanted):
        twice = min(each for each in wanted if wanted.count(each) > 1)
        what = f"{twice[0]!r} of {twice[1]!r} with seed {twice[2]} is there twice"
        raise DataError(Problem(what, fix="Blind each response once."))
    telling_words, found = words_as_in_ids(words), dict[tuple[str, str, int], str]()
    taken: set[str] = set()
    for each in sorted(wanted):  # whose turn it is when two want the same id does not depend on their order
        made = next(
            made
            for made in _candidates(key, each)
            if made not in taken and not words_in_id(made, telling_words)
        )
        taken.add(made)
        found[each] = made
    return [found[each] for each in wanted]


def _candidates(key: bytes, original: tuple[str, str, int]) -> Iterator[str]:
    item_id, arm, seed = original
    attempt = 0
    while True:
        number = int.from_bytes(keyed_hash(key, "response id", item_id, arm, str(seed), str(attempt)), "big")
        yield PREFIX + "".join(ID_CHARACTERS[(number >> 5 * place) % 32] for place in range(LENGTH))
        attempt += 1


# --------------------------------------------------------------------------------- ids that tell


def telling_words(arms: Iterable[str]) -> list[str]:
    """What would give an arm away: its name, its system's, and the values of its factors."""
    found: set[str] = set()
    for arm in arms:
        system, _, factors = arm.partition("[")
        values = (each.partition("=")[2] for each in factors.rstrip("]").split(",") if each)
        found |= {arm, system, *values}
    return sorted(found - {""})


def refuse_telling_ids(ids: Sequence[str], words: Iterable[str], conditions: Sequence[str] = ()) -> None:
    """Refuses ids that encode a condition. `conditions` are theirs, one each, to look for patterns too."""
    if found := telling_ids(ids, words, conditions):
        fix = "Let Assay make the ids: leave them out of what you give."
        raise DataError(Problem(what, "response ids", fix=fix) for what in found)


def telling_ids(ids: Sequence[str], words: Iterable[str], conditions: Sequence[str] = ()) -> list[str]:
    """How ids give their condition away, a sentence for each way. No sentence says which is whose."""
    known = words_as_in_ids(words) | WORDS | LETTERS
    by_word: dict[str, list[str]] = defaultdict(list)
    for each in ids:
        for word in words_in_id(each, known):
            by_word[word].append(each)
    found = [f"{_count(some)} {word!r}: {_listed(some)}" for word, some in sorted(by_word.items())]
    if len(set(ids)) < len(ids):
        found.append(f"{len(ids) - len(set(ids))} ids are there more than once")
    if conditions and len(set(conditions)) > 1:
        found += _patterns(list(ids), list(conditions))
    return found


def _count(ids: Sequence[str]) -> str:
    return f"{len(ids)} {'id holds' if len(ids) == 1 else 'ids hold'}"


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids[:NAMED]) + (f" and {len(ids) - NAMED} more" if len(ids) > NAMED else "")


def words_as_in_ids(words: Iterable[str]) -> frozenset[str]:
    """Words as ids would hold them: small letters and digits only."""
    return frozenset(bare for word in words if (bare := _bare(word)) and not bare.isdigit())


def _bare(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", text.casefold()))


def words_in_id(response_id: str, words: Collection[str]) -> list[str]:
    """Those of some words, in small letters and digits, that an id or a name holds."""
    ours = OURS.fullmatch(response_id)
    name = (
        response_id[len(PREFIX) :] if ours else response_id
    )  # what every id of ours begins with says nothing
    tokens = set(re.findall(r"[^\W_]+", name.casefold()))
    if not ours:  # R001A is read as R, 001, A; in ours a letter between digits is chance
        tokens |= {part for token in tokens for part in re.findall(r"[^\W\d]+|\d+", token)}
    bare = _bare(name)
    return [word for word in sorted(words) if word in tokens or (len(word) >= _WITHIN and word in bare)]


def _patterns(ids: list[str], conditions: list[str]) -> Iterator[str]:
    """Signs that go with the condition at one place of all ids, and sorting that parts the conditions."""
    for place in range(max(map(len, ids))):
        signs: dict[str, set[str]] = defaultdict(set)
        for each, condition in zip(ids, conditions, strict=True):
            signs[each[place : place + 1]].add(condition)
        pure = all(len(those) == 1 for those in signs.values())
        # Of two conditions, as many halvings of the chance as there are ids beyond the first of each sign
        if pure and len(signs) > 1 and 0.5 ** (len(ids) - len(signs)) < CHANCE:
            yield f"the sign at place {place + 1} of an id goes with its condition"
    runs = sorted(zip(map(_sortable, ids), conditions, strict=True), key=lambda pair: pair[0])
    changes = sum(before[1] != after[1] for before, after in pairwise(runs))
    if changes == len(set(conditions)) - 1 and 1 / math.comb(len(ids), _smallest(conditions)) < CHANCE:
        yield "sorted by id, the conditions stand apart"


def _sortable(response_id: str) -> list[tuple[int, str]]:
    """Numbers by value, as people sort: R-9 before R-10."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d+|\D+", response_id)
    ]


def _smallest(conditions: Sequence[str]) -> int:
    return min(conditions.count(each) for each in set(conditions))
