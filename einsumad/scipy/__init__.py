"""SciPy's namespaces, for its functions that do not answer to traced values by themselves."""
