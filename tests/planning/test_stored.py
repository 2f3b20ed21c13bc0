"""Derivations and plans in files: the same in every process, and nothing that a file says is believed unchecked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import einsumad as ea
from einsumad.frontend import cache
from einsumad.graph import structural_key, topological
from einsumad.planning import Machine, set_machine
from einsumad.planning.files import write_json
from einsumad.planning.graph_files import graph_of, table_of
from einsumad.planning.machine import DEFAULT
from einsumad.planning.stored import folder_in_force
from tests.planning.products import products

pytestmark = pytest.mark.whole_planner  # nothing is kept without sharing, and options are set here

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(8, 3)), np.sign(RNG.normal(size=8))
INDEX = np.array([0, 2, 2, 1])
MATRIX = RNG.normal(size=(3, 3))


def logistic(w):
    return np.sum(np.log(np.exp(-Y * (X @ w)) + 1))


FUNCTIONS = {
    "logistic": (logistic, RNG.normal(size=3)),
    "layers": (lambda w: np.sum(np.tanh(np.tanh(X @ w) @ MATRIX) ** 2), MATRIX),
    "rectified": (lambda w: np.sum(np.maximum(np.maximum(X @ w, 0) @ MATRIX, 0) ** 2), MATRIX),
    "gather": (lambda x: np.sum(np.sin(x[INDEX]) * x[[2, 0, 1, 1]]), RNG.normal(size=3)),
    "windows": (lambda x: np.sum(np.convolve(x, x[:2]) ** 2) + np.sum(np.pad(x, 2)[1:-1] ** 3), RNG.normal(size=5)),
    "determinant": (lambda a: np.log(np.linalg.det(a @ a.T + np.eye(3))), MATRIX),
    "singular values": (lambda a: np.sum(np.linalg.svd(a, compute_uv=False)[:2] ** 3), MATRIX),
    "sorted": (lambda x: np.sum(np.sort(x)[:2] ** 3), RNG.normal(size=4)),
    "powers": (lambda x: np.sum(x**2.5 + np.clip(x, 0.25, 1e300)), RNG.random(4) + 0.5),
    "single precision": (lambda x: np.sum(np.exp(x) * np.float32(1.1)), RNG.random(3).astype(np.float32)),
    "constant": (lambda x: np.sum(x) * 0 + 3.0, RNG.random(3)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in force, and nothing derived before."""
    monkeypatch.delenv("EINSUMAD_PLAN_CACHE", raising=False)
    cache.clear()
    with ea.plan_cache(tmp_path):
        yield tmp_path
    cache.clear()


def forgotten(call: Any, *args: Any) -> tuple[Any, int]:
    """The result as a new process would find it, and how many graphs were read from files for it."""
    cache.clear()
    before = ea.statistics().loaded
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(*args)
    return result, ea.statistics().loaded - before


def same_bits(found: Any, expected: Any) -> None:
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


@given(products())
def test_tables_give_the_same_nodes(case):
    roots = (case.node,)
    _, leaves = structural_key(roots)
    table = json.loads(json.dumps(table_of(roots, leaves)))
    (found,) = graph_of(table, leaves)
    assert found is case.node


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_read_is_what_was_made(name):
    f, x = FUNCTIONS[name]
    for transform in (ea.value_and_grad(f), ea.hessian(f), ea.compile(ea.hessian(f)), ea.derivative(f, order=3)):
        expected, _ = forgotten(transform, x)
        if isinstance(transform, ea.Compiled):
            transform = ea.compile(transform.function)  # noqa: PLW2901 - without its programs
        found, read = forgotten(transform, x)
        assert read > 0
        for ours, theirs in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True):
            same_bits(ours, theirs)


@pytest.mark.parametrize("name", ["logistic", "layers", "windows", "determinant"])
def test_explanations_are_the_same(name):
    f, x = FUNCTIONS[name]
    texts = []
    for _ in range(2):
        explanation, read = forgotten(lambda: ea.explain(ea.hessian(f), x))
        texts.append(str(explanation))
    assert read == 2
    with ea.plan_cache(None):
        assert {str(forgotten(lambda: ea.explain(ea.hessian(f), x))[0]), *texts} == {texts[0]}


