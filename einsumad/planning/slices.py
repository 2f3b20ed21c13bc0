"""Contractions of a product that is larger than all that it is made of: one slice of the product at a time.

Owns that fusion. Imports the kernels. Invariant: the slice is what the product has for one index of the result, so that
no entry is computed twice; the values are those of the two steps in one another's place.

``H[o,k,m] = Σ_n d[o,n] X[n,k] X[n,m]``, the Hessian in the weights of a layer, would write ``d[o,n] X[n,k]``, for each
output o as large as X. By slices it is as large as X once, and stays in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from einsumad.graph import Einsum, Labels, Node, Shape
from einsumad.planning.fusion import fused_kernel
from einsumad.planning.kernels import Contract, Group, Kernel, Selected, Sliced
from einsumad.planning.options import in_force
from einsumad.planning.primitives import kind_of
from einsumad.planning.symmetric import is_symmetric_product

_SMALLEST_SLICE = 2**12
"""Entries from which the call for a slice costs less than its arithmetic."""


def kernel_in_slices(node: Node, users: Callable[[Node], int]) -> tuple[Kernel, tuple[Node, ...]]:
    """The kernel of a node as :func:`fused_kernel` gives it, or one that takes in a large factor slice by slice."""
    kernel, operands = fused_kernel(node, users)
    if isinstance(kernel, Selected) and in_force().symmetry and is_symmetric_product(node):
        return kernel._replace(contract=kernel.contract._replace(symmetric=True)), operands
    if not isinstance(kernel, Contract):
        return kernel, operands
    if in_force().symmetry and is_symmetric_product(node):
        return kernel._replace(symmetric=True), operands
    for k, labels in enumerate((kernel.left, kernel.right)):
        product, other = operands[k], operands[1 - k]
        if users(product) > 1 or not isinstance(product, Einsum) or kind_of(product) != "group":
            continue
        group, factors = fused_kernel(product, users)
        largest = max([prod(factor.shape) for factor in (*factors, other)])
        at = _sliced_axis(labels, product, len(node.shape), largest)
        if at is not None and isinstance(group, Group):
            return Sliced(at, group, kernel, k), (*factors, other)
    return kernel, operands


def _sliced_axis(labels: Labels, product: Node, rank: int, largest: int) -> int | None:
    """The axis of the result to go along: the shortest that makes the slices small enough, else the longest."""
    size = prod(product.shape)
    if size < 2 * max(largest, _SMALLEST_SLICE):
        return None
    lengths = {
        label: length
        for label, length in zip(labels, product.shape, strict=True)
        if label < rank and length > 1 and size >= _SMALLEST_SLICE * length
    }
    enough = {label: length for label, length in lengths.items() if size <= largest * length}
    if enough:
        return min(enough, key=lambda label: (enough[label], label))
    return max(lengths, key=lambda label: (lengths[label], -label), default=None)


def product_shape(kernel: Sliced, operands: Sequence[Shape]) -> Shape:
    """The shape of the product that is never whole, from those of the operands of its step."""
    sizes: dict[int, int] = {}
    for labels, shape in zip(kernel.group.inputs, operands, strict=False):
        sizes.update(zip(labels, shape, strict=True))
    return tuple([sizes[axis] for axis in range(len(sizes))])


def slice_count(kernel: Sliced, operands: Sequence[Shape]) -> int:
    """How many slices the product has."""
    labels = (kernel.contract.left, kernel.contract.right)[kernel.position]
    return product_shape(kernel, operands)[labels.index(kernel.at)]
