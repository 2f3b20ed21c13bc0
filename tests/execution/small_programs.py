"""Random programs of NumPy on arrays with few entries: axes of size one and zero, none at all, flags, whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import einsumad as ea

_SIZES = (0, 1, 1, 1, 2, 3, 40, 300)
_ONE = (np.tanh, np.sin, np.exp, np.abs, np.negative, np.square, np.sqrt, np.log1p, np.transpose, np.cos)
_TWO = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.logaddexp, np.arctan2)
_MOST_ENTRIES = 2**14


@dataclass(frozen=True)
class SmallProgram:
    """A function of two float arrays, and these; it captures arrays of other dtypes."""

    function: Callable[..., Any]
    args: tuple[Any, Any]


def small_program(seed: int) -> SmallProgram:
    """The program of this number: a loss or its gradient, its Hessian, or all that it computes."""
    rng = np.random.default_rng(seed)
    dtype = np.float32 if rng.random() < 0.3 else np.float64
    sizes = [int(n) for n in rng.choice(_SIZES, size=3)]
    shapes = [tuple([sizes[k] for k in rng.integers(3, size=rng.integers(0, 3))]) for _ in range(2)]
    args = tuple([np.asarray(rng.normal(size=shape) * 0.7, dtype)[()] for shape in shapes])
    script, base = rng.integers(2**32), np.int64(rng.integers(2**32))

    def values(x: Any, y: Any) -> list[Any]:
        return _run(np.random.default_rng([script, base]), x, y, sizes)

    def loss(x: Any, y: Any) -> Any:
        found = [np.sum(np.tanh(value) ** 2) for value in values(x, y)[-4:] if value.dtype.kind == "f"]
        return sum(found, np.sum(x * dtype(1)) * np.sum(y))

    def several(x: Any, y: Any) -> Any:
        return tuple(values(x, y)[-5:])

    choices = [several, several, ea.value_and_grad(loss, (0, 1)), ea.grad(loss), ea.hessian(loss)]
    if max(args[0].size, args[1].size) > 40:
        choices = choices[:-1]
    return SmallProgram(choices[rng.integers(len(choices))], args)


def check_small_program(seed: int) -> None:
    """Compiled with regions it gives what it gives without: shapes, dtypes and values, up to rounding."""
    program = small_program(seed)
    with np.errstate(all="ignore"):
        expected = ea.compile(program.function)(*program.args)
        fast: Any = ea.compile(program.function, numba=True).program(*program.args)
    tolerance = 3e-3 if "float32" in fast.plan.source else 1e-9
    for one, other in zip(_flat(fast(program.args)), _flat(expected), strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        size = np.abs(other[np.isfinite(other)]).max(initial=1) if np.size(other) and other.dtype.kind == "f" else 1
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * size)


def numbers_and_single_axes() -> list[tuple[Any, ...]]:
    """Functions, by name, with arguments: vectors whose product has axes of size one, kernels that give one number."""
    cases: list[tuple[Any, ...]] = []
    for dtype in (np.float64, np.float32):
        rng = np.random.default_rng(1)
        rows, w, one = rng.normal(size=(1000, 1)).astype(dtype), np.array([0.7], dtype), dtype(0.3)
        x, y = rng.normal(size=(2, 3)).astype(dtype)

        def logistic(w: Any, rows: Any = rows) -> Any:
            return np.sum(np.log1p(np.exp(rows @ w)))

        def exponentials(w: Any, rows: Any = rows) -> Any:
            return np.sum(np.exp(rows @ w)) + w @ w

        def determinant(x: Any, y: Any) -> Any:
            return np.where(x > 0, np.linalg.det(np.outer(x, y)), y) + np.cos(y) * np.sin(x)

        def products(x: Any, y: Any) -> Any:
            return np.where(x > y, np.prod(x), np.prod(y)) * np.tanh(x) + np.cos(y) * np.sin(x) / 3

        def one_row(a: Any, b: Any) -> Any:
            return np.tanh(a.T @ np.sin(b)) * np.cos(a[:1] * np.sin(b[:1])) / (2 + a[1:2])

        name = np.dtype(dtype).name
        cases += [
            (f"hessian of one feature {name}", ea.hessian(logistic), w),
            (f"gradient in one feature {name}", ea.value_and_grad(exponentials), w),
            (
                f"one row {name}",
                lambda a, b: np.tanh(a.T @ np.sin(b)) * np.cos(a[:1] * np.sin(b[:1])) / (2 + a[1:2]),
                rows,
                rows,
            ),
            (f"determinant in a branch {name}", determinant, x, y),
            (f"gradient through a branch {name}", ea.grad(lambda x, y: np.sum(determinant(x, y) ** 2), (0, 1)), x, y),
            (f"products in both branches {name}", products, x, y),
            (f"products of one entry {name}", products, one, y),
            (f"spread of one number {name}", lambda x: np.tanh(x) / (1 + np.std(x)) * np.exp(np.prod(x)) - x**2, one),
        ]
    return cases


def _flat(tree: Any) -> list[Any]:
    return [leaf for part in tree for leaf in _flat(part)] if isinstance(tree, tuple) else [tree]


def _run(rng: np.random.Generator, x: Any, y: Any, sizes: list[int]) -> list[Any]:
    """The arguments, some constants, and what is computed of them, one after the other."""
    n = sizes[0]
    values: list[Any] = [x, y, x, y, rng.normal(size=(n, 1)).astype(x.dtype), rng.random((1, n)) > 0.5]
    values += [rng.integers(-2, 3, size=(1,)), np.float32(0.5), np.bool_(True)]
    for _ in range(rng.integers(3, 12)):
        made = _made(rng, values)
        if made is not None and np.size(made) <= _MOST_ENTRIES and np.ndim(made) <= 4:
            values.append(made)
    return [value for value in values[9:] if hasattr(value, "dtype")] or [x * np.sum(y)]


def _made(rng: np.random.Generator, values: list[Any]) -> Any:
    """One more value, or None where shapes do not fit."""
    late = values[-6:]
    a, b, c = [(late if rng.random() < 0.7 else values)[rng.integers(6)] for _ in range(3)]
    try:
        return _MAKERS[rng.integers(len(_MAKERS))](rng, a, b, c)
    except (ValueError, IndexError, np.linalg.LinAlgError):
        return None


def _is_float(value: Any) -> bool:
    return bool(getattr(value, "dtype", np.dtype(bool)).kind == "f")


def _smooth(rng: np.random.Generator, a: Any, *_: Any) -> Any:
    return _ONE[rng.integers(len(_ONE))](a) if _is_float(a) else a * 0.5


def _pair(rng: np.random.Generator, a: Any, b: Any, *_: Any) -> Any:
    both = _is_float(a) and _is_float(b)
    return _TWO[rng.integers(len(_TWO) if both else 3)](a, b) if both else a * b + 1.0


def _choice(rng: np.random.Generator, a: Any, b: Any, c: Any) -> Any:
    mask = (np.greater, np.less_equal, np.not_equal)[rng.integers(3)](a, b)
    return np.where(mask & (a != c) if rng.random() < 0.5 else mask, b, c)


def _mask(rng: np.random.Generator, a: Any, b: Any, *_: Any) -> Any:
    both = (a > 0) | ~(b <= 0)
    return both if rng.random() < 0.5 else both * (b + 1.0)


def _reduced(rng: np.random.Generator, a: Any, *_: Any) -> Any:
    reduce = (np.sum, np.prod, np.mean, np.max, np.min, np.var, np.sum)[rng.integers(7 if np.size(a) else 2)]
    axes = [None, *range(np.ndim(a))]
    return reduce(a * 1.0, axis=axes[rng.integers(len(axes))], keepdims=bool(rng.random() < 0.3))


def _product(rng: np.random.Generator, a: Any, b: Any, *_: Any) -> Any:
    return (np.matmul, np.dot, np.outer, np.inner, np.vdot)[rng.integers(5)](a * 1.0, b * 1.0)


def _turned(_: np.random.Generator, a: Any, b: Any, *__: Any) -> Any:
    return a.T @ b if np.ndim(a) == np.ndim(b) == 2 else np.sum(a * b, axis=0)


def _shaped(rng: np.random.Generator, a: Any, *_: Any) -> Any:
    return (a[None], a[..., None] * 1.0, a.reshape(-1), a[:1], a[0], a[-1:] * 2)[rng.integers(6)]


def _kernel(rng: np.random.Generator, a: Any, *_: Any) -> Any:
    if rng.random() < 0.3:
        return np.log(np.sum(np.exp(a), axis=-1))
    vector = np.ravel(a)[:2] * 1.0
    matrix = np.outer(vector, vector) + 2 * np.eye(vector.size, dtype=vector.dtype)
    return (np.linalg.det, np.linalg.inv, np.trace, np.diag, np.cumsum)[rng.integers(5)](matrix)


def _cast(rng: np.random.Generator, a: Any, *_: Any) -> Any:
    return a.astype((np.float32, np.float64)[rng.integers(2)])


_MAKERS: tuple[Callable[..., Any], ...] = (
    _smooth,
    _smooth,
    _pair,
    _pair,
    _pair,
    _choice,
    _choice,
    _mask,
    _reduced,
    _reduced,
    _product,
    _product,
    _turned,
    _shaped,
    _kernel,
    _cast,
)
