"""Functions of users with derivatives of their own: :func:`custom_function`.

Owns the public names. Imports the files beside it. Invariant: without a traced argument a call is a call of the user's
function; with one it is nodes of the graph, and the function runs when their value is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from types import MethodType
from typing import Any, TypeVar, overload

from einsumad.errors import TracingError
from einsumad.frontend.own.agreement import check_rules
from einsumad.frontend.own.arguments import holds_traced, positional, take_apart
from einsumad.frontend.own.definition import Shapes, called, define
from einsumad.frontend.own.forms import find_form
from einsumad.frontend.own.results import traced, tree_of
from einsumad.frontend.own.rows import call_nodes
from einsumad.frontend.own.rules import Call
from einsumad.frontend.transforms import document_like

R = TypeVar("R", bound=Callable[..., Any])


class CustomFunction:
    """A function with a derivative that its user gives, made by :func:`custom_function`. Call it like the original.

    Its rules are set by ``push=`` and ``pull=``, or by the decorators ``.push`` and ``.pull``. Both are linear maps,
    each the transpose of the other, so one is enough:

    ``push(primals, tangents)``
        the tangent of the value (a tree like the value): ``primals`` is the tuple of the arguments, ``tangents`` has
        the same structure, with 0.0 for what has no derivative (integers, texts, ...);
    ``pull(primals, value, cotangent)``
        a tuple with the cotangent of each argument, None for those without a derivative (a single one may stand alone).

    They are traced, without values, so they are written with NumPy's functions, and may call the function itself; that
    is how higher derivatives come about. They have to be linear in the tangent or cotangent. Arrays and numbers that
    they capture are read at every call of a transform (by :func:`einsumad.compile` once, when it traces, while the
    function itself always runs as it is). If both are given, the one with the smaller seed is used: the
    pull for arguments with more entries than the value, otherwise the push; :meth:`check` compares them.

    A rule need not be the derivative of the function: a step may pass its tangent on, a factor may be left out. Second
    derivatives then need not be symmetric, and of the blocks for several arguments one is the transpose of the other.

    Floats of Python are inputs as arrays are; integers, texts, flags and functions are part of the expression. Define a
    function once, not within what is traced: each definition is another function, for which everything is derived anew,
    and stays in memory.
    """

    def __init__(self, function: Callable[..., Any], name: str | None, shape: Shapes, dtype: Any) -> None:
        if not callable(function):
            raise TypeError(f"custom_function needs a function, got {type(function).__name__}")
        self._definition = define(function, name, shape, dtype)
        document_like(self, function)

    def __repr__(self) -> str:
        return f"custom_function({self._definition.name})"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def push(self, rule: R) -> R:
        """Use ``rule(primals, tangents)`` as the pushforward; see :func:`custom_function`."""
        self._definition.push = _checked_rule("push", rule)
        return rule

    def pull(self, rule: R) -> R:
        """Use ``rule(primals, value, cotangent)`` as the pullback; see :func:`custom_function`."""
        self._definition.pull = _checked_rule("pull", rule)
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself on plain arguments, a traced value on traced ones."""
        definition = self._definition
        if not holds_traced((args, kwargs)):
            result = called(definition, *args, **kwargs)
            if holds_traced(result):
                raise TracingError(
                    f"{definition.name} uses a traced value of its surroundings, which its derivative does not know: "
                    "pass that as an argument"
                )
            return result
        given = positional(definition.function, definition.name, args, kwargs)
        layout, operands = take_apart(definition.name, given)
        form = find_form(definition, layout, given, operands)
        call = Call(definition, layout, tuple([(node.shape, node.dtype) for node in operands]), form)
        return tree_of(form, traced(call_nodes(call, operands)))

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Compare push and pull with each other and with differences of the function, at plain arguments.

        Raises :class:`WrongDerivativeError` with the place where they differ most. It calls the function four times for
        each entry of its arguments; at kinks and with noise :func:`einsumad.testing.check_derivatives` sees clearer.

        >>> import numpy as np, einsumad as ea
        >>> cube = ea.custom_function(lambda x: x**3, push=lambda primals, tangents: 2 * primals[0] * tangents[0])
        >>> cube.check(np.array([1.0, 2.0]))
        Traceback (most recent call last):
            ...
        einsumad.errors.WrongDerivativeError: push of lambda: ...
        """
        definition = self._definition
        given = positional(definition.function, definition.name, args, kwargs)
        if holds_traced(given):
            raise TracingError(f"{definition.name}.check needs plain arguments")
        layout, operands = take_apart(definition.name, given)
        form = find_form(definition, layout, given, operands)
        check_rules(Call(definition, layout, tuple([(node.shape, node.dtype) for node in operands]), form), operands)


_TAKEN = {"push": ("primals", "tangents"), "pull": ("primals", "value", "cotangent")}


def _checked_rule(what: str, rule: R) -> R:
    if not callable(rule):
        raise TypeError(f"{what} must be a function, got {type(rule).__name__}")
    try:
        signature(rule).bind(*_TAKEN[what])
    except TypeError:
        raise TypeError(f"{what} is called as {what}({', '.join(_TAKEN[what])}), which {rule} does not take") from None
    except ValueError:
        pass  # a function of an extension, which does not say what it takes
    return rule


@overload
def custom_function(
    function: Callable[..., Any],
    *,
    push: Callable[..., Any] | None = None,
    pull: Callable[..., Any] | None = None,
    shape: Shapes = None,
    dtype: Any = None,
    name: str | None = None,
) -> CustomFunction: ...


@overload
def custom_function(
    *,
    push: Callable[..., Any] | None = None,
    pull: Callable[..., Any] | None = None,
    shape: Shapes = None,
    dtype: Any = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], CustomFunction]: ...


def custom_function(
    function: Callable[..., Any] | None = None,
    *,
    push: Callable[..., Any] | None = None,
    pull: Callable[..., Any] | None = None,
    shape: Shapes = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """A function whose derivative you give: a solver, a call into other code, or one that needs another derivative.

    `function` takes arrays, and anything else beside them, by position and returns an array or a tree of arrays. It is
    not traced; it gets arrays of its own, and runs as a step of the plan. One of ``push(primals, tangents)``, which
    gives the tangent of the value, and ``pull(primals, value, cotangent)``, which gives a tuple of cotangents, is
    enough for all modes and orders. How they are written, and all else, stands at :class:`CustomFunction`.

    `shape` is needed where values are not known (for symbols, in :func:`einsumad.compile`, in a rule) and the function
    cannot be traced: a shape, a list of shapes, or a function of the arguments that gives one. `dtype` is then the one
    that the arguments promote to, or the given one. `name` is shown in expressions.

    Raises :class:`DifferentiationError` if a derivative is asked for and there is no rule, or one that is not linear;
    :class:`ShapeError` or :class:`TracingError` if the function or a rule returns something else than it should.

    >>> import numpy as np, einsumad as ea
    >>> @ea.custom_function
    ... def root(a):  # the x with x**3 + x = a
    ...     x = np.zeros_like(a)
    ...     while np.max(np.abs(x**3 + x - a)) > 1e-14:
    ...         x = x - (x**3 + x - a) / (3 * x**2 + 1)
    ...     return x
    >>> @root.push
    ... def _(primals, tangents):
    ...     return tangents[0] / (3 * root(primals[0]) ** 2 + 1)
    >>> a = np.array([2.0, 10.0])
    >>> root(a), ea.grad(lambda a: np.sum(root(a)))(a)
    (array([1., 2.]), array([0.25      , 0.07692308]))
    >>> ea.hessian(lambda a: np.sum(root(a)))(a).diagonal()
    array([-0.09375   , -0.00546199])
    """

    def make(given: Callable[..., Any]) -> CustomFunction:
        made = CustomFunction(given, name, shape, dtype)
        if push is not None:
            made.push(push)
        if pull is not None:
            made.pull(pull)
        return made

    return make if function is None else make(function)
