"""Operations: functions with what their tests have to know of them, and the battery of tests that they get.

Owns the names. Needs pytest and Hypothesis; nothing of it is loaded by ``import einsumad``.
"""

try:
    import hypothesis  # noqa: F401  looked for first, so that the error says what is missing
    import pytest  # noqa: F401
except ImportError as error:
    raise ImportError(
        "einsumad.testing.operations needs pytest and Hypothesis: pip install 'einsumad[testing]'"
    ) from error

from einsumad.testing.operations.battery import battery
from einsumad.testing.operations.operation import Convention, Operation
from einsumad.testing.operations.registry import Registry, UnknownOperationError

__all__ = ["Convention", "Operation", "Registry", "UnknownOperationError", "battery"]
