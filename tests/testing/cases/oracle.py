"""How far a claim is from the truth, measured by differences in extended precision.

Imports the records only and shares nothing with the library. Invariant: a function is differentiated in `longdouble`
where it allows that and in float64 where it doesn't (LAPACK, some special functions); a step length is chosen by its
agreement with the next one, never by looking at the claim; a claim is given the benefit of their disagreement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.testing.cases.records import Case

Array = np.ndarray[Any, Any]
Curve = Callable[[np.longdouble], Array]

EXTENDED = float(np.finfo(np.longdouble).eps) < 1e-18
MANY, LARGE = 30, 1000
ABSOLUTE = ("stationary point", "saturated", "singular", "zero")
"""Where derivatives may vanish against the rounding of values of about one: errors are absolute there."""

_ONE = np.longdouble(1)
_WEIGHTS = ((1, 4 / (5 * _ONE)), (2, -1 / (5 * _ONE)), (3, 4 / (105 * _ONE)), (4, -1 / (280 * _ONE)))
_STEPS = tuple([_ONE / 2**k for k in (5, 7, 9, 11, 14, 18, 23, 27, 29)])


class BrokenContractError(Exception):
    """A claim has the wrong number of parts, shape or dtype."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The least and the largest derivative that is right (they differ at kinks), and how uncertain both are."""

    low: Array
    high: Array
    doubt: float

    def gap(self, said: Array) -> float:
        """How far a claim is from being right."""
        if np.iscomplexobj(said) or np.iscomplexobj(self.low):
            apart = np.abs(said - self.low)
        else:
            apart = np.maximum(self.low - said, said - self.high)
        return max(float(np.max(apart, initial=0.0)) - 4 * self.doubt, 0.0) if np.all(np.isfinite(said)) else np.inf

    @property
    def size(self) -> float:
        """The largest magnitude of an entry."""
        return max(float(np.max(np.abs(end), initial=0.0)) for end in (self.low, self.high))


def central(curve: Curve, step: np.longdouble) -> Array:
    """The central difference of order eight at 0."""
    return sum([w / step * (curve(k * step) - curve(-k * step)) for k, w in _WEIGHTS])


def derivative(curve: Curve, enough: float = 1e-15) -> Truth:
    """The derivative at 0 of a curve of arrays, from the step that agrees best with the next one."""
    best, least, last = np.asarray(np.nan), np.inf, None
    value = curve(0 * _ONE)
    rounding = float(np.finfo(value.dtype).eps * np.max(np.abs(value), initial=0.0))
    for step in _STEPS:
        found = central(curve, step)
        if last is not None and np.all(np.isfinite(found)):
            apart = float(np.max(np.abs(found - last), initial=0.0))
            if apart + rounding / step < least:
                best, least = found, float(apart + rounding / step)
            if apart <= enough * float(np.max(np.abs(found), initial=0.0)):
                break
        last = found
    return Truth(best, best, least)


def between(curve: Curve) -> Truth:
    """The derivatives at 0 from both sides, of order two."""
    steps = (-_ONE / 2**20, _ONE / 2**20)
    ends = [(4 * curve(step) - 3 * curve(0 * _ONE) - curve(2 * step)) / (2 * step) for step in steps]
    return Truth(np.minimum(*ends), np.maximum(*ends), 0.0)


def at_kink(case: Case) -> bool:
    """Whether a claim is right when it lies between the one-sided derivatives: points of such a case may be kinks."""
    return "kink" in case.options or getattr(case, "hard", "") == "kink"


def widest(case: Case, args: Sequence[Any]) -> list[Any]:
    """The arguments, the differentiated ones in the highest precision that the function takes."""
    for real in (np.longdouble, np.float64):
        wide = list(args)
        for k in case.places:
            array = np.asarray(args[k])
            wide[k] = array.astype(np.result_type(real, np.complex64) if array.dtype.kind == "c" else real)
        try:
            case.function(*wide)
        except TypeError:
            continue
        return wide
    raise TypeError(f"{case.name}: the function takes neither longdouble nor float64 arguments")


def straight(case: Case, wide: Sequence[Any], tangents: Sequence[Array], weight: Array | None = None) -> Curve:
    """The values of the function along a straight line; with a weight, their inner product with it."""

    def curve(t: np.longdouble) -> Array:
        args = list(wide)
        for k, tangent in zip(case.places, tangents, strict=True):
            args[k] = (wide[k] + t * tangent).astype(wide[k].dtype)
        try:
            value = np.asarray(case.function(*args))
        except np.linalg.LinAlgError:
            return np.asarray(np.nan)
        return value if weight is None else np.sum((weight.conj() * value).real)

    return curve


def tangents_of(case: Case, args: Sequence[Any], rng: np.random.Generator) -> Iterator[list[Array]]:
    """Unit tangents for few entries, else random ones tangent to the manifold, at the scale of the point."""
    arrays = [np.asarray(args[k]) for k in case.places]
    size = sum([array.size for array in arrays])
    if size > MANY or "manifold" in case.options or any(array.dtype.kind == "c" for array in arrays):
        for _ in range(1 if size > LARGE else 4):
            yield [project(case, array, _scale(array) * _signs(array, rng)) for array in arrays]
        return
    for k, array in enumerate(arrays):
        for entry in np.ndindex(array.shape):
            tangents = [np.zeros_like(other) for other in arrays]
            tangents[k][entry] = _scale(array)[entry]
            yield tangents


