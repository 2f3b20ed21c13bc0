"""The adding problem with an LSTM: a sum that has to be carried through a sequence.

Each element of a sequence is a number between 0 and 1 and a mark. Two elements are marked, one in each half, and what
is wanted at the end is the sum of their numbers (after Hochreiter and Schmidhuber, 1997, section 5.4). Who says 1 to
every sequence has the mean squared error 1/6, which is where training stays for a while: a network is better only once
it keeps a number over many steps. Batches are made anew, so that there is nothing to learn by heart.

The whole step of training, 30 steps of the sequence forth and back, clipping and Adam, is one plan; it is made in the
first call, which takes a few seconds.

``python examples/lstm_sequence.py 30 12`` runs it with sequences of 30 elements for twelve epochs, after which the
error is less than a hundredth of 1/6.
"""

import sys
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from einsumad import nn, optim

BATCH, BATCHES = 32, 100
HIDDEN, RATE, CLIP = 32, 0.01, 1.0
HELD_OUT = 2048
BASELINE = 1 / 6  # the variance of the sum of two uniform numbers
RIGHT = 0.16  # how far off an answer may be: 0.04 in 1997, where the sum was divided by 4


def sequences(rng, count, length):
    """Numbers and marks ``(count, length, 2)``, and the sums of the marked numbers ``(count, 1)``."""
    numbers, marks = rng.uniform(size=(count, length)), np.zeros((count, length))
    rows, half = np.arange(count), length // 2
    marks[rows, rng.integers(0, half, count)] = 1
    marks[rows, rng.integers(half, length, count)] = 1
    sums = np.sum(numbers * marks, axis=1, keepdims=True)
    return np.stack([numbers, marks], axis=-1).astype(np.float32), sums.astype(np.float32)


@dataclass(frozen=True)
class NewSequences:
    """Batches that are made when they are asked for: no sequence is seen twice."""

    rng: np.random.Generator
    length: int
    count: int

    def __iter__(self):
        return (sequences(self.rng, BATCH, self.length) for _ in range(self.count))


class Adder(nn.Module):
    """The last hidden state of an LSTM, and a number made of it."""

    def __init__(self, hidden, rng):
        self.lstm = nn.LSTM(2, hidden, batch_first=True, rng=rng)
        self.output = nn.Linear(hidden, 1, rng=rng)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.output(h[-1])


def share_of_right(outputs, sums):
    return np.mean(np.abs(outputs - sums) < RIGHT)


def train(length, epochs, hidden=HIDDEN, batches=BATCHES, seed=0):
    """The network after that many epochs, and its history."""
    rng = np.random.default_rng(seed)
    held_out = sequences(rng, HELD_OUT, length)
    net = Adder(hidden, rng)
    history = nn.fit(
        net,
        nn.MSELoss(),
        NewSequences(rng, length, batches),
        optim.Adam(net.parameters(), lr=RATE),
        epochs,
        validation=held_out,
        metrics={"right": share_of_right},
        clip_norm=CLIP,
        progress=False,
    )
    return net, history


def main(length=30, epochs=12):
    began = perf_counter()
    net, history = train(length, epochs)
    seconds = perf_counter() - began
    print(f"sequences of {length}; the mean squared error of a constant is {BASELINE:.4f}\n{history}\n")
    print(f"held out: error {history.last['val_loss']:.5f}, {BASELINE / history.last['val_loss']:.0f} times less;")
    print(f"{history.last['val_right']:.1%} of {HELD_OUT} sums within {RIGHT}; {seconds:.1f} s")
    numbers, sums = sequences(np.random.default_rng(1), 3, length)
    with nn.no_grad():
        answers = net(numbers)
    for found, wanted in zip(answers[:, 0], sums[:, 0], strict=True):
        print(f"  {found:.3f} for {wanted:.3f}")
    return history


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:3]])
