"""Comparisons, logic and the tests for NaN and infinity: truth values, which serve as masks in products.

Owns these rows. Imports the catalogue. Invariant: the value is boolean and has no derivative.
"""

from __future__ import annotations

from einsumad.functions.dtypes import boolean
from einsumad.functions.rows import no_partials, row

_LINE = (-3.0, 3.0)

for _name, _symbol, _doc in (
    ("greater", ">", "True where the first operand is greater; false at NaN."),
    ("greater_equal", ">=", "True where the first operand is greater or equal; false at NaN."),
    ("less", "<", "True where the first operand is less; false at NaN."),
    ("less_equal", "<=", "True where the first operand is less or equal; false at NaN."),
    ("equal", "==", "True where the operands are equal; false at NaN."),
    ("not_equal", "!=", "True where the operands differ; true at NaN."),
    ("logical_and", "&", "True where both operands are not zero."),
    ("logical_or", "|", "True where one of the operands is not zero."),
):
    row(_name, f"np.{_name}", _LINE, _LINE, dtype=boolean, symbol=_symbol, doc=_doc)(no_partials)

for _name, _symbol, _doc in (
    ("logical_not", "~", "True where the operand is zero."),
    ("isnan", "isnan", "True where the operand is NaN."),
    ("isfinite", "isfinite", "True where the operand is neither NaN nor infinite."),
    ("isinf", "isinf", "True where the operand is infinite."),
):
    row(_name, f"np.{_name}", _LINE, dtype=boolean, symbol=_symbol, doc=_doc)(no_partials)
