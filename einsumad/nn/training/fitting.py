"""Training a model: epochs of compiled steps.

Owns :func:`fit`. Imports the step, evaluation, the history and what may end a run. Invariant: after it, however it ends,
the model and the optimiser hold what the last whole step made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from einsumad.nn.module import Module
from einsumad.nn.training.bars import bar
from einsumad.nn.training.checkpoints import Checkpoint
from einsumad.nn.training.evaluation import Evaluation, Means, measured
from einsumad.nn.training.history import History, Record
from einsumad.nn.training.metrics import Metric, metrics_of
from einsumad.nn.training.step import Optimizer, TrainingStep
from einsumad.nn.training.stopping import EarlyStopping

Batches = Iterable[Sequence[np.ndarray]]
