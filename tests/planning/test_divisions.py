"""How often is divided by differences of eigenvalues: counted for each root by itself."""

from __future__ import annotations

import numpy as np

from einsumad.functions import apply, call
from einsumad.functions.general.factor_kernels import gaps, inverse_values, smallest
from einsumad.graph import General, Node, add, einsum, leaf, multiply, topological
from einsumad.planning.divisions import with_counts

A = leaf((3, 3), float, ("variable", "a"), "a")
ONE = call("reduced_resolvents", A, params=(0, 0, 1, 3, 1, 1))
SQUARE = call("reduced_resolvents", A, params=(0, 0, 1, 3, 2, 2))
OTHER = call("singular_resolvents", A, params=(1, 0, 1, 3, 1, 1))
SUMMED = einsum([ONE], [(0, 1, 2)], (0, 1))


def counts(root: Node) -> set[int]:
    return {
        int(node.params[-1])  # type: ignore[arg-type]
        for node in topological([root])
        if isinstance(node, General) and node.function.endswith("resolvents")
    }


def test_products_add_and_sums_take_the_most() -> None:
    cases = [
        (A, set()),
        (ONE, {1}),
        (SQUARE, {2}),
        (multiply(ONE, ONE), {2}),
        (add([multiply(ONE, SQUARE), ONE]), {3}),
        (multiply(apply("exp", SUMMED), einsum([OTHER], [(0, 1, 2)], (0, 1))), {2}),
        (einsum([multiply(ONE, ONE, SQUARE), OTHER], [(0, 1, 2), (0, 3, 2)], (1, 3)), {5}),
        (multiply(*[SQUARE] * 9), {6}),
    ]
    found = with_counts([root for root, _ in cases])
    assert [counts(root) for root in found] == [expected for _, expected in cases]
    assert found[0] is A


def test_what_stands_beside_does_not_matter() -> None:
    alone = with_counts([ONE])
    beside = with_counts([ONE, multiply(ONE, SQUARE, ONE)])
    assert beside[0] is alone[0]


def test_the_more_is_divided_the_farther_values_have_to_be_apart() -> None:
    for dtype in (np.float64, np.float32):
        x = np.array([1.0, 1.0 + 1e-3, 2.0], dtype)
        limits = [float(smallest(x, power)[0]) for power in range(1, 7)]
        assert limits == sorted(limits)
        for power, limit in enumerate(limits, 1):
            near, far = (np.array([2.0, 2.0 - factor * limit], dtype) for factor in (0.8, 1.2))
            assert np.isnan(gaps(near, 1, power)[0, 1])
            assert np.isfinite(gaps(far, 1, power)).all()
            assert gaps(far, 1, power).dtype == dtype
            assert np.isnan(inverse_values(np.array([2.0, 0.8 * limit], dtype), 1, power)).tolist() == [False, True]
            assert np.isfinite(inverse_values(np.array([2.0, 1.2 * limit], dtype), 1, power)).all()
