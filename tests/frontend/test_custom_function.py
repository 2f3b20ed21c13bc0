"""Functions with derivatives of their own: all modes and orders by one rule, and rules that are wrong are found."""

# ruff: noqa: ARG005, B023 (rules have a fixed signature; a function of a loop is used in its own turn only)
import contextvars
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.testing import check_derivatives

MODES = ("forward", "reverse", "cross-country")
A = np.array([[3.0, 1.0, 0.5], [0.5, 4.0, 1.0], [1.0, 0.25, 5.0]])
b = np.array([1.0, -2.0, 0.5])


def solved(matrix: Any, right: Any) -> Any:
    assert type(matrix) is np.ndarray
    return np.linalg.solve(matrix, right)


def push_solved(primals: Any, tangents: Any) -> Any:
    (matrix, right), (d_matrix, d_right) = primals, tangents
    return np.linalg.solve(matrix, d_right - d_matrix @ solution_by_push(matrix, right))


def pull_solved(primals: Any, value: Any, cotangent: Any) -> Any:
    weights = np.linalg.solve(primals[0].T, cotangent)
    return -np.outer(weights, value), weights


solution_by_push = ea.custom_function(solved, push=push_solved, shape=lambda matrix, right: right.shape)
SOLUTIONS = {
    "push": solution_by_push,
    "pull": ea.custom_function(solved, pull=pull_solved),
    "both": ea.custom_function(solved, push=push_solved, pull=pull_solved),
}


