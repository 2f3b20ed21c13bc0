"""Entrywise steps: products with masks, sums, choices and catalogue functions.

Owns broadcasting arithmetic. Imports operands and source text. Invariant: a step writes only memory that it
allocated or that the plan lets it take over; small operands meet each other before they meet large ones;
masks select last.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from einsumad.execution.lowering.columns import goes_by_columns
from einsumad.execution.lowering.operands import Registers, Term, aligned, plain, register_of, stored_shape
from einsumad.execution.lowering.outer import outer_operands
from einsumad.execution.source import dtype_text, number_text, register_name, typed, typed_number
from einsumad.functions import elementwise_function, source_of
from einsumad.graph import BOOL, Number, Shape
from einsumad.planning.kernels import Apply, Choose, Group, Sum
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.records import replace

_MANY = 2**12
"""Entries from which masks without a pattern cost more than bits."""

Signed: TypeAlias = tuple[str, Term]
"""What is multiplied, or divided by, in a product."""


def lower_group(step: Step, kernel: Group, registers: Registers) -> list[str]:
    """The statements of an entrywise product."""
    ndim = len(step.shape)
    terms = [aligned(o, labels, ndim, registers) for o, labels in zip(step.operands, kernel.inputs, strict=True)]
    for k in kernel.divisors:  # a number of Python, divided by zero, raises
        terms[k] = replace(terms[k], text=_typed_if_number(step, k, terms[k].text))
    masks = [terms[k].text for k in kernel.masks]
    met = [k for k in range(len(terms)) if k not in kernel.masks]
    factors = [k for k in met if k not in kernel.divisors]
    name = register_name(step.register)
    if step.dtype == BOOL:
        return [f"{name} = {' & '.join([term.text for term in terms])}"]
    if not factors and not kernel.divisors:
        held = masks[0] if len(masks) == 1 else f"({' & '.join(masks)})"
        return [f"{name} = {held}.astype({dtype_text(step.dtype)})"]
    if step.takes is not None:
        return _product_in_place(step, kernel, terms)
    if len(factors) + len(kernel.divisors) == 1 and factors:
        lines, value, shape = [], _typed_if_number(step, factors[0], terms[factors[0]].text), terms[factors[0]].shape
    else:
        shape = np.broadcast_shapes(*[terms[k].shape for k in met])
        into = registers.into.pop(step.register, None) if len(met) > 1 and not masks and shape == step.shape else None
        if into is None and step.dtype.kind == "f" and goes_by_columns(step, kernel, registers):
            return [f'{name} = np.multiply({terms[0].text}, {terms[1].text}, order="F")']
        outer = outer_operands(step, kernel, registers)
        before, terms = ([], terms) if outer is None else outer
        lines = before + _product(name, shape, [("/" if k in kernel.divisors else "*", terms[k]) for k in met], into)
        if all(isinstance(step.operands[k], Constant) for k in met):
            lines.append(f"{name} = {typed(name, step.dtype)}")
        value = name
    if masks:
        lines.append(_masked(step, kernel, " & ".join(masks), Term(value, shape), registers))
    return lines


def _masked(step: Step, kernel: Group, mask: str, product: Term, registers: Registers) -> str:
    """The statement that keeps the product where the mask holds, in its own memory if it was made in this step."""
    name = register_name(step.register)
    if not _is_kept_by_bits(step, kernel, registers):
        return f"{name} = np.where({mask}, {product.text}, {number_text(0, step.dtype)})"
    if (product.text, product.shape) == (name, step.shape):
        return f"kept({name}, {mask}, {name})"
    return f"{name} = kept({product.text}, {mask})"


def _is_kept_by_bits(step: Step, kernel: Group, registers: Registers) -> bool:
    """Whether what masks with a pattern select is large, and an array of a dtype whose bits can be selected."""
    if step.dtype.kind != "f" or step.dtype.itemsize not in (4, 8) or prod(step.stored) < _MANY:
        return False
    if any(isinstance(operand, Constant) for operand in step.operands):
        return False
    masks = [register_of(step, k) for k in kernel.masks]
    values = [register_of(step, k) for k in range(len(step.operands)) if k not in kernel.masks]
    patterned = any(registers.stored[mask] for mask in masks)
    return (
        patterned
        and any(registers.dtypes[k] == step.dtype and registers.stored[k] for k in values)
        and all(registers.dtypes[k] == step.dtype for k in values)
    )


def _typed_if_number(step: Step, position: int, text: str) -> str:
    operand = step.operands[position]
    return typed_number(operand.value, step.dtype) if isinstance(operand, Constant) else text


def _product(name: str, shape: Shape, terms: Sequence[Signed], into: str | None) -> list[str]:
    """Factors and divisors in order; after the first product of full shape all is done in place, or in memory given."""
    ordered = _in_order(terms, shape)
    first = ordered.pop(0)[1] if ordered[0][0] == "*" else Term("1.0", ())
    rest = ordered
    text, kept = first.text, first.shape
    lines: list[str] = []
    for sign, term in rest:
        kept = np.broadcast_shapes(kept, term.shape)
        if lines and shape:
            lines.append(f"{name} {sign}= {term.text}")
        elif kept == shape and shape:
            lines.append(f"{name} = {_binary(sign, text, term.text, into)}")
        else:
            text = f"({text} {sign} {term.text})" if shape else f"{text} {sign} {term.text}"
    return lines or [f"{name} = {text}"]


_UFUNCS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


def _binary(sign: str, left: str, right: str, into: str | None) -> str:
    """An operation on two expressions, in new memory or in that given."""
    return f"{left} {sign} {right}" if into is None else f"np.{_UFUNCS[sign]}({left}, {right}, {into})"


def _in_order(terms: Sequence[Signed], shape: Shape) -> list[Signed]:
    """Smaller factors first; the others in the kernel's order, which neither overflows nor vanishes early."""
    whole = prod(shape)

    def rank(term: Signed) -> tuple[bool, int]:
        size = prod(term[1].shape)
        return (True, 0) if term[0] == "/" or size == whole else (False, size)

    return sorted(terms, key=rank)


