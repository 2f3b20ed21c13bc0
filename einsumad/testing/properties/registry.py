"""All properties, and running them.

Owns the registry. Imports every law. Invariant: names are unique; an exception inside a law is a finding that says so,
except that of computing the value in the first place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from einsumad.errors import EinsumadError
from einsumad.testing.properties import (
    adjoint,
    batching,
    constants,
    contract,
    elimination,
    equivariance,
    freshness,
    linearity,
    modes,
    products,
    purity,
    rules,
    structured,
    symmetry,
    values,
)
from einsumad.testing.properties.case import Case
from einsumad.testing.properties.probe import Probe, probe_of
from einsumad.testing.report import Finding
from einsumad.testing.systems.noisy import TooLargeError

RAISES = "raises: the system computes the value, and raises an error in this transform of it"

ANY_FUNCTION, SCALAR, BATCHED = "any function", "scalar", "batched"


@dataclass(frozen=True, slots=True)
class Property:
    """A law that derivatives obey, checked with no step and no oracle.

    `order` is the least order of a case at which it is checked. `needs` are conditions on the case: "any function", the
    system differentiates other functions than the one given; "scalar", the value has no axes; "batched", the case says
    so; or names of entries of ``System.extras``. A property whose needs are not met is not checked.
    """

    name: str
    order: int
    check: Callable[[Probe], Iterable[Finding]]
    needs: tuple[str, ...] = ()


PROPERTIES: tuple[Property, ...] = (
    Property(values.NAME, 0, values.values),
    Property(contract.NAME, 1, contract.contract),
    Property(adjoint.NAME, 1, adjoint.adjoint_identity),
    Property(modes.NAME, 1, modes.mode_agreement),
    Property(symmetry.NAME, 2, symmetry.symmetry),
    Property(products.JVP, 1, products.jvp_is_product),
    Property(products.VJP, 1, products.vjp_is_product),
    Property(products.HVP, 2, products.hvp_is_product),
    Property(products.DIAGONAL, 2, products.hessian_diagonal, (SCALAR, "hessian_diagonal")),
    Property(products.LAPLACIAN, 2, products.laplacian, (SCALAR, "laplacian")),
    Property(products.PARTS, 1, products.parts_together),
    Property(structured.NAME, 2, structured.structured_hessian, (SCALAR, "structured_hessian")),
    Property(linearity.TANGENT, 1, linearity.linearity_in_the_tangent),
    Property(linearity.COTANGENT, 1, linearity.linearity_in_the_cotangent),
    Property(rules.LINEAR, 1, rules.linearity_in_the_function, (ANY_FUNCTION,)),
    Property(rules.PRODUCT, 1, rules.product_rule, (ANY_FUNCTION,)),
    Property(rules.QUOTIENT, 1, rules.quotient_rule, (ANY_FUNCTION,)),
    Property(rules.CHAIN, 1, rules.chain_rule, (ANY_FUNCTION,)),
    Property(equivariance.PERMUTED, 1, equivariance.permuted_input, (ANY_FUNCTION,)),
    Property(equivariance.SCALED, 1, equivariance.scaled_input, (ANY_FUNCTION,)),
    Property(constants.CONSTANT, 1, constants.constant_function, (ANY_FUNCTION,)),
    Property(constants.UNUSED, 1, constants.unused_argument, (ANY_FUNCTION,)),
    Property(batching.NAME, 1, batching.batching, (BATCHED,)),
    Property(elimination.REFERENCE, 1, elimination.reference_interpreter, ("graph",)),
    Property(elimination.ORDERS, 1, elimination.elimination_orders, ("graph",)),
    Property(purity.PURITY, 1, purity.purity),
    Property(purity.DETERMINISM, 1, purity.determinism),
    Property(purity.ALIASING, 1, purity.no_aliasing),
    Property(freshness.NAME, 1, freshness.freshness),
)
"""All properties in the order in which they are checked."""

QUICK: tuple[str, ...] = tuple(
    [
        each.name
        for each in PROPERTIES
        if not {ANY_FUNCTION, "graph"} & {*each.needs} and each.name not in (freshness.NAME, products.HVP)
    ]
)
"""Names of the properties that ask for derivatives of the function alone, and none of functions made from it.

They are enough where every new function costs much, as in a library that compiles.
"""


def run_properties(case: Case, names: Sequence[str] | None = None) -> tuple[Finding, ...]:
    """Check all properties of a case that it meets the needs of, or those named.

    An exception of the value itself comes through. One in a derivative is a failure, with its text, but for refusals: a
    ``NotImplementedError`` means that the system has no such transform, and the property is left out; an error of this
    library makes it undecided. Functions of complex arrays, or with complex values, have other laws: for them nothing
    is checked.

    Raises ``ValueError`` with near names for a name that is not in :data:`PROPERTIES`.

    >>> import numpy as np
    >>> from einsumad.testing.systems import EINSUMAD
    >>> case = Case(EINSUMAD, lambda x: np.sum(np.exp(x) * x), (np.array([0.5, 1.5]),))
    >>> [str(finding) for finding in run_properties(case, ["laplacian"])]
    ['laplacian, order 2, laplacian, against the trace of the Hessian, mode auto: right in 1 entry.']
    """
    chosen = PROPERTIES if names is None else [_named(name) for name in names]
    with np.errstate(all="ignore"):
        probe = probe_of(case)
        if any(array.dtype.kind != "f" for array in (*probe.arrays, probe.value)):
            return ()
        return tuple([finding for each in chosen if _met(each, probe) for finding in _checked(each, probe)])


def _named(name: str) -> Property:
    known = {each.name: each for each in PROPERTIES}
    if name not in known:
        near = get_close_matches(name, known, n=2)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(known)}"
        raise ValueError(f"unknown property {name!r}: {hint}")
    return known[name]


def _met(each: Property, probe: Probe) -> bool:
    """Whether a case meets the needs of a property."""
    case = probe.case
    special = {ANY_FUNCTION: case.system.any_function, SCALAR: probe.value.shape == (), BATCHED: case.batched}
    return each.order <= case.order and all(special.get(need, need in case.system.extras) for need in each.needs)


def _checked(each: Property, probe: Probe) -> Iterator[Finding]:
    try:
        yield from each.check(probe)
    except NotImplementedError:
        return
    except (TooLargeError, EinsumadError) as error:
        yield Finding(each.name, each.order, probe.case.system.name, "itself", "undecided", detail=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a system or a function raises, it is to be told
        detail = f"raised {type(error).__name__}: {error}"
        yield Finding(each.name, each.order, probe.case.system.name, "itself", "wrong", detail=detail, cause=RAISES)
