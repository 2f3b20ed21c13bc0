"""Plans in index notation.

Owns the text of a plan. Imports the kernels and the letters of indices; reads plans and steps by their
fields. Invariant: the text depends on the plan alone.

``t3[i,k] = sum_j t1[i,j] t2[j,k]`` is a contraction; ``[t4[i]]`` in a product is a mask, one where it holds
and zero elsewhere; ``δ[i,j]`` is a unit tensor; ``1[i]`` spreads over an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from einsumad.functions import elementwise_function, general_function
from einsumad.graph import Labels, Leaf, Number, Params, display
from einsumad.notation import index_names
from einsumad.planning.cost import Cost
from einsumad.planning.kernels import (
    AffineMap,
    Apply,
    Call,
    Choose,
    Contract,
    Embed,
    Fill,
    Group,
    Inside,
    Joined,
    Layout,
    Merge,
    OneHot,
    Overlap,
    Pad,
    Patched,
    Place,
    Put,
    Selected,
    Sliced,
    Sum,
    Take,
    Window,
)
from einsumad.planning.steps import Step

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def plan_text(
    inputs: Sequence[Leaf], steps: Sequence[Step], outputs: Sequence[int], cost: Cost, peak_bytes: int
) -> str:
    """The whole plan, one line for each input and step."""
    lines: list[tuple[str, str, str]] = []
    for position, leaf in enumerate(inputs):
        letters = index_names(len(leaf.shape))
        name = leaf.name if leaf.name is not None else "input"
        lines.append((f"t{position}{_index(letters)} = {name}", _shape(leaf.shape, leaf.dtype), ""))
    for step in steps:
        flops = f"{_short(step.cost.flops)} flops" if step.cost.flops else ""
        lines.append((step_text(step), _shape(step.stored, step.dtype), flops))
    widths = [max([len(line[column]) for line in lines], default=0) for column in range(2)]
    written = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in lines]
    returned = ", ".join([f"t{register}" for register in outputs])
    total = (
        f"{_short(cost.flops)} flops, {readable_bytes(cost.bytes)} moved, {cost.calls} calls, "
        f"peak {readable_bytes(peak_bytes)}"
    )
    return "\n".join([*written, f"return {returned}", total])


def step_text(step: Step) -> str:
    """One step as an equation in index notation."""
    return f"t{step.register}{_index(_letters(step))} = {_right_side(step)}"


def readable_bytes(count: int) -> str:
    """A number of bytes in the unit that fits."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def readable_seconds(seconds: float) -> str:
    """A time in the unit that fits, to three digits."""
    for size, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _short(count: int) -> str:
    return str(count) if count < 10000 else f"{count:.2e}".replace("e+0", "e").replace("e+", "e")


def _shape(shape: Sequence[int], dtype: object) -> str:
    return f"{dtype}({', '.join(map(str, shape))})"


def _index(letters: Sequence[str]) -> str:
    return f"[{','.join(letters)}]" if letters else ""


def _letters(step: Step) -> tuple[str, ...]:
    return index_names(len(step.shape))


def _operand(step: Step, position: int, letters: Sequence[str]) -> str:
    operand = step.operands[position]
    return f"t{operand}{_index(letters)}" if isinstance(operand, int) else _number(operand.value)


def _number(value: Number) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _factor(coefficient: Number) -> str:
    if coefficient == 1:
        return ""
    return "-" if coefficient == -1 else f"{_number(coefficient)} "


def _right_side(step: Step) -> str:
    return _WRITERS[type(step.kernel)](step, step.kernel)


def _layout(step: Step, kernel: Layout) -> str:
    return _factor(kernel.coefficient) + _summed(step, [kernel.labels])


def _contract(step: Step, kernel: Contract) -> str:
    return _product_text(step, kernel, ())


def _product_text(step: Step, kernel: Contract, masks: Sequence[Labels]) -> str:
    text = _summed(step, [kernel.left, kernel.right, *masks], masks=len(masks))
    return f"{text}, symmetric" if kernel.symmetric else text


def _selected(step: Step, kernel: Selected) -> str:
    return _product_text(step, kernel.contract, kernel.masks)


def _sliced(step: Step, kernel: Sliced) -> str:
    """The two products as one equation, and the index whose slices are computed one after the other."""
    labels = [kernel.contract.left, kernel.contract.right]
    places = labels.pop(kernel.position)
    inner = [tuple([places[label] for label in held]) for held in kernel.group.inputs]
    names = index_names(max([len(step.shape), *[label + 1 for held in (*inner, *labels) for label in held]]))
    texts = [_operand(step, k, [names[label] for label in held]) for k, held in enumerate((*inner, *labels))]
    summed = sorted({label for label in labels[0] if label >= len(step.shape)})
    group = _group_text(texts[:-1], kernel.group)
    return f"sum_{''.join([names[label] for label in summed])} ({group}) {texts[-1]}, each {names[kernel.at]} alone"


