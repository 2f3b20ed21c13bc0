"""All derivatives of a function that a system has, in every mode, and the properties that hold between them.

Owns :func:`check_derivatives`. Imports calls, expectations, systems and properties. Invariant: an order is compared
with differences of the order below it, which was compared before, and along lines with differences of the function
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, EinsumadError
from einsumad.frontend.trees import flatten, unflatten
from einsumad.testing.checks.call import Argnums, Call, call_of
from einsumad.testing.checks.claims import MisfitError
from einsumad.testing.checks.diagnose import SHAPE, causes_of, misfit_finding
from einsumad.testing.checks.expectation import Direction, random_vector, surroundings_of
from einsumad.testing.checks.first import too_coarse
from einsumad.testing.checks.matrix import Label, claimed_matrix, compare_matrix, finding_of, tied
from einsumad.testing.checks.reference import convention_of, expectation_of, on_leaves
from einsumad.testing.checks.second import ZERO
from einsumad.testing.checks.settings import LIBRARIES
from einsumad.testing.checks.shrink import with_small_case
from einsumad.testing.comparison import Claimed, Scales, compare, stacked
from einsumad.testing.point import Array
from einsumad.testing.properties import QUICK, RAISES, Case, run_properties
from einsumad.testing.properties.contract import derivative_blocks
from einsumad.testing.report import Finding, Report
from einsumad.testing.subject import Subject
from einsumad.testing.systems import EINSUMAD, System, flat_tensor, system

_LINES = 2
_HIGHEST = 3
_ORDER = 2


@dataclass(frozen=True)
class _Task:
    """What is asked, whatever the arguments."""

    function: Callable[..., Any]
    system: System
    modes: tuple[str, ...]
    order: int
    properties: Sequence[str] | None


@dataclass(frozen=True)
class _Job:
    """A call, the system that differentiates it, and the modes it is asked for."""

    call: Call
    system: System
    modes: tuple[str, ...]
    function: Callable[..., Any]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [array.shape for array in self.call.point.arrays]

    def tensor(self, vector: Array, order: int, mode: str, *, wide: bool = False) -> Array:
        """The derivative of that order at a vector: entries of the value, then of the point once for each order."""
        arrays = [np.asarray(part) for part in self.call.point.split(vector, wide=wide)]
        with np.errstate(all="ignore"):
            nested = self.system.derivative(self.function, arrays, order, mode)
        if order:
            _refuse_misfits(nested, self.call, order)
        return flat_tensor(nested, self.call.subject.shape, self.shapes, order)


def _refuse_misfits(nested: Any, call: Call, order: int) -> None:
    """Raise :class:`MisfitError` for a derivative of another shape than it has to have; none is reshaped to fit."""
    blocks = derivative_blocks(nested, call.subject.output, call.point.arrays, order)
    for part, (what, found, shape, _) in enumerate(blocks):
        if np.shape(found) != shape:
            told = f"{what} of the derivative of order {order}" if len(call.point.arrays) > 1 else "the derivative"
            raise MisfitError(f"{told} has shape {np.shape(found)}, and {shape} is right", np.asarray(found), part)


def check_derivatives(
    f: Callable[..., Any],
    *args: Any,
    order: int = _ORDER,
    modes: Sequence[str] | None = None,
    using: str | System = "einsumad",
    argnums: Argnums | None = None,
    properties: Sequence[str] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check the derivatives of f to an order, in all modes, as a system computes them.

    `using` names the system ("einsumad", "jax", "torch", "autograd", or a :class:`System`), for which f has to be
    written. All floating arguments are differentiated, or those at `argnums`. Value, Jacobians and higher derivatives
    of every mode are compared with the oracles, and the properties that need no oracle with each other (`properties`
    names some of them; of another system those are asked that are quick). Further options are the fields of
    :class:`Settings`.

    >>> import numpy as np
    >>> from einsumad.testing import check_derivatives
    >>> bool(check_derivatives(lambda x: np.sum(np.exp(x) * x), np.array([0.5, 1.5])))
    True
    """
    _check_order(order)
    chosen_system = system(using)
    for mode in modes or ():
        if mode not in chosen_system.modes:
            raise ValueError(f"{chosen_system.name} has the modes {', '.join(chosen_system.modes)}, got {mode!r}")
    chosen = _floating(args) if argnums is None else argnums
    task = _Task(f, chosen_system, tuple(modes or chosen_system.modes), order, properties)
    return _check(task, call_of(_plain(f, chosen_system), args, kwargs, chosen, options))


