"""Names in containers beside PyTorch's, after whatever was done to them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from einsumad import nn  # noqa: E402 (where PyTorch is missing)


def lists(lib: Any) -> Any:
    found = lib.ModuleList([lib.Linear(2, 2), lib.Tanh()])
    found.append(lib.Linear(2, 3)).extend([lib.Linear(3, 3), lib.ReLU()])
    found.insert(1, lib.Linear(2, 4))
    found[0] = lib.Linear(2, 5)
    del found[3]
    return found


def sequences(lib: Any) -> Any:
    net = lib.Sequential(OrderedDict(a=lib.Linear(2, 3), b=lib.Tanh(), c=lib.Linear(3, 4)))
    net.a = lib.Linear(2, 3)
    return lib.Sequential(lib.Linear(1, 2), net, lib.Linear(4, 5), lib.Linear(5, 1))[1:3]


def dictionaries(lib: Any) -> Any:
    found = lib.ModuleDict({"x": lib.Linear(2, 2), "y": lib.Linear(2, 3)})
    found["x"] = lib.Linear(2, 4)
    found.update({"z": lib.ReLU(), "y": lib.Linear(2, 5)})
    found.pop("z")
    return found


def shared(lib: Any) -> Any:
    layer = lib.Linear(2, 2)
    return lib.Sequential(layer, lib.Sequential(lib.BatchNorm1d(2), layer), layer)


@pytest.mark.parametrize("build", [lists, sequences, dictionaries, shared])
def test_names_are_those_of_pytorch(build: Any) -> None:
    ours, theirs = build(nn), build(torch.nn)
    shapes = {name: tuple(tensor.shape) for name, tensor in theirs.state_dict(prefix="net.").items()}
    assert {name: array.shape for name, array in ours.state_dict(prefix="net.").items()} == shapes
    for ask in ("named_modules", "named_children", "named_parameters", "named_buffers"):
        assert [name for name, _ in getattr(ours, ask)()] == [name for name, _ in getattr(theirs, ask)()]
    for ask in ("modules", "children", "parameters", "buffers"):
        assert len(list(getattr(ours, ask)())) == len(list(getattr(theirs, ask)()))
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_what_is_missing_is_told_as_pytorch_does() -> None:
    ours, theirs = sequences(nn), sequences(torch.nn)
    state = {"1.a.weight": np.zeros((3, 2), np.float32), "other": np.zeros(1)}
    missing, unexpected = ours.load_state_dict(state, strict=False)
    expected = theirs.load_state_dict({name: torch.tensor(array) for name, array in state.items()}, strict=False)
    assert (missing, unexpected) == (expected.missing_keys, expected.unexpected_keys)


@pytest.mark.parametrize("sizes", [(3, 4), (-1, 2), (2, 2, 3)])
def test_unflatten(sizes: tuple[int, ...]) -> None:
    x = np.arange(24.0).reshape(2, 12)
    np.testing.assert_array_equal(nn.Unflatten(1, sizes)(x), torch.nn.Unflatten(1, sizes)(torch.tensor(x)).numpy())
    vector = torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters())
    assert nn.utils.parameters_to_vector(nn.Linear(2, 3).parameters()).shape == tuple(vector.shape)