def test_structure_products_and_symbols_too():
    f, x = FUNCTIONS["layers"]
    w = ea.variable("w", x.shape)

    def all_of() -> list[Any]:
        hessian = ea.hessian(f, compressed=True)(x)
        second = ea.diff(f(w), w, w)
        return [
            hessian.dense(),
            ea.hvp(f)(x, x),
            ea.gauss_newton(lambda w: np.tanh(X @ w))(x),
            ea.evaluate(second, {w: x}),
        ]

    expected, _ = forgotten(all_of)
    found, read = forgotten(all_of)
    assert read > 4
    for ours, theirs in zip(found, expected, strict=True):
        same_bits(ours, theirs)


def test_names_of_arrays_do_not_matter(folder):
    a = np.ones((4, 4))
    forgotten(ea.hessian(lambda first: np.sum((a @ first) ** 3)), np.ones(4))
    count = len(list(folder.iterdir()))
    _, read = forgotten(ea.hessian(lambda other: np.sum((a @ other) ** 3)), np.ones(4))
    assert (read, len(list(folder.iterdir()))) == (2, count)


def test_options_machine_and_request_have_files_of_their_own():
    f, x = FUNCTIONS["layers"]
    forgotten(ea.hessian(f), x)
    for change in (
        lambda: forgotten(ea.hvp(f), x, x),
        lambda: forgotten(ea.hessian(f), x.astype(np.float32)),
        lambda: forgotten(ea.hessian(lambda w: f(w) * np.sum(w)), x),
    ):
        assert change()[1] == 0
    with ea.planner_options(factoring=False):
        assert forgotten(ea.hessian(f), x)[1] == 0
    try:
        set_machine(Machine(seconds_per_call=1e-3, name="slow"))
        assert forgotten(ea.hessian(f), x)[1] == 0
    finally:
        set_machine(DEFAULT)
    assert forgotten(ea.hessian(f), x)[1] == 2


def test_nothing_is_kept_without_sharing(folder):
    """Equal parts would be one again in a file."""
    with ea.planner_options(sharing=False):
        forgotten(ea.hessian(FUNCTIONS["layers"][0]), MATRIX)
    assert list(folder.iterdir()) == []


def test_functions_of_users_are_not_kept(folder):
    """What is left of them in a plan is; a rule that is another one gives another plan."""
    x = np.array([1.0, 2.0])
    for factor in (3, 5):
        cube = ea.custom_function(lambda x: x**3, pull=lambda p, _, g, k=factor: (g * k * p[0] ** 2,))
        for _ in range(2):
            found, _ = forgotten(ea.grad(lambda x: np.sum(cube(x))), x)  # noqa: B023 - called at once
            np.testing.assert_allclose(found, factor * x**2)
            forgotten(ea.value_and_grad(lambda x: np.sum(cube(x))), x)  # noqa: B023 - called at once
    assert list(folder.glob("derivation-*.json")) == []
    assert "#" not in "".join([path.read_text() for path in folder.iterdir()])


def test_functions_with_programs_as_parameters_are_not_kept(folder):
    """A sum of a function of the eigenvalues has that function as a text, which nobody should read from a file."""
    hessian = ea.hessian(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a + a.T))))
    expected, _ = forgotten(hessian, MATRIX)
    found, _ = forgotten(hessian, MATRIX)
    same_bits(found, expected)
    assert list(folder.glob("derivation-*.json")) == []


def files_of(folder: Path) -> tuple[Path, Path]:
    f, x = FUNCTIONS["layers"]
    forgotten(ea.hessian(f), x)
    (derivation,), (plan,) = folder.glob("derivation-*.json"), folder.glob("plan-*.json")
    return derivation, plan


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], ""),
        (lambda _: "", ""),
        (lambda _: "[]", "another function"),
        (lambda _: "[" * 100_000, "nested"),
        (lambda text: text.replace('"format":1', '"format":2'), "another function, version"),
        (lambda text: text.replace(ea.__version__, "9.9"), "another function, version"),
        (lambda text: text.replace("tanh", "cosh"), "changed"),
        (lambda text: text.replace('"digest":"', '"digest":"0'), "changed"),
    ],
)
def test_damaged_and_foreign_files_are_made_anew(folder, which, damage, reason):
    f, x = FUNCTIONS["layers"]
    path = files_of(folder)[which]
    text = path.read_text()
    path.write_text(damage(text))
    cache.clear()
    with pytest.warns(UserWarning, match="is not used, and written anew") as met:
        ea.hessian(f)(x)
    assert str(path) in str(met[0].message)
    assert reason in str(met[0].message)
    assert path.read_text() == text
    assert forgotten(ea.hessian(f), x)[1] == 2


