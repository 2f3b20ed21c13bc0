"""Blocks of curvature that are Kronecker products, solved by the spectra of their factors.

Owns these solutions. Imports NumPy. Invariant: damping is added to the product, not to its factors, and the solution is
exact; eigenvalues below zero, which only rounding makes, count as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Spectrum(NamedTuple):
    """Eigenvalues of a positive semidefinite matrix in ascending order, and its eigenvectors in columns."""

    values: np.ndarray
    vectors: np.ndarray


def spectrum_of(matrix: np.ndarray) -> Spectrum:
    """The spectrum of a symmetric matrix, in double precision.

    >>> spectrum_of(np.diag([3.0, 1.0])).values
    array([1., 3.])
    """
    values, vectors = np.linalg.eigh(np.asarray(matrix, np.float64))
    return Spectrum(np.maximum(values, 0.0), vectors)


def kronecker_solution(of_result: Spectrum, of_input: Spectrum, right: np.ndarray, damping: float) -> np.ndarray:
    """The X with ``G X A + λ X = right``: ``(G ⊗ A + λ 1) vec X = vec right`` in C order.

    With ``G = U g Uᵀ`` and ``A = V a Vᵀ`` it is ``U [(Uᵀ right V) / (g aᵀ + λ)] Vᵀ``.

    Source: Martens and Grosse, Optimizing neural networks with Kronecker-factored approximate curvature, 2015, section
    4.2 and appendix B.

    >>> one, two = spectrum_of(np.eye(1)), spectrum_of(np.diag([1.0, 3.0]))
    >>> kronecker_solution(one, two, np.array([[2.0, 4.0]]), 1.0)
    array([[1., 1.]])
    """
    turned = of_result.vectors.T @ np.asarray(right, np.float64) @ of_input.vectors
    scaled = turned / (of_result.values[:, None] * of_input.values + damping)
    found: np.ndarray = of_result.vectors @ scaled @ of_input.vectors.T
    return found


def symmetric_solution(of: Spectrum, right: np.ndarray, damping: float) -> np.ndarray:
    """The solution of ``(B + λ 1) x = right``."""
    found: np.ndarray = of.vectors @ ((of.vectors.T @ np.asarray(right, np.float64)) / (of.values + damping))
    return found


def best_combination(
    gradient: np.ndarray, directions: Sequence[np.ndarray], images: Sequence[np.ndarray], damping: float
) -> np.ndarray:
    """The weights c with which ``Σ c d`` minimises ``gᵀp + ½ pᵀ(B + λ 1)p``; `images` are the ``B d``.

    Of directions that are alike the shortest weights are taken.

    Source: Martens and Grosse, as above, sections 6.4 and 7.

    >>> best_combination(np.array([-4.0]), [np.array([1.0])], [np.array([2.0])], 0.0)
    array([2.])
    """
    matrix = np.array([[float(d @ image) for image in images] for d in directions])
    matrix += damping * np.array([[float(d @ other) for other in directions] for d in directions])
    scales = np.sqrt(np.maximum(np.diagonal(matrix), np.finfo(float).tiny))
    slopes = np.array([float(gradient @ d) for d in directions])
    scaled = 0.5 * (matrix + matrix.T) / np.outer(scales, scales)
    found: np.ndarray = np.linalg.lstsq(scaled, -slopes / scales, rcond=1e-10)[0] / scales
    return found
