"""The plugin in runs of pytest: fixture, marker, summary, options, with and without pytest-xdist."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

import einsumad.testing.plugin.fixture
import einsumad.testing.plugin.summary  # noqa: F401 - light runs load nothing new
from tests.testing.plugin.runs import INSTALLED, PLUGIN, run_light_tests, run_tests

pytest_plugins = "pytester"

ROOT = Path(__file__).resolve().parents[3]

BOTH = """
    import numpy as np
    import pytest
    from scipy.optimize import rosen, rosen_der, rosen_hess

    X = np.array([1.0, 2.0])

    def loss(x):
        return np.sum(x**3)

    def gradient(x):
        return 3 * x**2

    def kinked(x):
        return np.sum(np.abs(x))

    def test_by_hand(derivatives):
        report = derivatives.gradient(loss, gradient, X)
        assert report.verdict == "right"
        derivatives.jacobian(np.sin, lambda x: np.diag(np.cos(x)), X)
        derivatives.hessian(loss, lambda x: np.diag(6 * x), X, gradient=gradient)
        derivatives.hvp(loss, lambda x, v: 6 * x * v, X)
        derivatives.jvp(loss, lambda p, t: np.dot(3 * p[0] ** 2, t[0]), X)
        derivatives.vjp(loss, lambda p, u: 3 * p[0] ** 2 * u, X)
        derivatives.scipy(rosen, X, jac=rosen_der, hess=rosen_hess)

    def test_of_a_system(derivatives):
        derivatives.check(loss, X, order=1, properties=["adjoint identity"])

    def test_wrong(derivatives):
        derivatives.gradient(loss, lambda x: x**2, X)

    def test_refused(derivatives):
        derivatives.gradient(lambda x: np.sum(x) + np.random.rand(), np.ones_like, X)

    def test_undecided(derivatives):
        assert derivatives.gradient(kinked, np.sign, 0 * X).verdict == "undecided"

    @pytest.mark.derivative(strict=True)
    def test_strict(derivatives):
        derivatives.gradient(kinked, np.sign, 0 * X)

    @pytest.mark.derivative(kink="one-sided", strict=True)
    def test_marked(derivatives):
        derivatives.gradient(kinked, np.sign, 0 * X)

    def test_raises(derivatives):
        derivatives.gradient(loss, gradient, np.array([1, 2]))

    def test_without():
        pass
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_fixture_and_summary(pytester, workers):
    result = run_tests(pytester, BOTH, "--derivative-summary=long", workers=workers)
    result.assert_outcomes(passed=5, failed=4)
    text = result.stdout.str()
    assert "The derivative of loss is wrong: gradient, order 1, as given, against" in text
    assert "cannot be checked. nondeterministic" in text
    section = text[text.index("derivatives checked") : text.index("= short test summary")].splitlines()[:-1]
    rows = {line.split("  ")[0]: line.split() for line in section if line[:1].isalnum()}
    assert rows["loss"][1:3] == ["wrong", "2"]
    assert rows["rosen"][1:3] == ["right", "2"]
    assert rows["sin"][1] == "right"
    assert rows["kinked"][1] == "right"
    assert rows["a function in test_refused"][4] == "refused"
    assert any(line.startswith("    derivatives: right, order 1; modes auto, forward") for line in section)
    assert any(line.startswith("    gradient: wrong, order 1; modes as given; against") for line in section)
    assert section[-1].startswith("5 subjects, ")
    assert section[-1].endswith(": 1 wrong, 1 refused, 3 right")


def test_a_failure_ends_at_the_line_of_the_test(pytester):
    result = run_tests(pytester, BOTH, "-k", "test_wrong")
    result.stdout.fnmatch_lines(
        [
            ">       derivatives.gradient(loss, lambda x: x[*][*]2, X)",
            "E       einsumad.errors.WrongDerivativeError: The derivative of loss is wrong:*",
            "*check_user_gradient(loss, gradient, x).raise_if_wrong()",
            "test_a_failure_ends_at_the_line_of_the_test.py:*: WrongDerivativeError",
        ]
    )
    assert "raise failure" not in result.stdout.str()


NOTED = """
    from einsumad.testing.plugin.records import Record, note

    def test_one():
        note(Record("loss", "model", "gradient", "right", 1, entries=3))

    def test_two():
        note(Record("loss", "model", "hessian", "right", 2, entries=4))

    def test_none():
        pass
"""

TOTALS = "1 subject, 2 checks, 7 entries compared, 0 undecided: 1 right"


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ((), 3),
        (("-q",), 1),
        (("-q", "--derivative-summary=short"), 3),
        (("--derivative-summary=long",), 5),
        (("--derivative-summary=none",), 0),
        (("-k", "none"), 0),
    ],
)
def test_summary_styles(pytester, args, lines):
    text = run_light_tests(pytester, NOTED, *args).stdout.str()
    assert ("= derivatives checked =" in text) == (lines > 0)
    assert (TOTALS in text) == (lines > 0)
    assert ("loss     right        2        7          0     2  gradient, hessian" in text) == (lines >= 3)
    assert ("    hessian: right, order 2; 4 entries in 1 run" in text) == (lines == 5)


