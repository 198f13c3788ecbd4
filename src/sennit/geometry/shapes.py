"""Rigid shapes that press on soft bodies: spheres, planes, boxes and closed meshes, with their signed distance."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.geometry.kernels.distances import BOX, MESH, PLANE, SPHERE, closest_many
from sennit.geometry.mesh_tables import IntArray, checked_mesh, mesh_tree
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import rotation_between
from sennit.geometry.tables import NO_TREE, MeshTree, ShapeTable
from sennit.validation import FloatArray

__all__ = ["AbstractShape", "Box", "Mesh", "Plane", "Sphere"]


@unchanging
class AbstractShape(ABC):
    """A rigid solid somewhere in space. It never changes: `moved` makes another one.

    The signed distance of a place is negative inside the solid. A shape has a pose, so that it remembers by how much
    it was moved and turned: what sticks to a shape follows `moved`.
    """

    __slots__ = ("_pose", "_table")

    _pose: Pose
    _table: ShapeTable

    def _fill(self, pose: Pose, kind: int, size: tuple[float, ...], ball: float, tree: MeshTree = NO_TREE) -> None:
        table = ShapeTable(rows=1, tree=tree)
        table.kind[0] = kind
        table.size[0, : len(size)] = size
        table.ball[0] = ball
        table.place[0], table.turn[0] = pose.position, pose.rotation
        object.__setattr__(self, "_pose", pose)
        object.__setattr__(self, "_table", table)

    @property
    def pose(self) -> Pose:
        """Where the shape's origin is and how it is turned."""
        return self._pose

    def signed_distance(self, points: ArrayLike) -> FloatArray:
        """Distance of `points`, (3,) or (n, 3), m, from the surface, negative inside: () or (n,), m."""
        return self._closest(points)[0]

    def closest(self, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The closest places on the surface to `points`, (3,) or (n, 3), m, and the outward unit normals there.

        The normal is the gradient of `signed_distance`. Next to an edge or a corner it points from there to the place;
        where several places are equally close (the centre of a sphere, the middle of a box) one of them is taken.
        """
        _, places, normals = self._closest(points)
        return places, normals

    def _closest(self, points: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        given = validation.array("points", points, (3,), (None, 3))
        rows = given.reshape(-1, 3)
        distances, places, normals = np.empty(len(rows)), np.empty_like(rows), np.empty_like(rows)
        closest_many(self._table, rows, distances, places, normals)
        return distances.reshape(given.shape[:-1]), places.reshape(given.shape), normals.reshape(given.shape)

    def moved(self, pose: Pose) -> Any:
        """This shape after the rigid motion `pose` of the space around it: x becomes R x + p.

        ``shape.moved(Pose((0, 0, -1e-3)))`` is a millimetre lower. A turn about the shape's own origin is
        ``shape.moved(shape.pose @ Pose((0, 0, 0), quaternion) @ shape.pose.inverse())``.
        """
        if not isinstance(pose, Pose):
            raise InputError(f"pose must be a Pose, got {validation.quoted(pose)}")
        return self._at(pose @ self._pose)

    @abstractmethod
    def _at(self, pose: Pose) -> AbstractShape:
        """The same shape at another pose."""

    @abstractmethod
    def _form(self) -> tuple[Any, ...]:
        """What stays the same when the shape moves."""

    def _same_form(self, other: AbstractShape) -> bool:
        """Whether one is the other, moved."""
        return type(self) is type(other) and self._form() == other._form()


class Sphere(AbstractShape):
    """A ball of a `radius` (m, above 0) about a `centre`, (3,), m.

    Raises `InputError` for other radii, and for centres that are not three finite numbers.
    """

    __slots__ = ("_radius",)

    _radius: float

    def __init__(self, centre: ArrayLike, radius: float) -> None:
        self._fill_sphere(Pose(validation.vector("centre", centre)), validation.number("radius", radius, positive=True))

    def _fill_sphere(self, pose: Pose, radius: float) -> None:
        object.__setattr__(self, "_radius", radius)
        self._fill(pose, SPHERE, (radius,), radius)

    @property
    def centre(self) -> FloatArray:
        """Where its centre is, (3,), m, read-only."""
        return self._pose.position

    @property
    def radius(self) -> float:
        """Distance of its surface from the centre, m."""
        return self._radius

    def _at(self, pose: Pose) -> Sphere:
        other = object.__new__(Sphere)
        other._fill_sphere(pose, self._radius)
        return other

    def _form(self) -> tuple[float]:
        return (self._radius,)

    def __repr__(self) -> str:
        return f"Sphere(centre={tuple(self.centre.tolist())}, radius={self._radius!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _moved_to, (Sphere, ((0.0, 0.0, 0.0), self._radius), self._pose)


class Plane(AbstractShape):
    """A half-space: solid on the side away from its `normal`, (3,), of any length but zero, with `point`, (3,), m, on
    its face.

    `point` belongs to the solid: another point of the same plane is the solid moved along itself, which friction feels.

    Raises `InputError` for a normal of zero, and for vectors that are not three finite numbers.
    """

    __slots__ = ()

    def __init__(self, point: ArrayLike, normal: ArrayLike) -> None:
        turn = rotation_between(np.array((0.0, 0.0, 1.0)), validation.direction("normal", normal))
        self._fill(Pose(validation.vector("point", point), turn), PLANE, (), math.inf)

    @property
    def point(self) -> FloatArray:
        """A place on the plane, (3,), m, read-only: the origin of its pose."""
        return self._pose.position

    @property
    def normal(self) -> FloatArray:
        """Unit vector away from the solid, (3,)."""
        return self._pose.rotation[:, 2]

    def _at(self, pose: Pose) -> Plane:
        other = object.__new__(Plane)
        other._fill(pose, PLANE, (), math.inf)
        return other

    def _form(self) -> tuple[()]:
        return ()

    def __repr__(self) -> str:
        return f"Plane(point={tuple(self.point.tolist())}, normal={tuple(self.normal.tolist())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _moved_to, (Plane, ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), self._pose)


class Box(AbstractShape):
    """A box with edges of `size`, (3,), m, above 0, along the axes of its `pose`, centred at the pose's position.

    Raises `InputError` for other sizes.
    """

    __slots__ = ("_size",)

    _size: FloatArray

    def __init__(self, size: ArrayLike, pose: Pose = Pose()) -> None:  # noqa: B008  poses never change
        edges = validation.vector("size", size)
        if not edges.min() > 0.0:
            raise InputError(f"size must be three edges above 0, got {validation.quoted(size)}")
        edges.setflags(write=False)
        self._fill_box(_checked_pose(pose), edges)

    def _fill_box(self, pose: Pose, size: FloatArray) -> None:
        object.__setattr__(self, "_size", size)
        half = 0.5 * size
        self._fill(pose, BOX, tuple(half.tolist()), math.hypot(*half.tolist()))

    @property
    def size(self) -> FloatArray:
        """Lengths of its edges along its own axes, (3,), m, read-only."""
        return self._size

    def _at(self, pose: Pose) -> Box:
        other = object.__new__(Box)
        other._fill_box(pose, self._size)
        return other

    def _form(self) -> tuple[float, ...]:
        return tuple(self._size.tolist())

    def __repr__(self) -> str:
        return f"Box(size={tuple(self._size.tolist())}, pose={self._pose!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Box, (self._size, self._pose)


class Mesh(AbstractShape):
    """A solid within a closed triangle mesh, wound outwards: `vertices`, (n, 3), m, in the frame of its `pose`, and
    `faces`, (m, 3), numbers of vertices, counter-clockwise seen from outside; or a trimesh object alone.

    The distance is that of the nearest face, found through a tree of boxes that is made once and shared by what `moved`
    returns; its sign comes from angle-weighted normals, and is right for every closed mesh that does not cross itself
    (which is not checked).

    Raises `InputError` for a mesh that is open, wound inwards or inconsistently, or has faces without area.
    """

    __slots__ = ("_faces", "_tree", "_vertices")

    _vertices: FloatArray
    _faces: IntArray
    _tree: MeshTree

    def __init__(self, vertices: Any, faces: ArrayLike | None = None, pose: Pose = Pose()) -> None:  # noqa: B008
        if faces is None:
            if not (hasattr(vertices, "vertices") and hasattr(vertices, "faces")):
                raise InputError(
                    "Mesh takes vertices (n, 3) and faces (m, 3), or a trimesh.Trimesh alone, got "
                    f"{validation.quoted(vertices)} without faces"
                )
            vertices, faces = np.asarray(vertices.vertices), np.asarray(vertices.faces)
        places, triangles = checked_mesh(vertices, faces)
        pose = _checked_pose(pose)
        tree = mesh_tree(places, triangles)
        places.setflags(write=False)
        triangles.setflags(write=False)
        self._fill_mesh(pose, places, triangles, tree)

    def _fill_mesh(self, pose: Pose, vertices: FloatArray, faces: IntArray, tree: MeshTree) -> None:
        object.__setattr__(self, "_vertices", vertices)
        object.__setattr__(self, "_faces", faces)
        object.__setattr__(self, "_tree", tree)
        self._fill(pose, MESH, (), float(np.linalg.norm(vertices, axis=1).max()), tree)

    @property
    def vertices(self) -> FloatArray:
        """(n, 3), m, in the shape's own frame, read-only."""
        return self._vertices

    @property
    def faces(self) -> IntArray:
        """Its triangles as numbers of vertices, (m, 3), read-only."""
        return self._faces

    def _at(self, pose: Pose) -> Mesh:
        other = object.__new__(Mesh)
        other._fill_mesh(pose, self._vertices, self._faces, self._tree)
        return other

    def _form(self) -> tuple[Any, ...]:
        return self._vertices.tobytes(), self._faces.tobytes()

    def _same_form(self, other: AbstractShape) -> bool:
        if isinstance(other, Mesh) and other._vertices is self._vertices and other._faces is self._faces:
            return True
        return super()._same_form(other)

    def __repr__(self) -> str:
        return f"Mesh({len(self._vertices)} vertices, {len(self._faces)} faces, pose={self._pose!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (self._vertices, self._faces, self._pose)


def _checked_pose(pose: object) -> Pose:
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a Pose, got {validation.quoted(pose)}")
    return pose


def _moved_to(kind: type[AbstractShape], arguments: tuple[Any, ...], pose: Pose) -> AbstractShape:
    """For pickling: the shape of some arguments, at a pose."""
    return kind(*arguments)._at(pose)
