"""Products of a factor that is zero by selection with one that may be infinite: the selection stays in the product.

Owns how they are recognised. Imports the supports, the primitives and their decomposition. Invariant: a term of such a
product counts only where the masks of its factors hold; all other products stay as they are.

Masks are applied before a contraction, and the zeros that they leave would make NaN of an infinite entry of the other
factor. ``sum_k m[i,k] a[k,j]``, as a product of matrices, has an infinite ``a[k,j]`` in all rows i, also in those that
do not select k. Where that happened is seen in the result, by the NaN; only then the masks are needed. An entrywise
product ``b[j,k] a[i,k]`` of a sum of selected terms with a factor that is spread over j has its mask as any group has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from einsumad.functions import apply
from einsumad.graph import BOOL, Einsum, Elementwise, Labels, Leaf, Node, Structural, einsum, rebuild, topological, zero
from einsumad.planning.contraction import binarise_beside
from einsumad.planning.finiteness import may_be_infinite
from einsumad.planning.primitives import has_sum, is_mask, kind_of
from einsumad.planning.support import Placed, Supports


def with_selections(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots, whose products are primitive, with masks in those that need them."""
    order = topological(roots)
    doubtful = {node for node in order if isinstance(node, Einsum) and _may_meet_infinities(node)}
    if not doubtful:
        return tuple(roots)
    asked = set(topological([operand for node in doubtful for operand in node.operands]))
    selections = _Selections()
    memo: dict[Node, Node] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if node in doubtful and isinstance(new, Einsum):
            new = selections.kept_in(new)
        selections.written.add(new)
        if node in asked:
            selections.supports.enter(new)
        memo[node] = new
    return tuple([memo[root] for root in roots])


def _may_meet_infinities(node: Einsum) -> bool:
    if node.dtype.kind != "f" or len(node.operands) < 2 or not any(map(may_be_infinite, node.operands)):
        return False
    return kind_of(node) in ("contract", "group")


class _Selections:
    """The supports of nodes, the nodes that are in primitive steps, and what of them somebody chose or counted."""

    def __init__(self) -> None:
        self.supports = Supports()
        self.written: set[Node] = set()
        self._chosen: dict[Node, bool] = {}
        self._counts: dict[Node, bool] = {}

    def kept_in(self, node: Einsum) -> Node:
        """The product with the masks outside of which one factor is zero, and another one may be infinite."""
        pairs = list(zip(node.operands, node.inputs, strict=True))
        own = [pair for pair in pairs if is_mask(pair[0])]
        found: dict[Placed, None] = {}
        for k, doubtful in enumerate(pairs):
            if not may_be_infinite(doubtful[0]):
                continue
            held = frozenset(_conditions([*own, *self.supports.placed(*doubtful)]))
            met = set(doubtful[1]) if not has_sum(node) else None
            for factor in (*pairs[:k], *pairs[k + 1 :]):
                found.update(dict.fromkeys(self._outside(factor, held, met)))
        if not found:
            return node
        placed = list(dict.fromkeys([_on_its_diagonals(*mask) for mask in found]))
        masks = binarise_beside(self.written, [mask for mask, _ in placed])
        inputs = [*node.inputs, *[labels for _, labels in placed]]
        return einsum([*node.operands, *masks], inputs, range(len(node.shape)), 1, node.dtype)

    def _outside(self, factor: Placed, held: frozenset[Placed], met: set[int] | None) -> list[Placed]:
        """The masks outside of which a factor is zero, but for what is held anyway.

        Of an entrywise product only those where it is spread and so is what it meets, which has the labels `met`: those
        within the labels of the other were applied to that. A count is none of them, and says more than they do.
        """
        node, labels = factor
        masks = [
            mask
            for mask in self.supports.placed(node, labels)
            if not held.issuperset(_conditions([mask])) and self._is_chosen(mask[0])
        ]
        counted = bool(masks) and self._is_count(node)
        if met is not None and not (counted and _adds_up(node)):
            masks = [mask for mask in masks if not (met.issuperset(mask[1]) or met.issubset(mask[1]))]
        if masks and counted:
            return [(apply("greater", node, zero(node.shape, node.dtype)), labels)]
        return masks

    def _is_chosen(self, mask: Node) -> bool:
        """Whether a mask depends on values, and not only on where maps lead: along these factors are read before."""
        for node in topological([mask], self._chosen.keys()):
            if node not in self._chosen:
                inner = any(self._chosen[operand] for operand in node.operands)
                self._chosen[node] = not isinstance(node, Structural) and (inner or isinstance(node, Leaf))
        return self._chosen[mask]

    def _is_count(self, factor: Node) -> bool:
        """Whether a factor is a product of masks alone, and so zero exactly where it is zero by selection."""
        for node in topological([factor], self._counts.keys()):
            if node not in self._counts:
                counted = isinstance(node, Einsum) and bool(node.operands) and node.coefficient > 0
                self._counts[node] = counted and all(is_mask(o) or self._counts[o] for o in node.operands)
        return self._counts[factor]


def _adds_up(count: Node) -> bool:
    """Whether there is a sum in a product of masks, or in one that is a factor of it.

    One without is zero where its masks say so themselves.
    """
    waiting = [count]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Einsum) and has_sum(node):
            return True
        waiting += [operand for operand in node.operands if not is_mask(operand)]
    return False


def _on_its_diagonals(mask: Node, labels: Labels) -> Placed:
    """The mask with each of its labels once."""
    distinct = tuple(dict.fromkeys(labels))
    return (mask, labels) if len(distinct) == len(labels) else (einsum([mask], [labels], distinct, 1, BOOL), distinct)


def _conditions(masks: Iterable[Placed]) -> list[Placed]:
    """The masks, those that hold where several others do taken apart into these."""
    found: list[Placed] = []
    waiting = list(masks)
    while waiting:
        mask, labels = waiting.pop()
        if isinstance(mask, Einsum) and mask.dtype == BOOL and not has_sum(mask) and len(mask.operands) > 1:
            waiting += [
                (operand, tuple([labels[axis] for axis in axes]))
                for operand, axes in zip(mask.operands, mask.inputs, strict=True)
            ]
        elif isinstance(mask, Elementwise) and mask.function == "logical_and":
            waiting += [(operand, labels) for operand in mask.operands]
        else:
            found.append((mask, labels))
    return found
