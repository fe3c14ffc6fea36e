"""Ids and orders of blinded responses. A secret key draws them, so that they reveal no condition.

Ids that give a condition away are refused. Every rater sees the responses of every pass in another order. Two
responses to one question are kept up to `APART` places apart. If the questions do not allow that, at least
one other response lies between them. If one question has more than half of all responses, some of its
responses have to follow each other; `count_neighbours` counts them.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import random
import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count, pairwise

from assay.core.errors import DataError, Problem
from assay.kinds.answers.blinding.pack import BlindPack

ID_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O or U to misread
PREFIX, LENGTH = "R-", 8
OURS = re.compile(rf"{PREFIX}[{ID_CHARACTERS}]{{{LENGTH}}}")
CHANCE = 1e-6  # the probability below which a pattern among ids is not chance
NAMED = 5  # ids that a message lists

LETTERS = frozenset("ab")  # what conditions are called by default
WORDS = frozenset({"baseline", "condition", "control", "html", "llms", "markdown", "md", "treatment"})
_WITHIN = 4  # a word of this many characters counts anywhere in an id; a shorter one only as a whole part

APART = 8  # places between two responses to one question, if there are enough questions
_LEAST, _MOST = 0.10, 0.15  # the share that a second rater scores, by the rubric
_ROUNDS = 3
_SWAPS = 50  # partners to try for a response that is too near to another one to its question


def keyed_hash(key: bytes, *parts: str) -> bytes:
    """Returns the HMAC-SHA256 of some parts.

    The length of each part is hashed before the part, so that two different lists of parts do not collide.
    """
    state = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


def response_ids(
    key: bytes, originals: Iterable[tuple[str, str, int]], words: Iterable[str] = ()
) -> list[str]:
    """Returns an id for each (item_id, arm, seed), in the given order.

    Nobody can make or guess an id without the key. If an id is taken or contains one of `words`, the next id
    that the key gives is used.
    """
    wanted = list(originals)
    if len(set(wanted)) < len(wanted):
        twice = min(each for each in wanted if wanted.count(each) > 1)
        what = f"{twice[0]!r} of {twice[1]!r} with seed {twice[2]} is there twice"
        raise DataError(Problem(what, fix="Blind each response once."))
    forbidden, found = words_as_in_ids(words), dict[tuple[str, str, int], str]()
    taken: set[str] = set()
    for each in sorted(wanted):  # if two responses want the same id, the order of `originals` must not matter
        made = next(
            made for made in _candidates(key, each) if made not in taken and not words_in_id(made, forbidden)
        )
        taken.add(made)
        found[each] = made
    return [found[each] for each in wanted]


def _candidates(key: bytes, original: tuple[str, str, int]) -> Iterator[str]:
    item_id, arm, seed = original
    for attempt in count():
        number = int.from_bytes(keyed_hash(key, "response id", item_id, arm, str(seed), str(attempt)), "big")
        yield PREFIX + "".join(ID_CHARACTERS[(number >> 5 * place) % 32] for place in range(LENGTH))


# ------------------------------------------------------------------- ids that give a condition away


def telling_words(arms: Iterable[str]) -> list[str]:
    """Returns the words that would give an arm away: its name, its system, the values of its factors."""
    found: set[str] = set()
    for arm in arms:
        system, _, factors = arm.partition("[")
        values = (each.partition("=")[2] for each in factors.rstrip("]").split(",") if each)
        found |= {arm, system, *values}
    return sorted(found - {""})


def refuse_telling_ids(ids: Sequence[str], words: Iterable[str], conditions: Sequence[str] = ()) -> None:
    """Raises a DataError if the ids give a condition away.

    `conditions` has the condition of each id. They are needed to find patterns.
    """
    if found := telling_ids(ids, words, conditions):
        fix = "Let Assay make the ids: leave them out of what you give."
        raise DataError(Problem(what, "response ids", fix=fix) for what in found)


def telling_ids(ids: Sequence[str], words: Iterable[str], conditions: Sequence[str] = ()) -> list[str]:
    """Returns one sentence for each way in which the ids give a condition away.

    No sentence says which condition an id has.
    """
    known = words_as_in_ids(words) | WORDS | LETTERS
    by_word: dict[str, list[str]] = defaultdict(list)
    for each in ids:
        for word in words_in_id(each, known):
            by_word[word].append(each)
    found = []
    for word, some in sorted(by_word.items()):
        more = f" and {len(some) - NAMED} more" if len(some) > NAMED else ""
        verb = "id holds" if len(some) == 1 else "ids hold"
        found.append(f"{len(some)} {verb} {word!r}: {', '.join(some[:NAMED])}{more}")
    if len(set(ids)) < len(ids):
        found.append(f"{len(ids) - len(set(ids))} ids are there more than once")
    if len(set(conditions)) > 1:
        found += _patterns(ids, conditions)
    return found


def words_as_in_ids(words: Iterable[str]) -> frozenset[str]:
    """Returns words as ids contain them: lower-case letters and digits. Plain numbers are left out."""
    return frozenset(bare for word in words if (bare := _bare(word)) and not bare.isdigit())


def _bare(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", text.casefold()))


def words_in_id(response_id: str, words: Collection[str]) -> list[str]:
    """Returns the words that an id or a name contains. `words` have only lower-case letters and digits."""
    ours = OURS.fullmatch(response_id)
    name = response_id[len(PREFIX) :] if ours else response_id  # every id of ours begins with the prefix
    tokens = set(re.findall(r"[^\W_]+", name.casefold()))
    if not ours:  # R001A is read as R, 001, A; in our own ids, a letter between digits is chance
        tokens |= {part for token in tokens for part in re.findall(r"[^\W\d]+|\d+", token)}
    bare = _bare(name)
    return [word for word in sorted(words) if word in tokens or (len(word) >= _WITHIN and word in bare)]


def _patterns(ids: Sequence[str], conditions: Sequence[str]) -> Iterator[str]:
    """Finds places at which the character goes with the condition, and a sort that separates conditions."""
    for place in range(max(map(len, ids))):
        seen: dict[str, set[str]] = defaultdict(set)
        for each, condition in zip(ids, conditions, strict=True):
            seen[each[place : place + 1]].add(condition)
        pure = all(len(those) == 1 for those in seen.values())
        # With two conditions, the probability is one half for each id after the first with its character
        if pure and len(seen) > 1 and 0.5 ** (len(ids) - len(seen)) < CHANCE:
            yield f"the character at place {place + 1} of an id goes with its condition"
    runs = sorted(zip(map(_sortable, ids), conditions, strict=True), key=lambda pair: pair[0])
    changes = sum(before[1] != after[1] for before, after in pairwise(runs))
    smallest = min(Counter(conditions).values())
    if changes == len(set(conditions)) - 1 and 1 / math.comb(len(ids), smallest) < CHANCE:
        yield "sorted by id, the conditions are separated"


def _sortable(response_id: str) -> list[tuple[int, str]]:
    """Returns a sort key that sorts numbers by value, as people do: R-9 before R-10."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d+|\D+", response_id)
    ]