def test_what_other_tests_note_is_not_counted_twice(pytester):
    source = (
        NOTED
        + """
    import pytest

    @pytest.mark.parametrize("time", range(3))
    def test_three(time, derivatives):
        note(Record("loss", "model", "hessian", "right", 2, entries=time))
    """
    )
    text = run_light_tests(pytester, source).stdout.str()
    assert "1 subject, 2 checks, 10 entries compared" in text
    assert "loss     right        2       10          0     5" in text


def test_the_entry_point_loads_the_plugin(pytester, monkeypatch):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (entry,) = project["entry-points"]["pytest11"].items()
    assert entry == ("einsumad", PLUGIN)
    if not INSTALLED:
        metadata = pytester.mkdir("path") / "einsumad-0.1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: einsumad\nVersion: 0.1.0\n", encoding="utf-8")
        (metadata / "entry_points.txt").write_text(f"[pytest11]\n{' = '.join(entry)}\n", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(metadata.parent), prepend=os.pathsep)
    pytester.makepyfile(dedent(NOTED))
    assert TOTALS in pytester.runpytest_subprocess("-p", "no:cacheprovider").stdout.str()


def test_markers_are_merged_and_the_call_has_the_last_word(pytester):
    result = run_tests(
        pytester,
        """
        import numpy as np
        import pytest

        @pytest.mark.derivative(order=3, modes=("forward",), argnums=0)
        class TestOptions:
            @pytest.mark.derivative(modes=("reverse",))
            def test_nearest(self, derivatives):
                report = derivatives.check(lambda x, y: np.sum(x * x) * y, np.ones(2), 2.0, properties=())
                modes = {f.mode for f in report.findings if f.claim == "derivative"}
                assert modes == {"reverse"}
                assert report.order == 3
                assert all("y" not in f.index for f in report.findings)

            def test_call(self, derivatives):
                report = derivatives.check(np.sum, np.ones(2), order=1, properties=())
                assert report.order == 1
                assert {f.mode for f in report.findings if f.claim == "derivative"} == {"forward"}

            def test_other_checks_get_what_they_know(self, derivatives):
                assert derivatives.gradient(np.sum, np.ones_like, np.ones(2))
        """,
    )
    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("derivative(ordr=1)", "the marker derivative has no option 'ordr': did you mean order?"),
        ("derivative(2)", "the marker derivative takes keyword arguments only, got 2"),
    ],
)
def test_a_misspelt_marker_is_an_error(pytester, marker, message):
    result = run_light_tests(pytester, f"import pytest\n\n@pytest.mark.{marker}\ndef test_it():\n    pass\n")
    result.assert_outcomes(errors=1)
    assert message in result.stdout.str()


HYPOTHESIS = """
    import numpy as np
    import pytest
    from hypothesis import given, settings
    from einsumad.testing.strategies import floats

    COUNTS = {}

    def count(name):
        COUNTS[name] = COUNTS.get(name, 0) + 1

    @given(floats(3))
    def test_fixture(derivatives, x):
        count("fixture")
        derivatives.gradient(np.sum, np.ones_like, x)

    @pytest.mark.derivative
    @given(floats(3))
    def test_marker(x):
        count("marker")

    @settings(max_examples=6)
    @given(floats(3))
    def test_own(x):
        count("own")

    class TestMethod:
        @settings(max_examples=5)
        @given(x=floats(3))
        def test_method(self, derivatives, x):
            count("method")

    def test_counts():
        print("counts", sorted(COUNTS.items()))

    @given(floats(3))
    def test_small_case(derivatives, x):
        derivatives.gradient(lambda x: np.sum(x**2), lambda x: np.where(x > 3, x, 2 * x), x)
"""


def test_hypothesis_tests_run_as_they_are_without_the_option(pytester):
    result = run_tests(pytester, HYPOTHESIS, "-s", examples=7)
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*counts [[]('fixture', 7), ('marker', 7), ('method', 5), ('own', 6)[]]*"])
    result.stdout.fnmatch_lines(["E *x=array([[]4., 0., 0.[]]),"])
    assert "Explanation" not in result.stdout.str()
    assert "a small case" not in result.stdout.str()


def test_fuzz_changes_the_number_of_examples_of_derivative_tests_only(pytester):
    result = run_tests(pytester, HYPOTHESIS, "-s", "--derivative-fuzz", "13", examples=7)
    result.stdout.fnmatch_lines(["derivative fuzz: 13 examples a test"])
    result.stdout.fnmatch_lines(["*counts [[]('fixture', 13), ('marker', 13), ('method', 13), ('own', 6)[]]*"])


@pytest.mark.parametrize("number", ["0", "-3", "many", "1.5"])
def test_fuzz_refuses_what_is_no_number_of_examples(pytester, number):
    result = run_light_tests(pytester, "def test_it(): pass", f"--derivative-fuzz={number}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "needs a whole number of at least 1" in result.stderr.str()


def test_the_marker_is_documented(pytester):
    markers = run_light_tests(pytester, "", "--markers").stdout.str()
    assert "@pytest.mark.derivative(order=2, modes=..., against=..., kink=..., strict=False, ...)" in markers
