"""Measures of ir_measures on ids that people write, and what cannot be computed told before a run."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest

from assay.core.errors import PluginError
from assay.measures.fallback import IrMeasure
from assay.measures.parse import parse_measure
from small_study import assay, edited, write_study

DOCS = ["a b", "über", "c-1", "d", "e"]
GRADES = [0, 2, 4, 1, 0]


def made(queries: list[str], docs: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A ranking with ties and graded labels, the same whatever the ids are called."""
    rows = [(query, doc, place) for query in queries for place, doc in enumerate(docs)]
    items, names = [row[0] for row in rows], [row[1] for row in rows]
    scores = [float((5 - place + queries.index(query)) // 2) for query, _, place in rows]
    ranking = pl.DataFrame({"item": items, "doc": names, "score": scores})
    return ranking, pl.DataFrame({"item": items, "doc": names, "grade": [float(GRADES[p]) for *_, p in rows]})


def test_err_on_text_ids_is_gdevals_on_numbers() -> None:
    # a gdeval of its own would read the first two queries as one: it drops all up to the last hyphen
    queries = ["x-1", "y-1", "how do I sleep?"]
    numbers = [str(sorted(queries).index(query) + 1) for query in queries]
    docs = [f"d{sorted(DOCS).index(doc)}" for doc in DOCS]  # in the order of the ids: ties break by it
    plain = made(numbers, docs)
    run = [ir_measures.ScoredDoc(*row) for row in plain[0].iter_rows()]
    qrels = [ir_measures.Qrel(item, doc, int(grade)) for item, doc, grade in plain[1].iter_rows()]
    theirs = {each.query_id: each.value for each in ir_measures.iter_calc([ir_measures.ERR @ 3], qrels, run)}
    found = IrMeasure("ERR@3").of_frames(*made(queries, DOCS), queries)
    assert found == pytest.approx([theirs[number] for number in numbers])
    # by hand, the first: scores 2 2 1 1 0 for a b, über, c-1, d, e, ties by id descending, so grades 2 0 1:
    # 3/16 · 1 + 0 + 1/16 · 13/16 / 3
    assert found[0] == pytest.approx(3 / 16 + 13 / 16 / 16 / 3, abs=1e-5)


def test_rbp_by_hand() -> None:
    ranking, labels = made(["what is rest?"], DOCS)
    if find_spec("cwl") is None:
        with pytest.raises(PluginError, match=r"pip install ir-measures\[cwl_eval\]"):
            IrMeasure("RBP(rel=1)").check()
        return
    found = IrMeasure("RBP(rel=1)").of_frames(ranking, labels, ["what is rest?"])
    assert found == pytest.approx([0.2 * (0.8 + 0.8**2 + 0.8**3)])  # cwl_eval breaks ties by id ascending


def test_an_item_without_hits_or_labels_scores_nothing() -> None:
    assert IrMeasure("SetF").of_frames(*made(["q"], DOCS), ["q", "other"])[1] == 0.0


def test_grades_that_would_be_cut_to_whole_ones_are_refused() -> None:
    ranking, labels = made(["q"], DOCS)
    with pytest.raises(PluginError, match="ERR@10 takes whole grades"):
        IrMeasure("ERR@10").of_frames(ranking, labels.with_columns(pl.col("grade") / 2), ["q"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RBP", r"ir_measures cannot compute RBP: .*such as RBP\(rel=1, p=0\.8\)"),
        ("RBP(rel=1)@10", r"ir_measures cannot compute RBP\(rel=1\)@10: .*without a cut-off"),
        ("ERR", r"ir_measures cannot compute ERR: .*such as ERR@20"),
    ],
)
def test_what_no_provider_computes_is_a_problem_before_a_run(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PluginError, match=said):
        parse_measure(text).check()  # type: ignore[attr-defined]
    folder = write_study(tmp_path, edited("measures: [nDCG@10, RR@5]", f"measures: [RR@5, '{text}']"))
    for command in ("validate", "run"):
        refused = assay(command, folder)
        assert refused.code == 3
        assert f"study.yaml:7: measures.1: ir_measures cannot compute {text}" in refused.err
    assert not (folder / "run" / "journal").exists()


def test_a_gate_that_reads_what_no_provider_computes_is_named(tmp_path: Path) -> None:
    text = edited("RR@5(lexical) >= RR@5(old) + 0.2", "ERR(lexical) >= 0.2")
    refused = assay("validate", write_study(tmp_path, text))
    assert (refused.code, "gates.ship: ir_measures cannot compute ERR" in refused.err) == (3, True)


def test_what_is_required_is_named_in_words() -> None:
    with pytest.raises(PluginError, match=r"BPM@10: ir_measures refuses it: max_rel is required\."):
        parse_measure("BPM@10")


def test_a_study_over_text_ids_scores_err(tmp_path: Path) -> None:
    folder = write_study(tmp_path, edited("measures: [nDCG@10, RR@5]", "measures: [ERR@10]"))
    found = {each["system"]: each["value"] for each in assay("run", folder, "--json").json["estimates"]}
    # a grade of 1 on rank 1 is worth 1/16, on rank 2 half of that
    assert (found["lexical"], found["old"]) == (
        pytest.approx(1 / 16, abs=1e-5),
        pytest.approx(1 / 32, abs=1e-5),
    )


def test_a_run_file_on_which_a_measure_breaks_keeps_the_others(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 5\nq2 0 b 1\nq3 0 b 1\n")  # gdeval takes grades up to 4
    (tmp_path / "new.run").write_text("q1 Q0 a 1 2.0 t\nq2 Q0 b 1 1.0 t\n")
    given = ["score", tmp_path / "new.run", "--qrels", tmp_path / "qrels", "--json", "-m", "ERR@10"]
    found = assay(*given, "-m", "RR@10")
    assert found.code == 0
    means = {each["measure"]: each["value"] for each in found.json["estimates"]}
    assert means == {"RR@10": pytest.approx(2 / 3), "ERR@10": None}
    scores = {each["status"] for each in found.json["scores"] if each["measure"] == "ERR@10"}
    assert scores == {"failed"}
    (warning,) = [each for each in found.json["trust"]["warnings"] if "ERR@10" in each]
    assert warning.startswith("ERR@10 could not be computed for new: ERR@10 takes grades from 0 to 4, and")
    only = assay(*given)
    assert (only.code, "ERR@10 could not be computed for new" in only.err) == (5, True)


def test_numbers_keep_the_order_of_ids() -> None:
    names = [f"doc {n}" for n in range(12)]
    ranking = pl.DataFrame({"item": ["q"] * 12, "doc": names, "score": [1.0] * 12})
    labels = pl.DataFrame({"item": ["q"], "doc": ["doc 9"], "grade": [1.0]})  # the last of the ids
    assert np.array_equal(IrMeasure("ERR@1").of_frames(ranking, labels, ["q"]), [1 / 16])
