"""One einsum call without its arrays.

Owns the record of a drawn einsum and the names of its features. May import ``einsumad.notation`` and NumPy. Invariant:
the features are read off the subscripts and shapes by the notation's own rules, not remembered from how they were
drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType, MappingProxyType
from typing import Any

import numpy as np

from einsumad.notation import Subscripts, check_sizes, parse
from einsumad.testing.strategies.drawing import Shape, ShownAsText

FEATURE_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "repeat": "an index of two operands",
        "trace": "an index twice in one operand",
        "naked_sum": "an index that occurs once in all operands and is summed",
        "hadamard": "an index of two operands that is kept",
        "outer": "operands that no chain of common indices connects",
        "ellipsis": "an ellipsis, of equal or unequal ranks, at any place",
        "ellipsis_dropped": "an ellipsis that the output leaves out: its axes are summed",
        "size1": "a named index of size 1 that broadcasts against a larger size",
        "empty": "an axis of size 0",
        "out_perm": "named indices in the output in another order than they first occur",
        "implicit": "no '->'",
        "interleaved": "operand, labels, operand, labels, ..., output labels",
        "scalar_output": "an output without axes",
        "scalar_operand": "an operand without axes",
        "same_operand": "one array in two places",
    }
)
FEATURES = frozenset(FEATURE_MEANINGS)
LETTERS = "ijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, repr=False)
class EinsumSpec(ShownAsText):
    """An einsum: subscripts, the shapes of its arrays, and which array stands in which place.

    ``terms`` and ``output`` are the parts of the subscripts (``output`` is None without '->'), ``shapes`` the shapes of
    the different arrays, ``slots`` the number of the array for each term, ``features`` the names that apply.

    >>> product = einsum_spec(["ij", "jk"], "ik", [(2, 3), (3, 2)])
    >>> product.subscripts, product.output_shape, sorted(product.features)
    ('ij,jk->ik', (2, 2), ['repeat'])
    >>> product(np.ones((2, 3)), np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    """

    terms: tuple[str, ...]
    output: str | None
    shapes: tuple[Shape, ...]
    slots: tuple[int, ...]
    interleaved: bool
    output_shape: Shape
    features: frozenset[str]

    @property
    def subscripts(self) -> str:
        """The subscripts as text, whatever the form of the call."""
        return ",".join(self.terms) + ("" if self.output is None else f"->{self.output}")

    def arguments(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Return the positional arguments of ``einsum`` for arrays of the spec's ``shapes``, in the spec's own form.

        >>> outer = einsum_spec(("i", "i"), "i", ((2,),), slots=(0, 0), interleaved=True)
        >>> outer.arguments(["x"])
        ('x', [0], 'x', [0], [0])
        """
        if len(operands) != len(self.shapes):
            raise ValueError(f"{self!r} is a function of {len(self.shapes)} arrays, {len(operands)} were given")
        placed = [operands[slot] for slot in self.slots]
        if not self.interleaved:
            return (self.subscripts, *placed)
        pairs = [part for pair in zip(placed, map(_labels, self.terms), strict=True) for part in pair]
        return (*pairs, *([] if self.output is None else [_labels(self.output)]))

    def run(self, operands: Sequence[Any], xp: Any = np) -> Any:
        """Compute the einsum by a namespace, with ``optimize=True``: NumPy knows some of the features only then."""
        return xp.einsum(*self.arguments(operands), optimize=True)

    def __call__(self, *operands: Any) -> Any:
        """Compute the einsum by NumPy, or by what the operands dispatch to."""
        return self.run(operands)

    def __repr__(self) -> str:
        names = [f"x{slot}" for slot in range(len(self.shapes))]
        given = f"{self.subscripts!r}, " + ", ".join(names[slot] for slot in self.slots)
        if self.interleaved:
            given = ", ".join(part if isinstance(part, str) else _listed(part) for part in self.arguments(names))
        return f"einsum({given}) with " + ", ".join(
            f"{name}{shape}" for name, shape in zip(names, self.shapes, strict=True)
        )


def einsum_spec(
    terms: Sequence[str],
    output: str | None,
    shapes: Sequence[Shape],
    *,
    slots: Sequence[int] | None = None,
    interleaved: bool = False,
) -> EinsumSpec:
    """Return the spec of subscripts and shapes, with its output shape and features; invalid ones raise.

    >>> einsum_spec(["ij", "jk"], "ik", [(2, 3), (3, 2)])
    einsum('ij,jk->ik', x0, x1) with x0(2, 3), x1(3, 2)
    >>> sorted(einsum_spec(["ii"], "", [(2, 2)]).features)
    ['scalar_output', 'trace']
    """
    slots = tuple(range(len(shapes)) if slots is None else slots)
    placed = [tuple(shapes[slot]) for slot in slots]
    text = ",".join(terms) + ("" if output is None else f"->{output}")
    subscripts = parse(text, [len(shape) for shape in placed])
    sizes = check_sizes(subscripts, placed, text)
    found = _named_features(subscripts, placed, sizes) | _form_features(terms, output, slots, placed)
    output_shape = tuple([sizes[label] for label in subscripts.output])
    found |= {"outer"} if _parts(subscripts) > 1 else set()
    found |= {"scalar_output"} if not output_shape else set()
    found |= {"interleaved"} if interleaved else set()
    return EinsumSpec(
        tuple(terms), output, tuple(map(tuple, shapes)), slots, interleaved, output_shape, frozenset(found)
    )


def _form_features(terms: Sequence[str], output: str | None, slots: Sequence[int], placed: Sequence[Shape]) -> set[str]:
    dots = any("..." in term for term in terms)
    holds = {
        "ellipsis": dots,
        "ellipsis_dropped": dots and output is not None and "..." not in output,
        "implicit": output is None,
        "same_operand": len(set(slots)) < len(slots),
        "scalar_operand": () in placed,
        "empty": any(0 in shape for shape in placed),
    }
    return {name for name, there in holds.items() if there}


def _named_features(subscripts: Subscripts, placed: Sequence[Shape], sizes: dict[int, int]) -> set[str]:
    found: set[str] = set()
    named = [label for label in range(len(subscripts.names)) if label not in subscripts.broadcast]
    kept = set(subscripts.output)
    for label in named:
        counts = [count for labels in subscripts.inputs if (count := labels.count(label))]
        if len(counts) > 1:
            found |= {"repeat", "hadamard"} if label in kept else {"repeat"}
        if max(counts) > 1:
            found.add("trace")
        if sum(counts) == 1 and label not in kept:
            found.add("naked_sum")
    for labels, shape in zip(subscripts.inputs, placed, strict=True):
        pairs = zip(labels, shape, strict=True)
        if any(size != sizes[label] for label, size in pairs if label not in subscripts.broadcast):
            found.add("size1")
    order = [label for label in subscripts.output if label not in subscripts.broadcast]
    return found | ({"out_perm"} if order != sorted(order) else set())


def _parts(subscripts: Subscripts) -> int:
    """The number of groups of operands that no common index connects, operands without axes left out."""
    groups: list[set[int]] = []
    for labels in subscripts.inputs:
        joined = set(labels)
        apart = [group for group in groups if not group & joined]
        groups = [*apart, joined.union(*[group for group in groups if group & joined])] if joined else groups
    return len(groups)


def _labels(term: str) -> list[int | EllipsisType]:
    head, dots, tail = term.partition("...")
    return [*map(LETTERS.index, head), *([...] if dots else []), *map(LETTERS.index, tail)]


def _listed(labels: Sequence[int | EllipsisType]) -> str:
    return "[" + ", ".join("..." if label is ... else str(label) for label in labels) + "]"
