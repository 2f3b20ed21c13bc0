"""The commands ``check``, ``functions`` and ``calibrate`` of ``python -m einsumad``.

Owns its options and exit codes. Imports the toolkit and the parts of this folder. Invariant: what is wrong with a
request goes to the error stream with exit code 2, what is found to the output.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import Any

import einsumad
from einsumad.cli import inventory
from einsumad.cli.errors import RequestError
from einsumad.cli.inventory import listing
from einsumad.cli.points import Wish, arguments_of, described, function_name
from einsumad.cli.targets import load
from einsumad.cli.texts import read_argnums, read_arguments, read_shape
from einsumad.errors import DifferentiationError, EinsumadError
from einsumad.execution.calibration import calibrate
from einsumad.planning.machine_files import machine_file
from einsumad.testing.checks import (
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_user_gradient,
    check_vjp,
)
from einsumad.testing.checks.settings import AGAINST, LIBRARIES
from einsumad.testing.comparison import KINK_POLICIES
from einsumad.testing.manifolds import MANIFOLDS, manifold
from einsumad.testing.properties import PROPERTIES
from einsumad.testing.report import Report

CODES = {"right": 0, "wrong": 1, "refused": 1, "undecided": 3}
"""The exit codes of the verdicts."""

NOTHING = 1
"""The exit code where there is nothing to show: no name matches a pattern, or rates cannot be kept."""

USAGE = 2
"""The exit code of a request that makes no sense."""

_CHECKS: dict[str, Callable[..., Report]] = {
    "gradient": check_user_gradient,
    "jacobian": check_jacobian,
    "hessian": check_hessian,
    "hvp": check_hvp,
    "jvp": check_jvp,
    "vjp": check_vjp,
}
_FEW = 3
_WIDTH = 100
_PACKAGE = Path(einsumad.__file__).parent
_OF_ARGUMENTS = ("gradient", "jacobian", "hessian")
_SECOND = ("hessian", "hvp")
_OF_SCALARS = ("gradient", *_SECOND)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 right, 1 wrong or refused, 2 no sensible request, 3 undecided.

    Of ``functions``: 0, or 1 where no name matches. Of ``calibrate``: 0, or 1 where the file cannot be written.

    Raises ``SystemExit`` with code 2 for options that do not exist, and with code 0 for ``--help`` and ``--version``.

    >>> main(["check", "numpy:sin", "--jacobian", "numpy:cos", "--args", "[0.5]"])
    Arguments as given: x = 0.5
    The derivative of sin is right. Jacobian, order 1 (as given), against ...: 1 entry.
    0
    """
    options = _parser().parse_args(argv)
    if options.command == "calibrate":
        return _calibrate()
    if options.command == "functions":
        return _functions(options.namespace, options.pattern)
    try:
        return _check(options)
    except DifferentiationError as error:
        sys.stderr.write(f"error: {error}\nOn the command line a floating-point value has a point: 2.0, not 2.\n")
    except (RequestError, EinsumadError, ImportError) as error:
        sys.stderr.write(f"error: {error}\n")
    return USAGE


def _functions(namespace: str, pattern: str) -> int:
    """Print what becomes of the functions whose names match, or names that are near where there are none."""
    found = listing(namespace, pattern)
    sys.stdout.write(found)
    if found:
        return 0
    near = inventory.near_names(namespace, pattern)
    hint = f": did you mean {' or '.join(near)}?" if near else "; '*' stands for any letters"
    sys.stderr.write(f"no function of {namespace} matches {pattern!r}{hint}\n")
    return NOTHING


def _calibrate() -> int:
    """Measure this machine, print its rates and where they are kept."""
    try:
        machine = calibrate()
    except OSError as error:
        sys.stderr.write(f"error: the rates cannot be kept: {error}\n")
        return NOTHING
    sys.stdout.write(f"{machine}\nkept in {machine_file()}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m einsumad", description="Derivatives in Einstein notation.")
    parser.add_argument("--version", action="version", version=f"einsumad {einsumad.__version__}")
    commands = parser.add_subparsers(
        title="commands", required=True, dest="command", metavar="check | functions | calibrate"
    )
    functions = commands.add_parser(
        "functions",
        help="what becomes of each function of NumPy and SciPy",
        description="What becomes of each public function of a namespace on traced values, and why.",
    )
    functions.add_argument("namespace", choices=inventory.LIBRARIES)
    functions.add_argument("pattern", nargs="?", default="*", help="of names, such as 'eig*'")
    commands.add_parser(
        "calibrate",
        help="measure this machine for the planner",
        description="Measure the rates of this machine, with which later processes estimate what plans take.",
    )
    check = commands.add_parser(
        "check",
        help="check the derivatives of a function",
        description="Check the derivatives of a function: those given with --gradient, --jacobian, ..., or else all "
        "that einsumad (or --using) has. Exit code: 0 right, 1 wrong or refused, 2 no sensible request, 3 undecided.",
    )
    check.add_argument("function", help="module:function or path/to/file.py:function")
    for name in _CHECKS:
        check.add_argument(f"--{name}", metavar="FUNCTION", help=f"its {name} by hand; a name alone is of that module")
    where = check.add_mutually_exclusive_group()
    where.add_argument("--args", type=read_arguments, metavar="JSON", help="a list such as '[[1.0, 2.0], 3.0]'")
    where.add_argument("--shapes", type=read_shape, nargs="+", help="of random arguments: 3 3,3 '()'")
    where.add_argument("--npz", metavar="FILE", help="arrays by the names of the parameters, or in their order")
    check.add_argument("--seed", type=int, default=0, help="of everything random (default 0)")
    check.add_argument("--dtype", choices=("float32", "float64"), help="of floating arguments")
    check.add_argument("--argnums", type=read_argnums, metavar="0,1", help="the positions to differentiate")
    check.add_argument("--order", type=int, help="the highest order (default 2)")
    check.add_argument("--using", choices=LIBRARIES, help="the system that differentiates (default einsumad)")
    check.add_argument("--against", metavar="ORACLE", help=f"{', '.join(AGAINST)}, or module:function")
    check.add_argument("--kink", choices=KINK_POLICIES, help="what to do at kinks (default skip)")
    check.add_argument("--manifold", choices=tuple(MANIFOLDS), help="the set that the arguments belong to")
    return parser


