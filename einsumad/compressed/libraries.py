"""The parts of SciPy that factorisations call, loaded when the first of them does.

Owns the loading. Imports nothing of the package. Invariant: importing the package does not load SciPy.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["lapack", "linear_algebra", "sparse_linear_algebra", "sparse_matrices"]


def linear_algebra() -> Any:
    """``scipy.linalg``."""
    return importlib.import_module("scipy.linalg")


def lapack(name: str, *arrays: Any) -> Any:
    """The routine of LAPACK of this name for the dtype of the arrays, such as ``dpotrf`` for ``potrf``."""
    return linear_algebra().get_lapack_funcs(name, arrays)


def sparse_matrices() -> Any:
    """``scipy.sparse``."""
    return importlib.import_module("scipy.sparse")


def sparse_linear_algebra() -> Any:
    """``scipy.sparse.linalg``."""
    return importlib.import_module("scipy.sparse.linalg")
