"""Structured matrices against dense ones: SciPy's are right, and each operation that is wrong is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from einsumad.testing.properties import Case, run_properties, structured_agrees
from einsumad.testing.systems import EINSUMAD

RNG = np.random.default_rng(4)
SQUARE = RNG.standard_normal((4, 4)) * (RNG.random((4, 4)) < 0.6) + 3 * np.eye(4)
WIDE = RNG.standard_normal((2, 5))


class Matrix:
    """A matrix with every operation, each by its own code; `wrong` names one that is off by three per cent."""

    def __init__(self, array, wrong="", transposed=False):
        self.array, self.wrong, self.transposed = array, wrong, transposed
        self.shape = array.shape if wrong != "shape" else (7, 7)

    def off(self, name):
        return 1.03 if self.wrong == name else 1.0

    def toarray(self):
        return self.array * self.off("toarray")

    def dense(self):
        return self.array * self.off("dense")

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array * self.off("__array__"), dtype, copy=True)

    def __matmul__(self, other):
        side = "T @" if self.transposed else "@"
        return self.array @ other * self.off(f"{side} {'vector' if np.ndim(other) == 1 else 'matrix'}")

    def __rmatmul__(self, other):
        return other @ self.array * self.off(f"{'vector' if np.ndim(other) == 1 else 'matrix'} @")

    __array_ufunc__ = None

    def matvec(self, v):
        return self.array @ v * self.off("matvec")

    def rmatvec(self, v):
        return self.array.T @ v * self.off("rmatvec")

    def matmat(self, v):
        return self.array @ v * self.off("matmat")

    @property
    def T(self):  # noqa: N802 - NumPy's name
        return Matrix(self.array.T * self.off("T"), self.wrong, transposed=True)

    def diagonal(self):
        return np.diagonal(self.array) * self.off("diagonal")

    def trace(self):
        return np.trace(self.array) * self.off("trace")

    def sum(self):
        return np.sum(self.array) * self.off("sum")

    def solve(self, b):
        return np.linalg.solve(self.array, b) * self.off(f"solve({'vector' if np.ndim(b) == 1 else 'matrix'})")

    def inverse(self):
        return np.linalg.inv(self.array) * self.off("inverse")

    def logdet(self):
        return np.linalg.slogdet(self.array)[1] * self.off("logdet")


OPERATIONS = {
    "shape": "shape", "toarray": "toarray()", "dense": "dense()", "__array__": "np.asarray", "T": "T",
    "@ vector": "@ vector", "@ matrix": "@ matrix", "vector @": "vector @", "matrix @": "matrix @",
    "T @ vector": "T @ vector", "matvec": "matvec", "rmatvec": "rmatvec", "matmat": "matmat", "diagonal": "diagonal()",
    "trace": "trace()", "sum": "sum()", "solve(vector)": "solve(vector)", "solve(matrix)": "solve(matrix)",
    "inverse": "inverse()", "logdet": "logdet()",
}  # fmt: skip


def verdicts(found):
    return {finding.mode: finding.verdict for finding in found}


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.dia_array, aslinearoperator, np.asarray]
)
@pytest.mark.parametrize("array", [SQUARE, WIDE], ids=np.shape)
def test_matrices_of_scipy_are_right(make, array, dtype):
    array = array.astype(dtype)
    found = structured_agrees(make(array), array)
    assert len(found) >= 9
    assert set(verdicts(found).values()) == {"right"}, [str(finding) for finding in found]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1), (1, 3)])
@pytest.mark.parametrize("make", [sparse.csr_array, aslinearoperator, np.asarray])
def test_small_matrices_are_right(make, shape):
    array = RNG.standard_normal(shape)
    assert {*verdicts(structured_agrees(make(array), array)).values()} == {"right"}


def test_every_operation_is_compared():
    found = structured_agrees(Matrix(SQUARE), SQUARE)
    assert {*verdicts(found)} == {*OPERATIONS.values()}
    assert {*verdicts(found).values()} == {"right"}


@pytest.mark.parametrize("wrong", OPERATIONS)
def test_each_wrong_operation_is_found(wrong):
    found = [finding for finding in structured_agrees(Matrix(SQUARE, wrong), SQUARE) if finding.verdict == "wrong"]
    assert OPERATIONS[wrong] in {finding.mode for finding in found}
    assert len(found) == 1 or wrong in ("T", "shape", "toarray")


def test_an_operation_that_raises_is_wrong_and_one_that_is_missing_is_left_out():
    class Broken(Matrix):
        def trace(self):
            raise AttributeError("no such attribute inside")

        def diagonal(self):
            raise NotImplementedError

    found = verdicts(structured_agrees(Broken(SQUARE), SQUARE))
    assert found["trace()"] == "wrong"
    assert "diagonal()" not in found


def test_shapes_of_results_count():
    class Flat(Matrix):
        def dense(self):
            return self.array.reshape(-1)

    (wrong,) = [f for f in structured_agrees(Flat(SQUARE), SQUARE) if f.verdict == "wrong"]
    assert wrong.cause.startswith("wrong shape")
    with pytest.raises(ValueError, match="two axes"):
        structured_agrees(Matrix(SQUARE), np.zeros(3))


def test_solutions_of_ill_conditioned_systems_are_judged_by_their_residuals():
    hilbert = 1 / (np.arange(7)[:, None] + np.arange(7) + 1.0)
    assert {*verdicts(structured_agrees(Matrix(hilbert), hilbert)).values()} == {"right"}
    singular = np.ones((3, 3))
    assert "solve(vector)" not in verdicts(structured_agrees(Matrix(singular), singular))


def test_infinite_entries_are_undecided_only_where_they_differ():
    array = np.array([[np.inf, 1.0], [0.0, 2.0]])
    found = verdicts(structured_agrees(sparse.csr_array(array), array))
    assert found["toarray()"] == "right"
    assert "wrong" not in found.values()


def loss(x):
    return np.sum(np.exp(x)) + np.sum(x**2)


def hessian(f, arrays):
    return np.asarray(EINSUMAD.extras["hessian"](f, arrays)[0][0])


@pytest.mark.parametrize(
    ("structured", "verdict"),
    [
        (lambda f, xs: sparse.diags_array(np.diagonal(hessian(f, xs))), "right"),
        (lambda f, xs: aslinearoperator(hessian(f, xs)), "right"),
        (lambda f, xs: sparse.diags_array(1.03 * np.diagonal(hessian(f, xs))), "wrong"),
        (lambda f, xs: LinearOperator((3, 3), lambda v: hessian(f, xs) @ v, rmatvec=lambda v: v), "wrong"),
    ],
)  # fmt: skip
def test_structured_hessians_of_a_system(structured, verdict):
    system = replace(EINSUMAD, extras={**EINSUMAD.extras, "structured_hessian": structured})
    case = Case(system, loss, (np.array([0.5, -1.0, 2.0]),))
    found = run_properties(case, ["structured against dense"])
    assert verdict in {finding.verdict for finding in found}
    assert ("wrong" in {finding.verdict for finding in found}) == (verdict == "wrong")
    assert run_properties(replace(case, system=EINSUMAD), ["structured against dense"]) == ()
