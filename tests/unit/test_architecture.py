"""What holds for the source as a whole: direction of imports, sizes, and no surprises at import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from assay.plugins import GROUPS, PARTS

SOURCE = Path(__file__).parents[2] / "src" / "assay"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__main__.py")

# A layer imports from layers above it in this list (or from its own), never from those below: the flow of a
# study, left to right.
LAYERS = [
    ["disk", "errors", "records", "slices", "yaml_lines"],
    ["chat", "endpoint", "environment", "spec", "plugins", "protocols"],
    ["datasets"],
    ["retrieval"],
    ["suites"],
    ["systems"],
    [
        *("gates_file", "plan_file", "study", "study_file", "study_problems"),
        *("sweep_file", "sweep_parameter", "sweep_study"),
    ],
    ["run"],
    ["measures"],
    ["judges"],
    ["stats"],
    ["results", "sweep_results"],
    ["gates"],
    ["review"],
    ["report"],
    [
        "annotation",
        "baseline_diff",
        "baseline_gate",
        "baseline_limits",
        "baselines",
        "calibrating",
        "dashboard",
        "detecting",
        "fitting",
        "github_actions",
        "golden",
        "graph_view",
        "importing",
        "pipeline",
        "plan",
        "plan_results",
        "reviewing",
        "run_files",
        "sweep",
        "sweep_figures",
        "trust",
        "validate",
    ],
    ["cli"],
    ["studies"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# What looks the other way, each with its reason. Nothing here is needed to import the module.
EXCEPTIONS = {
    ("study", "measures"): "an opened study holds its parsed measures; imported where first asked for",
    ("study", "gates"): "an opened study holds its parsed gates; imported where first asked for",
    ("study_problems", "measures"): "the measures a study names are parsed to check them",
    ("study_problems", "gates"): "the clauses a study declares are parsed to check them",
}

KINDS = {"search", "models", "memory", "hierarchy", "answers"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def layer_of(module: str) -> str:
    return module.partition(".")[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


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
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            base = (node.module or "").removeprefix("assay").removeprefix(".")
            found = [base] if base else [alias.name for alias in node.names]
            for each in found:
                yield each, node in typing_only
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("assay."):
                    yield alias.name.removeprefix("assay."), node in typing_only


def test_every_module_has_a_layer() -> None:
    found = {layer_of(name_of(path)) for path in MODULES} - {"__init__"}
    assert found <= set(LEVEL), f"give {sorted(found - set(LEVEL))} a place in LAYERS"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_run_one_way(path: Path) -> None:
    layer = layer_of(name_of(path))
    if layer == "__init__":
        return
    for module, typing_only in imports(path):
        target = layer_of(module)
        if typing_only or target not in LEVEL or (layer, target) in EXCEPTIONS:
            continue
        assert LEVEL[target] <= LEVEL[layer], f"{name_of(path)} imports assay.{module}, which comes later"


def test_exceptions_are_still_needed() -> None:
    used = {
        (layer_of(name_of(path)), layer_of(module))
        for path in MODULES
        for module, typing_only in imports(path)
        if not typing_only
    }
    assert set(EXCEPTIONS) <= used


def test_plugins_do_not_import_plugins_of_another_folder() -> None:
    """Parts aside: systems are made of them, and name them as defaults."""
    points = [point for group in GROUPS if group not in PARTS for point in entry_points(group=group)]
    plugins = {point.module.removeprefix("assay.") for point in points if point.module.startswith("assay.")}
    assert len(plugins) > 10
    found = {
        f"{plugin} imports {module}"
        for plugin in plugins
        for module, typing_only in imports(SOURCE / (plugin.replace(".", "/") + ".py"))
        if module in plugins and layer_of(module) != layer_of(plugin) and not typing_only
    }
    assert not found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_kind_of_study_decides_anything(path: Path) -> None:
    tree = tree_of(path)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare | ast.Match):
            continue
        parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.subject]
        if any(isinstance(part, ast.Attribute) and part.attr == "kind" for part in parts):
            words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
            assert not words & KINDS, f"{ast.unparse(node)} asks what kind the study is"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 70, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_caught_broadly(path: Path) -> None:
    """Outside the places that answer for other people's code: systems, measures, plugins, model files."""
    name = name_of(path)
    if layer_of(name) == "run" or name in {"plugins", "measures.score", "retrieval.embed.onnx"}:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            assert caught not in {"", "Exception", "BaseException"}, f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_assert_checks_input(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_and_public_name_says_what_it_is(path: Path) -> None:
    tree = tree_of(path)
    if not path.read_text().strip():
        return
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"class {node.name} says nothing"


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
