"""Bundle adjustment as ADBench defines it: the Jacobian of reprojection errors and of the weights' errors.

Source: as for Gaussian mixtures. A camera has 11 numbers: a rotation vector, a centre, a focal length, the image's
centre, two of radial distortion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data

CAMERAS = 20


def bundle_data(n: int) -> Data:
    """N observations of n/4 points by 20 cameras."""
    rng = np.random.default_rng(n)
    points = max(2, n // 4)
    camera = rng.integers(0, CAMERAS, n)
    cameras = np.concatenate(
        [
            0.3 * rng.normal(size=(CAMERAS, 3)),
            0.1 * rng.normal(size=(CAMERAS, 3)) - np.array([0.0, 0.0, 5.0]),
            1 + 0.1 * rng.random((CAMERAS, 1)),
            0.1 * rng.normal(size=(CAMERAS, 2)),
            0.01 * rng.normal(size=(CAMERAS, 2)),
        ],
        axis=1,
    )
    return make_data(
        n,
        (cameras, rng.normal(size=(points, 3)), 0.5 + rng.random(n)),
        camera=camera,
        point=rng.integers(0, points, n),
        seen=rng.normal(size=(n, 2)),
    )


def projected(xp: Any, cameras: Any, places: Any) -> Any:
    """Where cameras see places, one row for each pair."""
    turn, y = cameras[..., :3], places - cameras[..., 3:6]
    squares = xp.sum(turn * turn, axis=-1, keepdims=True)
    angle = xp.sqrt(squares)
    cosine = xp.cos(angle)
    turned = (
        cosine * y
        + xp.sin(angle) / angle * xp.cross(turn, y)
        + (1 - cosine) / squares * turn * xp.sum(turn * y, axis=-1, keepdims=True)
    )
    flat = turned[..., :2] / turned[..., 2:]
    radius = xp.sum(flat * flat, axis=-1, keepdims=True)
    distorted = flat * (1 + cameras[..., 9:10] * radius + cameras[..., 10:] * radius * radius)
    return distorted * cameras[..., 6:7] + cameras[..., 7:9]


def errors(xp: Any, c: Any, cameras: Any, places: Any, weights: Any) -> Any:
    """Weighted errors of the projections, and ``1 − weights²``."""
    error = projected(xp, cameras[c.camera], places[c.point]) - c.seen
    return weights[:, None] * error, 1 - weights**2


def _turns(turn: np.ndarray) -> tuple[np.ndarray, ...]:
    """For each camera: cosine, ``sin θ/θ``, ``(1 − cos θ)/θ²``, θ², and the rotation matrix."""
    squares = np.sum(turn * turn, axis=1)
    angle = np.sqrt(squares)
    cosine = np.cos(angle)
    a, b = np.sin(angle) / angle, (1 - cosine) / squares
    rotation = (b[:, None] * turn)[:, :, None] * turn[:, None, :]
    rotation[:, np.arange(3), np.arange(3)] += cosine[:, None]
    rotation += a[:, None, None] * _cross_matrices(turn)
    return cosine, a, b, squares, rotation


def _cross_matrices(v: np.ndarray) -> np.ndarray:
    """``[v]×`` for each row."""
    result = np.zeros((len(v), 3, 3))
    for i, j, k, sign in ((0, 1, 2, -1), (0, 2, 1, 1), (1, 0, 2, 1), (1, 2, 0, -1), (2, 0, 1, -1), (2, 1, 0, 1)):
        result[:, i, j] = sign * v[:, k]
    return result


def _in_turn(turn: np.ndarray, y: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """The derivative of a turned vector in the rotation vector: ``u rᵀ + b r yᵀ + b (r·y) I − a [y]×``."""
    cosine, a, b, squares = parts
    along = np.einsum("pi,pi->p", turn, y)
    crossed = np.cross(turn, y)
    u = crossed * ((cosine - a) / squares)[:, None] - a[:, None] * y
    u += turn * (along * (a - 2 * b) / squares)[:, None]
    result = u[:, :, None] * turn[:, None, :]
    result += (b[:, None] * turn)[:, :, None] * y[:, None, :]
    result[:, np.arange(3), np.arange(3)] += (b * along)[:, None]
    result -= a[:, None, None] * _cross_matrices(y)
    return result


def errors_value(c: Any, cameras: np.ndarray, places: np.ndarray, weights: np.ndarray) -> Any:
    rotation = _turns(cameras[:, :3])[-1]
    seen_by = cameras[c.camera]
    turned = np.matmul(rotation[c.camera], (places[c.point] - seen_by[:, 3:6])[:, :, None])[:, :, 0]
    flat = turned[:, :2] / turned[:, 2:]
    radius = np.einsum("pi,pi->p", flat, flat)
    flat *= (seen_by[:, 6] * (1 + radius * (seen_by[:, 9] + seen_by[:, 10] * radius)))[:, None]
    flat += seen_by[:, 7:9]
    flat -= c.seen
    flat *= weights[:, None]
    return flat, 1 - weights**2


def errors_blocks(c: Any, cameras: np.ndarray, places: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """For each observation the derivative in its camera, in its point, in its weight; that of the weight's error."""
    *parts, rotation = [part[c.camera] for part in _turns(cameras[:, :3])]
    camera = cameras[c.camera]
    y = places[c.point] - camera[:, 3:6]
    turned = np.matmul(rotation, y[:, :, None])[:, :, 0]
    flat = turned[:, :2] / turned[:, 2:]
    radius = np.einsum("pi,pi->p", flat, flat)
    near, far = camera[:, 9], camera[:, 10]
    scale = 1 + radius * (near + far * radius)
    focal = weights * camera[:, 6]
    M = (focal * (2 * near + 4 * far * radius))[:, None, None] * flat[:, :, None] * flat[:, None, :]
    M[:, np.arange(2), np.arange(2)] += (focal * scale)[:, None]
    M /= turned[:, 2, None, None]
    M = np.concatenate([M, -np.matmul(M, flat[:, :, None])], axis=2)
    in_camera = np.zeros((len(flat), 2, 11))
    in_camera[:, :, :3] = np.matmul(M, _in_turn(camera[:, :3], y, parts))
    in_place = np.matmul(M, rotation)
    np.negative(in_place, out=in_camera[:, :, 3:6])
    distorted = flat * scale[:, None]
    in_camera[:, :, 6] = weights[:, None] * distorted
    in_camera[:, [0, 1], [7, 8]] = weights[:, None]
    in_camera[:, :, 9] = (focal * radius)[:, None] * flat
    in_camera[:, :, 10] = radius[:, None] * in_camera[:, :, 9]
    in_weight = distorted * camera[:, 6:7] + camera[:, 7:9] - c.seen
    return in_camera, in_place, in_weight, -2 * weights


