"""The parameters of an estimator, checked.

Owns :class:`Settings`. Imports optimisers and random numbers. Invariant: an estimator keeps what it was given as it is,
and all of it is checked here, when it is fitted and before anything changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from einsumad.nn.estimators.losses import Losses, losses_of
from einsumad.nn.estimators.networks import Network, network_of
from einsumad.nn.random import generator_of
from einsumad.optim import SGD, Adagrad, Adam, Optimizer, RMSprop, SecondOrderOptimizer

_SOLVERS: dict[str, Callable[[Any, float], Optimizer]] = {
    "adam": Adam,
    "sgd": lambda parameters, rate: SGD(parameters, rate, momentum=0.9, nesterov=True),
    "rmsprop": RMSprop,
    "adagrad": Adagrad,
}
_LARGEST_BATCH = 200


@dataclass(frozen=True)
class Settings:
    """What to fit, and how; `given` are the parameters as they are."""

    given: dict[str, Any] = field(repr=False)
    network: Network
    losses: Losses
    solver: str | Callable[[Any], Any]
    alpha: float
    batch_size: int | None
    schedule: Callable[[Any], Any] | None
    learning_rate_init: float
    max_iter: int
    shuffle: bool
    random_state: Any
    tol: float | None
    verbose: bool
    warm_start: bool
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int

    def optimizer(self, parameters: Iterable[Any]) -> Optimizer:
        """The optimiser of the parameters that are learned."""
        learned = [p for p in parameters if p.requires_grad]
        if not learned:
            raise ValueError("module has no parameters that are learned")
        if isinstance(self.solver, str):
            return _SOLVERS[self.solver](learned, self.learning_rate_init)
        found = self.solver(learned)
        if isinstance(found, SecondOrderOptimizer):
            raise TypeError(
                f"solver gave {type(found).__name__}, and estimators train by first-order optimisers only, as "
                "their loss has a penalty on the weights: give such as einsumad.optim.Adam, or train with nn.fit"
            )
        if not isinstance(found, Optimizer):
            raise TypeError(f"solver gave {type(found).__name__}, not an optimiser of einsumad.optim")
        return found

    def generator(self) -> np.random.Generator:
        """The generator that `random_state` means; a RandomState gives the seed of one."""
        if isinstance(self.random_state, np.random.RandomState):
            return np.random.default_rng(self.random_state.randint(2**31 - 1))
        return generator_of(self.random_state)

    def rows_of_batch(self, rows: int) -> int:
        """How many rows a batch has."""
        return min(_LARGEST_BATCH if self.batch_size is None else self.batch_size, rows)


def settings_of(given: Mapping[str, Any], named_losses: Mapping[str, Any]) -> Settings:
    """The settings that the parameters of an estimator mean.

    Raises :class:`ValueError` or :class:`TypeError` naming the parameter.
    """
    batch_size = given["batch_size"]
    return Settings(
        given=dict(given),
        network=network_of(given["module"], given["hidden_layer_sizes"], given["activation"]),
        losses=losses_of(given["loss"], named_losses),
        solver=_solver(given["solver"]),
        alpha=_number(given, "alpha", least=0.0),
        batch_size=None if _is(batch_size, "auto") else _count(given, "batch_size", "'auto' or "),
        schedule=_schedule(given["learning_rate"]),
        learning_rate_init=_number(given, "learning_rate_init", above=0.0),
        max_iter=_count(given, "max_iter"),
        shuffle=_truth(given, "shuffle"),
        random_state=_random(given["random_state"]),
        tol=None if given["tol"] is None else _number(given, "tol", least=0.0),
        verbose=bool(given["verbose"]),
        warm_start=_truth(given, "warm_start"),
        early_stopping=_truth(given, "early_stopping"),
        validation_fraction=_number(given, "validation_fraction", above=0.0, below=1.0),
        n_iter_no_change=_count(given, "n_iter_no_change"),
    )


def _is(value: Any, name: str) -> bool:
    return isinstance(value, str) and value == name


def _count(given: Mapping[str, Any], name: str, or_else: str = "") -> int:
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} is {or_else}a whole number of at least 1, got {value!r}")
    return int(value)


def _number(
    given: Mapping[str, Any],
    name: str,
    *,
    least: float = -np.inf,
    above: float = -np.inf,
    below: float = np.inf,
) -> float:
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is a number, got {value!r}")
    if not (least <= float(value) < below and float(value) > above):
        needed = f"above {above}" if above > -np.inf else f"at least {least}"
        raise ValueError(
            f"{name} is finite and {needed}{'' if below == np.inf else f' and below {below}'}, got {value}"
        )
    return float(value)


def _truth(given: Mapping[str, Any], name: str) -> bool:
    value = given[name]
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is True or False, got {value!r}")
    return bool(value)


def _solver(given: Any) -> str | Callable[[Any], Any]:
    if callable(given) or (isinstance(given, str) and given in _SOLVERS):
        return given  # type: ignore[no-any-return]
    raise ValueError(
        f"solver is one of {', '.join(map(repr, _SOLVERS))} or a function of the parameters that gives an optimiser, "
        f"such as functools.partial(einsumad.optim.AdamW, lr=0.01), got {given!r}"
    )


def _schedule(given: Any) -> Callable[[Any], Any] | None:
    if _is(given, "constant"):
        return None
    if callable(given):
        return given  # type: ignore[no-any-return]
    raise ValueError(
        "learning_rate is 'constant' or a function of the optimiser that gives a schedule of "
        f"einsumad.optim.lr_scheduler, got {given!r}; the rate itself is learning_rate_init"
    )


def _random(given: Any) -> Any:
    if not isinstance(given, np.random.RandomState):
        generator_of(given)
    return given
