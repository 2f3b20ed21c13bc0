"""The normal form: rules applied from the leaves up until none fires.

Owns the order of application. Imports the rules. Invariant: the result has the value, shape and dtype of the input; no
recursion; work for each node is bounded, passes are repeated only for what changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from einsumad.errors import InternalError
from einsumad.graph import Affine, Einsum, Node, Selection, rebuild, topological
from einsumad.records import record, replace
from einsumad.rewriting.catalogue import rules_for, steps_for
from einsumad.rewriting.product import Product, open_product
from einsumad.rewriting.reading import read_in_parts
from einsumad.rewriting.rules import MOST_OPERANDS, Context, Notes, Rule

_MOST_PASSES = 1000
_MOST_STEPS = 1000
FEW_OPERANDS = 16
_MAPS: frozenset[type] = frozenset([Affine, Selection])


@record(frozen=False, eq=True, repr=True)
class Progress:
    """What is known to be in normal form, and how often each rule fired. Share one among related calls.

    Products are opened up to `most_operands` factors. What is going to be differentiated has fewer: the derivative of a
    product of n factors has n terms of n - 1, that of a nested one has what is inside as a node of its own. Rules whose
    names are `left_out` are not used.
    """

    fired: Counter[str] = field(default_factory=Counter)
    stable: dict[Node, tuple[int, ...]] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    most_operands: int = MOST_OPERANDS
    notes: Notes = field(default_factory=Notes)

    def earlier(self) -> Progress:
        """What is known beside this, for expressions that are going to be differentiated."""
        return replace(self, most_operands=FEW_OPERANDS)


def normalise(
    roots: Sequence[Node], progress: Progress | None = None, settled: AbstractSet[Node] = frozenset()
) -> tuple[Node, ...]:
    """The roots in normal form. With the `progress` of an earlier call, what it met is not tried again.

    Nodes in `settled` are in normal form and used elsewhere too: they stay as they are and are not looked into.
    """
    current = tuple(roots)
    progress = Progress() if progress is None else progress
    for _ in range(_MOST_PASSES):
        opened, context = _surroundings(current, progress, settled)
        following = _one_pass(current, opened, context, progress, _joining(opened, context))
        if following == current or _stand_on(settled, following):
            return following
        current = following
    raise InternalError(f"no normal form after {_MOST_PASSES} passes over {len(topological(current))} nodes")


def normal_product(work: Product, progress: Progress, settled: AbstractSet[Node] = frozenset()) -> Node:
    """The normal form of a product that is no node yet: rules take their steps in `work` before one is made of it.

    What is read along maps is looked for once it is a node, and so are sums over nothing.
    """
    if any(0 in operand.shape for operand in work.operands):
        return normalise([work.build()], progress, settled)[0]
    opened, context = _surroundings(work.operands, progress, settled)
    joining = _joining([*opened, work], context)
    work.operands = list(_one_pass(work.operands, opened, context, progress, joining))
    operands = tuple(work.operands)
    context.joins_user = False
    made = _finished(work, context, progress.left_out)
    context.made(made, operands)
    found = _rewrite(made, context, progress, finished=True)
    if _MAPS.isdisjoint(map(type, found.operands)) and _stand_on(settled, [found]):
        return found
    return normalise([found], progress, settled)[0]


def _surroundings(
    roots: Sequence[Node], progress: Progress, settled: AbstractSet[Node]
) -> tuple[Sequence[Node], Context]:
    """The nodes that rules are applied to, operands first, and what rules may know of them."""
    order = topological(roots, settled)
    found = [node for node in order if node in settled]
    opened = [node for node in order if node.operands and node not in settled]
    users = Counter([*roots, *found, *found, *[operand for node in opened for operand in node.operands]])
    parts = set() if _MAPS.isdisjoint(map(type, order)) else read_in_parts(opened, users)
    return opened, Context(users, progress.fired, parts, progress.most_operands, progress.notes)


def _stand_on(settled: AbstractSet[Node], roots: Sequence[Node]) -> bool:
    """Whether all operands of the roots are settled or have none: another pass would meet what this one has met."""
    return all(operand in settled for root in roots for operand in root.operands if operand.operands)


def _one_pass(
    roots: Sequence[Node], order: Sequence[Node], context: Context, progress: Progress, joining: AbstractSet[Node]
) -> tuple[Node, ...]:
    """The roots after the rules were applied to the nodes in `order`, operands first; all others stay.

    Those that are `joining` have one user, which is a product that opens them.
    """
    memo: dict[Node, Node] = {}
    for node in order:
        context.joins_user = node in joining
        if memo.keys().isdisjoint(node.operands):
            new = _rewrite(node, context, progress)
        else:
            over = _over(node, memo, context, progress)
            context.replaced(node, over, [memo.get(operand, operand) for operand in node.operands])
            new = _rewrite(over, context, progress, finished=isinstance(node, Einsum))
        if new is not node:
            memo[node] = new
    return tuple([memo.get(root, root) for root in roots])


def _over(node: Node, changed: Mapping[Node, Node], context: Context, progress: Progress) -> Node:
    """The node over what became of its operands; of a product with the steps taken that apply to it then."""
    operands = [changed.get(operand, operand) for operand in node.operands]
    for old, new in zip(node.operands, operands, strict=True):
        if new is not old and old in context.read_in_parts:
            context.read_in_parts.add(new)
    if not isinstance(node, Einsum):
        return rebuild(node, operands)
    work = open_product(node)
    work.operands = operands
    return _finished(work, context, progress.left_out)


def _joining(order: Sequence[Node | Product], context: Context) -> set[Node]:
    """The products whose only user is a product of the same dtype."""
    users = context.users
    return {
        operand
        for node in order
        if isinstance(node, Einsum | Product)
        for operand in node.operands
        if isinstance(operand, Einsum) and users[operand] == 1 and operand.dtype == node.dtype
    }


def _rewrite(node: Node, context: Context, progress: Progress, *, finished: bool = False) -> Node:
    """The node after rules were applied to it until none fires; none that is a step where these are `finished`."""
    stable = progress.stable
    for _ in range(_MOST_STEPS):
        freedom = _freedom(node, context)
        known = stable.get(node, ())
        for tried in known:
            if not freedom & ~tried:
                return node
        rule, following = _first_applied(node, context, progress.left_out, finished=finished)
        if rule is None:
            stable[node] = (freedom, *[tried for tried in known if tried & ~freedom])
            return node
        context.replaced(node, following, node.operands)
        node, finished = following, rule.step is not None
    raise InternalError(f"rules do not come to an end on a node of shape {node.shape}")


def _freedom(node: Node, context: Context) -> int:
    """What the surroundings of a node leave open to rules, as the bits of a number: none applies for having less of it.

    That it is not opened by its user, which of its operands have no other user, and that some are read in parts.
    """
    users, parts = context.users, context.read_in_parts
    freedom = 0 if context.joins_user else 1
    place = 2
    for operand in node.operands:
        if users.get(operand, 0) <= 1:
            freedom |= place
        place <<= 1
    return freedom | place if parts and not parts.isdisjoint(node.operands) else freedom


def _first_applied(
    node: Node, context: Context, left_out: frozenset[str], *, finished: bool
) -> tuple[Rule | None, Node]:
    """The first rule that applies, and the node after it; the node itself where there is none."""
    work = open_product(node) if isinstance(node, Einsum) and not finished else None
    for rule in rules_for(node, context.notes, left_out):
        if rule.step is not None:
            if work is None:
                continue
            following = _finished(work, context, left_out) if rule.step(work, context) else None
        else:
            following = rule.apply(node, context)
        if following is not None and following is not node:
            if following.shape != node.shape or following.dtype != node.dtype:
                raise InternalError(
                    f"rule {rule.name} changed {node.shape} {node.dtype} to {following.shape} {following.dtype}"
                )
            context.fired[rule.name] += 1
            return rule, following
    return None, node


def _finished(work: Product, context: Context, left_out: frozenset[str]) -> Node:
    """The product after steps were taken until none applies: one node for all of them."""
    for _ in range(_MOST_STEPS):
        for rule in steps_for(work, context.notes, left_out):
            if rule.step is not None and rule.step(work, context):
                context.fired[rule.name] += 1
                break
        else:
            return work.build()
    raise InternalError(f"steps do not come to an end on a product of shape {work.shape}")
