"""The table of causes, each with makers of evidence for which it is the best explanation.

Owns the table. Imports the makers. Invariant: the names are those that the diagnosis gives.
"""

from __future__ import annotations

import numpy as np

from tests.testing.diagnosis import misderived, misplaced
from tests.testing.diagnosis.draws import Maker

MAKERS: dict[str, tuple[Maker, ...]] = {
    "sign": (misplaced.multiple(-1), misderived.signs_of_some),
    "factor 2": (misplaced.multiple(2),),
    "factor 1/2": (misplaced.multiple(0.5),),
    "factor n (sum for mean)": (misplaced.count(1), misplaced.count_of_data),
    "factor 1/n (mean for sum)": (misplaced.count(-1),),
    "constant factor": (
        misplaced.multiple(1.03),
        misplaced.multiple(np.sqrt(2 * np.pi)),
        misplaced.multiple(-2 / 3),
        misplaced.multiple(1 + 3e-7),
    ),
    "degrees": (misplaced.multiple(180 / np.pi), misplaced.multiple(np.pi / 180)),
    "logarithm base": (misplaced.multiple(np.log(10)), misplaced.multiple(1 / np.log(2))),
    "transposed": (
        misplaced.transposed,
        misplaced.transposed_shape,
        misplaced.input_axes_exchanged,
        misplaced.groups_exchanged,
        misplaced.transposed_and_negated,
    ),
    "reversed": (misplaced.reversed_axis,),
    "shifted": (
        misplaced.shifted_round,
        misplaced.shifted_over,
        misplaced.stride_lost,
        misplaced.other_stride_in_a_jacobian,
    ),
    "wrong axis": (misplaced.wrong_axis, misplaced.repeated_as_tiled),
    "missing sum over a broadcast axis": (
        misplaced.unsummed_shape,
        misplaced.unsummed_kept_axis,
        misplaced.unsummed_scalar,
        misplaced.unsummed_in_place,
        misplaced.first_slice_only,
    ),
    "overwritten duplicate": (
        misplaced.duplicates_counted_once,
        misplaced.duplicates_in_a_jacobian,
        misplaced.one_of_equal_entries,
        misplaced.rows_overwritten,
    ),
    "missing conjugate": (misplaced.conjugate, misplaced.conjugate_doubled),
    "zero": (misplaced.zero,),
    "missing term": (
        misderived.ridge,
        misderived.lasso,
        misderived.constant_term,
        misderived.one_hot_term,
        misderived.ridge_of_hessian,
        misderived.product_rule_term,
        misderived.constant_norm,
        misderived.only_diagonal,
        misderived.without_diagonal,
    ),
    "missing inner derivative": (
        *[
            misderived.inner(f)
            for f in (np.sin, np.exp, np.log, lambda x: x, lambda x: 2 * x, lambda x: 0.37 * np.cos(x))
        ],
        *[
            misderived.inner(f)
            for f in (lambda x: 1 - x**2, lambda x: 1 / (x * (1 - x)), lambda x: 1 - np.tanh(x) ** 2)
        ],
        misderived.inner_value,
        misderived.inner_of_a_jacobian,
    ),
    "wrong exponent": (misderived.power_kept, misderived.power_of_root),
    "off-diagonal doubled": (misderived.off_diagonal_doubled,),
    "off-diagonal halved": (misderived.off_diagonal_halved,),
    "only one triangle": (
        misderived.triangle(np.tril),
        misderived.triangle(np.triu),
        misderived.triangle(np.tril, doubled=True),
    ),
    "not symmetrised": (misderived.not_symmetrised, misderived.hessian_not_symmetrised),
    "missing operand slot": (misderived.one_slot, misderived.one_slot_of_a_form),
    "transposed operand": (misderived.as_if_symmetric, misderived.permutation_not_inverted),
    "off the diagonal": (misderived.spread_off_the_diagonal,),
    "wrong shape": (misderived.dropped_axis, misderived.diagonal_for_a_matrix, misderived.unrelated_shape),
    "single precision": (misderived.single_precision, misderived.computed_in_single),
    "half precision": (misderived.half_precision,),
    "not a number": (misderived.nan_at_zero, misderived.infinite),
    "wrong branch": (
        misderived.mask_forgotten,
        misderived.mask_inverted,
        misderived.leak_forgotten,
        misderived.other_branch_wrong,
    ),
    "evaluated elsewhere": (misderived.whole_numbers,),
    "wrong dtype": (misderived.truncated,),
    "some entries": (misderived.few_entries, misderived.boundary),
}
"""For each cause, makers of evidence for which it is the best explanation."""
