"""The optimisers by name, with the arguments, defaults and order of PyTorch's.

Owns their hyperparameters, and the numbers of a step. Imports the updates, the groups and the optimiser. Invariant:
numbers are computed in double precision from hyperparameters and the count of the step alone.
"""

# ruff: noqa: PLR0917 (the arguments are PyTorch's)

from __future__ import annotations

from collections.abc import Container
from functools import partial
from typing import Any

from einsumad.optim import updates
from einsumad.optim.first_order.groups import at_least_zero, flag, share, two_shares
from einsumad.optim.first_order.method import Group, Method
from einsumad.optim.first_order.optimizer import Optimizer


def _common(group: Group) -> dict[str, bool]:
    return {"weight_decay": group["weight_decay"] != 0, "maximize": group["maximize"]}


def _check_sgd(group: Group) -> None:
    if group["nesterov"] and (group["momentum"] == 0 or group["dampening"] != 0):
        raise ValueError("nesterov=True needs a momentum above 0, and a dampening of 0")


def _sgd_flags(group: Group) -> dict[str, bool]:
    momentum = group["momentum"] != 0
    return {
        **_common(group),
        "momentum": momentum,
        "dampening": momentum and group["dampening"] != 0,
        "nesterov": momentum and group["nesterov"],
    }


def _sgd_state(group: Group) -> dict[str, float]:
    return {"momentum_buffer": 0.0} if group["momentum"] != 0 else {}


def _sgd_numbers(group: Group, step: int, started: Container[str]) -> dict[str, float]:  # noqa: ARG001 (of a method)
    undamped = 1 - group["dampening"] if "momentum_buffer" in started else 1.0
    return _used(group, "lr", "weight_decay", "momentum") | {"undamped": undamped}


def _rmsprop_flags(group: Group) -> dict[str, bool]:
    momentum, long = group["momentum"] != 0, group["alpha"] > 0.5
    return {**_common(group), "momentum": momentum, "centered": group["centered"], "long": long}


def _rmsprop_state(group: Group) -> dict[str, float]:
    names = ["square_avg"] + ["grad_avg"] * group["centered"] + ["momentum_buffer"] * (group["momentum"] != 0)
    return dict.fromkeys(names, 0.0)


def _rmsprop_numbers(group: Group, step: int, started: Container[str]) -> dict[str, float]:  # noqa: ARG001 (of a method)
    return _used(group, "lr", "weight_decay", "momentum", "alpha", "eps") | {"taken": 1 - group["alpha"]}


def _adagrad_state(group: Group) -> dict[str, float]:
    return {"sum": group["initial_accumulator_value"]}


def _adagrad_numbers(group: Group, step: int, started: Container[str]) -> dict[str, float]:  # noqa: ARG001 (of a method)
    rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
    return _used(group, "weight_decay", "eps") | {"lr": rate}


def _adam_flags(group: Group, *, decoupled: bool) -> dict[str, bool]:
    return {**_common(group), "amsgrad": group["amsgrad"], "long": group["betas"][0] > 0.5, "decoupled": decoupled}


