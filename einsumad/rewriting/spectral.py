"""Sums over all eigenvalues or singular values, and functions of matrices by them, recognised by their form.

Imports the graph and the catalogue. Invariant: what is recognised treats all eigenvalues alike, so that it is a smooth
function of the matrix where eigenvalues are equal too; the function applied is smooth, or has kinks and jumps at given
eigenvalues. Applied before differentiation, so that no eigenvector is differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import isfinite

from einsumad.functions import call
from einsumad.functions.general.spectral import spread_over, stacked
from einsumad.functions.general.templates import COMPARISONS, FLOAT, KINKED, instantiate, root_of, slot, text_of
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Elementwise,
    General,
    Labels,
    Node,
    Ones,
    Params,
    Zero,
    add,
    einsum,
    elementwise,
    multiply,
    ones,
    topological,
    zero,
)
from einsumad.records import record
from einsumad.rewriting.flatten import inline
from einsumad.rewriting.permuted import Order, in_some_order
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule

_MOST_NODES = 64
_JUNCTIONS = frozenset({"logical_and", "logical_or", "logical_not"})
_VALUES = frozenset({"eigh_values", "svd_values"})
_VECTORS = frozenset({"eigh_vectors", "svd_left", "svd_right"})
_SPECTRUM = _VALUES | _VECTORS
_SMOOTH = frozenset(
    [
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"),
        *("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "softplus", "sigmoid"),
        *("power", "reciprocal", "sqrt", "square", "entr", "xlogy", "xlog1py", "logit", "ndtr", "log_ndtr"),
        *("erf", "erfc", "erfinv", "digamma", "gammaln"),
    ]
)


@record(frozen=False, eq=True, repr=True)
class _Reading:
    """The eigenvalues that an expression is a function of, in some order, and its parameters so far."""

    values: Node
    parameters: list[Node] = field(default_factory=list)
    nodes: int = 0

    def template(self, node: Node) -> Node | None:
        """The function that takes the eigenvalues to the node, as a graph over slots; None where it is none."""
        self.nodes += 1
        if node is self.values:
            return slot(0)
        if self.nodes > _MOST_NODES or node.shape != self.values.shape or node.dtype not in (self.values.dtype, BOOL):
            return None
        match node:
            case Elementwise():
                return self._of_function(node)
            case Add():
                operands = self._all(node.operands)
                return None if operands is None else add(operands)
            case Einsum():
                return self._of_product(node)
            case Ones() | Zero():
                return ones((), FLOAT) if isinstance(node, Ones) else zero((), FLOAT)
        return None

    def _all(self, nodes: Sequence[Node]) -> list[Node] | None:
        found = [self.template(node) for node in nodes]
        known = [part for part in found if part is not None]
        return known if len(known) == len(found) else None

    def _of_function(self, node: Elementwise) -> Node | None:
        """Smooth functions of anything; those with a kink or jump of linear functions of it, and of these again."""
        kinked = node.function in KINKED | COMPARISONS and self._has_one_side(node)
        if not (kinked or node.function in _SMOOTH or node.function in _JUNCTIONS):
            return None
        operands = self._all(node.operands) if all(map(_is_plain, node.params)) else None
        if operands is None:
            return None
        return elementwise(node.function, operands, node.params, BOOL if node.dtype == BOOL else FLOAT)

    def _has_one_side(self, node: Node) -> bool:
        """Whether this is linear in the eigenvalue, or has a kink of that, and is compared with what is constant."""
        while isinstance(node, Elementwise) and node.function in KINKED | COMPARISONS:
            if any(eigenvalues_in(other) is self.values for other in node.operands[1:]):
                return False
            node = node.operands[0]
        return _is_truth(node) or self._is_linear(node)

    def _is_linear(self, node: Node) -> bool:
        while node is not self.values:
            if not isinstance(node, Add | Einsum):
                return False
            varying = [o for o in node.operands if o.shape == node.shape and eigenvalues_in(o) is self.values]
            if len(varying) != 1:
                return False
            (node,) = varying
        return True

    def _of_product(self, node: Einsum) -> Node | None:
        """Factors over all axes are functions of the eigenvalues; those without the last axis make a parameter."""
        last = len(node.shape) - 1
        pairs = list(zip(node.operands, node.inputs, strict=True))
        within = [(o, labels) for o, labels in pairs if last in labels]
        without = [(o, labels) for o, labels in pairs if last not in labels]
        if any(not isinstance(o, Ones) and labels != tuple(range(last + 1)) for o, labels in within):
            return None
        factors = self._all([o for o, _ in within if not isinstance(o, Ones)])
        if factors is None:
            return None
        if without:
            if node.dtype == BOOL:
                return None
            factors.append(self._parameter(without, node.shape[:-1], node.dtype))
        dtype = BOOL if node.dtype == BOOL else FLOAT
        return multiply(*(factors or [ones((), dtype)]), coefficient=node.coefficient, dtype=dtype)

    def _parameter(self, pairs: list[tuple[Node, Labels]], shape: tuple[int, ...], dtype: object) -> Node:
        """The product of what does not vary with the eigenvalue, as one more parameter."""
        held = {label for _, labels in pairs for label in labels}
        bare = [axis for axis in range(len(shape)) if axis not in held]
        pairs = [*pairs, (ones([shape[axis] for axis in bare], dtype), tuple(bare))] if bare else pairs
        node = einsum([o for o, _ in pairs], [labels for _, labels in pairs], range(len(shape)), 1, dtype)
        if node not in self.parameters:
            self.parameters.append(node)
        return slot(1 + self.parameters.index(node))


def _is_truth(node: Node) -> bool:
    """Whether these are truth values as numbers."""
    return isinstance(node, Einsum) and len(node.operands) == 1 and node.operands[0].dtype == BOOL != node.dtype


def _is_plain(param: object) -> bool:
    """Whether a parameter can be read back from its text."""
    return not isinstance(param, float) or isfinite(param)


def eigenvalues_in(node: Node) -> Node | None:
    """The eigenvalues or singular values, in any order, that an entrywise expression of their shape is made of."""
    pending, seen = [node], 0
    while pending and seen < _MOST_NODES:
        found = pending.pop()
        seen += 1
        if found.shape == node.shape and in_some_order(found, _VALUES) is not None:
            return found
        if isinstance(found, (Elementwise, Add, Einsum)):
            pending.extend([operand for operand in found.operands if operand.shape == node.shape])
    return None


def _values_of_vectors(first: Node, second: Node) -> tuple[General, Order] | None:
    """The eigenvalues or singular values that belong to two vectors of one matrix, and the order that both are in."""
    left, right = (in_some_order(node, _VECTORS) for node in (first, second))
    if left is None or right is None or left[1] != right[1]:
        return None
    (one, order), other = left, right[0]
    (matrix,), params = one.operands, one.params
    if one is other and one.function == "eigh_vectors":
        values = call("eigh_values", matrix, params=params)
    elif one.operands == other.operands and "eigh_vectors" not in (one.function, other.function):
        values = call("svd_values", matrix)
    else:
        return None
    same_size = values.shape[-1] == one.shape[-1] == other.shape[-1]
    return (values, order) if isinstance(values, General) and same_size else None


def spectral_sum(node: Einsum, context: Context) -> Node | None:
    """``sum_i h(w[i]) = tr h(A)`` and ``V[k,i] h(w[i]) V[l,i] = h(A)[k,l]``, w and V of the symmetric matrix A.

    The same for singular values and for left with right singular vectors.
    """
    known = context.notes.spectrum
    for operand in node.operands:
        if known.get(operand) or (operand not in known and _has_spectrum(operand, known)):
            break
    else:
        return None
    found = _of_labels(node)
    if found is None:
        closed = [k for k, operand in enumerate(node.operands) if _holds_vectors(operand, node.dtype)]
        opened = inline(node, closed) if closed else None
        found = _of_labels(opened) if isinstance(opened, Einsum) else None
    return found


def _has_spectrum(node: Node, known: dict[Node, bool]) -> bool:
    """Whether eigenvalues, singular values or their vectors stand anywhere in the node."""
    below = [node] if known.keys() >= set(node.operands) else topological([node], known.keys())
    for inner in below:
        if inner not in known:
            own = isinstance(inner, General) and inner.function in _SPECTRUM
            known[inner] = own or True in [known[operand] for operand in inner.operands]
    return known[node]


def _holds_vectors(node: Node, dtype: object) -> bool:
    """Whether the node is a product with eigenvectors, along its last axis: one that is used more than once."""
    last = len(node.shape) - 1
    return (
        isinstance(node, Einsum)
        and node.dtype == dtype
        and any(
            in_some_order(operand, _VECTORS) is not None and labels[-1] == last
            for operand, labels in zip(node.operands, node.inputs, strict=True)
        )
    )


def _of_labels(node: Einsum) -> Node | None:
    """The product with one summed label of eigenvalues contracted."""
    rank = len(node.shape)
    for label in dict.fromkeys([labels[-1] for labels in node.inputs if labels]):
        if label >= rank:
            holding = [k for k, labels in enumerate(node.inputs) if label in labels]
            found = _recognised(node, label, holding)
            if found is not None:
                replacement, labels = found
                work = open_product(node)
                work.append(replacement, labels)
                work.drop(holding)
                return work.build()
    return None


def _recognised(node: Einsum, label: int, holding: list[int]) -> tuple[Node, Labels] | None:
    """What the operands that hold a summed label make together, if they are functions of one matrix's eigenvalues."""
    if any(node.inputs[k][-1] != label or node.inputs[k].count(label) != 1 for k in holding):
        return None
    vectors = [k for k in holding if in_some_order(node.operands[k], _VECTORS) is not None]
    functions = [k for k in holding if k not in vectors]
    if len(vectors) not in (0, 2):
        return None
    batch = node.inputs[functions[0]][:-1] if functions else node.inputs[vectors[0]][:-2]
    own = [node.inputs[k][:-1] for k in functions] + [node.inputs[k][:-2] for k in vectors]
    if any(labels != batch for labels in own) or len(set(batch)) != len(batch):
        return None
    values = _values_among([node.operands[k] for k in functions], [node.operands[k] for k in vectors])
    if values is None or values[0].dtype != node.dtype:
        return None
    spectrum, ordered = values
    reading = _Reading(ordered)
    factors = [reading.template(node.operands[k]) for k in functions]
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    plain = len(known) == 1 and known[0].dtype == FLOAT
    template = known[0] if plain else multiply(*(known or [ones((), FLOAT)]), dtype=FLOAT)
    parameters = stacked(reading.parameters, spectrum.shape[:-1], spectrum.dtype)
    text = text_of(template)
    function, params, turned = _row_for(spectrum, [node.operands[k] for k in vectors])
    places = [node.inputs[k][-2] for k in vectors]
    found = call(function, spectrum.operands[0], parameters, params=(*params, text))
    return found, (*batch, *(reversed(places) if turned else places))


