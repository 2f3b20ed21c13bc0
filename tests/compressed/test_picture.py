"""The pattern of structured tensors: against dense ones, in plots and in HTML."""

import itertools
import sys
import tracemalloc
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import einsumad as ea
from einsumad.compressed.cells import term_cells
from einsumad.compressed.picture import picture_of
from einsumad.compressed.terms import Term
from einsumad.graph import Affine, affine, leaf, selection
from einsumad.planning import Factor

RNG = np.random.default_rng(5)
V = RNG.normal(size=(7, 3))
T = RNG.normal(size=(7, 7))
P, Q = RNG.normal(size=(5, 5)), RNG.normal(size=(4, 4))
WHICH = RNG.integers(0, 20, 20)


def differences(u):
    return np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)


FORMS = {
    "blocks of factors": (ea.hessian, lambda U: np.sum((T - U @ V.T) ** 2) + 0.1 * np.sum(U**2), (7, 3)),
    "columns of factors": (ea.hessian, lambda U: np.sum((T - (U.T @ V.T)) ** 2), (3, 7)),
    "chain": (ea.hessian, lambda x: np.sum((x[1:] - x[:-1]) ** 4) + np.sum(x**4), (23,)),
    "far neighbours": (ea.hessian, lambda x: np.sum((x[9:] * x[:-9]) ** 2), (23,)),
    "differences in two directions": (ea.hessian, differences, (6, 5)),
    "two Kronecker products": (ea.hessian, lambda X: np.trace(X.T @ P @ X @ Q), (5, 4)),
    "full": (ea.hessian, lambda x: np.sum(np.sin(x)) ** 2, (13,)),
    "selected": (ea.hessian, lambda x: np.sum(x[WHICH] ** 2 * x[WHICH[::-1]]), (31,)),
    "flipped": (ea.jacobian, lambda x: np.sin(x[::-1]), (13,)),
    "strided": (ea.jacobian, lambda x: x[1::3] ** 2, (17,)),
    "more rows than columns": (ea.jacobian, lambda x: np.outer(np.sin(x), np.cos(x)), (5,)),
    "reshaped": (ea.jacobian, lambda x: x.reshape(3, 4).T ** 2, (12,)),
    "zero": (ea.hessian, np.sum, (4,)),
    "number": (ea.hessian, lambda x: x**3, ()),
    "empty": (ea.hessian, lambda x: np.sum(x**3), (0,)),
    "one": (ea.hessian, lambda x: np.sum(x**3), (1, 1)),
}


