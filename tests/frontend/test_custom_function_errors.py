"""Functions with derivatives of their own: what is wrong is refused or found."""

# ruff: noqa: ARG005, B023 (rules have a fixed signature; a function of a loop is used in its own turn only)
from typing import Any

import numpy as np
import pytest

import einsumad as ea

NOT_LINEAR = {
    "square": lambda t: t**2,
    "shifted": lambda t: t + 1,
    "constant": lambda t: np.ones(2),
    "sine": np.sin,
    "clipped": lambda t: np.clip(t, -1, 1),
    "rounded": np.round,
    "largest": lambda t: np.max(t) * np.ones(2),
    "chosen": lambda t: np.where(t > 0, t, 0),
    "sorted": np.sort,
    "length": lambda t: np.linalg.norm(t) * np.ones(2),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_a_rule_that_is_not_linear_is_refused(name: str) -> None:
    rule = NOT_LINEAR[name]
    by_push = ea.custom_function(np.exp, push=lambda p, t: rule(t[0]), name="bad")
    by_pull = ea.custom_function(np.exp, pull=lambda p, v, c: rule(c), name="bad")
    for function in (by_push, by_pull):
        with pytest.raises(ea.DifferentiationError, match="of bad"):
            ea.jacobian(function)(np.ones(2))


def test_a_rule_of_another_shape_or_structure_is_refused() -> None:
    for rule in (np.sum, lambda t: t[:1], lambda t: (t, t), lambda t: None, lambda t: [t]):
        with pytest.raises((ea.DifferentiationError, ea.ShapeError), match="push of bad"):
            ea.jacobian(ea.custom_function(np.exp, push=lambda p, t: rule(t[0]), name="bad"))(np.ones(2))
    for rule in (lambda c: (c, c), lambda c: c[0], lambda c: ((c,),)):
        with pytest.raises((ea.DifferentiationError, ea.ShapeError), match="pull of bad"):
            ea.jacobian(ea.custom_function(np.exp, pull=lambda p, v, c: rule(c), name="bad"))(np.ones(2))


def test_without_a_rule_it_has_a_value_and_no_derivative() -> None:
    function = ea.custom_function(lambda x: np.sum(x**2), name="black box")
    assert ea.compile(lambda x: function(x) + 1)(np.ones(3)) == 4.0
    with pytest.raises(ea.DifferentiationError, match="black box has no derivative: give push=, pull="):
        ea.grad(function)(np.ones(3))


def test_wrong_rules_are_found_by_the_check() -> None:
    x = np.array([1.0, 2.0])
    wrong_push = ea.custom_function(lambda x: x**3, push=lambda p, t: 2 * p[0] ** 2 * t[0], name="cube")
    with pytest.raises(ea.WrongDerivativeError, match=r"push of cube: the derivative .* is 8 at \[1, 1\], expected 12"):
        wrong_push.check(x)
    apart = ea.custom_function(
        lambda x: x**3, push=lambda p, t: 3 * p[0] ** 2 * t[0], pull=lambda p, v, c: 3 * p[0] * c, name="cube"
    )
    with pytest.raises(ea.WrongDerivativeError, match="push and pull of cube"):
        apart.check(x)
    ea.custom_function(lambda x: x**3, pull=lambda p, v, c: 3 * p[0] ** 2 * c).check(x.astype(np.float32))
    with pytest.raises(ea.DifferentiationError, match="nothing to check"):
        ea.custom_function(np.exp).check(x)


def test_traced_values_of_the_surroundings_are_refused() -> None:
    x = np.ones(2)

    def by_rule(x: Any) -> Any:
        return np.sum(ea.custom_function(np.exp, push=lambda p, t: x * t[0], name="inner")(2 * x))

    def by_function(y: Any) -> Any:
        return np.sum(ea.custom_function(lambda z: z * y, push=lambda p, t: t[0], name="inner")(x))

    def by_both(y: Any) -> Any:
        return np.sum(ea.custom_function(lambda z: z * y, push=lambda p, t: t[0], name="inner")(y))

    for function in (by_rule, by_function, by_both):
        with pytest.raises((ea.TracingError, ea.DifferentiationError), match=r"inner .*surroundings"):
            ea.grad(function)(x)


def test_a_result_that_is_not_as_promised_is_refused() -> None:
    x = np.ones(2)
    depends = ea.custom_function(lambda x: x[x > 0], push=lambda p, t: t[0], name="depends")
    assert ea.value_and_grad(lambda x: np.sum(depends(x)))(x)[0] == 2
    with pytest.raises(ea.ShapeError, match=r"depends has shape \(1,\) where \(2,\) was expected"):
        ea.value_and_grad(lambda x: np.sum(depends(x)))(np.array([1.0, -1.0]))
    declared = ea.custom_function(lambda x: x.astype(np.float32), push=lambda p, t: t[0], shape=2, name="declared")
    with pytest.raises(ea.TracingError, match=r"declared has dtype float32 where float64 was expected.*dtype="):
        ea.compile(declared)(x)
    for bad in (lambda x: None, lambda x: "text", lambda x: x + 1j, np.ma.array):
        with pytest.raises(ea.TracingError, match="bad returned"):
            ea.grad(ea.custom_function(bad, name="bad"))(x)
    with pytest.raises(ea.TracingError, match=r"the shape of unknown is not known.*shape="):
        ea.compile(ea.custom_function(lambda x: np.array(float(x[0])), name="unknown"))(x)
    several = ea.custom_function(
        lambda x: (x, 1), shape=lambda x: [x.shape, ()], dtype=[None, int], push=lambda p, t: (t[0], 0)
    )
    assert ea.compile(lambda x: several(x)[0] * several(x)[1])(x).tolist() == [1.0, 1.0]


def test_arguments_of_the_makers_are_checked() -> None:
    for wrong in (lambda: ea.custom_function(3), lambda: ea.custom_function(np.exp, push=3)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="name"):
        ea.custom_function(np.exp, name="a#b")
    with pytest.raises(TypeError, match="needs shape="):
        ea.custom_function(np.exp, dtype=float)
    with pytest.raises(ea.ShapeError, match="whole numbers"):
        ea.compile(ea.custom_function(np.exp, shape=lambda x: (-1,)))(np.ones(2))


@pytest.mark.parametrize("kind", ["push", "pull"])
@pytest.mark.parametrize("look", [bool, lambda x: x[x > 0], lambda x: np.put(np.zeros(1) * x, x > 0, x), np.unique])
def test_a_rule_that_looks_at_values_is_told_what_rules_can_do(kind: str, look: Any) -> None:
    def rule(*args: Any) -> Any:
        look(args[0][0] * 1)
        return args[-1] if kind == "pull" else args[-1][0]

    function = ea.custom_function(np.exp, name="stepped", **{kind: rule})
    with pytest.raises(ea.TracingError) as error:
        ea.grad(lambda x: np.sum(function(x)))(np.ones(1))
    assert f"{kind} of stepped is traced once for all values" in str(error.value)
    assert "use np.where" in str(error.value)
    assert "custom_function of its own" in str(error.value)
    assert "ea.compile" not in str(error.value)
    with pytest.raises(ea.TracingError, match=r"ea\.compile"):
        ea.compile(lambda x: (look(x * 1), x)[1])(np.ones(1))


def test_a_rule_may_branch_in_a_function_of_its_own() -> None:
    slope = ea.custom_function(lambda x: x * 0 + (2.0 if x[0] > 0 else -2.0), shape=lambda x: x.shape)
    function = ea.custom_function(lambda x: 2 * np.abs(x), push=lambda p, t: slope(p[0]) * t[0])
    assert ea.grad(lambda x: np.sum(function(x)))(np.array([-3.0])) == -2
