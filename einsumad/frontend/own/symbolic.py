"""Functions from expressions of SymPy: :func:`elementwise_function`.

Owns the public names. Imports the translation to NumPy and the surface of traced values; SymPy only comes with the
user's expression. Invariant: the same source computes plain arrays and builds the graph, so derivatives are those of
the functions that stand in it, with all conventions, and no text of the user is run.
"""

from __future__ import annotations

import importlib
import keyword
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.lifting import as_node, holds_tensor, is_python_number, plain_array
from einsumad.frontend.own.conditions import guarded, on_real_numbers, without_points
from einsumad.frontend.own.translation import Expression, refusal, statements
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.scipy_special import functions
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import abstract_variable


class _Special:
    """`scipy.special` for plain and traced values, loaded on use."""

    def __getattr__(self, name: str) -> Any:
        own = getattr(importlib.import_module("scipy.special"), name)
        if not hasattr(functions, name):
            return own

        def either(*args: Any) -> Any:
            """SciPy's function, which is no ufunc and so would not see a traced value, or ours."""
            return (getattr(functions, name) if holds_tensor(args) else own)(*args)

        return either


class SymbolicFunction:
    """A function of arrays, entry by entry, from an expression of SymPy; made by :func:`elementwise_function`.

    `expression` and `symbols` are what it was made from, `latex` is the formula, `code` its NumPy source, and
    :meth:`derivative` differentiates the expression.
    """

    def __init__(
        self, expression: Expression, symbols: Sequence[Expression], parameters: Mapping[Expression, Any], name: str
    ) -> None:
        self.expression, self.symbols, self.parameters = expression, tuple(symbols), dict(parameters)
        self.__name__ = name
        constants = {symbol: _as_number(symbol, value) for symbol, value in self.parameters.items()}
        self._real, self._places = on_real_numbers(expression.subs(constants), self.symbols)
        places = [self._places[symbol] for symbol in self.symbols]
        self._run = _compiled(*guarded(self._real, places))
        _check_traceable(self._run, self._real, places)

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(map(str, self.symbols))}) = {self.expression}"

    def __reduce__(self) -> tuple[Any, ...]:
        return SymbolicFunction, (self.expression, self.symbols, self.parameters, self.__name__)

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    def __call__(self, *args: Any) -> Any:
        """The value for arrays that broadcast against each other; traced if one of them is."""
        if len(args) != len(self.symbols):
            raise TypeError(f"{self.__name__} takes {len(self.symbols)} arguments, got {len(args)}")
        traced = any(isinstance(arg, Tensor) for arg in args)
        given = [arg if is_python_number(arg) else as_node(arg) if traced else plain_array(arg) for arg in args]
        dtype = _floating(given)
        shape = broadcast_shape(*[() if is_python_number(arg) else arg.shape for arg in given])
        if traced:
            value = as_node(self._run(*[Tensor(in_dtype(arg, dtype)) for arg in given]))
            return Tensor(spread(in_dtype(value, dtype), shape))
        with np.errstate(all="ignore"):
            result = self._run(*[np.asarray(arg, dtype)[()] for arg in given])
        return np.array(np.broadcast_to(result, shape), dtype)[()]

    @cached_property
    def latex(self) -> str:
        """The expression as LaTeX."""
        return str(_sympy().latex(self.expression))

    @cached_property
    def code(self) -> str:
        """The source of a function that computes the value with ``np`` and ``scipy.special`` as ``special``."""
        names = _readable(self.symbols)
        prefix = "t"
        while any(name.startswith(prefix) for name in names):
            prefix += "_"
        expression, places = guarded(self._real, [self._places[symbol] for symbol in self.symbols])
        return _source(self.__name__ if self.__name__.isidentifier() else "f", expression, places, names, prefix)

    def derivative(self, *symbols: Any) -> SymbolicFunction:
        """The partial derivative by one symbol (or position) after another, as a function of the same symbols.

        It is what SymPy gives, to be read, printed or evaluated; transforms such as :func:`einsumad.grad` do not need
        it. At jumps its value is that beside the jump (no delta functions).
        """
        sympy = _sympy()
        wanted = [self.symbols[s] if isinstance(s, int) else s for s in symbols]
        for symbol in wanted:
            if symbol not in self.symbols:
                raise ValueError(f"{symbol} is not one of the symbols {', '.join(map(str, self.symbols))}")
        real, back = self._places, {place: symbol for symbol, place in self._places.items()}
        found = self._real
        for symbol in wanted:
            found = without_points(sympy.diff(without_points(found), real[symbol]))
        name = f"{self.__name__}_{''.join(map(str, wanted))}" if wanted else self.__name__
        return SymbolicFunction(sympy.powsimp(found).xreplace(back), self.symbols, {}, name)


def _source(
    name: str, expression: Expression, places: Sequence[Expression], names: Sequence[str], temporary: str
) -> str:
    lines, value = statements(expression, dict(zip(places, names, strict=True)), temporary)
    body = "".join(f"    {line}\n" for line in [*lines, f"return {value}"])
    return f"def {name}({', '.join(names)}):\n{body}"


def _compiled(expression: Expression, places: Sequence[Expression]) -> Callable[..., Any]:
    source = _source("value", expression, places, [f"x{k}" for k in range(len(places))], "t")
    scope: dict[str, Any] = {"np": np, "special": _Special()}
    # made from the table of the translation; names and texts of the user never enter it
    exec(compile(source, "<einsumad expression>", "exec"), scope)  # noqa: S102
    run: Callable[..., Any] = scope["value"]
    return run


