"""Snippets run, and make the very arrays they were written for."""

from __future__ import annotations

import keyword
import runpy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import einsumad.testing
from einsumad.errors import ShapeError
from einsumad.testing import bits
from einsumad.testing.diagnosis import as_code
from einsumad.testing.diagnosis.snippet import literal

DTYPES = ("f8", "f4", "f2", "c16", "c8", "i8", "i4", "u1", "?", ">f8", "<f4")
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(np.dtype(dtype), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


def ran(code: str, **names) -> dict:
    """The names that a program has defined when it has ended."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "snippet.py"
        path.write_text(code, encoding="utf-8")
        return runpy.run_path(str(path), init_globals=names)


def made_by(expression: str) -> np.ndarray:
    return ran(f"made = {expression}", np=np)["made"]


def same_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal shape, dtype but for the order of bytes, and numbers: padding and what a NaN carries do not count."""
    other = other.astype(other.dtype.newbyteorder("="))
    return bits.same_bits(one, other)


@pytest.mark.fuzz
@settings(max_examples=max(300, settings().max_examples))
@given(ARRAYS)
def test_literals_come_back_bit_by_bit(array) -> None:
    assert same_numbers(made_by(literal(array)), array)


def test_shortest_digits_and_special_values() -> None:
    assert literal(np.array([[1.0, 2.0]])) == "np.array([[1.0, 2.0]])"
    assert literal(np.array([0.1, 1 / 3], np.float32)) == "np.array([0.1, 0.33333334], dtype=np.float32)"
    assert literal(np.array([-0.0, np.nan, np.inf, -np.inf])) == "np.array([-0.0, np.nan, np.inf, -np.inf])"
    assert literal(np.array(1e-300)) == "np.array(1e-300)"
    assert literal(np.zeros((0, 3))) == "np.zeros((0, 3))"
    assert literal(np.zeros((2, 0), np.float32)) == "np.zeros((2, 0), dtype=np.float32)"
    assert literal(np.array([1 + 2j, complex(-0.0, np.nan)])) == (
        "np.array([1.0+2.0j, complex(-0.0, np.nan)], dtype=np.complex128)"
    )


def test_column_major_arrays_stay_so() -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    made = made_by(literal(array))
    assert np.array_equal(made, array)
    assert made.flags.f_contiguous


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no extended precision here")
def test_extended_precision() -> None:
    array = np.array([1 / np.longdouble(3), np.longdouble("1e4000")])
    assert same_numbers(made_by(literal(array)), array)


class Report:
    """What the checks of the snippets return here."""

    def __init__(self) -> None:
        self.raised = False

    def raise_if_wrong(self) -> None:
        self.raised = True


class Check:
    """A check that records what it is called with."""

    def __init__(self) -> None:
        self.report = Report()

    def __call__(self, *args, **kwargs) -> Report:
        self.args, self.kwargs = args, kwargs
        return self.report


def run(monkeypatch, code: str, check: str, **functions) -> Check:
    recorder = Check()
    monkeypatch.setattr(einsumad.testing, check, recorder, raising=False)
    ran(code, **functions)
    assert recorder.report.raised
    return recorder


def loss(x: float) -> float:
    return x


@pytest.mark.parametrize("shape", [(), (3,), (8, 8), (4, 4, 4), (2, 0), (1, 20), (64,)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_snippets_run(monkeypatch, shape, dtype) -> None:
    rng = np.random.default_rng(len(shape))
    arrays = [np.asarray(rng.standard_normal(shape)).astype(dtype), rng.integers(0, 9, 4)]
    code = as_code(
        "loss at a point",
        arrays,
        argument_names=["x", "labels"],
        function_name="loss",
        claim_name="gradient",
        check="check_user_gradient",
    )
    called = run(monkeypatch, code, "check_user_gradient", loss=loss, gradient=Report)
    assert called.args[:2] == (loss, Report)
    assert called.kwargs == {}
    assert all(same_numbers(made, array) for made, array in zip(called.args[2:], arrays, strict=True))
    assert max(map(len, code.splitlines())) <= 110


def test_options_and_no_claim(monkeypatch) -> None:
    code = as_code(
        "third\nderivative",
        [np.array(2.0)],
        argument_names=["x"],
        function_name="loss",
        claim_name="",
        check="check_derivatives",
        options={"order": 3, "argnums": (0,), "mode": "reverse"},
    )
    assert code.startswith("# third derivative\n")
    called = run(monkeypatch, code, "check_derivatives", loss=loss)
    assert called.args == (loss, np.array(2.0))
    assert called.kwargs == {"order": 3, "argnums": (0,), "mode": "reverse"}


def test_large_arrays_are_described() -> None:
    code = as_code(
        "f",
        [np.zeros((1000, 50)), np.zeros(65, np.float32)],
        argument_names=["X", "y"],
        function_name="f",
        claim_name="g",
        check="check_user_gradient",
    )
    assert "X = ...  # float64 (1000, 50): too large to print" in code
    assert "y = ...  # float32 (65,): too large to print" in code
    compile(code, "snippet", "exec")


NAMES = st.one_of(
    st.sampled_from(["x", "params['w']", "z[1]", "lambda", "np", "<lambda>", "f", "2x", "", "check_it", "model"]),
    st.text(max_size=6),
)


@settings(max_examples=max(150, settings().max_examples))
@given(st.lists(NAMES, min_size=1, max_size=4), NAMES, NAMES)
def test_any_names_make_a_program(names, function, claim) -> None:
    arrays = [np.array(float(k)) for k in range(len(names))]
    code = as_code("any", arrays, argument_names=names, function_name=function, claim_name=claim, check="check_it")
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    assigned = [line.split(" = ")[0] for line in lines if " = np.array(" in line]
    assert len(set(assigned)) == len(names)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in assigned)
    assert lines[-1].startswith("check_it(")
    first = lines[-1].removeprefix("check_it(").split(", ")[0]
    assert first.split(".")[0] not in assigned
    compile(code, "snippet", "exec")


def test_attributes_keep_their_names_and_are_not_hidden() -> None:
    code = as_code(
        "t",
        [np.array(1.0)],
        argument_names=["model"],
        function_name="model.loss",
        claim_name="np.cos",
        check="check_user_gradient",
    )
    assert code.splitlines()[-1] == "check_user_gradient(model.loss, np.cos, model_).raise_if_wrong()"


def test_one_name_for_each_argument() -> None:
    with pytest.raises(ShapeError, match="2 arguments and 1 names"):
        as_code("t", [np.ones(2)] * 2, argument_names=["x"], function_name="f", claim_name="g", check="check_it")
