"""Models of URDF and MJCF files, by MuJoCo's own compiler, with the checks that it does not make."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.importing.files import checked_path, nearest, needed
from sennit.importing.mujoco_text import SUFFIXES, check_inside, check_text
from sennit.validation import quoted, quoted_path

__all__ = ["compiled"]

_MOST_KEPT = 1_000
"""Numbers that a user may keep in every body, shape, ... of a model; keyframes."""
_MOST_CELLS = 1 << 26
"""Numbers in all textures and histories that are made without a file."""
_PACKAGE = "package:/"  # MuJoCo has taken one of its two slashes
_LINE = re.compile(r"[Ll]ine (?:number=)?(\d+)")
_UNREADABLE = re.compile(r"[Ee]rror opening file '([^']*)'")


def compiled(path: object) -> tuple[Any, Any, str]:
    """MuJoCo's model of a file, its data at the places that the file gives, and the model's name.

    Links that do not move against the world keep their mass: `fusestatic` is off.
    """
    file = checked_path(path, SUFFIXES, "a URDF or MJCF file (.urdf, .xml)")
    shown = quoted_path(file)
    check_text(file)
    mujoco = needed("mujoco", "mechanisms", f"{file.suffix} files")
    with _heard(mujoco) as warnings:
        try:
            spec = mujoco.MjSpec.from_file(str(file))
            _check_names(spec, file)
            _check_sizes(spec, shown)
            for body in spec.bodies:
                if body.mass < 0.0:  # of a link of URDF: it would be taken for one without a mass
                    raise InputError(f"{shown}: the mass of {body.name!r} must not be negative, got {body.mass:g} kg")
            spec.compiler.fusestatic = False
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # found by simulation, for actuators
            spec.memory = spec.njmax = spec.nconmax = spec.nstack = -1  # as much as is needed
            model = spec.compile()
            data = mujoco.MjData(model)
            mujoco.mj_kinematics(model, data)
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
            check_inside(quoted(str(file)), kind, inside, file.parent)


def _check_sizes(spec: Any, shown: str) -> None:
    """Raise unless what a model makes of a few numbers is of a size that it can have."""
    for kind in ("body", "geom", "jnt", "site", "cam", "tendon", "actuator", "sensor"):
        _check_most(shown, f"nuser_{kind}", getattr(spec, f"nuser_{kind}"), _MOST_KEPT)
    _check_most(shown, "nkey", spec.nkey, _MOST_KEPT)
    cells = spec.nuserdata
    for texture in spec.textures:
        cells += abs(texture.width * texture.height * max(texture.nchannel, 1))
        _check_most(shown, f"the texture {texture.name!r}, and what stands before it,", cells, _MOST_CELLS)
    for thing in (*spec.actuators, *spec.sensors):
        cells += abs(thing.nsample)
        _check_most(shown, f"nsample of {thing.name!r}, and what stands before it,", cells, _MOST_CELLS)


def _check_most(shown: str, what: str, number: int, most: int) -> None:
    if number > most:
        raise InputError(f"{shown}: {what} asks for {number} numbers; at most {most} are read")


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
