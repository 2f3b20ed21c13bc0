"""The rules of the house: layers, no cycles, no late imports, small files, functions and classes."""

import ast
import graphlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "einsumad"
MODULES = sorted(PACKAGE.rglob("*.py"))
ALL_FILES = sorted(
    path for folder in ("einsumad", "tests", "examples", "papers") for path in (ROOT / folder).rglob("*.py")
)

MOST_LINES_OF_A_FILE = 450
MOST_LINES_OF_A_FUNCTION = 50
MOST_METHODS_OF_A_CLASS = 15

# Modules that may load another one when it is first used, through importlib, each with its reason.
LAZY_LOADERS: dict[str, str] = {
    "einsumad/__init__.py": "few programs need all of its parts and importing the library has to be quick",
    "einsumad/cli/inventory.py": "it looks at SciPy's namespaces when it is asked for them",
    "einsumad/cli/targets.py": "the user names the module whose functions are checked",
    "einsumad/compressed/__init__.py": "few programs ask for derivatives in their structure",
    "einsumad/compressed/drawing.py": "matplotlib is optional and needed only when something is drawn",
    "einsumad/compressed/libraries.py": "SciPy takes long to load and few results are solved with",
    "einsumad/compressed/loading.py": "few results are solved with, and it takes a tenth of all modules",
    "einsumad/compressed/notebook.py": "few programs show themselves in a notebook",
    "einsumad/data/bundled.py": "scikit-learn takes long to load and is needed only for the data that it carries",
    "einsumad/execution/backends/loading.py": "few programs have arrays of other libraries",
    "einsumad/execution/backends/recognition.py": "what is needed for a library is loaded once an array of it is met",
    "einsumad/execution/compiled.py": "SciPy takes long to load and few plans use it",
    "einsumad/execution/lowering/__init__.py": "few plans have loops for Numba",
    "einsumad/execution/numba.py": "Numba is optional, takes long to load, and is used where it is asked for",
    "einsumad/execution/progress.py": "tqdm is optional and needed only for a bar",
    "einsumad/execution/tiles.py": "few programs have arrays that are large enough for threads",
    "einsumad/frontend/coverage/lookup.py": "the tables of reasons are long, and read for an error message only",
    "einsumad/frontend/explain.py": "few programs show themselves in a notebook",
    "einsumad/frontend/registry.py": "names are compared for an error message only",
    "einsumad/functions/catalogue.py": "names are compared for an error message only",
    "einsumad/graph/display/__init__.py": "few programs show expressions",
    "einsumad/nn/__init__.py": "scikit-learn is optional, takes long to load, and is needed only for the estimators",
    "einsumad/nn/saving/arrays.py": "safetensors is optional and needed only when something is saved or loaded",
    "einsumad/planning/files.py": "JSON takes long to load and few programs have files",
    "einsumad/planning/graph_files.py": "JSON takes long to load; the version is that of the whole package",
    "einsumad/planning/stored.py": "few programs keep plans in files",
    "einsumad/planning/machine.py": "files are first looked for by an estimate",
    "einsumad/planning/order.py": "the path search takes long to load and is first needed by a plan",
    "einsumad/functions/general/positive.py": "SciPy takes long to load and few matrices are declared positive",
    "einsumad/frontend/own/symbolic.py": "SciPy takes long to load and few expressions use it",
    "einsumad/functions/values.py": "SciPy takes long to load and few expressions use it",
    "einsumad/frontend/trees.py": "optree takes long to load and importing the library has to be quick",
    "einsumad/functions/general/matrix_kernels.py": "SciPy takes long to load and few plans use it",
    "einsumad/nn/training/bars.py": "tqdm is optional and needed only for a bar",
    "einsumad/nn/training/history.py": "matplotlib is optional and needed only when something is drawn",
    "einsumad/optim/curvature/updates/systems.py": "SciPy takes long to load and few programs solve such systems",
    "einsumad/optim/systems.py": "SciPy takes long to load and few problems hand over operators",
    "einsumad/scipy/special.py": "it hands out SciPy's own functions, and importing it may not load SciPy",
    "einsumad/testing/pytest_plugin.py": "pytest loads the plugin in every run, and few runs check derivatives",
    "einsumad/testing/systems/contract.py": "JAX, PyTorch and Autograd are optional and needed only when asked for",
}

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def late_imports(tree: ast.Module) -> list[int]:
    return [
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, FUNCTIONS | ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def loads_by_name(tree: ast.Module) -> list[int]:
    """Return the lines on which a module is imported by name: importlib.import_module or __import__."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in ("import_module", "reload"))
        or (isinstance(node, ast.Name) and node.id in ("import_module", "__import__"))
    ]


def long_functions(tree: ast.Module) -> list[str]:
    return [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    ]


def large_classes(tree: ast.Module) -> list[str]:
    """Return the classes with too many methods, dunders left out.

    Python finds an operator or a protocol (`__add__`, `__array_ufunc__`) only as a method of the class.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [item.name for item in node.body if isinstance(item, FUNCTIONS)]
            counted = {name for name in methods if not (name.startswith("__") and name.endswith("__"))}
            if len(counted) > MOST_METHODS_OF_A_CLASS:
                found.append(f"{node.name} ({len(counted)} methods)")
    return found


def test_layers(capsys: pytest.CaptureFixture[str]) -> None:
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert code == 0, capsys.readouterr().out


def test_no_import_cycle() -> None:
    graph = grimp.build_graph("einsumad", cache_dir=None, exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError with the cycle


def offenders(check: Callable[[ast.Module], Any], paths: Iterable[Path] = MODULES) -> dict[str, Any]:
    """What a check finds in the modules in which it finds something, by their names."""
    return {name_of(path): found for path in paths if (found := check(tree_of(path)))}


def test_modules_import_at_their_top() -> None:
    assert offenders(late_imports) == {}
    assert offenders(loads_by_name).keys() <= LAZY_LOADERS.keys()


def test_every_lazy_loader_is_one() -> None:
    assert [name for name in LAZY_LOADERS if not loads_by_name(tree_of(ROOT / name))] == []


def test_functions_and_classes_are_small() -> None:
    assert offenders(long_functions) == {}
    assert offenders(large_classes) == {}


def test_modules_say_what_they_own() -> None:
    assert offenders(lambda tree: not ast.get_docstring(tree)) == {}


def test_files_are_short() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in ALL_FILES}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE} == {}


def test_the_checks_themselves_find_what_they_look_for() -> None:
    lines = ["def f():", "    import os", *["    x = 1"] * 50, "import_module('os')", "class C:"]
    lines += [f"    def m{number}(self): pass" for number in range(16)]
    tree = ast.parse("\n".join([*lines, "    def __add__(self, other): pass"]))
    assert late_imports(tree) == [2]
    assert loads_by_name(tree) == [53]
    assert long_functions(tree) == ["f (52 lines)"]
    assert large_classes(tree) == ["C (16 methods)"]


def test_offenders_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(offenders.__globals__, "ROOT", tmp_path)
    (tmp_path / "good.py").write_text("import os", encoding="utf-8")
    (tmp_path / "bad.py").write_text("def f():\n    import os", encoding="utf-8")
    assert offenders(late_imports, sorted(tmp_path.iterdir())) == {"bad.py": [2]}
