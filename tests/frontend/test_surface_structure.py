"""Shapes, joints, windows: values and dtypes as NumPy's, derivatives against oracles, no 0/1 tensor in the plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.lib.stride_tricks import sliding_window_view
from scipy.signal import correlate2d

import einsumad as ea
from einsumad.errors import TracingError
from einsumad.testing import check_derivatives
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, traced

CUBE, MATRIX, VECTOR = (2, 3, 4), (3, 4), (6,)
K = data((3,), seed=7)

FUNCTIONS = {
    "reshape": (lambda x: np.reshape(x, (2, 6)), MATRIX),
    "reshape, columns first": (lambda x: np.reshape(x, (2, 6), order="F"), MATRIX),
    "reshape, one free": (lambda x: x.reshape(4, 1, -1), CUBE),
    "reshape, mixed": (lambda x: np.reshape(x, (3, 2, 4)), CUBE),
    "ravel": (np.ravel, CUBE),
    "ravel, columns first": (lambda x: np.ravel(x, "F"), CUBE),
    "flatten": (lambda x: x.flatten(), CUBE),
    "flip": (np.flip, CUBE),
    "flip, one axis": (lambda x: np.flip(x, 1), CUBE),
    "fliplr": (np.fliplr, MATRIX),
    "flipud": (np.flipud, MATRIX),
    "rot90": (np.rot90, MATRIX),
    "rot90, twice": (lambda x: np.rot90(x, 2), MATRIX),
    "rot90, back": (lambda x: np.rot90(x, -1, (1, 2)), CUBE),
    "roll": (lambda x: np.roll(x, 2), MATRIX),
    "roll, an axis": (lambda x: np.roll(x, -3, 1), MATRIX),
    "roll, two axes": (lambda x: np.roll(x, (1, 2), (0, 1)), MATRIX),
    "repeat": (lambda x: np.repeat(x, 2), MATRIX),
    "repeat, by entry": (lambda x: np.repeat(x, [1, 0, 2], 0), MATRIX),
    "repeat, an axis": (lambda x: x.repeat(3, 1), MATRIX),
    "repeat, never": (lambda x: np.repeat(x, 0, 1), MATRIX),
    "tile": (lambda x: np.tile(x, 2), MATRIX),
    "tile, more axes": (lambda x: np.tile(x, (2, 1, 3)), MATRIX),
    "tril": (np.tril, MATRIX),
    "triu": (lambda x: np.triu(x, 1), CUBE),
    "tril of a vector": (np.tril, VECTOR),
    "concatenate": (lambda x: np.concatenate([x, x[:1], x]), MATRIX),
    "concatenate, columns": (lambda x: np.concatenate([x, x], 1), MATRIX),
    "concatenate, flat": (lambda x: np.concatenate([x, x[0]], None), MATRIX),
    "concatenate, constants": (lambda x: np.concatenate([np.ones((1, 4), x.dtype), x]), MATRIX),
    "stack": (lambda x: np.stack([x, x[::-1]], 1), MATRIX),
    "stack, last": (lambda x: np.stack([x, x], -1), MATRIX),
    "vstack": (lambda v: np.vstack([v, v]), VECTOR),
    "hstack": (lambda v: np.hstack([v, v]), VECTOR),
    "hstack of matrices": (lambda v: np.hstack([v, v]), MATRIX),
    "dstack": (lambda x: np.dstack([x, x]), MATRIX),
    "column_stack": (lambda v: np.column_stack([v, v]), VECTOR),
    "atleast_2d": (np.atleast_2d, VECTOR),
    "atleast_3d": (np.atleast_3d, MATRIX),
    "split": (lambda x: tuple(np.split(x, 2, 1)), MATRIX),
    "split, places": (lambda v: tuple(np.split(v, [1, 4, 9])), VECTOR),
    "array_split": (lambda v: tuple(np.array_split(v, 4)), VECTOR),
    "hsplit": (lambda x: tuple(np.hsplit(x, 2)), MATRIX),
    "vsplit": (lambda x: tuple(np.vsplit(x, 3)), MATRIX),
    "dsplit": (lambda x: tuple(np.dsplit(x, 2)), CUBE),
    "unstack": (lambda x: np.unstack(x, axis=1), MATRIX),
    "rollaxis": (lambda z: np.rollaxis(z, 2), CUBE),
    "rollaxis, start": (lambda z: np.rollaxis(z, 0, 3), CUBE),
    "pad": (lambda x: np.pad(x, 1), MATRIX),
    "pad, a constant": (lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=1), MATRIX),
    "pad, edge": (lambda x: np.pad(x, 2, mode="edge"), MATRIX),
    "pad, reflect": (lambda x: np.pad(x, 2, mode="reflect"), MATRIX),
    "pad, symmetric": (lambda x: np.pad(x, (0, 2), mode="symmetric"), MATRIX),
    "pad, wrap": (lambda x: np.pad(x, (1, 2), mode="wrap"), MATRIX),
    "diff": (np.diff, MATRIX),
    "diff, twice": (lambda x: np.diff(x, 2, 0), MATRIX),
    "diff, ends": (lambda x: np.diff(x, prepend=0, append=x[:, :1]), MATRIX),
    "diff of one": (np.diff, (1,)),
    "diff, never": (lambda x: np.diff(x, 0), MATRIX),
    "sliding_window_view": (lambda v: sliding_window_view(v, 3), VECTOR),
    "sliding_window_view, two": (lambda x: sliding_window_view(x, (2, 3)), MATRIX),
    "sliding_window_view, an axis": (lambda x: sliding_window_view(x, 2, 1), CUBE),
    "meshgrid": (lambda v: tuple(np.meshgrid(v, v[:2])), VECTOR),
    "meshgrid, sparse": (lambda v: tuple(np.meshgrid(v, v[:2], sparse=True, indexing="ij")), VECTOR),
    "diag": (lambda v: np.diag(v, 2), VECTOR),
    "diagonal": (lambda z: np.diagonal(z, -1, 1, 2), CUBE),
}
PRODUCTS = {
    "convolve": (lambda v: np.convolve(v, K), VECTOR),
    "convolve, same": (lambda v: np.convolve(v, K, "same"), VECTOR),
    "convolve, valid": (lambda v: np.convolve(K, v, "valid"), VECTOR),
    "convolve with itself": (lambda v: np.convolve(v, v), VECTOR),
    "convolve of one": (lambda v: np.convolve(v, v), (1,)),
    "correlate": (lambda v: np.correlate(v, K, "full"), VECTOR),
    "correlate, valid": (lambda v: np.correlate(v, K), VECTOR),
    "correlate, shorter first": (lambda v: np.correlate(K, v, "same"), VECTOR),
    "correlate, full, shorter first": (lambda v: np.correlate(K, v, "full"), VECTOR),
    "ediff1d": (lambda x: np.ediff1d(x, to_end=[1.0], to_begin=x[0, 0]), MATRIX),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *PRODUCTS])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_values(name: str, dtype: str) -> None:
    f, shape = {**FUNCTIONS, **PRODUCTS}[name]
    if name not in PRODUCTS or dtype == "f8":
        check(f, data(shape, dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["i8", "?"])
def test_values_of_whole_numbers_and_truth(name: str, dtype: str) -> None:
    f, shape = FUNCTIONS[name]
    if dtype == "?" and name in ("diff, ends", "pad, a constant"):
        pytest.skip("NumPy mixes booleans with whole numbers there")
    check(f, data(shape, dtype))


@pytest.mark.parametrize("name", [*FUNCTIONS, *PRODUCTS])
def test_derivatives(name: str) -> None:
    f, shape = {**FUNCTIONS, **PRODUCTS}[name]
    weights = [data(np.shape(part), seed=9) for part in _parts(f(data(shape)))]

    def loss(x: Any) -> Any:
        return sum(np.sum(np.sin(part) * w) for part, w in zip(_parts(f(x)), weights, strict=True))

    check_slopes(loss, data(shape), twice=name in TWICE)
    if settings().max_examples > MANY:
        properties = ("mode agreement", "symmetry", "hvp is H v", "reference interpreter")
        check_derivatives(loss, data(shape), properties=properties).raise_if_wrong(undecided=True)


def _parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (1, 1)])
def test_corners(shape: tuple[int, ...]) -> None:
    x = data(shape)
    check(np.ravel, x)
    check(np.flip, x)
    check(lambda a: np.reshape(a, (-1,)) if a.size else np.reshape(a, (0, 2)), x)
    check(lambda a: np.roll(a, 1), x)
    check(lambda a: np.stack([a, a]), x)
    check(lambda a: np.repeat(a, 2), x)
    check(lambda a: np.tile(a, (2, 2)), x)
    check(lambda a: np.pad(a, 1), x)
    if shape:
        check(lambda a: np.concatenate([a, a], -1), x)
        check(np.diff, x)


def test_infinities_are_moved_and_never_multiplied() -> None:
    x = np.array([[1.0, np.inf], [np.nan, -np.inf]])
    for f in (np.ravel, np.flip, np.tril, lambda a: np.pad(a, 1), lambda a: np.concatenate([a, a]), np.rot90):
        check(f, x)
    assert ea.grad(lambda a: np.sum(np.triu(a)))(x).tolist() == [[1, 1], [0, 1]]


def test_refusals() -> None:
    x = traced(data(MATRIX))
    with pytest.raises(ValueError, match="reshape"):
        np.reshape(x, (5, 2))
    with pytest.raises(ValueError, match="fit along axis"):
        np.concatenate([x, x[:, :1]])
    with pytest.raises(ValueError, match="one shape"):
        np.stack([x, x[:, :1]])
    with pytest.raises(ValueError, match="equal division"):
        np.split(x, 3, 1)
    with pytest.raises(TracingError, match="mode='empty'"):
        np.pad(x, 1, mode="empty")
    with pytest.raises(ValueError, match="does not fit"):
        sliding_window_view(x, (4, 4))
    with pytest.raises(np.exceptions.AxisError):
        np.flip(x, 2)


LONG = 1_000_000
LONG_ONES = {
    "slice": lambda x: x[10:-10:3],
    "reversed": lambda x: x[::-1],
    "reshape": lambda x: np.reshape(x, (1000, 1000)).T,
    "pad": lambda x: np.pad(x, 5),
    "roll": lambda x: np.roll(x, 12345),
    "diff": np.diff,
    "gather": lambda x: x[np.arange(0, LONG, 7) % 1000],
    "concatenate": lambda x: np.concatenate([x, x[:5]]),
    "windows": lambda x: sliding_window_view(x, 3),
    "convolve": lambda x: np.convolve(x, np.array([1.0, -2.0, 1.0]), "same"),
}


@pytest.mark.parametrize("name", LONG_ONES)
def test_no_tensor_of_zeros_and_ones_is_stored(name: str) -> None:
    f = LONG_ONES[name]
    x = np.linspace(0.0, 1.0, LONG)
    limit = 20 * x.nbytes
    value, gradient = ea.value_and_grad(lambda x: np.sum(f(x) ** 2), memory_limit=limit)(x)
    np.testing.assert_allclose(value, np.sum(f(x) ** 2), rtol=1e-11)
    step = 1e-3 * np.cos(np.arange(LONG))
    directional = (np.sum(f(x + step) ** 2) - np.sum(f(x - step) ** 2)) / 2
    np.testing.assert_allclose(gradient @ step, directional, rtol=1e-7)


def test_a_convolution_of_images_is_a_product() -> None:
    image, kernel = data((9, 8)), data((3, 2), seed=4)

    def windows(x: Any) -> Any:
        return sliding_window_view(x, (3, 2))

    def filtered(x: Any, k: Any) -> Any:
        return np.einsum("ijab,ab->ij", windows(x), k)

    expected = correlate2d(image, kernel, "valid")
    np.testing.assert_allclose(filtered(image, kernel), expected, rtol=1e-13)
    weights = data(expected.shape, seed=5)

    def loss(x: Any, k: Any) -> Any:
        return np.sum(filtered(x, k) ** 2 * weights)

    to_image, to_kernel = ea.grad(loss, argnums=(0, 1))(image, kernel)
    outer = 2 * weights * expected
    np.testing.assert_allclose(to_kernel, correlate2d(image, outer, "valid"), rtol=1e-12)
    full = np.zeros_like(image)
    for a in range(3):
        for b in range(2):
            full[a : a + 7, b : b + 7] += outer * kernel[a, b]
    np.testing.assert_allclose(to_image, full, rtol=1e-12)
    hessian = ea.hessian(loss, argnums=1)(image, kernel)
    patches = windows(image)
    np.testing.assert_allclose(hessian, 2 * np.einsum("ij,ijab,ijcd->abcd", weights, patches, patches), rtol=1e-12)


def _lower_part(x: Any) -> Any:
    return np.tril(np.diff(np.stack([x, x + 1, x**2]), axis=1))


CHAINS = {
    "a diagonal that is read at places twice": lambda x: np.roll(np.take(np.exp(-(np.diagonal(x) ** 2)), [1, 0, 0]), 2),
    "masks beside sums of maps": lambda x: np.mean(np.cumprod(_lower_part(x[0]), 0), 1, keepdims=True) * x[0, :3],
    "largest of joined": lambda x: np.max(np.stack([x, x[::-1] * 2]), 0),
    "largest of windows, padded": lambda x: np.pad(sliding_window_view(np.max(np.concatenate([x, x * 2]), 0), 2), 1),
    "repeated, rolled": lambda x: np.roll(np.roll(np.diff(np.repeat(x, 2, 1), axis=1), 2, 1), 1, 0),
    "convolved with itself": lambda x: np.convolve(np.cumsum(x[0]), np.sort(x[1])),
    "written through views": lambda x: _written(np.tril(x.copy())),
}


def _written(x: Any) -> Any:
    below, turned = x[1:], np.flip(x)
    below *= 0.5
    turned[..., 0] = np.sum(below)
    return x


TWICE = ("masks beside sums of maps", "largest of windows, padded")  # where rules did not come to an end
MANY = 200  # in the long run every chain is differentiated twice


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_structural_functions(name: str) -> None:
    f, x = CHAINS[name], data((3, 4), low=-0.9)
    check(f, x)
    order = 2 if name in TWICE or settings().max_examples > MANY else 1
    assert check_derivatives(lambda v: np.sum(f(v) ** 2 * data(f(x).shape, seed=3)), x, order=order)


def test_a_first_entry_beside_the_others_takes_no_room() -> None:
    """Its places run far out of bounds: they are cut, and no axis has room for all of them."""
    x = np.arange(1.0, 10**6 + 1)
    found = ea.grad(lambda v: np.sum(np.concatenate([v[:1], 2 * v[1:]]) ** 2))(x)
    np.testing.assert_array_equal(found[:3], [2, 16, 24])
    np.testing.assert_array_equal(ea.grad(lambda v: np.sum(np.concatenate([np.cos(v)[-1:], v])))(x)[:3], 1)
