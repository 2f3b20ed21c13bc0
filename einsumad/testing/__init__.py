"""Property-based gradient tests: oracles, checks, reports and Hypothesis strategies."""
