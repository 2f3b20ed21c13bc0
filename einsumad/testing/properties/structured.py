"""Structured matrices against dense ones: every operation that is offered gives what the dense array gives.

Owns this law. Imports reports. Invariant: nothing is asked of a structured matrix but what it has: an attribute that is
missing, or that raises ``NotImplementedError``, is left out; an error of any other kind is a wrong answer.

A structured matrix is whatever has a shape and some of these: ``toarray``, ``todense``, ``dense`` or ``__array__``;
``@`` with vectors and matrices from either side; ``matvec``, ``rmatvec``, ``matmat``; ``T``; ``diagonal``, ``trace``,
``sum``; ``solve``, ``inverse``, ``logdet``. SciPy's sparse arrays and linear operators are such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.testing.point import Array, subscript
from einsumad.testing.properties.agreement import Claim
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding, Verdict

NAME = "structured against dense"

_ROUNDING = 1024.0


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation of a structured matrix; the result it has to have, and the sizes of the terms this is a sum of."""

    name: str
    ask: Callable[[Any], Any]
    expected: Array
    terms: Array


def structured_agrees(
    structured: Any, dense: Any, *, name: str = "the matrix", seed: int = 0, order: int = 2
) -> tuple[Finding, ...]:
    """Compare every operation that a structured matrix offers with a dense array.

    Vectors and right-hand sides are random. Solutions and inverses are compared through their residuals, so that what
    an ill-conditioned matrix does to them is no fault. `name` is what the findings call the matrix.

    >>> import numpy as np
    >>> from scipy.sparse import diags_array
    >>> found = structured_agrees(diags_array([1.0, 2.0]), np.diag([1.0, 2.0]))
    >>> sorted({finding.verdict for finding in found}), len(found) > 5
    (['right'], True)
    """
    matrix = np.asarray(dense)
    if matrix.ndim != 2:
        raise ValueError(f"a dense matrix with two axes is needed, got the shape {matrix.shape}")
    unit = float(np.finfo(matrix.dtype).eps) if matrix.dtype.kind in "fc" else float(np.finfo(float).eps)
    rng = np.random.default_rng(seed)
    findings = []
    with np.errstate(all="ignore"):
        for operation in (*_plain(matrix, rng), *_inverses(matrix, rng)):
            claim = Claim(NAME, order, operation.name, f"the same of {name} as a dense array")
            findings.append(_finding(claim, operation, structured, unit))
    return tuple([finding for finding in findings if finding is not None])


def structured_hessian(probe: Probe) -> Iterator[Finding]:
    """The Hessian in a structured form against its dense one."""
    yield from structured_agrees(
        probe.at.further("structured_hessian"), probe.derivative(2)[0], name="the Hessian", seed=probe.case.seed
    )


def _vectors(rng: np.random.Generator, *shape: int) -> Array:
    return np.asarray(rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape))


def _plain(matrix: Array, rng: np.random.Generator) -> Iterator[_Operation]:
    """What needs no inverse."""
    rows, columns = matrix.shape
    size = np.abs(matrix)
    yield _Operation("shape", lambda s: np.asarray(s.shape), np.array([rows, columns]), np.zeros(2))
    for name in ("toarray", "todense", "dense"):
        yield _Operation(f"{name}()", _method(name), matrix, size)
    yield _Operation("np.asarray", _as_array, matrix, size)
    yield _Operation("T", lambda s: _dense(_transposed(s)), matrix.T, size.T)
    v, several = _vectors(rng, columns).astype(matrix.dtype), _vectors(rng, columns, 2).astype(matrix.dtype)
    u, rows_of = _vectors(rng, rows).astype(matrix.dtype), _vectors(rng, 2, rows).astype(matrix.dtype)
    yield _Operation("@ vector", lambda s: _times(s, v), matrix @ v, size @ np.abs(v))
    yield _Operation("@ matrix", lambda s: _times(s, several), matrix @ several, size @ np.abs(several))
    yield _Operation("vector @", lambda s: _from_the_left(s, u), u @ matrix, np.abs(u) @ size)
    yield _Operation("matrix @", lambda s: _from_the_left(s, rows_of), rows_of @ matrix, np.abs(rows_of) @ size)
    yield _Operation("T @ vector", lambda s: _times(_transposed(s), u), u @ matrix, np.abs(u) @ size)
    yield _Operation("matvec", lambda s: _method("matvec")(s, v), matrix @ v, size @ np.abs(v))
    yield _Operation("matmat", lambda s: _method("matmat")(s, several), matrix @ several, size @ np.abs(several))
    yield _Operation("rmatvec", lambda s: _method("rmatvec")(s, u), np.conj(matrix.T) @ u, np.abs(u) @ size)
    if rows == columns:
        diagonal = np.diagonal(matrix)
        yield _Operation("diagonal()", _method("diagonal"), diagonal, np.abs(diagonal))
        yield _Operation("trace()", _method("trace"), np.sum(diagonal), np.sum(np.abs(diagonal)))
    yield _Operation("sum()", _method("sum"), np.sum(matrix), np.sum(size))


