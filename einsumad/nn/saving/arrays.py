"""Named arrays and texts as bytes in the format safetensors.

Owns the bytes. Imports NumPy; the package safetensors is loaded when something is saved or loaded. Invariant: arrays
are handed over in C order, as safetensors writes the memory of an array that is not as if it were; nothing in a file is
run.

The format: the length of the header in eight bytes, a header in JSON with names, dtypes, shapes and places, the
entries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

import einsumad as ea

_DTYPES = {
    "BOOL": "?",
    "I8": "<i1",
    "I16": "<i2",
    "I32": "<i4",
    "I64": "<i8",
    "U8": "<u1",
    "U16": "<u2",
    "U32": "<u4",
    "U64": "<u8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
_LENGTH = 8
_KINDS = {
    b"PK\x03\x04": "a zip archive, as np.savez and torch.save write",
    b"\x93NUM": "one array of np.save",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x89HDF": "a file of HDF5",
}


def storable(value: Any, name: str) -> np.ndarray:
    """The array as files have it: little-endian and in C order. Raises :class:`TypeError` for what is no such array."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost: fill it first")
    if isinstance(value, ea.Tensor):
        value = value.numpy()
    if not hasattr(value, "__array__"):
        raise TypeError(f"{name} is no array, but {type(value).__name__}")
    array = np.asarray(value)
    little = array.dtype.newbyteorder("<")
    if little not in [np.dtype(known) for known in _DTYPES.values()]:
        raise TypeError(
            f"{name} has dtype {array.dtype}, and files have booleans, integers and floats of up to 64 bits"
        )
    return np.asarray(array, little, order="C")


def to_bytes(arrays: Mapping[Any, np.ndarray], texts: Mapping[str, str]) -> bytes:
    """The content of a file with these arrays, which are `storable`, and texts."""
    for name in arrays:
        if not isinstance(name, str) or name == "__metadata__":
            raise TypeError(f"arrays have texts as names, and not '__metadata__', got {name!r}")
    content: bytes = _library("safetensors.numpy").save(dict(arrays), dict(texts))
    return content


def from_bytes(content: bytes, path: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays and texts of a file. Raises :class:`ValueError` that names one that is damaged or of another kind."""
    library = _library("safetensors")
    try:
        found = library.deserialize(content)
    except (library.SafetensorError, ValueError) as error:
        raise ValueError(f"{path} is no file of safetensors, or damaged: {_reason(content, error)}") from error
    length = int.from_bytes(content[:_LENGTH], "little")
    header = json.loads(content[_LENGTH : _LENGTH + length])
    parts, texts = dict(found), dict(header.pop("__metadata__", None) or {})
    return {name: _array(name, parts[name], path) for name in header}, texts


def _array(name: str, part: Mapping[str, Any], path: str) -> np.ndarray:
    """The array; what is bfloat16 becomes float32, which holds all of its numbers."""
    dtype, shape, memory = part["dtype"], part["shape"], part["data"]
    if dtype == "BF16":
        return (np.frombuffer(memory, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    if dtype not in _DTYPES:
        raise ValueError(f"{name} in {path} has dtype {dtype}, which NumPy has not: convert it where it was written")
    stored = np.frombuffer(memory, _DTYPES[dtype]).reshape(shape)
    return stored.astype(stored.dtype.newbyteorder("="))


def _reason(content: bytes, error: Exception) -> str:
    for start, kind in _KINDS.items():
        if content.startswith(start):
            return f"it is {kind}"
    length = int.from_bytes(content[:_LENGTH], "little")
    if len(content) < _LENGTH or length > len(content) - _LENGTH:
        return f"it has {len(content)} bytes, and its header would be {length} bytes long"
    return str(error)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "nn.save and nn.load need the package safetensors, which is not installed: pip install 'einsumad[saving]'"
        ) from error
