"""Systems of single blocks, with the averages of their factors.

Owns them. Imports blocks and updates. Invariant: each parameter is in one system; factors are averaged in double
precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.optim.curvature.blocks import Block, Diagonal, Exact, Joined, Kronecker
from einsumad.optim.curvature.updates import kronecker_solution, spectrum_of, symmetric_solution

Factors = list[np.ndarray]
"""The arrays of a block."""


class System(ABC):
    """The block of some parameters; `scale` is its largest eigenvalue."""

    scale: float

    @abstractmethod
    def solve(self, right: Sequence[np.ndarray], damping: float) -> dict[int, np.ndarray]:
        """The solution for the parameters of this block, by their places, from the right-hand sides of all."""


class _Layer(System):
    """A layer with the weight at a place, and perhaps a bias at another."""

    def __init__(self, block: Kronecker, factors: Factors, place: int, bias: int | None) -> None:
        of_result, of_input, mean = factors
        if bias is not None:
            of_input = np.block([[of_input, mean[:, None]], [mean, np.ones(1)]])
        self._order = [int(axis) for axis in block.order]
        self._place, self._bias = place, bias
        self._result, self._input = spectrum_of(of_result), spectrum_of(of_input)
        self.scale = float(self._result.values[-1] * self._input.values[-1])

    def solve(self, right: Sequence[np.ndarray], damping: float) -> dict[int, np.ndarray]:
        turned = right[self._place].transpose(self._order)
        matrix = turned.reshape(len(self._result.values), -1)
        if self._bias is not None:
            matrix = np.concatenate([matrix, right[self._bias].reshape(-1, 1)], axis=1)
        found = kronecker_solution(self._result, self._input, matrix, damping)
        if self._bias is None:
            return {self._place: found.reshape(turned.shape).transpose(np.argsort(self._order))}
        weight = found[:, :-1].reshape(turned.shape).transpose(np.argsort(self._order))
        return {self._place: weight, self._bias: found[:, -1].reshape(right[self._bias].shape)}


class _Exact(System):
    """A parameter with its block as a matrix."""

    def __init__(self, factors: Factors, place: int) -> None:
        (matrix,) = factors
        self._spectrum, self._place = spectrum_of(0.5 * (matrix + matrix.T)), place
        self.scale = float(np.max(self._spectrum.values, initial=0.0))

    def solve(self, right: Sequence[np.ndarray], damping: float) -> dict[int, np.ndarray]:
        part = right[self._place]
        return {self._place: symmetric_solution(self._spectrum, part.reshape(-1), damping).reshape(part.shape)}


class _Diagonal(System):
    """A parameter with the diagonal of its block."""

    def __init__(self, factors: Factors, place: int) -> None:
        (entries,) = factors
        self._entries, self._place = np.maximum(entries, 0.0), place
        self.scale = float(np.max(self._entries, initial=0.0))

    def solve(self, right: Sequence[np.ndarray], damping: float) -> dict[int, np.ndarray]:
        part = right[self._place]
        return {self._place: part / (self._entries.reshape(part.shape) + damping)}


def factors_of(block: Block) -> Factors:
    """The arrays of a block in double precision; none for what belongs to another."""
    if isinstance(block, Joined):
        return []
    arrays = block[:3] if isinstance(block, Kronecker) else block
    return [np.asarray(array, np.float64) for array in arrays]


def averaged(new: list[Factors], kept: list[Factors] | None, count: int, decay: float) -> list[Factors]:
    """The moving averages of factors, where `count` batches were averaged before: the new ones for none.

    The weight of those before is ``min(count / (count + 1), decay)`` (Martens and Grosse 2015, section 5). A block that
    has another structure than before, as may be with a single sample, begins anew.
    """
    if kept is None or not count:
        return new
    weight = min(count / (count + 1), decay)
    return [
        [weight * old + (1 - weight) * array for old, array in zip(olds, arrays, strict=True)]
        if [old.shape for old in olds] == [array.shape for array in arrays]
        else arrays
        for olds, arrays in zip(kept, new, strict=True)
    ]


def systems_of(blocks: Sequence[Block], factors: Sequence[Factors]) -> list[System]:
    """The systems of all blocks."""
    biases = {int(block.place): place for place, block in enumerate(blocks) if isinstance(block, Joined)}
    found: list[System] = []
    for place, (block, held) in enumerate(zip(blocks, factors, strict=True)):
        match block:
            case Kronecker():
                found.append(_Layer(block, held, place, biases.get(place)))
            case Exact():
                found.append(_Exact(held, place))
            case Diagonal():
                found.append(_Diagonal(held, place))
    return found


def text_of(block: Block, place: int) -> str:
    """A block in words."""
    match block:
        case Kronecker():
            return f"{place}: {_size(block.result)} ⊗ {_size(block.input)}"
        case Joined():
            return f"{place}: an input of ones of {int(block.place)}"
        case Exact():
            return f"{place}: matrix {_size(block.matrix)}"
        case Diagonal():
            return f"{place}: diagonal of {len(block.entries)}"


def _size(matrix: Any) -> str:
    return "×".join(map(str, matrix.shape))
