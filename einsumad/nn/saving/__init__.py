"""Files of weights, of the states of optimisers, and of what else a run has to know to go on.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn.saving.checkpoint import Saved, load, save

__all__ = ["Saved", "load", "save"]
