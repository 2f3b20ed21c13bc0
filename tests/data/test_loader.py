"""Batches: every row once, in an order that the generator alone decides, with and without a thread; stop and resume."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad import ShapeError
from einsumad.data import ArrayDataset, DataLoader, Dataset, Subset
from einsumad.data.prefetching import THREAD

KINDS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


class Rows(Dataset):
    """A data set that gives its rows one by one."""

    def __init__(self, rows: int, fails_at: int | None = None) -> None:
        self.rows, self.fails_at, self.read = rows, fails_at, 0

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, index: int) -> tuple[int, np.ndarray]:
        self.read += 1
        if index == self.fails_at:
            raise OSError(f"row {index} cannot be read")
        return index, np.array([index, -index], np.float32)


def data_of(rows: int, kind: str) -> Any:
    x = np.arange(rows)
    arrays = ArrayDataset(x, np.stack([x, -x], -1).astype(np.float32))
    return {"arrays": arrays, "rows": Rows(rows), "part": Subset(arrays, np.arange(rows))}[kind]


def read(loader: DataLoader) -> list[tuple[np.ndarray, ...]]:
    return list(loader)


def same(first: list[Any], second: list[Any]) -> None:
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert len(one) == len(other)
        for part, counterpart in zip(one, other, strict=True):
            assert part.dtype == counterpart.dtype
            np.testing.assert_array_equal(part, counterpart)


def threads() -> int:
    return sum(thread.name == THREAD for thread in threading.enumerate())


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


options_of_loaders = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 6),
        "shuffle": st.booleans(),
        "drop_last": st.booleans(),
        "prefetch": st.sampled_from([0, 1, 3]),
    }
)
kinds_of_data = st.sampled_from(["arrays", "rows", "part"])


@given(rows=st.integers(0, 13), kind=kinds_of_data, options=options_of_loaders, seed=st.integers(0, 2**31))
def test_every_row_once(rows: int, kind: str, options: dict[str, Any], seed: int) -> None:
    loader = DataLoader(data_of(rows, kind), rng=seed, **options)
    batches = read(loader)
    assert len(batches) == len(loader)
    size = options["batch_size"]
    sizes = [size] * (rows // size) + [rows % size] * (rows % size > 0 and not options["drop_last"])
    assert [len(x) for x, _ in batches] == sizes
    order = np.concatenate([np.empty(0, int), *[x for x, _ in batches]])
    expected = np.random.default_rng(seed).permutation(rows) if options["shuffle"] else np.arange(rows)
    np.testing.assert_array_equal(order, expected[: sum(sizes)])
    for x, y in batches:
        assert (x.dtype, y.dtype) == (np.int64, np.float32)
        np.testing.assert_array_equal(y, np.stack([x, -x], -1))


@given(
    rows=st.integers(0, 13),
    kind=kinds_of_data,
    options=options_of_loaders,
    stop=st.integers(0, 40),
    through_json=st.booleans(),
)
def test_resuming_anywhere_is_the_uninterrupted_order(
    rows: int, kind: str, options: dict[str, Any], stop: int, through_json: bool
) -> None:
    def made(rng: int) -> DataLoader:
        return DataLoader(
            data_of(rows, kind), rng=rng, augment=lambda batch, rng: (*batch, rng.normal(size=2)), **options
        )

    whole = made(stop)
    batches, states = [], [whole.state_dict()]
    for _ in range(3):
        for batch in whole:
            batches.append(batch)
            states.append(whole.state_dict())
        states[-1] = states[-1] if stop % 2 else whole.state_dict()  # within the loop after its last batch, or after it
    place = stop % len(states)
    state = json.loads(json.dumps(states[place])) if through_json else states[place]
    resumed = made(stop + 1)
    resumed.load_state_dict(state)
    rest = []
    for _ in range(resumed.epoch, 3):
        rest += read(resumed)
    same(rest, batches[place:])
    assert resumed.state_dict() == whole.state_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_generators_of_every_kind_resume_from_json(kind: Any) -> None:
    def made(seed: int) -> DataLoader:
        return DataLoader(ArrayDataset(np.arange(10)), 3, shuffle=True, rng=np.random.Generator(kind(seed)))

    loader = made(0)
    loop = iter(loader)
    next(loop)
    state = json.dumps(loader.state_dict())
    resumed = made(1)
    resumed.load_state_dict(json.loads(state))
    same(list(resumed) + list(resumed), list(loop) + list(loader))


def test_a_shared_generator_is_resumed_too() -> None:
    def run(rng: np.random.Generator, loader: DataLoader, number: int) -> list[Any]:
        return [(x, rng.normal(size=1)) for (x,) in islice(loader, number)]

    rng = np.random.default_rng(0)
    loader = DataLoader(ArrayDataset(np.arange(6)), 2, shuffle=True, rng=rng)
    loop = iter(loader)
    first = [(next(loop)[0], rng.normal(size=1)) for _ in range(2)]
    state = loader.state_dict()
    rest = [(x, rng.normal(size=1)) for (x,) in loop] + run(rng, loader, 3)
    other = np.random.default_rng(1)
    resumed = DataLoader(ArrayDataset(np.arange(6)), 2, shuffle=True, rng=other)
    resumed.load_state_dict(state)
    again = run(other, resumed, 1) + run(other, resumed, 3)
    same(again, rest)
    assert len(first) == 2


def test_counts() -> None:
    loader = DataLoader(ArrayDataset(np.arange(5)), 2, shuffle=True, rng=0)
    assert (loader.epoch, loader.position) == (0, 0)
    for number, _ in enumerate(loader):
        assert (loader.epoch, loader.position) == (0, number + 1)
    assert (loader.epoch, loader.position) == (1, 0)
    for _ in loader:
        break
    assert (loader.epoch, loader.position) == (1, 1)
    first, second = iter(loader), iter(loader)  # a loop that was left, and two at a time
    assert loader.epoch == 3
    next(first)
    assert loader.position == 0
    next(second)
    assert (loader.epoch, loader.position) == (3, 1)
    assert len(list(first)) == 2


def test_iter_draws_the_order_at_once() -> None:
    rng = np.random.default_rng(0)
    loop = iter(DataLoader(ArrayDataset(np.arange(9)), 9, shuffle=True, rng=rng))
    after = rng.bit_generator.state
    next(loop)
    assert rng.bit_generator.state == after


def test_the_global_generator_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (it must not change)
    list(DataLoader(ArrayDataset(np.arange(9)), shuffle=True))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    orders = {tuple(next(iter(DataLoader(np.arange(40), 40, shuffle=True))).tolist()) for _ in range(2)}
    assert len(orders) == 2


def test_states_of_other_loaders_are_refused() -> None:
    def made(rows: int = 6, batch_size: int = 2, rng: Any = 0, **options: Any) -> DataLoader:
        return DataLoader(ArrayDataset(np.arange(rows)), batch_size, rng=rng, **{"shuffle": True, **options})

    loader = made()
    before = loader.state_dict()
    loop = iter(made())
    for other, message in [
        (made(rows=7), "rows 7, this one has 6"),
        (made(batch_size=3), "batch_size 3"),
        (made(shuffle=False), "shuffle False"),
        (made(drop_last=True), "drop_last True"),
        (made(rng=np.random.Generator(np.random.MT19937(0))), "PCG64 generator is needed, got one of MT19937"),
    ]:
        next(iter(other))
        with pytest.raises(ValueError, match=message):
            loader.load_state_dict(other.state_dict())
    for wrong in (
        {},
        None,
        {**before, "position": 1},
        {**before, "position": 4, "generator_at_start": before["generator"]},
        {**before, "generator": {}},
        {**before, "generator": 3},
        {**before, "generator": {**before["generator"], "state": {"state": -1, "inc": 0}}},
        {**before, "epoch": -1},
    ):
        with pytest.raises(ValueError, match=r"state|epoch"):
            loader.load_state_dict(wrong)
    with pytest.raises(TypeError, match="position"):
        loader.load_state_dict({**before, "position": 1.0})
    assert loader.state_dict() == before
    assert len(list(loop)) == 3


def test_batches_share_no_memory() -> None:
    x = np.arange(6.0)
    for data in (ArrayDataset(x), Subset(ArrayDataset(x), range(6)), x):
        for batch in DataLoader(data, 6):
            part = batch if isinstance(batch, np.ndarray) else batch[0]
            part += 1
    np.testing.assert_array_equal(x, np.arange(6.0))


def test_structures_of_rows() -> None:
    def first(rows: Any, **options: Any) -> Any:
        return next(iter(DataLoader(rows, 2, **options)))

    assert first([{"a": 1, "b": [1.5, 2.5]}, {"b": [3.5, 4.5], "a": 2}])["b"].shape == (2, 2)
    np.testing.assert_array_equal(first([3, 5]), [3, 5])
    assert first([["ab", 1], ["c", 2]])[0].tolist() == ["ab", "c"]
    np.testing.assert_array_equal(first(np.ones((4, 3), np.float16)), np.ones((2, 3), np.float16))
    assert first([[1], [2, 3]], collate_fn=lambda rows: [len(row) for row in rows]) == [1, 2]
    for rows, kind, message in [
        ([{"a": 1}, {"b": 1}], TypeError, "columns 'a' of row 0"),
        ([(1, 2), (1, 2, 3)], TypeError, "row 1 of a batch has not the 2 parts"),
        ([(1, 2), 3], TypeError, "row 1"),
        ([np.ones(2), np.ones(3)], ShapeError, r"row 1 of a batch has shape \(3,\)"),
        ([(np.ones((5, 2))), np.ones(5)], ShapeError, "ArrayDataset"),
        ([1, 2.5], TypeError, "row 1 of a batch has dtype float64"),
        ([1, None], TypeError, "row 1 of a batch is no array of numbers in the data: None"),
        ([{"a": [1, [2]]}, {"a": 1}], ShapeError, "column 'a'"),
    ]:
        with pytest.raises(kind, match=message):
            first(rows)


def test_transforms_and_dtypes() -> None:
    data = ArrayDataset(np.arange(4, dtype=np.uint8), np.arange(4.0), np.arange(4))

    def first(**options: Any) -> Any:
        return next(iter(DataLoader(data, 4, **options)))

    assert [part.dtype for part in first()] == [np.uint8, np.float64, np.int64]
    halves = first(transform=(lambda x: x / 2, None, None), astype=np.float32)
    assert [part.dtype for part in halves] == [np.float32, np.float32, np.int64]
    np.testing.assert_array_equal(halves[0], [0, 0.5, 1, 1.5])
    x, y = first(transform=lambda batch: (batch[0] + 1, batch[2]))
    np.testing.assert_array_equal(x - 1, y)
    rows = [{"a": 1.0, "b": 1}] * 2
    batch = next(iter(DataLoader(rows, 2, transform={"a": lambda a: a + 1}, astype=np.float16)))
    assert (batch["a"].dtype, batch["b"].dtype, batch["a"].tolist()) == (np.float16, np.int64, [2, 2])
    with pytest.raises(ValueError, match=r"2 transforms are given.* 3 arrays"):
        first(transform=(None, None))
    with pytest.raises(ValueError, match="a dict"):
        next(iter(DataLoader(rows, 2, transform=(None,))))
    with pytest.raises(KeyError, match=r"'c'.*'a', 'b'"):
        next(iter(DataLoader(rows, 2, transform={"c": abs})))
    with pytest.raises(TypeError, match="astype"):
        DataLoader(data, astype=np.int32)


def test_arguments_are_checked() -> None:
    data = ArrayDataset(np.arange(3))
    for options, kind in [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 2.0}, TypeError),
        ({"batch_size": True}, TypeError),
        ({"prefetch": -1}, ValueError),
        ({"rng": np.random}, TypeError),
    ]:
        with pytest.raises(kind, match=next(iter(options))):
            DataLoader(data, **options)
    with pytest.raises(TypeError, match="__len__"):
        DataLoader(iter([1]))
    assert repr(DataLoader(data, 2, shuffle=True)) == "DataLoader(ArrayDataset((3,) int64), batch_size=2, shuffle=True)"


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_errors_come_at_their_place_and_end_the_thread(prefetch: int) -> None:
    loader = DataLoader(Rows(10, fails_at=5), 2, prefetch=prefetch)
    seen = []
    with pytest.raises(OSError, match="row 5"):
        seen.extend(x.tolist() for x, _ in loader)
    assert seen == [[0, 1], [2, 3]]
    wait_until(lambda: threads() == 0)


def test_the_thread_is_ahead_by_so_many_batches_and_ends_when_the_loop_is_left() -> None:
    data = Rows(100)
    loop = iter(DataLoader(data, 1, prefetch=3))
    assert threads() == 0
    next(loop)
    wait_until(lambda: data.read == 5)  # one was used, three wait, one waits for room
    time.sleep(0.02)
    assert data.read == 5
    assert threads() == 1
    loop.close()
    assert threads() == 0
    for _ in DataLoader(data, 1, prefetch=2):
        break
    wait_until(lambda: threads() == 0)
    list(DataLoader(data, 7, prefetch=2))
    wait_until(lambda: threads() == 0)


def test_the_thread_has_the_context_of_the_loop() -> None:
    loader = DataLoader(ArrayDataset(np.zeros(2)), 2, prefetch=1, transform=(lambda x: 1 / x,))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(loader)
    with np.errstate(divide="ignore"):
        assert np.isinf(next(iter(loader))[0]).all()


def test_nothing_hangs_at_exit() -> None:
    code = (
        "import numpy as np, time\n"
        "from einsumad.data import DataLoader, ArrayDataset\n"
        "loop = iter(DataLoader(ArrayDataset(np.arange(99)), prefetch=2))\n"
        "print(next(loop))\n"
        "class Slow(list):\n"
        "    def __getitem__(self, index):\n"
        "        time.sleep(index * 60)\n"
        "        return 1\n"
        "slow = iter(DataLoader(Slow([1, 2]), prefetch=1))\n"
        "next(slow)\n"
        "raise SystemExit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (3, b"")
