"""Layouts and embeddings: diagonals, permutations, sums over axes, casts, factors, deltas.

Owns steps with one operand that is rearranged. Imports operands and source text. Invariant: a step without
a sum, a cast or a factor is a view; `np.einsum` is used for views of diagonals only.
"""

from __future__ import annotations

from math import prod

import numpy as np

from einsumad.execution.lowering.operands import (
    Registers,
    aligned,
    lined_up,
    permuted,
    register_of,
    whole,
)
from einsumad.execution.source import dtype_text, number_text, register_name, shape_text
from einsumad.graph import BOOL, Labels, Shape
from einsumad.notation import to_einsum
from einsumad.planning.kernels import Embed, Fill, Layout, Place
from einsumad.planning.steps import Step

_FEW, _MANY = 32, 1024
"""Entries of the axes to be summed up to which they are added one after the other, and how many there are at least."""


def lower_layout(step: Step, kernel: Layout, registers: Registers) -> list[str]:
    """The statements of a layout."""
    register = register_of(step, 0)
    dtype = registers.dtypes[register]
    name = register_name(step.register)
    if step.takes is not None:
        return [_scaled_in_place(name, register_name(step.takes), kernel, step.dtype)]
    labels = kernel.labels
    text = whole(register, registers)
    if len(set(labels)) < len(labels):
        text, labels = diagonal_text(text, labels), tuple(dict.fromkeys(labels))
    ndim = len(step.shape)
    axes = [axis for axis, label in enumerate(labels) if label >= ndim]
    if axes and dtype == step.dtype and _are_single(axes, labels, kernel, registers.shapes[register]):
        text = f"{text}[{', '.join(['0' if axis in axes else ':' for axis in range(len(labels))])}].copy()"
        labels = tuple([label for label in labels if label < ndim])
    elif axes:
        shape = tuple([registers.shapes[register][kernel.labels.index(label)] for label in labels])
        if _are_few(axes, shape, dtype) and (dtype == BOOL or _lies_last(axes, labels, kernel, registers, register)):
            text, dtype = _few_added(text, axes, dtype, step.dtype)
        else:
            text, dtype = _reduced(text, axes, len(labels), dtype, step.dtype)
        labels = tuple([label for label in labels if label < ndim])
    text = permuted(text, [labels.index(axis) for axis in range(ndim)])
    if dtype != step.dtype and dtype.kind in "iu" and kernel.coefficient != 1:  # the product may be out of its bounds
        text, dtype = f"{text}.astype({dtype_text(step.dtype)})", step.dtype
    if kernel.coefficient == -1 and dtype == step.dtype:
        text = f"-{text}"
    elif kernel.coefficient != 1:
        text = f"{text} * {number_text(kernel.coefficient, np.result_type(dtype, step.dtype))}"
    if dtype != step.dtype:
        text = f"({text})" if kernel.coefficient != 1 else text
        text = f"{text}.astype({dtype_text(step.dtype)})"
    return [f"{name} = {text}"]


def _are_single(axes: list[int], labels: Labels, kernel: Layout, shape: Shape) -> bool:
    """Whether each of the axes has one entry, so that there is nothing to add up."""
    return all(shape[kernel.labels.index(labels[axis])] == 1 for axis in axes)


def _scaled_in_place(name: str, taken: str, kernel: Layout, dtype: np.dtype) -> str:
    if kernel.coefficient == -1:
        return f"{name} = np.negative({taken}, {taken})"
    return f"{name} = np.multiply({taken}, {number_text(kernel.coefficient, dtype)}, {taken})"


def diagonal_text(text: str, labels: Labels) -> str:
    """The view of the entries at which axes of one label have one index, an axis for each label."""
    if len(labels) == 2:
        return f"{text}.diagonal()"
    return f'np.einsum("{to_einsum([labels], tuple(dict.fromkeys(labels)))}", {text})'


def _reduced(text: str, axes: list[int], count: int, dtype: np.dtype, target: np.dtype) -> tuple[str, np.dtype]:
    """The sum over the axes and its dtype: truth values are counted, the wider of two dtypes is summed in."""
    work = np.dtype(np.int64) if dtype == BOOL else np.result_type(dtype, target)
    arguments = [text]
    if len(axes) == count:
        arguments += ["axis=None"] if count > 1 else []
    else:
        arguments.append(f"axis={axes[0] if len(axes) == 1 else tuple(axes)}")
    if work != dtype or work.kind in "iu":
        arguments.append(f"dtype={dtype_text(work)}")
    return f"np.add.reduce({', '.join(arguments)})", work


