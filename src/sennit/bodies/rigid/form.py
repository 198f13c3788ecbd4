"""The form of a rigid body: a kind with dimensions, which files keep, and the shapes that it touches others with."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from sennit.validation import quoted

__all__ = ["checked_form", "checked_solids", "shapes_of_form"]

_LENGTHS: dict[str, dict[str, int]] = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "inertia": {},
}
"""Of each kind, its dimensions and how many numbers each is."""


def shapes_of_form(form: dict[str, Any]) -> tuple[AbstractShape, ...]:
    """What a body of this form touches with, in its own frame; nothing, if only its inertia is known.

    Raises `InputError` for a mesh that has a volume, but faces without area: distances from those have no direction.
    """
    kind = form["kind"]
    if kind == "box":
        return (Box(form["size"]),)
    if kind == "sphere":
        return (Sphere((0.0, 0.0, 0.0), form["radius"]),)
    if kind == "cylinder":
        return (Cylinder(form["radius"], form["length"]),)
    if kind == "capsule":
        return (Capsule(form["radius"], form["length"]),)
    if kind == "mesh":
        return (_merged_mesh(np.array(form["vertices"], np.float64), np.array(form["faces"], np.int64)),)
    return ()


def _merged_mesh(vertices: Any, faces: Any) -> Mesh:
    """The mesh with vertices that coincide made one, as its mass was computed: to 1e-8 of its size."""
    import trimesh  # here, because it takes long to import

    extent = float(np.ptp(vertices, axis=0).max())
    merged = trimesh.Trimesh(vertices / extent, faces, process=False)
    merged.merge_vertices()
    if len(merged.vertices) == len(vertices):
        return Mesh(vertices, faces)
    return Mesh(extent * np.asarray(merged.vertices), np.asarray(merged.faces, np.int64))


def checked_solids(shapes: tuple[AbstractShape, ...]) -> tuple[AbstractShape, ...]:
    """Shapes that a rigid body can carry: those with an end."""
    for shape in shapes:
        if isinstance(shape, Plane | HeightField):
            raise InputError(
                f"shape must be made of solids with an end, got {quoted(shape)}: a {type(shape).__name__} has none and "
                "stands in the world, as an Obstacle"
            )
    return shapes


def checked_form(form: Any) -> dict[str, Any]:
    """What a rigid body looks like, from a file: its lengths are positive, its faces name vertices."""
    kind = form["kind"]
    keys = {"vertices", "faces"} if kind == "mesh" else set(_LENGTHS[kind])
    if set(form) != keys | {"kind"}:
        raise ValueError("a rigid body has no known form")
    if kind == "mesh":
        vertices, faces = np.array(form["vertices"], dtype=np.float64), np.array(form["faces"])
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ValueError("a mesh has other vertices")
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind != "i":
            raise ValueError("a mesh has other faces")
        if faces.size and not (faces.min() >= 0 and faces.max() < len(vertices)):
            raise ValueError("the faces of a mesh name vertices that there are not")
        return dict(form)
    for key, count in _LENGTHS[kind].items():
        numbers = np.array(form[key], dtype=np.float64).ravel()
        if len(numbers) != count or not (np.isfinite(numbers) & (numbers > 0.0)).all():
            raise ValueError(f"the {key} of a rigid body is no length")
    return dict(form)
