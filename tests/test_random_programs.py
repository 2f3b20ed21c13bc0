"""Derivatives of random NumPy programs and einsums through the public functions, against independent oracles.

What the programs compute is known by NumPy alone; ``tests/test_random_dags.py`` does the same one layer below.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import einsumad as ea
from einsumad.testing import check_derivatives
from einsumad.testing.strategies import FAMILIES, EinsumCase, Program, einsum_cases, programs

SMOOTH = ("smooth", "arithmetic", "products", "reductions")
LINEAR_ALGEBRA = ("linear_algebra", "arithmetic", "smooth")
MARGIN = 0.05
MODES = ("auto", "forward", "reverse", "cross-country")
PROPERTIES = ("shapes and dtypes", "mode agreement", "symmetry", "jvp is J v", "vjp is u J", "hvp is H v")


def few(count: int) -> settings:
    """So many examples in the normal profile, for checks that take a quarter of a second each; all when fuzzing."""
    usual = settings().max_examples
    return settings(max_examples=count if usual <= 100 else usual)


def check(program: Program, order: int = 2, **options: Any) -> None:
    """Nothing wrong; and nothing undecided but by the rare draws of a long run, such as a square at its zero."""
    report = check_derivatives(program, *program.point, order=order, properties=PROPERTIES, **options)
    report.raise_if_wrong(undecided=settings().max_examples <= 100)


@pytest.mark.fuzz
@few(10)
@given(programs(SMOOTH, max_statements=5))
def test_smooth_programs(program: Program) -> None:
    check(program)


@pytest.mark.fuzz
@few(5)
@given(programs(LINEAR_ALGEBRA, max_statements=4))
def test_linear_algebra(program: Program) -> None:
    check(program)


@pytest.mark.fuzz
@few(10)
@given(programs(("kinked", *SMOOTH), max_statements=5, margin=MARGIN))
def test_programs_away_from_their_kinks(program: Program) -> None:
    check(program)


@pytest.mark.fuzz
@few(8)
@given(programs(max_statements=4, margin=MARGIN, dtype=np.float32))
def test_single_precision(program: Program) -> None:
    """Where tanh is near 1 its slope ``1 - tanh**2`` has lost half of the digits, at the same value all around."""
    check(program, relative=2e-3)


@pytest.mark.fuzz
@few(5)
@given(programs(SMOOTH, max_statements=3, max_arguments=2, max_side=2))
def test_third_derivatives(program: Program) -> None:
    check(program, order=3)


@pytest.mark.fuzz
@few(30)
@given(einsum_cases(low=1, high=4))
def test_einsums_of_whole_numbers_have_exact_derivatives(case: EinsumCase) -> None:
    """An entry that the oracles find right is off by much less than a half; if it is whole, it is exact."""
    f, operands = case.spec, case.operands
    report = check_derivatives(f, *operands, modes=("auto",), properties=(), entries=200)
    report.raise_if_wrong(undecided=True)
    assert not any(finding.undecided for finding in report.findings if finding.claim == "derivative")
    for order in (1, 2):
        expected = [np.rint(block) for block in blocks(f, operands, order, "auto")]
        for mode in MODES:
            for found, whole in zip(blocks(f, operands, order, mode), expected, strict=True):
                np.testing.assert_array_equal(found, whole, strict=True, err_msg=f"order {order}, {mode}")


def blocks(f: Any, operands: tuple[Any, ...], order: int, mode: str) -> list[np.ndarray]:
    """The derivative in every combination of operands."""
    nested = [ea.derivative(f, tuple(range(len(operands))), order=order, mode=mode)(*operands)]
    for _ in range(order):
        nested = [block for part in nested for block in part]
    return nested


def test_every_family_of_programs_is_drawn() -> None:
    assert {*SMOOTH, *LINEAR_ALGEBRA, "kinked"} == {*FAMILIES}
