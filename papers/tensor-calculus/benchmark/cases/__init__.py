"""The cases, by topic; the order is that of the tables."""

from benchmark.case import Case
from benchmark.cases import bundle, clusters, growth, paper, physics, products

CASES: dict[str, Case] = {
    case.name: case for topic in (paper, products, growth, clusters, bundle, physics) for case in topic.CASES
}