def _floating(given: Sequence[Any]) -> np.dtype:
    """The dtype that the arguments promote to, float64 where that is no float."""
    dtype = np.result_type(*[arg if is_python_number(arg) else arg.dtype for arg in given])
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def _check_traceable(run: Callable[..., Any], expression: Expression, places: Sequence[Expression]) -> None:
    """Refuse, naming the smallest part, what cannot be traced."""
    arguments = [Tensor(abstract_variable((), np.float64)) for _ in places]
    try:
        run(*arguments)
    except TracingError:
        for part in _sympy().postorder_traversal(expression):
            if getattr(part, "args", ()) and type(part).__name__ not in {"ExprCondPair", "Tuple"}:
                try:
                    _compiled(part, places)(*arguments)
                except TracingError as error:
                    raise TracingError(f"{refusal(part)} ({error})") from error
        raise


def _readable(symbols: Sequence[Expression]) -> list[str]:
    """The names of the symbols, or x0, x1, ... where one is no name of Python."""
    names = [str(symbol) for symbol in symbols]
    fine = all(name.isidentifier() and not keyword.iskeyword(name) and name not in ("np", "special") for name in names)
    return names if fine and len(set(names)) == len(names) else [f"x{k}" for k in range(len(names))]


def _sympy() -> Any:
    return sys.modules["sympy"]


def _as_number(symbol: Expression, value: Any) -> Expression:
    if isinstance(value, Tensor) or np.ndim(value):
        raise TypeError(
            f"the parameter {symbol} must be a real number, got {type(value).__name__} of shape {np.shape(value)}: "
            "what is traced, or differs from entry to entry, is an argument: name the symbol as one"
        )
    try:
        number = None if isinstance(value, str) else _sympy().sympify(value, strict=True)
    except _sympy().SympifyError:
        number = None
    if number is None or not number.is_number or not number.is_comparable:
        raise TypeError(f"the parameter {symbol} must be a real number, got {value!r}")
    return number


def elementwise_function(
    expression: Any, *symbols: Any, parameters: Mapping[Any, Any] | None = None, name: str = "f"
) -> SymbolicFunction:
    """A function of arrays, applied entry by entry, from an expression of SymPy.

    The arguments are those of `symbols` in order (they may be left out where there is one only), all real; `parameters`
    gives constants for other symbols. It acts like a NumPy ufunc on arrays and traced values: arguments broadcast,
    float32 stays float32, integers become float64. Derivatives of every order are those of the NumPy functions it is
    made of, with their conventions at kinks. Where a symbol is assumed to be positive, negative, nonzero or an integer,
    the value outside is NaN. `Piecewise` without a last branch is NaN elsewhere.

    SymPy is needed (``pip install einsumad[symbolic]``). Texts are refused, since reading them would run them. Raises
    :class:`TracingError` naming the sub-expression that has no counterpart, and ``TypeError`` for what is no expression
    or has symbols that are not named.

    >>> import numpy as np, einsumad as ea, sympy
    >>> x, k = sympy.symbols("x k")
    >>> hill = ea.elementwise_function(x**k / (1 + x**k), x, parameters={k: 3}, name="hill")
    >>> hill(np.array([1.0, 2.0], np.float32))
    array([0.5      , 0.8888889], dtype=float32)
    >>> ea.hessian(lambda x: np.sum(hill(x)))(np.array([1.0, 2.0])).diagonal()
    array([-0.75      , -0.24691358])
    >>> print(hill.code)
    def hill(x):
        t0 = x ** 3
        return t0 / (t0 + 1)
    <BLANKLINE>
    >>> ea.elementwise_function(sympy.sin(x) ** 2, name="g").derivative(x)
    g_x(x) = 2*sin(x)*cos(x)
    """
    sympy = sys.modules.get("sympy")
    if isinstance(expression, str):
        raise TypeError(
            "elementwise_function needs an expression of SymPy, not a text, which would have to be run to be read: "
            "make symbols with sympy.symbols and write the expression with them"
        )
    if sympy is None or not isinstance(expression, (sympy.Expr, int, float)):
        raise TypeError(
            f"elementwise_function needs an expression of SymPy (pip install einsumad[symbolic]), got "
            f"{type(expression).__name__}"
        )
    found = sympy.sympify(expression)
    if found.has(sympy.Derivative, sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit, sympy.Subs):
        found = found.doit()
    constants = dict(parameters or {})
    return SymbolicFunction(found, _arguments(found, symbols, constants), constants, name)


def _arguments(
    expression: Expression, symbols: Sequence[Expression], constants: Mapping[Expression, Any]
) -> Sequence[Expression]:
    """The symbols of the arguments, if together with the constants they are those of the expression."""
    free = sorted(expression.free_symbols - set(constants), key=str)
    given = symbols or tuple(free[:1] if len(free) == 1 else ())
    for symbol in (*given, *constants):
        if not isinstance(symbol, _sympy().Symbol):
            raise TypeError(f"the arguments of a function are symbols of SymPy, got {symbol!r}")
    missing = [str(symbol) for symbol in free if symbol not in given]
    if missing or len(set(given)) != len(given) or not given or set(given) & set(constants):
        raise TypeError(
            f"name each argument of {expression} once, and give a value in parameters= for every other symbol"
            + (f": {', '.join(missing)}" if missing else "")
        )
    return given
