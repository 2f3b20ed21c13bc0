"""Pictures of structured matrices drawn with matplotlib.

Owns this drawing. Imports pictures; matplotlib is loaded when something is drawn. Invariant: what is drawn is the
picture, nothing is computed here.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any

import numpy as np

from einsumad.compressed.picture import COLOURS, Picture

_MOST_LINES = 12
_LONGEST_LINE = 90


def draw(picture: Picture, title: str, ax: Any = None) -> Any:
    """The axes of matplotlib with the picture, a title and a legend of the terms; new ones without `ax`.

    Raises :class:`ImportError` where matplotlib is not installed.
    """
    if ax is None:
        lines = min(len(picture.terms), _MOST_LINES + 1)
        _, ax = _loaded("pyplot").subplots(figsize=(6.4, 4.8 + 0.2 * lines), layout="constrained")
    if picture.names:
        _draw_blocks(picture, ax)
    else:
        _draw_cells(picture, ax, picture.size)
    ax.set_title(_plain(title), fontsize="medium")
    if picture.terms:
        _draw_legend(picture, ax)
    return ax


def _loaded(name: str) -> Any:
    try:
        return importlib.import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise ImportError(
            "plot() draws with matplotlib, which could not be loaded: pip install 'einsumad[plot]'"
        ) from error


def _draw_cells(picture: Picture, ax: Any, size: tuple[int, int]) -> None:
    """The cells, stretched so that the axes count up to `size`; an entry is at its index, as in ``spy``."""
    height, width = size
    if height and width:
        colours = [tuple(bytes.fromhex(colour[1:])) for colour in COLOURS]
        seen = picture.seen()
        image = np.where(seen[..., None] < 0, 255, np.array(colours)[seen % len(colours)]).astype(np.uint8)
        extent = (-0.5, width - 0.5, height - 0.5, -0.5)
        near = max(height, width) <= 4 * min(height, width)
        ax.imshow(image, interpolation="nearest", extent=extent, aspect="equal" if near else "auto")
    ax.set_xlabel("column")
    ax.set_ylabel("row")


def _draw_blocks(picture: Picture, ax: Any) -> None:
    """The cells, lines between the variables, and their names."""
    _draw_cells(picture, ax, picture.shape)
    sides = (
        (picture.borders[0], ax.axhline, ax.set_yticks, ax.set_ylabel),
        (picture.borders[1], ax.axvline, ax.set_xticks, ax.set_xlabel),
    )
    names = [_plain(name) for name in picture.names]
    for borders, line, ticks, label in sides:
        for border in borders[1:-1]:
            line(border - 0.5, color="black", linewidth=0.8)
        ticks([(begin + end - 1) / 2 for begin, end in pairwise(borders)], names)
        label("")
    ax.tick_params(length=0)


def _draw_legend(picture: Picture, ax: Any) -> None:
    patch = _loaded("patches").Patch
    texts = [_plain(text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…") for text in picture.terms]
    handles = [patch(color=COLOURS[k % len(COLOURS)], label=text) for k, text in enumerate(texts[:_MOST_LINES])]
    if len(texts) > _MOST_LINES:
        handles.append(patch(color="none", label=f"and {len(texts) - _MOST_LINES} more terms"))
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.12), fontsize="small", frameon=False)


def _plain(text: str) -> str:
    """The text, none of it read as a formula by matplotlib."""
    return text.replace("$", r"\$")
