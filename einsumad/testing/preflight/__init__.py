"""Preflight: what makes a derivative test of a function meaningless or misleading, found before it starts."""

from einsumad.testing.preflight.keeping import unchanged
from einsumad.testing.preflight.look import preflight
from einsumad.testing.preflight.trouble import KINDS, Trouble

__all__ = ["KINDS", "Trouble", "preflight", "unchanged"]
