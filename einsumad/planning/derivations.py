"""What can be asked of a function, as expressions in normal form: derivatives of several orders, products, diagonals.

Owns the requests. Imports calculus, rewriting and the strategy. Invariant: outputs come in the order documented by each
request, in the dtype of the sources, and share one graph, so that one plan computes them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.calculus import pull, push
from einsumad.graph import Add, Node, add, cast, einsum, substitute, zero
from einsumad.planning.cusps import expanded
from einsumad.planning.one_sided import one_sided
from einsumad.planning.options import progress_of_functions, progress_of_jacobians
from einsumad.planning.stored import Stored, stored_or_made
from einsumad.planning.strategy import Choice, Kept, Strategy, choices_of, jacobian, notes_on
from einsumad.planning.written_out import options_for
from einsumad.records import record, replace
from einsumad.rewriting import Progress, normalise


@record
class Derived:
    """Output expressions in normal form, and the choices made on the way."""

    outputs: tuple[Node, ...]
    choices: tuple[Choice, ...]


@record(eq=True, repr=True)
class Request:
    """What is asked: a name of :data:`REQUESTS`, the orders of derivative where they matter, and a strategy.

    `further` says how often the outputs may be differentiated again.
    """

    kind: str
    orders: tuple[int, ...] = ()
    strategy: Strategy = "auto"
    further: int = 0

    @property
    def highest(self) -> int:
        """The highest order of derivative of the roots that may come of it."""
        own = {"derivatives": max(self.orders, default=0), "jvp": 1, "vjp": 1}.get(self.kind, 2)
        return own + self.further


@record
class Asked:
    """What a request is about: roots in normal form, sources, tangents or cotangents, and what rewriting knows.

    `progress` is that on functions, gradients and products with vectors, `of_jacobians` that on the rest. `kept` says
    what is computed of derivatives of the highest order, if they are kept in their structure.
    """

    roots: Sequence[Node]
    sources: Sequence[Node]
    directions: Sequence[Node]
    progress: Progress
    of_jacobians: Progress
    kept: Kept | None = None

    def normalise(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        """Functions, gradients and products with vectors in normal form."""
        return normalise(nodes, self.progress)

    def settled(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        """Jacobians, and what is made of them, in normal form."""
        return normalise(nodes, self.of_jacobians)

    def jacobian(
        self,
        root: Node,
        sources: Sequence[Node],
        strategy: Strategy,
        beside: Sequence[Node] = (),
        *,
        further: bool = False,
        symmetric: bool = False,
        kept: Kept | None = None,
    ) -> Choice:
        """The Jacobians of a node by the cheapest order, or by the one asked for; `further` ones are derived again."""
        progress = self.of_jacobians if prod(root.shape) > 1 else self.progress
        progress = progress.earlier() if further else progress
        return jacobian(root, sources, strategy, beside, progress, symmetric=symmetric, kept=kept)


Builder: TypeAlias = Callable[[Request, Asked], Derived]


def derive(
    request: Request,
    roots: Sequence[Node],
    sources: Sequence[Node],
    directions: Sequence[Node] = (),
    kept: Kept | None = None,
) -> Derived:
    """The outputs of a request on the given roots. `directions` are its tangents or cotangents, if it has any.

    Where derivatives of the highest order are `kept` in their structure, orders of multiplication are compared by what
    is stored. The outputs are read from a file where :func:`einsumad.planning.stored.plan_cache` has one.
    """
    asked: list[Any] = [request.kind, list(request.orders), request.strategy, request.further, len(roots), len(sources)]
    asked.append(kept is not None)
    found: list[Derived] = []

    def make() -> Stored:
        found.append(_derived(request, roots, sources, directions, kept))
        return Stored(found[0].outputs, notes_on(found[0].choices))

    given = (*roots, *sources, *directions)
    stored = stored_or_made("derivation", given, asked, make, lambda stored: choices_of(stored.notes))
    return found[0] if found else Derived(stored.roots, choices_of(stored.notes))


def _derived(
    request: Request, roots: Sequence[Node], sources: Sequence[Node], directions: Sequence[Node], kept: Kept | None
) -> Derived:
    progress = progress_of_functions()
    earlier = progress.earlier() if request.highest else progress
    roots = one_sided(roots, sources)
    smooth = normalise(expanded(normalise(roots, earlier), request.highest), earlier)

    def made() -> Derived:
        of_jacobians = progress_of_jacobians()
        if of_jacobians.left_out == progress.left_out:
            of_jacobians = progress
        return REQUESTS[request.kind](request, Asked(smooth, sources, directions, progress, of_jacobians, kept))

    with options_for(smooth) as options:
        found = made()
    suitable = options_for(found.outputs)  # a derivative may be infinite where the function is not
    if options.compression or not suitable.compression:
        return found
    with suitable:
        return made()


def _derivatives(request: Request, asked: Asked) -> Derived:
    """For each root and each order asked, one tensor for each tuple of that many sources, the last varying fastest."""
    outputs: list[Node] = []
    choices: list[Choice] = []
    sources = asked.sources
    for root in asked.roots:
        tensors = _tensors_of(root, asked, request, choices)
        for order in request.orders:
            for which in product(range(len(sources)), repeat=order):
                tensor = _arranged(tensors, which, root, sources)
                outputs.append(cast(tensor, _dtype_of(root, [sources[k] for k in which])))
    return Derived(asked.settled(outputs), tuple(choices))


def _tensors_of(root: Node, asked: Asked, request: Request, choices: list[Choice]) -> dict[tuple[int, ...], Node]:
    """The derivative tensors up to an order, one for each sorted tuple of sources: the others are transposes."""
    tensors: dict[tuple[int, ...], Node] = {(): root}
    sources, highest = asked.sources, max(request.orders, default=0)
    for order in range(1, highest + 1):
        lower = {which: node for which, node in tensors.items() if len(which) == order - 1}
        beside = tuple([node for which, node in tensors.items() if len(which) in request.orders])
        for which, node in lower.items():
            first = which[-1] if which else 0
            symmetric = order == 2 and not root.shape and len(sources) == 1
            choice = asked.jacobian(
                node,
                sources[first:],
                request.strategy,
                beside,
                further=order < highest,
                symmetric=symmetric,
                kept=asked.kept if order == highest else None,
            )
            choices.append(choice)
            tensors.update({(*which, first + k): found for k, found in enumerate(choice.jacobians)})
    assert all(which in tensors for which in combinations_with_replacement(range(len(sources)), highest))
    return tensors


def _arranged(
    tensors: Mapping[tuple[int, ...], Node], which: tuple[int, ...], root: Node, sources: Sequence[Node]
) -> Node:
    """The tensor for any tuple of sources, by Schwarz's theorem a transpose of the one for the sorted tuple."""
    order = sorted(range(len(which)), key=which.__getitem__)
    tensor = tensors[tuple([which[k] for k in order])]
    if order == list(range(len(which))):
        return tensor
    axis = len(root.shape)
    labels: dict[int, range] = {}
    for k in order:
        rank = len(sources[which[k]].shape)
        labels[k] = range(axis, axis + rank)
        axis += rank
    output = [*range(len(root.shape)), *[label for k in range(len(which)) for label in labels[k]]]
    return einsum([tensor], [range(axis)], output, 1, tensor.dtype)


