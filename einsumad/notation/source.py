"""The written form of a product: its terms, and where in the text each index stands.

Owns the scanner of subscripts texts and the writer of lists of labels. Imports only ``errors``. Invariant: a
:class:`Source` is pure syntax (no rank or size is known yet) in which every mark knows its place, so that any
later complaint can point at it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from einsumad.errors import IndexNotationError, caret
from einsumad.records import record

_ARROW = "->"
_DOTS = "..."


@record(eq=True, repr=True)
class Mark:
    """One index or one ellipsis (label ``Ellipsis``) as written, with its place in the text."""

    label: Hashable
    start: int
    length: int


@record(eq=True, repr=True)
class Term:
    """The marks of one operand, or of the output, with the place of the whole term."""

    marks: tuple[Mark, ...]
    start: int
    length: int

    @property
    def dots(self) -> int | None:
        """The position of the ellipsis among the marks, if there is one."""
        return next((position for position, mark in enumerate(self.marks) if mark.label is Ellipsis), None)


@record(eq=True, repr=True)
class Source:
    """A text with its terms; ``output`` is None where it was left to the default."""

    text: str
    inputs: tuple[Term, ...]
    output: Term | None

    def error(self, complaint: str, place: Mark | Term) -> IndexNotationError:
        """Return the error that points at ``place``."""
        return IndexNotationError(f"{complaint}\n{caret(self.text, place.start, place.length)}")


def scan(text: str) -> Source:
    """Read a subscripts text such as ``"i...j,jk->...ik"``.

    >>> [mark.label for mark in scan("a b,...").inputs[1].marks]
    [Ellipsis]
    """
    rows: list[list[Mark]] = [[]]
    starts = [0]
    arrow = False
    for mark in _marks(text):
        if mark.label not in (",", _ARROW):
            rows[-1].append(mark)
            continue
        if arrow:
            raise _error(text, f"a '{mark.label}' behind the '->': a product has one output, and it is one term", mark)
        arrow = mark.label == _ARROW
        rows.append([])
        starts.append(mark.start + mark.length)
    terms = tuple(_term(row, start) for row, start in zip(rows, starts, strict=True))
    return Source(text, terms[:-1], terms[-1]) if arrow else Source(text, terms, None)


def write_lists(inputs: Iterable[Sequence[Hashable]], output: Sequence[Hashable] | None) -> Source:
    """Write lists of labels as a text such as ``[0, 1], [1, 2] -> [0, 2]``, and return it with its places.

    >>> write_lists([[0, 1], [1, ...]], [0]).text
    '[0, 1], [1, ...] -> [0]'
    """
    text = ""
    terms: list[Term] = []
    for labels in inputs:
        text += ", " if terms else ""
        terms.append(_listed(labels, len(text)))
        text += _list_text(labels)
    if output is None:
        return Source(text, tuple(terms), None)
    text += " -> "
    return Source(text + _list_text(output), tuple(terms), _listed(output, len(text)))


def _marks(text: str) -> Iterator[Mark]:
    position = 0
    while position < len(text):
        piece = next((word for word in (_DOTS, _ARROW) if text.startswith(word, position)), text[position])
        if len(piece) == 1 and not piece.isalpha() and piece not in " ,":
            raise _error(text, _complaint(piece), Mark(piece, position, 1))
        if piece != " ":
            yield Mark(Ellipsis if piece == _DOTS else piece, position, len(piece))
        position += len(piece)


def _error(text: str, complaint: str, mark: Mark) -> IndexNotationError:
    return Source(text, (), None).error(complaint, mark)


def _complaint(character: str) -> str:
    if character in _ARROW:
        return f"a '{character}' alone is half an arrow: write '->' before the output"
    if character == ".":
        return "a '.' that is not part of an ellipsis: write three dots, '...'"
    return (
        f"{character!r} is not an index: write letters here, or give other labels (numbers, names) in lists, "
        "as in einsum(A, [0, 1], B, [1, 2], [0, 2])"
    )


def _term(marks: list[Mark], start: int) -> Term:
    if not marks:
        return Term((), start, 1)
    last = marks[-1]
    return Term(tuple(marks), marks[0].start, last.start + last.length - marks[0].start)


def _listed(labels: Sequence[Hashable], start: int) -> Term:
    marks: list[Mark] = []
    position = start + 1
    for label in labels:
        shown = _label_text(label)
        marks.append(Mark(label, position, len(shown)))
        position += len(shown) + len(", ")
    return Term(tuple(marks), start, len(_list_text(labels)))


def _list_text(labels: Sequence[Hashable]) -> str:
    return f"[{', '.join(map(_label_text, labels))}]"


def _label_text(label: Hashable) -> str:
    return _DOTS if label is Ellipsis else str(label)