@pytest.mark.parametrize("given", SOLUTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_all_modes_and_orders_by_one_rule(given: str, mode: Any) -> None:
    function = SOLUTIONS[given]

    def loss(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda matrix, right: np.sum(np.sin(f(matrix, right * right)) ** 2)

    for order in (1, 2, 3):
        for argnum in (0, 1):
            mine = ea.derivative(loss(function), argnum, order=order, mode=mode)(A, b)
            numpys = ea.derivative(loss(np.linalg.solve), argnum, order=order, mode=mode)(A, b)
            np.testing.assert_allclose(mine, numpys, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("given", SOLUTIONS)
def test_transforms_agree_with_numpys_function(given: str) -> None:
    function = SOLUTIONS[given]
    direction = np.cos(A), np.sin(b)
    np.testing.assert_allclose(
        ea.jvp(function, (A, b), direction)[1], ea.jvp(np.linalg.solve, (A, b), direction)[1], rtol=1e-12
    )
    for mine, numpys in zip(ea.vjp(function, A, b)[1](b), ea.vjp(np.linalg.solve, A, b)[1](b), strict=True):
        np.testing.assert_allclose(mine, numpys, rtol=1e-12)

    def loss(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda matrix, right: np.sum(f(matrix, right) ** 3)

    for transform in (ea.hvp, ea.hessian_diagonal, ea.laplacian):
        arguments = (A, b, A) if transform is ea.hvp else (A, b)
        np.testing.assert_allclose(
            transform(loss(function))(*arguments), transform(loss(np.linalg.solve))(*arguments), rtol=1e-11
        )
    inner = ea.grad(lambda right: np.sum(ea.grad(loss(function))(A, right) ** 2))(b)
    outer = ea.grad(lambda right: np.sum(ea.grad(loss(np.linalg.solve))(A, right) ** 2))(b)
    np.testing.assert_allclose(inner, outer, rtol=1e-10)


@pytest.mark.parametrize("given", SOLUTIONS)
def test_checks_find_nothing_wrong(given: str) -> None:
    SOLUTIONS[given].check(A, b)


def test_the_toolkit_finds_nothing_wrong() -> None:
    assert check_derivatives(lambda right: np.sum(SOLUTIONS["push"](A, right) ** 2), b)


def test_compiled_eager_and_symbolic() -> None:
    function = ea.custom_function(solved, push=push_solved, shape=lambda matrix, right: right.shape, name="solution")

    def loss(matrix: Any, right: Any) -> Any:
        return np.sum(function(matrix, right) ** 2)

    expected = ea.grad(lambda matrix, right: np.sum(np.linalg.solve(matrix, right) ** 2), argnums=(0, 1))(A, b)
    compiled = ea.compile(ea.grad(loss, argnums=(0, 1)))
    for found, wanted in zip(compiled(A, b), expected, strict=True):
        np.testing.assert_allclose(found, wanted)
    eager = ea.tensor(A, requires_grad=True)
    loss(eager, b).backward()
    np.testing.assert_allclose(eager.grad, expected[0])
    x, y = ea.variable("A", (3, 3)), ea.variable("b", 3)
    derivative = ea.diff(loss(x, y), x)
    np.testing.assert_allclose(ea.evaluate(derivative, {x: A, y: b}), expected[0])
    assert "solution(A, b)" in str(function(x, y))
    assert "solution(" in str(ea.explain(ea.grad(loss), A, b))


def test_a_family_that_is_its_own_derivative() -> None:
    special = pytest.importorskip("scipy.special")
    bessel = ea.custom_function(special.jv, name="bessel", shape=lambda n, x: np.shape(x))

    @bessel.push
    def _(primals: Any, tangents: Any) -> Any:
        n, x = primals
        assert tangents[0] == 0.0
        return (bessel(n - 1, x) - bessel(n + 1, x)) / 2 * tangents[1]

    x = np.array([0.5, 2.0])
    for order in range(4):
        found = ea.derivative(lambda x: bessel(2, x), order=order)(x)
        np.testing.assert_allclose(found.sum(tuple(range(1, order + 1))), special.jvp(2, x, order), rtol=1e-12)


def test_functions_that_are_each_others_derivatives() -> None:
    sine = ea.custom_function(lambda x: np.array(list(map(math.sin, x))), shape=lambda x: x.shape)
    cosine = ea.custom_function(lambda x: np.array(list(map(math.cos, x))), shape=lambda x: x.shape)
    sine.push(lambda primals, tangents: cosine(*primals) * tangents[0])
    cosine.pull(lambda primals, value, cotangent: -sine(*primals) * cotangent)
    x = np.array([0.3, 1.0, 2.0])
    for mode in MODES:
        third = ea.derivative(lambda x: np.sum(sine(x)), order=3, mode=mode)(x)
        np.testing.assert_allclose(third[range(3), range(3), range(3)], -np.cos(x))


@pytest.mark.parametrize("rules", ["push", "pull", "mixed"])
def test_linear_operators_whose_rules_are_themselves(rules: str) -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    product = ea.custom_function(lambda x: np.array(list(matrix @ x)), shape=2)
    adjoint = ea.custom_function(lambda y: np.array(list(matrix.T @ y)), shape=3)
    if rules == "push":
        product.push(lambda p, t: product(*t))
    else:
        product.pull(lambda p, v, c: adjoint(c))
    if rules == "pull":
        adjoint.pull(lambda p, v, c: product(c))
    else:
        adjoint.push(lambda p, t: adjoint(*t))
    product.check(b)
    for mode in MODES:
        np.testing.assert_array_equal(ea.jacobian(product, mode=mode)(b), matrix)
        found = ea.derivative(lambda x: np.sum(product(x * x) ** 3), order=3, mode=mode)(b)
        np.testing.assert_allclose(found, ea.derivative(lambda x: np.sum((matrix @ (x * x)) ** 3), order=3)(b))


def test_a_bilinear_function_applied_in_its_own_rule() -> None:
    function = ea.custom_function(lambda k, x: k * x + np.zeros(len(x)), shape=3)
    function.push(lambda p, t: function(p[0], t[1]) + t[0] * p[1])
    in_k, in_x = ea.jacobian(function, argnums=(0, 1))(2.0, b)
    np.testing.assert_array_equal(in_k, b)
    np.testing.assert_array_equal(in_x, 2 * np.eye(3))
    with pytest.raises(ea.DifferentiationError, match="its own derivative is not known"):
        ea.hessian(lambda k, x: np.sum(function(k, x) ** 2), argnums=(0, 1))(2.0, b)
    square = ea.custom_function(lambda x: x**2 + np.zeros(len(x)), shape=3, name="square")
    square.push(lambda p, t: square(*t))
    with pytest.raises(ea.DifferentiationError, match=r"square .* is not linear"):
        ea.jacobian(square)(b)


def test_several_outputs_of_unlike_dtypes() -> None:
    def both(x: Any, W: Any) -> Any:
        return {"product": W @ x, "sum": np.sum(x), "count": np.count_nonzero(x)}

    calls = []
    for rule in ("push", "pull"):
        function = ea.custom_function(lambda x, W: (calls.append(0), both(x, W))[1], name=rule)
        if rule == "push":
            function.push(
                lambda p, t: {"product": p[1] @ t[0] + t[1] @ p[0], "sum": np.sum(t[0]), "count": 0.0},
            )
        else:
            function.pull(
                lambda p, v, c: (p[1].T @ c["product"] + c["sum"], np.outer(c["product"], p[0])),
            )
        function.check(b, A)

        def loss(x: Any, W: Any, f: Any = function) -> Any:
            out = f(x, W)
            assert out["count"].dtype == np.int64
            return np.sum(out["product"] ** 2) * np.sin(out["sum"]) * out["count"]

        expected = ea.hessian(lambda x, W: np.sum((W @ x) ** 2) * np.sin(np.sum(x)) * 3, argnums=(0, 1))(b, A)
        for mode in MODES:
            found = ea.hessian(loss, argnums=(0, 1), mode=mode)(b, A)
            for i in (0, 1):
                for j in (0, 1):
                    np.testing.assert_allclose(found[i][j], expected[i][j], rtol=1e-10, atol=1e-12)


def test_trees_statics_keywords_and_floats() -> None:
    def f(parameters: Any, x: Any, power: int, scale: float, flag: Any = 0, nothing: Any = 0) -> Any:  # noqa: PLR0917
        assert (power, flag, nothing, type(scale)) == (3, "twice", 0, float)
        return scale * 2 * parameters["w"] * x**power

    def push(p: Any, t: Any) -> Any:
        assert t[2] == 0.0
        assert t[4] == 0.0
        assert p[4] == "twice"
        w, x = p[0]["w"], p[1]
        return 2 * (t[3] * w * x ** p[2] + p[3] * (t[0]["w"] * x ** p[2] + w * p[2] * x ** (p[2] - 1) * t[1]))

    function = ea.custom_function(f, push=push)
    x = np.array([1.0, 2.0])
    for scale in (0.5, 0.75, 7.0):
        found = ea.grad(lambda q, x: np.sum(function(q, x, power=3, scale=scale, flag="twice")), argnums=(0, 1))(
            {"w": np.array([3.0, 4.0])}, x
        )
        np.testing.assert_allclose(found[0]["w"], scale * 2 * x**3)
        np.testing.assert_allclose(found[1], scale * 6 * np.array([3.0, 4.0]) * x**2)
    with pytest.raises(ea.TracingError, match="keyword-only"):
        ea.grad(lambda x: ea.custom_function(lambda x, *, k=1: x)(x, k=2))(x)
    with pytest.raises(ea.TracingError, match="no hash"):
        ea.grad(lambda x: ea.custom_function(lambda x, s: np.sum(x), name="g")(x, {1}))(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3)])
def test_dtypes_and_shapes(dtype: Any, shape: tuple[int, ...]) -> None:
    def cube(x: Any, n: Any) -> Any:
        assert x.dtype == dtype
        assert np.shape(x) == shape
        return x**3 * n.dtype.type(1)

    n = np.array(2, np.int8)
    x = np.linspace(1, 2, math.prod(shape), dtype=dtype).reshape(shape)
    for rule in ({"push": lambda p, t: 3 * p[0] ** 2 * t[0]}, {"pull": lambda p, v, c: (3 * p[0] ** 2 * c, None)}):
        function = ea.custom_function(cube, **rule)
        assert function(x, n).dtype == dtype
        value, tangent = ea.jvp(lambda x: function(x, n), (x,), (x,))
        assert value.dtype == tangent.dtype == dtype
        assert value.shape == tangent.shape == shape
        np.testing.assert_allclose(tangent, 3 * x**3, rtol=1e-6)
        second = ea.hessian(lambda x: np.sum(function(x, n)))(x)
        assert second.dtype == dtype
        np.testing.assert_allclose(second, np.diag(6 * x.ravel()).reshape(shape + shape), rtol=1e-6)


def test_mixed_precision_and_python_numbers() -> None:
    x = np.ones(2, np.float32)
    wide = ea.custom_function(
        lambda x, y: x.astype(np.float64) * y, push=lambda p, t: t[0].astype(np.float64) * p[1] + p[0] * t[1]
    )
    gradient = ea.grad(lambda x, y: np.sum(wide(x, y)), argnums=(0, 1))(x, np.full(2, 3.0))
    assert [g.dtype for g in gradient] == [np.float32, np.float64]
    np.testing.assert_allclose(gradient, [[3, 3], [1, 1]])
    power = ea.custom_function(lambda x, k: np.array([v**k for v in x]), name="power")
    power.push(lambda p, t: power(*p) * (p[1] * t[0] / p[0] + np.log(p[0]) * t[1]))
    single = np.array([1.5, 2.0], np.float32)
    second = ea.hessian(lambda x: np.sum(power(x, 3.0)))(single)
    assert second.dtype == np.float32
    np.testing.assert_allclose(second, np.diag(6 * single), rtol=1e-6)
    power.check(single, 3.0)
    plain = ea.custom_function(lambda x: float(np.sum(x)), push=lambda p, t: np.sum(t[0]))
    assert ea.value_and_grad(plain)(x)[0].dtype == np.float32


def test_replaced_derivatives() -> None:
    straight_through = ea.custom_function(np.round, push=lambda primals, tangents: tangents[0])
    x = np.array([1.2, 2.7])
    np.testing.assert_allclose(ea.grad(lambda x: np.sum(straight_through(x) ** 2))(x), [2.0, 6.0])
    reversed_gradient = ea.custom_function(lambda x: x, pull=lambda primals, value, cotangent: -cotangent)
    np.testing.assert_allclose(ea.grad(lambda x: np.sum(reversed_gradient(x) * x))(x), [0.0, 0.0])
    # such functions can be traced, so nothing need be said of their shape
    assert ea.compile(lambda x: straight_through(x) + 1)(x).tolist() == [2.0, 4.0]


def test_what_rules_and_functions_capture_is_never_stale() -> None:
    captured = {"factor": 1.5, "matrix": np.eye(2), "square": False}

    def value(x: Any) -> Any:
        y = captured["factor"] * (captured["matrix"] @ np.asarray(x))
        return y**2 if captured["square"] else y

    def push(primals: Any, tangents: Any) -> Any:
        tangent = captured["factor"] * (captured["matrix"] @ tangents[0])
        return 2 * captured["factor"] * (captured["matrix"] @ primals[0]) * tangent if captured["square"] else tangent

    f = ea.custom_function(value, push=push)
    x = np.array([1.0, 3.0])
    for factor, matrix, square in [
        (1.5, np.eye(2), False),
        (2.5, np.eye(2), False),
        (1.0, np.ones((2, 2)), False),
        (3.5, np.arange(4.0).reshape(2, 2), True),
        (2.5, np.ones((3, 2)), False),
    ]:
        if matrix.shape != captured["matrix"].shape:
            captured.update(factor=factor, matrix=matrix, square=square)
            with pytest.raises(ea.ShapeError):  # what was known of the shape is forgotten
                ea.jacobian(f)(x)
        captured.update(factor=factor, matrix=matrix, square=square)
        expected = factor * matrix * (2 * factor * (matrix @ x)[:, None] if square else 1)
        np.testing.assert_allclose(ea.jacobian(f)(x), expected)
        np.testing.assert_allclose(ea.jacobian(ea.jacobian(f))(x)[0, 0], ea.hessian(lambda x: f(x)[0])(x)[0])
    before = ea.statistics().derived
    captured["factor"] = 7.25
    np.testing.assert_allclose(ea.jacobian(f)(x), 7.25)
    assert ea.statistics().derived == before


def test_the_function_gets_arrays_of_its_own_and_keeps_what_it_returns() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        x *= 2
        kept.append(x)
        return x

    function = ea.custom_function(f, push=lambda p, t: 2 * t[0])
    x = np.ones(3)
    value = ea.compile(lambda x: function(x) + function(x) * x)(x)
    kept[-1][:] = 99
    np.testing.assert_allclose(value, 4)
    np.testing.assert_allclose(x, 1)
    np.testing.assert_allclose(ea.grad(lambda x: np.sum(function(x) * x))(x), 4)


def test_errors_and_surroundings_of_the_function() -> None:
    precision = contextvars.ContextVar("precision", default=0)

    def f(x: Any) -> Any:
        if x[0] < 0:
            raise RuntimeError("no convergence")
        return x * precision.get()

    function = ea.custom_function(f, push=lambda p, t: t[0], shape=lambda x: x.shape)
    precision.set(5)
    assert ea.compile(function)(np.ones(2)).tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="no convergence"):
        ea.value_and_grad(lambda x: np.sum(function(x)))(-np.ones(2))


def test_the_function_is_run_only_when_asked_for_and_for_the_shape_once() -> None:
    calls = []
    function = ea.custom_function(lambda x: (calls.append(0), x * x)[1], push=lambda p, t: 2 * p[0] * t[0])
    x = np.ones(2)
    ea.grad(lambda x: np.sum(function(x)))(x)
    assert len(calls) == 1  # for the shape: the gradient does not need the value
    ea.value_and_grad(lambda x: np.sum(function(x)))(x)
    assert len(calls) == 2
    before = ea.statistics().derived
    ea.value_and_grad(lambda x: np.sum(function(x)))(2 * x)
    assert ea.statistics().derived == before
    assert function(x).tolist() == [1, 1]


def test_functions_of_one_name_are_told_apart() -> None:
    x = np.ones(2)
    values = []
    for factor in (2.0, 3.0, 4.0):
        f = ea.custom_function(lambda x, k=factor: k * x, push=lambda p, t: p[1] * t[0] + p[0] * t[1], name="scaled")
        values.append(ea.grad(lambda x: np.sum(f(x)))(x)[0])
    assert values == [2.0, 3.0, 4.0]
    v = ea.variable("v", 2)
    first = ea.custom_function(np.exp, push=lambda p, t: t[0], name="twin")
    second = ea.custom_function(np.sin, push=lambda p, t: t[0], name="twin")
    assert (str(first(v)), str(second(v))) == ("twin(v)[i]  =  twin(v)", "twin#2(v)[i]  =  twin#2(v)")
    text = str(np.linalg.inv(ea.custom_function(lambda x: x, name="inverse")(ea.variable("V", (2, 2)))))
    assert "inverse(V)" in text


def test_methods_decorators_and_threads() -> None:
    class Model:
        def __init__(self, power: int) -> None:
            self.power = power

        @ea.custom_function(push=lambda p, t: p[0].power * p[1] ** (p[0].power - 1) * t[1])
        def run(self, x: Any) -> Any:
            """Run."""
            return x**self.power

    assert Model.run.__doc__ == "Run."
    models = [Model(k) for k in (2, 3, 4)]
    found: dict[int, Any] = {}

    def work(model: Model) -> None:
        for _ in range(10):
            found[model.power] = ea.grad(lambda x: np.sum(model.run(x)))(np.full(3, 2.0))

    threads = [threading.Thread(target=work, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {k: v[0] for k, v in found.items()} == {2: 4.0, 3: 12.0, 4: 32.0}
    models[0].power = 5
    assert ea.grad(lambda x: np.sum(models[0].run(x)))(np.ones(2)).tolist() == [5.0, 5.0]


def test_stored_graphs_find_the_function_at_home_only() -> None:
    v = ea.variable("v", 2)
    node = ea.custom_function(np.exp, push=lambda p, t: t[0], name="stored")(v)
    stored = pickle.dumps(node)
    assert pickle.loads(stored).node is node.node  # noqa: S301 (made above)
    program = (
        "import pickle, sys, numpy as np, einsumad as ea\n"
        "node = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "other = ea.custom_function(np.sin, push=lambda p, t: t[0], name='stored')(ea.variable('v', 2))\n"
        "print(node, node.node is other.node, pickle.dumps(node) == bytes.fromhex(sys.argv[1]))\n"
        "try: ea.evaluate(node, {ea.variable('v', 2): np.ones(2)})\n"
        "except ea.TracingError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program, stored.hex()], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("stored(v)[i]  =  stored(v) False True\nthere is no user-defined function")


def test_rules_that_take_or_give_something_else() -> None:
    with pytest.raises(TypeError, match=r"pull\(primals, value, cotangent\)"):
        ea.custom_function(np.sum, pull=lambda primals, cotangent: cotangent)
    forgot = ea.custom_function(np.sum, pull=lambda primals, value, cotangent: None, name="forgot")
    with pytest.raises(ea.DifferentiationError, match="pull of forgot gave None"):
        ea.grad(forgot)(np.ones(3))
