"""An orbit from positions: Kepler's equation solved by SciPy inside of what is differentiated twice.

The eccentric anomaly E of a planet at the mean anomaly M solves ``E - e sin E = M``. There is no formula for E, and a
solver cannot be traced. Its derivative needs neither: differentiating both sides gives

    dE (1 - e cos E) - sin E de = dM,

which is the pushforward below. All else follows: reverse mode is its transpose, and second derivatives come about since
the rule itself contains E. Newton's method then finds the orbit that fits observed positions best.
"""

import numpy as np
from scipy.optimize import brentq

import einsumad as ea


@ea.custom_function
def anomaly(M, e):
    """The E with E - e sin E = M, for an array of mean anomalies and one eccentricity."""
    return np.array([brentq(excess, m - 1, m + 1, args=(m, e), xtol=1e-14) for m in M])


def excess(E, m, e):
    """What is 0 for the right E."""
    return E - e * np.sin(E) - m


@anomaly.push
def _(primals, tangents):
    (M, e), (dM, de) = primals, tangents
    E = anomaly(M, e)
    return (dM + np.sin(E) * de) / (1 - e * np.cos(E))


def position(orbit, times):
    """Where the planet is: axes along and across the orbit, with semi-axis a, eccentricity e and phase p."""
    a, e, p = orbit[0], orbit[1], orbit[2]
    E = anomaly(times + p, e)
    return a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)


def loss(orbit, times, along, across):
    """Half of the squared distance between where it is and where it was seen."""
    x, y = position(orbit, times)
    return (np.sum((x - along) ** 2) + np.sum((y - across) ** 2)) / 2


def fit(orbit, observations, steps=8):
    """Newton's method on the loss; gives the orbit and the norm of the gradient before each step."""
    at_once = ea.value_grad_and_hessian(loss)
    norms = []
    for _ in range(steps):
        _, gradient, hessian = at_once(orbit, *observations)
        norms.append(np.linalg.norm(gradient))
        orbit = orbit - np.linalg.solve(hessian, gradient)
    return orbit, norms


TIMES = np.linspace(0.2, 6.0, 25)
ORBIT = np.array([1.5, 0.4, 0.3])
NOISE = np.random.default_rng(0).normal(scale=0.01, size=(2, 25))
OBSERVATIONS = (TIMES, *(np.array(position(ORBIT, TIMES)) + NOISE))


def main():
    """Print the orbit, and what the solver's second derivative has to be."""
    anomaly.check(TIMES, 0.4)  # the rule against differences of the solver
    orbit, norms = fit(np.array([1.3, 0.3, 0.2]), OBSERVATIONS)
    for step, norm in enumerate(norms):
        print(f"step {step}: gradient {norm:.1e}")
    print("orbit ", orbit.round(3), "made from", ORBIT)

    E = anomaly(TIMES, 0.4)
    second = ea.derivative(lambda M: np.sum(anomaly(M, 0.4)), order=2)(TIMES)
    by_hand = -0.4 * np.sin(E) / (1 - 0.4 * np.cos(E)) ** 3
    print("d²E/dM² agrees with the one by hand:", np.allclose(second, np.diag(by_hand), rtol=1e-10))


if __name__ == "__main__":
    main()
