"""Systems that differentiate: each says in one record how to ask it for values, derivatives and products."""

from einsumad.testing.systems.autograd_system import AUTOGRAD
from einsumad.testing.systems.base import System, flat_tensor
from einsumad.testing.systems.find import installed_systems, system
from einsumad.testing.systems.jax_system import JAX
from einsumad.testing.systems.own import EINSUMAD
from einsumad.testing.systems.torch_system import TORCH

__all__ = ["AUTOGRAD", "EINSUMAD", "JAX", "TORCH", "System", "flat_tensor", "installed_systems", "system"]
