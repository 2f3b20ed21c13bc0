"""Which size each index has, given the shapes of the operands.

Owns the check of shapes against subscripts. Imports only ``errors`` and its siblings. Invariant: every
disagreement of sizes is found here, before any array library sees the operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

from einsumad.errors import ShapeError, caret
from einsumad.notation.parsing import Subscripts
from einsumad.notation.source import Mark, Source, scan, write_lists


def check_sizes(subscripts: Subscripts, shapes: Sequence[Sequence[int]], text: str | None = None) -> dict[int, int]:
    """Return the size of every label, or raise :class:`ShapeError` where two sizes disagree.

    An index of size 1 in one operand broadcasts against any size in another one, be it named or of an
    ellipsis. Within one operand a repeated index needs equal sizes. ``text`` is what was parsed, for the
    error to point into; without it the subscripts are written out anew.

    >>> from einsumad.notation import parse
    >>> check_sizes(parse("ij,j->i", [2, 1]), [(2, 1), (5,)])
    {0: 2, 1: 5}
    """
    _check_ranks(subscripts, shapes)
    sizes: dict[int, int] = {}
    owners: dict[int, int] = {}
    for operand, (labels, shape) in enumerate(zip(subscripts.inputs, shapes, strict=True)):
        own: dict[int, int] = {}
        for axis, (label, size) in enumerate(zip(labels, shape, strict=True)):
            if own.setdefault(label, size) != size:
                complaint = f"sizes {own[label]} and {size} in operand {operand}: a diagonal needs equal sizes"
                raise _error(subscripts, text, operand, axis, complaint)
            known = sizes.setdefault(label, size)
            if known == 1 or label not in owners:
                sizes[label] = size
                owners[label] = operand
            elif size not in (1, known):
                complaint = (
                    f"size {known} in operand {owners[label]} and size {size} in operand {operand}: "
                    "make them equal, or one of them 1 to broadcast it"
                )
                raise _error(subscripts, text, operand, axis, complaint)
    return sizes


def _check_ranks(subscripts: Subscripts, shapes: Sequence[Sequence[int]]) -> None:
    expected = [len(labels) for labels in subscripts.inputs]
    given = [len(shape) for shape in shapes]
    if expected != given:
        raise ShapeError(f"the subscripts are for operands of rank {expected}: these have rank {given}")


def _error(subscripts: Subscripts, text: str | None, operand: int, axis: int, complaint: str) -> ShapeError:
    source = _written(subscripts) if text is None else scan(text)
    mark = _mark_of(source, operand, axis, len(subscripts.inputs[operand]))
    name = subscripts.names[subscripts.inputs[operand][axis]]
    return ShapeError(f"index '{name}' has {complaint}\n{caret(source.text, mark.start, mark.length)}")


def _mark_of(source: Source, operand: int, axis: int, rank: int) -> Mark:
    """Return the mark that stands for an axis: an ellipsis stands for all that the other marks leave over."""
    term = source.inputs[operand]
    if term.dots is None or axis < term.dots:
        return term.marks[axis]
    return term.marks[max(term.dots, axis - rank + len(term.marks))]


def _written(subscripts: Subscripts) -> Source:
    terms = [_shown(subscripts, labels) for labels in (*subscripts.inputs, subscripts.output)]
    if all(len(name) == 1 and name.isalpha() for term in terms for name in term if name is not Ellipsis):
        *inputs, output = ("".join("..." if name is Ellipsis else name for name in term) for term in terms)
        return scan(f"{','.join(inputs)}->{output}")
    return write_lists(terms[:-1], terms[-1])


def _shown(subscripts: Subscripts, labels: Sequence[int]) -> list[str | EllipsisType]:
    names: list[str | EllipsisType] = []
    for label in labels:
        name = Ellipsis if label in subscripts.broadcast else subscripts.names[label]
        if name is not Ellipsis or Ellipsis not in names:
            names.append(name)
    return names
