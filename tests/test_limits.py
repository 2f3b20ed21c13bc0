"""Each option and kind of argument that the table names as refused is refused, and no handler refuses another."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.cli.inventory import public_functions
from einsumad.errors import TracingError
from einsumad.frontend import registry
from einsumad.frontend.coverage.limits import EVERYWHERE, LIMITS, limit_of
from einsumad.frontend.coverage.numpy_limits import UNKNOWN
from einsumad.frontend.known import READ
from einsumad.frontend.numpy_functions.facts import OF_VALUES
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import linalg, special
from tests.frontend.surface import data, traced

HANDLERS = Path(ea.__file__).parent / "frontend"
FOLDERS = ("numpy_functions", "scipy_linalg", "scipy_special")
DTYPES_AND_ORDERS = {"linear_algebra.py": 1, "dispatch.py": 2, "parameters.py": 3}
"""What handlers refuse by themselves: dtypes that LAPACK lacks, unknown keywords, and orders that are not plain."""

X = data((3, 3))
V = X[0]
MASK = np.eye(3, dtype=bool)
Call = Callable[[Any], Any]

# for each library and limit a call of the function f, named n; x is a traced matrix and x[0] a traced vector
REFUSED: dict[str, dict[str, Callable[[Any, str, Any], Any]]] = {
    "numpy": {
        "order=...": lambda f, n, x: f(x, 0, order="a") if "partition" in n else f(x, order="a"),
        "order='A' or 'K'": lambda f, _, x: (f(x[0], order="A"), f(x[:1], order="K"), f(x, order="K")),
        "order='A'": lambda f, _, x: (f(x[0], (3, 1), order="A"), f(x, 9, order="A")),
        "weights=...": lambda f, _, x: f(x, 0.5, weights=np.ones((3, 3)), method="inverted_cdf"),
        "in q": lambda f, _, x: f(x, x[0, 0]),
        "of no entries": lambda f, _, x: f(x[:0], 0.5),
        "where=...": lambda f, _, x: f(x, where=MASK),
        "initial=...": lambda f, _, x: f(x, initial=1.0),
        "mean=...": lambda f, _, x: f(x, mean=0.5),
        "dtype=bool": lambda f, n, x: f(x[0] > 0 if "cum" in n else x, dtype=bool),
        "dtype=...": lambda f, n, x: f(x[0], x[1], dtype=int) if "space" in n else f(x, dtype=np.float64),
        "casting=...": lambda f, _, x: f("ij->ji", x, casting="unsafe"),
        "reflect_type='odd'": lambda f, _, x: f(x, 1, "reflect", reflect_type="odd"),
        "mode=...": lambda f, _, x: f(x, 1, "empty"),
        "constant_values=a traced value": lambda f, _, x: f(x, 1, constant_values=x[0, 0]),
        "bins='auto'": lambda f, _, x: f(x, "auto"),
        "of truth values as weights with edges": lambda f, _, x: f(x[0], [0.0, 0.5, 1.0], weights=x[0] > 0),
        "axis=...": lambda f, _, x: f(x, axis=0),
        "copy=False": lambda f, _, x: f(x, copy=False),
        "of a condition alone": lambda f, _, x: f(x > 0),
        "full=True": lambda f, *_: ea.compile(lambda v: f(v, V, 1, full=True))(V),
        "cov=True": lambda f, *_: ea.compile(lambda v: f(v, V, 1, cov=True))(V),
        "of a matrix": lambda f, _, x: f(x),
        "of a poly1d": lambda f, _, x: f(np.poly1d([1, 2]), x[0]),
        "at a poly1d": lambda f, _, x: f(x[0], np.poly1d([1, 2])),
        "of traced coefficients that begin with zero": lambda f, _, x: f(x[0] * [0, 1, 1], x[0]),
        "with a remainder that begins with zero": lambda f, _, x: f(np.append(0 * x[0] + [1, 2, 3], 5), [1, 2, 3]),
        "of truth values": lambda f, _, x: f(x > 0, 1),
        "of integers": lambda f, n, x: f(*[x.astype(int)] * (1 if n in ("invert", "bitwise_not", "reciprocal") else 2)),
        "of integers to an array of exponents": lambda f, _, x: f(x.astype(int), np.arange(3)),
        "of unsigned integers": lambda f, n, x: f(*[x.astype(np.uint8)] * (2 if n == "subtract" else 1)),
        "of a function that gives no array": lambda f, _, x: f(lambda *_: 1.0, x, 0),
        "at places that are named twice": lambda f, _, x: f(x, [0, 0], 2.0),
        "of entries that are no operands of the function": lambda f, n, x: f(x, [0]) if "at" in n[-2:] else f(x),
    },
    "numpy.linalg": {
        "ord=...": lambda f, n, x: f(x, **{"p" if n == "cond" else "ord": x[0, 0]}),
        "rcond=...": lambda f, n, x: f(x, *([V] if n == "lstsq" else []), rcond=np.ones(2)),
        "mode=...": lambda f, _, x: f(x, mode="raw"),
    },
    "scipy.special": {
        "exact=True": lambda f, n, x: f(x, *([] if n == "factorial" else [2]), exact=True),
        "extend='complex'": lambda f, _, x: f(x, extend="complex"),
        "of an order or a degree below 0": lambda f, n, x: f(*_orders(n, -1), x),
        "of a size below 1": lambda f, _, x: f(x, 0),
        "of an order below 0 that is not whole": lambda f, _, x: f(-0.5, x),
        "of an order below -degree": lambda f, _, x: f(-3, 2, x),
        "of more than 64 different orders": lambda f, n, x: f(*_many_orders(n, x[0, 0])),
    },
    "scipy.linalg": {
        "type=2": lambda f, _, x: f(x, np.eye(3), type=2),
        "subset_by_value=...": lambda f, _, x: f(x, subset_by_value=(0, 1)),
        "select='v'": lambda f, _, x: f(x[0], x[1, :2], select="v", select_range=(0, 1)),
        "pivoting=True": lambda f, _, x: f(x, pivoting=True),
        "mode='full' of a tall matrix": lambda f, _, x: f(x[:, :2], mode="full"),
        "mode='full' of a wide matrix": lambda f, _, x: f(x[:2], mode="full"),
        "e=... with balanced=True": lambda f, _, x: f(x, x, np.eye(3), np.eye(3), np.eye(3)),
        "s=...": lambda f, _, x: f(x, x, np.eye(3), np.eye(3), s=np.eye(3)),
        "atol=...": lambda f, _, x: f(x, atol=0.1),
        "return_rank=True": lambda f, _, x: f(x, return_rank=True),
        "rtol=...": lambda f, _, x: f(x, rtol=x[0, 0]),
        "cond=...": lambda f, _, x: f(x, V, cond=x[0, 0]),
        "singular='lstsq'": lambda f, _, x: f(x[0], V, singular="lstsq"),
        "tol=...": lambda f, _, x: f(x[0], V, tol=0.1),
        **{f"{axis}=...": lambda f, _, x, axis=axis: f(x[0], V, **{axis: 1}) for axis in ("caxis", "baxis", "outaxis")},
        "assume_a=...": lambda f, n, x: f(x, *([V] if n == "solve" else []), assume_a="anything"),
        "t=...": lambda f, _, x: f(x, x[0]),
        "disp=...": lambda f, _, x: f(x, disp=False),
        "blocksize=...": lambda f, _, x: f(x, blocksize=2),
    },
}
UNKNOWN_CALLS: dict[str, Call] = {
    **dict.fromkeys(["union1d", "setdiff1d", "setxor1d", "array_equal", "allclose", "isin"], lambda x: (x[0], x[1])),
    **dict.fromkeys(["array_equiv"], lambda x: (x[0], x[1])),
    "extract": lambda x: (x > 0, x),
    "bincount": lambda x: (np.argmax(x, 1),),
    "choose": lambda x: (np.argmax(x, 1), x),
    "piecewise": lambda x: (x, [x > 0.5], [1.0, 2.0]),
    "digitize": lambda x: (x, x[0]),
    "polymul": lambda x: (x[0], x[1]),
    "polydiv": lambda x: (x[0], x[1, :2]),
    "ravel_multi_index": lambda x: ((np.argmax(x, 1), np.argmin(x, 1)), (3, 3)),
    "unravel_index": lambda x: (np.argmax(x, 1), (3, 3)),
    "trim_zeros": lambda x: (x[0],),
    "ix_": lambda x: (np.argmax(x, 1),),
    "histogram": lambda x: (x, 3),
    "histogram_bin_edges": lambda x: (x, 3),
    "lstsq": lambda x: (x, V),
}


def _orders(name: str, order: Any) -> tuple[Any, ...]:
    """An order with the other parameters that the function has before x."""
    more = {"eval_jacobi": 2, "eval_sh_jacobi": 2, "eval_gegenbauer": 1, "eval_genlaguerre": 1}.get(name, 0)
    return (1, order) if name == "lpmv" else (order, *[0.5] * more)


def _many_orders(name: str, x: Any) -> tuple[Any, ...]:
    many = np.arange(1, 70)
    if name == "diric":
        return x, many
    return (x, 1.0, many) if name == "besselpoly" else (*_orders(name, many), x)


def _function(library: str, name: str) -> Any:
    if name.startswith("ufunc."):
        return getattr(np.multiply if name.endswith(".at") else np.less, name.removeprefix("ufunc."))
    module: Any = {"numpy": np, "numpy.linalg": np.linalg, "scipy.special": special, "scipy.linalg": linalg}[library]
    return reduce(getattr, name.split("."), module)


CASES = [(library, name, limit) for library, of in LIMITS.items() for name, found in of.items() for limit in found]


@pytest.mark.parametrize(
    ("library", "name", "what"),
    [(library, name, limit.what) for library, name, limit in CASES if limit.what != UNKNOWN],
)
def test_what_is_named_is_refused(library: str, name: str, what: str) -> None:
    with pytest.raises(TracingError):
        REFUSED[library][what](_function(library, name), name, traced(X))


@pytest.mark.parametrize(
    ("library", "name"), [(library, name) for library, name, limit in CASES if limit.what == UNKNOWN]
)
def test_what_needs_values_names_itself_where_they_are_not_known(library: str, name: str) -> None:
    arguments = UNKNOWN_CALLS.get(name, lambda x: (x,))
    function = _function(library, name)
    with pytest.raises(TracingError, match=rf"{name.partition('_bin')[0]}.*ea\.compile"):
        ea.compile(lambda x: (function(*arguments(x)), x)[1])(X)


def test_every_limit_has_a_call() -> None:
    for library, of in LIMITS.items():
        assert {limit.what for found in of.values() for limit in found} - {UNKNOWN} == set(REFUSED[library])


@pytest.mark.parametrize("library", LIMITS)
def test_limits_are_those_of_public_functions(library: str) -> None:
    names = {name for name, _ in public_functions(library)}
    assert {name.partition(".")[0] for name in LIMITS[library]} <= {*names, "ufunc"}


def test_options_that_a_function_lacks_are_named() -> None:
    modules = ((linalg, "scipy.linalg", FUNCTIONS), (special, "scipy.special", special.__all__))
    for own, library, names in modules:
        for name in names:
            theirs = inspect.signature(getattr(import_module(library), name)).parameters
            for option in theirs.keys() - inspect.signature(getattr(own, name)).parameters.keys():
                assert limit_of(f"{library}.{name}", option), (name, option)


def _calls(*wanted: str) -> Iterator[tuple[Path, str, ast.Call]]:
    """The calls of functions of these names in the files of handlers."""
    for folder in FOLDERS:
        for path in sorted((HANDLERS / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in wanted:
                    yield path, node.func.id, node


def test_handlers_refuse_through_the_limits() -> None:
    own: dict[str, int] = {}
    for path, _, _ in _calls("TracingError"):
        own[path.name] = own.get(path.name, 0) + 1
    assert own == DTYPES_AND_ORDERS


def test_what_handlers_refuse_is_named() -> None:
    found = 0
    everything = {limit.key for _, _, limit in CASES}
    for _, function, call in _calls("refused", "refuse_options", "refuse"):
        name = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
        if function == "refused":
            keys = [call.args[1].value] if isinstance(call.args[1], ast.Constant) else [UNKNOWN]
        else:
            keys = [option.arg for option in call.keywords if option.arg]
        name = f"scipy.linalg.{name}" if function == "refuse" and name else name
        for key in keys:
            found += 1
            if function == "refuse_options" and key in ("out", "device"):
                continue
            assert limit_of(name, key) if name else key in everything, (name, key)
    assert found > 100


def test_what_handlers_read_is_named() -> None:
    for _, _, call in _calls("known"):
        if isinstance(call.args[1], ast.Constant):
            name = call.args[1].value
            assert limit_of(f"numpy.{name}", UNKNOWN) or "(" in name, name
    assert all(limit_of(f"numpy.{function.__name__}", UNKNOWN) for function in OF_VALUES)
    assert "numpy.put_along_axis" in READ


WITH_OUT = [f for f in registry._functions if "out" in inspect.signature(registry._functions[f]).parameters]


@pytest.mark.parametrize("function", WITH_OUT, ids=lambda f: f.__name__)
def test_no_function_writes_into_an_array(function: Any) -> None:
    parameters = inspect.signature(function).parameters.values() if function is not np.einsum else []
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    x = traced(X)
    special_cases = {np.einsum: ("ij->ji", x), np.linalg.multi_dot: ([x, x],), np.compress: (V > 0, x)}
    with pytest.raises(TracingError, match=r"out=\.\.\..*cannot be written"):
        function(*special_cases.get(function, [x] * len(needed)), out=np.zeros(3))


def test_options_of_ufuncs_are_refused() -> None:
    x = traced(X)
    for option in EVERYWHERE.keys() - {"device", "initial"}:
        ufunc: Any = {"axes": np.matmul, "axis": np.vecdot}.get(option, np.add)
        given = {"out": np.zeros((3, 3)), "axis": 0, "axes": [(0, 1)] * 3, "signature": "dd->d"}
        with pytest.raises(TracingError, match=option):
            ufunc(x, x, **{option: given.get(option, True)})
    for option in ("where", "initial", "out"):
        with pytest.raises(TracingError, match=option):
            np.logaddexp.reduce(x, **{option: np.zeros(3)})
    with pytest.raises(TracingError, match="device"):
        np.zeros_like(x, device="cpu")
