"""What a reader should know before trusting a figure: counts, warnings, where it came from, time and cost."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

import assay
from assay.datasets.dataset import Dataset
from assay.measures.block import Block, Labels
from assay.protocols import Measure
from assay.study import Study


def status_counts(scores: pl.DataFrame, measure: str) -> dict[str, dict[str, int]]:
    """How many scores of one measure have each status, by arm."""
    counts: dict[str, dict[str, int]] = {}
    found = scores.filter(pl.col("measure") == measure).group_by("arm", "status", maintain_order=True).len()
    for arm, status, n in found.iter_rows():
        counts.setdefault(arm, {})[status] = n
    return counts


def warnings_of(study: Study, datasets: Mapping[str, Dataset], measures: Sequence[Measure]) -> list[str]:
    """What is allowed, but worth a second look."""
    found: dict[str, None] = {}
    for dataset in datasets.values():
        found.update(dict.fromkeys(dataset.warnings))
        size = len(dataset.corpus)
        for measure in measures:
            cutoff = getattr(measure, "cutoff", None)
            if measure.at == "rank" and isinstance(cutoff, int) and 0 < size <= cutoff:
                found[f"{measure.name} looks as deep as the corpus is large ({size} passages)"] = None
        for tag in study.file.by:
            if not any(item.values(tag) for item in dataset.items):
                found[f"no item has the tag {tag!r}, which `by` asks for"] = None
    return list(found)


def provenance(
    study: Study, datasets: Mapping[str, Dataset], labels: Labels, manifest: Mapping[str, Any]
) -> dict[str, str]:
    """Hashes, versions and seeds: what it takes to get the same figures again."""
    return {
        "study fingerprint": study.fingerprint,
        "corpus": ", ".join(dict.fromkeys(dataset.corpus.hash for dataset in datasets.values())),
        "labels": f"{labels.frame.height} ({labels.world} world)"
        + (f", pool {labels.pool}" if labels.pool else ""),
        "seeds": ", ".join(map(str, study.seeds)),
        "resamples": str(study.file.compare.resamples),
        "assay": str(manifest.get("assay", assay.__version__)),
        "python": str(manifest.get("python", platform.python_version())),
    }


def latency(blocks: Sequence[Block]) -> dict[str, dict[str, float]]:
    """Percentiles of the seconds an answer took, by arm, over all seeds."""
    seconds: dict[str, list[float]] = {}
    for block in blocks:
        for response in block.responses:
            if response is not None and response.error is None and "total" in response.observed.seconds:
                seconds.setdefault(block.arm.name, []).append(response.observed.seconds["total"])
    return {
        arm: {f"p{share}": float(np.percentile(taken, share)) for share in (50, 95, 99)}
        for arm, taken in seconds.items()
    }


def cost(blocks: Sequence[Block]) -> dict[str, float]:
    """What each arm's answers cost, where its system said."""
    spent: dict[str, float] = {}
    for block in blocks:
        paid = [response.observed.cost for response in block.responses if response and response.observed.cost]
        if paid:
            spent[block.arm.name] = spent.get(block.arm.name, 0.0) + sum(paid)
    return spent
