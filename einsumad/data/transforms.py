"""Functions of arrays for the data of a model, some fitted to the data for training, some with an inverse.

Owns them. Imports NumPy and the errors. Invariant: what was fitted is used as it is for all data; floating dtypes stay
as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from einsumad.errors import ShapeError


class Compose:
    """One transform after the other; `inverse` undoes them from the last to the first.

    >>> double = Lambda(lambda x: 2 * x, inverse=lambda x: x / 2)
    >>> plus_one = Lambda(lambda x: x + 1, inverse=lambda x: x - 1)
    >>> both = Compose([double, plus_one])
    >>> both(3.0), both.inverse(7.0)
    (7.0, 3.0)
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        self.transforms = tuple(transforms)
        wrong = [part for part in self.transforms if not callable(part)]
        if wrong:
            raise TypeError(f"Compose takes a list of functions, got {type(wrong[0]).__name__} in it")

    def __call__(self, x: Any) -> Any:
        """The last transform of ... of the first."""
        for transform in self.transforms:
            x = transform(x)
        return x

    def inverse(self, y: Any) -> Any:
        """What the transforms made `y` of. Raises :class:`TypeError` where one has no inverse."""
        for transform in reversed(self.transforms):
            if not hasattr(transform, "inverse"):
                raise TypeError(f"{transform!r} has no inverse: give one, Lambda(function, inverse=...)")
            y = transform.inverse(y)
        return y

    def __repr__(self) -> str:
        return f"Compose([{', '.join(map(repr, self.transforms))}])"


class Lambda:
    """A function as a transform, with its inverse if it has one."""

    def __init__(self, function: Callable[[Any], Any], inverse: Callable[[Any], Any] | None = None) -> None:
        self.function, self._inverse = function, inverse

    def __call__(self, x: Any) -> Any:
        """The function."""
        return self.function(x)

    def inverse(self, y: Any) -> Any:
        """What the inverse that was given gives. Raises :class:`TypeError` where none was."""
        if self._inverse is None:
            raise TypeError(f"{self!r} has no inverse: pass one, Lambda(function, inverse=...)")
        return self._inverse(y)

    def __repr__(self) -> str:
        return f"Lambda({getattr(self.function, '__name__', repr(self.function))})"


