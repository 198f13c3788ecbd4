"""Models of URDF and MJCF files, by MuJoCo's own compiler, with the checks that it does not make."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np

from sennit.errors import InputError
from sennit.importing.files import checked_path, nearest, needed
from sennit.validation import quoted

__all__ = ["compiled"]

_MOST_INCLUDED = 100
SUFFIXES = (".urdf", ".xml", ".mjcf")
_PACKAGE = "package:/"  # MuJoCo has taken one of its two slashes
_LINE = re.compile(r"[Ll]ine (?:number=)?(\d+)")
_UNREADABLE = re.compile(r"[Ee]rror opening file '([^']*)'")


def compiled(path: object) -> tuple[Any, Any, str]:
    """MuJoCo's model of a file, its data at the places that the file gives, and the model's name.

    Links that do not move against the world keep their mass: `fusestatic` is off.
    """
    file = checked_path(path, SUFFIXES, "a URDF or MJCF file (.urdf, .xml)")
    shown = quoted(str(file))
    _check_text(file, file.parent, set())
    mujoco = needed("mujoco", "mechanisms", f"{file.suffix} files")
    with _heard(mujoco) as warnings:
        try:
            spec = mujoco.MjSpec.from_file(str(file))
            _check_names(spec, file)
            for body in spec.bodies:
                if body.mass < 0.0:  # of a link of URDF: it would be taken for one without a mass
                    raise InputError(f"{shown}: the mass of {body.name!r} must not be negative, got {body.mass:g} kg")
            spec.compiler.fusestatic = False
            model = spec.compile()
            data = mujoco.MjData(model)
            mujoco.mj_forward(model, data)
        except InputError:
            raise
        except Exception as problem:  # of the compiler; what it raises is not said anywhere
            raise InputError(_told(str(problem), file)) from None
    numbers = (model.body_mass, model.body_inertia, data.xpos, data.xquat, data.xipos, model.jnt_range, model.qpos0)
    if not all(np.isfinite(array).all() for array in numbers) or any("NaN" in text for text in warnings):
        raise InputError(f"{shown} holds numbers that are not finite")
    return model, data, str(spec.modelname)


@contextlib.contextmanager
def _heard(mujoco: Any) -> Iterator[list[str]]:
    """Collects MuJoCo's warnings, which it would write to a file in the present folder."""
    before = mujoco.get_mju_user_warning()
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)
    try:
        yield said
    finally:
        mujoco.set_mju_user_warning(before)


def _check_text(file: Path, folder: Path, seen: set[Path]) -> None:
    """Raise unless a file, and those that it includes, are XML in `folder` or below."""
    from sennit.text.tables import read_text

    shown = quoted(str(file))
    text = read_text(file, "a URDF or MJCF file")
    seen.add(file.resolve())
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{shown} declares what its own names mean (DOCTYPE): no URDF or MJCF file does")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        raise InputError(f"{shown}, line {problem.position[0]}: this is no XML: {problem}") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{shown}: this is no XML: {problem}") from None
    for element in root.iter("include"):
        name = PurePosixPath(element.get("file", "") or ".")
        for base in {folder, file.parent}:  # one of them is where MuJoCo looks
            _check_inside(shown, "file", name, base)
        near = file.parent / name
        other = near if near.exists() else folder / name
        if len(seen) < _MOST_INCLUDED and other.resolve() not in seen:
            _check_text(other, folder, seen)


def _check_inside(shown: str, kind: str, inside: PurePosixPath, folder: Path) -> None:
    """Raise unless a name is that of a file in a folder or below, and no link."""
    if inside.is_absolute() or ".." in inside.parts or "\\" in str(inside) or "\0" in str(inside):
        raise InputError(f"{shown} names a {kind} outside of its folder, {quoted(str(inside))}: put it beside it")
    path = folder
    for part in inside.parts:
        path /= part
        if path.is_symlink():
            raise InputError(f"{shown} names a {kind} that is a link, {quoted(str(inside))}: put the file itself there")


def _check_names(spec: Any, file: Path) -> None:
    """Raise unless the files that a model names lie in its folder or below: anybody may have written it.

    Names of ROS, ``package://robot/meshes/hand.stl``, are looked for there and in the folder above, by ever shorter
    ends.
    """
    for kind, of in (("mesh", spec.meshes), ("height field", spec.hfields), ("texture", spec.textures)):
        for thing in of:
            name = str(getattr(thing, "file", "") or "")
            if not name:
                continue
            if name.startswith(_PACKAGE):
                thing.file = str(_in_package(name, file).absolute())
                continue
            inside = PurePosixPath(str(spec.texturedir if kind == "texture" else spec.meshdir) or ".") / name
            _check_inside(quoted(str(file)), kind, inside, file.parent)


def _in_package(name: str, file: Path) -> Path:
    """The file that a name of ROS means."""
    parts = PurePosixPath(name.removeprefix(_PACKAGE)).parts
    for folder in (file.parent, file.absolute().parent.parent):
        for k in range(len(parts)):
            found = folder.joinpath(*parts[k:])
            if parts[k] != "/" and ".." not in parts and found.is_file() and not found.is_symlink():
                return found
    near = nearest(file.parent / (parts[-1] if parts else "x"))
    raise InputError(f"{quoted(str(file))}: there is no file {quoted(name)} in its folder or the one above{near}")


def _told(problem: str, file: Path) -> str:
    """What MuJoCo says, with the file and the line, on one line."""
    line = _LINE.search(problem)
    where = quoted(str(file)) + (f", line {line.group(1)}" if line and int(line.group(1)) > 0 else "")
    missing = _UNREADABLE.search(problem)
    near = nearest(file.parent / missing.group(1)) if missing else ""
    text = " ".join(problem.split()).removeprefix("Error: ")
    return f"{where}: {text[:300]}{near}"
