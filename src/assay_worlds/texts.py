"""Reads the texts of the worlds: YAML files in the `text` folders beside the code.

A block (`|`) is a list with one text per line, in which nothing needs quotation marks. Every word is a text,
even `no` and `2.10`. It becomes a number or a truth value only if the requested type asks for that. All texts
are templates, see `assay_worlds.template`.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
import yaml

from assay.core.errors import DataError, Problem, decoding_problem
from assay_worlds.template import fault

Shape = TypeVar("Shape")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class TextEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class of the records in text files."""


def read_texts(shape: type[Shape], package: str, name: str) -> Shape:
    """Reads `text/NAME.yaml` of a package as a type. Every call reads the file; callers cache the result."""
    resource = files(package).joinpath("text", f"{name}.yaml")
    return parse_texts(shape, resource.read_text(encoding="utf-8"), str(resource))


def parse_texts(shape: type[Shape], text: str, where: str) -> Shape:
    """Reads the content of a text file as a type. `where` names the file in errors."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = f"this is not YAML: {getattr(error, 'problem', error)}"
        fix = "Correct the line, or one before it."
        raise DataError(Problem(what, where, mark and mark.line + 1, fix=fix)) from None
    if root is None:
        raise DataError(Problem("the file is empty", where, fix="Write its texts."))
    content = _content(root, where)
    try:
        return msgspec.convert(content, shape, strict=False)
    except msgspec.ValidationError as error:
        problem = decoding_problem(error, where)
        raise DataError(decoding_problem(error, where, _line(root, problem.field))) from None


def _content(node: Any, where: str) -> Any:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping = {key.value: _content(child, where) for key, child in node.value}
        if len(mapping) < len(node.value):
            fix = "Keep one of the two."
            raise DataError(
                Problem("two fields of the entry that begins here have one name", where, line, fix=fix)
            )
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_content(child, where) for child in node.value]
    block = node.style == "|"
    texts = node.value.splitlines() if block else [node.value]
    for place, text in enumerate(texts):
        if what := fault(text):
            raise DataError(Problem(what, where, line + place + block, fix="Correct the template."))
    return texts if block else node.value


def _line(node: Any, field: str) -> int:
    """Returns the line of a field such as `relations[2].states`, or of the nearest enclosing node."""
    for step in re.findall(r"[^.\[\]]+", field):
        if isinstance(node, yaml.MappingNode):
            found = [child for key, child in node.value if key.value == step]
        elif isinstance(node, yaml.SequenceNode) and step.isdigit():
            found = node.value[int(step) : int(step) + 1]
        else:
            break
        if not found:
            break
        node = found[0]
    return int(node.start_mark.line) + 1
