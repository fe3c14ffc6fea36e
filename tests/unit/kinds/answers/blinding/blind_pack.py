"""A clean pack of made-up responses, on disk, and its map."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from assay.kinds.answers.blinding.ids import draw_share, response_ids, telling_words
from assay.kinds.answers.blinding.pack import (
    MAP,
    Assignment,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    MergedSource,
    OriginalResponse,
    SealedMap,
    commitment,
    seal,
    write_pack,
)

MODELS = ("small-8b", "large-70b")
WORDS = ("keys", "limits", "tokens", "requests", "a", "minute", "regions", "retry", "an", "hour", "plan")


class Made(NamedTuple):
    """A pack, its map and the key of both."""

    pack: BlindPack
    sealed: SealedMap
    key: bytes

    @property
    def words(self) -> list[str]:
        return telling_words(each.arm for each in self.sealed.originals)

    @property
    def conditions(self) -> dict[str, str]:
        return {each.response_id: each.arm[0] for each in self.sealed.originals}


def made(seed: int = 0, questions: int = 30, others: tuple[str, ...] = ("ben",)) -> Made:
    """Every question asked of two models under A and B."""
    rng = random.Random(seed)
    key, order_key = rng.randbytes(32), rng.randbytes(8).hex()
    asked = [f"S{number // 8:03d}-Q{number:03d}" for number in range(questions)]
    all_of = [(item, f"{name}[model={model}]", 0) for name in "AB" for model in MODELS for item in asked]
    ids = response_ids(key, all_of, telling_words(arm for _, arm, _ in all_of))
    originals = [
        OriginalResponse(each, item, arm, seed, " ".join(rng.choices(WORDS, k=rng.randint(5, 30))))
        for each, (item, arm, seed) in zip(ids, all_of, strict=True)
    ]
    originals.sort(key=lambda each: each.response_id)
    sealed = SealedMap(rng.randbytes(16).hex(), originals)
    pack = BlindPack(
        "Two forms of one text",
        Assignment("anna", list(others)),
        commitment(sealed),
        order_key,
        [BlindedResponse(each.response_id, each.item_id, each.text, each.item_id) for each in originals],
        {
            item: GoldQuestion(item, f"What holds of {item}?", "Ten a minute.", "single-fact", item[:4])
            for item in asked
        },
        {item: MergedSource("Limits", f"Keys of {item} have limits: ten a minute.") for item in asked},
        {"format": 3},
        draw_share(order_key, ids, 0.15) if others else [],
        [] if others else draw_share(order_key, ids, 0.05, "again"),
    )
    return Made(pack, sealed, key)


def written(folder: Path, one: Made) -> Path:
    """The files of a pack."""
    write_pack(folder, one.pack)
    (folder / MAP).write_bytes(seal(one.sealed, one.key))
    return folder
