"""What holds for the source as a whole: direction of imports, sizes, and no surprises at import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.core.registry import STAGES

SOURCE = Path(__file__).parents[2] / "src" / "assay"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__main__.py")

# A room imports from rooms above it in this list (or from itself), never from those below: the flow of a
# study.
ROOMS = [
    *("core", "store", "datasets", "retrieval", "systems", "measures", "stats", "judges", "gates", "study"),
    *("controls", "review", "report", "pipeline", "desk", "cli", "kinds", "studies"),
]
LEVEL = {name: level for level, name in enumerate(ROOMS)}

# Where other people's code is called, and whatever it raises is turned into an answer, a status or an error.
ANSWERABLE = {
    *("cli.main", "core.registry", "measures.score", "retrieval.embed.onnx"),
    *("pipeline.worker_pool", "pipeline.work_orders", "pipeline.response", "store.keys"),
}

KINDS = {"search", "models", "memory", "hierarchy", "answers"}
# Words of one kind each, which no module outside of `kinds/` is named after, and no field there.
WORDS_OF_KINDS = {"panel", "rubric", "tree", "router", "graph", "anchor", "sql"}
# In another sense than that of a kind's name: JSON and HTML that others write, and a verb.
SAME_WORD = {
    *("cli.stored", "retrieval.chunk_markup"),
    *("systems.http_reading", "systems.imported", "systems.retrievers"),
}


class Import(NamedTuple):
    """One import of a module of the package."""

    name: str
    typing_only: bool


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def layer_of(module: str) -> str:
    return module.partition(".")[0]


def package_of(module: str) -> str:
    """The folder of a module; of a name that is a folder's, that folder."""
    return module if f"{module}.__init__" in source() else module.rpartition(".")[0]


def kind_of(module: str) -> str:
    return module.split(".")[1]


@cache
def text_of(path: Path) -> str:
    return path.read_text()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


Source = dict[str, ast.Module]  # by the name of the module


@cache
def source() -> Source:
    return {name_of(path): tree_of(path) for path in MODULES}


def planted(module: str, code: str) -> Source:
    """The source with some lines more at the end of one module."""
    tree = source()[module]
    more = ast.parse(code).body
    return {**source(), module: ast.Module(body=[*tree.body, *more], type_ignores=[])}


@cache
def imports(tree: ast.Module) -> tuple[Import, ...]:
    """The modules of the package that a module imports, wherever in it."""
    return tuple(_imports(tree))


def _imports(tree: ast.Module) -> Iterator[Import]:
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "assay":
            base = (node.module or "").removeprefix("assay").removeprefix(".")
            for each in [base] if base else [alias.name for alias in node.names]:
                yield Import(each, node in typing_only)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("assay."):
                    yield Import(alias.name.removeprefix("assay."), node in typing_only)


def outside_kinds(modules: Source) -> Iterator[tuple[str, ast.Module]]:
    """Everything but kinds and `assay/__init__`, which names what is public."""
    for name, tree in modules.items():
        if layer_of(name) not in {"kinds", "studies", "__init__"}:
            yield name, tree


# --------------------------------------------------------------------------- direction of imports


def test_every_module_has_a_room() -> None:
    found = {layer_of(name) for name in source()} - {"__init__"}
    assert found <= set(LEVEL), f"give {sorted(found - set(LEVEL))} a place in ROOMS"


def backward_imports(modules: Source) -> list[str]:
    """Imports of rooms that come later; those for the type checker may, and only one way."""
    return [
        f"{name} imports assay.{each.name}, which comes later"
        for name, tree in modules.items()
        if (layer := layer_of(name)) != "__init__"
        for each in imports(tree)
        if not each.typing_only and LEVEL.get(layer_of(each.name), 0) > LEVEL[layer]
    ]


def mutual_imports(modules: Source, folder_of: Callable[[str], str]) -> list[str]:
    """Pairs of folders that import each other, if only for the type checker; one in the other is no pair."""
    pairs = {
        (one, other)
        for name, tree in modules.items()
        for each in imports(tree)
        for one, other in [(folder_of(name), folder_of(each.name))]
        if one != other and not one.startswith(f"{other}.") and not other.startswith(f"{one}.")
    }
    return sorted(f"{one} and {other}" for one, other in pairs if one < other and (other, one) in pairs)


