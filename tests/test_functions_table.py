"""``docs/functions.md`` says of each public function of NumPy and SciPy what the library makes of it.

The page is about the versions that it names; with others there are other functions, and it is not compared.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy

from einsumad.cli.inventory import LIBRARIES, MEANING, UNKNOWN, inventory, public_functions, table

PAGE = Path(__file__).parents[1] / "docs" / "functions.md"
MARK = "<!-- tables -->\n"
VERSIONS = f"NumPy {'.'.join(np.__version__.split('.')[:2])} and SciPy {'.'.join(scipy.__version__.split('.')[:2])}"
THE_SAME = VERSIONS in PAGE.read_text(encoding="utf-8")


def tables() -> str:
    meaning = "\n".join(f"- **{status}**: {text}" for status, text in MEANING.items())
    return "\n".join(["", meaning, "", *[table(library) for library in LIBRARIES]])


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
