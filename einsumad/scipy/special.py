"""The namespace of ``scipy.special``, whose functions that are no ufuncs take traced values here.

Owns the choice between SciPy's own function and the expression for traced values. Imports the frontend; SciPy is loaded
on use. Invariant: without a traced value the result is SciPy's own; other names are SciPy's objects.

>>> from einsumad.scipy import special
>>> float(special.logsumexp([0.0, 0.0]))
0.6931471805599453
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from einsumad.frontend.lifting import holds_tensor
from einsumad.frontend.scipy_special import functions
from einsumad.frontend.tensor import own_called

__all__ = [
    "comb",
    "diric",
    "factorial",
    "log_softmax",
    "logsumexp",
    "multigammaln",
    "perm",
    "polygamma",
    "softmax",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
]


def _special() -> Any:
    return importlib.import_module("scipy.special")


def _either(traced: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's own function, or the expression where an argument is traced."""

    @wraps(traced)
    def function(*args: Any, **kwargs: Any) -> Any:
        if any(holds_tensor(value) for value in (*args, *kwargs.values())):
            return own_called(traced, args, kwargs)
        return getattr(_special(), traced.__name__)(*args, **kwargs)

    return function


comb = _either(functions.comb)
diric = _either(functions.diric)
factorial = _either(functions.factorial)
log_softmax = _either(functions.log_softmax)
logsumexp = _either(functions.logsumexp)
multigammaln = _either(functions.multigammaln)
perm = _either(functions.perm)
polygamma = _either(functions.polygamma)
softmax = _either(functions.softmax)
spherical_in = _either(functions.spherical_in)
spherical_jn = _either(functions.spherical_jn)
spherical_kn = _either(functions.spherical_kn)
spherical_yn = _either(functions.spherical_yn)


def __getattr__(name: str) -> Any:
    return getattr(_special(), name)


def __dir__() -> list[str]:
    return sorted({*dir(_special()), *__all__})