def blocks_times(c: Any, blocks: tuple[np.ndarray, ...], *v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian times a change of cameras, points and weights."""
    in_camera, in_place, in_weight, in_error = blocks
    moved = np.einsum("pij,pj->pi", in_camera, v[0][c.camera]) + np.einsum("pij,pj->pi", in_place, v[1][c.point])
    return moved + in_weight * v[2][:, None], in_error * v[2]


def blocks_by_map(system: Any, _: Any, c: Any) -> Callable[..., Any]:
    """The Jacobian of one observation, mapped over the observations."""

    def error(camera: Any, place: Any, weight: Any, seen: Any) -> Any:
        return weight * (projected(system.xp, camera, place) - seen)

    each = system.vmap(system.jacobian(error, (0, 1, 2)))
    of_weight = system.vmap(system.grad(lambda weight: 1 - weight**2))

    def blocks(cameras: Any, places: Any, weights: Any) -> Any:
        return (*each(cameras[c.camera], places[c.point], weights, c.seen), of_weight(weights))

    return blocks


CASES = (
    Case(
        "bundle",
        f"bundle adjustment (ADBench), n observations, {CAMERAS} cameras, n/4 points",
        bundle_data,
        errors,
        (
            Job("function", errors_value),
            Job(
                "compressed-jacobian",
                errors_blocks,
                argnums=(0, 1, 2),
                product=blocks_times,
                spelled={"jax": blocks_by_map, "torch": blocks_by_map},
            ),
        ),
        sizes=(100, 1000, 10000),
        quick=(1000,),
        tiny=30,
    ),
)
