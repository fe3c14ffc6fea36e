"""The glossary against the code: what it names exists, and no other class takes one of its words."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "glossary.md"
ROW = re.compile(r"^\| (\*\*.+?) \| (.+?) \|(.*)\|$", re.MULTILINE)
# Words of which each class that bears them as its last word must be in the glossary, or here with the reason.
RESERVED = ("verdict", "unit", "figure", "plan", "baseline", "agreement", "look")
OTHERS = {
    "RaterAgreement": "between two raters: the same meaning",
    "AnnotatorAgreement": "between two annotators: the same meaning",
    "LabelAgreement": "between two annotators: the same meaning",
    "NextLook": "a look that is about to be taken",
    "EmbeddingBaseline": "a system that others are compared with, as `baseline:` means it",
    "LexicalBaseline": "a system that others are compared with, as `baseline:` means it",
}


def class_names() -> Counter[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src" / "assay").rglob("*.py"))
    return Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def rows() -> list[tuple[str, str]]:
    """The words of the glossary, each with what its last column says."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    return [(word, names) for words, _, names in found for word in re.findall(r"\*\*(.+?)\*\*", words)]


def in_code() -> set[str]:
    return {name for _, names in rows() for name in re.findall(r"`([^`]+)`", names)}


def test_every_name_of_the_glossary_exists_once() -> None:
    known = class_names()
    assert len(rows()) > 60
    assert {name: known[name] for name in in_code() if known[name] != 1 and not name.endswith(":")} == {}


def test_a_word_has_one_meaning_in_the_code() -> None:
    last_words = {name: re.findall(r"[A-Z][a-z0-9]*", name)[-1:] for name in class_names()}
    taken = {name for name, last in last_words.items() if last and last[0].lower().rstrip("s") in RESERVED}
    assert taken - in_code() - set(OTHERS) == set()


def test_every_word_is_explained_once() -> None:
    assert [word for word, count in Counter(word for word, _ in rows()).items() if count > 1] == []
