"""The arguments at which a function is checked: as given, from a file, or random ones that it accepts.

Owns finding them. Imports manifolds, systems and trees. Invariant: random arguments are reproducible, and only such are
taken at which the function has a finite value.
"""

from __future__ import annotations

import argparse
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from einsumad.cli.errors import RequestError
from einsumad.cli.texts import Shape
from einsumad.errors import ShapeError
from einsumad.frontend.trees import flatten, leaf_names, unflatten
from einsumad.testing.manifolds import Manifold
from einsumad.testing.point import Array
from einsumad.testing.systems import system

_SHAPES: tuple[Shape, ...] = ((3,), (), (3, 3))
_BOTH, _POSITIVE, _UNIT = "of both signs", "positive", "between 0 and 1"
_MOST_PARAMETERS = 4


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a function and, in words, where they are from."""

    values: tuple[Any, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of random arguments.

    By which system the function is evaluated, whether its value has to be one number, which arguments are on a
    manifold, and which other functions of the same arguments should run at them too.
    """

    using: str
    scalar: bool
    dtype: str
    seed: int
    kind: Manifold | None
    positions: tuple[int, ...] | None
    others: tuple[Callable[..., Any], ...] = ()

    def on_manifold(self, position: int) -> bool:
        """Whether the argument at a position has to be on the manifold."""
        return self.kind is not None and (self.positions is None or position in self.positions)


def arguments_of(options: argparse.Namespace, function: Callable[..., Any], wish: Wish) -> Arguments:
    """The arguments that the options of a command ask for."""
    if options.args is not None:
        arguments = Arguments(options.args, "as given")
    elif options.npz is not None:
        arguments = Arguments(_from_file(options.npz, _parameters(function)), f"from {options.npz}")
    else:
        return _drawn(options.shapes, function, wish)
    if not arguments.values:
        raise RequestError("there are no arguments: a derivative is taken at some")
    return Arguments(tuple([_cast(value, options.dtype) for value in arguments.values]), arguments.origin)


def _cast(value: Any, dtype: str | None) -> Any:
    leaves, tree = flatten(value)
    return unflatten(tree, [_cast_leaf(leaf, dtype) for leaf in leaves])


