"""What is read, what is refused and what is printed, case by case; E1, E3, ... are reported cases."""

import pickle
from typing import Any

import numpy as np
import pytest

from einsumad.errors import IndexNotationError, ShapeError
from einsumad.notation import (
    Subscripts,
    check_sizes,
    index_names,
    parse,
    parse_interleaved,
    to_einsum,
    to_product,
)
from tests.notation.oracle import evaluate

READ = [
    ("", [0], ((),), ()),
    ("->", [0], ((),), ()),
    (",", [0, 0], ((), ()), ()),
    (",->", [0, 0], ((), ()), ()),
    ("i,", [1, 0], ((0,), ()), (0,)),
    (" i j , j k -> i k ", [2, 2], ((0, 1), (1, 2)), (0, 2)),
    ("ij", [2], ((0, 1),), (0, 1)),
    ("ba", [2], ((0, 1),), (1, 0)),
    ("Ba", [2], ((0, 1),), (0, 1)),
    ("ij,jk", [2, 2], ((0, 1), (1, 2)), (0, 2)),
    ("ii", [2], ((0, 0),), ()),
    ("ii->i", [2], ((0, 0),), (0,)),
    ("...", [2], ((0, 1),), (0, 1)),
    ("...", [0], ((),), ()),
    ("->...", [0], ((),), ()),
    ("i->...i", [1], ((0,),), (0,)),
    ("i...", [3], ((0, 1, 2),), (1, 2, 0)),
    ("b...a,...", [3, 3], ((0, 1, 2), (3, 4, 1)), (3, 4, 1, 2, 0)),
    ("i...,i->...", [1, 1], ((0,), (0,)), ()),
    ("é,λ", [1, 1], ((0,), (1,)), (0, 1)),
]


@pytest.mark.parametrize(("text", "ranks", "inputs", "output"), READ)
def test_reading(text: str, ranks: list[int], inputs: Any, output: Any) -> None:
    subscripts = parse(text, ranks)
    assert (subscripts.inputs, subscripts.output) == (inputs, output)


