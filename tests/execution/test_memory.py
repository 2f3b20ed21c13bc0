"""Memory of results comes back to the next call with its pages, and blocks are cut as they belong together."""

import platform
import subprocess
import sys

import numpy as np
import pytest

from einsumad.execution.tiles import tiled

PROGRAM = """
import resource
import numpy as np
import einsumad as ea

x = np.ones((10, 700), np.float32)
values = [np.ones((700, 900), np.float32), np.ones((900, 400), np.float32)]


def step(values, averages):
    gradients = ea.grad(lambda w: np.sum(np.tanh(np.tanh(x @ w[0]) @ w[1]) ** 2))(values)
    averages = [0.9 * a + g for a, g in zip(averages, gradients)]
    return [w - 0.1 * a for w, a in zip(values, averages)], averages


fast = ea.compile(step)
averages = values
for _ in range(5):
    values, averages = fast(values, averages)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    values, averages = fast(values, averages)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 10)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep memory as they like")
def test_pages_are_mapped_once() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 100, "the arrays of a step have more than 1000 pages"


SHAPE = (5, 4, 7)


@pytest.mark.parametrize("block", [(5, 4, 7), (2, 4, 7), (5, 3, 7), (5, 4, 2), (1, 1, 7), (2, 4, 3), (2, 3, 4)])
@pytest.mark.parametrize("other", [(5, 4, 7), (4, 7), (7,), (), (5, 1, 1), (1, 4, 1), (4, 1), (1, 1, 1), (5, 1, 7)])
def test_blocks_belong_together(block: tuple[int, ...], other: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=SHAPE), rng.normal(size=other)
    found, seen = np.full(SHAPE, np.nan), []

    def body(r: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        assert np.all(np.isnan(r))
        seen.append(r.shape)
        np.add(a, b, out=r)

    tiled(body, block, (found,), (a, b))
    np.testing.assert_array_equal(found, a + b)
    assert max(seen) == block
