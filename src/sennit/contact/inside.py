"""Rods inside tubes: of the world, or of other rods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.rod.rod import Rod
from sennit.contact.obstacle import Obstacle, Path
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Cylinder
from sennit.geometry.tubes import Tubes
from sennit.given import remembers
from sennit.material import Section
from sennit.validation import FloatArray, quoted

__all__ = ["Inside"]

A_LITTLE = 0.5
"""Radii of a rod by which it may stand in the wall of its tube when a scene begins."""
A_TOUCH = 0.02
"""The same of a pearl: what is wider than its bore never fits."""
_SAMPLES = 8
"""Places in each span of a tube that is a rod, where that is asked."""


@guarded()
class Inside(Obstacle):
    """Holds a `rod` inside a `tube`: a guidewire in a vessel, a drill string in a well, a wire in its catheter.

    The tube is one of

    * a `Cylinder`: its bore has the cylinder's radius and length;
    * a chain of places (n, 3), m, joined by straight parts, with the bore's `radius` (m): one number, or (n,);
    * a sequence of these, with one `radius` for all or a sequence of them: a rod can pass from one into the other where
      they meet. Of cylinders the radius is their own;
    * another `Rod` of the scene, with the `radius` of its bore; of a section that is a tube, the inner one by default.

    Ends are open, with a round rim, but for those that lie inside another tube; ``open_ends=False`` closes them (of a
    rod they are always open). A wall is as thick as the bore's radius: a rod that has left the bore touches it from
    outside, too.

    Contacts are ordinary ones: `friction`, `static_friction` and `restitution` are as in `Scene.collide`, which can
    change them later, ``scene.collide(rod, tube, friction=0.1)``; ``scene.contacts.between(rod, tube)`` tells of them.
    Nothing else touches the tube. A tube of the world is an obstacle: it has a `pose`, a `path`, and can be removed.

    Raises `InputError` for what is no rod or tube, for radii that are not larger than the rod's largest, and for a rod
    inside itself; the scene's first step for a rod that begins in the wall or beside the tube.

    >>> from sennit import Cylinder, Inside, Material, Rod, Section
    >>> wire = Rod.straight((0, 0, 0), (0, 0, 1), section=Section.circle(1e-3), material=Material(2e9, 0.3, 1200))
    >>> Inside(wire, Cylinder(2e-3, 1.0), friction=0.1).radius
    0.002
    """

    @remembers
    def __init__(
        self, rod: Rod, tube: Any, radius: Any = None, *, friction: float | None = None,
        static_friction: float | None = None, restitution: float | None = None, open_ends: bool = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(rod, Rod):
            raise InputError(f"rod must be a Rod, which is held inside, got {quoted(rod)}")
        numbers = {"friction": friction, "static_friction": static_friction, "restitution": restitution}
        for key, value in numbers.items():
            if value is not None:
                validation.number(key, value, minimum=0.0, maximum=1.0 if key == "restitution" else None)
        opens = validation.flag("open_ends", open_ends)
        if isinstance(tube, Rod):
            least = _bore_of(rod, tube, radius)
            self._begin((), name)
            self._outer = tube
        else:
            shape = _checked_tubes(tube, radius, opens)
            least = min(float(width.min()) for width in shape.radii)
            self._begin((shape,), name)
        if not least > rod.radius:
            raise InputError(f"radius must be larger than that of {rod.name}, {rod.radius:g} m, got {least:g} m")
        self._inner, self._radius = rod, least
        self._numbers: dict[str, float | None] | None = numbers
        """What the scene is told of the pair when the tube is added; None: it has been told already, by a file."""

    def _begin(self, shapes: tuple[Tubes, ...], name: str | None) -> None:
        """An obstacle of these shapes; of a tube that is a rod there are none."""
        super().__init__(shapes or Cylinder(1.0, 1.0), name)
        self._shapes, self._single = shapes, len(shapes) == 1

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"tube {self._number}"

    def __repr__(self) -> str:
        return f"<Inside {self.name!r}>"

    @property
    def rod(self) -> Rod:
        """The rod that is held inside."""
        rod: Rod = self._inner
        return rod

    @property
    def tube(self) -> Rod | None:
        """The rod that is the tube; None: it is one of the world."""
        rod: Rod | None = self._outer
        return rod

    @property
    def radius(self) -> float:
        """Radius of its bore, m; the least one where it changes."""
        return self._radius

    @property
    def shape(self) -> Any:
        """Its wall; None where the tube is a rod."""
        return self._shapes[0] if self._shapes else None

    @property
    def pose(self) -> Pose:
        """As of any `Obstacle`; that of a tube that is a rod says nothing, and can't be set."""
        return self._anchor.pose

    @pose.setter
    def pose(self, value: Pose) -> None:
        self._check_stands("pose")
        Obstacle.pose.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def path(self) -> Path | None:
        """As of any `Obstacle`; a tube that is a rod has none."""
        return self._path

    @path.setter
    def path(self, value: Path | None) -> None:
        self._check_stands("path")
        Obstacle.path.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def surface_velocity(self) -> FloatArray:
        """As of any `Obstacle`; a tube that is a rod has none."""
        return np.array(self._row.surface_velocity[0])

    @surface_velocity.setter
    def surface_velocity(self, value: ArrayLike) -> None:
        self._check_stands("surface_velocity")
        Obstacle.surface_velocity.__set__(self, value)  # type: ignore[attr-defined]

    def _check_stands(self, what: str) -> None:
        if self._outer is not None:
            raise InputError(f"{what} of {self.name} can't be set: the tube is {self._outer.name}, a rod, which moves")

    # ------------------------------------------------------------------------------------------------- for scenes

    def _rods(self) -> tuple[Rod, ...]:
        """The rods that it needs."""
        return (self._inner,) if self._outer is None else (self._inner, self._outer)

    def _check_matter(self, body: Any, matter: Any) -> None:
        if body is self._inner and not self._radius > matter.radius:
            raise InputError(
                f"{body.name} would have a radius of {matter.radius:g} m and not fit into {self.name}, of "
                f"{self._radius:g} m"
            )

    def _check_begin(self, pearls: Sequence[Any]) -> None:
        """Raise `InputError` if the rod, or one of its `pearls`, stands in the wall, or beside the tube."""
        rod = self.rod
        if self._outer is None:
            shape = self.shape.moved(self.pose)
        else:
            axis = self._outer.centerline(_SAMPLES * len(self._outer.control_points))
            shape = Tubes([axis], [np.full(len(axis), self._radius)], open_ends=True)
        line = rod.centerline(2 * len(rod.control_points))
        radii = np.array([rod._radius_at(s) for s in np.linspace(0.0, rod.length, len(line))])
        gaps = shape.clearance(line) - radii
        worst = int(np.argmin(gaps))
        if gaps[worst] < -A_LITTLE * radii[worst]:
            s = worst / (len(line) - 1) * rod.length
            raise InputError(
                f"{rod.name} begins {-gaps[worst]:.3g} m outside of the bore of {self.name}, at s = {s:.4g} m: let it "
                "begin inside, or in front of an open end"
            )
        for pearl in pearls if self._outer is None else ():
            gap = float(shape.clearance(np.array([pearl.at().position]))[0]) - pearl.radius
            if gap < -A_TOUCH * pearl.radius:
                raise InputError(
                    f"{pearl.name}, of radius {pearl.radius:g} m, begins {-gap:.3g} m in the wall of {self.name}, at "
                    f"s = {pearl.s:.4g} m: give it a smaller radius, or the tube a wider bore"
                )

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def _describe(self, out: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"rod": out.body(self._inner), "radius": self._radius}
        if self._outer is not None:
            return entry | {"tube": out.body(self._outer)}
        return entry | super()._describe(out)

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Inside:
        made = cls.__new__(cls)
        inner = read.body(entry["rod"], Rod)
        if "tube" in entry:
            made._begin((), entry["name"])
            made._outer = read.body(entry["tube"], Rod)
            made._radius = validation.number("radius", entry["radius"], positive=True)
        else:
            like = Obstacle._rebuilt(entry, read)
            if len(like._shapes) != 1 or not isinstance(like._shapes[0], Tubes):
                raise ValueError("a tube has another shape than tubes have")
            made._begin(like._shapes, entry["name"])  # type: ignore[arg-type]
            made._path = like._path
            made._radius = min(float(width.min()) for width in like._shapes[0].radii)
        if made._outer is inner or not made._radius > inner.radius:
            raise ValueError("a rod does not fit into its tube")
        made._inner, made._numbers = inner, None
        return made


