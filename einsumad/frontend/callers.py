"""Who uses a traced value: SciPy, PyTorch, objects of NumPy, for error messages; polynomials, which see a number.

Owns this look at the stack. Imports the reasons for refusals and the errors. Invariant: but for the one frame that
calls a ufunc the stack is only looked at while an error is raised.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.coverage.lookup import reason_for

_OPERATORS = "einsumad.frontend.operators"
_OBJECTS: tuple[tuple[type, str], ...] = (
    (
        np.vectorize,
        "np.vectorize calls Python for each entry: apply the function to the whole array, np.where in place of its if",
    ),
    (
        type(np.r_).__mro__[1],
        "np.r_[...] and np.c_[...] make plain arrays: use np.concatenate, np.stack or einsumad.numpy.array([...])",
    ),
)
"""Objects of NumPy that are called or indexed, by class, and what to use in their place."""
_TORCH_OPERATORS = frozenset(
    {
        *("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "remainder", "pow", "matmul"),
        *("and", "or", "xor", "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne"),
    }
)
"""Operators of Python by the names that PyTorch's tensors have for them, some with underscores."""
POLYNOMIALS = "numpy.polynomial"
"""A package that NumPy loads when it is asked for."""
FIRST_OF_POLYNOMIALS = frozenset([np.multiply, np.subtract])
"""The ufuncs of which one is the first that a function of that package calls on its argument."""
_KINDS = ("polynomial", "chebyshev", "hermite", "hermite_e", "laguerre", "legendre")
OF_POLYNOMIALS = frozenset(f"{POLYNOMIALS}.{name}" for name in ("_polybase", "polyutils", *_KINDS))
"""Its modules."""
MAY_BE_POLYNOMIALS = OF_POLYNOMIALS | {_OPERATORS}
"""The modules from which its functions call ufuncs: these, and that of the operators."""
_AXES = (
    "takes a traced array for a number, and does not line its axes up behind those of {0}: call it with "
    "{0}.reshape({0}.shape + (1,) * x.ndim) and tensor=False"
)


def check_polynomial_caller(inputs: Sequence[Any]) -> None:
    """Refuse to take part in a function of ``numpy.polynomial`` that looks whether its argument is an array of NumPy.

    Its coefficients ``c[k, i]`` or roots ``r[k]`` are given new axes for those of an array, and none for a traced one.
    """
    # a frame that held itself would keep all that the user's function holds until the garbage is collected
    caller = sys._getframe(1).f_back  # noqa: SLF001 (what inspect.currentframe is made of)
    if caller is not None and caller.f_globals.get("__name__") == _OPERATORS:
        caller = caller.f_back
    if caller is None or caller.f_globals.get("__name__") not in OF_POLYNOMIALS:
        return
    name, given = caller.f_code.co_name, caller.f_locals
    x: Any = given.get("x")
    of = "r" if name == "polyvalfromroots" else "c"
    if "tensor" not in given or of not in given or not any(x is each for each in inputs) or not x.ndim:
        return
    rank = given[of].ndim
    if rank > (of == "c") and (given["tensor"] or (of == "r" and x.ndim >= rank)):
        raise TracingError(f"{caller.f_globals['__name__']}.{name} {_AXES.format(of)}")


def called_by_torch(function: Any) -> Any:
    """What a traced value answers to a function of PyTorch: operators are its own, everything else is refused."""
    name = str(getattr(function, "__name__", function))
    if name.strip("_") in _TORCH_OPERATORS and "Tensor" in getattr(function, "__qualname__", ""):
        return NotImplemented
    raise TracingError(
        f"{name} of torch does not take traced values, whose derivative would be lost: write the function with those "
        "of NumPy, which take tensors of torch beside traced values"
    )


def numpy_remedy() -> str | None:
    """What to use in the place of the object of NumPy that asks, or None where none does."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] in ("einsumad", "numpy"):
        own = frame.f_locals.get("self")
        for kind, remedy in _OBJECTS:
            if isinstance(own, kind):
                return remedy
        frame = frame.f_back
    return None


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
