"""What functions of SciPy that take traced values refuse, and why.

Owns this data. Imports the record. Invariant: a reason is a clause that can follow a colon.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Limit, by_function

_POLYNOMIALS = (
    "eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm "
    "eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi eval_sh_legendre lpmv"
)
_SPHERICAL = "spherical_jn spherical_yn spherical_in spherical_kn"
_ORDERED = f"{_POLYNOMIALS} {_SPHERICAL} polygamma diric expn iv ive jn jv jve kn kv kve yn yv yve struve modstruve"
_EXACT = "a count by floats has a derivative, one by integers of Python has none: leave it out"
_RANK = "the rank that the function takes is that of rtol: use rtol"
_CIRCULANT = "solve with einsumad.scipy.linalg.circulant(c), or move the axes"

OF_SPECIAL: Mapping[str, tuple[Limit, ...]] = by_function(
    ("comb perm", "exact=True", _EXACT),
    ("factorial", "exact=True", _EXACT),
    ("factorial", "extend='complex'", "use scipy.special.gamma(n + 1)"),
    (f"{_POLYNOMIALS} {_SPHERICAL} polygamma expn", "of an order or a degree below 0", "there are 0, 1, ..."),
    ("diric", "of a size below 1", "there are 1, 2, ..."),
    ("ive", "of an order below 0 that is not whole", "the scaled functions are differentiated for orders >= 0: use iv"),
    ("lpmv", "of an order below -degree", "it is undefined there: use 0"),
    (f"{_ORDERED} besselpoly pbdv pbvv pbwa", "of more than 64 different orders", "call it for each of them"),
)
OF_LINALG: Mapping[str, tuple[Limit, ...]] = by_function(
    ("eigh eigvalsh", "type=2", "there is type=1, that is A v = w B v: solve with B first"),
    (
        "eigh eigvalsh",
        "subset_by_value=...",
        "how many there are depends on values: use subset_by_index",
    ),
    ("eigh_tridiagonal eigvalsh_tridiagonal", "select='v'", "there is select='a': take some of the result"),
    ("qr", "pivoting=True", "the choice of pivots jumps with the values: there is pivoting=False"),
    (
        "qr",
        "mode='full' of a tall matrix",
        "the columns that it adds are any that complete a basis and have no derivative: use mode='economic'",
    ),
    (
        "rq",
        "mode='full' of a wide matrix",
        "the rows that it adds are any that complete a basis and have no derivative: use mode='economic'",
    ),
    (
        "solve_continuous_are solve_discrete_are",
        "e=... with balanced=True",
        "SciPy's balancing leaves e out, and its result does not solve the equation: use balanced=False",
    ),
    (
        "solve_discrete_are",
        "s=...",
        "for an invertible r it is the equation of a - b r^-1 s.T and q - s r^-1 s.T without s: give it these",
    ),
    ("pinv pinvh", "atol=...", _RANK),
    ("pinv pinvh", "return_rank=True", "a number of singular values has no derivative: use numpy.linalg.matrix_rank"),
    ("pinv pinvh", "rtol=...", "it takes a number, and is not differentiated"),
    ("lstsq", "cond=...", "it takes a number, and is not differentiated"),
    (
        "lstsq",
        "under ea.compile",
        "it returns residuals or none as the rank of the matrix is: use numpy.linalg.pinv(a) @ b",
    ),
    ("solve_circulant", "singular='lstsq'", "use numpy.linalg.lstsq"),
    ("solve_circulant", "tol=...", "it belongs to singular='lstsq'"),
    ("solve_circulant", "caxis=...", _CIRCULANT),
    ("solve_circulant", "baxis=...", _CIRCULANT),
    ("solve_circulant", "outaxis=...", _CIRCULANT),
    ("inv solve", "assume_a=...", "there is no such kind: leave it out"),
    ("fractional_matrix_power", "t=...", "it takes a number: take one after the other"),
    ("logm sqrtm signm", "disp=...", "an estimate of the error has no derivative: leave it out"),
    ("sqrtm", "blocksize=...", "it has no effect: leave it out"),
)
