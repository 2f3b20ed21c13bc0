"""How much work a computation is, as a number that no busy machine changes: the calls of functions it makes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls(compute: Callable[[], object]) -> int:
    """The calls of functions, built-in ones too, that ``compute()`` makes; each step of a generator is one."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        compute()
    finally:
        sys.setprofile(before)
    return count