def _values_among(functions: Sequence[Node], vectors: Sequence[Node]) -> tuple[General, Node] | None:
    """The eigenvalues that the functions are of, and these in the order that functions and vectors have."""
    candidates = [eigenvalues_in(function) for function in functions]
    ordered = next((some for some in candidates if some is not None), None)
    found = None if ordered is None else in_some_order(ordered, _VALUES)
    if not vectors:
        return None if ordered is None or found is None else (found[0], ordered)
    of_vectors = _values_of_vectors(*vectors)
    if of_vectors is None or ordered is None:
        return None if of_vectors is None or functions else (of_vectors[0], of_vectors[0])
    return (of_vectors[0], ordered) if found == of_vectors else None


def _row_for(values: General, vectors: Sequence[Node]) -> tuple[str, Params, bool]:
    """The row, its first params, and whether the vectors stand in the other order than the axes of its value."""
    if values.function == "eigh_values":
        return ("spectral", (0, *values.params), False) if vectors else ("spectral_sum", values.params, False)
    sides = [found[0].function for vector in vectors if (found := in_some_order(vector, _VECTORS)) is not None]
    if not sides:
        return "singular_sum", (), False
    if sides[0] == sides[1]:
        return "singular_square", (int(sides[0] == "svd_right"),), False
    return "singular_map", (), sides[0] == "svd_right"


