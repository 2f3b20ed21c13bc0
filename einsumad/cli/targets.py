"""Functions by the names that users type: ``module:function`` or ``path/to/file.py:function``.

Owns finding them. Imports whatever module the user names. Invariant: a name that is not there is an error with near
names, and so is a module that cannot be imported.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from einsumad.cli.errors import RequestError

_MOST_NAMES = 20


def load(target: str, module: ModuleType | None = None) -> tuple[Callable[..., Any], ModuleType]:
    """The function that a text names, and its module; a name alone is one of the module given.

    Raises :class:`RequestError` for a module that cannot be imported and, with near names, for a function that is not
    in it.

    >>> load("math:sin")[0](0.0)
    0.0
    >>> load("math:sine")
    Traceback (most recent call last):
        ...
    einsumad.cli.errors.RequestError: math has no function 'sine': did you mean sin or sinh?
    """
    where, colon, name = target.rpartition(":")
    if not colon and module is None:
        raise RequestError(f"{target!r} names no function: write module:function or path/to/file.py:function")
    owner = _module(where) if colon else module
    if owner is None or not name:
        raise RequestError(f"{target!r} names no function: write a name behind the colon")
    found: Any = owner
    for part in name.split("."):
        if not hasattr(found, part):
            names = [each for each in dir(found) if callable(getattr(found, each, None)) and not each.startswith("__")]
            near = get_close_matches(part, names, n=2)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else f"there are {', '.join(names[:_MOST_NAMES]) or 'none'}"
            )
            raise RequestError(f"{getattr(found, '__name__', found)} has no function {part!r}: {hint}")
        found = getattr(found, part)
    if not callable(found):
        raise RequestError(f"{target} is no function, but of type {type(found).__name__}")
    return found, owner


def _module(where: str) -> ModuleType:
    """The module of a dotted name, or of a path; the current directory is searched first."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    path = Path(where)
    try:
        if path.suffix == ".py":
            return _module_of_file(path)
        return importlib.import_module(where)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and where.startswith(error.name):
            names = [each.stem for each in Path.cwd().glob("*.py")]
            near = get_close_matches(where, names, n=2)
            hint = f": did you mean {' or '.join(near)}?" if near else f" in {Path.cwd()} or where Python looks"
            raise RequestError(f"there is no module {where!r}{hint}") from None
        raise RequestError(f"importing {where} failed with {type(error).__name__}: {error}") from error


def _module_of_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise RequestError(f"there is no file {str(path)!r}")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{str(path)!r} is no Python file")
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
