"""PyTorch as a system under test, or as a reference.

Owns its record. Imports the contract of adapters. Invariant: functions get copies of the arrays on the default device,
and nothing that leaves here carries a graph or asks for gradients.

Functions are written with torch. A derivative of order k is ``jacfwd`` repeated ("forward"), ``jacrev`` repeated
("reverse"), or ``jacrev`` once and then ``jacfwd`` ("auto"). Where ``torch.func`` refuses a function, such as an
``autograd.Function`` without ``setup_context`` or without a batching rule, derivatives in reverse mode (and "auto") and
products come from ``torch.autograd``, and derivatives in forward mode from one ``torch.func.jvp`` an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System
from einsumad.testing.systems.contract import (
    MODES,
    calling,
    copies,
    differentiable,
    direction,
    load,
    not_real,
    numpy_array,
    one_value,
    representable,
    request,
    scalar,
    tangents_of,
)

_NAME = "torch"


def _session() -> AbstractContextManager[None]:
    """Errors get a note; torch's own forward mode warns that it compiles its rules in an outdated way."""
    return calling(_NAME, "torch", ignored="`torch.jit.script` is deprecated")


def _tensors(arrays: Sequence[Array], torch: Any) -> tuple[Any, ...]:
    """Fresh tensors on the default device."""
    representable(arrays, _NAME)
    return tuple([torch.tensor(array) for array in arrays])


def _as_numpy(nested: Any, torch: Any) -> Any:
    if isinstance(nested, tuple | list):
        return tuple([_as_numpy(part, torch) for part in nested])
    tensor = nested.float() if nested.dtype is torch.bfloat16 else nested
    return numpy_array(tensor.numpy(force=True))


def _one_tensor(f: Function, torch: Any) -> Function:
    """The function, with one tensor as its value."""

    def checked(*xs: Any) -> Any:
        value = one_value(f(*xs), _NAME)
        if isinstance(value, torch.Tensor):
            return value
        return torch.as_tensor(value, dtype=xs[0].dtype if isinstance(value, float) and xs else None)

    return checked


def _real(f: Function, torch: Any, *, one_entry: bool = False) -> Function:
    """The function, with a value that has a derivative, and a Hessian if it is to have one entry.

    It gets copies, as torch refuses to record functions that overwrite what is differentiated.
    """
    one_tensor = _one_tensor(f, torch)

    def checked(*xs: Any) -> Any:
        value = one_tensor(*[x.clone() for x in xs])
        if not value.dtype.is_floating_point:
            raise not_real(value.dtype, _NAME)
        if one_entry:
            scalar(value.shape)
        return value

    return checked


def _first_that_works(functional: Callable[[], Any], recorded: Callable[[], Any]) -> Any:
    """What ``torch.func`` gives, or else what asks less of the function; each makes tensors of its own."""
    try:
        return functional()
    except RuntimeError:
        return recorded()


def _evaluate(f: Function, arrays: Sequence[Array]) -> Array:
    torch = load("torch")
    with _session():
        value: Array = _as_numpy(_one_tensor(f, torch)(*_tensors(copies(arrays), torch)), torch)
        return value


