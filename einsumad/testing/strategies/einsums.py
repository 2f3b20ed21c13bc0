"""Random einsums with any of the features of the notation.

Owns the drawing of einsum specs and of operands for them. Imports NumPy, Hypothesis and the spec. Invariant: every spec
is valid for ``np.einsum(..., optimize=True)`` and has only features that are allowed; specs shrink to few operands, few
indices and sizes of 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import PRESENT, Shape, ShownAsText, coded, codes, present, rare, rescaled
from einsumad.testing.strategies.namespaces import float_dtype, to_namespace
from einsumad.testing.strategies.spec import FEATURES, LETTERS, EinsumSpec, einsum_spec
from einsumad.testing.strategies.tables import Table, table

_MOST_INDICES = 5
_OWN = 216  # codes from here on repeat an index of the same operand
_DOT_SHAPES: tuple[Shape, ...] = ((2,), (3, 2), (1,), ())


@dataclass(frozen=True, slots=True, repr=False)
class EinsumCase(ShownAsText):
    """An einsum and arrays for it, one for each of the spec's shapes."""

    spec: EinsumSpec
    operands: tuple[Any, ...]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The positional arguments for ``einsum``."""
        return self.spec.arguments(self.operands)

    def __repr__(self) -> str:
        values = ", ".join(f"x{slot} = {operand!r}" for slot, operand in enumerate(self.operands))
        return f"{self.spec!r} at {values}"


def einsum_specs(
    max_operands: int = 3,
    *,
    allow: Collection[str] = FEATURES,
    max_axes: int = 3,
    max_side: int = 3,
) -> st.SearchStrategy[EinsumSpec]:
    """Einsum calls without arrays.

    ``allow`` names the features that may occur, such as ``FEATURES - {"empty"}``: all unless given;
    :data:`FEATURE_MEANINGS` says what each of them is. Operands have up to ``max_axes`` named axes (one may have one
    more, where the output would be a scalar and must not) of sizes up to ``max_side``. Call the spec with arrays of its
    ``shapes``, or use ``np.einsum(*spec.arguments(arrays), optimize=True)``. Shrinks to few operands, few indices,
    sizes of 2.

    >>> from hypothesis import find
    >>> find(einsum_specs(), lambda spec: "trace" in spec.features)
    einsum('ii->', x0) with x0(2, 2)
    """
    unknown = sorted(set(allow) - FEATURES)
    if unknown:
        raise ValueError(f"unknown features {', '.join(unknown)}: use some of {', '.join(sorted(FEATURES))}")
    if max_operands < 1 or max_axes < 1 or max_side < 2:
        raise ValueError("einsum_specs needs max_operands >= 1, max_axes >= 1 and max_side >= 2")
    return _specs(max_operands, frozenset(allow), max_axes, max_side)


def einsum_cases(
    max_operands: int = 3,
    *,
    allow: Collection[str] = FEATURES,
    max_axes: int = 3,
    max_side: int = 3,
    dtype: Any = np.float64,
    integers: bool = True,
    low: float | None = None,
    high: float | None = None,
    xp: Any | None = None,
) -> st.SearchStrategy[EinsumCase]:
    """Einsum calls with their arrays: small whole numbers as floats, so that sums are exact, or other short numbers.

    >>> from hypothesis import find
    >>> find(einsum_cases(allow=()), lambda case: np.max(case.operands[0]) >= 3)
    einsum('i->i', x0) with x0(2,) at x0 = array([3., 0.])
    """
    specs = einsum_specs(max_operands, allow=allow, max_axes=max_axes, max_side=max_side)
    return _cases(specs, table(float_dtype(dtype), low, high, integers=integers), xp)


@st.composite
def _cases(draw: st.DrawFn, specs: st.SearchStrategy[EinsumSpec], entries: Table, xp: Any | None) -> EinsumCase:
    spec = draw(specs)
    operands = [to_namespace(array_of(draw, entries, shape), xp) for shape in spec.shapes]
    return EinsumCase(spec, tuple(operands))


@st.composite
def _specs(draw: st.DrawFn, max_operands: int, allow: frozenset[str], max_axes: int, max_side: int) -> EinsumSpec:
    whether, dots, form, backwards, narrow, listed, output = codes(draw, 7)
    sides = (*[*range(2, max_side + 1)] * 2, *([1] if "size1" in allow else []), *([0] if "empty" in allow else []))
    draft = _Draft(allow, sides, interleaved="interleaved" in allow and rare(listed, 4))
    if "ellipsis" in allow and rare(whether, 2):
        draft.dots = coded(dots, _DOT_SHAPES)
    terms = [codes(draw, 7 + 3 * max_axes) for _ in range(max_operands)]
    for _, *term in [term for term in terms if present(term[0])] or terms[:1]:
        if not draft.add_term(term):
            break
    if "size1" in allow:
        draft.narrow(narrow)
    if "implicit" in allow and rare(form, 4):
        spec = draft.implicit("out_perm" in allow and present(backwards))
        if spec.features <= allow:
            return spec
    return draft.explicit(output)


@dataclass(slots=True)
class _Term:
    """The labels of an operand, where its ellipsis stands, what it stands for, and labels broadcast from size 1."""

    labels: list[int]
    place: int | None
    dots: Shape
    narrow: set[int] = field(default_factory=set)


def _axes(term: _Term) -> set[int]:
    """The labels of an operand; the axes of an ellipsis are counted from the right, -1 being the last."""
    return {*term.labels, *range(-len(term.dots), 0)}


@dataclass(slots=True)
class _Draft:
    """Terms written so far.

    Labels are numbers in order of first appearance; `sizes` has their sizes, `wishes` a code each for whether and where
    it stands in the output. Every choice about an operand or an index is a code at a fixed place among the codes of
    that operand and that axis, so that shrinking one choice leaves the others what they are.
    """

    allow: frozenset[str]
    sides: tuple[int, ...]
    interleaved: bool
    dots: Shape | None = None
    sizes: list[int] = field(default_factory=list)
    wishes: list[int] = field(default_factory=list)
    terms: list[_Term] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)

    def add_term(self, chosen: Sequence[int]) -> bool:
        """Add an operand; False where none fits the features that are allowed."""
        place, dots, first, same, model, scalar, *rest = chosen
        axes = [(rest[start], rest[start + 1], rest[start + 2]) for start in range(0, len(rest), 3)]
        wanted: Sequence[int | None]
        if self.terms and "same_operand" in self.allow and rare(same, 4):
            slot = coded(model, self.slots)
            like = self.terms[self.slots.index(slot)]
            term, wanted = _Term([], like.place, like.dots), [self.sizes[label] for label in like.labels]
        else:
            slot = max(self.slots, default=-1) + 1
            term = self._with_dots(dots, first)
            given = [axis for axis in axes if present(axis[0])] or axes[:1]
            axes = [] if "scalar_operand" in self.allow and rare(scalar, 8) else given
            wanted = [None] * len(axes)
        known = len(self.sizes)
        for size, axis in zip(wanted, axes, strict=False):
            self._add_axis(term, size, *axis)
        if "outer" not in self.allow and not self._connected(term):
            del self.sizes[known:], self.wishes[known:]
            return False
        if slot not in self.slots and term.place is not None:
            term.place = coded(place, range(len(term.labels) + 1))
        self.terms.append(term)
        self.slots.append(slot)
        return True

    def _add_axis(self, term: _Term, size: int | None, side: int, label: int, wish: int) -> None:
        chosen = self._label(term, size, label)
        if chosen == len(self.sizes):
            self.sizes.append(coded(rescaled(side), self.sides) if size is None else size)
            self.wishes.append(wish)
        term.labels.append(chosen)

    def _with_dots(self, axes: int, first: int) -> _Term:
        """A term with an ellipsis or without: it stands for some of the last axes, the first of them perhaps size 1."""
        kinds = [None] if self.dots is None else [None, *range(len(self.dots) + 1)]
        count = coded(axes, kinds)
        if self.dots is None or count is None:
            return _Term([], None, ())
        shape = self.dots[len(self.dots) - count :]
        return _Term([], 0, (1, *shape[1:]) if shape and rare(first, 4) else shape)

    def _label(self, term: _Term, size: int | None, code: int) -> int:
        """A label for the next axis: a new one first, then those of other operands, then the operand's own."""
        fits = [label for label, known in enumerate(self.sizes) if size in (None, known)]
        others = [label for label in fits if label not in term.labels] if "repeat" in self.allow else []
        own = [label for label in fits if label in term.labels] if "trace" in self.allow else []
        if "outer" not in self.allow and not term.labels and others:
            return coded(code, others)
        full = len(self.sizes) >= _MOST_INDICES
        if own and (code >= _OWN or (full and not others)):
            return coded(rescaled(code, _OWN), own)
        if others and (full or present(code)):
            return coded(rescaled(code, PRESENT, _OWN), others)
        return len(self.sizes)

    def _connected(self, term: _Term) -> bool:
        """Whether an operand has an axis in common with another one, or is the first one with axes."""
        known = [_axes(other) for other in self.terms if _axes(other)]
        return not known or not _axes(term) or any(axes & _axes(term) for axes in known)

    def narrow(self, code: int) -> None:
        """Perhaps make a named index size 1 in one operand, where another operand has its full size."""
        owners = self._owners()
        places = [
            (term, label)
            for term, slot in zip(self.terms, self.slots, strict=True)
            for label in dict.fromkeys(term.labels)
            if owners[label] > 1 and self.sizes[label] > 1 and self.slots.count(slot) == 1
        ]
        chosen = coded(code, [*[None] * len(places), *places]) if places else None
        if chosen is not None:
            term, label = chosen
            term.narrow.add(label)

    def implicit(self, backwards: bool) -> EinsumSpec:
        """The spec without '->': indices that occur once are kept, in alphabetical order."""
        letters = LETTERS[: len(self.sizes)]
        return self._spec(letters[::-1] if backwards else letters, None)

    def explicit(self, dots: int) -> EinsumSpec:
        """The spec with an output: the labels wished for, in the order of their codes, and the ellipsis somewhere."""
        kept = self._kept()
        if "out_perm" in self.allow:
            kept = sorted(kept, key=lambda label: rescaled(self.wishes[label]) // 64)
        output = "".join(LETTERS[label] for label in kept)
        if any(term.place is not None for term in self.terms):
            drop = "ellipsis_dropped" in self.allow and (kept or "scalar_output" in self.allow)
            place = coded(dots, range(len(kept) + 1 + bool(drop)))
            output = output if place > len(kept) else f"{output[:place]}...{output[place:]}"
        return self._spec(LETTERS, output)

    def _kept(self) -> list[int]:
        owners, counts = self._owners(), Counter(label for term in self.terms for label in term.labels)
        labels = range(len(self.sizes))
        must = [label for label in labels if counts[label] == 1 and "naked_sum" not in self.allow]
        free = [label for label in labels if label not in must and (owners[label] == 1 or "hadamard" in self.allow)]
        kept = sorted([*must, *[label for label in free if present(self.wishes[label])]])
        if kept or "scalar_output" in self.allow:
            return kept
        return free[:1] or [self._one_more()]

    def _one_more(self) -> int:
        """Give an operand an axis that can be kept: one that has axes already, if there is any."""
        place = max((place for place, term in enumerate(self.terms) if _axes(term)), default=0)
        if self.slots.count(self.slots[place]) > 1:
            self.slots[place] = max(self.slots) + 1
        self.terms[place].labels.append(len(self.sizes))
        self.sizes.append(self.sides[0])
        self.wishes.append(0)
        return len(self.sizes) - 1

    def _owners(self) -> Counter[int]:
        return Counter(label for term in self.terms for label in set(term.labels))

    def _spec(self, letters: str, output: str | None) -> EinsumSpec:
        terms: list[str] = []
        shapes: dict[int, Shape] = {}
        for term, slot in zip(self.terms, self.slots, strict=True):
            named = [letters[label] for label in term.labels]
            sizes = [1 if label in term.narrow else self.sizes[label] for label in term.labels]
            place = term.place
            terms.append("".join(named if place is None else [*named[:place], "...", *named[place:]]))
            shapes[slot] = tuple(sizes if place is None else [*sizes[:place], *term.dots, *sizes[place:]])
        numbers = {slot: number for number, slot in enumerate(shapes)}
        slots = [numbers[slot] for slot in self.slots]
        return einsum_spec(terms, output, list(shapes.values()), slots=slots, interleaved=self.interleaved)
