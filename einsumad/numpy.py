"""NumPy's namespace, with what NumPy's protocols cannot catch: arrays made of traced numbers.

Owns :func:`array`, :func:`asarray`, :func:`zeros`, :func:`ones`, :func:`empty`, :func:`full`, :func:`arange`,
:func:`take` and :func:`kaiser`. Imports the frontend and NumPy. Invariant: every other name is NumPy's own object,
which answers to traced values by itself; for plain values outside of a traced function they all give plain arrays.

>>> import einsumad.numpy as enp
>>> enp.exp is np.exp, enp.array([1, 2])
(True, array([1, 2]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.known import known
from einsumad.frontend.lifting import holds_tensor, is_traceable
from einsumad.frontend.met import in_trace
from einsumad.frontend.numpy_functions.creation import of_anything, of_number, of_ones, of_zeros
from einsumad.frontend.promotion import in_dtype, tensor
from einsumad.frontend.stacking import stacked
from einsumad.frontend.tensor import Tensor

__all__ = ["arange", "array", "asarray", "empty", "full", "kaiser", "ones", "take", "zeros"]


def array(object: Any, dtype: Any = None, **options: Any) -> Any:  # noqa: A002 (NumPy's name)
    """``numpy.array`` of nested sequences, whose entries may be traced values: then a traced value."""
    if isinstance(object, Tensor):
        copied = options.pop("copy", True)
        _refuse("array", options)
        same = dtype is None or np.dtype(dtype) == object.dtype
        return object if same and not copied else Tensor(in_dtype(object.node, dtype or object.dtype))
    if not (isinstance(object, (list, tuple)) and holds_tensor(object)):
        return np.array(object, dtype, **options)
    _refuse("array", options)
    return Tensor(stacked(object, dtype))


def asarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """``numpy.asarray``, and :func:`array` for traced entries; a traced value of that dtype is returned itself."""
    if isinstance(a, Tensor):
        return array(a, dtype, copy=None, **options)
    if isinstance(a, (list, tuple)) and holds_tensor(a):
        return array(a, dtype, **options)
    return np.asarray(a, dtype, **options)


def zeros(shape: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
    """``numpy.zeros``; within a traced function a traced value, into which traced values can be written."""
    return _allocated(np.zeros, of_zeros, (shape,), np.dtype(dtype), {"order": order, **options})


def ones(shape: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
    """``numpy.ones``; within a traced function a traced value, into which traced values can be written."""
    return _allocated(np.ones, of_ones, (shape,), np.dtype(dtype), {"order": order, **options})


def empty(shape: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
    """``numpy.empty``; within a traced function traced zeros, into which traced values can be written."""
    return _allocated(np.empty, of_anything, (shape,), np.dtype(dtype), {"order": order, **options})


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **options: Any) -> Any:
    """``numpy.full``; within a traced function, or filled with traced values, it is a traced value."""
    filling = asarray(fill_value, dtype)
    if not isinstance(filling, Tensor):
        return _allocated(np.full, of_number, (shape, fill_value), filling.dtype, {"order": order, **options})
    _refuse("full", options)
    return tensor(np.broadcast_to(tensor(filling), shape))


def _allocated(
    plain: Callable[..., Any], traced: Callable[..., Any], args: Any, dtype: np.dtype, options: dict[str, Any]
) -> Any:
    """A new array: traced where a function is, and where it is like a traced one, if its dtype can be."""
    like = options.get("like")
    if not is_traceable(dtype) or not (isinstance(like, Tensor) or (like is None and in_trace())):
        return plain(*args, dtype=dtype, **options)
    return Tensor(traced(*args, dtype, **{name: option for name, option in options.items() if name != "like"}))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    """``numpy.take``, which gives a traced value for traced indices too."""
    if isinstance(indices, Tensor) or (isinstance(indices, (list, tuple)) and holds_tensor(indices)):
        return np.take(tensor(a), indices, axis, out, mode)
    return np.take(a, indices, axis, out, mode)


def arange(*args: Any, dtype: Any = None, **options: Any) -> Any:
    """``numpy.arange``; with a traced start or step a traced value, which has as many entries as their values say."""
    if not any(isinstance(x, Tensor) for x in (*args, *options.values())):
        return np.arange(*args, dtype=dtype, **options)
    names = ("start", "stop", "step") if len(args) > 1 else ("stop",)
    given: dict[str, Any] = dict(zip(names, args, strict=False))
    given |= {name: options.pop(name) for name in ("start", "stop", "step") if name in options}
    _refuse("arange", options)
    values: dict[str, Any] = {name: known(x, "arange") for name, x in given.items()}
    values["dtype"] = dtype
    plain: Any = np.arange(**values)  # type: ignore[call-overload]
    start, step = tensor(given.get("start", 0)), tensor(given.get("step", 1))
    return tensor(start + step * np.arange(plain.size), plain.dtype)


def kaiser(M: Any, beta: Any) -> Any:
    """``numpy.kaiser``; with a traced shape beta a traced window. The number of points is plain."""
    if not any(isinstance(x, Tensor) for x in (M, beta)):
        return np.kaiser(M, beta)
    if isinstance(M, Tensor):
        raise TracingError("einsumad.numpy.kaiser(M=...) takes a plain number of points: give M.numpy()")
    if beta.ndim:
        raise ShapeError(f"einsumad.numpy.kaiser takes a number beta, got shape {beta.shape}")
    shape, points = tensor(beta, np.float64), float(M)
    if points == 1:
        return tensor(np.ones(1))
    middle = (points - 1) / 2
    widths = np.sqrt(1 - ((np.arange(points) - middle) / middle) ** 2)
    return np.i0(shape * widths) / np.i0(shape)


def _refuse(name: str, options: dict[str, Any]) -> None:
    for option in options:
        raise TracingError(f"einsumad.numpy.{name}({option}=...) is not supported with traced entries: leave it out")


def __getattr__(name: str) -> Any:
    return getattr(np, name)


def __dir__() -> list[str]:
    return sorted({*dir(np), *globals()})
