"""A study small enough to fit a detector on in a moment: twenty projects, and questions of three kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from small_study import write_lines

PROJECTS = (
    "Alder", "Birch", "Cedar", "Damson", "Elder", "Fern", "Gorse", "Hazel", "Ivy", "Juniper",
    "Kelp", "Larch", "Maple", "Nettle", "Osier", "Poplar", "Quince", "Rowan", "Sorrel", "Thistle",
)  # fmt: skip
ABSENT = ("Ubuntu", "Vesper", "Wombat", "Xenon", "Yucca", "Zircon", "Argyle", "Basalt", "Cobalt", "Dorado")
LISTS = (
    "List all projects and who leads each of them",
    "List every budget that was granted",
    "How many projects are there in total, and which are they",
    "Name all leaders of all projects",
    "Give a complete list of budgets for each project",
    "Which projects have a leader, all of them",
    "List each project with its complete budget",
    "Enumerate every project that somebody leads",
    "All budgets of all projects, please",
    "Give the full list of leaders for every project",
)
STUDY = """\
kind: anything
data: data
split: test
systems:
  plain: bm25
  shy: abstaining(of=bm25, detector=shy.json)
measures: [nDCG@10]
"""


def write_small(folder: Path, study: str = STUDY, items: list[dict[str, Any]] | None = None) -> Path:
    """The study and its data in a folder; the path of the folder."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(study)
    passages = [
        {"doc_id": name, "text": f"The {name} team leads Project {name}. Its budget is {100 + n} euros."}
        for n, name in enumerate(PROJECTS)
    ]
    write_lines(folder / "data/passages.jsonl", passages)
    write_lines(folder / "data/items.jsonl", small_items() if items is None else items)
    return folder


def small_items() -> list[dict[str, Any]]:
    """Twenty possible items and ten of each other kind, in turn of tune, dev and, for some, test."""
    possible = [("p", f"Who leads Project {name}?", {"relevant": {name: 1}}, None) for name in PROJECTS]
    lists = [("a", text, {"relevant": {}, "impossible": "aggregation"}, None) for text in LISTS]
    absent = [("o", f"Who leads Project {name}?", {"impossible": "out_of_kb"}, "nothing") for name in ABSENT]
    return [
        {
            "item_id": f"{letter}{n}",
            "text": text,
            "gold": gold,
            "split": ("tune", "dev")[n % 2] if n < 18 else "test",
            **({"expects": expects} if expects else {}),
        }
        for kind in (possible, lists, absent)
        for n, (letter, text, gold, expects) in enumerate(kind)
    ]
