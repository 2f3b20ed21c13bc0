"""How far a quadratic model is trusted: ratios, and the damping or radius that follows from them.

Owns these rules. Imports nothing of the package. Invariant: they depend on numbers without a unit, so that a loss that
is multiplied by a number is minimised by the same steps.
"""

from __future__ import annotations

from math import inf, isfinite

_POOR, _GOOD = 0.25, 0.75
_SHORTEST = 1e-30
_COARSEST, _FINEST, _SAFEGUARD = 0.5, 1e-8, 0.1


def gain_ratio(before: float, after: float, predicted: float, rounding: float = 0.0) -> float:
    """``(before - after) / predicted``, both lifted by what rounding may have hidden; -inf where it is not finite.

    Source: Conn, Gould and Toint, Trust-Region Methods, 2000, section 17.4.2.

    >>> gain_ratio(10.0, 8.0, 4.0)
    0.5
    """
    if not isfinite(after):
        return -inf
    lifted = predicted + rounding
    return (before - after + rounding) / lifted if lifted > 0 else -inf


def accepted_damping(damping: float, ratio: float, least: float = 0.0) -> float:
    """``λ max(1/3, 1 - (2 ratio - 1)³)``, at least `least`, after a step that was taken.

    Source: H. B. Nielsen, Damping parameter in Marquardt's method, 1999, with at most a doubling.

    >>> accepted_damping(3.0, 1.0), accepted_damping(3.0, 0.5)
    (1.0, 3.0)
    """
    return max(damping * max(1 / 3, 1 - min(max(2 * ratio - 1, -1.0), 1.0) ** 3), least)


def rejected_damping(damping: float, failures: int) -> float:
    """``λ 2ᵏ`` after the k-th step in a row that was taken back (Nielsen, as above).

    >>> rejected_damping(1.0, 1), rejected_damping(2.0, 2)
    (2.0, 8.0)
    """
    return damping * 2.0**failures


def accepted_radius(radius: float, ratio: float, length: float, on_boundary: bool) -> float:
    """The radius of the region for the next step: doubled where the model was good and the step reached the boundary.

    Source: Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, algorithm 4.1.

    >>> accepted_radius(1.0, 0.9, 1.0, True), accepted_radius(1.0, 0.1, 0.5, False)
    (2.0, 0.125)
    """
    if ratio < _POOR:
        return max(0.25 * length, _SHORTEST)
    return 2.0 * radius if ratio > _GOOD and on_boundary else radius


def rejected_radius(length: float) -> float:
    """A quarter of the length of the step that was taken back (as above).

    >>> rejected_radius(1.0)
    0.25
    """
    return max(0.25 * length, _SHORTEST)


def forcing_term(norm: float, norm_before: float | None, forcing_before: float | None) -> float:
    """By how much a truncated step has to reduce the residual of Newton's equation: ``0.5 (norm / norm_before)²``.

    It is 0.5 in the first step, never more, and not much less than before while that was coarse.

    Source: Eisenstat and Walker, Choosing the forcing terms in an inexact Newton method, 1996, choice 2.

    >>> forcing_term(1.0, None, None), forcing_term(0.1, 1.0, 0.1)
    (0.5, 0.005000000000000001)
    """
    if norm_before is None or forcing_before is None or not norm_before > 0:
        return _COARSEST
    chosen = _COARSEST * (norm / norm_before) ** 2
    kept = _COARSEST * forcing_before**2
    if kept > _SAFEGUARD:
        chosen = max(chosen, kept)
    return min(max(chosen, _FINEST), _COARSEST)
