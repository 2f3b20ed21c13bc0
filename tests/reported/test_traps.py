"""What other systems trip over when they differentiate einsum, to second order and in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.calculus import local_jacobian
from einsumad.graph import fresh_leaf, general, ones, selection
from einsumad.graph.display import index_notation
from tests.reported.oracle import MODES, check_whole, every_second, exactly, exactly_second, integers


def text(expression):
    return index_notation([expression.node])


def test_an_index_summed_in_one_operand_only_comes_back_as_ones():
    x, a = ea.variable("x", (3,)), ea.variable("a", (3, 4))
    assert text(ea.diff(np.einsum("i,ij->", x, a), a)) == "x[i] · 1[j]"
    assert text(ea.diff(np.einsum("ij->", a), a)) == "1[i,j]"
    check_whole(lambda a, b: np.einsum("ij,k->i", a, b), integers(1, 2, 2), integers(2, 3))
    check_whole(lambda a, b: np.einsum("ij,jkl->i", a**2, b**2), integers(3, 2, 2), integers(4, 2, 1, 2))


def test_a_label_repeated_inside_an_operand_comes_back_as_a_unit():
    a = ea.variable("a", (3, 3))
    assert text(ea.diff(np.einsum("ii->", a), a)) == "δ[i,j]"
    check_whole(lambda a: np.einsum("ii->i", a), integers(5, 2, 2))
    check_whole(lambda a: np.einsum("iii->", a**2), integers(6, 2, 2, 2))
    check_whole(lambda a, x: np.einsum("ii,i->", a**2, x), integers(7, 2, 2), integers(8, 2))


def test_a_repeated_label_that_stays_and_one_that_is_summed():
    check_whole(lambda a: np.einsum("iijj->j", a), integers(9, 2, 2, 2, 2), order=1)
    check_whole(lambda a: np.einsum("iijj->i", a**2), integers(9, 2, 2, 1, 1))


def test_the_same_node_in_two_slots_accumulates():
    a, x = integers(10, 2, 2), integers(11, 2)
    exactly(lambda x: np.einsum("i,ij,j->", x, a, x), [x], (a + a.T) @ x)
    exactly_second(lambda x: np.einsum("i,ij,j->", x, a, x), [x], a + a.T)
    check_whole(lambda x: np.einsum("i,i,i->", x, x, x), x)
    check_whole(lambda a: np.einsum("ij,ji->", a, a), a)


def test_an_array_and_a_copy_of_it_are_two_inputs():
    x = integers(12, 3)
    by_first, by_second = ea.grad(lambda x, y: np.einsum("i,i->", x, y), (0, 1))(x, x)
    np.testing.assert_array_equal(by_first, x)
    np.testing.assert_array_equal(by_second, x)
    np.testing.assert_array_equal(ea.grad(lambda t: np.einsum("i,i->", t, x))(x), x)


def test_a_size_1_broadcast_sums_back():
    check_whole(lambda a, b: np.einsum("ij,ij->ij", a, b), integers(13, 2, 1), integers(14, 2, 3))
    check_whole(lambda a, b: np.einsum("ij,ij->", a**2, b**2), integers(15, 1, 2), integers(27, 2, 1))
    check_whole(lambda a: np.einsum("ij,kj->ik", a, a), integers(17, 2, 1))


def test_literal_operands_work():
    check_whole(lambda x: np.einsum("i,ij->j", [1.0, 2.0], np.einsum("i,j->ij", x, x)), integers(18, 2))
    check_whole(lambda x: np.einsum(",i->i", 3.0, x**2), integers(19, 3))
    check_whole(lambda x: np.einsum("i,->i", x, 2), integers(20, 3))


def test_derivatives_that_are_constant():
    a = integers(21, 2, 3)
    exactly(lambda x: np.einsum("ij,j->i", a, x), [integers(22, 3)], a)
    exactly_second(lambda x: np.einsum("ij,j->i", a, x), [integers(22, 3)], np.zeros((2, 3, 3)))
    exactly(lambda x: np.einsum("i->", x), [integers(23, 3)], np.ones(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_disconnected_input_is_a_structural_zero(dtype):
    x, z = ea.variable("x", (2,), dtype), ea.variable("z", (3, 1), dtype)
    y = np.exp(x)
    for mode in MODES:
        derivative = ea.diff(y, z, mode=mode)
        assert derivative.shape == (2, 3, 1)
        assert derivative.dtype == dtype
        assert text(derivative).startswith("0")
        second = ea.diff(y, x, z, mode=mode)
        assert second.shape == (2, 2, 3, 1)
        assert text(second).startswith("0")


def test_a_structural_zero_wins_over_an_infinite_value():
    def f(x, _):
        return np.sum(x) / np.float64(0)

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ea.grad(f, 1)(np.ones(2), np.ones(3)), np.zeros(3))
        assert np.isnan(ea.grad(lambda x: np.sum(0.0 * x * np.float64(np.inf)))(np.ones(2))).sum() in (0, 2)


def test_an_operation_without_a_rule_raises():
    x = fresh_leaf((2,), np.float64)
    with pytest.raises(ea.EinsumadError):
        local_jacobian(general("no_such_function", [x], (), (2,), np.float64), 0)
    with pytest.raises(ea.DifferentiationError, match="no derivative rule"):
        local_jacobian(selection(fresh_leaf((2,), np.int64), 3, np.float64), 0)
    with pytest.raises(ea.DifferentiationError, match="no derivative rule"):
        local_jacobian(ones((2,), np.float64), 0)


@pytest.mark.parametrize("function", [np.roots, np.spacing, np.fft.fft, np.linalg.eig])
def test_a_function_that_is_not_known_raises_with_its_name(function):
    argument = np.eye(2) if function is np.linalg.eig else np.ones(2)
    with pytest.raises(ea.TracingError, match=function.__name__):
        ea.jacobian(function)(argument)


def test_second_derivatives_of_products_of_three_in_all_pairs_of_slots():
    operands = integers(24, 2, 2), integers(25, 2, 2), integers(26, 2)

    def f(a, b, x):
        return np.einsum("ij,jk,k->i", a, b, x)

    check_whole(f, *operands)
    for found in every_second(f, operands, 0, 0).values():
        assert not np.any(found)
