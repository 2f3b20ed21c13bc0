"""For every rule the smallest expression on which it fires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.functions import apply, call
from einsumad.graph import (
    BOOL,
    Leaf,
    Node,
    add,
    affine,
    constant_like,
    einsum,
    leaf,
    leaves,
    multiply,
    negate,
    ones,
    scale,
    sum_axes,
    total,
    transpose,
    unit,
    zero,
)


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


A, B, C = variable("A", 3, 3), variable("B", 3, 3), variable("C", 3, 3)
a, b, c, s = variable("a", 3), variable("b", 3), variable("c", 3), variable("s")
ONE, ANOTHER = variable("one", 1), variable("another", 1)
M, N = variable("m", 3, dtype=BOOL), variable("n", 3, dtype=BOOL)
E = apply("exp", a)
S, P, D = (call("declared", A, params=(fact,)) for fact in ("symmetric", "positive definite", "diagonal"))
Q = call("declared", variable("Q", 3, 3), params=("orthogonal",))
I, J, K = 0, 1, 2  # noqa: E741 (indices are called so)


def row(node: Node) -> Node:
    """The vector as a row of a matrix, three times."""
    return einsum([node, ones((3,), float)], [(J,), (I,)], (I, J))


def shift(offset: int) -> Node:
    """The entries of a vector from an offset on."""
    return einsum([affine(3, (2,), (1,), offset, float)], [(I, J)], (I, J))


SYMMETRIC = call("mirrored", A, params=(0,))
EIGENVALUES = call("eigh_values", SYMMETRIC, params=(0,))
EIGENVECTORS = call("eigh_vectors", SYMMETRIC, params=(0,))
SCALED_VECTORS = einsum([EIGENVECTORS, apply("exp", EIGENVALUES)], [(I, J), (J,)], (I, J))
SHARED_DIAGONAL = einsum([a, b, unit(3, 2, float)], [(I,), (J,), (I, J)], (I, J))

EXAMPLES: dict[str, Node] = {
    "annihilate": multiply(a, zero((3,), float)),
    "flatten-product": einsum([A, multiply(a, b)], [(I, J), (J,)], (I,)),
    "expose-structure": add(
        [
            einsum([SHARED_DIAGONAL, A], [(I, K), (K, J)], (I, J)),
            einsum([SHARED_DIAGONAL, B], [(I, K), (K, J)], (I, J)),
        ]
    ),
    "resolve-units": einsum([A, unit(3, 2, float)], [(I, J), (J, K)], (I, K)),
    "reduce-ones": einsum([a, ones((3, 2), float)], [(I,), (I, J)], (I,)),
    "tie-single": einsum([ONE, ANOTHER], [(I,), (J,)], (I,)),
    "unwrap": einsum([A], [(I, J)], (I, J)),
    "share-masks": multiply(M, M, a),
    "exclude": multiply(M, apply("logical_not", M), a),
    "stable-ratio": multiply(E, apply("sigmoid", negate(a))),
    "argument-over-expm1": multiply(a, apply("reciprocal_expm1", a)),
    "normalised-exponential": multiply(E, apply("reciprocal", total(E, apply("exp", b)))),
    "merge-powers": multiply(apply("power", a, params=(1.5,)), apply("power", a, params=(1.25,))),
    "square-root-squared": multiply(apply("norm_root", a), apply("norm_root", a)),
    "absolute-squared": multiply(apply("abs", a), apply("abs", a)),
    "solve": einsum([call("inverse", A), b], [(I, J), (J,)], (I,)),
    "apply-operator": einsum([call("expm", A, params=(1,)), B], [(I, J, 3, 4), (3, 4)], (I, J)),
    "diagonal-operand": einsum([D, b], [(I, J), (J,)], (I,)),
    "orthogonal-pair": einsum([Q, Q, b], [(K, I), (K, J), (J,)], (I,)),
    "orient-symmetric": add([S, transpose(S, (J, I))]),
    "tie-mapped": einsum([a, *[affine(3, (2,), (1,), 1, float)] * 3], [(3,), (I, 4), (J, 4), (3, 4)], (I, J)),
    "compose-affine": einsum(
        [affine(3, (2,), (1,), 1, float), affine(2, (2,), (-1,), 1, float)], [(I, J), (J, K)], (I, K)
    ),
    "orient-affine": einsum([a, affine(2, (3,), (1,), -1, float)], [(J,), (I, J)], (I,)),
    "read-first": einsum([E, affine(3, (1,), (1,), 2, float)], [(I,), (I, J)], (J,)),
    "read-diagonal": einsum([apply("exp", A)], [(I, I)], (I,)),
    "read-eigenvalues": einsum([EIGENVALUES, affine(3, (1,), (1,), 2, float)], [(I,), (I, J)], (J,)),
    "distribute-maps": einsum([a, add([shift(0), shift(1)])], [(I,), (I, J)], (J,)),
    "flatten-sum": add([a, add([b, c])]),
    "drop-zeros": add([a, zero((3,), float)]),
    "collect": add([a, scale(2, a)]),
    "complement-of-sigmoid": add([ones((3,), float), negate(apply("sigmoid", a))]),
    "smooth-pair": total(apply("relu", a), apply("softplus", negate(apply("abs", a)))),
    "add-before-spreading": add([row(a), row(b)]),
    "factor": add([einsum([A, a], [(I, J), (J,)], (I,)), einsum([A, b], [(I, J), (J,)], (I,))]),
    "stable-logarithm": apply("log", total(ones((3,), float), E)),
    "stable-reciprocal": apply("reciprocal", total(ones((3,), float), E)),
    "expand-power": apply("square", a),
    "log-determinant": apply("log", call("determinant", A)),
    "apply-before-spreading": apply("exp", row(a)),
    "apply-before-permuting": apply("exp", transpose(A, (J, I))),
    "transpose": call("inverse", Q),
    "cholesky": call("inverse", P),
    "spectral-sum": sum_axes(apply("exp", EIGENVALUES), [0]),
    "extreme-eigenvalue": call("max_reduce", EIGENVALUES),
    "spectral-reduction": call("product", EIGENVALUES),
}

MORE: dict[str, Node] = {
    "spectral-sum with parameters": einsum(
        [apply("sin", einsum([s, EIGENVALUES], [(), (I,)], (I,))), EIGENVALUES, b], [(I,), (I,), (J,)], (J,), 3
    ),
    "spectral-sum of a function": einsum(
        [EIGENVECTORS, apply("exp", EIGENVALUES), EIGENVECTORS, b], [(I, K), (K,), (J, K), (J,)], (I,)
    ),
    "spectral-sum of shared vectors": einsum([SCALED_VECTORS, SCALED_VECTORS], [(I, K), (J, K)], (I, J)),
    "not a spectral sum": einsum([EIGENVALUES, b], [(I,), (I,)], ()),
    "spectral-reduction of exponentials": apply("log", sum_axes(apply("exp", multiply(EIGENVALUES, EIGENVALUES)), [0])),
    "stable-ratio of eigenvalues": einsum(
        [apply("exp", EIGENVALUES), apply("reciprocal", sum_axes(apply("exp", EIGENVALUES), [0]))],
        [(I,), ()],
        (I,),
    ),
    "annihilate a sum over nothing": einsum([variable("e", 3, 0)], [(I, J)], (I,)),
    "annihilate a coefficient": scale(0, a),
    "resolve-units between outputs": einsum([A, unit(3, 2, float)], [(I, J), (I, J)], (I, J)),
    "resolve-units over three axes": einsum([a, unit(3, 3, float)], [(K,), (I, J, K)], (I, J)),
    "resolve-units alone": einsum([unit(3, 2, float)], [(I, J)], ()),
    "reduce-ones to a number": einsum([ones((3, 2), float), s], [(I, J), ()], ()),
    "share-masks of a sum": multiply(a, add([multiply(M, b), multiply(N, c)])),
    "share-masks of disjoint axes": einsum(
        [A, add([einsum([M, b], [(I,), (J,)], (I, J)), einsum([N, a, c], [(J,), (I,), (J,)], (I, J))])],
        [(I, J), (I, J)],
        (I, J),
    ),
    "merge-powers of reciprocals": multiply(apply("reciprocal", a), apply("reciprocal", a)),
    "stable-ratio of a quotient": multiply(E, apply("reciprocal", total(ones((3,), float), E))),
    "solve with a matrix": einsum([call("inverse", A), B], [(I, K), (K, J)], (I, J), 2),
    "solve transposed": einsum([call("inverse", A), B], [(K, I), (K, J)], (I, J)),
    "solve where a singular matrix gives NaN": einsum([call("inverse", A, params=(1,)), b], [(I, J), (J,)], (I,)),
    "solve with a triangle": einsum([call("inverse_triangular", A, params=(1, 0)), B], [(I, K), (K, J)], (I, J)),
    "solve with a triangle transposed": einsum([call("inverse_triangular", A, params=(1, 1)), b], [(K, I), (K,)], (I,)),
    "logsumexp of rows": apply("log", sum_axes(apply("exp", A), [1])),
    "logsumexp of columns": apply("log", sum_axes(apply("exp", A), [0])),
    "logsumexp of everything": apply("log", sum_axes(apply("exp", A), [0, 1])),
    "log of a softmax": apply(
        "log",
        einsum([apply("exp", A), apply("reciprocal", sum_axes(apply("exp", A), [1]))], [(I, J), (I,)], (I, J)),
    ),
    "log of a mean of exponentials": apply("log", einsum([E], [(I,)], (), 1 / 3)),
    "log of weighted exponentials": apply("log", einsum([E, b], [(I,), (I,)], ())),
    "log of weighted exponentials in rows": apply("log", einsum([apply("exp", A), b, s], [(I, J), (J,), ()], (I,))),
    "log of a weighted exponential": apply("log", multiply(E, b, coefficient=2)),
    "log of a difference of exponentials": apply("log", add([scale(3, E), negate(apply("exp", scale(0.1, b)))])),
    "log of a sum of exponentials": apply("log", add([scale(3, E), apply("exp", b), constant_like(2, a)])),
    "log of exponentials that a mask selects": apply("log", einsum([M, E, s], [(I,), (I,), ()], ())),
    "log of a hyperbolic cosine": apply("log", apply("cosh", a)),
    "normalised-exponential with weights": einsum(
        [E, b, apply("reciprocal", einsum([E, b], [(I,), (I,)], ()))], [(I,), (I,), ()], (I,)
    ),
    "stable-reciprocal of a product": apply("reciprocal", multiply(apply("cosh", a), apply("expm1", a), b)),
    "stable-reciprocal of a difference": apply("reciprocal", add([E, constant_like(-1, a)])),
    "stable-reciprocal of a complement": apply("reciprocal", add([negate(E), ones((3,), float)])),
    "stable-reciprocal of a power": apply("power", apply("cosh", a), params=(-1.5,)),
    "smooth-pair under a factor": add(
        [multiply(b, apply("relu", a)), multiply(b, apply("softplus", negate(apply("abs", a))))]
    ),
    "smooth-pair of absolute values": add(
        [scale(0.5, add([a, apply("abs", a)])), apply("softplus", negate(apply("abs", a)))]
    ),
    "apply-operator to a cotangent": einsum([call("expm", A, params=(1,)), B], [(3, 4, I, J), (3, 4)], (I, J)),
    "apply-operator to the middle of three": einsum(
        [call("expm", A, params=(2,)), B, a], [(I, J, 3, 4, 5, K), (3, 5), (4,)], (I, J, K)
    ),
    "apply-operator to a cotangent of two": einsum(
        [call("expm", A, B, params=(2,)), B], [(3, 4, I, J, K, 5), (4, 3)], (I, J, K, 5)
    ),
    "apply-operator to columns": einsum([call("expm", A, params=(1,)), a], [(I, J, K, 3), (3,)], (I, J, K)),
    "apply-operator to its trace": einsum([call("expm", A, params=(1,))], [(3, 3, I, J)], (I, J)),
    "apply-operator to diagonal matrices": einsum([call("expm", A, params=(1,))], [(I, J, K, K)], (I, J, K)),
    "apply-operator of a Sylvester equation": einsum(
        [call("sylvester", A, B, params=(1,)), a], [(3, I, J, K), (3,)], (I, J, K)
    ),
    "power zero": apply("power", a, params=(0,)),
    "power one": apply("power", a, params=(1,)),
    "power four": apply("power", a, params=(4,)),
    "power minus one": apply("power", a, params=(-1,)),
    "collect renamed sums": add(
        [einsum([A, B], [(I, K), (K, J)], (I, J)), einsum([B, A], [(K, J), (I, K)], (I, J), -3)]
    ),
    "factor over a shared sum": add(
        [
            einsum([A, A, a], [(K, I), (K, J), (K,)], (I, J)),
            einsum([A, A, b], [(K, I), (K, J), (K,)], (I, J)),
        ]
    ),
    "factor a delta": add(
        [
            einsum([A, A, unit(3, 2, float)], [(K, 3), (K, 4), (I, J)], (3, I, 4, J), 2),
            einsum([unit(3, 2, float), unit(3, 2, float), s], [(I, J), (3, 4), ()], (3, I, 4, J)),
        ]
    ),
    "orient-symmetric of an inverse": add([call("inverse", S), transpose(call("inverse", S), (J, I))]),
    "orient-symmetric of two": add(
        [einsum([S, P], [(I, K), (K, J)], (I, J)), einsum([S, P], [(K, I), (J, K)], (I, J))]
    ),
    "orthogonal-pair of rows": einsum([Q, Q], [(I, K), (J, K)], (I, J)),
    "orthogonal-pair of nothing else": einsum([Q, Q], [(I, J), (I, J)], ()),
    "transpose for solve": call("solve", Q, B),
    "cholesky for solve": call("solve", P, B),
    "cholesky for solve by a vector": einsum([call("inverse", P), b], [(I, J), (J,)], (I,)),
    "cholesky for logdet": call("logabsdet", P),
    "cholesky where a singular matrix gives NaN": call("inverse", P, params=(1,)),
    "diagonal-operand between": einsum([D, A, D], [(I, J), (J, K), (K, 3)], (I, 3)),
    "cast by drop-zeros": add([variable("f", 3, dtype=np.float32), zero((3,), float)]),
    "constants": add([constant_like(2, a), a]),
}


def values_for(roots: Sequence[Node], seed: int = 0, low: float = 0.2, high: float = 1.7) -> dict[Leaf, Any]:
    """Positive numbers, larger on the diagonals of matrices; random truth values; an orthogonal matrix for Q."""
    generator = np.random.default_rng(seed)
    found: dict[Leaf, Any] = {}
    for node in leaves(roots):
        if node.dtype == BOOL:
            found[node] = generator.integers(0, 2, node.shape).astype(bool)
        else:
            value = generator.uniform(low, high, node.shape)
            square = len(node.shape) == 2 and node.shape[0] == node.shape[1]
            found[node] = value + 3 * np.eye(node.shape[0]) if square else value
            if node.name == "Q":
                found[node] = np.linalg.qr(value)[0]
    return found
