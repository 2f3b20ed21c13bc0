"""Hypotheses on derivatives that are proportional to the right one, or its complex conjugate.

Owns these rules. Imports the evidence and the wording. Invariant: a factor is named only if one number fits all
compared entries; with a single entry that is not 0 the sentence says how little that proves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from einsumad.testing.diagnosis.evidence import Cause, Comparison, explains
from einsumad.testing.diagnosis.wording import entries, index, number, recognised

_VAGUE = 1e-3
_SHARP = 0.02
_LARGEST_COUNT = 10**7
_STEADY = 0.02
_SMALLEST, _SMALL = 1e-11, 1e-5


@dataclass(frozen=True, slots=True)
class Factor:
    """``found = value * expected``, known up to `uncertainty`, from `count` entries that are not 0."""

    value: complex
    uncertainty: float
    count: int

    def is_close(self, known: complex) -> bool:
        """Whether the factor is the known one."""
        return abs(self.value - known) <= min(self.uncertainty, _VAGUE * abs(known))

    @property
    def caution(self) -> str:
        """What to add if a single entry is all there is."""
        return "" if self.count > 1 else " (only one entry is not 0, so other mistakes can look the same)"


def factor_of(c: Comparison) -> Factor | None:
    """The factor between the claimed and the expected entries, if there is one, but for 1."""
    informative = c.nonzero & np.isfinite(c.found)
    if not np.any(c.wrong) or not np.any(informative):
        return None
    expected, found, tolerance = c.expected[informative], c.found[informative], c.tolerance[informative]
    weights = 1 / tolerance**2
    scale = float(np.max(weights * np.abs(expected) ** 2))
    value = complex(np.sum(weights / scale * np.conj(expected) * found))
    value /= float(np.sum(weights / scale * np.abs(expected) ** 2))
    uncertainty = max(float(np.min(tolerance / np.abs(expected))), c.relative) * max(abs(value), 1e-300)
    if not abs(value) > 1e-12 or not explains(c, value * c.expected, max(abs(value), 1.0) * c.tolerance):
        return None
    return Factor(value, uncertainty, int(np.sum(informative)))


def sign(c: Comparison) -> Cause | None:
    """``found`` = -expected."""
    factor = factor_of(c)
    if factor is None or not factor.is_close(-1):
        return None
    return Cause(
        "sign",
        f"every entry has the wrong sign: likely a minus is missing or one too many, or a force or an ascent direction "
        f"was given for a gradient{factor.caution}",
    )


def factor_two(c: Comparison) -> Cause | None:
    """``found`` = 2 expected."""
    factor = factor_of(c)
    if factor is None or not factor.is_close(2):
        return None
    return Cause(
        "factor 2",
        "every entry is 2 times what it should be: likely a 1/2 in the function was forgotten, or a symmetric part was "
        f"counted twice{factor.caution}",
    )


def factor_half(c: Comparison) -> Cause | None:
    """``found`` = expected / 2."""
    factor = factor_of(c)
    if factor is None or not factor.is_close(0.5):
        return None
    return Cause(
        "factor 1/2",
        "every entry is half of what it should be: likely a square was differentiated without its 2, or only one of "
        f"two equal operands was differentiated{factor.caution}",
    )


def degrees(c: Comparison) -> Cause | None:
    """``found`` = (180/pi) expected or (pi/180) expected."""
    factor = factor_of(c)
    if factor is None:
        return None
    for known, ratio in ((180 / np.pi, "180/pi"), (np.pi / 180, "pi/180")):
        for sign_text, signed in (("", known), ("-", -known)):
            if factor.is_close(signed):
                return Cause(
                    "degrees",
                    f"every entry is {sign_text}{ratio} times what it should be: likely degrees and radians are mixed"
                    f"{factor.caution}",
                )
    return None


_BASES = (("ln(10)", np.log(10)), ("ln(2)", np.log(2)), ("log2(10)", np.log2(10)))


def logarithm_base(c: Comparison) -> Cause | None:
    """``found`` = expected times or over ln 2 or ln 10."""
    factor = factor_of(c)
    if factor is None:
        return None
    for name, base in _BASES:
        for text, known in ((name, base), (f"1/{name}", 1 / base), (f"-{name}", -base), (f"-1/{name}", -1 / base)):
            if factor.is_close(known):
                return Cause(
                    "logarithm base",
                    f"every entry is {text} times what it should be: likely a logarithm or power of base 2 or 10 was "
                    f"differentiated as a natural one{factor.caution}",
                )
    return None


def axis_counts(c: Comparison) -> set[int]:
    """The lengths of axes and their products, as far as the evidence shows them."""
    shapes = [c.found.shape, c.evidence.output_shape, *[np.shape(array) for array in c.evidence.point]]
    if c.evidence.value is not None:
        shapes.append(np.shape(c.evidence.value))
    counts = {n for shape in shapes for n in shape} | {prod(shape) for shape in shapes}
    for shape in shapes:
        counts |= {prod(shape[k:]) for k in range(len(shape))} | {prod(shape[:k]) for k in range(1, len(shape))}
    return {n for n in counts if n > 1}


def factor_count(c: Comparison) -> Cause | None:
    """``found`` = n expected."""
    factor = factor_of(c)
    n = 0 if factor is None else _whole(factor, 1)
    if factor is None or not n or (n == 2 and 2 not in axis_counts(c)):
        return None
    return Cause(
        "factor n (sum for mean)",
        f"every entry is {n} times what it should be, {_about(c, n)}: likely a sum was differentiated where the "
        f"function takes a mean{factor.caution}",
    )


def factor_one_over_count(c: Comparison) -> Cause | None:
    """``found`` = expected / n."""
    factor = factor_of(c)
    n = 0 if factor is None else _whole(factor, -1)
    if factor is None or not n or (n == 2 and 2 not in axis_counts(c)):
        return None
    return Cause(
        "factor 1/n (mean for sum)",
        f"every entry is 1/{n} of what it should be, {_about(c, n)}: likely a mean was differentiated where the "
        f"function takes a sum, or only one of {n} equal contributions was counted{factor.caution}",
    )


def _whole(factor: Factor, power: int) -> int:
    """The whole number above 1 that the factor (or its reciprocal) is, else 0."""
    if abs(factor.value.imag) > factor.uncertainty or factor.value.real <= 0:
        return 0
    n = round(min(factor.value.real**power, float(_LARGEST_COUNT)))
    is_sharp = n * factor.uncertainty <= _SHARP * abs(factor.value)
    return n if 1 < n < _LARGEST_COUNT and is_sharp and factor.is_close(float(n) ** power) else 0


def _about(c: Comparison, n: int) -> str:
    if n in axis_counts(c):
        return "and an axis, or a few together, have that length"
    return f"a whole number, though no axis seen here has length {n} (an exponent or a constant could be it too)"


def has_plain_factor(c: Comparison) -> bool:
    """Whether found is expected times a number that explains itself, so that nothing else should."""
    factor = factor_of(c)
    if factor is None:
        return False
    vague = min(factor.uncertainty, _VAGUE * abs(factor.value))
    return bool(recognised(factor.value, vague)) or degrees(c) is not None or logarithm_base(c) is not None


def constant_factor(c: Comparison) -> Cause | None:
    """``found`` = c expected, for any other number c; the entries that are not 0 are several."""
    factor = factor_of(c)
    return None if factor is None or factor.count == 1 else _any_factor(factor)


def only_entry(c: Comparison) -> Cause | None:
    """``found`` = c expected, where a single entry is not 0."""
    factor = factor_of(c)
    return None if factor is None else _any_factor(factor)


def _any_factor(factor: Factor) -> Cause:
    name = recognised(factor.value, min(factor.uncertainty, _VAGUE * abs(factor.value)))
    ratio = number(factor.value)
    shown = f"{name} = {ratio}" if name and name != ratio else ratio
    percent = (factor.value.real - 1) * 100
    off = f" ({abs(percent):.3g} % too {'large' if percent > 0 else 'small'})" if 0.01 < abs(percent) < 50 else ""
    if factor.count == 1:
        return Cause(
            "constant factor",
            f"the only entry that is not 0 is {shown} times what it should be{off}: likely a "
            "constant is wrong or missing, but other mistakes can look the same",
        )
    return Cause(
        "constant factor",
        f"every entry is {shown} times what it should be{off}: likely a constant is wrong, missing or counted twice",
    )


def factor_in_places(c: Comparison) -> Cause | None:
    """``found`` = c expected in two or more entries, with one number c, and right in the others."""
    if int(np.sum(c.wrong)) < 2 or not np.any(c.right) or np.any(c.wrong & ~(c.nonzero & c.given)):
        return None
    with np.errstate(all="ignore"):
        ratio = c.found[c.wrong] / c.expected[c.wrong]
        value = complex(ratio[0])
        near = np.abs(c.found - value * c.expected) <= c.tolerance * max(abs(value), 1.0)
    if not np.all(near[c.wrong]):
        return None
    where = f"right except in {entries(c.wrong)}, where every entry"
    names = {2.0: "factor 2", 0.5: "factor 1/2"}
    for known, name in names.items():
        if abs(value - known) <= _VAGUE * c.relative**0.5:
            return Cause(
                name, f"{where} is {known:g} times what it should be: likely a term there has a wrong constant"
            )
    for at, entry in np.ndenumerate(c.x[tuple([slice(0, 4)] * c.x.ndim)]):
        for due, text in ((entry, "times"), (1 / entry if entry else 0.0, "divided by")):
            if abs(due) not in (0, 1) and abs(1 / value - due) <= 10 * c.relative * abs(due):
                return Cause(
                    "missing inner derivative",
                    f"{where} has to be {text} x{index(at) if at else ''}, with x the argument: likely a factor of the "
                    "chain rule is missing or one too many",
                )
    return Cause(
        "constant factor", f"{where} is {number(value)} times what it should be: likely a constant is wrong there"
    )


def slightly_off(c: Comparison) -> Cause | None:
    """``found`` = (1 + s) expected with an s too small for the tolerance of other rules."""
    if not c.same_shape or not np.any(c.nonzero) or not np.all(np.isfinite(c.found[c.compared])):
        return None
    found, expected = c.found[c.compared], c.expected[c.compared]
    error = np.abs(np.asarray(c.evidence.error)[c.compared])
    mean = float((np.sum(np.conj(expected) * (found - expected)) / np.sum(np.abs(expected) ** 2)).real)
    effect = np.abs(mean * expected)
    if not _SMALLEST <= abs(mean) <= _SMALL or np.sum(effect > 10 * error) < 3:
        return None
    if np.any(np.abs(found - (1 + mean) * expected) > error + _STEADY * effect):
        return None
    return Cause(
        "constant factor",
        f"every entry is too {'large' if mean > 0 else 'small'} by the same {abs(mean):.3g} of its size: likely a "
        "constant with too few digits, or a small term in a denominator",
    )


def missing_conjugate(c: Comparison) -> Cause | None:
    """``found`` = conj(expected), or twice or half of that."""
    if not np.any(c.wrong) or not (np.iscomplexobj(c.found) and np.iscomplexobj(c.expected)):
        return None
    for value, text in ((1.0, ""), (2.0, "2 times "), (0.5, "half ")):
        if explains(c, value * np.conj(c.expected), max(value, 1.0) * c.tolerance):
            return Cause(
                "missing conjugate",
                f"every entry is {text}the complex conjugate of what it should be: likely a conj() is missing or one "
                "too many, or the two conventions for complex gradients are mixed",
            )
    return None
