"""The English of names, docstrings, comments, messages and templates, as far as a pattern can tell.

A line that is right all the same ends its own match in `RIGHT`, with the words that make it so.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
TEMPLATES = {".html", ".j2", ".js", ".css", ".md"}
DATA = {"corpus", "pages", "contents", "documents"}  # folders of texts that studies are run on
COUNTED = (
    "run|file|rater|person|page|system|item|query|question|document|passage|line|row|level|slice|arm|seed|task|"
    "call|attempt|second|response|answer|study|clause|gate|measure|score|link|node|cluster|worker|core|label|"
    "judge|table|column|model|corpus|text|pair|pass|set|name|value|list|block|byte|token|process|entry|folder"
)
BETWEEN = (
    r"(?:of|for|to|as|is|was|are|with|and|under|in|on|at|by|or|from|than|the|has|have|had|into|over|per|not|but|"
    r"that|which|if|when|while|after|before|without|within|between|like|via|against|a|an|inside|about|above|below|"
    r"behind|beside|through|until|where|who|only|gets|names|holds|makes|needs|reads|takes|becomes|counts|\w+ing|"
    r"gives|finds|keeps|asks|says|means|sees|shows|leaves|writes|adds|builds|calls|stores|once|such|half|quite|many)\b"
)
FORMS = {
    "one per": rf"\b(?:one|a|an) (?:(?!{BETWEEN})\w+ )?(?!{BETWEEN})\w+ an? (?:{COUNTED})\b",
    "is not a": r"\b(?<!there )(?:is|are|was) no (?!(?:longer|more|less|fewer|better|worse)\b)\w+",
    "again": r"\banew\b",
    "expensive": r"\b(?:dear|dearer|dearest)\b",
    "pass, fail": r"\bspeaks? (?:for|against)\b",
    "undecided": r"\b(?:clause|gate|verdict)s? (?:is|are|stays?|remains?) open\b",
    "corrected": r"\bset right\b",
    "compared with": r"\b(?:held|holds?|holding) (?:\w+ )?against\b",
    "withheld": r"\bkept back\b",
    "if, when": r"\b(?:whoever|whosoever|whichever way)\b",
    "only": r"\balone\b",
}
NAMES = re.compile(r"(?:^|_)(?:told|anew|dear|alone)(?:_|$)")
RIGHT = (
    *("stand-alone", "standalone", "let alone", "leave alone", "left alone"),
    *("documentation alone", "JSON object alone"),  # prompts: stored answers depend on their words
)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Each piece of text of a file with its line: strings and comments of code, lines of a template."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if (
            token.type in {tokenize.STRING, tokenize.COMMENT}
            or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"
        ):
            yield from enumerate(token.string.splitlines(), token.start[0])


def faults(path: Path) -> Iterator[str]:
    for line, words in prose(path):
        for instead, form in FORMS.items():
            for match in re.finditer(form, words, re.IGNORECASE):
                around = words[max(0, match.start() - 20) : match.end() + 4]
                if not any(each in around for each in RIGHT):
                    yield f"{path}:{line}: {match[0]!r}: write {instead!r}"
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and NAMES.search(
                node.name
            ):
                yield f"{path}:{node.lineno}: the name {node.name!r}"


def read(folder: Path) -> list[Path]:
    """The files of a folder whose words are the program's own."""
    files = [each for each in sorted(folder.rglob("*")) if each.suffix in {".py", *TEMPLATES}]
    return [each for each in files if not DATA & set(each.parts)]


def repeated_classes() -> dict[str, list[str]]:
    """Class names of the source that more than one place defines."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_text_falls_into_the_dialect() -> None:
    assert [fault for path in read(SOURCE) for fault in faults(path)] == []


def test_a_class_name_exists_once() -> None:
    assert repeated_classes() == {}


if __name__ == "__main__":  # python tests/unit/test_language.py src/assay/gates
    for given in map(Path, sys.argv[1:] or ["src"]):
        for path in [given] if given.is_file() else read(given):
            for fault in faults(path):
                print(fault)
