"""A small case for a wrong derivative, as code to paste.

Owns the search for one. Imports the diagnosis. Invariant: the case that is shown fails in the same property as the
call.
"""

from __future__ import annotations

import sys
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
    *,
    claim: object = None,
    asked: Mapping[str, Any] | None = None,
) -> Report:
    """The report with a small case, if it is wrong and all arguments are arrays or numbers.

    `claim` is the derivative that the check was given, True if the function wraps one that gives both. `asked` are
    keyword arguments of the check beside its settings; without it, that is ``argnums``.
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
    function = getattr(call.function, "__wrapped__", None) if claim is True else call.function
    modules = {name: module for name, module in map(_origin, (function, claim)) if module}
    own_name, _ = _origin(claim)
    code = as_code(
        call.name,
        smallest,
        argument_names=call.names,
        function_name=call.name if call.name.isidentifier() else "f",
        claim_name="True" if claim is True else own_name if own_name in modules else "" if claim is None else what,
        check=_CHECKS[what],
        options=_options(call) if asked is None else {**_settings(call), **asked},
        modules=modules,
    )
    return replace(report, case=code)


def _origin(function: object) -> tuple[str, str]:
    """The name of a function and the module that it can be imported from, if there is one."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", "") or ""
    public = module.partition("._")[0]
    places = [place for place in (public, module) if place not in ("", "__main__")]
    found = [place for place in places if getattr(sys.modules.get(place), name, None) is function]
    return name, found[0] if name.isidentifier() and found else ""


def _options(call: Call) -> dict[str, Any]:
    """The options of the call that are not the defaults and can be written as text."""
    argnums = {} if call.argnums == 0 else {"argnums": call.argnums}
    kwargs = {"kwargs": dict(call.kwargs)} if call.kwargs else {}
    return {**argnums, **kwargs, **_settings(call)}


def _settings(call: Call) -> dict[str, Any]:
    """Those of the settings alone."""
    usual = Settings()
    given = {name: getattr(call.settings, name) for name in _SHOWN}
    return {k: v for k, v in given.items() if v != getattr(usual, k) and _is_text(v)}


def _is_text(value: Any) -> bool:
    """Whether the value can be read back from its ``repr``."""
    return isinstance(value, (str, int, float, type(None))) or (isinstance(value, tuple) and all(map(_is_text, value)))


def restored(originals: tuple[Any, ...], arrays: tuple[Array, ...]) -> list[Any]:
    """The arrays as the kind of objects that the arguments were."""
    return [array if isinstance(old, np.ndarray) else array[()] for old, array in zip(originals, arrays, strict=True)]
