"""Shapes of MuJoCo's models as shapes to touch with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, Mesh, Plane, Sphere

__all__ = ["Geoms"]

_PLANE, _HEIGHTS, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)
"""MuJoCo's numbers for kinds of shapes."""


class Geoms:
    """The shapes of a model: of each body those that touch, or, if none does, those that are only seen.

    Ellipsoids become meshes of 320 triangles with their corners on them. A mesh that is not closed becomes its convex
    hull, as MuJoCo takes all meshes. What there is no shape for is told to `left_out`.
    """

    def __init__(self, model: Any, left_out: list[str], bodies: list[str]) -> None:
        self._model, self._left_out, self._names = model, left_out, bodies
        self._meshes: dict[int, Mesh] = {}

    def count(self, body: int) -> int:
        """How many shapes a body has."""
        return int(np.count_nonzero(self._model.geom_bodyid == body))

    def of_body(self, body: int) -> list[AbstractShape]:
        """Shapes of a body, in its axes from its centre of mass."""
        centre = np.array(self._model.body_ipos[body])
        made = (self._shape(geom, centre, solid=True) for geom in self._chosen(body))
        return [shape for shape in made if shape is not None]

    def of_world(self) -> Iterator[tuple[str, AbstractShape]]:
        """Names and shapes of what stands in the world."""
        for geom in self._chosen(0):
            shape = self._shape(geom, np.zeros(3), solid=False)
            if shape is not None:
                yield self._model.geom(geom).name or f"obstacle {geom}", shape

    def _chosen(self, body: int) -> list[int]:
        own = np.flatnonzero(self._model.geom_bodyid == body)
        touching = own[(self._model.geom_contype[own] | self._model.geom_conaffinity[own]) != 0]
        return (touching if len(touching) else own).tolist()

    def _shape(self, geom: int, centre: Any, *, solid: bool) -> AbstractShape | None:
        model = self._model
        kind, size = int(model.geom_type[geom]), model.geom_size[geom].tolist()
        place = Pose(model.geom_pos[geom] - centre, model.geom_quat[geom])
        if kind == _PLANE and not solid:
            return Plane(place.position, place.rotation[:, 2])
        if kind == _SPHERE:
            return Sphere(place.position, size[0])
        if kind == _CAPSULE:
            return Capsule(size[0], 2.0 * size[1], place)
        if kind == _CYLINDER:
            return Cylinder(size[0], 2.0 * size[1], place)
        if kind == _BOX:
            return Box(2.0 * np.array(size), place)
        if kind == _ELLIPSOID:
            import trimesh

            ball = trimesh.creation.icosphere(2)
            return Mesh(ball.vertices * size, ball.faces, place)
        if kind == _MESH:
            return self._mesh(int(model.geom_dataid[geom]))._at(place)
        what = {_PLANE: "a plane", _HEIGHTS: "a height field"}.get(kind, "a shape of another kind")
        self._left_out.append(f"{what} of {self._names[model.geom_bodyid[geom]]!r}")
        return None

    def _mesh(self, number: int) -> Mesh:
        if number not in self._meshes:
            import trimesh

            model = self._model
            at, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
            first, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
            mesh = trimesh.Trimesh(
                np.array(model.mesh_vert[at : at + count], np.float64), model.mesh_face[first : first + faces]
            )
            try:
                self._meshes[number] = Mesh(mesh)
            except InputError:
                self._meshes[number] = Mesh(mesh.convex_hull)
        return self._meshes[number]
