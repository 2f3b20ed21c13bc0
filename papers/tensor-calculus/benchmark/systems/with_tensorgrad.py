"""tensorgrad: expressions with named edges, its symbolic derivatives, its generated PyTorch code.

Its own way in and out needs PyTorch's named tensors, which later versions of PyTorch do not have. So the generated
function is called on plain tensors, as its wrapper would call it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import sympy
import tensorgrad as tg
import tensorgrad.functions as F  # noqa: N812 (its documentation's name)
import torch
from tensorgrad.compiler import compile_to_callable

from benchmark.case import Case, Data, Job
from benchmark.systems.base import NotOfferedError, System

Expression = tuple[Any, tuple[Any, ...], tuple[Any, ...]]
"""A scalar expression, its variables in the order of the data, and the other inputs, called as the constants are."""


def _logistic(_: Data) -> Expression:
    samples, n = sympy.symbols("samples n")
    X, w, y = tg.Variable("X", samples, n), tg.Variable("w", n), tg.Variable("y", samples)
    return F.sum(F.log(F.exp(-(y * (X @ w))) + 1)), (w,), (X, y)


def _factorisation(_: Data) -> Expression:
    i, j, k = sympy.symbols("i j k")
    U, V, T, O = tg.Variable("U", i, k), tg.Variable("V", j, k), tg.Variable("T", i, j), tg.Variable("O", i, j)  # noqa: E741
    error = O * (T - U @ V)
    return F.sum(error * error), (U, V), (T, O)


def _network(activation: Callable[[Any], Any]) -> Callable[[Data], Expression]:
    def expression(data: Data) -> Expression:
        names = [name for name in vars(data.constants) if name.startswith("W")]
        widths = sympy.symbols(f"h0:{len(names) + 2}")
        batch = sympy.symbols("batch")
        X, Y = tg.Variable("X", batch, widths[0]), tg.Variable("Y", batch, widths[-1])
        pairs = zip(["first", *names], widths[:-1], widths[1:], strict=True)
        weights = [tg.Variable(name, rows, columns) for name, rows, columns in pairs]
        a = X
        for weight in weights:
            a = activation(a @ weight)
        loss = F.sum(F.log(F.sum(F.exp(a), dim=str(widths[-1])))) - F.sum(Y * a)
        return loss, (weights[0],), (X, Y, *weights[1:])

    return expression


def _quadratic(_: Data) -> Expression:
    n = sympy.symbols("n")
    A, x = tg.Variable("A", n, m=n), tg.Variable("x", n)
    return x @ A @ x.rename(n="m"), (x,), (A,)


def _logsumexp(_: Data) -> Expression:
    x = tg.Variable("x", sympy.symbols("n"))
    return F.log(F.sum(F.exp(x))), (x,), ()


def _softmax(data: Data) -> Expression:
    samples, n, k = sympy.symbols("samples n k")
    X, W, Y = tg.Variable("X", samples, n), tg.Variable("W", n, k), tg.Variable("Y", samples, k)
    Z = X @ W
    loss = F.sum(F.log(F.sum(F.exp(Z), dim="k"))) - F.sum(Y * Z) + data.constants.ridge * F.sum(W * W)
    return loss, (W,), (X, Y)


EXPRESSIONS: dict[str, Callable[[Data], Expression]] = {
    "logistic": _logistic,
    "orders": _logistic,
    "factorisation": _factorisation,
    "relu": _network(F.relu),
    "tanh": _network(F.tanh),
    "depth": _network(F.relu),
    "quadratic-32": _quadratic,
    "quadratic-64": _quadratic,
    "logsumexp-32": _logsumexp,
    "logsumexp-64": _logsumexp,
    "softmax": _softmax,
}
"""The cases that have been written in its notation."""

_ORDERS = {"function": 0, "gradient": 1, "hessian": 2, "third": 3, "fourth": 4}


class Tensorgrad(System):
    @property
    def version(self) -> str:
        return f"tensorgrad {version('tensorgrad')}"

    @property
    def xp(self) -> Any:
        return torch

    def array(self, value: np.ndarray) -> Any:
        return torch.from_numpy(np.array(value))

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        raise NotOfferedError(f"{f} is not written in its notation: {job.kind}")

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        if case.name not in EXPRESSIONS:
            raise NotOfferedError(f"{case.name} is not written in its notation")
        loss, variables, others = EXPRESSIONS[case.name](data)
        outputs = _outputs(loss, variables, job)
        values = {v.name: value for v, value in zip(variables, data.variables, strict=True)}
        values |= {v.name: getattr(data.constants, v.name) for v in others}
        values["direction"] = data.directions[0]
        sizes = {}
        for v in (*variables, *others):
            sizes |= dict(zip([v.shape[edge] for edge in v.edges], values[v.name].shape, strict=True))
        program = compile_to_callable(*outputs)
        generated = program.codegen.specialize(sizes, dtype=data.variables[0].dtype)
        arguments = [values[name] for name in program.input_names]
        orders = [order for order, _ in program._wrap_plans]

        def call() -> Any:
            with torch.no_grad():
                found = generated(*arguments)
            turned = [a if order is None else a.permute(order) for a, order in zip(found, orders, strict=True)]
            return turned[0] if len(turned) == 1 else tuple(turned)

        return call


def _outputs(loss: Any, variables: tuple[Any, ...], job: Job) -> list[Any]:
    """The expressions of a job."""
    if job.kind == "value+gradient":
        return [loss, loss.grad(variables[0])]
    if job.kind == "mixed":
        return [loss.grad(variables[0]).grad(variables[1])]
    if job.kind == "hvp":
        direction = tg.Variable("direction", **dict(variables[0].shape))
        return [F.sum(loss.grad(variables[0]) * direction).grad(variables[0])]
    if job.kind not in _ORDERS:
        raise NotOfferedError(f"tensorgrad has no {job.kind}")
    for _ in range(_ORDERS[job.kind]):
        loss = loss.grad(variables[0])
    return [loss]


def open_system(_: str) -> System:
    """The system."""
    return Tensorgrad()
