"""Random subscripts: NumPy's meaning, and texts that read back to what was written."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from einsumad.errors import EinsumadError, ShapeError
from einsumad.notation import Subscripts, check_sizes, parse, parse_interleaved, to_einsum
from tests.notation.oracle import evaluate

pytestmark = pytest.mark.fuzz

LETTERS = "aBcd"
SIZES = st.integers(0, 3)


@st.composite
def calls(draw: st.DrawFn) -> tuple[list[str], str | None, list[tuple[int, ...]]]:
    """Draw terms, an output and shapes: legal subscripts, of which the sizes mostly fit."""
    size_of = {letter: draw(SIZES) for letter in LETTERS}
    dots_sizes = draw(st.lists(SIZES, max_size=2))
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 3))):
        letters = draw(st.lists(st.sampled_from(LETTERS), max_size=3))
        sizes = [size_of[letter] for letter in letters]
        if draw(st.booleans()):
            position = draw(st.integers(0, len(letters)))
            covered = draw(st.integers(0, len(dots_sizes)))
            letters.insert(position, "...")
            sizes[position:position] = dots_sizes[len(dots_sizes) - covered :]
        terms.append("".join(letters))
        shapes.append(tuple(draw(st.sampled_from([size, size, size, 1])) for size in sizes))
    used = sorted(set("".join(terms)) - {"."})
    if draw(st.booleans()):
        return terms, None, shapes
    output = draw(st.lists(st.sampled_from(used), unique=True)) if used else []
    if draw(st.booleans()):
        output.insert(draw(st.integers(0, len(output))), "...")
    return terms, "".join(output), shapes


def text_of(terms: list[str], output: str | None) -> str:
    return ",".join(terms) + ("" if output is None else f"->{output}")


def has_uneven_diagonal(subscripts: Subscripts, shapes: list[tuple[int, ...]]) -> bool:
    """Tell whether a label stands for two sizes within one operand.

    NumPy refuses that too, except where the first size is 0: there it reads memory outside the array.
    """
    return any(
        len(set(zip(labels, shape, strict=True))) > len(set(labels))
        for labels, shape in zip(subscripts.inputs, shapes, strict=True)
    )


@given(calls(), st.integers(0, 2**32 - 1))
def test_meaning_is_numpys(call: tuple[list[str], str | None, list[tuple[int, ...]]], seed: int) -> None:
    terms, output, shapes = call
    rng = np.random.default_rng(seed)
    operands = [rng.integers(-3, 4, size=shape).astype(float) for shape in shapes]
    text = text_of(terms, output)
    subscripts = parse(text, [len(shape) for shape in shapes])
    if has_uneven_diagonal(subscripts, shapes):
        with pytest.raises(ShapeError):
            check_sizes(subscripts, shapes, text)
        return
    try:
        expected = np.einsum(text, *operands, optimize=True)
    except ValueError:
        with pytest.raises(EinsumadError):
            check_sizes(subscripts, shapes, text)
        return
    sizes = check_sizes(subscripts, shapes, text)
    assert tuple(sizes[label] for label in subscripts.output) == expected.shape
    np.testing.assert_array_equal(evaluate(subscripts, operands), expected)
    written = to_einsum(subscripts.inputs, subscripts.output)
    np.testing.assert_array_equal(np.einsum(written, *operands, optimize=True), expected)


@given(calls(), st.randoms(use_true_random=False))
def test_spaces_between_marks_mean_nothing(
    call: tuple[list[str], str | None, list[tuple[int, ...]]], random: Any
) -> None:
    terms, output, shapes = call
    text = text_of(terms, output)
    marks = text.replace("...", "…").replace("->", "→")
    spaced = "".join(mark + " " * random.randint(0, 2) for mark in marks)
    spaced = " " * random.randint(0, 2) + spaced.replace("…", "...").replace("→", "->")
    ranks = [len(shape) for shape in shapes]
    assert parse(spaced, ranks) == parse(text, ranks)


@given(calls())
def test_lists_of_letters_mean_the_same(call: tuple[list[str], str | None, list[tuple[int, ...]]]) -> None:
    terms, output, shapes = call

    def as_list(term: str) -> list[Any]:
        return [... if mark == "…" else mark for mark in term.replace("...", "…")]

    args: list[Any] = []
    for term, shape in zip(terms, shapes, strict=True):
        args += [np.ones(shape), as_list(term)]
    if output is not None:
        args.append(as_list(output))
    elif not any(shape for shape in shapes):
        assume(False)
    operands, subscripts = parse_interleaved(args)
    assert len(operands) == len(terms)
    assert subscripts == parse(text_of(terms, output), [len(shape) for shape in shapes])


@st.composite
def canonical_subscripts(draw: st.DrawFn) -> Subscripts:
    labels = st.one_of(st.integers(0, 5), st.integers(0, 200))
    drawn = draw(st.lists(st.lists(labels, max_size=30), min_size=1, max_size=6))
    numbers: dict[int, int] = {}
    inputs = tuple(tuple(numbers.setdefault(label, len(numbers)) for label in term) for term in drawn)
    output = draw(st.lists(st.sampled_from(sorted(numbers.values())), unique=True)) if numbers else []
    return Subscripts(inputs, tuple(output), frozenset(), ("",) * len(numbers))


@given(canonical_subscripts())
def test_what_is_written_reads_back(subscripts: Subscripts) -> None:
    text = to_einsum(subscripts.inputs, subscripts.output)
    assert parse(text, [len(term) for term in subscripts.inputs]) == subscripts


@given(canonical_subscripts(), st.permutations(range(300)))
def test_text_does_not_depend_on_the_labels(subscripts: Subscripts, other: list[int]) -> None:
    inputs = [[other[label] for label in term] for term in subscripts.inputs]
    output = [other[label] for label in subscripts.output]
    assert to_einsum(inputs, output) == to_einsum(subscripts.inputs, subscripts.output)


@given(st.text(alphabet="ij.->, 1λ\n", max_size=12), st.lists(st.integers(0, 3), max_size=3))
def test_any_text_is_read_or_refused_with_a_caret(text: str, ranks: list[int]) -> None:
    try:
        parse(text, ranks)
    except EinsumadError as error:
        message, shown, carets = str(error).split("\n")
        assert message
        assert len(shown) == len(text)
        assert carets.strip(" ").strip("^") == ""
        assert carets.endswith("^")
        assert len(carets) <= len(shown) + 1
