"""Who asks for an array: the function of SciPy that the user called, for error messages.

Owns this look at the stack. Imports the reasons for refusals. Invariant: it is only used while an error is raised.
"""

from __future__ import annotations

import inspect
import sys

from einsumad.frontend.coverage.lookup import reason_for


def scipy_remedy() -> str | None:
    """What to use in the place of the function of SciPy that asks, or None where none does."""
    name = scipy_caller()
    if name is None:
        return None
    reason = reason_for(name)
    if reason is not None:
        return f"{name} is not supported on traced values: {reason}"
    if name.split(".")[1] in ("special", "linalg"):
        return f"{name} does not take traced values: use einsumad.{name}, or what that module has for it"
    return (
        f"{name} does not take traced values: write it with NumPy's functions, or give its rule by ea.custom_function"
    )


def scipy_caller() -> str | None:
    """The public function of SciPy nearest to the user's code, such as ``scipy.special.softmax``, or its module."""
    frame = inspect.currentframe()
    found: str | None = None
    while frame is not None:
        parts = str(frame.f_globals.get("__name__", "")).split(".")
        if parts[0] == "scipy" and len(parts) > 1:
            if parts[1].startswith("_"):
                frame = frame.f_back
                continue
            module = f"scipy.{parts[1]}"
            name = frame.f_code.co_name
            public = name in getattr(sys.modules.get(module), "__all__", ())
            found = f"{module}.{name}" if public else found or module
        elif found is not None and parts[0] != "numpy":
            break
        frame = frame.f_back
    return found
