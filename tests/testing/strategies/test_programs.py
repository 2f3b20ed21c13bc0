"""Programs: text and interpreter agree, values stay small, derivatives are those of independent oracles."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import einsumad as ea
from einsumad.testing.strategies import FAMILIES, Program, Statement, programs, tangents
from einsumad.testing.strategies.interpreter import computation, einsum_by_products
from einsumad.testing.strategies.operations import KINKS
from tests.testing.strategies.drawn import examples, minimal

SMOOTH = tuple(name for name in FAMILIES if name != "kinked")
MOST = 64


def executed(program: Program):
    """The function that Python makes of the program's source."""
    scope = {"np": np}
    exec(program.source, scope)  # noqa: S102  the text is the project's own
    return scope["f"]


def intermediate(program: Program, arrays):
    """All values of a program, through programs that stop early."""
    targets = [statement.target for statement in program.statements]
    return [
        Program(program.arguments, program.statements[: count + 1], target, ()).run(arrays)
        for count, target in enumerate(targets)
    ]


def directional(gradients, direction):
    return sum(np.sum(g * v) for g, v in zip(gradients, direction, strict=True))


def gradients(program: Program):
    return ea.grad(program, argnums=tuple(range(len(program.arguments))))(*program.point)


def along(program: Program, direction, step):
    return program(*[x + step * v for x, v in zip(program.point, direction, strict=True)])


def direction_at(data, program: Program):
    found = data.draw(tangents(*program.point))
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.fuzz
@given(programs(max_dims=3))
def test_text_and_interpreter_agree(program):
    assert np.array_equal(executed(program)(*program.point), program(*program.point))


@pytest.mark.fuzz
@given(programs())
def test_the_shown_point_is_the_point(program):
    scope = {"np": np}
    exec(repr(program), scope)  # noqa: S102  the text is the project's own
    for name, array in zip(program.arguments, program.point, strict=True):
        assert np.array_equal(scope[name], array)
        assert scope[name].shape == array.shape


@pytest.mark.fuzz
@given(programs(), st.data())
def test_values_stay_small_wherever_the_arguments_do(program, data):
    corners = [
        np.where(data.draw(tangents(x)) >= 0, 2.0, -2.0) if data.draw(st.booleans()) else x for x in program.point
    ]
    for value in intermediate(program, corners):
        assert np.all(np.isfinite(value))
        assert np.all(np.abs(value) <= MOST * (1 + 1e-12))


@pytest.mark.fuzz
@given(programs(max_dims=3))
def test_any_namespace_computes_the_same(program):
    arrays = [array_api_strict.asarray(x) for x in program.point]
    result = program.run(arrays, array_api_strict)
    np.testing.assert_allclose(np.asarray(result), program(*program.point), rtol=1e-11, atol=1e-11)


@pytest.mark.fuzz
@given(programs(dtype="float32", xp=array_api_strict))
def test_float32_stays_float32(program):
    assert program.run(program.point, array_api_strict).dtype == array_api_strict.float32
    assert program(*map(np.asarray, program.point)).dtype == np.float32


@pytest.mark.fuzz
@given(programs(SMOOTH, scalar=True), st.data())
def test_complex_steps_pass_through_smooth_programs(program, data):
    direction = direction_at(data, program)
    step = along(program, direction, 1e-30j).imag / 1e-30
    expected = directional(gradients(program), direction)
    assert abs(step - expected) <= 1e-11 * (1 + abs(expected))


@pytest.mark.fuzz
@given(programs(scalar=True, margin=0.02), st.data())
def test_differences_pass_kinked_programs_at_a_margin(program, data):
    direction = direction_at(data, program)
    h = 1e-4
    near, far = [along(program, direction, t) - along(program, direction, -t) for t in (h, 2 * h)]
    expected = directional(gradients(program), direction)
    assert abs((8 * near - far) / (12 * h) - expected) <= 1e-6 * (1 + abs(expected))


@pytest.mark.fuzz
@given(programs(margin=0.1))
def test_the_margin_holds(program):
    assert program.distance_to_kinks(*program.point) >= 0.1


@pytest.mark.parametrize("template", sorted(KINKS))
def test_a_kink_is_where_the_distance_vanishes(template):
    arity = 2 if "{1}" in template else 1
    size = 3 if "axis" in template else 1
    f = Program(("x", "y")[:arity], (Statement("t0", template, ("x", "y")[:arity], "kinked"),), "t0", ())
    grid = [np.full(size, value) for value in np.linspace(-2, 2, 65)]
    seen = 0
    for place in range(len(grid)):
        others = [np.full(size, 0.3), np.linspace(-0.6, 0.3, size)][: max(arity - 1, size > 1)]
        arrays = [grid[place]] if arity == 1 else [grid[place], others[0]]
        if size > 1:
            arrays = [grid[place] * np.array([1.0, 0, 0]) + np.array([0, 0.3, -0.6])]
        distance = f.distance_to_kinks(*arrays)
        move = np.eye(1, size).ravel()
        slopes = [np.sum(f(arrays[0] + h * move, *arrays[1:]) - f(*arrays)) / h for h in (1e-7, -1e-7)]
        kinked = abs(slopes[0] - slopes[1]) > 1e-3
        seen += kinked
        assert not kinked or distance < 1e-6
        assert np.isclose(f(arrays[0] + 1e-9, *arrays[1:]), f(*arrays), atol=1e-8).all()
    assert seen or size > 1 or arity == 2


