"""In which order a rater sees responses: another one for each rater and pass, and no answer beside its twin.

The order comes from the pack's own key and the ids, never from a condition. Two responses of one question are
kept apart as far as the questions allow: `APART` places where there are many, else at least one between.
Where that cannot be, because one question has more than half of what is to be scored, as few as can be meet,
and `count_neighbours` counts them.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from itertools import pairwise

from assay.kinds.answers.blinding.ids import keyed_hash
from assay.kinds.answers.blinding.pack import BlindPack

APART = 8  # places between two responses of one question, where there are questions enough
_LEAST, _MOST = 0.10, 0.15  # the part that a second rater scores, by the rubric
_ROUNDS = 3
_SWAPS = 50  # partners tried for a response that stands too near to its twin


def blind_order(pack: BlindPack, rater: str, step: str, response_ids: Sequence[str]) -> list[str]:
    """The order in which one rater sees some responses in one pass."""
    question = {each.response_id: each.question_id for each in pack.responses}
    ids = sorted(response_ids)  # whatever order they come in
    rng = random.Random(keyed_hash(pack.order_key.encode(), "order", rater, step))
    rng.shuffle(ids)
    # Half of what could be: at the full distance every round of the questions would repeat the one before
    half = min(APART, _widest([question[each] for each in ids]) // 2)
    for distance in (half, 2) if half > 2 else (2,):
        if (spread := _spread(ids, question, distance, rng)) is not None:
            return spread
    return _most_first(ids, question)


def count_neighbours(pack: BlindPack, shown: Sequence[str]) -> int:
    """How many responses of an order stand right after another one to the same question."""
    question = {each.response_id: each.question_id for each in pack.responses}
    return sum(question[before] == question[after] for before, after in pairwise(shown))


def can_separate(pack: BlindPack, response_ids: Sequence[str]) -> bool:
    """Whether some order of these responses has no two to one question beside each other."""
    question = {each.response_id: each.question_id for each in pack.responses}
    return _widest([question[each] for each in response_ids]) > 1


def _widest(questions: Sequence[str]) -> int:
    """The distance at which all twins can stand; 1 where some have to be neighbours."""
    counts = Counter(questions)
    most = max(counts.values(), default=1)
    if most == 1:
        return 2 * APART  # there are no twins
    # The questions with the most responses come round `most` times, the last round without its rest
    rounds = sum(count == most for count in counts.values())
    return (len(questions) - rounds) // (most - 1)


def _spread(
    shuffled: Sequence[str], question: dict[str, str], distance: int, rng: random.Random
) -> list[str] | None:
    """A shuffle in which whoever stands too near to a twin changes places with somebody drawn at random.

    Most stay where chance put them, so that the order is as good as uniform. None: this way leads nowhere.
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
    """The question with the most left comes next, unless it has just been: as few neighbours as can be."""
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


# ---------------------------------------------------------------------------------------- draws


def draw_share(key: str, response_ids: Sequence[str], share: float, purpose: str = "others") -> list[str]:
    """A random part of some responses, sorted by id; a larger share holds the smaller one.

    A share of 10 to 15 % stays that where whole responses allow it. At least one is drawn.
    """
    ranked = sorted(response_ids, key=lambda each: keyed_hash(key.encode(), "draw", purpose, each))
    return sorted(ranked[: _drawn(len(ranked), share)])


def _drawn(n: int, share: float) -> int:
    if n == 0 or share <= 0:
        return 0
    counts = sorted(range(1, n + 1), key=lambda count: (abs(count - share * n), count))
    if _LEAST <= share <= _MOST:
        return next((count for count in counts if _LEAST <= count / n <= _MOST), counts[0])
    return counts[0]
