"""Cases at kinks, near kinks, and beside jumps.

Imports records and samplers. Invariant: at a kink a right claim is the convention of the library (0 for relu, abs, clip
and the norm at 0; equal parts at ties), and the option says how it is to be compared.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import lengths, normals, separated

BETWEEN = {"kink": "one-sided"}
CONVENTION = {"kink": "convention"}


def some_zeros(rng):
    n = int(rng.integers(4, 7))
    signs = np.append([0.0, 0.0], np.resize([1.0, -1.0], n - 2))
    return (rng.permutation(signs * rng.uniform(0.5, 2.0, n)),)


def all_zeros(rng):
    return (np.zeros(int(rng.integers(2, 6))),)


def tied(rng):
    n = int(rng.integers(4, 7))
    x = rng.uniform(-2.0, 0.5, n)
    x[rng.permutation(n)[: int(rng.integers(2, 4))]] = 1.0
    return (x,)


def at_the_bounds(rng):
    return (rng.permutation(np.append([-1.0, 1.0, 1.0], rng.uniform(-2, 2, int(rng.integers(1, 4))))),)


def at_the_margin(rng):
    (shape,) = lengths(rng, "n")
    y = rng.permutation(np.resize([1.0, -1.0], shape))
    return y * rng.permutation(np.append(1.0, rng.uniform(-1, 3, shape[0] - 1))), y


def at_the_joints(rng):
    return (rng.permutation(np.append([-1.0, 1.0, 0.0, -2.0], rng.uniform(-3, 3, int(rng.integers(1, 4))))),)


def beside_zero(rng):
    n = int(rng.integers(3, 6))
    return (rng.permutation(np.resize([1.0, -1.0], n)) * rng.uniform(1, 2, n) * 10.0 ** rng.uniform(-9, -3),)


def beside_the_bounds(rng):
    n = int(rng.integers(3, 6))
    return (rng.choice([-1.0, 1.0], n) * (1 + rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-7, -3, n)),)


def nearly_tied(rng):
    n = int(rng.integers(3, 6))
    return (rng.permutation(1.0 - np.append(0.0, 10.0 ** rng.uniform(-7, -3, n - 1))),)


def between_whole_numbers(rng):
    n = int(rng.integers(3, 6))
    return (rng.integers(-3, 3, n) + rng.uniform(0.05, 0.95, n),)


def between_halves(rng):
    (x,) = between_whole_numbers(rng)
    return (x - 0.5,)


def negative(rng):
    return (-rng.uniform(0.2, 2.0, int(rng.integers(3, 6))),)


def below_zero(rng):
    (x,) = normals("n")(rng)
    return (np.append(x, -rng.uniform(0.5, 1.5)),)


def relu(x):
    return np.maximum(x, 0.0)


def relu_pullback(primals, g):
    return np.where(primals[0] > 0, g, 0.0)


def relu_slope_two(primals, g):
    return np.where(primals[0] > 0, g, 0.0) + np.where(primals[0] == 0, 2 * g, 0.0)


def relu_other_side(primals, g):
    return np.where(primals[0] < 0, g, 0.0)


def absolute_sum(x):
    return np.sum(np.abs(x))


def absolute_sum_by_division(x):
    return x / np.abs(x)


def absolute_sum_unsigned(x):
    return np.abs(np.sign(x))


def largest(x):
    return np.max(x)


def largest_split(x):
    winners = x == np.max(x)
    return winners / np.sum(winners)


def largest_runner_up(x):
    G = np.zeros_like(x)
    G[np.argsort(x)[-2]] = 1.0
    return G


def clipped(x):
    return np.sum(np.clip(x, -1.0, 1.0) * np.arange(1.0, len(x) + 1))


def clipped_gradient(x):
    return np.where(np.abs(x) < 1, np.arange(1.0, len(x) + 1), 0.0)


def hinge(z, y):
    return np.sum(np.maximum(0.0, 1 - y * z))


def hinge_gradient(z, y):
    return np.where(y * z < 1, -y, 0.0)


def hinge_other_side(z, y):
    return np.where(y * z > 1, -y, 0.0)


def norm(x):
    return np.linalg.norm(x)


def norm_gradient(x):
    size = np.linalg.norm(x)
    return x / size if size > 0 else np.zeros_like(x)


def norm_by_division(x):
    return x / np.linalg.norm(x)


def huber(x):
    return np.sum(np.where(np.abs(x) <= 1, 0.5 * x**2, np.abs(x) - 0.5))


def huber_gradient(x):
    return np.clip(x, -1.0, 1.0)


def huber_without_sign(x):
    return np.where(np.abs(x) <= 1, x, 1.0)


def signed_square(x):
    return x * np.abs(x)


def signed_square_pullback(primals, g):
    return 2 * np.abs(primals[0]) * g


def squared_relu(x):
    return np.maximum(x, 0.0) ** 2


def squared_relu_pushforward(primals, tangents):
    return 2 * np.maximum(primals[0], 0.0) * tangents[0]


def rough_power(x):
    return np.sum(np.abs(x) ** 1.5)


def rough_power_gradient(x):
    return 1.5 * np.sign(x) * np.sqrt(np.abs(x))


def shrunk(x):
    return np.sign(x) * np.maximum(np.abs(x) - 0.1, 0.0)


def shrunk_jacobian(x):
    return np.diag((np.abs(x) > 0.1).astype(float))


def flat_pullback(primals, _g):
    return np.zeros_like(primals[0])


def straight_through(_primals, g):
    return g.copy()


def remainder(x):
    return np.mod(x, 1.0)


def same_pullback(_primals, g):
    return g.copy()


def staircase(x):
    return np.sum(np.floor(x) * x)


def staircase_gradient(x):
    return np.floor(x)


def staircase_as_smooth(x):
    return np.floor(x) + x


def branching(x):
    if np.sum(x) > 0:
        return np.sum(np.exp(-x))
    return 0.5 * np.sum(x**2) + 3.0


def branching_gradient(x):
    return -np.exp(-x) if np.sum(x) > 0 else x.copy()


def branching_first_only(x):
    return -np.exp(-x)


def selected(x):
    return np.sum(x[x > 0] ** 3)


def selected_gradient(x):
    return np.where(x > 0, 3 * x**2, 0.0)


def selected_everywhere(x):
    return 3 * x**2


RELU_AT = Target("vjp", relu, some_zeros, options=BETWEEN)
RELU_SKIPPED = Target("vjp", relu, some_zeros)
RELU_CONVENTION = Target("vjp", relu, some_zeros, options=CONVENTION)
RELU_BESIDE = Target("vjp", relu, beside_zero)
ABSOLUTE_AT = Target("gradient", absolute_sum, some_zeros, options=BETWEEN)
ABSOLUTE_CONVENTION = Target("gradient", absolute_sum, some_zeros, options=CONVENTION)
ABSOLUTE_BESIDE = Target("gradient", absolute_sum, beside_zero)
LARGEST_AT = Target("gradient", largest, tied, options=BETWEEN, source="tensorflow/tensorflow#4886")
LARGEST_CONVENTION = Target("gradient", largest, tied, options=CONVENTION)
LARGEST_BESIDE = Target("gradient", largest, nearly_tied)
CLIPPED_AT = Target("gradient", clipped, at_the_bounds, options=BETWEEN)
CLIPPED_BESIDE = Target("gradient", clipped, beside_the_bounds)
HINGE_AT = Target("gradient", hinge, at_the_margin, options=BETWEEN)
NORM_AT = Target("gradient", norm, all_zeros, options=BETWEEN, source="pytorch/pytorch#2421")
HUBER_AT = Target("gradient", huber, at_the_joints)
SIGNED_SQUARE = Target("vjp", signed_square, some_zeros)
SQUARED_RELU = Target("jvp", squared_relu, some_zeros)
ROUGH_POWER = Target("gradient", rough_power, some_zeros)
SHRUNK = Target("jacobian", shrunk, separated("n", gap=0.3))
FLOOR = Target("vjp", np.floor, between_whole_numbers)
ROUND = Target("vjp", np.round, between_halves)
SIGN = Target("vjp", np.sign, separated("n"))
REMAINDER = Target("vjp", remainder, between_whole_numbers)
STAIRCASE = Target("gradient", staircase, between_whole_numbers)
BRANCHING = Target("gradient", branching, normals("n"))
BRANCHING_BELOW = Target("gradient", branching, negative)
SELECTED = Target("gradient", selected, below_zero)

WRONG = (
    RELU_AT.wrong("relu at 0, slope two there", relu_slope_two, "wrong branch"),
    RELU_BESIDE.wrong("relu beside 0, other side", relu_other_side, "wrong branch"),
    ABSOLUTE_AT.wrong("absolute values at 0, by division", absolute_sum_by_division, "not a number"),
    ABSOLUTE_BESIDE.wrong("absolute values beside 0, by 1", absolute_sum_unsigned, "sign"),
    LARGEST_BESIDE.wrong("near ties, the runner-up", largest_runner_up, "wrong branch"),
    HINGE_AT.wrong("hinge at the margin, other side", hinge_other_side, "wrong branch"),
    NORM_AT.wrong("norm at 0, by division", norm_by_division, "not a number"),
    HUBER_AT.wrong("Huber at its joints, sign forgotten", huber_without_sign, "sign"),
    ROUND.wrong("rounding, straight through", straight_through, "wrong branch"),
    STAIRCASE.wrong("staircase, step as smooth", staircase_as_smooth, "missing term"),
    BRANCHING_BELOW.wrong("branch on values, first branch only", branching_first_only, "wrong branch"),
    SELECTED.wrong("selection by value, everywhere", selected_everywhere, "wrong branch"),
)

RIGHT = (
    RELU_AT.right("relu at 0, between", relu_pullback, "kink"),
    RELU_SKIPPED.right("relu at 0, skipped", relu_pullback, "kink"),
    RELU_CONVENTION.right("relu at 0, convention", relu_pullback, "kink"),
    RELU_BESIDE.right("relu beside 0", relu_pullback, "near a kink"),
    ABSOLUTE_AT.right("absolute values at 0, between", np.sign, "kink"),
    ABSOLUTE_CONVENTION.right("absolute values at 0, convention", np.sign, "kink"),
    ABSOLUTE_BESIDE.right("absolute values beside 0", np.sign, "near a kink"),
    LARGEST_AT.right("ties, between", largest_split, "kink"),
    LARGEST_CONVENTION.right("ties, convention", largest_split, "kink"),
    LARGEST_BESIDE.right("near ties", largest_split, "near a kink"),
    CLIPPED_AT.right("clip at its bounds", clipped_gradient, "kink"),
    CLIPPED_BESIDE.right("clip beside its bounds", clipped_gradient, "near a kink"),
    HINGE_AT.right("hinge at the margin", hinge_gradient, "kink"),
    NORM_AT.right("norm at 0", norm_gradient, "kink"),
    HUBER_AT.right("Huber at its joints", huber_gradient, "kink of the derivative"),
    SIGNED_SQUARE.right("signed square at 0", signed_square_pullback, "kink of the derivative"),
    SQUARED_RELU.right("squared relu at 0", squared_relu_pushforward, "kink of the derivative"),
    ROUGH_POWER.right("power 3/2 at 0", rough_power_gradient, "derivative of unbounded slope"),
    SHRUNK.right("soft threshold", shrunk_jacobian, "kink"),
    FLOOR.right("floor", flat_pullback, "discontinuous"),
    ROUND.right("rounding", flat_pullback, "discontinuous"),
    SIGN.right("sign", flat_pullback, "discontinuous"),
    REMAINDER.right("remainder", same_pullback, "discontinuous"),
    STAIRCASE.right("staircase", staircase_gradient, "discontinuous"),
    BRANCHING.right("branch on values", branching_gradient, "branch"),
    SELECTED.right("selection by value", selected_gradient, "branch"),
)
