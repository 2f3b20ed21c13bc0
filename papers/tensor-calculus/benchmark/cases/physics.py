"""Mechanics and molecules: a 3 × 3 energy at many points, and atoms with the Lennard-Jones potential."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def material_data(n: int) -> Data:
    """N deformation gradients near the identity; the constants of a neo-Hookean material."""
    rng = np.random.default_rng(n)
    return make_data(n, (np.eye(3) + 0.1 * rng.normal(size=(n, 3, 3)),), shear=0.8, bulk=1.5)


def material(xp: Any, c: Any, F: Any) -> Any:
    """``Σ shear/2 (‖F‖² − 3) − shear log det F + bulk/2 (log det F)²``."""
    logs = xp.log(xp.linalg.det(F))
    squares = xp.sum(F * F) - 3 * len(F)
    return 0.5 * c.shear * squares - c.shear * xp.sum(logs) + 0.5 * c.bulk * xp.sum(logs**2)


def _cofactors(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrices with the points along the last axis, which makes long inner loops; cofactors; determinants."""
    F = np.ascontiguousarray(F.transpose(1, 2, 0))
    up, down = F[_NEXT], F[_LAST]
    cofactors = np.take(up, _NEXT, 1) * np.take(down, _LAST, 1)
    cofactors -= np.take(up, _LAST, 1) * np.take(down, _NEXT, 1)
    return F, cofactors, np.einsum("bn,bn->n", F[0], cofactors[0])


def material_value(c: Any, F: np.ndarray) -> Any:
    logs = np.log(_cofactors(F)[2])
    flat = F.ravel()
    return 0.5 * c.shear * (flat @ flat - 3 * len(F)) - c.shear * np.sum(logs) + 0.5 * c.bulk * (logs @ logs)


def material_gradient(c: Any, F: np.ndarray) -> np.ndarray:
    F, G, J = _cofactors(F)
    G *= (c.bulk * np.log(J) - c.shear) / J
    F *= c.shear
    G += F
    return G.transpose(2, 0, 1)


def material_blocks(c: Any, F: np.ndarray) -> np.ndarray:
    """``bulk G[a,b] G[e,f] + (shear − bulk log J) G[e,b] G[a,f] + shear δ[a,e] δ[b,f]`` with ``G = F⁻ᵀ``."""
    _, G, J = _cofactors(F)
    G /= J
    weighted = G * (c.shear - c.bulk * np.log(J))
    result = (c.bulk * G)[:, :, None, None] * G
    result += G[:, None, None, :] * weighted.transpose(1, 0, 2)[:, :, None]
    result.reshape(81, -1)[::10] += c.shear
    return result.transpose(4, 0, 1, 2, 3)


def blocks_of_ours(system: Any, f: Callable[..., Any], _: Any) -> Callable[..., Any]:
    """The Hessian is zero between different points: what is on its diagonal, by indices."""
    return lambda F: system.xp.einsum("iabicd->iabcd", system.hessian(f)(F))


def blocks_by_map(system: Any, _: Any, c: Any) -> Callable[..., Any]:
    """The Hessian of the energy at one point, mapped over the points."""
    return system.vmap(system.hessian(lambda F: material(system.xp, c, F[None])))


def blocks_by_rows(system: Any, _: Any, c: Any) -> Callable[..., Any]:
    """The same by reverse mode twice: PyTorch's forward mode of a determinant is wrong inside of a map."""
    gradient = system.grad(lambda F: material(system.xp, c, F[None]))
    return system.vmap(lambda F: system.jacobian(gradient, (0,))(F)[0])


def blocks_by_entry(system: Any, f: Callable[..., Any], _: Any) -> Callable[..., Any]:
    """An entry of the gradient after the other, summed over the points and differentiated."""
    gradient, xp = system.grad(f), system.xp

    def blocks(F: Any) -> Any:
        def row(a: int, b: int) -> Any:
            return system.grad(lambda F: xp.sum(gradient(F)[:, a, b]))(F)

        return xp.stack([xp.stack([row(a, b) for b in range(3)], axis=1) for a in range(3)], axis=1)

    return blocks


