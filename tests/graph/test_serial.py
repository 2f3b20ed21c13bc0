"""Graphs leave a process as flat tables and come back as the same nodes."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from einsumad.errors import EinsumadError
from einsumad.graph import (
    Leaf,
    add,
    affine,
    einsum,
    elementwise,
    fresh_leaf,
    general,
    leaf,
    leaves,
    multiply,
    ones,
    order_key,
    pack_graph,
    selection,
    topological,
    total,
    unit,
    unpack_graph,
    zero,
)
from einsumad.graph.verify import verify
from tests.graph.build import symbol

_ROOT = Path(__file__).parents[2]
_X = symbol("x", 3)
_A = symbol("A", 3, 3, facts=("symmetric",))
_NODES = [
    _X,
    _A,
    fresh_leaf((2,), "float32", "traced"),
    leaf((), float, ("number", 2.5)),
    leaf((3,), float, ("slot", 4)),
    unit(3, 3, float),
    ones((2, 0), "float32"),
    zero((), float),
    affine(9, [3, 2], [2, -1], 1, float),
    selection(symbol("k", 3, dtype=np.int64), 5, float),
    einsum([_A, _X], [(0, 1), (1,)], (0,), 0.5, "float32"),
    add([_X, _X]),
    elementwise("power", [_X], (2.5, None, True, "a", (1, 2)), float),
    general("inverse", [_A], (), (3, 3), float),
]


def in_another_process(code, data):
    """What a fresh interpreter makes of pickled data with this code (`value` in, `result` out)."""
    script = "import pickle, sys\nvalue = pickle.load(sys.stdin.buffer)\n" + textwrap.dedent(code)
    script += "\nsys.stdout.buffer.write(pickle.dumps(result))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=pickle.dumps(data), capture_output=True, check=True, cwd=_ROOT)
    return pickle.loads(done.stdout)  # noqa: S301 (our own data)


def there_and_back(node):
    return pickle.loads(pickle.dumps(node))  # noqa: S301 (our own data)


@pytest.mark.parametrize("node", _NODES)
def test_a_node_comes_back_as_itself(node):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(node, protocol)) is node  # noqa: S301 (our own data)
    assert unpack_graph(pack_graph([node, node])) == (node, node)


def test_a_table_is_plain_data():
    def parts(value):
        if isinstance(value, tuple):
            for part in value:
                yield from parts(part)
        else:
            yield type(value)

    assert set(parts(pack_graph(_NODES))) <= {int, float, str, bool, type(None)}


def test_what_had_died_is_made_again_with_the_same_content():
    node = elementwise("exp", [fresh_leaf((3,), float)], (), float)
    digest, data = node.digest, pickle.dumps(node)
    del node
    again = pickle.loads(data)  # noqa: S301 (our own data)
    assert again.digest == digest
    verify([again])


def test_a_round_trip_through_another_process_is_the_identity():
    shared = fresh_leaf((3,), float)
    roots = [multiply(elementwise("exp", [shared], (), float), shared), *_NODES]
    assert in_another_process("result = [value, value[0]]", roots) == [roots, roots[0]]


def test_leaves_of_different_processes_never_meet():
    code = """
    from einsumad.graph import fresh_leaf, multiply
    here = [fresh_leaf((3,), float) for _ in range(200)]
    assert value not in here
    result = [*here, multiply(value, here[0])]
    """
    ours = fresh_leaf((3,), float)
    first, second = in_another_process(code, ours), in_another_process(code, ours)
    assert len({ours, *first[:-1], *second[:-1]}) == 401
    assert set(leaves([first[-1]])) == {ours, first[0]}
    assert [order_key(node) for node in first[:-1]] == sorted(order_key(node) for node in first[:-1])
    verify(first)


def test_pieces_that_were_pickled_apart_fit_together():
    code = """
    from einsumad.graph import elementwise, fresh_leaf
    leaf = fresh_leaf((3,), float)
    result = [pickle.dumps(leaf), pickle.dumps(elementwise("exp", [leaf], (), float))]
    """
    theirs, exponential = (pickle.loads(data) for data in in_another_process(code, None))  # noqa: S301 (our own data)
    assert exponential.operands == (theirs,)
    assert there_and_back(theirs) is theirs
    assert isinstance(theirs, Leaf)


def test_an_unknown_format_or_record_is_refused():
    written, records, roots = pack_graph([_X])
    with pytest.raises(EinsumadError, match="stored in format 0"):
        unpack_graph((0, records, roots))
    with pytest.raises(EinsumadError, match="does not know"):
        unpack_graph((written, (("Tensor", (3,), "<f8", ()),), roots))


def _seconds(length):
    node = fresh_leaf((3,), float)
    for _ in range(length // 2):
        node = total(elementwise("sin", [node], (), float), _X)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        assert there_and_back(node) is node
        return time.process_time() - start
    finally:
        gc.enable()


def test_long_chains_in_linear_time_and_without_recursion():
    limit = sys.getrecursionlimit()
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + 100)
    try:
        short = min(_seconds(6_000) for _ in range(3))
        long = min(_seconds(30_000) for _ in range(2))
    finally:
        sys.setrecursionlimit(limit)
    assert long < 15 * short
    assert len(topological([_X])) == 1