def project(case: Case, point: Array, direction: Array) -> Array:
    """The part of a direction that is tangent to the manifold of the case."""
    match case.options.get("manifold"):
        case None:
            return direction
        case "symmetric" | "spd":
            return direction + direction.T
        case "skew":
            return direction - direction.T
        case "lower" | "positive lower":
            return np.tril(direction)
        case "diagonal":
            return np.diag(np.diag(direction))
        case "simplex" | "centred":
            return direction - np.mean(direction, axis=-1, keepdims=True)
        case "sphere":
            return direction - point * np.sum(point * direction)
        case "stiefel" | "orthogonal":
            return direction - point @ (point.T @ direction + direction.T @ point) / 2
        case other:
            raise ValueError(f"{case.name}: no tangents known for the manifold {other!r}")


def _scale(array: Array) -> Array:
    size = np.abs(array)
    return np.where(size > 0, size, 1.0).astype(array.dtype)


def _signs(array: Array, rng: np.random.Generator) -> Array:
    signs = rng.choice([-1.0, 1.0], array.shape) * rng.uniform(0.5, 1.5, array.shape)
    return (signs * np.exp(1j * signs) if array.dtype.kind == "c" else signs).astype(array.dtype)


def comparisons(case: Case, args: tuple[Any, ...], seed: int) -> Iterator[tuple[Array, Truth]]:
    """What the claim says along tangents, and the truth."""
    rng = np.random.default_rng([seed, 1])
    wide = widest(case, args)
    if case.kind in ("hessian", "hvp"):
        yield from _second_order(case, args, wide, rng)
        return
    output = np.asarray(case.function(*args))
    weight = _signs(output, rng) if case.kind == "vjp" else None
    claimed = _claimed(case, args, output, weight)
    enough = 1e-15 if sum([np.size(args[k]) for k in case.places]) <= LARGE else 1e-12
    for tangents in tangents_of(case, args, rng):
        if case.kind == "jvp":
            said = np.asarray(case.claim(args, tuple(tangents)))
            _insist(said, output.shape, output.dtype, case)
        else:
            said = sum([paired(c, t, case) for c, t in zip(claimed, tangents, strict=True)])
        curve = straight(case, wide, tangents, weight)
        yield np.asarray(said), between(curve) if at_kink(case) else derivative(curve, enough)


def paired(claimed: Array, tangent: Array, case: Case) -> Array:
    """A derivative by one argument, applied to a tangent; that of a number by a complex argument is a gradient."""
    if case.kind != "jacobian" and tangent.dtype.kind == "c":
        return np.sum((claimed.conj() * tangent).real)
    return np.tensordot(claimed, tangent, tangent.ndim)


def _second_order(
    case: Case, args: tuple[Any, ...], wide: list[Any], rng: np.random.Generator
) -> Iterator[tuple[Array, Truth]]:
    (place,) = case.places
    array = np.asarray(args[place])
    v = project(case, array, _scale(array) * _signs(array, rng))
    if case.kind == "hvp":
        product = np.asarray(case.claim(*args, v.copy()))
    else:
        hessian = np.asarray(case.claim(*args))
        _insist(hessian, 2 * array.shape, array.dtype, case)
        product = np.tensordot(hessian, v, v.ndim)
    _insist(product, array.shape, array.dtype, case)
    enough = 1e-12 if array.size <= LARGE else 1e-9
    for (tangent,) in tangents_of(case, args, rng):
        yield np.sum(product * tangent), derivative(_slope(case, wide, tangent, v), enough)


def _slope(case: Case, wide: list[Any], first: Array, second: Array) -> Curve:
    """The derivative along the first tangent, at points on a line along the second."""
    (place,) = case.places

    def curve(t: np.longdouble) -> Array:
        moved = list(wide)
        moved[place] = (wide[place] + t * second).astype(wide[place].dtype)
        return central(straight(case, moved, [first]), _ONE / 2**11)

    return curve


def _claimed(case: Case, args: tuple[Any, ...], output: Array, weight: Array | None) -> tuple[Array, ...]:
    if case.kind == "jvp":
        return ()
    claimed = case.claim(*args) if weight is None else case.claim(args, weight.copy())
    parts = claimed if isinstance(case.argnums, tuple) else (claimed,)
    if len(parts) != len(case.places):
        raise BrokenContractError(f"{case.name}: {len(parts)} parts for {len(case.places)} arguments")
    jacobian = case.kind == "jacobian"
    for part, place in zip(parts, case.places, strict=True):
        array = np.asarray(args[place])
        shape = (*output.shape, *array.shape) if jacobian else array.shape
        _insist(np.asarray(part), shape, np.result_type(array, output) if jacobian else array.dtype, case)
    return tuple([np.asarray(part) for part in parts])


def _insist(found: Array, shape: tuple[int, ...], dtype: np.dtype[Any], case: Case) -> None:
    if found.shape != shape or found.dtype != dtype:
        raise BrokenContractError(f"{case.name}: {found.dtype}{found.shape} for {dtype}{shape}")


def error(case: Case, seed: int) -> float:
    """The largest relative error of the claim at one point; infinite for a wrong shape or dtype, or no number."""
    args = case.sample(np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        worst, size = 0.0, 1e-6 * float(np.max(np.abs(case.function(*args)), initial=0.0))
        if getattr(case, "hard", "") in ABSOLUTE:
            size = 1.0
        try:
            for said, truth in comparisons(case, args, seed):
                worst = max(worst, truth.gap(said))
                size = max(size, truth.size)
        except BrokenContractError:
            return np.inf
    return worst / size if size > 0 else worst
