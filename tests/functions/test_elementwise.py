"""Every elementwise row: value and derivatives to order three against mpmath, in both precisions."""

from __future__ import annotations

import operator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from einsumad.functions import NoDerivative, apply, elementwise_function, elementwise_names
from einsumad.graph import BOOL, Elementwise, Leaf, Node, leaves, topological
from tests.functions.evaluation import entrywise, evaluate, variable
from tests.functions.special_cases import SPECIAL_CASES, Case

PRECISION = {np.float64: (1e-11, 1e-13), np.float32: (2e-4, 2e-5)}


def round_half_even(x: Any) -> Any:
    return mp.mpf(round(float(x)))


SMOOTH = [
    Case("exp", mp.exp),
    Case("log", mp.log),
    Case("log1p", lambda x: mp.log(1 + x)),
    Case("expm1", lambda x: mp.exp(x) - 1),
    Case("exp2", lambda x: mp.power(2, x)),
    Case("log2", lambda x: mp.log(x) / mp.log(2)),
    Case("log10", lambda x: mp.log(x) / mp.log(10)),
    Case("logaddexp", lambda x, y: mp.log(mp.exp(x) + mp.exp(y))),
    Case("logaddexp2", lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y)) / mp.log(2)),
    Case("cbrt", lambda x: mp.power(x, mp.mpf(1) / 3)),
    Case("sqrt", mp.sqrt),
    Case("norm_root", mp.sqrt),
    Case("square", lambda x: x * x),
    Case("reciprocal", lambda x: 1 / x),
    *[Case("power", lambda x, p=p: mp.power(x, p), (p,)) for p in (0, 1, 2, 3, 7, -1, -2, 0.5, 1.5, -0.5, 2.7)],
    Case("power_xy", mp.power),
    *[Case("power_log", lambda x, p, k=k: x**p * mp.log(x) ** k, (k,)) for k in (1, 2, 3)],
    Case("sin", mp.sin),
    Case("cos", mp.cos),
    Case("tan", mp.tan),
    Case("arcsin", mp.asin),
    Case("arccos", mp.acos),
    Case("arctan", mp.atan),
    Case("arctan2", mp.atan2),
    Case("hypot", mp.hypot),
    Case("direction_cosine", lambda x, y: x / mp.hypot(x, y)),
    Case("sinh", mp.sinh),
    Case("cosh", mp.cosh),
    Case("tanh", mp.tanh),
    Case("arcsinh", mp.asinh),
    Case("arccosh", mp.acosh),
    Case("arctanh", mp.atanh),
    Case("weighted_exp", lambda w, x: w * mp.exp(x)),
    Case("reciprocal_expm1", lambda x: 1 / mp.expm1(x)),
    Case("sech", mp.sech),
    Case("csch", mp.csch),
    Case("log2cosh", lambda x: mp.log(2 * mp.cosh(x))),
    Case("sigmoid", lambda x: 1 / (1 + mp.exp(-x))),
    Case("softplus", lambda x: mp.log(1 + mp.exp(x))),
    Case("erf", mp.erf),
    Case("erfc", mp.erfc),
    Case("erfinv", mp.erfinv),
    Case("erfcinv", lambda x: mp.erfinv(1 - x)),
    Case("ndtr", mp.ncdf),
    Case("log_ndtr", lambda x: mp.log(mp.ncdf(x))),
    Case("ndtri", lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1)),
    Case("logit", lambda x: mp.log(x / (1 - x))),
    Case("gamma", mp.gamma),
    Case("beta", mp.beta),
    Case("betaln", lambda x, y: mp.log(mp.beta(x, y))),
    Case("xlogy", lambda x, y: x * mp.log(y)),
    Case("xlog1py", lambda x, y: x * mp.log(1 + y)),
    Case("entr", lambda x: -x * mp.log(x)),
    Case("rel_entr", lambda x, y: x * mp.log(x / y)),
    Case("kl_div", lambda x, y: x * mp.log(x / y) - x + y),
    *[Case("bessel_j", lambda x, n=n: mp.besselj(n, x), (n,)) for n in (-1, 0, 1, 2, 5)],
    *[Case("bessel_i", lambda x, n=n: mp.besseli(n, x), (n,), 2, 20) for n in (-1, 0, 1, 2, 5)],
    Case("gammaln", mp.loggamma),
    Case("digamma", lambda x: mp.psi(0, x)),
    *[Case("polygamma", lambda x, n=n: mp.psi(n, x), (n,)) for n in (0, 1, 2, 3)],
]
PIECEWISE = [
    Case("relu", lambda x: max(x, mp.mpf(0))),
    Case("abs", abs),
    Case("sign", mp.sign),
    Case("floor", mp.floor),
    Case("ceil", mp.ceil),
    Case("round", round_half_even),
    Case("round_decimals", lambda x: mp.mpf(round(10 * float(x))) / 10, (1,)),
    Case("round_decimals", lambda x: 10 * mp.mpf(round(float(x) / 10)), (-1,)),
    Case("trunc", lambda x: mp.floor(x) if x > 0 else mp.ceil(x)),
    Case("maximum", max),
    Case("minimum", min),
    Case("fmax", max),
    Case("fmin", min),
    Case("fmax_constant", max),
    Case("fmin_constant", min),
    Case("floor_divide", lambda x, y: mp.floor(x / y)),
    Case("remainder", lambda x, y: x - y * mp.floor(x / y)),
    Case("fmod", lambda x, y: x - y * (mp.floor(x / y) if x > 0 else mp.ceil(x / y))),
    Case("copysign", lambda x, y: abs(x) * mp.sign(y)),
    Case("finite_level", round_half_even),
    Case("exponent_level", lambda w, x: round_half_even(x) if w else mp.mpf("-inf")),
    Case("heaviside", lambda x, _: mp.mpf(x > 0)),
    Case("maximum_of_counted", lambda x, y, *_: max(x, y)),
    Case("minimum_of_counted", lambda x, y, *_: min(x, y)),
    Case("ldexp", lambda x, n: x * mp.power(2, int(n))),
    Case("maximum_constant", max),
    Case("minimum_constant", min),
]
TRUTH = [
    Case("greater", operator.gt),
    Case("greater_equal", operator.ge),
    Case("less", operator.lt),
    Case("less_equal", operator.le),
    Case("equal", operator.eq),
    Case("not_equal", operator.ne),
    Case("logical_and", lambda x, y: bool(x) and bool(y)),
    Case("logical_or", lambda x, y: bool(x) or bool(y)),
    Case("logical_not", operator.not_),
    Case("isnan", mp.isnan),
    Case("isfinite", mp.isfinite),
    Case("isinf", mp.isinf),
]
CASES = SMOOTH + PIECEWISE + SPECIAL_CASES


