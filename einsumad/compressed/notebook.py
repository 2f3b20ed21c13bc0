"""Structured tensors as HTML, for notebooks.

Owns this text. Imports pictures and the text of structures. Invariant: well formed, and nothing that comes from a user
is in it unescaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from einsumad.compressed.picture import COLOURS, Pair, Picture
from einsumad.compressed.text import dense_bytes, equation_text, shape_text, stored_arrays
from einsumad.compressed.values import Structured
from einsumad.planning import readable_bytes

_PIXELS = 192


def html_of(
    held: Mapping[Pair, Structured], names: Sequence[str], symmetric: bool, stored: int, picture: Picture
) -> str:
    """The equations, a line for each stored array, the bytes of both forms, and the picture.

    `symmetric` blocks are shown on the diagonal and above; `stored` are the bytes of all.
    """
    lines: list[str] = []
    for (i, j), block in held.items():
        if symmetric and i > j:
            continue
        where = f"[{names[i]}, {names[j]}] " if names else ""
        equation = _escaped(where + equation_text(block.form, block.arrays))
        lines.append(f'<tr><td colspan="4" style="text-align: left"><code>{equation}</code></td></tr>')
        lines += [_line(name, array) for name, array in stored_arrays(block.form, block.arrays).items()]
    dense = sum([dense_bytes(block.form) for block in held.values()])
    only = next(iter(held.values())).form
    shape = shape_text(picture.size if names else only.shape)
    totals = f"stored {readable_bytes(stored)}, dense {shape} {readable_bytes(dense)}"
    lines.append(f'<tr><th colspan="4" style="text-align: left">{_escaped(totals)}</th></tr>')
    table = f'<table style="display: inline-table; vertical-align: top">{"".join(lines)}</table>'
    return f"<div>{table}{svg_of(picture)}</div>"


def svg_of(picture: Picture) -> str:
    """The picture as an inline SVG: a path for each term, lines between the variables."""
    height, width = picture.shape
    scale = _PIXELS / max(height, width, 1)
    parts = [f'<rect width="{width}" height="{height}" fill="white" stroke="none"/>']
    seen = picture.seen()
    for term in range(len(picture.terms)):
        path = _path(seen == term)
        if path:
            title = f"<title>{_escaped(picture.terms[term])}</title>"
            parts.append(f'<path d="{path}" fill="{COLOURS[term % len(COLOURS)]}">{title}</path>')
    rows, columns = picture.borders
    border = "".join([f"M0 {at}h{width}" for at in rows] + [f"M{at} 0v{height}" for at in columns])
    parts.append(f'<path d="{border}" fill="none" stroke="black" stroke-width="1" vector-effect="non-scaling-stroke"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'viewBox="0 0 {width} {height}" preserveAspectRatio="none" shape-rendering="crispEdges" '
        f'style="margin: 4px">{"".join(parts)}</svg>'
    )


def _path(cells: np.ndarray) -> str:
    """A rectangle for each run of cells in a row."""
    padded = np.pad(cells, ((0, 0), (1, 1))).astype(np.int8)
    change = np.diff(padded, axis=1)
    rows, begins = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1]
    return "".join([f"M{b} {r}h{e - b}v1h{b - e}z" for r, b, e in zip(rows, begins, ends, strict=True)])


def _line(name: str, array: Any) -> str:
    cells = (name, shape_text(array.shape), str(array.dtype), readable_bytes(array.nbytes))
    return f"<tr>{''.join([f'<td>{_escaped(cell)}</td>' for cell in cells])}</tr>"


def _escaped(text: str) -> str:
    return str(import_module("html").escape(text))