def _adam_state(group: Group) -> dict[str, float]:
    return dict.fromkeys(["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * group["amsgrad"], 0.0)


def _adam_numbers(group: Group, step: int, started: Container[str]) -> dict[str, float]:  # noqa: ARG001 (of a method)
    beta1, beta2 = group["betas"]
    root = (1 - beta2**step) ** 0.5
    return _used(group, "weight_decay") | {
        "beta1": beta1,
        "taken1": 1 - beta1,
        "beta2": beta2,
        "taken2": 1 - beta2,
        "size": group["lr"] * root / (1 - beta1**step),
        "eps": group["eps"] * root,
    }


def _adamw_numbers(group: Group, step: int, started: Container[str]) -> dict[str, float]:
    return _adam_numbers(group, step, started) | {"shrunk": 1 - group["lr"] * group["weight_decay"]}


def _used(group: Group, *names: str) -> dict[str, float]:
    return {name: group[name] for name in names}


_EVERYWHERE = {"weight_decay": at_least_zero, "maximize": flag}

_SGD = Method(
    "SGD",
    {
        "lr": at_least_zero,
        "momentum": at_least_zero,
        "dampening": at_least_zero,
        "nesterov": flag,
        **_EVERYWHERE,
    },
    update=updates.sgd,
    flags=_sgd_flags,
    arrays=("momentum_buffer",),
    state=_sgd_state,
    numbers=_sgd_numbers,
    check=_check_sgd,
)
_RMSPROP = Method(
    "RMSprop",
    {
        "lr": at_least_zero,
        "alpha": share,
        "eps": at_least_zero,
        "momentum": at_least_zero,
        "centered": flag,
        **_EVERYWHERE,
    },
    update=updates.rmsprop,
    flags=_rmsprop_flags,
    arrays=("square_avg", "grad_avg", "momentum_buffer"),
    state=_rmsprop_state,
    numbers=_rmsprop_numbers,
)
_ADAGRAD = Method(
    "Adagrad",
    {
        "lr": at_least_zero,
        "lr_decay": at_least_zero,
        "initial_accumulator_value": at_least_zero,
        "eps": at_least_zero,
        **_EVERYWHERE,
    },
    update=updates.adagrad,
    flags=_common,
    arrays=("sum",),
    state=_adagrad_state,
    numbers=_adagrad_numbers,
)
_ADAM_ARRAYS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
_ADAM_HYPERPARAMETERS = {
    "lr": at_least_zero,
    "betas": two_shares,
    "eps": at_least_zero,
    "amsgrad": flag,
    **_EVERYWHERE,
}
_ADAM = Method(
    "Adam",
    _ADAM_HYPERPARAMETERS,
    update=updates.adam,
    flags=partial(_adam_flags, decoupled=False),
    arrays=_ADAM_ARRAYS,
    state=_adam_state,
    numbers=_adam_numbers,
)
_ADAMW = Method(
    "AdamW",
    _ADAM_HYPERPARAMETERS,
    update=updates.adam,
    flags=partial(_adam_flags, decoupled=True),
    arrays=_ADAM_ARRAYS,
    state=_adam_state,
    numbers=_adamw_numbers,
)


class SGD(Optimizer):
    """Gradient descent: ``p ← p - lr b`` with ``b ← momentum b + (1 - dampening) g``, and b = g in the first step.

    With `nesterov` g + momentum b takes the place of b. `weight_decay` adds its multiple of p to g, `maximize` turns g
    around. The formula is that of :func:`einsumad.optim.updates.sgd`.

    Raises :class:`ValueError` for hyperparameters out of range, :class:`TypeError` for what is none.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.array([4.0, -2.0]))
    >>> optimizer = optim.SGD([p], lr=0.25)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     np.sum(p**2).backward()
    ...     optimizer.step()
    >>> p.data
    array([ 0.5 , -0.25])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, _SGD, defaults)


class RMSprop(Optimizer):
    """Steps divided by the root of a moving average of squares, as by :func:`einsumad.optim.updates.rmsprop`.

    Raises :class:`ValueError` for hyperparameters out of range, :class:`TypeError` for what is none.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.array([1.0, 1.0]))
    >>> p.grad = np.array([3.0, -5.0])
    >>> optim.RMSprop([p], lr=0.1, alpha=0.75).step()
    >>> p.data.round(6)
    array([0.8, 1.2])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, _RMSPROP, defaults)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squares, as by :func:`einsumad.optim.updates.adagrad`.

    Raises :class:`ValueError` for hyperparameters out of range, :class:`TypeError` for what is none.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.array([1.0, 1.0]))
    >>> p.grad = np.array([3.0, -5.0])
    >>> optim.Adagrad([p], lr=0.1).step()
    >>> p.data.round(6)
    array([0.9, 1.1])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "maximize": maximize,
        }
        super().__init__(params, _ADAGRAD, defaults)


class Adam(Optimizer):
    """Steps by moving averages of gradients and of their squares, as by :func:`einsumad.optim.updates.adam`.

    `weight_decay` is part of the gradient. Raises :class:`ValueError` for hyperparameters out of range,
    :class:`TypeError` for what is none.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.array([1.0, 1.0], np.float32))
    >>> p.grad = np.array([3.0, -5.0])
    >>> optimizer = optim.Adam([p], lr=0.1)
    >>> optimizer.step()
    >>> p.data
    array([0.9, 1.1], dtype=float32)
    >>> optimizer
    Adam(
      group 0: 1 parameters of shapes (2,)
        lr=0.1, betas=(0.9, 0.999), eps=1e-08, amsgrad=False, weight_decay=0, maximize=False
    )
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, _ADAM, defaults)


class AdamW(Optimizer):
    """Adam with weight decay apart from the gradient: ``p ← (1 - lr weight_decay) p`` before each step.

    Raises :class:`ValueError` for hyperparameters out of range, :class:`TypeError` for what is none.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.array([1.0, 1.0]))
    >>> p.grad = np.array([3.0, -5.0])
    >>> optim.AdamW([p], lr=0.1, weight_decay=0.5).step()
    >>> p.data.round(6)
    array([0.85, 1.05])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, _ADAMW, defaults)
