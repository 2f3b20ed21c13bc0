"""Functions expanded when a plan is made: one decomposition for all its parts, and large tensors never formed."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.functions import call
from einsumad.functions.general.templates import slot, text_of
from einsumad.graph import Node, add, einsum, leaf, multiply, zero
from einsumad.planning import Plan, make_plan
from einsumad.planning.expansion import expand

LINALG: Any = np.linalg
A = leaf((4, 4), float, ("variable", "A"), "A")
B = leaf((4, 4), float, ("variable", "B"), "B")
SYMMETRIC = call("mirrored", A, params=(0,))
FOURTH = text_of(multiply(slot(0), slot(0), slot(0), slot(0)))
FIRST = call("spectral", SYMMETRIC, zero((0,), float), params=(1, 0, FOURTH))
SECOND = call("spectral", SYMMETRIC, zero((0,), float), params=(2, 0, FOURTH))


def calls(plan: Plan, name: str) -> int:
    return sum(f"= {name}(" in line for line in str(plan).splitlines())


def plan_of(f: Any, *arguments: Any) -> Plan:
    return ea.explain(f, *arguments).plan


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda a, _: LINALG.eigh(a), "eigh"),
        (lambda a, _: LINALG.svd(a), "svd"),
        (lambda a, _: LINALG.svd(a, full_matrices=False), "svd"),
        (lambda a, _: LINALG.qr(a), "qr"),
        (ea.grad(lambda a, _: LINALG.eigvalsh(a @ a.T)[0]), "eigh"),
        (ea.hvp(lambda a: np.sum(LINALG.eigh(a @ a.T)[1] ** 3)), "eigh"),
        (ea.hvp(lambda a: np.sum(LINALG.svd(a, full_matrices=False)[0] ** 3)), "svd"),
        (ea.hvp(lambda a: np.sum(np.exp(LINALG.eigvalsh(a @ a.T)))), "eigh"),
    ],
)
def test_one_decomposition(f: Any, name: str) -> None:
    a = np.random.default_rng(0).normal(size=(3, 3))
    plan = plan_of(f, a, a)
    assert calls(plan, name) == 1
    assert not any(calls(plan, other) for other in ("eigvecsh", "eigvalsh", "svdvals", "svdleft", "svdright", "qrq"))


def test_values_alone_take_no_vectors() -> None:
    for f in (LINALG.eigvalsh, lambda a: np.sum(np.exp(LINALG.eigvalsh(a))), lambda a: np.prod(LINALG.eigvalsh(a + 1))):
        assert calls(plan_of(f, np.eye(3)), "eigh") == 0
    assert calls(plan_of(LINALG.svdvals, np.eye(3)), "svd") == 0


def test_large_tensors_are_contracted_in_their_parts() -> None:
    """Products, sums of products and layouts of a derivative tensor stay as small as what they are multiplied with."""
    once = einsum([FIRST, B], [(0, 1, 2, 3), (1, 2)], (0, 3))
    twice = einsum([SECOND, B], [(0, 1, 2, 3, 4, 5), (1, 2)], (0, 3, 4, 5))
    turned = einsum([SECOND, B], [(0, 1, 2, 3, 4, 5), (3, 4)], (5, 0, 1, 2), 0.5)
    nested = einsum([add([twice, turned]), B], [(0, 1, 2, 3), (1, 2)], (0, 3))
    roots = [once, nested]
    plan = make_plan(roots, [A, B])
    assert max(prod(step.shape) for step in plan.steps) <= 4**3
    values = {leaf_: np.random.default_rng(k).normal(size=(4, 4)) for k, leaf_ in enumerate((A, B))}
    for found, wanted in zip(compile_plan(plan)(*values.values()), evaluate(roots, values), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_nothing_to_expand() -> None:
    root = multiply(A, B)
    assert expand([root]) == (root,)


def test_a_tensor_that_is_asked_for_is_formed() -> None:
    values = {A: np.random.default_rng(0).normal(size=(4, 4))}
    for root in (FIRST, add([FIRST, einsum([FIRST], [(0, 1, 2, 3)], (3, 1, 2, 0))])):
        (found,) = compile_plan(make_plan([root], [A]))(values[A])
        np.testing.assert_allclose(found, evaluate([root], values)[0], rtol=1e-11, atol=1e-11)


def test_products_with_vectors_of_spectral_functions_need_no_fourth_order() -> None:
    n = 7
    a = np.eye(n) + 0.1

    def of_matrix(a: Any) -> Any:
        w, v = LINALG.eigh(a)
        return np.sum(((v * np.sqrt(w)) @ v.T) ** 3)

    for f in (of_matrix, lambda a: np.sum(np.log(LINALG.eigvalsh(a)))):
        plan = plan_of(ea.hvp(f), a, a)
        assert max(prod(step.shape) for step in plan.steps) <= n**3
    node: Node = expand([FIRST])[0]
    assert len(node.shape) == 4
