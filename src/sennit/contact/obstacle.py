"""Obstacles: shapes of the world that rods and bodies can touch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.world import WorldPoint
from sennit.constraints.route import Route
from sennit.contact.table import ObstacleRows
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shape_files import described_shapes, rebuilt_shapes
from sennit.geometry.shapes import AbstractShape, checked_shapes
from sennit.given import remembers
from sennit.sending import Placed
from sennit.tables import PARAMETER
from sennit.validation import FloatArray, quoted

__all__ = ["Obstacle"]

Path = Callable[[float], ArrayLike | Pose]

_numbers = itertools.count(1)


@guarded()
class Obstacle(Placed):
    """A `shape` of the world, or a sequence of shapes that move as one: a floor, a beam, a wall, a belt.

    It has no mass and nothing pushes it: it is where it is put. Its `pose` says by which motion it was moved from where
    the shapes were given: ``Pose()`` leaves them there, ``obstacle.shape.moved(obstacle.pose)`` is where one is now.

    Raises `InputError` for what is no shape.

    >>> from sennit import Obstacle, Plane, Pose
    >>> floor = Obstacle(Plane((0, 0, 0), (0, 0, 1)), name="floor")
    >>> floor.pose = Pose((0, 0, -0.5))  # half a metre lower
    >>> floor.shape.moved(floor.pose).point.tolist()
    [0.0, 0.0, -0.5]
    """

    _kinds: ClassVar[dict[str, type[Obstacle]]] = {}
    _kept: ClassVar[dict[str, str]] = {}
    _inner: Any = None
    """The rod that it holds inside, of tubes: it touches nothing else."""
    _outer: Any = None
    """The rod that is the tube, if one is."""

    @remembers
    def __init__(self, shape: AbstractShape | Sequence[AbstractShape], name: str | None = None) -> None:
        self._shapes = checked_shapes("shape", shape)
        self._single = isinstance(shape, AbstractShape)
        self._name = validation.label("name", name)
        self._number = next(_numbers)
        self._scene: Any = None
        self._path: Path | None = None
        self._anchor = WorldPoint(Pose())
        """The point of the world that carries it: a scene leads it, and remembers where it was."""
        self._row = ObstacleRows(rows=1)
        """Its row of a table of obstacles, or its own."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"obstacle {self._number}"

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return self._scene

    def __repr__(self) -> str:
        return f"<Obstacle {self.name!r}>"

    @property
    def shape(self) -> Any:
        """Its shape, or the tuple of its shapes, as given: where they are now is told by `pose`."""
        return self._shapes[0] if self._single else self._shapes

    @property
    def shapes(self) -> tuple[AbstractShape, ...]:
        """Its shapes as given, one or more."""
        return self._shapes

    @property
    def pose(self) -> Pose:
        """The motion from where its shapes were given to where they are: x becomes R x + p. Can be set at any time.

        What touches it feels the way as a motion during the next step. It can't be set while it has a `path`.
        """
        return self._anchor.pose

    @pose.setter
    def pose(self, value: Pose) -> None:
        if not isinstance(value, Pose):
            raise InputError(f"pose must be a sennit.Pose, got {quoted(value)}")
        self._check_not_led()
        self._anchor.pose = value

    @property
    def position(self) -> FloatArray:
        """How far its `pose` moves it, (3,), m. Can be set at any time, as `pose`, whose rotation stays."""
        return self._anchor.position

    @position.setter
    def position(self, value: ArrayLike) -> None:
        place = validation.vector("position", value)
        self._check_not_led()
        self._anchor.position = place

    def _check_not_led(self) -> None:
        if self._path is not None:
            raise InputError(f"{self.name} follows a path, which says where it is: set its path to None first")

    @property
    def surface_velocity(self) -> FloatArray:
        """Velocity of its surface past itself, as that of a conveyor belt: (3,), m/s; zero unless set.

        It is that of the whole surface, relative to the shapes, in the frame in which they were given: it turns with
        `pose`. The shapes do not move by it. Can be set.
        """
        return np.array(self._row.surface_velocity[0])

    @surface_velocity.setter
    def surface_velocity(self, value: ArrayLike) -> None:
        self._row.surface_velocity[0] = validation.vector("surface_velocity", value)

    @property
    def path(self) -> Path | None:
        """What leads its `pose`: a `Route`, or a function of the scene's time (s), or None. Can be set.

        Both give poses, or positions (3,), m, which move it without turning it: like `pose` they say how far it is from
        where its shapes were given. A function can't be saved or taken into a haptic loop, a `Route` can.
        """
        return self._path

    @path.setter
    def path(self, value: Path | None) -> None:
        if self._scene is not None:
            self._scene._check_free()
        if value is not None:
            if not callable(value):
                raise InputError(
                    f"path must be a Route, a function of time that returns a position or a Pose, or None, got "
                    f"{quoted(value)}"
                )
            _place("path(0)", value(0.0))
        self._path = value
        if self._scene is not None:
            self._scene._changed(ties=False)

    # ------------------------------------------------------------------------------------------------- for scenes

    @property
    def _is_led(self) -> bool:
        """Whether Python must ask its path where it is."""
        return self._path is not None and not isinstance(self._path, Route)

    def _route(self) -> Route | None:
        """The route that kernels lead it along, if it has one."""
        return self._path if isinstance(self._path, Route) else None

    def _place_at(self, time: float) -> FloatArray | Pose:
        """Where its path is at `time`; checked, and nothing changed yet."""
        assert self._path is not None
        return _place(f"path({time:g})", self._path(time))

    @property
    def points(self) -> tuple[WorldPoint]:
        """The point of the world that carries it, as a tuple of one: that of its `pose`."""
        return (self._anchor,)

    def _rods(self) -> tuple[Any, ...]:
        """The rods that it needs: of tubes, see `Inside`."""
        return ()

    def _check_matter(self, body: Any, matter: Any) -> None:
        """Raise `InputError` if a body of the scene can't be made of that because of it."""

    def _enter(self, table: ObstacleRows, index: int) -> None:
        """Be number `index` of a scene's obstacles."""
        row = table.part(index, index + 1)
        row.fill(self._row)
        self._row = row
        row.point[0] = self._anchor._index

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state besides its point's, by name."""
        return dict(self._row.fields(PARAMETER))

    def _may_be_infinite(self, name: str) -> bool:
        """Whether infinity has a meaning in an array of its state."""
        return False

    def _check_state(self) -> None:
        """Any finite numbers are a state of it."""

    def _beginning(self) -> dict[str, Any]:
        """What `reset` takes instead of the numbers of its first state: nothing."""
        return {}

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def _describe(self, out: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"shapes": described_shapes(self._shapes, out), "single": self._single}
        if self._is_led:
            raise InputError(
                f"{self.name} cannot be saved, since its path is a function: give it a Route, or set it to None first"
            )
        route = self._route()
        return entry if route is None else {**entry, "route": route._describe(out)}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Obstacle:
        shapes = rebuilt_shapes(entry["shapes"], read)
        made = cls(shapes[0] if entry["single"] is True else shapes, entry["name"])
        if "route" in entry:
            made._path = Route._rebuilt(entry["route"], read)
        return made


Obstacle._kinds["Obstacle"] = Obstacle


def _place(name: str, place: object) -> FloatArray | Pose:
    """What a path returned, checked."""
    return place if isinstance(place, Pose) else validation.vector(name, place)
