"""Every kernel of a plan, in values and in first, second and third derivatives."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution.backends.operations import OPERATIONS
from einsumad.frontend.lifting import as_node
from einsumad.frontend.tensor import Tensor
from einsumad.graph import affine, einsum, leaf, selection, unit
from einsumad.planning import kernels, make_plan, slices
from einsumad.scipy.special import log_softmax
from tests.backends.libraries import Backend
from tests.backends.running import check_graph, check_plan, plan_of

GENERATOR = np.random.default_rng(7)
X = GENERATOR.normal(size=(6, 4))
Y = GENERATOR.normal(size=6)
PLACES = np.array([0, 2, 1, 2])
ROWS = np.array([[0, 3], [2, 2], [1, 0], [3, 1], [0, 0], [2, 3]])
SPD = 3 * np.eye(3)
CHOSEN = GENERATOR.random((6, 5)) < 0.5


def selection_of(y: Any) -> Any:
    """The sum of the chosen rows, for each column of choices."""
    return np.sum(np.where(CHOSEN[:, :, None], y[:, None, :], 0), axis=0)


VECTORS: dict[str, Any] = {
    "logistic": lambda w: np.sum(np.log1p(np.exp(-Y * (X @ w)))),
    "logsumexp": lambda w: np.log(np.sum(np.exp(X @ w))),
    "log-softmax": lambda w: np.sum(X * log_softmax(X * w, axis=1) ** 2),
    "quadratic": lambda w: w @ (X.T @ X) @ w,
    "no input": lambda w: w @ w,
    "relu": lambda w: np.sum(np.maximum(X @ w, 0) ** 3),
    "a branch": lambda w: np.sum(np.where(w > 0, np.log(np.abs(w)), w**2)),
    "a branch that is not taken": lambda w: np.sum(np.where(w > 9, np.log(w - w), w**2)),
    "read at places": lambda w: np.sum(w[PLACES] ** 3 * np.sin(w)),
    "slices": lambda w: np.sum(w[1:] ** 2 * w[:-1]) + np.sum(w[::-1] * w**3) + np.sum(w[::2] ** 3),
    "convolution": lambda w: np.sum(np.convolve(w, w) ** 2),
    "windows": lambda w: np.sum(np.lib.stride_tricks.sliding_window_view(w, 2).prod(-1) ** 2),
    "running sums": lambda w: np.sum(np.cumsum(w) ** 3),
    "a matrix of it": lambda w: np.sum(np.linalg.inv(w.reshape(2, 2))) + np.linalg.det(w.reshape(2, 2)),
    "diagonals": lambda w: np.trace(np.outer(w, w) @ np.outer(w, w)) + np.sum(np.diag(w) ** 2),
    "order": lambda w: np.max(w) ** 2 + np.sort(w) @ np.arange(4.0) ** 2,
    "rows in order": lambda w: np.sum(np.sort(X * w, axis=1) ** 2 @ np.arange(4.0)),
    "an index of each row": lambda w: np.sum(np.take_along_axis(X * w, ROWS, 1) ** 3),
    "products": lambda w: np.prod(w) + np.sum(np.cumprod(w)),
    "norms": lambda w: np.linalg.norm(w) + np.std(w),
    "pads": lambda w: np.sum(np.pad(w, (2, 1)) ** 3) + np.sum(np.roll(w, 1) * w**2),
    "parts side by side": lambda w: np.concatenate([np.sin(w), -2 * w**3, w[1:]]),
    "columns side by side": lambda w: np.stack([np.sin(w), w**2], axis=1),
    "parts that meet": lambda w: np.pad(w**3, (0, 3)) + np.pad(np.sin(w), (2, 1)) + np.exp(np.pad(w, (1, 2))),
    "quotients": lambda w: np.sum(w / (1 + w[:, None] ** 2)) + np.sum(1 / np.exp(w)),
    "a sum of few": lambda w: np.sum(w) * np.sum(w**2) - 3 * np.sum(w) + 1,
    "nothing": lambda w: np.sum(w[:0] ** 2) + np.sum(w**2),
    "one axis of two": lambda w: np.sum(np.reshape(np.outer(w, w), -1) ** 2 * np.arange(16.0)),
    "a matrix as a vector": lambda w: np.reshape(X * w, -1),
    "a diagonal and more": lambda w: np.exp(w)[:, None] * (np.diag(w) + X[:4]),
    "one of two": lambda w: np.where(w > 0, 2 * np.sin(w), -np.cos(w)),
    "a count": lambda w: np.sum(w * np.sum(w > 0)),
    "a selection in a product": lambda w: selection_of(1 / (X * w)),
}
MATRICES: dict[str, Any] = {
    "layers": lambda W: np.sum(np.tanh(X[:, :3] @ W) ** 2),
    "eigenvalues": lambda W: np.linalg.eigvalsh((W + W.T) / 2)[1] ** 3,
    "singular values": lambda W: np.linalg.svd(W, compute_uv=False)[1] ** 3,
    "factors": lambda W: np.sum(np.linalg.cholesky(W @ W.T + SPD) ** 3),
    "determinants": lambda W: np.linalg.slogdet(W @ W.T + SPD)[1] + np.linalg.det(W),
    "solutions": lambda W: np.sum(np.linalg.solve(W + SPD, np.ones(3)) ** 2),
    "batches": lambda W: np.einsum("ij,ik,jk->", W, W, W) + np.sum(np.matmul(W[None], W[:, None].swapaxes(1, 2)) ** 2),
}


def programs() -> list[Any]:
    return [pytest.param(f, (4,), id=name) for name, f in VECTORS.items()] + [
        pytest.param(f, (3, 3), id=name) for name, f in MATRICES.items()
    ]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("f", "shape"), programs())
def test_derivatives(backend: Backend, f: Any, shape: tuple[int, ...], order: int) -> None:
    x = np.random.default_rng(3).normal(size=shape)
    plan, values = plan_of(ea.derivative(f, order=order), x)
    check_plan(plan, values, backend)


@pytest.mark.parametrize(("f", "shape"), programs()[:8])
def test_third_derivatives(backend: Backend, f: Any, shape: tuple[int, ...]) -> None:
    plan, values = plan_of(ea.derivative(f, order=3), np.random.default_rng(3).normal(size=shape))
    check_plan(plan, values, backend)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("f", "shape"), programs()[:10])
def test_in_single_precision(backend: Backend, f: Any, shape: tuple[int, ...], order: int) -> None:
    x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    plan, values = plan_of(ea.derivative(f, order=order), x)
    assert plan.steps[-1].dtype == np.float32
    check_plan(plan, [value.astype(leaf.dtype) for value, leaf in zip(values, plan.inputs, strict=True)], backend)


NOTATIONS = ["on,nk,nm->okm", "no,nk,nm->kom", "nk,on,nm->kmo"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_contractions_by_slices(backend: Backend, notation: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_SMALLEST_SLICE", 1)
    sizes = dict(zip("onkm", (4, 7, 3, 5), strict=True))
    shapes = [[sizes[c] for c in term] for term in notation.split("->", maxsplit=1)[0].split(",")]
    arrays = [GENERATOR.integers(-4, 5, shape).astype(dtype) for shape in shapes]
    leaves = [leaf(tuple(x.shape), x.dtype, ("variable", f"x{k}"), f"x{k}") for k, x in enumerate(arrays)]
    plan = make_plan([as_node(np.einsum(notation, *map(Tensor, leaves)))], leaves)
    assert any(isinstance(step.kernel, kernels.Sliced) for step in plan.steps)
    check_plan(plan, arrays, backend, [np.einsum(notation, *arrays)])


STRUCTURAL = {
    "a shift": affine(5, (4,), (1,), 1, np.dtype(float)),
    "two strides": affine(5, (4, 3), (1, 2), -1, np.dtype(np.float32)),
    "none of them": affine(3, (2,), (1,), 7, np.dtype(bool)),
    "a delta": unit(3, 4, np.dtype(float)),
}


@pytest.mark.parametrize("name", STRUCTURAL)
def test_tensors_of_zeros_and_ones(backend: Backend, name: str) -> None:
    check_graph([STRUCTURAL[name]], {}, backend)


@pytest.mark.parametrize("dtype", [np.float64, np.bool_, np.int64])
def test_one_hot_rows(backend: Backend, dtype: Any) -> None:
    index = leaf((4,), np.int64, ("variable", "index"), "index")
    check_graph([selection(index, 3, np.dtype(dtype))], {index: np.array([2, 0, 2, 1])}, backend)


@pytest.mark.parametrize("kept", [(2, 0), (2, 1), (2,), (2, 0, 1), (0, 1, 2)])
def test_entries_added_at_places(backend: Backend, kept: tuple[int, ...]) -> None:
    """``sum of x[r, c] [index[r, c] = s]`` with or without r and c in the result."""
    index = leaf((3, 2), np.int64, ("variable", "index"), "index")
    x = leaf((3, 2), np.float64, ("variable", "x"), "x")
    root = einsum([x, selection(index, 4, x.dtype)], [(0, 1), (0, 1, 2)], kept)
    values = {x: np.array([[1.0, np.inf], [2.0, 3.0], [-4.0, 5.0]]), index: np.array([[3, 0], [3, 1], [1, 3]])}
    check_graph([root], values, backend)


@pytest.mark.parametrize(
    ("strides", "offset"), [((1,), -1), ((2,), 0), ((-1,), 2), ((1, 1), 0), ((2, 1), 1), ((3, -1), 1)]
)
def test_entries_added_along_affine_maps(backend: Backend, strides: tuple[int, ...], offset: int) -> None:
    shape = (3, 2)[: len(strides)]
    x = leaf((*shape, 2), np.float64, ("variable", "x"), "x")
    rank = len(shape)
    root = einsum(
        [x, affine(5, shape, strides, offset, x.dtype)], [range(rank + 1), (rank + 1, *range(rank))], (rank + 1, rank)
    )
    check_graph([root], {x: GENERATOR.normal(size=x.shape)}, backend)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_axes_of_no_entry(backend: Backend, shape: tuple[int, ...], order: int) -> None:
    f = ea.derivative(lambda x: np.sum(np.exp(x) * x) + np.sum(x @ x.T), order=order)
    plan, values = plan_of(f, np.ones(shape))
    check_plan(plan, values, backend)


def test_infinities_and_masks(backend: Backend) -> None:
    """The branch not taken does not contribute, infinities on a diagonal stay there, NaN stays NaN."""

    def f(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.log(x), 0 * x) + np.diag(1 / x)) + x * np.maximum(x, 0)

    x = np.array([0.0, -0.0, -1.0, np.inf, np.nan, 2.0])
    for order in (0, 1, 2):
        plan, values = plan_of(ea.derivative(f, order=order), x)
        check_plan(plan, values, backend)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(6, 4), (6, 1), (6, 0)])
def test_infinities_that_are_not_selected(backend: Backend, shape: tuple[int, int], dtype: Any) -> None:
    x = np.where(GENERATOR.random(shape) < 0.2, 0, GENERATOR.uniform(0.5, 2, shape)).astype(dtype)
    weights = np.arange(float(5 * shape[1])).reshape(5, shape[1]).astype(dtype)
    for order, f in ((0, selection_of), (1, lambda y: np.sum(weights * selection_of(y) ** 2))):
        plan, values = plan_of(ea.derivative(lambda x, f=f: f(1 / x), order=order), x)
        assert any(isinstance(step.kernel, kernels.Selected) for step in plan.steps) == (shape[1] > 1)
        check_plan(plan, values, backend)


def test_every_kernel_has_an_operation() -> None:
    assert set(OPERATIONS) == set(typing.get_args(kernels.Kernel))


def test_these_programs_have_all_kernels_but_those_tested_alone() -> None:
    found = set()
    for parameter in programs():
        f, shape = parameter.values
        for order in (0, 1, 2):
            plan, _ = plan_of(ea.derivative(f, order=order), np.random.default_rng(3).normal(size=shape))
            found |= {type(step.kernel) for step in plan.steps}
    rest = {kernels.AffineMap, kernels.OneHot, kernels.Inside, kernels.Sliced}
    assert set(OPERATIONS) - found <= rest
