"""Open directions of operator rows: products with them, and the plans of derivatives of matrix functions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.functions import call
from einsumad.functions.general.operators import adjoint, adjoint_labels
from einsumad.graph import General, Leaf, Node, affine, einsum, leaf, leaves, topological, unit
from einsumad.rewriting import Progress, normalise
from einsumad.scipy import linalg

RNG = np.random.default_rng(0)


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


def values_for(roots: list[Node], seed: int) -> dict[Leaf, Any]:
    generator = np.random.default_rng(seed)
    found = {}
    for node in leaves(roots):
        if node.dtype == bool:
            found[node] = generator.random(node.shape) < 0.7
        else:
            matrix = len(node.shape) > 1
            found[node] = generator.normal(size=node.shape) + (2 * np.eye(*node.shape[-2:]) if matrix else 0)
    return found


def random_product(seed: int) -> Node:
    """An operator row with open directions, and other factors of any kind, under any labels: all sizes are two."""
    generator = np.random.default_rng(seed)
    whole = generator.integers
    batch, given, opened = whole(0, 2), whole(0, 2), whole(1, 3)
    if generator.random() < 0.4:
        name, given, opened = "sylvester", 1, 1
    else:
        name = "expm"
    row = call(name, *[variable(f"A{k}", *[2] * (batch + 2)) for k in range(1 + given)], params=(int(opened),))
    rank = len(row.shape)
    pool = rank + whole(0, 4)
    operands: list[Node] = [row]
    inputs = [generator.permutation(pool)[:rank] if generator.random() < 0.5 else whole(0, pool, rank)]
    for k in range(whole(0, 4)):
        axes = int(whole(1, 4))
        others = [
            unit(2, 2, float),
            affine(2, (2,), (1,), 1, float),
            variable(f"M{k}", *[2] * axes, dtype=bool),
            row,
            *[variable(f"V{k}", *[2] * axes)] * 6,
        ]
        operands.append(others[whole(0, len(others))])
        inputs.append(whole(0, pool, len(operands[-1].shape)))
    labels = sorted({int(label) for held in inputs for label in held})
    output = generator.permutation(labels)[: whole(0, 5)]
    return einsum(operands, [[*map(int, held)] for held in inputs], [*map(int, output)], 1, float)


@pytest.mark.parametrize("start", range(0, 100, 25))
def test_any_product_keeps_its_value(start: int) -> None:
    progress = Progress()
    roots = [random_product(seed) for seed in range(start, start + 25)]
    for seed, root in enumerate(roots):
        (found,) = normalise([root], progress)
        before, after = evaluate([root, found], values_for([root, found], seed))
        np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9 * np.abs(before).max(initial=1))
    assert progress.fired["apply-operator"] > 5


@pytest.mark.parametrize("name", ["expm", "logm", "sinm", "cosm"])
@pytest.mark.parametrize(("given", "opened"), [(0, 1), (1, 1), (0, 2), (1, 2)])
def test_adjoint(name: str, given: int, opened: int) -> None:
    operands = [variable(f"A{k}", 2, 2) for k in range(given + 1)]
    row = call(name, *operands, params=(opened,))
    assert isinstance(row, General)
    labels = tuple(range(len(row.shape)))
    values = {operand: 0.4 * RNG.normal(size=(2, 2)) + (k == 0) * np.eye(2) for k, operand in enumerate(operands)}
    tensor, other = evaluate([row, adjoint(row)], values)
    np.testing.assert_allclose(np.einsum(other, adjoint_labels(labels, 0), labels), tensor, rtol=1e-9, atol=1e-9)


def through_functions(a: Any) -> Any:
    return np.sum(np.sin(linalg.expm(a / 8))) + np.trace(linalg.sqrtm(a @ a.T + 1))


def through_logarithm(a: Any) -> Any:
    return np.sum(linalg.logm(a) ** 2) + np.trace(linalg.tanm(a / 8))


def through_equations(a: Any) -> Any:
    x = linalg.solve_sylvester(a, a.T, np.sin(a))
    return np.sum(linalg.solve_continuous_lyapunov(a, x) ** 2)


@pytest.mark.parametrize(
    ("f", "size"), [(through_functions, 60), (through_logarithm, 12), (through_equations, 60)], ids=["f", "log", "eq"]
)
def test_gradient_and_hessian_product_form_no_tensor_of_order_four(f: Any, size: int) -> None:
    generator = np.random.default_rng(0)
    point = generator.normal(size=(size, size)) / size + 3 * np.eye(size)
    move = generator.normal(size=(size, size)) / size
    for transform, arguments in ((ea.grad(f), (point,)), (ea.hvp(f), (point, move))):
        plan = ea.explain(transform, *arguments).plan
        assert max(prod(step.shape) for step in plan.steps) <= 4 * size**2
    step = 1e-4
    gradient = ea.grad(f)
    slope = (f(point + step * move) - f(point - step * move)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient(point) * move), slope, rtol=1e-6)
    change = (gradient(point + step * move) - gradient(point - step * move)) / (2 * step)
    np.testing.assert_allclose(ea.hvp(f)(point, move), change, rtol=0, atol=1e-5 * np.abs(change).max())


def test_directions_that_lead_are_computed_one_by_one() -> None:
    """The derivative in a vector that one row of the matrix depends on is as many directions as the vector has."""
    size = 12
    base = RNG.normal(size=(size, size)) / size
    plan = ea.explain(ea.jacobian(lambda u: linalg.expm(base + np.outer(u, base[0]))), base[1]).plan
    rows = [step for step in plan.steps if getattr(step.kernel, "function", "") == "expm"]
    assert rows
    assert all(not step.kernel.params for step in rows)
    assert max(prod(step.shape) for step in plan.steps) <= size**3


def test_what_stays_open_is_formed_once() -> None:
    """The whole Jacobian is one call of the row."""
    a = variable("a", 3, 3)
    (jacobian,) = normalise([call("expm", a, params=(1,))])
    assert sum(isinstance(node, General) for node in topological([jacobian])) == 1
