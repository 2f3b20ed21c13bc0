"""A small case for a wrong derivative, as code to paste.

Owns the search for one. Imports the diagnosis. Invariant: the case that is shown fails in the same property as the
call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.checks.call import Call
from einsumad.testing.checks.diagnose import SHAPE
from einsumad.testing.checks.settings import Settings
from einsumad.testing.diagnosis import as_code, smaller_arguments
from einsumad.testing.diagnosis.snippet import Code, literal
from einsumad.testing.point import Array
from einsumad.testing.report import Finding, Report

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
_WRITTEN = 64


def with_small_case(
    call: Call,
    report: Report,
    again: Callable[[Call], Report],
    what: str,
    *,
    claim: object = None,
    gradient: object = None,
    function: object = None,
    asked: Mapping[str, Any] | None = None,
) -> Report:
    """The report with a small case, if it is wrong and all arguments are arrays or numbers.

    `function` is what the check was given for one, where that is not the call's, `claim` the derivative (True if the
    function gives both), and `gradient` the one below it. `asked` are keyword arguments of the check beside its
    settings; without it, that is ``argnums``.
    """
    if report.verdict != "wrong" or not call.settings.minimal:
        return report
    arrays = tuple([np.asarray(argument) for argument in call.args])
    if any(array.dtype.kind not in "fciub" or array.size > _LARGEST for array in arrays):
        return report
    failures = {_failure(finding) for finding in report.wrong}
    if "gradient" in {finding.claim for finding in report.wrong} and what != "gradient":
        return report

    def still_wrong(smaller: tuple[Array, ...]) -> bool:
        found = again(call.with_arguments(restored(call.args, smaller)))
        return bool(failures & {_failure(finding) for finding in found.wrong})

    smallest = smaller_arguments(arrays, still_wrong)
    return replace(report, case=_code(call, smallest, what, (function, claim, gradient), asked))


def _failure(finding: Finding) -> tuple[str, bool]:
    """What is wrong, and whether it is so by its shape: a case of the one is none of the other."""
    return finding.claim, finding.against == SHAPE


def _code(
    call: Call,
    arrays: Sequence[Array],
    what: str,
    functions: tuple[object, object, object],
    asked: Mapping[str, Any] | None,
) -> str:
    """The text of the case, with the function, the claim and the gradient by name."""
    function, claim, gradient = functions
    asked_of = function is not None or claim is True
    if function is None:
        function = getattr(call.function, "__wrapped__", None) if claim is True else call.function
    given = (function, claim, gradient, call.settings.against)
    modules = {name: module for name, module in map(_origin, given) if module}
    bound = not asked_of and hasattr(function, "__wrapped__") and call.name not in modules  # some arguments are in it
    options = _options(call) if asked is None else {**_settings(call), **asked}
    if gradient is not None:
        options["gradient"] = _name(gradient, "gradient", modules)
    return as_code(
        call.name,
        arrays,
        argument_names=call.names,
        function_name=call.name if call.name.isidentifier() and not bound else "f",
        claim_name="True" if claim is True else "" if claim is None else _name(claim, what, modules),
        check=_CHECKS[what],
        options=options,
        modules=modules,
    )


def _name(function: object, default: str, modules: Mapping[str, str]) -> Code:
    """The name of a function that can be imported, or the default."""
    own, _ = _origin(function)
    return Code(own if own in modules else default)


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
    kwargs = {"kwargs": _written(call.kwargs)} if call.kwargs else {}
    return {**argnums, **kwargs, **_settings(call)}


def _settings(call: Call) -> dict[str, Any]:
    """Those of the settings alone."""
    usual = Settings()
    given = {name: getattr(call.settings, name) for name in _SHOWN}
    shown = {k: v for k, v in given.items() if v != getattr(usual, k) and _is_text(v)}
    against = call.settings.against
    if not callable(against):
        return shown
    name, _ = _origin(against)
    return {**shown, "against": Code(name if name.isidentifier() else "reference")}


def _written(kwargs: Mapping[str, Any]) -> Code:
    """Keyword arguments as an expression, or a name for what cannot be written."""
    parts = []
    for name, value in kwargs.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc" and value.size <= _WRITTEN:
            parts.append(f"{name!r}: {literal(value)}")
        elif _is_text(value):
            parts.append(f"{name!r}: {value!r}")
        else:
            return Code("kwargs")
    return Code(f"{{{', '.join(parts)}}}")


def _is_text(value: Any) -> bool:
    """Whether the value can be read back from its ``repr``."""
    return isinstance(value, (str, int, float, type(None))) or (isinstance(value, tuple) and all(map(_is_text, value)))


def restored(originals: tuple[Any, ...], arrays: tuple[Array, ...]) -> list[Any]:
    """The arrays as the kind of objects that the arguments were."""
    return [array if isinstance(old, np.ndarray) else array[()] for old, array in zip(originals, arrays, strict=True)]
