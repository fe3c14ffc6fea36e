"""An answer study small enough to be scored by hand: four questions, two conditions, two models."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.protocols import Kit
from assay.core.results import Results
from assay.kinds.answers.blinding.pack import OriginalResponse
from assay.kinds.answers.panel import scoring_folder
from assay.kinds.answers.results import ScoringResults
from assay.kinds.answers.scoring.marks import ScoringFolder
from assay.pipeline.runner import run_study
from assay.study.study import Study, open_study

QUESTIONS = {
    "S001-Q01": ("How many keys may an account hold?", "single-fact", "An account may hold five keys."),
    "S001-Q02": ("How do keys and limits relate?", "conceptual-relationship", "Limits count per key."),
    "S002-Q01": ("When does a cart expire?", "single-fact", "A cart expires after an hour."),
    "S002-Q02": ("What do carts and refunds need?", "multi-section-synthesis", "Both need a signed token."),
}
MODELS = ("small", "large")
STEPS = ("accuracy", "hallucination", "completeness", "citation")
DAY = 24 * 3600.0


def keep_keys(patch: pytest.MonkeyPatch) -> None:
    """Blinding draws the same keys at every run: one clean pack in a thousand stands out by chance."""
    number = itertools.count()
    module = "assay.kinds.answers.scoring_steps.blinding"
    patch.setattr(f"{module}.new_key", lambda: hashlib.sha256(b"key %d" % next(number)).digest())
    patch.setattr(f"{module}.secrets.token_hex", lambda size=32: f"{next(number):0{2 * size}x}")


def scoring_in(results: Results) -> ScoringResults:
    """What blinded scoring shows, among the sections of results."""
    section = results.section("scoring")
    assert section is not None
    assert isinstance(section.data, ScoringResults)
    return section.data


def write_study(folder: Path, **panel: Any) -> Path:
    """The study's files; `panel` changes who scores."""
    corpus = folder / "corpus"
    (corpus / "pages").mkdir(parents=True)
    sites: dict[str, list[str]] = {}
    for question_id in QUESTIONS:
        sites.setdefault(question_id[:4], []).append(question_id)
    questions = [
        {
            "site_id": site,
            "domain": f"{site.lower()}.example",
            "questions": [
                {
                    "question_id": each,
                    "text": QUESTIONS[each][0],
                    "complexity": QUESTIONS[each][1],
                    "source_sections": ["Keys", "Limits"],
                    "source_urls": [],
                }
                for each in ids
            ],
        }
        for site, ids in sites.items()
    ]
    gold = [
        {
            "site_id": site,
            "domain": f"{site.lower()}.example",
            "answers": [
                {
                    "question_id": each,
                    "gold_answer": QUESTIONS[each][2],
                    "source_urls": [],
                    "verified_date": "",
                }
                for each in ids
            ],
        }
        for site, ids in sites.items()
    ]
    pairs = []
    for site, ids in sites.items():
        said = " ".join(QUESTIONS[each][2] for each in ids)
        (corpus / "pages" / f"{site}.html").write_text(
            f"<nav>Home</nav><main><h1>{site}</h1><p>{said}</p><p>More words that only a page has.</p></main>"
        )
        (corpus / "pages" / f"{site}.md").write_text(f"# {site}\n\n{said}\n\nWritten once and kept short.\n")
        pair = {
            "content_pair_id": f"{site}-P01",
            "site_id": site,
            "question_ids": ids,
            "title": f"About {site}",
        }
        pairs.append({**pair, "a": f"pages/{site}.html", "b": f"pages/{site}.md"})
    for name, content in (("questions", questions), ("gold-answers", gold), ("content-pairs", pairs)):
        (corpus / f"{name}.json").write_text(json.dumps(content))
    write_lines(folder / "responses.jsonl", responses())
    study = {
        "kind": "answers",
        "data": {"use": "answer_study", "path": "corpus"},
        "factors": {"model": list(MODELS)},
        "systems": {
            name: {"use": "responses", "path": "responses.jsonl", "condition": name} for name in ("A", "B")
        },
        "judges": [{"use": "panel", "primary": "anna", "others": ["ben"], "share": 1.0, **panel}],
        "measures": ["Accuracy", "Hallucinations", "Completeness", "CitationFidelity", "ContentTokens"],
        "compare": {"resamples": 200},
        "gates": {"better": {"min_items": 2, "go": ["Accuracy(B) >= Accuracy(A) on estimate"]}},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    return folder


def responses() -> list[dict[str, Any]]:
    return [
        {
            "question_id": question_id,
            "model_id": model,
            "condition": condition,
            "response": f"{gold} The {model} model read it in the llms.txt file. It also sings in {n} keys.",
        }
        for n, (question_id, (_, _, gold)) in enumerate(QUESTIONS.items())
        for model in MODELS
        for condition in ("A", "B")
    ]


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def collected(folder: Path, clock: float | None = None) -> Study:
    """The study, opened and run; its clock may stand still."""
    kit = Kit() if clock is None else Kit(clock=lambda: clock)
    study = open_study(folder, kit=kit)
    run_study(study)
    return study


def at(folder: Path, clock: float) -> Study:
    """The study, opened at a time."""
    return open_study(folder, kit=Kit(clock=lambda: clock))


def truth(original: OriginalResponse) -> int:
    """Accuracy as everybody gives it here: B is right, A nearly."""
    return 3 if original.arm.startswith("B") else 2


def scores(files: ScoringFolder, rater: str, steps: Iterable[str] = STEPS) -> list[dict[str, Any]]:
    """A rater's lines for all that is theirs, each as `assay review import` takes it."""
    originals, pack = files.originals(), files.pack
    mine = list(originals) if rater == pack.panel.primary else pack.drawn
    found = []
    for step in steps:
        name, _, again = step.partition(":")
        for response_id in pack.drawn_again if again else mine:
            line: dict[str, Any] = {"rater": rater, "response_id": response_id, "step": step}
            if name == "hallucination":
                found.append(line)
                continue
            grade = {"accuracy": truth(originals[response_id]), "completeness": 1, "citation": "na"}[name]
            note = "one thing is missing" if grade == 2 else ""
            found.append({**line, "choice": grade, "note": note})
    return found


def all_scores(study: Study) -> list[dict[str, Any]]:
    files = scoring_folder(study)
    raters = [files.pack.panel.primary, *files.pack.panel.others]
    return [line for rater in raters for line in scores(files, rater)]
