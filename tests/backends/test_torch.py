"""PyTorch beyond its arrays: what its own differentiation records, writes that it counts, memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError

torch = pytest.importorskip("torch")

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(6, 4))
W = GENERATOR.normal(size=4)


def f(w: Any) -> Any:
    return np.sum(np.log1p(np.exp(torch.tensor(X) @ w)))


def by_torch(w: Any) -> Any:
    return torch.log1p(torch.exp(torch.tensor(X) @ w)).sum()


def test_against_torch() -> None:
    w = torch.tensor(W)
    torch.testing.assert_close(ea.hessian(f)(w), torch.func.hessian(by_torch)(w))
    torch.testing.assert_close(ea.compile(ea.grad(f))(w), torch.func.grad(by_torch)(w))
    torch.testing.assert_close(ea.hvp(f)(w, w), torch.func.hessian(by_torch)(w) @ w)


def test_what_torch_would_record_is_refused() -> None:
    """As an argument and as a captured array; not within no_grad, nor detached."""
    w = torch.tensor(W, requires_grad=True)
    compiled = ea.compile(ea.grad(f))
    compiled(torch.tensor(W))
    for act in (ea.grad(f), compiled, ea.grad(lambda v: np.sum(v * w))):
        with pytest.raises(TracingError, match=r"requires a gradient, .* or call within torch.no_grad"):
            act(w)
        with torch.no_grad():
            assert not act(w).requires_grad
    with pytest.raises(TracingError, match="requires a gradient"):
        ea.grad(lambda v: np.sum(v * w))(torch.tensor(W))
    torch.testing.assert_close(ea.grad(f)(w.detach()), torch.func.grad(by_torch)(torch.tensor(W)))
    parameter = torch.nn.Parameter(torch.tensor(W))
    with torch.no_grad():
        assert type(ea.grad(f)(parameter)) is torch.Tensor


def test_functions_of_torch_are_refused_and_operators_are_not() -> None:
    x, w = torch.tensor(X), torch.tensor(W)
    for act in (torch.exp, torch.nn.functional.relu, lambda w: torch.stack([w, w]), x.mv):
        with pytest.raises(TracingError, match="of torch does not take traced values, whose derivative would be lost"):
            ea.grad(lambda w, act=act: np.sum(act(w)))(w)
    with pytest.raises(TypeError):
        ea.grad(lambda w: np.sum(x[0].add(w)))(w)
    found = ea.grad(lambda w: np.sum((x[0] + w) * (x[0] - w) / (2 + w) ** 2 + x[1] ** w + x[0] // 1 + (x @ w)[0]))(w)
    expected = ea.grad(lambda w: np.sum((X[0] + w) * (X[0] - w) / (2 + w) ** 2 + X[1] ** w + X[0] // 1 + (X @ w)[0]))(W)
    np.testing.assert_allclose(found.numpy(), expected)


@pytest.mark.parametrize("inference", [False, True])
def test_writes_during_a_trace_are_seen(inference: bool) -> None:
    with torch.inference_mode(inference):
        x = torch.tensor(W)

        def g(w: Any) -> Any:
            value = np.sum(w * x)
            x.add_(1.0)
            return value + np.sum(w * x)

        np.testing.assert_allclose(ea.grad(g)(torch.tensor(W)).numpy(), 2 * W + 1)


def test_any_layout_in_memory() -> None:
    """Transposed, strided and expanded tensors, and read-only and reversed NumPy constants."""
    expected = ea.hessian(lambda w: np.sum((X @ w) ** 4))(W)
    stretched = torch.tensor(np.repeat(X, 2, axis=1))[:, ::2]
    backwards = X[::-1].copy()[::-1]
    frozen = X.copy()
    frozen.flags.writeable = False
    for x in (torch.tensor(X.T.copy()).T, stretched, backwards, frozen):
        np.testing.assert_allclose(ea.hessian(lambda w, x=x: np.sum((x @ w) ** 4))(torch.tensor(W)).numpy(), expected)
    wide = torch.ones(1, dtype=torch.float64).expand(4)
    np.testing.assert_allclose(ea.grad(lambda w: np.sum(w**2))(wide).numpy(), 2 * np.ones(4))


def test_a_numpy_constant_is_shared_and_not_written(recwarn: pytest.WarningsRecorder) -> None:
    frozen = X.copy()
    frozen.flags.writeable = False
    compiled = ea.compile(ea.grad(lambda w: np.sum((frozen @ w) ** 2)))
    for _ in range(2):
        compiled(torch.tensor(W)).add_(1.0)
    np.testing.assert_array_equal(frozen, X)
    assert not [warning for warning in recwarn if "writable" in str(warning.message)]


def test_single_numbers_need_no_device() -> None:
    w = torch.tensor(W)
    assert bool(ea.tensor(w)[0] > 0) == (W[0] > 0)
    assert int(np.floor(ea.tensor(w)[1])) == int(np.floor(W[1]))


def test_dtypes_without_a_counterpart_are_refused() -> None:
    for dtype in (torch.bfloat16, torch.complex64):
        with pytest.raises(TracingError, match="cannot be traced"):
            ea.grad(np.sum)(torch.ones(3, dtype=dtype))
    with pytest.raises(TracingError, match=r"layout torch\.sparse_coo"):
        ea.grad(np.sum)(torch.eye(3, dtype=torch.float64).to_sparse())
