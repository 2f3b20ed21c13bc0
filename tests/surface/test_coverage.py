"""Every function of numpy that is traced has a spec, and only constants are excused from being differentiated."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend import registry
from einsumad.frontend.coverage.numpy_reasons import CONSTANT
from tests.frontend.test_numpy_coverage import is_handled, public
from tests.surface.all_specs import SPECS, Spec, function_of
from tests.surface.checks import arguments, numbers_for, parts, summed
from tests.surface.drawing import Drawer


def resolved(name: str) -> Any:
    """What stands under a dotted name, whose first parts are modules."""
    modules = [part for part in name.split(".") if part]
    found: Any = importlib.import_module(modules[0])
    for k, part in enumerate(modules[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(modules[:k]))
        found = getattr(found, part)
    return found


def identity(name: str) -> int:
    """Aliases are the same function; methods of ufuncs are not, as each access makes a new object."""
    return id(resolved(name))


@functools.cache
def covered() -> frozenset[int]:
    return frozenset([identity(function_of(name)) for name in SPECS])


def specs_of(function: Any) -> list[Spec]:
    return [spec for name, spec in SPECS.items() if resolved(function_of(name)) is function]


def test_specs_are_of_functions() -> None:
    assert [name for name in SPECS if not callable(resolved(function_of(name)))] == []


def test_every_function_has_a_spec() -> None:
    missing = [name for name, function in public().items() if is_handled(function) and id(function) not in covered()]
    assert missing == []


def test_every_method_of_ufuncs_has_a_spec() -> None:
    names = {function_of(name) for name in SPECS}
    own = [f"numpy.{ufunc.__name__}.{method}" for ufunc, method in registry._methods if ufunc.__name__ in np.__all__]
    assert [name for name in own if name not in names] == []
    assert [method for method in registry._every_method if f"numpy.ufunc.{method}" not in names] == []


def test_only_constants_are_not_differentiated() -> None:
    constants = {id(getattr(np, name)) for name in CONSTANT if hasattr(np, name)}
    handled = [(name, f) for name, f in public().items() if is_handled(f) and id(f) not in constants]
    assert [name for name, f in handled if not any(spec.order for spec in specs_of(f))] == []


DIFFERENTIATED = [
    spec
    for name in CONSTANT
    if is_handled(getattr(np, name, None))
    for spec in specs_of(getattr(np, name))
    if spec.order
]


@pytest.mark.parametrize("spec", DIFFERENTIATED, ids=str)
def test_constants_have_derivative_zero(spec: Spec) -> None:
    rng = np.random.default_rng(len(spec.name))
    f, operands = spec.make(Drawer(rng, empty=False))
    numbers = numbers_for(operands, rng)
    values = parts(f(*arguments(operands, numbers)))
    g = summed(f, operands, [rng.uniform(-1, 1, np.shape(value)) for value in values if value.dtype.kind == "f"])
    assert not np.any(ea.grad(g)(numbers))
