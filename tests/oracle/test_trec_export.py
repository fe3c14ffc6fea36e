"""A study exported and scored by trec_eval: the same figures, query by query."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import ir_measures
import polars as pl
import pytest

from assay.core.block import Block, Labels
from assay.core.errors import DataError
from assay.core.records import Arm, Item
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.run_files import export_trec
from assay.study.study import open_study
from small_study import assay, edited, write_study

MEASURES = ["nDCG@10", "RR@5", "AP", "R@2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    listed = edited("[nDCG@10, RR@5]", f"[{', '.join(MEASURES)}]")
    return write_study(tmp_path / "small", edited("systems:", "seeds: 2\nsystems:", listed))


def test_what_is_exported_scores_as_the_study_does(folder: Path, tmp_path: Path) -> None:
    assert assay("run", folder).code == 0
    done = assay("export", folder, "-o", tmp_path / "out")
    assert done.code == 0
    assert {Path(line).name for line in done.out.splitlines()} >= {"qrels.txt", "lexical.run"}
    scores = Evaluation(open_study(folder)).results.scores
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "out/qrels.txt")))
    for path in sorted((tmp_path / "out").glob("*.run")):
        system, _, seed = path.stem.partition("-seed")
        mine = scores.filter(pl.col("arm") == system, pl.col("seed") == int(seed or 0))
        ours = {(row["item"], row["measure"]): row["value"] for row in mine.iter_rows(named=True)}
        run = list(ir_measures.read_trec_run(str(path)))
        theirs = ir_measures.iter_calc([ir_measures.parse_measure(each) for each in MEASURES], qrels, run)
        found = {(each.query_id, str(each.measure)): each.value for each in theirs}
        assert found == pytest.approx(ours, abs=1e-6)  # trec_eval prints and compares in single precision
        assert len(found) == len(ours)


def block(docs: list[list[str]], scores: list[list[float]], failed: list[bool | None]) -> Block:
    """A block whose items are named a, b, c …; under each the first document is relevant."""
    names = [chr(ord("a") + at) for at in range(len(docs))]
    answers = pl.DataFrame({"failed": failed, "docs": docs, "scores": scores})
    relevant = [
        {"item": name, "label": "relevance", "target": each[0], "grade": 1.0}
        for name, each in zip(names, docs, strict=True)
        if each
    ]
    labels = pl.DataFrame(relevant, schema=Labels.none().frame.schema)
    items = [Item(name, name) for name in names]
    return Block(Arm("one", {}), 0, items, answers, Labels(labels, frozenset({"relevance"})))


class Stored:
    """As much of an evaluation as is read."""

    def __init__(self, *blocks: Block) -> None:
        self.blocks = list(blocks)


def files_of(*blocks: Block) -> tuple[dict[str, str], list[str]]:
    found = export_trec(Stored(*blocks))  # type: ignore[arg-type]
    return {name: content.decode() for name, content in found.files.items()}, found.notes


def test_lines_by_hand() -> None:
    files, notes = files_of(block([["x", "y"], ["z"]], [[0.5, 2.0], [1.0]], [False, False]))
    assert files == {
        "one.run": "a Q0 y 1 2.0 one\na Q0 x 2 0.5 one\nb Q0 z 1 1.0 one\n",
        "qrels.txt": "a 0 x 1\nb 0 z 1\n",
    }
    assert notes == []


def test_what_failed_is_told_and_in_no_file() -> None:
    files, notes = files_of(block([["x"], []], [[1.0], []], [False, True]))
    assert files["one.run"] == "a Q0 x 1 1.0 one\n"
    assert notes == ["one.run: 1 item failed or not asked, and not in the file"]


def test_scores_that_single_precision_would_tie_become_places() -> None:
    near = 1.0 + 1e-9
    files, notes = files_of(block([["x", "y"]], [[near, 1.0]], [False]))
    assert files["one.run"] == "a Q0 x 1 2.0 one\na Q0 y 2 1.0 one\n"
    assert notes == ["one.run: scores are too close for single precision, so ranks replace them"]


def test_an_id_with_a_blank_is_refused() -> None:
    with pytest.raises(DataError, match="the id 'x y' holds a blank"):
        files_of(block([["x y"]], [[1.0]], [False]))


def test_an_open_world_is_told() -> None:
    made = block([["x"]], [[1.0]], [False])
    opened = dataclasses.replace(made, labels=Labels(made.labels.frame))
    _, notes = files_of(opened)
    assert notes == ["qrels: what nobody judged is not in them, and counts elsewhere as not relevant"]


def test_names_that_are_alike_as_files_stay_apart() -> None:
    made = block([["x"]], [[1.0]], [False])
    blocks = [dataclasses.replace(made, arm=Arm(name)) for name in ("a b", "a_b-1", "a:b")]
    files, _ = files_of(*blocks)
    assert set(files) == {"a_b.run", "a_b-1.run", "a_b-2.run", "qrels.txt"}
