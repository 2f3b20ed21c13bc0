"""Every operation of every factorisation is that of the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.compressed import factorisations
from einsumad.compressed.factorisations import Factorisation
from einsumad.errors import LinearAlgebraError
from tests.compressed.factorisation_cases import CASES, made

NAMES = [f"{maker.__name__}-{kind}" for maker, kind in CASES]
SIZES = [(0, np.float64), (1, np.float64), (1, np.float32), (5, np.float64), (5, np.float32)]


def close(found, expected, dtype, condition):
    """Equal to rounding errors of the dtype, times the condition of the matrix."""
    assert found.dtype == dtype
    assert found.shape == expected.shape
    allowed = 200 * np.finfo(dtype).eps * condition * np.abs(expected).max(initial=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)


def check(case):
    factor, dense = case.factor, case.dense.astype(np.float64)
    dtype, size = case.dense.dtype, len(dense)
    assert (factor.size, factor.dtype) == (size, dtype)
    assert factor.method
    condition = np.linalg.cond(dense) if size else 1
    rhs = np.random.default_rng(1).normal(size=(size, 3)).astype(dtype)
    given = rhs.copy()
    close(factor.solve(rhs), np.linalg.solve(dense, rhs), dtype, condition)
    close(factor.solve_transposed(rhs), np.linalg.solve(dense.T, rhs), dtype, condition)
    assert factor.solve(rhs[:, :0]).shape == (size, 0)
    np.testing.assert_array_equal(rhs, given)
    sign, logarithm = np.linalg.slogdet(dense)
    assert factor.slogdet()[0] == sign
    allowed = float(200 * np.finfo(dtype).eps * max(size, 1) * condition)
    assert factor.slogdet()[1] == pytest.approx(logarithm, abs=allowed)
    check_signs(case, rhs, condition)


def check_signs(case, rhs, condition):
    """Inertia and roots: right, or an error where they do not exist."""
    factor, dense = case.factor, case.dense.astype(np.float64)
    if not factor.symmetric:
        with pytest.raises(LinearAlgebraError, match="not symmetric"):
            factor.inertia()
        definite = False
    else:
        values = np.linalg.eigvalsh(dense)
        definite = bool((values > 0).all())
        if definite or "inertia" not in case.refuses:
            assert factor.inertia() == ((values > 0).sum(), (values < 0).sum(), 0)
        else:
            with pytest.raises(LinearAlgebraError, match="does not find it"):
                factor.inertia()
    if factor.positive_definite:
        assert definite
    if factor.positive_definite and not ("root" in case.refuses and not case.factor._base.positive_definite):
        assert factor.smallest_pivot > 0
        root = factor.root(np.eye(factor.size, dtype=factor.dtype))
        close(root @ root.T, dense, factor.dtype, condition)
        close(root.T @ factor.root_solve_transposed(rhs), rhs, factor.dtype, condition)
    else:
        assert not definite or case.refuses
        with pytest.raises(LinearAlgebraError, match="root of a matrix"):
            factor.root(rhs)


@pytest.mark.parametrize(("maker", "kind"), CASES, ids=NAMES)
def test_as_dense(maker, kind):
    for size, dtype in SIZES:
        check(made(maker, kind, size, dtype))


@given(st.sampled_from(CASES), st.integers(0, 9), st.integers(1, 1 << 16))
@settings(max_examples=max(40, settings().max_examples // 4))
def test_as_dense_at_any_size(case, size, seed):
    made_case = made(*case, size, seed=seed)
    if not len(made_case.dense) or np.linalg.cond(made_case.dense) < 1e6:
        check(made_case)


def test_every_class_has_a_case():
    tried = {type(made(maker, kind, 2).factor) for maker, kind in CASES}
    public = [getattr(factorisations, name) for name in factorisations.__all__]
    classes = {each for each in public if isinstance(each, type) and issubclass(each, Factorisation)}
    assert tried == classes - {Factorisation, factorisations.Identity}
