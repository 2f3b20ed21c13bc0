"""How a row is written: a decorator over the function that holds its derivative, whose docstring is the law.

Owns the spelling of rows and of number literals in source text. Imports the catalogue. Invariant: each
decorated function enters exactly one row; text made here contains numbers and the caller's operand
expressions, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from math import isinf, isnan

from einsumad.errors import InternalError
from einsumad.functions.catalogue import ElementwiseFunction, Interval, Partials, Source, register_elementwise
from einsumad.functions.dtypes import DtypeRule
from einsumad.graph import Elementwise, Params

PartialsRule = Callable[[Elementwise], Partials]


def row(
    name: str,
    function: str | Source,
    *domain: Interval,
    dtype: DtypeRule,
    cost: int = 1,
    symbol: str | None = None,
    takes_out: bool = False,
    doc: str | None = None,
) -> Callable[[PartialsRule], PartialsRule]:
    """Register the function whose partials the decorated function gives; one domain interval an operand.

    `function` is the dotted name of a ufunc, a template such as ``"np.maximum({0}, 0)"``, or a function that
    writes the source. A text ends with a ufunc call that takes ``out=``; the function has to say with
    `takes_out` whether its does. `doc` replaces the docstring where several rows share one function.
    """
    arity = len(domain)
    ufunc = function if isinstance(function, str) and "(" not in function else None
    template = f"{ufunc}({', '.join(f'{{{k}}}' for k in range(arity))})" if ufunc else function
    source = _from_template(template) if isinstance(template, str) else template
    single = isinstance(function, str) or takes_out

    def enter(partials: PartialsRule) -> PartialsRule:
        law = cleandoc(doc or partials.__doc__ or "")
        register_elementwise(
            ElementwiseFunction(name, arity, source, ufunc, single, partials, dtype, cost, symbol or name, domain, law)
        )
        return partials

    return enter


def _from_template(template: str) -> Source:
    def source(operands: tuple[str, ...], _params: Params) -> str:
        return template.format(*operands)

    return source


def literal(value: object) -> str:
    """The number as Python source."""
    if isinstance(value, int):
        return repr(int(value))
    if not isinstance(value, float):
        raise InternalError(f"a parameter {value!r} is not a number")
    if isnan(value):
        return "np.nan"
    if isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(float(value))


def in_own_dtype(text: str, operand: str) -> str:
    """The value of a function that SciPy computes in double precision only, in the dtype of the operand."""
    return f"np.float64({text}).astype({operand}.dtype)"


def number(params: Params, position: int = 0) -> int | float:
    """The parameter at that position, which has to be a number."""
    value = params[position]
    if not isinstance(value, (int, float)):
        raise InternalError(f"parameter {position} is {value!r}, not a number")
    return value


def whole(params: Params, position: int = 0) -> int:
    """The parameter at that position, which has to be an integer."""
    value = params[position]
    if not isinstance(value, int):
        raise InternalError(f"parameter {position} is {value!r}, not an integer")
    return value


def no_partials(node: Elementwise) -> Partials:
    """A piecewise constant function: the derivative is zero in every operand."""
    return (None,) * len(node.operands)
