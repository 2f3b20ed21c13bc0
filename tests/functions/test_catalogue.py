"""The registries, the dtype rules and the source text of rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from einsumad.errors import DifferentiationError, ShapeError, TracingError
from einsumad.functions import (
    apply,
    call,
    elementwise_function,
    elementwise_names,
    general_function,
    general_names,
    origins,
    register_elementwise,
    register_general,
    source_of,
)
from tests.functions.evaluation import elementwise_value, variable
from tests.functions.special_params import SPECIAL_PARAMS

PARAMS: dict[str, tuple[int | float, ...]] = {
    "power": (3,),
    "power_log": (1,),
    "round_decimals": (1,),
    **{name: params[0] for name, params in SPECIAL_PARAMS.items()},
}
DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32, np.float64]


def test_duplicates_are_refused() -> None:
    with pytest.raises(TracingError, match=r"'exp' of .*test_catalogue.py:\d+ is already .*exponential.py:\d+"):
        register_elementwise(elementwise_function("exp"))
    with pytest.raises(TracingError, match="already registered"):
        register_general(general_function("inverse"))


@pytest.mark.parametrize(
    ("name", "hint"), [("expp", "'exp'"), ("arctan3", "'arctan2'"), ("qqqq", "register it before it is used")]
)
def test_unknown_names_suggest_near_ones(name: str, hint: str) -> None:
    with pytest.raises(TracingError, match=hint):
        apply(name, variable("x"))
    with pytest.raises(TracingError, match="there is no general function 'invers': did you mean 'inverse'"):
        call("invers", variable("x", (2, 2)))


def test_origins_name_the_file_of_each_row() -> None:
    assert set(origins()) == set(elementwise_names()) | set(general_names())
    assert origins()["sin"].rpartition(":")[0].endswith("trigonometric.py")
    assert origins()["solve"].rpartition(":")[0].endswith("linear.py")


def test_operands_are_checked() -> None:
    x = variable("x", (2,))
    with pytest.raises(ShapeError, match="exp takes 1 operand, got 2"):
        apply("exp", x, x)
    with pytest.raises(ShapeError, match="equal shape"):
        apply("maximum", x, variable("y", (3,)))
    with pytest.raises(TracingError, match="complex numbers are not supported yet"):
        apply("exp", variable("z", (2,), complex))
    with pytest.raises(TracingError, match="object"):
        apply("exp", variable("o", (2,), object))
    with pytest.raises(TracingError, match="sign does not take dtype bool"):
        apply("sign", variable("b", (2,), bool))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(set(elementwise_names()) - {"sign"}))
def test_declared_dtype_is_that_of_the_value(name: str, dtype: Any) -> None:
    row = elementwise_function(name)
    params = PARAMS.get(name, ())
    node = apply(name, *[variable(f"x{k}", (2,), dtype) for k in range(row.arity)], params=params)
    arrays = [np.ones(2, operand.dtype) for operand in node.operands]
    found = elementwise_value(name, arrays, params)
    assert found.dtype == node.dtype
    if row.takes_out:
        out = np.empty(2, node.dtype)
        names = tuple(f"x[{k}]" for k in range(row.arity))
        special = __import__("scipy.special", fromlist=["special"])
        eval(source_of(row, names, params, "out"), {"np": np, "special": special, "x": arrays, "out": out})  # noqa: S307
        np.testing.assert_array_equal(out, found)
    if row.ufunc is not None:
        assert source_of(row, tuple("abcd"[: row.arity]), ()) == f"{row.ufunc}({', '.join('abcd'[: row.arity])})"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "square", "abs", "floor", "ceil", "trunc", "rint", "arctan2"])
def test_integers_promote_as_in_numpy(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    arrays = [np.ones(2, dtype)] * function.nin
    ours = {"rint": "round"}.get(name, name)
    assert apply(ours, *[variable("x", (2,), dtype)] * function.nin).dtype == function(*arrays).dtype


@pytest.mark.parametrize(
    ("dtype", "exponent", "expected"),
    [
        (np.int64, 2, np.int64),
        (np.int8, 3, np.int8),
        (np.bool_, 2, np.int64),
        (np.int32, -1, np.float64),
        (np.int64, 2.0, np.float64),
        (np.float32, -1, np.float32),
        (np.float32, 0.3, np.float32),
        (np.float16, 2, np.float16),
    ],
)
def test_dtype_of_a_constant_power(dtype: Any, exponent: float, expected: Any) -> None:
    assert apply("power", variable("x", (2,), dtype), params=(exponent,)).dtype == expected


def test_quotients_of_integers_are_floats() -> None:
    node = apply("reciprocal", variable("n", (2,), np.int64))
    assert node.dtype == node.operands[0].dtype == np.float64


def test_exponents_are_written_as_numbers() -> None:
    row = elementwise_function("power")
    assert row.source(("t0",), (2,)) == "np.square(t0)"
    assert row.source(("t0",), (-0.5,)) == "np.power(t0, -0.5)"
    assert row.source(("t0",), (float("inf"),)) == "np.power(t0, np.inf)"
    assert row.source(("t0",), (float("nan"),)) == "np.power(t0, np.nan)"


def test_polygamma_beyond_the_range_of_floats_is_refused() -> None:
    with pytest.raises(DifferentiationError, match="order 171"):
        elementwise_function("polygamma").source(("t0",), (171,))


@pytest.mark.parametrize("name", general_names())
def test_general_row_is_complete(name: str) -> None:
    row = general_function(name)
    assert row.doc.strip().endswith(".")
    assert row.symbol
    assert row.domain
    assert row.arity >= 1
    shape = (4, 3, 3)
    ordered = {"determinant_minors", "product_of_others", "spectral", "divided_differences"}
    params = (2,) if name in ordered else ()
    assert row.cost((shape,) * row.arity, params) > 0


def test_scipy_is_not_loaded() -> None:
    code = "import sys, einsumad.functions; print('scipy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
