"""docs/scene_files.md tells all tables and makers that there are, and no others; its programs are read."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import sennit as sn
from sennit.commands.scenes import _opened
from sennit.text import schema
from sennit.text.reading import Run, scene_of_text

PAGE = (Path(__file__).parents[3] / "docs" / "scene_files.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`\[.*?) \| (.*) \|$", PAGE, re.M)


def told(group: str) -> set[str]:
    """The words in quotes of a group's row."""
    (text,) = [text for heads, text in ROWS if re.search(rf"`\[+{group}(\.NAME)?\]+`", heads)]
    return set(re.findall(r"`(\w+)`", text))


def test_every_table_is_there() -> None:
    found = {name for heads, _ in ROWS for name in re.findall(r"`\[+(\w+)", heads)}
    assert found == {*schema.GROUPS, "scene", "contacts", "run"}


def test_every_maker_is_there() -> None:
    assert told("section") == set(schema.makers_of(sn.Section))
    assert told("rod") == set(schema.makers_of(sn.Rod))
    assert told("rigid") == set(schema.makers_of(sn.RigidBody))
    assert told("zone") == {*schema.makers_of(sn.Zone), "on", "weight"}
    assert told("obstacle") == {*schema.shapes(), "shapes", "inside", "Inside"}
    assert told("scene") == {*inspect.signature(sn.Scene).parameters, "Scene"}
    assert told("route") == {*inspect.signature(sn.Route).parameters, "Route"}
    assert told("run") == set(Run.__dataclass_fields__)


def test_every_constraint_can_be_named() -> None:
    """A new constraint needs nothing: its annotations say what its arguments are."""
    from sennit.constraints.constraint import AbstractConstraint

    public = {name.lower() for name in sn.__all__ if isinstance(getattr(sn, name), type)
              and issubclass(getattr(sn, name), AbstractConstraint)}  # fmt: skip
    assert set(schema.holds()) == public
    known = {"Point", "Rod", "ZonePlaces", "Section", "Material", "Motor", "Callable", "Sheave", "RigidBody",
             "ArrayLike", "float", "int", "bool", "str", "Literal", "Bound", "Pose"}  # fmt: skip
    for maker in schema.holds().values():
        for name, kinds in maker.parameters.items():
            assert kinds & known, f"{maker.kind.__name__}({name}) is of no kind that a file can say"


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", PAGE, re.S))
def test_programs_of_the_page(text: str, tmp_path: Path) -> None:
    scene = scene_of_text(text).scene
    scene.settle()
    scene.run(0.02, dt=5e-3)
    path = tmp_path / "rope.toml"
    path.write_text(text)
    assert _opened(path).run is not None
