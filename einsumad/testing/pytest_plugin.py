"""The pytest plugin: a fixture, a marker, a summary of what was checked, and more examples on request.

Owns the hooks. Imports pytest and the standard library: pytest loads a plugin in every run of every project, so the
rest of the toolkit is loaded by the first test that checks a derivative. Invariant: a test that does not use the
toolkit runs as without the plugin.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

PROPERTY = "einsumad_derivatives"
"""The name under which a test's report carries what it checked."""

_RECORDS = "einsumad.testing.plugin.records"
_BATTERY = "__einsumad_battery__"
_MARKER = (
    "derivative(order=2, modes=..., against=..., kink=..., strict=False, ...): "
    "the options that checks through the fixture `derivatives` have in this test"
)
_USUAL_DEADLINE = timedelta(milliseconds=200)


@dataclass
class _State:
    """The running test and what it has checked."""

    item: pytest.Item | None = None
    records: list[Any] = field(default_factory=list)

    def options(self) -> dict[str, Any]:
        """The options of the markers of the running test, the nearest marker first."""
        markers = [] if self.item is None else list(self.item.iter_markers("derivative"))
        return {name: value for marker in reversed(markers) for name, value in marker.kwargs.items()}

    def test(self) -> str:
        """The name of the running test."""
        return "no test" if self.item is None else str(getattr(self.item, "originalname", None) or self.item.name)


_STATE = pytest.StashKey[_State]()


def _taken() -> list[Any]:
    """The records that were noted since the last call; none if nothing has loaded the toolkit."""
    module = sys.modules.get(_RECORDS)
    return [] if module is None else list(module.taken())


def _examples(text: str) -> int:
    """The argument of ``--derivative-fuzz``."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"needs a whole number of at least 1, got {text!r}")
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line."""
    group = parser.getgroup("einsumad", "derivative checks of einsumad.testing")
    group.addoption(
        "--derivative-fuzz",
        type=_examples,
        metavar="N",
        help="try N random examples in batteries and in Hypothesis tests that have the marker derivative "
        "or use the fixture derivatives",
    )
    group.addoption(
        "--derivative-summary",
        choices=("short", "long", "none"),
        help="what to tell of the derivatives that were checked: a line a subject, also a line a check, or nothing "
        "(default: short, with -q the totals only)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_STATE] = _State()
    config.pluginmanager.register(_Summary(config), "einsumad-summary")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say so if the number of examples is not that of the profile."""
    number = config.getoption("derivative_fuzz")
    return None if number is None else f"derivative fuzz: {number} examples a test"


@pytest.fixture(scope="session")
def derivatives(request: pytest.FixtureRequest) -> Any:
    """Checks of derivatives: ``derivatives.gradient(f, g, x)``, and check, jacobian, hessian, hvp, jvp, vjp, scipy.

    Each raises if a derivative is wrong or cannot be checked, and counts in the summary. Options come from the marker
    ``derivative`` of the running test. The object serves the whole session, so it can be used in Hypothesis tests.
    """
    state = request.config.stash[_STATE]
    module = importlib.import_module("einsumad.testing.plugin.fixture")
    return module.Derivatives(state.options, state.test)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Collect what a test checks; what was noted outside of it is put back."""
    state = item.config.stash[_STATE]
    outside = _taken()
    state.item, state.records = item, []
    try:
        return (yield)
    finally:
        state.item, state.records = None, []
        _taken()
        for record in outside:
            sys.modules[_RECORDS].note(record)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse options of the marker that do not exist."""
    for marker in item.iter_markers("derivative"):
        module = importlib.import_module("einsumad.testing.plugin.fixture")
        message = module.complaint(marker.args, marker.kwargs)
        if message:
            pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Let a Hypothesis test that checks derivatives have the number of examples asked for, and time for them."""
    function = _hypothesis_test(item)
    if function is None:
        return (yield)
    before = function._hypothesis_internal_use_settings  # noqa: SLF001 - there is no public way to change it
    function._hypothesis_internal_use_settings = type(before)(  # noqa: SLF001
        before, **_overridden(before, item.config.getoption("derivative_fuzz"))
    )
    try:
        return (yield)
    finally:
        function._hypothesis_internal_use_settings = before  # noqa: SLF001


def _hypothesis_test(item: pytest.Item) -> Any | None:
    """The function of a Hypothesis test that checks derivatives."""
    function = getattr(item, "function", None)
    if not hasattr(function, "_hypothesis_internal_use_settings"):
        return None
    uses_fixture = "derivatives" in getattr(item, "fixturenames", ())
    ours = hasattr(function, _BATTERY) or uses_fixture or item.get_closest_marker("derivative") is not None
    return function if ours else None


def _overridden(settings: Any, examples: int | None) -> Mapping[str, Any]:
    """What changes in the settings.

    The usual deadline is too short for checks, which call a function many times, and the phase "explain" would trace
    every line of this toolkit to say which of them failing examples run.
    """
    changed: dict[str, Any] = {"phases": [phase for phase in settings.phases if phase.name != "explain"]}
    if examples is not None:
        changed["max_examples"] = examples
    if settings.deadline == _USUAL_DEADLINE:
        changed["deadline"] = None
    return changed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what was checked so far into the report of each phase."""
    report = yield
    state = item.config.stash[_STATE]
    state.records += _taken()
    if state.records:
        report.user_properties.append((PROPERTY, sys.modules[_RECORDS].to_text(state.records)))
    return report


class _Summary:
    """What came from the tests that have finished, in this process or in those of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._texts: dict[str, str] = {}
        quiet = config.getoption("verbose") < 0
        self._style = config.getoption("derivative_summary") or ("totals" if quiet else "short")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a report carries; the report of a later phase has it all."""
        for name, text in report.user_properties:
            if name == PROPERTY:
                self._texts[report.nodeid] = str(text)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the section "derivatives checked"."""
        if not self._texts:
            return
        from_text = importlib.import_module(_RECORDS).from_text
        records = [record for text in self._texts.values() for record in from_text(text)]
        lines = importlib.import_module("einsumad.testing.plugin.summary").summary(records, self._style)
        if lines:
            terminalreporter.section("derivatives checked")
        for line in lines:
            terminalreporter.write_line(line.text, red=line.bad)
