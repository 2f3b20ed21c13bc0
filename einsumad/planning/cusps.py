"""Functions ``f(sqrt(s))`` of norms and absolute values: where f is even they are smooth at s = 0, and expanded there.

Owns that expansion. Imports calculus, rewriting, the catalogue and the graph. Invariant: the roots keep value, shape,
dtype and all derivatives where s > 0, and value and gradient everywhere.

By convention a norm has the derivative 0 at 0. So the chain rule gives 0 for the second derivative of ``cos(norm(x))``
there, though it is -1: what cancels in the function does not cancel term by term. With ``f'(0) = 0`` the expansion
``f(0) + f''(0)/2 s + f''''(0)/24 s**2 + ...`` has the right derivatives, since s is a sum of squares; f may depend on
further operands. It stands for the function where ``s = 0``, ``f'(0) = 0`` and ``f''(0)`` is finite, as far as the odd
derivatives are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import factorial, isfinite

import numpy as np

from einsumad.calculus import derivative
from einsumad.functions import apply, value_function
from einsumad.graph import (
    Add,
    Einsum,
    Elementwise,
    Labels,
    Leaf,
    Node,
    Structural,
    Unit,
    einsum,
    fresh_leaf,
    leaves,
    multiply,
    ones,
    rebuild,
    substitute,
    topological,
    total,
    zero,
)
from einsumad.planning.primitives import constant_value, has_sum
from einsumad.rewriting import normalise

_LARGEST = 48
"""Nodes of one function that are looked at together."""

_SQUARES: Mapping[str, Callable[[Elementwise], Node]] = {
    "norm_root": lambda node: node.operands[0],
    "abs": lambda node: multiply(node.operands[0], node.operands[0]),
    "hypot": lambda node: total(*[multiply(operand, operand) for operand in node.operands]),
}
"""What the roots are roots of."""


def expanded(roots: Sequence[Node], order: int) -> tuple[Node, ...]:
    """The roots, whose derivatives up to an order are right where an even function of a root is taken at 0."""
    nodes = topological(roots)
    if order < 2 or not any(_is_root(node) for node in nodes):
        return tuple(roots)
    regions = _Regions(order)
    for node in nodes:
        regions.enter(node)
    return tuple([regions.outside(root) for root in roots])


def _is_root(node: Node) -> bool:
    return isinstance(node, Elementwise) and node.function in _SQUARES and node.dtype.kind == "f"


class _Regions:
    """For each root the nodes that are functions of it entry by entry, in three forms.

    `inner` is the node as it is but for what lies outside its region; `probes` has the root replaced by a number r and
    all other operands by leaves; `outer` is what users outside the region see.
    """

    def __init__(self, order: int) -> None:
        self.order = order
        self.root: dict[Node, Elementwise] = {}
        self.size: dict[Node, int] = {}
        self.inner: dict[Node, Node] = {}
        self.outer: dict[Node, Node] = {}
        self.probes: dict[Node, Node] = {}
        self.number: dict[Elementwise, Leaf] = {}
        self.stand_ins: dict[Node, Leaf] = {}

    def enter(self, node: Node) -> None:
        """Take in a node whose operands were taken in before."""
        root = self._root_of(node)
        if isinstance(node, Elementwise) and _is_root(node):
            self.inner[node] = self.outer[node] = rebuild(node, [self.outside(o) for o in node.operands])
            self.root[node], self.size[node] = node, 1
            self.number[node] = fresh_leaf((), node.dtype)
            self.probes[node] = _spread(self.number[node], node)
        elif root is not None:
            self._join(node, root)
        elif isinstance(node, Einsum):
            self.outer[node] = self._product(node)
        else:
            self.outer[node] = rebuild(node, [self.outside(operand) for operand in node.operands])

    def _root_of(self, node: Node) -> Elementwise | None:
        """The only root of which the node is a function entry by entry, if there is one and the function is small.

        A root of a function of another is looked at as one of its own.
        """
        inside = [operand for operand in node.operands if operand in self.root]
        if not inside or len({self.root[operand] for operand in inside}) > 1:
            return None
        root = self.root[inside[0]]
        if node.shape != root.shape or sum(self.size[operand] for operand in set(inside)) >= _LARGEST:
            return None
        if not set(root.operands).isdisjoint(node.operands):  # x beside abs(x): what is even, is so without it
            return None
        if isinstance(node, Einsum):
            rank = range(len(node.shape))
            summed = any(label not in rank for labels in node.inputs for label in labels)
            moved = any(
                o in self.root and held != tuple(rank) for o, held in zip(node.operands, node.inputs, strict=True)
            )
            return None if summed or moved else root
        return root if isinstance(node, Elementwise | Add) else None

    def _join(self, node: Node, root: Elementwise) -> None:
        inside = [operand in self.root for operand in node.operands]
        pairs = list(zip(node.operands, inside, strict=True))
        self.root[node] = root
        self.size[node] = 1 + sum(self.size[operand] for operand in {o for o, held in pairs if held})
        self.inner[node] = rebuild(node, [self.inner[o] if held else self.outside(o) for o, held in pairs])
        self.probes[node] = rebuild(node, [self.probes[o] if held else self._stand_in(o) for o, held in pairs])

    def _stand_in(self, operand: Node) -> Node:
        if isinstance(operand, Structural) or constant_value(operand) is not None:
            return operand
        if operand not in self.stand_ins:
            self.stand_ins[operand] = fresh_leaf(operand.shape, operand.dtype)
        return self.stand_ins[operand]

    def outside(self, node: Node) -> Node:
        """The node as users outside its region see it: expanded where it is even."""
        if node not in self.outer:
            expansion = self._expansion(node)
            self.outer[node] = self.inner[node] if expansion is None else expansion
        return self.outer[node]

    def _product(self, node: Einsum) -> Node:
        """A product of several roots, or one that sums: its factors of one root are a function of their own."""
        groups: dict[tuple[Elementwise, Labels], list[int]] = {}
        for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
            if operand in self.root and len(set(labels)) == len(labels):
                groups.setdefault((self.root[operand], labels), []).append(k)
        factors = dict(enumerate(zip(node.operands, node.inputs, strict=True)))
        for (root, labels), places in groups.items():
            floats = [k for k in places if node.operands[k].dtype == node.dtype]
            small = sum(self.size[node.operands[k]] for k in places) < _LARGEST
            if len(places) > 1 and floats and small:
                axes = range(len(labels))
                part = einsum([node.operands[k] for k in places], [axes] * len(places), axes, 1, node.dtype)
                if part not in self.root:
                    self._join(part, root)
                factors[places[0]] = (part, labels)
                for k in places[1:]:
                    del factors[k]
        operands = [self.outside(factor) for factor, _ in factors.values()]
        inputs = [labels for _, labels in factors.values()]
        return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)

    def _expansion(self, node: Node) -> Node | None:
        """``f(sqrt(s))`` with its expansion where it is even at 0, or None where that is the same."""
        root = self.root[node]
        if node.dtype != root.dtype or node is root:
            return None
        slopes = self._at_zero(self.probes[node], self.number[root])
        if all(_number(slope) == 0 for slope in slopes[2::2]) or _number(slopes[1]):
            return None
        square = _SQUARES[root.function](root)
        square = substitute([square], {operand: self.outside(operand) for operand in root.operands})[0]
        flat = [apply("equal", self.inner[root], zero(node.shape, node.dtype))]
        terms: list[Node] = []
        for k in range(2, len(slopes), 2):
            new = [mask for mask in (_vanishes(slopes[k - 1]), _is_finite(slopes[k])) if mask is not None]
            flat.append(reduce(lambda mask, other: apply("logical_and", mask, other), new, flat[-1]))
            terms.append(multiply(flat[-1], slopes[k], *[square] * (k // 2), coefficient=1 / factorial(k)))
        at = flat[1]
        return total(multiply(at, slopes[0]), *terms, multiply(apply("logical_not", at), self.inner[node]))

    def _at_zero(self, probe: Node, number: Leaf) -> list[Node]:
        """``f(0), f'(0), f''(0), ...``: a derivative in one number is one for each entry.

        The 0 is a number and no structural zero, which would win over a logarithm that is infinite.
        """
        found = [*normalise([probe])]
        for _ in range(self.order // 2 * 2):
            found.append(normalise([derivative(found[-1], [number], "forward")[0]])[0])
        met = set(leaves(found))
        known: dict[Node, Node] = {
            leaf: self.outside(operand) for operand, leaf in self.stand_ins.items() if leaf in met
        }
        known[number] = apply("log", ones((), number.dtype))
        return list(substitute(found, known))


def _vanishes(slope: Node) -> Node | None:
    return None if _number(slope) == 0 else apply("equal", slope, zero(slope.shape, slope.dtype))


def _is_finite(slope: Node) -> Node | None:
    number = _number(slope)
    return None if number is not None and isfinite(number) else apply("isfinite", slope)


def _number(node: Node) -> float | None:
    """The number that the node is everywhere, where that can be computed without any leaf."""
    order = topological([node])
    if any(isinstance(inner, Leaf) for inner in order):
        return None
    known: dict[Node, float | None] = {}
    for inner in order:
        known[inner] = _computed(inner, [known[operand] for operand in inner.operands])
    return known[node]


def _computed(node: Node, numbers: Sequence[float | None]) -> float | None:
    value = constant_value(node)
    if value is not None or not numbers or any(number is None for number in numbers):
        return None if value is None else float(value)
    given = [np.asarray(number, o.dtype) for number, o in zip(numbers, node.operands, strict=True)]
    with np.errstate(all="ignore"):
        match node:
            case Elementwise():
                return float(value_function(node.function, node.params, len(given))(*given))
            case Add():
                return float(np.sum(given, dtype=node.dtype))
            case Einsum() if not has_sum(node) and not any(isinstance(operand, Unit) for operand in node.operands):
                return float(node.coefficient * np.prod(given, dtype=node.dtype))
    return None


def _spread(number: Node, like: Node) -> Node:
    axes = range(len(like.shape))
    return einsum([ones(like.shape, like.dtype), number], [axes, ()], axes, 1, like.dtype)
