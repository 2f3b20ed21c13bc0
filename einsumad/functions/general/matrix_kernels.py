"""The numerical kernels of matrix functions and matrix equations: arrays in, arrays out.

Owns the way from SciPy's functions of one matrix to batches and to derivatives. Imports NumPy, and SciPy when a kernel
is called. Invariant: batch axes lead, the dtype of the operands is kept although single precision is computed in
double, a matrix that is not finite gives NaN, and what is not real or does not exist raises
``numpy.linalg.LinAlgError``.

The derivative of order m of a matrix function in the directions ``E1, .., Em`` is the upper right block of

    f(X_m),   X_0 = A,   X_k = [[X_{k-1}, I ⊗ E_k], [0, X_{k-1}]].

R. Mathias, A chain rule for matrix functions and applications, SIAM J. Matrix Anal. Appl. 17 (1996), theorem 2.1;
N. J. Higham and S. D. Relton, Higher order Fréchet derivatives of matrix functions and the level-2 condition number,
SIAM J. Matrix Anal. Appl. 35 (2014), theorem 3.5.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, permutations
from math import frexp, ldexp
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[[Array], Array]
"""A function of a stack of matrices."""

_MOST_ENTRIES = 1 << 22
_NEAR_ONE = 0.25
_MOST_ROOTS = 100
_NODES = 8


def linear_algebra() -> Any:
    """``scipy.linalg``, loaded by the plans that need it only."""
    return importlib.import_module("scipy.linalg")


def operands_of(arguments: Sequence[Any]) -> tuple[list[Array], int]:
    """The arrays among the arguments of an operator row's kernel, and how many directions are left open."""
    operands = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    return operands, arguments[-1] if len(arguments) > len(operands) else 0


def each(result: Array, operands: Sequence[Array], compute: Callable[..., Any], *, finite: bool = True) -> Array:
    """The array with ``compute`` of the matrices at each place; NaN where they are not, but have to be, finite."""
    for place in np.ndindex(operands[0].shape[:-2]):
        matrices = [operand[place].astype(np.float64, copy=False) for operand in operands]
        if result[place].size:
            usable = not finite or all(np.isfinite(matrix).all() for matrix in matrices)
            result[place] = compute(*matrices) if usable else np.nan
    return result


def derivatives_of(value: Function, inside: Function, homogeneous: bool = False) -> Callable[..., Array]:
    """The kernel of a matrix function: its value, and its derivatives in some directions with further ones open.

    `value` is the function, and `inside` what is right for the block matrices too. Where the function is `homogeneous`,
    its derivatives at A are those at ``A / s`` in the directions ``E / s``.
    """

    def kernel(*arguments: Any) -> Array:
        operands, opened = operands_of(arguments)
        shape, size = operands[0].shape, operands[0].shape[-1]
        result = np.empty((*shape, *[size, size] * opened), operands[0].dtype)

        def compute(a: Array, *directions: Array) -> Array:
            if not directions and not opened:
                return np.asarray(value(a[None])[0])
            return _derivative(inside, a, directions, opened, homogeneous)

        return each(result, operands, compute)

    return kernel


