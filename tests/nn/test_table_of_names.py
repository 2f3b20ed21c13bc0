"""The table of docs/networks.md has every public name of networks, optimisers and schedules."""

from __future__ import annotations

import re
from pathlib import Path

from einsumad import nn, optim
from einsumad.nn.training.metrics import _NAMED
from einsumad.optim import lr_scheduler

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "networks.md").read_text(encoding="utf-8")
TABLE = PAGE.split("## What there is\n")[1].split("\n## ")[0]
NAMES = set(re.findall(r"`([^`]+)`", "\n".join(line for line in TABLE.splitlines() if line.startswith("|"))))


def test_names_of_networks() -> None:
    listed = {name for name in NAMES if not name.startswith(("optim.", '"'))}
    assert listed == set(nn.__all__) | set(lr_scheduler.__all__)


def test_names_of_optimisers() -> None:
    kinds = (optim.Optimizer, optim.SecondOrderOptimizer, optim.Objective, optim.Method)
    public = {
        f"optim.{name}"
        for name in optim.__all__
        if isinstance(getattr(optim, name), type) and issubclass(getattr(optim, name), kinds)
    }
    assert {name for name in NAMES if name.startswith("optim.")} == {*public, "optim.lr_scheduler"}


def test_names_of_metrics() -> None:
    assert {name.strip('"') for name in NAMES if name.startswith('"')} == set(_NAMED)