def sample(case: Case, dtype: Any) -> list[np.ndarray[Any, Any]]:
    """Points inside the row's domain, away from its ends, from integers and from ties."""
    generator = np.random.default_rng(len(case.name))
    fractions = generator.uniform(0.03, 0.97, size=(len(elementwise_function(case.name).domain), case.count))
    domain = elementwise_function(case.name).domain
    single = [
        (low + (high - low) * fraction).astype("f4") for (low, high), fraction in zip(domain, fractions, strict=True)
    ]
    return [point.astype(dtype) for point in single]  # the same in both precisions


def node_of(case: Case, dtype: Any) -> tuple[Node, list[Leaf]]:
    symbols = [variable(f"x{k}", (case.count,), dtype) for k in range(elementwise_function(case.name).arity)]
    return apply(case.name, *symbols, params=case.params), symbols


def differentiable(node: Node, symbols: list[Leaf]) -> list[int]:
    """The operands whose partials are not refused, and are not constants by the name of the row."""
    assert isinstance(node, Elementwise)
    partials = elementwise_function(node.function).partials(node)
    some = range(1 if node.function.endswith("_constant") else len(symbols))
    return [k for k in some if not isinstance(partials[k], NoDerivative)]


@cache
def exact(case: Case, orders: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The derivative of those orders in the operands at the sample, by differences in many digits."""
    function, taken = (case.oracle, 0) if case.slope is None or not sum(orders) else (case.slope, 1)
    with mp.workdps(case.digits):
        rows = []
        for row in zip(*sample(case, np.float64), strict=True):
            place = tuple(mp.mpf(float(value)) for value in row)
            point, order = (place, orders) if len(place) > 1 else (place[0], orders[0] - taken)
            rows.append(float(mp.re(mp.diff(function, point, order) if sum(orders) > taken else function(*place))))
    return np.array(rows)


def close(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], dtype: Any, error: float = 0) -> None:
    relative, absolute = (max(bound, error) for bound in PRECISION[dtype])
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=relative, atol=absolute * scale)


@pytest.mark.parametrize("dtype", PRECISION, ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", CASES + TRUTH, ids=str)
def test_value(case: Case, dtype: Any) -> None:
    node, symbols = node_of(case, dtype)
    points = sample(case, dtype)
    found = evaluate(node, dict(zip(symbols, points, strict=True)))
    assert found.dtype == (BOOL if case in TRUTH else dtype)
    close(found, exact(case, (0,) * len(points)), dtype, case.error)


@pytest.mark.parametrize("dtype", PRECISION, ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives(case: Case, dtype: Any, order: int) -> None:
    """All mixed partial derivatives of the order, taken in both directions."""
    node, symbols = node_of(case, dtype)
    values = dict(zip(symbols, sample(case, dtype), strict=True))
    for choice in combinations_with_replacement(differentiable(node, symbols), order):
        expected = exact(case, tuple(choice.count(k) for k in range(len(symbols))))
        for direction in {choice, choice[::-1]}:
            derivative = node
            for k in direction:
                derivative = entrywise(derivative, symbols[k])
            assert derivative.dtype == dtype
            close(evaluate(derivative, values), expected, dtype)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_single_precision_stays(case: Case) -> None:
    """No formula holds a float64 tensor, and numbers are coefficients, never leaves."""
    node, symbols = node_of(case, np.float32)
    for k in differentiable(node, symbols):
        derivative = entrywise(entrywise(node, symbols[k]), symbols[k])
        assert {n.dtype for n in topological([derivative])} <= {np.dtype(np.float32), BOOL}
        assert set(leaves([derivative])) <= set(symbols)


def test_every_row_has_a_case() -> None:
    assert {case.name for case in CASES + TRUTH} == set(elementwise_names())


@pytest.mark.parametrize("name", elementwise_names())
def test_row_is_complete(name: str) -> None:
    row = elementwise_function(name)
    assert row.doc.strip().endswith(".")
    assert row.symbol
    assert row.cost >= 1
    assert len(row.domain) == row.arity >= 1
    assert all(low < high for low, high in row.domain)