def _choose(step: Step, kernel: Choose) -> str:
    mask, yes, no = (_operand(step, k, _named(step, labels)) for k, labels in enumerate(kernel.inputs))
    factors = [_factor(coefficient) for coefficient in kernel.coefficients]
    return f"{factors[0]}{yes} where {mask} else {factors[1]}{no}"


def _call(step: Step, kernel: Call) -> str:
    return f"{general_function(kernel.function).symbol}({_arguments(step, kernel.params, with_index=False)})"


def _fill(_: Step, kernel: Fill) -> str:
    return _number(kernel.value)


def _affine(step: Step, kernel: AffineMap) -> str:
    letters = _letters(step)
    terms = [f"{stride}{name}" for stride, name in zip(kernel.strides, letters[1:], strict=True)]
    return f"[{letters[0]} = {' + '.join([str(kernel.offset), *terms])}]"


def _one_hot(step: Step, _: OneHot) -> str:
    letters = _letters(step)
    return f"[{letters[-1]} = {_operand(step, 0, letters[:-1])}]"


def _named(step: Step, labels: Labels) -> list[str]:
    names = index_names(max([len(step.shape), *[label + 1 for label in labels]]))
    return [names[label] for label in labels]


def _summed(step: Step, inputs: Sequence[Labels], masks: int = 0) -> str:
    """The product of the operands with these labels, the last of them masks, summed over those the result lacks."""
    everything = [label for labels in inputs for label in labels]
    names = index_names(max([len(step.shape), *[label + 1 for label in everything]]))
    summed = sorted({label for label in everything if label >= len(step.shape)})
    head = f"sum_{''.join([names[label] for label in summed])} " if summed else ""
    factors = [_operand(step, k, [names[label] for label in labels]) for k, labels in enumerate(inputs)]
    count = len(factors) - masks
    return head + " ".join([*[f"[{mask}]" for mask in factors[count:]], *factors[:count]])


def _embedded(step: Step, kernel: Embed) -> str:
    parts = [_operand(step, 0, _named(step, kernel.labels))] if step.operands else []
    parts += [f"δ{_index(_named(step, delta))}" for delta in kernel.deltas]
    held = {label for labels in (kernel.labels, *kernel.deltas) for label in labels}
    spread = tuple([axis for axis in range(len(step.shape)) if axis not in held])
    if spread:
        parts.append(f"1{_index(_named(step, spread))}")
    return _factor(kernel.coefficient) + " ".join(parts)


def _placed(step: Step, kernel: Place) -> str:
    parts = [_operand(step, 1, _named(step, kernel.labels))] if len(step.operands) > 1 else []
    parts += [f"δ{_index(_named(step, delta))}" for delta in kernel.deltas]
    sign = "-" if kernel.coefficient < 0 else "+"
    return f"{_operand(step, 0, _letters(step))} {sign} {_factor(abs(kernel.coefficient))}{' '.join(parts)}"


def _patched(step: Step, kernel: Patched) -> str:
    count = len(kernel.group.inputs)
    parts = [_operand(step, count, _named(step, kernel.place.labels))] if len(step.operands) > count else []
    parts += [f"δ{_index(_named(step, delta))}" for delta in kernel.place.deltas]
    sign = "-" if kernel.place.coefficient < 0 else "+"
    texts = [_operand(step, k, _named(step, labels)) for k, labels in enumerate(kernel.group.inputs)]
    added = f"{_factor(abs(kernel.place.coefficient))}{' '.join(parts)}"
    texts[kernel.position] = f"({texts[kernel.position]} {sign} {added})"
    return _group_text(texts, kernel.group)


def _group(step: Step, kernel: Group) -> str:
    return _group_text([_operand(step, k, _named(step, labels)) for k, labels in enumerate(kernel.inputs)], kernel)


def _group_text(written: Sequence[str], kernel: Group) -> str:
    masks = [f"[{written[k]}]" for k in kernel.masks]
    above = [written[k] for k in range(len(written)) if k not in kernel.masks and k not in kernel.divisors]
    below = "".join([f" / {written[k]}" for k in kernel.divisors])
    product = " ".join([*masks, *above])
    return f"{product or '1'}{below}"


