"""The cases, by topic; the order is that of the tables."""

from benchmark.case import Case
from benchmark.cases import paper

CASES: dict[str, Case] = {case.name: case for topic in (paper,) for case in topic.CASES}
