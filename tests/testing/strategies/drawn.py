"""What the tests of the strategies share: many examples of a strategy, and minimal ones."""

from collections.abc import Callable
from typing import Any

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st


def examples(strategy: st.SearchStrategy[Any], count: int = 200) -> list[Any]:
    """Return so many examples, the same ones in every run."""
    found: list[Any] = []

    @settings(max_examples=count, phases=[Phase.generate], derandomize=True, database=None)
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found


def minimal(strategy: st.SearchStrategy[Any], accept: Callable[[Any], bool] = lambda _: True) -> Any:
    """Return what an accepted example shrinks to."""
    phases = [Phase.generate, Phase.shrink]
    chosen = settings(max_examples=2000, phases=phases, derandomize=True, database=None)
    return find(strategy, accept, settings=chosen)
