"""A case file: questions over numbered documents, and what a memory should do with each question.

    {"dataset_id": "…", "domain_pack_name": "…", "document_directory": "contracts",
     "cases": [{"case_id": "…", "query": "…", "tags": ["…"],
                "expectation": {"evidence_node_ids": ["msa:14", "msa:15"], "minimum_evidence_matches": 1,
                                "path_scope": "best_path",
                                "path": {"match_mode": "prefix", "steps": [{"node_id": "msa:15"}, …]}}}]}

The path of the directory is relative to the file. Optional fields of the file: `dataset_name`, `version`,
`layer`, `description`, `document_hashes` and `quality`. An unknown expectation is refused, because no measure
would check it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field
from pydantic import ValidationError as Invalid

from assay.core.dataset import Place
from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.yaml_lines import FileProblems, FilledText, Lines, Loc
from assay.datasets.reading import read_json
from assay.datasets.units import UnitFolder, read_folder

Model = TypeVar("Model", bound=BaseModel)
Step = TypeVar("Step", bound=BaseModel)
Layer = Literal["structured", "private"]
Broken = Iterator[tuple[Loc, str, str]]
_OF_DOCUMENTS = ("document_directory", "domain_pack_name", "document_hashes")
_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Written = BeforeValidator(lambda value: str(value) if type(value) is int else value)


class _StrictModel(BaseModel, strict=True, frozen=True, extra="forbid"):
    """An object of the file. Types are not converted, and unknown fields are refused."""


class PathStep(_StrictModel):
    """A node of an expected path, and the type of the edge that leads to the node (None: any type)."""

    node_id: FilledText
    via_edge_type: FilledText | None = None


class TraceStep(_StrictModel):
    """A step of an expected activation. A field that is absent may have any value."""

    node_id: FilledText
    edge_type: FilledText | None = None
    hop: _Count | None = None
    is_seed: bool | None = None
    stopped_reason: FilledText | None = None


class WalkPattern(_StrictModel, Generic[Step]):
    """The steps of an expected path or activation, and how strictly they must match."""

    match_mode: Literal["exact", "prefix", "subsequence"] = "subsequence"
    steps: Annotated[list[Step], Field(min_length=1)]


class CaseExpectation(_StrictModel):
    """What a memory should do with a question."""

    evidence_node_ids: Annotated[list[FilledText], Field(min_length=1)]
    minimum_evidence_matches: Annotated[int, Field(ge=1)] = 1
    path: WalkPattern[PathStep] | None = None
    path_scope: Literal["any_path", "best_path"] | None = None
    required_edge_types: list[FilledText] | None = None
    required_semantic_roles: list[FilledText] | None = None
    required_contradiction_pairs: list[list[FilledText]] | None = None
    activation_trace: WalkPattern[TraceStep] | None = None
    required_trace_stop_reasons: list[FilledText] | None = None
    min_activation_trace_length: _Count | None = None
    max_activation_trace_length: _Count | None = None

    def nodes(self) -> Iterator[tuple[Loc, str]]:
        """Yields every node that the expectation names, with its place in the expectation."""
        yield from ((("evidence_node_ids", at), each) for at, each in enumerate(self.evidence_node_ids))
        for at, walked in enumerate(self.path.steps if self.path else ()):
            yield ("path", "steps", at, "node_id"), walked.node_id
        for at, spread in enumerate(self.activation_trace.steps if self.activation_trace else ()):
            yield ("activation_trace", "steps", at, "node_id"), spread.node_id
        for at, pair in enumerate(self.required_contradiction_pairs or ()):
            yield from ((("required_contradiction_pairs", at, i), each) for i, each in enumerate(pair))


class CaseRecord(_StrictModel):
    """A case of the file: a question, and what a memory should do with it."""

    case_id: FilledText
    query: FilledText
    tags: list[str] | None = None
    expectation: CaseExpectation


class LabelQuality(_StrictModel):
    """How far the people who labelled the cases agreed. `assay annotate export` writes these fields."""

    needed: ClassVar[float] = 0.85  # the least mean Jaccard of evidence sets
    enough: ClassVar[int] = 20  # cases; with fewer, the agreement is unknown
    agreement: Annotated[float, Field(ge=0, le=1)] | None  # the mean Jaccard; None: no case has two labels
    cases: _Count  # how many cases both people approved
    kappa: Annotated[float, Field(ge=-1, le=1)] | None = None
    unmet: list[FilledText] = []  # other criteria of a private set that this set does not meet

    def doubts(self, dataset_id: str) -> list[str]:
        """Returns the reasons why the labels of a dataset may be wrong."""
        if self.agreement is None:
            return [f"{dataset_id}: no case was labelled by two people: nobody knows if labels are right"]
        measured = f"mean Jaccard {self.agreement:.3f} over {self.cases} cases"
        if self.agreement < self.needed:
            what = f"two people agree too little on its evidence for its labels to decide: {measured}"
            return [f"{dataset_id}: {what}, {self.needed} is needed"]
        few = f"too few cases were labelled by two people: {measured}, {self.enough} are needed"
        return [f"{dataset_id}: {few}"] if self.cases < self.enough else []


class CaseFileHeader(_StrictModel):
    """The fields of a case file. Its cases are not checked yet."""

    dataset_id: FilledText
    domain_pack_name: Annotated[
        FilledText, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.\-]*$")
    ]  # the name of a pack, without parameters
    document_directory: FilledText
    cases: Annotated[list[Any], Field(min_length=1)]
    dataset_name: FilledText | None = None  # None: the dataset_id
    version: Annotated[FilledText | None, _Written] = None
    layer: Layer | None = None
    description: str | None = None
    document_hashes: dict[str, str] | None = None
    quality: LabelQuality | None = None


@dataclass(frozen=True)
class CaseFile:
    """A case file that was read: its header, its readable cases by index, and its documents."""

    path: Path
    header: CaseFileHeader
    cases: dict[int, CaseRecord]
    folder: UnitFolder
    lines: Lines = field(repr=False)

    def place(self, index: int) -> Place:
        """Returns the file and line of the case with that index."""
        return Place(self.lines.where, self.lines.of(("cases", index)))


def read_case_file(path: Path) -> tuple[CaseFile | None, list[Problem]]:
    """Reads a case file. Returns the file and everything that is wrong with it.

    The file is None if its header cannot be read.
    """
    try:
        content, lines = read_json(path)
    except DataError as error:
        return None, list(error.problems)
    found = FileProblems(lines)
    header = _fields(CaseFileHeader, content, (), found)
    listed = content.get("cases") if isinstance(content, dict) else None
    cases = {
        index: case
        for index, raw in enumerate(listed if isinstance(listed, list) else ())
        if (case := _fields(CaseRecord, raw, ("cases", index), found, _name_of(raw))) is not None
    }
    _doubled(cases, found)
    folder = _documents(path, content, found)
    astray = list[str]()
    for index, case in cases.items():
        broken = [*_impossible(case.expectation), *_astray(case.expectation, folder, astray)]
        for inner, what, fix in broken:
            found.wrong(("cases", index), ("expectation", *inner), what, fix, case.case_id)
    file = None if header is None or folder is None else CaseFile(path, header, cases, folder, lines)
    return file, found.problems


# ------------------------------------------------------------------------- fields and their types


_WITHIN: dict[Loc, type[BaseModel]] = {
    ("quality",): LabelQuality,
    ("expectation",): CaseExpectation,
    ("expectation", "path"): WalkPattern,
    ("expectation", "path", "steps"): PathStep,
    ("expectation", "activation_trace"): WalkPattern,
    ("expectation", "activation_trace", "steps"): TraceStep,
}
_TEXT = ("some text", "Write it in quotes.")
_NODES = ("a list of nodes", 'Write ["STEM:NUMBER"].')
_WORDS = ("a list of words", 'Write ["a_word"].')
_LENGTH = ("a whole number from 0 to 1000000", "Write a number such as 5, or leave the field out.")
_SHAPE = ("an object with steps", 'Write {"match_mode": "prefix", "steps": [{"node_id": "STEM:NUMBER"}]}.')
_EXPECTED = {  # by field: its content, and what to do if the content is wrong; other fields hold text
    "cases": ("a list of cases", "Write [{…}, {…}]."),
    "domain_pack_name": ("the plain name of a pack", "Write only the name: a study gives it parameters."),
    "document_hashes": ("a mapping of file names to SHA-256 sums", 'Write {"a.md": "64 hex digits"}.'),
    "layer": ("'structured' or 'private'", "Write one of the two, or leave it out."),
    "quality": ("an object with agreement and cases", 'Write {"agreement": 0.9, "cases": 24}.'),
    "quality.cases": _LENGTH,
    "agreement": ("a number from 0 to 1, or null", "Write a number such as 0.9."),
    "kappa": ("a number from -1 to 1, or null", "Write a number such as 0.8."),
    "unmet": _WORDS,
    "tags": _WORDS,
    "expectation": ("an object", 'Write {"evidence_node_ids": ["STEM:NUMBER"]}.'),
    "evidence_node_ids": _NODES,
    "minimum_evidence_matches": ("a whole number from 1", "Write a number such as 1."),
    "path": _SHAPE,
    "path_scope": ("'any_path' or 'best_path'", "Write one of the two."),
    "match_mode": ("'exact', 'prefix' or 'subsequence'", "Write one of the three."),
    "steps": ("a list of steps", 'Write [{"node_id": "STEM:NUMBER"}].'),
    "activation_trace": _SHAPE,
    "required_edge_types": _WORDS,
    "required_semantic_roles": _WORDS,
    "required_trace_stop_reasons": _WORDS,
    "required_contradiction_pairs": ("a list of pairs of nodes", 'Write [["STEM:1", "STEM:2"]].'),
    "hop": _LENGTH,
    "is_seed": ("true or false", "Write one of the two."),
    "min_activation_trace_length": _LENGTH,
    "max_activation_trace_length": _LENGTH,
}


def _fields(model: type[Model], raw: Any, loc: Loc, found: FileProblems, name: str = "") -> Model | None:
    """Returns the object as a model; None if anything but unknown fields is wrong with the object.

    Everything that is wrong, including unknown fields, is added to `found`.
    """
    if not isinstance(raw, dict):
        known = ", ".join(key for key, each in model.model_fields.items() if each.is_required())
        found.wrong(loc, (), f"expected an object, found {_shown(raw)}", f"Write {{…}} with {known}.", name)
        return None
    try:
        return model.model_validate(raw)
    except Invalid as error:
        errors = error.errors(include_url=False)
    for each in errors:
        what, fix = _refusal(model, each["type"], each["loc"], each["input"])
        found.wrong(loc, each["loc"], what, fix, name)
    if any(each["type"] != "extra_forbidden" for each in errors):
        return None
    for each in errors:  # unknown fields are reported; without them, the other fields can be read
        del reduce(getitem, each["loc"][:-1], raw)[each["loc"][-1]]
    return model.model_validate(raw)


def _refusal(model: type[BaseModel], kind: str, loc: Loc, given: Any) -> tuple[str, str]:
    named = tuple(part for part in loc if isinstance(part, str))
    if kind == "missing":
        return "this field is required", "Add it."
    if kind in ("string_too_short", "too_short"):
        return "it is empty", "Fill it in."
    if kind == "extra_forbidden":
        within = _WITHIN.get(named[:-1], model)
        what = "no such expectation is known" if within is CaseExpectation else "there is no such field"
        return what, did_you_mean(str(loc[-1]), within.model_fields)
    inner = len(named) < len(loc) and isinstance(loc[-1], int)
    expected, fix = _EXPECTED.get(".".join(named[-2:]), _EXPECTED.get(named[-1], _TEXT))
    if inner and named[-1] == "steps":
        expected, fix = "a step", 'Write {"node_id": "STEM:NUMBER"}.'
    elif inner and (named[-1] != "required_contradiction_pairs" or loc[-2] != named[-1]):
        expected, fix = _TEXT
    return f"expected {expected}, found {_shown(given)}", fix


def _shown(value: Any) -> str:
    return "null" if value is None else reprlib.repr(value)


def _name_of(raw: Any) -> str:
    case_id = raw.get("case_id") if isinstance(raw, dict) else None
    return case_id.strip() if isinstance(case_id, str) else ""


# ------------------------------------------------------------------------------------- the rules


def _doubled(cases: dict[int, CaseRecord], found: FileProblems) -> None:
    first: dict[str, int | None] = {}
    for index, case in cases.items():
        if case.case_id in first:
            what = f"the case_id is on line {first[case.case_id]} already"
            found.wrong(("cases", index), ("case_id",), what, "Rename one of the two.", case.case_id)
        first.setdefault(case.case_id, found.lines.of(("cases", index, "case_id")))


def _impossible(wanted: CaseExpectation) -> Broken:
    """Yields the expectations that no memory could meet."""
    evidence = len(set(wanted.evidence_node_ids))
    if wanted.minimum_evidence_matches > evidence:
        what = f"{_shown(wanted.minimum_evidence_matches)} are needed, and {evidence} nodes are listed"
        yield ("minimum_evidence_matches",), what, f"Write at most {evidence}, or list more evidence."
    least, most = wanted.min_activation_trace_length, wanted.max_activation_trace_length
    if least is not None and most is not None and least > most:
        what = f"at least {least} steps and at most {most} cannot both be"
        yield ("max_activation_trace_length",), what, "Swap the two, or drop one."
    for at, pair in enumerate(wanted.required_contradiction_pairs or ()):
        if len(pair) != 2 or pair[0] == pair[1]:
            what = f"expected two different nodes, found {_shown(pair)}"
            yield ("required_contradiction_pairs", at), what, 'Write ["STEM:1", "STEM:2"].'


def _astray(wanted: CaseExpectation, folder: UnitFolder | None, reported: list[str]) -> Broken:
    """Yields the nodes that no document has.

    Only the first get a suggestion, because the search takes time.
    """
    if folder is not None and folder.units:
        for inner, node_id in wanted.nodes():
            if lacking := folder.absent(node_id, near=len(reported) < DataError.SHOWN):
                reported.append(node_id)
                yield (inner, *lacking)


# --------------------------------------------------------------------------------- the documents


def _documents(path: Path, content: Any, found: FileProblems) -> UnitFolder | None:
    """Reads the documents; None if the file does not name their directory.

    This also works if the rest of the header is broken, so that the nodes of cases can still be checked.
    """
    given = content if isinstance(content, dict) else {}
    directory, pack, frozen = (given.get(name) for name in _OF_DOCUMENTS)
    if not isinstance(directory, str) or not directory.strip():
        return None
    folder = read_folder(path.parent / directory.strip(), pack.strip() if isinstance(pack, str) else "")
    for problem in folder.problems:
        if problem.where == str(folder.path):
            found.wrong((), _OF_DOCUMENTS[:1], f"{problem.what}: {problem.where}", problem.fix)
        else:
            found.problems.append(problem)
    if isinstance(frozen, dict) and folder.units:
        for name, what, fix in folder.changes_since(frozen):
            found.wrong((), (_OF_DOCUMENTS[2], name), what, fix)
    return folder
