"""Every program in the documentation runs, and prints what the page says that it prints.

In a page, the blocks marked ``python`` are run in order and share their names; ``py`` blocks are left alone: they open
a page, or need hardware. A block whose first line is a comment with a file's name, such as ``# swing.py``, is saved
under that name instead, for later blocks to import. An ``output`` block after a program is what it prints: texts must
agree letter by letter, numbers to one unit of their last digit or to a hundredth, whichever is larger, whole numbers
below ten exactly. ``pycon`` blocks are doctests.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import math
import re
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest

import sennit

DOCS = Path(__file__).parent.parent / "docs"
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=ticks) *$", re.M | re.S
)
FILE_NAME = re.compile(r"# (\w+\.py)\n")
NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
KINDS = ("python", "pycon", "doctest", "output")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    line: int
    """Where its text begins in the page, counted from 0."""


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page that are run or compared, in order."""
    found = []
    for match in FENCE.finditer(page):
        kind, indent = match["kind"].strip(), len(match["indent"])
        if kind in KINDS:
            lines = [line[indent:] for line in match["text"].splitlines(keepends=True)]
            found.append(Block(kind, "".join(lines), page.count("\n", 0, match.start("text"))))
    return found


def run(block: Block, place: str, names: dict[str, Any], folder: Path) -> str:
    """Run one program and return what it printed; `place` names it in tracebacks."""
    named = FILE_NAME.match(block.text)
    if named:
        (folder / named[1]).write_text(block.text, encoding="utf-8")
        return ""
    source = "\n" * block.line + block.text
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, place, "exec"), names)
    return printed.getvalue()


def run_doctest(block: Block, place: str, names: dict[str, Any]) -> None:
    """Check a session with the interpreter; it sees the names of the page, and leaves its own there."""
    test = doctest.DocTestParser().get_doctest(block.text, names, place, place, block.line)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, report.getvalue()


def differences(said: str, printed: str) -> list[str]:
    """Where a program printed something else than its page says."""
    expected, seen = said.rstrip().splitlines(), printed.rstrip().splitlines()
    if len(expected) != len(seen):
        return [f"{len(expected)} lines in the page, {len(seen)} printed:\n{printed}"]
    return [f"the page says {a!r}, printed was {b!r}" for a, b in zip(expected, seen, strict=True) if not same(a, b)]


def same(said: str, printed: str) -> bool:
    """Whether two lines agree: texts exactly (but for the number of spaces), numbers nearly."""
    texts = [" ".join(NUMBER.sub("#", line).split()) for line in (said, printed)]
    if texts[0] != texts[1]:
        return False
    return all(near(a, b) for a, b in zip(NUMBER.findall(said), NUMBER.findall(printed), strict=True))


def near(said: str, printed: str) -> bool:
    """Whether two numbers agree: small whole ones exactly, others as far as they can on another machine."""
    digits, _, exponent = said.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    a, b = float(said), float(printed)
    if "." not in said and abs(a) < 10.0:
        return a == b
    return math.isclose(a, b, rel_tol=0.01, abs_tol=1.01 * unit)


@pytest.fixture
def nothing_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In a folder of its own, without windows."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program of the handbook opens a page: mark its block as py")

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", refuse)
    monkeypatch.setattr(sennit, "view", refuse)
    before = set(sys.modules)
    yield
    plt.close("all")
    for name in set(sys.modules) - before:
        where = getattr(sys.modules[name], "__file__", None)
        if where and Path(where).is_relative_to(tmp_path):
            del sys.modules[name]


SLOW = {"haptics.md", "finger.md", "learning.md", "suture.md", "zones.md"}
"""Pages that start other processes or load the kernels of zones."""


def pages() -> list[Path]:
    """The pages with programs in them."""
    built = {"_build", "gallery"}
    found = [p for p in sorted(DOCS.rglob("*.md")) if not built & set(p.relative_to(DOCS).parts)]
    return [p for p in found if blocks_of(p.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=page.relative_to(DOCS).with_suffix("").as_posix(),
            marks=[pytest.mark.slow] if page.name in SLOW else [],
        )
        for page in pages()
    ],
)
def test_programs_of_a_page_run_and_print_what_it_says(page: Path, tmp_path: Path, nothing_opens: None) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks_of(page.read_text(encoding="utf-8")):
        place = f"{page.relative_to(DOCS.parent)}, block at line {block.line + 1}"
        if block.kind == "python":
            printed = run(block, place, names, tmp_path)
        elif block.kind == "output":
            assert printed is not None, f"{place}: output without a program before it"
            wrong = differences(block.text, printed)
            assert not wrong, f"{place}:\n" + "\n".join(wrong)
            printed = None
        else:
            run_doctest(block, place, names)


def test_there_are_pages() -> None:
    assert {"start.md", "concepts.md", "page.md", "harness.md"} <= {page.name for page in pages()}


def test_blocks_are_found_wherever_they_stand() -> None:
    page = "# T\n\n```python\na = 1\n```\n\n- item\n\n  ```python\n  if a:\n      b = 2\n  ```\n\n```py\nno\n```\n"
    page += "\n````md\n```python\nquoted = 1\n```\n````\n\n```output\n3\n```\n"
    found = blocks_of(page)
    assert [(b.kind, b.text) for b in found] == [
        ("python", "a = 1\n"), ("python", "if a:\n    b = 2\n"), ("output", "3\n"),
    ]  # fmt: skip
    assert [b.line for b in found] == [3, 9, 24]


@pytest.mark.parametrize(
    ("said", "printed", "agree"),
    [
        ("tension 9.81 N", "tension 9.81 N", True),
        ("tension 9.81 N", "tension 9.82 N", True),
        ("tension 9.81 N", "tension 9.99 N", False),
        ("tension 9.81 N", "torsion 9.81 N", False),
        ("tension 9.81 N", "tension 9.81", False),
        ("x -1.00", "x  1.00", False),
        ("gap 1.2e-05 m", "gap 1.3e-05 m", True),
        ("gap 1.2e-05 m", "gap 1.4e-05 m", False),
        ("7 clips", "8 clips", False),
        ("17 clips", "18 clips", True),
        ("17 clips", "19 clips", False),
        ("[0.  1.]", "[0.   1.]", True),
    ],
)  # fmt: skip
def test_outputs_are_compared_as_texts_and_numbers(said: str, printed: str, agree: bool) -> None:
    assert same(said, printed) is agree


def test_missing_lines_are_told() -> None:
    assert "1 lines in the page, 2 printed" in differences("a\n", "a\nb\n")[0]


def test_a_failing_program_names_its_page_and_line(tmp_path: Path) -> None:
    page = "# T\n\n```python\na = 1\nraise ValueError(a)\n```\n"
    with pytest.raises(ValueError) as caught:
        run(blocks_of(page)[0], "docs/t.md", {}, tmp_path)
    assert caught.traceback[-1].lineno + 1 == 5 and str(caught.traceback[-1].path).endswith("t.md")


def test_a_wrong_doctest_fails() -> None:
    names: dict[str, Any] = {"a": 2}
    run_doctest(Block("pycon", ">>> b = a + 1\n>>> b\n3\n", 0), "docs/t.md", names)
    assert names["b"] == 3
    with pytest.raises(AssertionError, match="Expected"):
        run_doctest(Block("pycon", ">>> a\n3\n", 0), "docs/t.md", names)
