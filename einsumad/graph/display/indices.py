"""Index notation: every tensor with its indices, repeated indices summed.

Owns :func:`index_notation`. Imports the kinds, notation and its siblings. Invariant: iterative; each line
holds at most `_LONGEST` tensors and there are at most `_MOST_LINES` lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from einsumad.graph.display.fragments import (
    ATOM,
    SUM,
    Fragment,
    arguments,
    called,
    closed,
    function_text,
    iverson,
    join_factors,
    join_terms,
    number_text,
    shown_params,
)
from einsumad.graph.display.naming import name_leaves, name_numbered
from einsumad.graph.display.window import WIDEST, Window, count_nodes, look, shown_operands
from einsumad.graph.nodes import (
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Labels,
    Leaf,
    Node,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
)
from einsumad.notation import index_names
from einsumad.records import record

_LONGEST = 24
_MOST_LINES = 40
_MOST_NODES = 400
_FEWEST_NODES = 8
_SMALLEST_SHARED = 3
_PLACEHOLDER = 0xF0000  # a plane of private characters: letters of a draft, before their order in the text is known
_NOT_WRITTEN = Fragment("", ATOM)


def index_notation(roots: Node | Sequence[Node], names: Mapping[Node, str] | None = None) -> str:
    """The expressions in Einstein notation.

    The axes of a result are called i, j, k, ... in order, as many as it has; any other letter that stands in
    a product twice or more is summed, and a sum over a letter that stands there once is written Σ. ``[...]``
    around a condition is 1 where it holds and 0 elsewhere; δ is the unit tensor, 1 the tensor of ones. A
    subexpression that is used more than once, or that would make a line too long, is given a line and a name
    of its own. Of a large graph the lines next to the results are shown.
    """
    given = [roots] if isinstance(roots, Node) else list(roots)
    window = look(given, _MOST_NODES)
    lines, left_out = _lines(given, window, names)
    if window.hidden:
        total = count_nodes(given)
        head = [f"… {total - len(window.order):,} of {total:,} nodes are not shown"]
    else:
        head = [f"… {left_out:,} lines are not shown"] if left_out else []
    return "\n".join(head + lines)


def one_line(node: Node) -> str:
    """The expression of a node in one line, whatever lies deeper left out."""
    window = look([node], _FEWEST_NODES)
    names = name_leaves(window.order, None)
    names.update(dict.fromkeys(window.hidden, "…"))
    names.update(dict.fromkeys((inner for inner in _choose_lines(window, names) if inner is not node), "…"))
    return _line(node, names)


def _lines(roots: Sequence[Node], window: Window, given: Mapping[Node, str] | None) -> tuple[list[str], int]:
    names = name_leaves(window.order, given)
    if len(window.hidden) == 1:
        names[window.hidden[0]] = "…"
    else:
        name_numbered(window.hidden, "…", names)
    distinct = dict.fromkeys(roots)
    bound = [node for node in _choose_lines(window, names) if node not in distinct]
    name_numbered(bound, "t", names)
    if len(distinct) > 1:
        name_numbered([root for root in distinct if root not in names], "y", names)
    shown = bound[-_MOST_LINES:]
    lines = [f"{_tensor(names[node], range(len(node.shape)))} = {_line(node, names)}" for node in shown]
    for root in list(distinct)[:_MOST_LINES]:
        text = _line(root, names)
        target = f"{_tensor(names[root], range(len(root.shape)))} = " if root in names else ""
        lines.append(text if isinstance(root, Leaf) else target + text)
    return lines, len(bound) - len(shown) + max(0, len(distinct) - _MOST_LINES)


def _choose_lines(window: Window, names: Mapping[Node, str]) -> list[Node]:
    """The nodes that get a line: shared ones, operands of general functions, and what keeps others short."""
    weight: dict[Node, int] = dict.fromkeys(window.hidden, 1)
    chosen: dict[Node, None] = {}
    for node in window.order:
        operands = () if node in names else shown_operands(node)
        if isinstance(node, General):
            chosen.update(dict.fromkeys(operand for operand in operands if operand not in names))
            operands = ()
        total = 1 + sum(1 if operand in chosen else weight[operand] for operand in operands)
        for operand in sorted(dict.fromkeys(operands), key=lambda o: -weight[o]):
            if total <= _LONGEST or weight[operand] == 1:
                break
            if operand not in chosen:
                chosen[operand] = None
                total -= operands.count(operand) * (weight[operand] - 1)
        weight[node] = total
        if window.users.get(node, 0) > 1 and total >= _SMALLEST_SHARED:
            chosen[node] = None
    return [node for node in window.order if node in chosen]


@record(frozen=False, eq=True, repr=True)
class _Place:
    """One occurrence of a node in a line: the letters of its axes, and those that may go unseen there."""

    node: Node
    letters: Labels
    unseen_allowed: frozenset[int] = frozenset()
    labels: Labels = ()
    parts: list[_Place] = field(default_factory=list)
    fragment: Fragment = _NOT_WRITTEN
    is_named: bool = False


def _line(root: Node, names: Mapping[Node, str]) -> str:
    """The expression of one node down to the named ones, summed letters in the order of the text."""
    first = _Place(root, tuple(range(len(root.shape))))
    places: list[_Place] = []
    stack = [first]
    letters = len(root.shape)
    while stack:
        place = stack.pop()
        places.append(place)
        place.is_named = place.node in names and (place is not first or isinstance(root, Leaf))
        if not place.is_named:
            letters = _open(place, letters)
            stack.extend(reversed(place.parts))
    rank = len(root.shape)
    draft = _render(places, [chr(_PLACEHOLDER + letter) for letter in range(letters)], names)
    met = dict.fromkeys(ord(character) - _PLACEHOLDER for character in draft)
    order = [*range(rank), *(letter for letter in met if rank <= letter < letters)]
    order += [letter for letter in range(rank, letters) if letter not in met]
    readable = dict(zip(order, index_names(letters), strict=True))
    return _render(places, [readable[letter] for letter in range(letters)], names)


def _render(places: Sequence[_Place], alphabet: Sequence[str], names: Mapping[Node, str]) -> str:
    """The text of the first place; parts stand behind the places they belong to."""
    for place in reversed(places):
        if place.is_named:
            place.fragment = _named(names[place.node], place.letters, alphabet)
        else:
            place.fragment = _written(place, alphabet, names)
    return places[0].fragment.text


def _open(place: _Place, letters: int) -> int:
    """Give a place its parts; return the number of letters in use."""
    node = place.node
    shown = shown_operands(node)
    match node:
        case Einsum():
            highest = max((max(labels, default=-1) for labels in node.inputs), default=-1)
            summed = range(letters, letters + highest + 1 - len(node.shape))
            place.labels = (*place.letters, *summed)
            spread = [tuple([place.labels[label] for label in labels]) for labels in node.inputs[: len(shown)]]
            carried = [_carried(operand, own) for operand, own in zip(shown, spread, strict=True)]
            for k, (operand, own) in enumerate(zip(shown, spread, strict=True)):
                seen = frozenset().union(*carried[:k], *carried[k + 1 :])
                place.parts.append(_Place(operand, own, seen))
            return letters + len(summed)
        case Add() | Elementwise():
            carried = [_carried(operand, place.letters) for operand in shown]
            seen = frozenset().union(*carried) | place.unseen_allowed
            place.parts.extend(_Place(operand, place.letters, seen) for operand in shown)
        case Selection():
            place.parts.append(_Place(node.operands[0], place.letters[:-1]))
    return letters


def _carried(operand: Node, letters: Labels) -> frozenset[int]:
    """The letters that the text of an operand shows without any tensor of ones."""
    if isinstance(operand, (Ones, Zero)):
        return frozenset()
    if not isinstance(operand, Einsum):
        return frozenset(letters)
    labels: set[int] = set()
    for factor, indices in zip(operand.operands, operand.inputs, strict=True):
        if not isinstance(factor, Ones):
            labels.update(indices)
    return frozenset(letter for label, letter in enumerate(letters) if label in labels)


def _written(place: _Place, alphabet: Sequence[str], names: Mapping[Node, str]) -> Fragment:
    node, parts = place.node, [part.fragment for part in place.parts]
    left_out = max(0, len(node.operands) - WIDEST)
    match node:
        case Einsum():
            return _product(place, alphabet, left_out)
        case Add():
            return join_terms(parts, left_out)
        case Elementwise():
            return function_text(node.function, parts, node.params)
        case General():
            params = shown_params(node.function, node.params)
            operands = arguments([names[operand] for operand in shown_operands(node)], params)
            return _named(f"{called(node.function)}({operands})", place.letters, alphabet)
    return _structural(place, parts, alphabet)


def _structural(place: _Place, parts: Sequence[Fragment], alphabet: Sequence[str]) -> Fragment:
    node, letters = place.node, place.letters
    match node:
        case Unit():
            return _named("δ", letters, alphabet)
        case Selection():
            return Fragment(f"[{alphabet[letters[-1]]} = {parts[0].text}]", ATOM)
        case Affine():
            steps = zip(node.strides, letters[1:], strict=True)
            terms = [join_factors(step, "", [alphabet[letter]]) for step, letter in steps if step]
            if node.offset or not terms:
                terms.append(Fragment(number_text(node.offset), ATOM))
            return Fragment(f"[{alphabet[letters[0]]} = {join_terms(terms).text}]", ATOM)
    needed = [letter for letter in letters if letter not in place.unseen_allowed]
    return _named("0" if isinstance(node, Zero) else "1", needed, alphabet)


def _product(place: _Place, alphabet: Sequence[str], left_out: int) -> Fragment:
    node = place.node
    assert isinstance(node, Einsum)
    factors: list[tuple[int, str]] = []
    count: dict[int, int] = {}
    for part in place.parts:
        if not isinstance(part.node, Ones):
            for letter in part.letters:
                count[letter] = count.get(letter, 0) + 1
    for part in place.parts:
        if isinstance(part.node, Ones):
            needed = [letter for letter in part.letters if letter not in count and letter not in place.unseen_allowed]
            count.update(dict.fromkeys(needed, 1))
            if needed:
                factors.append((4, _named("1", needed, alphabet).text))
        elif part.node.dtype == bool and not isinstance(part.node, Structural) and node.dtype != bool:
            factors.append((1, iverson(part.fragment)))
        else:
            rank = 3 if isinstance(part.node, Unit) else 2 if isinstance(part.node, (Affine, Selection)) else 0
            factors.append((rank, closed(part.fragment, SUM + 1)))
    ordinary = [part for part in place.parts if not isinstance(part.node, Ones)]
    if node.dtype == bool and len(factors) == len(ordinary) == 1:
        return ordinary[0].fragment
    once = [letter for letter in place.labels[len(node.shape) :] if count.get(letter) == 1 and not left_out]
    sigma = f"Σ_{''.join(alphabet[letter] for letter in once)}" if once else ""
    return join_factors(node.coefficient, sigma, [text for _, text in sorted(factors)], left_out)


def _named(name: str, letters: Sequence[int], alphabet: Sequence[str]) -> Fragment:
    written = f"{name}[{','.join(alphabet[letter] for letter in letters)}]" if letters else name
    return Fragment(written, SUM if name.startswith("-") else ATOM)


def _tensor(name: str, letters: Sequence[int]) -> str:
    return _named(name, letters, index_names(len(letters))).text
