"""NumPy's namespace, with what NumPy's protocols cannot catch: arrays made of traced numbers.

Owns :func:`array`, :func:`asarray`, :func:`full`, :func:`arange` and :func:`kaiser`. Imports the frontend and NumPy.
Invariant: every other name is NumPy's own object, which answers to traced values by itself.

>>> import einsumad.numpy as enp
>>> enp.exp is np.exp, enp.array([1, 2])
(True, array([1, 2]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.known import known
from einsumad.frontend.lifting import holds_tensor
from einsumad.frontend.promotion import in_dtype, tensor
from einsumad.frontend.stacking import stacked
from einsumad.frontend.tensor import Tensor

__all__ = ["arange", "array", "asarray", "full", "kaiser"]


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


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """``numpy.full``; filled with traced values it is a traced value."""
    filling = asarray(fill_value, dtype)
    if not isinstance(filling, Tensor):
        return np.full(shape, fill_value, dtype, **options)
    _refuse("full", options)
    return tensor(np.broadcast_to(tensor(filling), shape))


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
