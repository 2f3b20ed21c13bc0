"""Operations and registries: what they refuse, what they know, which checks they get."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from einsumad.testing.operations import Convention, Operation, Registry, UnknownOperationError
from einsumad.testing.strategies import floats
from einsumad.testing.systems import EINSUMAD


def vector(rng):
    return (rng.standard_normal(3),)


def operation(**fields):
    return Operation(**{"name": "square", "value": np.square, "sample": vector} | fields)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"name": ""}, TypeError, "needs a name, got ''"),
        ({"value": 3}, TypeError, "operation 'square': value has to be a function, got int"),
        ({"gradient": 3}, TypeError, "gradient has to be a function, got int"),
        ({"sample": [1.0]}, TypeError, "sample has to be a Hypothesis strategy or a function of a random generator"),
        ({"order": 0}, ValueError, "order must be a whole number of at least 1, got 0"),
        ({"order": True}, ValueError, "order must be a whole number of at least 1, got True"),
        ({"kink": "left"}, ValueError, "kink must be one of skip, one-sided, convention, got 'left'"),
        ({"dtypes": ()}, ValueError, "dtypes must name floating dtypes"),
        ({"dtypes": ("float64", "int32")}, ValueError, "dtypes must name floating dtypes"),
        ({"domain": ((1, 0),)}, ValueError, r"the domain has \(1, 0\): give intervals"),
        ({"manifold": "symetric"}, ValueError, "did you mean 'symmetric'"),
        ({"using": "jaxx"}, ValueError, "did you mean 'jax'"),
        ({"options": {"entrys": 3}}, ValueError, "has no option 'entrys': did you mean 'entries'"),
        ({"options": {"kink": "skip"}}, TypeError, "'kink' is no option, but a field"),
        ({"options": {"minimal": True}}, TypeError, "'minimal' is no option"),
        ({"options": {"entries": -1}}, ValueError, "entries must be a whole number"),
        ({"skips": {"simmetry": "slow"}}, ValueError, "has no check 'simmetry': did you mean 'symmetry'"),
        ({"skips": {"gradient": "none is given"}}, ValueError, "has no check 'gradient'"),
        ({"skips": {"symmetry": " "}}, TypeError, "the skip of 'symmetry' needs a reason, got ' '"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields, error, message):
    with pytest.raises(error, match=message):
        operation(**fields)


def test_an_operation_is_frozen_and_keeps_its_own_mappings():
    skips = {"symmetry": "slow"}
    square = operation(skips=skips)
    skips["purity"] = "never"
    assert dict(square.skips) == {"symmetry": "slow"}
    with pytest.raises(TypeError):
        square.skips["purity"] = "never"
    with pytest.raises(FrozenInstanceError):
        square.name = "other"
    assert repr(square) == "Operation('square')"


def test_an_operation_knows_where_it_was_made():
    line = test_an_operation_knows_where_it_was_made.__code__.co_firstlineno
    made = Operation("square", np.square, vector)
    assert made.place == f"{__file__}:{line + 2}"
    assert replace(made, name="other").place == f"{__file__}:{line + 4}"
    assert copy.copy(made).name == "square"


def test_without_a_derivative_by_hand_the_system_is_this_library():
    assert operation().using is EINSUMAD
    assert operation(jacobian=lambda x: np.diag(2 * x)).using is None
    assert operation(jacobian=lambda x: np.diag(2 * x), using="einsumad").using is EINSUMAD


def test_a_system_gets_preflight_orders_laws_and_other_precisions():
    checks = operation(order=3).checks
    assert checks[:4] == ("preflight", "order 1", "order 2", "order 3")
    assert {"adjoint identity", "mode agreement", "symmetry", "hvp is H v", "purity", "elimination orders"} < set(
        checks
    )
    assert "batching" not in checks
    assert checks[-1] == "float32"
    assert len(set(checks)) == len(checks)
    assert "symmetry" not in operation(order=1).checks
    assert "batching" in operation(batched=True).checks


def test_declared_facts_get_their_checks():
    known = operation(domain=((0, 1),), conventions=(Convention("at 0", (0.0,), 0.0),), dtypes=("float64",))
    assert known.checks[-2:] == ("domain", "conventions")
    assert "float32" not in known.checks


@pytest.mark.parametrize(
    ("given", "laws"),
    [
        ({"gradient"}, set()),
        ({"gradient", "hessian"}, {"symmetry"}),
        ({"gradient", "hvp"}, {"symmetry"}),
        ({"hessian", "hvp"}, {"symmetry", "hvp is H v"}),
        ({"jvp"}, {"linearity in the tangent"}),
        ({"vjp"}, {"linearity in the cotangent"}),
        ({"jvp", "vjp"}, {"linearity in the tangent", "linearity in the cotangent", "adjoint identity"}),
        ({"jacobian", "jvp"}, {"linearity in the tangent", "jvp is J v"}),
        ({"jacobian", "vjp"}, {"linearity in the cotangent", "vjp is u J"}),
    ],
)
def test_derivatives_by_hand_get_the_laws_that_say_something_about_them(given, laws):
    checks = operation(**dict.fromkeys(given, np.sin)).checks
    always = {"shapes and dtypes", "purity", "determinism", "freshness"} if given != {"hessian", "hvp"} else set()
    assert set(checks) == {"preflight", *given, *laws, *always, "float32"}


def test_a_strategy_will_do_as_a_sample():
    assert operation(sample=floats(3)).checks


def test_a_registry_finds_and_iterates():
    registry = Registry([operation()])
    cube = registry.add(operation(name="cube"))
    assert [each.name for each in registry] == ["square", "cube"]
    assert registry["cube"] is cube
    assert "cube" in registry
    assert "sine" not in registry
    assert len(registry) == 2


def test_a_registry_refuses_a_second_operation_of_a_name():
    first, second = operation(), operation()
    registry = Registry([first])
    with pytest.raises(ValueError, match="there is an operation 'square' already, made at") as caught:
        registry.add(second)
    assert first.place in str(caught.value)
    assert second.place in str(caught.value)
    assert registry["square"] is first


def test_a_registry_takes_operations_only():
    with pytest.raises(TypeError, match="a registry takes operations, got ufunc"):
        Registry().add(np.square)


@pytest.mark.parametrize(
    ("name", "message"),
    [("sqare", "there is no operation 'sqare': did you mean 'square'?"), ("zeta", "there are square")],
)
def test_a_miss_names_what_is_near(name, message):
    with pytest.raises(UnknownOperationError) as caught:
        Registry([operation()])[name]
    assert message in str(caught.value)
    assert isinstance(caught.value, KeyError)