LEAVES = structural_key([ea.variable("x", (3, 3)).node, ea.variable("y", (3,)).node])[1]
LEAF = ["Leaf", [3, 3], "<f8", [], 0]


@pytest.mark.parametrize(
    "record",
    [
        ["Elementwise", [3, 3], "<f8", [0], "__import__('os')", []],
        ["Elementwise", [3, 3], "<f8", [0], "power", ["1); __import__('os').abort(), (1"]],
        ["Elementwise", [3, 3], "<f8", [0], "tanh", [[1, "x"]]],
        ["Elementwise", [3, 3], "<f8", [0], ["tanh"], []],
        ["Elementwise", [3, 3], "<f8", [0, 0], "tanh", []],
        ["Elementwise", [3, 3], "<f4", [0], "tanh", []],
        ["General", [3, 3], "<f8", [0], "mine#1", []],
        ["General", [3, 3], "<f8", [0], "inv'", []],
        ["General", [2, 2], "<f8", [0], "inverse", []],
        ["General", [3, 3], "<f8", [0], "inverse", ["'); abort('"]],
        ["General", [3, 3], "|O8", [0], "inverse", []],
        ["Einsum", [3, 3], "<f8", [0], 1, [[0, 1], [0]]],
        ["Einsum", [3, 3], "<f8", [0], "1", [[0, 1]]],
        ["Einsum", [3, 3], "<f8", [0], True, [[0, 1]]],
        ["Einsum", [3, 3], "<f8", [0], 1, [[0, -1]]],
        ["Einsum", [3, 3], "<f8", [0], 1, [[0, 1.0]]],
        ["Einsum", [3, 4], "<f8", [0], 1, [[0, 1]]],
        ["Einsum", [3, 3], "<f8", [1], 1, [[0, 1]]],
        ["Einsum", [3, 3], "<f8", [-1], 1, [[0, 1]]],
        ["Einsum", [3, 3], "<f8", [False], 1, [[0, 1]]],
        ["Einsum", [3, 3], "<M8[s]", [0], 1, [[0, 1]]],
        ["Affine", [3, 3], "<f8", [], [1, 1], 0],
        ["Affine", [3, 3], "<f8", [], [1.5], 0],
        ["Selection", [3, 3, 3], "<f8", [0]],
        ["Unit", [3], "<f8", []],
        ["Ones", [-1], "<f8", []],
        ["Ones", [2**60], "<f8", []],
        ["Leaf", [3, 3], "<f8", [], 7],
        ["Leaf", [2, 3], "<f8", [], 0],
        ["Leaf", [3, 3], "<f8", [], "0"],
        ["Add", [3, 3], "<f8", []],
        ["Node", [3, 3], "<f8", [0]],
        ["Einsum"],
        "Einsum",
        None,
    ],
)
def test_no_record_is_believed(record):
    with pytest.raises((ValueError, TypeError, IndexError, ea.EinsumadError)):
        graph_of({"nodes": [LEAF, record], "roots": [1]}, LEAVES)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda body: body["graph"].update(roots=[0]), "other outputs"),
        (lambda body: body["graph"].update(roots=[99]), "whole number"),
        (lambda body: body.update(graph=None), "no table"),
        (lambda body: body["graph"]["nodes"][-1].append(5), ""),
    ],
)
def test_a_plan_whose_digest_fits_is_checked_all_the_same(folder, change, reason):
    from einsumad.planning.graph_files import _digest  # noqa: PLC0415 - to forge one

    _, path = files_of(folder)
    content = json.loads(path.read_text())
    body = {name: content[name] for name in ("graph", "notes")}
    change(body)
    path.write_text(json.dumps({"key": content["key"], "digest": _digest(body), **body}))
    cache.clear()
    f, x = FUNCTIONS["layers"]
    with pytest.warns(UserWarning, match="is not used") as met:
        ea.hessian(f)(x)
    assert reason in str(met[0].message)


