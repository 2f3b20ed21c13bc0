"""Rates of this machine in a file of the user's cache folder.

Owns the place of the file, its format and its checks. Imports the reading of files. Invariant: what is
damaged, of another format or of another machine is never used; a warning says so where it is not expected.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from einsumad.graph.digests import blake2b
from einsumad.planning.files import is_file, read_json, write_json

VARIABLE = "EINSUMAD_MACHINE"
"""The environment variable: ``default`` for the default machine, or the path of a file."""

FORMAT = 1
RATES = (
    "products_per_second",
    "flops_per_second",
    "near_bytes_per_second",
    "far_bytes_per_second",
    "seconds_per_call",
    "seconds_per_loop",
)
_SLOWEST, _FASTEST = 1e6, 1e16
_SHORTEST, _LONGEST = 1e-10, 1e-2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_LARGEST_FILE = 100_000


def cache_folder() -> Path:
    """The folder of einsumad among the caches of the user: that of the system, or ``XDG_CACHE_HOME``.

    Raises :class:`FileNotFoundError` for a user who has no home folder, such as one of a container.
    """
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "einsumad"
    try:
        return _system_folder()
    except RuntimeError as error:
        raise FileNotFoundError("this user has no home folder: set XDG_CACHE_HOME to a folder for caches") from error


def _system_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))) / "einsumad" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "einsumad"
    return Path.home() / ".cache" / "einsumad"


def this_machine() -> dict[str, str]:
    """What rates depend on: processor, cores that may be used, threads of BLAS, versions of NumPy and its BLAS."""
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "threads": " ".join([f"{name}={os.environ[name]}" for name in _THREADS if name in os.environ]),
        "numpy": np.__version__,
        "blas": f"{blas.get('name')} {blas.get('version')}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{platform.system()} {platform.machine()} {names[0] if names else platform.processor()}"


def machine_file() -> Path:
    """The file for this machine: the one that the environment variable names, or one in the cache folder."""
    given = os.environ.get(VARIABLE)
    if given and given != "default":
        return Path(given)
    text = "\n".join([f"{name}: {value}" for name, value in sorted(this_machine().items())])
    return cache_folder() / f"machine-{blake2b(text.encode(), digest_size=8).hexdigest()}.json"


def read_rates() -> dict[str, float] | None:
    """The rates in the file for this machine; None where there is none, or none that can be used."""
    given = os.environ.get(VARIABLE)
    if given == "default" or (not given and not _has_folder()):
        return None
    path = machine_file()
    if not is_file(path):
        if given:
            _warn(path, f"{VARIABLE} names it, and there is no such file that may be read")
        return None
    try:
        return _checked(read_json(path, _LARGEST_FILE), foreign=bool(given))
    except (OSError, ValueError) as error:
        _warn(path, str(error))
    return None


def _has_folder() -> bool:
    try:
        return cache_folder().is_dir()
    except OSError:
        return False


def _warn(path: Path, reason: str) -> None:
    warnings.warn(
        f"the rates in {path} are not used, but those of the default machine: {reason}; einsumad.calibrate() measures "
        f"and writes them anew",
        stacklevel=2,
    )


def _checked(content: Any, *, foreign: bool) -> dict[str, float]:
    """The rates of a file's content; `foreign` where it may be that of another machine."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"it is no file of rates of format {FORMAT}")
    if not foreign and content.get("machine") != this_machine():
        raise ValueError("it is of another machine")
    rates = content.get("rates")
    if not isinstance(rates, dict) or set(rates) != set(RATES):
        raise ValueError(f"its rates are not {', '.join(RATES)}")
    for name, value in rates.items():
        low, high = (_SHORTEST, _LONGEST) if name.startswith("seconds") else (_SLOWEST, _FASTEST)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"{name} is {value!r}, not between {low:g} and {high:g}")
    return {name: float(rates[name]) for name in RATES}


def write_rates(rates: Mapping[str, float]) -> Path:
    """Write the file for this machine. Returns its path."""
    path = machine_file()
    write_json(path, {"format": FORMAT, "machine": this_machine(), "rates": dict(rates)}, indent=2)
    return path
