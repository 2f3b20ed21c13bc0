"""Systems with a structured matrix: which factorisation it has, and how it is built from the stored arrays.

Imports forms, their values and the factorisations. A strategy is found from indices and sizes alone; numbers are looked
at only when it is carried out.
"""

from einsumad.compressed.solving.bordered import (
    Blocks,
    factorise_blocks,
    factorise_whole,
    inverse_blocks,
    inverse_whole,
)
from einsumad.compressed.solving.choice import choose
from einsumad.compressed.solving.guarded import backward_error
from einsumad.compressed.solving.strategy import Strategy, is_symmetric

__all__ = [
    "Blocks",
    "Strategy",
    "backward_error",
    "choose",
    "factorise_blocks",
    "factorise_whole",
    "inverse_blocks",
    "inverse_whole",
    "is_symmetric",
]
