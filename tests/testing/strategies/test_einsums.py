"""Einsum specs are valid, have the features they say, all of them, and shrink to few indices."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import einsumad as ea
from einsumad.notation import check_sizes, parse, parse_interleaved
from einsumad.testing.strategies import FEATURES, EinsumSpec, einsum_cases, einsum_spec, einsum_specs
from tests.testing.strategies.drawn import examples, minimal

SMALLEST = {
    "repeat": ("i,i->", [(2,), (2,)]),
    "trace": ("ii->", [(2, 2)]),
    "naked_sum": ("i->", [(2,)]),
    "hadamard": ("i,i->i", [(2,), (2,)]),
    "outer": ("i,j->", [(2,), (2,)]),
    "ellipsis": ("...i->...", [(2,)]),
    "ellipsis_dropped": ("...i->", [(2,)]),
    "size1": ("i,i->", [(1,), (2,)]),
    "empty": ("i->", [(0,)]),
    "out_perm": (None, [(2, 2)]),
    "implicit": ("i", [(2,)]),
    "interleaved": ("i->", [(2,)]),
    "scalar_output": ("i->", [(2,)]),
    "scalar_operand": ("->", [()]),
    "same_operand": (None, [(2,)]),
}


def placed(spec: EinsumSpec) -> list[tuple[int, ...]]:
    return [spec.shapes[slot] for slot in spec.slots]


def sizes_of(spec: EinsumSpec) -> list[dict[str, int]]:
    """The sizes of the named indices, operand by operand, read off the text."""
    found = []
    for term, shape in zip(spec.terms, placed(spec), strict=True):
        head, _, tail = term.partition("...")
        sizes = [*shape[: len(head)], *shape[len(shape) - len(tail) :]]
        found.append(dict(zip(head + tail, sizes, strict=True)))
    return found


@pytest.mark.fuzz
@given(einsum_cases())
def test_every_spec_is_valid_for_numpy(case):
    result = np.einsum(*case.arguments, optimize=True)
    assert np.shape(result) == case.spec.output_shape
    assert np.array_equal(
        result, np.einsum(case.spec.subscripts, *[case.operands[k] for k in case.spec.slots], optimize=True)
    )
    assert np.array_equal(result, case.spec(*case.operands))


@pytest.mark.fuzz
@given(einsum_cases())
def test_every_spec_is_valid_for_the_notation_and_for_einsumad(case):
    spec = case.spec
    text = parse(spec.subscripts, [len(shape) for shape in placed(spec)])
    assert len(check_sizes(text, placed(spec), spec.subscripts)) == len(text.names)
    arguments = spec.arguments([np.empty(shape) for shape in spec.shapes])
    if spec.interleaved:
        assert parse_interleaved(arguments)[1] == text
    assert np.array_equal(ea.einsum(*case.arguments), np.einsum(*case.arguments, optimize=True))


@pytest.mark.fuzz
@given(st.data(), st.sets(st.sampled_from(sorted(FEATURES))))
def test_only_allowed_features_occur(data, allow):
    spec = data.draw(einsum_specs(allow=allow))
    assert spec.features <= allow


@pytest.mark.fuzz
@given(einsum_specs())
def test_features_are_what_the_text_says(spec):
    terms = [term.replace("...", "") for term in spec.terms]
    used = "".join(terms)
    sizes = sizes_of(spec)
    output = spec.output
    if output is None:
        output = "".join(sorted(label for label in set(used) if used.count(label) == 1))
    output = output.replace("...", "")
    common = {label for label in used if sum(label in term for term in terms) > 1}
    says = {
        "repeat": bool(common),
        "trace": any(len(set(term)) < len(term) for term in terms),
        "naked_sum": any(used.count(label) == 1 and label not in output for label in used),
        "hadamard": bool(common & set(output)),
        "ellipsis": any("..." in term for term in spec.terms),
        "ellipsis_dropped": "..." in "".join(spec.terms) and spec.output is not None and "..." not in spec.output,
        "size1": any(1 in sides and len(sides) > 1 for sides in ({s[k] for s in sizes if k in s} for k in common)),
        "empty": any(0 in shape for shape in spec.shapes),
        "out_perm": [*output] != sorted(output, key=used.index),
        "implicit": "->" not in spec.subscripts,
        "interleaved": not isinstance(spec.arguments([None] * len(spec.shapes))[0], str),
        "scalar_output": spec.output_shape == (),
        "scalar_operand": () in spec.shapes,
        "same_operand": len(spec.slots) > len(spec.shapes),
    }
    assert {name for name, there in says.items() if there} == spec.features - {"outer"}
    if not common and "ellipsis" not in spec.features:
        assert ("outer" in spec.features) == (sum(bool(term) for term in terms) > 1)


def test_every_feature_occurs_often():
    found = examples(einsum_specs(), 400)
    shares = {name: np.mean([name in spec.features for spec in found]) for name in FEATURES}
    assert min(shares.values()) > 0.04, shares
    assert np.mean([len(spec.features) > 2 for spec in found]) > 0.4


def test_each_feature_occurs_when_only_what_it_needs_is_allowed():
    needs = {
        "ellipsis_dropped": {"ellipsis"},
        "hadamard": {"repeat"},
        "size1": {"repeat"},
        "same_operand": {"outer"},
        "scalar_output": {"naked_sum"},
        "interleaved": {"repeat"},
    }
    for name in sorted(FEATURES):
        allow = {name} | needs.get(name, set())
        assert any(name in spec.features for spec in examples(einsum_specs(allow=allow), 80)), name


def test_ellipses_come_with_unequal_ranks_in_the_middle_and_with_size_1():
    found = [spec for spec in examples(einsum_specs(), 400) if "ellipsis" in spec.features]
    ranks = [
        [len(shape) - len(term) + 3 for term, shape in zip(spec.terms, placed(spec), strict=True) if "..." in term]
        for spec in found
    ]
    assert any(len(set(rank)) > 1 for rank in ranks)
    assert any(term[0] != "." and term[-1] != "." for spec in found for term in spec.terms if "..." in term)
    assert any("..." in (spec.output or "").strip(".") for spec in found)
    assert any(
        "..." in term and 1 in shape for spec in found for term, shape in zip(spec.terms, placed(spec), strict=True)
    )


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_specs_shrink_to_few_indices_of_size_2(feature):
    spec = minimal(einsum_specs(), lambda spec: feature in spec.features)
    subscripts, shapes = SMALLEST[feature]
    assert list(spec.shapes) == shapes or subscripts is None
    assert spec.subscripts == subscripts or subscripts is None
    assert len(spec.terms) <= 2
    assert all(side <= 2 for shape in spec.shapes for side in shape)
    assert sum(map(len, placed(spec))) <= 3


def test_a_case_shows_a_call_that_can_be_copied():
    only = einsum_cases(1, allow=["trace"])
    case = minimal(only, lambda case: "trace" in case.spec.features and np.max(case.operands[0]) == 3)
    assert repr(case) == "einsum('ii->i', x0) with x0(2, 2) at x0 = array([[3., 0.],\n       [0., 0.]])"
    listed = einsum_spec(["...i", "i"], "...", [(3, 2), (2,)], interleaved=True)
    assert repr(listed) == "einsum(x0, [..., 0], x1, [0], [...]) with x0(3, 2), x1(2,)"


@pytest.mark.fuzz
@given(einsum_cases(dtype="float32", xp=array_api_strict, low=-2, high=2))
def test_operands_have_the_shapes_dtype_and_namespace(case):
    assert tuple(operand.shape for operand in case.operands) == case.spec.shapes
    for operand in case.operands:
        assert operand.dtype == array_api_strict.float32
        assert set(np.asarray(operand).ravel().tolist()) <= {-2.0, -1.0, 0.0, 1.0, 2.0}


@pytest.mark.fuzz
@given(einsum_cases(integers=False, low=0.5, high=1))
def test_operands_need_not_be_whole(case):
    assert all(np.all((operand >= 0.5) & (operand <= 1)) for operand in case.operands)


@pytest.mark.fuzz
@given(einsum_specs(2, max_axes=4, max_side=4))
def test_limits_hold(spec):
    assert len(spec.terms) <= 2
    assert all(len(term.replace("...", "")) <= 5 for term in spec.terms)
    assert all(side <= 4 for shape in spec.shapes for side in shape)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: einsum_specs(allow=["tracee"]), "unknown features tracee"),
        (lambda: einsum_specs(0), "max_operands"),
        (lambda: einsum_spec(["ij"], "k", [(2, 2)]), "output index 'k'"),
        (lambda: einsum_spec(["i"], "", [(2,)]).arguments([1, 2]), "1 arrays, 2 were given"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
