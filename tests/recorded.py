"""What the shipped studies came to, kept so that a change of shape can show that no number changed.

`python tests/recorded.py keep [NAME…]` runs studies from their templates and keeps what they came to in
`tests/records/`; `compare` runs them and lists what differs. Texts, layout, times and cost are left out. The
quick studies are compared in the plain suite, the others in the slow one.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from small_study import assay

FOLDER = Path(__file__).parent / "records"
TIMED = ("Seconds", "Cost")  # of another run, these differ
SHARE_RELEVANT = 0.3  # of the passages that the recorded reviewer reads
ENDS = ("value", "low", "high")
ROWS = {
    "estimates": (*ENDS, "n_scored"),
    "comparisons": ("difference", "low", "high", "p", "p_adjusted", "effect", "wins", "ties", "losses", "n"),
    "figures": (*ENDS, "n"),
}
CLAUSE = (*ENDS, "holds", "n", "shows")
ABOUT = ("a", "b", "name", "system", "factors", "measure", "where", "text")
Flat = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """A shipped study, how it is brought to its results, and whether that is quick."""

    template: str
    words: tuple[str, ...] = ()  # after `assay run`, the study's path first
    before: Callable[[Path], None] | None = None
    slow: bool = True

    def results(self, folder: Path) -> Mapping[str, Any]:
        """Runs a copy of the template and returns its JSON results."""
        study = copied(self.template, folder)
        if self.before is not None:
            self.before(study)
        path, *options = self.words or (".",)
        done = assay("run", study / path, *options, "--json")
        if done.code not in {0, 10, 11}:
            raise RuntimeError(f"{self.template}: exit code {done.code}\n{done.err}")
        found: Mapping[str, Any] = done.json
        return found


def copied(template: str, folder: Path) -> Path:
    """A template as `assay init` writes it; parts of one as they lie in it."""
    kind, _, part = template.partition("/")
    target = folder / kind
    if kind == "demo":
        assay("demo", target)
        return target
    assay("init", kind, target)
    return target / part if part else target


def reviewed(study: Path) -> None:
    """A run whose passages a seeded reviewer has marked, so that marks enter the figures."""
    assay("run", study)
    assay("review", "export", study)
    for path in sorted((study / "review").glob("*.yaml")):
        form, draw = yaml.safe_load(path.read_text()), random.Random(path.name)
        for row in form["results"]:
            if not row["judgment"]:
                relevant = draw.random() < SHARE_RELEVANT
                row["judgment"] = "SEMANTIC_MATCH" if relevant else "FALSE_POSITIVE"
        form["metadata"] |= {"reviewer": "Anna", "review_date": "2026-02-01", "review_complete": True}
        path.write_text(yaml.safe_dump(form, sort_keys=False, allow_unicode=True))
    done = assay("review", "import", study)
    if done.code:
        raise RuntimeError(done.err)


STUDIES = {
    "demo": Recorded("demo", slow=False),
    "search": Recorded("search", slow=False),
    "answers": Recorded("answers", slow=False),
    "answers-scored": Recorded("answers/scored", slow=False),
    "models": Recorded("models"),
    "models-reviewed": Recorded("models", before=reviewed),
    "memory": Recorded("memory"),
    "memory-ablations": Recorded("memory", ("ablations.yaml",)),
    "memory-public": Recorded("memory", ("public.yaml",)),
    "hierarchy": Recorded("hierarchy", ("study.yaml", "--stage", "10k", "--limit", "20")),
}


def flat(results: Mapping[str, Any]) -> Flat:
    """Every number and status of JSON results, by what it is about."""
    found: Flat = {"verdict": results["verdict"]}
    for row in (each for each in results["scores"] if each["status"] != "pending"):
        name = f"score {row['system']} {row['factors']} seed {row['seed']} {row['measure']} {row['item']}"
        found[name] = row["value"] if row["status"] == "scored" else row["status"]
    for part, kept in ROWS.items():
        for row in results[part]:
            about = " ".join(str(row[key]) for key in ABOUT if key in row)
            found |= {f"{part} {about} {each}": row.get(each) for each in kept}
    for gate in results["verdicts"]:
        found[f"verdict {gate['gate']}"] = gate["verdict"]
        for clause in gate["clauses"]:
            found |= {f"clause {gate['gate']} {clause['text']} {each}": clause.get(each) for each in CLAUSE}
    found |= dict(numbers(results["review"], "review"))
    scoring = next((each["data"] for each in results["sections"] if each["key"] == "scoring"), None)
    found |= dict(numbers(scoring, "scoring"))  # a part of the results of its own when the record was kept
    return {name: value for name, value in found.items() if value is not None and not timed(name)}


def timed(text: str) -> bool:
    return any(each in text for each in TIMED)


def numbers(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The numbers of anything nested, by their path."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers(each, f"{name}.{key}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from numbers(each, f"{name}[{place}]")
    elif isinstance(value, bool | int | float):
        yield name, value


def differences(before: Flat, after: Flat, tolerance: float = 0.0) -> list[str]:
    """What is not as it was, one line per value."""

    def alike(name: str) -> bool:
        then, now = before.get(name), after.get(name)
        if isinstance(then, float) and isinstance(now, float):
            return math.isclose(then, now, rel_tol=tolerance, abs_tol=tolerance)
        return type(then) is type(now) and then == now

    names = sorted(before.keys() | after.keys())
    return [
        f"{each}: {before.get(each)!r} before, {after.get(each)!r} now" for each in names if not alike(each)
    ]


def keep(name: str, found: Flat) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = "".join(f"{json.dumps([key, found[key]])}\n" for key in sorted(found))
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def kept(name: str) -> Flat:
    lines = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    return dict(json.loads(line) for line in lines)


def record(name: str) -> Flat:
    """What a study comes to now."""
    with tempfile.TemporaryDirectory() as folder:
        return flat(STUDIES[name].results(Path(folder)))


def main(command: str, *names: str) -> int:
    worst = 0
    for name in names or STUDIES:
        found = record(name)
        if command == "keep":
            keep(name, found)
            print(f"{name}: {len(found)} values")
        else:
            changed = differences(kept(name), found)
            print(f"{name}: {len(changed)} of {len(found)} values differ", *changed[:20], sep="\n  ")
            worst = max(worst, bool(changed))
    return worst


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
