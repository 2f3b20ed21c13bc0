"""What a run saves and loads.

Owns :func:`save` and :func:`load`. Imports modules, and the parts of files. Invariant: a file is read and checked as a
whole before anything is changed, and either all of it is taken or nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.module import Module
from einsumad.nn.saving.arrays import from_bytes, storable, to_bytes
from einsumad.nn.saving.files import write_whole
from einsumad.nn.saving.structure import plain, restored

_TEXT, _CHECKSUM, _VERSION = "einsumad", "einsumad_crc32", 1


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file has: the arrays of a module by name, the state of an optimiser or None, and metadata."""

    path: str
    state: dict[str, np.ndarray]
    optimizer: Any
    metadata: dict[str, Any]


def save(
    what: Any, path: str | PathLike[str], optimizer: Any = None, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write the arrays of a module, or of a dict by name, to a file in the format safetensors.

    `optimizer` has a ``state_dict()``, or is such a state: nested dicts, lists, tuples, numbers, texts and arrays.
    `metadata` may be nested in the same way: the number of the epoch, the history, the ``state_dict()`` of a
    ``DataLoader``. Both come back from :func:`load` as they were, to the bit and the type. Other programs read the
    arrays under their names; those of the optimiser are called ``optimizer/...``.

    The file appears under its name when it is complete, in the place of an old one. Nothing is pickled.

    Raises :class:`TypeError` that names what cannot be saved, before anything is written; :class:`OSError` where the
    file cannot be written.

    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from einsumad import nn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "net.safetensors"
    >>> net = nn.Linear(3, 2, rng=0)
    >>> nn.save(net, path, metadata={"epoch": 7})
    >>> other = nn.Linear(3, 2, rng=1)
    >>> nn.load(path, other).metadata
    {'epoch': 7}
    >>> bool(np.all(other.weight.data == net.weight.data))
    True
    """
    state = what.state_dict() if isinstance(what, Module) else what
    if not isinstance(state, Mapping):
        raise TypeError(f"a module or a dict of arrays is saved, got {type(what).__name__}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata is a dict, got {type(metadata).__name__}")
    arrays = {name: storable(array, f"{name!r}") for name, array in state.items()}
    held = optimizer.state_dict() if hasattr(optimizer, "state_dict") else optimizer
    content = {
        "version": _VERSION,
        "state": list(state),
        "optimizer": plain(held, "optimizer", arrays),
        "metadata": plain(dict(metadata or {}), "metadata", arrays),
    }
    texts = {"format": "np", _TEXT: json.dumps(content, allow_nan=False, separators=(",", ":"))}
    write_whole(Path(path), to_bytes(arrays, {**texts, _CHECKSUM: _checksum(arrays, texts)}))


def load(
    path: str | PathLike[str], module: Module | None = None, optimizer: Any = None, *, strict: bool = True
) -> Saved:
    """What a file of the format safetensors has; a module, and an optimiser, that are given take their states from it.

    Files that other programs wrote, such as PyTorch users with ``safetensors.torch``, load as well: their metadata are
    the texts that they have, and arrays of bfloat16 become float32. A parameter that the module holds under several
    names needs to be there under one of them. With ``strict=False`` names that are not in both are passed over.

    Raises :class:`ValueError` for a file that is damaged or of another kind, and :class:`KeyError`,
    :class:`ShapeError` or :class:`TypeError` where the arrays do not fit the module, each with the name of the file;
    nothing is changed then, neither in the module nor in the optimiser.
    """
    saved = _read(Path(path), fspath(path))
    if optimizer is not None and saved.optimizer is None:
        raise ValueError(f"{saved.path} has no state of an optimiser: it was saved without optimizer=")
    before = None if module is None else module.state_dict()
    if module is not None:
        _take(module, _completed(module, saved.state), saved.path, strict=strict)
    try:
        if optimizer is not None:
            _take(optimizer, saved.optimizer, saved.path)
    except BaseException:
        if module is not None and before is not None:
            module.load_state_dict(before)
        raise
    return saved


def _read(path: Path, name: str) -> Saved:
    arrays, texts = from_bytes(path.read_bytes(), name)
    if _TEXT not in texts and _CHECKSUM not in texts:
        return Saved(name, arrays, None, dict(texts))
    checksum = texts.pop(_CHECKSUM, None)
    if checksum != _checksum(arrays, texts):
        raise ValueError(f"{name} is damaged: its content is not what was written")
    try:
        return _understood(name, json.loads(texts[_TEXT]), arrays)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is not as this version of einsumad writes files: {error!r:.80}") from error


def _understood(name: str, content: Any, arrays: Mapping[str, np.ndarray]) -> Saved:
    """What the arrays of a file are. Raises various errors for what `save` does not write."""
    if content["version"] != _VERSION:
        raise ValueError(f"it has version {content['version']}")
    optimizer, metadata = (restored(content[part], arrays) for part in ("optimizer", "metadata"))
    return Saved(name, {key: arrays[key] for key in content["state"]}, optimizer, {**metadata})


def _take(owner: Any, state: Any, path: str, **options: Any) -> None:
    """Load the state; errors name the file."""
    try:
        owner.load_state_dict(state, **options)
    except (KeyError, TypeError, ValueError) as error:
        known = (KeyError, TypeError, ValueError, ea.ShapeError)
        kind = type(error) if type(error) in known else ValueError
        raise kind(f"{path}: {error.args[0] if error.args else error}") from error


def _completed(module: Module, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state with the other names of parameters that it has under one name."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(every_name=True):
        names.setdefault(id(parameter), []).append(name)
    full = dict(state)
    for group in names.values():
        there = [name for name in group if name in state]
        full.update({name: state[there[0]] for name in group if there and name not in state})
    return full


def _checksum(arrays: Mapping[str, np.ndarray], texts: Mapping[str, str]) -> str:
    """A text that changes with any byte of the content (CRC-32)."""
    found = zlib.crc32(ascii(sorted(texts.items())).encode())
    for name in sorted(arrays):
        array = arrays[name]
        found = zlib.crc32(ascii((name, array.dtype.name, array.shape)).encode(), found)
        little = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
        found = zlib.crc32(little.reshape(-1).view(np.uint8).data, found)
    return str(found)
