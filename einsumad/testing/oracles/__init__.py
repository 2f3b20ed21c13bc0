"""Oracles: what a derivative has to be, found from values of the function alone, each with a bound on its error."""
