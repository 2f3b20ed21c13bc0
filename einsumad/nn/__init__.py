"""Neural networks as thin wrappers.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn import functional
from einsumad.nn import initialisation as init
from einsumad.nn.context import no_grad
from einsumad.nn.functional.penalties import l1_penalty, l2_penalty
from einsumad.nn.layers.activations import (
    ELU,
    GELU,
    Identity,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from einsumad.nn.layers.containers import ModuleList, Sequential
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.layers.embedding import Embedding
from einsumad.nn.layers.linear import Linear
from einsumad.nn.layers.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
)
from einsumad.nn.layers.normalisation import BatchNorm1d, BatchNorm2d, LayerNorm, RMSNorm
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.random import manual_seed

__all__ = [
    "ELU",
    "GELU",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Buffer",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "l1_penalty",
    "l2_penalty",
    "manual_seed",
    "no_grad",
]
