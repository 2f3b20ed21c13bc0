"""The structure of a tensor in index notation.

Owns this text. Imports forms and the names of indices. Invariant: it depends on the form, the shapes and dtypes of the
arrays and the values of numbers alone, so it is the same in every run.

``2 A[j,l] δ[i,k]`` is a term with one stored array and a delta; ``[j = i + 1]`` and ``[j = B[m]]`` are 0/1 tensors that
are not stored; ``[C[i,j]]`` is a mask; ``1[i]`` spreads over an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from string import ascii_uppercase
from typing import Any

from einsumad.compressed.forms import Form, position_of
from einsumad.compressed.terms import Term
from einsumad.compressed.values import Structured
from einsumad.graph import BOOL, Affine, Leaf, Node, leaves
from einsumad.notation import index_names
from einsumad.planning import Factor, readable_bytes


def structure_text(form: Form, arrays: Sequence[Any] | None = None) -> str:
    """The terms, a line for each stored array, and its size beside that of the dense tensor.

    Without arrays numbers have names too.
    """
    slots = slots_of(form)
    stored = _names(form, arrays)
    lines = [equation_text(form, arrays)]
    lines += [
        f"  {name}  {shape_text(slots[k].shape)} {slots[k].dtype}  {readable_bytes(bytes_of(slots[k]))}"
        for k, name in stored.items()
    ]
    held = readable_bytes(sum([bytes_of(slots[k]) for k in stored]))
    lines.append(f"stored {held}, dense {shape_text(form.shape)} {readable_bytes(dense_bytes(form))}")
    return "\n".join(lines)


def equation_text(form: Form, arrays: Sequence[Any] | None = None) -> str:
    """The tensor as the sum of its terms."""
    letters = index_names(len(form.shape))
    left = f"H[{','.join(letters)}]" if letters else "H"
    return f"{left} = {_sum_text(term_texts(form, arrays))}"


def term_texts(form: Form, arrays: Sequence[Any] | None = None) -> list[str]:
    """Each term."""
    names = _names(form, arrays)
    return [_term_text(term, names, arrays) for term in form.terms]


def stored_arrays(form: Form, arrays: Sequence[Any]) -> dict[str, Any]:
    """The arrays under the names that the terms use; numbers are written into these."""
    return {name: arrays[position] for position, name in _names(form, arrays).items()}


def dense_bytes(form: Form) -> int:
    """The bytes of the dense tensor."""
    return bytes_of(form.node)


def slots_of(form: Form) -> dict[int, Leaf]:
    """The slots of a form by position, in order."""
    found = {position_of(leaf): leaf for leaf in leaves([form.node])}
    return {position: found[position] for position in sorted(found)}


def bytes_of(node: Node) -> int:
    """The bytes of a tensor that is stored."""
    return prod(node.shape) * node.dtype.itemsize


def blocks_text(names: Sequence[str], held: Mapping[tuple[int, int], Structured], symmetric: bool, stored: int) -> str:
    """The structure of each block, of a symmetric matrix of those on the diagonal and above."""
    lines: list[str] = []
    for (i, j), block in held.items():
        if not symmetric or i <= j:
            text = structure_text(block.form, block.arrays)
            lines.append(f"[{names[i]}, {names[j]}] {text}")
    dense = sum([dense_bytes(block.form) for block in held.values()])
    lines.append(f"together stored {readable_bytes(stored)}, dense {readable_bytes(dense)}")
    return "\n".join(lines)


def _names(form: Form, arrays: Sequence[Any] | None) -> dict[int, str]:
    """The names of the stored arrays by their positions; numbers have one where their values are not known."""
    stored = [position for position, leaf in slots_of(form).items() if leaf.shape or arrays is None]
    return {position: _name(place) for place, position in enumerate(stored)}


def _name(place: int) -> str:
    letter = ascii_uppercase[place % 26]
    return letter if place < 26 else f"{letter}{place // 26}"


def _sum_text(terms: Sequence[str]) -> str:
    if not terms:
        return "0"
    text = terms[0]
    for term in terms[1:]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _term_text(term: Term, names: dict[int, str], arrays: Sequence[Any] | None) -> str:
    letters = _letters(term)
    number = float(term.coefficient)
    parts: list[str] = []
    for factor in term.factors:
        position = position_of(_slot(factor))
        if position in names:
            text = names[position] + _indices(factor.labels, letters)
            parts.append(f"[{text}]" if factor.node.dtype == BOOL else text)
        elif arrays is not None:
            number *= float(arrays[position])
    parts += [_map_text(factor, letters, names) for factor in term.maps]
    tied: dict[int, list[int]] = {}
    for axis, label in enumerate(term.axes):
        tied.setdefault(label, []).append(axis)
    every = index_names(len(term.axes))
    parts += [f"δ[{','.join([every[axis] for axis in axes])}]" for axes in tied.values() if len(axes) > 1]
    spread = [letters[label] for label, axes in tied.items() if len(axes) == 1 and label not in term.held]
    parts += [f"1[{','.join(spread)}]"] if spread else []
    summed = [letters[label] for label in term.summed if term.sizes[label] > 1]
    if summed:
        parts.insert(0, "Σ_" + "".join(summed))
    return _with_number(number, parts)


def _with_number(number: float, parts: Sequence[str]) -> str:
    if not parts:
        return f"{number + 0:.6g}"
    text = " ".join(parts)
    if number == 1:
        return text
    return f"-{text}" if number == -1 else f"{number:.6g} {text}"


def _letters(term: Term) -> dict[int, str]:
    every = iter(index_names(len(term.axes) + len(term.summed)))
    letters: dict[int, str] = {}
    for label in term.axes:
        letter = next(every)
        letters.setdefault(label, letter)
    for label in term.summed:
        letters[label] = next(every)
    return letters


def _map_text(factor: Factor, letters: dict[int, str], names: dict[int, str]) -> str:
    node, labels = factor
    if not isinstance(node, Affine):
        index = position_of(_slot(Factor(node.operands[0], labels[:-1])))
        return f"[{letters[labels[-1]]} = {names.get(index, 'n')}{_indices(labels[:-1], letters)}]"
    steps = zip(node.strides, labels[1:], strict=True)
    terms = [
        f"{'' if step == 1 else '-' if step == -1 else f'{step} '}{letters[label]}" for step, label in steps if step
    ]
    if node.offset or not terms:
        terms.append(str(node.offset))
    return f"[{letters[labels[0]]} = {_sum_text(terms)}]"


def _slot(factor: Factor) -> Leaf:
    if not isinstance(factor.node, Leaf):
        raise TypeError(f"a factor of a form is a slot, not a {type(factor.node).__name__}")
    return factor.node


def _indices(labels: Sequence[int], letters: dict[int, str]) -> str:
    return f"[{','.join([letters[label] for label in labels])}]" if labels else ""


def shape_text(shape: Sequence[int]) -> str:
    """The sizes of the axes, or () where there are none."""
    return "×".join(map(str, shape)) if shape else "()"
