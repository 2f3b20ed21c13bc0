"""SciPy's namespaces, with what NumPy's protocols cannot catch.

Owns nothing but the modules' names. Imports nothing. Invariant: SciPy is loaded when a function of it is first used.
"""
