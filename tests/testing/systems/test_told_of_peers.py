"""Reports on functions of the peers: a mode that they lack, and functions that keep to single precision."""

from typing import Any

import numpy as np
import pytest

from einsumad.testing import check_derivatives, check_user_gradient
from einsumad.testing.report import Report

X = np.array([0.5, -1.0])


def said(report: Report) -> str:
    return " ".join(str(report).split())


def undecided(report: Report) -> set[tuple[int, str]]:
    return {(found.order, found.mode) for found in report.findings if found.verdict == "undecided"}


class TestJax:
    @pytest.fixture(autouse=True)
    def _jax(self) -> None:
        self.jax = pytest.importorskip("jax")

    def cubes(self, factor: float) -> Any:
        jnp = self.jax.numpy

        @self.jax.custom_vjp
        def cubes(x: Any) -> Any:
            return jnp.sum(x**3)

        cubes.defvjp(lambda x: (jnp.sum(x**3), x), lambda x, u: (factor * x**2 * u,))
        return cubes

    def test_a_function_with_a_pullback_alone_has_no_forward_mode(self) -> None:
        report = check_derivatives(self.cubes(3.0), X, using="jax")
        assert report.verdict == "right"
        assert undecided(report) == {(1, "forward"), (2, "forward")}
        assert "jax does not have it: can't apply forward-mode" in said(report)
        assert not undecided(check_derivatives(self.cubes(3.0), X, using="jax", modes=["reverse"]))

    def test_its_wrong_pullback_is_found_by_the_other_modes(self) -> None:
        report = check_derivatives(self.cubes(3.3), X, using="jax", order=1)
        assert report.verdict == "wrong"
        assert {found.mode for found in report.findings if found.verdict == "wrong"} >= {"auto", "reverse"}

    def test_a_loop_without_a_fixed_end_has_no_reverse_mode(self) -> None:
        jax = self.jax

        def loop(x: Any) -> Any:
            last, _ = jax.lax.while_loop(lambda s: s[1] < 3, lambda s: (1.1 * jax.numpy.sin(s[0]), s[1] + 1), (x, 0))
            return last.sum()

        report = check_derivatives(loop, X, using="jax", order=1)
        assert report.verdict == "right"
        assert undecided(report) == {(1, "auto"), (1, "reverse")}

    def test_single_precision_by_default_is_told_with_its_remedies(self) -> None:
        cubes = self.cubes(3.0)
        assert not self.jax.config.jax_enable_x64
        report = check_user_gradient(cubes, self.jax.grad(cubes), X)
        assert report.verdict == "undecided"
        assert "computes in float32 whatever it is given" in said(report)
        assert "single=True" in said(report)
        assert "jax_enable_x64" in said(report)

    @pytest.mark.parametrize(("factor", "verdict"), [(3.0, "right"), (3.3, "wrong"), (3.03, "wrong")])
    def test_single_precision_can_be_compared_with(self, factor: float, verdict: str) -> None:
        cubes = self.cubes(factor)
        assert check_user_gradient(cubes, self.jax.grad(cubes), X, single=True).verdict == verdict


class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        self.torch = pytest.importorskip("torch")

    def network(self, dtype: Any) -> Any:
        torch = self.torch
        layer = torch.nn.Linear(2, 1).to(dtype)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor([[0.5, -0.75]]))
            layer.bias.fill_(0.25)
        return lambda x: torch.tanh(layer(x)).sum()

    def test_a_module_in_single_precision_takes_no_other(self) -> None:
        x = X.astype(np.float32)
        report = check_derivatives(self.network(self.torch.float32), x, using="torch", order=1)
        assert report.verdict == "undecided"
        assert "computes in float32 whatever it is given" in said(report)
        assert check_derivatives(self.network(self.torch.float32), x, using="torch", order=1, single=True)

    def test_a_module_in_double_precision_is_compared_unasked(self) -> None:
        assert check_derivatives(self.network(self.torch.float64), X, using="torch", order=2)

    def test_wrong_gradients_of_a_module_in_single_precision_are_found(self) -> None:
        network = self.network(self.torch.float32)

        def gradient(x: Any) -> Any:
            y = self.torch.from_numpy(np.array(x)).requires_grad_()
            return 0.98 * self.torch.autograd.grad(network(y), y)[0].numpy()

        def value(x: Any) -> Any:
            return network(self.torch.from_numpy(np.array(x))).detach().numpy()

        x = X.astype(np.float32)
        assert check_user_gradient(value, gradient, x).verdict == "undecided"
        assert check_user_gradient(value, gradient, x, single=True).verdict == "wrong"
