"""Why a function of ``scipy.linalg`` does not take traced values.

Owns the reasons. Imports nothing. Invariant: each public function of SciPy's dense linear algebra is supported or
stands here, as "constant" if nothing that is differentiated goes into it, or as "refused".
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Status, Verdict

_SIZE_ONLY = "its arguments are sizes and options, so its value is a constant: call it with plain numbers"
_LOOKUP = "it looks routines of a library up and computes nothing"
_VALUES = "its result is a truth value or a number of diagonals, which depends on values: apply it to a plain array"
_COMPLEX = "its result is complex in general: complex numbers are not supported yet"
_NOT_UNIQUE = (
    "its result is unique up to a rotation only, so it has no derivative: use what does not depend on the choice"
)
_BLOCKS = "the sizes of the blocks on its diagonal jump with the values: use lu, solve, inv, det or slogdet"
_FACTOR = (
    "this factorisation is not supported yet: use numpy.linalg.solve, inv, det, or write it with functions that are"
)
_UPDATE = "it updates a factorisation that is not supported: factorise the updated matrix"
_ARBITRARY = "a matrix function of any Python function has no derivative here: use expm, logm, sqrtm, cosm, sinm, signm"
_RANDOM = "it multiplies with a random matrix: draw the matrix first, and multiply with it"
_ANGLES = "its formula jumps between sines and cosines, entry by entry: take them of numpy.linalg.svdvals"
_BANDED = "it reads LAPACK's storage of bands, which is not supported yet: use eigvalsh of the whole matrix"

_BY_REASON: Mapping[tuple[Status, str], tuple[str, ...]] = {
    ("constant", _SIZE_ONLY): ("dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal"),
    ("constant", _LOOKUP): ("find_best_blas_type", "get_blas_funcs", "get_lapack_funcs"),
    ("refused", _VALUES): ("bandwidth", "ishermitian", "issymmetric"),
    ("refused", _COMPLEX): ("cdf2rdf", "eig", "eig_banded", "eigvals", "ordqz", "qz", "rsf2csf", "schur"),
    ("refused", _NOT_UNIQUE): ("cossin", "hessenberg", "null_space", "orth"),
    ("refused", _BLOCKS): ("ldl",),
    ("refused", _FACTOR): (
        "cholesky_banded",
        "qr_multiply",
    ),
    ("refused", _BANDED): ("eigvals_banded",),
    ("refused", _UPDATE): ("qr_delete", "qr_insert", "qr_update"),
    ("refused", _ARBITRARY): ("funm",),
    ("refused", _RANDOM): ("clarkson_woodruff_transform",),
    ("refused", _ANGLES): ("subspace_angles",),
    ("refused", "the norm of a derivative as an operator is not supported yet: use expm_frechet"): ("expm_cond",),
    ("refused", "the scaling is by powers of two that depend on values, and jumps"): ("matrix_balance",),
}
REASONS: Mapping[str, Verdict] = {
    name: Verdict(status, reason) for (status, reason), names in _BY_REASON.items() for name in sorted(names)
}
"""For each function that does not take traced values whether it is constant or refused, and why."""
