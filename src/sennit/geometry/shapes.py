"""Rigid shapes with their signed distance: spheres, planes, boxes, cylinders, capsules, meshes, height fields."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.geometry.kernels.distances import (
    BOX,
    CAPSULE,
    CYLINDER,
    HEIGHTS,
    MESH,
    PLANE,
    SPHERE,
    closest_many,
)  # fmt: skip
from sennit.geometry.mesh_tables import IntArray, checked_mesh, mesh_tree
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import rotation_between
from sennit.geometry.tables import NO_HEIGHTS, NO_TREE, NO_TUBES, Heights, MeshTree, ShapeTable, TubeParts
from sennit.validation import FloatArray

__all__ = ["AbstractShape", "Box", "Capsule", "Cylinder", "HeightField", "Mesh", "Plane", "Sphere", "checked_shapes"]


@unchanging
class AbstractShape(ABC):
    """A rigid solid somewhere in space. It never changes: `moved` makes another one.

    The signed distance of a place is negative inside the solid. A shape has a pose, so that it remembers by how much
    it was moved and turned: what sticks to a shape follows `moved`.
    """

    __slots__ = ("_pose", "_table")

    _pose: Pose
    _table: ShapeTable

    def _fill(
        self, pose: Pose, kind: int, size: tuple[float, ...], ball: float, tree: MeshTree = NO_TREE,
        heights: Heights = NO_HEIGHTS, tubes: TubeParts = NO_TUBES,
    ) -> None:  # fmt: skip
        table = ShapeTable(rows=1, tree=tree, heights=heights, tubes=tubes)
        table.kind[0] = kind
        table.end[0] = len(tree.skip) + len(heights.z) + len(tubes.length)
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
        where several places are equally close (the centre of a sphere, the middle of a box) one of them is taken: the
        upper one (z) of a sphere; of a box the sides across x before y before z, of a cylinder the round side before
        the ends, and positive directions of the shape's own axes before negative ones; on the axis of a cylinder or a
        capsule the one along x.
        """
        _, places, normals = self._closest(points)
        return places, normals

    def _closest(self, points: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        given = validation.array("points", points, (3,), (None, 3))
        rows = given.reshape(-1, 3)
        distances, places, normals = np.empty(len(rows)), np.empty_like(rows), np.empty_like(rows)
        closest_many(self._table, 0, rows, distances, places, normals)
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


class _AboutAxis(AbstractShape):
    """What cylinders and capsules have in common: a radius, and a length along the z axis of their pose."""

    __slots__ = ("_length", "_radius")

    _radius: float
    _length: float

    def __init__(self, radius: float, length: float, pose: Pose = Pose()) -> None:  # noqa: B008  poses never change
        r = validation.number("radius", radius, positive=True)
        self._fill_round(_checked_pose(pose), r, validation.number("length", length, positive=True))

    def _fill_round(self, pose: Pose, radius: float, length: float) -> None:
        object.__setattr__(self, "_radius", radius)
        object.__setattr__(self, "_length", length)
        self._fill(pose, *self._numbers(radius, 0.5 * length))

    @staticmethod
    @abstractmethod
    def _numbers(radius: float, half: float) -> tuple[int, tuple[float, float], float]:
        """Kind, size and ball."""

    @property
    def radius(self) -> float:
        """Distance of its round side from its axis, m."""
        return self._radius

    def _at(self, pose: Pose) -> Any:
        other = object.__new__(type(self))
        other._fill_round(pose, self._radius, self._length)
        return other

    def _form(self) -> tuple[float, float]:
        return self._radius, self._length

    def __repr__(self) -> str:
        return f"{type(self).__name__}(radius={self._radius!r}, length={self._length!r}, pose={self._pose!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._radius, self._length, self._pose)


class Cylinder(_AboutAxis):
    """A solid cylinder of a `radius` and a `length` (m, above 0) about the z axis of its `pose`, with flat ends.

    The pose's position is its middle. Raises `InputError` for other radii and lengths.
    """

    __slots__ = ()

    @staticmethod
    def _numbers(radius: float, half: float) -> tuple[int, tuple[float, float], float]:
        return CYLINDER, (radius, half), math.hypot(radius, half)

    @property
    def length(self) -> float:
        """From end to end, m."""
        return self._length


class Capsule(_AboutAxis):
    """A cylinder with round ends: all places within a `radius` (m, above 0) of a straight line of a `length` (m, above
    0) along the z axis of its `pose`, whose position is its middle.

    `length` is that of its straight part: from end to end it measures 2 radii more. Raises `InputError` for other radii
    and lengths; without a straight part it is a `Sphere`.
    """

    __slots__ = ()

    @staticmethod
    def _numbers(radius: float, half: float) -> tuple[int, tuple[float, float], float]:
        return CAPSULE, (radius, half), radius + half

    @property
    def length(self) -> float:
        """Of its straight part, m: from the middle of one round end to that of the other."""
        return self._length


class HeightField(AbstractShape):
    """Ground: what lies below `heights` (n, m), m, along the z axis of its `pose`, over a rectangle of edges `size`
    (2,), m, along its x and y axes that is centred at the pose's position.

    ``heights[0, 0]`` stands over the lowest x and y, ``heights[-1, 0]`` over the highest x and the lowest y. Between
    four neighbours the surface is two triangles, which share the diagonal from ``[i, j]`` to ``[i + 1, j + 1]``.

    It ends at the edges of the rectangle: its sides are upright and go down without end, and it has no bottom. A place
    beside it is as far away as the nearest side; one below the surface is inside, however deep.

    The time that a distance takes grows with the number of cells nearer than the surface: it is made for places near
    the ground. Raises `InputError` for fewer than two heights in a row or column, and for sizes not above 0.
    """

    __slots__ = ("_field", "_heights", "_size")

    _heights: FloatArray
    _size: FloatArray
    _field: Heights

    def __init__(self, heights: ArrayLike, size: ArrayLike, pose: Pose = Pose()) -> None:  # noqa: B008
        z, edges = validation.array("heights", heights, (None, None)), validation.array("size", size, (2,))
        if min(z.shape) < 2:
            raise InputError(f"heights must be two or more in each row and column, got an array of shape {z.shape}")
        if not edges.min() > 0.0:
            raise InputError(f"size must be two edges above 0, got {validation.quoted(size)}")
        pose = _checked_pose(pose)
        field = Heights(nodes=z.size)
        field.z[:] = z.ravel()
        z.setflags(write=False)
        edges.setflags(write=False)
        self._fill_field(pose, z, edges, field)

    def _fill_field(self, pose: Pose, heights: FloatArray, size: FloatArray, field: Heights) -> None:
        for name, value in (("_heights", heights), ("_size", size), ("_field", field)):
            object.__setattr__(self, name, value)
        numbers = (*(0.5 * size).tolist(), float(heights.min()), float(heights.max()))
        self._fill(pose, HEIGHTS, numbers, math.inf, heights=field)
        self._table.cells[0] = heights.shape[0] - 1, heights.shape[1] - 1

    @property
    def heights(self) -> FloatArray:
        """Heights of its nodes over the x-y plane of its pose, (n, m), m, read-only."""
        return self._heights

    @property
    def size(self) -> FloatArray:
        """Its edges along its own x and y axes, (2,), m, read-only."""
        return self._size

    def _at(self, pose: Pose) -> HeightField:
        other = object.__new__(HeightField)
        other._fill_field(pose, self._heights, self._size, self._field)
        return other

    def _form(self) -> tuple[Any, ...]:
        return self._heights.shape, self._heights.tobytes(), *self._size.tolist()

    def __repr__(self) -> str:
        n, m = self._heights.shape
        return f"HeightField({n} by {m} heights, size={tuple(self._size.tolist())}, pose={self._pose!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return HeightField, (self._heights, self._size, self._pose)


def checked_shapes(name: str, given: object) -> tuple[AbstractShape, ...]:
    """One shape or a sequence of shapes, as a tuple of one or more."""
    listed = [given] if isinstance(given, AbstractShape) else given
    if not (isinstance(listed, list | tuple) and all(isinstance(shape, AbstractShape) for shape in listed)):
        listed = []
    if not (found := tuple(listed)):
        raise InputError(
            f"{name} must be a shape (Sphere, Plane, Box, Cylinder, Capsule, Mesh or HeightField) or a sequence of "
            f"shapes, got {validation.quoted(given)}"
        )
    return found


def _checked_pose(pose: object) -> Pose:
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a Pose, got {validation.quoted(pose)}")
    return pose


def _moved_to(kind: type[AbstractShape], arguments: tuple[Any, ...], pose: Pose) -> AbstractShape:
    """For pickling: the shape of some arguments, at a pose."""
    return kind(*arguments)._at(pose)
