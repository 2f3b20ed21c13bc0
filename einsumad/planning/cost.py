"""What a step costs: arithmetic, memory traffic and calls, and the time a simple machine needs for them.

Owns the cost model. Imports the kernels and the catalogue's costs. Invariant: costs depend on kernels,
shapes and dtypes only; they are exact integers, so that comparisons never depend on rounding or on the
machine at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from einsumad.functions import elementwise_function, general_function
from einsumad.graph import Leaf, Node, Shape, Structural, topological
from einsumad.planning.kernels import (
    Apply,
    Call,
    Choose,
    Contract,
    Embed,
    Fill,
    Group,
    Kernel,
    Layout,
    Merge,
    Sliced,
    Sum,
    Take,
    Window,
    kernel_of,
)
from einsumad.planning.primitives import constant_value
from einsumad.planning.slices import product_shape, slice_count


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of a machine: enough to weigh arithmetic against memory traffic and the overhead of calls."""

    flops_per_second: float = 2e10
    bytes_per_second: float = 1e10
    seconds_per_call: float = 1e-6


MACHINE = Machine()
"""A common desktop core. Plans are chosen with these numbers everywhere: one program has one plan."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Floating-point operations, bytes read and written, and calls into NumPy."""

    flops: int = 0
    bytes: int = 0
    calls: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.bytes + other.bytes, self.calls + other.calls)

    def seconds(self, machine: Machine = MACHINE) -> float:
        """The time that the machine needs, arithmetic and traffic one after the other."""
        busy = self.flops / machine.flops_per_second + self.bytes / machine.bytes_per_second
        return busy + self.calls * machine.seconds_per_call


def total_cost(roots: Sequence[Node]) -> Cost:
    """The cost of computing the roots, each node once. Products must be primitive."""
    flops = moved = calls = 0
    for node in topological(roots):
        cost = step_cost(node)
        flops, moved, calls = flops + cost.flops, moved + cost.bytes, calls + cost.calls
    return Cost(flops, moved, calls)


def step_cost(node: Node) -> Cost:
    """The cost of one node given its operands; leaves and what is never stored cost nothing."""
    if isinstance(node, Leaf | Structural) or constant_value(node) is not None:
        return Cost()
    kernel, operands = kernel_of(node)
    stored = [o for o in operands if constant_value(o) is None]
    read = sum([prod(o.shape) * o.dtype.itemsize for o in stored])
    return kernel_cost(kernel, [o.shape for o in operands], read, node.shape, node.dtype)


def kernel_cost(kernel: Kernel, operands: Sequence[Shape], read: int, shape: Shape, dtype: np.dtype) -> Cost:
    """The cost of a kernel on operands of these shapes, `read` bytes in all, for a result of this shape."""
    size = prod(shape)
    moved = read + size * dtype.itemsize
    match kernel:
        case Layout():
            return _layout_cost(kernel, operands[0], moved, shape)
        case Embed():
            return Cost(0, moved, 2) if kernel.deltas else Cost()
        case Group():
            numbers = len(kernel.inputs) - len(kernel.masks)
            return Cost(max(numbers - 1, 0) * size, moved, max(len(kernel.inputs) - 1, 1))
        case Contract() | Sliced():
            return _contraction_cost(kernel, operands, read, moved, dtype)
        case Sum():
            factors = sum([abs(coefficient) != 1 for coefficient in kernel.coefficients])
            calls = max(len(operands) - 1 + factors, 1)
            return Cost(calls * size, moved, calls)
        case Choose():
            return Cost(0, moved, 1 + sum([coefficient != 1 for coefficient in kernel.coefficients]))
        case Apply():
            return Cost(elementwise_function(kernel.function).cost * size, moved, 1)
        case Call():
            return Cost(general_function(kernel.function).cost(tuple(operands), kernel.params), moved, 1)
    if isinstance(kernel, Window | Merge):
        return Cost(0, 0, 1)
    return Cost(0, moved, 1 if isinstance(kernel, Fill | Take) else 3)


def _layout_cost(kernel: Layout, operand: Shape, moved: int, shape: Shape) -> Cost:
    """A view is free; a sum reads everything, a factor or a cast reads and writes."""
    summed = any(label >= len(shape) for label in kernel.labels)
    if summed:
        return Cost(prod(operand), moved, 1)
    return Cost(prod(shape), moved, 1) if kernel.coefficient != 1 else Cost(0, 0, 1)


def _contraction_cost(
    kernel: Contract | Sliced, operands: Sequence[Shape], read: int, moved: int, dtype: np.dtype
) -> Cost:
    """A product and a sum of each pair; by slices also the product that is sliced, which stays in the cache."""
    if isinstance(kernel, Contract):
        sizes = dict(zip(kernel.left + kernel.right, operands[0] + operands[1], strict=True))
        flops = 2 * prod(sizes.values())
        return Cost(flops * 5 // 8 if kernel.symmetric else flops, moved, 1)
    product = product_shape(kernel, operands)
    group = kernel_cost(kernel.group, operands[:-1], read, product, dtype)
    pair = (product, operands[-1]) if kernel.position == 0 else (operands[-1], product)
    contract = _contraction_cost(kernel.contract, pair, read, moved, dtype)
    count = slice_count(kernel, operands)
    return Cost(group.flops + contract.flops, contract.bytes, count * (group.calls + contract.calls))
