"""Large products of a matrix of few rows in single precision: computed transposed, and the same."""

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(11)
ROWS = {"few": 40, "one": 1}
PRODUCTS = {
    "with a transposed one": lambda x, w: x @ w.T,
    "with one as it is": lambda x, w: x @ w.T.copy(),
    "of a transposed one": lambda x, w: np.einsum("kb,kn->bn", x.T.copy(), w.T.copy()),
    "with two axes of rows": lambda x, w: np.einsum("abk,nk->abn", x.reshape(-1, 1, x.shape[1]), w),
    "with two axes summed": lambda x, w: np.einsum("bpq,npq->bn", x.reshape(-1, 2, 150), w.reshape(-1, 2, 150)),
    "with two axes of columns": lambda x, w: np.einsum("bk,pqk->bpq", x, w.reshape(2, -1, 300)),
    "in another order": lambda x, w: np.einsum("bk,pqk->qpb", x, w.reshape(2, -1, 300)),
    "twice": lambda x, w: np.maximum(x @ w.T, 0) @ w,
    "with weights": lambda x, w: np.tanh(x @ w.T) * np.arange(400, dtype=np.float32) + x[:, :1],
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_values_and_derivatives(name, rows):
    f = PRODUCTS[name]
    x, w = (RNG.integers(-4, 5, (count, 300)).astype(np.float64) for count in (ROWS[rows], 400))

    def both(x, w):
        value = f(x, w)
        return value, ea.grad(lambda x, w: np.sum(f(x, w) ** 2), argnums=(0, 1))(x, w)

    compiled = ea.compile(both)
    exact, found = compiled(x, w), compiled(x.astype(np.float32), w.astype(np.float32))
    pairs = [(exact[0], found[0]), *zip(exact[1], found[1], strict=True)]
    for expected, single in pairs:
        assert (single.dtype, single.shape) == (np.float32, expected.shape)
        np.testing.assert_allclose(single, expected, atol=2e-6 * np.max(np.abs(expected)))


def test_what_meets_in_a_network_lies_in_one_order():
    x, w, v = (RNG.random(shape, np.float32) for shape in ((64, 300), (400, 300), (200, 400)))
    compiled = ea.compile(lambda x: np.maximum(np.maximum(x @ w.T, 0) @ v.T, 0))
    assert compiled(x).T.flags.c_contiguous
    (program,) = compiled._by_arrays.values()
    assert program.plan.source.count(".T).T") == 2
