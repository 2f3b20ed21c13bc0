"""A tree of modules with named arrays: attributes register themselves.

Owns :class:`Tree`. Imports parameters and buffers. Invariant: names are those of attributes joined by dots, in the
order in which they were first set; an array or module that is held twice is named once, by its first name, unless all
names are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from einsumad.nn.parameter import Buffer, Parameter

_HELD = ("_parameters", "_buffers", "_modules")


class Tree:
    """Something whose parameters, buffers and modules are found by name."""

    training: bool
    _parameters: dict[str, Parameter]
    _buffers: dict[str, Buffer]
    _modules: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make room for what attributes register, so that a class need not call ``super().__init__()`` first."""
        self = super().__new__(cls)
        for name in _HELD:
            object.__setattr__(self, name, {})
        object.__setattr__(self, "training", True)
        return self

    def __init__(self) -> None:
        """Refuse arguments, where a subclass takes none."""

    def __setattr__(self, name: str, value: Any) -> None:
        if any(isinstance(part, (Tree, Parameter, Buffer)) for part in _parts(value)):
            raise _nameless(name, value)
        kind = next((kind for registered, kind in _REGISTERED if isinstance(value, registered)), None)
        if kind is None and name in self._parameters and value is not None:
            self._parameters[name].data = value
        elif kind is None and name in self._buffers and value is not None:
            self._buffers[name].take(value)
        elif kind is not None and name in getattr(self, kind):
            getattr(self, kind)[name] = value
        else:
            self._forget(name)
            if kind is None:
                object.__setattr__(self, name, value)
            else:
                getattr(self, kind)[name] = value

    def __getattr__(self, name: str) -> Any:
        """A parameter, buffer or module; within ``apply`` and ``no_grad`` what stands for it there."""
        if name in self._parameters:
            parameter = self._parameters[name]
            standing = parameter.standing()
            return parameter if parameter.is_leaf(standing) else standing
        if name in self._buffers:
            return self._buffers[name].standing()
        if name in self._modules:
            return self._modules[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]

    def _forget(self, name: str) -> bool:
        """Let no array or module have the name any more; whether one had it."""
        self.__dict__.pop(name, None)
        found = [getattr(self, kind).pop(name, None) for kind in _HELD]
        return any(held is not None for held in found)

    def register_buffer(self, name: str, array: Any, persistent: bool = True) -> None:
        """Keep an array that is not learned under this name; `state_dict` has it if it is persistent.

        None is kept as None, and nothing else has the name then.
        """
        self._forget(_checked(self, name))
        if array is None:
            setattr(self, name, None)
        else:
            self._buffers[name] = Buffer(array, persistent)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Hold a parameter, or None in its place, under this name."""
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(f"{name} is a parameter or None, got {type(parameter).__name__}: make a nn.Parameter of it")
        setattr(self, _checked(self, name), parameter)

    def register_module(self, name: str, module: Any) -> None:
        """Hold a module, or None in its place, under this name."""
        if module is not None and not isinstance(module, Tree):
            raise TypeError(f"{name} is a module or None, got {type(module).__name__}")
        setattr(self, _checked(self, name), module)

    add_module = register_module

    def children(self) -> Iterator[Any]:
        """The modules that are attributes of this one."""
        return (module for _, module in self.named_children())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules that are attributes of this one, with their names; each once."""
        seen: set[int] = set()
        for name, module in list(self._modules.items()):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self) -> Iterator[Any]:
        """This module and all below it; each once."""
        return (module for _, module in self.named_modules())

    def get_submodule(self, target: str) -> Any:
        """The module of this name, such as ``"encoder.0"``. Raises :class:`AttributeError` if there is none."""
        named = dict(_walk(self, ""))
        if target not in named:
            raise AttributeError(f"{type(self).__name__} has no module {target!r}")
        return named[target]

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all below it, with their names; each once."""
        seen: set[int] = set()
        for name, module in _walk(self, prefix):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def named_parameters(self, prefix: str = "", *, every_name: bool = False) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names; each once, or under every name it has."""
        return _named(self, "_parameters", prefix, every_name)

    def named_buffers(self, prefix: str = "", *, every_name: bool = False) -> Iterator[tuple[str, Buffer]]:
        """The buffers with their names; each once, or under every name it has."""
        return _named(self, "_buffers", prefix, every_name)

    def parameters(self) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (parameter for _, parameter in self.named_parameters())

    def buffers(self) -> Iterator[np.ndarray]:
        """The arrays of the buffers, each once."""
        return (buffer.data for _, buffer in self.named_buffers())

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Have all parameters learned from now on, or none."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the parameters by their names: what ``apply`` takes, and transforms differentiate in."""
        return {name: parameter.data for name, parameter in self.named_parameters()}


_REGISTERED = ((Parameter, "_parameters"), (Buffer, "_buffers"), (Tree, "_modules"))


def _walk(tree: Tree, prefix: str) -> Iterator[tuple[str, Tree]]:
    """This module and all below it, as often as they are held."""
    stack = [(prefix, tree)]
    while stack:
        name, module = stack.pop()
        yield name, module
        stack += [(_joined(name, key), child) for key, child in reversed(module._modules.items())]  # noqa: SLF001


def _named(tree: Tree, kind: str, prefix: str, every_name: bool) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for name, module in _walk(tree, prefix):
        if kind == "_parameters":
            _refuse_lists(name, module)
        for key, held in getattr(module, kind).items():
            if every_name or id(held) not in seen:
                seen.add(id(held))
                yield _joined(name, key), held


def _parts(value: Any) -> Iterable[Any]:
    """What a plain container holds."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    return value.values() if isinstance(value, dict) else ()


def _refuse_lists(name: str, tree: Tree) -> None:
    """Refuse a plain list that was empty when it was set, and has modules or parameters by now."""
    for key, value in vars(tree).items():
        if type(value) is list and value and isinstance(value[0], (Tree, Parameter)):
            raise _nameless(_joined(name, key), value)


def _nameless(name: str, value: Any) -> TypeError:
    return TypeError(
        f"{name} is a plain {type(value).__name__}, whose modules and arrays would have no names: use nn.ModuleList, "
        "nn.ModuleDict or nn.Sequential, nn.ParameterList or nn.ParameterDict, and attributes of their own for buffers"
    )


def _checked(tree: Tree, name: str) -> str:
    """The name, if something can be held under it."""
    if not name or "." in name:
        raise KeyError(f"a name is a text without dots, got {name!r}")
    if hasattr(type(tree), name) or name in ("training", *_HELD):
        raise KeyError(f"{type(tree).__name__} has an attribute {name!r} already: take another name")
    return name


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
