"""The libraries that the conformance suite runs on.

A library is there if it can be imported, and those of a GPU only where ``EINSUMAD_GPU`` is set, as ``make gpu-check``
does. NumPy runs by the same operations as the others; the front end leaves it to generated source. A second device of
array-api-strict stands for a device without the host's memory: whatever reads it or mixes it with the host's raises.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from einsumad.execution.backends import Home, Library, home_of

ON_GPU = "EINSUMAD_GPU"


@dataclass(frozen=True)
class Backend:
    """A library on a device: makes arrays of NumPy's, and back. `elsewhere` is a device that is not the host."""

    name: str
    make: Callable[[Any], Any]
    back: Callable[[Any], np.ndarray]
    kind: type
    elsewhere: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def home(self) -> Home:
        """The place, where plans are made ready."""
        found = home_of(self.make(np.zeros(2)))
        if found is not None:
            return found
        return Home(Library("numpy", importlib.import_module("array_api_compat.numpy")), "cpu", True)

    @property
    def in_front(self) -> bool:
        """Whether the front end takes its arrays for those of another library."""
        return self.name != "numpy"


def _numpy() -> Backend:
    return Backend("numpy", np.array, np.asarray, np.ndarray)


def _strict(device: str) -> Backend:
    xp = importlib.import_module("array_api_strict")
    place, host = xp.Device(device), xp.Device("CPU_DEVICE")
    return Backend(
        f"strict-{device}",
        lambda x: xp.asarray(np.array(x), device=place),
        lambda x: np.asarray(x.to_device(host)),
        type(xp.asarray(0.0)),
        device != "CPU_DEVICE",
    )


def _torch(device: str) -> Backend:
    torch = importlib.import_module("torch")
    return Backend(
        f"torch-{device}",
        lambda x: torch.tensor(np.array(x), device=device),
        lambda x: x.cpu().numpy(),
        torch.Tensor,
        device != "cpu",
    )


def _jax(device: str) -> Backend:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    place = jax.devices(device)[0]
    return Backend(
        f"jax-{device}", lambda x: jax.device_put(np.array(x), place), np.asarray, jax.Array, device != "cpu"
    )


def _cupy() -> Backend:
    cupy = importlib.import_module("cupy")
    return Backend("cupy", cupy.array, cupy.asnumpy, cupy.ndarray, True)


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


@cache
def backends() -> tuple[Backend, ...]:
    """All that are there."""
    if os.environ.get(ON_GPU):
        return gpu_backends()
    found = [_numpy()]
    if _is_there("array_api_strict"):
        found += [_strict("CPU_DEVICE"), _strict("device1")]
    if _is_there("torch"):
        found.append(_torch("cpu"))
    if _is_there("jax"):
        found.append(_jax("cpu"))
    return tuple(found)


def gpu_backends() -> tuple[Backend, ...]:
    """Those that have a GPU here."""
    found: list[Backend] = []
    if _is_there("cupy") and _works(lambda: _cupy().make(np.zeros(2))):
        found.append(_cupy())
    if _is_there("torch") and importlib.import_module("torch").cuda.is_available():
        found.append(_torch("cuda"))
    if _is_there("jax") and _works(lambda: _jax("gpu")):
        found.append(_jax("gpu"))
    return tuple(found)


def _works(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except Exception:  # noqa: BLE001 (drivers and libraries have errors of many kinds)
        return False
    return True
