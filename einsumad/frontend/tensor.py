"""The user's handle: a node that behaves like a NumPy array.

Owns :class:`Tensor`. Imports the graph, the registry of functions, the operators and evaluation. Invariant: a
tensor holds its node and nothing else; each use of it either gives a tensor again, or plain facts (shape,
dtype), or raises. It never becomes an array or a number behind the user's back, since that would lose the
derivative; whole numbers, truth values and what is constant but for jumps have none, and become whole numbers of Python
or NumPy where they are known and asked for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from sys import _getframe, modules  # the first is what inspect.currentframe is made of
from typing import Any, Never, NoReturn

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.execution.backends import is_array_type
from einsumad.frontend.callers import (
    FIRST_OF_POLYNOMIALS,
    MAY_BE_POLYNOMIALS,
    POLYNOMIALS,
    called_by_torch,
    check_polynomial_caller,
    numpy_remedy,
    scipy_remedy,
)
from einsumad.frontend.carrying import carries_derivative
from einsumad.frontend.evaluation import concrete, unknown_value
from einsumad.frontend.gradients import backward
from einsumad.frontend.met import OnWalk, leave_walk, open_trace
from einsumad.frontend.operators import Operators
from einsumad.frontend.registry import INTO_ARRAY, WRITERS, call_function, call_own, call_ufunc
from einsumad.frontend.variables import gradient, requires_gradient, set_gradient
from einsumad.frontend.views import Entries, attach
from einsumad.graph import Node, display

_TO_NUMBER = (
    "the derivative would be lost: use the traced value itself and NumPy functions such as np.exp instead of math.exp; "
    "to build an array from traced entries use einsumad.numpy.array instead of writing into one; outside of the traced "
    "function use the result, and x.numpy() to look at a value that is known"
)
_TO_ARRAY = (
    "the derivative would be lost: use np.* functions on the traced value itself, those of einsumad.scipy.linalg "
    "in the place of scipy.linalg, einsumad.numpy.array([...]), np.stack or np.concatenate to build an array from "
    "traced entries, and einsumad.numpy.zeros or np.where to write them into an array"
)
_ROUND_FIRST = (
    "what is rounded has no derivative to lose: int(np.floor(x)) and np.floor(x).astype(int) are whole numbers"
)
_TO_WHOLE = (
    "Python would make a whole number of it, which has no derivative: use np.round, np.floor, np.ceil or np.trunc, "
    f"which stay in the floating dtype; {_ROUND_FIRST}"
)
_INDEX = (
    "as an index of a plain array g use it in einsumad.numpy.take(g, index, axis=0) or in ea.tensor(g)[index], and in "
    "the place of an array of truth values np.where"
)
_INSTEAD_OF_FLAT = "read np.ravel(x) in its place, and write by np.put(x, places, values)"
_NO_MEMBER = "whether an entry is equal depends on values: use np.any(x == value)"
_NO_UPDATE = (
    "a tensor that requires a gradient is not written to, it would no longer be the one that backward knows: make "
    "the updated parameter with ea.tensor(t.numpy() - step, requires_grad=True)"
)


def _refused(what: str, remedy: str) -> Callable[..., Never]:
    def refuse(self: Tensor, *_args: object, **_kwargs: object) -> NoReturn:
        raise TracingError(f"{what} of a traced value of shape {self.shape} and dtype {self.dtype}: {remedy}")

    return refuse


def _to_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # noqa: ARG001 (always a copy)
    """Whole numbers that are known, as of an index, and what is to become such; others are refused, and it says why."""
    if _is_whole(self) or (dtype is not None and np.dtype(dtype).kind in "iub" and not carries_derivative(self.node)):
        return np.array(self.numpy("use as an array", _INDEX), dtype)
    remedy = scipy_remedy() or numpy_remedy() or _TO_ARRAY
    what = f"conversion to an array of a traced {self.dtype} of shape {self.shape}"
    raise _ConversionError(f"{what}: {remedy}", self.node)


class _ConversionError(TracingError):
    """A conversion to an array that would lose the derivative of the node."""

    def __init__(self, text: str, node: Node | None = None) -> None:
        super().__init__(text)
        self.node = node


def not_converted(error: TracingError) -> Node | None:
    """The node that was to become an array where the error is about that."""
    return error.node if isinstance(error, _ConversionError) else None


def _is_whole(x: Tensor) -> bool:
    return x.node.dtype.kind in "iub"


def _whole_number(what: str, convert: Callable[[Any], int], remedy: str) -> Callable[[Tensor], int]:
    """A whole number of Python, where the value is known and carries no derivative."""

    def act(self: Tensor) -> int:
        if self.node.shape or carries_derivative(self.node):
            return _refused(what, remedy)(self)
        return convert(self.numpy(what).item())

    return act


def _index(self: Tensor) -> int:
    """A whole number as an index; floats are none, as with NumPy."""
    if self.node.shape or not _is_whole(self):
        return _refused("use as an index", f"{_TO_NUMBER}; {_ROUND_FIRST}")(self)
    return int(self.numpy("use as an index", _INDEX))


def _round(self: Tensor, digits: Any = None) -> Any:
    """``round`` of a number: to digits as NumPy does it, without them a whole number, as of one it is."""
    if self.node.shape:
        raise TypeError("round() of a traced value with axes: use np.round")
    return _whole_number("round()", round, _TO_WHOLE)(self) if digits is None else np.round(self, digits)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return method


def _shape(self: Tensor) -> tuple[int, ...]:
    """The sizes of the axes."""
    return self.entries.form.shape  # type: ignore[no-any-return]


def _dtype(self: Tensor) -> np.dtype:
    """The dtype of the value."""
    return self.entries.form.dtype  # type: ignore[no-any-return]


def _ndim(self: Tensor) -> int:
    """The number of axes."""
    return len(self.shape)


def _size(self: Tensor) -> int:
    """The number of entries."""
    return math.prod(self.shape)


def _transpose(self: Tensor, *axes: Any) -> Any:
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return np.transpose(self, order)


def _reshape(self: Tensor, *shape: Any, **options: Any) -> Any:
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)


def _flatten(self: Tensor, order: str = "C") -> Any:
    return np.copy(_ravel(self, order))


def _compress(self: Tensor, condition: Any, axis: Any = None) -> Any:
    return np.compress(condition, self, axis)


_ravel = _method(np.ravel)


def _get_item(self: Tensor, index: Any) -> Any:
    return _step(operator.getitem, (self, index), {}, _function_called)


def _fill(self: Tensor, value: Any) -> None:
    """``x.fill(value)``: the number at every entry."""
    if np.ndim(value):
        raise ValueError(f"fill takes a number, got shape {np.shape(value)}: write x[...] = value")
    self[...] = value


def _set_item(self: Tensor, index: Any, value: Any) -> None:
    leave_walk()
    _written_to(self, call_function(operator.setitem, (self, index, value), {}))


def _step(function: Any, args: Sequence[Any], options: Mapping[str, Any], ordinary: Callable[..., Any]) -> Any:
    """What a call gives: by the walk of the open trace, if it is on one, otherwise by the ordinary way."""
    met = open_trace()
    if met is None or met.at is None:
        return ordinary(function, args, options)
    return met.call(function, args, options, ordinary)


def _function_called(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    return attach(wrap(call_function(function, args, options)), function, args, options)


def own_called(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a call of a function for traced values gives that is asked by its name, not by NumPy: a step like others."""
    return _step(function, args, options, _own_called)


