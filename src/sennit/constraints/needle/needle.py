"""The needle: a rigid arc or line on a rod's end that pierces tissue and draws its thread through it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rigid import inertia
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rigid.point import RigidPoint
from sennit.bodies.rod.point import RodPoint
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.bodies.zone.shifting import height_over
from sennit.constraints.constraint import AbstractConstraint, Row, relative_rotation
from sennit.constraints.join import Fuse
from sennit.constraints.kernels.rows import APART, ROTATE
from sennit.constraints.needle.arc import NeedleShape
from sennit.constraints.needle.hole import PIERCED, PRESSED, THREADED, TIED, NeedleHole
from sennit.constraints.needle.sewing import Forces, Sewing
from sennit.constraints.slide import Keyhole
from sennit.constraints.softness import Softness
from sennit.elastostatics.patch import places_of
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray, quoted

__all__ = ["Needle"]

_AXES = np.eye(3)
_NUMBERS = ("piercing", "cutting", "friction", "emerging", "grip", "thread_friction")
MOST_HOLES = 64
OPEN = 0.02
"""Part of a circle that the needle must leave open."""


class Needle(AbstractConstraint):
    """A rigid needle on the end of a `thread`, that pierces `tissue` and draws the thread through it: 6 rows, and 3 for
    each hole.

    Arguments:
        thread: the end of a rod that the needle is joined to: ``rod.at(0)`` or ``rod.at(rod.length)``.
        tissue: the zone that it can pierce, or several; they must be in the scene before the needle.
        length: of the needle, along its curve, m.
        radius: of the circle that it is an arc of, m; None: it is straight.
        thickness: its diameter, m, for its mass (`density`, kg/m³) and its picture.
        normal: of the arc's plane, (3,); the tip turns about it, counter-clockwise, as it goes on. Any, if left out.
        piercing: force on the tip, along the needle, at which it goes through the skin, N.
        emerging: the same from inside, N; as `piercing`, if left out.
        cutting: force at the tip that it takes to go on through the tissue, N.
        friction: force per length of needle in the tissue, N/m, against any motion along it.
        thread_friction: Coulomb's coefficient of the thread in a hole.
        grip: how many times the force along the needle the tip can carry across it before it slips off the skin.
        patch: radius of what gives way round a hole, m; 2.5 times the spacing of vertices, if left out.
        holes: how many places of each zone can be pierced or threaded at a time.

    The tip presses on a place of the skin, which stays at it, until the force along the needle reaches `piercing`: then
    the place becomes a hole ("pierced"), and slides along the needle against what cutting and friction take. Where the
    tip comes out again, it presses from inside until `emerging` ("through"). When the needle's end has passed a hole,
    a `Keyhole` holds the thread there. A needle that is drawn back out of a hole leaves it ("pulled_out"). Each of this
    is an event of `scene.events`; so are a tip that slips off ("slipped"), and one for which no place is left
    ("no_hole"): it goes on unfelt until it is outside.

    `body` is the needle itself, a `RigidBody` that comes with it: hold it by ``needle.at(s)``. What a hole applies is
    in `holes`; work that was done is in `piercing_work`, `cutting_work` and `friction_work`.

    Inside the tissue, from hole to hole, needle and thread are free: cutting and friction act at the holes. The forces
    are those of A. M. Okamura, C. Simone, M. D. O'Leary, *Force modeling for needle insertion into soft tissue*, IEEE
    Trans. Biomed. Eng. 51, 1707–1716, 2004: the tissue's stiffness before the puncture, friction and cutting after it.
    That a needle meets two peaks, going in and coming out, is from T. B. Frick and others, *Resistance forces acting on
    suture needles*, J. Biomech. 34, 1335–1340, 2001.

    Raises `InputError` for thresholds that are negative, a needle that is too long for its radius, a thread that is no
    rod's end, and, when it is added, a tip that is inside the tissue.
    """

    _attends = True
    _soft_rows = 0

    def __init__(
        self, thread: Point, tissue: ZonePlaces | Sequence[ZonePlaces], *, length: float, radius: float | None = None,
        thickness: float, piercing: float, cutting: float, friction: float, emerging: float | None = None,
        thread_friction: float = 0.0, grip: float = 2.0, patch: float | None = None, holes: int = 8,
        normal: ArrayLike | None = None, density: float = 7850.0, name: str | None = None,
    ) -> None:  # fmt: skip
        validation.label("name", name)
        rod, at_end = _thread_end(thread)
        zones = _zones(tissue)
        shape = _shape(length, radius, thickness)
        threshold = validation.number("piercing", piercing, minimum=0.0)
        forces = Forces(
            piercing=threshold,
            cutting=validation.number("cutting", cutting, minimum=0.0),
            friction=validation.number("friction", friction, minimum=0.0),
            emerging=threshold if emerging is None else validation.number("emerging", emerging, minimum=0.0),
            grip=validation.number("grip", grip, positive=True),
            thread_friction=validation.number("thread_friction", thread_friction, minimum=0.0),
        )
        least = min(forces.piercing, forces.emerging)
        if forces.cutting > least:
            raise InputError(
                f"cutting must not be above piercing and emerging ({least:g} N), got {quoted(cutting)}: what goes on "
                "through tissue takes no more than what breaks its skin"
            )
        rho = None if patch is None else validation.number("patch", patch, positive=True)
        count = validation.count("holes", holes, 1, MOST_HOLES)
        body = _made_body(shape, rod, at_end, normal, validation.number("density", density, positive=True), name)
        places = [_spread(zone, count, rho) for zone in zones]
        self._put_together(body, thread, zones, shape, forces, places, None, name)

    def _put_together(
        self, body: RigidBody, thread: Any, zones: Sequence[Any], shape: NeedleShape, forces: Forces,
        places: Sequence[Sequence[Any]], sliders: Sequence[Any] | None, name: str | None,
    ) -> None:  # fmt: skip
        """From its parts, those of a file or new ones; `places`: points of each zone."""
        self._body, self._zones, self._shape, self._forces = body, tuple(zones), shape, forces
        at_end = bool(thread.s > 0.0)
        self._backwards = at_end
        swage = RigidPoint(body, self._local(shape.length))
        turn = relative_rotation(swage, thread)
        rows = [Row(APART, axis=axis) for axis in _AXES] + [Row(ROTATE, axis=axis, relative=turn) for axis in _AXES]
        super().__init__(swage, thread, rows, Softness(), name)
        self._frame = RigidPoint(body, self._local(None))
        self._made: list[NeedleHole] = []
        margin = Sewing.margin_on(thread.body)
        rod = thread.body
        parked = rod.length - margin if at_end else margin
        number = 0
        for points in places:
            for point in points:
                title = f"hole {number + 1} of {self.name}"
                hole = Keyhole(rod, parked, point, friction=forces.thread_friction, name=f"thread in {title}")
                if sliders is not None:
                    hole._run_on(sliders[number])
                hole._rows.enabled[:] = 0
                self._made.append(NeedleHole(point, self._frame, shape, hole, title))
                number += 1
        self._sewing = Sewing(self, margin)

    def _local(self, s: float | None) -> FloatArray:
        """Where the needle's `s` is in its body's frame, m; None: the origin of its own frame."""
        return (np.zeros(3) if s is None else self._shape.place(s)) - _middle(self._shape)

    # ------------------------------------------------------------------------------------------------------- reading

    @property
    def body(self) -> RigidBody:
        """The rigid body that it is."""
        return self._body

    def at(self, s: float = 0.0) -> RigidPoint:
        """The point `s` (m) back from its tip: for what holds it."""
        back = validation.number("s", s, minimum=0.0, maximum=self._shape.length)
        return RigidPoint(self._body, self._local(back))

    @property
    def length(self) -> float:
        """Along its curve, m."""
        return self._shape.length

    @property
    def radius(self) -> float | None:
        """Of the circle that it is an arc of, m; None if it is straight."""
        return self._shape.radius or None

    @property
    def tip(self) -> FloatArray:
        """Where its tip is: (3,), m."""
        return self.at(0.0).position

    @property
    def direction(self) -> FloatArray:
        """Where its tip points to: (3,), a unit vector."""
        return np.asarray(self._body.pose.rotation @ np.array((0.0, 1.0, 0.0)))

    @property
    def tissue(self) -> tuple[Any, ...]:
        """The zones that it can pierce."""
        return self._zones

    @property
    def piercing(self) -> float:
        """Force at which the tip goes through the skin, N. Can be set."""
        return self._forces.piercing

    @piercing.setter
    def piercing(self, value: float) -> None:
        self._forces.piercing = validation.number("piercing", value, minimum=self._forces.cutting)

    @property
    def cutting(self) -> float:
        """Force that it takes to go on, N. Can be set."""
        return self._forces.cutting

    @cutting.setter
    def cutting(self, value: float) -> None:
        most = min(self._forces.piercing, self._forces.emerging)
        self._forces.cutting = validation.number("cutting", value, minimum=0.0, maximum=most)

    @property
    def friction(self) -> float:
        """Force per length of needle in the tissue, N/m. Can be set."""
        return self._forces.friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._forces.friction = validation.number("friction", value, minimum=0.0)

    @property
    def holes(self) -> tuple[NeedleHole | Keyhole, ...]:
        """What holds the needle and its thread in the tissue now, from the tip on: its `force` acts on the tissue, that
        of a `Keyhole` on the thread.
        """
        found = [self._made[k] for k in self._sewing.crossings() if self._sewing.stage[k] != TIED]
        return tuple(hole.thread if self._sewing.is_threaded(hole) else hole for hole in found)

    @property
    def pressed(self) -> NeedleHole | None:
        """The place of the skin that its tip presses on, or None."""
        pressed = self._sewing.pressed()
        return None if pressed < 0 else self._made[pressed]

    def tie(self, name: str | None = None) -> Fuse:
        """Tie the thread to the skin in the hole where it comes out of the tissue, and return the knot: a joint, which
        is added to the scene. The hole is used up. Raises `InputError` where no thread comes out.
        """
        title = validation.label("name", name)
        order = self._sewing.crossings()
        stage, into = self._sewing.stage, self._sewing.into
        if self._scene is None or not order or stage[order[0]] != THREADED or into[order[0]] > 0:
            raise InputError(f"the thread of {self.name} comes out nowhere: draw the needle through first")
        hole = self._made[order[0]]
        rod, at = hole.thread.slider.rod, hole.thread.s
        self._sewing.tie(order[0])
        knot: Fuse = self._scene.add(Fuse(rod.at(at), hole._place, align=False, name=title))
        return knot

    def way_in(self, hole: NeedleHole | Keyhole) -> float:
        """How far from its tip a hole is, along needle and thread, m."""
        for k, made in enumerate(self._made):
            if hole is made or hole is made.thread:
                return float(self._sewing.way[k])
        raise InputError(f"hole must be one of {self.name}, as its holes are, got {quoted(hole)}")

    @property
    def force(self) -> FloatArray:
        """What the tissue applies to the needle itself, not to its thread: (3,), N."""
        total = np.zeros(3)
        for k in np.flatnonzero((self._sewing.stage == PRESSED) | (self._sewing.stage == PIERCED)):
            total -= self._made[k].force
        return total

    @property
    def piercing_work(self) -> float:
        """Work that was lost as skin gave way, J: what its elasticity sets free beyond cutting and friction."""
        return float(self._sewing.work[0])

    @property
    def cutting_work(self) -> float:
        """Work of the cutting force so far, J."""
        return float(self._sewing.work[1])

    @property
    def friction_work(self) -> float:
        """Work of the needle's friction so far, J; not the thread's."""
        return float(self._sewing.work[2])

    # ---------------------------------------------------------------------------------------------------- for scenes

    def _free_points(self) -> Sequence[Point]:
        return self._points[1:]

    def _bring(self, scene: Any) -> None:
        for zone in self._zones:
            scene._check_member(zone, self.name)
            if zone._heft is not None:
                raise InputError(f"{self.name} can't pierce {zone.name} as it has weight: add that without weight=True")
            pose = zone.pose
            if not height_over(zone, (self.tip - pose.position) @ pose.rotation)[0] > 0.0:
                raise InputError(
                    f"the tip of {self.name} at {quoted(self.tip)} is inside {zone.name}: begin outside the tissue"
                )
        scene._check_new(self._body)
        scene._check_places(self._held_points())
        scene._take_in(self._body)
        for hole in self._made:
            hole.thread._bring(scene)
        self._scene = scene
        self._sewing.begin()

    def _enter(self, rows: Any, at: int, owner: int, dual: int) -> tuple[int, int]:
        self._join_scene(self._scene)
        return super()._enter(rows, at, owner, dual)

    def _join_scene(self, scene: Any) -> None:
        """Its holes belong to a scene, or to none."""
        for hole in self._made:
            hole._scene = hole.thread._scene = scene

    def _take_away(self, scene: Any) -> None:
        for hole in self._made:
            hole.thread._take_away(scene)
        if not any(point.body is self._body for tie in scene.constraints for point in tie.points):
            scene._drop_body(self._body)  # else a hand still has it
        self._join_scene(None)

    def _holds(self, body: Any) -> bool:
        return body is self._body or any(hole.thread._holds(body) for hole in self._made)

    def _companions(self) -> list[AbstractConstraint]:
        return [*self._made, *(hole.thread for hole in self._made)]

    def _held_points(self) -> list[Point]:
        return [hole._place for hole in self._made]

    def _attend(self) -> list[tuple[str, str]]:
        self._sewing.look()
        return self._sewing.told

    def _state_put(self) -> None:
        self._sewing.state_put()

    def _state_arrays(self) -> dict[str, Any]:
        return super()._state_arrays() | self._sewing.arrays()

    def _check_state(self) -> None:
        self._sewing.check()

    # ----------------------------------------------------------------------------------------------------- for files

    def _describe(self, out: Any) -> dict[str, Any]:
        shape = self._shape
        numbers = {name: getattr(self._forces, name) for name in _NUMBERS}
        places = [out.point(hole._place) for hole in self._made]
        return {
            **super()._describe(out), "body": out.body(self._body), "zones": [out.body(zone) for zone in self._zones],
            "shape": [shape.length, shape.radius, shape.thickness], "numbers": numbers, "places": places,
            "sliders": [out.body(hole.thread.slider) for hole in self._made],
        }  # fmt: skip

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        made: Any = cls.__new__(cls)
        body, zones = read.body(entry["body"], RigidBody), [read.body(number, ZonePlaces) for number in entry["zones"]]
        length, radius, thickness = validation.array("shape", entry["shape"], (3,)).tolist()
        numbers = entry["numbers"]
        forces = Forces(**{name: validation.number(name, numbers[name], minimum=0.0) for name in _NUMBERS})
        points = [read.point(place) for place in entry["places"]]
        places = [[point for point in points if point.body is zone] for zone in zones]
        if [point for part in places for point in part] != points or not points:
            raise ValueError("a needle has places of other zones")
        thread = read.point(entry["points"][1])
        _thread_end(thread)
        sliders = [read.body(number, Slider) for number in entry["sliders"]]
        if len(sliders) != len(points):
            raise ValueError("a needle has other holes")
        made._put_together(
            body, thread, zones, _shape(length, radius or None, thickness), forces, places, sliders, entry["name"]
        )
        return made


# ------------------------------------------------------------------------------------------------ checks, and making it


def _thread_end(thread: object) -> tuple[Any, bool]:
    """The rod, and whether the point is its last end."""
    if isinstance(thread, RodPoint) and not thread.body.closed:
        rod = thread.body
        if thread.s in (0.0, rod.length):
            if not rod.tables.model.smooth:
                raise InputError(f'nothing slides on a {rod.model} rod: make the thread with model="spline"')
            return rod, thread.s > 0.0
    raise InputError(f"thread must be the end of a rod, rod.at(0) or rod.at(rod.length), got {quoted(thread)}")


def _zones(tissue: object) -> list[Any]:
    given = list(tissue) if isinstance(tissue, list | tuple) else [tissue]
    if not given or not all(isinstance(zone, ZonePlaces) for zone in given):
        raise InputError(f"tissue must be a sennit.Zone, or several, got {quoted(tissue)}")
    if len(set(map(id, given))) < len(given):
        raise InputError("tissue holds the same zone twice")
    return given


def _shape(length: object, radius: object, thickness: object) -> NeedleShape:
    long = validation.number("length", length, positive=True)
    round_it = 0.0 if radius is None else validation.number("radius", radius, positive=True)
    if round_it > 0.0 and long > (1.0 - OPEN) * 2.0 * math.pi * round_it:
        raise InputError(
            f"length must leave the circle of radius {round_it:g} m open, which is {2.0 * math.pi * round_it:.4g} m "
            f"round, got {quoted(length)}: give a shorter needle or a larger radius"
        )
    thick = validation.number("thickness", thickness, positive=True)
    if not thick < min(long, round_it or math.inf):
        raise InputError(f"thickness must be below the needle's length and radius, got {quoted(thickness)}")
    return NeedleShape(long, round_it, thick)


@functools.cache
def _middle(shape: NeedleShape) -> FloatArray:
    """Its centre of mass in its own frame, m."""
    return np.array(inertia.mesh(*shape.mesh(), density=1.0).centre)


def _made_body(
    shape: NeedleShape, rod: Any, at_end: bool, normal: ArrayLike | None, density: float, name: str | None
) -> RigidBody:
    """Its body, on the rod's end."""
    end = rod.at(rod.length if at_end else 0.0)
    way = end.frame[:, 2] if at_end else -end.frame[:, 2]  # from the thread towards the tip
    wanted = end.frame[:, 0] if normal is None else validation.direction("normal", normal)
    flat = wanted - (wanted @ way) * way
    if not np.linalg.norm(flat) > 1e-6:
        raise InputError(f"normal must not be along the thread's end {quoted(way)}, got {quoted(normal)}")
    z = flat / np.linalg.norm(flat)
    t = np.array(shape.way(shape.length))
    own = np.column_stack((t, np.cross((0.0, 0.0, 1.0), t), (0.0, 0.0, 1.0)))
    turn = np.column_stack((way, np.cross(z, way), z)) @ own.T
    place = end.position - turn @ (shape.place(shape.length) - _middle(shape))
    title = None if name is None else f"body of {name}"
    vertices, faces = shape.mesh()
    return RigidBody.from_mesh(
        vertices, faces, density=density, pose=Pose.from_rotation(place, turn), shape=None, name=title
    )


def _spread(zone: Any, count: int, radius: float | None) -> list[Any]:
    """Places of a zone, far from each other, where holes wait for their use."""
    surface = zone.surface
    rho = radius if radius is not None else float(np.median(places_of(surface).skin.spacing))
    free = np.setdiff1d(np.arange(len(surface.vertices)), zone.fixed)
    away = np.linalg.norm(surface.vertices[free] - surface.vertices[free].mean(axis=0), axis=1)
    found: list[Any] = []
    problem: InputError | None = None
    while len(found) < count and away.max() > 0.0:
        k = int(np.argmax(away))
        away[k] = 0.0
        try:
            place = zone.at(surface.vertices[free[k]], radius=rho)
            zone._check_places([*found, place])
        except InputError as refused:
            problem = refused
            continue
        near = np.linalg.norm(surface.vertices[free] - surface.vertices[free[k]], axis=1)
        away = np.minimum(away, near) if found else near
        found.append(place)
    if len(found) < count:
        raise problem or InputError(f"holes={count} are more places than {zone.name} has: give fewer")
    return found
