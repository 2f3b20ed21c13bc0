"""Tensors that are kept in their structure: sums of products of small arrays, deltas and index maps.

Imports everything below it; the frontend returns what is made here.
"""

from einsumad.compressed.block_systems import Layout
from einsumad.compressed.blocks import BlockTensor
from einsumad.compressed.forms import Form, compress, transposed
from einsumad.compressed.tensor import CompressedTensor
from einsumad.compressed.text import bytes_of, slots_of, structure_text
from einsumad.compressed.values import Structured

__all__ = [
    "BlockTensor",
    "CompressedTensor",
    "Form",
    "Layout",
    "Structured",
    "bytes_of",
    "compress",
    "slots_of",
    "structure_text",
    "transposed",
]
