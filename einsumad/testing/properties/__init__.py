"""Properties of derivatives that need no step and no oracle: laws of calculus, of transforms, and of pure functions."""

from einsumad.testing.properties.case import Case
from einsumad.testing.properties.registry import PROPERTIES, QUICK, RAISES, Property, run_properties
from einsumad.testing.properties.structured import structured_agrees

__all__ = ["PROPERTIES", "QUICK", "RAISES", "Case", "Property", "run_properties", "structured_agrees"]