Obstacle._kinds["Inside"] = Inside


def _bore_of(rod: Rod, tube: Rod, radius: Any) -> float:
    """Radius of the bore of a tube that is a rod."""
    if tube is rod:
        raise InputError(f"{rod.name} can't be inside itself: tube must be another rod")
    if radius is not None:
        return validation.number("radius", radius, positive=True)
    if not isinstance(tube.section, Section) or tube.section.kind != "tube":
        raise InputError(f"radius is missing: the section of {tube.name} is no tube, which would tell it")
    return float(tube.section.dimensions[1])


def _checked_tubes(tube: Any, radius: Any, open_ends: bool) -> Tubes:
    """The walls of what was given: a cylinder, a chain of places, or a sequence of them."""
    given = [tube] if isinstance(tube, Cylinder) or _is_chain(tube) else tube
    if not isinstance(given, list | tuple) or not given:
        raise InputError(
            "tube must be a Cylinder, places (n, 3) of its axis, a sequence of these, or a Rod, got " + quoted(tube)
        )
    listed = isinstance(radius, list | tuple) or (isinstance(radius, np.ndarray) and radius.ndim > 0)
    several = given is tube and listed
    if several and len(radius) != len(given):
        raise InputError(f"radius must be one number or one for each of the {len(given)} tubes, got {quoted(radius)}")
    pairs = [
        _checked_tube(one, radius[i] if several else radius, i if len(given) > 1 else None)
        for i, one in enumerate(given)
    ]
    return Tubes([line for line, _ in pairs], [width for _, width in pairs], open_ends)


