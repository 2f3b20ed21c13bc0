"""Products as trees of primitive steps: which tensors meet first, and where numbers, masks and deltas go.

Owns the decomposition of n-ary products. Imports the graph and the other files on products here. Invariant:
the result is a graph of the same values whose products are all primitive (see
:mod:`einsumad.planning.primitives`); equal sub-contractions are the same node.

Tensor order: diagonals and sums within one factor come first, then factors of equal index sets merge entry
by entry, then pairs are contracted in the order of a path search over what is left. Numbers multiply the
smallest tensor on the way. Deltas and spread axes come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain
from math import prod
from weakref import WeakKeyDictionary

import numpy as np

from einsumad.errors import InternalError
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Labels,
    Node,
    Number,
    Structural,
    Unit,
    Zero,
    add,
    cast,
    einsum,
    ones,
    rebuild,
    topological,
    unit,
    zero,
)
from einsumad.planning.held import hold, once
from einsumad.planning.maps import Applied, apply_maps, written
from einsumad.planning.masks import apply_masks, without_stretched_axes
from einsumad.planning.nesting import nested
from einsumad.planning.options import in_force
from einsumad.planning.order import Pair, contraction_pairs
from einsumad.planning.primitives import (
    Factor,
    constant_value,
    group,
    has_sum,
    in_turn,
    is_mask,
    kind_of,
    layout,
    lies_on_diagonals,
    number,
    only_scales,
    scaled,
)
from einsumad.planning.resolve import Resolved, rearranges, resolve, size_of
from einsumad.planning.scattering import written_at_once
from einsumad.planning.separation import separate

_WORTH_SHARING = 4
"""Terms of an entry from which a product costs more than a multiple of what was made before."""


@once
def binarise(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with every product in primitive steps."""
    return binarise_beside(frozenset(), roots)


