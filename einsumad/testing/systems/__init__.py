"""Systems that differentiate: each says in one record how to ask it for values, derivatives and products."""

from einsumad.testing.systems.base import System, flat_tensor
from einsumad.testing.systems.own import EINSUMAD

__all__ = ["EINSUMAD", "System", "flat_tensor"]
