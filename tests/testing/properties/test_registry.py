"""Running properties: names, needs, exceptions, refusals, and what findings say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from einsumad.errors import MemoryLimitError, TracingError
from einsumad.testing.properties import PROPERTIES, QUICK, Case, run_properties
from einsumad.testing.systems import EINSUMAD

X = np.array([0.5, -1.25, 1.0])


def loss(x):
    return np.sum(np.exp(x) * x)


def refusing(*_):
    raise NotImplementedError


def failing(*_):
    raise RuntimeError("out of luck")


def test_names_are_unique_and_found():
    names = [each.name for each in PROPERTIES]
    assert len({*names}) == len(names)
    assert {*QUICK} < {*names}
    assert run_properties(Case(EINSUMAD, loss, (X,)), []) == ()
    found = run_properties(Case(EINSUMAD, loss, (X,)), ["laplacian", "symmetry"])
    assert {finding.claim for finding in found} == {"laplacian", "symmetry"}
    with pytest.raises(ValueError, match="did you mean 'laplacian'"):
        run_properties(Case(EINSUMAD, loss, (X,)), ["laplacean"])
    with pytest.raises(ValueError, match="there are value, "):
        run_properties(Case(EINSUMAD, loss, (X,)), ["qqq"])


def test_quick_properties_differentiate_the_function_alone():
    seen = []

    def recording(f, arrays, order, mode):
        seen.append(f)
        return EINSUMAD.derivative(f, arrays, order, mode)

    case = Case(replace(EINSUMAD, derivative=recording), loss, (X,))
    assert {finding.verdict for finding in run_properties(case, QUICK)} == {"right"}
    assert {*seen} == {loss}


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_orders_up_to_that_of_the_case(order):
    found = run_properties(Case(EINSUMAD, lambda x: np.sum(x**3), (X[:2],), order=order))
    assert max(finding.order for finding in found) == order
    assert {finding.verdict for finding in found} == {"right"}


def test_modes_and_names_of_the_case():
    case = Case(EINSUMAD, loss, (X,), modes=("forward", "reverse"), names=("weights",))
    found = run_properties(case, ["mode agreement"])
    assert {(finding.mode, finding.against) for finding in found} == {("reverse", "mode forward")}

    def wrong(f, arrays, order, mode):
        (block,) = EINSUMAD.derivative(f, arrays, order, mode)
        block[1] *= 1.03 if mode == "reverse" else 1
        return (block,)

    (found,) = run_properties(replace(case, order=1, system=replace(EINSUMAD, derivative=wrong)), ["mode agreement"])
    assert found.index == "(weights[1])"
    assert found.wrong == 1
    assert found.entries == 3
    assert found.found == pytest.approx(1.03 * found.expected)
    assert 0 < found.tolerance < 1e-9


def test_directions_come_from_the_seed():
    seen = {}

    def recording(seed):
        def jvp(f, arrays, tangents):
            seen.setdefault(seed, []).append(tangents[0].copy())
            return EINSUMAD.jvp(f, arrays, tangents)

        return replace(EINSUMAD, jvp=jvp)

    for seed in (0, 0, 1):
        seen.pop(seed, None)
        run_properties(Case(recording(seed), loss, (X,), seed), ["adjoint identity"])
    first = [np.array(each) for each in seen[0]]
    run_properties(Case(recording(0), loss, (X,), 0), ["adjoint identity"])
    np.testing.assert_array_equal(first, seen[0][: len(first)])
    assert not np.array_equal(first, seen[1])
    for tangent in first:
        assert len({*np.sign(tangent)}) == 2
        assert len({*np.abs(tangent)}) == 3


def test_transforms_that_a_system_does_not_have_are_left_out():
    system = replace(EINSUMAD, jvp=refusing, hvp=refusing, extras={})
    found = run_properties(Case(system, loss, (X,)))
    claims = {finding.claim for finding in found}
    assert not claims & {"jvp is J v", "hvp is H v", "laplacian", "elimination orders", "adjoint identity"}
    assert claims >= {"vjp is u J", "mode agreement", "symmetry", "product rule"}
    assert {finding.verdict for finding in found} == {"right"}


def test_a_system_made_for_one_function():
    def own(f, arrays, order, mode):
        assert f is loss
        return EINSUMAD.derivative(f, arrays, order, mode)

    system = replace(EINSUMAD, derivative=own, any_function=False, jvp=refusing, vjp=refusing, hvp=refusing, extras={})
    found = run_properties(Case(system, loss, (X,)))
    assert {finding.claim for finding in found} >= {"mode agreement", "symmetry", "determinism"}
    assert not {finding.claim for finding in found} & {"product rule", "scaled input", "unused argument"}
    assert "wrong" not in {finding.verdict for finding in found}


def refused(*_):
    raise MemoryLimitError("too large for today")


def test_exceptions():
    with pytest.raises(RuntimeError, match="out of luck"):
        run_properties(Case(EINSUMAD, failing, (X,)))
    found = run_properties(Case(replace(EINSUMAD, derivative=failing), loss, (X,)), ["mode agreement", "vjp is u J"])
    assert [finding.verdict for finding in found] == ["wrong", "wrong"]
    assert found[0].detail == "raised RuntimeError: out of luck"
    found = run_properties(Case(replace(EINSUMAD, vjp=refused), loss, (X,)), ["mode agreement", "vjp is u J"])
    assert "wrong" not in {finding.verdict for finding in found}
    assert found[-1].verdict == "undecided"
    assert found[-1].detail == "too large for today"
    with pytest.raises(TracingError):
        run_properties(Case(EINSUMAD, lambda x: np.nextafter(x, 2), (X,)))


def test_large_derivatives_are_not_computed():
    found = run_properties(Case(EINSUMAD, lambda x: x * x, (np.ones(2000),)), ["mode agreement", "adjoint identity"])
    assert [finding.verdict for finding in found] == ["undecided", "right"]
    assert "4000000 entries" in found[0].detail


def test_complex_functions_have_other_laws():
    system = replace(EINSUMAD, evaluate=lambda f, arrays: f(*arrays))
    assert run_properties(Case(system, loss, (X + 1j,))) == ()
    assert run_properties(Case(system, lambda x: x + 1j, (X,))) == ()


def test_the_arrays_of_a_case_are_never_handed_out():
    arrays = (X.copy(),)

    def grasping(f, given, order, mode):
        assert given[0] is not arrays[0]
        given[0][...] = np.nan
        return EINSUMAD.derivative(f, (X,), order, mode)

    found = run_properties(Case(replace(EINSUMAD, derivative=grasping), loss, arrays), ["mode agreement", "symmetry"])
    np.testing.assert_array_equal(arrays[0], X)
    assert {finding.verdict for finding in found} == {"right"}


def test_batched_cases_need_one_leading_axis():
    (found,) = run_properties(Case(EINSUMAD, loss, (X,), batched=True), ["batching"])
    assert found.verdict == "undecided"
    assert "one leading axis" in found.detail
