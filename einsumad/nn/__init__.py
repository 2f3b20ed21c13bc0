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
<<<<<<< HEAD
=======
from einsumad.nn.saving import Saved, load, save
>>>>>>> h_data

__all__ = [
    "Buffer",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "ReLU",
<<<<<<< HEAD
=======
    "Saved",
>>>>>>> h_data
    "Sequential",
    "Tanh",
    "functional",
    "init",
<<<<<<< HEAD
    "manual_seed",
    "no_grad",
=======
    "load",
    "manual_seed",
    "no_grad",
    "save",
>>>>>>> h_data
]
