"""The same input gives the same nodes and texts in every process, whatever the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SCRIPT = """
from einsumad.graph import *
from einsumad.graph.display import index_notation, matrix_notation
names = ["x", "y", "z", "w"]
leaves_ = [leaf((3,), float, ("variable", n), n) for n in names] + [fresh_leaf((3,), float) for _ in range(4)]
m = [leaf((3, 3), float, ("variable", n), n, ("symmetric", "constant")) for n in "ABC"]
e = [elementwise("exp", [v], (), float) for v in leaves_]
root = total(*[multiply(a, b) for a in e for b in leaves_])
form = einsum([m[0], m[1], m[0], m[2], root], [(0, 1), (1, 2), (2, 3), (3, 4), (4,)], (0,), 0.5)
key, found = structural_key([form, root])
for node in topological([form]):
    print(type(node).__name__, node.digest.hex(), node.form.hex(), getattr(node, "inputs", ""))
print(key.hex(), [node.key for node in found])
print(index_notation([form, root]))
print(matrix_notation(form))
print(with_slots([form], found)[0][0].digest.hex())
"""


def test_three_hash_seeds_one_text():
    texts = set()
    for seed in ("0", "1", "12345"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-c", _SCRIPT]
        done = subprocess.run(command, capture_output=True, check=True, cwd=_ROOT, env=environment)
        texts.add(done.stdout)
    assert len(texts) == 1
    assert len(texts.pop()) > 1000
