"""What is told of a call that runs in parts, and that nothing is unless it was asked for."""

import sys
import threading

import numpy as np
import pytest

import einsumad as ea

N = 3000
X = np.random.default_rng(0).normal(size=(N, 3))
W = np.array([0.1, -0.2, 0.3])


def loss(w):
    return np.sum(np.exp(X @ w))


limited = ea.grad(loss, memory_limit=15_000)


def test_a_callback_is_told_after_each_part():
    told = []
    with ea.progress(lambda *numbers: told.append(numbers)):
        found = limited(W)
    np.testing.assert_allclose(found, X.T @ np.exp(X @ W), rtol=1e-12)
    plan = ea.explain(limited, W).plan
    assert told == [(min(k * plan.length, N), N) for k in range(plan.count + 1)]
    assert len(told) > 2


def test_each_sweep_counts():
    told = []
    transform = ea.grad(lambda w: np.sum(np.tanh(X @ w - np.mean(X @ w)) ** 2), memory_limit=20_000)
    with ea.progress(lambda *numbers: told.append(numbers)):
        transform(W)
    sweeps = len(ea.explain(transform, W).plan.sweeps)
    assert sweeps > 1
    assert told[0] == (0, sweeps * N)
    assert told[-1] == (sweeps * N, sweeps * N)


def test_whole_plans_tell_nothing():
    told = []
    with ea.progress(lambda *numbers: told.append(numbers)):
        ea.grad(loss)(W)
    assert told == []


def test_nothing_is_told_or_printed_outside(capsys):
    told = []
    with ea.progress(lambda *numbers: told.append(numbers)):
        pass
    limited(W)
    assert told == []
    assert capsys.readouterr() == ("", "")


def test_an_exception_ends_the_call():
    class Enough(Exception):  # noqa: N818
        pass

    def stop(done, total):
        if done > total / 2:
            raise Enough

    with ea.progress(stop), pytest.raises(Enough):
        limited(W)
    np.testing.assert_allclose(limited(W), X.T @ np.exp(X @ W), rtol=1e-12)


def test_inner_contexts_and_other_threads():
    outer, inner = [], []
    with ea.progress(lambda *numbers: outer.append(numbers)):
        with ea.progress(lambda *numbers: inner.append(numbers)):
            limited(W)
        assert outer == []
        thread = threading.Thread(target=limited, args=(W,))
        thread.start()
        thread.join()
        assert outer == []
        limited(W)
    assert outer == inner


def test_a_bar(capsys):
    pytest.importorskip("tqdm")
    with ea.progress():
        limited(W)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "100%" in shown.err


def test_without_tqdm_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"einsumad\[progress\]"), ea.progress():
        pass
    with ea.progress(max):
        limited(W)


@pytest.mark.parametrize("callback", [3, "bar", True])
def test_what_cannot_be_called_is_refused(callback):
    with pytest.raises(TypeError, match="progress takes a function"), ea.progress(callback):
        pass
