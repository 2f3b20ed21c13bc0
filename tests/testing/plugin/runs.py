"""pytest runs of small test files, with the plugin loaded once.

They have processes of their own unless all that they load is here already, which is much quicker. Where the package is
installed its entry point loads the plugin; where it is only on the path, ``-p`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from textwrap import dedent
from typing import Any

import pytest

PLUGIN = "einsumad.testing.pytest_plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))

_CONFTEST = """
from hypothesis import settings

settings.register_profile("few", max_examples={examples}, derandomize=True, database=None)
settings.load_profile("few")
"""


def run_tests(pytester: pytest.Pytester, source: str, *args: str, examples: int = 0, workers: int = 0) -> Any:
    """The result of running a test file; with a number of examples for Hypothesis, the same ones every time."""
    if examples:
        pytester.makeconftest(_CONFTEST.format(examples=examples))
    spread = ["-n", str(workers)] if workers else ["-p", "no:xdist"]
    return _run(pytester.runpytest_subprocess, pytester, source, *spread, *args)


def run_light_tests(pytester: pytest.Pytester, source: str, *args: str) -> Any:
    """The same in this process, for tests that load nothing new: what they load is forgotten afterwards."""
    return _run(pytester.runpytest_inprocess, pytester, source, "-p", "no:xdist", *args)


def _run(run: Callable[..., Any], pytester: pytest.Pytester, source: str, *args: str) -> Any:
    pytester.makepyfile(dedent(source))
    loaded = [] if INSTALLED else ["-p", PLUGIN]
    return run(*loaded, "-p", "no:cacheprovider", "--strict-markers", *args)
