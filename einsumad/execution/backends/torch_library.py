"""PyTorch.

Owns the differences of its tensors from the standard. Imports PyTorch, which is loaded already, through
array-api-compat. Invariant: what PyTorch's own differentiation would record is refused, not detached behind its back.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution.backends.array_library import Array, Function, Home, Library
from einsumad.execution.backends.torch_functions import tables


class TorchLibrary(Library):
    """Tensors of PyTorch, on any device."""

    takes_numbers = True

    def __init__(self, torch: Any, namespace: Any) -> None:
        super().__init__("torch", namespace)
        self.torch = torch
        self.failures = (torch.linalg.LinAlgError,)

    def home_of(self, x: Array) -> Home:
        """The device as PyTorch names it."""
        return Home(self, x.device, x.device.type == "cpu")

    def check(self, x: Array) -> None:
        """A tensor that requires a gradient, where gradients are recorded, is refused."""
        if x.requires_grad and self.torch.is_grad_enabled():
            raise TracingError(
                f"a tensor of torch of shape {tuple(x.shape)} requires a gradient, and what is computed here is not "
                "recorded by torch: give x.detach(), or call within torch.no_grad()"
            )
        if x.layout != self.torch.strided:
            raise TracingError(f"a tensor of torch with the layout {x.layout} cannot be traced: give x.to_dense()")

    def private(self, x: Array) -> Array:
        """A copy that is no part of what PyTorch records."""
        return x.detach().clone()

    def stamp(self, x: Array) -> object:
        """The number of writes, which tensors made in inference mode do not have."""
        return None if x.is_inference() else x._version  # noqa: SLF001 (PyTorch's own counter has no other name)

    def unchanged(self, x: Array, kept: Array, stamp: object) -> bool:
        """By the number of writes."""
        return self.stamp(x) == stamp if stamp is not None else bool(self.torch.equal(x, kept))

    def from_numpy(self, array: np.ndarray, device: Any) -> Array:
        """On the host the memory is shared. PyTorch warns that it could be written through the tensor: it is not."""
        if any(stride < 0 for stride in array.strides):
            array = array.copy()
        with warnings.catch_warnings():
            if not array.flags.writeable:
                warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            return self.torch.as_tensor(array, device=device)

    def to_numpy(self, x: Array) -> np.ndarray:
        """A copy."""
        return np.array(x.detach().numpy() if x.shape else x.item())

    def apart(self, outputs: Sequence[Array], given: Sequence[Array], shared: Sequence[bool]) -> tuple[Array, ...]:
        """By the addresses of what is stored."""
        torch, found = self.torch, []
        met = {x.untyped_storage().data_ptr() for x in given}
        for x, may in zip(outputs, shared, strict=True):
            if may and (x.untyped_storage().data_ptr() in met or 0 in x.stride()):
                x = x.clone(memory_format=torch.contiguous_format)  # noqa: PLW2901 (the copy in its place)
            met.add(x.untyped_storage().data_ptr())
            found.append(x)
        return tuple(found)

    def add_rows(self, x: Array, index: Array, size: int) -> Array:
        """By ``index_add``."""
        zeros = self.torch.zeros((size, *x.shape[1:]), dtype=x.dtype, device=x.device)
        return zeros.index_add(0, index, x)

    def running(self, device: Any) -> AbstractContextManager[Any]:  # noqa: ARG002 (arrays know where they are)
        """PyTorch does not warn."""
        return nullcontext()

    def elementwise(self) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
        """What ``torch.special`` has."""
        return tables(self.torch)
