"""Where something is and how it is turned."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.geometry.rotations import matrix_to_quaternion
from sennit.validation import FloatArray

__all__ = ["Pose"]


@unchanging
class Pose:
    """A position and a rotation: it takes a body's frame to the world, x_world = R x_body + p.

    Arguments: `position`, (3,), in metres, of the body's origin; `quaternion`, (4,), scalar first, of any norm but
    zero (it is normalised), whose matrix has the body's axes d1, d2, d3 as columns.

    ``pose @ other`` composes (other first), ``pose @ points`` moves one point (3,) or many (n, 3) to the world.
    A pose never changes, and its arrays are read-only. Poses are equal when every number is, up to the quaternion's
    sign.

    Raises `InputError` for shapes other than these, numbers that are not finite, or a quaternion of zeros.
    """

    __slots__ = ("_position", "_quaternion", "_rotation")

    _position: FloatArray
    _quaternion: FloatArray
    _rotation: FloatArray | None

    __array_ufunc__ = None  # `array @ pose` is an error, not an array of objects

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        _fill(self, validation.vector("position", position), validation.quaternion("quaternion", quaternion))

    @classmethod
    def _trusted(cls, position: FloatArray, quaternion: FloatArray) -> Pose:
        """A pose of a fresh (3,) and a fresh unit (4,) float64 array, which it takes over and makes read-only."""
        pose = _new(cls)
        _fill(pose, position, quaternion)
        return pose

    @classmethod
    def from_rotation(cls, position: ArrayLike, matrix: ArrayLike) -> Pose:
        """The pose of a `position`, (3,), in metres, and a rotation `matrix`, (3, 3), with columns d1, d2, d3.

        Raises `InputError` when an entry of RᵀR − 1 exceeds 1e-6, or for a reflection.
        """
        checked = validation.rotation_matrix("matrix", matrix)
        return cls._trusted(validation.vector("position", position), matrix_to_quaternion(checked))

    @classmethod
    def along(cls, position: ArrayLike, tangent: ArrayLike, up: ArrayLike = (0.0, 0.0, 1.0)) -> Pose:
        """The pose at `position` (m) with d3 along `tangent` and d2 as close to `up` as the tangent allows.

        Where `tangent` and `up` are parallel d2 turns to x (or to z, where both are along x). Their lengths don't
        matter, but must not be zero.
        """
        d3 = validation.direction("tangent", tangent)
        wanted = validation.direction("up", up)
        d1 = np.cross(wanted, d3)
        if np.linalg.norm(d1) < 1e-9:
            wanted = np.array((0.0, 0.0, 1.0)) if abs(d3[0]) > 0.9 else np.array((1.0, 0.0, 0.0))
            d1 = np.cross(wanted, d3)
        d1 /= np.linalg.norm(d1)
        matrix = np.column_stack((d1, np.cross(d3, d1), d3))
        return cls._trusted(validation.vector("position", position), matrix_to_quaternion(matrix))

    @property
    def position(self) -> FloatArray:
        """Where the body's origin is: (3,), m, read-only."""
        return self._position

    @property
    def quaternion(self) -> FloatArray:
        """The rotation from body to world as a unit quaternion (w, x, y, z): (4,), read-only."""
        return self._quaternion

    @property
    def rotation(self) -> FloatArray:
        """The rotation from body to world as a matrix with columns d1, d2, d3: (3, 3), read-only."""
        matrix = self._rotation
        if matrix is None:
            w, x, y, z = self._quaternion.tolist()
            matrix = np.array(
                (
                    (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
                    (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
                    (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
                )
            )
            matrix.setflags(write=False)
            _set_rotation(self, matrix)
        return matrix

    def inverse(self) -> Pose:
        """The pose that takes the world to the body's frame: ``pose.inverse() @ pose`` is ``Pose()`` to rounding."""
        quaternion = self._quaternion.copy()
        quaternion[1:] *= -1.0
        return Pose._trusted(-(self.rotation.T @ self._position), quaternion)

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...

    @overload
    def __matmul__(self, other: ArrayLike) -> FloatArray: ...

    def __matmul__(self, other: Pose | ArrayLike) -> Pose | FloatArray:
        if not isinstance(other, Pose):
            return validation.array("points", other, (3,), (None, 3)) @ self.rotation.T + self._position
        a, b, c, d = self._quaternion.tolist()
        w, x, y, z = other._quaternion.tolist()
        quaternion = (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
        # Rounding may not build up over a long chain of products.
        scale = 1.0 / math.hypot(*quaternion)
        unit = np.array([scale * entry for entry in quaternion])
        return Pose._trusted(self.rotation @ other._position + self._position, unit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[float, ...]:
        """The numbers that decide equality: the quaternion's first entry that is not zero is made positive."""
        quaternion = self._quaternion.tolist()
        leading = next((entry for entry in quaternion if entry != 0.0), 1.0)
        sign = -1.0 if leading < 0.0 else 1.0
        return (*self._position.tolist(), *(sign * entry for entry in quaternion))

    def __repr__(self) -> str:
        return f"Pose(position={tuple(self._position.tolist())}, quaternion={tuple(self._quaternion.tolist())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pose._trusted, (self._position, self._quaternion)


_new = object.__new__
# A slot's own setter passes by `unchanging`, in half the time that `object.__setattr__` takes.
_set_position = vars(Pose)["_position"].__set__
_set_quaternion = vars(Pose)["_quaternion"].__set__
_set_rotation = vars(Pose)["_rotation"].__set__


def _fill(pose: Pose, position: FloatArray, quaternion: FloatArray) -> None:
    position.setflags(write=False)
    quaternion.setflags(write=False)
    _set_position(pose, position)
    _set_quaternion(pose, quaternion)
    _set_rotation(pose, None)
