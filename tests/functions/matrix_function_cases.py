"""Points at which matrix functions and matrix equations are tested, degenerate and defective matrices among them."""

from __future__ import annotations

import numpy as np

from tests.functions.points import Case, invertible, normal

JORDAN = np.array([[1.5, 1.0], [0.0, 1.5]])
ROTATION = np.array([[0.3, -1.0], [1.0, 0.3]])
FULL = np.array([[1.2, -0.7], [0.4, 0.9]])
SMALL = 0.7 * normal(2, 2, seed=1)
OTHER = normal(2, 2, seed=2)
STACK = np.stack([JORDAN, ROTATION])

MATRIX_FUNCTIONS = [
    *[Case(name, (STACK,), order=1) for name in ("expm", "logm", "sinm", "cosm", "sqrtm")],
    *[Case(name, (np.zeros((2, 2)),)) for name in ("expm", "sinm", "cosm")],
    *[Case(name, (np.eye(2),)) for name in ("logm", "sqrtm")],
    *[Case(name, (FULL,)) for name in ("logm", "sqrtm")],
    *[Case(name, (np.full((1, 1), 0.4),)) for name in ("expm", "logm", "sinm", "cosm", "sqrtm")],
    *[Case(name, (np.zeros((0, 0)),)) for name in ("expm", "logm", "sinm", "cosm", "sqrtm")],
    Case("signm", (np.array([[1.0, 2.0], [0.3, -1.0]]),)),
    Case("signm", (np.stack([FULL, np.diag([2.0, -1.0])]),), order=1),
    Case("signm", (np.zeros((0, 0)),)),
    Case("expm", (normal(3, 3),), order=1),
    Case("expm", (FULL, SMALL)),
    Case("logm", (FULL, SMALL), order=1),
    Case("expm", (FULL, SMALL), (1,), order=1),
    Case("sinm", (np.zeros((2, 2)), SMALL, OTHER), order=1),
    Case("sylvester", (invertible(2, 2), invertible(3, 3), normal(2, 3))),
    Case("sylvester", (JORDAN, JORDAN), (1,), order=1),
    Case("sylvester", (STACK, STACK[::-1], normal(2, 2, 2)), order=1),
    *[Case("riccati", (-0.5 * FULL, FULL[:, :1], 2 * np.eye(2), np.array([[1.5]])), (k, 1)) for k in (0, 1)],
    Case("riccati", (SMALL, FULL.T, FULL @ FULL.T, 2 * np.eye(2) + SMALL), (1, 0), order=1),
    Case("riccati", (0.4 * STACK, STACK, np.stack([np.eye(2)] * 2), np.stack([np.eye(2)] * 2)), (0, 0), order=1),
    *[
        Case("inverse_triangular", (invertible(3, 3),), (lower, unit_diagonal), order=order)
        for lower, unit_diagonal, order in ((1, 0, 2), (0, 0, 1), (1, 1, 1), (0, 1, 2))
    ],
    *[
        Case("solve_triangular", (invertible(3, 3), normal(3, 1)), (lower, unit_diagonal), order=order)
        for lower, unit_diagonal, order in ((1, 0, 2), (0, 0, 1), (1, 1, 1), (0, 1, 1))
    ],
    Case("solve_triangular", (invertible(2, 2, 2), normal(2, 2, 2)), (1, 0), order=1),
    Case("solve_triangular", (np.full((1, 1), 2.0), normal(1, 1)), (0, 1)),
]
