"""The transforms: functions of functions that give derivatives.

Owns their public signatures and the shape of what they return. Imports tracing and requests. Invariant: a transform
traces on every call, so nothing is ever stale; what was derived and planned is found again by structure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MethodType
from typing import Any, Literal, TypeAlias

from einsumad.errors import DifferentiationError
from einsumad.frontend.cache import count_found
from einsumad.frontend.ends import End, end_of, forms_of
from einsumad.frontend.mapped import copies_within
from einsumad.frontend.met import open_trace
from einsumad.frontend.requests import Asked, Ready, answer_and_source, direction_nodes
from einsumad.frontend.structured import Results, arranged, hessian_of, results_of
from einsumad.frontend.tracing import Arguments, Trace, Variables, Walked, taken_apart, trace, walked
from einsumad.frontend.trees import Tree, flatten, leaf_tree, unflatten
from einsumad.frontend.walking import Walk, walk_of
from einsumad.graph import Node
from einsumad.planning import STRATEGIES, Request, Strategy, checked_limit, planning_key, products_held

Argnums = int | tuple[int, ...]
_asked: dict[Any, object] = {}
Direction: TypeAlias = tuple[list[Any], Tree]
NO_DIRECTION: Direction = [], None


@dataclass(frozen=True)
class Transform:
    """A function made from another by a transform; call it like the original.

    `arrange` puts the flat outputs of the request into the shape that the transform promises; where results are kept in
    their structure, `in_structure` does. `direction` is what the last argument is called, if it is one.
    """

    function: Callable[..., Any]
    name: str
    request: Request
    argnums: Argnums
    memory_limit: int | None
    arrange: Callable[[Trace, Sequence[Any]], Any]
    scalar: bool
    direction: Literal["direction", "tangent", "cotangent"] | None = None
    in_structure: Callable[[Trace, Results], Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"{self.name} needs a function, got {type(self.function).__name__}")
        check_argnums(self.argnums)
        object.__setattr__(self, "memory_limit", checked_limit(self.memory_limit))
        if self.request.strategy not in STRATEGIES:
            raise ValueError(f"mode must be one of {', '.join(STRATEGIES)}, got {self.request.strategy!r}")
        document_like(self, self.function)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the function's positional parameters, as far as they are known."""
        return parameter_names(self.function)

    @cached_property
    def _asks(self) -> object:
        """An object for all transforms that ask the same; a pickled one is another, so it never stands for less."""
        asks = (self.request, self.scalar, self.in_structure is None, self.memory_limit)
        return _asked.setdefault(asks, object())

    def ask(self, *args: Any, **kwargs: Any) -> tuple[Asked, Trace]:
        """Trace the function and say what is asked of the graph."""
        args_of_f, direction = self._split(args)
        found = self.traced(args_of_f, kwargs)
        return self._asked(found, direction), found

    def traced(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Trace:
        """Trace the function."""
        with copies_within(self.memory_limit):
            return trace(self.function, args, kwargs, self.argnums, self.names)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Trace, derive or find what was derived before, and compute."""
        if type(self) is Transform and open_trace() is None:
            args_of_f, direction = (args, NO_DIRECTION) if self.direction is None else self._split(args)
            given = taken_apart(args_of_f, self.argnums, kwargs)
            came = self.on_walk(given, kwargs)
            if came is not None:
                return self.answer_on_walk(given, *came, direction)
        asked, found = self.ask(*args, **kwargs)
        return self._found(found, asked)[0]

    def answer(self, found: Trace, direction: Direction) -> Any:
        """Compute by what was traced."""
        return self._found(found, self._asked(found, direction))[0]

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Direction]:
        """The arguments of the function, and the direction, taken apart."""
        if self.direction is None:
            return args, NO_DIRECTION
        if len(args) < 2:
            raise TypeError(f"{self.name}(f)(*args, v) needs the arguments of f and then the vector v")
        return args[:-1], flatten(args[-1])

    def _asked(self, found: Trace, direction: Direction) -> Asked:
        """What is asked of a graph, if it has such a derivative."""
        if self.scalar:
            check_scalar(found, self.name)
        check_outputs(found, self.name)
        variables = found.variables
        directions: tuple[Node, ...] = ()
        if self.direction is not None:
            of_outputs = self.direction == "cotangent"
            like, tree = (found.outputs, found.tree) if of_outputs else (variables.leaves, variables.tree)
            directions = direction_nodes(direction, like, self.direction, tree)
        return Asked(self.request, found.outputs, variables, directions)

    def _found(self, found: Trace, asked: Asked) -> tuple[Any, Ready | None]:
        """The answer to what is asked of a graph, and what it was computed from, if the graph alone says it."""
        with products_held():
            if self.in_structure is not None:
                results, ready = results_of(asked, self.memory_limit)
                return self.in_structure(found, results), ready
            outputs, ready = answer_and_source(asked, self.memory_limit)
        return self.arrange(found, outputs), ready

    def on_walk(self, given: Arguments, kwargs: dict[str, Any]) -> tuple[Walk, Walked] | None:
        """Call the function on a walk, unless there is an argument that goes on none."""
        if self.in_structure is not None and not given.tree.is_leaf():
            return None
        if self.memory_limit is None:
            return self._walked(given, kwargs)
        with copies_within(self.memory_limit):
            return self._walked(given, kwargs)

    def _walked(self, given: Arguments, kwargs: dict[str, Any]) -> tuple[Walk, Walked] | None:
        walk = walk_of(given.originals, lambda: given.labels(self.names))
        return None if walk is None else (walk, walked(self.function, given, kwargs, walk))

    def answer_on_walk(self, given: Arguments, walk: Walk, at: Walked, direction: Direction) -> Any:
        """Compute by what is known where the walk came to, or find that and keep it there."""
        outputs, tree, places, came = at
        forms: Any = ()
        if self.direction is not None:
            forms = forms_of(*direction, tree if self.direction == "cotangent" else given.tree)
        question = (self._asks, places, forms, planning_key())
        end = None if came is None or forms is None else came.ends.get(question)
        if end is not None:
            return self._again(end, end.trace(given.tree, tree), walk, direction[0])
        variables = Variables(walk.variables(len(given.originals)), tuple(given.originals), given.tree)
        nodes = [x.node for x in outputs] if came is None else [walk.node(place) for place in places]
        found = Trace(variables, tuple(nodes), tree)
        asked = self._asked(found, direction)
        answer, ready = self._found(found, asked)
        if ready is not None and came is not None and forms is not None:
            planned = self.in_structure is None
            came.keep(question, end_of(walk, ready, found, asked.directions, self.memory_limit, planned=planned))
        return answer

    def _again(self, end: End, found: Trace, walk: Walk, directions: Sequence[Any]) -> Any:
        """The answer by what is known at the end of a way."""
        count_found()
        if self.in_structure is not None:
            value = partial(end.value, walk, directions)
            return self.in_structure(found, Results(end.derivation, value, self.memory_limit))
        assert end.plan is not None
        return self.arrange(found, end.plan(*walk.values(end.read, directions)))


def document_like(wrapper: Any, function: Callable[..., Any]) -> None:
    """Give a frozen wrapper the name, the documentation and, through ``__wrapped__``, the signature of a function."""
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(function, attribute):
            object.__setattr__(wrapper, attribute, getattr(function, attribute))
    object.__setattr__(wrapper, "__wrapped__", function)


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the positional parameters; none where the signature cannot be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple([p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])


def check_argnums(argnums: Any) -> None:
    """Refuse what is no position or tuple of different positions."""
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    if not positions or not all(isinstance(k, int) and not isinstance(k, bool) for k in positions):
        raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}")
    if len(set(positions)) != len(positions):
        raise ValueError(f"argnums names an argument twice: {argnums}")


def check_order(order: Any) -> None:
    """Refuse what is no order of differentiation."""
    if not isinstance(order, int) or isinstance(order, bool) or order < 0:
        raise ValueError(f"order must be a whole number of at least 0, got {order!r}")


def check_scalar(found: Trace, name: str) -> None:
    """Refuse outputs that are not one number."""
    shapes = [node.shape for node in found.outputs]
    if shapes != [()]:
        raise DifferentiationError(
            f"{name} needs a function with one scalar output, got shapes {shapes}: "
            "sum it, or use jacobian or derivative"
        )


def check_outputs(found: Trace, name: str) -> None:
    """Refuse outputs that have no derivative."""
    for node in found.outputs:
        if node.dtype.kind != "f":
            raise DifferentiationError(f"{name}: an output has dtype {node.dtype}, which has no derivative")


def nested(found: Trace, flat: Sequence[Any], order: int) -> Any:
    """Tensors for all tuples of `order` variables as a tree of trees of the arguments."""
    if order == 0 or found.variables.tree is leaf_tree():
        return flat[0]
    step = len(flat) // max(1, len(found.variables.leaves))
    parts = [nested(found, flat[k * step : (k + 1) * step], order - 1) for k in range(len(found.variables.leaves))]
    return found.variables.unflatten(parts)


def per_output(found: Trace, flat: Sequence[Any], order: int) -> Any:
    """The tree of the outputs with the derivative of that order of each in it."""
    step = len(found.variables.leaves) ** order
    parts = [nested(found, flat[k * step : (k + 1) * step], order) for k in range(len(found.outputs))]
    return unflatten(found.tree, parts)


def grad(f: Callable[..., Any], argnums: Argnums = 0, *, memory_limit: int | None = None) -> Transform:
    """The gradient of a function with one scalar output, by reverse mode.

    The result has the shape and dtype of the argument at `argnums`; for a tuple of positions a tuple; for a tree a
    tree. Raises :class:`DifferentiationError` (a ``TypeError``) for outputs with axes and for integer arguments.

    >>> import numpy as np, einsumad as ea
    >>> ea.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Transform(f, "grad", Request("derivatives", (1,)), argnums, memory_limit, lambda t, o: nested(t, o, 1), True)


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, memory_limit: int | None = None) -> Transform:
    """The value of a scalar function and its gradient, computed together.

    >>> import numpy as np, einsumad as ea
    >>> value, gradient = ea.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """
    return Transform(
        f,
        "value_and_grad",
        Request("derivatives", (0, 1)),
        argnums,
        memory_limit,
        lambda t, o: (o[0], nested(t, o[1:], 1)),
        True,
    )