def _dtype_of(root: Node, sources: Sequence[Node]) -> np.dtype:
    return np.result_type(*[source.dtype for source in sources]) if sources else root.dtype


def _jvp(_: Request, asked: Asked) -> Derived:
    """The roots, then their tangents for the given tangents of the sources."""
    pushed = push(asked.roots, dict(zip(asked.sources, asked.directions, strict=True)))
    moved = [_or_zero(node, root.shape, root.dtype) for node, root in zip(pushed, asked.roots, strict=True)]
    return Derived(asked.normalise([*asked.roots, *moved]), ())


def _vjp(_: Request, asked: Asked) -> Derived:
    """The cotangents of the sources for the given cotangents of the roots."""
    seeds: dict[Node, Node] = {}
    for root, cotangent in zip(asked.roots, asked.directions, strict=True):
        seeds[root] = add([seeds[root], cotangent]) if root in seeds else cotangent
    pulled = pull(seeds, asked.sources)
    outputs = [_or_zero(node, s.shape, s.dtype) for node, s in zip(pulled, asked.sources, strict=True)]
    return Derived(asked.normalise(outputs), ())


def _hvp(_: Request, asked: Asked) -> Derived:
    """The Hessian of the root times the given tangents: forward mode over the gradient."""
    choice = asked.jacobian(asked.roots[0], asked.sources, "reverse", further=True)
    pushed = push(choice.jacobians, dict(zip(asked.sources, asked.directions, strict=True)))
    outputs = [_or_zero(node, s.shape, s.dtype) for node, s in zip(pushed, asked.sources, strict=True)]
    return Derived(asked.normalise(outputs), (choice,))


def _hessian_diagonal(request: Request, asked: Asked) -> Derived:
    """For each source the diagonal of its block of the Hessian."""
    outputs: list[Node] = []
    choices: list[Choice] = []
    for source in asked.sources:
        gradient = asked.jacobian(asked.roots[0], [source], "reverse", further=True)
        second = asked.jacobian(gradient.jacobians[0], [source], request.strategy)
        choices.extend([gradient, second])
        outputs.append(cast(_diagonal(second.jacobians[0], len(source.shape)), source.dtype))
    return Derived(asked.settled(outputs), tuple(choices))


