"""The parts of the pytest plugin: what was checked, how it is summed up, and the fixture.

Owns no code. Invariant: importing this package, its records or its summary loads neither the checks nor Hypothesis.
"""
