"""Contractions with masks: a product of matrices, and where it has a NaN once more without what is not selected.

Owns these statements. Imports the lowering of contractions. Invariant: where the result has no NaN the masks are not
read: a term that does not count is a zero times a finite number then.
"""

from __future__ import annotations

from einsumad.execution.lowering.contract import lower_contract
from einsumad.execution.lowering.operands import Registers, register_of, whole
from einsumad.execution.source import register_name
from einsumad.planning.kernels import Selected
from einsumad.planning.steps import Step


def lower_selected(step: Step, kernel: Selected, registers: Registers) -> list[str]:
    """The statements of the contraction, and of the look at its result."""
    lines = lower_contract(step, kernel.contract, registers)
    if 0 in step.shape:
        return lines
    name = register_name(step.register)
    arrays = ", ".join([whole(register_of(step, k), registers) for k in range(len(step.operands))])
    labels = (kernel.contract.left, kernel.contract.right, *kernel.masks)
    lines += [
        f"if np.isnan({name}.min()):",
        f"    {name} = selected_product([{arrays}], {labels!r}, {len(step.shape)})",
    ]
    if kernel.contract.symmetric:
        lines.append(f"    {name} = np.triu({name}) + np.triu({name}, 1).T")
    return lines
