"""The one registry of what the NumPy surface supports.

Owns the tables from NumPy functions, ufuncs and ufunc methods to handlers, and the refusals for everything
else. Imports errors and the reasons. Invariant: an entry is made once, and what has no entry raises
:class:`TracingError` with the name of the function, so that nothing is ever traced by accident.

A handler takes the caller's arguments as they are and returns a node, a tuple of nodes or a plain value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution.backends import any_met, library_of
from einsumad.frontend.coverage.limits import option_refused
from einsumad.frontend.coverage.lookup import reason_for

Handler = Callable[..., Any]
H = TypeVar("H", bound=Handler)

NOT_GIVEN = signature(np.sum).parameters["keepdims"].default  # NumPy's own mark
_functions: dict[Callable[..., Any], Handler] = {}
_ufuncs: dict[np.ufunc, Handler] = {}
_special: dict[str, Handler] = {}
_methods: dict[tuple[np.ufunc, str], Handler] = {}
_every_method: dict[str, Handler] = {}

WRITERS: frozenset[Callable[..., Any]] = frozenset(
    [np.put, np.copyto, np.fill_diagonal, np.put_along_axis, np.putmask, np.place]
)
"""Functions that write into their first argument; their handlers return the node that it then has."""

INTO_ARRAY = (
    "a traced value cannot be written into a plain array: the derivative would be lost; make the array a traced one, "
    "by einsumad.numpy.zeros, ones, empty or full, by np.zeros_like of a traced value, or outside of traced functions "
    "by ea.tensor(np.zeros(...)); or build it with einsumad.numpy.array"
)
_SPECIAL_MODULES = ("scipy.special", "scipy.special._ufuncs")  # the second has those that plain functions call
_METHOD_OPTIONS = ("out", "where", "initial")


def implements(*functions: Callable[..., Any]) -> Callable[[H], H]:
    """Register the handler of array functions such as ``np.sum``."""
    return lambda handler: _enter(_functions, functions, handler)


def implements_ufunc(*ufuncs: np.ufunc) -> Callable[[H], H]:
    """Register the handler of calls of ufuncs; it is given the ufunc and then its inputs."""
    return lambda handler: _enter(_ufuncs, ufuncs, handler)


def implements_special(*names: str) -> Callable[[H], H]:
    """Register the handler of ufuncs of ``scipy.special``, by name: the user loads SciPy, not we."""
    return lambda handler: _enter(_special, names, handler)


def implements_method(ufunc: np.ufunc, method: str) -> Callable[[H], H]:
    """Register the handler of a ufunc method such as ``np.add.reduce``."""
    return lambda handler: _enter(_methods, [(ufunc, method)], handler)


def implements_methods(method: str) -> Callable[[H], H]:
    """Register the handler of a method of all ufuncs that have none of their own; it is given the ufunc first."""
    return lambda handler: _enter(_every_method, [method], handler)


_of_arrays: set[Callable[..., Any]] = set()
_of_arrays_after_text: set[Callable[..., Any]] = set()


def arrays_are_nodes(*functions: Callable[..., Any], after_text: bool = False) -> Callable[[H], H]:
    """Note of a handler that it takes arrays of NumPy as nodes alone: what it gives depends on none of their entries.

    With `after_text` that is so where the first argument is a string.
    """
    (_of_arrays_after_text if after_text else _of_arrays).update(functions)
    return lambda handler: handler


def takes_arrays_as_nodes(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether the function depends on no entry of the arrays of NumPy among these arguments, but as a node does."""
    return function in _of_arrays or (function in _of_arrays_after_text and bool(args) and type(args[0]) is str)


def _enter(table: dict[Any, Handler], keys: Sequence[Any], handler: H) -> H:
    for key in keys:
        if table.setdefault(key, handler) is not handler:
            raise ValueError(f"{key!r} already has a handler, {table[key].__module__}.{table[key].__qualname__}")
    return handler


_callers: list[Callable[[Any, Sequence[Any], Mapping[str, Any], Handler], Any]] = []
_lifts: list[Callable[[Any], Any]] = []


def calls_handlers(caller: Callable[[Any, Sequence[Any], Mapping[str, Any], Handler], Any]) -> None:
    """Let this call handlers, given what was called, its arguments and the handler without arguments."""
    _callers.append(caller)


def lifts_arrays(function: H) -> H:
    """Register what makes a traced value of an array of another library."""
    _lifts.append(function)
    return function


