"""Functions traced once for each signature and run as compiled plans.

Owns :func:`compile`. Imports tracing, planning and execution. Invariant: a signature is the tree of the arguments, the
shapes and dtypes of its arrays, the values of everything else and the planner's options; arrays that the function
captures are read when it is traced, those that derivative rules of users capture at every call, as their functions run
at every call; and control flow on traced values raises.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MethodType
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution import BlockwisePlan, CompiledPlan, check_numba, compile_plan, compile_planned
from einsumad.execution.backends import ArrayPlan, common_home, home_of, library_of, ready_for, shape_and_dtype
from einsumad.frontend.derived import noting, over_slots
from einsumad.frontend.lifting import plain_array
from einsumad.frontend.mapped import copies_within
from einsumad.frontend.recording import Captured, keeping
from einsumad.frontend.structured import flatten_structured, holds_structured
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.timing import spending
from einsumad.frontend.tracing import abstract_variable, trace_inputs
from einsumad.frontend.transforms import Transform, document_like
from einsumad.frontend.trees import Tree, flatten_in_order, unflatten
from einsumad.frontend.values import give_home, known_value
from einsumad.frontend.variables import Lifetime, check_in_use, is_variable
from einsumad.frontend.weak import WeakTensor
from einsumad.graph import Leaf, structural_key
from einsumad.planning import (
    Plan,
    SetApart,
    SplitPlan,
    checked_limit,
    make_plan,
    options_for,
    physical_memory,
    plan_within,
    planning_key,
    products_held,
    progress_of_jacobians,
    set_apart,
)
from einsumad.records import record, replace
from einsumad.rewriting import normalise


@record
class Program:
    """A compiled plan with what it captured, the shape of its result, and which captured arrays are those of rules."""

    plan: CompiledPlan | BlockwisePlan | ArrayPlan
    captured: tuple[Any, ...]
    tree: Tree
    single: bool
    rules: tuple[tuple[Captured, tuple[tuple[int, int], ...]], ...]

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """The result for the values of the array arguments, in their order."""
        results = self.plan(*arrays, *self.captured)
        return results[0] if self.single else unflatten(self.tree, results)

    def now(self) -> Program | None:
        """The program with what rules capture now; None where one of them computes something else."""
        if not self.rules:
            return self
        arrays = list(self.captured)
        for captured, places in self.rules:
            found = captured.now()
            if found is None:
                return None
            for place, leaf in places:
                arrays[place] = known_value(found[leaf])
        return replace(self, captured=tuple(arrays))


@dataclass(frozen=True, eq=False)
class Compiled:
    """A function that runs as a compiled plan. Call it like the original."""

    function: Callable[..., Any]
    memory_limit: int | None = None
    numba: bool = False
    _by_arrays: dict[Any, Program] = field(default_factory=dict, repr=False)
    _by_signature: dict[Any, Program] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"compile needs a function, got {type(self.function).__name__}")
        object.__setattr__(self, "memory_limit", checked_limit(self.memory_limit))
        if self.numba:
            check_numba()
        document_like(self, self.function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the function; the first call of a signature traces, plans and compiles."""
        if not kwargs:
            for arg in args:
                if type(arg) is not np.ndarray:
                    break
            else:
                program = self._by_arrays.get((planning_key(), *[(arg.shape, arg.dtype) for arg in args]))
                program = None if program is None else program.now()
                if program is not None:
                    return program(args)
        return self._slow_call(args, kwargs)

    def _slow_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, tree = flatten_in_order((args, kwargs))
        if any(isinstance(leaf, Tensor) for leaf in leaves):
            return self.function(*args, **kwargs)
        forms, arrays = _read(leaves)
        signature = (planning_key(), tree, forms)
        with self._lock:
            program = self._by_signature.get(signature)
            program = None if program is None else program.now()
            if program is None:
                with products_held():
                    program = trace_program(self.function, leaves, tree, self.memory_limit, numba=self.numba)
                if program is None:
                    return self.function(*args, **kwargs)
                self._by_signature[signature] = program
            if not kwargs and all(type(arg) is np.ndarray for arg in args):
                self._by_arrays[planning_key(), *[(arg.shape, arg.dtype) for arg in args]] = program
        return program(arrays)

    def program(self, *args: Any, **kwargs: Any) -> Program | None:
        """The program for these arguments, traced anew; None where the function captures a variable."""
        leaves, tree = flatten_in_order((args, kwargs))
        return trace_program(self.function, leaves, tree, self.memory_limit, numba=self.numba)


