"""One call of a user's function on traced arguments.

Owns how arguments become variables and what the function returned. Imports the handle, lifting and the value store.
Invariant: a variable of a trace is a fresh leaf with a private copy of its value, so nothing done to the caller's
arrays afterwards matters; which leaves are variables of some trace is remembered as long as they live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import DifferentiationError, TracingError
from einsumad.execution.backends import any_met, shape_and_dtype
from einsumad.frontend.bystanders import with_constants
from einsumad.frontend.evaluation import evaluated
from einsumad.frontend.lifting import as_node, plain_array
from einsumad.frontend.met import begin_trace, end_trace, one_leaf_per_array
from einsumad.frontend.registry import INTO_ARRAY
from einsumad.frontend.tensor import Tensor, not_converted
from einsumad.frontend.timing import begin_stage, end_stage, spending
from einsumad.frontend.trees import Tree, flatten, leaf_names, leaf_tree, unflatten
from einsumad.frontend.values import bind, defer, give_home, home_among
from einsumad.frontend.variables import Lifetime, mark_variable
from einsumad.frontend.walking import Start, Walk
from einsumad.frontend.within import Within
from einsumad.graph import Leaf, Node, fresh_leaf, leaves
from einsumad.records import record

_MOST_FURTHER = 4
"""Orders that enclosing transforms are taken to add: theirs are not known while the function runs."""

_CONTAINER = (
    "conversion to an array of a traced number from an argument that is a list or tuple of numbers: each of them is "
    "traced on its own; give an array, as by np.asarray(x, float), or make one in the function, einsumad.numpy.array(x)"
)
_NO_ITERATOR = (
    "np.nditer goes through plain arrays, not through traced values, whose derivative would be lost: use functions of "
    "whole arrays, or for k in np.ndindex(x.shape) with x[k]"
)


@record
class Variables:
    """The differentiated arguments of a call: a leaf for each array in them, what it stands for, and their tree."""

    leaves: tuple[Leaf, ...]
    originals: tuple[Any, ...]
    tree: Tree

    def arguments(self) -> dict[Leaf, Any]:
        """What each leaf stands for."""
        return dict(zip(self.leaves, self.originals, strict=True))

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Results, one for each array, in the tree of the arguments."""
        return unflatten(self.tree, results)


@record
class Trace:
    """What a function computed: the differentiated arguments, the outputs as nodes, and the tree of the outputs."""

    variables: Variables
    outputs: tuple[Node, ...]
    tree: Tree


Flatten: TypeAlias = Callable[[Any], tuple[list[Any], Tree]]
_enclosing: ContextVar[int | None] = ContextVar("differentiated traces that are open", default=None)
"""None where a trace would be the first one; a walk, which is no other, does not count itself."""


def trace_inputs(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], flat: Flatten = flatten
) -> tuple[tuple[Node, ...], Tree]:
    """The outputs of f on inputs of a plan, which are never differentiated; `flat` takes the result apart."""
    with Within(_enclosing, 0):
        return run(f, args, kwargs, flat)


def further_orders() -> int:
    """How often, at most, what depends on a traced value may be differentiated again: not if only plans are made."""
    return 0 if _enclosing.get() == 0 else _MOST_FURTHER


def new_variable(original: Any, name: str, where: str, lifetime: Lifetime) -> Leaf:
    """A fresh leaf for an argument of a call, with the argument's value where it has one."""
    if isinstance(original, Tensor):
        node = original.node
        _check_differentiable(node.dtype, where)
        leaf = fresh_leaf(node.shape, node.dtype, name)
        if any_met():
            give_home(leaf, home_among(leaves([node])))
        defer(leaf, lambda: evaluated(node))
    else:
        shape, dtype = shape_and_dtype(original)
        _check_differentiable(dtype, where)
        array = plain_array(original)
        leaf = fresh_leaf(shape, dtype.newbyteorder("="), name)
        bind(leaf, array)
    return mark_variable(leaf, lifetime)


def abstract_variable(
    shape: tuple[int, ...], dtype: Any, name: str | None = None, lifetime: Lifetime | None = None
) -> Leaf:
    """A fresh leaf without a value, of a call if one is given."""
    return mark_variable(fresh_leaf(shape, dtype, name), lifetime)


def _check_differentiable(dtype: np.dtype, where: str) -> None:
    if dtype.kind == "c":
        raise DifferentiationError(
            f"{where} is complex: complex numbers are not supported yet; split it into two real arrays"
        )
    if dtype.kind != "f":
        raise DifferentiationError(
            f"{where} has dtype {dtype}, which cannot be differentiated: "
            "pass floating-point values, e.g. np.asarray(x, float)"
        )


