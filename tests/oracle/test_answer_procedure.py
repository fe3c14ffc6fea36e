"""The whole answers study by its commands: 286 real questions, a model over HTTP, two raters of known skill.

The stand-in's responses are worth what a simulated population says, and the raters see that through confusion
matrices, so that the effect of the condition and the raters' agreement are known. Raters read the blinded
pack alone: each response ends with a word of its own, by which they know what it is worth.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.kinds.answers.scoring.agreement import KAPPA, LINEAR, QUADRATIC, RaterMarks
from assay.kinds.answers.scoring.marks import Claim
from simulated_raters import MODELS, Simulated, World, simulated, truth
from small_study import assay
from stand_ins.chat_server import ChatStandIn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SEED = 9
KILL_AT = 400  # requests of 1144
SLOTS = 24  # sentences of a response: 12 for what is wrong in it, 6 for what each rater invents
SENTENCE = "Crate {:02} holds forty jars of clay in the cellar.  "  # 50 characters
AGREEMENT = {
    ("accuracy", LINEAR): "kappa linear",
    ("accuracy", QUADRATIC): "kappa quadratic",
    ("citation", LINEAR): "citation kappa",
    ("completeness", KAPPA): "completeness kappa",
}
STUDY = """\
kind: answers
name: real questions
data: {{use: answer_study, path: corpus}}
factors: {{model: [{models}]}}
systems:
  A: {{use: prompted, condition: A, url: "{url}", threads: 4, price_in: 0.2, price_out: 0.6}}
  B: {{use: prompted, condition: B, url: "{url}", threads: 4, price_in: 0.2, price_out: 0.6}}
run: {{order: item}}
judges: [{{use: panel, primary: anna, others: [ben], share: 0.15}}]
measures: [Accuracy, Hallucinations, Completeness, CitationFidelity, ContentTokens, OutputTokens]
gates:
  effect:
    first: ["kappa(weights=linear, levels=4)(accuracy) >= 0.6 on estimate"]
    go: [Accuracy(B) >= Accuracy(A) + 0.1]
    kill: [Accuracy(B) < Accuracy(A)]
"""


# ----------------------------------------------------------------------------------------- the world


@dataclass(frozen=True)
class Played:
    """A study on disk, and what is true of it."""

    folder: Path
    drawn: Simulated  # ids are QUESTION|MODEL|CONDITION
    questions: dict[str, str]  # id by text

    def say(self, payload: Any) -> str:
        """What the stand-in answers: forty jars many times over, and the word that is this response's own."""
        said = payload["messages"][-1]["content"]
        content, _, question = said.rpartition("\n\nQuestion: ")
        if not content:
            return "Ready."
        condition = "B" if "\n## " in content else "A"
        key = f"{self.questions[question]}|{payload['model']}|{condition}"
        return "".join(SENTENCE.format(number) for number in range(SLOTS)) + word(key)

    def assay(self, *words: str, expect: int = 0) -> str:
        """What a command prints on its output; its exit code has to be this."""
        done = assay(*words)
        assert done.code == expect, (words, done.out[-2000:], done.err[-2000:])
        return done.out if words[0] != "validate" else done.out + done.err


def word(key: str) -> str:
    return f"mark{int(hashlib.sha256(key.encode()).hexdigest()[:12], 16):015d}"


def pages(folder: Path, questions: list[Any], gold: dict[str, str]) -> None:
    """One pair of pages a site, which holds the answers to its questions; B lacks the navigation of A."""
    folder.mkdir()
    pairs = []
    for site in questions:
        name, asked = site["site_id"], [each["question_id"] for each in site["questions"]]
        parts = [(f"Part {at}", gold[each]) for at, each in enumerate(asked)]
        html = "".join(f"<h2>{head}</h2><p>{text.replace('<', '&lt;')}</p>" for head, text in parts)
        links = "<p>Home, products, prices, blog, contact, imprint, press, jobs and partners.</p>"
        (folder / f"{name}.html").write_text(f"<html><body><main>{links}{html}</main></body></html>")
        (folder / f"{name}.md").write_text(
            "\n\n".join(f"# {name}\n\n## {one}\n\n{two}" for one, two in parts)
        )
        paths = {"a": f"pages/{name}.html", "b": f"pages/{name}.md", "title": site["domain"]}
        pairs.append({"content_pair_id": f"{name}-P01", "site_id": name, "question_ids": asked, **paths})
    (folder.parent / "content-pairs.json").write_text(json.dumps(pairs))


