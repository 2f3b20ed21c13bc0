"""From written subscripts to index tuples of integers.

Owns :class:`Subscripts` and the meaning of the notation, which is NumPy's: default output, ellipsis, repeated
labels. Imports only ``errors`` and its own scanner. Invariant: the labels of a :class:`Subscripts` are 0, 1,
2, ... in order of first appearance over the inputs, so two texts with different letters for the same product
give equal results; there is no limit to their number; every output label is unique and occurs in an input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from einsumad.errors import IndexNotationError
from einsumad.notation.source import Source, Term, scan, write_lists
from einsumad.records import record


@record(eq=True, repr=True)
class Subscripts:
    """One index tuple an operand and one for the output.

    ``broadcast`` are the labels that an ellipsis stands for; ``names`` gives each label the name it had in
    the text (the axes of an ellipsis are numbered from the right, ``...[-1]`` being the last). Names play no
    part in equality.

    >>> parse("ab,bc->ac", [2, 2])
    Subscripts(inputs=((0, 1), (1, 2)), output=(0, 2), broadcast=frozenset(), names=('a', 'b', 'c'))
    """

    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    broadcast: frozenset[int]
    names: tuple[str, ...] = field(compare=False)


def parse(subscripts: str, ranks: Sequence[int]) -> Subscripts:
    """Read einsum subscripts for operands of the given numbers of axes.

    Without ``->`` the output is the ellipsis axes and then, in alphabetical order, the labels that occur
    once. An ellipsis stands for as many axes as its operand has left; of unequal numbers the last ones are
    matched. Where the written output leaves the ellipsis out, its axes are summed. Any letter of any alphabet
    is an index.

    >>> parse("...ij,...j->...i", [2, 4]).inputs
    ((0, 1), (2, 3, 4, 1))
    """
    return _parsed(subscripts, tuple(ranks))


def parse_interleaved(args: Sequence[Any]) -> tuple[tuple[Any, ...], Subscripts]:
    """Read ``(A, labels, B, labels, ..., output)`` and return the operands and their subscripts.

    A label is any hashable object, the list of output labels may be left out, and ``...`` stands for an
    ellipsis.

    >>> operands, subscripts = parse_interleaved([[[1, 2]], [0, 77], [3, 4], [77]])
    >>> subscripts.inputs, subscripts.output
    (((0, 1), (1,)), (0,))
    """
    pairs, rest = divmod(len(args), 2)
    operands = tuple(args[: 2 * pairs : 2])
    inputs = [_labels(args[2 * position + 1], f"operand {position}") for position in range(pairs)]
    output = _labels(args[-1], "the output") if rest else None
    if not pairs:
        raise IndexNotationError("no operand was given: write the operands, each followed by its list of labels")
    return operands, _resolve(write_lists(inputs, output), tuple(np.ndim(operand) for operand in operands))


@lru_cache(maxsize=4096)
def _parsed(subscripts: str, ranks: tuple[int, ...]) -> Subscripts:
    return _resolve(scan(subscripts), ranks)


def _labels(given: object, owner: str) -> tuple[Hashable, ...]:
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, (list, tuple)):
        raise IndexNotationError(f"the labels of {owner} are a {type(given).__name__}: give a list such as [0, 1]")
    labels = tuple(given)
    try:
        hash(labels)
    except TypeError as error:
        raise IndexNotationError(
            f"the labels {given!r} of {owner} are not all hashable: use integers or strings"
        ) from error
    return labels


@record(eq=True, repr=True)
class _Dots:
    """An axis that an ellipsis stands for, counted from the right: -1 is the last."""

    axis: int

    def __str__(self) -> str:
        return f"...[{self.axis}]"


def _resolve(source: Source, ranks: tuple[int, ...]) -> Subscripts:
    _check_count(source, len(ranks))
    inputs = [_expand(source, operand, rank) for operand, rank in enumerate(ranks)]
    counts = Counter(chain.from_iterable(inputs))
    dots = sorted((key for key in counts if isinstance(key, _Dots)), key=lambda key: key.axis)
    named = [key for key in counts if not isinstance(key, _Dots)]
    if source.output is None:
        output = [*dots, *_in_order(source, [key for key in named if counts[key] == 1])]
    else:
        output = _written_output(source, source.output, named, dots)
    numbers = {key: number for number, key in enumerate(counts)}
    return Subscripts(
        inputs=tuple(tuple(numbers[key] for key in keys) for keys in inputs),
        output=tuple(numbers[key] for key in output),
        broadcast=frozenset(numbers[key] for key in dots),
        names=tuple(str(key) for key in counts),
    )


def _check_count(source: Source, operands: int) -> None:
    terms = len(source.inputs)
    if terms != operands:
        place = source.inputs[min(terms - 1, operands)]
        complaint = (
            f"the subscripts describe {_plural(terms, 'operand')} but {operands} {_were(operands)} given: "
            "write one term for each operand, with ',' between them"
        )
        raise source.error(complaint, place)


def _expand(source: Source, operand: int, rank: int) -> list[Hashable]:
    """Return one key for every axis of an operand."""
    term = source.inputs[operand]
    keys: list[Hashable] = [mark.label for mark in term.marks]
    dots = _only_dots(source, term)
    left = rank - len(keys) + (dots is not None)
    if left < 0 or (left and dots is None):
        remedy = "write one for each axis" + ("" if left < 0 else ", or '...' for the others")
        written = _plural(len(keys) - (dots is not None), "index", "indices")
        complaint = f"operand {operand} has {_plural(rank, 'axis', 'axes')} but {written} here: {remedy}"
        raise source.error(complaint, term)
    if dots is not None:
        keys[dots : dots + 1] = [_Dots(axis) for axis in range(-left, 0)]
    return keys


def _only_dots(source: Source, term: Term) -> int | None:
    first = term.dots
    for position, mark in enumerate(term.marks):
        if mark.label is Ellipsis and position != first:
            raise source.error("a second '...' in one term: nothing says how they share the axes", mark)
    return first


def _written_output(source: Source, term: Term, named: Sequence[Hashable], dots: Sequence[Hashable]) -> list[Hashable]:
    _only_dots(source, term)
    output: list[Hashable] = []
    known = set(named)
    for mark in term.marks:
        if mark.label is Ellipsis:
            output.extend(dots)
            continue
        if mark.label not in known:
            complaint = f"output index '{mark.label}' is not an index of any operand: {_choice(named)}"
            raise source.error(complaint, mark)
        if mark.label in output:
            complaint = f"output index '{mark.label}' is repeated: an index can stand once in the output"
            raise source.error(complaint, mark)
        output.append(mark.label)
    return output


def _in_order(source: Source, keys: list[Hashable]) -> list[Hashable]:
    try:
        return sorted(keys)  # type: ignore[type-var]  # labels without an order end in the TypeError below
    except TypeError:
        complaint = "these labels have no order, so there is no default output: give the output labels"
        raise source.error(complaint, source.inputs[0]) from None


def _choice(named: Sequence[Hashable]) -> str:
    return f"use one of {', '.join(map(str, named))}" if named else "leave it out"


def _plural(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
