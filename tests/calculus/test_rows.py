"""Every row of the catalogue through every mode: derivatives to order three, each against differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from einsumad.calculus import Mode
from einsumad.execution.reference import evaluate
from einsumad.functions import (
    NoDerivative,
    apply,
    call,
    elementwise_function,
    elementwise_names,
    general_function,
    general_names,
)
from einsumad.functions.general.templates import slot, text_of
from einsumad.graph import BOOL, Leaf, Node, constant, leaf, multiply, ones
from tests.calculus.oracle import MODES, contract, difference, tower
from tests.functions.special_params import SPECIAL_PARAMS

Params = tuple[int | float | str, ...]
PARAMS: dict[str, list[Params]] = {
    "power": [(3,), (2,), (-1,), (0.5,), (2.7,), (1,), (0,)],
    "power_log": [(1,), (2,)],
    "round_decimals": [(1,)],
    **{name: params[:1] for name, params in SPECIAL_PARAMS.items()},
    "determinant_minors": [(1,), (2,)],
    "product_of_others": [(1,), (2,)],
}


@dataclass(frozen=True)
class Case:
    name: str
    params: Params = ()
    shapes: tuple[tuple[int, ...], ...] = ((2,),)
    elementwise: bool = field(default=True)
    symmetric: bool = False

    def __str__(self) -> str:
        params = ["template" if isinstance(param, str) else param for param in self.params]
        return "-".join(map(str, (self.name, *params, *map(len, self.shapes))))

    def build(self, dtype: Any) -> tuple[Node, list[Leaf], dict[Leaf, Any]]:
        """The function of leaves, the leaves, and values inside its domain and away from kinks and ties."""
        sources = [leaf(shape, dtype, ("variable", f"x{k}"), f"x{k}") for k, shape in enumerate(self.shapes)]
        generator = np.random.default_rng(len(self.name))
        values = {source: self.value(k, source, generator) for k, source in enumerate(sources)}
        operands: list[Node] = list(sources)
        make = apply if self.elementwise else call
        if self.name.endswith("_constant"):
            operands[1] = constant(0.25, self.shapes[1], dtype)
            sources = sources[:1]
            values = {sources[0]: values[sources[0]]}
        elif self.elementwise:  # what has no derivative is left out, and stays a constant with a value
            partials = elementwise_function(self.name).partials(make(self.name, *operands, params=self.params))
            sources = [s for s, partial in zip(sources, partials, strict=True) if not isinstance(partial, NoDerivative)]
        if self.symmetric:
            operands[:1] = [call("mirrored", operands[0], params=(0,))]
        return make(self.name, *operands, params=self.params), sources, values

    def allowed(self, entries: Any) -> Any:
        """The symmetric part for functions of symmetric matrices; parameters stay what they are."""
        matrices = self.symmetric and entries.shape == self.shapes[0]
        return (entries + np.swapaxes(entries, -1, -2)) / 2 if matrices else entries

    def value(self, position: int, source: Leaf, generator: np.random.Generator) -> Any:
        if not self.elementwise:
            entries = generator.uniform(-1, 1, source.shape)
            square = len(source.shape) > 1 and source.shape[-1] == source.shape[-2]
            entries = self.allowed(entries) if square else entries
            if self.name in FACTORISATIONS:
                entries = 0.2 * self.allowed(entries) + np.eye(*source.shape[-2:]) * (2 + np.arange(source.shape[-1]))
                square = False
            return np.asarray(entries + (2 * np.eye(source.shape[-1]) if square else 0), source.dtype)
        low, high = elementwise_function(self.name).domain[position]
        fraction = np.array([[0.13, 0.71], [0.37, 0.42], [0.61, 0.55], [0.48, 0.29]][position])
        return np.asarray(low + (high - low) * fraction, source.dtype)


def elementwise_cases() -> list[Case]:
    cases = []
    for name in elementwise_names():
        arity = elementwise_function(name).arity
        node = apply(name, *[ones((), float)] * arity, params=PARAMS.get(name, [()])[0])
        if node.dtype != BOOL:
            cases.extend(Case(name, params, ((2,),) * arity) for params in PARAMS.get(name, [()]))
    return cases


WITHOUT_DERIVATIVE = {
    "one_if_symmetric",
    "svd_left_full",
    "svd_right_full",
    "eigh_packed",
    "eigh_alone",
    "svd_alone",
    "svd_packed",
    "qr_packed",
    "lu_with_pivots",
    "one_if_pivots",
    "gaps",
    "singular_gaps",
    "inverse_values",
    "equal_shares",
}
FACTORISATIONS = {
    "mirrored": (0,),
    "cholesky": (),
    "eigh_values": (0,),
    "eigh_vectors": (0,),
    "svd_values": (),
    "svd_left": (),
    "svd_right": (),
    "eigenprojections": (0, 0, 1, 2),
    "reduced_resolvents": (0, 0, 1, 2, 1, 1),
    "singular_projections": (1, 0, 1, 2),
    "singular_resolvents": (1, 0, 1, 2, 1, 1),
    "qr_orthogonal": (),
    "qr_triangular": (),
    "lu": (),
    "pinv": (1e-10,),
    "unreached": (1e-10, 0),
}
LARGE = {
    "eigh_vectors",
    "eigenprojections",
    "reduced_resolvents",
    "singular_projections",
    "singular_resolvents",
    "svd_left",
    "svd_right",
    "qr_orthogonal",
    "qr_triangular",
    "pinv",
    "spectral_logsumexp",
    "singular_map",
    "singular_square",
    "riccati",
}
AUGMENTED = {"singular_map", "singular_square", "riccati"}
"""Rows of many operands or of matrices twice as large: the reference has no room for their third derivatives."""
LARGE |= AUGMENTED
"""Rows with many terms: third derivatives of single matrices in double precision are enough."""
SYMMETRIC = {"mirrored", "cholesky", "eigh_values", "eigh_vectors", "eigenprojections", "reduced_resolvents"}
X, P = slot(0), slot(1)
TEMPLATE = text_of(apply("exp", multiply(X, P)))
SPECTRAL = {
    "spectral_sum": (0, TEMPLATE),
    "spectral_logsumexp": (0, TEMPLATE),
    "spectral": (0, 0, TEMPLATE),
    "divided_differences": (1, TEMPLATE),
    "singular_sum": (TEMPLATE,),
    "singular_map": (TEMPLATE,),
    "singular_square": (0, TEMPLATE),
}


def factorisation(name: str, *shape: int) -> Case:
    return Case(name, FACTORISATIONS[name], (shape,), False, name in SYMMETRIC)


def spectral(name: str, *batch: int) -> Case:
    first = (*batch, 2) if name == "divided_differences" else (*batch, 2, 2)
    return Case(name, SPECTRAL[name], (first, (*batch, 1)), False, name.startswith("spectral"))


MATRIX = ("inverse", "determinant", "sign_determinant", "logabsdet", "logdet")
FUNCTIONS = ("expm", "logm", "sinm", "cosm", "sqrtm", "signm")
EQUATIONS = [
    Case("inverse_triangular", (1, 0), ((2, 2),), False),
    Case("solve_triangular", (0, 0), ((2, 2), (2, 1)), False),
    Case("sylvester", (), ((2, 2), (1, 1), (2, 1)), False),
    Case("riccati", (1, 1), ((2, 2),) * 4, False),
]
REDUCTIONS = ("product", "max_reduce", "min_reduce", "fmax_reduce", "fmin_reduce", "logsumexp", "log_softmax")
GENERAL = [
    *[Case(name, (), ((2, 2),), False) for name in MATRIX],
    *[Case("determinant_minors", params, ((3, 3),), False) for params in PARAMS["determinant_minors"][:1]],
    Case("solve", (), ((2, 2), (2, 1)), False),
    *[Case(name, (), ((2, 2),), False) for name in FUNCTIONS],
    *EQUATIONS,
    *[Case("declared", (fact,), ((2, 2),), False) for fact in ("symmetric", "diagonal")],
    *[Case(name, (), ((3,),), False) for name in REDUCTIONS],
    *[Case("product_of_others", params, ((3,),), False) for params in PARAMS["product_of_others"]],
    Case("sort", (), ((3,),), False),
    Case("partition", (1,), ((3,),), False),
    Case("tie_count", (), ((3,),), False),
    *[factorisation(name, 2, 2) for name in FACTORISATIONS],
    *[spectral(name) for name in SPECTRAL],
    Case("triangle_weights", (1, 0.5, 0), ((2, 2),), False),
]
BATCHED = [
    *[Case(name, (), ((2, 2, 2),), False) for name in MATRIX],
    Case("determinant_minors", (1,), ((2, 2, 2),), False),
    Case("solve", (), ((2, 2, 2), (2, 2, 2)), False),
    *[Case(name, (), ((2, 2, 2),), False) for name in FUNCTIONS],
    *[Case(case.name, case.params, tuple([(2, *shape) for shape in case.shapes]), False) for case in EQUATIONS],
    Case("declared", ("symmetric",), ((2, 2, 2),), False),
    *[Case(name, (), ((2, 3),), False) for name in REDUCTIONS],
    Case("product_of_others", (1,), ((2, 3),), False),
    Case("sort", (), ((2, 3),), False),
    Case("partition", (0, 1), ((2, 3),), False),
    Case("tie_count", (), ((2, 3),), False),
    *[factorisation(name, 2, 2, 2) for name in FACTORISATIONS],
    *[spectral(name, 2) for name in SPECTRAL],
    Case("triangle_weights", (1, 0.5, 0), ((2, 2, 2),), False),
]
ELEMENTWISE = elementwise_cases()


def order_of(case: Case) -> int:
    """Third derivatives, but second ones of the functions whose third ones have many terms or large tensors."""
    return 2 if case.name in (*AUGMENTED, "beta_density", "binom", "poch") else 3


def test_every_row_has_a_case() -> None:
    truth = {
        name
        for name in elementwise_names()
        if apply(name, *[ones((), float)] * elementwise_function(name).arity, params=(1,)).dtype == BOOL
    }
    assert {case.name for case in ELEMENTWISE} == set(elementwise_names()) - truth
    indices = {name for name in general_names() if general_function(name).gives_index}
    assert (
        {case.name for case in GENERAL}
        == {case.name for case in BATCHED}
        == set(general_names()) - indices - WITHOUT_DERIVATIVE
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", [*ELEMENTWISE, *GENERAL], ids=str)
def test_derivatives_to_third_order(case: Case, mode: Mode) -> None:
    check(case, mode, order_of(case))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", BATCHED, ids=str)
def test_derivatives_of_batches_to_third_order(case: Case, mode: Mode) -> None:
    check(case, mode, 1 if case.name in AUGMENTED else 2 if case.name in LARGE else 3)


def check(case: Case, mode: Mode, order: int) -> None:
    root, sources, values = case.build(np.float64)
    generator = np.random.default_rng(1)
    directions = {source: case.allowed(generator.uniform(-0.1, 0.1, source.shape)) for source in sources}
    levels = tower(root, sources, mode, order, seed=order)
    for lower, upper in pairwise(levels):
        estimates = difference(list(lower.values()), values, directions, 0.02)
        tensors = dict(zip(upper, evaluate(list(upper.values()), values), strict=True))
        for which, estimate in zip(lower, estimates, strict=True):
            found = sum(contract(tensors[(*which, s)], [directions[s]]) for s in sources)
            scale = max(1.0, float(np.max(np.abs(estimate), initial=0)))
            np.testing.assert_allclose(found, estimate, rtol=0, atol=2e-6 * scale)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", [*ELEMENTWISE, *GENERAL], ids=str)
def test_single_precision_agrees_with_double(case: Case, mode: Mode) -> None:
    """Third order in forward mode: the other modes have the same third derivatives in double precision."""
    order = 1 if case.name in LARGE else order_of(case) if mode == "forward" else 2
    single, sources, values = case.build(np.float32)
    double, others, exact_values = case.build(np.float64)
    wide = {other: value.astype(float) for other, value in zip(exact_values, values.values(), strict=True)}
    for narrow, exact in zip(tower(single, sources, mode, order), tower(double, others, mode, order), strict=True):
        found = evaluate(list(narrow.values()), values)
        expected = evaluate(list(exact.values()), wide)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=0, atol=2e-4 * max(1.0, float(np.max(np.abs(b), initial=0))))
