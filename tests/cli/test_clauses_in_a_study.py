"""Clauses about two rankings, failures, traffic and time, from the study file to the verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_study import assay, edited, write_study

CLAUSES = {  # what each holds, and the left side worked out by hand
    # lexical returns d_n, old d_n+1, d_n, d_n-1: one of three documents is in both
    "overlap@3(lexical, old) >= 0.1": (True, 1 / 3),
    # X = 0, 1, 1 and s = 1: (0.1/0.9)(1/2·.81 + 1/3·.729) + 1/3·.729 = 0.072 + 0.243
    "RBO(lexical, old) <= 0.6": (True, 0.315),
    "Failed(lexical) <= 1%": (True, 0.0),
    "count(RR@5(lexical) < RR@5(old)) <= 0 on estimate": (True, 0.0),
    "wins(RR@5(lexical), RR@5(old)) >= 60%": (True, 1.0),
    "median(Seconds(lexical)) <= 2min on estimate": (True, None),
    "RR@5(old) >= 40% where freq > 9": (True, 0.5),
    "weighted(RR@5(old), by=freq) >= 0.4": (True, 0.5),
    "min(RR@5(lexical) by topic) >= 60%": (True, 1.0),
    "RR@5(lexical) within 0.01 of RR@5(old)": (False, 1.0),
}


def with_clauses(folder: Path, *clauses: str) -> Path:
    """The small study with these clauses for go, and a number of askings for each item."""
    listed = json.dumps(clauses)
    write_study(folder, edited('["RR@5(lexical) >= RR@5(old) + 0.2"]', listed))
    items = folder / "data" / "items.jsonl"
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["tags"]["freq"] = str(5 + number)
    items.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_clauses_are_decided(tmp_path: Path) -> None:
    done = assay("run", with_clauses(tmp_path, *CLAUSES), "--json")
    assert done.code == 10, done.err  # the last one fails
    (verdict,) = done.json["verdicts"]
    found = {clause["text"]: clause for clause in verdict["clauses"]}
    for text, (holds, left) in CLAUSES.items():
        assert found[text]["holds"] is holds, text
        assert left is None or found[text]["left"] == pytest.approx(left), text
    again = assay("gate", tmp_path)
    assert again.code == 10
    assert "RR@5(lexical) within 0.01 of RR@5(old)" in again.out


@pytest.mark.parametrize(
    ("clause", "says"),
    [
        ("RR@5(old) >= 40% where freq > 99", "Its numbers go from 5 to 16."),
        ("RR@5(old) >= 40% where topic > 9", "It has no numbers."),
        ("weighted(RR@5(old), by=topic) >= 0.4", "no item has a number for 'topic'"),
        ("Seconds(lexical) <= Seconds(old)", "`median(Seconds(lexical)) <= median(Seconds(old))`"),
        ("losses(RR@5(lexical), RR@5(old)) <= 5", "`count(RR@5(lexical) < RR@5(old)) <= 5`"),
        ("RBO(lexical, odl) >= 0.5", "there is no system 'odl'. Did you mean 'old'?"),
    ],
)
def test_clauses_that_nothing_could_decide_are_refused_before_a_run(
    tmp_path: Path, clause: str, says: str
) -> None:
    done = assay("validate", with_clauses(tmp_path, clause))
    assert done.code == 3
    assert "gates.ship" in done.err
    assert says in done.err.replace("\n", " ")


def test_a_listed_measure_of_two_systems_names_one_that_is_there(tmp_path: Path) -> None:
    write_study(tmp_path, edited("[nDCG@10, RR@5]", "[nDCG@10, RR@5, \"RBO(against='odl')\"]"))
    done = assay("validate", tmp_path)
    assert done.code == 3
    assert "there is no system 'odl'. Did you mean 'old'?" in done.err.replace("\n", " ")
