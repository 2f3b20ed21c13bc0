"""Data for training: sources, batches and splits.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.data.archives import from_npz
from einsumad.data.bundled import breast_cancer, diabetes, digits, iris, load, mnist_digits, wine
from einsumad.data.columns import from_hugging_face
from einsumad.data.datasets import ArrayDataset, Dataset, Subset, Table
from einsumad.data.loader import DataLoader
from einsumad.data.splits import random_split, train_test_split
from einsumad.data.tables import from_csv
from einsumad.data.toys import curve, make_moons, sine
from einsumad.data.transforms import Compose, Lambda, OneHot, Standardize

__all__ = [
    "ArrayDataset",
    "Compose",
    "DataLoader",
    "Dataset",
    "Lambda",
    "OneHot",
    "Standardize",
    "Subset",
    "Table",
    "breast_cancer",
    "curve",
    "diabetes",
    "digits",
    "from_csv",
    "from_hugging_face",
    "from_npz",
    "iris",
    "load",
    "make_moons",
    "mnist_digits",
    "random_split",
    "sine",
    "train_test_split",
    "wine",
]
