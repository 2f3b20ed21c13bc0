"""What of other libraries' namespaces is not traced, and why: for error messages and the table of functions."""
