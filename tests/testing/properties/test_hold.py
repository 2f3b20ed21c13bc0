"""Properties hold for this library, on ordinary functions, at corners, and where rounding makes it hard to tell."""

from __future__ import annotations

import pytest

from einsumad.testing.properties import PROPERTIES, Case, run_properties
from einsumad.testing.systems import EINSUMAD
from tests.testing.properties.functions import CORNERS, EXAMPLES, HARD


def findings(example, dtype, order, seed=0):
    arrays = tuple([array.astype(dtype) for array in example.arrays])
    case = Case(EINSUMAD, example.function, arrays, seed, order, batched=example.batched)
    return run_properties(case)


def told(found, *verdicts):
    return [str(finding) for finding in found if finding.verdict in verdicts]


def in_double_and_some_in_single(examples):
    """All of them in double precision to order two, every other one in single precision to order one."""
    return [(each, "float64", 2) for each in examples] + [(each, "float32", 1) for each in examples[::2]]


def names_of(parameter):
    return getattr(parameter, "name", None)


@pytest.mark.parametrize(
    ("example", "dtype", "order"), in_double_and_some_in_single([*EXAMPLES, *CORNERS]), ids=names_of
)
def test_everything_is_right(example, dtype, order):
    found = findings(example, dtype, order)
    assert told(found, "wrong", "undecided") == []
    special = {"scalar", "batched", "structured_hessian"}
    asked = {each.name for each in PROPERTIES if not special & {*each.needs} and each.order <= order}
    one_entry = all(array.size <= 1 for array in example.arrays)
    assert {finding.claim for finding in found} >= asked - ({"permuted input"} if one_entry else set())


@pytest.mark.parametrize(("example", "dtype", "order"), in_double_and_some_in_single(HARD), ids=names_of)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_nothing_is_wrong_where_it_is_hard_to_tell(example, dtype, order):
    found = findings(example, dtype, order)
    assert told(found, "wrong") == []
    right = len([finding for finding in found if finding.verdict == "right"])
    assert right >= 0.9 * len(found)


@pytest.mark.parametrize("example", EXAMPLES[:3], ids=names_of)
def test_third_order(example):
    assert told(findings(example, "float64", 3), "wrong", "undecided") == []
