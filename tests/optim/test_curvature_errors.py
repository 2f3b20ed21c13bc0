"""What second-order optimisers refuse, and that nothing is changed then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from tests.optim import networks

MAKERS = pytest.mark.parametrize("make", [optim.NewtonCG, optim.GaussNewton, optim.KFAC])
Make = Callable[..., optim.SecondOrderOptimizer]


@MAKERS
def test_parameters_that_are_none(make: Make) -> None:
    p = nn.Parameter(np.ones(2))
    for given, message in (
        ([np.ones(2)], "has no data, grad and requires_grad"),
        ([{"params": [p]}], "has no groups"),
        ({p}, "not a set"),
        (3, "given as a list"),
    ):
        with pytest.raises(TypeError, match=message):
            make(given)
    for given, message in (
        ([], "no parameters"),
        ([nn.Parameter(np.ones(0))], "only empty ones"),
        ([p, p], "twice"),
        ([nn.Parameter(np.ones(2), requires_grad=False)], r"\(2,\).* do not require gradients"),
    ):
        with pytest.raises(ValueError, match=message):
            make(given)
    assert len(make(p).param_groups[0]["params"]) == 1


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (optim.NewtonCG, {"lr": 0}, "lr must be above 0"),
        (optim.NewtonCG, {"curvature": "gauss-newton"}, "one of 'hessian', 'gauss_newton'"),
        (optim.NewtonCG, {"radius": 0.0}, "radius must be above 0"),
        (optim.NewtonCG, {"max_products": 0}, "max_products must be a whole number"),
        (optim.GaussNewton, {"damping": -1.0}, "damping must be a finite number"),
        (optim.GaussNewton, {"damping": np.nan}, "damping must be a finite number"),
        (optim.GaussNewton, {"memory_limit": 0}, "memory_limit must be a positive number"),
        (optim.KFAC, {"decay": 1.0}, "decay must be at least 0 and below 1"),
        (optim.KFAC, {"largest": -3}, "largest must be a whole number"),
    ],
)
def test_numbers_out_of_range(make: Make, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(networks.parameters(), **options)


@pytest.mark.parametrize("options", [{"max_products": 2.5}, {"lr": "1"}, {"max_products": True}])
def test_numbers_of_another_kind(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be"):
        optim.NewtonCG(networks.parameters(), **options)


@MAKERS
def test_a_step_that_is_refused_changes_nothing(make: Make) -> None:
    parameters = networks.parameters()
    optimizer, before = make(parameters), [p.data for p in parameters]
    x, y = networks.batch(9)
    state = optimizer.state_dict()

    def overflowing(z: Any, *_: Any) -> Any:
        return np.sum(np.exp(1000 * z**2))

    with pytest.raises(TypeError, match=r"needs an optim\.Objective, made once"):
        optimizer.step(networks.outputs, x, y)
    with pytest.raises(ValueError, match="are not finite"), np.errstate(all="ignore"):
        optimizer.step(optim.Objective(networks.outputs, overflowing), x, y)
    with pytest.raises(ValueError, match="are not finite"):
        optimizer.step(networks.objective(), np.where(x > 1, np.nan, x), y)
    with pytest.raises((ValueError, ea.ShapeError)):
        optimizer.step(networks.objective(), x[:, :2], y)
    with pytest.raises(ea.DifferentiationError, match="scalar"):
        optimizer.step(optim.Objective(networks.outputs, lambda z, *_: z), x, y)
    with pytest.raises(ValueError, match="not finite"), np.errstate(all="ignore"):
        optimizer.step(networks.objective(), x[:0], y[:0])
    if make is not optim.NewtonCG:
        with pytest.raises(ValueError, match="needs outputs and loss apart"):
            optimizer.step(optim.Objective(lambda values, *_: np.sum(values[0] ** 2)), x, y)
    for parameter, array in zip(parameters, before, strict=True):
        assert parameter.data is array
    assert optimizer.state_dict() == state


def test_truncated_steps_of_gauss_and_newton_need_outputs() -> None:
    with pytest.raises(ValueError, match="NewtonCG with curvature='hessian'"):
        optim.NewtonCG(networks.parameters(), curvature="gauss_newton").step(optim.Objective(lambda v: np.sum(v[0])))
    with pytest.raises(TypeError, match="outputs of an objective is a function, got int"):
        optim.Objective(3)
    with pytest.raises(TypeError, match="loss of an objective is a function, got str"):
        optim.Objective(networks.outputs, "mse")


def test_a_matrix_over_the_limit_is_refused_before_it_is_computed() -> None:
    x, y = networks.batch(40)
    optimizer = optim.GaussNewton(networks.parameters(), memory_limit=10_000)
    with pytest.raises(ea.MemoryLimitError, match=r"26 parameters takes 10.8 kB, over the limit of 10 kB: use KFAC"):
        optimizer.step(networks.objective(), x, y)
    optimizer.step(networks.objective(), x[:8], y[:8])  # the system of the outputs is smaller
    with pytest.raises(ea.MemoryLimitError, match=r"outputs of the batch takes"):
        optim.GaussNewton(networks.parameters(), memory_limit=1000).step(networks.objective(), x[:8], y[:8])


def test_outputs_without_samples_have_no_layers() -> None:
    x, y = networks.batch(4)
    number = optim.Objective(lambda v, x, y: np.sum(networks.outputs(v, x) * y), lambda z, *_: z**2)
    tree = optim.Objective(lambda v, x, _: {"z": networks.outputs(v, x)}, lambda z, *_: np.sum(z["z"] ** 2))
    for of in (number, tree):
        with pytest.raises(ea.ShapeError, match="outputs that are one array, with the samples"):
            optim.KFAC(networks.parameters()).step(of, x, y)
    for make in (optim.GaussNewton, optim.NewtonCG):  # which take both
        before = number.at(networks.values(), (x, y))
        parameters = networks.parameters()
        make(parameters).step(number, x, y)
        assert number.at([p.data for p in parameters], (x, y)) < before
        make(parameters).step(tree, x, y)


@MAKERS
def test_a_state_that_does_not_fit_is_refused(make: Make) -> None:
    optimizer, of = make(networks.parameters()), networks.objective()
    optimizer.step(of, *networks.batch(9))
    state = optimizer.state_dict()
    other = make([nn.Parameter(np.ones(3))])
    with pytest.raises(ValueError, match=r"parameters of shapes \[\(4, 3\)"):
        other.load_state_dict(state)
    wrong: list[Any] = [
        {"state": {}},
        {**state, "state": {"step": 1}},
        {**state, "state": {**state["state"], "step": -1}},
        {**state, "param_groups": []},
        {**state, "param_groups": [{**state["param_groups"][0], "lr": -1.0}]},
        3,
    ]
    name = "radius" if "radius" in state["state"] else "damping"
    wrong.append({**state, "state": {**state["state"], name: -1.0}})
    for given in wrong:
        with pytest.raises((ValueError, TypeError)):
            optimizer.load_state_dict(given)
    if make is optim.KFAC:
        with pytest.raises(ea.ShapeError, match="there are 26 parameters"):
            optimizer.load_state_dict({**state, "state": {**state["state"], "before": np.ones(3)}})
    found = optimizer.state_dict()
    assert {k: v for k, v in found["state"].items() if k != "before"} == {
        k: v for k, v in state["state"].items() if k != "before"
    }
    optimizer.load_state_dict(state)


def test_what_optimisers_say_of_themselves() -> None:
    optimizer = optim.KFAC(networks.parameters())
    assert repr(optimizer).startswith("KFAC(4 arrays, 26 parameters, lr=1.0, damping=None")
    assert optimizer.blocks == ()
    optimizer.step(networks.objective(), *networks.batch(9))
    assert optimizer.blocks == (
        "0: 4×4 ⊗ 3×3", "1: an input of ones of 0", "2: 2×2 ⊗ 4×4", "3: an input of ones of 2",
    )  # fmt: skip
    (parameter, *_) = optimizer.param_groups[0]["params"]
    parameter.grad = np.ones((4, 3))
    optimizer.zero_grad()
    assert parameter.grad is None