@pytest.fixture
def played(tmp_path: Path, shared_data: Callable[[str], Path]) -> Iterator[tuple[Played, ChatStandIn]]:
    corpus = tmp_path / "study" / "corpus"
    corpus.mkdir(parents=True)
    for name in ("questions.json", "gold-answers.json", "site-list.csv"):
        shutil.copy(shared_data("answer_study") / name, corpus / name)
    questions = json.loads((corpus / "questions.json").read_text())
    gold = json.loads((corpus / "gold-answers.json").read_text())
    right = {each["question_id"]: each["gold_answer"] for site in gold for each in site["answers"]}
    pages(corpus / "pages", questions, right)
    asked = [(each["question_id"], site["site_id"]) for site in questions for each in site["questions"]]
    texts = {each["text"]: each["question_id"] for site in questions for each in site["questions"]}
    assert len(asked) == len(texts) == 286
    known = Played(corpus.parent, simulated(World(), SEED, asked, share=1.0), texts)
    with ChatStandIn(known.say, delay=0.002) as server:
        study = STUDY.format(models=", ".join(MODELS), url=server.url)
        (known.folder / "study.yaml").write_text(study)
        yield known, server


# ---------------------------------------------------------------------------------------- the raters


def scores(played: Played, response_ids: dict[str, str], rater: str, given: RaterMarks) -> Iterator[Any]:
    """What a rater says in all passes of the responses that are theirs, as `assay review import` takes it."""
    for response_id, key in response_ids.items():
        about = {"rater": rater, "response_id": response_id, "note": "as I see it"}
        cited = given.citation[key]
        yield {**about, "step": "accuracy", "choice": int(given.accuracy[key])}
        yield {**about, "step": "hallucination", "claims": [placed(each) for each in given.claims[key]]}
        yield {**about, "step": "completeness", "choice": int(given.completeness[key])}
        yield {**about, "step": "citation", "choice": "na" if cited is None else int(cited)}


def placed(claim: Claim) -> dict[str, Any]:
    """A claim in the text of a response: what a rater invents lies behind what is wrong in it."""
    invented, inside = divmod(claim.start, 10_000)
    assert inside < 50 * (6 if invented else 12)
    at = inside + (0, 600, 900)[invented]
    about = {"category": claim.category, "claim": f"crate {at}", "note": claim.note}
    return {**about, "start": at, "end": at + claim.end - claim.start}


def settled(lines: list[Any]) -> Iterator[Any]:
    """Who gave accuracy 3 stands by it: takes back what was called made up, or incomplete."""
    best = {(each["rater"], each["response_id"]) for each in lines if each.get("choice") == 3}
    for each in lines:
        if (each["rater"], each["response_id"]) not in best:
            continue
        kept = [claim for claim in each.get("claims", ()) if claim["category"] == "H-SRC"]
        if kept != each.get("claims", []):
            yield {**each, "claims": kept}
        if each["step"] == "completeness" and each["choice"] == 0:
            yield {**each, "choice": 1}


