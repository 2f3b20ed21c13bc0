"""Random expression graphs with shared nodes and several roots, with values of their leaves."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from einsumad.functions import apply, call
from einsumad.graph import (
    add,
    broadcast,
    constant,
    einsum,
    multiply,
    ones,
    scale,
    transpose,
    unit,
    zero,
)
from tests.planning.products import random_values, variable

SIZES = {0: 2, 1: 3, 2: 3}
"""Sizes of three labels; the last two can stand for each other."""
SMOOTH = ("exp", "tanh", "sin", "sigmoid", "square", "reciprocal", "relu", "abs", "erf", "softplus")


@dataclass(frozen=True)
class Graph:
    """Roots and the values of their leaves."""

    roots: tuple
    values: dict


@st.composite
def graphs(draw, dtypes=(np.float64, np.float32), most_nodes=12):
    """A graph grown node by node, each from nodes before it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from(dtypes))
    shapes = [(2, 3), (3,), (2,), (), (3, 3), (3, 2)]
    values = {}
    nodes = []
    for number, shape in enumerate(shapes):
        node = variable(f"x{number}", shape, dtype)
        values[node] = random_values(rng, shape, dtype)
        nodes.append(node)
    for _ in range(draw(st.integers(1, most_nodes))):
        make = draw(st.sampled_from(MAKERS))
        node = make(draw, nodes)
        if node is not None:
            nodes.append(node)
    count = draw(st.integers(1, 4))
    roots = [draw(st.sampled_from(nodes[-8:])) for _ in range(count - 1)]
    return Graph((nodes[-1], *roots), values)


def some(draw, nodes, shape=None):
    """A node, likely a late one, of the given shape."""
    fitting = [node for node in nodes if shape is None or node.shape == shape]
    late = fitting[-4:] if draw(st.booleans()) else fitting
    return draw(st.sampled_from(late)) if late else None


def function_of_one(draw, nodes):
    node = some(draw, nodes)
    bounded = apply("tanh", node)
    return apply(draw(st.sampled_from(SMOOTH)), draw(st.sampled_from([node, bounded])))


def function_of_two(draw, nodes):
    a = some(draw, nodes)
    b = draw(st.sampled_from([constant(0.5, a.shape, a.dtype), ones(a.shape, a.dtype), some(draw, nodes, a.shape)]))
    operands = [a, b] if draw(st.booleans()) else [b, a]
    return apply(draw(st.sampled_from(["maximum", "minimum", "arctan2"])), *operands)


def sum_of_terms(draw, nodes):
    a = some(draw, nodes)
    terms = [a]
    for _ in range(draw(st.integers(0, 3))):
        coefficient = draw(st.sampled_from([1, -1, 2, -0.5]))
        terms.append(scale(coefficient, _spread(draw, nodes, a.shape, a.dtype)))
    if draw(st.booleans()):
        terms[0] = scale(-1, a)
    return add(terms)


def _spread(draw, nodes, shape, dtype):
    """A tensor of the shape, that may not vary along some axes."""
    axes = [axis for axis in range(len(shape)) if draw(st.integers(0, 2))]
    inner = some(draw, nodes, tuple([shape[axis] for axis in axes]))
    if inner is None or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([constant(-1.5, shape, dtype), ones(shape, dtype), zero(shape, dtype)]))
    return broadcast(inner, axes, shape)


def choice(draw, nodes):
    a = some(draw, nodes)
    b = some(draw, nodes, a.shape)
    mask = apply(draw(st.sampled_from(["greater", "less_equal"])), b, constant(0.1, a.shape, a.dtype))
    other = _spread(draw, nodes, a.shape, a.dtype)
    return add([multiply(mask, a), multiply(apply("logical_not", mask), other)])


def product(draw, nodes):
    operands, inputs = [], []
    for _ in range(draw(st.integers(1, 4))):
        node = some(draw, nodes)
        same = [[label for label, size in SIZES.items() if size == wanted] for wanted in node.shape]
        operands.append(node)
        inputs.append(tuple(draw(st.sampled_from(labels)) for labels in same))
    if draw(st.integers(0, 3)) == 0:
        operands.append(unit(3, 2, operands[0].dtype))
        inputs.append((1, 2))
    if draw(st.integers(0, 2)) == 0:
        a = some(draw, nodes, (2, 3))
        operands.append(apply("greater", a, zero((2, 3), a.dtype)))
        inputs.append((0, draw(st.sampled_from([1, 2]))))
    present = sorted({label for labels in inputs for label in labels})
    output = draw(st.lists(st.sampled_from(present), unique=True, max_size=2)) if present else []
    return einsum(operands, inputs, output, draw(st.sampled_from([1, 1, 1, -1, 0.5])))


def rearranged(draw, nodes):
    a = some(draw, nodes)
    return transpose(a, draw(st.permutations(range(len(a.shape)))))


def scaled(draw, nodes):
    return scale(draw(st.sampled_from([-1, 3, 0.25])), some(draw, nodes))


def quotient(draw, nodes):
    a = some(draw, nodes)
    b = apply("exp", apply("tanh", some(draw, nodes, a.shape)))
    return multiply(a, apply("reciprocal", b))


def spread(draw, nodes):
    return _spread(draw, nodes, draw(st.sampled_from([(2, 3), (3, 3)])), nodes[0].dtype)


def general(draw, nodes):
    a = some(draw, nodes, (3, 3))
    shift = einsum([unit(3, 2, a.dtype)], [(0, 1)], (0, 1), 4)
    return call("inverse", add([apply("tanh", a), shift]))


MAKERS = [
    function_of_one,
    function_of_one,
    function_of_two,
    sum_of_terms,
    sum_of_terms,
    choice,
    product,
    product,
    product,
    rearranged,
    scaled,
    quotient,
    spread,
    general,
]
