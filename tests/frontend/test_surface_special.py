"""Functions of ``scipy.special``: value, shape and dtype as in SciPy, for arrays, scalars and orders."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.special

import einsumad as ea
from einsumad.errors import DifferentiationError, TracingError
from einsumad.frontend.coverage.special_reasons import PARTLY, REASONS, THROUGH_OTHERS
from einsumad.frontend.registry import _special
from einsumad.frontend.scipy_special.distributions import _RULES
from einsumad.frontend.scipy_special.families import _DEGREES, _ORDERS
from einsumad.frontend.scipy_special.rows import ROW_OF_UFUNC, ROWS_OF_UFUNC
from einsumad.scipy import special
from tests.frontend.surface import TOLERANCE, check, data, traced, value

ARGUMENTS: dict[str, tuple[float, ...]] = {
    "ndtri_exp": (-0.7,),
    "hyperu": (3.2, 6.1, 1.0),
    "binom": (3.5, 1.2),
    "radian": (30.0, 12.0, 5.0),
    "wright_bessel": (0.8, 1.2, 0.5),
    "bdtr": (1.0, 4.0, 0.3),
    "bdtrc": (1.0, 4.0, 0.3),
    "bdtri": (1.0, 4.0, 0.3),
    "nbdtr": (2.0, 3.0, 0.4),
    "nbdtrc": (2.0, 3.0, 0.4),
    "nbdtri": (2.0, 3.0, 0.4),
    "pdtri": (2.0, 0.4),
    "pdtr": (2.0, 0.7),
    "pdtrc": (2.0, 0.7),
    "itairy": (0.8,),
}
ENTRYWISE = sorted(
    {name for name in {*ROW_OF_UFUNC, *ROWS_OF_UFUNC, *_RULES} if not name.startswith("_")} | {"radian", "agm"}
)


def around(ufunc: np.ufunc, dtype: str) -> list[np.ndarray[Any, Any]]:
    """Arguments at which the function is at ease: a column and a row for the last two."""
    middle = ARGUMENTS.get(ufunc.__name__, (0.6, 0.7, 0.4, 0.3)[: ufunc.nin])
    small = np.array([0.96, 1.0, 1.05])
    whole = ufunc.__name__.startswith(("bdtr", "nbdtr", "pdtr"))
    arrays = [np.full(3, number) if whole and k < ufunc.nin - 1 else number * small for k, number in enumerate(middle)]
    if len(arrays) > 1:
        arrays[-2] = arrays[-2][:, None]
    return [array.astype(dtype) for array in arrays]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", ENTRYWISE)
def test_ufuncs(name: str, dtype: str) -> None:
    ufunc = getattr(scipy.special, name)
    arrays = around(ufunc, dtype)
    with np.errstate(all="ignore"):
        expected = ufunc(*arrays)
    found = ufunc(*[traced(array) for array in arrays])
    for one, wanted in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, expected)], strict=True):
        assert (one.shape, one.dtype) == (wanted.shape, wanted.dtype)
        scale = 30 * TOLERANCE[wanted.dtype.str[1:]]
        np.testing.assert_allclose(value(one), wanted, rtol=scale, atol=scale)


@pytest.mark.parametrize("order", [0, 1, 3, 2.0, 0.5, np.array([[0.0], [2.5]]), np.array([3, 0, 3])], ids=str)
@pytest.mark.parametrize("name", [*sorted(_ORDERS), *[f"spherical_{kind}n" for kind in "jyik"]])
def test_orders(name: str, order: Any) -> None:
    function = getattr(special, name)
    if (name not in _ORDERS or _ORDERS[name][2]) and np.any(np.asarray(order) % 1):
        with pytest.raises(TracingError, match="whole"):
            function(order, traced(data((3,))))
        return
    for dtype in ("f8", "f4") if name in _ORDERS else ("f8",):  # SciPy's are float32 in float64 arrays there
        check(lambda x: function(order, x), data((3,), dtype, low=0.4))


@pytest.mark.parametrize("degree", [0, 1, 4, np.array([[1], [3]])], ids=str)
@pytest.mark.parametrize("name", sorted(_DEGREES))
def test_degrees(name: str, degree: Any) -> None:
    ufunc = getattr(scipy.special, name)
    weights = {3: (0.5,), 4: (1.5, 0.5)}.get(ufunc.nin, ())
    check(lambda x: ufunc(degree, *weights, x), data((3,)))


@pytest.mark.parametrize("name", [f"spherical_{kind}n" for kind in "jyik"])
def test_slopes_of_spherical_bessel_functions(name: str) -> None:
    for order in (0, 2, np.array([1, 4])):
        check(lambda x, n=order: getattr(special, name)(n, x, derivative=True), data((3, 1), low=0.5))


@pytest.mark.parametrize("order", [0, 1, -1, 2, -2, 3])
def test_associated_legendre_functions(order: int) -> None:
    x = np.array([-0.7, 0.0, 0.4, 1.0])
    for degree in (0, 2, 5):
        if -order > degree:
            with pytest.raises(TracingError, match="undefined"):
                scipy.special.lpmv(order, degree, traced(x))
        else:
            check(lambda x, n=degree: scipy.special.lpmv(order, n, x), x)


def test_functions_of_the_namespace() -> None:
    x = np.array([[0.3, -2.0, 1000.0], [4.0, -np.inf, 1.5]])
    for axis in (None, 0, 1, -1, (0, 1)):
        for options in ({}, {"keepdims": True}, {"b": np.array([1.0, 0.0, 2.5])}, {"return_sign": True}):
            check(lambda a, o=options, k=axis: tuple_of(special.logsumexp(a, axis=k, **o)), x)
        check(lambda a, k=axis: special.softmax(a, axis=k), x)
        check(lambda a, k=axis: special.log_softmax(a, axis=k), x)
    mixed = np.array([-1.0, -2.0, 0.5])
    check(lambda a: tuple_of(special.logsumexp(a, b=mixed, return_sign=True)), x[:, [0, 1, 0]])
    positive = data((2, 3))
    for dtype in ("f8", "i8"):
        y = (4 * positive).astype(dtype)
        check(lambda a: special.polygamma(2, a), y + 1)
        check(lambda a: special.multigammaln(a, 3), y + 2)
        check(special.factorial, y - 1)
        check(lambda a: special.comb(a, 2), y)
        check(lambda a: special.comb(5, a, repetition=True), y)
        check(lambda a: special.perm(a, 2), y)
        check(lambda a: special.diric(a, 4), y)
        check(lambda a: special.diric(a, [1, 2, 5]), y)
    check(lambda a: special.polygamma([[0], [3]], a[0]), positive)
    for function in (special.softmax, special.log_softmax, special.logsumexp):
        check(function, data((3,), "f4"))
        check(function, data((3,), "i8"))
        check(function, data((), "f8"))
    check(lambda q: special.zeta(2.5, q), positive)
    check(special.softplus, positive)
    check(lambda a: special.jvp(1.5, a, 2), positive)
    check(lambda a: special.assoc_laguerre(a, 3, 0.5), positive)


@pytest.mark.whole_planner
def test_no_weight() -> None:
    """Entries of a plain weight 0 are left out, whatever they are; a traced weight 0 has a derivative."""
    a, weights = np.array([1000.0, np.inf, np.nan, 0.5, -np.inf]), np.array([0.0, 0.0, 0.0, 2.0, 1.0])
    check(lambda x: special.logsumexp(x, b=weights), a)
    np.testing.assert_array_equal(ea.grad(lambda x: special.logsumexp(x, b=weights))(a), [0, 0, 0, 1, 0])
    found = ea.grad(lambda b: special.logsumexp(a[3:], b=b))(np.array([1.0, 0.0]))
    np.testing.assert_allclose(found, [1.0, 0.0])
    found = ea.grad(lambda b: special.logsumexp(np.array([1.0, 3.0]), b=b))(np.array([1.0, 0.0]))
    np.testing.assert_allclose(found, [1.0, np.exp(2.0)])
    for infinite in (np.inf, 1000.0):  # what the exponential of which is infinite has weight 0
        x, b = np.array([1.0, infinite]), np.array([1.0, 0.0])
        check(lambda b, x=x: special.logsumexp(x, b=b), b)
        for mode in ("forward", "reverse", "cross-country"):
            in_x = lambda x, b=b: special.logsumexp(x, b=ea.tensor(b))  # noqa: E731
            np.testing.assert_array_equal(ea.derivative(in_x, mode=mode)(x), [1, 0])
            np.testing.assert_array_equal(ea.derivative(in_x, order=3, mode=mode)(x), np.zeros((2, 2, 2)))
            in_b = ea.hessian(lambda b, x=x: special.logsumexp(x, b=b), mode=mode)
            np.testing.assert_array_equal(in_b(b), [[-1, -np.inf], [-np.inf, -np.inf]])
        np.testing.assert_array_equal(ea.grad(lambda b, x=x: special.logsumexp(x, b=b))(b), [1, np.inf])


def test_counts_of_nothing() -> None:
    n, k = np.array([0.0, 0.0, 2.0, 0.0]), np.array([0.0, 1.0, 0.0, 2.0])
    check(lambda n, k: special.comb(n, k, repetition=True), n, k)
    check(lambda x: special.diric(x, np.zeros((0, 1), int)), np.array([0.3]))
    check(lambda x: special.jv(np.zeros((0, 1)), x), np.array([0.3]))


def tuple_of(result: Any) -> Any:
    return tuple(result) if isinstance(result, tuple) else result


def test_every_public_name_is_known() -> None:
    """Each has a handler, is in the namespace, works through others, or has a reason; none stands in two places."""
    public = set(scipy.special.__all__)
    handled = {
        name
        for name in public
        if isinstance(getattr(scipy.special, name), np.ufunc) and getattr(scipy.special, name).__name__ in _special
    }
    kinds = [handled, set(special.__all__), set(THROUGH_OTHERS), set(REASONS) - {"riemann_zeta"}]
    assert public - set().union(*kinds) == set()
    assert sum(len(kind & public) for kind in kinds) == len(public)
    assert set(PARTLY) & set(REASONS) == set()
    assert {verdict.status for verdict in REASONS.values()} == {"constant", "refused"}


@pytest.mark.parametrize(
    "name", sorted(name for name in REASONS if isinstance(getattr(scipy.special, name, 0), np.ufunc))
)
def test_refusals_give_the_reason(name: str) -> None:
    ufunc = getattr(scipy.special, name)
    with pytest.raises(
        TracingError, match=r"scipy\.special.*is not supported on traced values: " + re.escape(REASONS[name].reason)
    ):
        ufunc(*[traced(np.array([0.5]))] * ufunc.nin)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (scipy.special.gammainc, (1.5, 0.7)),
        (scipy.special.betainc, (1.5, 0.7, 0.3)),
        (scipy.special.stdtr, (3.0, 0.3)),
        (scipy.special.chdtr, (3.0, 0.3)),
        (scipy.special.hyp2f1, (0.5, 1.5, 2.5, 0.3)),
        (scipy.special.ellipkinc, (0.5, 0.3)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_parameters_may_be_constant_and_are_refused_when_differentiated(function: Any, arguments: Any) -> None:
    which = 0 if function is scipy.special.ellipkinc else len(arguments) - 1
    assert np.isfinite(ea.grad(function, argnums=which)(*arguments))
    for k in set(range(len(arguments))) - {which}:
        with pytest.raises(DifferentiationError, match="has no derivative in its operand"):
            ea.grad(function, argnums=k)(*arguments)
        for mode in ("forward", "reverse", "cross-country"):
            with pytest.raises(DifferentiationError, match="make that operand a constant"):
                ea.hessian(function, argnums=(k, which), mode=mode)(*arguments)


def test_traced_orders_are_refused() -> None:
    x = traced(data((3,)))
    for function in (scipy.special.jv, scipy.special.eval_legendre, scipy.special.expn, special.polygamma):
        with pytest.raises(TracingError, match="traced value: give it as a plain number"):
            function(x, x)
    with pytest.raises(TracingError, match="more than 64"):
        scipy.special.jv(np.arange(70.0), traced(np.array(1.0)))
    with pytest.raises(TracingError, match="finite"):
        scipy.special.jv(np.nan, x)


@pytest.mark.parametrize("name", special.__all__)
def test_scipys_own_function_names_the_one_to_use(name: str) -> None:
    x = traced(data((3,)))
    arguments = {"polygamma": (1, x), "multigammaln": (x, 2), "comb": (x, 2), "perm": (x, 2), "diric": (x, 3)}
    given = (1, x) if name.startswith("spherical") else arguments.get(name, (x,))
    with pytest.raises(TracingError, match=r"use einsumad\.scipy\.special"):
        getattr(scipy.special, name)(*given)


def test_the_namespace_is_scipys_for_plain_arrays() -> None:
    x = data((2, 3))
    for name in ("softmax", "log_softmax", "logsumexp", "factorial"):
        np.testing.assert_array_equal(getattr(special, name)(x), getattr(scipy.special, name)(x))
    assert special.erf is scipy.special.erf
    assert special.comb(5, 2, exact=True) == 10
    assert set(scipy.special.__all__) <= set(dir(special))


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_softmax_far_out(mode: Any) -> None:
    x = np.array([1000.0, -np.inf, -1000.0, 999.0])
    p = scipy.special.softmax(x)
    first = ea.jacobian(special.softmax, mode=mode)(x)
    np.testing.assert_allclose(first, np.diag(p) - np.outer(p, p), atol=1e-15)
    np.testing.assert_allclose(ea.grad(special.logsumexp)(x), p, atol=1e-15)
    np.testing.assert_allclose(ea.hessian(special.logsumexp, mode=mode)(x), np.diag(p) - np.outer(p, p), atol=1e-15)
    np.testing.assert_allclose(ea.jacobian(special.log_softmax, mode=mode)(x), np.eye(4) - p, atol=1e-15)
    assert ea.grad(lambda z: np.sum(special.softmax(z, axis=1)))(np.array([[1e3], [-1e3]])).tolist() == [[0.0], [0.0]]
