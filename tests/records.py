"""What the tests have shown, as tables for the handbook: a pytest plugin.

A test that compares a figure with something that we did not write says so through the fixture `validated`, which also
is its assertion, so that the table cannot disagree with the test:

    def test_tip(validated):
        ...
        validated(
            "Heavy cantilever", area="strand", quantity="tip, of the length",
            reference="elastica by scipy's boundary value solver", error=error, bound=1e-3, order=3.97,
        )

A test that tries many cases counts them through `tried`: `tried.count("random scenes")` once for each case, in the
test file itself.

`pytest --write-tables` writes docs/tables/validation.md and docs/tables/trials.md. A row is rewritten when every test
of the files that declare it was run and none failed; other rows stay as they are, so the tables may be made in parts.
Names, areas, quantities and references are literal texts, or constants of the module, or one of two of them ("a" if b
else "c"): tests/test_records.py reads them from the source and compares them with the committed tables. Several calls
with the same texts (one test with many parameters) are one row, with the figures of the one closest to its bound.

`--thorough N` multiplies the number of cases of tests that ask `records.thorough()` at import.
"""

from __future__ import annotations

import ast
import itertools
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

AREAS = (
    "strand", "rods in scenes", "rigid bodies", "constraints", "cables", "zones", "contact", "hair", "time schemes",
    "demonstrations",
)  # fmt: skip
VALIDATION_COLUMNS = ("case", "quantity", "reference", "error", "bound of the test", "fitted order")
TRIAL_COLUMNS = ("what was tried", "cases", "seconds", "failures", "thorough")
THOROUGH = "SENNIT_THOROUGH"
GENERATED = "% Written by `pytest --write-tables`; do not edit."
Key = tuple[str, ...]
"""What a row is known by: ("validated", area, case, quantity, reference) or ("tried", what)."""


def thorough() -> int:
    """How many times the usual number of cases is asked for; known before test modules are imported."""
    return int(os.environ.get(THOROUGH, "1"))


def _power(exponent: int) -> str:
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def figure(value: float, bound: float | None = None) -> str:
    """Two significant digits.

    With the `bound` of a test, what is only rounding is given as a limit, so that machines agree: a round one, but none
    above the bound, which would read as a failure.
    """
    for exponent in (-15, -12, -9):
        if bound is not None and value < min(10.0**exponent, bound):
            return f"<\N{NO-BREAK SPACE}{_power(exponent) if 10.0**exponent <= bound else figure(bound)}"
    if value == 0.0 or 1e-3 <= abs(value) < 1e4:
        return f"{float(f'{value:.1e}'):g}"
    digits, decade = f"{value:.1e}".split("e")
    power = _power(int(decade))
    return power if digits == "1.0" else f"{digits.removesuffix('.0')}·{power}"


@dataclass(slots=True)
class Shown:
    """One row of the validation: the call that came closest to its bound."""

    error: float
    bound: float
    order: float | None

    @property
    def used(self) -> float:
        """The part of the bound that the error takes."""
        return self.error / self.bound if self.bound > 0.0 else 0.0

    def add(self, other: Shown) -> None:
        if other.used > self.used:
            self.error, self.bound, self.order = other.error, other.bound, other.order


@dataclass(slots=True)
class Book:
    """What the tests of one run have recorded."""

    shown: dict[Key, Shown] = field(default_factory=dict)
    counted: dict[Key, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    """Cases of each trial by the test that tried them."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """How long each test took."""
    now: str = ""
    """The test that runs now."""
    collected: set[str] = field(default_factory=set)
    partial: set[str] = field(default_factory=set)
    """Files of which not every test was run to its end and passed."""

    def passed(self, path: str) -> bool:
        return path in self.collected and path not in self.partial


class Validated:
    """Asserts that an error is within its bound, and records both."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def __call__(
        self,
        case: str,
        *,
        area: str,
        quantity: str,
        reference: str,
        error: float,
        bound: float,
        order: float | None = None,
    ) -> None:
        """Record one comparison; fails the test when `error` > `bound`.

        `case`, `area` (one of `AREAS`), `quantity` and `reference` (what we did not write: a closed form, another
        program, a theorem) are literal texts. `error` is relative where `quantity` names no unit. `order` is a fitted
        order of convergence.
        """
        __tracebackhide__ = True
        assert area in AREAS, f"area {area!r} is none of {AREAS}"
        for text in (case, quantity, reference):
            assert text.strip() and "|" not in text and "\n" not in text, f"{text!r} cannot stand in a table"
        error, bound = float(error), float(bound)
        assert 0.0 <= error <= bound < math.inf, f"{case}, {quantity}: error {error:.6g}, bound {bound:.6g}"
        row = Shown(error, bound, None if order is None else float(order))
        self._book.shown.setdefault(("validated", area, case, quantity, reference), row).add(row)


