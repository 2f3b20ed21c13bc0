"""Hypotheses on small errors: derivatives computed in single or half precision.

Owns these rules. Imports the evidence. Invariant: they apply only if no entry is wrong by more than the rounding of the
format that they name.
"""

from __future__ import annotations

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison

_SINGLE = (1e-10, 1e-5)
_HALF = (1e-6, 1e-2)
_LOST = 0.1
_FEWEST = 3


def rounded_to_single(c: Comparison) -> Cause | None:
    """``found`` has the values of single precision, and only their rounding errors."""
    if not _is_rounded(c, np.dtype(np.float32)) or _is_rounded(c, np.dtype(np.float16)):
        return None
    return _narrow(c) or _single(c)


def single_precision(c: Comparison) -> Cause | None:
    """Relative errors everywhere of the size that rounding in single precision makes."""
    return _single(c) if _errors_within(c, *_SINGLE) else None


def rounded_to_half(c: Comparison) -> Cause | None:
    """``found`` has the values of half precision, and only their rounding errors."""
    if not _is_rounded(c, np.dtype(np.float16)):
        return None
    return _narrow(c) or _half(c)


def half_precision(c: Comparison) -> Cause | None:
    """Relative errors everywhere of the size that rounding in half precision makes."""
    return _half(c) if _errors_within(c, *_HALF) and not _errors_within(c, *_SINGLE) else None


def _narrow(c: Comparison) -> Cause | None:
    """The cause if the claimed array itself has a narrower dtype than the argument."""
    found, given = np.asarray(c.evidence.found).dtype, [np.asarray(array).dtype for array in c.evidence.point[:1]]
    if not given or found.kind != given[0].kind or found.itemsize >= given[0].itemsize:
        return None
    return Cause(
        "wrong dtype",
        f"the claimed derivative has dtype {found} and the argument {given[0]}, and it is right but for rounding: "
        "likely it is returned in the wrong precision",
    )


def whole_numbers(c: Comparison) -> Cause | None:
    """``found`` holds whole numbers only, expected and the argument do not."""
    if not np.any(c.wrong) or not np.all(np.isfinite(c.found[c.compared])) or np.iscomplexobj(c.found):
        return None
    found, expected = c.found[c.compared], c.expected[c.compared]
    if not np.any(found) or found.size < _FEWEST or not np.array_equal(found, np.round(found)):
        return None
    if not np.any(c.nonzero & (np.abs(c.expected - np.round(c.expected)) > c.tolerance)):
        return None
    if np.all(c.x == np.round(c.x)):
        return None
    if np.asarray(c.evidence.found).dtype.kind in "iub" and np.all(np.abs(found - expected) <= 1 + c.relative):
        return Cause(
            "wrong dtype",
            f"the claimed derivative has dtype {np.asarray(c.evidence.found).dtype} and is right but for its "
            "fractional part: likely it is collected in an integer array",
        )
    if np.asarray(c.evidence.found).dtype.kind not in "iub" and np.unique(np.abs(found)).size < 2:
        return None
    return Cause(
        "evaluated elsewhere",
        "all claimed entries are whole numbers, though neither the argument nor the derivative is: likely the "
        "argument was rounded or converted to integers on the way",
    )


def _single(c: Comparison) -> Cause:
    return Cause(
        "single precision",
        f"the entries are off by up to {_largest(c):.1g} of their size: likely something is computed or stored in "
        "float32, or a constant has too few digits, or a difference quotient or an iteration that stops early stands "
        "for the exact value (relative= forgives what is meant to be)",
    )


def _half(c: Comparison) -> Cause:
    return Cause(
        "half precision",
        f"the entries are off by up to {_largest(c):.1g} of their size: likely something is computed or stored in "
        "float16 or bfloat16",
    )


def _gaps(c: Comparison) -> tuple[Array, Array, Array]:
    """The differences, the expected sizes and the bounds on their errors, of the compared entries."""
    part = c.compared & np.isfinite(c.found) if c.same_shape else np.zeros(c.expected.shape, bool)
    if not c.same_shape:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    size = np.abs(c.expected[part])
    gap = np.abs(c.found[part] - c.expected[part])
    return gap, size, np.maximum(np.abs(np.asarray(c.evidence.error)[part]), 8 * np.finfo(float).eps * size)


def _largest(c: Comparison) -> float:
    gap, size, _ = _gaps(c)
    return float(np.max(gap / np.maximum(size, 1e-3 * c.scale), initial=0.0))


def _is_rounded(c: Comparison, dtype: np.dtype[np.floating]) -> bool:
    """Whether all claimed entries are numbers of this format, next to the expected ones, some of which are not."""
    gap, size, error = _gaps(c)
    off = gap > error
    if not np.any(off) or not np.all(np.isfinite(c.found[c.compared])):
        return False
    with np.errstate(all="ignore"):
        parts = np.stack([c.found[c.compared].real, c.found[c.compared].imag])
        if not np.array_equal(parts, parts.astype(dtype)):
            return False
    unit = float(np.finfo(dtype).eps)
    return bool(np.all(gap <= 4 * unit * size + error + float(np.finfo(dtype).tiny)))


def _errors_within(c: Comparison, low: float, high: float) -> bool:
    """Whether relative errors are at most `high`, and a good part of the entries has more than `low`."""
    gap, size, error = _gaps(c)
    if not gap.size or c.scale == 0.0 or not np.all(np.isfinite(c.found[c.compared])):
        return False
    if np.any(gap > high * size + _LOST * high * c.scale + error):
        return False
    clear = (gap > error) & (gap > low * np.maximum(size, _LOST * c.scale))
    counted = size > 1e-3 * c.scale
    return bool(2 * int(np.sum(clear & counted)) >= int(np.sum(counted)) > 0)
