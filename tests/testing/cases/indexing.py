"""Cases of selection: gathers and scatters, windows, sorting, branches on masks.

Imports records and samplers. Invariant: integer and boolean arguments are never differentiated.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import separated


def table_with_repeats(rng):
    rows, width = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    index = rng.permutation(np.append(np.arange(rows - 1), np.arange(2)))
    return rng.standard_normal((rows, width)), index


def values_with_repeats(rng):
    groups = int(rng.integers(3, 5))
    index = rng.permutation(np.append(np.arange(groups), [0, 0, 1]))
    return rng.standard_normal(len(index)), index


def square_with_columns(rng):
    n = int(rng.integers(3, 6))
    return rng.standard_normal((n, n)), np.roll(np.arange(n), int(rng.integers(1, n)))


def shuffled(rng):
    n = int(rng.integers(5, 8))
    order = rng.permutation(n)
    while np.array_equal(order[order], np.arange(n)):
        order = rng.permutation(n)
    return ((order + 0.4 * rng.uniform(size=n)) / n,)


def peak_in_the_middle(rng):
    (x,) = separated("n", low=6, high=8)(rng)
    x[len(x) // 2] += 10
    return (x,)


def masked_vector(rng):
    n = int(rng.integers(3, 6))
    return rng.uniform(0.3, 1.0, n), rng.permutation(np.arange(n) % 2 == 0)


def wide_vectors(rng):
    n = int(rng.integers(4, 7))
    return rng.permutation(np.append([2.0, -3.0], rng.uniform(-0.9, 0.9, n - 2))), rng.standard_normal(n)


def signal_and_kernel(rng):
    return rng.standard_normal(int(rng.integers(7, 10))), rng.standard_normal(int(rng.integers(2, 4)))


def take_rows(table, index):
    return table[index]


def take_rows_pullback(primals, g):
    G = np.zeros_like(primals[0])
    np.add.at(G, primals[1], g)
    return G


def take_rows_overwriting(primals, g):
    G = np.zeros_like(primals[0])
    G[primals[1]] = g
    return G


def group_sums(x, index):
    total = np.zeros(index.max() + 1, x.dtype)
    np.add.at(total, index, x)
    return total


def group_sums_pullback(primals, g):
    return g[primals[1]]


def group_sums_last_member(primals, g):
    index = primals[1]
    last = np.zeros(len(g), int)
    last[index] = np.arange(len(index))
    return np.where(last[index] == np.arange(len(index)), g[index], 0.0)


def take_columns(X, index):
    return X[:, index]


def take_columns_pullback(primals, g):
    G = np.zeros_like(primals[0])
    G[:, primals[1]] = g
    return G


def take_columns_as_rows(primals, g):
    G = np.zeros_like(primals[0])
    G[primals[1]] = g
    return G


def correlated(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, len(w)) @ w


def correlated_pullback(primals, g):
    x, w = primals
    return np.convolve(g, w), np.lib.stride_tricks.sliding_window_view(x, len(g)) @ g


def correlated_kernel_flipped(primals, g):
    by_signal, by_kernel = correlated_pullback(primals, g)
    return by_signal, by_kernel[::-1]


def correlated_signal_not_flipped(primals, g):
    return np.convolve(g, primals[1][::-1]), correlated_pullback(primals, g)[1]


def strided(x, w):
    return correlated(x, w)[::2]


def strided_pullback(primals, g):
    spread = np.zeros(len(primals[0]) - len(primals[1]) + 1)
    spread[::2] = g
    return correlated_pullback(primals, spread)


def strided_not_dilated(primals, g):
    spread = np.zeros(len(primals[0]) - len(primals[1]) + 1)
    spread[: len(g)] = g
    return correlated_pullback(primals, spread)


def pooled(x):
    return np.max(np.lib.stride_tricks.sliding_window_view(x, 3), axis=1)


def pooled_winners(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, 3)
    return np.argmax(windows, axis=1) + np.arange(len(windows))


def pooled_pullback(primals, g):
    G = np.zeros_like(primals[0])
    np.add.at(G, pooled_winners(primals[0]), g)
    return G


def pooled_overwriting(primals, g):
    G = np.zeros_like(primals[0])
    G[pooled_winners(primals[0])] = g
    return G


def chosen(x, mask):
    return np.sum(np.where(mask, np.sin(3 * x), x**2))


def chosen_gradient(x, mask):
    return np.where(mask, 3 * np.cos(3 * x), 2 * x)


def chosen_inverted(x, mask):
    return np.where(mask, 2 * x, 3 * np.cos(3 * x))


def clipped(x, w):
    return np.sum(w * np.clip(x, -1, 1))


def clipped_gradient(x, w):
    return np.where(np.abs(x) < 1, w, 0.0)


def clipped_straight_through(_x, w):
    return w.copy()


def sorted_pullback(primals, g):
    G = np.empty_like(g)
    G[np.argsort(primals[0])] = g
    return G


def sorted_by_the_same_order(primals, g):
    return g[np.argsort(primals[0])]


ROWS = Target("vjp", take_rows, table_with_repeats)
GROUPS = Target("vjp", group_sums, values_with_repeats)
COLUMNS = Target("vjp", take_columns, square_with_columns)
CORRELATED = Target("vjp", correlated, signal_and_kernel, (0, 1))
STRIDED = Target("vjp", strided, signal_and_kernel, (0, 1), source="pytorch/pytorch#15501")
POOLED = Target("vjp", pooled, peak_in_the_middle, source="ahrefs/ocannl#512")
CHOSEN = Target("gradient", chosen, masked_vector)
CLIPPED = Target("gradient", clipped, wide_vectors)
SORTED = Target("vjp", np.sort, shuffled)

WRONG = (
    ROWS.wrong("rows of a table, repeated ones overwritten", take_rows_overwriting, "overwritten duplicate"),
    GROUPS.wrong("group sums, last member only", group_sums_last_member, "overwritten duplicate"),
    COLUMNS.wrong("columns scattered as rows", take_columns_as_rows, "wrong axis"),
    CORRELATED.wrong("correlation, kernel flipped", correlated_kernel_flipped, "reversed"),
    CORRELATED.wrong("correlation, signal with a flipped kernel", correlated_signal_not_flipped, "reversed"),
    STRIDED.wrong("strided correlation, cotangent not dilated", strided_not_dilated, "shifted"),
    POOLED.wrong("overlapping max pool, overwritten", pooled_overwriting, "overwritten duplicate"),
    CHOSEN.wrong("where, mask inverted", chosen_inverted, "wrong branch"),
    CLIPPED.wrong("clip, mask forgotten", clipped_straight_through, "wrong branch"),
    SORTED.wrong("sort, order not inverted", sorted_by_the_same_order, "transposed operand"),
)

RIGHT = (
    ROWS.right("rows of a table", take_rows_pullback, "repeated index"),
    GROUPS.right("group sums", group_sums_pullback, "repeated index"),
    COLUMNS.right("columns", take_columns_pullback),
    CORRELATED.right("correlation", correlated_pullback),
    STRIDED.right("strided correlation", strided_pullback),
    POOLED.right("overlapping max pool", pooled_pullback),
    CHOSEN.right("where", chosen_gradient),
    CLIPPED.right("clip", clipped_gradient),
    SORTED.right("sort", sorted_pullback),
)
