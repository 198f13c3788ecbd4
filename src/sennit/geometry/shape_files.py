"""Shapes in files: a description of texts and numbers, and arrays beside it.

`out` and `read` are what things write themselves to and are made from: see `storage.describe`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sennit import validation
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from sennit.geometry.tubes import Tubes
from sennit.validation import FloatArray

__all__ = ["described_shapes", "rebuilt_shapes"]


def described_shapes(shapes: Iterable[AbstractShape], out: Any) -> list[dict[str, Any]]:
    """Entries of some shapes of one thing; large arrays go to `out`."""
    return [_described(shape, out, f"shape {i}") for i, shape in enumerate(shapes)]


def rebuilt_shapes(entries: Any, read: Any) -> tuple[AbstractShape, ...]:
    """The shapes that entries describe, bit for bit; raises what bad numbers raise."""
    if not isinstance(entries, list) or not entries:
        raise ValueError("it has no shapes where some belong")
    return tuple(_rebuilt(entry, read, f"shape {i}") for i, entry in enumerate(entries))


def _described(shape: AbstractShape, out: Any, name: str) -> dict[str, Any]:
    place = [*shape.pose.position.tolist(), *shape.pose.quaternion.tolist()]
    entry: dict[str, Any] = {"kind": type(shape).__name__, "pose": place}
    if isinstance(shape, Sphere | Cylinder | Capsule):
        entry["radius"] = shape.radius
    if isinstance(shape, Cylinder | Capsule):
        entry["length"] = shape.length
    if isinstance(shape, Box | HeightField):
        entry["size"] = shape.size.tolist()
    if isinstance(shape, HeightField):
        out.array(f"{name}.heights", shape.heights)
    if isinstance(shape, Mesh):
        out.array(f"{name}.vertices", shape.vertices)
        out.array(f"{name}.faces", shape.faces)
    if isinstance(shape, Tubes):
        entry["places"], entry["open_ends"] = [len(line) for line in shape.axes], shape.open_ends
        out.array(f"{name}.axes", np.concatenate(shape.axes))
        out.array(f"{name}.radii", np.concatenate(shape.radii))
    return entry


def _rebuilt(entry: dict[str, Any], read: Any, name: str) -> AbstractShape:
    kind, pose = entry["kind"], _pose(entry["pose"])
    made: AbstractShape
    if kind == "Sphere":
        made = Sphere((0.0, 0.0, 0.0), entry["radius"])
    elif kind == "Plane":
        made = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    elif kind == "Box":
        made = Box(entry["size"])
    elif kind == "Cylinder":
        made = Cylinder(entry["radius"], entry["length"])
    elif kind == "Capsule":
        made = Capsule(entry["radius"], entry["length"])
    elif kind == "Mesh":
        made = Mesh(read.array(f"{name}.vertices", (None, 3)), read.array(f"{name}.faces", (None, 3), "i"))
    elif kind == "HeightField":
        made = HeightField(read.array(f"{name}.heights", (None, None)), entry["size"])
    elif kind == "Tubes":
        made = _rebuilt_tubes(entry, read.array(f"{name}.axes", (None, 3)), read.array(f"{name}.radii", (None,)))
    else:
        raise ValueError(f"it holds a shape of an unknown kind, {str(kind)[:40]!r}")
    return made._at(pose)


def _rebuilt_tubes(entry: dict[str, Any], axes: FloatArray, radii: FloatArray) -> Tubes:
    counts = entry["places"]
    if not isinstance(counts, list) or not counts or not all(type(n) is int and n >= 2 for n in counts):
        raise ValueError("a tube has an axis of too few places")
    if sum(counts) != len(axes) or len(radii) != len(axes) or not radii.min() > 0.0:
        raise ValueError("tubes have other places or radii than their number says")
    cuts = np.cumsum(counts)[:-1]
    lines = np.split(axes, cuts)
    if any(not np.linalg.norm(np.diff(line, axis=0), axis=1).min() > 0.0 for line in lines):
        raise ValueError("a tube has the same place twice")
    return Tubes(lines, np.split(radii, cuts), validation.flag("open_ends", entry["open_ends"]))


def _pose(numbers: Any) -> Pose:
    given = validation.array("pose", numbers, (7,))
    if not abs(np.linalg.norm(given[3:]) - 1.0) < 1e-9:
        raise ValueError("the pose of a shape is no rotation")
    return Pose._trusted(given[:3].copy(), given[3:].copy())  # which would be normalised again otherwise
