"""The prompts of the model judge: versioned files, fences around all quotations, and strict answers.

A prompt file has three parts, each after a line of three hyphens. The first is a header in YAML (name,
version, label, grades). Then come the rules, which become the system message, and the material, which becomes
the user message. The header may say what each grade means (`meanings`) and each intent (`intents`). The rules
contain these texts as {grades} and {intents}, and people who grade the same texts see them. The material
contains quotations as {query}, {expected}, {intent} and {passage}, and the code of their fences as {code}:

    [[PASSAGE 5f2c91d04b7e8a36 begins]]
    …
    [[PASSAGE 5f2c91d04b7e8a36 ends]]

The code is a hash of everything quoted, computed again until no quotation contains it. So no quotation can
contain its own end. In a prompt of the label answerable, {expected} is the reference answer, and {passage} is
the whole context that a reader sees.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

import msgspec
import yaml

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.records import Item
from assay.retrieval.chat import fence, fence_code, sanitize

Label = Literal["relevance", "intent", "answerable", "accuracy"]  # the labels that a prompt may have
QUOTED = ("query", "expected", "intent", "passage")
NOTHING = "(none)"  # the quotation if there is nothing to quote
LONGEST_REASON = 500  # characters

_PACKAGED = re.compile(r"(?P<name>[a-z_]+)(-(?P<version>\d+))?")
_PLACE = re.compile(r"\{(\w+)\}")
_DECORATION = string.punctuation + string.whitespace + "“”‘’«»…–—"


class ModelGrade(NamedTuple):
    """An answer of a model: the name of the grade, the grade as a number, and the reason."""

    category: str
    grade: float
    reason: str


class UnreadableGrade(ValueError):
    """The first line of an answer is not a single grade."""


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: int
    label: Label
    grades: dict[str, float]
    meanings: dict[str, str] = {}
    intents: dict[str, str] = {}

    @property
    def explanations(self) -> dict[str, dict[str, str]]:
        """The explanations in the header, by their place in the rules."""
        return {"grades": self.meanings, "intents": self.intents}


class Prompt(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """A prompt file, read and checked."""

    name: str
    version: int
    label: str
    grades: dict[str, float]
    rules: str
    material: str
    meanings: dict[str, str] = {}  # of grades, in words
    intents: dict[str, str] = {}  # of intents, in words

    @cached_property
    def hash(self) -> str:
        """A hash of everything that decides what the model is asked and how its answer is read."""
        return digest([msgspec.json.encode(self)])[:16]

    def messages(self, quoted: Mapping[str, str]) -> list[dict[str, str]]:
        """Returns the system message, and the user message with these quotations."""
        texts = {name: sanitize(quoted.get(name, "")) or NOTHING for name in QUOTED}
        code = fence_code(list(texts.values()))
        parts = {name: fence(name.upper(), text, code) for name, text in texts.items()} | {"code": code}
        # in one pass, so that {passage} inside a quotation is not filled in
        user = _PLACE.sub(lambda place: parts[place[1]], self.material)
        return [{"role": "system", "content": self.rules}, {"role": "user", "content": user}]

    def read(self, content: str) -> ModelGrade:
        """Reads the grade on the first line that is not empty, and the reason after it.

        Raises UnreadableGrade if that line is not a single grade.
        """
        lines = [line.strip() for line in content.splitlines() if line.strip()]
        first = lines[0].strip(_DECORATION).casefold() if lines else ""
        for category, grade in self.grades.items():
            if first == category.casefold():
                return ModelGrade(category, grade, " ".join(lines[1:])[:LONGEST_REASON])
        found = f"begins {lines[0][:80]!r}" if lines else "is empty"
        raise UnreadableGrade(f"the answer {found}, not with only {' or '.join(self.grades)} on its line")

    def quotes(self, name: str) -> bool:
        """Whether the material contains a quotation of that name."""
        return name in _PLACE.findall(self.material)


def expected_of(item: Item) -> list[str]:
    """Returns the texts that an item's authors expect to be found, with their relevance, for quotation."""
    return [f"{anchor['relevance']}: {anchor['text']}" for anchor in item.gold.get("anchors", ())]


# ----------------------------------------------------------------------------------------- files


def is_packaged_name(given: str) -> bool:
    """Whether `given` is the name of a prompt that comes with the program: `relevance`, or `relevance-1`."""
    return _PACKAGED.fullmatch(given) is not None


