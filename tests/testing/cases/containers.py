"""Cases of shape and storage: empty, zero-dimensional and large arrays, axes of length one, lists, strides, constants.

Imports records and samplers. Invariant: the mathematics is simple; only the arrays are not.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import mapped, normals, uniforms

MANY = 100_000


def many(rng):
    return (rng.random(MANY) - 0.5,)


def many_with_weights(rng):
    return rng.random(MANY) - 0.5, rng.random(MANY)


def many_groups(rng):
    return rng.random(MANY) - 0.5, np.arange(MANY) % 1000


def large_system(rng):
    return rng.standard_normal(300), rng.standard_normal((300, 300))


def empty_vector(_rng):
    return (np.zeros(0),)


def empty_rows(rng):
    n = int(rng.integers(1, 5))
    return np.zeros((n, 0)), rng.standard_normal(n)


def empty_inner_axis(rng):
    m, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return np.zeros((m, 0)), np.zeros((0, n))


def ones_everywhere(rng):
    n, k = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    return rng.standard_normal((1, n, 1)), rng.standard_normal((1, 1, k))


def length_one(rng):
    return (rng.standard_normal(1),)


def numbers_in_a_list(rng):
    return (rng.standard_normal(int(rng.integers(2, 6))).tolist(),)


def rows_in_lists(rng):
    return (rng.standard_normal((2, int(rng.integers(2, 5)))).tolist(),)


def python_number(rng):
    return (float(rng.standard_normal()),)


def column_major(array):
    return np.asfortranarray(array)


def every_second(array):
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    wide[..., ::2] = array
    return wide[..., ::2]


def backwards(array):
    return array[::-1].copy()[::-1]


def read_only(array):
    array.flags.writeable = False
    return array


def one_row_repeated(array):
    return np.broadcast_to(array[0], array.shape)


def sine_pullback(primals, g):
    return np.cos(primals[0]) * g


def squares(x):
    return np.sum(np.asarray(x) ** 2)


def twice(x):
    return 2 * np.asarray(x)


def same(x):
    return np.asarray(x).copy()


def cubes(x):
    return np.sum(np.asarray(x) ** 3)


def cubes_gradient(x):
    return 3 * np.asarray(x) ** 2


def column_sums(x):
    return np.sum(np.asarray(x) ** 2, axis=0)


def column_sums_pullback(primals, g):
    return 2 * np.asarray(primals[0]) * g


def zero_slope_of_two(x, _c):
    return np.zeros_like(x)


def one_slope_of_two(x, _c):
    return np.ones_like(x)


def outer_sum(a, b):
    return np.sum(np.sin(a + b[:, None]))


def outer_sum_gradient(a, b):
    G = np.cos(a + b[:, None])
    return G, np.sum(G, axis=1)


def outer_sum_first_column(a, b):
    G = np.cos(a + b[:, None])
    return G, G[:, 0]


def product_pullback(primals, g):
    A, B = primals
    return g @ B.T, A.T @ g


def identity_product(_x, v):
    return 2 * v


def broadcast_product(a, b):
    return np.sin(a) * b


def broadcast_product_pullback(primals, g):
    a, b = primals
    return np.sum(g * np.cos(a) * b, axis=2, keepdims=True), np.sum(g * np.sin(a), axis=1, keepdims=True)


def broadcast_product_not_summed(primals, g):
    a, b = primals
    return np.sum(g * np.cos(a) * b, axis=2, keepdims=True), (g * np.sin(a))[:, :1]


def differences_pullback(primals, g):
    x = primals[0]
    G = np.zeros_like(x)
    G[1:] += g
    G[:-1] -= g
    return G


def differences_empty(_primals, g):
    return g.copy()


def weighted_squares(x, w):
    return np.sum(w * x**2)


def weighted_squares_gradient(x, w):
    return 2 * w * x


def weighted_squares_unweighted(x, _w):
    return 2 * x


def weighted_squares_product(_x, w, v):
    return 2 * w * v


def mean_of_squares(x):
    return np.mean(x**2)


def mean_of_squares_gradient(x):
    return 2 * x / x.size


def mean_of_squares_summed(x):
    return 2 * x


def running_pullback(_primals, g):
    return np.cumsum(g[::-1])[::-1]


def running_forwards(_primals, g):
    return np.cumsum(g)


def group_sums(x, index):
    return np.bincount(index, weights=x)


def group_sums_pullback(primals, g):
    return g[primals[1]]


def matrix_times_vector_pullback(primals, g):
    return primals[1].T @ g


def matrix_times_vector(x, A):
    return A @ x


def matrix_not_transposed(primals, g):
    return primals[1] @ g


def affine(x, c):
    return 3.0 + c @ x


def affine_gradient(_x, c):
    return c.copy()


def affine_with_offset(_x, c):
    return c + 3.0


def independent(_x, c):
    return np.sum(c**2)


def in_place_on_a_copy(x):
    x = x.copy()
    x *= 3
    x[0] += 1
    return np.sum(x**2)


def in_place_on_a_copy_gradient(x):
    return 18 * x + np.append(6.0, np.zeros(len(x) - 1))


def in_place_offset_forgotten(x):
    return 18 * x


def gram(X):
    return X.T @ X


def gram_pullback(primals, g):
    return primals[0] @ (g + g.T)


def gram_one_side(primals, g):
    return primals[0] @ g


def sum_of_squares_of_each(a, b, c):
    return np.sum(a**2) * np.sum(b) + np.prod(c)


def first_and_last(a, b, c):
    return 2 * a * np.sum(b), np.prod(c) / c


def first_and_middle(a, b, _c):
    return 2 * a * np.sum(b), np.full_like(b, np.sum(a**2))


NUMBER = Target("gradient", np.sin, normals(""))
PYTHON_NUMBER = Target("gradient", squares, python_number)
EMPTY = Target("gradient", squares, empty_vector, source="pytorch/pytorch#53407")
EMPTY_PRODUCT = Target("hvp", squares, empty_vector)
EMPTY_RUNNING = Target("vjp", np.cumsum, empty_vector)
EMPTY_ROWS = Target("gradient", outer_sum, empty_rows, (0, 1), source="pytorch/pytorch#15223")
OUTER_SUM = Target("gradient", outer_sum, normals("mn", "m"), (0, 1))
EMPTY_INNER = Target("vjp", np.matmul, empty_inner_axis, (0, 1))
ONES = Target("vjp", broadcast_product, ones_everywhere, (0, 1))
LENGTH_ONE = Target("vjp", np.diff, length_one, source="HIPS/autograd#78")
LISTED = Target("gradient", cubes, numbers_in_a_list)
LISTED_ROWS = Target("vjp", column_sums, rows_in_lists)
COLUMN_MAJOR = Target("vjp", gram, mapped(normals("mn"), column_major))
STRIDED = Target("vjp", np.sin, mapped(normals("mn"), every_second))
BACKWARDS = Target("gradient", cubes, mapped(normals("n"), backwards))
READ_ONLY = Target("gradient", cubes, mapped(normals("n"), read_only))
OVERLAPPING = Target("gradient", cubes, mapped(normals("mn"), one_row_repeated))
MANY_SQUARES = Target("gradient", weighted_squares, many_with_weights, source="jax-ml/jax#3130")
MANY_MEAN = Target("gradient", mean_of_squares, many)
MANY_PRODUCT = Target("hvp", weighted_squares, many_with_weights)
MANY_RUNNING = Target("vjp", np.cumsum, many)
MANY_GROUPS = Target("vjp", group_sums, many_groups)
LARGE_SYSTEM = Target("vjp", matrix_times_vector, large_system)
AFFINE = Target("gradient", affine, normals("n", "n"))
INDEPENDENT = Target("gradient", independent, normals("n", "n"))
IN_PLACE = Target("gradient", in_place_on_a_copy, uniforms(0.3, 1.5, "n"))
GRAM = Target("vjp", gram, normals("mn"))
CHOSEN_ARGUMENTS = Target("gradient", sum_of_squares_of_each, uniforms(0.5, 2.0, "n", "n", "n"), (0, 2))

WRONG = (
    PYTHON_NUMBER.wrong("number, 2 forgotten", same, "factor 1/2"),
    OUTER_SUM.wrong("outer sum, first column for the sum", outer_sum_first_column, "missing sum over a broadcast axis"),
    ONES.wrong("axes of length one, not summed", broadcast_product_not_summed, "missing sum over a broadcast axis"),
    LENGTH_ONE.wrong("differences of one number, empty", differences_empty, "wrong shape"),
    LISTED.wrong("list of numbers, 2 for 3", twice, "wrong exponent"),
    MANY_SQUARES.wrong("many squares, weights forgotten", weighted_squares_unweighted, "missing inner derivative"),
    MANY_MEAN.wrong("mean of many, summed", mean_of_squares_summed, "factor n (sum for mean)"),
    MANY_RUNNING.wrong("many cumulative sums, forwards", running_forwards, "reversed"),
    LARGE_SYSTEM.wrong("large matrix not transposed", matrix_not_transposed, "transposed operand"),
    AFFINE.wrong("affine, offset in the gradient", affine_with_offset, "missing term"),
    INDEPENDENT.wrong("independent argument, slope one", one_slope_of_two, "missing term"),
    IN_PLACE.wrong("in place on a copy, offset forgotten", in_place_offset_forgotten, "missing term"),
    GRAM.wrong("Gram matrix, one side", gram_one_side, "missing operand slot"),
    CHOSEN_ARGUMENTS.wrong("gradient of another argument", first_and_middle, "swapped arguments"),
)

RIGHT = (
    NUMBER.right("zero-dimensional", np.cos, "scalar"),
    PYTHON_NUMBER.right("Python number", twice, "scalar"),
    EMPTY.right("empty vector", twice, "empty"),
    EMPTY_PRODUCT.right("empty HVP", identity_product, "empty"),
    EMPTY_RUNNING.right("empty cumulative sum", running_pullback, "empty"),
    EMPTY_ROWS.right("sum with empty rows", outer_sum_gradient, "empty"),
    EMPTY_INNER.right("product over an empty axis", product_pullback, "empty"),
    ONES.right("axes of length one multiplied", broadcast_product_pullback, "size-1"),
    LENGTH_ONE.right("differences of one number", differences_pullback, "size-1"),
    LISTED.right("list of numbers", cubes_gradient, "list"),
    LISTED_ROWS.right("list of rows", column_sums_pullback, "list"),
    COLUMN_MAJOR.right("column-major matrix", gram_pullback, "memory layout"),
    STRIDED.right("strided view", sine_pullback, "memory layout"),
    BACKWARDS.right("negative stride", cubes_gradient, "memory layout"),
    READ_ONLY.right("read-only array", cubes_gradient, "memory layout"),
    OVERLAPPING.right("broadcast view", cubes_gradient, "memory layout"),
    MANY_SQUARES.right("many squares", weighted_squares_gradient, "large array"),
    MANY_MEAN.right("mean of many", mean_of_squares_gradient, "large array"),
    MANY_PRODUCT.right("many squares HVP", weighted_squares_product, "large array"),
    MANY_RUNNING.right("many cumulative sums", running_pullback, "large array"),
    MANY_GROUPS.right("many in groups", group_sums_pullback, "large array"),
    LARGE_SYSTEM.right("large matrix", matrix_times_vector_pullback, "large array"),
    AFFINE.right("affine", affine_gradient, "linear"),
    INDEPENDENT.right("independent argument", zero_slope_of_two, "constant"),
    IN_PLACE.right("in place on a copy", in_place_on_a_copy_gradient, "mutation inside"),
    GRAM.right("Gram product", gram_pullback, "repeated operand"),
    CHOSEN_ARGUMENTS.right("first and last argument", first_and_last),
)
