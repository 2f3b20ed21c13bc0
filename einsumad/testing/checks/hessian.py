"""Hessians and Hessian-vector products written by hand, against the function or its gradient.

Owns :func:`check_hessian` and :func:`check_hvp`. Imports calls, second derivatives and the diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.trees import flatten
from einsumad.testing.checks.call import Argnums, Call, call_of, copied
from einsumad.testing.checks.claims import MisfitError, parts_of
from einsumad.testing.checks.diagnose import explain, misfit_finding
from einsumad.testing.checks.expectation import Direction, claimed_along, judge, surroundings_of
from einsumad.testing.checks.first import first_findings
from einsumad.testing.checks.matrix import Label, claimed_matrix, compare_matrix, finding_of
from einsumad.testing.checks.second import ZERO, Second, second_of, stretch
from einsumad.testing.checks.shrink import with_small_case
from einsumad.testing.checks.steady import unsteady_findings
from einsumad.testing.comparison import Claimed, Comparison, Scales, compare, stacked
from einsumad.testing.point import Array, Point
from einsumad.testing.report import Finding, Report

_SYMMETRIC = 1e3
_SPREAD = 32.0


def check_hessian(
    f: Callable[..., Any],
    hessian: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    gradient: Callable[..., Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``hessian(*args)`` of the scalar function f: axes of the argument at `argnums` twice.

    For several positions a tuple of tuples. A SciPy sparse matrix or a LinearOperator will do, for an argument with one
    axis. With `gradient` the comparison is with differences of the gradient, which is checked too; without, with second
    differences of f, which are less exact. See :func:`check_user_gradient` for the options.

    >>> import numpy as np
    >>> from einsumad.testing import check_hessian
    >>> bool(check_hessian(lambda x: np.sum(x**3), lambda x: np.diag(6 * x), np.array([1.0, 2.0])))
    True
    """
    if not callable(hessian):
        raise TypeError(f"the Hessian has to be a function, got {type(hessian).__name__}")
    call = call_of(f, args, kwargs, argnums, options)
    return _check(call, lambda smaller: _hessian_findings(smaller, hessian, gradient), "hessian", (hessian, gradient))