def _product_in_place(step: Step, kernel: Group, terms: Sequence[Term]) -> list[str]:
    """The product in the memory of the operand that is taken over: from its place in the order back, then on."""
    target = next(k for k, operand in enumerate(step.operands) if operand == step.takes)
    name, text = register_name(step.register), plain(step.operands[target])
    signed = [("/" if k in kernel.divisors else "*", term) for k, term in enumerate(terms)]
    ordered = _in_order([(sign, term) for k, (sign, term) in enumerate(signed) if k != target], step.stored)
    before = _in_order(signed[:target], step.stored)
    small = [term.text for sign, term in ordered if sign == "*" and term.shape != step.stored]
    large = [pair for pair in ordered if pair[0] == "/" or pair[1].shape == step.stored]
    first = sum(pair[0] == "/" or pair[1].shape == step.stored for pair in before)
    pending = [("*", " * ".join(small))] if small else []
    pending += [(sign, term.text) for sign, term in (*large[:first][::-1], *large[first:])]
    if signed[target][0] == "/":
        at = next((k for k, (sign, _) in enumerate(pending) if sign == "*"), None)
        numerator = "1.0" if at is None else pending.pop(at)[1]
        lines = [f"{name} = np.divide({numerator}, {text}, {text})"]
    else:
        sign, other = pending.pop(0)
        lines = [f"{name} = np.{'divide' if sign == '/' else 'multiply'}({text}, {other}, {text})"]
    return lines + [f"{name} {sign}= {other}" for sign, other in pending]


