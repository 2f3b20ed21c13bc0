"""Plans run at a place, and compared with what NumPy's generated source gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution import compile_plan
from einsumad.execution.backends import ready_for
from einsumad.frontend.requests import derivation_of
from einsumad.frontend.transforms import Transform
from einsumad.frontend.values import known_value
from einsumad.graph import Leaf, Node
from einsumad.planning import Plan, make_plan
from tests.backends.libraries import Backend

TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-4, np.dtype(np.float16): 2e-2}


def plan_of(transform: Transform, *args: Any) -> tuple[Plan, list[Any]]:
    """The plan of a transform at arguments, and the values of its inputs."""
    asked, _ = transform.ask(*args)
    derivation, found = derivation_of(asked)
    read = derivation.read()
    plan = make_plan(derivation.outputs, [derivation.slots[k] for k in read])
    return plan, [known_value(found[k]) for k in read]


def run(plan: Plan, values: Sequence[Any], backend: Backend) -> list[np.ndarray]:
    """The outputs at a place, as NumPy arrays."""
    arrays = [backend.make(value) for value in values]
    kept = [backend.back(array).copy() for array in arrays]
    found = ready_for(plan, backend.home)(*arrays)
    for array, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(backend.back(array), before, err_msg="an input was written")
    assert all(isinstance(x, backend.kind) or not backend.in_front for x in found)
    return [backend.back(x) for x in found]


def check_plan(plan: Plan, values: Sequence[Any], backend: Backend, expected: Sequence[Any] | None = None) -> None:
    """The outputs at a place are those of NumPy's source, or others that are given, in shape, dtype and value."""
    if expected is None:
        expected = compile_plan(plan)(*values)
    for found, wanted in zip(run(plan, values, backend), expected, strict=True):
        check_equal(found, wanted)


def check_equal(found: Any, wanted: Any) -> None:
    """Two arrays are equal up to rounding: shape, dtype, infinities and NaN."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    tolerance = TOLERANCE.get(found.dtype, 0.0)
    scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0) if wanted.dtype.kind == "f" else 0
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(float(scale), 1.0))


def check_graph(roots: Sequence[Node], values: dict[Leaf, Any], backend: Backend) -> None:
    """Expressions at a place have the values that NumPy's source gives for them."""
    inputs = list(values)
    check_plan(make_plan(roots, inputs), [np.asarray(values[leaf], leaf.dtype) for leaf in inputs], backend)


def supported(attempt: Callable[[], Any]) -> bool:
    """Whether the library has the functions that are needed; if not, the error says so."""
    try:
        attempt()
    except TracingError as error:
        assert "is not supported on arrays of" in str(error)  # noqa: PT017 (any other error goes on)
        return False
    return True
