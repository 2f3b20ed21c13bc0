"""Eager training: after the first step nothing is derived or planned again."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import einsumad as ea


def network(parameters, x):
    hidden = np.maximum(x @ parameters["W1"] + parameters["b1"], 0)
    return hidden @ parameters["W2"] + parameters["b2"]


def cross_entropy(logits, target):
    return np.mean(np.log(np.sum(np.exp(logits), axis=1)) - np.sum(target * logits, axis=1))


def blobs(rng, count, classes=4, dimensions=6):
    """Points around a centre for each class, and the classes as one-hot rows."""
    centres = 3 * rng.normal(size=(classes, dimensions))
    labels = rng.integers(0, classes, count)
    return centres[labels] + rng.normal(size=(count, dimensions)), np.eye(classes)[labels]


def start(rng, sizes=(6, 16, 4)):
    return {
        "W1": rng.normal(size=sizes[:2]) * np.sqrt(2 / sizes[0]),
        "b1": np.zeros(sizes[1]),
        "W2": rng.normal(size=sizes[1:]) * np.sqrt(2 / sizes[1]),
        "b2": np.zeros(sizes[2]),
    }


def test_nothing_is_derived_again_after_the_first_step():
    rng = np.random.default_rng(0)
    x, target = blobs(rng, 512)
    values = start(rng)
    losses, counts = [], []
    for step in range(60):
        batch = slice(64 * (step % 8), 64 * (step % 8 + 1))
        parameters = {name: ea.tensor(value, requires_grad=True) for name, value in values.items()}
        loss = cross_entropy(network(parameters, x[batch]), target[batch])
        loss.backward()
        values = {name: values[name] - 0.1 * parameters[name].grad for name in values}
        losses.append(float(loss.numpy()))
        counts.append(ea.statistics())
    assert counts[-1].derived == counts[0].derived
    assert counts[-1].planned == counts[0].planned
    assert counts[-1].found > counts[0].found
    assert losses[-1] < 0.2 * losses[0]


def test_gradients_are_those_of_the_transform():
    """To rounding: the plan with the loss in it has another form of the softmax than the plan of the gradient alone."""
    rng = np.random.default_rng(1)
    x, target = blobs(rng, 32)
    values = start(rng)
    parameters = {name: ea.tensor(value, requires_grad=True) for name, value in values.items()}
    cross_entropy(network(parameters, x), target).backward()
    expected = ea.grad(lambda p: cross_entropy(network(p, x), target))(values)
    for name, value in expected.items():
        np.testing.assert_allclose(parameters[name].grad, value, rtol=1e-13, atol=1e-16)


def test_another_batch_size_is_derived_once_more():
    rng = np.random.default_rng(2)
    x, target = blobs(rng, 48)
    values = start(rng)

    def step(count):
        parameters = {name: ea.tensor(value, requires_grad=True) for name, value in values.items()}
        cross_entropy(network(parameters, x[:count]), target[:count]).backward()
        return ea.statistics()

    counts = [step(count).derived for count in (40, 40, 24, 24, 40)]
    steps = np.diff(counts)
    assert steps[0] == steps[2] == steps[3] == 0
    assert steps[1] > 0


def test_transforms_derive_once_too():
    rng = np.random.default_rng(3)
    x, target = blobs(rng, 32)
    values = start(rng)
    gradient = ea.value_and_grad(lambda p: cross_entropy(network(p, x), target))
    gradient(values)
    before = ea.statistics()
    for _ in range(10):
        _, found = gradient(values)
        values = {name: values[name] - 0.1 * found[name] for name in values}
    after = ea.statistics()
    assert (after.derived, after.planned) == (before.derived, before.planned)
    assert after.found >= before.found + 10


def test_an_in_place_update_of_a_parameter_is_refused():
    parameter = ea.tensor(np.array([2.0, 3.0]), requires_grad=True)
    np.sum(parameter**2).backward()
    for update in (operator.iadd, operator.isub, operator.imul, operator.itruediv):
        with pytest.raises(ea.TracingError, match=r"ea\.tensor"):
            update(parameter, 0.1)
    total = ea.tensor(np.zeros(2))
    total += parameter
    np.testing.assert_array_equal(total.numpy(), [2.0, 3.0])
