"""numpy.linalg."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


def _square(kind: Any, function: Any, d: Drawer) -> Call:
    return function, (d.square(kind),)


each(np.linalg, ("inv",), "f")(partial(_square, "invertible"))
each(np.linalg, ("det",), "f")(partial(_square, "real"))
each(np.linalg, ("slogdet",), "f")(partial(_square, "positive"))


@spec("numpy.linalg.solve", "f")
def _solve(d: Drawer) -> Call:
    size, batch = d.size(), d.shape(0, 1)
    left = d.operand((*batch, size, size), kind="invertible")
    return np.linalg.solve, (left, d.operand(d.choice((size,), (size, d.size()), (*batch, size, d.size()))))


@spec("numpy.linalg.norm", "f")
def _norm(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    keep = bool(d.integer(0, 1))
    return lambda x: np.linalg.norm(x, keepdims=keep), (d.operand(shape),)
