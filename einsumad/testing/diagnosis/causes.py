"""From a wrong derivative to its likely causes: the hypotheses, in the order in which they are tried.

Owns the registry and the search. Imports the hypotheses. Invariant: a later group is tried only if nothing in those
before it fits, so a general explanation never hides a specific one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from einsumad.testing.diagnosis import chain, factors, layout, matrices, places, precision, shapes, terms
from einsumad.testing.diagnosis.diagonal import along_diagonals
from einsumad.testing.diagnosis.evidence import Cause, Comparison, Evidence, compare

__all__ = ["HYPOTHESES", "Cause", "Evidence", "Hypothesis", "likely_causes"]

_MOST = 3

Rule = Callable[[Comparison], Cause | None]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A rule and the name of the cause that it mostly gives; `any_shape` if it also reads arrays of the wrong shape."""

    name: str
    rule: Rule
    any_shape: bool = False

    def __call__(self, evidence: Evidence) -> Cause | None:
        """Return the cause, if it fits the evidence."""
        return self.of(compare(evidence))

    def of(self, comparison: Comparison) -> Cause | None:
        """The cause, if it fits the comparison."""
        if not comparison.same_shape and not self.any_shape:
            return None
        with np.errstate(all="ignore"):
            return self.rule(comparison)


_SHAPES_AND_VALUES = (
    Hypothesis("missing sum over a broadcast axis", shapes.missing_sum_of_shape, any_shape=True),
    Hypothesis("transposed", shapes.transposed_shape, any_shape=True),
    Hypothesis("wrong shape", shapes.wrong_shape, any_shape=True),
    Hypothesis("not a number", shapes.not_a_number),
    Hypothesis("zero", shapes.zero),
)

_PROPORTIONAL = (
    Hypothesis("sign", factors.sign),
    Hypothesis("factor 2", factors.factor_two),
    Hypothesis("factor 1/2", factors.factor_half),
    Hypothesis("degrees", factors.degrees),
    Hypothesis("logarithm base", factors.logarithm_base),
    Hypothesis("factor n (sum for mean)", factors.factor_count),
    Hypothesis("factor 1/n (mean for sum)", factors.factor_one_over_count),
    Hypothesis("missing conjugate", factors.missing_conjugate),
)

_REARRANGED = (
    Hypothesis("reversed", layout.reversed_axis),
    Hypothesis("wrong axis", layout.wrong_axis),
    Hypothesis("transposed", layout.transposed),
    Hypothesis("only one triangle", matrices.only_one_triangle),
    Hypothesis("off-diagonal doubled", matrices.off_diagonal_doubled),
    Hypothesis("off-diagonal halved", matrices.off_diagonal_halved),
    Hypothesis("missing term", matrices.only_the_diagonal),
    Hypothesis("missing term", matrices.without_the_diagonal),
    Hypothesis("not symmetrised", matrices.not_symmetrised),
    Hypothesis("missing operand slot", matrices.missing_transposed_slot),
    Hypothesis("missing sum over a broadcast axis", matrices.missing_sum),
    Hypothesis("shifted", layout.shifted),
)

_SMALL_ERRORS = (
    Hypothesis("single precision", precision.rounded_to_single),
    Hypothesis("half precision", precision.rounded_to_half),
    Hypothesis("constant factor", factors.slightly_off),
    Hypothesis("single precision", precision.single_precision),
)

_FACTORS_OF_THE_POINT = (
    Hypothesis("wrong exponent", chain.wrong_power),
    Hypothesis("wrong exponent", chain.exponent_kept),
    Hypothesis("missing inner derivative", chain.missing_inner_derivative),
    Hypothesis("wrong exponent", chain.wrong_ratio_of_powers),
)

_PROPORTIONAL_TO_ANY = (Hypothesis("constant factor", factors.constant_factor),)

_ON_PARTS = (
    Hypothesis("overwritten duplicate", places.overwritten_multiples),
    Hypothesis("overwritten duplicate", places.one_contribution_kept),
    Hypothesis("overwritten duplicate", places.equal_entries_lost),
    Hypothesis("off the diagonal", matrices.off_the_diagonal),
    Hypothesis("shifted", layout.moved_in_order),
    Hypothesis("shifted", layout.other_inputs),
    Hypothesis("transposed operand", layout.permuted),
    Hypothesis("wrong branch", places.complementary),
    Hypothesis("wrong branch", places.wrong_side),
    Hypothesis("sign", places.signs_in_places),
    Hypothesis("missing term", terms.lost_in_every_output),
    Hypothesis("evaluated elsewhere", precision.whole_numbers),
)

_WITH_A_FREE_NUMBER = (
    Hypothesis("missing term", terms.missing_term),
    Hypothesis("missing term", terms.missing_indicator),
    Hypothesis("constant factor", factors.factor_in_places),
    Hypothesis("constant factor", factors.only_entry),
    Hypothesis("transposed", layout.transposed_and_scaled),
    Hypothesis("missing inner derivative", chain.scaled_inner_derivative),
    Hypothesis("missing term", terms.missing_function_term),
)

_LOOSE = (
    Hypothesis("half precision", precision.half_precision),
    Hypothesis("missing operand slot", terms.along_the_point),
    Hypothesis("missing term", terms.missing_outer_product),
    Hypothesis("missing term", terms.nothing_off_the_diagonal),
    Hypothesis("wrong axis", layout.same_total),
)

_LAST_RESORT = (
    Hypothesis("overwritten duplicate", places.lost_contributions),
    Hypothesis("some entries", places.some_entries),
)

GROUPS = (
    _SHAPES_AND_VALUES,
    _PROPORTIONAL,
    _REARRANGED,
    _SMALL_ERRORS,
    _FACTORS_OF_THE_POINT,
    _PROPORTIONAL_TO_ANY,
    _ON_PARTS,
    _WITH_A_FREE_NUMBER,
    _LOOSE,
    _LAST_RESORT,
)

HYPOTHESES: tuple[Hypothesis, ...] = tuple([hypothesis for group in GROUPS for hypothesis in group])
"""All hypotheses in the order in which they are tried, from specific to general."""


def likely_causes(evidence: Evidence) -> tuple[Cause, ...]:
    """The causes that explain a wrong derivative, the best first; none if nothing fits, or if nothing is wrong.

    At most three, each fitting all entries that were compared.

    >>> import numpy as np
    >>> x = np.array([1.0, -2.0, 3.0])
    >>> wrong = Evidence(found=x, expected=2 * x, error=1e-9 * np.ones(3), output_shape=(), point=(x,), value=None)
    >>> print(likely_causes(wrong)[0].name)
    factor 1/2
    """
    comparison = compare(evidence)
    joined = along_diagonals(comparison)
    causes = _search(comparison, GROUPS[:1]) or (_search(comparison, GROUPS[1:]) if joined is None else ())
    if joined is None or causes:
        return causes
    return tuple([_of_a_diagonal(cause) for cause in _search(compare(joined), GROUPS[1:])])


def _search(comparison: Comparison, groups: Sequence[Sequence[Hypothesis]]) -> tuple[Cause, ...]:
    """What fits in the first group in which something does."""
    for group in groups:
        causes: dict[str, Cause] = {}
        for hypothesis in group:
            cause = hypothesis.of(comparison)
            if cause is not None:
                causes.setdefault(cause.name, cause)
        if causes:
            return tuple(causes.values())[:_MOST]
    return ()


def _of_a_diagonal(cause: Cause) -> Cause:
    """The cause, with a note on how the derivative was read."""
    return replace(cause, sentence=f"{cause.sentence} (read along the diagonal, as other entries are 0)")
