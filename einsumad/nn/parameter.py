"""Arrays that a module holds: parameters, which it learns, and buffers, which it only keeps.

Owns :class:`Parameter` and :class:`Buffer`. Imports the context of calls. Invariant: the array of either is read-only
and is replaced as a whole, so that whoever read it before keeps what was read; a parameter is a tensor, whose leaf is
new whenever the array is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.context import call_in_force, gradients_wanted, is_within

_WHOLE = (
    "a parameter is not written to entry by entry, as a loss that was computed from it would change: assign "
    "p.data = new array"
)


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[Parameter, Any], Parameter]:
    """``p -= step`` within ``no_grad``: a new array."""

    def act(self: Parameter, other: Any) -> Parameter:
        if gradients_wanted() or call_in_force() is not None:
            raise ea.TracingError(f"a parameter is updated within nn.no_grad() or by an optimiser: {_WHOLE}")
        self.data = operation(self.data, _standing(other))
        return self

    return act


class Parameter(ea.Tensor):
    """A tensor that a module learns: an attribute of a :class:`Module` that is one registers itself.

    `data` is the array, of a floating dtype; it is read-only, and replaced by assignment. ``backward`` adds gradients
    up in `grad`, until ``grad = None``. Where `requires_grad` is False, nothing is left there, and optimisers let the
    parameter be.

    Raises :class:`DifferentiationError` for another dtype.

    >>> import numpy as np, einsumad.nn as nn
    >>> p = nn.Parameter(np.array([1.0, 2.0]))
    >>> np.sum(p**2).backward()
    >>> p.data = p.data - 0.1 * p.grad
    >>> p.data
    array([0.8, 1.6])
    """

    __slots__ = ("_data", "_kept", "_requires", "_tensor")

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        array = _frozen(data)
        if array.dtype.kind != "f":
            raise ea.DifferentiationError(f"a parameter has a floating dtype, got {array.dtype}: keep it as a buffer")
        self._data = array
        self._requires = bool(requires_grad)
        self._tensor: ea.Tensor | None = None
        self._kept: np.ndarray | None = None

    @property
    def data(self) -> np.ndarray:
        """The array, read-only. What is assigned has its shape and becomes its dtype."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        if call_in_force() is not None:
            raise ea.TracingError(
                "a parameter was assigned within apply, which changes nothing: do it outside of forward"
            )
        array = _fitting(value, self._data, "a parameter")
        self._kept, self._tensor = self.grad, None
        self._data = array

    @property
    def entries(self) -> Any:  # type: ignore[override]  # nobody but a tensor itself writes it
        """What a tensor keeps: that of the tensor which stands for the parameter now; of its own for its own array."""
        standing = self.standing()
        if standing is self._data:
            return self.leaf.entries
        return (standing if isinstance(standing, ea.Tensor) else ea.tensor(standing)).entries

    def standing(self) -> Any:
        """The tensor or array that stands for the parameter where it is used now."""
        call = call_in_force()
        value = None if call is None else call.value(self)
        if value is not None:
            return value
        return self.leaf if gradients_wanted() else self._data

    @property
    def leaf(self) -> ea.Tensor:
        """The tensor that ``backward`` leaves gradients on, as long as the array stays."""
        if self._tensor is None:
            self._tensor = ea.tensor(self._data, requires_grad=self._requires)
            if self._kept is not None and self._requires:
                self._tensor.grad = self._kept
        return self._tensor

    def is_leaf(self, standing: Any) -> bool:
        """Whether what stands for the parameter is its own tensor."""
        return standing is not None and standing is self._tensor

    @property
    def grad(self) -> np.ndarray | None:
        """The gradient that ``backward`` has added up, or None."""
        return self._kept if self._tensor is None else self._tensor.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if not self._requires and value is not None:
            raise ea.DifferentiationError("this parameter has requires_grad=False, so it has no gradient to set")
        array = None if value is None else np.array(value, self._data.dtype)
        if array is not None and array.shape != self._data.shape:
            raise ea.ShapeError(f"the gradient has shape {array.shape}, the parameter has shape {self._data.shape}")
        self._kept = array
        if self._tensor is not None and self._requires:
            self._tensor.grad = array

    @property
    def requires_grad(self) -> bool:
        """Whether ``backward`` leaves a gradient here."""
        return self._requires

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._kept, self._tensor = self.grad if wanted else None, None
        self._requires = bool(wanted)

    def numel(self) -> int:
        """How many numbers it holds."""
        return self._data.size

    def numpy(self, *_: str) -> np.ndarray:
        """A copy of the array."""
        return self._data.copy()

    def convert(self, dtype: Any) -> None:
        """Have another dtype from now on; the gradient is forgotten."""
        self._data, self._tensor, self._kept = _frozen(self._data.astype(dtype)), None, None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_standing(inputs), **_standing(kwargs))

    def __array_function__(
        self, function: Callable[..., Any], types: Collection[type], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        return function(*_standing(args), **_standing(kwargs))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise ea.TracingError(_WHOLE)

    def fill(self, value: Any) -> None:
        """Refused: a parameter is replaced as a whole."""
        self[...] = value

    __iadd__, __isub__, __imul__ = _in_place(operator.add), _in_place(operator.sub), _in_place(operator.mul)
    __itruediv__, __ifloordiv__ = _in_place(operator.truediv), _in_place(operator.floordiv)
    __imod__, __ipow__, __imatmul__ = _in_place(operator.mod), _in_place(operator.pow), _in_place(operator.matmul)

    def __repr__(self) -> str:
        wanted = "" if self._requires else ", requires_grad=False"
        return f"Parameter({np.array2string(self._data, threshold=20)}, dtype={self._data.dtype}{wanted})"

    def __reduce__(self) -> Any:
        return Parameter, (self._data, self._requires)

    def __copy__(self) -> Parameter:
        return Parameter(self._data, self._requires)

    def __deepcopy__(self, _: Any) -> Parameter:
        return Parameter(self._data, self._requires)


class Buffer:
    """An array that a module keeps and does not learn, such as a running mean.

    As an attribute of a module it registers itself, as with ``register_buffer``, and reading the attribute gives the
    array; what is assigned afterwards is its new value.

    >>> import numpy as np
    >>> from einsumad import nn
    >>> class Scaled(nn.Module):
    ...     def __init__(self):
    ...         self.scale = nn.Buffer(np.array([2.0, 3.0]))
    ...
    ...     def forward(self, x):
    ...         return self.scale * x
    >>> Scaled()(np.ones(2)), list(Scaled().state_dict())
    (array([2., 3.]), ['scale'])
    """

    __slots__ = ("_data", "_pending", "persistent")

    def __init__(self, data: Any, persistent: bool = True) -> None:
        self._data = _frozen(data)
        self._pending: Any = None
        self.persistent = persistent

    @property
    def data(self) -> np.ndarray:
        """The array, read-only; a value that a call gave is seen once the call is over."""
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        self._data, self._pending = _fitting(value, self._data, "a buffer"), None

    def convert(self, dtype: Any) -> None:
        """Have another dtype from now on, if it is a floating one now."""
        if self.data.dtype.kind == "f":
            self._data = _frozen(self._data.astype(dtype))

    def standing(self) -> Any:
        """The tensor or array that stands for the buffer where it is used now."""
        call = call_in_force()
        value = self._pending if call is None else call.value(self)
        return self._data if value is None else value

    def take(self, value: Any) -> None:
        """A new value from within a call of the module; one that is traced is computed when the call is over."""
        call = call_in_force()
        shape = np.shape(value)
        if shape != self._data.shape:
            raise ea.ShapeError(f"a buffer of shape {self._data.shape} was given a value of shape {shape}")
        if call is not None:
            call.updates[id(self)] = value
        elif is_within():
            self._pending = value
        else:
            self.data = value


def settle(buffers: Sequence[Buffer]) -> None:
    """Compute the new values of all these buffers by one plan; where that fails, they keep those that they had."""
    waiting = [buffer for buffer in buffers if buffer._pending is not None]  # noqa: SLF001 (of this class)
    if not waiting:
        return
    try:
        traced = [buffer for buffer in waiting if isinstance(buffer._pending, ea.Tensor)]  # noqa: SLF001 (of this class)
        values = ea.evaluate([buffer._pending for buffer in traced])  # noqa: SLF001 (of this class)
        known = {id(buffer): value for buffer, value in zip(traced, values, strict=True)}
        for buffer in waiting:
            buffer.data = known.get(id(buffer), buffer._pending)  # noqa: SLF001 (of this class)
    finally:
        forget_pending(waiting)


def forget_pending(buffers: Iterable[Buffer]) -> None:
    """Let the buffers keep the values that they had before the call."""
    for buffer in buffers:
        buffer._pending = None  # noqa: SLF001 (of this class)


def _standing(arguments: Any) -> Any:
    """The arguments with what stands for the parameters among them."""
    if isinstance(arguments, Parameter):
        return arguments.standing()
    if type(arguments) in (tuple, list):
        return type(arguments)([_standing(part) for part in arguments])
    if type(arguments) is dict:
        return {name: _standing(part) for name, part in arguments.items()}
    return arguments


def _frozen(data: Any) -> np.ndarray:
    """A private read-only copy."""
    array = np.array(data.numpy() if isinstance(data, ea.Tensor) else data, order="C")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of numbers is needed, got dtype {array.dtype}")
    array.flags.writeable = False
    return array


def _fitting(value: Any, before: np.ndarray, what: str) -> np.ndarray:
    """The new array, of the shape and dtype of the old one."""
    array = np.array(value.numpy() if isinstance(value, ea.Tensor) else value, order="C")
    if array.shape != before.shape:
        raise ea.ShapeError(f"{what} of shape {before.shape} was given an array of shape {array.shape}")
    if not np.can_cast(array.dtype, before.dtype, "same_kind"):
        raise TypeError(f"{what} of dtype {before.dtype} was given an array of dtype {array.dtype}")
    array = array.astype(before.dtype, copy=False)
    array.flags.writeable = False
    return array
