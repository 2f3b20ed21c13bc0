"""Arrays in NumPy's archives.

Owns reading them. Imports NumPy and data sets. Invariant: nothing is unpickled.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from zipfile import BadZipFile

import numpy as np

from einsumad.data.datasets import ArrayDataset


def from_npz(path: str | PathLike[str], names: Sequence[str] | None = None) -> ArrayDataset:
    """The arrays of these names in a file of ``np.savez``, whose rows belong together; all, in its order, if None.

    Raises :class:`ValueError` that names the file for another kind of file, a damaged one, and arrays of objects;
    :class:`KeyError` for a name that is not there; :class:`ShapeError` for different lengths.

    >>> import tempfile, pathlib, numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.npz"
    >>> np.savez(path, x=np.ones((3, 2), np.float32), y=np.arange(3))
    >>> from_npz(path, ["x", "y"])
    ArrayDataset((3, 2) float32, (3,) int64)
    """
    place = fspath(path)
    try:
        archive = np.load(place, allow_pickle=False)
    except (ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{place} is no archive of np.savez, or damaged: {error}") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(f"{place} is one array of np.save: pass np.load({place!r}) to ArrayDataset")  # noqa: TRY004 (of the file)
    with archive:
        chosen = archive.files if names is None else [names] if isinstance(names, str) else list(names)
        for name in chosen:
            if name not in archive.files:
                near = get_close_matches(str(name), archive.files, 1)
                meant = f" (near to: {near[0]!r})" if near else ""
                raise KeyError(f"{place} has no array {name!r}{meant}, but {', '.join(archive.files)}")
        if not chosen:
            raise ValueError(f"{place} has no arrays")
        return ArrayDataset(*[_array(archive, name, place) for name in chosen])


def _array(archive: np.lib.npyio.NpzFile, name: str, place: str) -> np.ndarray:
    try:
        array: np.ndarray = archive[name]
    except (ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise ValueError(f"array {name!r} of {place} cannot be read: {error}") from error
    return array
