"""Calls of catalogue functions of whole tensors, and 0/1 tensors written out.

Owns steps that are no arithmetic. Imports operands and source text. Invariant: kernels get full arrays and
give a new one.
"""

from __future__ import annotations

from einsumad.execution.lowering.operands import Registers, register_of, whole
from einsumad.execution.source import dtype_text, register_name
from einsumad.functions import is_own
from einsumad.graph import BOOL
from einsumad.graph.digests import blake2b
from einsumad.planning.kernels import AffineMap, Call, OneHot
from einsumad.planning.steps import Step


def lower_call(step: Step, kernel: Call, registers: Registers) -> list[str]:
    """The statement that calls a catalogue kernel."""
    arguments = [whole(register_of(step, k), registers) for k in range(len(step.operands))]
    arguments += [repr(param) for param in kernel.params]
    return [f"{register_name(step.register)} = {kernel_name(kernel)}({', '.join(arguments)})"]


def kernel_name(kernel: Call) -> str:
    """The name that a kernel has in generated source: that of the catalogue, or a digest of a user's name."""
    if is_own(kernel.function):
        return f"kernel_own_{blake2b(kernel.function.encode(), digest_size=8).hexdigest()}"
    return f"kernel_{kernel.function}"


def lower_affine(step: Step, kernel: AffineMap, _: Registers) -> list[str]:
    """The statement that writes an affine 0/1 tensor out."""
    ndim = len(step.shape)
    terms = [str(kernel.offset)] if kernel.offset else []
    for axis, stride in enumerate(kernel.strides, 1):
        terms.append(f"{stride} * {_range(step.shape[axis], axis, ndim)}")
    text = f"{_range(step.shape[0], 0, ndim)} == {' + '.join(terms)}"
    return [f"{register_name(step.register)} = {_converted(text, step)}"]


def lower_one_hot(step: Step, _: OneHot, registers: Registers) -> list[str]:
    """The statement that writes one-hot rows out."""
    index = whole(register_of(step, 0), registers)
    text = f"{index}[..., None] == np.arange({step.shape[-1]})"
    return [f"{register_name(step.register)} = {_converted(text, step)}"]


def _range(size: int, axis: int, ndim: int) -> str:
    behind = ndim - axis - 1
    return f"np.arange({size})" + (f"[:{', None' * behind}]" if behind else "")


def _converted(text: str, step: Step) -> str:
    return text if step.dtype == BOOL else f"({text}).astype({dtype_text(step.dtype)})"