def written(path: Path, lines: list[Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


# --------------------------------------------------------------------------------------- the procedure


def collect_killed(played: Played, server: ChatStandIn) -> None:
    """Runs the study and kills it in the middle, as a power cut would."""
    command = [sys.executable, "-m", "assay", "run", str(played.folder)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(server.requests) < KILL_AT and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL


def score_blindly(played: Played) -> None:
    """Two raters score what the pack shows them, settle what contradicts itself, and are complete."""
    study, pack = str(played.folder), json.loads((played.folder / "blind" / "pack.json").read_text())
    keys = {word(key): key for key in played.drawn.questions}
    theirs = {each["response_id"]: keys[each["text"].split()[-1]] for each in pack["responses"]}
    assert len(theirs) == len(keys) == 1144
    assert len(pack["drawn"]) == 171  # 0.15 * 1144 = 171.6, and no more than 15 %
    bens = {response_id: theirs[response_id] for response_id in pack["drawn"]}
    lines = [*scores(played, theirs, "anna", played.drawn.first)]
    lines += scores(played, bens, "ben", played.drawn.second)
    again = [*settled(lines)]
    told = played.assay("review", "import", study, written(played.folder / "scores.jsonl", lines))
    assert told.startswith(f"{4 * (1144 + 171)} scores taken, 0 known before")
    waiting = Counter(rater for rater, _ in {(each["rater"], each["response_id"]) for each in again})
    assert f"left: anna: Factual accuracy: {waiting['anna']} to look at again" in told
    assert played.assay("review", "unblind", study, expect=2) == ""
    told = played.assay("review", "import", study, written(played.folder / "again.jsonl", again))
    assert told == f"{len(again)} scores taken, 0 known before\n"


def blind(played: Played) -> None:
    """Blinds by a key that is always the same: it decides whom the second rater scores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.kinds.answers.scoring_steps.blinding.new_key", lambda: bytes(range(32)))
        patch.setattr(
            "assay.kinds.answers.scoring_steps.blinding.secrets.token_hex", lambda length: "5e" * length
        )
        told = played.assay("review", "blind", str(played.folder))
    assert "1144 responses to 286 questions" in told


def test_from_collection_to_verdict(played: tuple[Played, ChatStandIn]) -> None:
    known, server = played
    study = str(known.folder)
    assert "31 questions" in known.assay("validate", study)
    collect_killed(known, server)
    known.assay("run", study, expect=11)  # collected, and nobody has scored: inconclusive
    asked = [each for each in server.requests if "Question: " in each.payload["messages"][-1]["content"]]
    assert 1144 <= len(asked) <= 1144 + 4 * 4  # asked again: at most what was in flight, 4 threads an arm
    blind(known)
    assert known.assay("review", "check", study) == "no leak found\n"
    score_blindly(known)
    assert "1144 responses, blinded" in known.assay("review", "status", study)
    agreement = json.loads(known.assay("review", "agreement", study, "--json"))["agreement"]
    assert known.assay("review", "unblind", study) == "opened: every pass was complete\n"
    results = json.loads(known.assay("run", study, "--json"))
    assert results["verdict"] == "go"
    known.assay("review", "export", study)
    scoring = next(each["data"] for each in results["sections"] if each["key"] == "scoring")
    holds_the_truth(scoring, agreement, known.drawn)
    exported_as_scored(known)


def holds_the_truth(scoring: Any, agreement: list[Any], drawn: Simulated) -> None:
    """The effect and the agreement of the population lie inside the intervals that are reported."""
    real = truth(World())
    tests = {each["metric"]: each for each in scoring["tests"] if each["family"] in ("primary", "secondary")}
    for metric in ("accuracy", "completeness", "citation"):
        assert tests[metric]["low"] <= real[metric] <= tests[metric]["high"], metric
    figures = {(each["metric"], each["statistic"]): each for each in agreement}
    for (metric, statistic), name in AGREEMENT.items():
        assert figures[metric, statistic]["low"] <= real[name] <= figures[metric, statistic]["high"], name
    # and the difference is that of the scores themselves: the mean over questions and models
    given = drawn.first.accuracy
    apart = [given[f"{key[:-1]}B"] - given[key] for key in given if key.endswith("|A")]
    assert tests["accuracy"]["difference"] == pytest.approx(sum(apart) / 572)


def exported_as_scored(known: Played) -> None:
    with (known.folder / "results" / "raw-data.csv").open() as file:
        rows = list(csv.DictReader(file))
    first = known.drawn.first
    for row in rows:
        key = f"{row['question_id']}|{row['model_id']}|{row['condition']}"
        assert int(row["factual_accuracy"]) == first.accuracy[key]
        assert int(row["completeness"]) == (first.completeness[key] or first.accuracy[key] == 3)
        assert (float(row["citation_fidelity"]) if row["citation_fidelity"] else None) == first.citation[key]
    assert len(rows) == 1144


def test_tokens_of_the_real_pairs_are_those_of_the_documentation(shared_data: Callable[[str], Path]) -> None:
    command = [sys.executable, "-m", "assay", "tokens", str(shared_data("html_md_pairs") / "llms-txt")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "answer-studies-data.md").read_text()
    shown = [line.rstrip() for line in told.splitlines() if line.strip()]
    assert len(shown) == 11  # six pairs, a site, its distribution, and three heads
    assert [line for line in shown if line not in page] == []
