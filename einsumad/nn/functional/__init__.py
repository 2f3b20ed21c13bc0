"""Layers and losses as plain functions: what modules call.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn.functional.activations import (
    elu,
    gelu,
    identity,
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
from einsumad.nn.functional.class_losses import cross_entropy, nll_loss
from einsumad.nn.functional.convolution import conv1d, conv2d, conv_transpose2d
from einsumad.nn.functional.dropout import dropout
from einsumad.nn.functional.embedding import embedding
from einsumad.nn.functional.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
)
from einsumad.nn.functional.normalisation import batch_norm, layer_norm, rms_norm, running_statistics
from einsumad.nn.functional.penalties import l1_penalty, l2_penalty
from einsumad.nn.functional.pooling import avg_pool1d, avg_pool2d, flatten, max_pool1d, max_pool2d
from einsumad.nn.functional.recurrent import gru_step, lstm_step, rnn_step, unrolled

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv_transpose2d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "flatten",
    "gelu",
    "gru_step",
    "huber_loss",
    "identity",
    "kl_div",
    "l1_loss",
    "l1_penalty",
    "l2_penalty",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "lstm_step",
    "max_pool1d",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "rms_norm",
    "rnn_step",
    "running_statistics",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
    "unrolled",
]
