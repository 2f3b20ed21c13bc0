"""The search for small arguments: never past what is wrong, always ending, and as far as one would go by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from einsumad.testing.diagnosis import smaller_arguments
from einsumad.testing.diagnosis.minimal import complexity

DTYPES = (np.float64, np.float32, np.float16, np.complex128, np.int64, np.bool_)
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
)


class Judge:
    """A predicate that remembers what it was shown, and spoils it afterwards."""

    def __init__(self, holds) -> None:
        self.holds = holds
        self.accepted: list[tuple[bytes, ...]] = []
        self.calls = 0

    def __call__(self, arguments) -> bool:
        self.calls += 1
        seen = tuple([array.tobytes() + str(array.shape).encode() for array in arguments])
        answer = self.holds(arguments)
        if answer:
            self.accepted.append(seen)
        for array in arguments:
            array[...] = 1
        return answer


def key(arguments) -> tuple[bytes, ...]:
    return tuple([array.tobytes() + str(array.shape).encode() for array in arguments])


@pytest.mark.fuzz
@settings(max_examples=max(60, settings().max_examples))
@given(st.lists(ARRAYS, min_size=1, max_size=3), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_what_comes_back_was_seen_to_be_wrong(arguments, budget, seed) -> None:
    given_before = [np.array(array) for array in arguments]

    def holds(tried) -> bool:
        mixed = hash((seed, *[array.shape for array in tried], *[int(np.sum(array != 0)) for array in tried]))
        if mixed % 7 == 0:
            raise FloatingPointError("the function is not defined here")
        return mixed % 3 != 0

    judge = Judge(holds)
    found = smaller_arguments(tuple(arguments), judge, budget)
    assert judge.calls <= budget
    assert key(found) in judge.accepted or key(found) == key(arguments)
    assert [(a.dtype, a.ndim) for a in found] == [(a.dtype, a.ndim) for a in arguments]
    assert all(np.all(np.less_equal(a.shape, b.shape)) for a, b in zip(found, arguments, strict=True))
    assert sum(map(complexity, found)) <= sum(map(complexity, arguments))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arguments, given_before, strict=True))
    assert key(found) == key(smaller_arguments(tuple(arguments), holds, budget))


def test_arguments_that_are_not_wrong_come_back() -> None:
    x = np.linspace(0.1, 0.7, 7)
    (found,) = smaller_arguments((x,), lambda _: False)
    assert np.array_equal(found, x)
    assert found is not x


def test_a_missing_transpose_is_shown_by_two_rows() -> None:
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((8, 8)), rng.standard_normal(8)

    def still_wrong(arguments) -> bool:
        X, w = arguments
        return bool(np.max(np.abs(X.T @ (X @ w) - X @ (X @ w))) > 1e-6)

    X, w = smaller_arguments((X, w), still_wrong)
    assert (X.shape, w.shape) == ((2, 2), (2,))
    assert sorted([*X.flat, *w]) == [0, 0, 0, 0, 1, 1]


def test_axes_of_one_length_stay_alike_where_the_function_needs_it() -> None:
    rng = np.random.default_rng(0)

    def still_wrong(arguments) -> bool:
        X, y = arguments
        if X.shape[0] != y.shape[0]:
            raise ValueError("shapes do not fit")
        return X.shape[1] >= 3

    X, y = smaller_arguments((rng.standard_normal((7, 5)), rng.standard_normal(7)), still_wrong)
    assert (X.shape, y.shape) == ((1, 3), (1,))
    assert not np.any(X)
    assert not np.any(y)


def test_a_fault_in_the_last_entry_is_kept() -> None:
    x = np.append(np.linspace(0.1, 0.9, 9), -7.25)
    (found,) = smaller_arguments((x,), lambda arguments: bool(np.any(arguments[0] < 0)))
    assert np.array_equal(found, [-7])


def test_numbers_keep_the_digits_they_need() -> None:
    (found,) = smaller_arguments((np.array([3.14159265, 2.71828]),), lambda a: bool(abs(a[0].flat[0] - 3.14) < 0.005))
    assert found.tolist() == [3.14]
    (tiny,) = smaller_arguments((np.array([1.23456e-9]),), lambda a: bool(0 < a[0].flat[0] < 1e-8))
    assert tiny.tolist() == [1.2e-9]
    (half,) = smaller_arguments((np.array([0.6180339]),), lambda a: bool(0.3 < a[0].flat[0] < 0.9))
    assert half.tolist() == [0.5]


def test_entries_become_plain_one_by_one() -> None:
    x = np.array([[0.123, 4.567], [8.901, 2.345]])
    (found,) = smaller_arguments(
        (x,), lambda a: a[0].shape == (2, 2) and bool(a[0][0, 1] > 4.5) and bool(a[0][1, 0] > 0)
    )
    assert found.tolist() == [[0.0, 5.0], [1.0, 0.0]]


def test_what_is_not_finite_stays() -> None:
    x = np.array([0.31, np.nan, 0.77, np.inf])
    (found,) = smaller_arguments((x,), lambda a: bool(np.any(np.isnan(a[0]))))
    assert np.isnan(found).any()
    assert found.shape in ((1,), (2,))


def test_complex_numbers_and_integers() -> None:
    z = np.array([0.3 + 0.7j, 1.1 - 0.2j])
    k = np.array([7, 5, 3])
    z, k = smaller_arguments((z, k), lambda a: bool(np.any(a[0].imag > 0.1)) and bool(np.all(a[1] > 0)))
    assert (z.dtype, k.dtype) == (np.complex128, np.int64)
    assert z.tolist() == [1j]
    assert k.tolist() == [1]


@pytest.mark.parametrize("budget", [0, 1, 5, 50])
def test_the_budget_is_kept_on_large_arrays(budget: int) -> None:
    judge = Judge(lambda arguments: arguments[0].shape[0] > 100)
    found = smaller_arguments((np.random.default_rng(0).standard_normal((2000, 50)),), judge, budget)
    assert judge.calls <= budget
    assert found[0].shape[0] > 100
