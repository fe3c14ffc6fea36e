"""The score stage's output: in the run folder, made again if it is damaged or its input has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl

import assay
from assay.core.block import Block
from assay.core.dataset import digest
from assay.core.protocols import Measure
from assay.core.registry import MEASURES, identity
from assay.measures.score import Broken, score_blocks, withheld
from assay.pipeline.trust import check_something_computed
from assay.store.disk import write_atomic
from assay.store.run_store import UNREADABLE, Store
from assay.study.study import Study


def load_or_score(
    study: Study,
    store: Store,
    measures: Sequence[Measure],
    blocks: Sequence[Block],
    *,
    sealed: bool,
) -> tuple[pl.DataFrame, Broken]:
    """Every score, from the run folder where nothing it depends on has changed, and what broke."""
    path, key = store.root / "scores.parquet", input_hash(study, measures, blocks, sealed=sealed)
    if (kept := _read(path, key)) is not None:
        return kept, {}
    broken: Broken = {}
    frame = score_blocks(measures, blocks, broken)
    check_something_computed(broken, frame)
    if sealed:
        frame, broken = withheld(frame), {}
    if not broken:  # else not kept: what broke may be mended, and is then to be tried again
        # both hashes lie in the file itself, so that no crash can pair scores with another input
        held = {"input": key, "scores": _hash_rows(frame)}
        write_atomic(path, lambda target: frame.write_parquet(target, metadata=held))
    return frame, broken


def _read(path: Path, made_of: str) -> pl.DataFrame | None:
    """The scores that were made of that input; None if there are none that can be trusted."""
    try:
        held = pl.read_parquet_metadata(path) if path.is_file() else {}
        if held.get("input") != made_of:
            return None
        frame = pl.read_parquet(path)
    except UNREADABLE:
        return None
    return frame if held.get("scores") == _hash_rows(frame) else None


def _hash_rows(frame: pl.DataFrame) -> str:
    """A hash of a frame; another version of Polars may give another one."""
    return digest([frame.hash_rows(0).to_numpy().tobytes()])


def input_hash(study: Study, measures: Sequence[Measure], blocks: Sequence[Block], *, sealed: bool) -> str:
    """A hash of everything a score depends on; measures and judges count with their code's version."""
    encode = msgspec.json.Encoder(order="sorted").encode
    datasets = {block.arm.name: study.dataset(block.arm) for block in blocks}
    return digest(
        [
            assay.__version__.encode(),
            *(
                identity(each, study.registry.provider(MEASURES, getattr(each, "family", ""))).encode()
                for each in measures
            ),
            encode([study.file.judges, sealed]),
            *(identity(judge).encode() for judge in study.judges),
            *(dataset.hash.encode() for dataset in datasets.values()),
            *(encode([block.arm, block.seed, block.item_ids]) for block in blocks),
            *(encode([block.structure, block.structures]) for block in blocks),
            *(_hash_rows(block.answers).encode() for block in blocks),
            *map(encode, blocks[0].judgments),
            *([] if (doubts := blocks[0].labels.doubts) is None else [doubts.write_json().encode()]),
        ]
    )
