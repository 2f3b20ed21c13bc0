"""The reason that stands behind a function's name, for error messages.

Owns the list of libraries. Loads the reasons when one is asked for. Invariant: a name is looked up in the library that
it starts with.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

_LIBRARIES: Mapping[str, str] = {
    "scipy.special.": "special_reasons",
    "scipy.linalg.": "scipy_linalg_reasons",
    "numpy.fft.": "fft_reasons",
    "numpy.linalg.": "linalg_reasons",
    "numpy.": "numpy_reasons",
}


def reason_for(name: str) -> str | None:
    """Why the function, or a method of the ufunc, of this qualified name is not traced, if that is known.

    >>> reason_for("numpy.linalg.eig").partition(",")[0]
    'eigenvalues of a general matrix may be complex'
    """
    for prefix, module in _LIBRARIES.items():
        if name.startswith(prefix):
            reasons = import_module(f"einsumad.frontend.coverage.{module}").REASONS
            verdict = reasons.get(name.removeprefix(prefix).partition(".")[0])
            return None if verdict is None else verdict.reason
    return None
