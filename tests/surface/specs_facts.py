"""What is constant: facts about shapes, dtypes and values, places of entries, text."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


def _fact(function: Any, d: Drawer, least: int = 0, most: int = 2) -> Call:
    """What is no array becomes one, so that all results are compared alike."""
    return lambda a: np.asarray(function(a)), (d.operand(d.shape(least, most)),)


each(np, ("shape", "ndim", "size", "result_type", "min_scalar_type", "iscomplexobj", "isrealobj"), order=0)(_fact)
each(np, ("array2string", "array_repr", "array_str"), order=0)(partial(_fact, least=1))


def _of(function: Any, d: Drawer, least: int = 0, most: int = 2) -> Call:
    return function, (d.operand(d.shape(least, most)),)


each(np, ("argwhere", "flatnonzero", "isreal", "iscomplex", "isposinf", "isneginf"), order=0)(_of)
each(np, ("nonzero",), order=0)(partial(_of, least=1))
each(np, ("tril_indices_from", "triu_indices_from"), order=0)(partial(_of, least=2))


def _infinite(function: Any, d: Drawer) -> Call:
    return lambda a: function(np.where(a > 0, a / 0, -np.inf)), (d.operand(d.shape()),)


for _name in ("isposinf", "isneginf", "signbit", "isfinite", "isinf", "isnan"):
    spec(f"numpy.{_name}, of infinities", "f", order=0)(partial(_infinite, getattr(np, _name)))


@spec("numpy.size, axes", order=0)
def _size(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a: np.asarray(np.size(a, axis)), (d.operand(shape),)


@spec("numpy.result_type, of several", order=0)
def _result_type(d: Drawer) -> Call:
    return lambda a, b: np.zeros(1, np.result_type(a, b, 2)), (d.operand(d.shape()), d.operand(()))


@spec("numpy.common_type", "fi", order=0)
def _common_type(d: Drawer) -> Call:
    return lambda a, b: np.zeros(1, np.common_type(a, b)), (d.operand(d.shape()), d.operand(()))


@spec("numpy.can_cast", order=0)
def _can_cast(d: Drawer) -> Call:
    target, casting = d.choice(np.float32, np.int8, bool), d.choice("safe", "same_kind", "unsafe")
    return lambda a: np.asarray(np.can_cast(a.dtype, target, casting)), (d.operand(d.shape(1)),)


@spec("numpy.diag_indices_from", order=0)
def _diag_indices_from(d: Drawer) -> Call:
    return np.diag_indices_from, (d.operand((d.size(),) * d.integer(2, 3)),)


@spec("numpy.tril_indices_from, diagonals", order=0)
def _tril_indices_from(d: Drawer) -> Call:
    k = d.integer(-1, 2)
    return lambda a: np.tril_indices_from(a, k), (d.operand((d.size(), d.size())),)


@spec("numpy.einsum_path", order=0)
def _einsum_path(d: Drawer) -> Call:
    operands = (d.operand((2, 3)), d.operand((3, 4)))
    return lambda a, b: np.asarray(np.einsum_path("ij,jk->ik", a, b)[1]), operands


@spec("numpy.ix_", "i", order=0)
def _ix_(d: Drawer) -> Call:
    return np.ix_, (d.operand((d.size(1),), 0, 3), d.operand((d.size(1),), 0, 3))


@spec("numpy.ravel_multi_index", "i", order=0)
def _ravel_multi_index(d: Drawer) -> Call:
    mode, order = d.choice("raise", "wrap", "clip"), d.choice("C", "F")
    shape, high = d.shape(), 2.0 if mode == "raise" else 5.0
    operands = (d.operand(shape, 0, high), d.operand(shape, 0, high))
    return lambda i, j: np.ravel_multi_index((i, j), (3, 4), mode, order), operands


@spec("numpy.unravel_index", "i", order=0)
def _unravel_index(d: Drawer) -> Call:
    order = d.choice("C", "F")
    return lambda i: np.unravel_index(i, (3, 4), order), (d.operand(d.shape(), 0, 11),)
