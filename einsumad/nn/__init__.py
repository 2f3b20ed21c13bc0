"""Neural networks as thin wrappers: layers, losses and training on the public names of the library.

Owns nothing but the names. Imports the modules of this folder, but for the estimators of scikit-learn, which are loaded
when they are asked for. Invariant: a layer is a NumPy function of its inputs and
parameters; it has no derivative of its own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from einsumad.nn import functional, init, utils
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
from einsumad.nn.layers.attention import MultiHeadAttention, MultiheadAttention
from einsumad.nn.layers.containers import ModuleDict, ModuleList, Sequential
from einsumad.nn.layers.convolution import Conv1d, Conv2d, ConvTranspose2d
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
from einsumad.nn.layers.parameters import ParameterDict, ParameterList
from einsumad.nn.layers.pooling import AvgPool1d, AvgPool2d, Flatten, MaxPool1d, MaxPool2d, Unflatten
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
    SecondOrderStep,
    TrainingStep,
    accuracy,
    evaluate,
    fit,
    objective,
    predict,
)

if TYPE_CHECKING:
    from einsumad.nn import estimators as estimators
    from einsumad.nn.estimators import EinsumClassifier as EinsumClassifier
    from einsumad.nn.estimators import EinsumRegressor as EinsumRegressor

__all__ = [
    "ELU",
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Buffer",
    "Checkpoint",
    "Conv1d",
    "Conv2d",
    "ConvTranspose2d",
    "CrossEntropyLoss",
    "Dropout",
    "EarlyStopping",
    "Embedding",
    "Flatten",
    "History",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "ReLU",
    "Saved",
    "SecondOrderStep",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "TrainingStep",
    "TransformerEncoderLayer",
    "Unflatten",
    "accuracy",
    "evaluate",
    "fit",
    "functional",
    "init",
    "l1_penalty",
    "l2_penalty",
    "load",
    "manual_seed",
    "no_grad",
    "objective",
    "predict",
    "save",
    "utils",
]


def __getattr__(name: str) -> Any:
    """The estimators, which scikit-learn is loaded for, when they are first asked for."""
    if name == "estimators":
        return import_module("einsumad.nn.estimators")
    if name in ("EinsumClassifier", "EinsumRegressor"):
        return getattr(import_module("einsumad.nn.estimators"), name)
    raise AttributeError(f"module 'einsumad.nn' has no attribute {name!r}")
