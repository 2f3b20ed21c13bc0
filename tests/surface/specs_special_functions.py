"""Functions of scipy.special that are no ufuncs: logsumexp, softmax, counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from einsumad.scipy import special
from tests.surface.drawing import Drawer
from tests.surface.specs import Call, spec
from tests.surface.tables import Place, enter, entrywise

COUNTS: dict[str, tuple[Place, ...]] = {
    "comb": ((2.5, 4), (0.3, 1.5)),
    "perm": ((2.5, 4), (0.3, 1.5)),
}
enter(COUNTS)
enter({"comb": ((0.2, 1), (1.2, 2)), "perm": ((0.2, 1), (1.2, 2))}, dtypes="d", what=", zero")


@spec("scipy.special.comb, repetition", "d")
def _comb_repetition(d: Drawer) -> Call:
    return entrywise(lambda n, k: special.comb(n, k, repetition=True), ((2.5, 4), (0.3, 1.5)), d)


def _factorial(low: float, high: float, d: Drawer) -> Call:
    return special.factorial, (d.operand(d.shape(smallest=1), low, high),)


spec("scipy.special.factorial", "di")(partial(_factorial, 0.2, 3))
spec("scipy.special.factorial, negative", "di")(partial(_factorial, -2, -0.2))


@spec("scipy.special.multigammaln", "d")
def _multigammaln(d: Drawer) -> Call:
    size = d.integer(1, 3)
    return lambda a: special.multigammaln(a, size), (d.operand(d.shape(), 1.6, 3),)


@spec("scipy.special.logsumexp", "fi")
def _logsumexp(d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis, keep = d.axes(shape), bool(shape and d.integer(0, 1))
    return lambda a: special.logsumexp(a, axis=axis, keepdims=keep), (d.operand(shape),)


@spec("scipy.special.logsumexp, weights", "fi")
def _logsumexp_weights(d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis, keep = d.axes(shape), bool(shape and d.integer(0, 1))
    operands = (d.operand(shape), d.operand(d.broadcast(shape), 0.3, 2))
    return lambda a, b: special.logsumexp(a, axis=axis, b=b, keepdims=keep), operands


@spec("scipy.special.logsumexp, signs", "d")
def _logsumexp_signs(d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis, keep = d.axes(shape), bool(shape and d.integer(0, 1))
    weights = d.rng.choice(np.array([-1.0, 0.5, 2.0, 3.0]), d.broadcast(shape))
    return lambda a: special.logsumexp(a, axis=axis, b=weights, keepdims=keep, return_sign=True), (d.operand(shape),)


def _over(function: Any, d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis = d.axes(shape)
    return lambda x: function(x, axis=axis), (d.operand(shape),)


for _name in ("softmax", "log_softmax"):
    spec(f"scipy.special.{_name}", "fi")(partial(_over, getattr(special, _name)))