@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        pytest.param("ii->", [(2, 2)], (), id="E1"),
        pytest.param("ijji,kji,jj->kj", [(2, 3, 3, 2), (4, 3, 2), (3, 3)], (4, 3), id="E3"),
        pytest.param("tiijj->ij", [(2, 3, 3, 4, 4)], (3, 4), id="E5"),
        pytest.param("i,i", [(2,), (1,)], (), id="E9"),
        pytest.param("i...k,k...j->i...j", [(2, 1, 3), (3, 2)], (2, 1, 2), id="E13-middle"),
        pytest.param("...ij,...j->...i", [(2, 5), (11, 3, 2, 7, 5)], (11, 3, 2, 7, 2), id="E13-ranks"),
        pytest.param("ij...,ij...->...", [(3, 3, 1, 1), (3, 3, 8, 100)], (8, 100), id="E15"),
        pytest.param("i...->i", [(3, 3, 3)], (3,), id="E17"),
        pytest.param("i,j->ij", [(3,), (4,)], (3, 4), id="E25"),
        pytest.param("...ij,...jk->...ik", [(2, 1, 1), (2, 1, 1)], (2, 1, 1), id="E31"),
        pytest.param("i,i->i", [(0,), (1,)], (0,), id="empty-broadcast"),
        pytest.param("ii,i->i", [(1, 1), (3,)], (3,), id="unit-diagonal-broadcast"),
    ],
)
def test_reported_case_has_numpys_shape_and_values(
    text: str, shapes: list[tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    operands = [np.random.default_rng(7).normal(size=shape) for shape in shapes]
    subscripts = parse(text, [len(shape) for shape in shapes])
    sizes = check_sizes(subscripts, shapes, text)
    assert tuple(sizes[label] for label in subscripts.output) == expected
    np.testing.assert_allclose(
        evaluate(subscripts, operands), np.einsum(text, *operands, optimize=True), rtol=1e-12, atol=1e-12
    )


def test_reported_values() -> None:
    e9 = parse("i,i", [1, 1])
    assert evaluate(e9, [np.array([2.0, 2.0]), np.array([2.0])]) == 8
    e17 = parse("i...->i", [3])
    assert evaluate(e17, [np.ones((3, 3, 3))]).tolist() == [9, 9, 9]


def test_ellipsis_labels_are_told_apart_and_named_from_the_right() -> None:
    subscripts = parse("i...j,...", [4, 3])
    assert subscripts.broadcast == {1, 2, 4}
    assert subscripts.names == ("i", "...[-2]", "...[-1]", "j", "...[-3]")


def test_names_play_no_part_in_equality() -> None:
    assert parse("ij,jk->ik", [2, 2]) == parse("qb,ba->qa", [2, 2])
    assert hash(parse("ij->j", [2])) == hash(parse("ab->b", [2]))
    assert parse("i...->i...", [2]) != parse("ij->ij", [2])


def test_subscripts_can_be_pickled() -> None:
    subscripts = parse("i...j,...", [4, 3])
    assert pickle.loads(pickle.dumps(subscripts)) == subscripts  # noqa: S301 (made in this line)


REFUSED = [
    ("i->j", [1], "output index 'j' is not an index of any operand", "   ^"),
    ("->j", [0], "output index 'j' is not an index of any operand: leave it out", "  ^"),
    ("ij->jij", [2], "output index 'j' is repeated", "      ^"),
    ("i->ii", [1], "output index 'i' is repeated", "    ^"),
    ("ij,jk", [2], "describe 2 operands but 1 was given", "   ^^"),
    ("ij,jk", [2, 2, 2], "describe 2 operands but 3 were given", "   ^^"),
    ("", [], "describe 1 operand but 0 were given", "^"),
    ("ijk", [2], "operand 0 has 2 axes but 3 indices", "^^^"),
    ("i,jk", [1, 3], "operand 1 has 3 axes but 2 indices", "  ^^"),
    ("i,", [1, 1], "operand 1 has 1 axis but 0 indices", "  ^"),
    ("i...j", [1], "operand 0 has 1 axis but 2 indices", "^^^^^"),
    ("i1", [2], "'1' is not an index", " ^"),
    ("i\tj", [2], r"'\t' is not an index", " ^"),
    ("i_", [2], "'_' is not an index", " ^"),
    ("i²", [2], "'²' is not an index", " ^"),
    ("i..", [2], "a '.' that is not part of an ellipsis", " ^"),
    ("i....", [2], "a '.' that is not part of an ellipsis", "    ^"),
    ("......", [2], "a second '...' in one term", "   ^^^"),
    ("i...j...->i", [4], "a second '...' in one term", "     ^^^"),
    ("...->......", [4], "a second '...' in one term", "        ^^^"),
    ("i-j", [1], "'-' alone is half an arrow", " ^"),
    ("i- >i", [1], "'-' alone is half an arrow", " ^"),
    ("i>j", [1], "'>' alone is half an arrow", " ^"),
    ("i->i->i", [1], "a '->' behind the '->'", "    ^^"),
    ("i->i,", [1], "a ',' behind the '->'", "    ^"),
]


@pytest.mark.parametrize(("text", "ranks", "complaint", "carets"), REFUSED)
def test_refusing(text: str, ranks: list[int], complaint: str, carets: str) -> None:
    with pytest.raises(IndexNotationError) as caught:
        parse(text, ranks)
    first, shown, marks = str(caught.value).split("\n")
    assert complaint in first
    assert shown == text.replace("\t", "?")
    assert marks == carets


MISFITS = [
    pytest.param("ij,i->", [(5, 1), (2,)], "'i' has size 5 in operand 0 and size 2 in operand 1", "   ^", id="E11"),
    ("i,i,i->i", [(1,), (3,), (4,)], "'i' has size 3 in operand 1 and size 4 in operand 2", "    ^"),
    ("i,i->", [(0,), (3,)], "'i' has size 0 in operand 0 and size 3 in operand 1", "  ^"),
    ("ii->i", [(0, 3)], "'i' has sizes 0 and 3 in operand 0", " ^"),
    ("a i i->i", [(2, 1, 3)], "'i' has sizes 1 and 3 in operand 0", "    ^"),
    ("i...j,...->", [(2, 3, 4, 5), (7,)], "'...[-1]' has size 4 in operand 0 and size 7", "      ^^^"),
    ("...j,k...j->", [(5,), (2, 3, 4)], "'j' has size 5 in operand 0 and size 4", "         ^"),
]


@pytest.mark.parametrize(("text", "shapes", "complaint", "carets"), MISFITS)
def test_sizes_that_do_not_fit(text: str, shapes: list[tuple[int, ...]], complaint: str, carets: str) -> None:
    with pytest.raises(ShapeError) as caught:
        check_sizes(parse(text, [len(shape) for shape in shapes]), shapes, text)
    first, shown, marks = str(caught.value).split("\n")
    assert complaint in first
    assert (shown, marks) == (text, carets)


def test_sizes_without_the_text_point_into_the_subscripts_written_anew() -> None:
    with pytest.raises(ShapeError, match=r"\nij,\.\.\.i->\.\.\.j\n      \^$"):
        check_sizes(parse("ij, ...i", [2, 2]), [(2, 3), (4, 5)])
    _, subscripts = parse_interleaved([np.ones((2, 3)), [0, 60], np.ones((3, 4)), [0, ...]])
    with pytest.raises(ShapeError, match=r"\n\[0, 60\], \[0, \.\.\.\] -> \[\.\.\., 60\]\n          \^$"):
        check_sizes(subscripts, [(2, 3), (3, 4)])


def test_shapes_of_other_ranks_are_refused() -> None:
    with pytest.raises(ShapeError, match="rank"):
        check_sizes(parse("ij,j", [2, 1]), [(2, 3), (3, 1)])


INTERLEAVED = [
    ([[0, 1], [1, 2], [0, 2]], "ab,bc->ac"),
    ([[0, 1], [1, 2]], "ab,bc"),
    ([[1, 0], [0, 2]], "ba,ac"),
    ([[0, ...], [..., 0], [..., 0]], "a...,...a->...a"),
    ([(0, 1), (1, 2), ()], "ab,bc->"),
    ([["row", "column"], ["column", "last"], ["row", "last"]], "ab,bc->ac"),
    ([[1000, -3], [-3, 60], [1000, 60]], "ab,bc->ac"),
    ([np.array([0, 1]), np.array([1, 2]), np.array([0, 2])], "ab,bc->ac"),
    ([[0, "x"], ["x", None], [0, None]], "ab,bc->ac"),
]


@pytest.mark.parametrize(("lists", "text"), INTERLEAVED)
def test_interleaved_form_is_the_text_with_other_labels(lists: list[Any], text: str) -> None:
    A, B = np.ones((2, 3)), np.ones((3, 2))
    operands, subscripts = parse_interleaved([A, lists[0], B, lists[1], *lists[2:]])
    assert operands[0] is A
    assert operands[1] is B
    assert subscripts == parse(text, [2, 2])


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([], "no operand was given"),
        ([[0]], "no operand was given"),
        ([np.ones(2), "i"], "the labels of operand 0 are a str"),
        ([np.ones(2), [0], 3], "the labels of the output are a int"),
        ([np.ones(2), [[0]]], "not all hashable"),
        ([np.ones((2, 2)), [0]], r"operand 0 has 2 axes but 1 index .*\n\[0\]\n\^\^\^$"),
        ([np.ones(2), [0], [5]], r"'5' is not an index of any operand.*\n\[0\] -> \[5\]\n        \^$"),
        ([np.ones((2, 2)), [0, "x"]], r"no order.*\n\[0, x\]\n\^\^\^\^\^\^$"),
        ([np.ones(2), [..., ...]], r"a second '\.\.\.'.*\n\[\.\.\., \.\.\.\]\n      \^\^\^$"),
    ],
)
def test_interleaved_form_refused(args: list[Any], complaint: str) -> None:
    with pytest.raises(IndexNotationError, match=complaint):
        parse_interleaved(args)


