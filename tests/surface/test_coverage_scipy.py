"""Every traced function of numpy.linalg, scipy.special and einsumad.scipy.linalg has a spec, and none is of another."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from einsumad.cli.inventory import inventory
from einsumad.frontend.coverage.special_reasons import THROUGH_OTHERS
from einsumad.frontend.registry import has_ufunc
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import special
from tests.surface.all_specs import SPECS, function_of

TRACED_UFUNCS = {
    name
    for name in scipy.special.__all__
    if isinstance(ufunc := getattr(scipy.special, name), np.ufunc) and has_ufunc(ufunc)
}
TRACED = {
    "scipy.special": TRACED_UFUNCS | set(special.__all__) | set(THROUGH_OTHERS),
    "scipy.linalg": set(FUNCTIONS),
    "numpy.linalg": {entry.name for entry in inventory("numpy.linalg") if entry.status != "refused"},
}


@pytest.mark.parametrize("namespace", TRACED)
def test_every_traced_function_has_a_spec(namespace: str) -> None:
    functions = {function_of(name) for name in SPECS}
    entered = {name.removeprefix(f"{namespace}.") for name in functions if name.startswith(f"{namespace}.")}
    assert entered == TRACED[namespace]
