"""Systems with a structured matrix: which factorisation it has, and how it is built from the stored arrays.

Imports forms, their values and the factorisations. A strategy is found from indices and sizes alone; numbers are looked
at only when it is carried out.
"""

from einsumad.compressed.solving.bordered import Blocks, factorise_blocks, inverse_blocks
from einsumad.compressed.solving.choice import choose
from einsumad.compressed.solving.strategy import Strategy, is_symmetric

__all__ = ["Blocks", "Strategy", "choose", "factorise_blocks", "inverse_blocks", "is_symmetric"]
