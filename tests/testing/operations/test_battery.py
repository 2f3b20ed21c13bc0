"""Batteries as users write and run them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

import einsumad.testing.plugin.fixture
import einsumad.testing.plugin.summary  # noqa: F401 - light runs load nothing new
from einsumad.testing.operations import Operation, Registry, battery
from einsumad.testing.strategies import floats, shapes
from tests.testing.plugin.runs import run_tests

pytest_plugins = "pytester"


def log_cosh(x):
    return np.sum(np.log(np.cosh(x)))


def curvature(x):
    flat = 1 / np.cosh(x.reshape(-1)) ** 2
    return np.diag(flat).reshape(x.shape * 2)


SMALL = floats(shapes(max_dims=2, max_side=2), low=-4, high=4)

test_log_cosh = battery(
    Operation("log cosh", log_cosh, SMALL, gradient=np.tanh, hessian=curvature, hvp=lambda x, v: v / np.cosh(x) ** 2),
    max_examples=10,
)

test_with_a_generator = battery(
    Registry([Operation("cubes", lambda x: np.sum(x**3), lambda rng: (rng.standard_normal(2),))]), max_examples=2
)

TEN_LINES = """
    import numpy as np
    from einsumad.testing.operations import Operation, battery
    from einsumad.testing.strategies import floats

    def softplus(x):
        return np.sum(np.logaddexp(0, x))

    def gradient(x):
        return np.where(x > 5, 1.0, 1 / (1 + np.exp(-x)))

    test_softplus = battery(Operation("softplus", softplus, floats(2), gradient=gradient))
"""


def test_ten_lines_find_the_mistake_and_a_small_case(pytester):
    result = run_tests(pytester, TEN_LINES, "-k", "gradient or preflight", examples=60)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ test_softplus[[]softplus-gradient[]] _*",
            "E *gradient of the operation 'softplus', made at *test_ten_lines*.py:11",
            "E       The derivative of softplus is wrong: gradient, order 1, as given, against *",
            "E       Arguments:",
            "E       x = np.array([[]*[]])",
            "E *Draw 2 (arguments): array(*",
            "softplus  wrong *preflight, gradient*",
        ]
    )
    shown = next(line for line in result.stdout.lines if "x = np.array" in line)
    entries = [float(entry) for entry in shown.split("[")[1].split("]")[0].split(",")]
    assert min(entries) == 0
    assert 5 < max(entries) <= 8


REGISTRY = """
    import numpy as np
    import pytest
    from einsumad.testing.operations import Operation, Registry, battery
    from einsumad.testing.strategies import floats

    COUNTS = {}

    def value(x):
        COUNTS["value"] = COUNTS.get("value", 0) + 1
        return np.sum(x * x)

    def double(x):
        return 2 * x

    registry = Registry()
    skips = {"float32": "half of the digits are gone"}
    registry.add(Operation("squares", value, floats(2), gradient=double, skips=skips))
    registry.add(Operation("halves", value, floats(2), gradient=double, dtypes=("float64",)))
    test_registry = battery(registry, Operation("more", value, floats(2), gradient=double))
    test_few = battery(Operation("few", value, floats(2), gradient=double), max_examples=1)

    def test_counts():
        print("calls", COUNTS["value"])
"""


def calls_of(result):
    line = next(line for line in result.stdout.lines if "calls " in line)
    return int(line.split("calls ")[1].split()[0].rstrip("."))


def test_registries_skips_and_the_number_of_examples(pytester):
    first = run_tests(pytester, REGISTRY, "-rs", "-s", "-k", "preflight or float32 or counts", examples=3)
    first.assert_outcomes(passed=7, skipped=1)
    first.stdout.fnmatch_lines(
        [
            "squares  right *preflight",
            "halves   right *preflight",
            "more     right *preflight, float32*",
            "few      right *preflight, float32*",
            "skipped: squares, float32: half of the digits are gone",
            "4 subjects, *, 1 check skipped: 4 right",
            "SKIPPED * half of the digits are gone",
        ]
    )
    second = run_tests(pytester, REGISTRY, "-s", "-k", "preflight or counts", "--derivative-fuzz=9", examples=3)
    runs = {line.split()[0]: int(line.split()[5]) for line in second.stdout.lines if " right " in line}
    assert runs == {"squares": 9, "halves": 9, "more": 9, "few": 9}
    assert calls_of(second) > 4 * 9


def test_a_battery_runs_in_workers(pytester):
    result = run_tests(pytester, REGISTRY, "-k", "squares", workers=1, examples=2)
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines(["squares  right *preflight, gradient *", "skipped: squares, float32: *"])


def test_an_error_of_the_function_shows_its_line(pytester):
    source = """
        import numpy as np
        from einsumad.testing.operations import Operation, battery
        from einsumad.testing.strategies import floats

        def value(x):
            if x > 3:
                raise KeyError("large")
            return x * x

        test_value = battery(Operation("value", value, floats(), gradient=lambda x: 2 * x))
        test_contradiction = battery(Operation("root", np.sqrt, floats(), jacobian=np.sqrt, domain=((0, 9),)))
        test_no_tuple = battery(Operation("none", np.sqrt, lambda rng: [1.0], jacobian=np.sqrt))
    """
    result = run_tests(pytester, source, "-k", "gradient or preflight", examples=40)
    result.assert_outcomes(failed=4)
    text = result.stdout.str()
    assert '>           raise KeyError("large")' in text
    assert "Draw 2 (arguments): array(4.)" in text
    assert "operation 'root': the sample has -1.0 at argument 0, outside of the domain [0, 9]: mend one of them" in text
    assert "operation 'none': the sample gave list: give a tuple of arguments" in text
    assert "value    error " in text


def test_a_battery_needs_operations():
    with pytest.raises(ValueError, match="a battery needs operations"):
        battery()
    with pytest.raises(ValueError, match="a battery needs operations"):
        battery(Registry())
    one, two = (Operation("same", np.sum, SMALL, gradient=np.ones_like) for _ in range(2))
    with pytest.raises(ValueError, match="there is an operation 'same' already"):
        battery(one, two)


def test_a_battery_takes_the_settings_of_the_profile():
    test = battery(Operation("sum", np.sum, SMALL, gradient=np.ones_like))
    chosen = test._hypothesis_internal_use_settings
    assert chosen.max_examples == settings().max_examples
    assert chosen.deadline is None
    assert chosen.derandomize == settings().derandomize
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    assert [repr(item) for item in marks[0].args[1]][:2] == ["sum: preflight", "sum: gradient"]