def exponent_of_sum(node: Node) -> Node | None:
    """The exponents g(w) where the node is ``sum_i exp g(w[i])`` over eigenvalues."""
    if not isinstance(node, General) or node.function != "spectral_sum":
        return None
    root = root_of(str(node.params[-1]))
    if not isinstance(root, Elementwise) or root.function != "exp":
        return None
    values = call("eigh_values", node.operands[0], params=node.params[:1])
    return instantiate(text_of(root.operands[0]), [values, *spread_over(node.operands[1], values.shape)])


def reduced_spectrum(node: General, _: Context) -> Node | None:
    """``log sum_i exp g(w[i])`` and ``prod_i w[i] = det A`` without the derivative of single eigenvalues."""
    if node.function not in ("logsumexp", "product"):
        return None
    ordered = eigenvalues_in(node.operands[0])
    found = None if ordered is None else in_some_order(ordered, _VALUES)
    if ordered is None or found is None or found[0].function != "eigh_values":
        return None
    values = found[0]
    if node.function == "product":
        return call("determinant", values.operands[0]) if node.operands[0] is ordered else None
    reading = _Reading(ordered)
    template = reading.template(node.operands[0])
    if template is None:
        return None
    parameters = stacked(reading.parameters, values.shape[:-1], values.dtype)
    params = (*values.params, text_of(template))
    return call("spectral_logsumexp", values.operands[0], parameters, params=params)


RULES_FOR_PRODUCTS = (
    Rule(
        "spectral-sum",
        Einsum,
        "Σ_i h(w_i) = tr h(A); V[k,i] h(w_i) V[l,i] = h(A)[k,l]",
        "sums over eigenvalues",
        spectral_sum,
        frozenset([General, Elementwise, Add, Einsum]),
    ),
)
RULES_FOR_GENERAL = (
    Rule(
        "spectral-reduction",
        General,
        "logsumexp g(w) = log tr exp g(A); Π_i w_i = det A",
        "reductions of eigenvalues",
        reduced_spectrum,
        frozenset([General, Elementwise, Add, Einsum]),
    ),
)
