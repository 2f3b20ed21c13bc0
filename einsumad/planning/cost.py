"""What a step costs: arithmetic, memory traffic and calls, and the time that a machine needs for them.

Owns the cost model. Imports the kernels, the machine and the catalogue's costs. Invariant: costs depend on kernels,
shapes and dtypes only; they are exact integers, so that comparisons never depend on rounding. What they are in seconds
depends on the machine in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np

from einsumad.functions import elementwise_function, general_function
from einsumad.graph import Labels, Leaf, Node, Shape, Structural, topological
from einsumad.planning.kernels import (
    Apply,
    Call,
    Choose,
    Contract,
    Embed,
    Fill,
    Group,
    Joined,
    Kernel,
    Layout,
    Merge,
    Overlap,
    Pad,
    Patched,
    Place,
    Put,
    Selected,
    Sliced,
    Sum,
    Take,
    Window,
    kernel_of,
)
from einsumad.planning.machine import Machine, machine_in_force
from einsumad.planning.primitives import constant_value
from einsumad.planning.slices import product_shape, slice_count
from einsumad.records import record, replace

NEAR = 2**20
"""The bytes of the largest tensor that is taken to stay in a cache."""


@record(eq=True, repr=True)
class Cost:
    """Floating-point operations, bytes read and written, and calls into NumPy.

    Of the operations those in `products` are done by matrix products, of the bytes those in `far` belong to tensors
    that no cache holds. `loops` are inner loops beside the first of a call, one for each row or matrix of a stack.
    """

    flops: int = 0
    bytes: int = 0
    calls: int = 0
    products: int = 0
    far: int = 0
    loops: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.bytes + other.bytes,
            self.calls + other.calls,
            self.products + other.products,
            self.far + other.far,
            self.loops + other.loops,
        )

    def repeated(self, times: int) -> Cost:
        """The cost of the same work done this often."""
        fields = (self.flops, self.bytes, self.calls, self.products, self.far, self.loops)
        return Cost(*[times * field for field in fields])

    def seconds(self, machine: Machine | None = None) -> float:
        """The time that a machine needs, all parts one after the other; without an argument the machine in force."""
        of = machine_in_force() if machine is None else machine
        busy = self.products / of.products_per_second + (self.flops - self.products) / of.flops_per_second
        moving = (self.bytes - self.far) / of.near_bytes_per_second + self.far / of.far_bytes_per_second
        return busy + moving + self.calls * of.seconds_per_call + self.loops * of.seconds_per_loop


def summed(costs: Iterable[Cost]) -> Cost:
    """The cost of all steps together."""
    fields = [(c.flops, c.bytes, c.calls, c.products, c.far, c.loops) for c in costs]
    return Cost(*map(sum, zip(*fields, strict=True))) if fields else Cost()


def total_cost(roots: Sequence[Node], known: dict[Node, Cost] | None = None) -> Cost:
    """The cost of computing the roots, each node once; those of single nodes are `known` or become so.

    Products must be primitive.
    """
    costs = {} if known is None else known
    order = topological(roots)
    for node in order:
        if node not in costs:
            costs[node] = step_cost(node)
    return summed([costs[node] for node in order])


def step_cost(node: Node) -> Cost:
    """The cost of one node given its operands; leaves and what is never stored cost nothing."""
    if isinstance(node, Leaf | Structural):
        return Cost()
    kernel, operands = kernel_of(node)
    if isinstance(kernel, Fill):
        return Cost()
    sizes = tuple([bytes_of(o.shape, o.dtype) if constant_value(o) is None else 0 for o in operands])
    return kernel_cost(kernel, tuple([o.shape for o in operands]), sizes, node.shape, node.dtype)


def bytes_of(shape: Shape, dtype: np.dtype) -> int:
    """The bytes of a tensor."""
    return prod(shape) * dtype.itemsize


@lru_cache(maxsize=4096, typed=True)  # kernels of two kinds may have equal fields
def kernel_cost(
    kernel: Kernel, operands: tuple[Shape, ...], read: tuple[int, ...], shape: Shape, dtype: np.dtype
) -> Cost:
    """The cost of a kernel on operands of these shapes, and of so many bytes, for a result of this shape."""
    if isinstance(kernel, Window | Merge):
        return Cost(0, 0, 1)
    traffic = [*read, bytes_of(shape, dtype)]
    if isinstance(kernel, Patched):
        found = _work(kernel.group, operands[: len(kernel.group.inputs)], traffic, shape, dtype)
        found = replace(found, calls=found.calls + 3 + len(operands))
    elif isinstance(kernel, Joined):
        factors = sum([abs(coefficient) != 1 for coefficient in kernel.coefficients])
        found = Cost(sum(map(prod, operands)), sum(traffic), 1 + len(operands) + factors)
    else:
        found = _work(kernel, operands, traffic, shape, dtype)
    far = sum([size for size in traffic if size > NEAR]) if found.bytes else 0
    return replace(found, far=min(far, found.bytes)) if far else found


def _work(kernel: Kernel, operands: Sequence[Shape], traffic: Sequence[int], shape: Shape, dtype: np.dtype) -> Cost:
    """The cost as if all tensors were in a cache."""
    size, moved = prod(shape), sum(traffic)
    match kernel:
        case Layout():
            return _layout_cost(kernel, operands[0], moved, shape)
        case Embed():
            return Cost(0, moved, 2) if kernel.deltas else Cost()
        case Group():
            numbers, calls = len(kernel.inputs) - len(kernel.masks), max(len(kernel.inputs) - 1, 1)
            return Cost(max(numbers - 1, 0) * size, moved, calls, loops=_rows(kernel.inputs, operands, shape, calls))
        case Contract() | Selected() | Sliced():
            return _contraction_cost(kernel, operands, traffic, len(shape), dtype)
        case Sum():
            factors = sum([abs(coefficient) != 1 for coefficient in kernel.coefficients])
            negative = all(coefficient < 0 for coefficient in kernel.coefficients)
            calls = max(len(operands) - 1 + factors + negative, 1)
            rows = _rows(_last_axes(operands, len(shape)), operands, shape, calls)
            return Cost(calls * size, moved, calls, loops=rows)
        case Place():
            placed = prod(operands[1]) if len(operands) > 1 else prod(shape[:1])
            return Cost(placed, 3 * placed * dtype.itemsize, 3)
        case Choose():
            calls = 1 + sum([coefficient != 1 for coefficient in kernel.coefficients])
            return Cost(0, moved, calls, loops=_rows(kernel.inputs, operands, shape))
        case Apply():
            rows = _rows(_last_axes(operands, len(shape)), operands, shape)
            return Cost(elementwise_function(kernel.function).cost * size, moved, 1, loops=rows)
        case Call():
            flops = general_function(kernel.function).cost(tuple(operands), kernel.params)
            return Cost(flops, moved, _CALLS_OF_A_FUNCTION)
    return Cost(0, moved, _CALLS.get(type(kernel), 3))


_CALLS_OF_A_FUNCTION = 32
"""What a function of whole tensors calls itself, with its checks."""
_CALLS: dict[type, int] = {Fill: 1, Take: 4, Pad: 8, Overlap: 16, Put: 16}


_LOOPS_OF_A_PRODUCT = 2
"""What starting one product of a stack of matrices takes, in inner loops."""


def _rows(inputs: Sequence[Labels], operands: Sequence[Shape], shape: Shape, calls: int = 1) -> int:
    """How many rows so many entrywise calls go through one by one, because of operands that are spread or turned.

    A row goes over as many of the last axes as each operand has all of in order, or none.
    """
    rank = len(shape)
    found: list[Labels] = []
    for labels, sizes in zip(inputs, operands, strict=True):
        last = labels[len(labels) - len(sizes) :]  # leading axes that a kept shape lacks are spread over
        found.append(tuple([label for label, size in zip(last, sizes, strict=True) if size != 1]))
    others = [labels for labels in found if labels and labels != tuple(range(rank))]
    start = rank - 1
    while start > 0 and all((start in labels) == (start - 1 in labels) and _rises(labels) for labels in others):
        start -= 1
    return min(len(others), calls) * prod(shape[:start]) if others and start else 0


def _rises(labels: Labels) -> bool:
    return all(first < second for first, second in pairwise(labels))


def _last_axes(operands: Sequence[Shape], rank: int) -> list[Labels]:
    return [tuple(range(rank - len(operand), rank)) for operand in operands]


def _layout_cost(kernel: Layout, operand: Shape, moved: int, shape: Shape) -> Cost:
    """A view is free; a sum reads everything, a factor or a cast reads and writes."""
    summed_over = any(label >= len(shape) for label in kernel.labels)
    if summed_over:
        return Cost(prod(operand), moved, 1)
    return Cost(prod(shape), moved, 1) if kernel.coefficient != 1 else Cost(0, 0, 1)


def _contraction_cost(
    kernel: Contract | Selected | Sliced,
    operands: Sequence[Shape],
    traffic: Sequence[int],
    rank: int,
    dtype: np.dtype,
) -> Cost:
    """A product and a sum of each pair; by slices also the product that is sliced, which stays in the cache.

    With masks the result is read once more, for a NaN; where there is none the masks are not read.
    """
    if isinstance(kernel, Selected):
        found = _contraction_cost(kernel.contract, operands[:2], [*traffic[:2], traffic[-1]], rank, dtype)
        return replace(found, bytes=found.bytes + traffic[-1], calls=found.calls + 1)
    moved = sum(traffic)
    if isinstance(kernel, Contract):
        sizes = dict(zip(kernel.left + kernel.right, operands[0] + operands[1], strict=True))
        flops = 2 * prod(sizes.values())
        flops = flops * 5 // 8 if kernel.symmetric else flops
        stack = [
            size for label, size in sizes.items() if label < rank and label in kernel.left and label in kernel.right
        ]
        return Cost(flops, moved, 1, flops, loops=_LOOPS_OF_A_PRODUCT * prod(stack) if stack else 0)
    product = product_shape(kernel, operands)
    group = kernel_cost(kernel.group, tuple(operands[:-1]), tuple(traffic[:-2]), product, dtype)
    pair = (product, operands[-1]) if kernel.position == 0 else (operands[-1], product)
    contract = _contraction_cost(kernel.contract, pair, traffic, rank, dtype)
    count = slice_count(kernel, operands)
    calls = count * (group.calls + contract.calls)
    return Cost(group.flops + contract.flops, moved, calls, contract.products, loops=group.loops + contract.loops)
