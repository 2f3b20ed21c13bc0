"""Neural networks as thin wrappers.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn import functional
from einsumad.nn import initialisation as init
from einsumad.nn.context import no_grad
from einsumad.nn.layers.activations import ReLU, Tanh
from einsumad.nn.layers.containers import ModuleList, Sequential
from einsumad.nn.layers.convolution import Conv1d, Conv2d, ConvTranspose2d
from einsumad.nn.layers.linear import Linear
from einsumad.nn.layers.pooling import AvgPool1d, AvgPool2d, Flatten, MaxPool1d, MaxPool2d
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.random import manual_seed

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "Buffer",
    "Conv1d",
    "Conv2d",
    "ConvTranspose2d",
    "Flatten",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "Parameter",
    "ReLU",
    "Sequential",
    "Tanh",
    "functional",
    "init",
    "manual_seed",
    "no_grad",
]