def read_packaged_prompt(given: str) -> Prompt:
    """Reads a prompt that comes with the program: the named version, or the newest."""
    folder = files("assay.judges") / "prompts"
    known: dict[str, list[int]] = {}
    for each in folder.iterdir():
        if (found := _PACKAGED.fullmatch(each.name.removesuffix(".txt"))) and found["version"]:
            known.setdefault(found["name"], []).append(int(found["version"]))
    wanted = _PACKAGED.fullmatch(given)
    versions = known.get(wanted["name"] if wanted else given, [])
    if wanted is None or (wanted["version"] and int(wanted["version"]) not in versions) or not versions:
        names = [f"{name}-{version}" for name in known for version in known[name]]
        fix = did_you_mean(given, [*known, *names])
        raise UsageError(f"There is no prompt {given!r}. {fix} A file of your own is named with its ending.")
    file = f"{wanted['name']}-{wanted['version'] or max(versions)}.txt"
    return read_prompt((folder / file).read_text(encoding="utf-8"), file)


def read_prompt(text: str, where: str) -> Prompt:
    """Reads a prompt from a text. One DataError has all problems of the prompt."""
    parts = re.split(r"^---[ \t]*$\n?", text.lstrip("\ufeff\n"), flags=re.MULTILINE)
    if len(parts) != 4 or parts[0].strip():
        what = f"{len(parts) - 1} lines of three hyphens, not 3"
        fix = "Write --- and the header, --- and the rules, --- and the material."
        raise DataError(Problem(what, where, fix=fix))
    header = _header(parts[1], where)
    rules, material = (part.strip() for part in parts[2:])
    problems = list(_explanation_problems(header, rules, where))
    for place, words in header.explanations.items():
        lines = "\n".join(f"{word}: {meaning}" for word, meaning in words.items())
        rules = rules.replace(f"{{{place}}}", lines) if words else rules
    problems += _problems(header, rules, material, where)
    if problems:
        raise DataError(problems)
    explained = (header.meanings, header.intents)
    return Prompt(header.name, header.version, header.label, header.grades, rules, material, *explained)


def _header(text: str, where: str) -> _Header:
    try:
        # SafeLoader would make booleans of YES and NO, which are good names of grades
        found = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
        return msgspec.convert(found, _Header, strict=False)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 2
        what = f"the header is not YAML: {error.problem}"
        raise DataError(Problem(what, where, line, fix="Correct the line.")) from None
    except msgspec.ValidationError as error:
        what = f"the header is wrong: {str(error).replace('`', '')}"
        labels = " or ".join(get_args(Label))
        fix = f"Give it name, version (a number), label ({labels}) and grades ({{HIGH: 2, LOW: 0}})."
        raise DataError(Problem(what, where, fix=fix)) from None


def _explanation_problems(header: _Header, rules: str, where: str) -> Iterator[Problem]:
    """Yields mismatches between the explanations in the header, the rules, and the grades."""
    used = set(_PLACE.findall(rules))
    for (place, words), name in zip(header.explanations.items(), ("meanings", "intents"), strict=True):
        if words and place not in used:
            what = f"the model is not told them: {{{place}}} is missing from the rules"
            yield Problem(what, where, field=name, fix="Put it in.")
        elif place in used and not words:
            fix = f"Give it {name}, or take the place out."
            yield Problem(f"the header has nothing for {{{place}}}", where, field=name, fix=fix)
    if header.meanings:
        for word in header.grades.keys() - header.meanings.keys():
            yield Problem(f"nothing says what {word} means", where, field="meanings", fix="Say it.")
        for word in header.meanings.keys() - header.grades.keys():
            fix = did_you_mean(word, header.grades)
            yield Problem(f"there is no grade {word!r}", where, field="meanings", fix=fix)


def _problems(header: _Header, rules: str, material: str, where: str) -> Iterator[Problem]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", header.name):
        fix = "Use small letters, digits and underscores."
        yield Problem(f"the name is {header.name!r}", where, field="name", fix=fix)
    if len({name.casefold() for name in header.grades}) < max(len(header.grades), 2):
        yield Problem("fewer than two different grades", where, field="grades", fix="Give two or more.")
    for name, grade in header.grades.items():
        if not re.fullmatch(r"\w+", name) or name.strip("_") != name:
            yield Problem(
                f"{name!r} is not a single word", where, field="grades", fix="Use one, as NOT_RELEVANT."
            )
        if not (0 <= grade < math.inf):
            yield Problem(f"{name} is {grade:g}", where, field="grades", fix="Use a number, 0 or more.")
        if not re.search(rf"\b{re.escape(name)}\b", rules):
            yield Problem(f"the rules do not say what {name} means", where, field="grades", fix="Say it.")
    known = {*QUOTED, "code"}
    for place in sorted({*_PLACE.findall(rules)} & known):
        fix = "What is quoted belongs to the material, the last part."
        yield Problem(f"{{{place}}} stands in the rules", where, field=place, fix=fix)
    used = set(_PLACE.findall(material))
    for place in sorted(used - known):
        yield Problem(f"nothing is known of {{{place}}}", where, field=place, fix=did_you_mean(place, known))
    for place in sorted({"query", "passage", "code"} - used):
        yield Problem(f"{{{place}}} is missing from the material", where, field=place, fix="Put it in.")
