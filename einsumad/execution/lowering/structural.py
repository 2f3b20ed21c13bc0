"""Reading and writing along maps of indices: views, pads, takes and additions into zeros.

Owns these statements. Imports operands and source text. Invariant: no 0/1 tensor is written, and a reading within
bounds along affine maps is a view.
"""

from __future__ import annotations

from einsumad.execution.lowering.layout import diagonal_text
from einsumad.execution.lowering.operands import Registers, permuted, register_of, whole
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import BOOL, Labels, Shape
from einsumad.planning.kernels import Inside, Merge, Overlap, Pad, Put, Take, Window
from einsumad.planning.pairing import paired
from einsumad.planning.primitives import numbers_in_order
from einsumad.planning.steps import Step


def lower_window(step: Step, kernel: Window, registers: Registers) -> list[str]:
    """The statement that reads an axis at affine places: a slice, a shape, or a view with strides of its own."""
    register = register_of(step, 0)
    sizes = _sizes(step, kernel.places)
    labels, axis = kernel.labels, kernel.labels.index(kernel.at)
    text = whole(register, registers)
    shape = registers.shapes[register]
    read = (*labels[:axis], *kernel.places, *labels[axis + 1 :])
    if len(sizes) == 1 and (kernel.strides[0] or sizes[0] == 1):
        text = f"{text}[{', '.join([*[':'] * axis, _slice(kernel, sizes[0])])}]"
    elif numbers_in_order(shape[axis], sizes, kernel.strides, kernel.offset):
        text = f"{text}.reshape({shape_text((*shape[:axis], *sizes, *shape[axis + 1 :]))})"
    else:
        text = f"window({text}, {axis}, {sizes}, {kernel.strides}, {kernel.offset})"
    return _laid_out(step, text, read)


def _slice(kernel: Window, size: int) -> str:
    """The slice of `size` entries from the offset on."""
    stride = kernel.strides[0] or 1
    stop = kernel.offset + stride * (size - 1) + (1 if stride > 0 else -1)
    step = f":{stride}" if stride != 1 else ""
    return f"{kernel.offset}:{stop if stop >= 0 else ''}{step}"


def _laid_out(step: Step, text: str, labels: Labels) -> list[str]:
    """The expression with a diagonal for each label that stands twice, and the axes in order."""
    if len(set(labels)) < len(labels):
        text, labels = diagonal_text(text, labels), tuple(dict.fromkeys(labels))
    return [f"{register_name(step.register)} = {permuted(text, [labels.index(axis) for axis in range(len(labels))])}"]


def _sizes(step: Step, places: Labels) -> Shape:
    return tuple([step.shape[place] for place in places])


def lower_pad(step: Step, kernel: Pad, registers: Registers) -> list[str]:
    """The statement that shifts an axis, with zeros where nothing is."""
    axis = kernel.labels.index(kernel.at)
    text = whole(register_of(step, 0), registers)
    text = f"pad({text}, {axis}, {step.shape[kernel.place]}, {kernel.offset})"
    return _laid_out(step, text, (*kernel.labels[:axis], kernel.place, *kernel.labels[axis + 1 :]))


def lower_take(step: Step, kernel: Take, registers: Registers) -> list[str]:
    """The statement that reads an axis at the values of an index."""
    axis = kernel.labels.index(kernel.at)
    operand, index = (whole(register_of(step, k), registers) for k in range(2))
    if pairs := paired(kernel):
        return _laid_out(step, f"take_paired({permuted(operand, pairs.order)}, {index}, {pairs.own})", pairs.labels)
    text = f"take({operand}, {index}, {axis})"
    return _laid_out(step, text, (*kernel.labels[:axis], *kernel.places, *kernel.labels[axis + 1 :]))


def lower_inside(step: Step, kernel: Inside, _: Registers) -> list[str]:
    """The statement that tells where a map stays within its bounds."""
    text = f"inside({kernel.size}, {step.shape}, {kernel.strides}, {kernel.offset})"
    if step.dtype != BOOL:
        text += f".astype({dtype_text(step.dtype)})"
    return [f"{register_name(step.register)} = {text}"]


def lower_overlap(step: Step, kernel: Overlap, registers: Registers) -> list[str]:
    """The statement that adds an operand into zeros at affine places; those that are kept stand last among them."""
    rank = len(step.shape)
    summed = [k for k, place in enumerate(kernel.places) if place >= rank]
    kept = [k for k, place in enumerate(kernel.places) if place < rank]
    places = tuple([kernel.places[k] for k in (*summed, *kept)])
    strides = tuple([kernel.strides[k] for k in (*summed, *kept)])
    rest = tuple([label for label in kernel.labels if label not in places])
    register, order = register_of(step, 0), [kernel.labels.index(label) for label in (*places, *rest)]
    if len(summed) == 1 and not kept and registers.shapes[register][order[0]] == 1:
        return _at_one_place(step, kernel, rest, order, registers)
    operand = permuted(whole(register, registers), order)
    text = f"overlap({operand}, {step.shape[kernel.at]}, {strides}, {kernel.offset}, {len(kept)})"
    return _laid_out(step, text, (kernel.at, *places[len(summed) :], *rest))


def _at_one_place(step: Step, kernel: Overlap, rest: Labels, order: list[int], registers: Registers) -> list[str]:
    """The statements that write an operand, whose only place stands first in this order, into zeros there."""
    name, register = register_name(step.register), register_of(step, 0)
    shape = (step.shape[kernel.at], *[step.shape[label] for label in rest])
    as_kept = order == sorted(order)
    operand = register_name(register) if as_kept else permuted(whole(register, registers), order)
    lines = [f"{name} = np.zeros({shape_text(shape)}, {dtype_text(step.dtype)})"]
    if 0 <= kernel.offset < shape[0]:
        lines.append(f"{name}[{kernel.offset}:{kernel.offset + 1}] = {operand}")
    placed = _laid_out(step, name, (kernel.at, *rest))
    return lines if placed == [f"{name} = {name}"] else [*lines, *placed]


def lower_merge(step: Step, kernel: Merge, registers: Registers) -> list[str]:
    """The statement that makes one axis of several: a matter of the shape."""
    rest = tuple([label for label in kernel.labels if label not in kernel.places])
    before = tuple([label for label in rest if label < kernel.at])
    behind = tuple([label for label in rest if label > kernel.at])
    order = [kernel.labels.index(label) for label in (*before, *kernel.places, *behind)]
    operand = permuted(whole(register_of(step, 0), registers), order)
    shape = tuple([step.shape[label] for label in (*before, kernel.at, *behind)])
    return _laid_out(step, f"{operand}.reshape({shape_text(shape)})", (*before, kernel.at, *behind))


def lower_put(step: Step, kernel: Put, registers: Registers) -> list[str]:
    """The statement that adds an operand into zeros at the values of an index."""
    rank = len(step.shape)
    rest = tuple([label for label in kernel.labels if label not in kernel.places])
    order = [kernel.labels.index(label) for label in (*kernel.places, *rest)]
    operand, index = permuted(whole(register_of(step, 0), registers), order), whole(register_of(step, 1), registers)
    kept = tuple([place < rank for place in kernel.places])
    text = f"put({operand}, {index}, {step.shape[kernel.at]}, {kept})"
    held = tuple([place for place in kernel.places if place < rank])
    return _laid_out(step, text, (kernel.at, *held, *rest))