class Tried:
    """Counts tried cases; seconds and failures are added by the plugin."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def count(self, what: str, cases: int = 1) -> None:
        """Count `cases` (at least one) more of `what`, a literal text or a constant of the module."""
        assert what.strip() and "|" not in what and "\n" not in what, f"{what!r} cannot stand in a table"
        assert cases >= 1, f"{what}: {cases} cases"
        self._book.counted[("tried", what)][self._book.now] += cases


# What the source of the tests declares.


@dataclass(frozen=True, slots=True)
class Declared:
    """A call of `validated` or `tried.count` in the source."""

    key: Key
    path: str
    """Relative to the root, with slashes."""
    line: int


def declarations(root: Path) -> list[Declared]:
    """All rows that the tests under `root`/tests declare, by file and line."""
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "validated(" in source or "tried.count(" in source:
            found += _declared_in(ast.parse(source), path.relative_to(root).as_posix())
    return found


def _declared_in(tree: ast.Module, path: str) -> list[Declared]:
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def texts_of(node: ast.AST | None, line: int) -> list[str]:
        if isinstance(node, ast.IfExp):  # either text
            return texts_of(node.body, line) + texts_of(node.orelse, line)
        value = node.value if isinstance(node, ast.Constant) else constants.get(getattr(node, "id", ""))
        if not isinstance(value, str):
            raise ValueError(f"{path}:{line}: the texts of a record must be literals or constants of the module")
        return [value]

    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, line = ast.unparse(node.func), node.lineno
        options = {word.arg: word.value for word in node.keywords}
        first = node.args[0] if node.args else None
        if name == "validated":
            texts = [options.get("area"), first, options.get("quantity"), options.get("reference")]
        elif name == "tried.count":
            texts = [first]
        else:
            continue
        for key in itertools.product([name.split(".")[0]], *(texts_of(node, line) for node in texts)):
            found.append(Declared(key, path, line))
    return sorted(found, key=lambda declared: declared.line)


# Tables in files.


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_cells(columns), _cells(["---"] * len(columns)), *map(_cells, rows)]


def read_validation(text: str) -> dict[Key, tuple[str, ...]]:
    """Rows of a written validation table: error, bound and order as written, by key."""
    rows, area = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            area = line[3:].lower()
        elif line.startswith("| ") and not line.startswith(("| ---", "| case |")):
            case, quantity, reference, *figures = [cell.strip() for cell in line.strip("| ").split(" | ")]
            rows["validated", area, case, quantity, reference] = tuple(figures)
    return rows


def read_trials(text: str) -> dict[Key, tuple[str, ...]]:
    """Rows of a written table of trials: cases, seconds, failures and factor as written, by key."""
    rows = {}
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith(("| ---", "| what")):
            what, *figures = [cell.strip() for cell in line.strip("| ").split(" | ")]
            rows["tried", what] = tuple(figures)
    return rows


def validation_text(rows: Mapping[Key, Sequence[str]]) -> str:
    """The validation tables, one for each area, rows as they come."""
    lines = [GENERATED]
    for area in AREAS:
        within = [(*key[2:], *figures) for key, figures in rows.items() if key[1] == area]
        if within:
            lines += ["", f"## {area.capitalize()}", "", *_table(VALIDATION_COLUMNS, within)]
    return "\n".join(lines) + "\n"


def trials_text(rows: Mapping[Key, Sequence[str]]) -> str:
    """The table of trials."""
    return "\n".join([GENERATED, "", *_table(TRIAL_COLUMNS, [(key[1], *rows[key]) for key in rows])]) + "\n"


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _figures(book: Book, key: Key) -> tuple[str, ...] | None:
    """What this run measured for a row."""
    if key[0] == "validated":
        shown = book.shown.get(key)
        if shown is None:
            return None
        order = "–" if shown.order is None else figure(shown.order)
        return figure(shown.error, shown.bound), figure(shown.bound), order
    if key not in book.counted:
        return None
    seconds = 0.0
    for test, cases in book.counted[key].items():
        every = sum(tests[test] for tests in book.counted.values() if test in tests)
        seconds += book.seconds[test] * cases / every
    # A file with a failed test writes no row: no failure is hidden by this zero.
    return f"{sum(book.counted[key].values()):,}", figure(max(seconds, 0.1)), "0", str(thorough())


def write_tables(book: Book, root: Path) -> list[str]:
    """Write both tables; what was done, in words."""
    told = []
    declared: dict[Key, set[str]] = defaultdict(set)
    for row in declarations(root):
        declared[row.key].add(row.path)
    for kind, name, read, text in (
        ("validated", "validation.md", read_validation, validation_text),
        ("tried", "trials.md", read_trials, trials_text),
    ):
        path = root / "docs" / "tables" / name
        old = read(path.read_text(encoding="utf-8")) if path.exists() else {}
        rows, written, missing = {}, 0, []
        for key, files in declared.items():
            if key[0] != kind:
                continue
            figures = _figures(book, key) if all(map(book.passed, files)) else None
            written += figures is not None
            if figures is not None or key in old:
                rows[key] = figures or old[key]
            else:
                missing.append(f"{', '.join(key[1:3])} ({', '.join(sorted(files))})")
        if rows:
            _write(path, text(rows))
        told.append(f"docs/tables/{name}: {written} rows written, {len(rows) - written} kept, {len(missing)} missing")
        told += [f"  missing: {what}" for what in missing]
    return told


# The plugin.

BOOK: pytest.StashKey[Book] = pytest.StashKey()
BEFORE: pytest.StashKey[str | None] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("records")
    group.addoption("--write-tables", action="store_true", help="write docs/tables from what the tests record")
    group.addoption("--thorough", type=int, metavar="N", help="N times the usual number of random cases (default 1)")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOOK] = Book()
    config.stash[BEFORE] = os.environ.get(THOROUGH)
    factor = config.getoption("--thorough")
    if factor is not None:
        if factor < 1:
            raise pytest.UsageError(f"--thorough {factor}: a whole number from 1 on is wanted")
        os.environ[THOROUGH] = str(factor)
    config.pluginmanager.register(Watch(config), "records-watch")


def pytest_unconfigure(config: pytest.Config) -> None:
    before = config.stash.get(BEFORE, None)
    if before is None:
        os.environ.pop(THOROUGH, None)
    else:
        os.environ[THOROUGH] = before


@pytest.fixture(scope="session")
def validated(request: pytest.FixtureRequest) -> Validated:
    """Asserts that an error is within its bound and records it for the validation table."""
    return Validated(request.config.stash[BOOK])


@pytest.fixture(scope="session")
def tried(request: pytest.FixtureRequest) -> Tried:
    """Counts tried cases for the table of trials."""
    return Tried(request.config.stash[BOOK])


def _file(nodeid: str) -> str:
    return nodeid.split("::")[0]


class Watch:
    """Knows which test runs, how long it took, and which files were run whole."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._book = config.stash[BOOK]
        self._finished: set[str] = set()
        self._told: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Iterator[None]:
        result = yield
        chosen = [argument for argument in self._config.args if "::" in argument]
        for item in session.items:
            path = _file(item.nodeid)
            self._book.collected.add(path)
            if any(Path(_file(argument)).name == Path(path).name for argument in chosen):
                self._book.partial.add(path)
        return result

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self._book.partial.update(_file(item.nodeid) for item in items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._book.now = nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._book.seconds[report.nodeid] += report.duration
        if report.failed:
            self._book.partial.add(_file(report.nodeid))
        if report.when == "teardown":
            self._finished.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._config.getoption("--write-tables"):
            return
        for item in session.items:
            if item.nodeid not in self._finished:  # stopped by -x or by the keyboard
                self._book.partial.add(_file(item.nodeid))
        self._told = write_tables(self._book, self._config.rootpath)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self._told:
            terminalreporter.write_line(line)
