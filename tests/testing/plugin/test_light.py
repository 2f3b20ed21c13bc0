"""pytest loads a plugin in every run: what it brings along has to be small."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import pytest
import einsumad.testing
before = set(sys.modules)
import einsumad.testing.pytest_plugin
print(*sorted(name for name in set(sys.modules) - before))
"""


def test_the_plugin_loads_nothing_of_the_toolkit_and_nothing_large():
    found = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout.split()
    assert set(found) - {"argparse", "datetime", "_datetime"} == {"einsumad.testing.pytest_plugin"}
