"""Several threads at once: the same results as one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextvars import copy_context
from functools import partial

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend import cache

THREADS = 8


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(tasks):
    """The results of the tasks, all started at the same moment in threads of their own with the options of this one."""
    tasks = [partial(copy_context().run, task) for task in tasks]
    barrier = threading.Barrier(len(tasks))
    results, errors = [None] * len(tasks), []

    def work(position):
        barrier.wait()
        try:
            results[position] = tasks[position]()
        except BaseException as error:  # noqa: BLE001 (whatever a thread raises is raised by the test)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def task(size, power):
    a = np.random.default_rng(size).normal(size=(size, size))
    x = np.random.default_rng(power).normal(size=size)

    def f(x):
        return np.sum(np.tanh(a @ x) ** power) + np.sum(np.exp(np.sin(x)))

    return lambda: ea.hessian(f)(x)


def test_different_hessians_at_once():
    tasks = [task(size, power) for size in (2, 3, 4, 5) for power in (2, 3)]
    cache.clear()
    found = at_once(tasks)
    for compute, result in zip(tasks, found, strict=True):
        np.testing.assert_array_equal(result, compute())


def test_the_same_hessian_at_once():
    for _ in range(5):
        cache.clear()
        compute = task(4, 3)
        for result in at_once([compute] * THREADS):
            np.testing.assert_array_equal(result, compute())


def test_one_compiled_function_from_several_threads():
    a = np.random.default_rng(0).normal(size=(30, 5))
    compiled = ea.compile(ea.hessian(lambda x: np.sum(np.exp(np.tanh(a @ x)))))
    points = [np.random.default_rng(k).normal(size=5) for k in range(THREADS)]

    def often(x):
        return lambda: [compiled(x) for _ in range(50)]

    found = at_once([often(x) for x in points])
    for x, results in zip(points, found, strict=True):
        expected = compiled(x)
        for result in results:
            np.testing.assert_array_equal(result, expected)


def test_eager_gradients_in_threads_do_not_mix():
    def train(seed):
        def compute():
            w = ea.tensor(np.random.default_rng(seed).normal(size=4), requires_grad=True)
            for _ in range(20):
                np.sum(np.exp(0.1 * w) * seed).backward()
            return w.numpy(), w.grad

        return compute

    for seed, (w, gradient) in enumerate(at_once([train(seed) for seed in range(THREADS)])):
        np.testing.assert_allclose(gradient, 20 * seed * 0.1 * np.exp(0.1 * w), rtol=1e-12)


def test_nested_transforms_in_threads():
    def compute_at(x):
        return lambda: ea.grad(lambda x: x * ea.grad(lambda y: x * y**3)(x))(x)

    points = [0.5 + k for k in range(THREADS)]
    for x, found in zip(points, at_once([compute_at(x) for x in points]), strict=True):
        np.testing.assert_allclose(found, 12 * x**3, rtol=1e-13)


def test_symbols_of_one_name_are_one_variable_in_all_threads():
    def build():
        x = ea.variable("x", (3,))
        return ea.diff(np.sum(np.exp(x) * np.sin(x)), x, x).node

    nodes = at_once([build] * THREADS)
    assert all(node is nodes[0] for node in nodes)


FORKING = """
import os, signal, sys, threading, time
import numpy as np, einsumad as ea
from einsumad import locks
from einsumad.frontend import cache

def hessian():
    return ea.hessian(lambda x: np.sum(np.tanh(np.outer(x, x) @ x) ** 2))(np.array([0.3, -0.2, 0.5]))

def forked():
    process = os.fork()
    if process == 0:
        signal.alarm(30)
        cache.clear()
        os._exit(not np.array_equal(hessian(), expected))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

def holding(one, other):
    with one:
        taken.set()
        time.sleep(0.01)
        with other:
            time.sleep(0.01)

expected = hessian()
assert len(locks._locks) > 5
for one in locks._locks:
    taken = threading.Event()
    thread = threading.Thread(target=holding, args=(one, locks._locks[0]))
    thread.start()
    taken.wait()
    assert forked() == 0
    thread.join()

ended = []

def busy():
    while not ended:
        cache.clear()
        hessian()

def forks():
    codes.extend([forked() for _ in range(5)])

codes = []
threads = [threading.Thread(target=work) for work in (busy, busy, forks, forks)]
for thread in threads:
    thread.start()
for thread in threads[2:]:
    thread.join()
ended.append(True)
assert codes == [0] * 10
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_processes_that_are_forked_while_threads_work():
    """Nothing that a thread of the old process holds stops the new one, and nobody waits for another in a circle."""
    command = [sys.executable, "-W", "ignore:.*use of fork:DeprecationWarning", "-c", FORKING]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "done\n", done.stderr[-2000:]
