"""Hypotheses on sums: a term that is missing or one too many, contributions of one operand only.

Owns these rules. Imports the evidence, the elementary functions and the wording. Invariant: a term is named only if it
accounts for the difference in all compared entries, and its coefficient is free only where two entries determine it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from einsumad.testing.diagnosis.diagonal import output_axes
from einsumad.testing.diagnosis.elementary import bases, factors
from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison, Sample, sample_of, squares_of
from einsumad.testing.diagnosis.wording import entries, number

_FEWEST = 3
_DIGITS = 5.5
_LARGEST_MATRIX = 256
_FEW = 16
_SHARPNESS = 1e-3
_CLEAR = 1e4
_PLAIN = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
_SHARES = ((1 / 2, "half"), (1 / 3, "a third"), (2 / 3, "two thirds"), (1 / 4, "a quarter"), (3 / 4, "three quarters"))


def _difference(c: Comparison) -> Array | None:
    """``found`` - expected, 0 where nothing was compared; None where this tells nothing."""
    if not np.any(c.wrong) or not np.all(np.isfinite(c.found[c.compared])):
        return None
    return np.where(c.compared, c.found - np.where(c.compared, c.expected, 0), 0)


def missing_term(c: Comparison) -> Cause | None:
    """``found`` - expected is a multiple of ones, of the argument, its sign, or the identity."""
    difference = _difference(c)
    if difference is None:
        return None
    for text, hint, pattern in _patterns(c):
        coefficient = _coefficient(c, difference, pattern)
        if coefficient is not None:
            return Cause(
                "missing term",
                f"claimed minus expected is {number(coefficient)}{text} in every entry: likely a term is missing or "
                f"counted twice{hint}",
            )
    return None


def _patterns(c: Comparison) -> Iterator[tuple[str, str, Array]]:
    """Texts, hints and arrays of simple terms."""
    shape = c.expected.shape
    yield "", ", one that is linear in the argument", np.ones(shape)
    for base in bases(c):
        if base.name in ("norm(x)", "sum(x)"):
            continue
        penalty = ", such as a ridge penalty or weight decay" if base.name == "x" else ""
        yield f" times {base.name}", penalty, base.values
        if not np.iscomplexobj(base.values):
            lasso = ", such as an absolute-value penalty" if base.name == "x" else ""
            yield f" times sign({base.name})", lasso, np.sign(base.values)
    for where, reading in squares_of(c):
        size = reading(c.expected).shape[-1]
        batch = np.broadcast_to(np.eye(size), reading(c.expected).shape)
        yield f" times the identity in {where}", ", such as the Hessian of a ridge penalty", batch.reshape(shape)


def _coefficient(c: Comparison, difference: Array, pattern: Array) -> complex | None:
    """The number c with difference = c pattern, if there is one."""
    part = c.compared & (np.abs(pattern) > 0)
    if not np.all(np.isfinite(pattern[c.compared])) or not np.any(part & c.wrong):
        return None
    at = np.unravel_index(int(np.argmax(np.where(part, np.abs(pattern), 0.0))), pattern.shape)
    coefficient = complex(difference[at] / pattern[at])
    if int(np.sum(part)) < 2:
        known = [plain for plain in _PLAIN if abs(coefficient - plain) <= c.tolerance[at] / abs(pattern[at])]
        if not known:
            return None
        coefficient = complex(known[0])
    near = np.abs(difference - coefficient * pattern) <= 2 * np.maximum(c.tolerance, c.relative * np.abs(c.found))
    return coefficient if bool(np.all(near[c.compared])) else None


def missing_function_term(c: Comparison) -> Cause | None:
    """``found`` - expected is a multiple of g(x) or x g(x), with an elementary function g, of three entries or more."""
    difference = _difference(c)
    if difference is None or int(np.sum(c.wrong)) < _FEWEST:
        return None
    told = np.log10(np.abs(difference[c.wrong]) / c.tolerance[c.wrong])
    if np.sum(told) - np.max(told) < _DIGITS:
        return None
    sample = sample_of(c, c.compared)
    with np.errstate(all="ignore"):
        for base in bases(c):
            if np.iscomplexobj(base.values) or not _is_varied(base.values[sample.at]):
                continue
            tried = base.values[sample.at]
            for text, function in factors(base):
                for shown, times in ((text, False), (f"{base.name} {text}", True)):
                    if not _may_be(sample, difference[sample.at], function(tried) * (tried if times else 1.0)):
                        continue
                    pattern = function(base.values) * (base.values if times else 1.0)
                    coefficient = _coefficient(c, difference, pattern)
                    if coefficient is not None:
                        return _function_term(f"{number(coefficient)} times {shown}")
    return None


def _may_be(sample: Sample, difference: Array, pattern: Array) -> bool:
    """Whether the difference is a multiple of the pattern in a sample."""
    if not np.all(np.isfinite(pattern)) or not np.any(pattern):
        return False
    at = int(np.argmax(np.abs(pattern)))
    return bool(np.all(np.abs(difference - difference[at] / pattern[at] * pattern) <= 3 * sample.tolerance))


def _function_term(text: str) -> Cause:
    return Cause(
        "missing term",
        f"claimed minus expected is {text} in every entry: likely a term is missing or counted twice, as when one "
        "factor of a product is not differentiated",
    )


def _is_varied(values: Array) -> bool:
    return bool(np.unique(np.round(values[np.isfinite(values)], 9)).size >= _FEWEST)


def missing_outer_product(c: Comparison) -> Cause | None:
    """``found`` - expected has rank one, in all blocks, where found and expected have not."""
    difference = _difference(c)
    if difference is None or not np.all(c.compared) or np.iscomplexobj(difference):
        return None
    for name, reading in _matrix_readings(c):
        gaps, claims, truths = reading(difference), reading(c.found), reading(c.expected)
        rows, columns = np.any(reading(c.wrong), axis=(0, 2)), np.any(reading(c.wrong), axis=(0, 1))
        if min(int(np.sum(rows)), int(np.sum(columns))) < _FEWEST or min(gaps.shape[1:]) > _LARGEST_MATRIX:
            continue
        floor = float(np.max(c.tolerance)) * max(gaps.shape[1:])
        if min(_rank(_thinned(gaps), floor), _rank(_thinned(claims), floor)) > 1:
            continue
        ranks = [_rank(matrices, floor) for matrices in (gaps, claims, truths)]
        if ranks[0] == 1 and min(ranks[1:]) > 1:
            return _outer_product(f"claimed minus expected is an outer product of two vectors in {name}")
        if ranks[1] == 1 and ranks[2] > 2:
            return _outer_product(f"the claimed derivative is a single outer product in {name}, the right one is not")
    return None


def _outer_product(what: str) -> Cause:
    return Cause(
        "missing term",
        f"{what}: likely a term is missing, as when a mean, a norm, an inverse or a normaliser is differentiated as a "
        "constant",
    )


def _matrix_readings(c: Comparison) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """The readings of the derivative as a batch of matrices: output by some axes of the argument, or its own axes."""
    ndim, outputs = c.expected.ndim, output_axes(c)
    for count in range(ndim - outputs, 0, -1) if outputs else ():
        for axes in combinations(range(outputs, ndim), count):
            yield (
                f"the output and {'axis' if count == 1 else 'axes'} {', '.join(map(str, axes))}",
                _matrices(outputs, axes),
            )
    if ndim == 2 and not outputs:
        yield "its rows and columns", _matrices(1, (1,))


def _matrices(outputs: int, columns: tuple[int, ...]) -> Callable[[Array], Array]:
    def read(array: Array) -> Array:
        batch = [axis for axis in range(outputs, array.ndim) if axis not in columns]
        rows, width = (int(np.prod([array.shape[k] for k in axes])) for axes in (range(outputs), columns))
        return array.transpose(*batch, *range(outputs), *columns).reshape(-1, rows, width)

    return read


def _thinned(matrices: Array) -> Array:
    """A few rows and columns of a few of the matrices; their rank is no higher."""
    steps = [max(1, length // _FEW) for length in matrices.shape]
    return matrices[:: steps[0], :: steps[1], :: steps[2]]


def _rank(matrices: Array, floor: float) -> int:
    values = np.linalg.svd(matrices, compute_uv=False)
    return int(np.max(np.sum(values > np.maximum(floor, 1e-7 * np.max(values)), axis=-1)))


def lost_in_every_output(c: Comparison) -> Cause | None:
    """Every output of a Jacobian keeps some contributions and lacks the others."""
    outputs = output_axes(c)
    if not outputs or not np.any(c.wrong) or np.any(c.wrong & c.given):
        return None
    rows = (int(np.prod(c.expected.shape[:outputs])), -1)
    lost, kept = np.any(c.wrong.reshape(rows), 1), np.any(c.right.reshape(rows), 1)
    if int(np.sum(lost)) < 2 or not np.array_equal(lost, kept):
        return None
    return Cause(
        "missing term",
        f"every output has some of its contributions, and lacks the others (0 in {entries(c.wrong)}): likely one of "
        "several terms is missing",
    )


def nothing_off_the_diagonal(c: Comparison) -> Cause | None:
    """``found`` is 0 off the diagonal, where expected is not, and the diagonal is wrong too."""
    for _, reading in squares_of(c):
        off = ~np.broadcast_to(np.eye(reading(c.expected).shape[-1], dtype=bool), reading(c.expected).shape)
        given, nonzero = reading(c.given), reading(c.nonzero)
        if np.any(given) and not np.any(given & off) and 2 * np.sum(nonzero & off) > np.sum(off):
            return Cause(
                "missing term",
                "the claimed derivative is 0 off the diagonal, where it should not be: likely the terms that couple "
                "different entries are missing",
            )
    return None


def missing_indicator(c: Comparison) -> Cause | None:
    """``found`` - expected is one and the same number in some entries, and 0 in the others."""
    difference = _difference(c)
    if difference is None or not np.any(c.compared & ~c.wrong):
        return None
    values = difference[c.wrong]
    level = complex(values[0])
    if np.any(np.abs(values - level) > 2 * c.tolerance[c.wrong]):
        return None
    if values.size < 2 and min(abs(level - 1), abs(level + 1)) > c.tolerance[c.wrong][0]:
        return None
    return Cause(
        "missing term",
        f"claimed minus expected is {number(level)} in {entries(c.wrong)} and 0 elsewhere: likely a one-hot, mask or "
        "constant term is missing or counted twice",
    )


def along_the_point(c: Comparison) -> Cause | None:
    """Along the argument itself found is right, or a simple share of it, though its entries are not.

    By Euler's theorem a function of degree m in x has ``<gradient, x> = m f``, and each of m places where x appears
    contributes f: a gradient of one place out of two gives half. A matrix that is transposed changes nothing of it.
    """
    axes = tuple(range(c.found.ndim - c.x.ndim, c.found.ndim))
    if c.x.size < 2 or c.found.shape[len(c.found.shape) - c.x.ndim :] != c.x.shape:
        return None
    if not np.any(c.wrong) or not np.all(c.compared) or np.iscomplexobj(c.found * c.expected * c.x):
        return None
    found, expected = np.sum(c.found * c.x, axes), np.sum(c.expected * c.x, axes)
    size = np.sum(np.abs(c.expected * c.x), axes)
    margin = np.sum(np.abs(c.x) * np.asarray(c.evidence.error), axes) + _SHARPNESS * c.relative * size
    if not np.all(np.isfinite(found)) or not np.any(np.abs(expected) > _CLEAR * margin):
        return None
    for share, text in _SHARES:
        if np.all(np.abs(found - share * expected) <= margin):
            return Cause(
                "missing operand slot",
                f"along the argument itself the claimed derivative is {text} of what it should be: likely an argument "
                "that appears several times was not differentiated in all places",
            )
    moved = np.sum(np.abs(np.where(c.wrong, (c.found - c.expected) * c.x, 0)), axes)
    if np.all(np.abs(found - expected) <= margin) and np.any(moved > _CLEAR * margin):
        return Cause(
            "transposed operand",
            "along the argument itself the claimed derivative is right, though its entries are not: likely a matrix "
            "inside the formula is transposed, as in 2 A x for the gradient of x' A x",
        )
    return None
