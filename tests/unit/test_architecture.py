"""What holds for the source as a whole: direction of imports, sizes, and no surprises at import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from assay.core.registry import GROUPS, PARTS

SOURCE = Path(__file__).parents[2] / "src" / "assay"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__main__.py")

# A room imports from rooms above it in this list (or from itself), never from those below: the flow of a
# study.
ROOMS = [
    *("core", "store", "datasets", "retrieval", "systems", "study", "measures", "stats", "judges", "gates"),
    *("controls", "review", "report", "pipeline", "desk", "cli", "kinds", "studies"),
]
LEVEL = {name: level for level, name in enumerate(ROOMS)}

# What looks the other way, each with its reason. Nothing of `study` here is needed to import the module.
EXCEPTIONS = {
    ("study", "measures"): "an opened study holds its parsed measures; imported where first asked for",
    ("study", "gates"): "an opened study holds its parsed gates; imported where first asked for",
}

# Modules of the core that still know a kind of study by name: their part belongs into a section of the
# report, a check or a small protocol that the kind registers. The list may only get shorter.
KNOWS_A_KIND = {
    *("cli.review", "cli.review_desk", "desk.desk_work"),
}

# Where other people's code is called, and whatever it raises is turned into an answer, a status or an error.
ANSWERABLE = {
    *("cli.commands", "core.registry", "measures.score", "retrieval.embed.onnx"),
    *("pipeline.answering", "pipeline.engines", "pipeline.response", "store.keys"),
}

KINDS = {"search", "models", "memory", "hierarchy", "answers"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def layer_of(module: str) -> str:
    return module.partition(".")[0]


def kind_of(module: str) -> str:
    return module.split(".")[1]


@cache
def text_of(path: Path) -> str:
    return path.read_text()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """The modules of the package that a file imports, and whether only for the type checker."""
    return tuple(_imports(tree_of(path)))


def _imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "assay":
            base = (node.module or "").removeprefix("assay").removeprefix(".")
            found = [base] if base else [alias.name for alias in node.names]
            for each in found:
                yield each, node in typing_only
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("assay."):
                    yield alias.name.removeprefix("assay."), node in typing_only


def test_every_module_has_a_room() -> None:
    found = {layer_of(name_of(path)) for path in MODULES} - {"__init__"}
    assert found <= set(LEVEL), f"give {sorted(found - set(LEVEL))} a place in ROOMS"


def test_imports_run_one_way() -> None:
    found = [
        f"{name_of(path)} imports assay.{module}, which comes later"
        for path in MODULES
        if (layer := layer_of(name_of(path))) != "__init__"
        for module, typing_only in imports(path)
        if not typing_only and (target := layer_of(module)) in LEVEL and (layer, target) not in EXCEPTIONS
        if LEVEL[target] > LEVEL[layer] and target != "kinds"
    ]
    assert found == []


def test_the_core_learns_of_no_further_kind() -> None:
    outside = [path for path in MODULES if layer_of(name_of(path)) not in {"kinds", "studies", "__init__"}]
    knowing = {
        name_of(path)
        for path in outside
        if any(layer_of(module) == "kinds" for module, typing_only in imports(path) if not typing_only)
    }
    assert knowing == KNOWS_A_KIND


def test_kinds_do_not_know_each_other() -> None:
    """What two of them need is not a kind's."""
    found = {
        (kind_of(name_of(path)), kind_of(module), module)
        for path in MODULES
        if layer_of(name_of(path)) == "kinds"
        for module, typing_only in imports(path)
        if layer_of(module) == "kinds" and not typing_only
    }
    strangers = {module for mine, theirs, module in found if mine != theirs}
    assert strangers == {"kinds.search.datasets.golden_entry"}  # of cases: how a place in JSON is named


def test_nothing_needs_a_generated_world() -> None:
    """`assay_worlds` is found by entry points, as anybody's plugins are."""
    found = [
        name_of(path)
        for path in MODULES
        if re.search(r"^\s*(from|import) assay_worlds", text_of(path), re.MULTILINE)
    ]
    assert [name for name in found if not name.startswith("studies.")] == []


def test_exceptions_are_still_needed() -> None:
    used = {
        (layer_of(name_of(path)), layer_of(module))
        for path in MODULES
        for module, typing_only in imports(path)
        if not typing_only
    }
    assert set(EXCEPTIONS) <= used


def test_plugins_do_not_import_plugins_of_another_folder() -> None:
    """Parts aside: systems are made of them, and name them as defaults. Kinds build on the core's plugins."""
    points = [point for group in GROUPS if group not in PARTS for point in entry_points(group=group)]
    plugins = {point.module.removeprefix("assay.") for point in points if point.module.startswith("assay.")}
    assert len(plugins) > 10
    found = {
        f"{plugin} imports {module}"
        for plugin in plugins
        for module, typing_only in imports(SOURCE / (plugin.replace(".", "/") + ".py"))
        if module in plugins and layer_of(module) != layer_of(plugin) != "kinds" and not typing_only
    }
    assert not found


def test_no_kind_of_study_decides_anything() -> None:
    found = []
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Compare | ast.Match):
                continue
            parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.subject]
            if any(isinstance(part, ast.Attribute) and part.attr == "kind" for part in parts):
                words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                if words & KINDS:
                    found.append(f"{name_of(path)}: {ast.unparse(node)} asks what kind the study is")
    assert found == []


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
