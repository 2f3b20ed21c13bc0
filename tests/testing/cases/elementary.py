"""Cases of elementary functions, entry by entry: constants, exponents, precision, types.

Imports records and samplers. Invariant: arguments stay in the interior of the domain.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals, separated, uniforms

SINGLE_PI = float(np.float32(np.pi))


def some_zero_bases(rng):
    n = int(rng.integers(3, 6))
    x = rng.permutation(np.append([0.0, 0.0], rng.uniform(0.5, 2.0, n - 2)))
    return x, rng.integers(2, 5, n).astype(float)


def log10_pushforward(primals, tangents):
    return tangents[0] / (primals[0] * np.log(10.0))


def log10_natural(primals, tangents):
    return tangents[0] / primals[0]


def powers_of_two_pushforward(primals, tangents):
    return tangents[0] * 2.0 ** primals[0] * np.log(2.0)


def powers_of_two_natural(primals, tangents):
    return tangents[0] * 2.0 ** primals[0]


def sine_of_degrees(x):
    return np.sin(x * np.pi / 180)


def sine_of_degrees_pushforward(primals, tangents):
    return tangents[0] * np.cos(primals[0] * np.pi / 180) * np.pi / 180


def sine_of_degrees_in_radians(primals, tangents):
    return tangents[0] * np.cos(primals[0] * np.pi / 180)


def arcsin_pushforward(primals, tangents):
    return tangents[0] / np.sqrt(1 - primals[0] ** 2)


def arcsin_root_forgotten(primals, tangents):
    return tangents[0] / (1 - primals[0] ** 2)


def arctan_pushforward(primals, tangents):
    return tangents[0] / (1 + primals[0] ** 2)


def arctan_square_forgotten(primals, tangents):
    return tangents[0] / (1 + primals[0])


def tan_pushforward(primals, tangents):
    return tangents[0] / np.cos(primals[0]) ** 2


def tan_square_forgotten(primals, tangents):
    return tangents[0] / np.cos(primals[0])


def cosh_pushforward(primals, tangents):
    return tangents[0] * np.sinh(primals[0])


def cosh_as_cosine(primals, tangents):
    return -tangents[0] * np.sinh(primals[0])


def bell(x):
    return np.exp(-0.5 * x**2)


def bell_pushforward(primals, tangents):
    return -tangents[0] * primals[0] * bell(primals[0])


def bell_exponent_kept(primals, tangents):
    return tangents[0] * bell(primals[0])


def erf_pushforward(primals, tangents):
    return tangents[0] * 2 / np.sqrt(np.pi) * np.exp(-(primals[0] ** 2))


def erf_constant_forgotten(primals, tangents):
    return tangents[0] * np.exp(-(primals[0] ** 2))


def log1p_pushforward(primals, tangents):
    return tangents[0] / (1 + primals[0])


def log1p_as_log(primals, tangents):
    return tangents[0] / primals[0]


def sqrt_pushforward(primals, tangents):
    return tangents[0] / (2 * np.sqrt(primals[0]))


def sqrt_without_half(primals, tangents):
    return tangents[0] / np.sqrt(primals[0])


def sqrt_at_the_value(primals, tangents):
    return tangents[0] / (2 * np.sqrt(np.sqrt(primals[0])))


def entropy(x):
    return x * np.log(x)


def entropy_pushforward(primals, tangents):
    return tangents[0] * (np.log(primals[0]) + 1)


def entropy_without_one(primals, tangents):
    return tangents[0] * np.log(primals[0])


def gammaln_pushforward(primals, tangents):
    return tangents[0] * special.digamma(primals[0])


def gammaln_leading_term(primals, tangents):
    return tangents[0] * np.log(primals[0])


def sinc_pushforward(primals, tangents):
    (x,) = primals
    return tangents[0] * (np.cos(np.pi * x) - np.sinc(x)) / x


def sinc_not_scaled(primals, tangents):
    (x,) = primals
    return tangents[0] * (np.cos(x) - np.sin(x) / x) / x


def ratio_pullback(primals, g):
    a, b = primals
    return g / b, -g * a / b**2


def ratio_not_squared(primals, g):
    a, b = primals
    return g / b, -g * a / b


def ratio_sign(primals, g):
    a, b = primals
    return g / b, g * a / b**2


def power_pullback(primals, g):
    x, p = primals
    return g * p * x ** (p - 1), g * np.log(x) * x**p


def power_exponent_kept(primals, g):
    x, p = primals
    return g * p * x**p, g * np.log(x) * x**p


def power_logarithm_forgotten(primals, g):
    x, p = primals
    return g * p * x ** (p - 1), g * x**p


def hypot_pullback(primals, g):
    x, y = primals
    return g * x / np.hypot(x, y), g * y / np.hypot(x, y)


def hypot_exchanged(primals, g):
    return hypot_pullback(primals, g)[::-1]


def arctan2_pullback(primals, g):
    y, x = primals
    return g * x / (x**2 + y**2), -g * y / (x**2 + y**2)


def arctan2_sign(primals, g):
    by_y, by_x = arctan2_pullback(primals, g)
    return -by_y, -by_x


def wave(x):
    return np.sum(np.sin(2 * np.pi * x))


def wave_gradient(x):
    return 2 * np.pi * np.cos(2 * np.pi * x)


def wave_single_constant(x):
    return 2 * SINGLE_PI * np.cos(2 * SINGLE_PI * x)


def wave_computed_in_single(x):
    return wave_gradient(x.astype(np.float32)).astype(np.float64)


def wave_returned_in_single(x):
    return wave_gradient(x).astype(np.float32)


def wave_returned_complex(x):
    return wave_gradient(x).astype(complex)


def cubes(x):
    return np.sum(x**3)


def cubes_gradient(x):
    return 3 * x**2


def cubes_detached(x):
    return np.zeros_like(x)


def cubes_in_integers(x):
    return 3.0 * x.astype(int) ** 2


def cubes_returned_in_integers(x):
    return (3 * x**2).astype(int)


def logistic_total(x):
    return np.sum(1 / (1 + np.exp(-x)))


def logistic_total_gradient(x):
    return special.expit(x) * special.expit(-x)


def logistic_three_per_cent(x):
    return 1.03 * logistic_total_gradient(x)


def logistic_column(x):
    return logistic_total_gradient(x)[:, None]


def diamond(x):
    y = 3 * x
    return 2 * y + 5 * y


def diamond_pushforward(_primals, tangents):
    return 21 * tangents[0]


def diamond_one_path(_primals, tangents):
    return 15 * tangents[0]


def shared_products(x, a):
    return x * (x * a) + x * (x * a) + (x * x) * a


def shared_products_pushforward(primals, tangents):
    return 6 * primals[0] * primals[1] * tangents[0]


def shared_products_counted_again(primals, tangents):
    return 7 * primals[0] * primals[1] * tangents[0]


def power_at_zero_pullback(primals, g):
    x, p = primals
    positive = x > 0
    return g * p * x ** (p - 1), np.where(positive, g * x**p * np.log(np.where(positive, x, 1.0)), 0.0)


def guarded_root(x):
    return np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))


def guarded_root_gradient(x):
    return np.where(x > 0, 0.5 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0)


def guarded_root_multiplied(x):
    return (x > 0) * 0.5 / np.sqrt(x)


interior = uniforms(0.2, 0.8, "mn")
positive = uniforms(1.5, 4.0, "mn")

LOG10 = Target("jvp", np.log10, positive)
POWERS_OF_TWO = Target("jvp", np.exp2, normals("mn"))
DEGREES = Target("jvp", sine_of_degrees, uniforms(-60, 60, "n"))
ARCSIN = Target("jvp", np.arcsin, interior)
ARCTAN = Target("jvp", np.arctan, uniforms(0.2, 0.8, "n"))
TAN = Target("jvp", np.tan, interior)
COSH = Target("jvp", np.cosh, normals("n"))
BELL = Target("jvp", bell, normals("n"))
ERF = Target("jvp", special.erf, normals("n"))
LOG1P = Target("jvp", np.log1p, interior)
SQRT = Target("jvp", np.sqrt, positive)
ENTROPY = Target("jvp", entropy, positive)
GAMMALN = Target("jvp", special.gammaln, positive)
SINC = Target("jvp", np.sinc, uniforms(0.2, 0.8, "n"))
RATIO = Target("vjp", np.divide, uniforms(1.5, 4.0, "n", "n"), (0, 1))
POWER = Target("vjp", np.power, uniforms(1.5, 3.0, "n", "n"), (0, 1))
HYPOT = Target("vjp", np.hypot, normals("n", "n"), (0, 1))
ARCTAN2 = Target("vjp", np.arctan2, normals("n", "n", shift=0.5), (0, 1))
WAVE = Target("gradient", wave, normals("n"))
CUBES = Target("gradient", cubes, uniforms(1.2, 3.8, "n"), source="tinygrad/tinygrad#10460")
LOGISTIC = Target("gradient", logistic_total, normals("n"))
DIAMOND = Target("jvp", diamond, normals(""), source="karpathy/micrograd#2")
SHARED = Target("jvp", shared_products, uniforms(0.5, 2.0, "n", "n"), source="sebgao/cTensor#5")
POWER_AT_ZERO = Target("vjp", np.power, some_zero_bases, (0, 1), source="pytorch/pytorch#27134")
GUARDED = Target("gradient", guarded_root, separated("n"), source="jax-ml/jax#2630")

WRONG = (
    LOG10.wrong("log10, natural", log10_natural, "logarithm base"),
    POWERS_OF_TWO.wrong("powers of two, natural", powers_of_two_natural, "logarithm base"),
    DEGREES.wrong("sine of degrees, in radians", sine_of_degrees_in_radians, "degrees"),
    ARCSIN.wrong("arc sine, root forgotten", arcsin_root_forgotten, "wrong exponent"),
    ARCTAN.wrong("arc tangent, square forgotten", arctan_square_forgotten, "wrong exponent"),
    TAN.wrong("tangent, square forgotten", tan_square_forgotten, "wrong exponent"),
    COSH.wrong("hyperbolic cosine, as the cosine", cosh_as_cosine, "sign"),
    BELL.wrong("bell curve, exponent kept", bell_exponent_kept, "missing inner derivative"),
    ERF.wrong("error function, constant forgotten", erf_constant_forgotten, "constant factor"),
    LOG1P.wrong("log1p, derivative of log", log1p_as_log, "evaluated elsewhere"),
    SQRT.wrong("square root, half forgotten", sqrt_without_half, "factor 2"),
    SQRT.wrong("square root, at the value", sqrt_at_the_value, "evaluated elsewhere"),
    ENTROPY.wrong("entropy, log not differentiated", entropy_without_one, "missing term"),
    GAMMALN.wrong("log gamma, leading term", gammaln_leading_term, "missing term"),
    SINC.wrong("sinc, argument not scaled", sinc_not_scaled, "missing inner derivative"),
    RATIO.wrong("ratio, denominator not squared", ratio_not_squared, "wrong exponent"),
    RATIO.wrong("ratio, sign of the denominator", ratio_sign, "sign"),
    POWER.wrong("power, exponent kept", power_exponent_kept, "wrong exponent"),
    POWER.wrong("power, logarithm forgotten", power_logarithm_forgotten, "missing inner derivative"),
    HYPOT.wrong("hypotenuse, legs exchanged", hypot_exchanged, "swapped arguments"),
    ARCTAN2.wrong("arctan2, sign", arctan2_sign, "sign"),
    WAVE.wrong("wave, single-precision constant", wave_single_constant, "single precision"),
    WAVE.wrong("wave, computed in single precision", wave_computed_in_single, "single precision"),
    WAVE.wrong("wave, returned in single precision", wave_returned_in_single, "wrong dtype"),
    WAVE.wrong("wave, returned as complex", wave_returned_complex, "wrong dtype"),
    CUBES.wrong("cubes, detached", cubes_detached, "zero"),
    CUBES.wrong("cubes, computed at integers", cubes_in_integers, "evaluated elsewhere"),
    CUBES.wrong("cubes, returned as integers", cubes_returned_in_integers, "wrong dtype"),
    LOGISTIC.wrong("logistic, 3 % off", logistic_three_per_cent, "constant factor"),
    LOGISTIC.wrong("logistic, column for a vector", logistic_column, "wrong shape"),
    DIAMOND.wrong("diamond, one path", diamond_one_path, "missing operand slot"),
    SHARED.wrong("shared products, one counted again", shared_products_counted_again, "constant factor"),
    POWER_AT_ZERO.wrong("power at base 0, logarithm of 0", power_pullback, "not a number"),
    GUARDED.wrong("guarded root, mask multiplied", guarded_root_multiplied, "not a number"),
)

RIGHT = (
    LOG10.right("log10", log10_pushforward),
    POWERS_OF_TWO.right("powers of two", powers_of_two_pushforward),
    DEGREES.right("sine of degrees", sine_of_degrees_pushforward),
    ARCSIN.right("arc sine", arcsin_pushforward),
    ARCTAN.right("arc tangent", arctan_pushforward),
    TAN.right("tangent", tan_pushforward),
    COSH.right("hyperbolic cosine", cosh_pushforward),
    BELL.right("bell curve", bell_pushforward),
    ERF.right("error function", erf_pushforward),
    LOG1P.right("log1p", log1p_pushforward),
    SQRT.right("square root", sqrt_pushforward),
    ENTROPY.right("entropy", entropy_pushforward),
    GAMMALN.right("log gamma", gammaln_pushforward),
    SINC.right("sinc", sinc_pushforward),
    RATIO.right("ratio", ratio_pullback),
    POWER.right("power", power_pullback),
    HYPOT.right("hypotenuse", hypot_pullback),
    ARCTAN2.right("arctan2", arctan2_pullback),
    WAVE.right("wave", wave_gradient),
    CUBES.right("cubes", cubes_gradient),
    LOGISTIC.right("logistic sum", logistic_total_gradient),
    DIAMOND.right("diamond", diamond_pushforward),
    SHARED.right("shared products", shared_products_pushforward),
    POWER_AT_ZERO.right("power at base 0", power_at_zero_pullback, "zeros"),
    GUARDED.right("guarded root", guarded_root_gradient, "where"),
)
