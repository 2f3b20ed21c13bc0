"""Bundle adjustment by the method of Levenberg and Marquardt: cameras and points from where the points are seen.

A camera has a rotation vector, a translation and a focal length. Points are seen by a few cameras each; what is known
is where in the images, with noise. The Gauss–Newton matrix has one block for each camera, one for each point, and one
for each observation that joins them. It is solved by eliminating all points, which leaves a small system for the
cameras (Triggs, McLauchlan, Hartley and Fitzgibbon, Bundle Adjustment: A Modern Synthesis, 2000, section 6). Nothing
below says so: the structure follows from the indices. That nothing is known of the position, the direction and the size
of the whole makes the matrix singular, which the damping takes care of.

``python examples/bundle_adjustment.py 50 5000`` runs it with 50 cameras and 5,000 points.
"""

import sys

import numpy as np
from scipy.spatial.transform import Rotation

import einsumad as ea

SEEN_BY, NOISE, DISTANCE = 5, 1e-3, 6.0


def rotated(vectors, points):
    """Rodrigues' formula, a rotation for each point; at the angle 0 too, where the derivatives are limits."""
    angle = np.linalg.norm(vectors, axis=1, keepdims=True)
    sine, versine = np.sinc(angle / np.pi), 0.5 * np.sinc(angle / (2 * np.pi)) ** 2
    turned = np.cross(vectors, points)
    return points + sine * turned + versine * np.cross(vectors, turned)


def projected(params, camera, point):
    """Where the cameras see the points, in units of the image's width."""
    cameras = params["cameras"][camera]
    seen = rotated(cameras[:, :3], params["points"][point]) + cameras[:, 3:6]
    return cameras[:, 6:] * seen[:, :2] / seen[:, 2:]


def residuals(params, camera, point, images):
    """What is seen minus what was observed, in units of the noise."""
    return (projected(params, camera, point) - images) / NOISE


def make_cameras(count):
    """Cameras on a spiral around the origin that look at it: rotation vector, translation, focal length."""
    around, height = np.linspace(0, 2 * np.pi, count, endpoint=False), np.linspace(-2, 2, count)
    places = np.stack([DISTANCE * np.cos(around), DISTANCE * np.sin(around), height], axis=1)
    ahead = -places / np.linalg.norm(places, axis=1, keepdims=True)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    matrices = np.stack([right, np.cross(ahead, right), ahead], axis=1)
    vectors = Rotation.from_matrix(matrices).as_rotvec()
    return np.concatenate([vectors, -np.einsum("nij,nj->ni", matrices, places), np.ones((count, 1))], axis=1)


def make_problem(cameras, points, seed=0):
    """The true parameters, and who sees what where, with noise."""
    rng = np.random.default_rng(seed)
    truth = {"cameras": make_cameras(cameras), "points": rng.uniform(-1, 1, (points, 3))}
    camera = np.argsort(rng.random((points, cameras)), axis=1)[:, : min(SEEN_BY, cameras)].reshape(-1)
    point = np.repeat(np.arange(points), len(camera) // points)
    images = projected(truth, camera, point)
    return truth, (camera, point, images + NOISE * rng.normal(size=images.shape))


def disturbed(truth, seed=1):
    """Where the search starts: cameras off by about a degree and points by a tenth."""
    rng = np.random.default_rng(seed)
    return {
        "cameras": truth["cameras"] + 0.02 * rng.normal(size=truth["cameras"].shape),
        "points": truth["points"] + 0.1 * rng.normal(size=truth["points"].shape),
    }


def main(cameras=6, points=100):
    truth, observed = make_problem(cameras, points)
    start = disturbed(truth)
    unknowns = sum(array.size for array in start.values())
    print(f"{cameras} cameras, {points} points, {len(observed[0])} observations, {unknowns} unknowns\n")
    matrix = ea.gauss_newton(residuals, compressed=True)(start, *observed)
    print(f"{matrix.structure}\nsolved by: {matrix.factorise(damping=1.0).method}\n")

    result = ea.optim.levenberg_marquardt(residuals, start, *observed, gtol=1e-3)
    count = 2 * len(observed[0])
    print("step  error / noise  |gradient|    damping  seconds")
    for step, record in enumerate(result.history):
        error = np.sqrt(2 * record.value / count)
        print(f"{step:4}  {error:13.6f}  {record.gradient_norm:10.1e}  {record.damping:9.1e}  {record.seconds:7.3f}")
    error, expected = np.sqrt(2 * result.value / count), np.sqrt(1 - (unknowns - 7) / count)
    print(f"\n{result.message}")
    print(f"reprojection error {error:.4f} of the noise; with that many unknowns {expected:.4f} is expected")
    later = result.history[-1].seconds - result.history[1].seconds
    print(f"{later / max(1, result.steps - 1):.4f} s a step after the first")
    return result, error, expected


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:3]])
