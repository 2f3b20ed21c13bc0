"""``docs/functions.md`` says of each public function of NumPy and SciPy what the library makes of it.

The page is about the versions that it names; with others there are other functions, and it is not compared.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy

from einsumad.cli.command import main
from einsumad.cli.inventory import (
    LIBRARIES,
    MEANING,
    UNKNOWN,
    inventory,
    public_functions,
    table,
    table_of_limits,
    table_of_options,
)

PAGE = Path(__file__).parents[1] / "docs" / "functions.md"
MARK = "<!-- tables -->\n"
VERSIONS = f"NumPy {'.'.join(np.__version__.split('.')[:2])} and SciPy {'.'.join(scipy.__version__.split('.')[:2])}"
THE_SAME = VERSIONS in PAGE.read_text(encoding="utf-8")


def tables() -> str:
    meaning = "\n".join(f"- **{status}**: {text}" for status, text in MEANING.items())
    both = [text for library in LIBRARIES for part in (table, table_of_limits) if (text := part(library))]
    return "\n".join(["", meaning, "", *both, table_of_options()])


@pytest.mark.skipif(not THE_SAME, reason="the page is about other versions of NumPy and SciPy")
def test_the_page_is_what_the_library_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, mark, found = text.partition(MARK)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(head + mark + tables(), encoding="utf-8")
    else:
        assert found == tables(), "write it anew with UPDATE_DOCS=1 and look at the difference"


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_public_function_has_one_entry(library: str) -> None:
    entries = inventory(library)
    assert [entry.name for entry in entries] == [name for name, _ in public_functions(library)]
    for entry in entries:
        assert entry.status in MEANING
        assert entry.note or entry.status == "any order", entry
        assert entry.note != UNKNOWN or not THE_SAME, entry


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("numpy.linalg eihg", ["eigh"]),
        ("numpy expm", ["scipy.linalg expm", "expm1"]),
        ("scipy.special scipy.special.gama", ["gamma"]),
        ("numpy xyzzy", ["'*' stands for any letters"]),
    ],
)
def test_a_pattern_that_matches_nothing(pattern: str, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", *pattern.split()]) == 1
    found = capsys.readouterr()
    assert not found.out
    assert f"no function of {pattern.split(maxsplit=1)[0]} matches" in found.err
    assert all(name in found.err for name in names)


def test_what_is_refused_stands_under_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "scipy.linalg", "eigh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("eigh  any order  in `einsumad.scipy.linalg`")
    assert any("type=2" in line for line in lines[1:])
    assert main(["functions", "scipy.special", "polygamma"]) == 0
    assert "in `einsumad.scipy.special`; the order" in capsys.readouterr().out
