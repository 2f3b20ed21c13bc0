"""Lists and dictionaries of modules and parameters: names, order, and no silent loss."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn

X = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


def layers(count: int) -> list[nn.Module]:
    return [nn.Linear(4, 4, rng=k) for k in range(count)]


@pytest.mark.parametrize("kind", [nn.ModuleList, lambda modules: nn.Sequential(*modules)])
def test_a_list_of_modules_is_a_list(kind: Any) -> None:
    mirror = layers(5)
    found = kind(mirror[:3])
    assert found.append(mirror[3]) is found
    assert found.extend(mirror[4:]) is found
    extra = nn.Tanh()
    found.insert(-2, extra)
    mirror.insert(-2, extra)
    assert list(found) == mirror
    found[1], mirror[1] = extra, extra
    del found[2], mirror[2]
    assert found.pop() is mirror.pop()
    assert found.pop(0) is mirror.pop(0)
    assert list(found) == mirror
    assert [name for name, _ in found.named_modules()] == ["", "0", "2"]
    assert found[-1] is mirror[-1]
    assert list(found[1:]) == mirror[1:]
    assert type(found[1:]) is type(found)
    for position in (3, -4):
        with pytest.raises(IndexError, match=f"holds 3 modules, none at {position}"):
            found[position]
        with pytest.raises(IndexError):
            found[position] = extra
    with pytest.raises(TypeError, match="holds modules, got int"):
        found.insert(0, 3)
    assert list(found) == mirror


def test_sequences_by_name() -> None:
    first, second, third = layers(3)
    net = nn.Sequential(OrderedDict(a=first, b=nn.Tanh(), c=second))
    assert net.a is first
    assert list(net.state_dict()) == ["a.weight", "a.bias", "c.weight", "c.bias"]
    np.testing.assert_array_equal(net(X).numpy(), second(np.tanh(first(X))).numpy())
    rest = nn.Sequential(first, second, third)[1:]
    assert list(rest.state_dict()) == ["1.weight", "1.bias", "2.weight", "2.bias"]
    rest.append(first)
    assert list(rest) == [second, third, first]
    with pytest.raises(TypeError, match="holds modules, got int"):
        nn.Sequential({"a": 3})
    with pytest.raises(TypeError, match="holds modules, got dict"):
        nn.Sequential({"a": first}, {"b": first})


def test_dictionaries_of_modules() -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            self.heads = nn.ModuleDict({"one": nn.Linear(4, 1, rng=0)})
            self.heads["two"] = nn.Linear(4, 2, rng=1)
            self.heads.update([("one", nn.Linear(4, 3, rng=2))])

        def forward(self, x: Any) -> Any:
            return {name: head(x) for name, head in self.heads.items()}

    net = Heads()
    assert list(net.state_dict()) == ["heads.one.weight", "heads.one.bias", "heads.two.weight", "heads.two.bias"]
    assert {name: value.shape for name, value in net(X).items()} == {"one": (5, 3), "two": (5, 2)}
    assert (list(net.heads), len(net.heads)) == (["one", "two"], 2)
    assert "one" in net.heads
    assert "three" not in net.heads
    assert list(net.heads.values()) == [net.heads[name] for name in net.heads.keys()]  # noqa: SIM118 (what is tested)
    net.heads.pop("one")
    assert list(net.heads.keys()) == ["two"]
    with pytest.raises(KeyError):
        net.heads["one"]
    for name in ("training", "keys", "a.b", ""):
        with pytest.raises(KeyError):
            net.heads[name] = nn.Tanh()
    assert net.heads.training is True


def test_parameters_in_lists_and_dictionaries() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            self.factors = nn.ParameterList([np.full(4, 2.0), nn.Parameter(np.full(4, 3.0))])
            self.shifts = nn.ParameterDict({"a": np.ones(4)})
            self.shifts["b"] = nn.Parameter(np.zeros(4))

        def forward(self, x: Any) -> Any:
            for factor in self.factors:
                x = x * factor
            return x + self.shifts["a"] + sum(self.shifts.values())

    net, x = Scaled(), X.astype(float)
    assert list(net.arrays()) == ["factors.0", "factors.1", "shifts.a", "shifts.b"]
    np.testing.assert_allclose(net(x).numpy(), 6 * x + 2)
    gradient = ea.grad(lambda values: np.sum(net.apply(values, x)))(net.arrays())
    np.testing.assert_allclose(gradient["factors.1"], 2 * x.sum(0))
    np.testing.assert_allclose(gradient["shifts.a"], 10 * np.ones(4))
    np.sum(net(x)).backward()
    np.testing.assert_allclose(net.factors[1].grad, 2 * x.sum(0))
    net.factors[0] = np.ones(4)
    net.shifts["a"] = np.zeros(4)
    net.shifts["b"] = nn.Parameter(np.ones(4))
    assert list(net.arrays()) == ["factors.0", "factors.1", "shifts.a", "shifts.b"]
    np.testing.assert_allclose(net(x).numpy(), 3 * x + 1)
    assert (len(net.factors), len(net.shifts), "a" in net.shifts, list(net.shifts.keys())) == (2, 2, True, ["a", "b"])
    assert [name for name, _ in net.shifts.items()] == list(net.shifts)
    with pytest.raises(KeyError):
        net.shifts["c"]


@pytest.mark.parametrize("held", [lambda m: (m,), lambda m: {"a": m}, lambda m: [m], lambda m: {m}])
def test_plain_containers_of_modules_are_refused(held: Any) -> None:
    class Net(nn.Module):
        def __init__(self, part: Any) -> None:
            self.parts = held(part)

    for part in (nn.Tanh(), nn.Parameter(np.ones(2))):
        with pytest.raises(TypeError, match="parts is a plain"):
            Net(part)


def test_a_plain_list_that_is_filled_later_is_refused_when_it_is_looked_for() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.parts: list[nn.Module] = []
            self.numbers = [1, 2]
            for part in layers(2):
                self.parts.append(part)

    for ask in (nn.Module.parameters, nn.Module.state_dict, repr):
        with pytest.raises(TypeError, match=r"1\.parts is a plain list"):
            list(ask(nn.Sequential(nn.Tanh(), Net())))


def test_unflatten_undoes_flatten() -> None:
    x = np.arange(48.0).reshape(2, 3, 8)
    np.testing.assert_array_equal(nn.Unflatten(-1, (2, -1))(x), x.reshape(2, 3, 2, 4))
    np.testing.assert_array_equal(nn.Unflatten(1, [3, 8])(nn.Flatten()(x)), x)
    assert nn.Unflatten(1, (-1, 4))(np.zeros((0, 8))).shape == (0, 2, 4)
    gradient = ea.grad(lambda x: np.sum(nn.Unflatten(2, (2, 4))(x)[:, :, 1] ** 2))(x)
    np.testing.assert_array_equal(gradient, np.where(np.arange(8) < 4, 0, 2 * x))
    for sizes in ((3, 3), (-1, 3), (3,)):
        with pytest.raises(ea.ShapeError, match="does not fit an axis of size 8"):
            nn.Unflatten(2, sizes)(x)
    with pytest.raises(ea.ShapeError, match="has no axis 3"):
        nn.Unflatten(3, (1, 1))(x)
    with pytest.raises(ValueError, match="one may be -1"):
        nn.Unflatten(1, (-1, -1))


def test_vectors_of_parameters() -> None:
    net = nn.Sequential(*layers(2))
    before = net.state_dict()
    vector = nn.utils.parameters_to_vector(net.parameters())
    np.testing.assert_array_equal(vector, np.concatenate([array.ravel() for array in before.values()]))
    nn.utils.vector_to_parameters(2 * vector, net.parameters())
    for name, array in net.state_dict().items():
        np.testing.assert_array_equal(array, 2 * before[name])
    with pytest.raises(ea.ShapeError, match="hold 40 numbers"):
        nn.utils.vector_to_parameters(vector[1:], net.parameters())
    with pytest.raises(ValueError, match="no parameters"):
        nn.utils.parameters_to_vector([])
    np.sum(net(X)).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    norms = [np.sum(np.square(p.grad)) for p in net.parameters()]
    assert np.sqrt(np.sum(norms)) == pytest.approx(0.5, rel=1e-4)
