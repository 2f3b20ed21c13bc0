"""Hypotheses on factors that depend on the point: a forgotten inner derivative, a wrong exponent.

Owns these rules. Imports the evidence, the elementary functions and the wording. Invariant: a factor is
named only if it fits every compared entry and is not the same number everywhere by accident of a single entry's value.
"""

from __future__ import annotations

import numpy as np

from einsumad.testing.diagnosis.elementary import FUNCTIONS, bases, enclosed, factors
from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison, Sample, digits, sample_of
from einsumad.testing.diagnosis.factors import has_plain_factor
from einsumad.testing.diagnosis.wording import entries, number

_FEWEST = 3
_DIGITS = 5.5
_MULTIPLES = (
    (1.0, ""),
    (-1.0, "-"),
    (2.0, "2 * "),
    (-2.0, "-2 * "),
    (0.5, "1/2 * "),
    (-0.5, "-1/2 * "),
    (3.0, "3 * "),
    (-3.0, "-3 * "),
)
_NUMBERS = np.array([[multiple] for multiple, _ in _MULTIPLES])
_MOST_EXPONENT = 8
_ROUNDING = 1e-9


def missing_inner_derivative(c: Comparison) -> Cause | None:
    """``expected`` = found times an elementary function of the argument, the value or another argument."""
    if not np.any(c.wrong & c.nonzero & c.given) or not np.all(np.isfinite(c.found[c.compared])) or has_plain_factor(c):
        return None
    text = _recognised_factor(c, c.compared)
    if text is None and int(np.sum(c.wrong)) >= _FEWEST and np.any(c.right):
        text = _recognised_factor(c, c.wrong, fewest=_FEWEST)
        return None if text is None else _inner(text, f"in {entries(c.wrong)}, with the others right, ")
    return None if text is None else _inner(text)


def _recognised_factor(c: Comparison, part: Array, fewest: int = 0) -> str | None:
    """The factor that makes the claimed entries of this part right, as text."""
    sample = sample_of(c, part)
    told = digits(c, part & c.nonzero & c.given)
    with np.errstate(all="ignore"):
        for base in bases(c):
            if (np.sum(told) if _is_varied(base.values[part], 2) else np.max(told, initial=0.0)) < _DIGITS:
                continue
            tried = base.values[sample.at]
            for text, function in factors(base):
                factor = function(tried)
                if fewest and not _is_varied(factor, fewest):
                    continue
                near = np.abs(_NUMBERS * (sample.found * factor) - sample.expected) <= sample.tolerance
                for k in np.flatnonzero(np.all(near, axis=1)):
                    multiple, prefix = _MULTIPLES[k]
                    if _fits_all(c, multiple * function(base.values), part):
                        return f"{prefix}{text}{_said_of(base.name)}"
    return None


def _fits_all(c: Comparison, factor: Array, part: Array) -> bool:
    return bool(np.all((np.abs(c.found * factor - c.expected) <= c.tolerance)[part]))


def _said_of(base: str) -> str:
    said = {
        "f(x)": ", with f(x) the value of the function,",
        "norm(x)": "",
        "sum(x)": "",
        "x": ", with x the argument,",
    }
    return said.get(base, f", with {base} another argument,")


def _inner(text: str, where: str = "") -> Cause:
    return Cause(
        "missing inner derivative",
        f"{where}multiplied by {text} the claimed derivative is right: likely a factor of the chain rule is missing "
        "or one too many",
    )


def scaled_inner_derivative(c: Comparison) -> Cause | None:
    """``expected`` = found times a multiple of an elementary function, with three entries or more to tell."""
    part = c.nonzero & c.given & np.isfinite(c.found)
    if int(np.sum(part)) < _FEWEST or not np.any(c.wrong) or np.iscomplexobj(c.found * c.expected):
        return None
    with np.errstate(all="ignore"):
        told = digits(c, part)
        sample = sample_of(c, part)
        ratio = sample.expected / sample.found
        if np.ptp(ratio) <= 10 * c.relative * np.max(np.abs(ratio)) or np.sum(told) - np.max(told) < _DIGITS:
            return None
        for base in bases(c):
            tried = base.values[sample.at]
            for text, function in factors(base):
                values = function(tried)
                if np.iscomplexobj(values) or not _is_varied(values):
                    continue
                multiple = float(np.median(ratio / values))
                near = np.abs(sample.found * multiple * values - sample.expected) <= sample.tolerance
                if multiple and np.all(near) and _fits_all(c, multiple * function(base.values), c.compared):
                    return _inner(f"{number(multiple)} * {text}{_said_of(base.name)}")
    return None