# --------------------------------------------------------------------------------------- orders


def blind_order(pack: BlindPack, rater: str, step: str, response_ids: Sequence[str]) -> list[str]:
    """Returns the order in which one rater sees some responses in one pass."""
    question = pack.question_of
    ids = sorted(response_ids)  # the order in which they are given must not matter
    rng = random.Random(keyed_hash(pack.order_key.encode(), "order", rater, step))
    rng.shuffle(ids)
    # Half of the possible distance: the full distance would repeat the order of questions in every round
    half = min(APART, _possible_distance([question[each] for each in ids]) // 2)
    for distance in (half, 2) if half > 2 else (2,):
        if (spread := _spread(ids, question, distance, rng)) is not None:
            return spread
    return _most_first(ids, question)


def count_neighbours(pack: BlindPack, shown: Sequence[str]) -> int:
    """Counts the responses that directly follow another response to the same question."""
    return sum(pack.question_of[before] == pack.question_of[after] for before, after in pairwise(shown))


def can_separate(pack: BlindPack, response_ids: Sequence[str]) -> bool:
    """Whether these responses have an order in which no two to the same question follow each other."""
    return _possible_distance([pack.question_of[each] for each in response_ids]) > 1


def _possible_distance(questions: Sequence[str]) -> int:
    """Returns the largest distance that responses to one question can keep; 1 if some must be neighbours."""
    counts = Counter(questions)
    most = max(counts.values(), default=1)
    if most == 1:
        return 2 * APART  # every question has one response
    # The questions with the most responses occur in `most` rounds; nothing has to follow the last round
    rounds = sum(count == most for count in counts.values())
    return (len(questions) - rounds) // (most - 1)


def _spread(
    shuffled: Sequence[str], question: dict[str, str], distance: int, rng: random.Random
) -> list[str] | None:
    """Swaps each response that is too near to another of its question with a random response.

    Most responses keep their place in the shuffle, so the order is nearly uniform. Returns None if no such
    order was found.
    """
    ids, asked = list(shuffled), [question[each] for each in shuffled]

    def clashes(at: int) -> bool:
        return (
            asked[at] in asked[max(at - distance + 1, 0) : at] or asked[at] in asked[at + 1 : at + distance]
        )

    def swap(one: int, other: int) -> None:
        ids[one], ids[other], asked[one], asked[other] = ids[other], ids[one], asked[other], asked[one]

    for _ in range(_ROUNDS):
        for place in range(len(ids)):
            tries = _SWAPS if clashes(place) else 0
            while tries:
                other = rng.randrange(len(ids))
                swap(place, other)
                if not clashes(place) and not clashes(other):
                    break
                swap(place, other)
                tries -= 1
        if not any(map(clashes, range(len(ids)))):
            return ids
    return None


def _most_first(shuffled: Sequence[str], question: dict[str, str]) -> list[str]:
    """Orders responses so that the fewest neighbours have the same question.

    Each step takes the question with the most responses left. It takes the same question as the step before
    only if no other question is left.
    """
    left: dict[str, deque[str]] = {}
    for each in shuffled:
        left.setdefault(question[each], deque()).append(each)
    found: list[str] = []
    while len(found) < len(shuffled):
        last = question[found[-1]] if found else None
        rest = [name for name, ids in left.items() if ids]
        name = max(rest, key=lambda name: (name != last, len(left[name])))
        found.append(left[name].popleft())
    return found


def draw_share(key: str, response_ids: Sequence[str], share: float, purpose: str = "others") -> list[str]:
    """Draws a random share of some responses, sorted by id. A larger share contains the smaller one.

    At least one response is drawn. A share of 10 to 15 % stays within these limits if whole responses allow
    it.
    """
    n = len(response_ids)
    if n == 0 or share <= 0:
        return []
    counts = sorted(range(1, n + 1), key=lambda count: (abs(count - share * n), count))
    drawn = counts[0]
    if _LEAST <= share <= _MOST:
        drawn = next((count for count in counts if _LEAST <= count / n <= _MOST), drawn)
    ranked = sorted(response_ids, key=lambda each: keyed_hash(key.encode(), "draw", purpose, each))
    return sorted(ranked[:drawn])
