"""Data sets, splits and transforms."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from einsumad import ShapeError
from einsumad.data import (
    ArrayDataset,
    Compose,
    Dataset,
    Lambda,
    OneHot,
    Standardize,
    Subset,
    curve,
    make_moons,
    random_split,
    sine,
    train_test_split,
)


def test_arrays_as_a_data_set(tmp_path: Path) -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), [2, 1, 0]
    data = ArrayDataset(x, y)
    assert len(data) == 3
    assert data.arrays[0] is x
    row = data[-1]
    assert (row[0].dtype, row[0].tolist(), row[1]) == (np.float32, [4, 5], 0)
    row[0][:] = 9
    assert x[2, 0] == 4
    with pytest.raises(IndexError):
        data[3]
    np.save(tmp_path / "x.npy", x)
    mapped = ArrayDataset(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert type(mapped.stacked(np.array([2, 0]))[0]) is np.ndarray
    for arrays, kind, message in [
        ((), TypeError, "none"),
        ((x, np.arange(4)), ShapeError, r"3 \(array 0\), 4 \(array 1\)"),
        ((x, 1.0), ShapeError, "array 1 has no axes"),
        (([None, 2],), TypeError, "array 0 is no array of numbers"),
        (([[1], [1, 2]],), ShapeError, "array 0 has rows of different shapes"),
    ]:
        with pytest.raises(kind, match=message):
            ArrayDataset(*arrays)


def test_what_a_data_set_is() -> None:
    assert isinstance([1], Dataset)
    assert not isinstance(iter([1]), Dataset)

    class Half(Dataset):
        def __len__(self) -> int:
            return 1

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_parts() -> None:
    part = Subset(ArrayDataset(np.arange(5) ** 2), [4, 2])
    assert (len(part), part[0], part[-1]) == (2, (16,), (4,))
    np.testing.assert_array_equal(Subset(part, [1]).stacked(np.array([0]))[0], [4])
    assert len(Subset(part, [])) == 0
    with pytest.raises(IndexError, match=r"row 5 .* 5 rows"):
        Subset(ArrayDataset(np.arange(5)), [5])
    with pytest.raises(IndexError, match="row -1"):
        Subset(ArrayDataset(np.arange(5)), [-1])
    with pytest.raises(TypeError, match="bool"):
        Subset(ArrayDataset(np.arange(2)), [True, False])


@given(
    rows=st.integers(2, 40),
    size=st.one_of(st.floats(0.01, 0.99), st.integers(1, 39)),
    seed=st.integers(0, 99),
    shuffle=st.booleans(),
)
def test_split_has_every_row_once(rows: int, size: float, seed: int, shuffle: bool) -> None:
    tested = size if isinstance(size, int) else ceil(size * rows)
    x, y = np.arange(rows), np.arange(rows, dtype=np.float32)[:, None]

    def split() -> list[np.ndarray]:
        return train_test_split(x, y, test_size=size, shuffle=shuffle, rng=seed)

    if not 0 < tested < rows:
        with pytest.raises(ValueError, match="empty"):
            split()
        return
    x_train, x_test, y_train, y_test = split()
    assert (len(x_train), len(x_test), y_test.dtype) == (rows - tested, tested, np.float32)
    np.testing.assert_array_equal(np.sort(np.concatenate([x_train, x_test])), x)
    np.testing.assert_array_equal(y_train[:, 0], x_train)
    np.testing.assert_array_equal(y_test[:, 0], x_test)
    np.testing.assert_array_equal(split()[1], x_test)
    if not shuffle:
        np.testing.assert_array_equal(x_test, x[rows - tested :])


@given(sizes=st.lists(st.integers(2, 12), min_size=1, max_size=4), size=st.floats(0.1, 0.9), seed=st.integers(0, 99))
def test_stratified_split_keeps_shares(sizes: list[int], size: float, seed: int) -> None:
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows, tested = len(labels), ceil(size * len(labels))
    assume(min(tested, rows - tested) >= len(sizes))
    places = np.arange(rows)
    train, test = train_test_split(places, test_size=size, stratify=labels, rng=seed)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), places)
    assert len(test) == tested
    shares = np.array(sizes) * tested / rows
    assert (np.abs(np.bincount(labels[test], minlength=len(sizes)) - shares) < 1).all()


def test_splits_are_checked() -> None:
    x = np.arange(6)
    for options, message in [
        ({"test_size": 1.0}, "test_size"),
        ({"test_size": "a"}, "test_size"),
        ({"test_size": True}, "test_size"),
        ({"stratify": [0, 0, 0, 0, 0, 1]}, "class 1 has one row"),
        ({"stratify": [0, 0, 1, 1, 2, 2]}, "3 classes"),
        ({"stratify": [0, 1]}, r"6 rows, got shape \(2,\)"),
        ({"stratify": [0, 0, 0, 1, 1, 1], "shuffle": False}, "shuffle=True"),
    ]:
        with pytest.raises(ValueError, match=message):
            train_test_split(x, **options)
    with pytest.raises(ShapeError):
        train_test_split(x, x[:2])
    with pytest.raises(TypeError):
        train_test_split()


def test_split_is_that_of_scikit_learn_in_sizes() -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    labels = np.array([0] * 31 + [1] * 11 + [2] * 8)
    for size in (0.25, 0.1, 0.5, 7):
        theirs = model_selection.train_test_split(labels, test_size=size, stratify=labels, random_state=0)
        ours = train_test_split(labels, test_size=size, stratify=labels, rng=0)
        for one, other in zip(ours, theirs, strict=True):
            assert len(one) == len(other)
            assert (np.abs(np.bincount(one) - np.bincount(other)) <= 1).all()


@given(rows=st.integers(0, 30), seed=st.integers(0, 9), cut=st.floats(0, 1))
def test_random_split(rows: int, seed: int, cut: float) -> None:
    data = ArrayDataset(np.arange(rows))
    whole = int(cut * rows)
    for lengths in ([whole, rows - whole], [cut, 1 - cut], [0.2, 0.3, 0.5]):
        parts = random_split(data, lengths, rng=seed)
        found = np.concatenate([part.stacked(np.arange(len(part)))[0] for part in parts])
        np.testing.assert_array_equal(np.sort(found), np.arange(rows))
        if lengths[0] is whole:
            assert [len(part) for part in parts] == lengths
        else:
            assert all(abs(len(part) - rows * of) < 2 for part, of in zip(parts, lengths, strict=True))


def test_random_split_is_checked() -> None:
    data = ArrayDataset(np.arange(5))
    for lengths in ([2, 2], [0.5, 0.4], [-1, 6], [2.5, 2.5]):
        with pytest.raises(ValueError, match="lengths"):
            random_split(data, lengths)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("shape", "axis"), [((50, 3), 0), ((20, 3, 4, 5), (0, 2, 3)), ((50,), 0)])
def test_standardize(dtype: Any, shape: tuple[int, ...], axis: Any) -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) * 3 + 10).astype(dtype)
    standardize = Standardize(axis).fit(x)
    y = standardize(x)
    tolerance = 5e-3 if dtype is np.float16 else 1e-6
    assert y.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    np.testing.assert_allclose(y.astype(float).mean(axis), 0, atol=tolerance)
    np.testing.assert_allclose(y.astype(float).std(axis), 1, rtol=tolerance)
    np.testing.assert_allclose(standardize.inverse(y), x, rtol=tolerance)
    np.testing.assert_array_equal(standardize(x[:1]), y[:1])  # statistics are those of the fit
    np.testing.assert_array_equal(standardize(x[:0]), y[:0])


def test_standardize_what_does_not_vary_and_what_does_not_fit() -> None:
    x = np.full((7, 2), 0.1)
    x[:, 1] = np.arange(7)
    standardize = Standardize().fit(x)
    np.testing.assert_allclose(standardize(x)[:, 0], 0, atol=1e-15)
    np.testing.assert_allclose(standardize.inverse(standardize(x)), x)
    with pytest.raises(ValueError, match="not fitted"):
        Standardize()(x)
    with pytest.raises(ShapeError, match=r"\(1, 2\) were fitted, and the data have \(7, 1\)"):
        standardize(x[:, :1])
    with pytest.raises(ShapeError):
        standardize(x[0])
    with pytest.raises(ValueError, match=r"nan at \(3, 1\)"):
        Standardize().fit(np.where(x == 3, np.nan, x))
    with pytest.raises(ValueError, match="no data"):
        Standardize().fit(x[:0])
    with pytest.raises(TypeError, match=r"transform=\(function, None\)"):
        standardize((x, x))
    with pytest.raises(TypeError, match="<U1"):
        standardize(["a"])
    assert (repr(standardize), repr(Standardize())) == ("Standardize(axis=0)", "Standardize(axis=0, not fitted)")


def test_one_hot() -> None:
    np.testing.assert_array_equal(OneHot(3)(np.array([[0, 2]])), [[[1, 0, 0], [0, 0, 1]]])
    named = OneHot(["dog", "cat"], dtype=np.float64)
    assert named(["cat", "dog"]).tolist() == [[0, 1], [1, 0]]
    assert named.inverse([[0.2, 0.1]]).tolist() == ["dog"]
    assert OneHot(2)(np.zeros(0, int)).shape == (0, 2)
    assert OneHot().fit([5, 3, 5]).inverse(np.eye(2)).tolist() == [3, 5]
    for act, kind, message in [
        (lambda: OneHot(2)([0, 2]), ValueError, "label 2 is none of the 2 classes"),
        (lambda: OneHot(2)([-1]), ValueError, "label -1"),
        (lambda: OneHot(2)([0.5]), ValueError, r"label 0\.5"),
        (lambda: named(["cow"]), ValueError, "label cow"),
        (lambda: OneHot()([0]), ValueError, "fit"),
        (lambda: OneHot([1, 1]), ValueError, "different"),
        (lambda: OneHot(2).inverse(np.ones((4, 3))), ShapeError, r"\(\.\.\., 2\)"),
    ]:
        with pytest.raises(kind, match=message):
            act()
    assert (repr(OneHot(2)), repr(OneHot())) == ("OneHot(2 classes)", "OneHot(not fitted)")


def test_compose() -> None:
    x = np.arange(6.0).reshape(3, 2)
    halved = Lambda(lambda x: x / 2, inverse=lambda x: x * 2)
    both = Compose([Standardize().fit(x), halved])
    np.testing.assert_array_equal(both(x), Standardize().fit(x)(x) / 2)
    np.testing.assert_allclose(both.inverse(both(x)), x, atol=1e-14)
    with pytest.raises(TypeError, match="inverse"):
        Compose([np.exp]).inverse(x)
    with pytest.raises(TypeError, match="inverse="):
        Lambda(abs).inverse(x)
    with pytest.raises(TypeError, match="int"):
        Compose([abs, 3])
    assert repr(Compose([Lambda(abs)])) == "Compose([Lambda(abs)])"


def test_toy_data() -> None:
    x, y = make_moons(41, noise=0.0, rng=3).arrays
    assert (x.dtype, y.dtype, np.bincount(y).tolist()) == (np.float32, np.int64, [20, 21])
    centre = np.where(y == 1, 1, 0), np.where(y == 1, 0.5, 0)
    np.testing.assert_allclose((x[:, 0] - centre[0]) ** 2 + (x[:, 1] - centre[1]) ** 2, 1, rtol=1e-5)
    assert (np.sign(x[:, 1] - centre[1] + 1e-6 * (1 - 2 * y)) == 1 - 2 * y).all()
    np.testing.assert_array_equal(make_moons(41, 0.1, rng=3).arrays[0], make_moons(41, 0.1, rng=3).arrays[0])
    x, y = sine(2000, noise=0.1, rng=0, dtype=np.float64).arrays
    assert x.shape == y.shape == (2000, 1)
    assert abs(x).max() < np.pi
    assert abs(np.std(y - np.sin(x)) - 0.1) < 0.01
    x, y = curve(lambda x: np.cos(15 * x), 5, rng=0, interval=(2, 3)).arrays
    assert y.dtype == np.float32
    assert ((x >= 2) & (x <= 3)).all()


def test_moons_are_those_of_scikit_learn() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    theirs, labels = datasets.make_moons(31, shuffle=False)
    x, y = make_moons(31, rng=0, dtype=np.float64).arrays
    for kind in (0, 1):
        mine = x[y == kind]
        np.testing.assert_allclose(
            mine[np.argsort(mine[:, 0])], theirs[labels == kind][np.argsort(theirs[labels == kind][:, 0])], atol=1e-12
        )
