"""Layers and losses as plain functions: what modules call.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn.functional.activations import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from einsumad.nn.functional.convolution import conv1d, conv2d, conv_transpose2d
from einsumad.nn.functional.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
)
from einsumad.nn.functional.pooling import avg_pool1d, avg_pool2d, flatten, max_pool1d, max_pool2d

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv_transpose2d",
    "cross_entropy",
    "elu",
    "flatten",
    "gelu",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "log_softmax",
    "max_pool1d",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]
