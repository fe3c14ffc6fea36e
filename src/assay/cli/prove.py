"""assay prove: every gate tried on systems that must not pass it."""

from __future__ import annotations

import typer

from assay.cli.options import AsJson, StudyPath
from assay.cli.showing import plain_console, print_json, say, table


def command(study: StudyPath, as_json: AsJson = False) -> None:
    """Try every gate on controls: systems that must not pass, made from stored answers, and an oracle."""
    from assay.core.proof_results import EXPOSED, PROVED, Proof
    from assay.pipeline.evaluation import Evaluation
    from assay.pipeline.proving import prove
    from assay.report.proofs import HEADER, control_rows, outcome_title, summary
    from assay.study.study import open_study

    def tell(what: str, done: int, total: int) -> None:
        say(f"{what}: {done} of {total}")

    proofs = prove(Evaluation(open_study(study)), tell)

    def show(proof: Proof) -> None:
        from rich.text import Text

        console = plain_console()
        console.print(Text(f"{proof.gate}: {outcome_title(proof)}", "bold"))
        about = f"in the place of {', '.join(proof.candidates)}" if proof.candidates else "about no system"
        beside = f", compared with {', '.join(proof.references)}" if proof.references else ""
        console.print(Text(f"{about}{beside}"), soft_wrap=True)
        console.print(table(HEADER, control_rows(proof), figures={2}))
        console.print(Text(summary(proof)), soft_wrap=True)
        console.print()

    if as_json:
        print_json({"schema": "assay/proofs/1", "proofs": [proof.as_json() for proof in proofs]})
    else:
        for proof in proofs:
            show(proof)
    exposed = [proof.gate for proof in proofs if proof.outcome == EXPOSED]
    unproved = [proof.gate for proof in proofs if proof.outcome not in {EXPOSED, PROVED}]
    for gate in exposed:
        say(f"{gate}: a control that deserves no go passes this gate. Ask for more, or declare it harmless.")
    for gate in unproved:
        say(f"{gate}: not proved. No control applies, or nobody can pass it.")
    raise typer.Exit(10 if exposed else 11 if unproved else 0)