def value_grad_and_hessian(
    f: Callable[..., Any], argnums: Argnums = 0, *, compressed: bool = False, memory_limit: int | None = None
) -> Transform:
    """Value, gradient and Hessian of a scalar function by one plan, which shares what they have in common.

    With `compressed` the Hessian is kept in its structure, as by :func:`hessian`.

    >>> import numpy as np, einsumad as ea
    >>> value, gradient, hessian = ea.value_grad_and_hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    >>> hessian
    array([[ 6.,  0.],
           [ 0., 12.]])
    """

    def arrange(found: Trace, flat: Sequence[Any]) -> Any:
        count = len(found.variables.leaves)
        return flat[0], nested(found, flat[1 : 1 + count], 1), nested(found, flat[1 + count :], 2)

    def in_structure(found: Trace, results: Results) -> Any:
        count = len(found.variables.leaves)
        results.arrays(range(len(results.parts)))  # by one plan
        value, *gradients = results.dense(range(1 + count))
        return value, nested(found, gradients, 1), hessian_of(found, results, 1 + count)

    return Transform(
        f,
        "value_grad_and_hessian",
        Request("derivatives", (0, 1, 2)),
        argnums,
        memory_limit,
        arrange,
        True,
        in_structure=in_structure if compressed else None,
    )


