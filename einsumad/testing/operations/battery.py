"""Operations as pytest tests: one test an operation and check, with arguments that Hypothesis draws.

Owns the making of the test function. Imports pytest, Hypothesis, the checks and the records. Invariant: what a failing
test shows is the report at the smallest arguments that Hypothesis found, and these arguments as code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from einsumad.errors import WrongDerivativeError
from einsumad.frontend.trees import flatten, leaf_names
from einsumad.testing.diagnosis.snippet import assignment
from einsumad.testing.operations.arguments import call_of_system, refuse_outside
from einsumad.testing.operations.checks import draws, run_check
from einsumad.testing.operations.operation import Operation
from einsumad.testing.operations.registry import Registry
from einsumad.testing.plugin.noting import failure_of, noted
from einsumad.testing.plugin.records import BATTERY, Record, note
from einsumad.testing.report import Report
from einsumad.testing.strategies.drawing import ShownAsText

_SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True, slots=True, repr=False)
class Item(ShownAsText):
    """One test of a battery: a check of an operation."""

    operation: Operation
    check: str

    def __repr__(self) -> str:
        return f"{self.operation.name}: {self.check}"

    @property
    def identifier(self) -> str:
        """The name of the test in brackets."""
        return f"{self.operation.name}-{self.check}".replace(" ", "_")

    @property
    def source(self) -> str:
        """The module of the function."""
        value = self.operation.value
        return str(getattr(value, "__module__", None) or type(value).__module__)


def battery(*operations: Operation | Registry | Iterable[Operation], max_examples: int | None = None) -> Any:
    """A pytest test function that checks operations in every way that is open to them.

    Assign it to a name that pytest collects. Each check of each operation (``Operation.checks``) is a test of its own:
    preflight, each derivative written by hand, each order of a system in every mode, the properties that need no
    oracle, other precisions, the domain, conventions. Hypothesis draws the arguments, as many examples as its profile,
    `max_examples` or ``--derivative-fuzz`` say, and makes failing ones small.

    Raises ``ValueError`` without operations or for two of the same name.

    >>> import numpy as np
    >>> from einsumad.testing.strategies import floats, shapes
    >>> def log_cosh(x):
    ...     return np.sum(np.logaddexp(x, -x))
    >>> sample = floats(shapes())
    >>> test_log_cosh = battery(Operation("log cosh", log_cosh, sample, gradient=np.tanh))
    """
    chosen = Registry()
    for given_one in operations:
        for operation in [given_one] if isinstance(given_one, Operation) else given_one:
            chosen.add(operation)
    if not len(chosen):
        raise ValueError("a battery needs operations: pass them, or a registry that has some")
    items = [Item(operation, check) for operation in chosen for check in operation.checks]

    def test_battery(item: Item, data: st.DataObject) -> None:
        run_item(item, data)

    return _as_test(test_battery, items, max_examples)


def _as_test(test: Callable[[Item, st.DataObject], None], items: Sequence[Item], max_examples: int | None) -> Any:
    """The function of an item and of data as a test that pytest runs for every item."""
    explored = given(data=st.data())(test)
    usual = settings()
    phases = [phase for phase in usual.phases if phase is not Phase.explain]
    examples = usual.max_examples if max_examples is None else max_examples
    chosen = settings(usual, max_examples=examples, deadline=None, phases=phases)(explored)
    setattr(chosen, BATTERY, True)
    return pytest.mark.parametrize("item", items, ids=[item.identifier for item in items])(chosen)


def run_item(item: Item, data: st.DataObject) -> None:
    """Make the check of an item with arguments from some data, and raise if it fails."""
    __tracebackhide__ = True
    operation, check = item.operation, item.check
    if check in operation.skips:
        reason = operation.skips[check]
        note(Record(operation.name, item.source, check, "skipped", reason=reason))
        pytest.skip(reason)
    args, seed = _drawn(operation, data) if draws(check) else ((), 0)
    report = noted(lambda: run_check(operation, check, args, seed), check, operation.name, item.source)
    if failure_of(report) is not None:
        raise WrongDerivativeError(_told(item, report, args))


def _drawn(operation: Operation, data: st.DataObject) -> tuple[tuple[Any, ...], int]:
    """Arguments of an operation, and a seed for what is random in a check."""
    seed = data.draw(_SEEDS, label="seed")
    if callable(operation.sample):
        args = operation.sample(np.random.default_rng(seed))
    else:
        args = data.draw(operation.sample, label="arguments")
    if isinstance(args, (np.ndarray, np.generic, float)):
        args = (args,)
    if not isinstance(args, tuple) or not args:
        raise TypeError(
            f"operation {operation.name!r}: the sample gave {type(args).__name__}: give a tuple of arguments"
        )
    refuse_outside(operation, args)
    return args, seed


def _told(item: Item, report: Report, args: Sequence[Any]) -> str:
    """The report, which test it is of, and the arguments as code."""
    head = f"{item.check} of the operation {item.operation.name!r}, made at {item.operation.place}"
    names = call_of_system(item.operation, args).names if args else ()
    lines = [line for name, argument in zip(names, args, strict=True) for line in _as_code(argument, name)]
    return "\n".join([head, str(report), *(["Arguments:", *lines] if lines else [])])


def _as_code(argument: Any, name: str) -> list[str]:
    leaves, _ = flatten(argument)
    return [
        assignment(label, np.asarray(leaf)) if isinstance(leaf, (np.ndarray, np.generic)) else f"{label} = {leaf!r}"
        for label, leaf in zip(leaf_names(argument, name), leaves, strict=True)
    ]
