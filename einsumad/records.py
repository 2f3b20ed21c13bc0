"""Records: classes of named fields, made quickly.

Owns :func:`record`. Imports the standard library only. Invariant: a record is what the data class of the same options
is, in its fields, errors, equality, text and copies; `dataclasses.fields` and its kin take it for one.

``dataclasses.dataclass`` writes and compiles the text of up to six functions for each class, which for the hundred
classes of this package took almost half of the time of its import. Here all classes of as many fields share the
compiled text of their ``__init__``, with names of their own, and the other functions need no text. A value is put into
its slot by the slot itself, so that making a record takes half the time, too. Classes whose instances have a dictionary
stay data classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, make_dataclass
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import Any, NoReturn, TypeVar, dataclass_transform

_Record = TypeVar("_Record")
_Fields = dict[str, "Field[Any]"]

_FIELDS = "__record_fields__"
"""Where a class has its fields, those that it inherits first."""

_NOT_GIVEN: Any = type("_NotGiven", (), {"__repr__": lambda _: "<made anew>"})()
"""The default of a field whose value is made anew for each record that is given none."""


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def record(
    cls: Any = None,
    /,
    *,
    frozen: bool = True,
    eq: bool = False,
    repr: bool = False,  # noqa: A002 (it is the data class's name of it)
    weakref_slot: bool = False,
) -> Any:
    """Make a class a record: slots for its annotated fields, and functions for them.

    cls:
        the class; a record that it inherits from gives its fields first.
    frozen:
        its records cannot be changed.
    eq:
        records of equal fields are equal, and frozen ones hashed by them; else a record equals itself only.
    repr:
        its text names all fields.
    weakref_slot:
        its records can be referred to weakly.

    A field may have a default, or ``dataclasses.field`` with `default`, `default_factory`, `repr` or `compare`.
    """

    def make(cls: type) -> type:
        fields = _fields_of(cls)
        made = _slotted(cls, weakref_slot)
        functions: dict[str, Any] = {"__init__": _initialiser(made, fields), "__match_args__": tuple(fields)}
        if frozen:
            functions |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
            functions |= {"__getstate__": values, "__setstate__": _restore}
        if eq:
            equal, hashed = _comparison([name for name, each in fields.items() if each.compare])
            functions |= {"__eq__": equal, "__hash__": hashed if frozen else None}
        if repr:
            functions["__repr__"] = _text([name for name, each in fields.items() if each.repr])
        for name, function in functions.items():
            if cls.__dict__.get(name) is None:  # what the class says itself holds
                setattr(made, name, function)
        setattr(made, _FIELDS, fields)
        made.__dataclass_fields__ = _FieldsOfDataClass()  # type: ignore[attr-defined]
        return made

    return make if cls is None else make(cls)


def replace(given: _Record, /, **changes: Any) -> _Record:
    """A record of the same class whose fields are those given, or else those of this record."""
    return type(given)(**named(given) | changes)


def named(given: Any) -> dict[str, Any]:
    """The values of the fields of a record by their names."""
    return {name: getattr(given, name) for name in given.__match_args__}


def values(given: Any) -> tuple[Any, ...]:
    """The values of the fields of a record, in their order."""
    return tuple([getattr(given, name) for name in given.__match_args__])


def _fields_of(cls: type) -> _Fields:
    found: _Fields = {}
    for base in cls.__mro__[:0:-1]:
        found |= base.__dict__.get(_FIELDS, {})
    for name in cls.__annotations__:
        given = cls.__dict__.get(name, MISSING)
        found[name] = given if isinstance(given, Field) else field(default=given)
    return found


def _slotted(cls: type, weakref_slot: bool) -> type:
    """The same class with slots for its own fields. Defaults would be in their way, and are kept by ``__init__``."""
    left_out = {*cls.__annotations__, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in cls.__dict__.items() if name not in left_out}
    namespace["__slots__"] = (*cls.__annotations__, *["__weakref__"] * weakref_slot)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _initialiser(cls: type, fields: _Fields) -> Callable[..., None]:
    """The ``__init__`` of a class: the code of its number of fields, with the names of this class."""
    listed = list(enumerate(fields.values()))
    factories = {k: each.default_factory for k, each in listed if each.default_factory is not MISSING}
    given = [_NOT_GIVEN if k in factories else each.default for k, each in listed]
    defaults = tuple([default for default in given if default is not MISSING])
    if any(default is MISSING for default in given[len(given) - len(defaults) :]):
        raise TypeError(f"{cls.__qualname__}: a field without a default follows one that has a default")
    code = _code_of_initialiser(len(fields), tuple(factories)).replace(
        co_varnames=("self", *fields), co_qualname=f"{cls.__qualname__}.__init__"
    )
    known = {f"put_{k}": getattr(cls, name).__set__ for k, name in enumerate(fields)}
    known |= {f"make_{k}": factory for k, factory in factories.items()}
    return FunctionType(code, {"NOT_GIVEN": _NOT_GIVEN, **known}, "__init__", defaults)


@cache
def _code_of_initialiser(count: int, made: tuple[int, ...]) -> CodeType:
    """The code of an ``__init__`` of so many fields. Those at the places of `made` are made where none is given."""
    sources = [f"value_{k}" for k in range(count)]
    arguments = ", ".join(["self", *sources])
    for k in made:
        sources[k] = f"make_{k}() if value_{k} is NOT_GIVEN else value_{k}"
    lines = [f"put_{k}(self, {source})" for k, source in enumerate(sources)]
    space: dict[str, Any] = {}
    exec("\n    ".join([f"def __init__({arguments}):", *lines, "return"]), space)  # noqa: S102 (it is this text alone)
    code: CodeType = space["__init__"].__code__
    return code


def _comparison(names: list[str]) -> tuple[Callable[[Any, object], Any], Callable[[Any], int]]:
    """The equality and the hash of these fields."""
    if len(names) > 1:
        key: Callable[[Any], Any] = attrgetter(*names)
    else:

        def key(given: Any) -> Any:
            return tuple([getattr(given, name) for name in names])

    def equal(self: Any, other: object) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    return equal, hashed


def _text(names: list[str]) -> Callable[[Any], str]:
    """The text of a record of these fields."""

    @recursive_repr()
    def text(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return text


class _FieldsOfDataClass:
    """What `dataclasses.fields` and its kin look for: that of a data class of the same fields, made when they do."""

    def __get__(self, _: object, owner: type) -> Any:
        fields = getattr(owner, _FIELDS)
        found: Any = make_dataclass(owner.__name__, [(name, Any, each) for name, each in fields.items()])
        return found.__dataclass_fields__


def _no_assignment(self: Any, name: str, value: object) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(self: Any, name: str) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)
