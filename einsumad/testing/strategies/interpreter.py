"""Expressions as text, computed by any array namespace.

Owns the interpreter for the expressions of drawn programs: function calls in ``np``, arithmetic, comparisons, numbers.
Imports NumPy only. Invariant: text is parsed, never executed; whatever is not among these few forms is refused.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

Computation: TypeAlias = Callable[[Any, Sequence[Any]], Any]

_INFIX: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
}
_ARRAY_API_NAMES = {"arctan": "atan"}


@lru_cache(maxsize=4096)
def computation(template: str, arity: int) -> Computation:
    """Return the function of a namespace and operands that a template stands for.

    In a template the operands are ``{0}``, ``{1}``, ..., the namespace is ``np``.

    >>> import numpy as np
    >>> computation("np.sum({0} * {1}, axis=0)", 2)(np, [np.ones(3), 2.0])
    np.float64(6.0)
    >>> computation("open({0})", 1)
    Traceback (most recent call last):
        ...
    ValueError: 'open' in the expression 'open({0})' is no function of np
    """
    text = template.format(*[f"_{position}" for position in range(arity)])
    try:
        return _compiled(ast.parse(text, mode="eval").body)
    except _NotAnExpressionError as error:
        raise ValueError(f"{error.args[0]!r} in the expression {template!r} is no {error.args[1]}") from None


class _NotAnExpressionError(Exception):
    """Some source text, and what it is not."""


def _compiled(node: ast.expr) -> Computation:
    match node:
        case ast.Constant(value=value):
            return lambda _xp, _operands: value
        case ast.Name(id=name) if name[1:].isdigit():
            position = int(name[1:])
            return lambda _xp, operands: operands[position]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _INFIX:
            return _infix(_INFIX[type(sign)], _compiled(left), _compiled(right))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _INFIX:
            return _infix(_INFIX[type(sign)], _compiled(left), _compiled(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compiled(operand)
            return lambda xp, operands: -inner(xp, operands)
        case ast.Attribute(value=operand, attr="T"):
            inner = _compiled(operand)
            return lambda xp, operands: inner(xp, operands).T
        case ast.Attribute():
            path = _path(node)
            return lambda xp, _operands: _member(xp, path)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            return _call(_path(function), arguments, keywords)
    raise _NotAnExpressionError(ast.unparse(node), "expression of a program")


def _infix(sign: Callable[[Any, Any], Any], left: Computation, right: Computation) -> Computation:
    return lambda xp, operands: sign(left(xp, operands), right(xp, operands))


def _call(path: tuple[str, ...], arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Computation:
    positional = [_compiled(argument) for argument in arguments]
    named = [(str(keyword.arg), _compiled(keyword.value)) for keyword in keywords]

    def compute(xp: Any, operands: Sequence[Any]) -> Any:
        given = [argument(xp, operands) for argument in positional]
        return _member(xp, path)(*given, **{name: value(xp, operands) for name, value in named})

    return compute


def _path(node: ast.expr) -> tuple[str, ...]:
    match node:
        case ast.Attribute(value=ast.Name(id="np"), attr=name):
            return (name,)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="np"), attr="linalg"), attr=name):
            return ("linalg", name)
    raise _NotAnExpressionError(ast.unparse(node), "function of np")


def _member(xp: Any, path: tuple[str, ...]) -> Any:
    """Find a function by NumPy's name for it, or by the Array API's."""
    if len(path) == 1 and not hasattr(xp, path[0]):
        if path[0] == "einsum":
            return lambda subscripts, *operands: einsum_by_products(xp, subscripts, *operands)
        path = (_ARRAY_API_NAMES.get(path[0], path[0]),)
    return reduce(getattr, path, xp)


def einsum_by_products(xp: Any, subscripts: str, *operands: Any) -> Any:
    """Compute an einsum by broadcasting products and a sum, for namespaces of the Array API, which has none.

    All indices are named, the output is written. An index that is repeated inside an operand becomes two that an
    identity matrix ties.

    >>> import array_api_strict
    >>> einsum_by_products(array_api_strict, "ii,ij->j", *[array_api_strict.eye(2)] * 2)
    Array([1., 1.], dtype=array_api_strict.float64)
    """
    left, _, output = subscripts.partition("->")
    fresh = iter("ABCDEFGH")
    terms, arrays = [], list(operands)
    for term, operand in zip(left.split(","), operands, strict=True):
        labels = ""
        for label, size in zip(term, operand.shape, strict=True):
            if label in labels:
                name = next(fresh)
                terms.append(label + name)
                arrays.insert(len(terms) - 1, xp.eye(size, dtype=operand.dtype))
                labels += name
            else:
                labels += label
        terms.append(labels)
    order = output + "".join(sorted(set("".join(terms)) - set(output)))
    factors = [_aligned(xp, array, term, order) for array, term in zip(arrays, terms, strict=True)]
    product = reduce(operator.mul, factors)
    summed = tuple(range(len(output), len(order)))
    return xp.sum(product, axis=summed) if summed else product


def _aligned(xp: Any, array: Any, labels: str, order: str) -> Any:
    """The array with one axis for each label of the order, of size 1 where it has none."""
    present = [label for label in order if label in labels]
    moved = xp.permute_dims(array, tuple([labels.index(label) for label in present]))
    sizes = dict(zip(present, moved.shape, strict=True))
    return xp.reshape(moved, tuple([sizes.get(label, 1) for label in order]))
