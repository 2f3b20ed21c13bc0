"""Blocks of the Gauss–Newton matrix, one for each parameter or layer, as one plan.

Owns that plan and its results. Imports objectives, layers and transforms. Invariant: what is not a layer is exact for a
loss that is a sum over samples, as a matrix while it is small, and else by its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import ShapeError
from einsumad.optim.curvature.layers import SAMPLE, Layer, layer_of
from einsumad.optim.curvature.objective import Objective, Values, loss_of


class Kronecker(NamedTuple):
    """``result ⊗ input``: the sum over samples of ``Bᵀ L B``, and the mean of ``a aᵀ``; `mean` is that of a.

    `order` has the axes of the parameter, those of the result first.
    """

    result: Any
    input: Any
    mean: Any
    order: Any


class Joined(NamedTuple):
    """A bias that belongs to the layer of the parameter at this place, as its input of ones."""

    place: Any


class Exact(NamedTuple):
    """The block as a matrix."""

    matrix: Any


class Diagonal(NamedTuple):
    """The diagonal of the block."""

    entries: Any


Block: TypeAlias = Kronecker | Joined | Exact | Diagonal


def sample_curvature(objective: Objective, values: Values, args: tuple[Any, ...]) -> Any:
    """The Hessian of the loss in the outputs of each sample, (samples, outputs, outputs)."""
    at, loss = objective.outputs(values, *args), loss_of(objective)
    if isinstance(at, (tuple, list, dict)) or at.ndim == 0:
        raise ShapeError("KFAC needs outputs that are one array, with the samples along its first axis")
    first, second = list(range(1, at.ndim)), list(range(at.ndim, 2 * at.ndim - 1))
    whole = ea.hessian(lambda z: loss(z, *args))(at)
    return np.einsum(whole, [SAMPLE, *first, SAMPLE, *second], [SAMPLE, *first, *second])


def layer_blocks(
    objective: Objective, values: Values, curvature: Any, largest: int, args: tuple[Any, ...]
) -> list[Block]:
    """A block for each parameter; those that are no layers and have more entries than `largest` by their diagonal.

    The curvature is that of samples, as an array: how the loss is computed does not enter this plan.
    """
    values = list(values)

    def outputs(v: Values) -> Any:
        return objective.outputs(v, *args)

    layers = [layer_of(part) for part in ea.jacobian(outputs, compressed=True)(values)]
    homes = _homes(layers)
    found: list[Block] = []
    for place, (value, layer) in enumerate(zip(values, layers, strict=True)):
        size = prod(value.shape)
        home = homes[place]
        if layer is not None and layer.input:
            found.append(_kronecker(layer, curvature))
        elif home is not None:
            found.append(Joined(home))
        elif layer is not None and size <= largest:
            found.append(Exact(_result_factor(layer, curvature)))
        else:
            found.append(_of_other(_partial(outputs, values, place), curvature, size, whole=size <= largest))
    return found


def _partial(outputs: Callable[[Values], Any], values: Sequence[Any], place: int) -> Any:
    """The Jacobian by one of the values, (samples, outputs, axes of the value)."""
    return ea.jacobian(lambda value: outputs([*values[:place], value, *values[place + 1 :]]))(values[place])


def _of_other(jacobian: Any, curvature: Any, size: int, *, whole: bool) -> Block:
    """``Σ_n Jᵀ L J`` of a parameter that is no layer, or its diagonal."""
    count = (curvature.ndim - 1) // 2
    labels = iter(range(1, 1 + 2 * jacobian.ndim))
    first, second = ([next(labels) for _ in range(count)] for _ in range(2))
    one, other = ([next(labels) for _ in range(jacobian.ndim - 1 - count)] for _ in range(2))
    other = other if whole else one
    operands = [jacobian, [SAMPLE, *first, *one], curvature, [SAMPLE, *first, *second]]
    output = [*one, *other] if whole else one
    found = np.einsum(*operands, jacobian, [SAMPLE, *second, *other], output)
    return Exact(np.reshape(found, (size, size))) if whole else Diagonal(np.reshape(found, -1))


def _homes(layers: Sequence[Layer | None]) -> list[int | None]:
    """For each parameter that has no input the first layer whose results go the same ways, as a bias its weight."""
    known: dict[Any, int] = {}
    for place, layer in enumerate(layers):
        if layer is not None and layer.input:
            known.setdefault(layer.identity, place)
    found: list[int | None] = []
    for layer in layers:
        is_bias = layer is not None and not layer.input
        found.append(known.pop(layer.identity, None) if layer is not None and is_bias else None)
    return found


def _kronecker(layer: Layer, curvature: Any) -> Kronecker:
    """Both factors of the block of a layer."""
    inner = layer.inner
    samples = inner.sizes[SAMPLE]
    own = inner.operands()
    other = inner.apart([SAMPLE], len(inner.sizes))
    size = prod([inner.sizes[label] for label in inner.axes[1:]])
    squares = np.einsum(*own, *other.operands(), [*inner.axes[1:], *other.axes[1:]])
    mean = np.einsum(*own, list(inner.axes[1:]))
    return Kronecker(
        _result_factor(layer, curvature),
        np.reshape(squares, (size, size)) / max(samples, 1),
        np.reshape(mean, -1) / max(samples, 1),
        (*layer.result, *layer.input),
    )


def _result_factor(layer: Layer, curvature: Any) -> Any:
    """``Σ_n B[n,k,o] L[n,k,l] B[n,l,p]``, summed over all pairs of ways to the outputs."""
    total: Any = 0
    size = prod([layer.outer[0].sizes[label] for label in layer.outer[0].axes[layer.rows :]])
    for one in layer.outer:
        for second in layer.outer:
            other = second.apart([SAMPLE], len(one.sizes) + len(second.sizes))
            of_loss = [*one.axes[: layer.rows], *other.axes[1 : layer.rows]]
            output = [*one.axes[layer.rows :], *other.axes[layer.rows :]]
            factor = np.einsum(*one.operands(), curvature, of_loss, *other.operands(), output)
            total = total + one.coefficient * other.coefficient * factor
    return np.reshape(total, (size, size))