def _derivative(f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    request(order, mode, _NAME)
    if order == 0:
        return _evaluate(f, arrays)
    primals = differentiable(arrays)
    torch = load("torch")
    with _session():
        real = _real(f, torch)
        plain = _entry_by_entry if mode == "forward" else _by_graph
        found = _first_that_works(
            lambda: _vectorised(real, _tensors(primals, torch), order, mode, torch),
            lambda: plain(real, _tensors(primals, torch), order, torch),
        )
        return _as_numpy(found, torch)


def _vectorised(f: Function, xs: tuple[Any, ...], order: int, mode: str, torch: Any) -> Any:
    transforms = {"forward": torch.func.jacfwd, "reverse": torch.func.jacrev}
    everything = tuple(range(len(xs)))
    differentiated = transforms["reverse" if mode == "auto" else mode](f, argnums=everything)
    for _ in range(order - 1):
        differentiated = transforms["forward" if mode == "auto" else mode](differentiated, argnums=everything)
    return differentiated(*xs)


def _by_graph(f: Function, xs: tuple[Any, ...], order: int, torch: Any) -> Any:
    """Reverse mode of any order: one pullback through the recorded graph for each entry of the order before."""

    def pulled(output: Any) -> list[Any]:
        if output.requires_grad:
            entries = output.reshape(-1)
            options = {"create_graph": True, "allow_unused": True, "materialize_grads": True}
            rows = [torch.autograd.grad(entry, leaves, **options) for entry in entries]
        else:
            rows = []
        blocks = []
        for position, leaf in enumerate(leaves):
            shape = output.shape + leaf.shape
            column = [row[position] for row in rows]
            blocks.append(torch.stack(column).reshape(shape) if column else leaf.new_zeros(shape))
        return blocks

    with torch.enable_grad():
        leaves = tuple([x.detach().requires_grad_() for x in xs])
        blocks = [f(*leaves)]
        for _ in range(order):
            blocks = [block for output in blocks for block in pulled(output)]
    return _nested(blocks, len(xs), order)


def _entry_by_entry(f: Function, xs: tuple[Any, ...], order: int, torch: Any) -> Any:
    """Forward mode of any order: one tangent for each entry of the arrays, pushed through the order before."""

    def pushed(blocks: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        def jacobians(*variables: Any) -> tuple[Any, ...]:
            columns = [_columns(blocks, variables, position, torch) for position in range(len(variables))]
            outputs = range(len(columns[0]))
            return tuple([column[output] for output in outputs for column in columns])

        return jacobians

    def values(*variables: Any) -> tuple[Any, ...]:
        return (f(*variables),)

    blocks = values
    for _ in range(order):
        blocks = pushed(blocks)
    return _nested(list(blocks(*xs)), len(xs), order)


def _columns(blocks: Callable[..., tuple[Any, ...]], xs: tuple[Any, ...], position: int, torch: Any) -> list[Any]:
    """The Jacobians of some tensors in one of the arrays."""
    x = xs[position]
    tangents = [torch.zeros_like(other) for other in xs]
    moved = []
    for entry in range(x.numel()):
        unit = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        unit[entry] = 1
        tangents[position] = unit.reshape(x.shape)
        moved.append(torch.func.jvp(blocks, xs, tuple(tangents))[1])
    if not moved:
        return [x.new_zeros(block.shape + x.shape) for block in blocks(*xs)]
    return [torch.stack(parts, dim=-1).reshape(parts[0].shape + x.shape) for parts in zip(*moved, strict=True)]


def _nested(blocks: list[Any], arrays: int, order: int) -> Any:
    """Blocks in the order of their indices as nested tuples, one level for each order."""
    nested: list[Any] = blocks
    for _ in range(order):
        nested = [tuple(nested[start : start + arrays]) for start in range(0, len(nested), arrays)]
    return nested[0]


def _jvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    torch = load("torch")
    with _session():
        real = _real(f, torch)

        def using(transform: Callable[..., Any]) -> Any:
            return transform(real, _tensors(primals, torch), _tensors(directions, torch))

        value, tangent = _first_that_works(lambda: using(torch.func.jvp), lambda: using(torch.autograd.functional.jvp))
        return _as_numpy(value, torch), _as_numpy(tangent, torch)


def _vjp(f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    primals = differentiable(arrays)
    torch = load("torch")
    with _session():
        real = _real(f, torch)

        def cotangent_of(value: Any) -> Any:
            return torch.tensor(direction(cotangent, value.shape, "the cotangent"), dtype=value.dtype)

        def functional() -> Any:
            value, pullback = torch.func.vjp(real, *_tensors(primals, torch))
            return value, pullback(cotangent_of(value))

        def recorded() -> Any:
            u = cotangent_of(real(*_tensors(primals, torch)))
            return torch.autograd.functional.vjp(real, _tensors(primals, torch), u)

        value, pulled = _first_that_works(functional, recorded)
        return _as_numpy(value, torch), _as_numpy(pulled, torch)


def _hvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    torch = load("torch")
    with _session():
        real = _real(f, torch, one_entry=True)

        def using(transform: Callable[..., Any], function: Function) -> Any:
            return transform(function, _tensors(primals, torch), _tensors(directions, torch))

        gradient = torch.func.grad(real, argnums=tuple(range(len(primals))))
        _, products = _first_that_works(
            lambda: using(torch.func.jvp, gradient), lambda: using(torch.autograd.functional.hvp, real)
        )
        return tuple(_as_numpy(products, torch))


TORCH = System(_NAME, MODES, _evaluate, _derivative, _jvp, _vjp, _hvp)
