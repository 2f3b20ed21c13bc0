"""A transformer that learns to write, character by character, from texts that come with Python.

It reads the Zen of Python, Python's licence and the texts of ``help()``, as far as they are installed, and says for
each character of a piece how likely each next one is. The model is an embedding, positions that are learned, a layer
of a transformer (Vaswani et al., 2017) in which no character sees a later one, and a linear map. A step, with the loss,
all gradients, their clipping and AdamW, is one compiled plan, made when the first step is taken. The last tenth of the
text is held out.

``python examples/character_transformer.py --seconds 60`` trains it for a minute and lets it write.
"""

import argparse
import codecs
import io
import sysconfig
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from einsumad import nn, optim

CONTEXT, WIDTH, HEADS, LAYERS = 64, 64, 4, 1
SMALL = 0.1
BATCH, RATE, WARM_UP, DECAY, CLIP = 16, 6e-3, 0.05, 0.01, 1.0
REPORTS = 10


def python_text():
    """The Zen of Python, and after it the licence and the topics of ``help()`` where they are installed."""
    with redirect_stdout(io.StringIO()):  # it prints itself when it is imported
        parts = [codecs.decode(import_module("this").s, "rot13")]
    licence = Path(sysconfig.get_path("stdlib"), "LICENSE.txt")
    if licence.exists():
        parts.append(licence.read_text(encoding="utf-8"))
    try:
        parts += import_module("pydoc_data.topics").topics.values()
    except ImportError:
        print("the texts of help() are not installed: there is little to learn from")
    return "\n\n".join(parts)


class Alphabet:
    """The characters of a text, and their numbers."""

    def __init__(self, text):
        self.characters = np.array(sorted(set(text)))

    def __len__(self):
        return len(self.characters)

    def numbers(self, text):
        return np.searchsorted(self.characters, np.array(list(text)))

    def text(self, numbers):
        return "".join(self.characters[numbers])


class CharacterTransformer(nn.Module):
    """Scores ``(batch, characters, length)`` of what comes next, for whole numbers ``(batch, length)``."""

    def __init__(self, characters, context=CONTEXT, width=WIDTH, heads=HEADS, layers=LAYERS, *, rng=None):
        rng = np.random.default_rng(rng)
        self.context = context
        self.embedding = nn.Embedding(characters, width, rng=rng)
        self.embedding.weight.data = SMALL * self.embedding.weight.data
        self.positions = nn.Parameter(rng.normal(0, SMALL, (context, width)).astype(np.float32))
        self.layers = nn.ModuleList(
            [
                nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True, norm_first=True, rng=rng)
                for _ in range(layers)
            ]
        )
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, characters, rng=rng)

    def forward(self, x):
        h = self.embedding(x) + self.positions[: x.shape[1]]
        for layer in self.layers:
            h = layer(h, is_causal=True)
        return np.swapaxes(self.output(self.norm(h)), 1, 2)


def pieces(numbers, starts, context):
    """Pieces of the text from these places on, and the same one character later."""
    rows = starts[:, None] + np.arange(context + 1)
    found = numbers[rows]
    return found[:, :-1], found[:, 1:]


def rate_at(share):
    """The learning rate when a share of the time is over: a short rise, and then half a cosine down to a twentieth."""
    rest = max(0.0, share - WARM_UP) / (1 - WARM_UP)
    return RATE * min(1.0, 0.05 + share / WARM_UP) * (0.05 + 0.95 * (1 + np.cos(np.pi * rest)) / 2)


def shares_of(seconds) -> Iterator[float]:
    """How much of the time is over, again and again until it all is; it begins when the first step is done."""
    yield 0.0
    began = perf_counter()
    while (spent := perf_counter() - began) < seconds:
        yield spent / seconds


def train(net, learned, held_out, shares, *, batch=BATCH, seed=0):
    """Step after step, for as many shares of the time as are given; the losses, and those of reports with seconds."""
    rng, began = np.random.default_rng(seed), perf_counter()
    optimizer = optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    loss = nn.CrossEntropyLoss()
    step = nn.TrainingStep(net, loss, optimizer, CLIP)
    watched = pieces(held_out, np.linspace(0, len(held_out) - net.context - 1, 8 * batch, dtype=int), net.context)
    batches = [tuple(part[at : at + batch] for part in watched) for at in range(0, 8 * batch, batch)]
    losses, reports = [], []

    def report():
        step.store()
        found = nn.evaluate(net, loss, batches)["loss"]
        since = reports[-1][0] if reports else 0
        reports.append((len(losses), np.mean(losses[since:]), found, perf_counter() - began))
        print(f"{len(losses):6}{reports[-1][1]:10.3f}{found:10.3f}{reports[-1][3]:9.1f}", flush=True)

    print("  step      loss  held out  seconds")
    for share in shares:
        optimizer.param_groups[0]["lr"] = rate_at(share)
        starts = rng.integers(0, len(learned) - net.context, batch)
        losses.append(float(step(*pieces(learned, starts, net.context))[0]))
        if share >= len(reports) / REPORTS:
            report()
    if reports[-1][0] < len(losses):
        report()
    return losses, reports


def written(net, alphabet, beginning, count, *, rng, sharpness=1.4):
    """The beginning and so many more characters, each drawn by its probability to the power of the sharpness."""
    numbers = list(alphabet.numbers(beginning))
    with nn.no_grad():
        for _ in range(count):
            scores = net(np.array([numbers[-net.context :]]))[0, :, -1]
            chances = nn.functional.softmax(sharpness * scores.astype(np.float64))
            numbers.append(rng.choice(len(alphabet), p=chances / chances.sum()))
    return alphabet.text(numbers)


def main(seconds=60.0):
    text = python_text()
    alphabet = Alphabet(text)
    numbers = alphabet.numbers(text)
    cut = len(numbers) * 9 // 10
    net = CharacterTransformer(len(alphabet), rng=0)
    size = sum(parameter.data.size for parameter in net.parameters())
    print(f"{len(text):,} characters, {len(alphabet)} different; {size:,} parameters")
    print(f"a guess among equals has the loss {np.log(len(alphabet)):.3f}\n")
    losses, reports = train(net, numbers[:cut], numbers[cut:], shares_of(seconds))
    each = 1e3 * (reports[-1][3] - reports[0][3]) / max(1, len(losses) - 1)
    print(f"\nfirst step and first look at what is held out {reports[0][3]:.1f} s, then {each:.0f} ms a step\n")
    print(written(net, alphabet, "The ", 400, rng=np.random.default_rng(0)))
    return losses, reports


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it learns (default: 60)")
    main(parser.parse_args().seconds)
