"""When a run has learned enough.

Owns :class:`EarlyStopping`. Imports modules. Invariant: what it keeps is the state of the best epoch, not of the last.
"""

from __future__ import annotations

from math import inf
from typing import Any

from einsumad.nn.module import Module


class EarlyStopping:
    """End a run after `patience` epochs in a row in which a measure has not become better, and go back to the best one.

    `monitor` is a name of the history, by default ``"val_loss"``; it becomes better by at least `min_delta`, downwards
    or, with ``mode="max"``, upwards. With `restore_best` the model has the arrays of the best epoch in the end.
    (Prechelt, Early Stopping, But When?, 1998.)
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 5,
        min_delta: float = 0.0,
        mode: str = "min",
        restore_best: bool = True,
    ) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode is 'min' or 'max', got {mode!r}")
        if patience < 0:
            raise ValueError(f"patience is a number of epochs, got {patience}")
        self.monitor, self.patience, self.min_delta, self.mode = monitor, patience, min_delta, mode
        self.restore_best = restore_best
        self.best, self.waited = inf, 0
        self._state: dict[str, Any] | None = None

    def check(self, *, measuring: bool) -> None:
        """Raise :class:`ValueError` if what is monitored is of data held out, and there are none."""
        if self.monitor.startswith("val_") and not measuring:
            raise ValueError(
                f"EarlyStopping watches {self.monitor!r}, and nothing is held out: pass validation=, or watch "
                "EarlyStopping(monitor='loss')"
            )

    def is_over(self, record: dict[str, float], model: Module) -> bool:
        """Whether the run ends with this epoch."""
        if self.monitor not in record:
            raise KeyError(f"nothing is measured as {self.monitor!r}, but {', '.join(record)}")
        value = record[self.monitor] if self.mode == "min" else -record[self.monitor]
        if value < self.best - self.min_delta:
            self.best, self.waited = value, 0
            self._state = model.state_dict() if self.restore_best else None
            return False
        self.waited += 1
        return self.waited >= self.patience

    def restore(self, model: Module) -> None:
        """Give the model the arrays of the best epoch."""
        if self._state is not None:
            model.load_state_dict(self._state)

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs, with the arrays of the best epoch."""
        return {"best": self.best if self.best < inf else None, "waited": self.waited, "state": self._state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.best = inf if state["best"] is None else float(state["best"])
        self.waited, self._state = int(state["waited"]), state["state"]
