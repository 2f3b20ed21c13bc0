"""Plots on logarithmic axes: one a case, a panel for each job, a line for each system.

Owns the drawing. Imports Matplotlib, so it is loaded only where plots are asked for.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.case import KINDS
from benchmark.cases import CASES
from benchmark.records import Run

_STYLE = {
    "ours": ("C3", "-"),
    "ours-uncompiled": ("C3", ":"),
    "hand": ("black", "--"),
    "jax": ("C0", "-"),
    "torch": ("C1", "-"),
    "autograd": ("C2", "-"),
    "tensorgrad": ("C4", "-"),
}


def draw(run: Run, folder: Path) -> list[Path]:
    """Write a picture for each case with several sizes; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in dict.fromkeys([record.case for record in run.records]):
        records = [record for record in run.records if record.case == name and ":" not in record.system]
        if len({record.n for record in records}) < 2:
            continue
        kinds = list(dict.fromkeys([record.kind for record in records]))
        across = min(3, len(kinds))
        down = -(-len(kinds) // across)
        figure = Figure(figsize=(4 * across, 3.5 * down), layout="constrained")
        for place, kind in enumerate(kinds, 1):
            panel = figure.add_subplot(down, across, place)
            _panel(panel, run, name, kind)
        figure.axes[0].legend(fontsize="x-small")
        figure.suptitle(CASES[name].title)
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=120)
        made.append(path)
    return made


def _panel(panel: Axes, run: Run, case: str, kind: str) -> None:
    records = [record for record in run.records if (record.case, record.kind) == (case, kind)]
    for system in dict.fromkeys([record.system for record in records if ":" not in record.system]):
        points = sorted([(r.n, 1e3 * r.seconds) for r in records if r.system == system and r.seconds is not None])
        if points:
            colour, line = _STYLE[system]
            panel.loglog(*zip(*points, strict=True), line, color=colour, marker=".", label=system)
    sizes = sorted({record.n for record in records})
    panel.set_xticks(sizes, [str(n) for n in sizes], fontsize="small")
    panel.minorticks_off()
    panel.set_title(KINDS[kind])
    panel.set_xlabel(CASES[case].parameter)
    panel.set_ylabel("milliseconds")
    panel.grid(visible=True, which="both", alpha=0.3)
