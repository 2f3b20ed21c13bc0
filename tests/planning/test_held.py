"""What is found out while something is derived and planned is found out once, and is the same."""

import numpy as np
import pytest

from einsumad.functions import apply, call
from einsumad.graph import add, einsum, ones
from einsumad.planning import cost, expand, planner_options
from einsumad.planning.held import once, products_held, progress_of_plans
from einsumad.planning.kernels import Put, Take
from tests.planning.products import variable


def shares():
    """``exp(x - logsumexp(x))``, in which x is shifted when it is planned."""
    x = variable("x", (3, 4), float)
    level = einsum([call("logsumexp", x), ones((4,), x.dtype)], [(0,), (1,)], (0, 1), -1)
    return apply("exp", add([x, level]))


@pytest.mark.whole_planner
def test_a_rewriting_is_done_once_while_something_is_held():
    asked = []
    doubled = once(lambda roots: (asked.append(roots), roots * 2)[1])
    roots = [variable("x", (2,), float)]
    assert doubled(roots) == doubled(roots) == (*roots, *roots)
    assert len(asked) == 2
    with products_held():
        assert doubled(roots) == doubled(tuple(roots)) == (*roots, *roots)
        assert len(asked) == 3
        with planner_options(factoring=False):
            doubled(roots)
        assert len(asked) == 4
    doubled(roots)
    assert len(asked) == 5


def test_what_is_held_changes_nothing():
    alone = expand([shares()])
    assert alone != (shares(),)
    with products_held():
        assert expand([shares()]) == alone
        assert expand([shares(), shares()]) == alone * 2


@pytest.mark.whole_planner
def test_what_is_in_normal_form_is_known_while_something_is_held():
    assert progress_of_plans() is not progress_of_plans()
    with products_held():
        assert progress_of_plans() is progress_of_plans()
        with planner_options(factoring=False):
            other = progress_of_plans()
        assert other is not progress_of_plans()
        assert other.left_out == {"factor"}


def test_kernels_of_equal_fields_have_their_own_costs():
    shapes, read = ((64, 8), (64,)), (4096, 512)
    take, put = (kernel((0, 2), 2, (1,)) for kernel in (Take, Put))
    assert take == put
    costs = [cost.kernel_cost(kernel, shapes, read, (64, 64), np.dtype(float)) for kernel in (take, put, take)]
    assert [found.calls for found in costs] == [4, 16, 4]
