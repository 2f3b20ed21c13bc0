"""Every rule: it fires on its smallest example, its law holds there, and it keeps shape and dtype."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from einsumad.errors import InternalError
from einsumad.execution.reference import evaluate
from einsumad.graph import Einsum, Node, count_users, leaves, sum_axes, topological
from einsumad.graph.verify import verify
from einsumad.rewriting import ALL_RULES, Context, Progress, Rule, engine, normalise
from tests.rewriting.examples import EXAMPLES, MORE, A, values_for

RATIONAL = frozenset({"square", "power", "reciprocal", "logical_not", "logical_or", "logical_and"})


def is_rational(node: Node) -> bool:
    return all(getattr(inner, "function", "square") in RATIONAL for inner in topological([node])) and not any(
        isinstance(p, float) and not p.is_integer()
        for inner in topological([node])
        for p in getattr(inner, "params", ())
    )


def check_equal(before: Node, after: Node) -> None:
    """In floating point, and exactly in whole numbers where both sides are rational."""
    verify([before, after])
    assert (after.shape, after.dtype) == (before.shape, before.dtype)
    first, second = evaluate([before, after], values_for([before, after]))
    np.testing.assert_allclose(second, first, rtol=1e-12, atol=1e-12)
    if is_rational(before) and is_rational(after):
        generator = np.random.default_rng(1)
        values = {
            node: generator.integers(0, 2, node.shape).astype(bool)
            if node.dtype == bool
            else generator.integers(1, 9, node.shape)
            for node in leaves([before, after])
        }
        first, second = evaluate([before, after], values, exact=True)
        assert np.array_equal(first, second)


def firing(rule: Rule, root: Node) -> tuple[Node, Node]:
    """A node of the graph on which the rule fires when asked alone, and what it makes of it."""
    context = Context(Counter(count_users([root])))
    for node in topological([root]):
        if isinstance(node, rule.kind):
            following = rule.apply(node, context)
            if following is not None and following is not node:
                return node, following
    raise AssertionError(f"{rule.name} does not fire")


def test_every_rule_has_an_example() -> None:
    assert set(EXAMPLES) == {rule.name for rule in ALL_RULES}


def test_names_are_unique_and_rules_are_documented() -> None:
    assert len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)
    for rule in ALL_RULES:
        assert rule.law
        assert rule.measure
        assert rule.apply.__doc__ or rule.name in ("compose-affine", "orient-affine")


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_rule_fires_alone_and_its_law_holds(rule: Rule) -> None:
    before, after = firing(rule, EXAMPLES[rule.name])
    check_equal(before, after)


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_rule_fires_on_the_way_to_the_normal_form(rule: Rule) -> None:
    progress = Progress()
    normalise([EXAMPLES[rule.name]], progress)
    assert progress.fired[rule.name]


@pytest.mark.parametrize("name", [*EXAMPLES, *MORE])
def test_normal_form_of_the_example_has_its_value(name: str) -> None:
    root = {**EXAMPLES, **MORE}[name]
    (found,) = normalise([root])
    check_equal(root, found)
    assert normalise([found]) == (found,)


def test_a_rule_that_changes_the_shape_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Rule("wrong", Einsum, "A = B", "nothing", lambda node, _: node.operands[0])
    monkeypatch.setattr(engine, "rules_for", lambda node, *_: (wrong,) if isinstance(node, Einsum) else ())
    with pytest.raises(InternalError, match="rule wrong changed"):
        normalise([sum_axes(A, [1])])


def test_normal_forms_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from einsumad.rewriting import Progress, normalise\n"
        "from tests.rewriting.examples import EXAMPLES, MORE\n"
        "progress = Progress()\n"
        "found = normalise([*EXAMPLES.values(), *MORE.values()], progress)\n"
        "print([node.digest.hex() for node in found], list(progress.fired.items()))\n"
    )
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
