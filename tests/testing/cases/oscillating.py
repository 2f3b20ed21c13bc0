"""Right cases of smooth functions that vary fast, are nearly polynomials, or are made by loops and branches.

Imports records and samplers. Invariant: every function is smooth at the sampled points, at scales of 1e-3 or more.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import lengths, normals, uniforms


def whole_numbers(rng):
    a, b, c = lengths(rng, "ij", "jk", "k")
    return tuple([rng.integers(-3, 4, shape).astype(float) for shape in (a, b, c)])


def beside_the_pole(rng):
    n = int(rng.integers(3, 6))
    return (1 + rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-3, -1, n),)


def fast_waves(x):
    return np.sum(np.sin(100 * x))


def fast_waves_gradient(x):
    return 100 * np.cos(100 * x)


def fast_waves_hessian(x):
    return np.diag(-1e4 * np.sin(100 * x))


def fast_waves_half_frequency(x):
    return 100 * np.cos(50 * x)


def steep_sigmoid(x):
    return special.expit(50 * x)


def steep_sigmoid_jacobian(x):
    s = special.expit(50 * x)
    return np.diag(50 * s * (1 - s))


def steep_sigmoid_slope_forgotten(x):
    s = special.expit(50 * x)
    return np.diag(s * (1 - s))


def ninth_power(x):
    return np.sum(x**9)


def ninth_power_gradient(x):
    return 9 * x**8


def ninth_power_exponent(x):
    return 9 * x**9


def ninth_power_product(x, v):
    return 72 * x**7 * v


def chebyshev(x):
    before, now = np.ones_like(x), x
    for _ in range(11):
        before, now = now, 2 * x * now - before
    return now


def chebyshev_pullback(primals, g):
    (x,) = primals
    before, now, slope_before, slope = np.ones_like(x), x, np.zeros_like(x), np.ones_like(x)
    for _ in range(11):
        slope_before, slope = slope, 2 * now + 2 * x * slope - slope_before
        before, now = now, 2 * x * now - before
    return g * slope


def chebyshev_without_states(primals, g):
    (x,) = primals
    before, now, slope = np.ones_like(x), x, np.ones_like(x)
    for _ in range(11):
        slope = 2 * now
        before, now = now, 2 * x * now - before
    return g * slope


def runge(x):
    return np.sum(1 / (1 + 25 * x**2))


def runge_gradient(x):
    return -50 * x / (1 + 25 * x**2) ** 2


def runge_hessian(x):
    d = 1 + 25 * x**2
    return np.diag(-50 / d**2 + 5000 * x**2 / d**3)


def pole(x):
    return np.sum(1 / (1 - x))


def pole_gradient(x):
    return 1 / (1 - x) ** 2


def pole_sign(x):
    return -1 / (1 - x) ** 2


def chirp(x):
    return np.sin(20 * x**2)


def chirp_pushforward(primals, tangents):
    (x,) = primals
    return 40 * x * np.cos(20 * x**2) * tangents[0]


def narrow_bump(x):
    return np.sum(np.exp(-((x / 1e-3) ** 2)))


def narrow_bump_gradient(x):
    return -2e6 * x * np.exp(-((x / 1e-3) ** 2))


def square_root_by_iteration(x):
    root = 0.5 * (x + 1)
    for _ in range(7):
        root = 0.5 * (root + x / root)
    return root


def square_root_pushforward(primals, tangents):
    return tangents[0] / (2 * np.sqrt(primals[0]))


def square_root_last_step(primals, tangents):
    return tangents[0] / (2 * square_root_by_iteration(primals[0])) / 2


def logistic_map(x):
    for _ in range(8):
        x = 3.7 * x * (1 - x)
    return x


def logistic_map_pullback(primals, g):
    (x,) = primals
    slope = np.ones_like(x)
    for _ in range(8):
        slope, x = slope * 3.7 * (1 - 2 * x), 3.7 * x * (1 - x)
    return g * slope


def tower(x):
    return np.sum(np.exp(np.exp(x)))


def tower_gradient(x):
    return np.exp(x + np.exp(x))


def self_power(x):
    return np.sum(x**x)


def self_power_gradient(x):
    return x**x * (np.log(x) + 1)


def self_power_base_only(x):
    return x * x ** (x - 1)


def bilinear(A, B, c):
    return np.einsum("ij,jk,k->", A, B, c)


def bilinear_gradient(A, B, c):
    left = np.sum(A, axis=0)
    return np.broadcast_to(B @ c, A.shape).copy(), np.outer(left, c), left @ B


def bilinear_transposed_side(A, B, c):
    left = np.sum(A, axis=0)
    return np.broadcast_to(B @ c, A.shape).copy(), np.outer(left, c), np.sum(B, axis=0)


def angles_in_a_loop(x):
    c, s = 1.0, 0.0
    for angle in x:
        c, s = c * np.cos(angle) - s * np.sin(angle), s * np.cos(angle) + c * np.sin(angle)
    return c + 2 * s


def angles_in_a_loop_gradient(x):
    return np.full_like(x, 2 * np.cos(np.sum(x)) - np.sin(np.sum(x)))


def continued_fraction(x):
    value = x[-1]
    for term in x[-2::-1]:
        value = term + 1 / value
    return value


def continued_fraction_gradient(x):
    tails = [x[-1]]
    for term in x[-2::-1]:
        tails.append(term + 1 / tails[-1])
    slopes = -1 / np.array(tails[-2::-1]) ** 2
    return np.append(1.0, np.cumprod(slopes))


FAST = Target("gradient", fast_waves, normals("n"))
FAST_HESSIAN = Target("hessian", fast_waves, normals("n"))
STEEP = Target("jacobian", steep_sigmoid, uniforms(-0.1, 0.1, "n"))
NINTH = Target("gradient", ninth_power, normals("n"))
NINTH_PRODUCT = Target("hvp", ninth_power, normals("n"))
CHEBYSHEV = Target("vjp", chebyshev, uniforms(-1.0, 1.0, "n"))
RUNGE = Target("gradient", runge, normals("n"))
RUNGE_HESSIAN = Target("hessian", runge, normals("n"))
POLE = Target("gradient", pole, beside_the_pole)
CHIRP = Target("jvp", chirp, normals("n"))
BUMP = Target("gradient", narrow_bump, uniforms(-2e-3, 2e-3, "n"))
ITERATED_ROOT = Target("jvp", square_root_by_iteration, uniforms(0.5, 5.0, "n"))
LOGISTIC_MAP = Target("vjp", logistic_map, uniforms(0.1, 0.9, "n"))
TOWER = Target("gradient", tower, uniforms(-1.0, 1.5, "n"))
SELF_POWER = Target("gradient", self_power, uniforms(0.5, 3.0, "n"))
BILINEAR = Target("gradient", bilinear, whole_numbers, (0, 1, 2))
ANGLES = Target("gradient", angles_in_a_loop, normals("n"))
FRACTION = Target("gradient", continued_fraction, uniforms(1.0, 3.0, "n"))

WRONG = (
    FAST.wrong("fast waves, half the frequency", fast_waves_half_frequency, "evaluated elsewhere"),
    STEEP.wrong("steep sigmoid, slope forgotten", steep_sigmoid_slope_forgotten, "constant factor"),
    NINTH.wrong("ninth power, exponent kept", ninth_power_exponent, "wrong exponent"),
    CHEBYSHEV.wrong("Chebyshev recurrence, states constant", chebyshev_without_states, "missing term"),
    POLE.wrong("pole, sign", pole_sign, "sign"),
    ITERATED_ROOT.wrong("square root by iteration, last step", square_root_last_step, "factor 1/2"),
    SELF_POWER.wrong("self power, base only", self_power_base_only, "missing operand slot"),
    BILINEAR.wrong("bilinear form, middle operand on its own", bilinear_transposed_side, "missing inner derivative"),
)

RIGHT = (
    FAST.right("fast waves", fast_waves_gradient, "oscillating"),
    FAST_HESSIAN.right("fast waves, Hessian", fast_waves_hessian, "oscillating"),
    STEEP.right("steep sigmoid", steep_sigmoid_jacobian, "step-like"),
    NINTH.right("ninth power", ninth_power_gradient, "high degree"),
    NINTH_PRODUCT.right("ninth power HVP", ninth_power_product, "high degree"),
    CHEBYSHEV.right("Chebyshev recurrence", chebyshev_pullback, "high degree"),
    RUNGE.right("Runge's function", runge_gradient, "rational"),
    RUNGE_HESSIAN.right("Runge's function, Hessian", runge_hessian, "rational"),
    POLE.right("pole", pole_gradient, "near a pole"),
    CHIRP.right("chirp", chirp_pushforward, "oscillating"),
    BUMP.right("narrow bump", narrow_bump_gradient, "step-like"),
    ITERATED_ROOT.right("square root by iteration", square_root_pushforward, "loop"),
    LOGISTIC_MAP.right("logistic map", logistic_map_pullback, "loop"),
    TOWER.right("tower of exponentials", tower_gradient, "steep"),
    SELF_POWER.right("self power", self_power_gradient),
    BILINEAR.right("bilinear form of whole numbers", bilinear_gradient, "integer-valued points"),
    ANGLES.right("angles in a loop", angles_in_a_loop_gradient, "loop"),
    FRACTION.right("continued fraction", continued_fraction_gradient, "loop"),
)
