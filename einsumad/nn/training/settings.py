"""All that a call of a module depends on beside arrays that are handed over: modes, numbers, options, other objects.

Owns :class:`Settings`. Imports modules, and what they may hold. Invariant: settings that differ in anything that a call
may read have different numbers, so that what is kept under a number is never out of date; what is compared by identity
is kept alive.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from functools import partial
from hashlib import blake2b
from io import IOBase
from logging import Logger
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.data import ArrayDataset, DataLoader
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.tree import Tree
from einsumad.optim import Optimizer, SecondOrderOptimizer
from einsumad.optim.lr_scheduler import LRScheduler

_MANY = 16
_SHORT = 256
_ITSELF = frozenset({int, bool, str, bytes, type(None), range, type(...)})
_BY_IDENTITY = (
    *(FunctionType, BuiltinFunctionType, ModuleType, type, np.ufunc, ea.Compiled, Buffer, np.random.Generator),
    *(Optimizer, SecondOrderOptimizer, LRScheduler, DataLoader, ArrayDataset, Logger, IOBase),
)
"""Those that a network does not compute with, but that training changes, are among them."""


class Settings:
    """Numbers for the settings of a tree of modules: the same settings have the same number."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Any, int] = {}
        self._last: tuple[Any, ...] = ()

    def number(self) -> int:
        """That of the settings of now. Where they change again and again, a warning says what does."""
        found = settings_of(self._module)
        number = self._known.setdefault(found, len(self._known))
        if number == _MANY and len(self._known) == _MANY + 1:
            warnings.warn(_changing(self._module, self._last, found), stacklevel=4)
        self._last = found
        return number


def settings_of(module: Module) -> tuple[Any, ...]:
    """The settings, to be compared and hashed: for each module what its attributes are."""
    within: set[int] = set()
    return tuple([_of_tree(part, within) for _, part in module.named_modules()])


def _of_tree(tree: Tree, within: set[int]) -> tuple[Any, ...]:
    """The type of a module, its attributes, and which arrays and modules it holds."""
    parameters, buffers, modules = tree._parameters, tree._buffers, tree._modules  # noqa: SLF001 (what a tree holds)
    own: list[Any] = []
    for name, value in vars(tree).items():
        kind = type(value)
        if kind in _ITSELF:
            own.append((name, kind, value))
        elif value is not parameters and value is not buffers and value is not modules:
            own.append((name, _form(value, within)))
    found: list[Any] = [type(tree), frozenset(own)]  # an attribute that is set again comes last
    if parameters:
        found += [(name, _Same(p), p.requires_grad) for name, p in parameters.items()]
    if buffers:
        found += [(name, _Same(buffer)) for name, buffer in buffers.items()]
    if modules:
        found += [(name, _Same(child)) for name, child in modules.items()]
    return tuple(found)


class _Same:
    """An object that is equal to itself only."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


def _form(value: Any, within: set[int]) -> Any:
    """What stands for a value: equal only where the value is the same, to the sign of zero."""
    kind = type(value)
    if kind in _ITSELF:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, np.dtype):
        return kind, value.str, _Same(value)
    if isinstance(value, Parameter):
        return _Same(value), value.requires_grad
    if isinstance(value, _BY_IDENTITY):
        return _Same(value)
    if isinstance(value, ea.Tensor):
        return _of_tensor(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_array(np.asarray(value), value, within)
    if id(value) in within:
        return "itself, further up"
    within.add(id(value))
    try:
        return _of_parts(value, within)
    finally:
        within.discard(id(value))


def _of_tensor(value: ea.Tensor) -> Any:
    """A tensor with a value by what it holds; what a call that was traced has left behind is nobody's to read."""
    try:
        return ea.Tensor, value.requires_grad, _of_array(value.numpy(), value, set())
    except ea.TracingError:
        return ea.Tensor


def _of_array(array: np.ndarray, value: Any, within: set[int]) -> Any:
    """An array by its entries, or by identity where nobody can write to it."""
    if array.dtype.hasobject:
        return type(value), array.shape, tuple([_form(entry, within) for entry in array.ravel().tolist()])
    if array.nbytes > _SHORT:
        if array.base is None and not array.flags.writeable:
            return _Same(value)
        return type(value), array.shape, array.dtype, blake2b(np.ascontiguousarray(array).data).digest()
    return type(value), array.shape, array.dtype, array.tobytes()


def _of_parts(value: Any, within: set[int]) -> Any:
    """A container, or an object with attributes, by its type and what it holds."""
    kind = type(value)
    if isinstance(value, Mapping):
        return kind, tuple([(_form(key, within), _form(part, within)) for key, part in value.items()])
    if isinstance(value, (set, frozenset)):
        return kind, frozenset([_form(part, within) for part in value])
    if isinstance(value, partial):
        return kind, _form((value.func, value.args, value.keywords), within)
    if isinstance(value, MethodType):
        return kind, value.__name__, _form(value.__self__, within)
    if isinstance(value, Tree):
        return _Same(value), _of_tree(value, within), tuple([_form(c, within) for c in value.children()])
    parts: list[Any] = []
    if isinstance(value, Collection):
        parts += [_form(part, within) for part in value]
    parts += [(name, _form(part, within)) for name, part in getattr(value, "__dict__", {}).items()]
    for owner in kind.__mro__:
        slots = owner.__dict__.get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        parts += [(name, _form(getattr(value, name), within)) for name in names if hasattr(value, name)]
    return (kind, tuple(parts)) if isinstance(value, (tuple, list)) else (kind, _Same(value), tuple(parts))


def _changing(module: Module, before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    names = [name for name, _ in module.named_modules()]
    found = [
        f"{name}.{entry[0]}" if name else str(entry[0])
        for name, old, new in zip(names, before, now, strict=False)
        for entry in sorted(new[1] - old[1], key=str)
    ]
    which = ", ".join(found) or "what modules hold"
    return (
        f"{which} has changed {_MANY} times between calls, and each new value is traced and planned anew: what "
        "changes at every step is an array, kept with register_buffer and set between steps, or comes with the batch"
    )