def _check(options: argparse.Namespace) -> int:
    function, module = load(options.function)
    by_hand = {name: load(getattr(options, name), module)[0] for name in _CHECKS if getattr(options, name)}
    for name in ("using", "order"):
        if by_hand and getattr(options, name) is not None:
            raise RequestError(f"--{name} is for the derivatives of a system: leave it out where derivatives are given")
    settings = {
        name: getattr(options, name)
        for name in ("seed", "kink", "manifold", "argnums")
        if getattr(options, name) is not None
    }
    if options.against is not None:
        settings["against"] = _reference(options.against, module)
    arguments = arguments_of(options, function, _wish(options, by_hand))
    sys.stdout.write(f"Arguments {arguments.origin}: {described(function, arguments.values)}\n")
    report = _guarded(function, lambda: _report(options, function, by_hand, arguments.values, settings))
    sys.stdout.write(f"{_shortened(report)}\n")
    return CODES[report.verdict]


def _wish(options: argparse.Namespace, by_hand: dict[str, Callable[..., Any]]) -> Wish:
    """What random arguments have to be like."""
    positions = options.argnums if options.argnums is not None else 0 if by_hand else None
    return Wish(
        options.using or "einsumad",
        any(name in _OF_SCALARS for name in by_hand),
        options.dtype or "float64",
        options.seed,
        None if options.manifold is None else manifold(options.manifold),
        (positions,) if isinstance(positions, int) else positions,
        tuple([derivative for name, derivative in by_hand.items() if name in _OF_ARGUMENTS]),
    )


def _reference(text: str, module: ModuleType) -> str | Callable[..., Any]:
    """What ``--against`` names: an oracle, a library, or a function."""
    if text in AGAINST:
        return text
    if ":" in text:
        return load(text, module)[0]
    near = get_close_matches(text, AGAINST, n=2)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(AGAINST)}"
    raise RequestError(f"--against {text!r} is no oracle: {hint} A function is written module:function")


def _report(
    options: argparse.Namespace,
    function: Callable[..., Any],
    by_hand: dict[str, Callable[..., Any]],
    args: tuple[Any, ...],
    settings: dict[str, Any],
) -> Report:
    """The report of all derivatives given, or of those of the system."""
    if not by_hand:
        order = 2 if options.order is None else options.order
        return check_derivatives(function, *args, order=order, using=options.using or "einsumad", **settings)
    reports: dict[str, Report] = {}
    for name, derivative in by_hand.items():
        trusted = name in _SECOND and "gradient" in reports and reports["gradient"].verdict == "right"
        further = {"gradient": by_hand["gradient"]} if trusted else {}
        reports[name] = _CHECKS[name](function, derivative, *args, **settings, **further)
    first, *others = reports.values()
    report = first.joined(others)
    return replace(report, findings=tuple(dict.fromkeys(report.findings)))


def _shortened(report: Report) -> str:
    """The text of a report; the properties that hold are named together."""
    names = [each.name for each in PROPERTIES]
    kept = tuple([finding for finding in report.findings if finding.claim not in names or finding.verdict != "right"])
    held = {finding.claim for finding in report.findings} - {finding.claim for finding in kept}
    hold = [name for name in names if name in held]
    if len(hold) < _FEW:
        return str(report)
    properties = fill(f"Properties that need no oracle, and hold: {', '.join(hold)}.", _WIDTH)
    return f"{replace(report, findings=kept)}\n{properties}"


def _guarded(function: Callable[..., Any], run: Callable[[], Report]) -> Report:
    """Run a check; what the functions of the user raise is told with its place."""
    try:
        return run()
    except (EinsumadError, ImportError):
        raise
    except Exception as error:
        *_, (frame, line) = traceback.walk_tb(error.__traceback__)
        path = Path(frame.f_code.co_filename)
        if _PACKAGE in path.parents:
            raise RequestError(str(error)) from error
        place, what = f"{path.name}:{line}", f"{type(error).__name__}: {error}"
        raise RequestError(f"the check of {function_name(function)} stopped at {place} with {what}") from error
