"""A small case for a wrong derivative, as code to paste.

Owns the search for one. Imports the diagnosis. Invariant: the case that is shown fails in the same property as the
call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.checks.call import Call
from einsumad.testing.checks.settings import Settings
from einsumad.testing.diagnosis import as_code, smaller_arguments
from einsumad.testing.point import Array
from einsumad.testing.report import Report

_CHECKS = {
    "gradient": "check_user_gradient",
    "jacobian": "check_jacobian",
    "hessian": "check_hessian",
    "hvp": "check_hvp",
    "jvp": "check_jvp",
    "vjp": "check_vjp",
    "derivatives": "check_derivatives",
}
_SHOWN = ("against", "kink", "manifold", "entries", "directions", "seed", "relative", "single")
_LARGEST = 4096


def with_small_case(
    call: Call,
    report: Report,
    again: Callable[[Call], Report],
    what: str,
    asked: Mapping[str, Any] | None = None,
) -> Report:
    """The report with a small case, if it is wrong and all arguments are arrays or numbers.

    `asked` are keyword arguments of the check beside its settings; without it, that is ``argnums``.
    """
    if report.verdict != "wrong" or not call.settings.minimal:
        return report
    arrays = tuple([np.asarray(argument) for argument in call.args])
    if any(array.dtype.kind not in "fciub" or array.size > _LARGEST for array in arrays):
        return report
    claims = {finding.claim for finding in report.wrong}
    if "gradient" in claims and what != "gradient":
        return report

    def still_wrong(smaller: tuple[Array, ...]) -> bool:
        found = again(call.with_arguments(restored(call.args, smaller)))
        return bool(claims & {finding.claim for finding in found.wrong})

    smallest = smaller_arguments(arrays, still_wrong)
    code = as_code(
        call.name,
        smallest,
        argument_names=call.names,
        function_name=call.name if call.name.isidentifier() else "f",
        claim_name="" if what == "derivatives" else what,
        check=_CHECKS[what],
        options=_options(call) if asked is None else {**_settings(call), **asked},
    )
    return replace(report, case=code)


def _options(call: Call) -> dict[str, Any]:
    """The options of the call that are not the defaults and can be written as text."""
    return _settings(call) if call.argnums == 0 else {"argnums": call.argnums, **_settings(call)}


def _settings(call: Call) -> dict[str, Any]:
    """Those of the settings alone."""
    usual = Settings()
    given = {name: getattr(call.settings, name) for name in _SHOWN}
    return {k: v for k, v in given.items() if v != getattr(usual, k) and isinstance(v, (str, int, float))}


def restored(originals: tuple[Any, ...], arrays: tuple[Array, ...]) -> list[Any]:
    """The arrays as the kind of objects that the arguments were."""
    return [array if isinstance(old, np.ndarray) else array[()] for old, array in zip(originals, arrays, strict=True)]