def _read(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """What stands for each argument in a signature, and the arrays."""
    forms, arrays = [], []
    for leaf in leaves:
        if type(leaf) is np.ndarray:
            forms.append((None, leaf.shape, leaf.dtype))
            arrays.append(plain_array(leaf))
        else:
            forms.append(_signature(leaf))
            if _is_dynamic(leaf):
                arrays.append(plain_array(leaf))
    return tuple(forms), arrays


def _is_dynamic(leaf: Any) -> bool:
    """Whether the argument is an input of the plan: arrays and floats are, flags and axis numbers are not."""
    return isinstance(leaf, (np.ndarray, np.generic, float)) or library_of(leaf) is not None


def _is_python_float(leaf: Any) -> bool:
    return isinstance(leaf, float) and not isinstance(leaf, np.generic)


def _signature(leaf: Any) -> Any:
    if not _is_dynamic(leaf):
        if not isinstance(leaf, (int, str, bytes, Enum, type, np.dtype)) and not callable(leaf):
            raise TracingError(
                f"a compiled function cannot take a {type(leaf).__name__}: pass arrays, numbers, strings, "
                "flags, functions or containers of them"
            )
        if type(leaf).__hash__ is None:
            raise TracingError(
                f"a compiled function cannot take a {type(leaf).__name__}, which cannot be hashed, as with __eq__ and "
                "no __hash__: plans could not be found again"
            )
        return type(leaf), leaf
    if _is_python_float(leaf):
        return float
    return home_of(leaf), leaf.shape, leaf.dtype


def trace_program(
    f: Callable[..., Any], leaves: Sequence[Any], tree: Tree, memory_limit: int | None, *, numba: bool
) -> Program | None:
    """Trace f on variables without values, plan and compile what it computes.

    None if f captures a variable of an enclosing trace, one of JAX's included, or a tensor that requires a gradient: a
    program could only hold its present value, and the derivative with respect to it would be lost.
    """
    inputs: list[Leaf] = []
    replaced: list[Any] = []
    given, call = common_home([home_of(value) for value in leaves]), Lifetime()
    for value in leaves:
        if _is_dynamic(value):
            inputs.append(abstract_variable(*shape_and_dtype(value), lifetime=call))
            give_home(inputs[-1], home_of(value))
            replaced.append((WeakTensor if _is_python_float(value) else Tensor)(inputs[-1]))
        else:
            replaced.append(value)
    args, kwargs = unflatten(tree, replaced)
    with keeping() as kept, noting() as noted, copies_within(memory_limit), call:
        outputs, output_tree = trace_inputs(f, args, kwargs, flatten_structured)
    _, found = structural_key([*inputs, *outputs])
    variables = [leaf for leaf in found[len(inputs) :] if is_variable(leaf)]
    for leaf in variables:
        check_in_use(leaf)
    if variables:
        return None
    captured = [known_value(leaf) for leaf in found[len(inputs) :]]
    home = common_home([given, *map(home_of, captured)])
    if home is not None and any(library_of(value) and home.array_library.is_abstract(value) for value in captured):
        return None
    graph, slots, settled = over_slots(outputs, found, noted)
    with spending("planning"), options_for(graph):
        expressions = graph if settled else normalise(graph, progress_of_jacobians())
        if home is not None:
            whole = make_plan(expressions, slots, memory_limit)
        else:
            planned = plan_within(expressions, slots, memory_limit, structured=holds_structured(output_tree))
            apart = _apart(planned, len(inputs), memory_limit, kept)
    held = tuple(captured if home is None else map(home.held, captured))
    plan: CompiledPlan | BlockwisePlan | ArrayPlan
    with spending("compiling"):
        if home is not None:
            plan = ready_for(whole, home)
        else:
            plan = compile_planned(planned if apart is None else apart.plan, loops=numba)
            held = held if apart is None else _made_once(apart, len(inputs), held)
    return Program(plan, held, output_tree, output_tree.is_leaf(), _places(kept, found[len(inputs) :]))


def _apart(
    plan: Plan | SplitPlan, arguments: int, memory_limit: int | None, rules: Sequence[Captured]
) -> SetApart | None:
    """What captured arrays decide alone; None where rules of users may capture other arrays in the next call."""
    if rules or isinstance(plan, SplitPlan):
        return None
    return set_apart(plan, arguments, physical_memory() if memory_limit is None else memory_limit)


def _made_once(apart: SetApart, arguments: int, captured: Sequence[Any]) -> tuple[Any, ...]:
    """What the plan takes behind the arguments: captured arrays, and what these decide alone."""
    made = compile_plan(apart.before)(*[captured[k - arguments] for k in apart.before_reads])
    return (*[captured[k - arguments] for k in apart.reads], *map(np.ascontiguousarray, made))


def _places(
    kept: Sequence[Captured], leaves: Sequence[Leaf]
) -> tuple[tuple[Captured, tuple[tuple[int, int], ...]], ...]:
    """For all that rules captured where it stands among the leaves, as pairs: the place here, and that there."""
    places = {leaf: place for place, leaf in enumerate(leaves)}
    return tuple(
        [
            (captured, tuple([(places[leaf], k) for k, leaf in enumerate(captured.leaves) if leaf in places]))
            for captured in kept
        ]
    )


def compile(f: Callable[..., Any], *, memory_limit: int | None = None, numba: bool = False) -> Compiled:
    """The function as a compiled plan, traced once for each signature of its arguments.

    `f` is any traceable function, a transform included, whose memory limit holds if none is given here. Arrays and
    floats among the arguments are inputs; ints, strings, flags and functions are part of the signature. What `f`
    captures (arrays, numbers, attributes of objects) is read once, when it is traced: hand over what changes. What that
    decides alone is computed once, as far as it takes no more than 4 MB. Where `f` captures a variable of an enclosing
    trace or a tensor that requires a gradient, it runs as it is, uncompiled. ``if`` on a traced value raises
    :class:`TracingError`.

    With `numba` stretches of the plan on NumPy arrays are functions that Numba compiles, in seconds during the first
    call: small arrays gain most. Where it cannot compile one, a warning says so, and the plan runs in calls of NumPy.
    Raises :class:`ImportError` where Numba is not installed.

    >>> import numpy as np, einsumad as ea
    >>> fast = ea.compile(ea.hessian(lambda x: np.sum(x**3)))
    >>> fast(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    own = f.memory_limit if isinstance(f, Transform) and memory_limit is None else memory_limit
    return Compiled(f, own, numba)