def _lifted(x: Any) -> Any:
    """The argument with traced values for arrays of other libraries, within lists and tuples too."""
    if library_of(x) is not None:
        return _lifts[0](x)
    if isinstance(x, (list, tuple)) and any_met():
        parts = [_lifted(part) for part in x]
        if any(part is not before for part, before in zip(parts, x, strict=True)):
            return parts if isinstance(x, list) else tuple(parts)
    return x


_missing = ["einsumad.frontend.numpy_functions", "einsumad.frontend.scipy_special", "einsumad.frontend.replay"]
"""Modules that are not loaded yet."""


def _load_surface() -> None:
    """Let all handlers register, before the first of them is looked for."""
    if _missing:
        for module in tuple(_missing):
            import_module(module)
        _missing.clear()


def call_function(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What ``__array_function__`` asks for."""
    _load_surface()
    handler = _functions.get(function)
    if handler is None:
        raise unsupported(f"{function.__module__}.{function.__name__}")
    if any_met():
        args, kwargs = [_lifted(x) for x in args], {name: _lifted(x) for name, x in kwargs.items()}
    if function in WRITERS:
        return handler(*args, **kwargs)
    return _callers[0](function, args, kwargs, handler)


def call_own(function: Handler, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function for traced values gives, which stands for one that has no protocol, such as SciPy's."""
    _load_surface()
    return _callers[0](function, args, kwargs, function)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What ``__array_ufunc__`` asks for."""
    _load_surface()
    if any_met():
        inputs = [_lifted(x) for x in inputs]
    if method != "__call__":
        return _call_method(ufunc, method, inputs, kwargs)
    if kwargs:
        name = qualified_name(ufunc)
        if any(array is given for array in kwargs.get("out", ()) for given in inputs):
            raise TracingError(f"{name} in place: {INTO_ARRAY}, or write a = a + x in the place of a += x")
        raise option_refused(name, next(iter(kwargs)))
    handler = _ufuncs.get(ufunc) or _special_handler(ufunc)
    if handler is None:
        raise unsupported(qualified_name(ufunc))
    return _callers[0](ufunc, inputs, kwargs, partial(handler, ufunc))


def _call_method(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A method of a ufunc such as ``np.add.reduce``."""
    handler = _methods.get((ufunc, method))
    name = qualified_name(ufunc)
    if handler is None and method in _every_method and has_ufunc(ufunc):
        handler = partial(_every_method[method], ufunc)
    if handler is None:
        raise unsupported(f"{name}.{method}")
    refuse_options(f"{name}.{method}", **{key: kwargs.get(key) for key in _METHOD_OPTIONS})
    options = {key: value for key, value in kwargs.items() if key not in _METHOD_OPTIONS}
    if method == "at":
        return handler(*inputs, **options)
    return _callers[0]((ufunc, method), inputs, options, handler)


def has_ufunc(ufunc: np.ufunc) -> bool:
    """Whether calls of the ufunc have a handler."""
    _load_surface()
    return ufunc in _ufuncs or _special_handler(ufunc) is not None


def has_function(function: Callable[..., Any]) -> bool:
    """Whether the array function has a handler."""
    _load_surface()
    return function in _functions


def refuse_options(name: str, **options: Any) -> None:
    """Raise for each option that was given: see :func:`is_given`."""
    for option, value in options.items():
        if is_given(value):
            raise option_refused(name, option)


def is_given(value: Any) -> bool:
    """Whether an optional argument was given: it is neither None nor NumPy's mark."""
    return value is not None and value is not NOT_GIVEN


def unsupported(name: str) -> TracingError:
    """The error for a function without an entry."""
    known = reason_for(name)
    if known is not None:
        return TracingError(f"{name} is not supported on traced values: {known}")
    short = name.removeprefix("numpy.")
    near = import_module("difflib").get_close_matches(
        short, [function.__name__ for function in _functions], n=1, cutoff=0.8
    )
    hint = f"; numpy.{near[0]} is" if near and near[0] != short else ""
    remedy = "write it with supported functions, or apply it to a plain array outside of the traced function"
    return TracingError(f"{name} is not supported yet on traced values{hint}: {remedy}")


def qualified_name(ufunc: np.ufunc) -> str:
    """The name of the ufunc as the user would write it."""
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        return f"numpy.{name}"
    return f"scipy.special.{name.removeprefix('_')}" if _is_special(ufunc) else name


def _special_handler(ufunc: np.ufunc) -> Handler | None:
    return _special.get(ufunc.__name__) if _is_special(ufunc) else None


def _is_special(ufunc: np.ufunc) -> bool:
    return any(getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc for module in _SPECIAL_MODULES)