def _inverses(matrix: Array, rng: np.random.Generator) -> Iterator[_Operation]:
    """What needs an inverse, through residuals: the matrix times the answer against the right-hand side."""
    rows, columns = matrix.shape
    if rows != columns or rows == 0 or matrix.dtype.kind not in "fc" or not np.all(np.isfinite(matrix)):
        return
    values = np.linalg.svd(matrix, compute_uv=False)
    unit = np.finfo(matrix.dtype).eps
    if values[-1] <= _ROUNDING * unit * values[0]:
        return
    size = np.abs(matrix)
    b, several = _vectors(rng, rows).astype(matrix.dtype), _vectors(rng, rows, 2).astype(matrix.dtype)
    for name, right in (("solve(vector)", b), ("solve(matrix)", several)):
        solution = np.linalg.solve(matrix, right)
        yield _Operation(name, _residual("solve", matrix, right), right, size @ np.abs(solution) + np.abs(right))
    inverse = np.linalg.inv(matrix)
    one = np.eye(rows, dtype=matrix.dtype)
    yield _Operation("inverse()", lambda s: matrix @ _dense(_method("inverse")(s)), one, size @ np.abs(inverse) + one)
    sign, logarithm = np.linalg.slogdet(matrix)
    if sign == 1:
        yield _Operation("logdet()", _method("logdet"), logarithm, np.sum(np.abs(np.log(values)) + values[0] / values))


def _residual(name: str, matrix: Array, right: Array) -> Callable[[Any], Array]:
    return lambda structured: matrix @ np.asarray(_method(name)(structured, right))


def _method(name: str) -> Callable[..., Any]:
    return lambda structured, *args: _attribute(structured, name)(*args)


def _attribute(structured: Any, name: str) -> Any:
    if not hasattr(type(structured), name) and not hasattr(structured, name):
        raise NotImplementedError
    return getattr(structured, name)


def _transposed(structured: Any) -> Any:
    return _attribute(structured, "T")


def _times(structured: Any, right: Array) -> Any:
    _attribute(structured, "__matmul__")
    return structured @ right


def _from_the_left(structured: Any, left: Array) -> Any:
    _attribute(structured, "__rmatmul__")
    return left @ structured


def _as_array(structured: Any) -> Any:
    _attribute(structured, "__array__")
    return np.asarray(structured)


def _dense(structured: Any) -> Array:
    """A matrix in any form as an array; through products with unit vectors if it has no such method."""
    for name in ("toarray", "todense", "dense"):
        if hasattr(structured, name):
            return np.asarray(getattr(structured, name)())
    if hasattr(type(structured), "__array__"):
        return np.asarray(structured)
    return np.asarray(structured @ np.eye(structured.shape[1]))


def _finding(claim: Claim, operation: _Operation, structured: Any, unit: float) -> Finding | None:
    """The finding about one operation; none if the matrix does not have it."""
    expected = operation.expected
    try:
        found = np.asarray(operation.ask(structured))
    except NotImplementedError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it raises, the operation does not work
        return claim.finding("wrong", entries=1, wrong=1, detail=f"it raised {type(error).__name__}: {error}")
    if found.shape != expected.shape:
        detail = f"found the shape {found.shape}, expected {expected.shape}"
        return claim.finding("wrong", entries=1, wrong=1, detail=detail, cause="wrong shape: it has another one")
    tolerance = _ROUNDING * unit * (operation.terms + np.abs(expected))
    gap = np.where((found == expected) | (np.isnan(found) & np.isnan(expected)), 0.0, np.abs(found - expected))
    wrong = ~(gap <= tolerance) & np.isfinite(expected)
    left = ~np.isfinite(expected) & (gap != 0)
    if not wrong.any():
        verdict: Verdict = "undecided" if left.size and left.all() else "right"
        return claim.finding(verdict, entries=found.size, undecided=int(left.sum()))
    worst = int(np.argmax(np.where(wrong, np.where(np.isfinite(gap), gap, np.inf), -1.0)))
    return claim.finding(
        "wrong",
        entries=found.size,
        wrong=int(wrong.sum()),
        index=subscript(expected.shape, worst),
        found=found.reshape(-1)[worst].item(),
        expected=expected.reshape(-1)[worst].item(),
        tolerance=float(tolerance.reshape(-1)[worst]),
    )
