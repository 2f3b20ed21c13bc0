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
OF_THE_WHOLE = ("einsumad.planning.options", "einsumad.frontend.symbols")
"""Their examples show all options on, and texts of expressions."""

OPTIONAL = {"einsumad.nn.estimators": "sklearn"}
"""Packages that are loaded with another one, which need not be there."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.whole_planner] * (name in OF_THE_WHOLE)) for name in MODULES]
)
def test_examples_of(name: str) -> None:
    for package in [needed for prefix, needed in OPTIONAL.items() if name.startswith(prefix)]:
        pytest.importorskip(package)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0
