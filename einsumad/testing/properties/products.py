"""Products and parts: what is computed without a derivative tensor agrees with what is computed with it.

Owns these laws. Imports agreement. Invariant: sums over entries of the point are bounded by the sums of their
magnitudes.

``jvp = J v``, ``vjp = uᵀ J``, ``hvp = H v``, diagonal and trace of H, and the parts of transforms that give several
things at once (Griewank and Walther, *Evaluating Derivatives*, 2008, sections 3.1, 3.2 and 5.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, Locate, agree
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding
from einsumad.testing.systems.base import Function, flat_tensor

JVP, VJP, HVP = "jvp is J v", "vjp is u J", "hvp is H v"
DIAGONAL, LAPLACIAN, PARTS = "hessian diagonal", "laplacian", "parts together"


def jvp_is_product(probe: Probe) -> Iterator[Finding]:
    """The pushforward of several tangents against the Jacobian times them."""
    tangents = probe.tangents

    def pushed(place: Place) -> Array:
        return np.stack([place.jvp(v).reshape(-1) for v in tangents])

    def multiplied(place: Place) -> Array:
        return np.stack([probe.tensor(place, 1) @ _near(place, v) for v in tangents])

    def terms(place: Place) -> Array:
        return np.stack([np.abs(probe.tensor(place, 1)) @ np.abs(flat(v)) for v in tangents])

    claim = Claim(JVP, 1, "jvp", f"the Jacobian, mode {probe.modes[0]}, times the tangent")
    yield agree(probe, claim, Equation(pushed, multiplied, terms, composed=True), _of_value(probe))


def vjp_is_product(probe: Probe) -> Iterator[Finding]:
    """The pullback of several cotangents against them times the Jacobian."""
    cotangents = probe.cotangents

    def pulled(place: Place) -> Array:
        return np.stack([flat(place.vjp(u)) for u in cotangents])

    def multiplied(place: Place) -> Array:
        return np.stack([_near(place, (u,)) @ probe.tensor(place, 1) for u in cotangents])

    def terms(place: Place) -> Array:
        return np.stack([np.abs(flat((u,))) @ np.abs(probe.tensor(place, 1)) for u in cotangents])

    claim = Claim(VJP, 1, "vjp", f"the cotangent times the Jacobian, mode {probe.modes[0]}")
    yield agree(probe, claim, Equation(pulled, multiplied, terms, composed=True), _of_point(probe))


def hvp_is_product(probe: Probe) -> Iterator[Finding]:
    """The product of the Hessian with several tangents against the Hessian times them.

    For a value with axes this is asked of the sum of the squares of its entries, if the system takes other functions.
    """
    function = None if probe.value.shape == () else sum_of_squares(probe.case.function)
    if function is not None and not probe.case.system.any_function:
        return
    probe.refuse_large(2)
    tangents = probe.tangents

    def hessian(place: Place) -> Array:
        tensor = probe.tensor(place, 2) if function is None else place.derivative(2, probe.modes[0], function, ())
        return np.asarray(tensor[0])

    def product(place: Place) -> Array:
        return np.stack([place.hvp(v, function) for v in tangents])

    def multiplied(place: Place) -> Array:
        matrix = hessian(place)
        return np.stack([matrix @ _near(place, v) for v in tangents])

    def terms(place: Place) -> Array:
        matrix = np.abs(hessian(place))
        return np.stack([matrix @ np.abs(flat(v)) for v in tangents])

    against = f"the Hessian, mode {probe.modes[0]}, times the tangent"
    what = "hvp" if function is None else "hvp of the sum of squares"
    claim = Claim(HVP, 2, what, against)
    yield agree(probe, claim, Equation(product, multiplied, terms, composed=True), _of_point(probe))


def sum_of_squares(f: Function) -> Function:
    """A scalar function of the value of another one."""

    def of(*xs: Any) -> Any:
        value = f(*xs)
        return (value * value).sum()

    return of


def hessian_diagonal(probe: Probe) -> Iterator[Finding]:
    """The diagonal of the Hessian computed alone."""
    claim = Claim(DIAGONAL, 2, "hessian_diagonal", f"the diagonal of the Hessian, mode {probe.modes[0]}")
    equation = Equation(
        lambda place: flat(place.further("hessian_diagonal")), lambda place: np.diagonal(probe.tensor(place, 2)[0])
    )
    yield agree(probe, claim, equation, probe.entries.of_point)


def laplacian(probe: Probe) -> Iterator[Finding]:
    """The trace of the Hessian computed alone."""
    claim = Claim(LAPLACIAN, 2, "laplacian", f"the trace of the Hessian, mode {probe.modes[0]}")
    equation = Equation(
        lambda place: np.asarray(place.further("laplacian")),
        lambda place: np.trace(probe.tensor(place, 2)[0]),
        lambda place: np.sum(np.abs(np.diagonal(probe.tensor(place, 2)[0]))),
        composed=True,
    )
    yield agree(probe, claim, equation, lambda _: "the only entry")


_PARTS = {
    "gradient": (1,),
    "jacobian": (1,),
    "hessian": (2,),
    "value_and_grad": (0, 1),
    "value_grad_and_hessian": (0, 1, 2),
}


def parts_together(probe: Probe) -> Iterator[Finding]:
    """Each part of what a transform gives at once against the derivative of its order asked for alone."""
    for name, orders in _PARTS.items():
        known = name in probe.case.system.extras and orders[-1] <= probe.case.order
        if not known or (name != "jacobian" and probe.value.shape != ()):
            continue
        for position, order in enumerate(orders):
            which = None if len(orders) == 1 else position
            claim = Claim(PARTS, order, name, "it alone")
            yield agree(probe, claim, _part(probe, name, which, order), probe.entries.of_tensor(order))


def _part(probe: Probe, name: str, position: int | None, order: int) -> Equation:
    shapes = [array.shape for array in probe.arrays]

    def part(place: Place) -> Array:
        answer = place.further(name)
        return flat_tensor(answer if position is None else answer[position], probe.value.shape, shapes, order)

    def alone(place: Place) -> Array:
        return place.value().reshape(-1) if order == 0 else probe.tensor(place, order)

    return Equation(part, alone)


def _near(place: Place, arrays: Sequence[Array]) -> Array:
    return flat([place.near(array) for array in arrays])


def _of_point(probe: Probe) -> Locate:
    return lambda position: f"{probe.entries.of_point(position % probe.size)} in direction {position // probe.size}"


def _of_value(probe: Probe) -> Locate:
    entries = probe.value.size
    return lambda position: f"{probe.entries.of_value(position % entries)} in direction {position // entries}"
