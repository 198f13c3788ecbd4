"""The plugin that makes tables of what the tests have shown, and the committed tables themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import records

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "docs" / "tables"

CONFTEST = """
pytest_plugins = ["records"]
"""
TWO_FILES = {
    "tests/test_first": """
        import pytest
        import records

        @pytest.mark.parametrize("error", [1e-3, 3e-3, 2e-3])
        def test_tip(validated, error):
            validated("Beam", area="strand", quantity="tip", reference="closed form", error=error, bound=1e-2, order=4)

        def test_trials(tried):
            for _ in range(5 * records.thorough()):
                tried.count("random beams")
    """,
    "tests/test_second": """
        REFERENCE = "Stoney"

        def test_ring(validated):
            validated("Ring", area="cables", quantity="turns", reference=REFERENCE, error=2e-13, bound=1e-9)
            for model in (0, 1):
                validated(
                    "Rope", area="strand", quantity="sag" if model else "span", reference="closed form",
                    error=0.12345 + model, bound=2,
                )
    """,
}


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv(records.THOROUGH, raising=False)
    pytester.mkdir("tests")
    pytester.makeini("[pytest]")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**TWO_FILES)
    return pytester


def _run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_inprocess(
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--import-mode=importlib", *arguments
    )


def _written(project: pytest.Pytester, name: str = "validation.md") -> str:
    return (project.path / "docs" / "tables" / name).read_text(encoding="utf-8")


def test_nothing_is_written_unasked(project: pytest.Pytester) -> None:
    _run(project).assert_outcomes(passed=5)
    assert not (project.path / "docs").exists()


def test_tables(project: pytest.Pytester) -> None:
    result = _run(project, "--write-tables", "--thorough", "3")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["docs/tables/validation.md: 4 rows written, 0 kept, 0 missing"])
    assert _written(project).splitlines()[2:] == [
        "## Strand",
        "",
        "| case | quantity | reference | error | bound of the test | fitted order |",
        "| --- | --- | --- | --- | --- | --- |",
        "| Beam | tip | closed form | 0.003 | 0.01 | 4 |",
        "| Rope | sag | closed form | 1.1 | 2 | – |",
        "| Rope | span | closed form | 0.12 | 2 | – |",
        "",
        "## Cables",
        "",
        "| case | quantity | reference | error | bound of the test | fitted order |",
        "| --- | --- | --- | --- | --- | --- |",
        "| Ring | turns | Stoney | <\N{NO-BREAK SPACE}10⁻¹² | 10⁻⁹ | – |",
    ]
    trials = records.read_trials(_written(project, "trials.md"))
    cases, seconds, failures, factor = trials.pop(("tried", "random beams"))
    assert not trials
    assert (cases, failures, factor) == ("15", "0", "3")
    assert float(seconds) >= 0.1
    assert records.THOROUGH not in os.environ


def test_parts_make_the_whole(project: pytest.Pytester) -> None:
    _run(project, "--write-tables")
    whole = _written(project)
    (project.path / "docs/tables/validation.md").unlink()
    _run(project, "--write-tables", "tests/test_second.py")
    assert "Beam" not in _written(project)
    _run(project, "--write-tables", "tests/test_first.py")
    assert _written(project) == whole


@pytest.mark.parametrize("chosen", [["-k", "not 0.003"], ["tests/test_first.py::test_tip[0.001]"]])
def test_a_part_of_a_file_writes_no_row(project: pytest.Pytester, chosen: list[str]) -> None:
    _run(project, "--write-tables")
    whole = _written(project)
    _run(project, "--write-tables", *chosen)
    assert _written(project) == whole


@pytest.mark.parametrize("error", ["0.0100001", "-1e-9", "float('nan')"])
def test_an_error_over_its_bound_fails_and_is_not_written(project: pytest.Pytester, error: str) -> None:
    _run(project, "--write-tables")
    whole = _written(project)
    path = project.path / "tests" / "test_first.py"
    path.write_text(path.read_text().replace("error=error", f"error={error}"))
    _run(project, "--write-tables").assert_outcomes(passed=2, failed=3)
    assert _written(project) == whole


def test_a_removed_case_leaves_the_table(project: pytest.Pytester) -> None:
    _run(project, "--write-tables")
    (project.path / "tests" / "test_first.py").unlink()
    _run(project, "--write-tables", "tests/test_second.py")
    assert set(records.read_validation(_written(project))) == {row.key for row in records.declarations(project.path)}
    assert "Beam" not in _written(project)


@pytest.mark.parametrize("call", ["validated(name, area='strand')", "tried.count(f'case {1}')"])
def test_texts_are_literals(project: pytest.Pytester, call: str) -> None:
    (project.path / "tests" / "test_third.py").write_text(f"def test(validated, tried, name):\n    {call}\n")
    with pytest.raises(ValueError, match="tests/test_third.py:2: the texts"):
        records.declarations(project.path)


@pytest.mark.parametrize("texts", [{"area": "ropes"}, {"quantity": "a|b"}, {"reference": " "}])
def test_texts_fit_the_table(texts: dict[str, str]) -> None:
    record = records.Validated(records.Book())
    good = {"area": "strand", "quantity": "tip", "reference": "closed form"}
    record("Beam", **good, error=0.0, bound=0.0)
    with pytest.raises(AssertionError, match="is none of|cannot stand"):
        record("Beam", **(good | texts), error=0.0, bound=1.0)


def test_thorough_must_be_positive(project: pytest.Pytester) -> None:
    result = _run(project, "--thorough", "0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert records.THOROUGH not in os.environ


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.04e-7, "2·10⁻⁷"),
        (2.46e-5, "2.5·10⁻⁵"),
        (1e-9, "10⁻⁹"),
        (1.04e-3, "0.001"),
        (15.4, "15"),
        (4, "4"),
    ],
)
def test_two_digits(value: float, text: str) -> None:
    assert records.figure(value, bound=1.0) == records.figure(value) == text


def test_rounding_is_a_limit() -> None:
    assert records.figure(3e-16, bound=1e-9) == records.figure(0.0, bound=1e-9) == "<\N{NO-BREAK SPACE}10⁻¹⁵"
    assert (records.figure(3e-16), records.figure(0.0)) == ("3·10⁻¹⁶", "0")
    assert records.figure(4e-12, bound=1e-9) == "<\N{NO-BREAK SPACE}10⁻⁹"
    assert records.figure(4e-12, bound=1e-10) == "<\N{NO-BREAK SPACE}10⁻¹⁰"  # no limit above the bound


@pytest.mark.parametrize(
    ("kind", "name", "read"),
    [("validated", "validation.md", records.read_validation), ("tried", "trials.md", records.read_trials)],
)
def test_committed_tables_hold_what_the_tests_declare(kind: str, name: str, read: object) -> None:
    """Fails for a new or removed case: run its file with ``--write-tables`` and commit the table."""
    path = TABLES / name
    written = set(read(path.read_text(encoding="utf-8"))) if path.exists() else set()  # type: ignore[operator]
    declared = {row.key for row in records.declarations(ROOT) if row.key[0] == kind}
    assert written == declared


def test_a_row_is_declared_in_one_file() -> None:
    """A row of the validation is known by its file: two files would overwrite each other's figures."""
    files: dict[records.Key, set[str]] = {}
    for row in records.declarations(ROOT):
        if row.key[0] == "validated":
            files.setdefault(row.key, set()).add(row.path)
    assert {key: paths for key, paths in files.items() if len(paths) > 1} == {}