def _is_varied(values: Array, fewest: int = _FEWEST) -> bool:
    if not np.all(np.isfinite(values)):
        return False
    return np.unique(np.round(values / max(float(np.max(np.abs(values), initial=0.0)), 1e-300), 6)).size >= fewest


def wrong_power(c: Comparison) -> Cause | None:
    """``found`` and expected are multiples of different powers of one quantity, of three sizes or more."""
    part = c.nonzero & c.given & np.isfinite(c.found)
    if int(np.sum(part)) < _FEWEST or not np.any(c.wrong) or np.any(c.nonzero != c.given):
        return None
    if np.any(c.right):
        part = part & c.wrong
    if int(np.sum(part)) < _FEWEST or np.iscomplexobj(c.found * c.expected):
        return None
    sample = sample_of(c, part)
    with np.errstate(all="ignore"):
        for base in bases(c):
            tried = base.values[sample.at]
            for template, function in FUNCTIONS:
                if not all(_powers(sample, np.abs(function(tried)), c.relative)):
                    continue
                everywhere = Sample((), c.found[part], c.expected[part], c.tolerance[part])
                claimed, due = _powers(everywhere, np.abs(function(base.values[part])), c.relative)
                if claimed and due and claimed != due:
                    return _exponents(enclosed(template.format(base.name)), claimed, due, base.name)
    return None


def _powers(sample: Sample, of: Array, relative: float) -> tuple[float, float]:
    """The exponents with which the claimed and the expected entries go; 0 if there are none."""
    if not np.all(of > 0) or not _is_varied(of):
        return 0.0, 0.0
    claimed = _exponent(np.abs(sample.found), of, 4 * relative)
    return claimed, _exponent(np.abs(sample.expected), of, sample.tolerance / np.abs(sample.expected))


def exponent_kept(c: Comparison) -> Cause | None:
    """``expected`` = found / x, of three entries or more: the exponent of a power was not lowered."""
    part = c.nonzero & c.given
    if int(np.sum(part)) < _FEWEST or not np.any(c.wrong) or has_plain_factor(c):
        return None
    with np.errstate(all="ignore"):
        for base in bases(c):
            if base.name == "x" and _is_varied(base.values[part]) and _fits_all(c, 1 / base.values, c.compared):
                return Cause(
                    "wrong exponent",
                    "divided by x, the argument, the claimed derivative is right: likely the exponent of a power was "
                    "kept instead of lowered by one",
                )
    return None


def _exponents(text: str, claimed: float, due: float, base: str) -> Cause:
    return Cause(
        "wrong exponent",
        f"the claimed derivative goes like {text}**{claimed:g}, and {text}**{due:g} is expected{_said_of(base)} "
        "but for constants: likely an exponent is wrong or was not changed by differentiation",
    )


def _exponent(size: Array, of: Array, margin: Array | float) -> float:
    """The exponent p, a multiple of 1/2, with size = constant * of**p; 0 if there is none."""
    low, high = int(np.argmin(of)), int(np.argmax(of))
    slope = float(np.log(size[high] / size[low]) / np.log(of[high] / of[low]))
    exponent = round(2 * slope) / 2 if np.isfinite(slope) else 0.0
    if not 0 < abs(exponent) <= _MOST_EXPONENT:
        return 0.0
    constant = size[high] / of[high] ** exponent
    return exponent if np.all(np.abs(size / (constant * of**exponent) - 1) <= 2 * margin + _ROUNDING) else 0.0


def wrong_ratio_of_powers(c: Comparison) -> Cause | None:
    """``expected`` over found is a multiple of a power of the argument, of three sizes or more."""
    part = c.nonzero & c.given & np.isfinite(c.found)
    if int(np.sum(part)) < _FEWEST or not np.any(c.wrong) or np.any(c.nonzero != c.given):
        return None
    with np.errstate(all="ignore"):
        for base in bases(c):
            size = np.abs(base.values[part])
            if not np.all(size > 0) or not _is_varied(size):
                continue
            margin = c.tolerance[part] / np.abs(c.expected[part])
            exponent = _exponent(np.abs(c.expected[part] / c.found[part]), size, margin)
            if exponent:
                return Cause(
                    "wrong exponent",
                    f"expected over claimed goes like {base.name}**{exponent:g}{_said_of(base.name)} in size: likely "
                    f"an exponent is off by {exponent:g}, or a power was not differentiated",
                )
    return None
