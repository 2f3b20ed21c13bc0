"""The choice of a strategy: from indices and sizes, by estimated time, within the memory limit.

Owns the order of reasoning. Imports the strategies. Invariant: the choice depends on the form and the limit only.

First what all terms have in common as a Kronecker factor is taken out; of what is left, blocks, pairs, bands, sparse
matrices and updates of low rank are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from einsumad.compressed.forms import Form, make_form
from einsumad.compressed.solving.blocks import BlockStrategy, IdentityStrategy, is_identity, tied_positions
from einsumad.compressed.solving.contents import groups_of, joined, part_form, products_of
from einsumad.compressed.solving.guarded import GuardedStrategy
from einsumad.compressed.solving.kronecker import KroneckerStrategy, PairStrategy
from einsumad.compressed.solving.low_rank import LowRankStrategy, Outer, outer_of
from einsumad.compressed.solving.scattered import BandedStrategy, SparseStrategy, band_of, stored_entries
from einsumad.compressed.solving.strategy import Strategy, is_symmetric
from einsumad.compressed.terms import Term
from einsumad.errors import LinearAlgebraError, MemoryLimitError
from einsumad.planning import physical_memory, readable_bytes

_SMALLEST_SPARSE = 200
_SPARSE_SHARE = 0.1


@lru_cache(maxsize=512)
def choose(form: Form, memory_limit: int | None = None) -> Strategy:
    """The strategy for a square form that is estimated to be fastest.

    Raises :class:`MemoryLimitError` where none stays within the limit.
    """
    limit = physical_memory() if memory_limit is None else memory_limit
    found = _best(form, memory_limit)
    within = [strategy for strategy in found if strategy.effort.bytes <= limit]
    if not within:
        least = min(found, key=lambda strategy: strategy.effort.bytes)
        raise MemoryLimitError(
            f"a factorisation of the matrix of shape {form.shape} would need {readable_bytes(least.effort.bytes)}, "
            f'over the limit of {readable_bytes(limit)}: solve with method="cg", which needs products only, or raise '
            f"the limit with memory_limit={least.effort.bytes} (bytes)"
        )
    return _guarded(sorted(within, key=lambda strategy: strategy.effort.seconds))


def _guarded(ordered: Sequence[Strategy]) -> Strategy:
    """The first strategy, with those after it in reserve where it may lose digits and its parts have no reserve."""
    if not ordered[0].rough or isinstance(ordered[0], KroneckerStrategy):
        return ordered[0]
    last = next((k for k, strategy in enumerate(ordered) if not strategy.rough), len(ordered))
    return GuardedStrategy(ordered[: last + 1])


def _best(form: Form, memory_limit: int | None = None) -> list[Strategy]:
    """The strategies to compare."""
    size = prod(form.shape[: form.rows])
    if not form.terms and size:
        raise LinearAlgebraError(f"the matrix of shape {form.shape} is zero by its structure: it has no inverse")
    if is_identity(form):
        return [IdentityStrategy(form)]
    if not size:
        return [BlockStrategy(form, tied_positions(form))]
    split = _kronecker(form, memory_limit)
    return [split] if split is not None else list(_candidates(form, size, memory_limit))


def _kronecker(form: Form, memory_limit: int | None) -> Strategy | None:
    """The strategy for a form that has a Kronecker factor common to all of its terms."""
    groups = groups_of(form)
    if len(groups) < 2:
        return None
    products = products_of(form, groups)
    keys = [product.keys for product in products]
    common = [k for k in range(len(groups)) if all(key[k] == keys[0][k] for key in keys)]
    if not common:
        return None
    if len(common) == len(groups):
        heavy = max(common, key=lambda k: (sum([len(term.items) for term in products[0].contents[k]]), k))
        common.remove(heavy)
    parts = [part_form(form, products[0].contents[k], groups[k]) for k in common]
    rest = [k for k in range(len(groups)) if k not in common]
    positions = tuple(sorted([p for k in rest for p in groups[k]]))
    terms = [
        joined(choice, [groups[k] for k in rest])
        for one in products
        for choice in product(*[one.weighted(k) if k == rest[-1] else one.contents[k] for k in rest])
    ]
    symmetric = form.symmetric and all(is_identity(part) for part in parts)
    left = part_form(form, terms, positions, symmetric)
    return KroneckerStrategy(
        form, [choose(part, memory_limit) for part in (*parts, left)], [*[groups[k] for k in common], positions]
    )


def _candidates(form: Form, size: int, memory_limit: int | None) -> Iterator[Strategy]:
    """The strategies for a form without a common Kronecker factor."""
    tied = tied_positions(form)
    yield BlockStrategy(form, tied)
    if len(tied) == form.rows:
        return
    groups = groups_of(form)
    products = products_of(form, groups) if len(groups) > 1 else []
    if len(products) == 2:
        yield PairStrategy(form, products, groups)
    band = band_of(form)
    if band is not None and sum(band[1:]) + 1 < size:
        yield BandedStrategy(form, *band)
    count = stored_entries(form)
    if size >= _SMALLEST_SPARSE and count < _SPARSE_SHARE * size**2:
        yield SparseStrategy(form, count)
    low_rank = None if tied else _low_rank(form, size, memory_limit)
    if low_rank is not None:
        yield low_rank


def _low_rank(form: Form, size: int, memory_limit: int | None) -> Strategy | None:
    """The terms that are no update of low rank as the base of those that are."""
    kept: list[Term] = []
    split: list[tuple[Term, Outer]] = []
    for term in form.terms:
        found = outer_of(term, form.rows)
        if found is None or min(found.ranks) * 2 >= size:
            kept.append(term)
        else:
            split.append((term, found))
    if not split or not kept:
        return None
    update = make_form([term for term, _ in split], form.shape, form.dtype, form.rows)
    symmetric = is_symmetric(update)
    base = make_form(kept, form.shape, form.dtype, form.rows, form.symmetric and symmetric)
    return LowRankStrategy(form, choose(base, memory_limit), [found for _, found in split], symmetric)