@pytest.mark.parametrize("notes", [None, [["backward", []]], [["forward", [["forward", "many"]]]], [1], [[1, 2, 3]]])
def test_notes_are_checked(folder, notes):
    from einsumad.planning.graph_files import _digest  # noqa: PLC0415 - to forge one

    path, _ = files_of(folder)
    content = json.loads(path.read_text())
    body = {"graph": content["graph"], "notes": notes}
    path.write_text(json.dumps({"key": content["key"], "digest": _digest(body), **body}))
    cache.clear()
    f, x = FUNCTIONS["layers"]
    with pytest.warns(UserWarning, match="is not used"):
        ea.hessian(f)(x)


@pytest.mark.parametrize("name", ["file", "a" * 300, "a\0b"])
def test_a_folder_that_cannot_be_written_to(tmp_path, name):
    """Or looked into, as one that is closed to this user, or one that no folder can be called."""
    (tmp_path / "file").write_text("")
    f, x = FUNCTIONS["logistic"]
    cache.clear()
    with ea.plan_cache(tmp_path / name), pytest.warns(UserWarning, match="nothing is kept in"):
        found = ea.hessian(f)(x)
    assert found.shape == (3, 3)


def test_a_write_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json(tmp_path / "some.json", {})
    assert not list(tmp_path.iterdir())


def test_the_folder_in_force(tmp_path, monkeypatch):
    with ea.plan_cache(None):
        assert folder_in_force() is None
        with ea.plan_cache("elsewhere"):
            assert folder_in_force() == "elsewhere"
        assert folder_in_force() is None
    assert folder_in_force() == str(tmp_path)
    met = []
    monkeypatch.setenv("EINSUMAD_PLAN_CACHE", "named")
    thread = threading.Thread(target=lambda: met.append(folder_in_force()))
    thread.start()
    thread.join()
    assert met == ["named"]
    with pytest.raises(TypeError):
        ea.plan_cache(3)
    with pytest.raises(TypeError, match="path of a folder"):
        ea.plan_cache(b"bytes")


PROGRAM = """
import numpy as np, einsumad as ea
x = np.linspace(0.1, 1, 9).reshape(3, 3)
def f(w):
    return np.sum(np.tanh(np.tanh(x @ w) @ x) ** 2)
H = ea.compile(ea.hessian(f))(x)
print(ea.statistics().loaded, H.tobytes().hex())
print(ea.explain(ea.hessian(f), x))
"""


def test_processes_share_a_folder(tmp_path):
    """Four at the same time, then one: no file is ever half written, and all print the same."""
    shared = tmp_path / "shared"
    env = {**os.environ, "EINSUMAD_PLAN_CACHE": str(shared)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    runs = [
        subprocess.Popen(command, env={**env, "PYTHONHASHSEED": str(k)}, stdout=subprocess.PIPE, text=True)
        for k in range(4)
    ]
    texts = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    texts.append(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout)
    loaded, last = texts[-1].split(" ", 1)
    assert int(loaded) >= 2
    assert {text.split(" ", 1)[1] for text in texts} == {last}
    assert {path.suffix for path in shared.iterdir()} == {".json"}


def test_files_hold_no_values(folder):
    secret = np.full(3, 0.123456789)
    forgotten(ea.hessian(lambda w: np.sum((X @ (w * secret)) ** 3)), np.ones(3))
    text = "".join([path.read_text() for path in folder.iterdir()])
    assert "0.12345" not in text
    assert "secret" not in text


def test_every_kind_of_node_is_met():
    met = set()
    for f, x in FUNCTIONS.values():
        for node in topological(ea.explain(ea.hessian(f), x).outputs):
            met.add(type(node).__name__)
    assert met >= {"Leaf", "Einsum", "Add", "Elementwise", "General", "Affine", "Selection", "Unit", "Ones"}
