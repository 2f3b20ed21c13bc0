"""What structured tensors look like: a plot of the pattern, and HTML for notebooks.

Owns this part of their interface. Loads pictures, their drawing and the HTML when they are asked for. Invariant:
looking at a tensor never makes the dense one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from einsumad.compressed.block_systems import Layout
from einsumad.compressed.loading import drawing, notebook, pictures
from einsumad.compressed.text import dense_bytes, shape_text
from einsumad.compressed.values import Structured
from einsumad.planning import readable_bytes

if TYPE_CHECKING:
    from einsumad.compressed.picture import Pair

_MOST_CELLS = 256
_MOST_CELLS_IN_NOTEBOOKS = 64


class Shown(ABC):
    """A structured tensor, or blocks of them over the variables of a layout, that can be looked at."""

    layout: Layout | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape that is written above the plot."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The dtype of the entries."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The bytes of the arrays that are stored."""

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether the blocks below the diagonal are those above, turned."""

    @abstractmethod
    def blocks(self) -> Mapping[Pair, Structured]:
        """The blocks by row and column; a tensor is the only one."""

    def plot(self, ax: Any = None) -> Any:
        """The pattern of the matrix of flattened rows and columns, drawn with matplotlib; returns the axes.

        A cell is coloured if and only if an entry in it is not zero by the structure; each term has its colour, and of
        several the one with the fewest cells is seen. There are about 256 cells in each direction at most, however
        large the tensor is, and the dense one is not made. (Terms with more than 16 million rows and columns together
        may colour cells beside the right ones.) Several variables stand between lines, small ones larger than they are.

        Draws into `ax`, or a new figure. Raises :class:`ImportError` without matplotlib, which the extra ``plot`` has:
        ``pip install einsumad[plot]``.
        """
        held = self.blocks()
        dense = sum([dense_bytes(block.form) for block in held.values()])
        title = (
            f"{shape_text(self.shape)} {self.dtype}: stored {readable_bytes(self.nbytes)}, "
            f"dense {readable_bytes(dense)}"
        )
        picture = pictures().picture_of(held, self._names(), self.symmetric, _MOST_CELLS)
        return drawing().draw(picture, title, ax)

    def _repr_html_(self) -> str:
        held = self.blocks()
        picture = pictures().picture_of(held, self._names(), self.symmetric, _MOST_CELLS_IN_NOTEBOOKS)
        text: str = notebook().html_of(held, self._names(), self.symmetric, self.nbytes, picture)
        return text

    def _names(self) -> tuple[str, ...]:
        return self.layout.names if self.layout else ()
