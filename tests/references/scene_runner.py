"""Runs the programs of `random_scenes`, reads everything that users can read, and cuts a program that fails down."""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from unit.scene import kit

import sennit as sn

from .random_scenes import HEADER

NAMES = re.compile(r"(?<!\")\b[a-z]+\d+\b")
UNBOUNDED = {
    "minimum_bend_radius",
    "closing_speed",
    "friction",
    "compliance",
    "angular_compliance",
    "max_torque",
    "max_force",
}
"""What may be infinite: a straight rod's bend radius, the closing speed of a path, a cable that never slips, a damper
without a spring."""
READERS = ("centerline", "velocities", "frames", "curvatures", "tensions", "path", "jacobian")
SKIPPED = {"scene", "body", "rod", "slider", "hole", "on", "points", "point", "entries", "around", "greens", "report"}
"""Properties that lead to other things, which are read by themselves."""


class Broken(AssertionError):
    """A program did what no program may do."""


@cache
def properties(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and isinstance(getattr(kind, name), property)]


def check_finite(value: Any, what: str, unbounded: bool = False) -> None:
    """Raise `Broken` if there is a number in `value` that is not finite."""
    if isinstance(value, numbers.Real):
        if math.isnan(value) or (math.isinf(value) and not unbounded):
            raise Broken(f"{what} is {value}")
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all() and not (unbounded and not np.isnan(value).any()):
            raise Broken(f"{what} is {value}")
    elif isinstance(value, list | tuple | set):
        for i, entry in enumerate(value):
            check_finite(entry, f"{what}[{i}]", unbounded)
    elif isinstance(value, dict):
        for key, entry in value.items():
            check_finite(entry, f"{what}[{key!r}]", unbounded)
    elif isinstance(value, sn.Pose):
        check_finite((value.position, value.quaternion), what)
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            if entry.name != "subjects":
                check_finite(getattr(value, entry.name), f"{what}.{entry.name}", unbounded)


def things(scene: sn.Scene) -> Iterator[tuple[str, Any]]:
    """All that a scene holds, by what a message calls it."""
    for body in scene.bodies:
        yield body.name, body
    for constraint in scene.constraints:
        yield constraint.name, constraint
        for point in constraint.points:
            yield f"{constraint.name}: {point!r}", point
        for entry in getattr(constraint, "entries", ()):
            if isinstance(entry, sn.Sheave):
                yield f"{constraint.name}: {entry!r}", entry
    for load in scene.loads:
        yield load.name, load


def read(scene: sn.Scene) -> None:
    """Read everything that users can read; raise `Broken` if a number is not finite."""
    check_finite(scene.energy, "scene.energy")
    for name in ("time", "events", "report", "linear_momentum", "angular_momentum", "dofs", "multipliers"):
        check_finite(getattr(scene, name), f"scene.{name}")
    for what, thing in things(scene):
        for name in properties(type(thing)):
            if name in SKIPPED:
                continue
            try:
                value = getattr(thing, name)
            except sn.InputError:
                continue  # such as the speed of a motor that is not there
            check_finite(value, f"{what}.{name}", name in UNBOUNDED)
        for name in READERS:
            if callable(getattr(type(thing), name, None)):
                count = () if name in ("path", "jacobian") else (9,)
                check_finite(getattr(thing, name)(*count), f"{what}.{name}()")


def bits(scene: sn.Scene) -> list:
    """Everything of a scene's state, as comparable values."""
    return [*kit.bits(scene), scene.gravity.tobytes(), scene.drag, scene.integrator]


def fresh_names() -> dict[str, Any]:
    """What a program starts with."""
    names: dict[str, Any] = {}
    exec("\n".join(HEADER), names)
    return names


def run_line(line: str, names: dict[str, Any]) -> Exception | None:
    """Run one line; returns what it was refused with. Lines about things that were refused are left out."""
    made, _, rest = line.partition(" = ")
    wanted = NAMES.findall(rest if made.isidentifier() else line)
    if not all(name in names for name in wanted):
        return None
    try:
        exec(compile(line, "<program>", "exec"), names)
    except (sn.InputError, sn.SolveError) as refused:
        return refused
    return None


def is_step(line: str) -> bool:
    return line.startswith("scene.step(")


def run(lines: Sequence[str], names: dict[str, Any] | None = None, *, careful: bool = True,
        watch: Callable[[sn.Scene, str], None] | None = None) -> dict[str, Any]:  # fmt: skip
    """Run a program. `careful`: whatever is refused has changed nothing, and all that can be read is finite."""
    names = fresh_names() if names is None else names
    for line in lines:
        scene = names.get("scene")
        before = bits(scene) if careful and scene is not None and not line.startswith("scene.settle") else None
        refused = run_line(line, names)
        scene = names["scene"]
        if careful and refused is not None and before is not None and bits(scene) != before:
            raise Broken(f"{line} was refused with {refused!r}, and has changed the scene")
        if careful and (is_step(line) or line.startswith("scene.")):
            read(scene)
        if watch is not None:
            watch(scene, line)
    return names


def reduced(lines: list[str], fails: Callable[[list[str]], bool]) -> list[str]:
    """The shortest list that cutting lines out of `lines` finds, and that still fails."""
    chunk = max(len(lines) // 2, 1)
    while True:
        at, cut = 0, False
        while at < len(lines):
            shorter = lines[:at] + lines[at + chunk :]
            if shorter and fails(shorter):
                lines, cut = shorter, True
            else:
                at += chunk
        if chunk == 1 and not cut:
            return lines
        chunk = max(chunk // 2, 1)


def failure_of(lines: Sequence[str], trial: Callable[[Sequence[str]], Any]) -> str | None:
    """What `trial` fails with on a program, or None."""
    try:
        trial(lines)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def attempt(lines: list[str], trial: Callable[[Sequence[str]], Any]) -> None:
    """Run `trial` on a program; if it fails, raise with the shortest program that still fails the same way."""
    problem = failure_of(lines, trial)
    if problem is None:
        return
    kind = problem.partition(":")[0]

    def fails(shorter: list[str]) -> bool:
        found = failure_of(shorter, trial)
        return found is not None and found.partition(":")[0] == kind

    short = reduced(list(lines), fails)
    program = "\n".join([*HEADER, *short])
    raise Broken(f"{failure_of(short, trial)}\n\n{program}\n")


def counterparts(names: dict[str, Any], other: sn.Scene) -> dict[str, Any]:
    """The names of a program for `other`, which holds the same in the same order; what is not in it has no name."""
    scene = names["scene"]
    twins: dict[int, Any] = {id(scene): other}
    for mine, its in ((scene.bodies, other.bodies), (scene.constraints, other.constraints), (scene.loads, other.loads)):
        for a, b in zip(mine, its, strict=True):
            twins[id(a)] = b
    for a, b in zip(scene.constraints, other.constraints, strict=True):
        for p, q in zip(a.points, b.points, strict=True):
            twins[id(p)] = q
    found = fresh_names()
    for name, thing in names.items():
        if id(thing) in twins:
            found[name] = twins[id(thing)]
        elif name.startswith("world"):
            found[name] = sn.World.at((0.0, 0.0, 0.0))  # a pose would be turned into a quaternion, and rounded
            found[name]._row.fill(thing._row)
    return found
