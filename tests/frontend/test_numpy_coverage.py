"""Every public function of NumPy is supported, constant, or refused with a reason that its error gives."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from einsumad.errors import TracingError
from einsumad.frontend.coverage import fft_reasons
from einsumad.frontend.coverage.numpy_reasons import COMPOSED, CONSTANT, REASONS
from einsumad.frontend.registry import has_function, has_ufunc
from tests.frontend.surface import check, data, traced


def public() -> dict[str, Callable[..., Any]]:
    """Functions and ufuncs of the namespace; no types, errors or modules."""
    names = {*np.__all__, *[name for name in dir(np) if not name.startswith("_")]}
    found = {name: getattr(np, name) for name in sorted(names)}
    return {k: f for k, f in found.items() if callable(f) and not isinstance(f, (type, types.ModuleType))}


def is_handled(function: Any) -> bool:
    return has_ufunc(function) if isinstance(function, np.ufunc) else has_function(function)


def test_nothing_is_missing() -> None:
    missing = [name for name, f in public().items() if not is_handled(f) and name not in {**REASONS, **COMPOSED}]
    assert missing == []


def test_reasons_are_for_what_has_no_handler() -> None:
    functions = public()
    assert [name for name in {**REASONS, **COMPOSED} if name in functions and is_handled(functions[name])] == []
    assert [name for name in CONSTANT if name in functions and not is_handled(functions[name])] == []
    assert len({**REASONS, **CONSTANT, **COMPOSED}) == len(REASONS) + len(CONSTANT) + len(COMPOSED)
    for name, verdict in REASONS.items():
        assert verdict.status in ("constant", "refused")
        assert verdict.reason
        assert not verdict.reason.endswith("."), name


def _arguments(function: Any) -> list[Any]:
    """As many traced values as the function needs."""
    if function.__name__.startswith("save"):
        return ["a file", traced(data((3,)))]
    if isinstance(function, np.ufunc):
        return [traced(data((3,), "i8"))] * function.nin
    wanted = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return [traced(data((3,)))] * max(sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in wanted), 1)


DISPATCHED = [
    name
    for name, verdict in REASONS.items()
    if verdict.status == "refused"
    and (isinstance(getattr(np, name, None), np.ufunc) or hasattr(getattr(np, name, None), "_implementation"))
]


@pytest.mark.parametrize("name", DISPATCHED)
def test_refusals_say_why(name: str) -> None:
    function = getattr(np, name)
    with pytest.raises(TracingError) as caught:
        function(*_arguments(function))
    assert REASONS[name].reason in str(caught.value)
    assert f"numpy.{function.__name__}" in str(caught.value)
    assert len(DISPATCHED) > 20


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_calls_others_is_traced() -> None:
    x = traced(data((3,)))
    assert np.fromfunction(lambda k: k * x, (3,)).shape == (3,)
    if hasattr(np, "row_stack"):
        assert np.row_stack([x, x]).shape == (2, 3)  # noqa: NPY201 (what is old is traced too)


@pytest.mark.parametrize("name", [name for name in REASONS if name not in DISPATCHED and hasattr(np, name)])
def test_what_numpy_does_not_hand_on_has_no_dispatcher(name: str) -> None:
    assert not hasattr(getattr(np, name), "_implementation")


@pytest.mark.parametrize("name", fft_reasons.REASONS)
def test_what_is_complex_says_so(name: str) -> None:
    with pytest.raises(TracingError, match=r"complex|np\.roll") as caught:
        getattr(np.fft, name)(traced(data((4,))))
    assert fft_reasons.REASONS[name].reason in str(caught.value)
    assert f"numpy.fft.{name}" in str(caught.value)


def test_frequencies_are_of_a_traced_spacing() -> None:
    check(lambda spacing: np.fft.fftfreq(5, spacing), np.array(0.5))
    check(lambda spacing: np.fft.rfftfreq(4, spacing), np.array(0.5))
    assert {name for name in np.fft.__all__ if name not in fft_reasons.COMPOSED} == set(fft_reasons.REASONS)