def lower_sum(step: Step, kernel: Sum, registers: Registers) -> list[str]:
    """The statements of a sum: what broadcasts first, then terms of full shape, in place after the first."""
    name = register_name(step.register)
    terms = list(zip(kernel.coefficients, step.operands, strict=True))
    if step.dtype == BOOL:
        return [f"{name} = {' | '.join([plain(operand) for _, operand in terms])}"]
    if all(isinstance(operand, Constant) for _, operand in terms) or not step.stored:
        text = _small_sum(terms)
        if not any(not isinstance(operand, Constant) for _, operand in terms):
            text = typed(text, step.dtype)
        return [f"{name} = {text}"]
    small = [term for term in terms if stored_shape(term[1], registers) != step.stored]
    large = [term for term in terms if stored_shape(term[1], registers) == step.stored]
    large.sort(key=lambda term: (term[0] != 1, term[0] != -1))
    if large:  # an outer sum of small terms would be as large as these: they are added one after the other
        together = _without_growing(small, registers)
        large += [term for term in small if term not in together]
        small = together
    if step.takes is not None:
        return _sum_in_place(name, step, small, large)
    into = registers.into.pop(step.register, None) if large and _begins_with_two(small, large) else None
    return _sum(name, small, large, into)


def _without_growing(terms: Sequence[tuple[Number, Operand]], registers: Registers) -> list[tuple[Number, Operand]]:
    """Of the terms those, from the largest on, whose sum is no larger than the largest of them."""
    ordered = sorted(terms, key=lambda term: -prod(stored_shape(term[1], registers)))
    kept: list[tuple[Number, Operand]] = []
    shape: Shape = ()
    for term in ordered:
        joint = np.broadcast_shapes(shape, stored_shape(term[1], registers))
        if not kept or prod(joint) == prod(shape):
            kept.append(term)
            shape = joint
    return [term for term in terms if term in kept]


def _begins_with_two(small: Sequence[tuple[Number, Operand]], large: Sequence[tuple[Number, Operand]]) -> bool:
    """Whether the first operation of a sum is one of two operands."""
    return bool(small) or (large[0][0] == 1 and len(large) > 1)


def _small_sum(terms: Sequence[tuple[Number, Operand]]) -> str:
    """One expression."""
    ordered = sorted(terms, key=lambda term: term[0] < 0)
    text = ""
    for coefficient, operand in ordered:
        written = plain(operand)
        if abs(coefficient) != 1:
            written = f"{_magnitude(coefficient)} * {written}"
        if text:
            text += f" {'-' if coefficient < 0 else '+'} {written}"
        else:
            text = f"-{written}" if coefficient < 0 else written
    return text if len(terms) > 1 or text.startswith("-") or "*" in text else f"{text} * 1"


def _magnitude(coefficient: Number) -> str:
    return repr(abs(coefficient))


def _sum(
    name: str, small: Sequence[tuple[Number, Operand]], large: Sequence[tuple[Number, Operand]], into: str | None
) -> list[str]:
    """A new array, or memory given, then the rest in place."""
    if not large:  # no term has the full shape: they broadcast against each other
        return [f"{name} = {_small_sum(small)}"]
    (coefficient, operand), rest = large[0], list(large[1:])
    start = _scaled(coefficient, operand)
    if small:
        sign = "-" if coefficient < 0 else "+"
        positive = all(c > 0 for c, _ in small)
        if sign == "+" and not positive and len(small) == 1:
            first = _binary("-", start, _scaled(small[0][0], small[0][1]), into)
        else:
            first = _binary(sign, _parenthesised(small), start, into)
    elif coefficient == 1 and rest:
        sign, other = _split(rest.pop(0))
        first = _binary(sign, start, other, into)
    elif coefficient == 1:
        first = f"{start}.copy()"
    else:
        first = f"-{start}" if coefficient < 0 else start
    return [f"{name} = {first}", *[_accumulated(name, term) for term in rest]]


def _parenthesised(small: Sequence[tuple[Number, Operand]]) -> str:
    text = _small_sum(small) if len(small) > 1 else _bare(small[0])
    return f"({text})" if len(small) > 1 else text