def _is_chain(tube: Any) -> bool:
    """Whether it is one chain of places, not several."""
    if isinstance(tube, np.ndarray):
        return tube.ndim == 2
    return isinstance(tube, list | tuple) and bool(tube) and all(_is_place(place) for place in tube)


def _is_place(place: Any) -> bool:
    if isinstance(place, np.ndarray):
        return place.ndim == 1
    return isinstance(place, list | tuple) and all(isinstance(x, int | float | np.number) for x in place)


def _checked_tube(one: Any, radius: Any, number: int | None) -> tuple[FloatArray, FloatArray]:
    """Places of the axis and radii of the bore of one tube."""
    which = "tube" if number is None else f"tube {number}"
    if isinstance(one, Cylinder):
        if number is None and radius is not None:
            raise InputError(f"radius is that of the Cylinder, {one.radius:g} m: leave it out, got {quoted(radius)}")
        half = 0.5 * one.length * one.pose.rotation[:, 2]
        line = np.array((one.pose.position - half, one.pose.position + half))
        return line, np.full(2, one.radius)
    line = validation.array(which, one, (None, 3))
    if len(line) < 2 or not np.linalg.norm(np.diff(line, axis=0), axis=1).min() > 0.0:
        raise InputError(f"{which} must be two or more places, none twice in a row, got {quoted(one)}")
    if radius is None:
        raise InputError(f"radius is missing: that of the bore of {which}, m")
    if isinstance(radius, list | tuple | np.ndarray):
        width = validation.array("radius", radius, (len(line),))
    else:
        width = np.full(len(line), validation.number("radius", radius, positive=True))
    if not width.min() > 0.0:
        raise InputError(f"radius must be above 0, got {quoted(radius)}")
    steep = np.abs(np.diff(width)) / np.linalg.norm(np.diff(line, axis=0), axis=1)
    if steep.max() >= 1.0:
        raise InputError(f"radius must change by less than the way along the axis, got {quoted(radius)}")
    return line, width
