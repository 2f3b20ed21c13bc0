"""The meaning of subscripts, by definition: every entry of every operand at every setting of all indices."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.notation import Subscripts, check_sizes


def evaluate(subscripts: Subscripts, operands: Sequence[np.ndarray]) -> Any:
    sizes = check_sizes(subscripts, [operand.shape for operand in operands])
    labels = [*subscripts.output, *(label for label in sizes if label not in subscripts.output)]
    grid = dict(zip(labels, np.indices([sizes[label] for label in labels], sparse=True), strict=True))
    product = np.ones([sizes[label] for label in labels])
    for indices, operand in zip(subscripts.inputs, operands, strict=True):
        place = [0 if size == 1 else grid[label] for label, size in zip(indices, operand.shape, strict=True)]
        product = product * operand[tuple(place)]
    kept = product.shape[: len(subscripts.output)]
    return product.reshape(*kept, prod(product.shape[len(kept) :])).sum(axis=-1)
