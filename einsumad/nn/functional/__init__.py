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
from einsumad.nn.functional.attention import scaled_dot_product_attention
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
from einsumad.nn.functional.recurrent import gru_step, lstm_step, rnn_step, unrolled

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "elu",
    "gelu",
    "gru_step",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "log_softmax",
    "lstm_step",
    "mse_loss",
    "nll_loss",
    "relu",
    "rnn_step",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
    "unrolled",
]
