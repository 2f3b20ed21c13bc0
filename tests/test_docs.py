"""The documents are programs: the Python blocks of a page are run in order, in one process.

A block marked ``text`` holds what the block before it prints; ``...`` stands for anything, and white space is
not compared. A block marked ``python no-run`` is shown only. With UPDATE_DOCS=1 in the environment the blocks
marked ``text`` are written anew: look at the difference before it is committed.
"""

import doctest
import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<kind>\w+)(?P<mark>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
END = "\x1e"  # printed after every block


def is_run(block: re.Match[str]) -> bool:
    return block["kind"] == "python" and "no-run" not in block["mark"]


def program(page: str) -> str:
    """The blocks at the lines where they stand, so that tracebacks point into the page."""
    lines = [""] * (page.count("\n") + 1)
    for block in BLOCK.finditer(page):
        if is_run(block):
            start = page.count("\n", 0, block.start("text"))
            code = block["text"].splitlines()
            lines[start : start + len(code)] = code
            lines[start + len(code)] = f"print({END!r})"
    return "\n".join(lines)


def expected_outputs(page: str) -> list[str]:
    """What the page says that each block prints."""
    expected: list[str] = []
    for block in BLOCK.finditer(page):
        if is_run(block):
            expected.append("")
        elif block["kind"] == "text" and expected:
            expected[-1] = block["text"]
    return expected


def outputs(page: Path, folder: Path) -> list[str]:
    """What the blocks print. A process of their own: a page may add functions to the library."""
    script = folder / f"{page.stem}.py"
    script.write_text(program(page.read_text(encoding="utf-8")), encoding="utf-8")
    command = [sys.executable, "-X", "utf8", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(f"{END}\n")[:-1]


def updated(page: str, printed: list[str]) -> str:
    """The page with what its blocks print in the place of what it says they print."""
    parts: list[str] = []
    position, end = -1, 0
    for block in BLOCK.finditer(page):
        if is_run(block):
            position += 1
        elif block["kind"] == "text" and position >= 0:
            parts += [page[end : block.start("text")], printed[position]]
            end = block.end("text")
    return "".join([*parts, page[end:]])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_of(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    expected, prints = expected_outputs(text), outputs(page, tmp_path)
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(updated(text, prints), encoding="utf-8")
        return
    for position, (shown, printed) in enumerate(zip_longest(expected, prints)):
        matches = doctest.OutputChecker().check_output(shown, printed, FLAGS)
        assert matches, f"block {position} of {page.name} shows\n{shown}\nbut prints\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of(page: Path) -> None:
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert not [link for link in LINK.findall(prose) if not (page.parent / link).exists()]
