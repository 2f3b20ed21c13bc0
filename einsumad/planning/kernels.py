"""What a step computes: one frozen record for each kind of kernel, made from primitive nodes.

Owns the kernels. Imports the graph and the primitives. Invariant: a kernel with its operands is all that lowering,
cost and printing need of a node.

Nothing compares kernels, and :mod:`einsumad.planning.text` prints them; generated methods for that would only make the
import slower. Labels are those of the node: 0, 1, ... for the axes of the result, larger ones are summed.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from einsumad.errors import InternalError
from einsumad.graph import (
    BOOL,
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Labels,
    Node,
    Number,
    Ones,
    Params,
    Selection,
    Unit,
)
from einsumad.planning.primitives import (
    always_inside,
    constant_value,
    in_turn,
    is_mask,
    kind_of,
    numbers_in_order,
    single_summed,
    split_map,
)


class Fill(NamedTuple):
    """One number everywhere."""

    value: Number


class Layout(NamedTuple):
    """Axes permuted, diagonals taken, other labels summed, times a number."""

    labels: Labels
    coefficient: Number


class Embed(NamedTuple):
    """The operand with these labels (the number, where there is none) on diagonals of zeros, or spread."""

    labels: Labels
    deltas: tuple[Labels, ...]
    coefficient: Number


class Group(NamedTuple):
    """The entrywise product of the operands, those in `divisors` dividing, where all in `masks` hold."""

    inputs: tuple[Labels, ...]
    masks: tuple[int, ...]
    divisors: tuple[int, ...]


class Contract(NamedTuple):
    """Two operands multiplied and summed over labels that both have; if `symmetric`, one triangle of a matrix."""

    left: Labels
    right: Labels
    symmetric: bool = False


class Selected(NamedTuple):
    """A contraction whose terms count only where the masks with these labels hold, which are the further operands."""

    contract: Contract
    masks: tuple[Labels, ...]


class Sliced(NamedTuple):
    """A contraction whose operand `position` is the group, for one index after the other of the result's axis `at`.

    The operands are those of the group, then the other one of the contraction.
    """

    at: int
    group: Group
    contract: Contract
    position: int


class Sum(NamedTuple):
    """The operands times their coefficients, added up."""

    coefficients: tuple[Number, ...]


class Joined(NamedTuple):
    """The operands with these labels times their coefficients, added into zeros from `starts` on along an axis."""

    along: int
    inputs: tuple[Labels, ...]
    starts: tuple[int, ...]
    coefficients: tuple[Number, ...]


class Place(NamedTuple):
    """The first operand plus the second (or a number) with these labels on diagonals, times the coefficient."""

    labels: Labels
    deltas: tuple[Labels, ...]
    coefficient: Number


class Patched(NamedTuple):
    """A group of which the operand at `position` is a sum with diagonals, computed as if they were zero; then these.

    The operands are those of the group, with the rest of that sum in its place, and behind them what is placed.
    """

    group: Group
    place: Place
    position: int


class Choose(NamedTuple):
    """The second operand where the first holds, else the third, each times its coefficient."""

    inputs: tuple[Labels, ...]
    coefficients: tuple[Number, Number]


class Apply(NamedTuple):
    """A catalogue function entry by entry."""

    function: str
    params: Params


class Call(NamedTuple):
    """A catalogue function of whole tensors."""

    function: str
    params: Params


class AffineMap(NamedTuple):
    """An affine 0/1 tensor written out."""

    strides: tuple[int, ...]
    offset: int


class OneHot(NamedTuple):
    """One-hot rows written out."""


class Inside(NamedTuple):
    """Where an affine map stays within an axis of this size."""

    size: int
    strides: tuple[int, ...]
    offset: int


class Window(NamedTuple):
    """The operand with its axis `at` read at ``offset + sum of strides * places``, always within its bounds."""

    labels: Labels
    at: int
    places: Labels
    strides: tuple[int, ...]
    offset: int


class Pad(NamedTuple):
    """The operand with its axis `at` read from `offset` on, zero where that is out of bounds."""

    labels: Labels
    at: int
    place: int
    offset: int


class Take(NamedTuple):
    """The first operand with its axis `at` read at the values of the second."""

    labels: Labels
    at: int
    places: Labels


class Merge(NamedTuple):
    """The operand with its axes `places` made one, `at`, in which they are numbered in C order."""

    labels: Labels
    at: int
    places: Labels


class Overlap(NamedTuple):
    """The operand added into zeros at ``offset + sum of strides * places``, bounds respected."""

    labels: Labels
    at: int
    places: Labels
    strides: tuple[int, ...]
    offset: int


class Put(NamedTuple):
    """The first operand added into zeros at the values of the second."""

    labels: Labels
    at: int
    places: Labels


Kernel: TypeAlias = (
    Fill
    | Layout
    | Embed
    | Group
    | Contract
    | Selected
    | Sliced
    | Sum
    | Joined
    | Place
    | Patched
    | Choose
    | Apply
    | Call
    | AffineMap
    | OneHot
    | Inside
    | Window
    | Pad
    | Take
    | Merge
    | Overlap
    | Put
)


def kernel_of(node: Node) -> tuple[Kernel, tuple[Node, ...]]:
    """The kernel of a node whose products are primitive, and its operands."""
    if isinstance(node, Einsum):
        return _product_kernel(node)
    value = constant_value(node)
    if value is not None:
        return Fill(value), ()
    match node:
        case Add():
            return Sum((1,) * len(node.operands)), node.operands
        case Elementwise():
            return Apply(node.function, node.params), node.operands
        case General():
            return Call(node.function, node.params), node.operands
        case Unit():
            return Embed((), (tuple(range(len(node.shape))),), 1), ()
        case Affine():
            return AffineMap(node.strides, node.offset), ()
        case Selection():
            return OneHot(), node.operands
    raise InternalError(f"a {type(node).__name__} has no kernel")


def _product_kernel(node: Einsum) -> tuple[Kernel, tuple[Node, ...]]:
    match kind_of(node):
        case "constant" if (value := constant_value(node)) is not None:
            return Fill(value), ()
        case "layout":
            (labels,), single = node.inputs, single_summed(node)
            return Layout(labels, node.coefficient) if single is None else Window(
                labels, single, (), (), 0
            ), node.operands
        case "dense":
            return kernel_of(node.operands[0])
        case "inside" | "read" | "write":
            return _map_kernel(node)
        case "contract":
            left, right = node.inputs
            return Contract(left, right), node.operands
        case "selected":
            return _selected_kernel(node)
        case "embed":
            return _embed_kernel(node)
        case "group":
            order = in_turn(node.operands)
            operands, inputs = tuple([node.operands[k] for k in order]), tuple([node.inputs[k] for k in order])
            masks = tuple([k for k, o in enumerate(operands) if o.dtype == BOOL and node.dtype != BOOL])
            return Group(inputs, masks, ()), operands
    raise InternalError("a product is not primitive: binarise the graph first")


def _map_kernel(node: Einsum) -> tuple[Kernel, tuple[Node, ...]]:
    """The kernel of a product with one affine tensor or selection."""
    (found,) = [operand for operand in node.operands if isinstance(operand, Affine | Selection)]
    if len(node.operands) == 1 and isinstance(found, Affine):
        return Inside(found.shape[0], found.strides, found.offset), ()
    (operand, labels), (at, places) = split_map(node)
    reads = kind_of(node) == "read"
    if isinstance(found, Selection):
        return (Take if reads else Put)(labels, at, places), (operand, found.operands[0])
    if not isinstance(found, Affine):
        raise InternalError(f"a {type(found).__name__} is no map")
    if reads and not always_inside(found):
        return Pad(labels, at, places[0], found.offset), (operand,)
    size, *sizes = found.shape
    if not reads and numbers_in_order(size, sizes, found.strides, found.offset) and min(places) >= len(node.shape):
        return Merge(labels, at, places), (operand,)
    return (Window if reads else Overlap)(labels, at, places, found.strides, found.offset), (operand,)


def _selected_kernel(node: Einsum) -> tuple[Kernel, tuple[Node, ...]]:
    """The kernel of a contraction with masks, which come last."""
    places = sorted(range(len(node.operands)), key=lambda k: is_mask(node.operands[k]))
    left, right, *masks = [node.inputs[k] for k in places]
    return Selected(Contract(left, right), tuple(masks)), tuple([node.operands[k] for k in places])


def _embed_kernel(node: Einsum) -> tuple[Kernel, tuple[Node, ...]]:
    labels: Labels = ()
    core: tuple[Node, ...] = ()
    deltas: list[Labels] = []
    for operand, places in zip(node.operands, node.inputs, strict=True):
        if isinstance(operand, Unit):
            deltas.append(places)
        elif not isinstance(operand, Ones):
            labels, core = places, (operand,)
    return Embed(labels, tuple(deltas), node.coefficient), core
