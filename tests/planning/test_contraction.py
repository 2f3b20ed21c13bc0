"""Products in primitive steps: the same value, every product primitive, good order."""

import numpy as np
from hypothesis import given, settings

from einsumad.execution import evaluate
from einsumad.graph import Einsum, topological
from einsumad.planning.contraction import binarise
from einsumad.planning.primitives import kind_of
from tests.planning.products import products

MANY = settings(max_examples=max(400, settings().max_examples))


def kinds(node):
    return [kind_of(n) for n in topological(binarise([node])) if isinstance(n, Einsum)]


def tolerance(node):
    leaves = [n.dtype for n in topological([node])] + [node.dtype]
    return 1e-4 if np.dtype(np.float32) in leaves else 1e-9


@MANY
@given(products())
def test_binarised_products_have_the_same_value(case):
    (result,) = binarise([case.node])
    assert (result.shape, result.dtype) == (case.node.shape, case.node.dtype)
    assert all(kind_of(n) for n in topological([result]) if isinstance(n, Einsum))
    expected, value = (evaluate([node], case.values)[0] for node in (case.node, result))
    np.testing.assert_allclose(value, expected, rtol=tolerance(case.node), atol=tolerance(case.node))
    assert binarise([result]) == (result,)


@MANY
@given(products(dtypes=(np.int64,), coefficients=(1, -1, 3)))
def test_integers_are_exact(case):
    if case.node.dtype.kind == "i":
        expected = evaluate([case.node], case.values, exact=True)[0]
        assert (evaluate(binarise([case.node]), case.values)[0] == expected).all()
