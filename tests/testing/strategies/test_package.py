"""The package as a whole: what is public, when Hypothesis is loaded, and what is said where it is missing."""

import subprocess
import sys

from hypothesis import strategies as st

from einsumad.testing import strategies

WITHOUT_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
try:
    import einsumad.testing.strategies
except ImportError as error:
    print(error)
"""
LOADED = """
import sys
import einsumad
import einsumad.testing
print("hypothesis" in sys.modules)
"""


def output_of(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_hypothesis_is_loaded_only_with_the_strategies():
    assert output_of(LOADED) == "False"


def test_where_hypothesis_is_missing_the_error_says_how_to_get_it():
    assert "pip install 'einsumad[testing]'" in output_of(WITHOUT_HYPOTHESIS)


def test_public_names_are_there_and_documented():
    public = {name: getattr(strategies, name) for name in strategies.__all__}
    assert [name for name, value in public.items() if callable(value) and not value.__doc__] == []


def test_every_public_strategy_can_be_made_without_arguments_that_it_does_not_need():
    for make in (strategies.floats, strategies.shapes, strategies.einsum_specs, strategies.programs, strategies.spd):
        assert isinstance(make(), st.SearchStrategy)
