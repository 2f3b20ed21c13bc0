"""Cases with complex numbers: inside functions of real arguments, in values, arguments and tangents.

Imports records and samplers. Invariant: the gradient by a complex argument is df/dRe + i df/dIm, and cotangents are
paired by the real part of conj(cotangent) * value.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import lengths


def real_and_complex(rng):
    x, c = lengths(rng, "n", "n")
    return rng.standard_normal(x), complex_normal(rng, c)


def real_and_matrix(rng):
    x, C = lengths(rng, "n", "mn")
    return rng.standard_normal(x), complex_normal(rng, C)


def complex_vector(rng):
    (shape,) = lengths(rng, "n")
    return (complex_normal(rng, shape),)


def complex_vector_and_matrix(rng):
    n = int(rng.integers(3, 6))
    A = complex_normal(rng, (n, n))
    return complex_normal(rng, (n,)), A + A.conj().T


def two_complex_matrices(rng):
    A, B = lengths(rng, "mn", "nk")
    return 0.5 * complex_normal(rng, A), 0.5 * complex_normal(rng, B)


def complex_normal(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def intensity(x, c):
    return np.abs(np.sum(c * x)) ** 2


def intensity_gradient(x, c):
    return 2 * (np.conj(c) * np.sum(c * x)).real


def intensity_not_conjugated(x, c):
    return 2 * (c * np.sum(c * x)).real


def detector(x, C):
    return np.sum(np.abs(C @ x) ** 4)


def detector_gradient(x, C):
    z = C @ x
    return 4 * (C.conj().T @ (np.abs(z) ** 2 * z)).real


def detector_not_conjugated(x, C):
    z = C @ x
    return 4 * (C.T @ (np.abs(z) ** 2 * z)).real


def detector_hessian(x, C):
    z = C @ x
    a = np.abs(z) ** 2
    inner = C.conj().T @ (2 * a[:, None] * C) + C.conj().T @ ((z**2)[:, None] * C.conj())
    return 4 * inner.real


def detector_hessian_holomorphic(x, C):
    a = np.abs(C @ x) ** 2
    return 12 * (C.T @ (a[:, None] * C)).real


def transform(x, C):
    return C @ x


def transform_pushforward(primals, tangents):
    return primals[1] @ tangents[0]


def transform_conjugated(primals, tangents):
    return primals[1].conj() @ tangents[0]


def transform_pullback(primals, g):
    return primals[1].conj().T @ g


def transform_not_conjugated(primals, g):
    return primals[1].T @ g


def phase_factor(x, c):
    return np.exp(1j * x) * c


def phase_factor_pushforward(primals, tangents):
    return 1j * np.exp(1j * primals[0]) * primals[1] * tangents[0]


def phase_factor_unit_forgotten(primals, tangents):
    return np.exp(1j * primals[0]) * primals[1] * tangents[0]


def square_pushforward(primals, tangents):
    return 2 * primals[0] * tangents[0]


def square_conjugated(primals, tangents):
    return 2 * primals[0].conj() * tangents[0]


def power(z):
    return (z * z.conj()).real


def power_pushforward(primals, tangents):
    return 2 * (primals[0].conj() * tangents[0]).real


def power_not_conjugated(primals, tangents):
    return 2 * (primals[0] * tangents[0]).real


def energy(z, H):
    return (z.conj() @ H @ z).real


def energy_pushforward(primals, tangents):
    z, H = primals
    return np.asarray(2 * (tangents[0].conj() @ H @ z).real)


def energy_not_conjugated(primals, tangents):
    z, H = primals
    return np.asarray(2 * (tangents[0] @ H @ z).real)


def energy_gradient(z, H):
    return 2 * H @ z


def energy_gradient_conjugated(z, H):
    return 2 * (H @ z).conj()


def energy_by_the_conjugate(z, H):
    return H @ z


def exponential_chain(A, B):
    return np.sum(np.exp(A @ B))


def exponential_chain_pushforward(primals, tangents):
    A, B = primals
    return np.asarray(np.sum(np.exp(A @ B) * (tangents[0] @ B + A @ tangents[1])))


def exponential_chain_first_only(primals, tangents):
    A, B = primals
    return np.asarray(np.sum(np.exp(A @ B) * (tangents[0] @ B)))


INTENSITY = Target("gradient", intensity, real_and_complex)
DETECTOR = Target("gradient", detector, real_and_matrix)
DETECTOR_HESSIAN = Target("hessian", detector, real_and_matrix)
TRANSFORM = Target("jvp", transform, real_and_matrix)
TRANSFORM_BACK = Target("vjp", transform, complex_vector_and_matrix)
PHASE = Target("jvp", phase_factor, real_and_complex)
SQUARE = Target("jvp", np.square, complex_vector)
POWER = Target("jvp", power, complex_vector)
ENERGY = Target("jvp", energy, complex_vector_and_matrix)
ENERGY_GRADIENT = Target("gradient", energy, complex_vector_and_matrix)
CHAIN = Target("jvp", exponential_chain, two_complex_matrices, (0, 1), source="FluxML/Zygote.jl#151")

WRONG = (
    INTENSITY.wrong("intensity, not conjugated", intensity_not_conjugated, "missing conjugate"),
    DETECTOR.wrong("detector, not conjugated", detector_not_conjugated, "missing conjugate"),
    DETECTOR_HESSIAN.wrong("detector Hessian, as if holomorphic", detector_hessian_holomorphic, "missing conjugate"),
    TRANSFORM.wrong("complex matrix, conjugated", transform_conjugated, "missing conjugate"),
    TRANSFORM_BACK.wrong("complex matrix, reverse, not conjugated", transform_not_conjugated, "missing conjugate"),
    PHASE.wrong("phase factor, imaginary unit forgotten", phase_factor_unit_forgotten, "missing inner derivative"),
    SQUARE.wrong("complex square, conjugated", square_conjugated, "missing conjugate"),
    POWER.wrong("squared modulus, not conjugated", power_not_conjugated, "missing conjugate"),
    ENERGY.wrong("Hermitian form, not conjugated", energy_not_conjugated, "missing conjugate"),
    ENERGY_GRADIENT.wrong("Hermitian form, gradient conjugated", energy_gradient_conjugated, "missing conjugate"),
    ENERGY_GRADIENT.wrong("Hermitian form, by the conjugate only", energy_by_the_conjugate, "factor 1/2"),
    CHAIN.wrong("complex chain, first operand only", exponential_chain_first_only, "missing operand slot"),
)

RIGHT = (
    INTENSITY.right("intensity", intensity_gradient, "complex inside"),
    DETECTOR.right("detector", detector_gradient, "complex inside"),
    DETECTOR_HESSIAN.right("detector Hessian", detector_hessian, "complex inside"),
    TRANSFORM.right("complex matrix", transform_pushforward, "complex output"),
    TRANSFORM_BACK.right("complex matrix, reverse", transform_pullback, "complex"),
    PHASE.right("phase factor", phase_factor_pushforward, "complex output"),
    SQUARE.right("complex square", square_pushforward, "complex"),
    POWER.right("squared modulus", power_pushforward, "complex"),
    ENERGY.right("Hermitian form", energy_pushforward, "complex"),
    ENERGY_GRADIENT.right("gradient of a Hermitian form", energy_gradient, "complex"),
    CHAIN.right("complex chain", exponential_chain_pushforward, "complex"),
)