def atoms_data(n: int) -> Data:
    """N atoms near the points of a cubic lattice; all pairs of them."""
    side = int(np.ceil(n ** (1 / 3)))
    lattice = np.array(list(itertools.product(range(side), repeat=3))[:n], dtype=float)
    first, second = np.triu_indices(n, 1)
    places = 1.2 * lattice + 0.05 * np.random.default_rng(n).normal(size=(n, 3))
    return make_data(n, (places,), first=first, second=second)


def atoms(xp: Any, c: Any, x: Any) -> Any:
    """``Σ 4 (r⁻¹² − r⁻⁶)`` over the pairs."""
    apart = x[c.first] - x[c.second]
    inverse = 1 / xp.sum(apart * apart, axis=1) ** 3
    return 4 * xp.sum(inverse * inverse - inverse)


def _pairs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences of all pairs, coordinates first; ``1/r²`` and ``1/r⁶``, zero for an atom with itself."""
    across = np.ascontiguousarray(x.T)
    apart = across[:, :, None] - across[:, None, :]
    inverse = np.einsum("aij,aij->ij", apart, apart)
    inverse.ravel()[:: len(x) + 1] = np.inf
    np.reciprocal(inverse, out=inverse)
    return apart, inverse, inverse * inverse * inverse


def atoms_value(_: Any, x: np.ndarray) -> Any:
    sixth = _pairs(x)[2].ravel()
    return 2 * (sixth @ sixth - np.sum(sixth))


def _slopes(inverse: np.ndarray, sixth: np.ndarray) -> np.ndarray:
    """Twice the derivative of the energy of a pair in r²."""
    return 24 * sixth * (1 - 2 * sixth) * inverse


def _bends(inverse: np.ndarray, sixth: np.ndarray) -> np.ndarray:
    """Four times its second derivative."""
    return 96 * sixth * (7 * sixth - 2) * inverse * inverse


def atoms_gradient(_: Any, x: np.ndarray) -> np.ndarray:
    slopes = _slopes(*_pairs(x)[1:])
    return np.sum(slopes, axis=1)[:, None] * x - slopes @ x


def atoms_hessian(_: Any, x: np.ndarray) -> np.ndarray:
    apart, *powers = _pairs(x)
    result = (apart * -_bends(*powers))[:, None] * apart
    result[np.arange(3), np.arange(3)] -= _slopes(*powers)
    result.reshape(3, 3, -1)[:, :, :: len(x) + 1] = -np.sum(result, axis=3)
    return result.transpose(2, 0, 3, 1)


def atoms_product(_: Any, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    apart, *powers = _pairs(x)
    moved = np.ascontiguousarray(v.T)
    along = np.einsum("aij,aij->ij", apart, moved[:, :, None] - moved[:, None, :])
    along *= _bends(*powers)
    slopes = _slopes(*powers)
    product = np.sum(along, axis=1)[:, None] * x - along @ x
    product += np.sum(slopes, axis=1)[:, None] * v - slopes @ v
    return product


CASES = (
    Case(
        "material",
        "neo-Hookean energy of n deformation gradients 3 × 3, a Hessian for each",
        material_data,
        material,
        (
            Job("function", material_value),
            Job("gradient", material_gradient),
            Job(
                "blocks",
                material_blocks,
                spelled={
                    "ours": blocks_of_ours,
                    "jax": blocks_by_map,
                    "torch": blocks_by_rows,
                    "autograd": blocks_by_entry,
                },
            ),
        ),
        sizes=(100, 1000, 10000),
        quick=(1000,),
    ),
    Case(
        "atoms",
        "Lennard-Jones potential of n atoms",
        atoms_data,
        atoms,
        (
            Job("function", atoms_value),
            Job("gradient", atoms_gradient),
            Job("hessian", atoms_hessian),
            Job("hvp", atoms_product),
        ),
        sizes=(8, 24, 64),
        quick=(24,),
    ),
)