class Standardize:
    """``(x - mean) / scale``, with the mean and standard deviation of the data that it was fitted to.

    `axis` is what the statistics are taken over: 0, the rows, gives them for each column; ``(0, 2, 3)`` for each
    channel of pictures ``(rows, channels, height, width)``. The scale of what does not vary is 1. Statistics are
    computed in double precision; a floating dtype stays what it is, integers become float64.

    >>> x = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> standardize = Standardize().fit(x)
    >>> standardize(x)
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> standardize.inverse(standardize(x))
    array([[1., 5.],
           [3., 5.]])

    Raises :class:`ValueError` where it was not fitted, or to data that are not finite; :class:`ShapeError` for another
    number of columns.
    """

    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    def __init__(self, axis: int | tuple[int, ...] = 0) -> None:
        self.axis = axis

    def fit(self, x: Any) -> Self:
        """Take the mean and standard deviation of these data: those for training, and no others."""
        array = _numbers(x, "Standardize")
        values = array.astype(np.float64)
        if not values.size:
            raise ValueError(f"there are no data to fit to: the array has shape {array.shape}")
        if not np.isfinite(values).all():
            place = tuple(map(int, np.argwhere(~np.isfinite(values))[0]))
            raise ValueError(f"the data have {values[place]} at {place}: there is no mean")
        mean = values.mean(self.axis, keepdims=True)
        scale = np.sqrt(np.mean((values - mean) ** 2, self.axis, keepdims=True))
        noise = 4 * np.finfo(np.float64).eps * np.abs(mean)
        self.mean, self.scale = mean, np.where(scale <= noise, 1.0, scale)
        return self

    def __call__(self, x: Any) -> np.ndarray:
        """``(x - mean) / scale``."""
        array, mean, scale = self._for(x)
        return np.asarray((array - mean) / scale, _floating(array))

    def inverse(self, y: Any) -> np.ndarray:
        """``y scale + mean``."""
        array, mean, scale = self._for(y)
        return np.asarray(array * scale + mean, _floating(array))

    def _for(self, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The array and the statistics, if they fit together."""
        if self.mean is None or self.scale is None:
            raise ValueError("Standardize was not fitted: call fit(x_train) first")
        array, shape = _numbers(x, "Standardize"), self.mean.shape
        if array.ndim != len(shape) or any(own not in (1, n) for own, n in zip(shape, array.shape, strict=True)):
            raise ShapeError(f"statistics of shape {shape} were fitted, and the data have {array.shape}")
        return array, self.mean, self.scale

    def __repr__(self) -> str:
        return f"Standardize(axis={self.axis}{'' if self.mean is not None else ', not fitted'})"


class OneHot:
    """Labels as vectors ``(..., classes)`` with a one at the place of the class.

    `classes` is their number, for labels 0, 1, ...; or the classes; or None, and then those of the labels that it is
    fitted to, sorted. `inverse` gives the class of the largest entry, so it takes scores too.

    >>> OneHot(3)([2, 0])
    array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    >>> one_hot = OneHot().fit(["cat", "ant", "cat"])
    >>> one_hot.inverse(one_hot(["ant", "cat"])).tolist()
    ['ant', 'cat']

    Raises :class:`ValueError` for a label that is none of the classes.
    """

    def __init__(self, classes: int | Sequence[Any] | None = None, dtype: Any = np.float32) -> None:
        self.dtype = np.dtype(dtype)
        self.classes: np.ndarray | None = None
        if classes is not None:
            self.classes = np.arange(classes) if isinstance(classes, (int, np.integer)) else np.asarray(classes)
            if self.classes.ndim != 1 or len(np.unique(self.classes)) != self.classes.size:
                raise ValueError("classes are a number, or different labels in a row")

    def fit(self, labels: Any) -> Self:
        """Take the classes of these labels, sorted."""
        self.classes = np.unique(np.asarray(labels))
        return self

    def __call__(self, labels: Any) -> np.ndarray:
        """The vectors of the labels."""
        classes, found = self._known(), np.asarray(labels)
        order = np.argsort(classes, kind="stable")
        nearest = np.minimum(np.searchsorted(classes, found, sorter=order), len(classes) - 1)
        places = order[nearest]
        unknown = classes[places] != found
        if unknown.any():
            raise ValueError(f"label {found[unknown].flat[0]} is none of the {len(classes)} classes")
        vectors: np.ndarray = places[..., None] == np.arange(len(classes))
        return vectors.astype(self.dtype)

    def inverse(self, vectors: Any) -> np.ndarray:
        """The class of the largest entry of each vector."""
        classes, array = self._known(), _numbers(vectors, "OneHot.inverse")
        if array.shape[-1:] != (len(classes),):
            raise ShapeError(f"vectors (..., {len(classes)}) are needed, got {array.shape}")
        found: np.ndarray = classes[array.argmax(-1)]
        return found

    def _known(self) -> np.ndarray:
        if self.classes is None or not self.classes.size:
            raise ValueError("OneHot knows no classes: pass their number, or call fit(labels) first")
        return self.classes

    def __repr__(self) -> str:
        return f"OneHot({'not fitted' if self.classes is None else f'{len(self.classes)} classes'})"


def _floating(array: np.ndarray) -> np.dtype:
    return array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)


def _numbers(value: Any, what: str) -> np.ndarray:
    if isinstance(value, (tuple, dict)):
        raise TypeError(
            f"{what} takes one array, got a {type(value).__name__}: for a DataLoader give transform=(function, None), "
            "one for each array of a batch"
        )
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} takes numbers, got dtype {array.dtype}")
    return array