def test_imports_run_one_way() -> None:
    assert backward_imports(source()) == []
    assert mutual_imports(source(), layer_of) == []
    assert mutual_imports(source(), package_of) == []


def test_a_planted_import_of_a_later_room_is_found() -> None:
    line = "from assay.pipeline.evaluation import Evaluation"
    assert backward_imports(planted("stats.resample", line)) != []
    assert backward_imports(planted("stats.resample", f"def ask() -> None:\n    {line}")) != []
    for_types = planted("stats.resample", f"if TYPE_CHECKING:\n    {line}")
    assert backward_imports(for_types) == []
    assert mutual_imports(for_types, layer_of) != []
    within_a_kind = planted(
        "kinds.answers.scoring.rubric", "from assay.kinds.answers.leaks.search import leaks"
    )
    assert mutual_imports(within_a_kind, package_of) != []


# --------------------------------------------------------------------------------- core and kinds


def imports_of_kinds(modules: Source) -> list[str]:
    """Modules outside of `kinds/` that import from it, or name a module of it in a text."""
    found = [
        f"{name} imports assay.{each.name}"
        for name, tree in outside_kinds(modules)
        for each in imports(tree)
        if layer_of(each.name) == "kinds"
    ]
    for name, tree in outside_kinds(modules):
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
        named = [node for node in texts if re.match(r"assay\.kinds\.\w", str(node.value))]
        found += [f"{name}, line {node.lineno}, names {node.value}" for node in named]
    return found


def comparisons_with_kinds(modules: Source) -> list[str]:
    """Places outside of `kinds/` that name a kind, so that something may depend on it."""
    found = []
    for name, tree in outside_kinds(modules):
        if name in SAME_WORD:
            continue
        named = {node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in KINDS}
        found += [f"{name}, line {node.lineno}, names the kind {node.value}" for node in named]
    return found


def test_nothing_outside_of_kinds_knows_one() -> None:
    assert imports_of_kinds(source()) == []
    assert comparisons_with_kinds(source()) == []


def test_the_same_word_still_has_another_sense() -> None:
    for name in SAME_WORD:
        assert any(word in ast.unparse(source()[name]) for word in KINDS)


@pytest.mark.parametrize(
    "code",
    [
        "from assay.kinds.answers.panel import Panel",
        "def f(judge):\n    from assay.kinds.answers.panel import Panel\n    return isinstance(judge, Panel)",
        "if TYPE_CHECKING:\n    from assay.kinds.answers.panel import Panel",
        "import assay.kinds.memory.measures.expectations",
        "panel = import_module('assay.kinds.answers.panel')",
    ],
)
def test_a_planted_import_of_a_kind_is_found(code: str) -> None:
    assert imports_of_kinds(planted("pipeline.evaluate", code)) != []


@pytest.mark.parametrize(
    "code",
    [
        "kind = study.file.kind\nif kind == 'answers':\n    raise UsageError('not here')",
        "if study.file.kind in {'answers', 'memory'}:\n    pass",
        "match study.file.kind:\n    case 'hierarchy':\n        pass",
        "worded = {'models': 1}[study.file.kind]",
        "found = study.file.kind.startswith('memory')",
    ],
)
def test_a_planted_comparison_with_the_name_of_a_kind_is_found(code: str) -> None:
    assert comparisons_with_kinds(planted("pipeline.evaluate", code)) != []


def kinds_that_know_another(modules: Source) -> list[str]:
    return [
        f"{name} imports assay.{each.name}"
        for name, tree in modules.items()
        if layer_of(name) == "kinds"
        for each in imports(tree)
        if layer_of(each.name) == "kinds" and kind_of(each.name) != kind_of(name)
    ]


def test_kinds_do_not_know_each_other() -> None:
    """What two of them need is not a kind's."""
    assert kinds_that_know_another(source()) == []
    line = "from assay.kinds.search.golden.check import check_golden"
    assert kinds_that_know_another(planted("kinds.memory.datasets.cases", line)) != []