def _sum(step: Step, kernel: Sum) -> str:
    letters = _letters(step)
    text = ""
    for k, coefficient in sorted(enumerate(kernel.coefficients), key=lambda term: term[1] < 0):
        negative = coefficient < 0
        sign = ("-" if negative else "") if not text else (" - " if negative else " + ")
        text += f"{sign}{_factor(abs(coefficient))}{_operand(step, k, letters)}"
    return text


def _joined(step: Step, kernel: Joined) -> str:
    names = index_names(len(step.shape))
    text = ""
    for k, (labels, start) in enumerate(zip(kernel.inputs, kernel.starts, strict=True)):
        place = _affine_sum((1,), [names[kernel.along]], -start)
        operand = _operand(step, k, [place if label == kernel.along else names[label] for label in labels])
        negative = kernel.coefficients[k] < 0
        sign = ("-" if negative else "") if not text else (" - " if negative else " + ")
        text += f"{sign}{_factor(abs(kernel.coefficients[k]))}{operand}"
    return text


def _apply(step: Step, kernel: Apply) -> str:
    symbol = elementwise_function(kernel.function).symbol
    if symbol.isidentifier():
        return f"{symbol}({_arguments(step, kernel.params, with_index=True)})"
    arguments = [_operand(step, k, _letters(step)) for k in range(len(step.operands))]
    arguments += [str(param) for param in kernel.params]
    return f"{symbol}{arguments[0]}" if len(arguments) == 1 else f" {symbol} ".join(arguments)


def _arguments(step: Step, params: Params, with_index: bool) -> str:
    letters = _letters(step) if with_index else ()
    written = [_operand(step, k, letters) for k in range(len(step.operands))]
    return ", ".join([*written, *map(display.param_text, params)])


def _read(step: Step, kernel: Window | Pad | Take) -> str:
    names = _named(step, tuple(range(len(step.shape))))
    place = _place(step, kernel, names)
    return _operand(step, 0, [place if label == kernel.at else names[label] for label in kernel.labels])


def _place(step: Step, kernel: Window | Pad | Take | Overlap | Put, names: Sequence[str]) -> str:
    """The index that a map gives: ``2i+1``, or ``t3[i]``."""
    match kernel:
        case Take() | Put():
            return _operand(step, 1, [names[label] for label in kernel.places])
        case Pad():
            return _affine_sum((1,), [names[kernel.place]], kernel.offset)
    return _affine_sum(kernel.strides, [names[label] for label in kernel.places], kernel.offset)


def _affine_sum(strides: Sequence[int], names: Sequence[str], offset: int) -> str:
    text = ""
    for stride, name in zip(strides, names, strict=True):
        if stride:
            sign = "-" if stride < 0 else "+" if text else ""
            text += f"{sign}{abs(stride) if abs(stride) != 1 else ''}{name}"
    return f"{text}{offset:+d}" if offset and text else text or str(offset)


def _written(step: Step, kernel: Overlap | Put) -> str:
    names = index_names(max([len(step.shape), *[label + 1 for label in (*kernel.labels, *kernel.places)]]))
    summed = sorted({label for label in kernel.labels if label >= len(step.shape)})
    head = f"sum_{''.join([names[label] for label in summed])} " if summed else ""
    operand = _operand(step, 0, [names[label] for label in kernel.labels])
    return f"{head}[{names[kernel.at]} = {_place(step, kernel, names)}] {operand}"


def _merged(step: Step, kernel: Merge) -> str:
    names = index_names(max([len(step.shape), *[label + 1 for label in kernel.labels]]))
    operand = _operand(step, 0, [names[label] for label in kernel.labels])
    return f"{operand} with {names[kernel.at]} = ({', '.join([names[place] for place in kernel.places])})"


def _inside(step: Step, kernel: Inside) -> str:
    return f"[0 <= {_affine_sum(kernel.strides, _letters(step), kernel.offset)} < {kernel.size}]"


_WRITERS: dict[type, Callable[[Step, Any], str]] = {
    AffineMap: _affine,
    Apply: _apply,
    Call: _call,
    Choose: _choose,
    Contract: _contract,
    Embed: _embedded,
    Fill: _fill,
    Group: _group,
    Inside: _inside,
    Joined: _joined,
    Layout: _layout,
    Merge: _merged,
    OneHot: _one_hot,
    Overlap: _written,
    Pad: _read,
    Patched: _patched,
    Place: _placed,
    Put: _written,
    Selected: _selected,
    Sliced: _sliced,
    Sum: _sum,
    Take: _read,
    Window: _read,
}