def test_a_tie_is_a_kink_of_the_largest_entry():
    f = minimal(programs(["kinked"], max_statements=1), lambda program: "np.max(" in program.source)
    assert f.distance_to_kinks(np.array([1.0, 0.5, 1.0])) == 0
    assert f.distance_to_kinks(np.array([1.0, 0.5, 0.75])) == 0.25
    assert f.distance_to_kinks(np.array([1.0])) == np.inf


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_families_can_be_switched(family):
    found = examples(programs([family], scalar=False), 60)
    assert all(program.families == {family} for program in found)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_operation_occurs(family):
    found = examples(programs([family], max_dims=3), 150)
    seen = {statement.template for program in found for statement in program.statements}
    for operation in FAMILIES[family]:
        fitting = {operation.text([(n, n)], "float64") for n in (1, 2, 3)}
        assert seen & fitting, operation.template


def test_programs_are_graphs_with_shared_values():
    found = examples(programs(), 250)
    lengths = [len(program.statements) for program in found]
    assert np.mean([length > 3 for length in lengths]) > 0.3
    assert max(lengths) >= 8
    shared = [
        any(
            name.startswith("t") and sum(name in other.operands for other in program.statements) > 1
            for name in {name for statement in program.statements for name in statement.operands}
        )
        for program in found
    ]
    assert np.mean(shared) > 0.1
    unused = [set(program.arguments) - {n for s in program.statements for n in s.operands} for program in found]
    assert 0.02 < np.mean([bool(names) for names in unused]) < 0.6


@pytest.mark.fuzz
@given(programs())
def test_every_statement_is_needed(program):
    used = {name for statement in program.statements for name in statement.operands}
    for statement in program.statements:
        assert statement.target in used or statement.target == program.result


@pytest.mark.fuzz
@given(programs(scalar=True))
def test_scalar_results(program):
    assert np.shape(program(*program.point)) == ()


@pytest.mark.fuzz
@given(programs(["smooth", "arithmetic"], max_arguments=2, max_statements=2, max_dims=1, max_side=2))
def test_limits_hold(program):
    assert len(program.arguments) <= 2
    assert all(x.ndim <= 1 and x.size <= 2 for x in program.point)
    assert len(program.statements) <= 4


@pytest.mark.fuzz
@given(st.data())
def test_einsum_by_products_is_einsum(data):
    subscripts, shapes = data.draw(
        st.sampled_from(
            [
                ("ij,jk->ik", [(2, 3), (3, 2)]),
                ("ii->i", [(3, 3)]),
                ("iij,j->", [(2, 2, 3), (3,)]),
                ("i,j->ji", [(2,), (3,)]),
                ("->", [()]),
                ("iii,i->i", [(2, 2, 2), (2,)]),
            ]
        )
    )
    arrays = [np.arange(1.0, np.prod(shape) + 1).reshape(shape) for shape in shapes]
    found = einsum_by_products(array_api_strict, subscripts, *map(array_api_strict.asarray, arrays))
    assert np.array_equal(np.asarray(found), np.einsum(subscripts, *arrays))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "{0}.__class__",
        "np.sum({0}).shape",
        "[{0}]",
        "lambda: {0}",
        "{0} if {0} else 1",
        "x",
        "{0}(1)",
        "np.a.b({0})",
        "{0} and {0}",
        "1 < {0} < 2",
    ],
)
def test_the_interpreter_knows_nothing_but_expressions_of_np(text):
    with pytest.raises(ValueError, match="is no"):
        computation(text, 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: programs(["smoth"]), ValueError, "linear_algebra"),
        (lambda: programs([]), ValueError, "one or more"),
        (lambda: programs(max_arguments=0), ValueError, "max_arguments"),
        (lambda: programs(["products"], max_dims=0), ValueError, "no operation on scalars"),
        (lambda: programs(dtype="float16"), TypeError, "float16"),
        (lambda: minimal(programs())(1.0, 2.0), TypeError, "takes x: 2 arrays"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("wanted", "source"),
    [
        ("np.abs", "def f(x):\n    return np.abs(x)"),
        ("np.log(1 +", "def f(x):\n    return np.log(1 + x * x)"),
        ("np.sum", "def f(x):\n    return np.sum(x)"),
        ("** 3", "def f(x):\n    return x ** 3"),
        ("np.sin", "def f(x):\n    return np.sin(x)"),
    ],
)
def test_programs_shrink_to_one_statement(wanted, source):
    program = minimal(programs(), lambda program: wanted in program.source)
    assert program.source == source
    assert all(x.size == 1 and not x.any() for x in program.point)


def test_programs_of_several_families_shrink_to_few_statements():
    program = minimal(programs(), lambda program: len(program.families) >= 3)
    assert len(program.statements) <= 4
    assert all(side <= 2 for x in program.point for side in x.shape)
