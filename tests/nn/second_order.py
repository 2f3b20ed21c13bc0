"""First and second derivatives of a scalar function in all its arguments, against differences, and in all modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.testing import check_hessian


def check_to_second_order(loss: Callable[..., Any], *args: np.ndarray) -> None:
    """Gradient and Hessian are right, and the same in every mode."""
    every = tuple(range(len(args))) if len(args) > 1 else 0
    hessian, gradient = ea.hessian(loss, argnums=every), ea.grad(loss, argnums=every)
    check_hessian(
        loss, hessian, *args, gradient=gradient, argnums=every, minimal=False, entries=24, directions=2
    ).raise_if_wrong(undecided=True)
    expected = blocks(hessian(*args))
    for mode in ("forward", "reverse", "cross-country"):
        found = blocks(ea.hessian(loss, argnums=every, mode=mode)(*args))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def blocks(hessian: Any) -> tuple[np.ndarray, ...]:
    """The blocks of a Hessian one after the other."""
    return sum(hessian, ()) if isinstance(hessian, tuple) else (hessian,)
