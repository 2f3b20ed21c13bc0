"""The keyword arguments of a function of SciPy, together with the way back to the user's arguments.

Owns :class:`Arguments`. Imports the vectors. Invariant: it has exactly the keys that the method takes, and its ``x0``
is a new array each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.optim.vectors import Layout


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Arguments(Mapping[str, Any]):
    """Keyword arguments for SciPy, a mapping: ``scipy.optimize.minimize(**arguments)``.

    Its functions take and return vectors of float64: the leaves of the argument in the order of its tree, each in C
    order, as :meth:`flatten` and :meth:`unflatten` join and part them. f is called with arrays in the dtypes of its
    argument, and its results are cast to float64, so in float32 tolerances below about 1e-6 cannot be met. A list of
    numbers is a tree of numbers, as for all transforms; give an array where f wants one. What has no derivatives in it
    (``fun`` of Nelder-Mead, Powell, COBYLA, COBYQA, ``root`` and ``least_squares``) calls f on plain arrays.

    >>> import numpy as np
    >>> from einsumad.optim import root_arguments
    >>> root_arguments(np.sin, np.array([3.0, 6.0]))
    <arguments of scipy.optimize.root for 2 unknowns: fun, x0, method='hybr', jac>
    """

    caller: str
    start: np.ndarray
    given: Mapping[str, Any]
    layout: Layout

    def __getitem__(self, key: str) -> Any:
        return self.start.copy() if key == "x0" else self.given[key]

    def __iter__(self) -> Iterator[str]:
        yield "fun"
        yield "x0"
        yield from [key for key in self.given if key != "fun"]

    def __len__(self) -> int:
        return 1 + len(self.given)

    def __repr__(self) -> str:
        keys = [f"method={self.given[key]!r}" if key == "method" else key for key in self]
        return f"<arguments of scipy.optimize.{self.caller} for {self.layout.size} unknowns: {', '.join(keys)}>"

    def unflatten(self, vector: Any) -> Any:
        """The argument of f that a vector stands for, such as ``result.x``: its tree, shapes and dtypes.

        A tuple of arguments where `argnums` is a tuple. Raises :class:`ShapeError` for another number of entries.
        """
        return self.layout.unflatten(vector)

    def flatten(self, tree: Any) -> np.ndarray:
        """The vector of a tree like the argument, for bounds and scales. Leaves are broadcast to the argument's shapes.

        >>> import numpy as np
        >>> from scipy.optimize import Bounds, minimize
        >>> from einsumad.optim import minimize_arguments
        >>> start = {"a": np.ones(2), "b": 1.0}
        >>> problem = minimize_arguments(lambda p: np.sum(p["a"] ** 2) + (p["b"] - 3) ** 2, start, method="L-BFGS-B")
        >>> lower = problem.flatten({"a": 0.5, "b": -np.inf})
        >>> result = minimize(**problem, bounds=Bounds(lower, np.inf))
        >>> problem.unflatten(result.x.round(6))
        {'a': array([0.5, 0.5]), 'b': np.float64(3.0)}
        """
        return self.layout.flatten(tree)
