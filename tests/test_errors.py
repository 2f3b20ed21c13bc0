"""The hierarchy of errors and the caret block."""

import inspect
import pickle

import pytest
from numpy.linalg import LinAlgError

from einsumad import errors
from einsumad.errors import EinsumadError, InternalError, caret

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, EinsumadError)]
BUILT_IN = {
    "EinsumadError": Exception,
    "IndexNotationError": ValueError,
    "ShapeError": ValueError,
    "DeclarationError": ValueError,
    "DifferentiationError": TypeError,
    "LinearAlgebraError": LinAlgError,
    "TracingError": TypeError,
    "MemoryLimitError": MemoryError,
    "InternalError": AssertionError,
    "WrongDerivativeError": AssertionError,
}


def test_table_is_complete() -> None:
    assert {kind.__name__ for kind in CLASSES} == set(BUILT_IN)


@pytest.mark.parametrize("kind", CLASSES)
def test_error_is_also_a_built_in_and_survives_pickling(kind: type[EinsumadError]) -> None:
    assert issubclass(kind, BUILT_IN[kind.__name__])
    error = kind("what, where, what to do")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (made one line above)
    assert type(copy) is kind
    assert copy.args == error.args
    assert str(copy) == str(error)


def test_internal_error_says_whose_fault_it_is() -> None:
    assert "bug in einsumad, not in your code" in str(InternalError("two shapes"))


@pytest.mark.parametrize(
    ("text", "start", "length", "expected"),
    [
        ("ij,jk", 3, 2, "ij,jk\n   ^^"),
        ("ij", 2, 1, "ij\n  ^"),
        ("", 0, 1, "\n^"),
        ("ij", 1, 0, "ij\n ^"),
        ("i\n\tj", 3, 1, "i??j\n   ^"),
        ("語b", 1, 1, "語b\n  ^"),
        ("a語", 1, 1, "a語\n ^^"),
    ],
)
def test_caret(text: str, start: int, length: int, expected: str) -> None:
    assert caret(text, start, length) == expected
