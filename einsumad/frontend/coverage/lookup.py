"""The reason that stands behind a function's name, for error messages.

Owns the list of libraries. Imports the reasons. Invariant: a name is looked up in the library that it starts with.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage import fft_reasons, linalg_reasons, numpy_reasons, scipy_linalg_reasons, special_reasons
from einsumad.frontend.coverage.verdicts import Verdict

_LIBRARIES: Mapping[str, Mapping[str, Verdict]] = {
    "scipy.special.": special_reasons.REASONS,
    "scipy.linalg.": scipy_linalg_reasons.REASONS,
    "numpy.fft.": fft_reasons.REASONS,
    "numpy.linalg.": linalg_reasons.REASONS,
    "numpy.": numpy_reasons.REASONS,
}


def reason_for(name: str) -> str | None:
    """Why the function, or a method of the ufunc, of this qualified name is not traced, if that is known.

    >>> reason_for("numpy.linalg.eig").partition(",")[0]
    'eigenvalues of a general matrix may be complex'
    """
    for prefix, reasons in _LIBRARIES.items():
        if name.startswith(prefix):
            verdict = reasons.get(name.removeprefix(prefix).partition(".")[0])
            return None if verdict is None else verdict.reason
    return None
