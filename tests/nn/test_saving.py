"""Files of weights and states of optimisers: what was saved comes back, and what is no such file is refused."""

from __future__ import annotations

import json
import math
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import einsumad as ea
from einsumad import nn
from einsumad.data import ArrayDataset, DataLoader
from einsumad.nn.saving.files import write_whole

safetensors_numpy = pytest.importorskip("safetensors.numpy")

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">f4", ">f8", ">i2"]
arrays = hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
keys = st.one_of(st.text(max_size=3), st.integers(), st.booleans(), st.none(), st.tuples(st.integers(), st.text()))
numbers = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
nested = st.recursive(
    st.one_of(numbers, arrays, st.builds(np.float32, st.floats(width=32)), st.builds(np.int64, st.integers(0, 99))),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.lists(parts, max_size=3).map(tuple), st.dictionaries(keys, parts, max_size=3)
    ),
    max_leaves=8,
)


class Optimizer:
    """Something with a state, which it refuses if it has not the parts that it needs."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def state_dict(self) -> Any:
        return self.state

    def load_state_dict(self, state: Any) -> None:
        if set(state) != set(self.state):
            raise ValueError("other parts")
        self.state = state


def network(seed: int = 0, out: int = 2) -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4, rng=seed), nn.Tanh(), nn.Linear(4, out, rng=seed + 1))


def same(one: Any, other: Any) -> None:
    """Equal to the bit and the type; big-endian arrays come back in the order of the machine."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(map(repr, one)) == list(map(repr, other))
        for key, value in one.items():
            same(value, other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for part, counterpart in zip(one, other, strict=True):
            same(part, counterpart)
    elif isinstance(one, (np.ndarray, np.generic)):
        assert other.dtype == one.dtype.newbyteorder("=")
        assert one.shape == other.shape
        assert np.asarray(one).astype(other.dtype).tobytes() == other.tobytes()
    elif isinstance(one, float):
        assert math.copysign(1, one) == math.copysign(1, other) or math.isnan(one)
        assert one == other or (math.isnan(one) and math.isnan(other))
    else:
        assert one == other


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved") / "file.safetensors"


@given(state=st.dictionaries(st.text(max_size=4), arrays, max_size=4), optimizer=nested, metadata=nested)
def test_what_is_saved_comes_back(place: Path, state: dict[str, np.ndarray], optimizer: Any, metadata: Any) -> None:
    nn.save(state, place, optimizer=optimizer, metadata={"all": metadata})
    saved = nn.load(place)
    same(state, saved.state)
    same(optimizer, saved.optimizer)
    same({"all": metadata}, saved.metadata)
    others = safetensors_numpy.load_file(place)  # other programs see the arrays under their names
    for name, array in saved.state.items():
        assert others[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_are_written_as_they_are_seen(tmp_path: Path, dtype: str) -> None:
    base = (np.arange(24) % 7).astype(dtype).reshape(4, 6)
    views = {
        "transposed": base.T,
        "strided": base[::2, 1::3],
        "reversed": base[::-1, ::-1],
        "fortran": np.asfortranarray(base),
        "broadcast": np.broadcast_to(base[0], (3, 6)),
        "diagonal": np.diagonal(base),
        "none": base[:0],
        "empty": base[:, :0].T,
        "number": base[1, 2],
        "no axes": base[1, 2].reshape(()),
    }
    nn.save(views, tmp_path / "views.safetensors")
    found = nn.load(tmp_path / "views.safetensors").state
    for name, view in views.items():
        assert (found[name].shape, found[name].dtype) == (view.shape, np.dtype(dtype).newbyteorder("="))
        np.testing.assert_array_equal(found[name], view)
        found[name][...] = 0  # what is loaded may be written to


def test_the_state_of_an_optimiser_like_pytorchs(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    moments = {"step": 3, "exp_avg": np.full((4, 3), 0.5, np.float32), "max": None}
    state = {
        "state": {0: moments, 1: {"step": np.float32(2), "exp_avg": np.zeros(4, np.float32)}},
        "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "amsgrad": False, "params": [0, 1]}],
    }
    net, optimizer = network(), Optimizer(state)
    loader = DataLoader(ArrayDataset(np.arange(9)), 2, shuffle=True, rng=0)
    loop = iter(loader)
    next(loop)
    nn.save(net, path, optimizer, {"epoch": 4, "loader": loader.state_dict(), "history": [1.0, math.inf]})
    assert set(safetensors_numpy.load_file(path)) == {
        *net.state_dict(),
        "optimizer/state/0/exp_avg",
        "optimizer/state/1/exp_avg",
        "optimizer/state/1/step",
    }
    other, fresh = network(5), Optimizer({"state": {}, "param_groups": []})
    saved = nn.load(path, other, fresh)
    same(state, fresh.state)
    same(net.state_dict(), other.state_dict())
    assert saved.metadata["history"] == [1.0, math.inf]
    resumed = DataLoader(ArrayDataset(np.arange(9)), 2, shuffle=True, rng=1)
    resumed.load_state_dict(saved.metadata["loader"])
    same([x for (x,) in resumed], [x for (x,) in loop])


class Momentum:
    """Steps ``v = 0.9 v + g``, ``p = p - 0.1 v``."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net
        self.velocities = [np.zeros_like(p.data) for p in net.parameters()]

    def step(self) -> None:
        for place, p in enumerate(self.net.parameters()):
            self.velocities[place] = 0.9 * self.velocities[place] + p.grad
            p.data = p.data - 0.1 * self.velocities[place]

    def state_dict(self) -> Any:
        return {"state": {place: {"velocity": v} for place, v in enumerate(self.velocities)}}

    def load_state_dict(self, state: Any) -> None:
        self.velocities = [held["velocity"] for held in state["state"].values()]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_run_that_is_stopped_and_resumed_is_the_uninterrupted_one(tmp_path: Path, prefetch: int) -> None:
    rng = np.random.default_rng(0)
    data = ArrayDataset(rng.normal(size=(11, 3)).astype(np.float32), rng.integers(0, 2, 11))
    path = tmp_path / "run.safetensors"

    def run(seed: int, stop: int | None = None, resume: bool = False) -> dict[str, np.ndarray]:
        net = network(seed)
        optimizer, steps = Momentum(net), 0
        loader = DataLoader(data, 3, shuffle=True, rng=seed, prefetch=prefetch)
        if resume:
            loader.load_state_dict(nn.load(path, net, optimizer).metadata["loader"])
        for _ in range(loader.epoch, 3):
            for x, y in loader:
                net.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                optimizer.step()
                steps += 1
                if steps == stop:
                    nn.save(net, path, optimizer, {"loader": loader.state_dict()})
                    return net.state_dict()
        return net.state_dict()

    whole = run(0)
    for stop in (1, 4, 6):  # within an epoch, and after its last batch
        run(0, stop=stop)
        same(whole, run(1, resume=True))


def test_an_array_and_a_state_may_have_the_same_name(tmp_path: Path) -> None:
    state = {"optimizer/a": np.ones(1), "optimizer/a'": np.ones(2)}
    optimizer = {"a": np.zeros(3), "a'": np.zeros(4)}
    nn.save(state, tmp_path / "f", optimizer)
    same(nn.load(tmp_path / "f").state, state)
    same(nn.load(tmp_path / "f").optimizer, optimizer)


def test_parameters_and_tensors_are_arrays(tmp_path: Path) -> None:
    net = network()
    nn.save(dict(net.named_parameters()), tmp_path / "f", {"x": ea.tensor(np.ones(2))})
    same(nn.load(tmp_path / "f").state, dict(net.state_dict()))
    same(nn.load(tmp_path / "f").optimizer, {"x": np.ones(2)})


class Looped(list[Any]):
    pass


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (([1],), TypeError, "a module or a dict of arrays is saved, got list"),
        (({"a": 1.0},), TypeError, "'a' is no array, but float"),
        (({"a": {"b": np.ones(1)}},), TypeError, "'a' is no array, but dict"),
        (({"a": np.ones(1, complex)},), TypeError, "'a' has dtype complex128"),
        (({"a": np.array(["x"])},), TypeError, "'a' has dtype <U1"),
        (({"a": np.array([None])},), TypeError, "'a' has dtype object"),
        (({"a": np.ones(1, np.longdouble)},), TypeError, "'a' has dtype float128"),
        (({"a": np.ma.masked_array([1.0])},), TypeError, "masked"),
        (({1: np.ones(1)},), TypeError, "texts as names.* got 1"),
        (({"__metadata__": np.ones(1)},), TypeError, "__metadata__"),
        (({}, {"a": [1, {2: {1}}]}), TypeError, "optimizer/a/1/2 is set"),
        (({}, {"a": lambda: 0}), TypeError, "optimizer/a is function"),
        (({}, {"a": 1j}), TypeError, "optimizer/a is complex"),
        (({}, {"a": Looped()}), TypeError, "optimizer/a is Looped"),
        (({}, {frozenset(): 1}), TypeError, "the key frozenset"),
        (({}, {(1, (2, frozenset())): 1}), TypeError, "optimizer/key/1/1 is frozenset"),
        (({}, {"a": np.array([None])}), TypeError, "optimizer/a has dtype object"),
        (({}, None, [1]), TypeError, "metadata is a dict"),
    ],
)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(
    tmp_path: Path, arguments: tuple[Any, ...], kind: type[Exception], message: str
) -> None:
    if message.endswith("float128") and np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long doubles are doubles here")
    what, *rest = arguments
    with pytest.raises(kind, match=message):
        nn.save(what, tmp_path / "f", *rest)
    assert list(tmp_path.iterdir()) == []


def test_what_contains_itself_is_refused(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="deep, or contains itself"):
        nn.save({}, tmp_path / "f", loop)


def contents(place: Path) -> bytes:
    nn.save(network(), place, {"state": {0: np.arange(3.0)}}, {"epoch": 1})
    return place.read_bytes()


def refused(path: Path, content: bytes, message: str = "") -> None:
    """The file is refused by its name, and the network and the optimiser are what they were."""
    path.write_bytes(content)
    net, optimizer = network(7), Optimizer({"state": 1})
    before = net.state_dict()
    with pytest.raises(ValueError, match=rf"file\.safetensors.*{message}"):
        nn.load(path, net, optimizer)
    same(before, net.state_dict())
    assert optimizer.state == {"state": 1}


@given(data=st.data())
def test_a_file_that_is_cut_or_has_another_byte_is_refused(place: Path, data: st.DataObject) -> None:
    content = contents(place)
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        refused(place, content[:at])
    elif content[at] == ord(" "):  # the header may be padded with other white space, which is no other content
        refused(place, content[:at] + b"!" + content[at + 1 :])
    else:
        other = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[at]))
        refused(place, content[:at] + bytes([other]) + content[at + 1 :])


@given(content=st.binary(max_size=64))
def test_garbage_is_refused(place: Path, content: bytes) -> None:
    refused(place, content)


def test_other_kinds_of_files_are_named(place: Path) -> None:
    np.savez(place.with_suffix(".npz"), x=np.ones(2))
    refused(place, place.with_suffix(".npz").read_bytes(), "zip archive, as np.savez")
    np.save(place.with_suffix(".npy"), np.ones(2))
    refused(place, place.with_suffix(".npy").read_bytes(), r"one array of np\.save")
    refused(place, pickle.dumps({"a": 1}), "a pickle")
    refused(place, b'{"a": [1, 2]}' * 3, "bytes, and its header would be")
    refused(place, b"", "it has 0 bytes")
    content = contents(place)
    length = int.from_bytes(content[:8], "little")
    for wrong in (length - 1, length + 1, length + 8, 2**63 - 1, 2**40):
        refused(place, wrong.to_bytes(8, "little") + content[8:])
    refused(place, content + b"more")
    with pytest.raises(FileNotFoundError):
        nn.load(place.with_name("none"))


def test_forms_of_other_versions_are_refused(place: Path) -> None:
    def written(text: str) -> bytes:
        texts = {"einsumad": text}
        checksum = nn.saving.checkpoint._checksum({}, texts)
        content: bytes = safetensors_numpy.save({}, {**texts, "einsumad_crc32": checksum})
        return content

    form = {"version": 1, "state": [], "optimizer": None, "metadata": {"dict": []}}
    place.write_bytes(written(json.dumps(form)))
    assert nn.load(place).metadata == {}
    refused_texts = [
        "[]",
        "{",
        json.dumps({"version": 1}),
        "[" * 100_000,
        json.dumps({**form, "state": ["a"]}),
        json.dumps({**form, "version": 2}),
        json.dumps({**form, "optimizer": {"array": "a"}}),
        json.dumps({**form, "optimizer": {"set": []}}),
        json.dumps({**form, "optimizer": {"dict": [1]}}),
        json.dumps({**form, "optimizer": {"dict": [], "list": []}}),
        json.dumps({**form, "metadata": {"dict": [[[1], 2]]}}),
        json.dumps({**form, "metadata": 3}),
    ]
    for text in refused_texts:
        place.write_bytes(written(text))
        with pytest.raises(ValueError, match=r"file\.safetensors"):
            nn.load(place)


def test_what_does_not_fit_names_the_file_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    optimizer = Optimizer({"state": 1})
    net = network(3)
    before = net.state_dict()
    for saved, held, kind, message in [
        (nn.Linear(3, 4), {"state": 2}, KeyError, r"net\.safetensors: the names do not fit.*missing: 0\.weight"),
        (network(out=5), {"state": 2}, ea.ShapeError, r"net\.safetensors: .*2\.weight has shape \(2, 4\)"),
        (network(), {"other": 2}, ValueError, r"net\.safetensors: other parts"),
        (network(), None, ValueError, r"net\.safetensors has no state of an optimiser"),
    ]:
        nn.save(saved, path, held)
        with pytest.raises(kind, match=message):
            nn.load(path, net, optimizer)
        same(before, net.state_dict())
        assert optimizer.state == {"state": 1}
    nn.save({**before, "more": np.ones(1)}, path)
    with pytest.raises(KeyError, match=r"net\.safetensors.*not known: more"):
        nn.load(path, net)
    nn.load(path, net, strict=False)


def test_files_of_others_load(tmp_path: Path) -> None:
    net = network()
    path = tmp_path / "f.safetensors"
    safetensors_numpy.save_file({name: np.array(a) for name, a in net.state_dict().items()}, path, {"author": "me"})
    other = network(4)
    saved = nn.load(path, other)
    assert (saved.metadata, saved.optimizer) == ({"author": "me"}, None)
    same(net.state_dict(), other.state_dict())


class Tied(nn.Module):
    """One array under two names."""

    def __init__(self) -> None:
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight


def test_an_array_of_two_names_may_be_there_under_one(tmp_path: Path) -> None:
    path, net = tmp_path / "f", Tied()
    nn.save(net, path)
    assert list(nn.load(path, Tied()).state) == ["first.weight", "second.weight"]
    for name in ("first.weight", "second.weight"):
        nn.save({name: np.eye(2, dtype=np.float32)}, path)
        nn.load(path, net)
        assert net.first.weight is net.second.weight
        np.testing.assert_array_equal(net.first.weight.data, np.eye(2))


def test_old_files_stay_until_new_ones_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space"):
            write_whole(path, b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("f", b"old")]
    (tmp_path / "link").symlink_to(path)
    write_whole(tmp_path / "link", b"new")
    assert path.read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "f", b"")
    with pytest.raises(OSError, match=r"."):
        write_whole(tmp_path, b"")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f", "link"]


def test_the_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"pip install 'einsumad\[saving\]'"):
        nn.save({}, tmp_path / "f")
