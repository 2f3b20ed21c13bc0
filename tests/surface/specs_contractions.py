"""Products and contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec

SUBSCRIPTS = (
    "ij,jk->ik",
    "ii->i",
    "ii",
    "ij->ji",
    "i,i",
    "i,j->ij",
    "ij,ij->i",
    "bij,bjk->bik",
    "ij,jk,kl->il",
    "ijj->i",
)


@spec("numpy.einsum")
def _einsum(d: Drawer) -> Call:
    subscripts = d.choice(*SUBSCRIPTS)
    sizes = {letter: d.size() for letter in "ijklb"}
    shapes = [[sizes[letter] for letter in term] for term in subscripts.split("->")[0].split(",")]
    return lambda *a: np.einsum(subscripts, *a), tuple([d.operand(shape) for shape in shapes])


def _matrices(d: Drawer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes that can be multiplied: vectors, matrices, batches."""
    inner = d.size()
    left = (inner,) if not d.integer(0, 3) else (d.size(), inner)
    right = (inner,) if not d.integer(0, 3) else (inner, d.size())
    batch = d.shape(0, 1)
    if len(left) == 2 and d.integer(0, 1):
        left = (*batch, *left)
    if len(right) == 2 and d.integer(0, 1):
        right = (*batch, *right)
    return left, right


@spec("numpy.matmul")
def _matmul(d: Drawer) -> Call:
    left, right = _matrices(d)
    return np.matmul, (d.operand(left), d.operand(right))


@spec("numpy.dot")
def _dot(d: Drawer) -> Call:
    inner = d.size()
    left, right = d.choice(((), (2,)), ((inner,), (inner,)), ((2, inner), (inner,)), ((2, inner), (3, inner, 2)))
    return np.dot, (d.operand(left), d.operand(right))


@spec("numpy.inner")
def _inner(d: Drawer) -> Call:
    inner = d.size()
    return np.inner, (d.operand((*d.shape(), inner)), d.operand((*d.shape(0, 1), inner)))


@spec("numpy.outer")
def _outer(d: Drawer) -> Call:
    return np.outer, (d.operand(d.shape()), d.operand(d.shape()))


@spec("numpy.multiply.outer")
def _multiply_outer(d: Drawer) -> Call:
    return np.multiply.outer, (d.operand(d.shape(0, 1)), d.operand(d.shape(0, 2)))


@spec("numpy.vdot")
def _vdot(d: Drawer) -> Call:
    shape = d.shape()
    return np.vdot, (d.operand(shape), d.operand(shape))


@spec("numpy.tensordot")
def _tensordot(d: Drawer) -> Call:
    a, b, c = d.size(), d.size(), d.size()
    axes, left, right = d.choice(
        (1, (a, b), (b, c)), (2, (a, b, c), (b, c)), (([0], [1]), (a, b), (c, a)), (0, (a,), (b,))
    )
    return lambda x, y: np.tensordot(x, y, axes), (d.operand(left), d.operand(right))


@each(np, ("convolve", "correlate"), "f")
def _convolved(function: Any, d: Drawer) -> Call:
    mode = d.choice("full", "same", "valid")
    return lambda a, v: function(a, v, mode), (d.operand((d.integer(1, 4),)), d.operand((d.integer(1, 3),)))
