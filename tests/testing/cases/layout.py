"""Cases of layout: broadcasting, permutations of axes, shifts, copies, diagonals.

Imports records and samplers. Invariant: integer and boolean arguments are never differentiated.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals


def stretched_operands(rng):
    m, n = int(rng.integers(3, 6)), int(rng.integers(3, 6))
    return rng.standard_normal((m, 1)), rng.standard_normal((1, n)), rng.standard_normal((m, n))


def stretched_index_operands(rng):
    return rng.standard_normal(int(rng.integers(3, 6))), rng.standard_normal(1)


def bias_pullback(_primals, g):
    return g, np.sum(g, axis=0)


def bias_first_row(_primals, g):
    return g, g[0]


def bias_not_summed(_primals, g):
    return g, g.copy()


def bias_averaged(_primals, g):
    return g, np.mean(g, axis=0)


def scaled_sines(s, x):
    return np.sum(np.sin(s * x))


def scaled_sines_gradient(s, x):
    return np.sum(x * np.cos(s * x))


def scaled_sines_not_summed(s, x):
    return x * np.cos(s * x)


def stretched(a, b, C):
    return np.sum(C * a * b)


def stretched_gradient(a, b, C):
    return np.sum(C * b, axis=1, keepdims=True), np.sum(C * a, axis=0, keepdims=True)


def stretched_without_kept_axes(a, b, C):
    return np.sum(C * b, axis=1), np.sum(C * a, axis=0)


def stretched_first_only(a, b, C):
    return (C * b)[:, :1], (C * a)[:1]


def stretched_index(x, y):
    return np.einsum("i,i->", x, y)


def stretched_index_gradient(x, y):
    return np.full_like(x, y[0]), np.sum(x, keepdims=True)


def stretched_index_short(x, y):
    return y.copy(), np.sum(x, keepdims=True)


def flipped_pullback(_primals, g):
    return g[::-1].copy()


def same_cotangent(_primals, g):
    return g.copy()


def rolled(x):
    return np.roll(x, 1) ** 2


def rolled_pullback(primals, g):
    return 2 * primals[0] * np.roll(g, -1)


def rolled_further(primals, g):
    return 2 * primals[0] * np.roll(g, 1)


def differences_pullback(_primals, g):
    return np.append(0.0, g) - np.append(g, 0.0)


def differences_backward_term_only(_primals, g):
    return np.append(0.0, g)


def turned(X):
    return X.transpose(2, 0, 1)


def turned_pullback(_primals, g):
    return g.transpose(1, 2, 0)


def turned_again(_primals, g):
    return g.transpose(2, 0, 1)


def column_major(X):
    return X.ravel(order="F")


def column_major_pullback(primals, g):
    return g.reshape(primals[0].shape, order="F")


def column_major_as_rows(primals, g):
    return g.reshape(primals[0].shape)


def chained(a, b):
    return np.concatenate([a, b])


def chained_pullback(primals, g):
    return g[: len(primals[0])], g[len(primals[0]) :]


def chained_exchanged(primals, g):
    return g[len(primals[0]) :], g[: len(primals[0])]


def padded(x):
    return np.pad(x, 1)


def padded_pullback(_primals, g):
    return g[1:-1]


def padded_from_the_start(_primals, g):
    return g[:-2]


def every_other(x):
    return x[::2]


def every_other_pullback(primals, g):
    G = np.zeros_like(primals[0])
    G[::2] = g
    return G


def every_other_at_the_start(primals, g):
    G = np.zeros_like(primals[0])
    G[: len(g)] = g
    return G


def tiled(x):
    return np.tile(x, 3)


def tiled_pullback(primals, g):
    return np.sum(g.reshape(3, len(primals[0])), axis=0)


def tiled_first_copy(primals, g):
    return g[: len(primals[0])]


def repeated(x):
    return np.repeat(x, len(x))


def repeated_pullback(primals, g):
    return np.sum(g.reshape(len(primals[0]), -1), axis=1)


def repeated_as_tiled(primals, g):
    return np.sum(g.reshape(-1, len(primals[0])), axis=0)


def on_the_diagonal_pullback(_primals, g):
    return np.diag(g)


def on_the_diagonal_summed(_primals, g):
    return np.sum(g, axis=1)


def outer_pullback(primals, g):
    a, b = primals
    return g @ b, g.T @ a


def outer_not_transposed(primals, g):
    a, b = primals
    return g @ b, g @ a


def symmetric_part(X):
    return 0.5 * (X + X.T)


def symmetric_part_pullback(_primals, g):
    return 0.5 * (g + g.T)


def rotation_part(x):
    return np.tensordot(np.array([1.0, 0.0]), np.array([[0 * x, -x], [x, 0 * x]]), (0, 1))


def rotation_part_jacobian(_x):
    return np.array([0.0, 1.0])


def rotation_part_other_axis(_x):
    return np.array([0.0, -1.0])


BIAS = Target("vjp", np.add, normals("mn", "n"), (0, 1))
SCALED = Target("gradient", scaled_sines, normals("", "n"))
STRETCHED = Target("gradient", stretched, stretched_operands, (0, 1))
STRETCHED_INDEX = Target("gradient", stretched_index, stretched_index_operands, (0, 1), source="HIPS/autograd#376")
FLIPPED = Target("vjp", np.flip, normals("n"))
ROLLED = Target("vjp", rolled, normals("n"))
DIFFERENCES = Target("vjp", np.diff, normals("n"))
TURNED = Target("vjp", turned, normals("mnk"))
TURNED_CUBE = Target("vjp", turned, normals("nnn"))
COLUMN_MAJOR = Target("vjp", column_major, normals("nn"))
CHAINED = Target("vjp", chained, normals("n", "n"), (0, 1))
PADDED = Target("vjp", padded, normals("n"))
EVERY_OTHER = Target("vjp", every_other, normals("n"))
TILED = Target("vjp", tiled, normals("n"))
REPEATED = Target("vjp", repeated, normals("n"))
ON_THE_DIAGONAL = Target("vjp", np.diag, normals("n"))
OUTER = Target("vjp", np.outer, normals("m", "n"), (0, 1))
OUTER_SQUARE = Target("vjp", np.outer, normals("n", "n"), (0, 1), source="ml-explore/mlx#2376")
SYMMETRIC_PART = Target("vjp", symmetric_part, normals("nn"))
ROTATION = Target("jacobian", rotation_part, normals(""), source="HIPS/autograd#466")

WRONG = (
    BIAS.wrong("bias, first row for the sum", bias_first_row, "missing sum over a broadcast axis"),
    BIAS.wrong("bias, whole batch returned", bias_not_summed, "missing sum over a broadcast axis"),
    BIAS.wrong("bias, averaged", bias_averaged, "factor 1/n (mean for sum)"),
    SCALED.wrong("number times vector, not summed", scaled_sines_not_summed, "missing sum over a broadcast axis"),
    STRETCHED.wrong("axes of length one dropped", stretched_without_kept_axes, "wrong shape"),
    STRETCHED.wrong("axes of length one, first entry", stretched_first_only, "missing sum over a broadcast axis"),
    STRETCHED_INDEX.wrong("index of length one, its length for both", stretched_index_short, "wrong shape"),
    FLIPPED.wrong("flip not undone", same_cotangent, "reversed"),
    ROLLED.wrong("roll in the same direction", rolled_further, "shifted"),
    DIFFERENCES.wrong("differences, one end only", differences_backward_term_only, "missing term"),
    TURNED_CUBE.wrong("permutation of axes repeated", turned_again, "wrong axis"),
    COLUMN_MAJOR.wrong("column-major order read by rows", column_major_as_rows, "transposed"),
    CHAINED.wrong("concatenation, parts exchanged", chained_exchanged, "swapped arguments"),
    PADDED.wrong("padding, from the start", padded_from_the_start, "shifted"),
    EVERY_OTHER.wrong("strided slice, written without stride", every_other_at_the_start, "shifted"),
    TILED.wrong("tile, first copy only", tiled_first_copy, "missing sum over a broadcast axis"),
    REPEATED.wrong("repeat, summed as a tile", repeated_as_tiled, "wrong axis"),
    ON_THE_DIAGONAL.wrong("diagonal matrix, rows summed", on_the_diagonal_summed, "off the diagonal"),
    OUTER_SQUARE.wrong("outer product, not transposed", outer_not_transposed, "transposed operand"),
    SYMMETRIC_PART.wrong("symmetric part, not symmetrised", same_cotangent, "not symmetrised"),
    ROTATION.wrong("tensordot, axes exchanged", rotation_part_other_axis, "sign"),
)

RIGHT = (
    BIAS.right("bias", bias_pullback),
    SCALED.right("number times vector", scaled_sines_gradient, "scalar"),
    STRETCHED.right("axes of length one", stretched_gradient, "size-1"),
    STRETCHED_INDEX.right("index of length one", stretched_index_gradient, "size-1"),
    FLIPPED.right("flip", flipped_pullback),
    ROLLED.right("roll", rolled_pullback),
    DIFFERENCES.right("differences", differences_pullback),
    TURNED.right("permutation of axes", turned_pullback),
    COLUMN_MAJOR.right("column-major order", column_major_pullback, "memory layout"),
    CHAINED.right("concatenation", chained_pullback),
    PADDED.right("padding", padded_pullback),
    EVERY_OTHER.right("strided slice", every_other_pullback),
    TILED.right("tile", tiled_pullback),
    REPEATED.right("repeat", repeated_pullback),
    ON_THE_DIAGONAL.right("diagonal matrix", on_the_diagonal_pullback),
    OUTER.right("outer product", outer_pullback),
    SYMMETRIC_PART.right("symmetric part", symmetric_part_pullback),
    ROTATION.right("tensordot", rotation_part_jacobian),
)
