"""Neural networks as thin wrappers: layers, losses and training on the public names of the library.

Owns nothing but the names. Imports the modules of this folder. Invariant: a layer is a NumPy function of its inputs and
parameters; it has no derivative of its own.
"""

from einsumad.nn import functional
from einsumad.nn import initialisation as init
from einsumad.nn.context import no_grad
from einsumad.nn.layers.activations import ReLU, Tanh
from einsumad.nn.layers.attention import MultiHeadAttention, MultiheadAttention
from einsumad.nn.layers.containers import ModuleList, Sequential
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.layers.linear import Linear
from einsumad.nn.layers.normalisation import LayerNorm
from einsumad.nn.layers.recurrent import GRU, LSTM, RNN
from einsumad.nn.layers.transformer import TransformerEncoderLayer
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.random import manual_seed
from einsumad.nn.saving import Saved, load, save
from einsumad.nn.training import (
    Checkpoint,
    EarlyStopping,
    History,
    TrainingStep,
    accuracy,
    evaluate,
    fit,
    predict,
)

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Buffer",
    "Checkpoint",
    "Dropout",
    "EarlyStopping",
    "History",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "MultiHeadAttention",
    "MultiheadAttention",
    "Parameter",
    "ReLU",
    "Saved",
    "Sequential",
    "Tanh",
    "TrainingStep",
    "TransformerEncoderLayer",
    "accuracy",
    "evaluate",
    "fit",
    "functional",
    "init",
    "load",
    "manual_seed",
    "no_grad",
    "predict",
    "save",
]
