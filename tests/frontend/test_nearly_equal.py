"""Eigenvalues and singular values that are nearly equal: a third of the digits, or NaN, never another number.

What is not recognised as a function of all eigenvalues is compared with the same function written so that it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from tests.frontend.test_factorisation_derivatives import normal, symmetrised, weighed

LINALG: Any = np.linalg
Function = Callable[[Any], Any]


def by_pairs(a: Any) -> Any:
    w = LINALG.eigvalsh(a)
    return np.sum((w[:, None] - w[None, :]) ** 4)


def by_moments(a: Any) -> Any:
    w = LINALG.eigvalsh(a)
    first, second, third, fourth = (np.sum(w**k) for k in (1, 2, 3, 4))
    return 2 * len(w) * fourth - 8 * first * third + 6 * second**2


def of_two(a: Any) -> Any:
    return np.sum(LINALG.eigvalsh(a) ** 2 * LINALG.eigvalsh(2 * a))


def of_parts(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    return sum(weighed(np.exp(w[k]) * v[:, k, None] * v[None, :, k]) for k in range(len(w)))


def of_whole(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    return weighed((v * np.exp(w)) @ v.T)


def values_of_parts(a: Any) -> Any:
    s = LINALG.svdvals(a)
    return sum(np.exp(-s[k]) for k in range(len(s)))


def vectors_of_parts(a: Any) -> Any:
    u, s, vt = LINALG.svd(a, full_matrices=False)
    return sum(weighed(s[k] ** 2 * u[:, k, None] * vt[k, None, :]) for k in range(len(s)))


def vectors_of_whole(a: Any) -> Any:
    u, s, vt = LINALG.svd(a, full_matrices=False)
    return weighed((u * s**2) @ vt)


SYMMETRIC: dict[str, tuple[Function, Function]] = {
    "pairs": (by_pairs, by_moments),
    "two": (of_two, lambda a: 2 * np.sum(LINALG.eigvalsh(a) ** 3)),
    "cumulative": (lambda a: np.cumsum(LINALG.eigvalsh(a) ** 4)[-1], lambda a: np.sum(LINALG.eigvalsh(a) ** 4)),
    "parts": (of_parts, of_whole),
}
GENERAL: dict[str, tuple[Function, Function]] = {
    "values": (values_of_parts, lambda a: np.sum(np.exp(-LINALG.svdvals(a)))),
    "vectors": (vectors_of_parts, vectors_of_whole),
}
MODES_OF_PAIRS = {"two": "cross-country", "cumulative": "forward"}
"""The quickest of third order, where "auto" would derive all three."""
GAPS = st.floats(-15, 0).map(lambda exponent: 10.0**exponent)


def check(pair: tuple[Function, Function], point: np.ndarray, orders: int, mode: Any = "auto") -> None:
    for order in range(1, orders + 1):
        found, expected = (np.asarray(ea.derivative(f, order=order, mode=mode)(point), float) for f in pair)
        size = max(1, np.max(np.abs(expected)))
        digits = 20 * np.finfo(point.dtype).eps ** (1 / 3)
        wrong = np.abs(found - expected) > digits * size
        assert not np.any(wrong), (order, np.max(np.abs(found - expected)[wrong]), size)


@pytest.mark.fuzz
@settings(max_examples=10 if settings().max_examples <= 100 else settings().max_examples)
@given(st.sampled_from(list(SYMMETRIC)), GAPS, st.integers(0, 1000), st.sampled_from(["f8", "f4"]))
def test_eigenvalues(name: str, gap: float, seed: int, dtype: str) -> None:
    """To second order in the short run: third derivatives, which take seconds to derive, are those below."""
    rotation = np.linalg.qr(normal(3, 3, seed=seed))[0]
    point = symmetrised(rotation @ np.diag([1.0, 1.0 + gap, 0.3]) @ rotation.T).astype(dtype)
    check(SYMMETRIC[name], point, 3 if dtype == "f8" and settings().max_examples > 100 else 2)


@pytest.mark.fuzz
@settings(max_examples=3 if settings().max_examples <= 100 else settings().max_examples)
@given(
    st.sampled_from(list(GENERAL)), GAPS, st.sampled_from([(2, 2), (3, 2), (2, 3)]), st.booleans(), st.integers(0, 99)
)
def test_singular_values(name: str, gap: float, shape: tuple[int, int], small: bool, seed: int) -> None:
    left, right = (np.linalg.qr(normal(size, size, seed=seed))[0] for size in shape)
    values = np.diag([1.0, gap if small else 1.0 + gap])
    point = left[:, :2] @ values @ right[:, :2].T
    check(GENERAL[name], point, 3 if name == "values" and settings().max_examples > 100 else 2)


def test_third_derivatives() -> None:
    """At gaps of which the least were wrong once, and have no third derivatives with enough digits."""
    rotation = np.linalg.qr(normal(3, 3, seed=1))[0]
    for gap in (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0):
        point = symmetrised(rotation @ np.diag([1.0, 1.0 + gap, 0.3]) @ rotation.T)
        for name, pair in SYMMETRIC.items():
            check(pair, point, 2 if name == "parts" else 3, MODES_OF_PAIRS.get(name, "auto"))
        assert np.isnan(ea.derivative(by_pairs, order=3)(point)).any() == (gap < 1e-5)


SIMPLE: dict[str, Function] = {
    "value": lambda a: LINALG.eigvalsh(a)[-1],
    "largest": lambda a: np.max(LINALG.eigvalsh(a)),
    "descending": lambda a: LINALG.eigvalsh(a)[::-1][0],
    "vector": lambda a: weighed(LINALG.eigh(a)[1][:, -1] ** 2),
    "projection": lambda a: np.outer(LINALG.eigh(a)[1][:, -1], LINALG.eigh(a)[1][:, -1])[1],
    "spectral norm": lambda a: LINALG.norm(a, 2),
    "singular vectors": lambda a: np.outer(LINALG.svd(a)[0][:, 0], LINALG.svd(a)[2][0])[1],
}
OTHERS = {"equal": np.diag([3.0, 1.0, 1.0]), "close": np.diag([3.0, 1.0, 1.0 + 1e-9]), "zero": np.diag([3.0, 0.0, 0.0])}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
@pytest.mark.parametrize("name", SIMPLE)
def test_single_ones_far_from_others_that_are_equal(name: str, mode: Any) -> None:
    """They are analytic there: the derivatives are those that moving the others apart tends to.

    Of third order in each mode that "auto" chooses from.
    """
    for place, point in OTHERS.items():
        apart = point + np.diag([0, 0, 1e-4])
        orders = (1, 2) if name == "singular vectors" or mode == "auto" else (1, 2, 3)
        for order in orders if place == "equal" else (2,):
            found = ea.derivative(SIMPLE[name], order=order, mode=mode)(point)
            expected = ea.derivative(SIMPLE[name], order=order, mode=mode)(apart)
            np.testing.assert_allclose(found, expected, atol=2e-4, err_msg=place)


ROTATIONS = [np.linalg.qr(normal(3, 3, seed=seed))[0] for seed in (1, 2)]
BY_VALUES: dict[str, Function] = {
    "polar factor": np.ones_like,
    "clipped": lambda s: np.clip(s, 0.5, 1.5),
}


@pytest.mark.parametrize("least", [1e-5, 1e-9])
@pytest.mark.parametrize("name", BY_VALUES)
def test_small_singular_values_of_functions_that_jump_there(name: str, least: float) -> None:
    """Their derivatives are finite and do not change much, or NaN, in every mode: against a larger value."""
    direction = normal(3, 3, seed=3)

    def f(a: Any) -> Any:
        u, s, vt = LINALG.svd(a)
        return weighed((u * BY_VALUES[name](s)) @ vt)

    def along(point: np.ndarray, order: int, mode: Any) -> float:
        tensor = ea.derivative(f, order=order, mode=mode)(point)
        for _ in range(order):
            tensor = np.tensordot(tensor, direction, axes=2)
        return float(tensor)

    far, near = ((ROTATIONS[0] * [2.0, 1.0, value]) @ ROTATIONS[1].T for value in (2e-3, least))
    for order in (1, 2, 3):
        expected = along(far, order, "forward")
        for mode in ("forward", "reverse", "cross-country")[: 3 if order < 3 else 2]:
            found = along(near, order, mode)
            assert np.isnan(found) or abs(found - expected) < 0.05 * (1 + abs(expected)), (order, mode)


@pytest.mark.parametrize("least", [0.0, 1e-12, 1e-3])
def test_thresholds_above_small_singular_values(least: float) -> None:
    """What is 0 around 0 has no kink there: singular value thresholding of low rank matrices."""
    point = (ROTATIONS[0] * [2.0, 1.0, least]) @ ROTATIONS[1].T if least else np.diag([2.0, 1.0, 0.0])
    for shrink in (lambda s: np.maximum(s - 0.5, 0), lambda s: np.where(s > 0.5, 1 / np.maximum(s, 0.1), 0)):

        def f(a: Any, shrink: Function = shrink) -> Any:
            u, s, vt = LINALG.svd(a, full_matrices=False)
            return weighed((u * shrink(s)) @ vt) + weighed((vt.T * shrink(s)) @ vt)

        direction = normal(3, 3, seed=4)
        hessian = np.tensordot(np.tensordot(ea.hessian(f)(point), direction, axes=2), direction, axes=2)
        values = [f(point + k * 1e-3 * direction) for k in (-2, -1, 0, 1, 2)]
        expected = np.dot([-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12], values) / 1e-6
        np.testing.assert_allclose(hessian, expected, rtol=1e-5)


@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-9])
def test_the_pseudo_inverse_of_an_ill_conditioned_matrix_is_the_inverse(least: float) -> None:
    point = (ROTATIONS[0] * [2.0, 1.0, least]) @ ROTATIONS[1].T
    for order in (1, 2, 3):
        found, expected = (
            ea.derivative(lambda a, g=g: weighed(g(a)), order=order)(point) for g in (LINALG.pinv, LINALG.inv)
        )
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.max(np.abs(expected)))


def test_a_kink_in_a_branch_not_taken() -> None:
    def f(a: Any) -> Any:
        w = LINALG.eigvalsh(a)
        return np.sum(np.where(w > 1.5, np.log(np.abs(w) + 1), w**2))

    assert np.isfinite(ea.derivative(f, order=3)(np.diag([2.0, 0.0, 0.0]))).all()
