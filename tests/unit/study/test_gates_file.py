"""Gates in a file that several studies share: as if written in each, and problems told where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, Problem
from assay.study.study import examine_study, open_study
from small_study import STUDY, edited, write_study

GATES = """\
# what ships
ship:
  go: ["RR@5(lexical) >= RR@5(old) + 0.2"]
other:
  kill: "RR@5(tree) < 0.1"
"""
WITHOUT = STUDY.partition("gates:")[0]


def shared(folder: Path, given: str, gates: str = GATES) -> Path:
    write_study(folder, f"{WITHOUT}gates: {given}\n")
    (folder / "gates.yaml").write_text(gates)
    return folder


def problems(folder: Path) -> list[str]:
    return [str(each).removeprefix(f"{folder}/") for each in examine_study(folder)[1]]


def test_gates_of_a_file_are_the_studys_own(tmp_path: Path) -> None:
    inline = open_study(write_study(tmp_path / "inline"))
    ship = GATES.partition("other")[0]
    for given in ("gates.yaml", "{from: gates.yaml}", "{from: gates.yaml, use: ship}"):
        study = open_study(shared(tmp_path / "shared", given, ship))
        assert [gate.name for gate in study.gates] == ["ship"]
        assert study.file == inline.file
        assert study.fingerprint == inline.fingerprint
    changed = open_study(shared(tmp_path / "shared", "gates.yaml", edited("0.2", "0.3", ship)))
    assert changed.fingerprint != inline.fingerprint
    assert changed.run_folder == tmp_path / "shared/run"  # the study's, whatever file its gates are in


def test_several_studies_share_one_file(tmp_path: Path) -> None:
    folder = shared(tmp_path, "{from: gates.yaml, use: [ship]}")
    (folder / "steps").mkdir()
    text = (folder / "study.yaml").read_text()
    deeper = edited("from: gates.yaml", "from: ../gates.yaml", edited("data: data", "data: ../data", text))
    (folder / "steps/one.yaml").write_text(edited("old.run", "../old.run", deeper))
    for path in (folder, folder / "steps/one.yaml"):
        assert [gate.name for gate in open_study(path).gates] == ["ship"]


def test_a_gate_on_a_system_that_the_study_lacks_is_a_problem_unless_left_out(tmp_path: Path) -> None:
    told = "gates.yaml:5: other.kill: RR@5(tree) < 0.1: "
    found = problems(shared(tmp_path, "gates.yaml"))
    assert len(found) == 1
    assert found[0].startswith(told), found
    assert "'tree'" in found[0]
    assert problems(shared(tmp_path, "{from: gates.yaml, use: [ship]}")) == []


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        # a field, a clause, a gate as a whole, and a file as a whole
        ("ship:\n  kil: x\n", "gates.yaml:2: ship.kil: there is no such field. Did you mean 'kill'?"),
        ("ship: {min_items: 0}", "gates.yaml:1: ship.min_items: "),
        ("\nship:\n  go:\n    - RR@5(lexical) = 1\n", "gates.yaml:4: ship.go.0: column 15: expected '>='"),
        ("\n\nship:\n  min_items: 3\n", "gates.yaml:3: ship: a gate needs `go` or `kill` clauses"),
        ("ship:\n  kill: [RR@5(old) < 1, RR@5(old) < 2]\n", "gates.yaml:2: ship.kill.1: "),
        (
            "ship:\n  kill: [RR@5(old) < 1, RR@5(old) < 0.5]\n",
            "gates.yaml:1: ship: kill: several clauses need",
        ),
        ("- ship", "gates.yaml:1: a file of gates is a mapping of names to gates. "),
        ("", "gates.yaml:1: a file of gates is a mapping of names to gates. "),
        ("ship: {\n", "gates.yaml:2: this is not YAML: "),
        ("ship: {go: x}\nship: {go: y}\n", "gates.yaml:2: ship: this field is already on line 1"),
    ],
)
def test_problems_in_the_gates_file_have_its_lines(tmp_path: Path, gates: str, told: str) -> None:
    found = problems(shared(tmp_path, "gates.yaml", gates))
    assert len(found) == 1
    assert found[0].startswith(told), found[0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("other.yaml", "study.yaml:10: gates.from: there is no file other.yaml. Give a file"),
        ("data", "study.yaml:10: gates.from: there is no file data. "),
        (
            "{from: gates.yaml, use: [ship, shop]}",
            "study.yaml:10: gates.use.1: gates.yaml has no gate 'shop'. Did you mean 'ship'?",
        ),
        (
            "{from: gates.yaml, uses: ship}",
            "study.yaml:10: gates.uses: there is no such field. Did you mean 'use'",
        ),
        ("{from: gates.yaml, use: []}", "study.yaml:10: gates.use: expected at least one"),
        ("{from: gates.yaml, use: }", "study.yaml:10: gates.use: expected a list, found nothing"),
        ("{from: [gates.yaml]}", "study.yaml:10: gates.from: expected text"),
    ],
)
def test_problems_with_naming_the_gates_file_are_in_the_study(tmp_path: Path, given: str, told: str) -> None:
    found = problems(shared(tmp_path, given))
    assert len(found) == 1
    assert found[0].startswith(told), found[0]


def test_problems_of_both_files_come_together_the_studys_first(tmp_path: Path) -> None:
    shared(tmp_path, "gates.yaml", "ship: {kil: 1}\n")
    text = (tmp_path / "study.yaml").read_text()
    (tmp_path / "study.yaml").write_text(edited("nDCG@10", "nDCG@ten", text) + "steps: [shop]\n")
    with pytest.raises(DataError) as told:
        open_study(tmp_path)
    places = [(Path(each.where).name, each.line) for each in told.value.problems]
    assert places == [("study.yaml", 7), ("gates.yaml", 1)]


def test_a_gate_may_still_be_called_from(tmp_path: Path) -> None:
    write_study(tmp_path, edited("  ship:", "  from:"))
    assert [gate.name for gate in open_study(tmp_path).gates] == ["from"]


def test_problems_elsewhere_keep_their_place(tmp_path: Path) -> None:
    study = open_study(shared(tmp_path, "gates.yaml", GATES.partition("other")[0]))
    assert study.lines.problem(["systems", "old"], "x") == Problem(
        "x", str(tmp_path / "study.yaml"), 5, "systems.old"
    )
    # where the gates as a whole are meant, the study names the file
    assert study.lines.problem(["gates"], "x").line == 10
