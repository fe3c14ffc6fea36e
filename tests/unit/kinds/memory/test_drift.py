"""Drift of stored results between two times, and the shadow sets that are asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Hit
from assay.datasets.folder import Folder
from assay.kinds.memory.annotation.drift import keep_results, measure_drift, overlap, write_shadow
from assay.kinds.memory.annotation.workspace import open_workspace
from assay.pipeline.evaluate import evaluate
from assay.study.study import open_study
from small_annotation import freeze_papers

STUDY = """\
kind: search
data: {use: folder, path: shadow}
systems:
  old: replay(path=old.run)
measures: [Seconds]
compare: {resamples: 200}
"""
QUERIES = ["who pays rent?", "when is the roof mended?", "who logs the call?"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study that replays a run over three unlabelled queries."""
    workspace = freeze_papers(tmp_path)
    (tmp_path / "queries.txt").write_text(
        "# asked last week\n" + "\n".join([*QUERIES, "", QUERIES[0]]) + "\n"
    )
    write_shadow(workspace, tmp_path / "queries.txt", "policy", tmp_path / "shadow")
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def ids(folder: Path) -> list[str]:
    return [item.item_id for item in Folder("shadow").load(Kit(root=folder)).items]


def run(folder: Path, rankings: list[dict[str, float]]) -> None:
    lines = [
        f"{item_id} Q0 {doc_id} {rank} {score} old"
        for item_id, ranking in zip(ids(folder), rankings, strict=False)
        for rank, (doc_id, score) in enumerate(ranking.items(), 1)
    ]
    (folder / "old.run").write_text("\n".join(lines) + "\n")
    evaluate(folder)


def test_a_shadow_set_is_a_dataset_without_labels(folder: Path) -> None:
    dataset = Folder("shadow").load(Kit(root=folder))
    assert [item.text for item in dataset.items] == QUERIES
    assert all(item.gold == {} for item in dataset.items)
    passage = dataset.corpus.passages[0]
    assert (passage.doc_id, passage.metadata["pack"], passage.source) == ("lease:1", "policy", "lease")
    assert set(dataset.corpus.documents) == {"lease", "leave", "outage"}
    before = ids(folder)
    (folder / "queries.txt").write_text("\n".join(["a new one", *QUERIES]))
    found = write_shadow(open_workspace(folder / "papers"), folder / "queries.txt", "", folder / "shadow")
    assert (found.queries, found.doubled, ids(folder)[1:]) == (4, 0, before)  # ids stay
    (folder / "queries.txt").write_text("# nothing\n\n")
    with pytest.raises(DataError, match="there is no query in it"):
        write_shadow(open_workspace(folder / "papers"), folder / "queries.txt", "")


def test_hand_worked(folder: Path) -> None:
    """First: the same. Second: shares 3/4, 1/4 become 1/4, 3/4, which is 1/2 apart. Third: nothing stays.

    The mean distance is (0 + 1/2 + 1) / 3 = 1/2; overlap@2 is (1 + 1 + 0) / 3.
    """
    run(folder, [{"lease:1": 2.0}, {"lease:2": 3.0, "lease:1": 1.0}, {"outage:3": 1.0}])
    keep_results(open_study(folder), "may")
    run(folder, [{"lease:1": 2.0}, {"lease:1": 3.0, "lease:2": 1.0}, {"leave:1": 1.0}])
    (arm,) = measure_drift(open_study(folder), "may", k=2).arms
    assert (arm.arm, arm.n, arm.unchanged) == ("old", 3, 1)
    assert arm.distance == pytest.approx(1 / 2)
    assert arm.overlap == pytest.approx(2 / 3)
    assert 0 <= (arm.low or 0) < 0.5 < (arm.high or 0) <= 1
    assert [(each.text, each.distance) for each in arm.moved] == [(QUERIES[2], 1.0), (QUERIES[1], 0.5)]
    assert not arm.other_corpus


def test_what_is_not_the_same_query_is_not_compared(folder: Path) -> None:
    rankings = [{"lease:1": 1.0}, {"lease:2": 1.0}, {"outage:3": 1.0}]
    run(folder, rankings)
    keep_results(open_study(folder), "may")
    _, second, third = ids(folder)
    items = (folder / "shadow/items.jsonl").read_text().splitlines()
    (folder / "shadow/items.jsonl").write_text(
        "\n".join([items[0], items[1].replace("roof", "wall"), items[2].replace(third, "other")]) + "\n"
    )
    passages = (folder / "shadow/passages.jsonl").read_text()
    (folder / "shadow/passages.jsonl").write_text(passages.replace("spare key", "key"))
    run(folder, rankings)
    (arm,) = measure_drift(open_study(folder), "may").arms
    assert (arm.n, arm.distance, arm.unchanged) == (1, 0.0, 1)
    assert (arm.reworded, arm.only_before, arm.only_now) == ([second], [third], ["other"])
    assert arm.other_corpus


def test_kept_results_are_named(folder: Path, tmp_path: Path) -> None:
    run(folder, [{"lease:1": 1.0}])
    study = open_study(folder)
    path = keep_results(study, "may")
    with pytest.raises(UsageError, match="results kept as 'may' already"):
        keep_results(study, "may")
    keep_results(study, "may", replace=True)
    with pytest.raises(UsageError, match="No results are kept as 'june'"):
        measure_drift(study, "june")
    assert measure_drift(study, str(folder)).arms[0].unchanged == 3  # another study, by its path
    for damaged in (b"{", path.read_bytes().replace(b"lease", b"l\xffase")):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="is not readable: not"):
            measure_drift(study, "may")
    with pytest.raises(UsageError, match="cannot be the name of kept results"):
        keep_results(study, "../x")


def test_overlap() -> None:
    a, b = [Hit("x", 3.0), Hit("y", 2.0), Hit("z", 1.0)], [Hit("y", 1.0)]
    assert overlap(a, b, 3) == pytest.approx(1 / 3)
    assert overlap(a, b, 1) == 0.0
    assert (overlap([], [], 5), overlap(a, [], 5)) == (1.0, 0.0)
