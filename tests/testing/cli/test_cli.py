"""``python -m einsumad check``: what it finds, what it says, and its exit codes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import einsumad
from einsumad.cli import main
from einsumad.cli.errors import RequestError
from einsumad.cli.targets import load
from einsumad.testing.manifolds import MANIFOLDS

MODEL = """
import numpy as np

def loss(w, X):
    return np.sum(np.log(1 + np.exp(X @ w)))

def gradient(w, X):
    return X.T @ (1 / (1 + np.exp(-X @ w)))

def hessian(w, X):
    p = 1 / (1 + np.exp(-X @ w))
    return X.T @ ((p * (1 - p))[:, None] * X)

def hvp(w, X, v):
    return hessian(w, X) @ v

def wrong(w, X):
    return X.T @ (1 / (1 + np.exp(X @ w)))

def entropy(p):
    return -np.sum(p * np.log(p))

def logit(p):
    return np.log(p) - np.log(1 - p)

def logit_jacobian(p):
    return np.diag(1 / (p * (1 - p))) if p.ndim else 1 / (p * (1 - p))

def logdet(A):
    return np.log(np.linalg.det(A))

def logdet_gradient(A):
    return np.linalg.inv(A).T

def tree(parameters):
    return np.sum(parameters["W"] @ parameters["b"])

def tree_gradient(parameters):
    W, b = parameters["W"], parameters["b"]
    return {"W": np.outer(np.ones(len(W)), b), "b": W.sum(axis=0)}

def random(x):
    return np.sum(x) * np.random.rand()

def size(x):
    return np.sum(np.abs(x))

def boom(x):
    raise KeyError("no")

def late(x):
    raise ArithmeticError("overrun")

def five(a, b, c, d, e):
    return a

def nothing():
    return 0.0

def tilted(x):
    return np.sum(np.sin(x + np.arange(x.size).reshape(x.shape)))

def tilted_wrong(x):
    return -np.cos(x + np.arange(x.size).reshape(x.shape))

class Model:
    @staticmethod
    def energy(x):
        return np.sum(x**2)

    @staticmethod
    def force(x):
        return -2 * x

