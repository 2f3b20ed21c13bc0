"""The exceptions of the library, and the caret block that their messages point with.

Owns every exception class that a user can meet. Imports nothing of the package. Invariant: each class is an
:class:`EinsumadError` and also the built-in, or NumPy's own, that fits, so ``except ValueError`` keeps working; each
can be pickled.

A message says what is wrong, where (a caret, an index, the sizes) and what to do about it.
"""

from __future__ import annotations

from unicodedata import east_asian_width

from numpy.linalg import LinAlgError

__all__ = [
    "DeclarationError",
    "DifferentiationError",
    "EinsumadError",
    "IndexNotationError",
    "InternalError",
    "LinearAlgebraError",
    "MemoryLimitError",
    "ShapeError",
    "TracingError",
    "WrongDerivativeError",
    "caret",
]


class EinsumadError(Exception):
    """The root of the hierarchy: catch it to catch whatever this library raises on purpose.

    >>> issubclass(ShapeError, EinsumadError) and issubclass(ShapeError, ValueError)
    True
    """


class IndexNotationError(EinsumadError, ValueError):
    """A text or a list of indices that Einstein notation does not allow.

    >>> from einsumad.notation import parse
    >>> parse("i->j", [1])
    Traceback (most recent call last):
        ...
    einsumad.errors.IndexNotationError: output index 'j' is not an index of any operand: ...
    i->j
       ^
    """


class ShapeError(EinsumadError, ValueError):
    """Arrays whose sizes do not fit together.

    >>> from einsumad.notation import check_sizes, parse
    >>> check_sizes(parse("i,i->", [1, 1]), [(3,), (4,)], "i,i->")
    Traceback (most recent call last):
        ...
    einsumad.errors.ShapeError: index 'i' has size 3 in operand 0 and size 4 in operand 1: ...
    i,i->
      ^
    """


class DifferentiationError(EinsumadError, TypeError):
    """A derivative that does not exist or is not supported, such as one with respect to integers.

    >>> raise DifferentiationError("argument 0 has dtype int64: convert it to a floating dtype first")
    Traceback (most recent call last):
        ...
    einsumad.errors.DifferentiationError: argument 0 has dtype int64: convert it to a floating dtype first
    """


class DeclarationError(EinsumadError, ValueError):
    """A fact that was declared of a matrix and does not hold.

    >>> raise DeclarationError("a matrix declared symmetric is not: it is off by 0.5")
    Traceback (most recent call last):
        ...
    einsumad.errors.DeclarationError: a matrix declared symmetric is not: it is off by 0.5
    """


class LinearAlgebraError(EinsumadError, LinAlgError):
    """A matrix that a function, or a derivative that was asked for, does not exist for.

    >>> raise LinearAlgebraError("inv of shape (2, 2): Singular matrix: it exists for invertible matrices")
    Traceback (most recent call last):
        ...
    einsumad.errors.LinearAlgebraError: inv of shape (2, 2): Singular matrix: it exists for invertible matrices
    """


class TracingError(EinsumadError, TypeError):
    """A use of a traced value that would lose its derivative, or a function that cannot be traced.

    >>> raise TracingError("float() needs a number: return the traced value and convert the result")
    Traceback (most recent call last):
        ...
    einsumad.errors.TracingError: float() needs a number: return the traced value and convert the result
    """


class MemoryLimitError(EinsumadError, MemoryError):
    """A plan that would need more memory than allowed, refused before anything is allocated.

    >>> raise MemoryLimitError("the result (1000, 1000, 1000) needs 8.0 GB: ask for it compressed")
    Traceback (most recent call last):
        ...
    einsumad.errors.MemoryLimitError: the result (1000, 1000, 1000) needs 8.0 GB: ask for it compressed
    """


class WrongDerivativeError(EinsumadError, AssertionError):
    """A derivative that a check of :mod:`einsumad.testing` found to be wrong; the message is the report.

    >>> raise WrongDerivativeError("the gradient of f is wrong")
    Traceback (most recent call last):
        ...
    einsumad.errors.WrongDerivativeError: the gradient of f is wrong
    """


class InternalError(EinsumadError, AssertionError):
    """An invariant of the library that does not hold: a bug of ours, never a mistake of the user.

    >>> print(InternalError("a node has two shapes"))
    a node has two shapes
    This is a bug in einsumad, not in your code: please report it with the input that led here.
    """

    def __str__(self) -> str:
        """Return the message, with the request to report it."""
        request = "This is a bug in einsumad, not in your code: please report it with the input that led here."
        return f"{super().__str__()}\n{request}"


def caret(text: str, start: int, length: int = 1) -> str:
    """Return two lines: ``text``, and a ``^`` under each of the ``length`` characters from ``start`` on.

    There is always at least one caret; a ``start`` behind the last character points behind the text.
    Characters that would break the line show as ``?``, and wide characters get two columns.

    >>> print(caret("ij,jk->iq", 8))
    ij,jk->iq
            ^
    """
    shown = "".join(character if character.isprintable() else "?" for character in text)
    marked = shown[start : start + max(length, 1)] or " "
    return f"{shown}\n{' ' * _columns(shown[:start])}{'^' * _columns(marked)}"


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
