"""How often is divided by differences of eigenvalues: counted for each root by itself."""

from __future__ import annotations

import numpy as np

from einsumad.functions import apply, call
from einsumad.functions.general.factor_kernels import gaps, inverse_values, smallest
from einsumad.graph import General, Node, add, einsum, leaf, multiply, topological
from einsumad.planning.divisions import with_counts

X = leaf((3,), float, ("variable", "x"), "x")
Y = leaf((3,), float, ("variable", "y"), "y")
GAPS = call("gaps", X, params=(-1, 1, 1))
INVERSE = call("inverse_values", Y, params=(1, 1))
SUMMED = einsum([GAPS], [(0, 1)], (0,))


def counts(root: Node) -> set[int]:
    return {
        int(node.params[-1])  # type: ignore[arg-type]
        for node in topological([root])
        if isinstance(node, General) and node.function in ("gaps", "inverse_values")
    }


def test_products_add_and_sums_take_the_most() -> None:
    square = multiply(GAPS, GAPS)
    found = with_counts(
        [
            X,
            GAPS,
            square,
            add([square, GAPS]),
            multiply(apply("exp", SUMMED), INVERSE),
            einsum([multiply(GAPS, GAPS, GAPS), INVERSE], [(0, 1), (0,)], (1,)),
        ]
    )
    assert [counts(root) for root in found] == [set(), {1}, {2}, {2}, {2}, {4}]
    assert found[0] is X
    assert found[1] is GAPS


def test_what_stands_beside_does_not_matter() -> None:
    alone = with_counts([GAPS])
    beside = with_counts([GAPS, multiply(GAPS, GAPS, GAPS)])
    assert beside[0] is alone[0]


def test_the_more_is_divided_the_farther_values_have_to_be_apart() -> None:
    for dtype in (np.float64, np.float32):
        x = np.array([1.0, 1.0 + 1e-3, 2.0], dtype)
        limits = [float(smallest(x, power)[0]) for power in range(1, 7)]
        assert limits == sorted(limits)
        for power, limit in enumerate(limits, 1):
            near, far = (np.array([2.0, 2.0 - factor * limit], dtype) for factor in (0.8, 1.2))
            assert np.isnan(gaps(near, -1, 1, power)[0, 1])
            assert np.isfinite(gaps(far, -1, 1, power)).all()
            assert gaps(far, -1, 1, power).dtype == dtype
            assert np.isnan(inverse_values(np.array([2.0, 0.8 * limit], dtype), 1, power)).tolist() == [False, True]
            assert np.isfinite(inverse_values(np.array([2.0, 1.2 * limit], dtype), 1, power)).all()
