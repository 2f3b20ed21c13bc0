"""The command line: a quick look at the derivatives of a function, without a test.

Owns the name of the entry. Nothing of the library imports it.
"""

from einsumad.cli.command import main

__all__ = ["main"]
