"""``scipy.linalg`` for traced values too; for plain arrays every name here is SciPy's own.

Owns the namespace. Imports the functions; SciPy when a name is looked up or called. Invariant: a function of SciPy's
that is not supported on traced values refuses them with the reason.

>>> import numpy as np, einsumad as ea
>>> from einsumad.scipy import linalg
>>> ea.grad(lambda a: np.sum(np.sin(linalg.expm(a))))(np.zeros((2, 2))).round(4)
array([[0.5403, 1.    ],
       [1.    , 0.5403]])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from einsumad.errors import TracingError
from einsumad.frontend.coverage.scipy_linalg_reasons import REASONS
from einsumad.frontend.lifting import holds_tensor
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.functions.general.matrix_kernels import linear_algebra


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    found = getattr(linear_algebra(), name)
    return _refusing(name, found) if name in REASONS else found


def __dir__() -> list[str]:
    return sorted({*dir(linear_algebra()), *FUNCTIONS})


def _refusing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function, which refuses traced values with the reason."""

    @wraps(function)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        if holds_tensor([*args, *kwargs.values()]):
            raise TracingError(f"scipy.linalg.{name} is not supported on traced values: {REASONS[name].reason}")
        return function(*args, **kwargs)

    return refusing
