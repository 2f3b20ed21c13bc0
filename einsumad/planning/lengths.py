"""How long the parts of an index are.

Owns that choice. Imports plans in parts. Invariant: it depends on sizes and the limit alone, so that the same call is
split, and rounded, in the same way each time.

The bytes of a plan for a part grow with the length of the part, nearly along a straight line. So the number of parts is
found from two plans by the line through them, and checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from einsumad.graph import Leaf, Node
from einsumad.planning.cost import Cost
from einsumad.planning.expansion import expand
from einsumad.planning.guards import guarded
from einsumad.planning.indices import Index, cuttable_indices
from einsumad.planning.parts import SplitPlan, draft_of_split, split_plan
from einsumad.planning.plan import Plan
from einsumad.planning.separating import separated
from einsumad.planning.sweeps import Sweeps, sweeps_through

LEAST_LENGTH = 2
"""A part of a single value is none: BLAS skips a vector of one zero, and so a NaN that it multiplies."""
_MOST_INDICES = 4
"""How many indices are tried, those with the largest tensors."""
_MOST_PLANS = 12
_CACHED = 2**20
"""What is split is split into parts whose tensors stay in the cache: the steps of longer ones wait for memory."""
_MORE_THAN_SUMS = 8
"""But a part takes so many times the bytes of the sums that it is added to, or adding it would take the time."""
_FEW_PARTS = (4, 8, 16, 32, 64)
_WORTH = 0.75
"""Where there is memory enough, a cut is worth its calls if it takes less than that of the memory."""
_SLOWDOWN = 1.2
"""Where there is memory enough, it may take so many times the estimated time of the whole."""


def ways(roots: Sequence[Node]) -> Iterator[Sweeps]:
    """The ways to go through an index until the roots are known, those with large tensors first.

    Sums that anything but an addition reads are looked for in roots whose functions are expanded and whose masks are
    made: a plan for what follows on a sum does not see any more where it is zero because nothing was selected. Such
    roots are made when a way through them is asked for.
    """
    ready: tuple[Node, ...] | None = None
    roots = expand(roots)
    for way in _ways_through(roots):
        if not way.adds_only:
            ready = _ready(roots) if ready is None else ready
        if way.adds_only or ready == tuple(roots):
            yield way
    ready = _ready(roots) if ready is None else ready
    if ready != tuple(roots):
        yield from _ways_through(ready)


def _ready(roots: Sequence[Node]) -> tuple[Node, ...]:
    return separated(guarded(roots))


def _ways_through(roots: Sequence[Node]) -> Iterator[Sweeps]:
    for index in cuttable_indices(roots)[:_MOST_INDICES]:
        way = sweeps_through(roots, index)
        if way is not None and way.index.size >= 2 * LEAST_LENGTH:
            yield way


def length_of_parts(size: int, parts: int) -> int | None:
    """The least length that makes no more parts, and leaves no single value for the last one; None if there is none."""
    shortest = max(LEAST_LENGTH, -(-size // parts))
    return next((length for length in range(shortest, size) if size % length != 1), None)


def within(roots: Sequence[Node], inputs: Sequence[Leaf], limit: int, peak: int) -> tuple[SplitPlan | None, int]:
    """As few parts as keep the bytes within the limit and the cache, and the least bytes that are possible.

    `peak` is that of the whole plan, over the limit.
    """
    least = peak
    for way in sorted(ways(roots), key=lambda way: len(way.ends)):  # those of few sweeps first
        size = way.index.size
        shortest = _leaner(way, inputs, LEAST_LENGTH + (size % LEAST_LENGTH == 1))
        least = min(least, shortest.peak_bytes)
        if least <= limit:
            return _fewest(way, inputs, limit, peak, shortest), least
    return None, least


def _leaner(way: Sweeps, inputs: Sequence[Leaf], length: int, limit: int = 0) -> SplitPlan:
    """The plan that holds what no part changes, or if that is over the limit the one of less bytes."""
    found = split_plan(way, inputs, length)
    if found.peak_bytes <= limit or not any(sweep.before.outputs for sweep in found.sweeps):
        return found
    return min(found, split_plan(way, inputs, length, hoisted=False), key=lambda plan: plan.peak_bytes)


class _Bounds(NamedTuple):
    """The bytes that a plan in parts may take, and those that one part should."""

    limit: int
    part: int

    def excess(self, plan: SplitPlan) -> int:
        """By how much a plan takes too many; none above zero is too much."""
        return max(plan.peak_bytes - self.limit, max(sweep.part.peak_bytes for sweep in plan.sweeps) - self.part)


def _fewest(way: Sweeps, inputs: Sequence[Leaf], limit: int, peak: int, shortest: SplitPlan) -> SplitPlan:
    """The plan with the fewest parts within the bounds, where the one of the shortest parts is within the limit."""
    summed = sum([_bytes([end]) for ends in way.ends for end in ends if end not in way.index.axes])
    bounds = _Bounds(limit, max(_CACHED, _MORE_THAN_SUMS * summed))
    size, parts, too_few = way.index.size, shortest.count, 1
    points = [(size, max(peak - limit, peak - bounds.part)), (shortest.length, min(0, bounds.excess(shortest)))]
    for _ in range(_MOST_PLANS):
        if parts - too_few <= max(1, parts // 50):
            break
        guess = min(max(_parts_on_line(points, size), too_few + 1), parts - 1)
        length = length_of_parts(size, guess)
        if length is None or length in [known for known, _ in points]:
            break
        found = draft_of_split(way, inputs, length)
        points.append((length, bounds.excess(found)))
        if points[-1][1] <= 0:
            parts = found.count
        else:
            too_few = max(too_few, found.count)
    while parts < shortest.count:
        length = length_of_parts(size, parts)
        found = shortest if length is None else _leaner(way, inputs, length, limit)
        if found.peak_bytes <= limit:
            return found
        parts += 1 + parts // 10  # the last part takes more than the others, or what is held does
    return shortest


def _parts_on_line(points: Sequence[tuple[int, int]], size: int) -> int:
    """The number of parts whose length has no excess, by the line through the points next to it."""
    below = max([point for point in points if point[1] <= 0])
    above = min([point for point in points if point[1] > 0])
    slope = (above[1] - below[1]) / (above[0] - below[0])
    length = below[0] - int(below[1] / slope)
    return -(-size // max(length, LEAST_LENGTH))


def cheaper(roots: Sequence[Node], inputs: Sequence[Leaf], wanted: int, whole: Plan) -> SplitPlan | None:
    """As few parts as bring the bytes down to what is wanted, or as near as possible; None if that is not near.

    Nor may it take much longer than the whole. The first parts that may be small enough nearly always are, and are
    planned at once; of others there is a draft before.
    """
    best, least, longest = None, int(_WORTH * whole.peak_bytes), _SLOWDOWN * whole.seconds
    drafted = False
    for way in ways(roots):
        if len(way.ends) > 1:
            continue
        size, of_calls = way.index.size, _seconds_of_calls(whole, way.index)
        for length in _few_lengths(size, whole.peak_bytes, wanted - _bytes(roots)):
            if -(-size // length) * of_calls > longest:
                continue
            if drafted and draft_of_split(way, inputs, length).peak_bytes >= least:
                continue
            drafted = True
            found = split_plan(way, inputs, length)
            if found.peak_bytes >= least or found.seconds > longest:
                continue
            best, least = found, found.peak_bytes
            if least <= wanted:
                return best
    return best


def _seconds_of_calls(whole: Plan, index: Index) -> float:
    """What the calls take at least that each part makes: those of the whole plan for tensors that have the index."""
    changing = {k for k, node in enumerate(whole.inputs) if node in index.axes}
    calls = Cost()
    for step in whole.steps:
        if index.size in step.shape and not changing.isdisjoint([k for k in step.operands if isinstance(k, int)]):
            changing.add(step.register)
            calls += Cost(calls=step.cost.calls)
    return calls.seconds()


def _few_lengths(size: int, peak: int, wanted: int) -> list[int]:
    """Lengths of parts that may be small enough, and the smallest."""
    lengths = [length_of_parts(size, parts) for parts in _FEW_PARTS if size > parts * LEAST_LENGTH]
    found = [length for length in lengths if length is not None]
    return [length for length in found if peak * length <= wanted * size or length == found[-1]]


def _bytes(nodes: Sequence[Node]) -> int:
    return sum([prod(node.shape) * node.dtype.itemsize for node in nodes])