def _cast_leaf(leaf: Any, dtype: str | None) -> Any:
    array = np.asarray(leaf)
    if dtype is None or array.dtype.kind != "f":
        return leaf
    return array.astype(dtype) if isinstance(leaf, np.ndarray) else array.astype(dtype)[()]


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that need an argument."""
    if isinstance(function, np.ufunc):
        return [f"x{k}" for k in range(function.nin)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in positional and each.default is each.empty]


def function_name(function: Callable[..., Any]) -> str:
    """The name of a function in texts."""
    return str(getattr(function, "__name__", type(function).__name__))


def _from_file(name: str, parameters: Sequence[str]) -> tuple[Array, ...]:
    """The arrays of an archive: by the names of the parameters if all are there, in their own order otherwise."""
    try:
        with np.load(name, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError, AttributeError) as error:
        raise RequestError(f"{name} cannot be read as an .npz archive: {error}") from error
    if parameters and all(parameter in arrays for parameter in parameters):
        return tuple([arrays[parameter] for parameter in parameters])
    if all(key.startswith("arr_") for key in arrays):
        return tuple(arrays.values())
    missing = [parameter for parameter in parameters if parameter not in arrays]
    raise RequestError(f"{name} has no array named {' or '.join(missing)}: it has {', '.join(arrays)}")


def _drawn(given: Sequence[Shape] | None, function: Callable[..., Any], wish: Wish) -> Arguments:
    """Random arguments at which the function has a finite value, of the shapes given or of shapes that fit."""
    tried: dict[str, str] = {}
    usable: list[Arguments] = []
    candidates = _candidates(given, _parameters(function), function_name(function))
    for shapes, which in product(candidates, (_BOTH, _POSITIVE, _UNIT)):
        try:
            args = _random(shapes, which, wish)
            problem = _problem(function, args, wish)
        except RequestError as error:
            problem = str(error)
        if problem:
            tried.setdefault(" ".join([",".join(map(str, shape)) or "()" for shape in shapes]), problem)
            continue
        usable.append(Arguments(args, f"drawn with seed {wish.seed}, {which}"))
        if all(_runs(other, args) for other in wish.others):
            return usable[-1]
    if usable:
        return usable[0]
    told = "; ".join([f"{shapes}: {problem}" for shapes, problem in list(tried.items())[:_MOST_PARAMETERS]])
    raise RequestError(
        f"found no arguments at which {function_name(function)} can be checked ({told}): "
        "give them with --args or --npz, or other --shapes"
    )


def _candidates(given: Sequence[Shape] | None, parameters: Sequence[str], name: str) -> Iterator[tuple[Shape, ...]]:
    """The shapes to try: those given, or vectors, numbers and matrices for every parameter."""
    if given is not None:
        yield tuple(given)
    elif not parameters:
        raise RequestError(f"{name} has no parameter that needs an argument: give arguments with --args or --shapes")
    elif len(parameters) > _MOST_PARAMETERS:
        raise RequestError(f"{name} has {len(parameters)} parameters, too many to guess: use --args, --npz or --shapes")
    else:
        yield from product(_SHAPES, repeat=len(parameters))


def _random(shapes: Sequence[Shape], which: str, wish: Wish) -> tuple[Any, ...]:
    """Entries of moderate size, none of them near zero, on the manifold if there is one."""
    rng = np.random.default_rng(wish.seed)
    args = []
    for position, shape in enumerate(shapes):
        array = rng.uniform(0.1, 0.9, shape) if which == _UNIT else rng.uniform(0.25, 1.75, shape)
        if which == _BOTH:
            array = array * rng.choice([-1.0, 1.0], shape)
        if wish.kind is not None and wish.on_manifold(position):
            array = _on_manifold(np.asarray(array), wish.kind)
        args.append(np.asarray(array, wish.dtype)[()])
    return tuple(args)


def _on_manifold(array: Array, kind: Manifold) -> Array:
    """An array on the manifold made of a random one: whichever of the usual constructions gives one."""
    close = 64 * float(np.finfo(array.dtype).eps)
    for candidate in _constructions(array, kind):
        if kind.distance(candidate) <= close:
            return candidate
    raise RequestError(f"no random array of shape {array.shape} is on the set {kind.name!r}")


def _constructions(array: Array, kind: Manifold) -> Iterator[Array]:
    yield array
    try:
        yield np.asarray(kind.project(array, array))
    except ShapeError:
        return
    if array.ndim:
        positive = np.abs(array)
        yield positive / np.sum(positive, axis=-1, keepdims=True)
        yield array / np.linalg.norm(array)
        yield array / np.linalg.norm(array, axis=-1, keepdims=True)
    if array.ndim == 2:
        yield np.linalg.qr(array)[0]
        spd = array @ array.T + np.eye(len(array))
        scale = np.sqrt(np.diagonal(spd))
        yield from (spd, np.linalg.cholesky(spd), spd / np.outer(scale, scale))


def _runs(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function has a value at some arguments."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*[np.array(argument)[()] for argument in args])
    except Exception:  # noqa: BLE001 - the next shapes may fit
        return False
    return True


def _problem(function: Callable[..., Any], args: Sequence[Any], wish: Wish) -> str:
    """Why a function cannot be checked at some arguments, or nothing."""
    copies = [np.array(argument)[()] for argument in args]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if wish.using == "einsumad":
                value = np.asarray(function(*copies))
            else:
                value = np.asarray(system(wish.using).evaluate(function, [np.asarray(copy) for copy in copies]))
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - the next shapes may fit
        return f"{type(error).__name__}: {error}"
    if value.dtype.kind not in "fciub":
        return f"the value is of type {value.dtype}"
    if not np.all(np.isfinite(value)):
        return "the value is not finite"
    if wish.scalar and value.size != 1:
        return f"the value has shape {value.shape}, and one number is needed"
    return ""


def described(function: Callable[..., Any], args: Sequence[Any]) -> str:
    """Names, shapes and dtypes of arguments."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    parts = []
    for position, argument in enumerate(args):
        name = names[position] if position < len(names) else f"x{position}"
        for label, leaf in zip(leaf_names(argument, name), flatten(argument)[0], strict=True):
            array = np.asarray(leaf)
            parts.append(f"{label} {array.dtype} {array.shape}" if array.ndim else f"{label} = {leaf!r}")
    return ", ".join(parts)
