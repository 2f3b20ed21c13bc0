"""A small case as code that can be pasted into a file and run.

Owns the text of arrays and of the call. Imports NumPy and the errors. Invariant: an array that is written out comes
back bit by bit when the text is run (payloads of NaN aside); every name in the text is a valid Python name, used once.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from einsumad.errors import ShapeError

Array = np.ndarray[Any, Any]

_MOST_ENTRIES = 64
_WIDTH = 100
_ROW: dict[str, Any] = {
    "initial_indent": "    ",
    "subsequent_indent": "     ",
    "break_long_words": False,
    "break_on_hyphens": False,
}


class Code(str):
    """The value of an option that stands in the text as it is: an expression, or the name of a function."""

    __slots__ = ()


def as_code(
    name: str,
    arguments: Sequence[Array],
    *,
    argument_names: Sequence[str],
    function_name: str,
    claim_name: str,
    check: str,
    options: Mapping[str, Any] | None = None,
    modules: Mapping[str, str] | None = None,
) -> str:
    """A program that repeats a check on these arguments.

    `name` is the title, `check` the name of a function of ``einsumad.testing``; `options` are further keyword arguments
    for it, written as they are where they are :class:`Code`. With an empty `claim_name` the check gets the function
    alone, with "True" it is no name but that value. Functions are imported from the module that `modules` has for their
    name; the others are listed for the reader to define. Arrays of more than 64 entries are described and not written
    out; names that Python does not allow, such as ``<lambda>``, are replaced.

    Raises :class:`ShapeError` if there is not one name for each argument.

    >>> import numpy as np
    >>> names = {"argument_names": ["x"], "function_name": "loss", "claim_name": "gradient"}
    >>> print(as_code("loss at x", [np.array([1.0, 0.5])], check="check_user_gradient", **names))
    # loss at x
    import numpy as np
    from einsumad.testing import check_user_gradient
    <BLANKLINE>
    # to be defined: loss, gradient
    x = np.array([1.0, 0.5])
    check_user_gradient(loss, gradient, x).raise_if_wrong()
    """
    if len(arguments) != len(argument_names):
        raise ShapeError(f"{len(arguments)} arguments and {len(argument_names)} names: give one name for each argument")
    arrays = [np.asarray(argument) for argument in arguments]
    used = {"np", check}
    function = _valid_dotted(function_name, "f", used)
    claim = claim_name if claim_name in ("", "True") else _valid_dotted(claim_name, "g", used)
    names = [_valid(own, f"x{k}", used) for k, own in enumerate(argument_names)]
    pairs = ((function, function_name), (claim, claim_name), *zip(names, argument_names, strict=True))
    passed = [function, *([claim] if claim else []), *names]
    passed += [f"{key}={value if isinstance(value, Code) else repr(value)}" for key, value in (options or {}).items()]
    further = [value for value in (options or {}).values() if isinstance(value, Code) and value.isidentifier()]
    lines = [f"# {_one_line(name)}", "import numpy as np", f"from einsumad.testing import {check}"]
    lines += _provided((function, claim, *further), modules or {})
    lines += [_one_line(f"# {shown}: {original}") for shown, original in pairs if shown != original]
    lines += [assignment(own, array) for own, array in zip(names, arrays, strict=True)]
    lines.append(f"{check}({', '.join(passed)}).raise_if_wrong()")
    return "\n".join(lines)


def _provided(functions: Sequence[str], modules: Mapping[str, str]) -> list[str]:
    """The lines that import functions, and a comment on those that the reader has to define."""
    known = {own: module for own, module in modules.items() if own in functions}
    missing = dict.fromkeys([each for each in functions if each not in ("", "True", *known) and "." not in each])
    imports = sorted([f"from {module} import {own}" for own, module in known.items()])
    return [*imports, "", *([f"# to be defined: {', '.join(missing)}"] if missing else [])]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _valid(name: str, default: str, used: set[str]) -> str:
    """The name as one that Python allows and that is not in use; it is in use from now on."""
    plain = default if "<" in name else re.sub(r"\W+", "_", name).strip("_")
    if not plain.isidentifier() or keyword.iskeyword(plain):
        plain = default
    while plain in used:
        plain += "_"
    used.add(plain)
    return plain


def _valid_dotted(name: str, default: str, used: set[str]) -> str:
    """The name as it is if it names an attribute, such as ``np.sin``; its first part is in use from now on."""
    first, *rest = name.split(".")
    if rest and all(part.isidentifier() and not keyword.iskeyword(part) for part in (first, *rest)):
        used.add(first)
        return name
    return _valid(name, default, used)


def assignment(name: str, array: Array) -> str:
    """An assignment that makes the array, or says what it is if it is too large to be written out."""
    if array.size > _MOST_ENTRIES:
        return f"{name} = ...  # {array.dtype} {array.shape}: too large to print"
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > 16:
        return f"{name} = ...  # {array.dtype} {array.shape}: has no literal"
    text = literal(array)
    if len(name) + len(text) + 3 <= _WIDTH or array.ndim == 0:
        return f"{name} = {text}"
    before, after = _around(array)
    rows = [fill(f"{_nested(row)},", _WIDTH, **_ROW) for row in array] if array.ndim > 1 else [_filled(array)]
    return "\n".join([f"{name} = {before}[", *rows, f"]{after}"])


def _filled(array: Array) -> str:
    return fill(f"{', '.join([_entry(value) for value in array])},", _WIDTH, **_ROW)


def literal(array: Array) -> str:
    """An expression with ``np`` that makes an array of numbers, bit by bit.

    >>> print(literal(np.array([[1.0, -0.0], [np.nan, 0.1]], np.float32)))
    np.array([[1.0, -0.0], [np.nan, 0.1]], dtype=np.float32)
    """
    if array.size == 0:
        return f"np.zeros({', '.join([str(array.shape), *_dtype(array)])})"
    before, after = _around(array)
    return f"{before}{_nested(array)}{after}"


def _around(array: Array) -> tuple[str, str]:
    """What stands before and after the nested lists of an array."""
    after = "".join([f", {dtype}" for dtype in _dtype(array)])
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        return "np.asfortranarray(np.array(", f"{after}))"
    return "np.array(", f"{after})"


def _dtype(array: Array) -> list[str]:
    if array.dtype.newbyteorder("=") == np.float64:
        return []
    return ["dtype=np.longdouble" if _is_extended(array.dtype) else f"dtype=np.{array.dtype.name}"]


def _is_extended(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize > 8


def _nested(array: Array) -> str:
    if array.ndim == 0:
        return _entry(array[()])
    return "[" + ", ".join([_nested(part) for part in array]) + "]"


def _entry(value: Any) -> str:
    """A number as text that gives the same bits when it is read in the array's dtype."""
    if isinstance(value, np.bool_):
        return str(bool(value))
    if isinstance(value, np.integer):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return _complex_entry(value)
    if np.isnan(value):
        return "-np.nan" if np.signbit(value) else "np.nan"
    if np.isinf(value):
        return "-np.inf" if value < 0 else "np.inf"
    if _is_extended(value.dtype):
        return f"np.longdouble({str(value)!r})"
    short = str(value)
    return short if value.dtype.type(float(short)) == value else repr(float(value))


def _complex_entry(value: Any) -> str:
    real, imaginary = _entry(value.real), _entry(value.imag)
    if np.isfinite(value) and not np.signbit(value.imag) and not (value.real == 0 and np.signbit(value.real)):
        return f"{real}+{imaginary}j"
    return f"complex({real}, {imaginary})"
