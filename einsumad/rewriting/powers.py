"""Rules for powers and roots.

Imports the graph and the catalogue. Invariant: whole powers up to four are products of equal factors, and down to minus
four of equal reciprocals, so that the product rule collects them; other powers of one base with exponents of one sign
are one power. Exponents of different sign stay apart: ``x x**-1`` is undefined at zero and stays so. The base of a
power stays one factor: ``(v/w)**2`` is not ``v v / (w w)``, which may overflow where the quotient does not.
"""

from __future__ import annotations

from einsumad.functions import apply
from einsumad.graph import Einsum, Elementwise, Node, cast, constant_like, multiply
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule

MOST_FACTORS = 4
_ROOTS = ("sqrt", "norm_root")


def expand_power(node: Elementwise, _: Context) -> Node | None:
    """``x**0 = 1, x**1 = x, x**2 = x x, x**3 = x x x, x**4 = x x x x``; ``x**-1 = 1/x, x**-2 = 1/x 1/x`` and so on."""
    (base,) = node.operands[:1]
    if node.function == "square":
        return multiply(base, base, dtype=node.dtype)
    if node.function != "power":
        return None
    (exponent,) = node.params
    assert isinstance(exponent, (int, float))
    if exponent == 0:
        return constant_like(1, node)
    if exponent == 1:
        return cast(base, node.dtype)
    if exponent in range(-MOST_FACTORS, 0) and base.dtype == node.dtype:
        return multiply(*[apply("reciprocal", base)] * -int(exponent), dtype=node.dtype)
    if exponent in range(2, MOST_FACTORS + 1):
        return multiply(*[base] * int(exponent), dtype=node.dtype)
    return None


def exponent_of(node: Node) -> tuple[Node, float] | None:
    """Base and exponent of a node that is a power by name."""
    if not isinstance(node, Elementwise):
        return None
    if node.function == "power":
        return node.operands[0], float(node.params[0])  # type: ignore[arg-type]
    return None


def merge_powers(node: Einsum, _: Context) -> Node | None:
    """``x**p x**q = x**(p + q)`` where p and q have one sign, and p + q is whole only if both are.

    A broken power is undefined at negative x, and has to stay so: ``x**0.5 x**0.5`` is not x.
    """
    seen: dict[tuple[Node, tuple[int, ...], bool], int] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        power = exponent_of(operand)
        if power is None or operand.dtype != node.dtype:
            continue
        base, exponent = power
        first = seen.setdefault((base, labels, exponent > 0), k)
        if first != k:
            known = exponent_of(node.operands[first])
            assert known is not None
            work = open_product(node)
            together = known[1] + exponent
            if together.is_integer() and not exponent.is_integer():
                continue
            exponent_number = int(together) if together.is_integer() else together
            work.append(apply("power", base, params=(exponent_number,)), labels)
            work.drop([first, k])
            return work.build()
    return None


def square_root_squared(node: Einsum, _: Context) -> Node | None:
    """``sqrt(s) sqrt(s) = s`` where s cannot be negative: the squared norm is then exact to every order."""
    seen: dict[tuple[Node, tuple[int, ...]], int] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, Elementwise) or operand.function not in _ROOTS:
            continue
        (radicand,) = operand.operands
        first = seen.setdefault((operand, labels), k)
        if first != k and radicand.dtype == node.dtype and is_never_negative(operand):
            work = open_product(node)
            work.append(radicand, labels)
            work.drop([first, k])
            return work.build()
    return None


def absolute_squared(node: Einsum, _: Context) -> Node | None:
    """``abs x abs x = x x``, which has no kink: the square of an absolute value has all its derivatives at zero."""
    seen: dict[tuple[Node, tuple[int, ...]], int] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, Elementwise) or operand.function != "abs":
            continue
        (argument,) = operand.operands
        first = seen.setdefault((operand, labels), k)
        if first != k and argument.dtype == operand.dtype:
            work = open_product(node)
            work.append(argument, labels)
            work.append(argument, labels)
            work.drop([first, k])
            return work.build()
    return None


def is_never_negative(root: Elementwise) -> bool:
    """Whether the radicand of this root is known not to be negative: the root of a norm, or of a sum of squares."""
    if root.function == "norm_root":
        return True
    (radicand,) = root.operands
    if isinstance(radicand, Elementwise):
        return radicand.function in ("exp", "abs", "square", "sigmoid", "softplus", "relu")
    if not isinstance(radicand, Einsum) or radicand.coefficient < 0:
        return False
    pairs = list(zip(radicand.operands, radicand.inputs, strict=True))
    return len(pairs) > 0 and all(pairs.count(pair) % 2 == 0 for pair in pairs)


RULES_FOR_FUNCTIONS = (Rule("expand-power", Elementwise, "x**2 = x x", "powers by name", expand_power),)
RULES_FOR_PRODUCTS = (
    Rule("merge-powers", Einsum, "x**p x**q = x**(p+q)", "operands", merge_powers, frozenset(["power"])),
    Rule("square-root-squared", Einsum, "√s √s = s", "operands", square_root_squared, frozenset(_ROOTS)),
    Rule("absolute-squared", Einsum, "abs x abs x = x x", "absolutes", absolute_squared, frozenset(["abs"])),
)
