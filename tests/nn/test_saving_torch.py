"""Files that are exchanged with users of PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad import nn

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved") / "file.safetensors"


@given(sizes=st.tuples(*[st.integers(1, 5)] * 3), seed=st.integers(0, 99), by_them=st.booleans())
def test_networks_are_exchanged(place: Path, sizes: tuple[int, int, int], seed: int, by_them: bool) -> None:
    first, second, third = sizes
    torch.manual_seed(seed)
    theirs = torch.nn.Sequential(torch.nn.Linear(first, second), torch.nn.Tanh(), torch.nn.Linear(second, third))
    ours = nn.Sequential(nn.Linear(first, second, rng=seed), nn.Tanh(), nn.Linear(second, third, rng=seed + 1))
    if by_them:
        safetensors_torch.save_file(theirs.state_dict(), place)
        assert nn.load(place, ours).metadata == {}
    else:
        nn.save(ours, place, {"state": {0: np.ones(2)}})
        found = {name: a for name, a in safetensors_torch.load_file(place).items() if not name.startswith("optimizer/")}
        theirs.load_state_dict(found)
    x = np.random.default_rng(seed).normal(size=(3, first)).astype(np.float32)
    with torch.no_grad(), nn.no_grad():
        np.testing.assert_allclose(ours(x), theirs(torch.tensor(x)).numpy(), rtol=1e-5, atol=1e-6)
    for name, array in ours.state_dict().items():
        np.testing.assert_array_equal(array, theirs.state_dict()[name].numpy())


def test_states_of_theirs_are_saved_as_they_are(place: Path) -> None:
    state = torch.nn.Linear(3, 2).state_dict()
    nn.save({"turned": state["weight"].T, **state}, place)
    np.testing.assert_array_equal(nn.load(place).state["turned"], state["weight"].numpy().T)


def test_dtypes(place: Path) -> None:
    values = torch.tensor([0.0, -1.5, 3.140625, float("inf"), 1e-40, 3e38])
    dtypes = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int8, torch.int64]
    tensors = {str(dtype): values.clip(-9, 9).to(dtype) for dtype in dtypes}
    safetensors_torch.save_file({**tensors, "wide": values.to(torch.bfloat16)}, place)
    found = nn.load(place).state
    for name, tensor in tensors.items():
        expected = tensor.float() if name == "torch.bfloat16" else tensor
        assert found[name].dtype == expected.numpy().dtype
        np.testing.assert_array_equal(found[name], expected.numpy())
    np.testing.assert_array_equal(found["wide"], values.to(torch.bfloat16).float().numpy())
    safetensors_torch.save_file({"small": torch.ones(2).to(torch.float8_e4m3fn)}, place)
    with pytest.raises(ValueError, match=r"small in .*file\.safetensors has dtype F8_E4M3"):
        nn.load(place)


def test_tied_weights_that_are_saved_once(place: Path) -> None:
    class Theirs(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(2, 2, bias=False)
            self.b = torch.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

    class Ours(nn.Module):
        def __init__(self) -> None:
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

    theirs, ours = Theirs(), Ours()
    safetensors_torch.save_model(theirs, str(place))
    nn.load(place, ours)
    np.testing.assert_array_equal(ours.b.weight.data, theirs.a.weight.detach().numpy())
    nn.save(ours, place)
    theirs.load_state_dict(safetensors_torch.load_file(place))
