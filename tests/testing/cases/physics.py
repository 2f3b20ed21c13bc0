"""Cases of physics and engineering: potentials, springs, angles, coordinates, kinetics, prices.

Imports records and samplers. Invariant: positions are drawn well apart, so that no potential is near its pole.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals, uniforms


def lattice(rng):
    n = int(rng.integers(3, 6))
    corners = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)], float)
    return (1.2 * rng.permutation(corners)[:n] + rng.uniform(-0.1, 0.1, (n, 3)),)


def bead_chain(rng):
    n = int(rng.integers(3, 6))
    return (np.cumsum(rng.uniform(0.5, 1.5, (n, 2)), axis=0),)


def two_directions(rng):
    a = rng.uniform(0.3, 1.0, 3)
    return a, a + rng.uniform(0.3, 0.6, 3) * [1, -1, 1]


def two_places(rng):
    return rng.uniform(5, 60, 2), rng.uniform(-60, -5, 2)


def pair_distances(X):
    i, j = np.triu_indices(len(X), 1)
    return i, j, X[i] - X[j]


def lennard_jones(X):
    _, _, d = pair_distances(X)
    r2 = np.sum(d**2, axis=1)
    return 4 * np.sum(r2**-6 - r2**-3)


def scatter_pairs(X, pulls):
    i, j, d = pair_distances(X)
    G = np.zeros_like(X)
    np.add.at(G, i, pulls[:, None] * d)
    np.add.at(G, j, -pulls[:, None] * d)
    return G


def lennard_jones_gradient(X):
    r2 = np.sum(pair_distances(X)[2] ** 2, axis=1)
    return scatter_pairs(X, 4 * (-12 * r2**-7 + 6 * r2**-4))


def lennard_jones_forces(X):
    return -lennard_jones_gradient(X)


def lennard_jones_pairs_twice(X):
    return 2 * lennard_jones_gradient(X)


def lennard_jones_exponents(X):
    r = np.sqrt(np.sum(pair_distances(X)[2] ** 2, axis=1))
    return scatter_pairs(X, 4 * (-12 * r**-13 + 6 * r**-7))


def coulomb(X):
    D = np.sum((X[:, None] - X) ** 2, axis=-1) + np.eye(len(X))
    return 0.5 * np.sum((1 - np.eye(len(X))) / np.sqrt(D))


def coulomb_gradient(X):
    r2 = np.sum(pair_distances(X)[2] ** 2, axis=1)
    return scatter_pairs(X, -(r2**-1.5))


def coulomb_last_pair_only(X):
    i, j, d = pair_distances(X)
    pulls = -(np.sum(d**2, axis=1) ** -1.5)
    G = np.zeros_like(X)
    G[i] += pulls[:, None] * d
    G[j] -= pulls[:, None] * d
    return G


def springs(X):
    return 0.5 * np.sum((np.sqrt(np.sum(np.diff(X, axis=0) ** 2, axis=1)) - 1) ** 2)


def spring_pulls(X):
    d = np.diff(X, axis=0)
    r = np.sqrt(np.sum(d**2, axis=1, keepdims=True))
    return (r - 1) * d / r


def springs_gradient(X):
    pulls, none = spring_pulls(X), np.zeros((1, X.shape[1]))
    return np.concatenate([none, pulls]) - np.concatenate([pulls, none])


def springs_one_end(X):
    return np.concatenate([np.zeros((1, X.shape[1])), spring_pulls(X)])


def springs_not_unit(X):
    d = np.diff(X, axis=0)
    pulls, none = (np.sqrt(np.sum(d**2, axis=1, keepdims=True)) - 1) * d, np.zeros((1, X.shape[1]))
    return np.concatenate([none, pulls]) - np.concatenate([pulls, none])


def kepler(x):
    return -1 / np.sqrt(x @ x)


def kepler_gradient(x):
    return x / (x @ x) ** 1.5


def kepler_inverse_square(x):
    return x / (x @ x)


def pendulum(degrees):
    return np.sum(1 - np.cos(np.deg2rad(degrees)))


def pendulum_gradient(degrees):
    return np.deg2rad(np.sin(np.deg2rad(degrees)))


def pendulum_in_radians(degrees):
    return np.sin(np.deg2rad(degrees))


def great_circle(p, q):
    p, q = np.deg2rad(p), np.deg2rad(q)
    return np.arccos(np.sin(p[0]) * np.sin(q[0]) + np.cos(p[0]) * np.cos(q[0]) * np.cos(p[1] - q[1]))


def great_circle_in_radians(p, q):
    p, q = np.deg2rad(p), np.deg2rad(q)
    root = np.sin(great_circle(np.rad2deg(p), np.rad2deg(q)))
    by_latitude = np.cos(p[0]) * np.sin(q[0]) - np.sin(p[0]) * np.cos(q[0]) * np.cos(p[1] - q[1])
    by_longitude = -np.cos(p[0]) * np.cos(q[0]) * np.sin(p[1] - q[1])
    return -np.array([by_latitude, by_longitude]) / root


def great_circle_gradient(p, q):
    return np.deg2rad(great_circle_in_radians(p, q))


def angle(a, b):
    return np.arccos(a @ b / np.sqrt((a @ a) * (b @ b)))


def angle_gradient(a, b):
    c = np.cos(angle(a, b))
    root = np.sqrt(1 - c**2)
    lengths = np.sqrt((a @ a) * (b @ b))
    return (c * a / (a @ a) - b / lengths) / root, (c * b / (b @ b) - a / lengths) / root


def angle_sign(a, b):
    by_a, by_b = angle_gradient(a, b)
    return -by_a, -by_b


def angle_of_the_cosine(a, b):
    by_a, by_b = angle_gradient(a, b)
    root = np.sin(angle(a, b))
    return by_a * root, by_b * root


def cartesian(p):
    return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])


def cartesian_jacobian(p):
    c, s = np.cos(p[1]), np.sin(p[1])
    return np.array([[c, -p[0] * s], [s, p[0] * c]])


def cartesian_jacobian_transposed(p):
    return cartesian_jacobian(p).T


def cartesian_unit_vectors(p):
    c, s = np.cos(p[1]), np.sin(p[1])
    return np.array([[c, -s], [s, c]])


def van_der_waals(V, T):
    return np.sum(T / (V - 0.1) - 0.4 / V**2)


def van_der_waals_gradient(V, T):
    return 0.8 / V**3 - T / (V - 0.1) ** 2, 1 / (V - 0.1)


def van_der_waals_volume_squared(V, T):
    return 0.8 / V**2 - T / (V - 0.1) ** 2, 1 / (V - 0.1)


def decibels(p):
    return 10 * np.log10(p)


def decibels_jacobian(p):
    return np.diag(10 / (p * np.log(10.0)))


def decibels_natural(p):
    return np.diag(10 / p)


def arrhenius(T):
    return np.sum(np.exp(-2.0 / T))


def arrhenius_gradient(T):
    return np.exp(-2.0 / T) * 2.0 / T**2


def arrhenius_reciprocal_kept(T):
    return -2.0 * np.exp(-2.0 / T)


def radiation(T):
    return np.sum(5.67 * T**4)


def radiation_gradient(T):
    return 4 * 5.67 * T**3


def radiation_exponent_kept(T):
    return 4 * 5.67 * T**4


def call_price(spot, volatility):
    return spot * special.ndtr(call_argument(spot, volatility)) - special.ndtr(
        call_argument(spot, volatility) - volatility
    )


def call_argument(spot, volatility):
    return np.log(spot) / volatility + volatility / 2


def call_gradient(spot, volatility):
    d = call_argument(spot, volatility)
    return special.ndtr(d), spot * np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi)


def call_density_not_normalised(spot, volatility):
    delta, vega = call_gradient(spot, volatility)
    return delta, vega * np.sqrt(2 * np.pi)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x):
    d = x[1:] - x[:-1] ** 2
    return np.append(-400 * x[:-1] * d - 2 * (1 - x[:-1]), 0) + np.append(0, 200 * d)


def rosenbrock_inner_forgotten(x):
    d = x[1:] - x[:-1] ** 2
    return np.append(-400 * d - 2 * (1 - x[:-1]), 0) + np.append(0, 200 * d)


def rosenbrock_neighbours_forgotten(x):
    d = x[1:] - x[:-1] ** 2
    return np.append(-400 * x[:-1] * d - 2 * (1 - x[:-1]), 0)


def torque_pushforward(primals, tangents):
    return np.cross(tangents[0], primals[1]) + np.cross(primals[0], tangents[1])


def torque_second_order_exchanged(primals, tangents):
    return np.cross(tangents[0], primals[1]) + np.cross(tangents[1], primals[0])


def growth(rate):
    x = 0.3
    for _ in range(5):
        x = x + 0.5 * rate * x * (1 - x)
    return x


def growth_gradient(rate):
    x, by_rate = 0.3, 0.0
    for _ in range(5):
        by_rate = by_rate + 0.5 * (x * (1 - x) + rate * by_rate * (1 - 2 * x))
        x = x + 0.5 * rate * x * (1 - x)
    return by_rate


def growth_state_constant(rate):
    x, by_rate = 0.3, 0.0
    for _ in range(5):
        by_rate = by_rate + 0.5 * x * (1 - x)
        x = x + 0.5 * rate * x * (1 - x)
    return by_rate


def populations(x, K):
    return x * (1 - K @ x)


def populations_jacobian(x, K):
    return np.diag(1 - K @ x) - x[:, None] * K


def populations_jacobian_transposed(x, K):
    return populations_jacobian(x, K).T


def resonance(w, damping):
    return 1 / np.sqrt((1 - w**2) ** 2 + (2 * damping * w) ** 2)


def resonance_pushforward(primals, tangents):
    w, z = primals
    by_w = -2 * (1 - w**2) * w + 4 * z**2 * w
    return -(resonance(w, z) ** 3) * (by_w * tangents[0] + 4 * z * w**2 * tangents[1])


def resonance_exponent(primals, tangents):
    return resonance_pushforward(primals, tangents) / resonance(*primals) ** 2


LENNARD_JONES = Target("gradient", lennard_jones, lattice)
COULOMB = Target("gradient", coulomb, lattice, source="jax-ml/jax#654")
SPRINGS = Target("gradient", springs, bead_chain)
KEPLER = Target("gradient", kepler, uniforms(0.6, 1.5, "n"))
PENDULUM = Target("gradient", pendulum, uniforms(5.0, 170.0, "n"))
GREAT_CIRCLE = Target("gradient", great_circle, two_places)
ANGLE = Target("gradient", angle, two_directions, (0, 1))
CARTESIAN = Target("jacobian", cartesian, uniforms(1.5, 2.5, "n", low=2, high=2))
VAN_DER_WAALS = Target("gradient", van_der_waals, uniforms(0.5, 2.0, "n", "n"), (0, 1))
DECIBELS = Target("jacobian", decibels, uniforms(0.1, 10.0, "n"))
ARRHENIUS = Target("gradient", arrhenius, uniforms(0.5, 3.0, "n"))
RADIATION = Target("gradient", radiation, uniforms(1.5, 3.0, "n"))
CALL = Target("gradient", call_price, uniforms(0.8, 1.2, "", ""), (0, 1))
ROSENBROCK = Target("gradient", rosenbrock, normals("n"))
TORQUE = Target("jvp", np.cross, normals("n", "n", low=3, high=3), (0, 1))
GROWTH = Target("gradient", growth, uniforms(1.0, 2.0, ""))
POPULATIONS = Target("jacobian", populations, normals("n", "nn"))
RESONANCE = Target("jvp", resonance, uniforms(0.3, 0.7, "n", "n"), (0, 1))

WRONG = (
    LENNARD_JONES.wrong("Lennard-Jones, forces", lennard_jones_forces, "sign"),
    LENNARD_JONES.wrong("Lennard-Jones, pairs counted twice", lennard_jones_pairs_twice, "factor 2"),
    LENNARD_JONES.wrong("Lennard-Jones, exponents of r", lennard_jones_exponents, "wrong exponent"),
    COULOMB.wrong("Coulomb, last pair overwrites", coulomb_last_pair_only, "overwritten duplicate"),
    SPRINGS.wrong("springs, one end", springs_one_end, "missing operand slot"),
    SPRINGS.wrong("springs, direction not of unit length", springs_not_unit, "missing inner derivative"),
    KEPLER.wrong("Kepler, inverse square of the vector", kepler_inverse_square, "wrong exponent"),
    PENDULUM.wrong("pendulum in degrees", pendulum_in_radians, "degrees"),
    GREAT_CIRCLE.wrong("great circle in degrees", great_circle_in_radians, "degrees"),
    ANGLE.wrong("angle, sign of the arc cosine", angle_sign, "sign"),
    ANGLE.wrong("angle, arc cosine kept", angle_of_the_cosine, "missing inner derivative"),
    CARTESIAN.wrong("polar coordinates, transposed", cartesian_jacobian_transposed, "transposed"),
    CARTESIAN.wrong("polar coordinates, unit vectors", cartesian_unit_vectors, "missing inner derivative"),
    VAN_DER_WAALS.wrong("van der Waals, exponent", van_der_waals_volume_squared, "wrong exponent"),
    DECIBELS.wrong("decibels, natural logarithm", decibels_natural, "logarithm base"),
    ARRHENIUS.wrong("Arrhenius, reciprocal kept", arrhenius_reciprocal_kept, "missing inner derivative"),
    RADIATION.wrong("radiation, exponent kept", radiation_exponent_kept, "wrong exponent"),
    CALL.wrong("call price, density not normalised", call_density_not_normalised, "constant factor"),
    ROSENBROCK.wrong("Rosenbrock, square kept", rosenbrock_inner_forgotten, "missing inner derivative"),
    ROSENBROCK.wrong("Rosenbrock, neighbours forgotten", rosenbrock_neighbours_forgotten, "missing term"),
    TORQUE.wrong("cross product, order exchanged", torque_second_order_exchanged, "sign"),
    GROWTH.wrong("growth, state constant", growth_state_constant, "missing term"),
    POPULATIONS.wrong("populations, transposed", populations_jacobian_transposed, "transposed"),
    RESONANCE.wrong("resonance, exponent kept", resonance_exponent, "wrong exponent"),
)

RIGHT = (
    LENNARD_JONES.right("Lennard-Jones", lennard_jones_gradient, "steep"),
    COULOMB.right("Coulomb", coulomb_gradient),
    SPRINGS.right("springs", springs_gradient),
    KEPLER.right("Kepler", kepler_gradient),
    PENDULUM.right("pendulum", pendulum_gradient),
    GREAT_CIRCLE.right("great circle", great_circle_gradient),
    ANGLE.right("angle", angle_gradient),
    CARTESIAN.right("polar coordinates", cartesian_jacobian),
    VAN_DER_WAALS.right("van der Waals", van_der_waals_gradient),
    DECIBELS.right("decibels", decibels_jacobian),
    ARRHENIUS.right("Arrhenius", arrhenius_gradient),
    CALL.right("call price", call_gradient, "scalar"),
    ROSENBROCK.right("Rosenbrock", rosenbrock_gradient),
    TORQUE.right("cross product", torque_pushforward),
    GROWTH.right("growth", growth_gradient, "scalar"),
    POPULATIONS.right("populations", populations_jacobian),
    RESONANCE.right("resonance", resonance_pushforward),
)
