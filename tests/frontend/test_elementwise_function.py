"""Functions from expressions of SymPy: values and derivatives against SymPy's, conventions, refusals."""

import pickle
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

import einsumad as ea

sympy = pytest.importorskip("sympy")
x, y, z, n = sympy.symbols("x y z n")
q = sympy.Symbol("q", positive=True)
X, Y = np.array([0.3, 0.7, 1.9]), np.array([0.45, 1.25, 2.1])
MODES = ("forward", "reverse", "cross-country")

EXPRESSIONS = {
    "arithmetic": -x / (2 * y) + (x - y) ** 2 * y**-3 / 7 - sympy.Rational(1, 3) + sympy.Float("0.1") * x * sympy.pi,
    "powers": x**y + 2**x + x ** sympy.Rational(2, 3) / sympy.sqrt(y) + x**sympy.pi * sympy.E**y,
    "exponentials": sympy.exp(-(x**2)) * sympy.log(1 + y) + sympy.log(x, 2),
    "trigonometric": sympy.sin(x) * sympy.cos(y) / (2 + sympy.tan(x / 3)) + sympy.sec(x / 3) + sympy.cot(y),
    "inverse trigonometric": sympy.asin(x / 3) + sympy.acos(x / 4) * sympy.atan(y) + sympy.atan2(y, x) + sympy.acot(y),
    "hyperbolic": sympy.sinh(x) * sympy.cosh(y) - sympy.tanh(x * y) + sympy.sech(x) + sympy.csch(y) + sympy.coth(x),
    "inverse hyperbolic": sympy.asinh(x)
    + sympy.acosh(y + 1)
    + sympy.atanh(x / 3)
    + sympy.asech(x / 3)
    + sympy.acsch(y),
    "error functions": sympy.erf(x) * sympy.erfc(y) + sympy.erfinv(x / 3),
    "gamma": sympy.gamma(x + 1) * sympy.loggamma(y) + sympy.digamma(x) + sympy.polygamma(2, y) + sympy.factorial(y),
    "beta and bessel": sympy.beta(x, y) + sympy.besselj(2, x) * sympy.besseli(1, y),
    "bessel of any order": sympy.besselj(sympy.Rational(1, 3), x) * sympy.bessely(0, y)
    + sympy.besselk(sympy.Float("0.7"), x) * sympy.besseli(-2, y),
    "spherical bessel": sympy.jn(2, x) * sympy.yn(1, y),
    "integrals": sympy.Si(x) * sympy.Ci(y) + sympy.Shi(y) * sympy.Chi(x) + sympy.Ei(x) * sympy.expint(2, y),
    "logarithmic integrals": sympy.li(x / 2) + sympy.Li(y + 2) + sympy.E1(x),
    "airy": sympy.airyai(x) * sympy.airybi(y) - sympy.airyaiprime(y) * sympy.airybiprime(x),
    "fresnel": sympy.fresnels(x) * sympy.fresnelc(y) + sympy.erfi(x) * sympy.erfcinv(y / 3),
    "between": x * sympy.erf2(x, y),
    "elliptic": sympy.elliptic_k(x / 3) * sympy.elliptic_e(y / 3)
    + sympy.elliptic_f(x, sympy.Rational(1, 4))
    + sympy.elliptic_e(y, sympy.Rational(1, 3)),
    "zeta": sympy.zeta(sympy.Rational(5, 2), x) * sympy.polygamma(1, y) + sympy.polylog(2, x / 3),
    "incomplete": sympy.lowergamma(sympy.pi, x) * sympy.uppergamma(sympy.Float("0.4"), y)
    + sympy.betainc(2, 3, x / 4, y / 4) * sympy.betainc_regularized(sympy.Rational(3, 2), 1, 0, x / 3),
    "rising": sympy.RisingFactorial(x, sympy.Rational(5, 2)) * sympy.FallingFactorial(y + 3, sympy.Rational(3, 2)),
    "hypergeometric": sympy.hyper((), (sympy.Rational(1, 3),), x) * sympy.hyper((2,), (sympy.Rational(7, 3),), y)
    + sympy.hyper((1, sympy.Rational(1, 2)), (3,), x / 3),
    "others": sympy.sinc(x) * sympy.sinc(y) + sympy.acsc(x + 1) * sympy.asec(y + 1) + sympy.acoth(y + 1) + sympy.csc(x),
    "extremes": sympy.Max(x, y, x * y) - sympy.Min(x, 1) * sympy.Abs(x - 1) + sympy.Max(y, 1),
    "steps": sympy.sign(x - 1) * y**2 + sympy.Heaviside(y - 1) * x**3 + sympy.floor(y) * x + sympy.frac(x) ** 2,
    "remainder": sympy.Mod(x, 2) ** 2 * sympy.ceiling(y),
    "choices": sympy.Piecewise(
        (x**2 * y, x > 1), (sympy.log(y), sympy.And(x > sympy.Rational(1, 2), y < 5)), (x, True)
    ),
    "shared": sympy.exp(x * y) / (1 + sympy.exp(x * y)) + sympy.sqrt(1 + sympy.exp(x * y)),
    "code functions": __import__("sympy.codegen.cfunctions").codegen.cfunctions.log1p(x) * 2 + y,
    "constant": sympy.EulerGamma + sympy.GoldenRatio + 10**30 * sympy.Rational(1, 10**30),
    "huge": 10**20 * x**2 / 3,
}


