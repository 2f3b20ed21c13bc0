"""The contract of shapes and dtypes: results look like what they are derivatives of.

Owns this law. Imports probes and reports. Invariant: single precision stays single precision; where arrays and value
have several dtypes, a derivative may have that of either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, offered
from einsumad.testing.properties.plain import plain_value
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "shapes and dtypes"

Shape = tuple[int, ...]
Block = tuple[str, Any, Shape, frozenset[Any]]
"""What it is, the result, the shape it has to have, and the dtypes it may have."""


def contract(probe: Probe) -> Iterator[Finding]:
    """Shapes and dtypes of values, tangents, cotangents, products and derivatives of every order and mode."""
    yield from offered(_value(probe), _pushed(probe), _pulled(probe), _derivatives(probe), _product(probe))


def _value(probe: Probe) -> Iterator[Finding]:
    plain = plain_value(probe, probe.at)
    if plain is not None:
        dtypes = {plain.dtype}
        if "graph" not in probe.case.system.extras:  # other libraries promote in their own ways
            dtypes.add(np.result_type(*probe.arrays))
        claim = Claim(NAME, 0, "value", "the function itself")
        yield from complaints(claim, [("the value", probe.value, plain.shape, frozenset(dtypes))])


def _pushed(probe: Probe) -> Iterator[Finding]:
    value, tangent = probe.case.system.jvp(probe.case.function, probe.at.fresh(), probe.tangents[0])
    blocks = [_block("the value", value, probe.value), _block("the tangent", tangent, probe.value)]
    yield from complaints(Claim(NAME, 1, "jvp", "the value"), blocks)


def _pulled(probe: Probe) -> Iterator[Finding]:
    value, pulled = probe.case.system.vjp(probe.case.function, probe.at.fresh(), probe.cotangents[0].copy())
    blocks = [_block("the value", value, probe.value), *_like_arrays(pulled, probe)]
    yield from complaints(Claim(NAME, 1, "vjp", "value and arrays"), blocks)


def _derivatives(probe: Probe) -> Iterator[Finding]:
    for order in range(1, probe.case.order + 1):
        probe.refuse_large(order)
        for mode in probe.modes:
            nested = probe.case.system.derivative(probe.case.function, probe.at.fresh(), order, mode)
            blocks = list(derivative_blocks(nested, probe.value, probe.arrays, order))
            yield from complaints(Claim(NAME, order, mode, "value and arrays"), blocks)


def _product(probe: Probe) -> Iterator[Finding]:
    if probe.value.shape == () and probe.case.order >= 2:
        product = probe.case.system.hvp(probe.case.function, probe.at.fresh(), probe.tangents[0])
        yield from complaints(Claim(NAME, 2, "hvp", "the arrays"), _like_arrays(product, probe))


def _block(what: str, array: Any, like: Array) -> Block:
    return what, array, like.shape, frozenset([like.dtype])


def _like_arrays(parts: Sequence[Any], probe: Probe) -> list[Block]:
    if len(parts) != len(probe.arrays):
        return [(f"the tuple of {len(parts)}", parts, (len(probe.arrays),), frozenset())]
    pairs = zip(parts, probe.arrays, probe.entries.names, strict=True)
    return [_block(f"the part of {name}", part, array) for part, array, name in pairs]


def derivative_blocks(
    nested: Any, value: Array, arrays: Sequence[Array], order: int, chosen: tuple[int, ...] = ()
) -> Iterator[Block]:
    """The blocks of a derivative in nested tuples, with what they have to be."""
    if len(chosen) == order:
        shape = value.shape + sum([arrays[k].shape for k in chosen], ())
        dtypes = frozenset([value.dtype, *[arrays[k].dtype for k in chosen]])
        yield f"block {chosen}", nested, shape, dtypes
    elif not isinstance(nested, (tuple, list)) or len(nested) != len(arrays):
        yield f"level {len(chosen)} of the derivative", nested, (len(arrays),), frozenset()
    else:
        for k, part in enumerate(nested):
            yield from derivative_blocks(part, value, arrays, order, (*chosen, k))


def complaints(claim: Claim, blocks: Sequence[Block]) -> Iterator[Finding]:
    """The finding about some results: right, or wrong with the first that is not as it has to be."""
    bad = [(kind, text) for block in blocks for kind, text in [_complaint(*block)] if kind]
    if bad:
        kind, text = bad[0]
        advice = {"wrong shape": "axes of the value come first, then those of the arrays"}
        advice["wrong dtype"] = "a derivative has the dtype of what it is a derivative of"
        cause = f"{kind}: {advice[kind]}"
        yield claim.finding("wrong", entries=len(blocks), wrong=len(bad), detail=text, cause=cause)
    else:
        yield claim.finding("right", entries=len(blocks))


def _complaint(what: str, array: Any, shape: Shape, dtypes: frozenset[Any]) -> tuple[str, str]:
    if not dtypes or not isinstance(array, (np.ndarray, np.generic)):
        return "wrong shape", f"{what} is a {type(array).__name__}, expected {shape} in arrays"
    if array.shape != shape:
        return "wrong shape", f"{what} has shape {array.shape}, expected {shape}"
    if array.dtype not in dtypes:
        return "wrong dtype", f"{what} has dtype {array.dtype}, expected {' or '.join(sorted(map(str, dtypes)))}"
    return "", ""