def _are_few(axes: list[int], shape: Shape, dtype: np.dtype) -> bool:
    """Whether the axes hold few entries for each of many others, which are truth values or floats."""
    entries = prod([shape[axis] for axis in axes])
    return dtype.kind in "bf" and 1 < entries <= _FEW and prod(shape) >= _MANY * entries


def _lies_last(axes: list[int], labels: Labels, kernel: Layout, registers: Registers, register: int) -> bool:
    """Whether one of the axes is the last in memory, along which NumPy's loops would go."""
    return labels.index(kernel.labels[registers.orders[register][-1]]) in axes


def _few_added(text: str, axes: list[int], dtype: np.dtype, target: np.dtype) -> tuple[str, np.dtype]:
    """The sum over axes of few entries and its dtype: one byte for what is counted."""
    work = np.dtype(np.uint8) if dtype == BOOL else np.result_type(dtype, target)
    return f"few_added({text}, {tuple(axes)}, {dtype_text(work)})", work


def lower_embed(step: Step, kernel: Embed, registers: Registers) -> list[str]:
    """The statements of an embedding: a view with axes of size one, or zeros with a diagonal written."""
    name = register_name(step.register)
    ndim = len(step.shape)
    if not kernel.deltas:
        return [f"{name} = {aligned(step.operands[0], kernel.labels, ndim, registers).text}"]
    if not kernel.labels and not step.operands and ndim == 2:
        eye = f"np.eye({step.shape[0]}, dtype={dtype_text(step.dtype)})"
        times = "" if kernel.coefficient == 1 else f" * {number_text(kernel.coefficient, step.dtype)}"
        return [f"{name} = {eye}{times}"]
    first = {label: delta[0] for delta in kernel.deltas for label in delta}
    places = tuple([first.get(axis, axis) for axis in range(ndim)])
    distinct = tuple(dict.fromkeys(places))
    value = number_text(kernel.coefficient, step.dtype)
    if step.operands:
        register = register_of(step, 0)
        ranks = tuple([distinct.index(first.get(label, label)) for label in kernel.labels])
        value = lined_up(whole(register, registers), registers.shapes[register], ranks, len(distinct)).text
    zeros = f"{name} = np.zeros({shape_text(step.shape)}, {dtype_text(step.dtype)})"
    return [zeros, f"{_diagonal_of_zeros(name, step, places)}[...] = {value}"]


def _diagonal_of_zeros(name: str, step: Step, places: Labels) -> str:
    """The diagonal of a new tensor, of which the strides are known: by them it takes half the time of `np.einsum`."""
    strides = dict.fromkeys(places, 0)
    for axis, place in enumerate(places):
        strides[place] += prod(step.shape[axis + 1 :]) * step.dtype.itemsize
    shape = shape_text(tuple([step.shape[place] for place in strides]))
    return f"np.ndarray({shape}, {dtype_text(step.dtype)}, {name}, 0, {shape_text(tuple(strides.values()))})"


def lower_place(step: Step, kernel: Place, registers: Registers) -> list[str]:
    """The statements that add to diagonals of a tensor: of its own memory if it may be taken over, else of a copy."""
    name, before = register_name(step.register), register_of(step, 0)
    if step.takes is not None:
        lines = [f"{name} = {register_name(before)}"]
    else:
        lines = [f"{name} = {whole(before, registers)}.copy()"]
    first = {label: delta[0] for delta in kernel.deltas for label in delta}
    places = tuple([first.get(axis, axis) for axis in range(len(step.shape))])
    distinct = tuple(dict.fromkeys(places))
    view = f'np.einsum("{to_einsum([places], distinct)}", {name})'
    value = number_text(abs(kernel.coefficient), step.dtype)
    if len(step.operands) > 1:
        register = register_of(step, 1)
        ranks = tuple([distinct.index(first.get(label, label)) for label in kernel.labels])
        text = lined_up(whole(register, registers), registers.shapes[register], ranks, len(distinct)).text
        value = text if abs(kernel.coefficient) == 1 else f"{value} * {text}"
    return [*lines, f"{view}[...] {'-' if kernel.coefficient < 0 else '+'}= {value}"]


def lower_fill(step: Step, kernel: Fill, _: Registers) -> list[str]:
    """The statement that fills a tensor with one number."""
    name, shape, dtype = register_name(step.register), shape_text(step.shape), dtype_text(step.dtype)
    if kernel.value == 0:
        return [f"{name} = np.zeros({shape}, {dtype})"]
    return [f"{name} = np.full({shape}, {number_text(kernel.value, step.dtype)}, {dtype})"]
