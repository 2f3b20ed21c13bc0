"""Rewriting does not make values overflow or vanish that NumPy gets right: powers keep their base in one piece."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(3)
SAMPLE = RNG.normal(size=50)
HUGE = (SAMPLE * 1e10).astype(np.float32)
TINY = (SAMPLE[:5] * 1e-12).astype(np.float32)

CASES = {
    "half": (lambda v, w: (v / w) ** 2, (np.float16(300), np.float16(300))),
    "kurtosis": (lambda v: np.mean(((v - v.mean()) / v.std()) ** 4), (HUGE,)),
    "squared cosine": (lambda u, v: (u @ v / (np.linalg.norm(u) * np.linalg.norm(v))) ** 2, (HUGE[:5], HUGE[5:10])),
    "normalised, huge": (lambda v: np.sum((v / np.linalg.norm(v)) ** 4), (HUGE[:5],)),
    "normalised, tiny": (lambda v: np.sum((v / np.linalg.norm(v)) ** 4), (TINY,)),
    "gaussian": (
        lambda v, m, s: np.sum(np.exp(-0.5 * ((v - m) / s) ** 2) / s),
        ((SAMPLE * 1e20).astype(np.float32), np.float32(0), np.float32(1e20)),
    ),
    "constants": (lambda v: (6.6e-34 * v / 1.38e-23) ** 3, (np.float32(1e13),)),
    "scaled down": (lambda v: (v * 1e-25) ** 2, (np.float32(1e28),)),
    "cube of a ratio": (lambda v, w: (v / w) ** 3, (np.float64(1e200), np.float64(1e200))),
    "norm": (lambda v: np.linalg.norm(np.array([1.0, 2.0]) * v * 1e200), (np.float64(1e-200),)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_higher_precision(name):
    f, arguments = CASES[name]
    np.testing.assert_allclose(ea.compile(f)(*arguments), f(*arguments), rtol=2e-3 if name == "half" else 2e-5)
    wide = [np.asarray(a, np.float64) for a in arguments]
    for position, argument in enumerate(arguments):
        found = ea.grad(f, position)(*arguments)
        expected = ea.grad(f, position)(*wide)
        assert found.dtype == argument.dtype
        if name not in ("half", "gaussian"):  # whose gradients are below the range of their dtype
            scale = np.max(np.abs(expected))
            np.testing.assert_allclose(found / scale, expected / scale, atol=1e-4)


@pytest.mark.parametrize("base", [2, 0.5, 3, 2.5])
def test_powers_of_a_number_keep_the_dtype(base):
    x = np.ones(2, np.float32)
    assert ea.grad(lambda v: np.sum(base**v))(x).dtype == np.float32
    assert ea.hessian(lambda v: np.sum(base**v))(x).dtype == np.float32
    np.testing.assert_allclose(ea.grad(lambda v: np.sum(base**v))(x), base * np.log(base) * np.ones(2), rtol=1e-6)