def _laplacian(request: Request, asked: Asked) -> Derived:
    """The sum of all second derivatives with respect to one entry twice."""
    diagonals = _hessian_diagonal(request, asked)
    totals = [einsum([node], [range(len(node.shape))], (), 1, node.dtype) for node in diagonals.outputs]
    return Derived(asked.settled([add(totals) if len(totals) > 1 else totals[0]]), diagonals.choices)


def _gauss_newton(request: Request, asked: Asked) -> Derived:
    """For each pair of sources ``Σ_mn J_m[o,i] L_mn[o,p] J_n[p,j]``, J the Jacobians of the residuals.

    Without directions L is the identity and the roots are the residuals. Otherwise the directions are leaves that stand
    for the residuals, the last root is a loss of these, and L its second derivative where they are the residuals.

    Source: N. N. Schraudolph, Fast curvature matrix-vector products for second-order gradient descent, Neural
    Computation 14, 2002, section 3.
    """
    choices: list[Choice] = []
    residuals = asked.roots[: len(asked.directions)] if asked.directions else asked.roots
    jacobians: list[tuple[Node, ...]] = []
    for residual in residuals:
        choices.append(asked.jacobian(residual, asked.sources, request.strategy))
        jacobians.append(choices[-1].jacobians)
    between = _second_derivatives(asked, residuals, choices) if asked.directions else None
    outputs: list[Node] = []
    for i, row in enumerate(asked.sources):
        for j, column in enumerate(asked.sources):
            terms: list[Node] = []
            for m, n in product(range(len(residuals)), repeat=2):
                if between is not None:
                    terms.append(_sandwich(jacobians[m][i], between[m, n], jacobians[n][j], residuals[m], residuals[n]))
                elif m == n:
                    terms.append(_sandwich(jacobians[m][i], None, jacobians[m][j], residuals[m], residuals[m]))
            outputs.append(cast(add(terms) if len(terms) > 1 else terms[0], _dtype_of(row, [row, column])))
    return Derived(asked.settled(outputs), tuple(choices))


def _second_derivatives(asked: Asked, residuals: Sequence[Node], choices: list[Choice]) -> dict[tuple[int, int], Node]:
    """The second derivatives of the loss with respect to the leaves that stand for residuals, at the residuals."""
    loss = asked.roots[-1]
    within = replace(asked, roots=[loss], sources=asked.directions, directions=(), kept=None)
    tensors = _tensors_of(loss, within, Request("derivatives", (2,)), choices)
    count = range(len(residuals))
    pairs = [(m, n) for m in count for n in count]
    found = [_arranged(tensors, pair, loss, asked.directions) for pair in pairs]
    at = substitute(found, dict(zip(asked.directions, residuals, strict=True)))
    return dict(zip(pairs, at, strict=True))


def _sandwich(left: Node, middle: Node | None, right: Node, rows: Node, columns: Node) -> Node:
    """``Σ_op left[o,i] middle[o,p] right[p,j]``; without a middle ``Σ_o left[o,i] right[o,j]``."""
    out, into = len(rows.shape), len(columns.shape)
    first = range(out)
    second = first if middle is None else range(out, out + into)
    start = out + into
    i = range(start, start + len(left.shape) - out)
    j = range(start + len(i), start + len(i) + len(right.shape) - into)
    operands, inputs = [left, right], [[*first, *i], [*second, *j]]
    if middle is not None:
        operands.append(middle)
        inputs.append([*first, *second])
    return einsum(operands, inputs, [*i, *j], 1)


def _gauss_newton_diagonal(request: Request, asked: Asked) -> Derived:
    """For each source the diagonal of its block of the Gauss–Newton matrix."""
    outputs: list[Node] = []
    choices: list[Choice] = []
    for source in asked.sources:
        whole = _gauss_newton(request, replace(asked, sources=[source]))
        choices.extend(whole.choices)
        outputs.append(_diagonal(whole.outputs[0], len(source.shape)))
    return Derived(asked.settled(outputs), tuple(choices))


def _diagonal(node: Node, rank: int) -> Node:
    """``H[a, a]``; taken of each term of a sum, so that no term is formed outside its diagonal."""
    if isinstance(node, Add):
        return add([_diagonal(term, rank) for term in node.operands], node.dtype)
    return einsum([node], [[*range(rank), *range(rank)]], range(rank), 1, node.dtype)


def _or_zero(node: Node | None, shape: tuple[int, ...], dtype: np.dtype) -> Node:
    return zero(shape, dtype) if node is None else cast(node, dtype)


REQUESTS: Mapping[str, Builder] = {
    "derivatives": _derivatives,
    "jvp": _jvp,
    "vjp": _vjp,
    "hvp": _hvp,
    "hessian-diagonal": _hessian_diagonal,
    "laplacian": _laplacian,
    "gauss-newton": _gauss_newton,
    "gauss-newton-diagonal": _gauss_newton_diagonal,
}