def words_of_kinds(modules: Source) -> list[str]:
    """Modules, constants, and fields of classes, that are named after what only one kind has."""
    found = []
    for name, tree in outside_kinds(modules):
        found += [name] if _parts_of(name) & WORDS_OF_KINDS else []
        for node in tree.body:
            fields = node.body if isinstance(node, ast.ClassDef) else [node]
            owner = f".{node.name}" if isinstance(node, ast.ClassDef) else ""
            for field in fields:
                targets = field.targets if isinstance(field, ast.Assign) else []
                targets = [field.target] if isinstance(field, ast.AnnAssign) else targets
                public = [each.id for each in targets if isinstance(each, ast.Name) and each.id[0] != "_"]
                found += [f"{name}{owner}.{each}" for each in public if _parts_of(each) & WORDS_OF_KINDS]
    return found


def _parts_of(name: str) -> set[str]:
    return {part.removesuffix("s") for part in re.split(r"\W|_", name.lower())}


def test_nothing_outside_of_kinds_is_named_after_what_one_has() -> None:
    assert words_of_kinds(source()) == []
    assert words_of_kinds(planted("core.results", "class Found:\n    route_tree: int = 0")) != []
    assert words_of_kinds(planted("core.results", "TREES = 3")) != []


def test_nothing_needs_a_generated_world() -> None:
    """`assay_worlds` is found by entry points, as anybody's plugins are."""
    found = [
        name_of(path)
        for path in MODULES
        if re.search(r"^\s*(from|import) assay_worlds", text_of(path), re.MULTILINE)
    ]
    assert [name for name in found if not name.startswith("studies.")] == []


def test_plugins_do_not_import_plugins_of_another_folder() -> None:
    """Parts aside: systems are made of them, and name them as defaults. Kinds build on the core's plugins."""
    points = [point for group in STAGES for point in entry_points(group=group)]
    plugins = {point.module.removeprefix("assay.") for point in points if point.module.startswith("assay.")}
    assert len(plugins) > 10
    found = {
        f"{plugin} imports {each.name}"
        for plugin in plugins
        for each in imports(source()[plugin])
        if each.name in plugins
        and layer_of(each.name) != layer_of(plugin) != "kinds"
        and not each.typing_only
    }
    assert not found


# ------------------------------------------------------------------------------------ every module


def test_modules_and_functions_stay_small() -> None:
    found = []
    for path in MODULES:
        if (lines := text_of(path).count("\n")) > 400:
            found.append(f"{name_of(path)} has {lines} lines")
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > 70:
                    found.append(f"{name_of(path)}.{node.name} has {length} lines")
    assert found == []


def test_nothing_is_caught_broadly() -> None:
    """Outside the places that answer for other people's code: systems, measures, plugins, model files."""
    found = []
    for path in MODULES:
        name = name_of(path)
        if name in ANSWERABLE:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                if caught in {"", "Exception", "BaseException"}:
                    found.append(f"{name}, line {node.lineno}")
    assert found == []


def test_no_assert_checks_input() -> None:
    found = [
        f"{name_of(path)}, line {node.lineno}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Assert)
    ]
    assert found == []


def test_every_module_and_public_name_says_what_it_is() -> None:
    found = []
    for path in MODULES:
        tree = tree_of(path)
        if text_of(path).strip() and not ast.get_docstring(tree):
            found.append(f"{name_of(path)} says nothing")
        public = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")
        silent = (node.name for node in public if not ast.get_docstring(node))
        found += [f"{name_of(path)}.{name} says nothing" for name in silent]
    assert found == []


def test_importing_has_no_side_effects(tmp_path: Path) -> None:
    names = [
        "assay." + name_of(path).removesuffix(".__init__")
        for path in MODULES
        if path != SOURCE / "__init__.py" and "studies" not in path.parts
    ]
    code = f"""
import importlib, os, sys, threading
written = []
def watch(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        written.append(args[0])
    elif event in {{"os.mkdir", "os.rename", "os.remove", "socket.connect", "subprocess.Popen"}}:
        written.append(f"{{event}} {{args[0]}}")
sys.dont_write_bytecode = True
sys.addaudithook(watch)
for name in {names!r}:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").startswith("assay"):
            raise
threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
sys.exit(f"wrote {{written}}, started {{threads}}" if written or threads or os.listdir() else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