def coarse(matrix, cells):
    """Which cells have an entry of the matrix that is not zero."""
    found = np.zeros(cells, bool)
    places = np.nonzero(matrix)
    found[tuple([place * n // size for place, n, size in zip(places, cells, matrix.shape, strict=True)])] = True
    return found


@pytest.mark.parametrize("name", FORMS)
def test_cells_of_a_tensor_are_those_of_the_dense_one(name):
    transform, f, shape = FORMS[name]
    H = transform(f, compressed=True)(RNG.uniform(1, 2, size=shape))
    size = int(np.prod(H.shape[: H.rows])), int(np.prod(H.shape[H.rows :]))
    for most in (3, 8, 1000):
        picture = picture_of({(0, 0): H.held}, (), symmetric=False, most=most)
        assert picture.shape == tuple([min(n, most) for n in size])
        assert np.array_equal(picture.seen() >= 0, coarse(H.dense().reshape(size), picture.shape))


def random_term(rng):
    """A term with random ties, index maps and spread axes, and the arrays of its slots."""
    sizes = dict(enumerate(map(int, rng.integers(1, 8, 7))))
    axes = tuple(map(int, rng.integers(0, 5, rng.integers(1, 5))))
    maps, arrays = [], []
    for _ in range(rng.integers(0, 4)):
        labels = tuple(map(int, rng.permutation(7)[: rng.integers(2, 4)]))
        if rng.integers(2):
            counts, strides = [sizes[k] for k in labels[1:]], [int(rng.integers(-2, 4)) for _ in labels[1:]]
            node = affine(sizes[labels[0]], counts, strides, int(rng.integers(-2, 4)), np.dtype(float))
            if not isinstance(node, Affine):  # it is the unit tensor, or zero
                continue
        else:
            shape = [sizes[k] for k in labels[:-1]]
            index = leaf(shape, np.dtype(np.int64), ("slot", len(arrays)))
            node = selection(index, sizes[labels[-1]], np.dtype(float))
            arrays.append(rng.integers(0, sizes[labels[-1]], shape))
        maps.append((node, labels))
    return Term(1, (), tuple([Factor(*item) for item in maps]), axes, sizes, np.dtype(float)), arrays


def written_out(node, arrays):
    """The zeros and ones of a map."""
    found = np.zeros(node.shape)
    for place in itertools.product(*map(range, node.shape)):
        if isinstance(node, Affine):
            found[place] = place[0] == node.offset + sum(map(int.__mul__, node.strides, place[1:]))
        else:
            found[place] = place[-1] == arrays[node.operands[0].key[1]][place[:-1]]
    return found


def test_cells_of_random_terms():
    rng = np.random.default_rng(3)
    some = 0
    for _ in range(150):
        term, arrays = random_term(rng)
        rows = int(rng.integers(0, len(term.axes) + 1))
        operands = [part for node, labels in term.maps for part in (written_out(node, arrays), labels)]
        fresh = range(10, 10 + len(term.axes))
        for label, axis in zip(term.axes, fresh, strict=True):
            operands += [np.eye(term.sizes[label]), (label, axis)]
        dense = np.einsum(*operands, fresh, optimize=True)
        matrix = dense.reshape(int(np.prod(dense.shape[:rows])), int(np.prod(dense.shape[rows:])))
        cells = tuple([int(rng.integers(1, size + 1)) for size in matrix.shape])
        expected = coarse(matrix, cells)
        assert np.array_equal(term_cells(term, rows, arrays, cells), expected)
        assert not np.any(expected & ~term_cells(term, rows, arrays, cells, most_points=4))
        some += 0 < np.count_nonzero(expected) < expected.size
    assert some > 30  # most patterns are neither empty nor full


def glmm(fixed, random):
    group = np.arange(40) % 8
    rate = np.exp(np.outer(np.arange(40) / 40, np.ones(3)) @ fixed + random[group])
    return np.sum(rate) + np.sum(random**2)


def blocks():
    arguments = np.array([0.1, 0.2, 0.3]), np.linspace(0, 1, 8)
    return ea.hessian(glmm, argnums=(0, 1), compressed=True)(*arguments)


def test_blocks_stand_beside_each_other():
    H = blocks()
    picture = picture_of(H.blocks(), H.layout.names, H.symmetric, 256)
    assert picture.borders == ((0, 3, 11), (0, 3, 11))
    assert np.array_equal(picture.seen() >= 0, np.asarray(H) != 0)
    small = picture_of(H.blocks(), H.layout.names, H.symmetric, 8)
    assert small.borders == ((0, 2, 7), (0, 2, 7))
    assert np.array_equal(small.seen()[2:, 2:] >= 0, np.eye(5, dtype=bool))
    assert np.array_equal(small.seen(), small.seen().T)


def test_a_million_variables_take_little_memory():
    H = ea.hessian(lambda x: np.sum((x[1:] - x[:-1]) ** 4), compressed=True)(np.linspace(0, 1, 10**6))
    tracemalloc.start()
    picture = picture_of({(0, 0): H.held}, (), symmetric=True, most=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    band = np.abs(np.subtract.outer(np.arange(200), np.arange(200))) <= 1
    assert np.array_equal(picture.seen() >= 0, band)
    assert peak < 20e6


def test_huge_full_and_diagonal_terms_are_not_run_through():
    sizes = {0: 10**9, 1: 10**9, 2: 30}
    full = Term(1, (), (), (0, 2, 1), sizes, np.dtype(float))
    assert term_cells(full, 2, (), (9, 7)).all()
    diagonal = term_cells(Term(1, (), (), (0, 0), sizes, np.dtype(float)), 1, (), (50, 50), most_points=10**4)
    assert np.array_equal(diagonal & np.eye(50, dtype=bool), np.eye(50, dtype=bool))
    assert np.count_nonzero(diagonal) <= 3 * 50


@pytest.mark.parametrize("case", [*FORMS, "variables"])
def test_html_is_well_formed_and_has_the_equation(case):
    if case == "variables":
        H = blocks()
        equations = [line for line in H.structure.splitlines() if line.startswith("[")]
    else:
        transform, f, shape = FORMS[case]
        H = transform(f, compressed=True)(RNG.uniform(1, 2, size=shape))
        equations = H.structure.splitlines()[:1]
    page = ET.fromstring(H._repr_html_())  # noqa: S314 (of our own making)
    assert [node.text for node in page.iter("code")] == equations
    assert len(page.findall("{http://www.w3.org/2000/svg}svg")) == 1
    arrays = [row for row in page.iter("tr") if len(row) == 4]
    assert [row[2].text for row in arrays] == [
        line.split()[2] for line in H.structure.splitlines() if line.startswith("  ")
    ]


def test_names_are_escaped_in_html():
    def f(tree):
        return np.sum(tree["<b>&"] ** 3) + tree["y"] ** 2

    H = ea.hessian(f, compressed=True)({"<b>&": np.ones(2), "y": 1.0})
    page = H._repr_html_()
    assert "<b>" not in page
    texts = [node.text for node in ET.fromstring(page).iter("code")]  # noqa: S314 (of our own making)
    assert texts[0].startswith(f"[{H.layout.names[0]}, {H.layout.names[0]}] H[i,j] = 6 A[i]")
    assert "<b>&" in texts[0]


@pytest.mark.whole_planner
def test_plot_has_a_colour_for_each_term():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = pytest.importorskip("matplotlib.figure").Figure()
    transform, f, shape = FORMS["blocks of factors"]
    H = transform(f, compressed=True)(RNG.normal(size=shape))
    ax = H.plot(figure.add_subplot())
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["0.2 δ[i,k] δ[j,l]", "2 A[j,l] δ[i,k]"]
    assert ax.get_title() == f"7×3×7×3 float64: stored {H.nbytes} bytes, dense 3.53 kB"
    image = np.asarray(ax.get_images()[0].get_array())
    assert np.array_equal((image < 255).any(axis=2), H.dense().reshape(21, 21) != 0)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) == 3
    ax = blocks().plot(figure.add_subplot())
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["fixed", "random"]
    assert len(ax.get_lines()) == 2
    empty = ea.hessian(lambda x: np.sum(x**3), compressed=True)(np.ones(0))
    assert empty.plot(figure.add_subplot()).get_images() == []
    figure.canvas.draw()


def test_plot_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"einsumad\[plot\]"):
        blocks().plot()
