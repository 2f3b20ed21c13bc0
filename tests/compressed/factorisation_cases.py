"""Factorisations of every class beside the dense matrices that they are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse

from einsumad.compressed.factorisations import (
    Banded,
    Blocks,
    Border,
    Bordered,
    Diagonal,
    DirectSum,
    Factorisation,
    Identity,
    Kronecker,
    KroneckerPair,
    LowRankUpdate,
    Permuted,
    Refined,
    Sparse,
    factorise,
)

KINDS = ("definite", "indefinite", "general")
"""Positive definite; symmetric and not definite; not symmetric."""


class Case(NamedTuple):
    """A factorisation and its matrix; what it cannot do although the matrix allows it."""

    factor: Factorisation
    dense: np.ndarray
    refuses: tuple[str, ...] = ()


def matrix(rng, kind, n, dtype=np.float64):
    """A well conditioned matrix of the kind; an indefinite one has eigenvalues of both signs from n = 2 on."""
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.uniform(0.5, 2, n)
    if kind == "indefinite":
        values[::2] *= -1
    found = (
        (turn * values) @ turn.T if kind != "general" else (turn * values) @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    )
    return found.astype(dtype)


def block_diagonal(blocks):
    count, n, _ = blocks.shape
    return np.einsum("bij,bc->bicj", blocks, np.eye(count, dtype=blocks.dtype)).reshape(count * n, count * n)


def band_of(dense, lower, upper):
    n = len(dense)
    band = np.full((lower + upper + 1, n), np.nan, dense.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            band[upper + i - j, j] = dense[i, j]
    return band


def banded(rng, kind, n, diagonals):
    full = matrix(rng, kind, n)
    full += {"definite": 3, "indefinite": 0, "general": 3}[kind] * np.eye(n)
    lower, upper = diagonals
    return np.triu(np.tril(full, upper), -lower)


def diagonal(rng, kind, n, dtype):
    values = rng.uniform(0.5, 2, n).astype(dtype)
    if kind == "indefinite":
        values[::2] *= -1
    return Case(Diagonal(values), np.diag(values))


def one_block(rng, kind, n, dtype):
    dense = matrix(rng, kind, n, dtype)
    return Case(Blocks(dense[None], 1, kind != "general"), dense)


def shared_block(rng, kind, n, dtype):
    block = matrix(rng, kind, n, dtype)[None]
    return Case(Blocks(block, 3, kind != "general"), block_diagonal(np.repeat(block, 3, 0)))


def stack(rng, kind, n, dtype):
    blocks = np.array([matrix(rng, kind, n, dtype) for _ in range(3)])
    return Case(Blocks(blocks, 3, kind != "general"), block_diagonal(blocks))


def direct_sum(rng, kind, n, dtype):
    first, second = matrix(rng, kind, n, dtype), matrix(rng, kind, n + 1, dtype)
    parts = [factorise(part, kind != "general") for part in (first, second)]
    dense = np.zeros((2 * n + 1, 2 * n + 1), dtype)
    dense[:n, :n], dense[n:, n:] = first, second
    return Case(DirectSum(parts), dense)


def band(rng, kind, n, dtype):
    lower, upper = (2, 1) if kind == "general" else (2, 2)
    dense = banded(rng, kind, n, (lower, upper)).astype(dtype)
    return Case(Banded(band_of(dense, lower, upper), lower, upper, kind != "general"), dense)


def sparse(rng, kind, n, dtype):
    dense = banded(rng, kind, n, (1, 1)).astype(dtype)
    order = rng.permutation(n)
    dense = dense[order][:, order]
    return Case(Sparse(scipy.sparse.csr_array(dense), kind != "general"), dense, ("inertia",))


def kronecker(rng, kind, n, dtype):
    parts = [matrix(rng, kind, 2, dtype), np.eye(2, dtype=dtype), matrix(rng, kind, n, dtype)]
    symmetric = kind != "general"
    factors = [factorise(parts[0], symmetric), Identity(2, dtype), factorise(parts[2], symmetric)]
    return Case(Kronecker(factors), np.kron(np.kron(parts[0], parts[1]), parts[2]))


def pair(rng, kind, n, dtype):
    """Symmetric: each pair has one definite matrix, at the first place or at the second."""
    first = [
        matrix(rng, "definite" if kind == "definite" else "indefinite", n, dtype),
        matrix(rng, "definite", 3, dtype),
    ]
    second = [matrix(rng, "definite", n, dtype), matrix(rng, kind, 3, dtype)]
    dense = np.kron(*first) + np.kron(*second)
    return Case(KroneckerPair(first, second, kind != "general"), dense)


def schur_form(rng, kind, n, dtype):
    """Symmetric: the first pair has no definite combination."""
    first, second = matrix(rng, kind, n, dtype), matrix(rng, kind, n, dtype)
    if kind != "general":
        first, second = (
            np.kron(np.diag([1, -1]), np.eye(n)).astype(dtype),
            np.kron([[0, 1], [1, 0]], first).astype(dtype),
        )
    other = [matrix(rng, "definite" if kind == "general" else kind, 3, dtype) for _ in range(2)]
    dense = np.kron(first, other[0]) + np.kron(second, other[1])
    return Case(KroneckerPair([first, other[0]], [second, other[1]], kind != "general"), dense, ("inertia",))


def low_rank(rng, kind, n, dtype):
    """A definite base; with weights of both signs, and one of zero, the sum is definite or not."""
    base = matrix(rng, "general" if kind == "general" else "definite", n, dtype)
    left = rng.normal(size=(n, 3)).astype(dtype)
    right = rng.normal(size=(n, 3)).astype(dtype) if kind == "general" else left
    middle = np.array({"definite": (1, 0, 0.01), "indefinite": (-9, 0, 2), "general": (1, 0, 2)}[kind], dtype)
    factor = LowRankUpdate(factorise(base, kind != "general"), left, middle, right, kind != "general")
    return Case(factor, base + (left * middle) @ right.T)


def full_middle(rng, kind, n, dtype):
    """The middle matrix is full and singular, and the base as definite as the sum."""
    base, left = matrix(rng, kind, n, dtype), rng.normal(size=(n, 2)).astype(dtype)
    middle = np.array([[1, 1], [1, 1]] if kind != "general" else [[1, 1], [2, 2]], dtype)
    right = rng.normal(size=(n, 2)).astype(dtype) if kind == "general" else left
    factor = LowRankUpdate(factorise(base, kind != "general"), left, middle, right, kind != "general")
    return Case(factor, base + left @ middle @ right.T, ("root",))


def downdate(rng, kind, n, dtype):
    """Something small is subtracted, and something added: still as definite as before."""
    base, left = matrix(rng, kind, n, dtype), rng.normal(size=(n, 2)).astype(dtype)
    left /= np.linalg.norm(left, axis=0)
    middle = np.array([-0.3, 1.0], dtype)
    return Case(LowRankUpdate(factorise(base, True), left, middle, left, True), base + (left * middle) @ left.T)


def permuted(rng, kind, n, dtype):
    inner = matrix(rng, kind, 6 * n, dtype)
    order = np.arange(6 * n).reshape(2, n, 3).transpose(2, 0, 1).ravel()
    dense = np.empty_like(inner)
    dense[np.ix_(order, order)] = inner
    return Case(Permuted(factorise(inner, kind != "general"), (2, n, 3), (2, 0, 1)), dense)


def bordered(rng, kind, n, dtype):
    """Blocks are eliminated, and stand at scattered places."""
    symmetric = kind != "general"
    blocks = np.array([matrix(rng, kind, 2, dtype) for _ in range(n)]).reshape(n, 2, 2)
    upper = (0.1 * rng.normal(size=(3, 2 * n))).astype(dtype)
    lower = (0.1 * rng.normal(size=(2 * n, 3))).astype(dtype) if kind == "general" else upper.T
    corner = matrix(rng, kind, 3, dtype)
    inner = Blocks(blocks, n, symmetric)
    rest = factorise(corner - upper @ inner.solve(lower), symmetric, np.abs(corner).max(axis=1))
    order = rng.permutation(2 * n + 3)
    dense = np.empty((2 * n + 3, 2 * n + 3), dtype)
    rows, places = np.sort(order[2 * n :]), order[: 2 * n]
    whole = np.block([[corner, upper], [lower, block_diagonal(blocks)]])
    dense[np.ix_(np.r_[rows, places], np.r_[rows, places])] = whole
    border = None if symmetric else Border.of(lower)
    return Case(Bordered(inner, Border.of(upper), rest, lower=border, eliminated=places), dense)


def refined(rng, kind, n, dtype):
    dense = matrix(rng, kind, n, dtype)
    inner = factorise(dense, kind != "general")
    return Case(Refined(inner, lambda v: dense @ v, lambda v: dense.T @ v), dense)


def combined(rng, kind, n, dtype):
    """A Kronecker product of blocks and a low-rank update, in another order of axes."""
    blocks, update = stack(rng, kind, n, dtype), low_rank(rng, kind, 2, dtype)
    rows, columns = len(blocks.dense), len(update.dense)
    dense = np.kron(blocks.dense, update.dense).reshape(rows, columns, rows, columns).transpose(1, 0, 3, 2)
    factor = Permuted(Kronecker([blocks.factor, update.factor]), (columns, rows), (1, 0))
    return Case(factor, dense.reshape(rows * columns, rows * columns))


MAKERS: dict[Callable[..., Case], tuple[str, ...]] = {
    diagonal: KINDS[:2],
    one_block: KINDS,
    shared_block: KINDS,
    stack: KINDS,
    direct_sum: KINDS,
    band: KINDS,
    sparse: KINDS,
    kronecker: KINDS,
    pair: KINDS,
    schur_form: KINDS[1:],
    low_rank: KINDS,
    full_middle: KINDS,
    downdate: KINDS[:1],
    permuted: KINDS,
    bordered: KINDS,
    refined: KINDS,
    combined: KINDS,
}
"""Every maker with the kinds of matrices that it has."""

CASES = [(maker, kind) for maker, kinds in MAKERS.items() for kind in kinds]


def made(maker, kind, n, dtype=np.float64, seed=0):
    """The case of these sizes; its random numbers depend on the arguments only."""
    return maker(np.random.default_rng([seed, n, KINDS.index(kind)]), kind, n, dtype)
