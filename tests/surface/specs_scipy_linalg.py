"""scipy.linalg: matrix functions, equations, structured matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from einsumad.scipy import linalg
from tests.surface.drawing import Drawer, Operand, Shape
from tests.surface.specs import Call, spec

MATRIX_FUNCTIONS = ("expm", "sqrtm", "cosm", "sinm")
COMPOSED = ("tanm", "coshm", "sinhm", "tanhm")
METHODS = {
    "sym": "symmetric",
    "pos": "positive",
    "diagonal": "invertible",
    "tridiagonal": "invertible",
    "upper triangular": "invertible",
    "lower triangular": "lower",
}


def _square(function: Any, d: Drawer) -> Call:
    size = d.size()
    return function, (d.operand((*d.shape(0, 1, smallest=1), size, size), kind="invertible"),)


for _name in (*MATRIX_FUNCTIONS, "det", "inv"):
    spec(f"scipy.linalg.{_name}", "d" if _name == "det" else "f")(partial(_square, getattr(linalg, _name)))


def _small(function: Any, d: Drawer) -> Call:
    """Of small matrices: these are composed of several others, and take long."""
    size = d.integer(0 if d.empty else 1, 2)
    return function, (d.operand((*d.shape(0, 1, smallest=1), size, size), kind="invertible"),)


for _name in COMPOSED:
    spec(f"scipy.linalg.{_name}", "f")(partial(_small, getattr(linalg, _name)))


@spec("scipy.linalg.logm", "d")
def _logm(d: Drawer) -> Call:
    return linalg.logm, (d.square("invertible", batch=0, smallest=1),)


def _right(d: Drawer, size: int, batch: Shape = ()) -> Operand:
    """A right side: a vector or the columns of a matrix."""
    return d.operand(d.choice((size,), (size, d.size()), (*batch, size, d.size())))


def _system(d: Drawer, kind: Any = "invertible") -> tuple[Operand, Operand]:
    size, batch = d.size(), d.shape(0, 1, smallest=1)
    return d.operand((*batch, size, size), kind=kind), _right(d, size, batch)


@spec("scipy.linalg.signm", "f")
def _signm(d: Drawer) -> Call:
    size = d.size(1)
    return lambda a: linalg.signm(a - 1.5 * np.eye(size)), (d.operand((size, size), kind="spread"),)


@spec("scipy.linalg.norm", "f")
def _norm(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    keep, power = bool(d.integer(0, 1)), d.choice(None, 1, 2, np.inf)
    axis = d.axis(shape)
    return lambda a: linalg.norm(a, power, axis=axis, keepdims=keep), (d.operand(shape, 0.3, 2),)


@spec("scipy.linalg.solve", "f")
def _solve(d: Drawer) -> Call:
    turned = bool(d.integer(0, 1))
    return lambda a, b: linalg.solve(a, b, transposed=turned), _system(d)


@spec("scipy.linalg.solve, known structure", "f")
def _solve_known(d: Drawer) -> Call:
    assumed = d.choice(*METHODS)
    lower = bool(d.integer(0, 1))
    return lambda a, b: linalg.solve(a, b, assume_a=assumed, lower=lower), _system(d, METHODS[assumed])


@spec("scipy.linalg.inv, known structure", "f")
def _inv_known(d: Drawer) -> Call:
    assumed = d.choice("sym", "pos", "upper triangular", "lower triangular")
    lower = bool(d.integer(0, 1))
    return lambda a: linalg.inv(a, assume_a=assumed, lower=lower), (d.square(METHODS[assumed]),)


@spec("scipy.linalg.expm_frechet", "d")
def _expm_frechet(d: Drawer) -> Call:
    both, size = bool(d.integer(0, 1)), d.integer(1, 2)
    operands = (d.operand((size, size), kind="invertible"), d.operand((size, size)))
    return lambda a, e: linalg.expm_frechet(a, e, compute_expm=both), operands


@spec("scipy.linalg.fractional_matrix_power", "d")
def _fractional_matrix_power(d: Drawer) -> Call:
    power = d.choice(-1, 0, 1, 2, 3.0, 0.3, -0.5)
    return lambda a: linalg.fractional_matrix_power(a, power), (d.square("positive", batch=0, smallest=1),)


@spec("scipy.linalg.fractional_matrix_power, exponent", "d")
def _fractional_matrix_exponent(d: Drawer) -> Call:
    size = d.integer(1, 2)
    return linalg.fractional_matrix_power, (d.operand((size, size), kind="positive"), d.operand((), 0.2, 0.8))


@spec("scipy.linalg.solve_triangular", "f")
def _solve_triangular(d: Drawer) -> Call:
    options = {"trans": d.choice(0, 1, "T"), "lower": bool(d.integer(0, 1)), "unit_diagonal": bool(d.integer(0, 1))}
    return lambda a, b: linalg.solve_triangular(a, b, **options), _system(d)


@spec("scipy.linalg.cho_solve", "f")
def _cho_solve(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))
    return lambda c, b: linalg.cho_solve((c, lower), b), _system(d)


@spec("scipy.linalg.solve_sylvester", "d")
def _solve_sylvester(d: Drawer) -> Call:
    a, b = d.square("invertible", batch=0), d.square("invertible", batch=0)
    return linalg.solve_sylvester, (a, b, d.operand((a.shape[0], b.shape[0])))


def _lyapunov(function: Any, d: Drawer) -> Call:
    a = d.square("invertible", batch=0)
    return function, (a, d.operand(a.shape))


for _name in ("solve_continuous_lyapunov", "solve_lyapunov"):
    spec(f"scipy.linalg.{_name}", "d")(partial(_lyapunov, getattr(linalg, _name)))


@spec("scipy.linalg.solve_discrete_lyapunov", "d")
def _solve_discrete_lyapunov(d: Drawer) -> Call:
    method = d.choice(None, "direct", "bilinear")
    return _lyapunov(lambda a, q: linalg.solve_discrete_lyapunov(0.5 * a, q, method), d)


def _control(d: Drawer, bound: float) -> list[Operand]:
    """A system with this bound of the entries of a, and costs."""
    size, inputs = d.integer(1, 2), d.integer(1, 2)
    a = d.operand((*d.shape(0, 1, smallest=1), size, size), -bound, bound)
    return [a, d.operand((size, inputs)), *[d.operand((n, n), kind="positive") for n in (size, inputs)]]


@spec("scipy.linalg.solve_continuous_are", "d")
def _solve_continuous_are(d: Drawer) -> Call:
    balanced = bool(d.integer(0, 1))
    operands = _control(d, 0.5)
    stable = 1.2 * np.eye(operands[0].shape[-1])
    return lambda a, *given: linalg.solve_continuous_are(a - stable, *given, balanced=balanced), tuple(operands)


@spec("scipy.linalg.solve_continuous_are, e and s", "d", order=2)
def _solve_general_are(d: Drawer) -> Call:
    operands = _control(d, 0.5)
    size = operands[0].shape[-1]
    stable = 1.2 * np.eye(size)
    more = (d.operand((size, size), kind="invertible"), d.operand(operands[1].shape, -0.2, 0.2))
    return lambda a, *given: linalg.solve_continuous_are(a - stable, *given, balanced=False), (*operands, *more)


@spec("scipy.linalg.solve_discrete_are", "d")
def _solve_discrete_are(d: Drawer) -> Call:
    balanced = bool(d.integer(0, 1))
    return lambda *given: linalg.solve_discrete_are(*given, balanced=balanced), tuple(_control(d, 0.4))


@spec("scipy.linalg.solve_discrete_are, e", "d", order=2)
def _solve_descriptor_are(d: Drawer) -> Call:
    operands = _control(d, 0.25)
    e = d.operand((operands[0].shape[-1],) * 2, kind="invertible")
    return lambda *given: linalg.solve_discrete_are(*given, balanced=False), (*operands, e)


def _dominant(first: Any) -> Any:
    """A first column whose Toeplitz matrix with entries below 2 is regular."""
    return first + 8.0 * np.eye(1, first.shape[0])[0]


@spec("scipy.linalg.solve_toeplitz", "f")
def _solve_toeplitz(d: Drawer) -> Call:
    size = d.size(1)
    c, r, b = d.operand((size,)), d.operand((size,)), _right(d, size)
    if d.integer(0, 1):
        return lambda c, b: linalg.solve_toeplitz(_dominant(c), b), (c, b)
    return lambda c, r, b: linalg.solve_toeplitz((_dominant(c), r), b), (c, r, b)


@spec("scipy.linalg.solve_circulant", "d")
def _solve_circulant(d: Drawer) -> Call:
    size = d.size(1)
    return lambda c, b: linalg.solve_circulant(_dominant(c), b), (d.operand((size,)), _right(d, size))


@spec("scipy.linalg.matmul_toeplitz", "di")
def _matmul_toeplitz(d: Drawer) -> Call:
    rows, columns = d.size(1), d.size(1)
    operands = (d.operand((rows,)), d.operand((columns,)), _right(d, columns))
    return lambda c, r, x: linalg.matmul_toeplitz((c, r), x), operands


@spec("scipy.linalg.solve_banded", "f")
def _solve_banded(d: Drawer) -> Call:
    size = d.size(2)
    below, above = d.integer(0, 2), d.integer(0, 2)
    raised = 8.0 * np.eye(below + above + 1)[:, [above]]
    operands = (d.operand((below + above + 1, size)), _right(d, size))
    return lambda ab, b: linalg.solve_banded((below, above), ab + raised, b), operands


@spec("scipy.linalg.solveh_banded", "f")
def _solveh_banded(d: Drawer) -> Call:
    size = d.size(1)
    width, lower = d.integer(0, size - 1), bool(d.integer(0, 1))
    raised = 8.0 * np.eye(width + 1)[:, [0 if lower else width]]
    operands = (d.operand((width + 1, size)), _right(d, size))
    return lambda ab, b: linalg.solveh_banded(ab + raised, b, lower=lower), operands


@spec("scipy.linalg.cho_solve_banded", "f")
def _cho_solve_banded(d: Drawer) -> Call:
    size, width, lower = d.size(1), d.integer(0, 2), bool(d.integer(0, 1))
    raised = 4.0 * np.eye(width + 1)[:, [0 if lower else width]]
    operands = (d.operand((width + 1, size)), _right(d, size))
    return lambda cb, b: linalg.cho_solve_banded((cb + raised, lower), b), operands


def _of_vector(function: Any, d: Drawer, least: int = 1, low: float = -2, kind: Any = "real") -> Call:
    return function, (d.operand((d.size(least),), low, kind=kind),)


for _name in ("toeplitz", "circulant", "hankel"):
    spec(f"scipy.linalg.{_name}", "fi")(partial(_of_vector, getattr(linalg, _name)))
for _name in ("companion", "fiedler_companion"):
    spec(f"scipy.linalg.{_name}", "f")(partial(_of_vector, getattr(linalg, _name), least=2, low=0.5))
spec("scipy.linalg.fiedler", "fi")(partial(_of_vector, linalg.fiedler, least=2, kind="distinct"))


def _of_two_vectors(function: Any, d: Drawer) -> Call:
    return function, (d.operand((d.size(1),)), d.operand((d.size(1),)))


for _name in ("toeplitz", "hankel"):
    spec(f"scipy.linalg.{_name}, row", "fi")(partial(_of_two_vectors, getattr(linalg, _name)))


@spec("scipy.linalg.leslie", "fi")
def _leslie(d: Drawer) -> Call:
    size = d.size(2)
    return linalg.leslie, (d.operand((size,)), d.operand((size - 1,)))


@spec("scipy.linalg.convolution_matrix", "fi")
def _convolution_matrix(d: Drawer) -> Call:
    length, mode = d.size(1), d.choice("full", "same", "valid")
    return lambda a: linalg.convolution_matrix(a, length, mode), (d.operand((d.size(1),)),)


@spec("scipy.linalg.block_diag", "fi")
def _block_diag(d: Drawer) -> Call:
    return linalg.block_diag, tuple([d.operand(d.shape(0, 2)) for _ in range(d.integer(1, 3))])


@spec("scipy.linalg.khatri_rao", "fi")
def _khatri_rao(d: Drawer) -> Call:
    columns = d.size(1)
    return linalg.khatri_rao, (d.operand((d.size(1), columns)), d.operand((d.size(1), columns)))
