"""Derivatives that keep their structure: products with deltas that are stored, multiplied and solved as they are.

Owns the compressed form of a result. May import the planning and the execution of expressions, and nothing of the
frontend. Invariant: no operation makes the dense array unless it is asked for.
"""
