"""The functions of numpy.linalg without a handler: status and reason.

Owns this list. Imports nothing. Invariant: what has a handler does not stand here.
"""

from __future__ import annotations

from collections.abc import Mapping

_MAY_BE_COMPLEX = "eigenvalues of a general matrix may be complex, depending on its entries"

REASONS: Mapping[str, tuple[str, str]] = {
    "eig": ("refused", f"{_MAY_BE_COMPLEX}: use eigh for symmetric matrices"),
    "eigvals": ("refused", f"{_MAY_BE_COMPLEX}: use eigvalsh for symmetric matrices"),
}