number = 3
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "broken.py").write_text("import no_such_package_anywhere\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("model", "broken"):
        sys.modules.pop(name, None)


@pytest.fixture
def check(model, capsys):
    assert (model / "model.py").is_file()

    def run(*args):
        code = main(["check", *args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_right_gradient(check):
    code, out, err = check("model:loss", "--gradient", "gradient", "--shapes", "3", "4,3")
    assert (code, err) == (0, "")
    assert out.startswith("Arguments drawn with seed 0, of both signs: w float64 (3,), X float64 (4, 3)\n")
    assert "The derivative of loss is right. Gradient, order 1" in out


def test_a_wrong_gradient_is_told_with_a_case(check):
    code, out, _ = check("model.py:loss", "--gradient", "model.py:wrong", "--shapes", "2", "2,2", "--seed", "3")
    assert code == 1
    assert "The derivative of loss is wrong: gradient, order 1, as given, against" in out
    assert "check_user_gradient(loss, gradient, w, X" in out


def test_all_derivatives_by_hand_in_one_report(check):
    code, out, _ = check("model:loss", "--gradient", "gradient", "--hessian", "hessian", "--hvp", "hvp")
    assert code == 0
    assert "w float64 (3,), X float64 (3, 3)" in out
    for claim in ("Gradient, order 1", "Hessian, order 2", "Hvp, order 2"):
        assert out.count(claim) == 1


def test_a_right_hessian_is_not_blamed_for_a_wrong_gradient(check):
    code, out, _ = check("model:loss", "--gradient", "wrong", "--hessian", "hessian", "--shapes", "2", "3,2")
    assert code == 1
    assert "gradient, order 1" in out
    assert "hessian" not in out


def test_derivatives_of_the_system(check):
    code, out, _ = check("model:loss", "--order", "1", "--shapes", "2", "3,2")
    assert code == 0
    assert "Derivative, order 1 (auto, forward, reverse, cross-country)" in out
    assert "Properties that need no oracle, and hold: value, shapes and dtypes, adjoint identity," in out
    assert "Adjoint identity, order 1" not in out
    assert "order 2" not in out


def test_single_precision(check):
    code, out, _ = check("model:loss", "--gradient", "gradient", "--dtype", "float32", "--shapes", "2", "3,2")
    assert code == 0
    assert "w float32 (2,)" in out


@pytest.mark.parametrize(
    ("function", "jacobian", "told"),
    [
        ("model:entropy", (), "drawn with seed 0, positive: p float64 (3,)"),
        ("model:logit", ("--jacobian", "logit_jacobian"), "drawn with seed 0, between 0 and 1: p float64 (3,)"),
        ("model:logdet", ("--gradient", "logdet_gradient"), "A float64 (3, 3)"),
        ("model:Model.energy", ("--order", "1"), "x float64 (3,)"),
        ("numpy:sin", ("--jacobian", "numpy:cos", "--shapes", "()"), "x = "),
    ],
)
def test_arguments_that_the_function_takes_are_found(check, function, jacobian, told):
    code, out, _ = check(function, *jacobian)
    assert code == 0
    assert told in out


def test_arguments_as_given(check):
    code, out, _ = check("model:loss", "--gradient", "gradient", "--args", "[[0.5, -1.0], [[1.0, 2], [3, 4]]]")
    assert code == 0
    assert "Arguments as given: w float64 (2,), X float64 (2, 2)" in out
    code, out, _ = check(
        "model:tree", "--gradient", "tree_gradient", "--args", '[{"W": [[1.5, 2.0]], "b": [1.0, 0.5]}]'
    )
    assert code == 0
    assert "parameters['W'] float64 (1, 2), parameters['b'] float64 (2,)" in out


def test_arguments_from_a_file(check, model):
    np.savez(model / "named.npz", X=np.ones((2, 2)), w=np.array([0.5, 1.0]), unused=np.zeros(1))
    np.savez(model / "ordered.npz", np.array([0.5, 1.0]), np.ones((2, 2)))
    for name in ("named.npz", "ordered.npz"):
        code, out, _ = check("model:loss", "--gradient", "gradient", "--npz", name)
        assert code == 0
        assert f"Arguments from {name}: w float64 (2,), X float64 (2, 2)" in out
    np.savez(model / "other.npz", weights=np.ones(2))
    assert (
        check("model:loss", "--npz", "other.npz")[2] == "error: other.npz has no array named w or X: it has weights\n"
    )
    (model / "bad.npz").write_text("no archive", encoding="utf-8")
    for name in ("bad.npz", "missing.npz"):
        code, _, err = check("model:loss", "--npz", name)
        assert code == 2
        assert f"error: {name} cannot be read as an .npz archive" in err


def test_kinks_and_refusals_have_their_codes(check):
    at_zero = ("--gradient", "numpy:sign", "--args", "[[0.0, 0.0]]")
    assert check("model:size", *at_zero)[0] == 3
    assert check("model:size", *at_zero, "--kink", "one-sided")[0] == 0
    code, out, _ = check("model:random", "--gradient", "numpy:ones_like")
    assert code == 1
    assert "random cannot be checked. nondeterministic" in out


def test_manifolds(check):
    code, out, _ = check("model:logdet", "--gradient", "logdet_gradient", "--manifold", "spd", "--seed", "2")
    assert code == 0
    assert "A float64 (3, 3)" in out


@pytest.mark.parametrize("name", MANIFOLDS)
def test_random_arguments_are_on_every_manifold(check, name):
    code, out, err = check("model:tilted", "--jacobian", "tilted_wrong", "--manifold", name)
    assert (code, err) == (1, "")
    assert "is wrong" in out


def test_other_oracles(check):
    reference = ("model:loss", "--gradient", "gradient", "--shapes", "2", "3,2", "--against")
    assert "einsumad's derivative" in check(*reference, "einsumad")[1]
    assert "against gradient" in check(*reference, "model:gradient")[1]
    assert check(*reference, "model:wrong")[0] == 1
    assert check(*reference, "taylor")[0] == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("model:lss",), "model has no function 'lss': did you mean loss?"),
        (("model:zzz",), "model has no function 'zzz': there are "),
        (("model:Model.enrgy",), "Model has no function 'enrgy': did you mean energy?"),
        (("model:number",), "model:number is no function, but of type int"),
        (("model",), "'model' names no function: write module:function or path/to/file.py:function"),
        (("model:",), "'model:' names no function: write a name behind the colon"),
        (("modle:loss",), "there is no module 'modle': did you mean model?"),
        (("zzz.yyy:loss",), "there is no module 'zzz.yyy' in "),
        (("none.py:loss",), "there is no file 'none.py'"),
        (("broken:loss",), "importing broken failed with ModuleNotFoundError: No module named 'no_such_package"),
        (("model:loss", "--gradient", "gradeint"), "model has no function 'gradeint': did you mean gradient or "),
        (("model:boom",), "found no arguments at which boom can be checked (3: KeyError: 'no'; (): "),
        (("model:five",), "five has 5 parameters, too many to guess: use --args, --npz or --shapes"),
        (("model:nothing",), "nothing has no parameter that needs an argument"),
        (("model:loss", "--args", "[]"), "there are no arguments: a derivative is taken at some"),
        (("model:size", "--args", "[[1, 2]]", "--gradient", "numpy:sign"), "argument 'x' has dtype int64"),
        (("model:size", "--order", "0"), "order must be a whole number of at least 1, got 0"),
        (("model:size", "--gradient", "late"), "the check of size stopped at model.py:"),
        (("model:loss", "--gradient", "gradient", "--order", "2"), "--order is for the derivatives of a system"),
        (("model:loss", "--gradient", "gradient", "--using", "einsumad"), "--using is for the derivatives of a system"),
        (
            ("model:loss", "--gradient", "gradient", "--against", "jx"),
            "--against 'jx' is no oracle: did you mean 'jax'?",
        ),
        (("model:loss", "--shapes", "3"), "found no arguments at which loss can be checked (3: TypeError"),
        (("model:logdet", "--shapes", "2", "--manifold", "spd"), "no random array of shape (2,) is on the set 'spd'"),
        (("model:Model.energy", "--gradient", "Model.force", "--argnums", "3"), "argnums names argument 3 but 1"),
    ],
)
def test_requests_that_make_no_sense(check, args, message):
    code, _, err = check(*args)
    assert code == 2
    assert err.startswith("error: ")
    assert message in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "required: check"),
        (("chek",), "invalid choice: 'chek'"),
        (("check",), "required: function"),
        (("check", "model:loss", "--args", "[1"), "argument --args: is no JSON"),
        (("check", "model:loss", "--args", "1.0"), "needs a list of arguments, such as '[1.0]', got '1.0'"),
        (("check", "model:loss", "--args", "__import__('os')"), "argument --args: is no JSON"),
        (("check", "model:loss", "--shapes", "3;3"), "'3;3' is no shape: write 3, 3,3 or '()'"),
        (("check", "model:loss", "--argnums", "first"), "'first' names no positions: write 0 or 0,1"),
        (("check", "model:loss", "--args", "[1.0]", "--shapes", "3"), "not allowed with argument"),
        (("check", "model:loss", "--manifold", "symetric"), "invalid choice: 'symetric'"),
    ],
)
def test_options_that_cannot_be_read(capsys, args, message):
    with pytest.raises(SystemExit) as caught:
        main(args)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_targets_are_found_where_python_looks():
    assert load("os.path:join")[0].__name__ == "join"
    with pytest.raises(RequestError, match="math has no function 'sine': did you mean sin or sinh"):
        load("math:sine")


def test_the_module_is_a_program(model):
    def run(*args):
        command = [sys.executable, "-m", "einsumad", *args]
        return subprocess.run(command, cwd=model, capture_output=True, text=True, check=False)

    version = run("--version")
    assert (version.returncode, version.stdout) == (0, f"einsumad {einsumad.__version__}\n")
    found = run("check", "model:loss", "--gradient", "wrong", "--shapes", "2", "3,2")
    assert found.returncode == 1
    assert "The derivative of loss is wrong" in found.stdout
