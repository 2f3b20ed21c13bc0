"""Stabilising rewrites: forms that overflow replaced by equal forms that do not.

Imports the graph and the catalogue. Invariant: where both sides are finite they are equal; where the left side
overflows although the mathematics does not, the right side is finite. Applied before differentiation, so that the
derivatives of the stable form are taken.
"""

from __future__ import annotations

from einsumad.functions import apply, call
from einsumad.graph import (
    Add,
    Einsum,
    Elementwise,
    Node,
    Ones,
    add,
    broadcast,
    negate,
    transpose,
)
from einsumad.rewriting.product import is_negation, negated, open_product
from einsumad.rewriting.rules import Context, Rule
from einsumad.rewriting.spectral import exponent_of_sum


def function_of(node: Node, name: str) -> Node | None:
    """The operand of a one-operand catalogue function of this name, or None."""
    if isinstance(node, Elementwise) and node.function == name:
        return node.operands[0]
    return None


def is_one(node: Node) -> bool:
    """Whether the node is the tensor of ones."""
    return isinstance(node, Ones) or (
        isinstance(node, Einsum) and node.coefficient == 1 and all(isinstance(o, Ones) for o in node.operands)
    )


def one_plus(node: Node) -> Node | None:
    """The other term of a sum of one and one term."""
    if isinstance(node, Add) and len(node.operands) == 2:
        first, second = node.operands
        if is_one(first):
            return second
        if is_one(second):
            return first
    return None


def stable_logarithm(node: Elementwise, _: Context) -> Node | None:
    """``log(1 + exp z) = softplus z``, ``log Σ exp z = lse z``, ``log exp z = z``, ``log σ(z) = -softplus(-z)``."""
    if node.function == "log1p":
        exponent = function_of(node.operands[0], "exp")
        return None if exponent is None else apply("softplus", exponent)
    if node.function != "log":
        return None
    (inner,) = node.operands
    other = one_plus(inner)
    exponent = None if other is None else function_of(other, "exp")
    if exponent is not None:
        return apply("softplus", exponent)
    exponent = function_of(inner, "exp")
    if exponent is not None:
        return exponent
    logit = function_of(inner, "sigmoid")
    if logit is not None:
        return negate(apply("softplus", negated(logit)))
    reduced = summed_exponential(inner)
    return None if reduced is None else log_sum_exp(*reduced, len(inner.shape))


def summed_exponential(node: Node) -> tuple[Node, tuple[int, ...]] | None:
    """The exponent in ``sum exp z`` and its labels; those below the rank of the sum are its axes in order."""
    of_eigenvalues = exponent_of_sum(node)
    if of_eigenvalues is not None:
        return of_eigenvalues, tuple(range(len(of_eigenvalues.shape)))
    if not isinstance(node, Einsum) or node.coefficient != 1 or len(node.operands) != 1:
        return None
    exponent = function_of(node.operands[0], "exp")
    (labels,) = node.inputs
    rank = len(node.shape)
    if (
        exponent is None
        or len(set(labels)) != len(labels)
        or len(labels) == rank
        or node.operands[0].dtype != node.dtype
    ):
        return None
    return exponent, labels


def log_sum_exp(exponent: Node, labels: tuple[int, ...], rank: int) -> Node:
    """``log sum exp`` over the axes whose labels are not below `rank`: the one-axis function, axis after axis."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    result = transpose(exponent, order) if order != list(range(len(labels))) else exponent
    for _ in range(len(labels) - rank):
        result = call("logsumexp", result)
    return result


def stable_reciprocal(node: Elementwise, _: Context) -> Node | None:
    """``1 / (1 + exp z) = sigmoid(-z)``."""
    if node.function != "reciprocal":
        return None
    other = one_plus(node.operands[0])
    exponent = None if other is None else function_of(other, "exp")
    return None if exponent is None else apply("sigmoid", negated(exponent))


def stable_ratio(node: Einsum, _: Context) -> Node | None:
    """``exp z sigmoid(-z) = sigmoid z``; ``exp z / sum exp z = exp(z - logsumexp z)``; ``sinh z / cosh z = tanh z``."""
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, Elementwise) or operand.function not in ("exp", "sinh"):
            continue
        for j, (other, other_labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
            new = _ratio(operand, labels, other, other_labels)
            if new is not None:
                work = open_product(node)
                work.append(new, labels)
                work.drop([k, j])
                return work.build()
    return None


def _ratio(operand: Elementwise, labels: tuple[int, ...], other: Node, other_labels: tuple[int, ...]) -> Node | None:
    """The product of a function that may overflow with one that makes it small again."""
    (argument,) = operand.operands
    denominator = function_of(other, "reciprocal")
    if operand.function == "sinh":
        same = denominator is not None and function_of(denominator, "cosh") is argument and other_labels == labels
        return apply("tanh", argument) if same else None
    if other_labels == labels and function_of(other, "sigmoid") is negated(argument):
        return apply("sigmoid", argument)
    return _normalised(argument, labels, other, other_labels) if other.dtype == operand.dtype else None


def _normalised(exponent: Node, labels: tuple[int, ...], other: Node, other_labels: tuple[int, ...]) -> Node | None:
    """``exp(z - logsumexp z)`` if `other` is the reciprocal of the sum of ``exp z`` over the axes it lacks."""
    denominator = function_of(other, "reciprocal")
    reduced = None if denominator is None else summed_exponential(denominator)
    if reduced is None or denominator is None or reduced[0] is not exponent or len(set(labels)) != len(labels):
        return None
    rank = len(denominator.shape)
    axes = {label: axis for axis, label in enumerate(reduced[1]) if label < rank}
    kept = [axes[position] for position in range(rank)]
    if [labels[axis] for axis in kept] != list(other_labels):
        return None
    normaliser = log_sum_exp(*reduced, rank)
    return apply("exp", add([exponent, negate(_spread(normaliser, kept, exponent.shape))]))


def _spread(operand: Node, axes: list[int], shape: tuple[int, ...]) -> Node:
    order = sorted(range(len(axes)), key=axes.__getitem__)
    if order != list(range(len(axes))):
        operand = transpose(operand, order)
    return broadcast(operand, sorted(axes), shape)


def complement_of_sigmoid(node: Add, _: Context) -> Node | None:
    """``1 - sigmoid z = sigmoid(-z)``."""
    other = one_plus(node)
    logit = None if other is None or not is_negation(other) else function_of(other.operands[0], "sigmoid")
    return None if logit is None else apply("sigmoid", negated(logit))


RULES_FOR_FUNCTIONS = (
    Rule(
        "stable-logarithm",
        Elementwise,
        "log(1 + exp z) = softplus z; log Σ exp z = logsumexp z",
        "logarithms",
        stable_logarithm,
    ),
    Rule("stable-reciprocal", Elementwise, "1/(1 + exp z) = sigmoid(-z)", "reciprocals", stable_reciprocal),
)
RULES_FOR_PRODUCTS = (
    Rule(
        "stable-ratio",
        Einsum,
        "exp z / Σ exp z = exp(z - logsumexp z); sinh z / cosh z = tanh z",
        "operands",
        stable_ratio,
        frozenset([Elementwise]),
    ),
)
RULES_FOR_SUMS = (Rule("complement-of-sigmoid", Add, "1 - sigmoid z = sigmoid(-z)", "sums", complement_of_sigmoid),)
