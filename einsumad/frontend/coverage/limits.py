"""What functions that take traced values refuse: options, values of options, arguments of some kind.

Owns the record and the error. Imports the data and the exceptions. Invariant: a handler refuses through
:func:`refused`, which knows only what is recorded here, so the table of functions names all of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.errors import InternalError, TracingError
from einsumad.frontend.coverage import numpy_limits, scipy_limits
from einsumad.frontend.coverage.verdicts import Limit

LIMITS: Mapping[str, Mapping[str, tuple[Limit, ...]]] = {
    "numpy.linalg": numpy_limits.OF_LINALG,
    "scipy.special": scipy_limits.OF_SPECIAL,
    "scipy.linalg": scipy_limits.OF_LINALG,
    "numpy": numpy_limits.OF_NUMPY,
}
"""By library and function what it refuses. Methods of ufuncs are ``maximum.reduce`` and the like."""

EVERYWHERE: Mapping[str, str] = {
    "out": "a traced value cannot be written into an array: use the result instead, or np.where to replace entries",
    "device": "leave it out",
    "where": "use np.where on the result",
    "initial": "combine it with the result",
    "casting": "convert the operands with .astype",
    "dtype": "convert the operands with .astype",
    "order": "leave it out: a traced value has no memory order",
    "subok": "leave it out",
    "signature": "leave it out",
    "axes": "transpose the operands",
    "axis": "use a function with an axis",
}
"""Options that each function refuses that does not say more of them, and what to do: those of ufuncs, and ``out``."""


def limit_of(name: str, what: str) -> Limit | None:
    """What is recorded of an option, or of a kind of argument, of the function of this qualified name."""
    for library, functions in LIMITS.items():
        if name.startswith(f"{library}."):
            short, _, method = name.removeprefix(f"{library}.").rpartition(".")
            found = functions.get(f"{short}.{method}" if short else method) or functions.get(f"ufunc.{method}", ())
            return next((limit for limit in found if limit.key == what), None)
    return None


def refused(name: str, what: str, shown: str | None = None) -> TracingError:
    """The error for an option, shown as the caller gave it, or a kind of argument that the function refuses.

    >>> print(refused("numpy.linalg.qr", "mode", "mode='raw'"))
    numpy.linalg.qr(mode='raw') is not supported on traced values: ...
    """
    limit = limit_of(name, what)
    if limit is None:
        raise InternalError(f"{name} refuses {what!r}, which its limits do not name")
    return _error(name, shown or limit.what, limit.reason)


def option_refused(name: str, option: str) -> TracingError:
    """The error for an option that is refused whatever its value is."""
    limit = limit_of(name, option)
    reason = limit.reason if limit is not None else EVERYWHERE.get(option, "leave it out")
    return _error(name, f"{option}=...", reason)


def _error(name: str, what: str, reason: str) -> TracingError:
    call = f"{name}({what})" if "=" in what else f"{name} {what}"
    return TracingError(f"{call} is not supported on traced values: {reason}")
