"""Hypothesis strategies for gradient tests: arrays, matrices, directions, points at kinks, einsums, programs.

Owns no code. Imports NumPy, Hypothesis and ``einsumad.notation``; nothing of it is loaded by ``import einsumad``.
Invariant: everything drawn is well scaled unless asked otherwise, is an array of any Array API namespace given as
``xp``, and shrinks to something that can be read.

>>> import numpy as np
>>> from hypothesis import find
>>> from einsumad.testing.strategies import floats
>>> find(floats(3), lambda x: x[0] > 1)
array([2., 0., 0.])
"""

try:
    import hypothesis as _hypothesis  # noqa: F401  looked for first, so that the error says what is missing
except ImportError as error:
    raise ImportError(
        "einsumad.testing.strategies needs Hypothesis, which is not installed: pip install 'einsumad[testing]'"
    ) from error

from einsumad.testing.strategies.arrays import floats, shapes
from einsumad.testing.strategies.einsums import EinsumCase, einsum_cases, einsum_specs
from einsumad.testing.strategies.kinks import at_kinks, away_from_kinks, near_kinks, ties
from einsumad.testing.strategies.matrices import (
    invertible,
    positive_diagonal,
    singular,
    spd,
    stochastic,
    symmetric,
    triangular,
)
from einsumad.testing.strategies.operations import FAMILIES
from einsumad.testing.strategies.program import Program, Statement
from einsumad.testing.strategies.spec import FEATURE_MEANINGS, FEATURES, EinsumSpec, einsum_spec
from einsumad.testing.strategies.spectra import conditioned, degenerate_spectrum, orthogonal, with_spectrum
from einsumad.testing.strategies.straight_line import programs
from einsumad.testing.strategies.tangent import cotangents, directions, tangents

__all__ = [
    "FAMILIES",
    "FEATURES",
    "FEATURE_MEANINGS",
    "EinsumCase",
    "EinsumSpec",
    "Program",
    "Statement",
    "at_kinks",
    "away_from_kinks",
    "conditioned",
    "cotangents",
    "degenerate_spectrum",
    "directions",
    "einsum_cases",
    "einsum_spec",
    "einsum_specs",
    "floats",
    "invertible",
    "near_kinks",
    "orthogonal",
    "positive_diagonal",
    "programs",
    "shapes",
    "singular",
    "spd",
    "stochastic",
    "symmetric",
    "tangents",
    "ties",
    "triangular",
    "with_spectrum",
]
