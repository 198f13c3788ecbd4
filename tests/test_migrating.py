"""docs/migrating.md: its table is what its programs print, beside the static solution of an independent method."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from peers.environments import PEERS, clean_environment, folder_of, installed, python_of
from peers.tasks import problem

PAGE = (Path(__file__).parents[1] / "docs" / "migrating.md").read_text(encoding="utf-8")
PROGRAMS: dict[str, str] = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, re.S))
REFERENCES = {"PyElastica": "extensible+shear k=27/28", "MuJoCo": "extensible", "sennit": "extensible"}
ROUNDING = 1e-4
"""One unit of the last digit of a place, m."""


def places(text: str) -> np.ndarray:
    """Places x, z that stand in a text in metres."""
    found = re.findall(r"x = (\d\.\d{4}) m, z = (-\d\.\d{4}) m", text)
    return np.array(found, dtype=float)


def row(program: str) -> tuple[np.ndarray, float]:
    """Place and error, as part of the length, of a program in the page's table."""
    match = re.search(rf"^\| {program}, .* \| (\S+) m \| −(\S+) m \| (\S+) %", PAGE, re.M)
    assert match is not None
    return np.array((float(match[1]), -float(match[2]))), float(match[3]) / 100


@pytest.mark.parametrize("program", REFERENCES)
def test_errors_are_those_of_the_places(program: str) -> None:
    tip = problem("e")["references"][REFERENCES[program]]["tip"]
    place, error = row(program)
    assert abs(np.hypot(*(place - (tip[0], tip[2]))) - error) <= ROUNDING


def test_static_solutions_are_those_that_are_told() -> None:
    told = [tuple(map(float, pair)) for pair in re.findall(r"\((0\.\d{4}), −(0\.\d{4})\) m", PAGE)]
    for name, (x, z) in zip(("extensible", "extensible+shear k=27/28"), told, strict=True):
        tip = problem("e")["references"][name]["tip"]
        assert np.allclose((x, -z), (tip[0], tip[2]), rtol=0.0, atol=0.51 * ROUNDING)


def test_our_row_is_what_our_program_prints() -> None:
    """That the program prints it is for test_handbook.py."""
    printed = places(PAGE.split("```output")[1].split("```")[0])
    assert np.array_equal(printed[0], row("sennit")[0])


@pytest.mark.parametrize("program", ["PyElastica", "MuJoCo"])
def test_the_others_print_their_rows(program: str, tmp_path: Path) -> None:
    peer = PEERS[program.lower()]
    source = PROGRAMS[f"rope_{peer.package}"]
    ast.parse(source)
    assert peer.version in PAGE.split(f"# rope_{peer.package}.py")[0].rsplit("\n\n", 2)[-2], "the version is not told"
    if not installed(peer):
        pytest.skip(f"{peer.title} is not installed: sennit bench peers --install")
    file = tmp_path / "rope.py"
    file.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [str(python_of(folder_of(peer))), str(file)], capture_output=True, text=True, timeout=300, check=False,
        cwd=tmp_path, env=clean_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert np.allclose(places(done.stdout)[0], row(program)[0], rtol=0.0, atol=2 * ROUNDING)
