"""Why functions of ``numpy.linalg`` are not traced, and which have nothing to differentiate.

Owns this data. Imports the record. Invariant: each public function of ``numpy.linalg`` either has a handler or stands
in the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Verdict, each

_MAY_BE_COMPLEX = (
    "eigenvalues of a general matrix may be complex, depending on its entries: use {} of symmetric matrices"
)

REASONS: Mapping[str, Verdict] = {
    **each("eig", "refused", _MAY_BE_COMPLEX.format("eigh")),
    **each("eigvals", "refused", _MAY_BE_COMPLEX.format("eigvalsh")),
}
"""For each name without a handler: whether it is constant or refused, and the reason."""

CONSTANT: Mapping[str, str] = {"matrix_rank": "a number of singular values has no derivative"}
"""Names that have a handler and whose results have no derivative, and the reason."""
