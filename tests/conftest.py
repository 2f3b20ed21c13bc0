"""Hypothesis profiles: "test" is repeatable, "fuzz" explores (`make fuzz`, FUZZ_EXAMPLES examples each).

A property that needs more examples than the profile's takes the larger number, so that fuzzing still raises
it: `@settings(max_examples=max(2000, settings().max_examples))`.

`pytest tests papers --planner-off factoring` runs everything with an option of the planner off; what asserts on the
text or the cost of what is planned is marked `whole_planner` and left out then.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

import einsumad as ea
from einsumad.planning import option_names

# Deadlines measure the machine and not the code, and the first example of a kind is slow: it is planned.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}

settings.register_profile("test", max_examples=100, derandomize=True, database=None, **COMMON)
settings.register_profile("fuzz", max_examples=int(os.environ.get("FUZZ_EXAMPLES", "10000")), **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--planner-off", action="append", default=[], choices=option_names(), help="run with this planner option off"
    )


def pytest_configure(config: pytest.Config) -> None:
    os.environ["EINSUMAD_MACHINE"] = "default"  # plans and their texts are the same on every machine
    os.environ.pop("EINSUMAD_PLAN_CACHE", None)  # and made in this process
    # Hypothesis reads all modules for their constants: the processes that tests start find what was read before.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(config.rootpath / ".hypothesis"))
    off = config.getoption("--planner-off")
    ea.planner_options(**dict.fromkeys(off, False)).__enter__()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--planner-off"):
        for item in items:
            if item.get_closest_marker("whole_planner"):
                item.add_marker(pytest.mark.skip(reason="asserts on what the planner's options change"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the rates of the mutation self-test of einsumad.testing, if it ran."""
    reports = [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]
    found = [value for report in reports for name, value in report.user_properties if name == "self-test"]
    wrong, right = ([counts for kind, *counts in found if kind == which] for which in ("wrong", "right"))
    if not found:
        return
    failed = len([r for r in terminalreporter.stats.get("failed", []) if "test_mutations.py" in r.nodeid])
    flagged, named = (sum(counts) for counts in zip(*wrong, strict=True)) if wrong else (0, 0)
    points, undecided = (sum(counts) for counts in zip(*right, strict=True)) if right else (0, 0)
    terminalreporter.section("mutation self-test of einsumad.testing")
    terminalreporter.write_line(f"wrong derivatives flagged: {flagged}, the likely cause named for {named}")
    terminalreporter.write_line(f"right derivatives: {len(right)}, at {points} points, of which {undecided} undecided")
    terminalreporter.write_line(f"failures: {failed}")
