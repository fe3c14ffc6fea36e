"""What is drawn to write cases about."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.kinds.memory.annotation.documents import cues_of, freeze_documents, write_inventory
from assay.kinds.memory.annotation.sampling import SampleSettings, allocate, case_id, draw_sample
from assay.kinds.memory.annotation.workspace import open_workspace, read_table
from small_annotation import fill, freeze_papers


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return freeze_papers(tmp_path, described=True).documents


def test_each_stratum_has_its_least_and_the_rest_goes_by_size() -> None:
    # 10 less the least of 2, 2 and 1: 5 left over 8, 2 and 0 spare: 4 and 1
    assert allocate({"a": 10, "b": 4, "c": 1}, 10, 2) == {"a": 6, "b": 3, "c": 1}
    # 1 left over 2 and 2 spare: 0.5 each, the first name has it
    assert allocate({"a": 3, "b": 3}, 3, 1) == {"a": 2, "b": 1}
    assert allocate({"a": 3, "b": 3}, 1, 2) == {"a": 2, "b": 2}  # the least comes before the total
    assert allocate({"a": 3}, 9, 1) == {"a": 3}
    assert allocate({"a": 3, "b": 1}, None, 1) == {"a": 3, "b": 1}


def test_the_same_settings_draw_the_same(documents: Path) -> None:
    found = draw_sample(open_workspace(documents), SampleSettings(units=3))
    names = [(each.name, each.drawn, each.short) for each in found.strata]
    assert names == [
        ("contract / en / low", ["lease"], 0),
        ("policy / en / low", ["leave"], 0),
        ("runbook / en / low", ["outage"], 0),
    ]
    assert (found.cases, found.version) == (9, "1")
    first = found.path.read_bytes(), found.path.with_suffix(".json").read_bytes()
    draw_sample(open_workspace(documents), SampleSettings(units=3))
    assert (found.path.read_bytes(), found.path.with_suffix(".json").read_bytes()) == first


def test_one_unit_of_each_kind_comes_before_a_second(documents: Path) -> None:
    """Of the lease: 1 is an obligation, 2 a condition, 3 an exception, 4 has no cue."""
    draw_sample(open_workspace(documents), SampleSettings(units=3))
    rows = read_table(documents.parent / "papers-annotation/sample.csv", ["node_id"]).rows
    lease = [(row["node_id"], row["suggested_family"]) for row in rows if row["doc_id"] == "lease"]
    assert lease == [("lease:1", "direct"), ("lease:2", "multi_hop"), ("lease:3", "exception")]


def test_seeds_differ_and_a_smaller_draw_is_part_of_a_larger_one(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        (folder / f"d{number:02d}.md").write_text("1 Plain.\n")
    write_inventory(open_workspace(folder))
    freeze_documents(open_workspace(folder), "1", lambda: 0.0)

    def drawn(n: int, seed: int) -> set[str]:
        sample = draw_sample(open_workspace(folder), SampleSettings(n, seed=seed))
        assert [each.name for each in sample.strata] == ["all"]  # nobody filled anything in
        return set(sample.strata[0].drawn)

    assert drawn(5, 0) < drawn(10, 0)
    times = Counter(name for seed in range(20) for name in drawn(10, seed))
    assert len(times) == 30  # each has its turn: a third of them, 20 times, leaves one out with p = 0.0003


def test_only_what_is_selected_is_drawn(documents: Path) -> None:
    path = documents.parent / "papers-annotation/inventory.csv"
    fill(path, {"leave": {"selected_for_pilot": "yes"}}, "doc_id")
    found = draw_sample(open_workspace(documents), SampleSettings(least=2, by=("language",)))
    assert [(each.name, each.drawn, each.short) for each in found.strata] == [("en", ["leave"], 1)]
    fill(path, {name: {"selected_for_pilot": "no"} for name in ("lease", "leave", "outage")}, "doc_id")
    with pytest.raises(DataError, match="no document is selected"):
        draw_sample(open_workspace(documents), SampleSettings())


def test_a_blank_cell_is_not_a_stratum(documents: Path) -> None:
    path = documents.parent / "papers-annotation/inventory.csv"
    fill(path, {"leave": {"language": ""}, "outage": {"complexity": " "}}, "doc_id")
    with pytest.raises(DataError) as raised:
        draw_sample(open_workspace(documents), SampleSettings())
    assert [(each.line, each.field) for each in raised.value.problems] == [(3, "language"), (4, "complexity")]
    with pytest.raises(UsageError, match=r"no column 'langauge'\. Did you mean 'language'"):
        draw_sample(open_workspace(documents), SampleSettings(by=("langauge",)))


def test_no_drawn_case_reads_as_part_of_a_sequence() -> None:
    assert case_id("gas-probe-handling:3").startswith("gas-probe_handling-")
    assert case_id("prime-rates:1").startswith("prime_rates-")
    assert case_id("big-prime:1").startswith("big-prime_")


def test_the_id_of_a_case_does_not_tell_its_unit() -> None:
    names = [case_id(f"msa:{number}") for number in range(1000)]
    assert len(set(names)) == 1000
    assert all(re.fullmatch("msa-[0-9a-f]{6}", name) for name in names)


def test_cues() -> None:
    assert cues_of("Unless it rains, you MUST go") == ["exception", "obligation"]
    assert cues_of("A gift of the musty shallow") == []
