"""A slot without a derivative matters where one is needed, and nowhere else: every mode, every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import einsumad as ea
from einsumad.calculus import active_nodes, flows, local_jacobian
from einsumad.errors import DifferentiationError
from einsumad.functions import apply
from einsumad.graph import leaf

MODES = ("forward", "reverse", "cross-country")
X = np.array([2.2, 3.3])
# Parameters through which no derivative flows, and what they are at X.
PARAMETERS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "rounded": (np.round, [2, 3]),
    "rounded to decimals": (lambda x: np.round(x, 1), [2.2, 3.3]),
    "a function of what is rounded": (lambda x: np.floor(x) ** 2 + 0.5, [4.5, 9.5]),
    "a whole quotient": (lambda x: x // 1, [2, 3]),
    "a sign": (lambda x: 2 * np.sign(x), [2, 2]),
    "a truth value": (lambda x: np.where(x > 3, 2.0, 1.0), [1, 2]),
    "a count": (lambda x: np.sum(x > 1), [2, 2]),
    "a place": (lambda x: np.argmax(x) + 1, [2, 2]),
    "a sign of another": (lambda x: np.copysign(2.0, x), [2, 2]),
    "a sign of a determinant": (lambda x: np.linalg.slogdet(np.diag(x))[0], [1, 1]),
    "the largest of what is rounded": (lambda x: np.max(np.round(x)), [3, 3]),
    "what cancels": (lambda x: x + 2 - x, [2, 2]),
}
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "gammainc": special.gammainc,
    "betainc": lambda a, x: special.betainc(a, a + 1, x / 5),
    "stdtr": special.stdtr,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_parameter_without_a_derivative_may_be_constant(name: str, parameter: str, mode: Any) -> None:
    function, (a, constant) = FUNCTIONS[name], PARAMETERS[parameter]
    for order in (1, 2, 3):
        found = ea.derivative(lambda x: np.sum(function(a(x), x)), order=order, mode=mode)(X)
        expected = ea.derivative(lambda x: np.sum(function(np.array(constant), x)), order=order)(X)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_it_does_not_matter_where_the_result_is_locally_constant(mode: Any) -> None:
    for order in (1, 2):
        found = ea.derivative(lambda x: np.round(special.gammainc(x[0], x[1])) + x[0] ** 3, order=order, mode=mode)(X)
        assert found.ravel()[0] == pytest.approx([3 * 2.2**2, 6 * 2.2][order - 1])
        assert not found.ravel()[1:].any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_where_it_is_needed_all_modes_refuse_alike(mode: Any, order: int) -> None:
    for a in (lambda x: x, lambda x: np.round(x) * x, lambda x: np.where(x > 3, x, 2.0)):
        with pytest.raises(ea.DifferentiationError, match="gammainc has no derivative in its operand 0"):
            ea.derivative(lambda x, a=a: np.sum(special.gammainc(a(x), 2 * x)), order=order, mode=mode)(X)


def test_active_nodes_lie_on_a_way_from_a_source_to_a_root() -> None:
    x = leaf((2,), float, ("variable", "x"), "x")
    rounded, sine = apply("round", x), apply("sin", x)
    root = apply("gammainc", rounded, sine)
    assert active_nodes([root], [x]) == [x, sine, root]
    assert active_nodes([apply("round", root)], [x]) == []


@pytest.mark.parametrize(
    ("name", "arity"),
    [("sin", 1), ("floor", 1), ("sign", 1), ("power", 1), ("maximum", 2), ("gammainc", 2), ("fmod", 2)],
)
def test_something_flows_where_a_local_jacobian_has_terms_or_there_is_no_rule(name: str, arity: int) -> None:
    operands = [leaf((2,), float, ("variable", f"o{k}"), f"o{k}") for k in range(arity)]
    node = apply(name, *operands, params=(3,) if name == "power" else ())
    for position in range(arity):
        try:
            expected = bool(local_jacobian(node, position))
        except DifferentiationError:
            expected = True
        assert flows(node, position) == expected