def check_hvp(
    f: Callable[..., Any],
    hvp: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    gradient: Callable[..., Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``hvp(*args, v)``, the Hessian of the scalar function f times v, for several v.

    v and the product have the shape of the argument at `argnums`; see :func:`check_hessian`.

    >>> import numpy as np
    >>> from einsumad.testing import check_hvp
    >>> bool(check_hvp(lambda x: np.sum(x**3), lambda x, v: 6 * x * v, np.array([1.0, 2.0])))
    True
    """
    if not callable(hvp):
        raise TypeError(f"the product has to be a function, got {type(hvp).__name__}")
    call = call_of(f, args, kwargs, argnums, options)
    return _check(call, lambda smaller: _hvp_findings(smaller, hvp, gradient), "hvp", (hvp, gradient))


def _check(
    call: Call, findings: Callable[[Call], list[Finding]], what: str, given: tuple[Callable[..., Any], object]
) -> Report:
    """Check what was given: the derivative, and the gradient below it."""
    refused = call.refusal()
    if refused is not None:
        return refused
    if call.subject.output.size != 1:
        raise ShapeError(f"{call.name} has the shape {call.subject.shape}, and a Hessian needs one number")
    if call.point.is_complex:
        raise TypeError("the check of a Hessian needs real arguments: split complex ones into two real arrays")
    report = call.report(findings(call))
    claim, gradient = given
    return with_small_case(
        call, report, lambda smaller: _check(smaller, findings, what, given), what, claim=claim, gradient=gradient
    )


def _hessian_findings(call: Call, hessian: Callable[..., Any], gradient: Callable[..., Any] | None) -> list[Finding]:
    point = call.point
    label = Label("hessian", 2, "as given", _rows_shape(point), point)
    refused = unsteady_findings(call, lambda args: hessian(*args, **call.kwargs), "hessian", 2)
    if refused:
        return refused
    before = first_findings(call, gradient, "gradient") if gradient is not None else []

    def read(vector: Array) -> Array:
        with np.errstate(all="ignore"):
            return hessian_matrix(hessian(*call.arguments_at(vector), **call.kwargs), point)

    try:
        claimed = _with_unit(claimed_matrix(point, read, np.dtype(float), call.settings.seed), point)
    except MisfitError as misfit:
        return [*before, misfit_finding(call, misfit, label)]
    trusted = _trusted(gradient, before)
    if trusted is None and not surroundings_of(call.subject, call.settings).flat:
        return [*before, curved(call, label), symmetry_finding(claimed, label, point)]
    second = second_of(call, trusted)
    found = [_second_finding(call, second, claimed, label)] if second.expectation.directions or not second.forms else []
    along = [claimed_along(claimed, form.right) for form in second.forms]
    return [*before, *found, *form_findings(second, along, label), symmetry_finding(claimed, label, point)]


def curved(call: Call, label: Label) -> Finding:
    """The finding about second derivatives along curved lines, on which the first takes part in second differences."""
    detail = f"on the curved manifold {call.settings.manifold!r} second differences do not tell: pass gradient="
    return Finding(label.claim, label.order, label.mode, "differences", "undecided", detail=detail)


def _trusted(gradient: Callable[..., Any] | None, before: list[Finding]) -> Callable[..., Any] | None:
    """The gradient, if it was found right: a Hessian is not compared with what may be wrong."""
    right = [finding.verdict == "right" for finding in before if finding.claim == "gradient"]
    return gradient if right and all(right) else None


def form_findings(second: Second, along: list[Claimed], label: Label) -> list[Finding]:
    """The claimed products with random directions, paired with others: every entry takes part."""
    comparisons = []
    base = second.expectation.surroundings
    size = np.array([max([base.size, *[abs(float(form.estimate.value[0])) for form in second.forms]])])
    for form, product in zip(second.forms, along, strict=True):
        with np.errstate(all="ignore"):
            value = np.array([form.left @ product.value])
        spread = partial(_paired_spread, form.left, product)
        claimed = Claimed(value, spread, product.unit)
        relative = second.expectation.settings.relative
        comparisons.append(compare(claimed, form.estimate, Scales(size, size, ZERO), relative=relative))
    if not comparisons:
        return []
    paired = replace(label, claim=f"{label.claim}, all entries", output_shape=(), rows=None)
    return [finding_of(stacked(comparisons), [form.right for form in second.forms], paired)]


def _paired_spread(left: Array, product: Claimed) -> Array:
    return np.array([np.abs(left) @ product.spread])


def _with_unit(claimed: Claimed, point: Point) -> Claimed:
    return replace(claimed, unit=max(point.epsilon, float(np.finfo(float).eps)))


def _rows_shape(point: Point) -> tuple[int, ...]:
    return point.arrays[0].shape if len(point.arrays) == 1 else (point.size,)


def _second_finding(call: Call, second: Second, claimed: Claimed, label: Label) -> Finding:
    outcome = compare_matrix(second.expectation, claimed, label, rows=second.rows)
    if outcome.finding.verdict != "wrong" or len(call.point.arrays) != 1:
        return outcome.finding
    shape = call.point.arrays[0].shape * 2
    parts = [matrix.reshape(shape) for matrix in (outcome.found, outcome.expected, outcome.error)]
    scalar = replace(label, output_shape=(), rows=None)
    return replace(outcome.finding, cause=explain(call, parts, scalar, 0))


def hessian_matrix(answer: Any, point: Point) -> Array:
    """The matrix of a Hessian given as one array, as blocks, or as an operator."""
    if answer is None:
        raise MisfitError("the hessian returned None")
    if hasattr(answer, "toarray"):
        answer = answer.toarray()
    elif hasattr(answer, "matvec"):
        answer = answer @ np.eye(point.size)
    blocks = [np.asarray(leaf) for leaf in flatten(answer)[0]] if len(point.arrays) > 1 else [np.asarray(answer)]
    shapes = [array.shape for array in point.arrays]
    wanted = [a + b for a in shapes for b in shapes]
    if len(blocks) != len(wanted):
        raise MisfitError(f"the hessian returned {len(blocks)} blocks, and {len(wanted)} are right")
    for block, shape in zip(blocks, wanted, strict=True):
        if block.shape != shape:
            raise MisfitError(f"the hessian has a block of shape {block.shape}, and {shape} is right", block)
    count = len(shapes)
    rows = [
        np.concatenate([blocks[i * count + j].reshape(point.sizes[i], point.sizes[j]) for j in range(count)], axis=1)
        for i in range(count)
    ]
    return np.concatenate(rows, axis=0).astype(np.float64)


def symmetry_finding(claimed: Claimed, label: Label, point: Point) -> Finding:
    """Whether a claimed Hessian is symmetric."""
    matrix = claimed.value
    size = np.maximum(np.abs(matrix), np.abs(matrix.T))
    largest = float(np.max(size, initial=0.0, where=np.isfinite(size)))
    tolerance = _SYMMETRIC * claimed.unit * (size + 1e-3 * largest)
    with np.errstate(all="ignore"):
        gap = np.abs(matrix - matrix.T)
    if np.any(gap > tolerance):
        tolerance = tolerance + _SPREAD * (claimed.spread + claimed.spread.T)
    wrong = gap > tolerance
    if not wrong.any():
        return Finding("symmetry", 2, label.mode, "its transpose", "right", matrix.size)
    row, column = (int(k) for k in np.unravel_index(np.argmax(np.where(wrong, gap, -1)), matrix.shape))
    return Finding(
        "symmetry",
        2,
        label.mode,
        "its transpose",
        "wrong",
        matrix.size,
        0,
        int(wrong.sum()),
        f"{point.locate(row)}, {point.locate(column)}",
        float(matrix[row, column]),
        float(matrix[column, row]),
        0.0,
        float(tolerance[row, column]),
    )


def _hvp_findings(call: Call, hvp: Callable[..., Any], gradient: Callable[..., Any] | None) -> list[Finding]:
    point = call.point
    label = Label("hvp", 2, "as given", _rows_shape(point), point)
    tangent = _tangent(call, call.point.vector)
    refused = unsteady_findings(call, lambda args: hvp(*args, copied(tangent), **call.kwargs), "product", 2)
    if refused:
        return refused
    before = first_findings(call, gradient, "gradient") if gradient is not None else []
    trusted = _trusted(gradient, before)
    if trusted is None and not surroundings_of(call.subject, call.settings).flat:
        return [*before, curved(call, label)]
    second = second_of(call, trusted)
    comparisons: list[Comparison] = []
    for index, direction in enumerate(second.expectation.directions):
        try:
            claimed = _product(call, hvp, direction)
        except MisfitError as misfit:
            return [*before, misfit_finding(call, misfit, label)]
        comparisons.append(judge(second.expectation, index, claimed))
    if not comparisons and not second.forms:
        return [*before, Finding("hvp", 2, "as given", "the shape", "right")]
    along = [_product(call, hvp, form.right) for form in second.forms]
    forms = form_findings(second, along, label)
    if not comparisons:
        return [*before, *forms]
    finding = finding_of(stacked(comparisons), list(second.expectation.directions), label, second.rows)
    return [*before, _with_product_cause(call, finding, second, comparisons), *forms]


def _tangent(call: Call, vector: Array) -> Any:
    """A tangent in the container of the differentiated argument, or arguments."""
    tangents = call.point.in_containers(call.point.split(vector, wide=False))
    return tangents if isinstance(call.argnums, tuple) else tangents[0]


def _product(call: Call, hvp: Callable[..., Any], direction: Direction) -> Claimed:
    point = call.point
    factor = stretch(direction, call.settings.seed)

    tangent = _tangent(call, factor * direction.vector)

    def read(vector: Array) -> Array:
        with np.errstate(all="ignore"):
            answer = hvp(*call.arguments_at(vector), copied(tangent), **call.kwargs)
        parts = parts_of(answer, point, "product")
        for part, own, name in zip(parts, point.arrays, point.names, strict=True):
            if part.shape != own.shape:
                raise MisfitError(f"the product has shape {part.shape}, and {own.shape} is right for {name}", part)
        return point.join(parts)[:, None] / factor

    claimed = _with_unit(claimed_matrix(point, read, np.dtype(float), call.settings.seed), point)
    return Claimed(claimed.value[:, 0], lambda: claimed.spread[:, 0], claimed.unit)


def _with_product_cause(call: Call, finding: Finding, second: Second, comparisons: list[Comparison]) -> Finding:
    """The likely cause, from the whole Hessian where its columns were asked for."""
    directions = second.expectation.directions
    columns = [k for k, d in enumerate(directions) if d.entry is not None]
    size = call.point.size
    if finding.verdict != "wrong" or len(call.point.arrays) != 1 or len(columns) != size:
        return finding
    found, expected, error = np.zeros((3, size, size))
    for k in columns:
        entry = directions[k].entry
        length = directions[k].vector[entry]
        found[:, entry], expected[:, entry] = comparisons[k].found / length, comparisons[k].expected / length
        error[:, entry] = comparisons[k].error / abs(length)
    shape = call.point.arrays[0].shape * 2
    parts = [matrix.reshape(shape) for matrix in (found, expected, error)]
    return replace(finding, cause=explain(call, parts, Label("hvp", 2, "as given"), 0))