class Arguments:
    """The arguments of a call, with the arrays in those that are to be variables, and their tree."""

    __slots__ = ("argnums", "args", "originals", "tree")

    def __init__(
        self, args: Sequence[Any], argnums: int | tuple[int, ...], originals: Sequence[Any], tree: Tree
    ) -> None:
        self.args, self.argnums, self.originals, self.tree = args, argnums, originals, tree

    def where(self) -> list[int]:
        """The positions of what are to be variables."""
        positions = (self.argnums,) if isinstance(self.argnums, int) else self.argnums
        return [position % len(self.args) for position in positions]

    def labels(self, names: Sequence[str]) -> list[str]:
        """A name for each variable, from those of the parameters."""
        found = [(self.args[k], names[k] if k < len(names) else f"argument {k}") for k in self.where()]
        return [label for arg, name in found for label in leaf_names(arg, name)]

    def replaced(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The arguments with tensors for the variables."""
        traced = unflatten(self.tree, tensors)
        arguments = list(self.args)
        if isinstance(self.argnums, int):
            arguments[self.argnums] = traced
            return arguments
        for k, value in zip(self.argnums, traced, strict=True):
            arguments[k] = value
        return arguments


def taken_apart(args: Sequence[Any], argnums: int | tuple[int, ...], by_name: Iterable[str] = ()) -> Arguments:
    """The arguments of a call, those at `argnums` taken apart into arrays; `by_name` are the names of others."""
    try:
        wanted = args[argnums] if isinstance(argnums, int) else tuple([args[k] for k in argnums])
    except IndexError:
        raise _no_argument(args, argnums, by_name) from None
    if type(wanted) is np.ndarray:
        return Arguments(args, argnums, (wanted,), leaf_tree())
    return Arguments(args, argnums, *flatten(wanted))


def _no_argument(args: Sequence[Any], argnums: int | tuple[int, ...], by_name: Iterable[str]) -> TypeError:
    """The error where a position is that of no argument."""
    positions = (argnums,) if isinstance(argnums, int) else argnums
    position = next(k for k in positions if not -len(args) <= k < len(args))
    given = f"argnums names argument {position} but the call has {len(args)} positional arguments"
    names = ", ".join([f"{name}=" for name in by_name])
    return TypeError(f"{given} beside {names}: give what is differentiated by position" if names else given)


def trace(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    argnums: int | tuple[int, ...],
    names: Sequence[str],
    *,
    differentiated: bool = True,
) -> Trace:
    """Call f with the arguments at `argnums` replaced by traced variables, whether or not they are differentiated."""
    given = taken_apart(args, argnums, kwargs)
    labels = given.labels(names)
    call, pairs = Lifetime(), zip(given.originals, labels, strict=True)
    leaves = tuple([new_variable(x, name, f"argument {name!r}", call) for x, name in pairs])
    with Within(_enclosing, (_enclosing.get() or 0) + differentiated), call:
        outputs, output_tree = run(f, given.replaced([Tensor(leaf) for leaf in leaves]), kwargs)
    return Trace(Variables(leaves, tuple(given.originals), given.tree), outputs, output_tree)


Walked: TypeAlias = tuple[Sequence[Any], Tree, tuple[int, ...], Start | None]
"""What f returned on a walk, how to take it apart, where its parts stand, and where the walk has come to.

That is None where it has ended before, or where what was returned stands nowhere on it.
"""


def walked(f: Callable[..., Any], given: Arguments, kwargs: dict[str, Any], walk: Walk) -> Walked:
    """Call f on the variables of a walk."""
    opened, begun = begin_trace(walk), begin_stage()
    try:
        tensors = [Tensor(None, walk, place) for place in range(len(given.originals))]
        result = _call(f, given.replaced(tensors), kwargs)
        outputs, tree = _outputs(result)
        place = walk.place_of(result)
        places = walk.places_of(outputs) if place is None else (place,)
        at = walk.stop()
        if at is None or places is None:
            return [Tensor(as_node(x)) for x in outputs], tree, (), None
        return outputs, tree, places, at
    finally:
        end_stage("tracing", begun)
        end_trace(opened)
        walk.lifetime.over = True


def _outputs(result: Any, flat: Flatten = flatten) -> tuple[list[Any], Tree]:
    """What f returned, taken apart."""
    if type(result) is Tensor:
        return [result], leaf_tree()
    outputs, tree = flat(result)
    if not outputs and not flatten(result)[0]:
        raise TracingError("the function returned nothing: a traced function must return an array or a tree of arrays")
    return outputs, tree


def run(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], flat: Flatten = flatten
) -> tuple[tuple[Node, ...], Tree]:
    """The outputs of f as nodes; arrays and numbers among them are constants."""
    with spending("tracing"), one_leaf_per_array():
        outputs, tree = _outputs(_call(f, args, kwargs), flat)
        return tuple([as_node(output) for output in outputs]), tree


def _call(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What f returns. Where NumPy hides why it takes no traced value, or the arguments are the cause, errors say so."""
    try:
        args, kwargs = with_constants(args, kwargs)
        return f(*args, **kwargs)
    except TracingError as error:
        node = not_converted(error)
        if any(node in _numbers_in(argument) for argument in (*args, *kwargs.values())):
            raise TracingError(_CONTAINER) from error
        raise
    except ValueError as error:
        if isinstance(error.__cause__, TracingError) and str(error).startswith("setting an array element"):
            raise TracingError(INTO_ARRAY) from error
        raise
    except TypeError as error:
        if str(error).startswith("Iterator operand is flagged as writeable, but is an object"):
            raise TracingError(_NO_ITERATOR) from error
        raise


def _numbers_in(argument: Any) -> list[Node]:
    """The traced numbers that a list or tuple among the arguments is made of."""
    if not isinstance(argument, (list, tuple)):
        return []
    return [part.node for part in flatten(argument)[0] if isinstance(part, Tensor) and not part.shape]
