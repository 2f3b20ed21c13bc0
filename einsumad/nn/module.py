"""Modules: functions of arrays that hold parameters.

Owns :class:`Module`, and how one is called. Imports the tree, the context of calls, and what shows a module. Invariant:
a module is a function written with NumPy; it has no derivative of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

import einsumad as ea
from einsumad.nn.context import Copies, calling, within_call
from einsumad.nn.parameter import forget_pending, settle
from einsumad.nn.showing import note_result, shown, summary_of
from einsumad.nn.state import Names, load_state, state_of, values_by_identity
from einsumad.nn.tree import Tree


class Module(Tree):
    """The base of all layers and networks. A subclass sets parameters and modules as attributes and writes `forward`.

    Called as it is, parameters are tensors that ``backward`` leaves gradients on. `apply` is the same as a pure
    function of named arrays, for transforms.

    >>> import numpy as np, einsumad as ea, einsumad.nn as nn
    >>> class Scale(nn.Module):
    ...     def __init__(self, size):
    ...         self.factor = nn.Parameter(np.ones(size))
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> scale, x = Scale(2), np.array([2.0, 3.0])
    >>> np.sum(scale(x) ** 2).backward()
    >>> scale.factor.grad
    array([ 8., 18.])
    >>> ea.hessian(lambda p: np.sum(scale.apply(p, x) ** 2))(scale.arrays())["factor"]["factor"]
    array([[ 8.,  0.],
           [ 0., 18.]])
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 (of subclasses)
        """What the module computes, written with NumPy's functions."""
        raise TypeError(f"{type(self).__name__} has no forward(): write it, it is what the module computes")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` gives."""
        with within_call() as outermost:
            try:
                result = self.forward(*args, **kwargs)
                if outermost:
                    self._settle()
            finally:
                if outermost:
                    forget_pending([buffer for _, buffer in self.named_buffers()])
        note_result(self, result)
        return result

    def apply(
        self, values: Mapping[str, Any], /, *args: Any, rng: np.random.Generator | None = None, **kwargs: Any
    ) -> Any:
        """What the module computes with these arrays, traced or not, by the names of its parameters and buffers.

        It is a pure function: running statistics stay as they are, and random numbers are those that would come next,
        the same in each call, as generators stay as they are too; with `rng` they are drawn from there. Arrays that are
        not named keep the values that they have.

        A function that ``ea.compile`` traces keeps all that it was not given, as it was: the mode, running statistics,
        frozen parameters. ``module.apply(arrays, x)`` with ``arrays = module.state_dict()`` among the arguments follows
        the arrays.

        Raises :class:`KeyError` for names that the module has not, and :class:`ShapeError` for other shapes.
        """
        with calling(values_by_identity(self, values), Copies(rng)), within_call():
            return self.forward(*args, **kwargs)

    def apply_and_update(
        self, values: Mapping[str, Any], /, *args: Any, rng: np.random.Generator | None = None, **kwargs: Any
    ) -> tuple[Any, dict[str, Any]]:
        """What `apply` gives, and the new values of the buffers that the call would change, by name."""
        with calling(values_by_identity(self, values), Copies(rng)) as call, within_call():
            result = self.forward(*args, **kwargs)
        updates = {name: call.updates[id(b)] for name, b in self.named_buffers() if id(b) in call.updates}
        return result, updates

    def train(self, mode: bool = True) -> Self:
        """Set this module and all below it to training, or to evaluation."""
        for _, module in self.named_modules():
            module.training = bool(mode)
        return self

    def eval(self) -> Self:
        """Set this module and all below it to evaluation."""
        return self.train(False)

    def to(self, dtype: Any) -> Self:
        """Convert all parameters and buffers of a floating dtype to this one."""
        target = np.dtype(dtype)
        if target.kind != "f":
            raise TypeError(f"parameters have a floating dtype, got {target}")
        for _, parameter in self.named_parameters():
            parameter.convert(target)
        for _, buffer in self.named_buffers():
            buffer.convert(target)
        return self

    def half(self) -> Self:
        """Convert to float16, as ``to(np.float16)`` does."""
        return self.to(np.float16)

    def float(self) -> Self:
        """Convert to float32, as ``to(np.float32)`` does."""
        return self.to(np.float32)

    def double(self) -> Self:
        """Convert to float64, as ``to(np.float64)`` does."""
        return self.to(np.float64)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set those that there are to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else np.zeros_like(parameter.data)

    def state_dict(self, prefix: str = "") -> dict[str, np.ndarray]:
        """The arrays of all parameters and persistent buffers by their names, read-only; `prefix` leads each name."""
        return {prefix + name: array for name, array in state_of(self).items()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> Names:
        """Take the arrays of another module of the same structure; gives ``(missing_keys, unexpected_keys)``.

        Raises :class:`KeyError` naming what is missing or not known (with `strict`) and :class:`ShapeError` naming all
        arrays of other shapes; nothing is changed then.
        """
        return load_state(self, state, strict)

    def summary(self, *input_shapes: tuple[int, ...], dtype: Any = np.float32) -> str:
        """A table of all modules with the shapes of their results and the numbers of their parameters."""
        return summary_of(self, input_shapes, dtype)

    def extra_repr(self) -> str:
        """What stands between the parentheses of the text of a module that holds no others."""
        return ""

    def __repr__(self) -> str:
        return shown(self)

    def _settle(self) -> None:
        try:
            settle([buffer for _, buffer in self.named_buffers()])
        except ea.TracingError as error:
            raise ea.TracingError(
                f"running statistics of {type(self).__name__} would have to be kept while values are not known yet: "
                "under ea.compile use module.apply_and_update(values, x), which gives them back, or module.eval()"
            ) from error
