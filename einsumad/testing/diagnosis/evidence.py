"""What a diagnosis reads and what it says: a wrong derivative beside the right one, and a cause.

Owns both records and the comparison that the hypotheses share. Imports NumPy and the errors. Invariant: an entry takes
part only if it was compared; an explanation counts only if it fits all of these, within their tolerances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError

Array = np.ndarray[Any, Any]

_ERRORS = 50.0
_RELATIVE = {2: 2e-2, 4: 5e-4}
_RELATIVE_DOUBLE = 1e-6
_FLOOR = 1e-2
_SAMPLE = 24


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A derivative that was found wrong, and what is known about the right one.

    `found` is the claimed derivative as it was given: a gradient has the shape of the argument x, a Jacobian
    ``out.shape + x.shape``, a Hessian ``x.shape`` twice, a pushforward the shape of the output, a pullback that of x.
    `expected` is what an oracle says, in the right shape, NaN where nothing was compared; `error` bounds the error of
    each expected entry, infinite where nothing was compared. `output_shape` is ``()`` for gradients and Hessians,
    `point` holds the differentiated arguments, first the one that the derivative belongs to, and `value` is the
    function's value there, if it is known.

    Raises :class:`ShapeError` if `expected` and `error` differ in shape, :class:`DifferentiationError` if an array does
    not hold numbers.
    """

    found: Array
    expected: Array
    error: Array
    output_shape: tuple[int, ...]
    point: tuple[Array, ...]
    value: Array | None
    order: int = 1

    def __post_init__(self) -> None:
        if np.shape(self.expected) != np.shape(self.error):
            raise ShapeError(
                f"expected has shape {np.shape(self.expected)} and error {np.shape(self.error)}: "
                "give one error bound for each expected entry, infinite where nothing was compared"
            )
        for name in ("found", "expected", "error"):
            dtype = np.asarray(getattr(self, name)).dtype
            if dtype.kind not in "biufc":
                raise DifferentiationError(f"{name} has dtype {dtype}: a derivative is an array of numbers")


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely cause: a short name out of a fixed list, and a sentence with what was seen and what it suggests."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The evidence as numbers in double precision.

    `tolerance` belongs to the expected entries and is infinite where nothing was compared; `wrong` marks the compared
    entries that differ by more. `x` is the argument that the derivative belongs to, `relative` the relative tolerance,
    `scale` the largest size of an expected entry, `floor` the least tolerance. `same_shape` says whether `found` and
    `expected` can be compared entry by entry; nothing is wrong where they can't.
    """

    evidence: Evidence
    found: Array
    expected: Array
    tolerance: Array
    compared: Array
    wrong: Array
    x: Array
    relative: float
    scale: float
    floor: float
    same_shape: bool

    @property
    def nonzero(self) -> Array:
        """The compared entries that are expected to differ from 0."""
        return self.compared & (np.abs(self.expected) > self.tolerance)

    @property
    def given(self) -> Array:
        """The compared entries in which the claimed derivative is not 0."""
        return self.compared & (np.abs(self.found) > self.floor)

    @property
    def right(self) -> Array:
        """The compared entries that are right and not 0."""
        return self.nonzero & ~self.wrong

    def allowance(self, predicted: Array) -> Array:
        """The tolerance of a prediction of the found entries."""
        return np.maximum(self.tolerance, self.relative * np.abs(predicted))


def compare(evidence: Evidence) -> Comparison:
    """The comparison that the hypotheses read."""
    found, expected = as_double(evidence.found), as_double(evidence.expected)
    error = np.abs(as_double(evidence.error))
    with np.errstate(all="ignore"):
        compared = np.isfinite(expected) & np.isfinite(error)
        scale = float(np.max(np.abs(expected), where=compared, initial=0.0))
        if scale == 0.0:
            scale = float(np.max(np.abs(found), where=np.isfinite(found), initial=0.0))
        relative = relative_tolerance(evidence)
        floor = relative * _FLOOR * scale
        tolerance = np.maximum(np.maximum(_ERRORS * error, relative * np.abs(expected)), floor)
        tolerance = np.where(compared, tolerance, np.inf)
        same_shape = found.shape == expected.shape
        wrong = np.zeros(expected.shape, bool)
        if same_shape:
            wrong = compared & ~(np.abs(found - expected) <= tolerance)
    expected = np.where(compared, expected, np.nan)
    x = as_double(evidence.point[0]) if evidence.point else np.zeros(0)
    return Comparison(evidence, found, expected, tolerance, compared, wrong, x, relative, scale, floor, same_shape)


def as_double(array: Any) -> Array:
    """The array in double precision, complex only if it is complex."""
    given: Array = np.asarray(array)
    return given.astype(np.complex128 if given.dtype.kind == "c" else np.float64)


def relative_tolerance(evidence: Evidence) -> float:
    """The relative tolerance that suits the least precise array of the evidence."""
    widths = [_RELATIVE_DOUBLE]
    for array in (evidence.found, *evidence.point, *(() if evidence.value is None else (evidence.value,))):
        dtype = np.asarray(array).dtype
        if dtype.kind in "fc":
            itemsize = dtype.itemsize // (2 if dtype.kind == "c" else 1)
            widths.append(_RELATIVE.get(itemsize, _RELATIVE_DOUBLE))
    return max(widths)


@dataclass(frozen=True, slots=True)
class Sample:
    """A few entries, wrong ones first, on which an explanation is tried before it is tried on all."""

    at: tuple[Array, ...]
    found: Array
    expected: Array
    tolerance: Array


def sample_of(c: Comparison, part: Array) -> Sample:
    """The sample of a part: some wrong entries of it, and some others."""
    wrong, rest = np.argwhere(c.wrong & part), np.argwhere(part & ~c.wrong)
    at = tuple(np.concatenate([_spread(wrong, _SAMPLE), _spread(rest, _SAMPLE)]).T)
    return Sample(at, c.found[at], c.expected[at], c.tolerance[at])


def _spread(positions: Array, count: int) -> Array:
    chosen = np.linspace(0, len(positions) - 1, min(count, len(positions))).astype(int)
    return np.asarray(positions[chosen])


def explains(c: Comparison, predicted: Array, allowed: Array | None = None) -> bool:
    """Whether a prediction of the found entries fits, and so explains what is wrong.

    Entries in which the prediction is NaN are left out, but most of the wrong ones have to be covered.
    """
    with np.errstate(all="ignore"):
        known = c.compared & ~np.isnan(predicted)
        covered, wrong = int(np.sum(c.wrong & known)), int(np.sum(c.wrong))
        if covered == 0 or 2 * covered < wrong:
            return False
        margin = c.allowance(predicted) if allowed is None else np.maximum(allowed, c.relative * np.abs(predicted))
        return bool(np.all((np.abs(c.found - predicted) <= margin)[known]))


def explains_moved(c: Comparison, move: Callable[[Array], Array], sample: Sample) -> bool:
    """Whether the found entries are the expected ones in other places; tolerances move along.

    The sample is tried first.
    """
    moved, tolerance = move(c.expected), move(c.tolerance)
    gap = np.abs(sample.found - moved[sample.at])
    if np.any(gap > np.maximum(tolerance[sample.at], np.maximum(c.relative * np.abs(sample.found), c.floor))):
        return False
    return explains(c, moved, np.maximum(tolerance, c.floor))


def explains_expected(c: Comparison, corrected: Array, spread: Array | float = 0.0) -> bool:
    """Whether the found entries, corrected as the hypothesis says, are the expected ones."""
    if corrected.shape != c.expected.shape or not np.any(c.wrong):
        return False
    return agrees(c, corrected, spread)


def agrees(c: Comparison, corrected: Array, spread: Array | float = 0.0) -> bool:
    """Whether an array is what is expected in all compared entries, of which there is at least one that is not 0."""
    with np.errstate(all="ignore"):
        near = np.abs(corrected - c.expected) <= c.tolerance + c.relative * _FLOOR * spread
        return bool(np.any(c.nonzero)) and bool(np.all(near[c.compared]))


def digits(c: Comparison, part: Array) -> Array:
    """To how many digits each entry of a part tells a right explanation from a wrong one; 0 at most for vague ones."""
    with np.errstate(all="ignore"):
        known = -np.log10(c.tolerance[part] / np.abs(c.expected[part]))
    return np.asarray(np.clip(np.nan_to_num(known, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 12.0))


def squares_of(c: Comparison) -> list[tuple[str, Callable[[Array], Array]]]:
    """The readings of the derivative as a batch of square matrices: its last two axes, or a Hessian's two halves."""
    shape = c.expected.shape
    readings: list[tuple[str, Callable[[Array], Array]]] = []
    if len(shape) >= 2 and shape[-1] == shape[-2] > 1:
        readings.append((f"axes {len(shape) - 2} and {len(shape) - 1}", _last_two))
    half = len(shape) // 2
    if len(shape) > 2 and len(shape) % 2 == 0 and shape[:half] == shape[half:] and c.expected.size > 1:
        readings.append((f"the first {half} and the last {half} axes", _two_halves))
    return readings


def _last_two(array: Array) -> Array:
    return array.reshape(-1, *array.shape[-2:])


def _two_halves(array: Array) -> Array:
    size = int(np.prod(array.shape[: array.ndim // 2]))
    return array.reshape(1, size, size)
