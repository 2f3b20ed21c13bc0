"""The page on the normal form lists every rule with its law, and nothing else."""

from pathlib import Path

from einsumad.rewriting import ALL_RULES
from einsumad.rewriting.rules import MOST_OPERANDS

PAGE = (Path(__file__).parents[2] / "docs" / "normal_form.md").read_text(encoding="utf-8")


def test_every_rule_is_listed_with_its_law() -> None:
    listed = [line for line in PAGE.splitlines() if line.startswith("| ")][1:]
    assert listed == [f"| {r.name} | {r.kind.__name__} | `{r.law}` | {r.measure} |" for r in ALL_RULES]


def test_the_bound_on_factors_is_the_one_in_the_code() -> None:
    assert f"up to {MOST_OPERANDS} factors" in PAGE