def test_default_output_of_the_interleaved_form_is_numpys() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for labels in ([0, 1, 2], [26, 0, 3], [0, ..., 5], [1, ..., 0]):
        _, subscripts = parse_interleaved([x, labels])
        np.testing.assert_array_equal(evaluate(subscripts, [x]), np.einsum(x, labels))


def test_no_limit_to_labels_and_operands() -> None:
    n = 300
    args: list[Any] = []
    for position in range(n):
        args += [np.ones((2, 2)), [position, position + 1]]
    _, subscripts = parse_interleaved([*args, [0, n]])
    assert subscripts.output == (0, n)
    text = to_einsum(subscripts.inputs, subscripts.output)
    assert parse(text, [2] * n) == subscripts
    assert len(check_sizes(subscripts, [(2, 2)] * n)) == n + 1


def test_printing_einsum() -> None:
    assert to_einsum([(0, 1), (1, 2)], (0, 2)) == "ab,bc->ac"
    assert to_einsum([(9, 9), ()], ()) == "aa,->"
    assert to_einsum([range(54)], ())[-5:] == "ZĀā->"


def test_printing_products_in_the_notation_of_the_paper() -> None:
    table = {
        "i,j->ij": "y *(i,j,ij) x",
        "ij,j->i": "y *(ij,j,i) x",
        "i,i->": "y *(i,i,∅) x",
        "ij,jk->ik": "y *(ij,jk,ik) x",
        "i,i->i": "y *(i,i,i) x",
        "ij,j->ij": "y *(ij,j,ij) x",
        ",i->i": "y *(∅,i,i) x",
    }
    for text, expected in table.items():
        ranks = [len(term) for term in text.partition("->")[0].split(",")]
        subscripts = parse(text, ranks)
        assert to_product(["y", "x"], subscripts.inputs, subscripts.output) == expected
    assert to_product(["A"], [(4, 4)], ()) == "*(ii->∅)(A)"
    assert to_product(["A", "B", "C"], [(0, 1), (1, 2), (2, 3)], (0, 3)) == "*(ij,jk,kl->il)(A, B, C)"


def test_index_names_are_different_letters() -> None:
    assert index_names(0) == ()
    assert index_names(6) == ("i", "j", "k", "l", "m", "n")
    names = index_names(2000)
    assert len(set(names)) == 2000
    assert all(len(name) == 1 and name.isalpha() for name in names)


def test_subscripts_are_frozen_and_have_slots() -> None:
    subscripts = Subscripts(((0,),), (), frozenset(), ("i",))
    with pytest.raises(AttributeError):
        subscripts.output = (0,)  # type: ignore[misc]
    assert not hasattr(subscripts, "__dict__")
