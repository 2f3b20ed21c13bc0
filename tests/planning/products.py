"""Random products of every kind of operand, with values, for the tests of planning and execution."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from einsumad.graph import (
    BOOL,
    affine,
    einsum,
    leaf,
    ones,
    selection,
    unit,
    zero,
)

FLOATS = (np.float64, np.float32)
NUMBERS = (np.float64, np.float64, np.float32, np.int64)


@dataclass(frozen=True)
class Case:
    """A product node and values of its leaves."""

    node: object
    values: dict


def variable(name, shape, dtype):
    return leaf(shape, dtype, ("variable", name), name)


def random_values(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype == BOOL:
        return rng.random(shape) < 0.6
    if dtype.kind == "i":
        return rng.integers(-4, 5, shape)
    return rng.normal(size=shape).astype(dtype)


@st.composite
def products(draw, *, dtypes=NUMBERS, most_operands=6, structural=True, coefficients=(1, 1, -1, 0.5, 2, 0)):
    """An einsum node over random labels; equal operands, diagonals and naked sums are likely."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = range(draw(st.integers(1, 5)))
    sizes = [draw(st.sampled_from([1, 2, 2, 3, 3] + [0] * draw(st.booleans()))) for _ in labels]
    operands, inputs, values = [], [], {}
    for number in range(draw(st.integers(1, most_operands))):
        kind = draw(st.sampled_from(KINDS if structural else ["number", "number", "mask"]))
        own = draw(st.lists(st.sampled_from(labels), max_size=3))
        if kind == "number" and operands and draw(st.integers(0, 3)) == 0:
            k = draw(st.integers(0, len(operands) - 1))
            same = [[m for m in labels if sizes[m] == size] for size in operands[k].shape]
            operands.append(operands[k])
            inputs.append(tuple(draw(st.sampled_from(choice)) for choice in same))
            continue
        operand, own = _operand(draw, rng, kind, f"x{number}", own, sizes=sizes, values=values, dtypes=dtypes)
        operands.append(operand)
        inputs.append(tuple(own))
    present = sorted({label for own in inputs for label in own})
    output = draw(st.lists(st.sampled_from(present), unique=True, max_size=4)) if present else []
    dtype = None
    if all(operand.dtype == BOOL for operand in operands):
        dtype = draw(st.sampled_from(FLOATS))
    coefficient = draw(st.sampled_from(coefficients))
    known = np.dtype(dtype) if dtype else np.result_type(*{o.dtype for o in operands} - {BOOL})
    if known.kind == "i" and not isinstance(coefficient, int):
        coefficient = 3
    return Case(einsum(operands, inputs, output, coefficient, dtype), values)


KINDS = ["number"] * 6 + ["mask"] * 2 + ["ones", "unit", "unit", "zero", "affine", "selection"]


def _operand(draw, rng, kind, name, own, *, sizes, values, dtypes):
    """A node and its labels; leaves get values."""
    shape = tuple(sizes[label] for label in own)
    dtype = draw(st.sampled_from(dtypes))
    if kind == "ones":
        return ones(shape, draw(st.sampled_from([dtype, bool]))), own
    if kind == "zero" and draw(st.integers(0, 4)) == 0:
        return zero(shape, dtype), own
    if kind == "unit" and own:
        same = [label for label in range(len(sizes)) if sizes[label] == sizes[own[0]]]
        corner = [draw(st.sampled_from(same)) for _ in range(draw(st.integers(2, 3)))]
        return unit(sizes[own[0]], len(corner), draw(st.sampled_from([dtype, bool]))), corner
    if kind == "affine" and len(own) > 1:
        strides = [draw(st.integers(-2, 2)) for _ in own[1:]]
        return affine(shape[0], shape[1:], strides, draw(st.integers(-1, 2)), dtype), own
    if kind == "selection" and own and sizes[own[-1]]:
        index = variable(name, shape[:-1], np.int64)
        values[index] = rng.integers(0, shape[-1], shape[:-1])
        return selection(index, shape[-1], dtype), own
    node = variable(name, shape, bool if kind == "mask" else dtype)
    values[node] = random_values(rng, shape, node.dtype)
    return node, own