def _own_called(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    return wrap(call_own(function, args, options))


def _ufunc_called(ufunc: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    return wrap(call_ufunc(ufunc, "__call__", args, options))


def _method_called(method: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    ufunc, name = method
    return wrap(call_ufunc(ufunc, name, args, options))


def _written_to(target: Any, node: Node) -> None:
    if not isinstance(target, Tensor):
        raise TracingError(INTO_ARRAY)
    target.entries.write(node, _may_write)


def _may_write(node: Node) -> None:
    if requires_gradient(node):
        raise TracingError(_NO_UPDATE)


def _entries(self: Tensor) -> Iterator[Any]:
    if not self.shape:
        raise TypeError("iteration over a traced value without axes")
    return iter([self[k] for k in range(self.shape[0])])


def _itself(self: Tensor, *_: Any) -> Tensor:
    return self


def _fresh(self: Tensor, *_: Any) -> Tensor:
    return Tensor(self.node)


def _get_gradient(self: Tensor) -> np.ndarray | None:
    """The gradient that backward has added up, or None."""
    return gradient(self.node)


def _set_gradient(self: Tensor, value: np.ndarray | None) -> None:
    set_gradient(self.node, value)


def _requires_gradient(self: Tensor) -> bool:
    """Whether backward leaves a gradient here."""
    return requires_gradient(self.node)


def _in_place(ufunc: np.ufunc) -> Callable[[Tensor, Any], Tensor]:
    """``x += y`` as NumPy's arrays do it, seen by all names and views of x; numbers, which have no axes, rebind."""

    def act(self: Tensor, other: Any) -> Tensor:
        _may_write(self.node)
        if not self.node.shape:
            return NotImplemented  # type: ignore[no-any-return]
        result: Tensor = ufunc(self, other)
        if result.shape != self.shape:
            raise ShapeError(f"an in-place {ufunc.__name__} of shape {self.shape} has a result of shape {result.shape}")
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise TypeError(f"an in-place {ufunc.__name__} cannot put {result.dtype} into an array of {self.dtype}")
        self[...] = result
        return self

    return act


_FACTS = frozenset([np.shape, np.ndim, np.size])
"""What is known of a tensor on a walk, too, and is no step of it."""


class Tensor(Operators):
    """A traced value. Use it with NumPy's functions and Python's operators as if it were an array.

    It is made by the transforms and by :func:`einsumad.variable`, not by hand.
    """

    __slots__ = ("__weakref__", "entries")

    def __init__(self, node: Node | None, walk: OnWalk | None = None, place: int = -1) -> None:
        self.entries = Entries(node, walk, place)

    @property
    def node(self) -> Node:
        """The expression of the value."""
        return self.entries.node

    _ordinary = staticmethod(_ufunc_called)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if (
            ufunc in FIRST_OF_POLYNOMIALS
            and POLYNOMIALS in modules
            and _getframe(1).f_globals.get("__name__") in MAY_BE_POLYNOMIALS
        ):
            check_polynomial_caller(inputs)
        if method == "__call__":
            met = open_trace()
            if met is None or met.at is None:
                return _ufunc_called(ufunc, inputs, kwargs)
            return met.call(ufunc, inputs, kwargs, _ufunc_called)
        if method == "at":
            leave_walk()
            return _written_to(inputs[0], call_ufunc(ufunc, method, inputs, kwargs))
        return _step((ufunc, method), inputs, kwargs, _method_called)

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Collection[type],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        if len(types) > 1 and not all(issubclass(kind, (Tensor, np.ndarray)) or is_array_type(kind) for kind in types):
            return NotImplemented
        if function in WRITERS:
            leave_walk()
            return _written_to(args[0] if args else None, call_function(function, args, kwargs))
        if function in _FACTS and len(args) == 1 and args[0] is self and not kwargs:
            return getattr(self, function.__name__)
        met = open_trace()
        if met is None or met.at is None:
            return _function_called(function, args, kwargs)
        return met.call(function, args, kwargs, _function_called)

    @classmethod
    def __torch_function__(cls, function: Any, *_: Any, **__: Any) -> Any:
        return called_by_torch(function)

    def __bool__(self) -> bool:
        return bool(self.numpy("bool()"))

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of a traced value without axes")
        return int(shape[0])

    def __repr__(self) -> str:
        return f"Tensor({display.short_text(self.node)}, shape={self.shape}, dtype={self.dtype})"

    def __str__(self) -> str:
        return display.expression_text(self.node)

    def __format__(self, spec: str) -> str:
        """The expression, or with a format such as ``.3f`` the value, where it is known: text carries no derivative."""
        return format(self.numpy("a format")[()], spec) if spec else str(self)

    def __reduce__(self) -> tuple[type[Tensor], tuple[Node]]:
        return Tensor, (self.node,)  # the expression without values

    def __getattr__(self, name: str) -> Never:
        raise _no_attribute(name)

    def numpy(self, asked: str = "numpy()", *instead: str) -> np.ndarray:
        """A copy of the value, where it is known: it carries no derivative."""
        value = concrete(self.node)
        if value is None:
            raise unknown_value(f"{asked} needs the value of a traced {self.dtype} of shape {self.shape}", *instead)
        return value.copy()

    def backward(self, memory_limit: int | None = None) -> None:
        """Add the gradient of this scalar to all it depends on that was made with ``requires_grad=True``."""
        backward(self.node, memory_limit)

    grad = property(_get_gradient, _set_gradient)
    requires_grad = property(_requires_gradient)
    shape, dtype, ndim, size = property(_shape), property(_dtype), property(_ndim), property(_size)
    T = property(_transpose)
    mT = property(_method(np.matrix_transpose))  # noqa: N815 (NumPy's name)
    real, imag, conj, conjugate = property(_itself), property(_method(np.imag)), _itself, _itself
    __iadd__, __isub__, __imul__ = _in_place(np.add), _in_place(np.subtract), _in_place(np.multiply)
    __itruediv__, __ifloordiv__, __imod__ = (_in_place(f) for f in (np.true_divide, np.floor_divide, np.remainder))
    __ipow__, __imatmul__ = _in_place(np.power), _in_place(np.matmul)
    __iand__, __ior__, __ixor__ = (_in_place(f) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
    __ilshift__, __irshift__ = _in_place(np.left_shift), _in_place(np.right_shift)
    __copy__, __deepcopy__ = _fresh, _fresh
    transpose, reshape = _transpose, _reshape
    ravel, flatten, take, repeat = _ravel, _flatten, _method(np.take), _method(np.repeat)
    swapaxes, squeeze = _method(np.swapaxes), _method(np.squeeze)
    cumsum, cumprod = _method(np.cumsum), _method(np.cumprod)
    nonzero, searchsorted, compress, choose = (
        _method(np.nonzero),
        _method(np.searchsorted),
        _compress,
        _method(np.choose),
    )
    argmax, argmin, argsort = _method(np.argmax), _method(np.argmin), _method(np.argsort)
    sum, prod, mean, var, std = (_method(f) for f in (np.sum, np.prod, np.mean, np.var, np.std))
    max, min, any, all = (_method(f) for f in (np.max, np.min, np.any, np.all))
    dot, trace, diagonal = _method(np.dot), _method(np.trace), _method(np.diagonal)
    fill = _fill
    clip, round, copy, astype = _method(np.clip), _method(np.round), _method(np.copy), _method(np.astype)
    __float__, __complex__ = _refused("float()", _TO_NUMBER), _refused("complex()", _TO_NUMBER)
    __int__, __index__ = _whole_number("int()", int, f"{_TO_NUMBER}; {_ROUND_FIRST}"), _index
    __round__, __trunc__ = _round, _whole_number("trunc()", math.trunc, _TO_WHOLE)
    __floor__ = _whole_number("floor()", math.floor, _TO_WHOLE)
    __ceil__ = _whole_number("ceil()", math.ceil, _TO_WHOLE)
    item, tolist = _refused(".item()", _TO_NUMBER), _refused(".tolist()", _TO_NUMBER)
    __array__ = _to_array
    __getitem__ = _get_item
    __iter__ = _entries
    __contains__ = _refused("'in'", _NO_MEMBER)
    __setitem__, __delitem__ = _set_item, _refused("deletion", "arrays have a fixed size")


class _NoAttributeError(TracingError, AttributeError):
    """An attribute that arrays have and traced values do not, so ``hasattr`` is False."""


def _no_attribute(name: str) -> AttributeError:
    if name.startswith("__") or not hasattr(np.ndarray, name):
        return AttributeError(f"a traced value has no attribute {name!r}")
    if name == "flat":
        return _NoAttributeError(f"ndarray.flat is not supported on traced values: {_INSTEAD_OF_FLAT}")
    return _NoAttributeError(
        f"ndarray.{name} is not supported yet on traced values: write it with supported functions, or apply "
        "it to a plain array outside of the traced function"
    )


def wrap(result: Any) -> Any:
    """What a handler returned, with tensors for nodes, also within tuples and NumPy's named tuples."""
    if isinstance(result, Node):
        return Tensor(result)
    if isinstance(result, list):
        return [wrap(part) for part in result]
    if isinstance(result, tuple) and any(isinstance(part, Node) for part in result):
        parts = [wrap(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result