REWRITTEN = {"rising": sympy.gamma, "between": sympy.erf, "fresnel": sympy.erfinv}
"""What SymPy evaluates or differentiates only in terms of other functions."""


A, B = sympy.symbols("a b", real=True)


@cache
def differentiated(expression: Any, in_x: int, in_y: int) -> Any:
    """The partial derivative, in real variables, from the one of an order less."""
    if in_y:
        return sympy.diff(differentiated(expression, in_x, in_y - 1), B)
    return sympy.diff(differentiated(expression, in_x - 1, 0), A) if in_x else expression.subs({x: A, y: B})


def by_sympy(expression: Any, orders: tuple[int, int]) -> np.ndarray:
    """The partial derivative at the three points, with 30 digits in between."""
    found = (
        differentiated(expression, *orders)
        .replace(sympy.DiracDelta, lambda *_: 0)
        .replace(lambda part: isinstance(part, sympy.Derivative), lambda _: sympy.Integer(0))
    )
    points = zip(X, Y, strict=True)
    return np.array([float(found.subs({A: sympy.Float(u), B: sympy.Float(v)}).doit().evalf(30)) for u, v in points])


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_value_and_derivatives_to_third_order(name: str) -> None:
    expression = EXPRESSIONS[name]
    f = ea.elementwise_function(expression, x, y)
    smooth = expression.rewrite(REWRITTEN[name]) if name in REWRITTEN else expression
    np.testing.assert_allclose(f(X, Y), by_sympy(smooth, (0, 0)), rtol=1e-13)
    if name in ("steps", "remainder"):  # SymPy does not know the derivative of steps
        smooth = f.derivative().expression.replace(sympy.frac, lambda a: a - sympy.floor(a))
        smooth = smooth.replace(sympy.Mod, lambda a, b: a - b * sympy.floor(a / b))
    diagonal = range(3)
    for order, mode in enumerate(MODES, 1):
        tensors = ea.derivative(lambda a, b: np.sum(f(a, b)), (0, 1), order=order, mode=mode)(X, Y)
        for in_x in range(order + 1):
            tensor = tensors
            for argnum in [0] * in_x + [1] * (order - in_x):
                tensor = tensor[argnum]
            expected = by_sympy(smooth, (in_x, order - in_x))
            scale = max(1.0, np.max(np.abs(expected)))
            np.testing.assert_allclose(tensor[(diagonal,) * order], expected, rtol=1e-10, atol=1e-12 * scale)
    if name == "rising":
        return
    np.testing.assert_allclose(f.derivative(x, 1)(X, Y), by_sympy(smooth, (1, 1)), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_source_is_a_program_of_its_own(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    f = ea.elementwise_function(EXPRESSIONS[name], x, y, name="formula")
    scope: dict[str, Any] = {"np": np, "special": special}
    exec(f.code, scope)  # noqa: S102 (that it runs is the test)
    np.testing.assert_allclose(np.broadcast_to(scope["formula"](X, Y), 3), f(X, Y), rtol=1e-15)
    assert f.latex == sympy.latex(EXPRESSIONS[name])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["arithmetic", "choices", "gamma", "constant", "extremes"])
def test_it_acts_like_a_ufunc(name: str, dtype: Any) -> None:
    f = ea.elementwise_function(EXPRESSIONS[name], x, y)
    a, b = X.astype(dtype)[:, None], Y.astype(dtype)
    value = f(a, b)
    assert (value.shape, value.dtype) == ((3, 3), dtype)
    np.testing.assert_allclose(value, f(a.astype(float), b.astype(float)), rtol=30 * np.finfo(dtype).eps)
    traced, tangent = ea.jvp(f, (a, b), (a, b))
    assert (traced.dtype, tangent.dtype, traced.shape) == (dtype, dtype, (3, 3))
    np.testing.assert_allclose(traced, value, rtol=99 * np.finfo(dtype).eps)
    assert f(a[:0], b).shape == (0, 3)
    assert f(dtype(0.5), 2).dtype == dtype
    assert type(f(0.5, 2.0)) is np.float64
    with pytest.raises(ea.ShapeError):
        f(np.ones(2), np.ones(3))


def test_integers_and_truth_values_become_floats() -> None:
    f = ea.elementwise_function(x**2 / 2 + y, x, y)
    for given in (np.array([1, 2]), np.array([True, False]), np.array([1, 2], np.int8)):
        assert f(given, 1).dtype == np.float64
        np.testing.assert_allclose(f(given, 1), given.astype(float) ** 2 / 2 + 1)
        found = ea.jvp(lambda b, given=given: f(given, b), (np.ones(2),), (np.ones(2),))
        np.testing.assert_allclose(found, [given.astype(float) ** 2 / 2 + 1, np.ones(2)])
    assert f(np.array([1], np.int8), np.ones(1, np.float32)).dtype == np.float32


def test_conventions_at_kinks_and_edges() -> None:
    at = np.array([-1.0, 0.0, 1.0])
    cases = {
        sympy.Abs(x): [-1, 0, 1],
        sympy.Max(x, 0): [0, 0, 1],
        sympy.sign(x): [0, 0, 0],
        sympy.Piecewise((x, x > 0), (0, True)): [0, 0, 1],
        x**2: [-2, 0, 2],
        sympy.Piecewise((sympy.log(x), x > 0), (x, True)): [1, 1, 1],
    }
    for expression, expected in cases.items():
        f = ea.elementwise_function(expression, x)
        np.testing.assert_array_equal(ea.grad(lambda a, f=f: np.sum(f(a)))(at), expected)
        np.testing.assert_array_equal(f.derivative(x)(at), expected)
    power = ea.elementwise_function(x**y, x, y)
    gradient = ea.grad(lambda a, b: np.sum(power(a, b)), argnums=(0, 1))(np.zeros(2), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [[1, 0], [0, 0]])
    three = ea.elementwise_function(sympy.Max(x, y, z), x, y, z)
    ties = ea.grad(lambda a: np.sum(three(a[0], a[1], a[2])))(np.ones(3))
    np.testing.assert_allclose(ties, 1 / 3)


EDGES = {
    "acot": (sympy.acot(x), 0.0, [np.pi / 2, -1, 0, 2]),
    "acot, negative": (sympy.acot(x), -1.0, [-np.pi / 4, -0.5, -0.5, -0.5]),
    "acot, at infinity": (sympy.acot(x), np.inf, [0, 0]),
    "asec": (sympy.asec(x), np.inf, [np.pi / 2, 0]),
    "acsc": (sympy.acsc(x), 1.0, [np.pi / 2, -np.inf]),
    "asech": (sympy.asech(x), 0.0, [np.inf, -np.inf, np.inf, -np.inf]),
    "asech, at its end": (sympy.asech(x), 1.0, [0, -np.inf]),
    "acsch": (sympy.acsch(x), np.inf, [0, 0]),
    "acoth": (sympy.acoth(x), 1.0, [np.inf, -np.inf]),
    "acoth, inside": (sympy.acoth(x), 0.0, [np.nan]),
    "sinc": (sympy.sinc(x), 0.0, [1, 0, -1 / 3, 0]),
    "cot": (sympy.cot(x), 0.0, [np.inf, -np.inf]),
    "cot, where tan has its pole": (sympy.cot(x), np.pi / 2, [0, -1, 0, -2]),
    "coth": (sympy.coth(x), 0.0, [np.inf, -np.inf]),
    "Si": (sympy.Si(x), 0.0, [0, 1, 0, -1 / 3]),
    "Shi": (sympy.Shi(x), 0.0, [0, 1, 0, 1 / 3]),
    "Ci": (sympy.Ci(x), -1.0, [np.nan] * 4),
    "Chi": (sympy.Chi(x), -1.0, [np.nan] * 4),
    "li": (sympy.li(x), 0.0, [0]),
    "elliptic_k": (sympy.elliptic_k(x), 0.0, [np.pi / 2, np.pi / 8, 9 * np.pi / 64, 75 * np.pi / 256]),
    "elliptic_e": (sympy.elliptic_e(x), 1.0, [1, -np.inf]),
    "airyai": (sympy.airyai(x), 0.0, [0.3550280538878172, -0.2588194037928068, 0, 0.3550280538878172]),
    "fresnelc": (sympy.fresnelc(x), 0.0, [0, 1, 0, 0]),
    "besselj": (sympy.besselj(1, x), 0.0, [0, 0.5, 0, -0.375]),
    "jn": (sympy.jn(1, x), 0.0, [0, 1 / 3, 0, -0.2]),
}


@pytest.mark.whole_planner
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    expression, at, expected = EDGES[name]
    f = ea.elementwise_function(expression, x)
    for dtype, digits in ((np.float64, 1e-12), (np.float32, 2e-6)):
        point = np.array([at], dtype)
        np.testing.assert_allclose(f(point), expected[:1], rtol=digits, atol=1e-7)
        for order, wanted in enumerate(expected[1:], 1):
            if dtype is np.float64 or order == 1:
                found = ea.derivative(lambda a: np.sum(f(a)), order=order)(point)
                np.testing.assert_allclose(found.ravel(), [wanted], rtol=digits, atol=1e-7)


def test_outside_of_what_is_assumed_or_said_it_is_nan_in_every_order() -> None:
    at = np.array([-2.0, 0.0, 3.0])
    simplified = ea.elementwise_function(sympy.sqrt(q**2) * q**2, q)
    unsaid = ea.elementwise_function(sympy.Piecewise((x**3, x > 0)), x)
    whole = ea.elementwise_function(sympy.Symbol("k", integer=True) ** 3)
    for f in (simplified, unsaid):
        np.testing.assert_array_equal(f(at), [np.nan, np.nan, 27.0])
        for order, expected in ((1, 27.0), (2, 18.0)):
            found = ea.derivative(lambda a, f=f: np.sum(f(a)), order=order)(at)
            np.testing.assert_array_equal(found[(range(3),) * order], [np.nan, np.nan, expected])
    np.testing.assert_array_equal(whole(np.array([2.0, 2.5])), [8.0, np.nan])
    assert np.isnan(ea.elementwise_function(sympy.loggamma(x))(-0.5))


def test_symbolic_eager_compiled() -> None:
    f = ea.elementwise_function(sympy.sin(x) * y, x, y)
    a, b = ea.variable("a", 2), ea.variable("b", 2)
    assert str(ea.diff(np.sum(f(a, b)), a)) == "b[i] cos(a[i])  =  b ⊙ cos(a)"
    w = ea.tensor(np.array([0.5, 1.0]), requires_grad=True)
    np.sum(f(w, 2.0)).backward()
    np.testing.assert_allclose(w.grad, 2 * np.cos([0.5, 1.0]))
    compiled = ea.compile(ea.hessian(lambda a: np.sum(f(a, a))))
    np.testing.assert_allclose(compiled(X), ea.hessian(lambda a: np.sum(np.sin(a) * a))(X))


def test_parameters_derivatives_and_names() -> None:
    f = ea.elementwise_function(n * x**n, x, parameters={n: sympy.Rational(5, 2)}, name="law")
    np.testing.assert_allclose(f(X), 2.5 * X**2.5)
    np.testing.assert_allclose(f.derivative(x, x)(X), 2.5 * 2.5 * 1.5 * X**0.5)
    assert (repr(f.derivative(0)), f.derivative()(X).tolist()) == ("law_x(x) = 25*x**(3/2)/4", f(X).tolist())
    assert f._repr_latex_() == f"${f.latex}$"
    again = pickle.loads(pickle.dumps(f))  # noqa: S301 (made in the same line)
    assert again.code == f.code
    clash = ea.elementwise_function(sympy.Symbol("np") + sympy.Symbol("t0") ** 2, *sympy.symbols("np t0"))
    assert clash.code.startswith("def f(x0, x1):")
    evil = sympy.Symbol("x): import os  #")
    assert ea.elementwise_function(evil**2, evil)(3.0) == 9.0
    with pytest.raises(ValueError, match="not one of the symbols"):
        f.derivative(y)


REFUSED = {
    "elliptic_pi": sympy.sin(sympy.elliptic_pi(x / 2, sympy.Rational(1, 3)) + 1),
    "besselj": sympy.besselj(x, sympy.Rational(1, 3)),
    "jn": sympy.jn(sympy.Rational(1, 2), x),
    "uppergamma": sympy.uppergamma(-sympy.pi, x),
    "LambertW": sympy.LambertW(x),
    "g": 1 + sympy.Function("g")(x),
    "ImaginaryUnit": sympy.I * x,
    "zeta": sympy.zeta(x),
    "DiracDelta": sympy.DiracDelta(x),
    "NaN": sympy.nan,
    "Derivative": sympy.Derivative(sympy.zeta(x), x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(name: str) -> None:
    with pytest.raises(ea.TracingError, match=rf"\({name}\) has no counterpart") as error:
        ea.elementwise_function(REFUSED[name], x)
    assert "_x" not in str(error.value)


def test_orders_are_numbers() -> None:
    for bessel, plain in ((sympy.besselj, "jv"), (sympy.jn, "spherical_jn"), (sympy.expint, "expn")):
        f = ea.elementwise_function(bessel(n, x), x, parameters={n: 2})
        np.testing.assert_array_equal(f(X), getattr(pytest.importorskip("scipy.special"), plain)(2, X))
        with pytest.raises(ea.TracingError, match="give it in parameters="):
            ea.elementwise_function(bessel(n, x), n, x)
    with pytest.raises(ea.TracingError, match="wrightomega"):
        ea.elementwise_function(sympy.LambertW(x))
    with pytest.raises(ea.DifferentiationError, match="ellipkinc"):
        ea.grad(ea.elementwise_function(sympy.elliptic_f(1, x)))(0.5)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(TypeError, match="not a text"):
        ea.elementwise_function("x**2", x)
    for wrong in (3j, None, sympy.Matrix([x]), sympy.Eq(x, 1)):
        with pytest.raises(TypeError, match="expression of SymPy"):
            ea.elementwise_function(wrong, x)
    for symbols, options in (((), {}), ((x,), {}), ((x, x), {}), ((x, "y"), {}), ((x, y), {"parameters": {y: 1}})):
        with pytest.raises(TypeError):
            ea.elementwise_function(x * y, *symbols, **options)
    for value in ("2", sympy.I, y):
        with pytest.raises(TypeError, match="parameter n must be a real number"):
            ea.elementwise_function(x**n, x, parameters={n: value})
    for array in (np.ones(3), [1.0, 2.0], ea.variable("v", 3)):
        with pytest.raises(TypeError, match="name the symbol as one"):
            ea.elementwise_function(x**n, x, parameters={n: array})
    with pytest.raises(ea.TracingError, match="assumed to be imaginary"):
        ea.elementwise_function(sympy.Symbol("i", imaginary=True) ** 2)
    with pytest.raises(ea.TracingError, match="not commutative"):
        ea.elementwise_function(sympy.Symbol("c", commutative=False) ** 2)
    with pytest.raises(TypeError, match="takes 1 argument"):
        ea.elementwise_function(x**2)(X, X)
    with pytest.raises(ea.TracingError, match="complex"):
        ea.elementwise_function(x**2)(1j * X)


def test_sympy_is_loaded_by_the_user_only() -> None:
    program = (
        "import sys, einsumad as ea\n"
        "print('sympy' in sys.modules)\n"
        "try: ea.elementwise_function(3)\n"
        "except TypeError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(
        "False\nelementwise_function needs an expression of SymPy (pip install einsumad[symbolic])"
    )
