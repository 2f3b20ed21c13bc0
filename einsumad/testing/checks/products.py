"""Pushforwards and pullbacks written by hand, against the function they belong to.

Owns :func:`check_jvp` and :func:`check_vjp`. Imports calls, expectations and the diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.checks.call import Argnums, Call, call_of, copied
from einsumad.testing.checks.claims import MisfitError, reader
from einsumad.testing.checks.diagnose import causes_of, explain_jacobian, misfit_finding
from einsumad.testing.checks.expectation import (
    Direction,
    Expectation,
    directions_of,
    expect,
    judge,
    random_vector,
    surroundings_of,
)
from einsumad.testing.checks.matrix import Label, claimed_matrix, compare_matrix, finding_of
from einsumad.testing.checks.reference import expectation_of
from einsumad.testing.checks.second import stretch
from einsumad.testing.checks.shrink import with_small_case
from einsumad.testing.checks.steady import unsteady_findings
from einsumad.testing.comparison import Claimed, Scales, stacked
from einsumad.testing.oracles.along import ORACLES
from einsumad.testing.oracles.estimate import single
from einsumad.testing.point import Array, Point, real_vector
from einsumad.testing.report import Finding, Report, Verdict
from einsumad.testing.subject import Subject

_COTANGENTS = (1.0, 64.0, 1 / 64)
"""The sizes of the random cotangents: a pullback is linear."""
_SMALL = 4096
_FEW = 256
_ONES = (
    "ones cotangent only: the pullback is right for an all-ones cotangent, so a sum over the output is taken too early"
)


def check_jvp(
    f: Callable[..., Any],
    jvp: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``jvp(primals, tangents)``, the pushforward of f, for tangents along entries and at random.

    `primals` is the tuple of all arguments, `tangents` that of tangents of the arguments at `argnums`; the result has
    the shape of the value of f. Complex arguments and values are pairs of real ones. See :func:`check_user_gradient`.

    >>> import numpy as np
    >>> from einsumad.testing import check_jvp
    >>> bool(check_jvp(np.sin, lambda primals, tangents: np.cos(primals[0]) * tangents[0], np.array([1.0, 2.0])))
    True
    """
    if not callable(jvp):
        raise TypeError(f"the pushforward has to be a function, got {type(jvp).__name__}")
    return _check(call_of(f, args, kwargs, argnums, options), lambda call: _jvp_findings(call, jvp), "jvp", jvp)


