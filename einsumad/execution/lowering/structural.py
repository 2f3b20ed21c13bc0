"""Reading and writing along maps of indices: views, pads, takes and additions into zeros.

Owns these statements. Imports operands and source text. Invariant: no 0/1 tensor is written, and a reading within
bounds along affine maps is a view.
"""

from __future__ import annotations

from einsumad.execution.lowering.layout import diagonal_text
from einsumad.execution.lowering.operands import LONG, Registers, permuted, register_of, whole
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import BOOL, Labels, Shape
from einsumad.planning.kernels import Inside, Merge, Overlap, Pad, Put, Take, Window
from einsumad.planning.pairing import paired
from einsumad.planning.primitives import numbers_in_order
from einsumad.planning.steps import Step


def lower_window(step: Step, kernel: Window, registers: Registers) -> list[str]:
    """The statement that reads an axis at affine places: a slice, a shape, or a view with strides of its own."""
    register = register_of(step, 0)
    lines, text = _in_long_runs(step, kernel, register, registers)
    sizes = _sizes(step, kernel.places)
    labels, axis = kernel.labels, kernel.labels.index(kernel.at)
    shape = registers.shapes[register]
    read = (*labels[:axis], *kernel.places, *labels[axis + 1 :])
    if len(sizes) == 1 and (kernel.strides[0] or sizes[0] == 1):
        text = f"{text}[{', '.join([*[':'] * axis, _slice(kernel, sizes[0])])}]"
    elif numbers_in_order(shape[axis], sizes, kernel.strides, kernel.offset):
        text = f"{text}.reshape({shape_text((*shape[:axis], *sizes, *shape[axis + 1 :]))})"
    else:
        text = f"window({text}, {axis}, {sizes}, {kernel.strides}, {kernel.offset})"
    return lines + _laid_out(step, text, read)


def _in_long_runs(step: Step, kernel: Window, register: int, registers: Registers) -> tuple[list[str], str]:
    """The operand of windows that overlap, with a long axis last in memory that is not read through the windows.

    Every product copies windows. It does so in runs of entries that stand side by side, and what comes of the product
    lies as they do. Where the first axis in memory, such as that of a batch, is at least as long as the windows' places
    are, a copy of the operand that has it last is made once for all its windows.
    """
    text, order = whole(register, registers), registers.orders[register]
    overlaps = step.register in registers.windows and register not in registers.windows
    if not overlaps or registers.stored[register] != registers.shapes[register]:
        return [], text
    shape, first = registers.shapes[register], order[0]
    longest = max(_sizes(step, kernel.places))
    if kernel.labels[first] == kernel.at or order[-1] == first or shape[first] < max(LONG, longest):
        return [], text
    last = (*order[1:], first)
    name, lines = registers.turned.get(register), []
    if name is None:
        name = registers.turned[register] = f"u{register}"
        lines = [f"{name} = np.ascontiguousarray({permuted(text, last)})"]
    registers.orders[register] = last
    return lines, permuted(name, [last.index(axis) for axis in range(len(last))])


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
    """The statement that shifts an axis, with zeros where nothing is; the order in memory stays."""
    axis = kernel.labels.index(kernel.at)
    text = whole(register_of(step, 0), registers)
    text = f"pad({text}, {axis}, {step.shape[kernel.place]}, {kernel.offset})"
    return _laid_out(step, text, (*kernel.labels[:axis], kernel.place, *kernel.labels[axis + 1 :]))


def lower_take(step: Step, kernel: Take, registers: Registers) -> list[str]:
    """The statement that reads an axis at the values of an index."""
    return _laid_out(step, *taken(step, kernel, registers))


def taken(step: Step, kernel: Take, registers: Registers) -> tuple[str, Labels]:
    """The expression of a reading, and its labels in order of memory."""
    operand, index = (whole(register_of(step, k), registers) for k in range(2))
    if pairs := paired(kernel):
        return f"take_paired({permuted(operand, pairs.order)}, {index}, {pairs.own})", pairs.labels
    order = registers.orders[register_of(step, 0)]
    memory = tuple([kernel.labels[axis] for axis in order])
    axis = memory.index(kernel.at)
    return f"take({permuted(operand, order)}, {index}, {axis})", (*memory[:axis], *kernel.places, *memory[axis + 1 :])


