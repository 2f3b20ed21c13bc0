"""Training, prediction and evaluation of modules.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn.training.checkpoints import Checkpoint
from einsumad.nn.training.evaluation import evaluate, predict
from einsumad.nn.training.fitting import fit
from einsumad.nn.training.history import History
from einsumad.nn.training.metrics import accuracy
from einsumad.nn.training.objectives import SecondOrderStep, objective
from einsumad.nn.training.step import TrainingStep
from einsumad.nn.training.stopping import EarlyStopping

__all__ = [
    "Checkpoint",
    "EarlyStopping",
    "History",
    "SecondOrderStep",
    "TrainingStep",
    "accuracy",
    "evaluate",
    "fit",
    "objective",
    "predict",
]