def check_vjp(
    f: Callable[..., Any],
    vjp: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``vjp(primals, cotangent)``, the pullback of f, for random cotangents and for one of ones.

    `primals` is the tuple of all arguments; the result is the cotangent of the argument at `argnums`, a tuple for
    several. For complex arrays the pairing is the real part of ``conj(cotangent) * value``. See
    :func:`check_user_gradient`.

    >>> import numpy as np
    >>> from einsumad.testing import check_vjp
    >>> bool(check_vjp(np.sin, lambda primals, cotangent: np.cos(primals[0]) * cotangent, np.array([1.0, 2.0])))
    True
    """
    if not callable(vjp):
        raise TypeError(f"the pullback has to be a function, got {type(vjp).__name__}")
    return _check(call_of(f, args, kwargs, argnums, options), lambda call: _vjp_findings(call, vjp), "vjp", vjp)


def _check(call: Call, findings: Callable[[Call], list[Finding]], what: str, claim: object) -> Report:
    refused = call.refusal()
    if refused is not None:
        return refused
    report = call.report(findings(call))
    return with_small_case(call, report, lambda smaller: _check(smaller, findings, what, claim), what, claim=claim)


def _jvp_findings(call: Call, jvp: Callable[..., Any]) -> list[Finding]:
    subject = call.subject
    tangents = tuple(call.point.in_containers(call.point.split(call.point.vector, wide=False)))
    refused = unsteady_findings(call, lambda args: jvp(args, copied(tangents), **call.kwargs), "pushforward", 1)
    if refused:
        return refused
    label = Label("jvp", 1, "as given", subject.shape)
    base = surroundings_of(subject, call.settings)
    rng = np.random.default_rng([call.settings.seed, 6])
    expectation = expectation_of(call, subject, extra=(Direction(random_vector(base, rng), None, "a random tangent"),))
    comparisons = []
    for index, direction in enumerate(expectation.directions):
        try:
            comparisons.append(judge(expectation, index, _pushed(call, jvp, direction)))
        except MisfitError as misfit:
            return [misfit_finding(call, misfit, label)]
    if not comparisons:
        return [Finding("jvp", 1, "as given", "the shape", "right")]
    finding = finding_of(stacked(comparisons), list(expectation.directions), label)
    if finding.verdict != "wrong" or call.point.size > len(comparisons):
        return [finding]
    parts = [_columns(expectation, [getattr(c, name) for c in comparisons]) for name in ("found", "expected", "error")]
    return [replace(finding, cause=explain_jacobian(call, parts[0], parts[1], np.abs(parts[2])))]


def _columns(expectation: Expectation, along: list[Array]) -> Array:
    """The columns of a matrix from what it gives along the entries of the point."""
    matrix = np.full((expectation.surroundings.subject.flat_size, expectation.point.size), np.nan)
    for direction, vector in zip(expectation.directions, along, strict=True):
        if direction.entry is not None:
            matrix[:, direction.entry] = vector / direction.vector[direction.entry]
    return matrix


def _pushed(call: Call, jvp: Callable[..., Any], direction: Direction) -> Claimed:
    point, subject = call.point, call.subject

    factor = stretch(direction, call.settings.seed)

    def read(vector: Array) -> Array:
        tangents = tuple(point.in_containers(point.split(factor * direction.vector, wide=False)))
        with np.errstate(all="ignore"):
            answer = np.asarray(jvp(call.arguments_at(vector), copied(tangents), **call.kwargs))
        if answer.shape != subject.shape:
            hint = "; primals and tangents are tuples: take primals[0]" if answer.shape == (1, *subject.shape) else ""
            raise MisfitError(f"the pushforward has shape {answer.shape}, and {subject.shape} is right{hint}", answer)
        return real_vector(answer, subject.output.dtype.kind == "c")[:, None] / factor

    claimed = claimed_matrix(point, read, np.dtype(float), call.settings.seed)
    return Claimed(claimed.value[:, 0], lambda: claimed.spread[:, 0], max(point.epsilon, claimed.unit))


def _vjp_findings(call: Call, vjp: Callable[..., Any]) -> list[Finding]:
    rng = np.random.default_rng([call.settings.seed, 7])
    shape, is_complex = call.subject.shape, call.subject.output.dtype.kind == "c"
    given = np.ones(shape, call.subject.output.dtype)
    refused = unsteady_findings(call, lambda args: vjp(args, given.copy(), **call.kwargs), "pullback", 1)
    if refused:
        return refused
    cotangents = [factor * _random_cotangent(rng, shape, is_complex) for factor in _COTANGENTS]
    shared = _shared(call)
    found = [_one_vjp(call, vjp, cotangent, shared) for cotangent in cotangents]
    wrong = [finding for finding in found if finding.verdict == "wrong"]
    if not wrong:
        return [_together(found)]
    cause = wrong[0].cause
    if wrong[0].against != "the shape":
        cause = _jacobian_cause(call, vjp) or cause
    if not cause and call.subject.output.size > 1:
        with_ones = _one_vjp(call, vjp, np.ones(shape, cotangents[0].dtype), shared)
        cause = _ONES if with_ones.verdict == "right" else ""
    return [replace(wrong[0], cause=cause)]


def _jacobian_cause(call: Call, vjp: Callable[..., Any]) -> str:
    """The likely cause, from the whole Jacobian if it is small: the pullbacks of all unit cotangents."""
    subject, point = call.subject, call.point
    if subject.output.dtype.kind == "c" or point.is_complex or subject.output.size * point.size > _SMALL:
        return ""
    rows = []
    for k in range(subject.output.size):
        unit = np.zeros(subject.output.size, subject.output.dtype)
        unit[k] = 1
        read = _pulled(call, vjp, unit.reshape(subject.shape))
        rows.append(read(point.vector)[0])
    found = np.stack(rows) if rows else np.zeros((0, point.size))
    every = replace(call.settings, entries=point.size)
    base = surroundings_of(subject, every)
    expectation = expect(base, every, directions_of(base, replace(every, manifold=None)))
    expected = _columns(expectation, [estimate.value for estimate in expectation.estimates])
    error = np.abs(_columns(expectation, [estimate.error for estimate in expectation.estimates]))
    return explain_jacobian(call, found, expected, error)


def _pulled(call: Call, vjp: Callable[..., Any], cotangent: Array) -> Callable[[Array], Array]:
    """The pullback of one cotangent at a vector, as a matrix of one row."""

    def pullback(*args: Any) -> Any:
        return vjp(args, cotangent.copy(), **call.kwargs)

    return reader(pullback, call.arguments_at, call.point, (), "pullback")


def _random_cotangent(rng: np.random.Generator, shape: tuple[int, ...], is_complex: bool) -> Array:
    real = rng.uniform(0.25, 1, shape) * rng.choice([-1.0, 1.0], shape)
    return np.asarray(real + 1j * rng.uniform(-1, 1, shape) if is_complex else real)


def _together(findings: list[Finding]) -> Finding:
    verdict: Verdict = "right" if any(f.verdict == "right" for f in findings) else "undecided"
    entries, undecided = sum(f.entries for f in findings), sum(f.undecided for f in findings)
    return replace(findings[0], verdict=verdict, entries=entries, undecided=undecided)


def _one_vjp(call: Call, vjp: Callable[..., Any], cotangent: Array, shared: Expectation | None) -> Finding:
    """The pullback of one cotangent: the gradient of the function paired with it."""
    label = Label("vjp", 1, "as given")
    own = call.subject.output.dtype
    given = cotangent.astype(own if own.kind in "fc" else np.float64)
    weights = real_vector(given, given.dtype.kind == "c")

    def paired(*chosen: Any) -> Any:
        value = np.asarray(call.subject.function(*chosen))
        if value.dtype.kind == "c" and given.dtype.kind != "c":
            return np.sum(value * given)
        return np.dot(weights, real_vector(value, given.dtype.kind == "c"))

    subject = Subject(paired, call.point, call.name)
    try:
        claimed = claimed_matrix(call.point, _pulled(call, vjp, given), np.dtype(float), call.settings.seed)
    except MisfitError as misfit:
        return misfit_finding(call, _explained(misfit, call.point), label, subject)
    claimed = replace(claimed, unit=max(call.point.epsilon, claimed.unit))
    expectation = expectation_of(call, subject) if shared is None else _paired(shared, weights)
    return causes_of(call, compare_matrix(expectation, claimed, label), label)


def _explained(misfit: MisfitError, point: Point) -> MisfitError:
    """The misfit of a pullback, with a word on tuples where it took the tuple of the primals for an array."""
    if misfit.found is None or misfit.found.shape != (1, *point.arrays[misfit.part].shape):
        return misfit
    return MisfitError(f"{misfit}; primals is a tuple: take primals[0]", misfit.found, misfit.part)


def _shared(call: Call) -> Expectation | None:
    """Estimates of the whole Jacobian, if it is small: what every cotangent is paired with."""
    settings = call.settings
    small = call.point.size <= settings.entries and call.subject.flat_size <= _FEW
    plain = settings.manifold is None and settings.against in ("auto", *ORACLES)
    return expectation_of(call, call.subject) if small and plain else None


def _paired(expectation: Expectation, weights: Array) -> Expectation:
    """The expectation of the function paired with a cotangent."""
    size = np.abs(weights)
    estimates = []
    for each in expectation.estimates:
        one, other = weights * each.left, weights * each.right
        low, high = np.minimum(one, other), np.maximum(one, other)
        whole = single(_times(weights, each.value), _times(size, each.error), " and ".join(dict.fromkeys(each.oracles)))
        kink = np.array([bool(np.any(each.kink & (weights != 0)))])
        left, right, side_error = _times(1.0, low), _times(1.0, high), _times(size, each.side_error)
        estimates.append(replace(whole, kink=kink, left=left, right=right, side_error=side_error))
    own = expectation.scales
    terms = _times(size, np.broadcast_to(own.terms, weights.shape))
    scales = Scales(_times(size, own.typical), _times(size, own.magnitude), own.zero, terms)
    return replace(expectation, estimates=tuple(estimates), scales=scales)


def _times(weights: Array | float, values: Array) -> Array:
    """The sum of products, in which a zero weight counts as nothing, also for what is not finite."""
    with np.errstate(all="ignore"):
        return np.array([np.sum(np.where(np.equal(weights, 0), 0.0, weights * values))])
