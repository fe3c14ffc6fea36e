"""Gates tried on controls through the whole pipeline: weak ones are exposed, sound ones are proved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.results import Proof
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.proving import prove
from assay.pipeline.stored_results import PROOFS, load_proofs
from assay.study.study import open_study
from small_study import STUDY, edited, write_study

pytestmark = pytest.mark.slow  # each draws hundreds of controls

ONE_HIT = "\n    harmless: {shuffle: one hit has one order}"  # bm25 finds no second passage
SOUND = '["RR@5(lexical) >= RR@5(old) + 0.2"]'


def tried(folder: Path, go: str = SOUND, rules: str = "") -> Proof:
    """The proof of the small study's gate with other clauses; bm25 has rank 1 everywhere, old rank 2."""
    text = edited(f"go: {SOUND}", f"go: {go}{rules}", STUDY)
    study = write_study(folder, text)
    evaluate(study)
    (proof,) = prove(Evaluation(open_study(study)))
    return proof


def by_name(proof: Proof) -> dict[str, str]:
    """What became of each control: refused, passes or n/a."""
    return {
        each.name: "n/a" if not each.applies else "passes" if each.passes(proof.alpha) else "refused"
        for each in proof.controls
    }


def test_a_sound_gate_is_proved(tmp_path: Path) -> None:
    proof = tried(tmp_path, rules=ONE_HIT)
    found = by_name(proof)
    assert (proof.outcome, proof.mutation_score) == ("proved", pytest.approx(9 / 10))
    assert (proof.candidates, proof.references) == (["lexical"], ["old"])
    refused = ("twin", "swap", "noise", "silence", "failing", "lost_slice (topic=odd)")
    assert [found[name] for name in refused] == ["refused"] * len(refused)
    assert found["oracle"] == "passes"
    assert not found.keys() & {
        "keeps_everything",
        "bluffed_trace",
        "guessing_raters",
    }  # of kinds it has no part of
    assert all(each.reason for each in proof.controls if not each.applies)
    assert proof.loss.of == "candidate"
    assert proof.loss.share is not None


@pytest.mark.parametrize(
    ("go", "exposed"),
    [
        ('["RR@5(lexical) >= 0.1"]', "lost_slice (topic=odd)"),  # a tenth is less than half of it loses
        ('["R(lexical) >= 0.9"]', "everything"),  # without a cut-off, whoever returns all has all
        ('["max(RR@5(lexical), RR@5(old)) >= 0.1"]', "lost_slice (topic=odd)"),
        ('["RR@5(lexical) >= RR@5(old) - 0.9"]', "lost_slice (topic=even)"),
    ],
)
def test_a_weak_gate_is_exposed(tmp_path: Path, go: str, exposed: str) -> None:
    proof = tried(tmp_path, go)
    assert proof.outcome == "exposed"
    assert exposed in {each.name for each in proof.exposed}
    assert proof.mutation_score is not None
    assert proof.mutation_score < 1.0


def test_a_gate_without_a_gain_lets_a_twin_pass_and_may(tmp_path: Path) -> None:
    proof = tried(tmp_path, '["RR@5(lexical) >= RR@5(old) - 0.05"]')
    twin = next(each for each in proof.controls if each.control == "twin")
    assert twin.expected == "either"
    assert twin not in proof.exposed


def test_a_gate_that_nobody_can_pass_is_not_proved(tmp_path: Path) -> None:
    proof = tried(tmp_path, '["P@5(lexical) >= 0.9"]')  # one relevant document of five is 0.2 at most
    assert proof.outcome == "unproved"
    assert [each.control for each in proof.stuck] == ["oracle"]


def test_what_is_declared_harmless_is_listed_with_its_reason(tmp_path: Path) -> None:
    rules = "\n    harmless: {everything: no cut-off is meant}"
    proof = tried(tmp_path, '["R(lexical) >= 0.9", "RR@5(lexical) >= 0"]', rules)
    assert "everything" not in {each.control for each in proof.exposed}
    assert [each.harmless for each in proof.harmless] == ["no cut-off is meant"]


def test_kills_only_refuse_by_no_go(tmp_path: Path) -> None:
    text = edited(f"go: {SOUND}", 'kill: ["RR@5(lexical) < 0.9 on estimate"]', STUDY)
    study = write_study(tmp_path, text)
    evaluate(study)
    (proof,) = prove(Evaluation(open_study(study)))
    found = by_name(proof)
    assert found["silence"] == found["noise"] == "refused"
    assert found["oracle"] == "passes"


def test_a_proof_of_other_clauses_or_answers_is_not_shown(tmp_path: Path) -> None:
    tried(tmp_path)
    assert [each.gate for each in load_proofs(Evaluation(open_study(tmp_path)))] == ["ship"]
    write_study(tmp_path, edited("+ 0.2", "+ 0.1"))
    assert load_proofs(Evaluation(open_study(tmp_path))) == []
    write_study(tmp_path)
    assert len(load_proofs(Evaluation(open_study(tmp_path)))) == 1
    items = (tmp_path / "data/items.jsonl").read_text()
    (tmp_path / "data/items.jsonl").write_text(items.replace('{"d0": 1}', '{"d1": 1}'))  # another label
    assert load_proofs(Evaluation(open_study(tmp_path))) == []


def test_a_proof_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    tried(tmp_path)
    path = Evaluation(open_study(tmp_path)).store.root / PROOFS
    path.write_text(json.dumps([{"gate": 3}]))
    assert load_proofs(Evaluation(open_study(tmp_path))) == []
