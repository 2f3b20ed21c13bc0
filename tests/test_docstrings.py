"""Every example in a docstring of the package is run."""

import doctest
import importlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "einsumad"
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)
OPTIONS = "einsumad.planning.options"
"""Its examples show all options on."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.whole_planner] * (name == OPTIONS)) for name in MODULES]
)
def test_examples_of(name: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0
