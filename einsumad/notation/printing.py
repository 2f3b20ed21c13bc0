"""From index tuples to text.

Owns the letters that indices are shown with. Imports nothing of the package. Invariant: the same index tuples
give the same text, whatever integers are used as labels; what :func:`to_einsum` writes the parser reads back.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

_EINSUM = string.ascii_letters
_READABLE = "ijklmnopqrstuvwxyzabcdefgh" + "IJKLMNOPQRSTUVWXYZABCDEFGH"


def to_einsum(inputs: Sequence[Sequence[int]], output: Sequence[int]) -> str:
    """Write index tuples as einsum subscripts, with the letters a, b, c, ... in order of first appearance.

    Behind a-z and A-Z come the letters from U+0100 on, which :func:`parse` reads but NumPy does not.

    >>> to_einsum([(7, 3), (3, 5)], (7, 5))
    'ab,bc->ac'
    """
    return _written(inputs, output, _EINSUM)


def to_product(names: Sequence[str], inputs: Sequence[Sequence[int]], output: Sequence[int]) -> str:
    """Write a product of named operands with its index sets.

    Two operands stand on both sides of the product, whose index sets are those of the left, of the right and
    of the result. One operand, or three and more, stand in parentheses behind it. The empty index set is
    written ∅.

    >>> to_product(["A", "B"], [(0, 1), (1, 2)], (0, 2))
    'A *(ij,jk,ik) B'
    >>> to_product(["x", "A", "x"], [(0,), (0, 1), (1,)], ())
    '*(i,ij,j->∅)(x, A, x)'
    """
    indices, _, result = _written(inputs, output, _READABLE).partition("->")
    sets = ",".join(term or "∅" for term in indices.split(","))
    result = result or "∅"
    if len(names) == 2:
        return f"{names[0]} *({sets},{result}) {names[1]}"
    return f"*({sets}->{result})({', '.join(names)})"


def index_names(number: int) -> tuple[str, ...]:
    """Return that many different letters to name indices with: i, j, k, ... first.

    >>> index_names(4)
    ('i', 'j', 'k', 'l')
    """
    return _letters(number, _READABLE)


def _written(inputs: Sequence[Sequence[int]], output: Sequence[int], alphabet: str) -> str:
    labels = dict.fromkeys(chain(chain.from_iterable(inputs), output))
    names = dict(zip(labels, _letters(len(labels), alphabet), strict=True))
    terms = ("".join(names[label] for label in term) for term in inputs)
    return f"{','.join(terms)}->{''.join(names[label] for label in output)}"


@lru_cache(maxsize=256)
def _letters(number: int, alphabet: str) -> tuple[str, ...]:
    if number <= len(alphabet):
        return tuple(alphabet[:number])
    return (*alphabet, *islice(_further_letters(), number - len(alphabet)))


def _further_letters() -> Iterator[str]:
    return (chr(code) for code in range(0x100, 0x110000) if chr(code).isalpha())
