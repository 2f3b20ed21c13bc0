"""Systems by name: aliases, names that do not exist, libraries that are missing, and nothing loaded before its use."""

import subprocess
import sys

import numpy as np
import pytest

from einsumad.testing import systems
from einsumad.testing.systems import AUTOGRAD, EINSUMAD, JAX, TORCH, installed_systems, system
from tests.testing.systems.programs import NAMESPACES

LOADS_NOTHING = """
import sys
import einsumad.testing.systems as systems
for name in ("einsumad", "jax", "torch", "autograd"):
    try:
        systems.system(name)
    except ImportError:
        pass
systems.installed_systems()
print(sorted({"jax", "jaxlib", "torch", "autograd", "scipy", "hypothesis", "pytest"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("jax", JAX), ("JAX", JAX), ("torch", TORCH), ("pytorch", TORCH), ("PyTorch", TORCH), ("autograd", AUTOGRAD)],
)
def test_names_of_peers(name: str, expected: systems.System) -> None:
    pytest.importorskip(expected.name)
    assert system(name) is expected


def test_a_system_is_itself_even_if_its_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert system("einsumad") is EINSUMAD
    assert system(TORCH) is TORCH


@pytest.mark.parametrize(
    ("name", "near"), [("jaxx", "did you mean 'jax'?"), ("pytorhc", "'pytorch'"), ("auto-grad", "'autograd'")]
)
def test_unknown_names_are_answered_with_near_ones(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"there is no system '{name}'") as caught:
        system(name)
    assert near in str(caught.value)
    assert "known are autograd, einsumad, jax, pytorch, torch" in str(caught.value)


def test_a_name_like_no_other_gets_the_list_only() -> None:
    with pytest.raises(ValueError, match="there is no system 'mathematica': known are autograd"):
        system("mathematica")


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(TypeError, match="by its name or as a System, got module"):
        system(np)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_missing_library_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    message = (
        rf"the system '{name}' needs the package {name}, which is not installed: pip install \"einsumad\[peers\]\""
    )
    with pytest.raises(ImportError, match=message) as caught:
        system(name)
    assert caught.value.name == name
    assert name not in installed_systems()
    record = {"jax": JAX, "torch": TORCH, "autograd": AUTOGRAD}[name]
    x = np.ones(2)
    for use in (
        lambda: record.evaluate(np.sin, [x]),
        lambda: record.derivative(np.sin, [x], 1, "auto"),
        lambda: record.jvp(np.sin, [x], [x]),
        lambda: record.vjp(np.sin, [x], x),
        lambda: record.hvp(np.sum, [x], [x]),
    ):
        with pytest.raises(ImportError, match=message):
            use()


def test_nothing_is_loaded_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS_NOTHING], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