def binarise_beside(written: AbstractSet[Node], roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with every product in primitive steps, but for those nodes that are written in such already."""
    order = [node for node in topological(roots, written) if node not in written]
    summands = {operand for node in order if isinstance(node, Add) for operand in _signed(node)}
    memo: dict[Node, Node] = {}
    settled: set[Node] = set()
    multiples = _multiples(order) if in_force().sharing else ()
    for node in order:
        new = rebuild(node, [memo.get(operand, operand) for operand in node.operands])
        match new:
            case Einsum():
                memo[node] = _in_steps(new, shared=node in multiples, summand=node in summands)
                hold(new)
            case Add():
                memo[node] = _sum(new)
            case _:
                memo[node] = new
        if not in_force().sharing:
            memo[node] = separate(memo[node], settled, node.digest)
    return tuple([memo.get(root, root) for root in roots])


def _signed(node: Add) -> Sequence[Node]:
    """The terms that a sum takes in with their sign; one alone beside diagonals is made before it, sign and all."""
    dense = [operand for operand in node.operands if not _is_on_diagonals(operand)]
    return node.operands if len(dense) > 1 else [operand for operand in node.operands if operand not in dense]


def _is_on_diagonals(node: Node) -> bool:
    """Whether a delta ties axes of a product that is not taken apart yet."""
    rank = len(node.shape)
    return isinstance(node, Unit) or (
        isinstance(node, Einsum)
        and any(
            isinstance(operand, Unit) and sum([label < rank for label in labels]) > 1
            for operand, labels in zip(node.operands, node.inputs, strict=True)
        )
    )


_products: WeakKeyDictionary[Node, dict[tuple[bool, bool], Node]] = WeakKeyDictionary()
"""Products that were taken apart, for as long as they live: candidates of one derivative share most of theirs."""


def _known_product(node: Einsum, *, summand: bool) -> Node:
    """The product in primitive steps, as it was found before."""
    way = (summand, in_force().compression)
    known = _products.get(node, {}).get(way)
    if known is None:
        known = _product(node, summand=summand)
        if known is not node:  # a value that holds its key would never be let go
            _products.setdefault(node, {})[way] = known
    return known


def _sum(node: Add) -> Node:
    """A sum whose operands have its dtype; one of wider operands is cast at the end. Diagonals are added last."""
    if all(operand.dtype == node.dtype for operand in node.operands):
        return _diagonals_last(node)
    work = np.result_type(node.dtype, *{operand.dtype for operand in node.operands})
    operands: list[Node] = []
    for operand in node.operands:
        wide = cast(operand, work)
        operands.append(_product(wide, summand=False) if isinstance(wide, Einsum) else wide)
    return cast(add(operands, work), node.dtype)


def _diagonals_last(node: Add) -> Node:
    """The sum of the terms that are dense, to which one after the other of those is added that lie on diagonals."""
    sparse = [operand for operand in node.operands if _is_sparse(operand)]
    if not sparse or len(sparse) == len(node.operands) or len(node.operands) == 2:
        return node
    dense = [operand for operand in node.operands if operand not in set(sparse)]
    total = dense[0] if len(dense) == 1 else add(dense, node.dtype)
    for operand in sparse:
        total = add([total, operand], node.dtype)
    return total


def _is_sparse(node: Node) -> bool:
    return lies_on_diagonals(node.operands[0] if isinstance(node, Einsum) and only_scales(node) else node)


def _product(node: Einsum, *, summand: bool) -> Node:
    """The product in primitive steps; as a summand it has its sign outermost, where the sum takes it in."""
    if node.dtype.kind in "iu" and not isinstance(node.coefficient, int):
        raise InternalError(f"a product of dtype {node.dtype} has the coefficient {node.coefficient}")
    stored_deltas = not in_force().compression and node.dtype.kind == "f"
    has_deltas = any(isinstance(operand, Unit) for operand in node.operands)
    primitive = (
        kind_of(node) not in (None, "write", "selected")
        and not (stored_deltas and has_deltas)
        and not _is_wasteful(node)
    )
    if primitive and summand and _turns(node):
        view = einsum(node.operands, node.inputs, range(len(node.shape)), 1, node.dtype)
        return _multiple(view, node.coefficient)
    if primitive and not any(rearranges(o) and not only_scales(o) for o in node.operands):
        return node
    resolved = resolve(node, stored_deltas=stored_deltas)
    if resolved is None:
        return zero(node.shape, node.dtype)
    coefficient = resolved.coefficient
    negative = summand and coefficient < 0 and (resolved.factors or resolved.masks)
    core = _core(resolved, -coefficient if negative else coefficient)
    if core is not None and isinstance(core.node, Zero):
        return zero(node.shape, node.dtype)
    result = _embedded(core, resolved, node.dtype)
    return _multiple(result, -1) if negative else result


def _multiple(node: Node, coefficient: Number) -> Einsum:
    """A number times the tensor as it is, which a sum takes in; a tensor with its axes turned stays a view."""
    axes = range(len(node.shape))
    return einsum([node], [axes], axes, coefficient, node.dtype)


def _is_wasteful(node: Einsum) -> bool:
    """Whether two factors of an entrywise product, multiplied first, have far fewer entries than the result.

    One after the other they would each be spread over all of it.
    """
    factors = [pair for pair in zip(node.operands, node.inputs, strict=True) if not is_mask(pair[0])]
    if len(factors) < 3 or kind_of(node) != "group":
        return False
    small = sorted([(prod(operand.shape), labels) for operand, labels in factors])[:2]
    together = {label for _, labels in small for label in labels}
    return 2 * prod([node.shape[label] for label in together]) <= prod(node.shape)


def _in_steps(node: Einsum, *, shared: bool, summand: bool) -> Node:
    """A product in steps; as a multiple of one without a coefficient, if others are that too."""
    if shared:
        product = _known_product(_with_coefficient(node, 1), summand=False)
        if node.coefficient == 1:
            return product
        node = _multiple(product, node.coefficient)
    return _known_product(node, summand=summand)


def _multiples(order: Sequence[Node]) -> set[Node]:
    """Contractions that differ from others of these nodes in their coefficients alone: what they share is made once."""
    alike: dict[Node, list[Node]] = {}
    for node in order:
        if isinstance(node, Einsum) and len(node.operands) > 1 and _summed_volume(node) >= _WORTH_SHARING:
            alike.setdefault(_with_coefficient(node, 1), []).append(node)
    return {node for nodes in alike.values() if len(nodes) > 1 for node in nodes}


def _summed_volume(node: Einsum) -> int:
    """The number of terms of each entry."""
    sizes = dict(zip(chain(*node.inputs), chain(*[o.shape for o in node.operands]), strict=True))
    return prod([size for label, size in sizes.items() if label >= len(node.shape)])


def _with_coefficient(node: Einsum, coefficient: Number) -> Einsum:
    if node.coefficient == coefficient:
        return node
    return einsum(node.operands, node.inputs, range(len(node.shape)), coefficient, node.dtype)


def _turns(node: Einsum) -> bool:
    """Whether the product is a number times a stored tensor with its axes in another order, which is a view."""
    if node.coefficient == 1 or len(node.operands) != 1 or node.operands[0].dtype != node.dtype or has_sum(node):
        return False
    (operand,), (labels,) = node.operands, node.inputs
    return (
        not (isinstance(operand, Structural) or rearranges(operand))
        and len(set(labels)) == len(node.shape)
        and labels != tuple(range(len(labels)))
    )


def _core(resolved: Resolved, coefficient: Number) -> Factor | None:
    """The product of the stored tensors, with the labels of the resolved output; zero if a map reads nothing."""
    if not resolved.factors and not resolved.masks and not resolved.maps:
        return None
    inside = partial(_product, summand=False)
    resolved = nested(written_at_once(resolved, inside), inside)
    applied = apply_maps(resolved, inside)
    nothing = next((factor for factor in applied.factors if isinstance(factor.node, Zero)), None)
    if nothing is not None:
        return nothing
    core = _plain(applied, coefficient, resolved.work)
    for writing in applied.writings:
        core = written(core, writing, applied.sizes)
    return core


def _plain(applied: Applied, coefficient: Number, work: np.dtype) -> Factor:
    """The product of factors and masks alone, with those of the output labels that they have."""
    sizes, factors, masks = applied.sizes, applied.factors, applied.masks
    if masks and work != BOOL:
        factors, masks = without_stretched_axes(factors, masks, applied.output)
    present = {label for factor in (*factors, *masks) for label in factor.labels}
    output = tuple([label for label in applied.output if label in present])
    coefficient *= applied.count
    if not factors and not masks:
        return number(coefficient, work)
    if work == BOOL:
        return group(masks, [], output, BOOL)
    factors = _summed_alone(factors, masks, output)
    factors, late = apply_masks(factors, masks, output, sizes, work, zeros=applied.zeros)
    numbers = [f for f in factors if not f.labels]
    tensors = _summed_alone([f for f in factors if f.labels], late, output)
    tensors = _merged(tensors, late, output, work)
    numbers += [f for f in tensors if not f.labels]
    tensors = [f for f in tensors if f.labels]
    values = _scalars(numbers, coefficient, work)
    held = {label for factor in tensors for label in factor.labels}
    core = _contracted(tensors, values, tuple([label for label in output if label in held]), sizes, work)
    return group([core], late, output, work) if late else layout(core, output)


def _summed_alone(factors: Sequence[Factor], others: Sequence[Factor], output: Labels) -> list[Factor]:
    """The factors, each summed over the labels that neither another factor nor the output has."""
    users: dict[int, int] = dict.fromkeys(output, 1)
    for factor in [*factors, *others]:
        for label in factor.labels:
            users[label] = users.get(label, 0) + 1
    return [layout(f, tuple([label for label in f.labels if users[label] > 1])) for f in factors]


def _merged(factors: Sequence[Factor], others: Sequence[Factor], output: Labels, work: np.dtype) -> list[Factor]:
    """One factor for each set of labels; a pair of equal sets with a sum of its own is a contraction."""
    sets: dict[frozenset[int], list[Factor]] = {}
    for factor in factors:
        sets.setdefault(frozenset(factor.labels), []).append(factor)
    merged: list[Factor] = []
    for labels, same in sets.items():
        if len(same) == 1:
            merged.append(group(same, [], same[0].labels, work))
            continue
        elsewhere = set(output).union(*[other for other in sets if other != labels], *[f.labels for f in others])
        place = same[0].labels
        kept = tuple([label for label in place if label in elsewhere])
        if kept == place:
            merged.append(group(same, [], place, work))
        else:
            *first, last = [same[k] for k in in_turn([f.node for f in same])]
            merged.append(_pair(group(first, [], place, work), last, kept, work))
    if len({frozenset(f.labels) for f in merged}) < len(merged):
        return _merged(merged, others, output, work)  # a contraction made two sets equal: there are fewer now
    return merged


def _pair(left: Factor, right: Factor, output: Labels, work: np.dtype) -> Factor:
    """Two factors multiplied and summed to the output labels."""
    return Factor(einsum([left.node, right.node], [left.labels, right.labels], output, 1, work), output)


def _scalars(numbers: Sequence[Factor], coefficient: Number, work: np.dtype) -> list[Number | Factor]:
    """The numbers as products, each to be multiplied in on its own: a coefficient, or factors without labels.

    A number that stands twice goes into two products: ``c c`` may vanish where ``c (c x)`` does not.
    """
    if not numbers:
        return [coefficient]
    rounds: list[list[Factor]] = []
    for factor in numbers:
        free = next((held for held in rounds if all(factor.node is not other.node for other in held)), None)
        if free is None:
            rounds.append([factor])
        else:
            free.append(factor)
    first, *others = [group(held, [], (), work) for held in rounds]
    return [scaled(first, coefficient), *others]


def _contracted(
    tensors: list[Factor], values: list[Number | Factor], output: Labels, sizes: dict[int, int], work: np.dtype
) -> Factor:
    """The tensors contracted pair by pair, and the numbers on the smallest tensor on the way."""
    if not tensors:
        first, *others = values
        return _times(first if isinstance(first, Factor) else number(first, work), others, work)
    colours: dict[Node, int] = {}
    equal = [colours.setdefault(f.node, k) for k, f in enumerate(tensors)]
    pairs = contraction_pairs([f.labels for f in tensors], output, sizes, equal)
    volumes = [size_of(f.labels, sizes) for f in tensors] + [size_of(pair.labels, sizes) for pair in pairs]
    smallest = min(range(len(volumes)), key=lambda k: (volumes[k], -k))
    parts: list[Factor] = []
    for k in range(len(volumes)):
        part = tensors[k] if k < len(tensors) else _joined(parts, pairs[k - len(tensors)], work)
        parts.append(_times(part, values, work) if k == smallest else part)
    return parts[-1]


def _joined(parts: Sequence[Factor], pair: Pair, work: np.dtype) -> Factor:
    return _pair(parts[pair.left], parts[pair.right], pair.labels, work)


def _times_one(factor: Factor, value: Number | Factor, work: np.dtype) -> Factor:
    return group([value, factor], [], factor.labels, work) if isinstance(value, Factor) else scaled(factor, value)


def _times(factor: Factor, values: Sequence[Number | Factor], work: np.dtype) -> Factor:
    for value in values:
        factor = _times_one(factor, value, work)
    return factor


def _embedded(core: Factor | None, resolved: Resolved, dtype: np.dtype) -> Node:
    """The core on the diagonals of its deltas, spread over the axes it lacks, in the dtype of the product."""
    value = resolved.coefficient if core is None else constant_value(core.node)
    if core is not None:
        core = None if value is not None else layout(core, core.labels, 1, dtype)
    places: dict[int, list[int]] = {}
    for axis, label in enumerate(resolved.axes):
        places.setdefault(label, []).append(axis)
    held = () if core is None else core.labels
    operands = [] if core is None else [core.node]
    inputs = [] if core is None else [tuple([places[label][0] for label in held])]
    spread = [axes[0] for label, axes in places.items() if len(axes) == 1 and label not in held]
    if spread or (core is None and len(places) == len(resolved.axes)):
        operands.append(ones([resolved.sizes[resolved.axes[axis]] for axis in spread], dtype))
        inputs.append(tuple(spread))
    for label, axes in places.items():
        if len(axes) > 1:
            operands.append(unit(resolved.sizes[label], len(axes), dtype))
            inputs.append(tuple(axes))
    coefficient = 1 if value is None else value
    if core is not None and len(operands) == 1:
        return core.node
    return einsum(operands, inputs, range(len(resolved.axes)), coefficient, dtype)
