"""The functions of the catalogue in each library: which are there, and their values.

``docs/backends.md`` lists what is there; the tables here are its text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from einsumad.errors import TracingError
from einsumad.execution.backends.elementwise_rows import function_at, supported_elementwise
from einsumad.execution.backends.general_rows import KERNELS
from einsumad.functions import elementwise_function, elementwise_names, general_function, general_names
from einsumad.functions.values import value_function
from tests.backends.libraries import Backend, backends
from tests.backends.running import check_equal
from tests.functions.factorisation_cases import FACTORISATIONS
from tests.functions.general_cases import CASES
from tests.functions.points import Case
from tests.strategies import PARAMS

DOCUMENT = Path(__file__).parents[2] / "docs" / "backends.md"
FIRST_PARAMS = {name: params[0] for name, params in PARAMS.items()}
TRUTH = ("logical_and", "logical_not", "logical_or")
ROUGH_AT_EDGES = ("betaln", "gammainc", "gammaincc", "ldexp")
"""Of two infinite arguments libraries make what they like; the exponent of ldexp is a whole number."""


def documented(library: str) -> set[str]:
    """The functions that the documentation says a library does not have."""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"| {library} |"):
            return {name.strip(" `") for name in line.split("|")[2].split(",")}
    raise AssertionError(f"no line for {library}")


def library_name(backend: Backend) -> str:
    return {"numpy": "array_api_strict", "strict": "array_api_strict"}.get(
        backend.name.split("-")[0], backend.name.split("-")[0]
    )


@pytest.mark.parametrize("backend", [each for each in backends() if not each.elsewhere], ids=str)
def test_the_documentation_names_what_is_missing(backend: Backend) -> None:
    supported = supported_elementwise(backend.home, FIRST_PARAMS)
    assert documented(library_name(backend)) == set(elementwise_names()) - supported


def test_the_documentation_names_general_functions_that_are_missing() -> None:
    expanded = {"eigh_values", "eigh_vectors", "eigenprojections", "reduced_resolvents"}
    expanded |= {"svd_values", "svd_left", "svd_right", "svd_left_full", "svd_right_full", "qr_orthogonal"}
    expanded |= {"qr_triangular", "singular_projections", "singular_resolvents"}
    assert documented("all libraries") == set(general_names()) - set(KERNELS) - expanded


def cases() -> list[Any]:
    return [
        pytest.param(name, params, id="-".join(map(str, (name, *params))))
        for name in elementwise_names()
        for params in PARAMS.get(name, [()])
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "params"), cases())
def test_values_of_elementwise_functions(name: str, params: Any, dtype: Any) -> None:
    """Inside the domain, and at NaN, infinities and zeros."""
    row = elementwise_function(name)
    for backend in backends():
        try:
            function = compiled(backend, function_at(backend.home, name, params, row.arity))
        except TracingError as error:
            assert f"{name} is not supported on arrays of" in str(error)  # noqa: PT017 (the test is about the others)
            continue
        inside = [
            np.linspace(*interval, 7).astype(dtype)[:: 1 - 2 * (k % 2)].copy() for k, interval in enumerate(row.domain)
        ]
        edges = [np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], dtype)] * row.arity
        for operands in (inside, edges):
            if operands is edges and name in ROUGH_AT_EDGES:
                continue
            given = [x > 0 for x in operands] if name in TRUTH else operands
            with np.errstate(all="ignore"):
                expected = value_function(name, params, row.arity)(*given)
                found = backend.back(function(*[backend.make(x) for x in given]))
            assert found.dtype == expected.dtype, backend.name
            tolerance = 1e-10 if dtype == np.float64 else 3e-5
            np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=backend.name)


def compiled(backend: Backend, function: Any) -> Any:
    """JAX compiles each operation by itself otherwise, which takes long."""
    return backend.home.array_library.jax.jit(function) if backend.name.startswith("jax") else function


@pytest.mark.parametrize("case", [*CASES, *FACTORISATIONS], ids=str)
def test_values_of_general_functions(case: Case) -> None:
    kernel = KERNELS.get(case.name)
    if kernel is None:
        pytest.skip(f"{case.name} is computed on NumPy arrays only")
    from_numpy = reference(case)
    for backend in backends():
        found = kernel(backend.home, *[backend.make(x) for x in case.operands], *case.params)
        found = backend.home.cast(found, np.asarray(from_numpy).dtype)
        check_equal(in_sign(case.name, backend.back(found)), in_sign(case.name, from_numpy))


def reference(case: Case) -> Any:
    return general_function(case.name).kernel(*case.operands, *case.params)


def in_sign(name: str, x: Any) -> Any:
    """Vectors of decompositions have no sign of their own."""
    return np.abs(x) if name.endswith("_packed") else x
