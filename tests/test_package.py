"""The package as it is handed out: version, texts, programs in the README and in the gallery."""

from __future__ import annotations

import os
import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest

import sennit

ROOT = Path(__file__).parent.parent
TEST_COMMAND = "pip install uv && uv run pytest"
DEMO_COMMAND = "pip install uv && uv run sennit demo suture"


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_is_the_same_everywhere() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert metadata.version("sennit") == version == sennit.__version__
    newest = re.search(r"^## \[(.+?)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None and newest[1] == version


def test_public_names_exist_and_have_docstrings() -> None:
    assert sorted(set(sennit.__all__)) == sorted(sennit.__all__)
    for name in sennit.__all__:
        assert name == "__version__" or getattr(sennit, name).__doc__


def test_types_are_announced() -> None:
    assert (Path(sennit.__file__).parent / "py.typed").is_file()


def test_required_packages_are_few() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]}  # type: ignore[index]
    assert names == {"numpy", "scipy", "numba", "trimesh", "rich"}
    extras = {"view", "export", "fem", "haptics", "learning", "mechanisms", "cad", "cuda", "bench", "docs"}
    assert set(project["optional-dependencies"]) == extras


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = text_of("README.md")
    assert TEST_COMMAND in readme and DEMO_COMMAND in readme
    assert TEST_COMMAND in text_of(".ci/run").splitlines()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", text_of("README.md"))
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


PROGRAMS = re.findall(r"```python\n(.*?)```", text_of("README.md"), re.DOTALL)


def test_the_readme_has_a_program_for_strands_and_one_for_scenes() -> None:
    assert ["Strand(" in program for program in PROGRAMS].count(True) >= 1
    assert ["Scene(" in program for program in PROGRAMS].count(True) >= 1


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_in_the_readme_run(
    number: int, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    names: dict[str, Any] = {}
    exec(compile(PROGRAMS[number], "README.md", "exec"), names)
    if "state" in names:
        assert names["state"].report.converged
    assert capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem)
def test_gallery_programs_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each asserts something of its own; here it only has to reach its end."""
    matplotlib.use("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