def derivative(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    order: int = 1,
    mode: Strategy = "auto",
    compressed: bool = False,
    memory_limit: int | None = None,
) -> Transform:
    """The derivative of any order: axes of the output first, then those of the argument, once for each order.

    For several arguments, or a tree, a tree of trees, one level for each order. `mode` is "auto" (the planner chooses
    by cost), "forward", "reverse" or "cross-country". With `compressed` each tensor is kept in its structure, with the
    axes of the last argument as its columns: :class:`CompressedTensor`. (Laue, Mitterreiter, Giesen, AAAI 2020.)

    >>> import numpy as np, einsumad as ea
    >>> ea.derivative(lambda x: np.sum(x**3), order=3)(np.array([1.0]))
    array([[[6.]]])
    """
    check_order(order)
    return Transform(
        f,
        "derivative",
        Request("derivatives", (order,), mode),
        argnums,
        memory_limit,
        lambda t, o: per_output(t, o, order),
        False,
        in_structure=(lambda t, r: per_output(t, arranged(r), order)) if compressed else None,
    )


def jacobian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    mode: Strategy = "auto",
    compressed: bool = False,
    memory_limit: int | None = None,
) -> Transform:
    """The Jacobian: axes of the output, then axes of the argument. See :func:`derivative`.

    With `compressed` it is kept in its structure: :class:`CompressedTensor`.

    >>> import numpy as np, einsumad as ea
    >>> ea.jacobian(np.sin)(np.zeros(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return Transform(
        f,
        "jacobian",
        Request("derivatives", (1,), mode),
        argnums,
        memory_limit,
        lambda t, o: per_output(t, o, 1),
        False,
        in_structure=(lambda t, r: per_output(t, arranged(r), 1)) if compressed else None,
    )


def hessian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    mode: Strategy = "auto",
    compressed: bool = False,
    memory_limit: int | None = None,
) -> Transform:
    """The Hessian of a scalar function: the Jacobian of its gradient, by the cheapest order of multiplication.

    With several arguments a tuple of tuples: ``H[i][j]`` has the axes of argument i, then those of argument j. What
    would take more than `memory_limit` bytes (default: the machine's memory) is computed in parts of an index, such as
    that of the samples; where that is not possible it raises :class:`MemoryLimitError` before anything is allocated.

    With `compressed` it is kept in its structure and can be solved with: a :class:`CompressedTensor`, for several
    arguments or a tree of arrays a :class:`BlockTensor`.

    >>> import numpy as np, einsumad as ea
    >>> ea.hessian(lambda x: x @ x)(np.ones(2))
    array([[2., 0.],
           [0., 2.]])
    """
    return Transform(
        f,
        "hessian",
        Request("derivatives", (2,), mode),
        argnums,
        memory_limit,
        lambda t, o: nested(t, o, 2),
        True,
        in_structure=hessian_of if compressed else None,
    )


def hvp(f: Callable[..., Any], argnums: Argnums = 0, *, memory_limit: int | None = None) -> Transform:
    """The Hessian of a scalar function times a vector: ``hvp(f)(*args, v)``, by forward mode over the gradient.

    `v` has the shape (or tree) of the argument.

    >>> import numpy as np, einsumad as ea
    >>> ea.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    return Transform(
        f, "hvp", Request("hvp"), argnums, memory_limit, lambda t, o: nested(t, o, 1), True, direction="direction"
    )


def hessian_diagonal(f: Callable[..., Any], argnums: Argnums = 0, *, memory_limit: int | None = None) -> Transform:
    """The diagonal of the Hessian of a scalar function, in the shape of the argument.

    >>> import numpy as np, einsumad as ea
    >>> ea.hessian_diagonal(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    return Transform(
        f, "hessian_diagonal", Request("hessian-diagonal"), argnums, memory_limit, lambda t, o: nested(t, o, 1), True
    )


def laplacian(f: Callable[..., Any], argnums: Argnums = 0, *, memory_limit: int | None = None) -> Transform:
    """The trace of the Hessian of a scalar function, summed over all arguments named.

    >>> import numpy as np, einsumad as ea
    >>> float(ea.laplacian(lambda x: np.sum(x**2))(np.ones(3)))
    6.0
    """
    return Transform(f, "laplacian", Request("laplacian"), argnums, memory_limit, lambda _, o: o[0], True)
