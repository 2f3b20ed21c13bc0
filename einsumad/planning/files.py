"""JSON files that several processes may write and read at the same time.

Owns reading and writing them. Imports nothing of the package. Invariant: a file is written as a whole or not at all,
and nothing in it is run.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any


def read_json(path: Path, most: int) -> Any:
    """The content of a file of so many characters at most.

    Raises :class:`OSError` where it cannot be read, and :class:`ValueError` where it is no JSON, or cut off.
    """
    with path.open(encoding="utf-8") as file:
        text = file.read(most)
    try:
        return import_module("json").loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def is_file(path: Path) -> bool:
    """Whether there is a file that may be read; not where its folder is closed to this user, or the name is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def write_json(path: Path, content: Any, indent: int | None = None) -> None:
    """Write a file beside the old one and put it in its place; folders are made.

    Raises :class:`OSError` where that fails, and :class:`ValueError` for what can be no path.
    """
    text = import_module("json").dumps(content, indent=indent, separators=None if indent else (",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
