"""Files that are written as a whole.

Owns writing them. Imports nothing of the package. Invariant: under the name of a file stands the old content or the
new one, never a part of it.
"""

from __future__ import annotations

import os
from pathlib import Path

_LONGEST_NAME = 200


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside the old one, and put it in its place. Raises :class:`OSError` where that fails."""
    target = Path(os.path.realpath(path))
    new = target.with_name(f"{target.name[:_LONGEST_NAME]}.{os.urandom(6).hex()}.tmp")
    try:
        with new.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
