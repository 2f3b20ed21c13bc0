"""A two-layer network on scikit-learn's handwritten digits, trained eagerly with a few lines of plain NumPy.

There is no module, layer or optimiser here: the network and the loss are NumPy functions, ``loss.backward()``
leaves gradients on the parameters, and the update is written out. The cross-entropy is the textbook formula,
which overflows as it stands; what is computed is its stable form. Every step builds the same expression, so
what was derived and planned in the first step is found again in all others.
"""

from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import einsumad as ea

HIDDEN, CLASSES = 64, 10
EPOCHS, BATCH, RATE, MOMENTUM = 20, 32, 0.05, 0.9


def load_data():
    """Pixels scaled to [0, 1] in single precision, and digits; a quarter of them held out."""
    pixels, digits = load_digits(return_X_y=True)
    pixels = (pixels / 16).astype(np.float32)
    return train_test_split(pixels, digits, test_size=0.25, random_state=0, stratify=digits)


def network(parameters, x):
    """The scores of each class. It takes traced parameters and plain arrays alike."""
    weights_1, bias_1, weights_2, bias_2 = parameters
    return np.maximum(x @ weights_1 + bias_1, 0) @ weights_2 + bias_2


def cross_entropy(scores, one_hot):
    """Minus the mean logarithm of the probability of the right class."""
    probabilities = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
    return -np.mean(np.sum(one_hot * np.log(probabilities), axis=1))


def initial_parameters(rng, inputs):
    """Normal weights scaled for rectified units (He et al., 2015), no bias."""
    arrays = [
        rng.normal(0, np.sqrt(2 / inputs), (inputs, HIDDEN)),
        np.zeros(HIDDEN),
        rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, CLASSES)),
        np.zeros(CLASSES),
    ]
    return [ea.tensor(array.astype(np.float32), requires_grad=True) for array in arrays]


def batches(rng, count):
    """Positions in random order, a batch at a time; the rest is dropped, so that all shapes agree."""
    order = rng.permutation(count)
    return [order[start : start + BATCH] for start in range(0, count - BATCH + 1, BATCH)]


def descend(parameters, velocities):
    """One step of gradient descent with momentum: new velocities, and new tensors moved along them."""
    pairs = list(zip(parameters, velocities, strict=True))
    velocities = [MOMENTUM * velocity - RATE * parameter.grad for parameter, velocity in pairs]
    moved = [parameter.numpy() + velocity for (parameter, _), velocity in zip(pairs, velocities, strict=True)]
    return [ea.tensor(array, requires_grad=True) for array in moved], velocities


def accuracy(parameters, x, digits):
    """The share of digits that get the highest score, computed with plain arrays."""
    scores = network([parameter.numpy() for parameter in parameters], x)
    return np.mean(np.argmax(scores, axis=1) == digits)


def train(x, digits, epochs=EPOCHS, seed=0):
    """The parameters after that many epochs, and how much was derived and planned after the first step."""
    rng = np.random.default_rng(seed)
    one_hot = np.eye(CLASSES, dtype=np.float32)[digits]
    parameters = initial_parameters(rng, x.shape[1])
    velocities = [np.zeros(parameter.shape, np.float32) for parameter in parameters]
    after_first_step = None
    for epoch in range(epochs):
        total = 0.0
        rows_of = batches(rng, len(x))
        for rows in rows_of:
            loss = cross_entropy(network(parameters, x[rows]), one_hot[rows])
            loss.backward()
            total += loss.numpy()
            parameters, velocities = descend(parameters, velocities)
            after_first_step = after_first_step or ea.statistics()
        print(f"epoch {epoch + 1:2}  loss {total / len(rows_of):.4f}")
    now = ea.statistics()
    return parameters, (now.derived - after_first_step.derived, now.planned - after_first_step.planned)


def main():
    x_train, x_test, digits_train, digits_test = load_data()
    start = perf_counter()
    parameters, (derived, planned) = train(x_train, digits_train)
    seconds = perf_counter() - start
    print(f"\naccuracy on {len(x_test)} held-out digits: {accuracy(parameters, x_test, digits_test):.1%}")
    print(f"training time: {seconds:.1f} s, dtype {parameters[0].dtype}")
    print(f"after the first step: {derived} derived, {planned} planned")


if __name__ == "__main__":
    main()
