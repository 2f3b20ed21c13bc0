"""Neural networks as thin wrappers.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn import functional
from einsumad.nn import initialisation as init
from einsumad.nn.context import no_grad
from einsumad.nn.layers.activations import ReLU, Tanh
from einsumad.nn.layers.containers import ModuleList, Sequential
from einsumad.nn.layers.linear import Linear
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.random import manual_seed
from einsumad.nn.saving import Saved, load, save

__all__ = [
    "Buffer",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "ReLU",
    "Saved",
    "Sequential",
    "Tanh",
    "functional",
    "init",
    "load",
    "manual_seed",
    "no_grad",
    "save",
]