def _check_order(order: Any) -> None:
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"order must be a whole number of at least 1, got {order!r}")


def _floating(args: Sequence[Any]) -> tuple[int, ...]:
    """The positions of the arguments that have floating entries."""
    found = tuple([k for k, argument in enumerate(args) if _is_floating(argument)])
    if not found:
        raise DifferentiationError(
            "no argument has a floating dtype: pass floating-point values, e.g. np.asarray(x, float)"
        )
    return found


def _is_floating(argument: Any) -> bool:
    if isinstance(argument, Mapping):
        return any(_is_floating(value) for value in argument.values())
    if isinstance(argument, (list, tuple)):
        return any(_is_floating(value) for value in argument)
    return not isinstance(argument, str) and np.asarray(argument).dtype.kind in "fc"


def _plain(f: Callable[..., Any], own: System) -> Callable[..., Any]:
    """The function on NumPy arrays: itself for this library, which works on NumPy code; else through the system."""
    if own is EINSUMAD:
        return f

    @wraps(f)
    def plain(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten(args)
        places = [k for k, leaf in enumerate(leaves) if _is_floating(leaf)]

        def of_arrays(*arrays: Any) -> Any:
            full = list(leaves)
            for k, array in zip(places, arrays, strict=True):
                full[k] = array
            return f(*unflatten(tree, full), **kwargs)

        arrays = [np.asarray(leaves[k]) for k in places]
        try:
            return own.evaluate(of_arrays, arrays)
        except Exception as error:
            if any(array.dtype.kind == "c" for array in arrays):
                raise TypeError(f"{own.name} does not compute the function at complex numbers: {error}") from error
            raise

    return plain


def _check(task: _Task, call: Call) -> Report:
    refused = call.refusal()
    if refused is not None:
        return refused
    function = on_leaves(replace(call, function=task.function))
    job = _Job(call, task.system, task.modes, function)
    findings = [_value_finding(job)]
    mode = job.modes[0]
    for order in range(1, task.order + 1):
        found, answered = _order_findings(job, order, mode)
        findings += found
        if not answered or _misfits(findings, order, answered[0]):
            break
        mode = answered[0]
    arrays = tuple(_native(call, call.point.vector))
    case = Case(task.system, function, arrays, call.settings.seed, task.order, task.modes, call.name)
    chosen = QUICK if task.properties is None and task.system is not EINSUMAD else task.properties
    identities = [replace(finding, identity=True) for finding in run_properties(case, chosen)]
    report = call.report([*findings, *identities])
    again, asked = partial(_check, task), _asked(task, call)
    return with_small_case(call, report, again, "derivatives", function=task.function, asked=asked)


def _asked(task: _Task, call: Call) -> dict[str, Any]:
    """The keyword arguments of :func:`check_derivatives` that were not left at their defaults."""
    asked = {
        "order": (task.order, _ORDER),
        "modes": (task.modes, task.system.modes),
        "using": (task.system.name, EINSUMAD.name),
        "argnums": (call.argnums, _floating(call.args)),
    }
    return {name: given for name, (given, usual) in asked.items() if given != usual}


def _native(call: Call, vector: Array) -> list[Array]:
    return [np.asarray(part) for part in call.point.split(vector, wide=False)]


def _order_findings(job: _Job, order: int, below: str) -> tuple[list[Finding], list[str]]:
    """The derivative of one order in every mode, against differences of the order below in one mode and along lines.

    Beside the findings the modes that gave a derivative.
    """
    call = job.call
    subject = call.subject if order == 1 else Subject(_lower(job, order - 1, below), call.point, f"order {order - 1}")
    label = Label("derivative", order, below, subject.shape)
    if subject.single and not call.settings.single and call.settings.against not in LIBRARIES:
        return [replace(too_coarse(call, label), mode=mode) for mode in job.modes], list(job.modes)
    expectation = expectation_of(call, subject, order)
    convention = convention_of(call, expectation, order)
    findings: list[Finding] = []
    answered: list[str] = []
    for mode in job.modes:
        named = replace(label, mode=mode)
        try:
            claimed = _claimed(job, order, mode)
        except MisfitError as misfit:
            findings.append(misfit_finding(call, misfit, named, subject))
            answered.append(mode)
            continue
        except NotImplementedError as error:
            detail = f"{job.system.name} does not have it: {error}"
            findings.append(Finding("derivative", order, mode, job.system.name, "undecided", detail=detail))
            continue
        except EinsumadError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a system raises where it has the value, it is to be told
            detail = f"raised {type(error).__name__}: {error}"
            findings.append(Finding("derivative", order, mode, job.system.name, "wrong", detail=detail, cause=RAISES))
            continue
        answered.append(mode)
        outcome = compare_matrix(expectation, claimed, named, convention)
        shape = replace(named, output_shape=() if subject.shape == () else subject.shape)
        findings.append(causes_of(call, outcome, shape))
    comparable = call.settings.against == "auto" and call.point.size and expectation.surroundings.flat
    if 2 <= order <= _HIGHEST and comparable and answered and not _misfits(findings, order, answered[0]):
        findings.append(_line_finding(job, order, answered[0]))
    return findings, answered


def _misfits(findings: Sequence[Finding], order: int, mode: str) -> bool:
    """Whether the derivative of that order has a wrong shape in a mode, and nothing can be compared with it."""
    return any((f.order, f.mode, f.against, f.verdict) == (order, mode, SHAPE, "wrong") for f in findings)


def _lower(job: _Job, order: int, mode: str) -> Callable[..., Any]:
    """The derivative of an order as a function of the differentiated arguments, with the axes of its whole shape."""
    call = job.call
    shape = (*call.subject.shape, *call.point.arrays[0].shape * order) if len(call.point.arrays) == 1 else None

    def derivative(*chosen: Any) -> Array:
        vector = call.point.join(flatten(chosen)[0])
        found = job.tensor(vector, order, mode, wide=True)
        return found.reshape(shape) if shape is not None else found

    return derivative


def _claimed(job: _Job, order: int, mode: str) -> Claimed:
    size = job.call.point.size

    def read(vector: Array) -> Array:
        tensor = job.tensor(vector, order, mode)
        return tensor.reshape(prod(tensor.shape[:-1]), size).astype(np.float64)

    return claimed_matrix(job.call.point, read, np.result_type(*job.call.point.arrays), job.call.settings.seed)


def _line_finding(job: _Job, order: int, mode: str) -> Finding:
    """The derivative applied to one random direction throughout, against differences of the function itself."""
    call = job.call
    base = surroundings_of(call.subject, call.settings)
    rng = np.random.default_rng([call.settings.seed, 8])
    directions = [Direction(random_vector(base, rng), None, f"random line {k}") for k in range(_LINES)]
    estimates = base.along([direction.vector for direction in directions], order=order)
    at = call.point.vector
    nearby = at * (1 + call.point.epsilon * tied(at, rng.integers(-3, 4, at.size)))
    tensor, other = (job.tensor(x, order, mode).astype(np.float64) for x in (at, nearby))
    comparisons = []
    for direction, estimate in zip(directions, estimates, strict=True):
        with np.errstate(all="ignore"):
            found, moved = (_applied(t, direction.vector, order) for t in (tensor, other))
            size = _applied(np.abs(tensor), np.abs(direction.vector), order)
        claimed = Claimed(found, partial(np.abs, found - moved), max(call.point.epsilon, float(np.finfo(float).eps)))
        usual = np.maximum(size, 1e-3 * base.size)
        scales = Scales(usual, base.magnitude, ZERO)
        comparisons.append(compare(claimed, estimate, scales, relative=call.settings.relative))
    label = Label("derivative along lines", order, mode, call.subject.shape)
    return finding_of(stacked(comparisons), directions, label)


def _applied(tensor: Array, vector: Array, order: int) -> Array:
    for _ in range(order):
        tensor = tensor @ vector
    return tensor


def _value_finding(job: _Job) -> Finding:
    """The value that the system computes against that of the function."""
    call = job.call
    arrays = _native(call, call.point.vector)
    found, expected = np.asarray(job.system.evaluate(job.function, arrays)), call.subject.output
    head = ("value", 0, job.system.name, "the function itself")
    if found.shape != expected.shape:
        detail = f"the value has shape {found.shape}, and {expected.shape} is right"
        return Finding(*head, "wrong", detail=detail)
    flat, right = found.reshape(-1).astype(complex), expected.reshape(-1).astype(complex)
    tolerance = 4096 * call.point.epsilon * np.abs(right) + 16 * surroundings_of(call.subject, call.settings).noise
    with np.errstate(all="ignore"):
        wrong = ~((np.abs(flat - right) <= tolerance) | (flat == right) | (np.isnan(flat) & np.isnan(right)))
    if not wrong.any():
        return Finding(*head, "right", found.size)
    k = int(np.argmax(wrong))
    values = (float(flat[k].real), float(right[k].real), 0.0, float(tolerance[k]))
    return Finding(*head, "wrong", found.size, 0, int(wrong.sum()), f"output {k}", *values)
