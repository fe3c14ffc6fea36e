"""The score stage's output: in the run folder, under the hash of its input."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

import assay
from assay.datasets.dataset import digest
from assay.measures.block import Block
from assay.measures.score import Broken, score_blocks, withheld
from assay.operations.trust import refuse_nothing_computed
from assay.plugins import MEASURES, identity
from assay.protocols import Measure
from assay.run.store import Store, write_atomic
from assay.study import Study


def stored_scores(
    study: Study,
    store: Store,
    measures: Sequence[Measure],
    blocks: Sequence[Block],
    *,
    sealed: bool,
) -> tuple[pl.DataFrame, Broken]:
    """Every score, from the run folder where nothing it depends on has changed, and what broke."""
    path, key = store.root / "scores.parquet", _input(study, measures, blocks, sealed)
    if path.is_file() and pl.read_parquet_metadata(path).get("input") == key:
        return pl.read_parquet(path), {}
    broken: Broken = {}
    frame = score_blocks(measures, blocks, broken)
    refuse_nothing_computed(broken, frame)
    if sealed:
        frame, broken = withheld(frame), {}
    if not broken:  # else not kept: what broke may be mended, and is then to be tried again
        # the key lies in the file itself, so that no crash can pair scores with another input
        write_atomic(path, lambda target: frame.write_parquet(target, metadata={"input": key}))
    return frame, broken


def _input(study: Study, measures: Sequence[Measure], blocks: Sequence[Block], sealed: bool) -> str:
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
            *(block.answers.hash_rows(0).to_numpy().tobytes() for block in blocks),
            *map(encode, blocks[0].judgments),
            *([] if (doubts := blocks[0].labels.doubts) is None else [doubts.write_json().encode()]),
        ]
    )