def lower_inside(step: Step, kernel: Inside, _: Registers) -> list[str]:
    """The statement that tells where a map stays within its bounds."""
    text = f"inside({kernel.size}, {step.shape}, {kernel.strides}, {kernel.offset})"
    if step.dtype != BOOL:
        text += f".astype({dtype_text(step.dtype)})"
    return [f"{register_name(step.register)} = {text}"]


def lower_overlap(step: Step, kernel: Overlap, registers: Registers) -> list[str]:
    """The statement that adds an operand into zeros at affine places; those that are kept stand last among them."""
    register = register_of(step, 0)
    at_once = [k for k, place in enumerate(kernel.places) if place >= len(step.shape)]
    if len(at_once) == len(kernel.places) == 1:
        order = [kernel.labels.index(label) for label in (*kernel.places, *_rest(step, kernel, registers))]
        if registers.shapes[register][order[0]] == 1:
            return _at_one_place(step, kernel, order, registers)
    return _laid_out(step, *overlapped(step, kernel, registers))


def overlapped(step: Step, kernel: Overlap, registers: Registers) -> tuple[str, Labels]:
    """The expression of an addition at affine places, and its labels in order of memory."""
    rank = len(step.shape)
    summed = [k for k, place in enumerate(kernel.places) if place >= rank]
    kept = [k for k, place in enumerate(kernel.places) if place < rank]
    places = tuple([kernel.places[k] for k in (*summed, *kept)])
    strides = tuple([kernel.strides[k] for k in (*summed, *kept)])
    rest = _rest(step, kernel, registers)
    operand = permuted(
        whole(register_of(step, 0), registers), [kernel.labels.index(label) for label in (*places, *rest)]
    )
    text = f"overlap({operand}, {step.shape[kernel.at]}, {strides}, {kernel.offset}, {len(kept)})"
    return text, (kernel.at, *places[len(summed) :], *rest)


def _rest(step: Step, kernel: Overlap | Merge | Put, registers: Registers) -> Labels:
    """The labels that a kernel leaves as they are, in the operand's order of memory."""
    order = registers.orders[register_of(step, 0)]
    return tuple([kernel.labels[axis] for axis in order if kernel.labels[axis] not in kernel.places])


def _at_one_place(step: Step, kernel: Overlap, order: list[int], registers: Registers) -> list[str]:
    """The statements that write an operand, whose only place stands first in this order, into zeros there."""
    name, register = register_name(step.register), register_of(step, 0)
    rest = tuple([kernel.labels[axis] for axis in order[1:]])
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
    return _laid_out(step, *merged(step, kernel, registers))


def merged(step: Step, kernel: Merge, registers: Registers) -> tuple[str, Labels]:
    """The expression with one axis of several, where the last of them lies in memory, and its labels in that order."""
    register, order = register_of(step, 0), registers.orders[register_of(step, 0)]
    last = order.index(kernel.labels.index(kernel.places[-1]))
    memory = [
        [kernel.labels[axis] for axis in part if kernel.labels[axis] not in kernel.places]
        for part in (order[:last], order[last + 1 :])
    ]
    before, behind = memory
    operand = permuted(
        whole(register, registers), [kernel.labels.index(label) for label in (*before, *kernel.places, *behind)]
    )
    labels = (*before, kernel.at, *behind)
    return f"{operand}.reshape({shape_text(tuple([step.shape[label] for label in labels]))})", labels


def lower_put(step: Step, kernel: Put, registers: Registers) -> list[str]:
    """The statement that adds an operand into zeros at the values of an index."""
    return _laid_out(step, *put_in(step, kernel, registers))


def put_in(step: Step, kernel: Put, registers: Registers) -> tuple[str, Labels]:
    """The expression of an addition at the values of an index, and its labels in order of memory."""
    rank, rest = len(step.shape), _rest(step, kernel, registers)
    order = [kernel.labels.index(label) for label in (*kernel.places, *rest)]
    operand, index = permuted(whole(register_of(step, 0), registers), order), whole(register_of(step, 1), registers)
    kept = tuple([place < rank for place in kernel.places])
    text = f"put({operand}, {index}, {step.shape[kernel.at]}, {kept})"
    return text, (kernel.at, *[place for place in kernel.places if place < rank], *rest)
