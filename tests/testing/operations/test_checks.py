"""Each check of a battery is right about right operations, and flags what is wrong with wrong ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from einsumad.testing.operations import Convention, Operation
from einsumad.testing.operations.arguments import in_dtype
from einsumad.testing.operations.checks import run_check

RNG = np.random.default_rng(3)
A = RNG.standard_normal((4, 3))
X, B = np.array([0.5, -1.25, 2.0]), RNG.standard_normal(4)


def loss(x, b):
    return np.sum((A @ x - b) ** 4)


def residual(x, b):
    return A @ x - b


def gradient(x, b):
    return 4 * A.T @ residual(x, b) ** 3


def hessian(x, b):
    return 12 * A.T @ (residual(x, b)[:, None] ** 2 * A)


def hvp(x, b, v):
    return hessian(x, b) @ v


def jvp(primals, tangents):
    return gradient(*primals) @ tangents[0]


def vjp(primals, cotangent):
    return gradient(*primals) * cotangent


BY_HAND = {"gradient": gradient, "hessian": hessian, "hvp": hvp, "jvp": jvp, "vjp": vjp}


def sample(rng):
    return rng.standard_normal(3), rng.standard_normal(4)


def of_loss(**fields):
    return Operation("loss", loss, sample, **fields)


@pytest.mark.parametrize("using", [None, "einsumad"])
def test_all_checks_of_a_right_operation_are_right(using):
    operation = of_loss(**BY_HAND, using=using, argnums=0)
    verdicts = {name: run_check(operation, name, (X, B), 5).verdict for name in operation.checks}
    structured = {"structured against dense"} & set(verdicts)
    assert {name for name, verdict in verdicts.items() if verdict != "right"} <= structured
    assert len(verdicts) > 15


def test_orders_are_told_apart():
    operation = of_loss(order=3)
    for order in (1, 2, 3):
        report = run_check(operation, f"order {order}", (X, B), 0)
        assert {finding.order for finding in report.findings} == {order}
        assert {"auto", "forward", "reverse", "cross-country"} == {finding.mode for finding in report.findings}


def test_modes_can_be_chosen():
    report = run_check(of_loss(options={"modes": ("reverse",)}), "order 1", (X, B), 0)
    assert {finding.mode for finding in report.findings} == {"reverse"}


WRONG = {
    "gradient": lambda x, b: gradient(x, b) + 1.0,
    "hessian": lambda x, b: hessian(x, b) + np.eye(3, k=1),
    "hvp": lambda x, b, v: 2 * hvp(x, b, v),
    "jvp": lambda primals, tangents: jvp(primals, tangents) + 1.0,
    "vjp": lambda primals, cotangent: vjp(primals, cotangent) * cotangent,
}


@pytest.mark.parametrize(
    ("what", "checks"),
    [
        ("gradient", {"gradient", "jvp is J v", "vjp is u J"}),
        ("hessian", {"hessian", "symmetry", "hvp is H v"}),
        ("hvp", {"hvp", "hvp is H v"}),
        ("jvp", {"jvp", "jvp is J v", "adjoint identity", "linearity in the tangent"}),
        ("vjp", {"vjp", "vjp is u J", "adjoint identity", "linearity in the cotangent"}),
    ],
)
def test_what_is_wrong_is_flagged_where_it_shows_and_nowhere_else(what, checks):
    operation = of_loss(**BY_HAND | {what: WRONG[what]})
    verdicts = {name: run_check(operation, name, (X, B), 1).verdict for name in operation.checks}
    assert {name for name, verdict in verdicts.items() if verdict == "wrong"} == {*checks, "float32"}


def test_a_gradient_that_writes_to_its_argument_is_not_pure():
    def writes(x, b):
        found = gradient(x, b)
        x *= 2
        return found

    assert run_check(of_loss(gradient=writes), "purity", (X, B), 0).verdict == "wrong"


def test_a_gradient_that_is_cached_is_not_fresh():
    known = {}

    def cached(x, b):
        return known.setdefault(id(x), gradient(x, b)).copy()

    alive = []

    def remembered(x, b):
        alive.append(x)
        return cached(x, b)

    assert run_check(of_loss(gradient=remembered), "freshness", (X, B), 0).verdict == "wrong"


def test_a_gradient_with_random_numbers_is_not_deterministic():
    rng = np.random.default_rng(0)
    noisy = of_loss(gradient=lambda x, b: gradient(x, b) * rng.normal(1, 0.1))
    assert run_check(noisy, "determinism", (X, B), 0).verdict == "wrong"


def test_the_wrong_dtype_of_a_gradient_is_flagged():
    wide = of_loss(gradient=lambda x, b: gradient(x, b).astype(np.float32))
    assert run_check(wide, "shapes and dtypes", (X, B), 0).verdict == "wrong"


def test_preflight_refuses_random_functions():
    operation = Operation(
        "noise", lambda x: np.sum(x) * np.random.default_rng().random(), sample, gradient=np.ones_like
    )
    assert run_check(operation, "preflight", (X,), 0).verdict == "refused"


def test_several_arguments_by_hand():
    def of_b(x, b):
        return -4 * residual(x, b) ** 3

    def both(x, b):
        return gradient(x, b), of_b(x, b)

    def blocks(x, b):
        middle = 12 * residual(x, b) ** 2
        mixed = -middle[:, None] * A
        return (hessian(x, b), mixed.T), (mixed, np.diag(middle))

    operation = of_loss(gradient=both, hessian=blocks, argnums=(0, 1))
    verdicts = Counter(run_check(operation, name, (X, B), 0).verdict for name in operation.checks)
    assert set(verdicts) == {"right"}
    wrong = of_loss(gradient=lambda x, b: (gradient(x, b), -of_b(x, b)), argnums=(0, 1))
    assert run_check(wrong, "gradient", (X, B), 0).verdict == "wrong"


def test_functions_with_axes_by_hand():
    def value(x):
        return np.outer(np.sin(x), x)

    def jacobian(x):
        n = np.eye(len(x))
        return np.einsum("i,ik,j->ijk", np.cos(x), n, x) + np.einsum("i,jk->ijk", np.sin(x), n)

    def pushforward(primals, tangents):
        (x,), (v,) = primals, tangents
        return np.outer(np.cos(x) * v, x) + np.outer(np.sin(x), v)

    def pullback(primals, cotangent):
        (x,) = primals
        return np.cos(x) * (cotangent @ x) + np.sin(x) @ cotangent

    operation = Operation("outer", value, sample, jacobian=jacobian, jvp=pushforward, vjp=pullback)
    assert "adjoint identity" in operation.checks
    assert {run_check(operation, name, (X,), 0).verdict for name in operation.checks} == {"right"}
    for only in ({"jvp": pushforward}, {"vjp": pullback}):
        alone = Operation("outer", value, sample, **only)
        assert {run_check(alone, name, (X,), 0).verdict for name in alone.checks} == {"right"}


def test_a_batched_function():
    def norms(x):
        return np.sum(x**2, axis=1)

    def leaky(x):
        return np.sum(x**2, axis=1) + np.sum(x)

    batch = RNG.standard_normal((3, 2))
    assert run_check(Operation("norms", norms, sample, batched=True), "batching", (batch,), 0).verdict == "right"
    assert run_check(Operation("norms", leaky, sample, batched=True), "batching", (batch,), 0).verdict == "wrong"


def test_manifolds_and_kinks_reach_the_checks():
    def logdet(a):
        return np.log(np.linalg.det(a))

    spd = A.T @ A + np.eye(3)
    symmetrised = Operation(
        "logdet", logdet, sample, gradient=lambda a: np.tril(2 * np.linalg.inv(a)) - np.diag(np.diag(np.linalg.inv(a)))
    )
    assert run_check(symmetrised, "gradient", (spd,), 0).verdict == "wrong"
    on_set = Operation("logdet", logdet, sample, gradient=symmetrised.gradient, manifold="spd")
    assert run_check(on_set, "gradient", (spd,), 0).verdict == "right"
    zeros = np.zeros(2)
    for kink, verdict in (("skip", "undecided"), ("one-sided", "right")):
        size = Operation("size", lambda x: np.sum(np.abs(x)), sample, gradient=np.sign, kink=kink)
        assert run_check(size, "gradient", (zeros,), 0).verdict == verdict


def test_single_precision_is_left_undecided_where_the_value_overflows():
    big = Operation("exp", lambda x: np.sum(np.exp(x)), sample, gradient=np.exp)
    assert run_check(big, "float32", (np.array([100.0]),), 0).verdict == "undecided"
    assert run_check(big, "float32", (np.array([1.0]),), 0).verdict == "right"
    assert run_check(big, "gradient", (np.array([100.0]),), 0).verdict == "right"


def test_conventions_are_exact():
    def size(x):
        return np.sum(np.abs(x))

    at_zero = Convention("no slope at the kink", (np.array([0.0, -2.0]),), np.array([0.0, -1.0]))
    right = Operation("size", size, sample, gradient=np.sign, using="einsumad", conventions=(at_zero,))
    report = run_check(right, "conventions", (), 0)
    assert report.verdict == "right"
    assert len(report.findings) == 5
    upward = Operation("size", size, sample, gradient=lambda x: np.where(x < 0, -1.0, 1.0), conventions=(at_zero,))
    (finding,) = run_check(upward, "conventions", (), 0).findings
    assert (finding.verdict, finding.index, finding.found, finding.expected) == ("wrong", "[0]", 1.0, 0.0)


def test_conventions_know_nan_infinity_and_shapes():
    def root(x):
        return np.sqrt(x)

    def slopes(x):
        with np.errstate(all="ignore"):
            return np.diag(0.5 / np.sqrt(x))

    infinite = Convention("vertical", (np.array([0.0]),), np.array([[np.inf]]))
    unknown = Convention("outside", (np.array([-1.0]),), np.array([[np.nan]]))
    off = Convention("off", (np.array([4.0]),), np.array([[0.25 + 1e-9]]))
    near = Convention("near", (np.array([4.0]),), np.array([[0.25 + 1e-9]]), tolerance=1e-8)
    flat = Convention("flat", (np.array([4.0]),), np.array([0.25]))
    for convention, verdict in (
        (infinite, "right"),
        (unknown, "right"),
        (off, "wrong"),
        (near, "right"),
        (flat, "wrong"),
    ):
        operation = Operation("root", root, sample, jacobian=slopes, conventions=(convention,))
        assert run_check(operation, "conventions", (), 0).verdict == verdict, convention.name


def test_a_convention_that_nothing_computes_is_an_error():
    second = Convention("curvature", (np.array([1.0]),), np.array([[0.0]]), order=2)
    operation = Operation("sum", np.sum, sample, gradient=np.ones_like, conventions=(second,))
    with pytest.raises(ValueError, match="nothing gives the derivative of order 2 that the convention 'curvature'"):
        run_check(operation, "conventions", (), 0)


def test_conventions_of_second_order():
    curvature = Convention("curvature", (np.array([1.0, 2.0]),), np.diag([6.0, 12.0]), order=2)
    operation = Operation("cubes", lambda x: np.sum(x**3), sample, conventions=(curvature,))
    assert run_check(operation, "conventions", (), 0).verdict == "right"


def test_outside_of_the_domain_the_value_is_nan_or_raises():
    def strict(x):
        if np.any(x < 0):
            raise ValueError("negative")
        return np.sqrt(x)

    domain = ((0, np.inf),)
    for value, verdict in ((np.sqrt, "right"), (strict, "right"), (lambda x: np.sqrt(np.abs(x)), "wrong")):
        operation = Operation("root", value, sample, domain=domain)
        report = run_check(operation, "domain", (np.array([1.0, 2.0]),), 0)
        assert report.verdict == verdict
        assert len(report.findings) == 2
    bounded = Operation("arcsin", np.arcsin, sample, domain=((-1, 1),))
    assert len(run_check(bounded, "domain", (np.array(0.5),), 0).findings) == 4


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rounding_does_not_leave_the_domain(dtype):
    operation = Operation("arctanh", np.arctanh, sample, domain=((-1, 1),))
    args = (np.array([1 - 1e-12, -1 + 1e-12, 0.5, 1.0]),)
    (rounded,) = in_dtype(operation, args, dtype)
    assert rounded.dtype == dtype
    assert np.all(np.abs(rounded[:3]) < 1)
    assert rounded[3] == 1
    (free,) = in_dtype(Operation("arctanh", np.arctanh, sample), args, dtype)
    assert free[0] == 1


def test_other_arguments_keep_their_dtypes():
    operation = Operation("scaled", lambda x, n: x * n, sample)
    (tree, count) = in_dtype(operation, ({"w": np.ones(2), "z": np.ones(1, complex), "s": 0.5}, 3), "float32")
    assert [tree["w"].dtype, tree["z"].dtype, tree["s"].dtype] == [np.float32, np.complex64, np.float32]
    assert count == 3
