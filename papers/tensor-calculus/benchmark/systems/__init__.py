"""The systems that are compared, and which of them are installed.

A name may have planner options behind a colon, ``ours:-sharing``; see ``systems/ours.py``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from benchmark.systems.base import System

SYSTEMS: dict[str, tuple[str, str]] = {
    "ours": ("benchmark.systems.ours", "einsumad"),
    "ours-uncompiled": ("benchmark.systems.ours", "einsumad"),
    "ours-numba": ("benchmark.systems.ours", "numba"),
    "hand": ("benchmark.systems.hand", "numpy"),
    "jax": ("benchmark.systems.with_jax", "jax"),
    "torch": ("benchmark.systems.with_torch", "torch"),
    "autograd": ("benchmark.systems.with_autograd", "autograd"),
    "tensorgrad": ("benchmark.systems.with_tensorgrad", "tensorgrad"),
}
"""For each system the module that asks it, and the package that it needs."""

OURS = ("ours", "ours-uncompiled", "ours-numba")
PEERS = tuple([name for name in SYSTEMS if name not in (*OURS, "hand")])

KNOWN_WRONG = {("tensorgrad", "factorisation"): "version 0.3 takes second derivatives for zero from n = 200 on"}
"""Wrong values of other systems that are theirs, not the benchmark's; they are told, and do not fail the run."""


def installed(name: str) -> bool:
    """Whether there is such a system, and the package that it needs."""
    _, package = SYSTEMS.get(name.partition(":")[0], ("", ""))
    return bool(package) and find_spec(package) is not None


def open_system(name: str) -> System:
    """The system of this name; imports it."""
    return import_module(SYSTEMS[name.partition(":")[0]][0]).open_system(name)
