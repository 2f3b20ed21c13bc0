"""Schedules: how the learning rates of an optimiser change from epoch to epoch, with the names of PyTorch.

Owns nothing but the names. Imports the modules of this folder. Invariant: a schedule changes nothing of an optimiser
but "lr" of its groups, and notes under "initial_lr" what that was at first.
"""

from einsumad.optim.lr_scheduler.curves import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    StepLR,
)
from einsumad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from einsumad.optim.lr_scheduler.schedule import LRScheduler
from einsumad.optim.lr_scheduler.sequence import SequentialLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
