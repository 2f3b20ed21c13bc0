"""Expressions of SymPy as source text of NumPy and SciPy.

Owns the spelling. Imports errors and the tables of functions; SymPy is whatever the caller's expression comes from.
Invariant: the text has the names that it was given for the symbols, numbers, operators and functions of the table, and
nothing else; what is not in the table is refused by name. Real numbers only.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from einsumad.errors import TracingError
from einsumad.frontend.own.counterparts import CALLS, CHOICES, OTHERWISE, REASONS
from einsumad.records import record

Expression = Any
"""An expression of SymPy."""

CHOICE, SUM, PRODUCT, POWER, ATOM = range(5)
_EXACT = 2**53

_INVERSE = {"sec": "np.cos", "csc": "np.sin", "sech": "np.cosh", "csch": "np.sinh", "coth": "np.tanh"}
_FOLDED = {"And": "np.logical_and", "Or": "np.logical_or", "Xor": "np.logical_xor"}
_EXTREMES = {"Max": ("np.maximum", "np.max"), "Min": ("np.minimum", "np.min")}
_OPERATION = re.compile(r"\} [-+*/]|[-+*/] \{")


@record(frozen=False, eq=True, repr=True)
class Source:
    """The statements of an expression: what is used more than once has a name of its own."""

    names: Mapping[Expression, str]
    temporary: str
    lines: list[str] = field(default_factory=list)
    uses: Counter[Expression] = field(default_factory=Counter)
    known: dict[Expression, tuple[str, int]] = field(default_factory=dict)

    def text(self, node: Expression, level: int = CHOICE) -> str:
        """The expression as it stands in an operation that binds with this strength."""
        if node not in self.known:
            written = self._written(node)
            if node.args and self.uses[node] > 1:
                name = f"{self.temporary}{len(self.lines)}"
                self.lines.append(f"{name} = {written[0]}")
                written = name, ATOM
            self.known[node] = written
        text, own = self.known[node]
        return text if own >= level else f"({text})"

    def _written(self, node: Expression) -> tuple[str, int]:
        kind = type(node).__name__
        if node.is_Symbol:
            return self.names[node], ATOM
        if not node.args:
            return _number(node)
        if node.is_Add:
            return self._sum(node), SUM
        if node.is_Mul:
            return self._product(node)
        if node.is_Pow:
            return self._power(node.base, node.exp)
        if kind in CALLS:
            return self._filled(CALLS[kind], node.args), ATOM
        if kind in CHOICES:
            for fits, template in CHOICES[kind]:
                if fits(node.args):
                    return self._filled(template, node.args), ATOM
            raise refusal(node)
        return self._by_rule(kind, node), ATOM

    def _filled(self, template: str, args: Sequence[Expression]) -> str:
        """The template with the arguments, those within tuples one after the other."""
        level = ATOM if _OPERATION.search(template) else CHOICE
        flat = [part for arg in args for part in (arg if "Tuple" in type(arg).__name__ else [arg])]
        return template.format(*[self.text(arg, level) for arg in flat])

    def _by_rule(self, kind: str, node: Expression) -> str:
        args: Sequence[Expression] = node.args
        if kind in _INVERSE:
            return f"(1 / {_INVERSE[kind]}({self.text(args[0])}))"
        if kind in _FOLDED:
            return self._folded(_FOLDED[kind], [self.text(arg) for arg in args])
        if kind in _EXTREMES:
            return self._extreme(*_EXTREMES[kind], args)
        if kind == "frac":
            return f"({self.text(args[0], PRODUCT)} - np.floor({self.text(args[0])}))"
        if kind == "Piecewise":
            return self._choice(args)
        if kind == "ITE":
            return f"np.where({', '.join(self.text(arg) for arg in args)})"
        raise refusal(node)

    def _sum(self, node: Expression) -> str:
        text = ""
        for term in node.as_ordered_terms():
            negative = term.could_extract_minus_sign() and (not term.args or self.uses[term] < 2)
            part = self.text(-term if negative else term, PRODUCT)
            text += f"{' - ' if text else '-'}{part}" if negative else f"{' + ' if text else ''}{part}"
        return text

    def _product(self, node: Expression) -> tuple[str, int]:
        number, rest = node.as_coeff_Mul()
        sign = "-" if number < 0 else ""
        above, below = _fraction(abs(number))
        for factor in rest.as_ordered_factors():
            if factor.is_Pow and factor.exp.is_number and factor.exp.is_negative and self.uses[factor] < 2:
                text, level = self._power(factor.base, -factor.exp)
                below.append(text if level >= PRODUCT + 1 else f"({text})")
            else:
                above.append(self.text(factor, PRODUCT + 1))
        top = " * ".join(above) or "1"
        if not below:
            return sign + top, SUM if sign else PRODUCT
        bottom = below[0] if len(below) == 1 else f"({' * '.join(below)})"
        return f"{sign}{top} / {bottom}", SUM if sign else PRODUCT

    def _power(self, base: Expression, exponent: Expression) -> tuple[str, int]:
        if exponent == 1:
            text = self.text(base, ATOM)
            return text, ATOM
        if exponent.is_number and exponent.is_negative:
            text, level = self._power(base, -exponent)
            return f"1 / {text if level > PRODUCT else f'({text})'}", PRODUCT
        if exponent.is_Rational and (exponent.p, exponent.q) == (1, 2):
            return f"np.sqrt({self.text(base)})", ATOM
        return f"{self.text(base, ATOM)} ** {self.text(exponent, ATOM)}", POWER

    def _extreme(self, binary: str, reduction: str, args: Sequence[Expression]) -> str:
        """The largest or smallest: variable ones that are equal have equal shares in the derivative."""
        constants = [self.text(arg) for arg in args if arg.is_number]
        others = [self.text(arg) for arg in args if not arg.is_number]
        if len(others) > 2:
            text = f"{reduction}(np.stack(np.broadcast_arrays({', '.join(others)})), axis=0)"
        else:
            text = self._folded(binary, others)
        return self._folded(binary, [text, *constants])

    @staticmethod
    def _folded(function: str, texts: Sequence[str]) -> str:
        text = texts[0]
        for other in texts[1:]:
            text = f"{function}({text}, {other})"
        return text

    def _choice(self, branches: Sequence[Expression]) -> str:
        """The first value whose condition holds; where none does, NaN, which as a factor is seen by derivatives too."""
        conditions = [self.text(condition) for _, condition in branches]
        complete = conditions[-1] == "True"
        text = self.text(branches[-1][0])
        for (value, _), condition in zip(branches[-2::-1], conditions[-2::-1], strict=True):
            text = f"np.where({condition}, {self.text(value)}, {text})"
        if complete:
            return text
        inside = self._folded("np.logical_or", conditions)
        text = self.text(branches[0][0], PRODUCT) if len(branches) == 1 else text
        return f"({text} * np.where({inside}, 1, np.nan))"


def _number(node: Expression) -> tuple[str, int]:
    """A number or truth value as Python source, a quotient of integers as a quotient."""
    name = type(node).__name__
    if name in ("BooleanTrue", "BooleanFalse"):
        return str(bool(node)), ATOM
    if name in ("Infinity", "NegativeInfinity"):
        return ("np.inf", ATOM) if name == "Infinity" else ("-np.inf", SUM)
    if not node.is_number or not node.is_comparable:
        raise refusal(node)
    if name in _NAMED:
        return _NAMED[name], ATOM
    above, below = _fraction(abs(node))
    text = " / ".join([above[0] if above else "1", *below])
    return f"-{text}" if node < 0 else text, SUM if node < 0 else PRODUCT if below else ATOM


_NAMED = {"Pi": "np.pi", "Exp1": "np.e", "EulerGamma": "np.euler_gamma"}


def _fraction(number: Expression) -> tuple[list[str], list[str]]:
    """The factors above and below the line of a number that is not negative; none for 1."""
    if not number.is_Rational:
        return [repr(float(number))], []
    parts = [str(part) if part < _EXACT else repr(float(part)) for part in (int(number.p), int(number.q))]
    above = [parts[0]] if number.p != 1 else []
    return above, [parts[1]] if number.q != 1 else []


def refusal(node: Expression) -> TracingError:
    """The error for what has no counterpart."""
    sympy: Any = sys.modules["sympy"]
    kind = type(node).__name__
    shown = node.xreplace({symbol: sympy.Symbol(symbol.name) for symbol in node.free_symbols})
    return TracingError(
        f"{shown} ({kind}) has no counterpart for real arrays that derivatives are known of: "
        f"{REASONS.get(kind, OTHERWISE)}"
    )


def statements(expression: Expression, names: Mapping[Expression, str], temporary: str) -> tuple[list[str], str]:
    """Assignments to temporaries, and the text of the value."""
    source = Source(names, temporary)
    pending, seen = [expression], {expression}
    while pending:
        for arg in pending.pop().args:
            source.uses[arg] += 1
            if arg not in seen:
                seen.add(arg)
                pending.append(arg)
    result = source.text(expression)
    return source.lines, result