def _derivative(f: Function, a: Array, directions: Sequence[Array], opened: int, homogeneous: bool) -> Array:
    """``D[i, j, k1, l1, ...]``, of a matrix and of directions in it brought to a moderate size.

    The derivative is linear in a direction. Where the function is homogeneous, A is scaled too, and moves as far in a
    direction as the least of its singular values.
    """
    size = len(a)
    unit = _power_of_two(a) if homogeneous else 1.0
    least = 1 / _power_of_two(np.linalg.inv(a / unit)) if homogeneous else 1.0
    scales = [_power_of_two(direction) / least for direction in directions]
    given = [direction / scale for direction, scale in zip(directions, scales, strict=True)]
    result = np.empty((size * size,) * opened + (size, size))
    moves = list(combinations_with_replacement(range(size * size), opened))
    block = size * 2 ** (len(given) + opened)
    step = max(1, _MOST_ENTRIES // block**2)
    for start in range(0, len(moves), step):
        part = moves[start : start + step]
        moved = [least * np.eye(size * size)[[move[k] for move in part]].reshape(-1, size, size) for k in range(opened)]
        found = f(_blocks(a / unit, [*given, *moved], len(part)))[:, :size, -size:]
        for move, entries in zip(part, found, strict=True):
            for place in set(permutations(move)):
                result[place] = entries
    for scale in [*scales, *[1 / least] * opened]:
        result *= scale / unit
    return np.moveaxis(result.reshape(*[size, size] * (opened + 1)), (-2, -1), (0, 1))


def _blocks(a: Array, directions: Sequence[Array], count: int) -> Array:
    """The stack of the matrices ``X_m``; a direction is a matrix, or one for each of the stack."""
    size = len(a)
    blocks = np.broadcast_to(a, (count, size, size))
    for direction in directions:
        half = blocks.shape[-1]
        wider = np.zeros((count, 2 * half, 2 * half))
        wider[:, :half, :half] = wider[:, half:, half:] = blocks
        for start in range(0, half, size):
            wider[:, start : start + size, half + start : half + start + size] = direction
        blocks = wider
    return blocks


def _power_of_two(a: Array) -> float:
    """A power of two near the norm of the matrix, one for zero: dividing by it is exact."""
    return ldexp(1.0, frexp(float(np.abs(a).max(initial=0)))[1]) if a.any() else 1.0


def exponential(a: Array) -> Array:
    """``exp A``."""
    return np.asarray(linear_algebra().expm(a))


def cosine(a: Array) -> Array:
    """``cos A``, the real part of ``exp(i A)``."""
    return np.asarray(linear_algebra().expm(1j * a).real)


def sine(a: Array) -> Array:
    """``sin A``, the imaginary part of ``exp(i A)``."""
    return np.asarray(linear_algebra().expm(1j * a).imag)


def logarithm(a: Array) -> Array:
    """The principal logarithm."""
    return np.stack([_real("logm", linear_algebra().logm(_with_logarithm(matrix))) for matrix in a])


def logarithm_of_blocks(blocks: Array) -> Array:
    """The same by roots and a quadrature of ``log(I + Y) = ∫ Y (I + t Y)^-1 dt``, t from 0 to 1, for a whole stack.

    N. J. Higham, *Functions of Matrices* (2008), section 11.5: inverse scaling and squaring. Gauss-Legendre quadrature
    with m nodes is the Padé approximant [m/m].
    """
    one = np.eye(blocks.shape[-1])
    _with_logarithm(blocks[0, : len(one) // 2, : len(one) // 2])
    roots = 0
    while np.abs(blocks - one).sum(axis=-2).max() > _NEAR_ONE:
        if roots == _MOST_ROOTS:
            raise np.linalg.LinAlgError("the logarithm of a matrix did not converge: it is too close to a singular one")
        blocks = np.stack([root(matrix, "logm") for matrix in blocks])
        roots += 1
    rest = blocks - one
    rule = zip(*np.polynomial.legendre.leggauss(_NODES), strict=True)
    terms = [w / 2 * np.linalg.solve(one + (1 + x) / 2 * rest, rest) for x, w in rule]
    return np.asarray(2.0**roots * sum(terms))


def square_root(a: Array) -> Array:
    """The principal square root."""
    return each(np.empty(a.shape, a.dtype), [a], root)


def root(matrix: Array, name: str = "sqrtm") -> Array:
    """The principal square root of one matrix, if it is real."""
    with np.errstate(all="ignore"):
        found = _real(name, linear_algebra().sqrtm(matrix))
    if not np.isfinite(found).all():
        raise np.linalg.LinAlgError("sqrtm of a singular matrix that has no square root")
    return found


def sign(a: Array) -> Array:
    """The matrix sign."""
    return each(np.empty(a.shape, a.dtype), [a], _sign)


def _sign(matrix: Array) -> Array:
    if np.any(np.linalg.eigvals(matrix).real == 0):
        raise np.linalg.LinAlgError("signm of a matrix with an eigenvalue on the imaginary axis does not exist")
    return _real("signm", linear_algebra().signm(matrix))


def _with_logarithm(matrix: Array) -> Array:
    """The matrix, if it has a real principal logarithm."""
    values = np.linalg.eigvals(matrix)
    if np.any((values.imag == 0) & (values.real <= 0)):
        raise np.linalg.LinAlgError(
            "logm of a matrix with an eigenvalue that is negative or zero is complex or does not exist: complex "
            "numbers are not supported yet"
        )
    return matrix


def _real(name: str, found: Array) -> Array:
    """A result that is real in exact arithmetic, which shows in that its imaginary part is rounding."""
    if np.iscomplexobj(found):
        if np.abs(found.imag).max() > 1e-8 * np.abs(found.real).max():
            raise np.linalg.LinAlgError(
                f"{name} of a matrix with negative eigenvalues is complex: complex numbers are not supported yet"
            )
        return np.asarray(found.real)
    return np.asarray(found)


def sylvester(*arguments: Any) -> Array:
    """The solution X of ``A X + X B = Q``; with Q left open the inverse of the operator, ``X[i, j, k, l]``.

    By the Schur forms of A and B (R. H. Bartels and G. W. Stewart, Algorithm 432, Comm. ACM 15 (1972)).
    """
    operands, opened = operands_of(arguments)
    a, b = operands[:2]
    rows, columns = a.shape[-1], b.shape[-1]
    result = np.empty((*a.shape[:-2], rows, columns, *[rows, columns] * opened), a.dtype)
    forms: dict[bytes, tuple[Array, Array, Array, Array]] = {}

    def solve(a: Array, b: Array, *right: Array) -> Array:
        key = a.tobytes() + b.tobytes()
        if key not in forms:
            forms.clear() if len(forms) > 64 else None
            schur = linear_algebra().schur
            forms[key] = (*schur(a), *schur(b.T))
        if right:
            return _solved(*forms[key], right[0])
        basis = np.eye(rows * columns).reshape(-1, rows, columns)
        found = [_solved(*forms[key], matrix) for matrix in basis]
        return np.stack(found, axis=-1).reshape(rows, columns, rows, columns)

    return each(result, operands, solve)


def _solved(r: Array, u: Array, s: Array, v: Array, right: Array) -> Array:
    found, scale, info = linear_algebra().lapack.dtrsyl(r, s, u.T @ right @ v, tranb="T")
    if info:
        raise np.linalg.LinAlgError(
            "the equation A X + X B = Q is singular: an eigenvalue of A is minus one of B (the derivative of sqrtm "
            "solves such an equation, and does not exist where the matrix is singular)"
        )
    return np.asarray(scale * (u @ found @ v.T))


def riccati(a: Array, b: Array, q: Array, r: Array, *options: int) -> Array:
    """The stabilising solution of an algebraic Riccati equation in the symmetric parts of Q and R."""
    discrete, balanced = options
    solve = linear_algebra().solve_discrete_are if discrete else linear_algebra().solve_continuous_are

    def solution(a: Array, b: Array, q: Array, r: Array) -> Array:
        return np.asarray(solve(a, b, (q + q.T) / 2, (r + r.T) / 2, balanced=bool(balanced)))

    return each(np.empty(a.shape, a.dtype), [a, b, q, r], solution)


def solve_triangular(a: Array, b: Array, lower: int, unit_diagonal: int, quiet: int = 0) -> Array:
    """The solution X of ``T X = B``, T the lower or upper triangle of A, with ones on its diagonal if asked.

    A singular triangle raises LinAlgError, or gives NaN if the last parameter is 1.
    """

    def solve(matrix: Array, right: Array) -> Any:
        if quiet and not unit_diagonal and not np.diagonal(matrix).all():
            return np.nan
        options = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal), "check_finite": False}
        return linear_algebra().solve_triangular(matrix, right, **options)

    return each(np.empty(b.shape, b.dtype), [a, b], solve, finite=False)


def inverse_triangular(a: Array, lower: int, unit_diagonal: int, quiet: int = 0) -> Array:
    """The inverse of the lower or upper triangle of A, as for :func:`solve_triangular`."""
    identity = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    return solve_triangular(a, identity, lower, unit_diagonal, quiet)
