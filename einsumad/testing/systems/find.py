"""Systems by their names.

Owns the table of names. Imports the records. Invariant: finding a system loads no library; its first use does.
"""

from __future__ import annotations

from difflib import get_close_matches

from einsumad.testing.systems.autograd_system import AUTOGRAD
from einsumad.testing.systems.base import System
from einsumad.testing.systems.contract import is_installed, missing
from einsumad.testing.systems.jax_system import JAX
from einsumad.testing.systems.own import EINSUMAD
from einsumad.testing.systems.torch_system import TORCH

_PEERS = (JAX, TORCH, AUTOGRAD)
_NAMES = {"einsumad": EINSUMAD, "jax": JAX, "torch": TORCH, "pytorch": TORCH, "autograd": AUTOGRAD}


def system(which: str | System) -> System:
    """The system of a name: "einsumad", "jax", "torch" (or "pytorch"), "autograd"; a :class:`System` is itself.

    Functions given to a system are written with its own library (``jax.numpy``, ``torch``, ``autograd.numpy``); arrays
    go in and come back as NumPy arrays, in the dtypes the library gives them. The library is loaded on first use.

    Raises :class:`ValueError` for an unknown name, and :class:`ModuleNotFoundError` (an :class:`ImportError`) with what
    to install if the library is not there.

    >>> import numpy as np
    >>> own = system("einsumad")
    >>> own.derivative(lambda x: np.sum(x**3), [np.array([1.0, 2.0])], 2, "auto")[0][0].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    >>> system("jaxx")
    Traceback (most recent call last):
        ...
    ValueError: there is no system 'jaxx': did you mean 'jax'? known are autograd, einsumad, jax, pytorch, torch
    """
    if isinstance(which, System):
        return which
    if not isinstance(which, str):
        raise TypeError(f"a system is given by its name or as a System, got {type(which).__name__}")
    found = _NAMES.get(which.lower())
    if found is None:
        near = get_close_matches(which.lower(), _NAMES, n=2)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise ValueError(f"there is no system {which!r}: {hint}known are {', '.join(sorted(_NAMES))}")
    if found in _PEERS and not is_installed(found.name):
        raise missing(found.name)
    return found


def installed_systems() -> tuple[str, ...]:
    """The names of the systems whose libraries are installed, this one first; none is loaded.

    >>> installed_systems()[0]
    'einsumad'
    """
    return (EINSUMAD.name, *[peer.name for peer in _PEERS if is_installed(peer.name)])
