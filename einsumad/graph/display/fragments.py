"""Pieces of text with their binding strength, and the spelling of functions.

Owns parentheses, signs and the symbols of functions. Imports NumPy's types only through the kinds. Invariant:
a fragment put into a larger one by the functions of this module keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from einsumad.graph.nodes import OWN, Number, Params

LOGIC, RELATION, SIGMA, SUM, PRODUCT, POWER, ATOM = range(7)

_RELATIONS = {
    "greater": ">",
    "greater_equal": "≥",
    "less": "<",
    "less_equal": "≤",
    "equal": "=",
    "not_equal": "≠",
}
_JUNCTIONS = {"logical_and": "and", "logical_or": "or"}
_QUIET = frozenset({"inverse", "solve"})
_SHORT_NAMES = {"inverse": "inv", "determinant": "det"}


class Fragment(NamedTuple):
    """A text and how strongly its outermost operation binds."""

    text: str
    level: int


def number_text(value: Number) -> str:
    """A number as Python writes it."""
    return repr(value)


def closed(part: Fragment, level: int) -> str:
    """The text, in parentheses unless it binds as strongly as `level`; a truth value in Iverson brackets."""
    if part.level <= RELATION:
        return f"[{part.text}]"
    return part.text if part.level >= level else f"({part.text})"


def iverson(part: Fragment) -> str:
    """A mask as a factor: 1 where it holds."""
    return f"[{part.text}]"


def join_terms(parts: Sequence[Fragment], left_out: int = 0) -> Fragment:
    """A sum: positive terms first, then by text."""
    if len(parts) == 1 and not left_out:
        return parts[0]
    texts = [closed(part, SUM) for part in parts]
    texts.sort(key=lambda text: (text.startswith("-"), text))
    written = texts[0]
    for text in texts[1:]:
        written += f" - {text[1:]}" if text.startswith("-") else f" + {text}"
    if left_out:
        written += f" + … ({left_out:,} more terms)"
    return Fragment(written, SUM)


def join_factors(coefficient: Number, sigma: str, factors: Sequence[str], left_out: int = 0) -> Fragment:
    """A product of closed factors, its explicit sums between the coefficient and them."""
    words = list(factors)
    if left_out:
        words.append(f"… ({left_out:,} more factors)")
    if not words:
        return Fragment(number_text(coefficient), ATOM if coefficient >= 0 else SUM)
    lead = "" if coefficient == 1 else "-" if coefficient == -1 else number_text(coefficient)
    if sigma:
        words.insert(0, sigma)
    if lead not in ("", "-"):
        words.insert(0, lead)
        lead = ""
    written = words[0]
    for word in words[1:]:
        written += f" · {word}" if word[0].isdigit() and not written.startswith("Σ") else f" {word}"
    plain = coefficient == 1 and not left_out
    if sigma:
        return Fragment(lead + written, SIGMA)
    if plain and len(words) == 1:
        return Fragment(written, ATOM)
    return Fragment(lead + written, PRODUCT if plain else SUM)


def called(function: str) -> str:
    """The name under which a function of whole tensors is shown; of a user's function that of its definition.

    >>> called("determinant"), called("root#1:05b2"), called("root#2:81aa")
    ('det', 'root', 'root#2')
    """
    name, mark, rest = function.partition(OWN)
    if not mark:
        return _SHORT_NAMES.get(function, function)
    serial = rest.partition(":")[0]
    return name if serial == "1" else f"{name}{OWN}{serial}"


_LONGEST_PARAM = 24


def function_text(function: str, parts: Sequence[Fragment], params: Params) -> Fragment:
    """A function of the given arguments in its usual spelling."""
    if function in _RELATIONS and len(parts) == 2:
        return Fragment(f" {_RELATIONS[function]} ".join(closed(part, SUM) for part in parts), RELATION)
    if function in _JUNCTIONS:
        return Fragment(f" {_JUNCTIONS[function]} ".join(_clause(part) for part in parts), LOGIC)
    if function == "logical_not":
        return Fragment(f"not {_clause(parts[0])}", RELATION if parts[0].level == ATOM else LOGIC)
    if function == "reciprocal":
        return Fragment(f"1/{closed(parts[0], ATOM)}", SUM)
    if function == "square":
        return _power(parts[0], Fragment("2", ATOM))
    if function == "power" and len(params) == 1 and len(parts) == 1:
        exponent = number_text(params[0]) if isinstance(params[0], (int, float)) else str(params[0])
        return _power(parts[0], Fragment(exponent, ATOM if exponent.isdigit() else SUM))
    if function == "power_xy":
        return _power(parts[0], parts[1])
    return Fragment(f"{function}({arguments([closed(part, SIGMA) for part in parts], params)})", ATOM)


def arguments(texts: Sequence[str], params: Params) -> str:
    """The arguments of a call, parameters behind a semicolon."""
    tail = "; " + ", ".join(map(param_text, params)) if params else ""
    return ", ".join(texts) + tail


def shown_params(function: str, params: Params) -> Params:
    """The parameters but one that only says that NaN stands for an error."""
    return () if function in _QUIET and params == (1,) else params


def param_text(param: object) -> str:
    """A parameter; a long text, as of a function that is given, is left out."""
    text = str(param)
    return text if len(text) <= _LONGEST_PARAM else "…"


def _power(base: Fragment, exponent: Fragment) -> Fragment:
    return Fragment(f"{closed(base, ATOM)}^{closed(exponent, ATOM)}", POWER)


def _clause(part: Fragment) -> str:
    return part.text if part.level in (RELATION, ATOM) else f"({part.text})"
