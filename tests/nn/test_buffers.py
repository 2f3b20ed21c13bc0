"""Buffers as attributes of modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from einsumad import nn


def test_a_buffer_as_an_attribute_registers_itself() -> None:
    class Held(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Buffer(np.array([1.0, 2.0], np.float32))
            self.hidden = nn.Buffer(np.ones(1), persistent=False)

        def forward(self, x: Any) -> Any:
            return x * self.scale

    net = Held()
    assert list(net.state_dict()) == ["scale"]
    assert [name for name, _ in net.named_buffers()] == ["scale", "hidden"]
    assert isinstance(net.scale, np.ndarray)
    assert np.argmax(net.scale) == 1
    net.load_state_dict({"scale": np.array([3.0, 4.0], np.float32)})
    np.testing.assert_array_equal(net(np.ones(2)), [3, 4])
    net.scale = np.array([5.0, 6.0], np.float32)
    np.testing.assert_array_equal(net.state_dict()["scale"], [5, 6])
    net.scale = nn.Buffer(np.zeros(3))
    assert net.scale.shape == (3,)
    assert net.to(np.float64).scale.dtype == np.float64
    with pytest.raises(TypeError, match="attributes of their own for buffers"):
        net.all = [nn.Buffer(np.ones(1))]
