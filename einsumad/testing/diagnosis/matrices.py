"""Hypotheses on square derivatives: gradients of square matrices, Hessians, square Jacobians.

Owns these rules. Imports the evidence. Invariant: each rule reads the derivative as a batch of square matrices, and
claims something only where the diagonal and the rest behave differently, or the two triangles do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison, explains_expected, squares_of


@dataclass(frozen=True, slots=True)
class Squares:
    """The arrays of a comparison as batches of square matrices; `where` names the axes."""

    where: str
    found: Array
    expected: Array
    tolerance: Array
    compared: Array
    wrong: Array
    diagonal: Array

    def fits(self, predicted: Array) -> bool:
        """Whether the claimed entries are the predicted ones, where those are known and something is wrong."""
        with np.errstate(all="ignore"):
            known = self.compared & ~np.isnan(predicted)
            return bool(np.any(self.wrong & known)) and bool(
                np.all((np.abs(self.found - predicted) <= 2 * self.tolerance)[known])
            )

    def has(self, part: Array) -> bool:
        """Whether some entry of a part is expected to differ from 0."""
        return bool(np.any(self.compared & part & (np.abs(self.expected) > self.tolerance)))

    @property
    def symmetric(self) -> bool:
        """Whether the expected matrices are symmetric, as far as they are known; some wrong entries have to be."""
        with np.errstate(all="ignore"):
            gap = np.abs(self.expected - _turned(self.expected))
            pairs = self.wrong & ~self.diagonal & np.isfinite(gap)
            return bool(np.any(pairs)) and not np.any(gap > self.tolerance + _turned(self.tolerance))


def _turned(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def _readings(c: Comparison) -> Iterator[Squares]:
    if not c.same_shape or not np.any(c.wrong):
        return
    for where, reading in squares_of(c):
        found = reading(c.found)
        diagonal = np.broadcast_to(np.eye(found.shape[-1], dtype=bool), found.shape)
        yield Squares(
            where,
            found,
            reading(c.expected),
            reading(c.tolerance),
            reading(c.compared),
            reading(c.wrong),
            diagonal,
        )


def _scaled_parts(c: Comparison, diagonal: float, rest: float) -> Squares | None:
    """The reading in which found is expected with its diagonal and the rest multiplied by these numbers."""
    for squares in _readings(c):
        factors = np.where(squares.diagonal, diagonal, rest)
        if (
            squares.has(squares.diagonal)
            and squares.has(~squares.diagonal)
            and squares.fits(factors * squares.expected)
        ):
            return squares
    return None


def off_diagonal_doubled(c: Comparison) -> Cause | None:
    """Twice the expected entries off the diagonal; or half of them on it."""
    squares = _scaled_parts(c, 1.0, 2.0)
    if squares is not None:
        return Cause(
            "off-diagonal doubled",
            "the diagonal is right and every entry off it is 2 times what it should be: likely the two entries of a "
            "symmetric pair were added up in both places",
        )
    if _scaled_parts(c, 0.5, 1.0) is not None:
        return Cause(
            "off-diagonal doubled",
            "the entries off the diagonal are right and those on it are half of what they should be: likely a "
            "symmetric pair was added up, with a factor 1/2 for all",
        )
    return None


def off_diagonal_halved(c: Comparison) -> Cause | None:
    """Half the expected entries off the diagonal; or twice those on it."""
    if _scaled_parts(c, 1.0, 0.5) is not None:
        return Cause(
            "off-diagonal halved",
            "the diagonal is right and every entry off it is half of what it should be: likely only one of the two "
            "entries of a symmetric pair contributes",
        )
    if _scaled_parts(c, 2.0, 1.0) is not None:
        return Cause(
            "off-diagonal halved",
            "the entries off the diagonal are right and those on it are 2 times what they should be: likely a matrix "
            "was added to its transpose, and the diagonal counted twice",
        )
    return None


def only_the_diagonal(c: Comparison) -> Cause | None:
    """Zero off the diagonal, right on it."""
    if _scaled_parts(c, 1.0, 0.0) is None:
        return None
    return Cause(
        "missing term",
        "the diagonal is right and everything off it is 0: likely the terms that couple different entries are missing",
    )


def without_the_diagonal(c: Comparison) -> Cause | None:
    """Zero on the diagonal, right off it."""
    if _scaled_parts(c, 0.0, 1.0) is None:
        return None
    return Cause(
        "missing term",
        "the entries off the diagonal are right and the diagonal is 0: likely the terms on the diagonal are missing",
    )


def only_one_triangle(c: Comparison) -> Cause | None:
    """One triangle of a symmetric derivative, the other one zero; the rest may be doubled."""
    triangles: tuple[tuple[str, Callable[..., Array]], ...] = (("lower", np.tril), ("upper", np.triu))
    for squares in _readings(c):
        if not squares.symmetric or not squares.has(~squares.diagonal):
            continue
        for name, triangle in triangles:
            for strict, text in ((1.0, ""), (2.0, ", its entries off the diagonal doubled,")):
                predicted = strict * triangle(squares.expected, -1 if name == "lower" else 1)
                with_diagonal = np.where(squares.diagonal, squares.expected, predicted)
                for candidate in (with_diagonal, predicted) if strict == 1.0 else (with_diagonal,):
                    if squares.fits(candidate):
                        return Cause(
                            "only one triangle",
                            f"the {name} triangle of a symmetric derivative{text} is there and the rest is 0: likely "
                            "the other triangle was not filled in, or a function reads one triangle only",
                        )
    return None


def not_symmetrised(c: Comparison) -> Cause | None:
    """``found`` is not symmetric, expected is its symmetric part."""
    for squares in _readings(c):
        half = (squares.found + _turned(squares.found)) / 2
        if squares.symmetric and _restores(squares, half):
            return Cause(
                "not symmetrised",
                f"the claimed derivative is not symmetric in {squares.where}, and its symmetric part is right: likely "
                "the symmetrisation (G + G.T) / 2 is missing, or the second of two equal terms is not transposed",
            )
    return None


def missing_transposed_slot(c: Comparison) -> Cause | None:
    """``found`` + its transpose = expected."""
    for squares in _readings(c):
        if _restores(squares, squares.found + _turned(squares.found)):
            return Cause(
                "missing operand slot",
                f"added to its transpose in {squares.where}, the claimed derivative is right: likely an argument that "
                "appears twice was differentiated in one place only",
            )
    return None


def _restores(squares: Squares, corrected: Array) -> bool:
    with np.errstate(all="ignore"):
        near = np.abs(corrected - squares.expected) <= 2 * (squares.tolerance + _turned(squares.tolerance))
    some = np.any(squares.compared & (np.abs(squares.expected) > squares.tolerance))
    return bool(some) and bool(np.all(near[squares.compared]))


def off_the_diagonal(c: Comparison) -> Cause | None:
    """``expected`` lives where two axes have equal indices; found has entries elsewhere too."""
    if not np.any(c.wrong) or not np.any(c.right) or np.any(c.wrong & c.nonzero):
        return None
    for first in range(c.expected.ndim):
        for second in range(first + 1, c.expected.ndim):
            length = c.expected.shape[first]
            if length < 2 or c.expected.shape[second] != length:
                continue
            indices = np.indices(c.expected.shape, sparse=True)
            diagonal: Array = np.broadcast_to(np.equal(indices[first], indices[second]), c.expected.shape)
            if not np.any(c.nonzero & ~diagonal) and np.any(c.wrong & ~diagonal):
                return Cause(
                    "off the diagonal",
                    f"the derivative should be 0 unless the indices of axes {first} and {second} are equal; there it "
                    "is right, but the claimed one has entries elsewhere: likely a diagonal was spread over a whole "
                    "axis",
                )
    return None


def missing_sum(c: Comparison) -> Cause | None:
    """``expected`` is the sum (or mean) of found along some axis, repeated."""
    if not np.any(c.wrong):
        return None
    for axis, length in enumerate(c.found.shape):
        if length < 2:
            continue
        total = np.broadcast_to(np.sum(c.found, axis, keepdims=True), c.found.shape)
        spread = np.broadcast_to(np.sum(np.abs(c.found), axis, keepdims=True), c.found.shape)
        for divisor, what in ((1, "sum"), (length, "mean")):
            if explains_expected(c, total / divisor, spread / divisor):
                return Cause(
                    "missing sum over a broadcast axis",
                    f"every entry should be the {what} of the claimed entries along axis {axis}: likely one number was "
                    f"used all along that axis, and the {what} over its uses is missing",
                )
    return None
