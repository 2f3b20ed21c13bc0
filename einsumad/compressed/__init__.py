"""Tensors that are kept in their structure: sums of products of small arrays, deltas and index maps.

Imports everything below it; the frontend returns what is made here. Each name is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from einsumad.compressed.block_systems import Layout
    from einsumad.compressed.blocks import BlockTensor
    from einsumad.compressed.forms import Form, Terms, terms_of, transposed
    from einsumad.compressed.tensor import CompressedTensor
    from einsumad.compressed.text import bytes_of, slots_of, structure_text
    from einsumad.compressed.values import Structured

__all__ = [
    "BlockTensor",
    "CompressedTensor",
    "Form",
    "Layout",
    "Structured",
    "Terms",
    "bytes_of",
    "slots_of",
    "structure_text",
    "terms_of",
    "transposed",
]

_LATER = {
    "BlockTensor": "blocks",
    "CompressedTensor": "tensor",
    "Layout": "block_systems",
    "Structured": "values",
    **dict.fromkeys(("Form", "Terms", "terms_of", "transposed"), "forms"),
    **dict.fromkeys(("bytes_of", "slots_of", "structure_text"), "text"),
}


def __getattr__(name: str) -> Any:
    """What makes and holds structured tensors: few programs ask for one."""
    if name in _LATER:
        return getattr(import_module(f"einsumad.compressed.{_LATER[name]}"), name)
    raise AttributeError(f"module 'einsumad.compressed' has no attribute {name!r}")
