"""Machines: the rates that weigh arithmetic against memory traffic and the overhead of calls.

Owns the record and which machine estimates are for. Imports its files. Invariant: it is the default machine, the same
everywhere, unless somebody calibrated this one; so by itself one program has one plan on all machines.
"""

from __future__ import annotations

from importlib import import_module

from einsumad.locks import module_lock
from einsumad.records import record


@record(eq=True, repr=True)
class Machine:
    """Rates of a machine, in double precision. The defaults are those of a common desktop core.

    `products_per_second`: floating-point operations in matrix products; `flops_per_second`: others, entry by entry.
    `near_bytes_per_second`: traffic of arrays that fit into a cache; `far_bytes_per_second`: that of larger ones.
    `seconds_per_call`: a call into NumPy; `seconds_per_loop`: one of the inner loops that a call may start, such as one
    for a row that a vector is multiplied with.
    """

    products_per_second: float = 5e10
    flops_per_second: float = 2e10
    near_bytes_per_second: float = 1e11
    far_bytes_per_second: float = 2.5e10
    seconds_per_call: float = 4e-7
    seconds_per_loop: float = 1.6e-8
    name: str = "default"

    def __str__(self) -> str:
        return (
            f"{self.name} machine: {self.products_per_second:.3g} flops/s in products, "
            f"{self.flops_per_second:.3g} flops/s entry by entry, {self.near_bytes_per_second:.3g} bytes/s near, "
            f"{self.far_bytes_per_second:.3g} bytes/s far, {self.seconds_per_call:.2g} s a call, "
            f"{self.seconds_per_loop:.2g} s a loop"
        )


DEFAULT = Machine()
CALIBRATED = "calibrated"
"""The name of a machine whose rates were measured."""


class _Current:
    """The machine of this process, and how often it was set."""

    def __init__(self) -> None:
        self.lock = module_lock()
        self.machine: Machine | None = None
        self.number = 0


_current = _Current()


def machine_in_force() -> Machine:
    """The machine that estimates are for; what was calibrated before is read when it is first asked for."""
    machine = _current.machine
    if machine is None:
        with _current.lock:
            if _current.machine is None:
                rates = import_module("einsumad.planning.machine_files").read_rates()
                _current.machine = DEFAULT if rates is None else calibrated(rates)
            machine = _current.machine
    return machine


def calibrated(rates: dict[str, float]) -> Machine:
    """The machine of rates that were measured."""
    return Machine(**rates, name=CALIBRATED)


def set_machine(machine: Machine) -> None:
    """Make estimates for this machine from now on."""
    with _current.lock:
        _current.machine = machine
        _current.number += 1


def machine_number() -> int:
    """How often the machine was set: plans that were chosen for another one have another number."""
    return _current.number