def _bare(term: tuple[Number, Operand]) -> str:
    coefficient, operand = term
    text = _scaled(coefficient, operand)
    return f"-{text}" if coefficient < 0 else text


def _scaled(coefficient: Number, operand: Operand) -> str:
    """The operand times the coefficient without its sign."""
    text = plain(operand)
    if isinstance(operand, Constant) and operand.value < 0:
        text = f"({text})"
    return text if abs(coefficient) == 1 else f"{_magnitude(coefficient)} * {text}"


def _accumulated(name: str, term: tuple[Number, Operand]) -> str:
    return f"{name} {'-' if term[0] < 0 else '+'}= {_scaled(*term)}"


def _sum_in_place(
    name: str, step: Step, small: Sequence[tuple[Number, Operand]], large: Sequence[tuple[Number, Operand]]
) -> list[str]:
    """The sum in the memory of the term that is taken over."""
    taken = next(term for term in large if term[1] == step.takes)
    target = plain(taken[1])
    rest = [term for term in large if term is not taken]
    pending = [_parenthesised(small)] if small else []
    if taken[0] == 1 and (pending or rest):
        sign, text = ("+", pending.pop()) if pending else _split(rest.pop(0))
        lines = [f"{name} = np.{'add' if sign == '+' else 'subtract'}({target}, {text}, {target})"]
    elif taken[0] == 1:
        lines = [f"{name} = {target}"]
    elif taken[0] != -1:
        lines = [f"{name} = np.multiply({target}, {taken[0]!r}, {target})"]
    elif pending or (rest and rest[0][0] == 1):
        text = pending.pop() if pending else plain(rest.pop(0)[1])
        lines = [f"{name} = np.subtract({text}, {target}, {target})"]
    else:
        lines = [f"{name} = np.negative({target}, {target})"]
    lines += [f"{name} += {text}" for text in pending]
    return lines + [_accumulated(name, term) for term in rest]


def _split(term: tuple[Number, Operand]) -> tuple[str, str]:
    return "-" if term[0] < 0 else "+", _scaled(*term)


def lower_choose(step: Step, kernel: Choose, registers: Registers) -> list[str]:
    """The statement that picks from two operands by a mask."""
    ndim = len(step.shape)
    terms = [aligned(o, labels, ndim, registers).text for o, labels in zip(step.operands, kernel.inputs, strict=True)]
    if all(isinstance(operand, Constant) for operand in step.operands[1:]):
        terms[1:] = [_typed_if_number(step, k, terms[k]) for k in (1, 2)]
    for k, coefficient in enumerate(kernel.coefficients, 1):
        sign = "-" if coefficient < 0 else ""
        if abs(coefficient) != 1:
            terms[k] = f"{sign}{_magnitude(coefficient)} * {terms[k]}"
        elif sign:
            terms[k] = f"-{terms[k]}"
    return [f"{register_name(step.register)} = np.where({', '.join(terms)})"]


def lower_apply(step: Step, kernel: Apply, registers: Registers) -> list[str]:
    """The statement of a catalogue function."""
    row = elementwise_function(kernel.function)
    known = {registers.dtypes[operand] for operand in step.operands if isinstance(operand, int)}
    texts: list[str] = []
    # to SciPy's ufuncs a Python number is a double, which would make the result one
    typed_only = "special." in source_of(row, ("x",) * len(step.operands), kernel.params)
    for operand in step.operands:
        if isinstance(operand, Constant) and (typed_only or operand.dtype not in known):
            texts.append(typed_number(operand.value, operand.dtype))
        elif isinstance(operand, Constant) and operand.value < 0:
            texts.append(f"({plain(operand)})")
        else:
            texts.append(plain(operand))
    out = register_name(step.takes) if step.takes is not None else None
    if out is None and row.takes_out:
        out = registers.into.pop(step.register, None)
    return [f"{register_name(step.register)} = {source_of(row, tuple(texts), kernel.params, out)}"]
