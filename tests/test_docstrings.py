"""Docstrings say what a thing is: none consists of a unit, a shape or a symbol alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sennit

PACKAGE = Path(sennit.__file__).parent
ROOT = Path(__file__).parents[1]
FOLDERS = {"sennit": PACKAGE, "peers": ROOT / "peers"}

UNIT = r"(?:kg|s|m|n|j|w|pa|hz|k|rad|deg|°)(?:[²³⁴]|⁻[¹²³⁴])?"
PIECE = "|".join(
    (
        rf"(?:1/)?{UNIT}(?:[·/*]{UNIT}|/\({UNIT}(?:[·*]{UNIT})*\))*",
        r"\([^()]*\)(?: each)?",  # a shape
        r"[^\W\d_](?:_\w+)?",  # a symbol
        r"(?:in )?(?:metre|second|newton|joule|kilogram|radian|degree)s?(?: per second)?",
        r"read-only",
    )
)
ALONE = re.compile(rf"(?:{PIECE})(?:(?:, |: | or | and |; | )(?:{PIECE}))*", re.IGNORECASE)


def is_unit_alone(text: str) -> bool:
    """Whether a docstring tells, up to its first full stop or semicolon, nothing but a unit, a shape or a symbol."""
    first = re.split(r"\.(?:\s|$)|;", text.strip(), maxsplit=1)[0]
    return ALONE.fullmatch(first) is not None


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring: of the module, its classes, functions and attributes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text


def found(folder: Path, name: str) -> list[str]:
    """Those that tell too little. Kernels are left out: theirs may be equations."""
    return [
        f"{name}/{path.relative_to(folder).as_posix()}:{line}: {text!r}"
        for path in sorted(folder.rglob("*.py"))
        if path.parent.name != "kernels"
        for line, text in docstrings(path)
        if is_unit_alone(text)
    ]


def test_no_docstring_is_a_unit_alone() -> None:
    bare = [line for name, folder in FOLDERS.items() for line in found(folder, name)]
    assert bare == []


@pytest.mark.parametrize(
    "text",
    [
        "S.", "Kg.", "M.", "N.", "s", "J.", "m³", "N/m.", "k, N/m.", "b_r, N·m·s.", "(3,), m.", "(n, 3), m, read-only.",
        "(1,).", "(n,) each.", "μ", "ρ, kg/m³.", "M or rad.", "M. Can be set.", "In metres.", "Seconds.", "1/s.",
        "m/s²", "s; 0 means none.", "(3,), m: Σ w_i u_i.", "J/(kg·K)", "s⁻¹", "\n    M.\n    ", "(3, 3), N/m.\n\nMore.",
    ],
)  # fmt: skip
def test_units_are_found(text: str) -> None:
    assert is_unit_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "Length at rest, m.", "Of the winch, m/s.", "Its mass, kg.", "Energies, J.", "A ball.",
        "R v, world frame.", "Time simulated so far, s.", "Where it is, (3,), m.", "Largest lateness.", "",
    ],
)  # fmt: skip
def test_descriptions_are_left_alone(text: str) -> None:
    assert not is_unit_alone(text)


def test_docstrings_of_all_kinds_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        '"""S."""\n\nx = 1\n"""M."""\n\nclass A:\n    """N."""\n\n    y: float\n    """J."""\n\n'
        '    def f(self):\n        """Kg."""\n        return lambda: 1 if x else 2\n',
        encoding="utf-8",
    )
    assert [text for _, text in sorted(docstrings(file))] == ["S.", "M.", "N.", "J.", "Kg."]
    assert len(found(tmp_path, "t")) == 5
