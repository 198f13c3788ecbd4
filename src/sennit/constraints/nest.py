"""Concentric tubes: curved ones, one in another, each held at its start by a carriage that moves and turns it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.constraints.constraint import AbstractConstraint, Row
from sennit.constraints.kernels.rows import APART, ROTATE
from sennit.constraints.place import Clamp
from sennit.constraints.slide import Keyhole
from sennit.constraints.softness import Softness
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_to_matrix, rotation_exp
from sennit.material import Section
from sennit.validation import FloatArray, quoted

__all__ = ["Nest"]

_AXES = np.eye(3)
STRAIGHT = 1e-6
"""Part of a tube's length by which it may lie beside the common axis when the nest is made."""
SPARE = 1e-3
"""Part of a tube's length that stays out of the tube around it: what slides to its very end has left it."""
MOST_HOLES = 1000
CLOSEST = 0.5
"""Spans of the tubes' splines between two holes, at least."""


class Nest(AbstractConstraint):
    """Tubes one in another, of which each can be advanced and turned: 6 rows a tube, and 3 for each hole.

    `tubes`: two rods or more, the outermost first, laid straight on one line in the same direction, as in a straight
    sheath; their curvature is their `rest_curvature`. Those that are in no scene yet come into it with the nest. Each
    reaches beyond the tube around it, and begins where that one does or behind it.

    A carriage holds the start of each tube, position, direction and roll: `advance` and `turn` move it. Along the tube
    around it a tube runs through `holes`: as many, closer together towards both ends, where curvatures jump, or places
    given as parts of the outer tube's length, in (0, 1]. Left out: one for two spans of its splines. More than one in
    a span of both tubes would hold the splines, not the tubes, and is refused. Between two of them each bends by
    itself; they turn against each other freely. `friction` is Coulomb's, along the tubes.

    In equilibrium two tubes that overlap take (Σ EI κ̂)/(Σ EI). Bent and turned against each other they twist, and snap
    where that is beyond L √(κ1 κ2 (1 + ν)) = π/2, of equal tubes of constant curvature: P. E. Dupont, J. Lock,
    B. Itkowitz, E. Butler, *Design and control of concentric-tube robots*, IEEE Trans. Robotics 26, 209-225, 2010;
    D. C. Rucker, R. J. Webster, G. S. Chirikjian, N. J. Cowan, *Equilibrium conformations of concentric-tube continuum
    robots*, Int. J. Robotics Research 29, 1263-1280, 2010.

    Raises `InputError` for tubes that are no open spline rods, are not nested so, or do not fit into one another.
    """

    _soft_rows = 0
    _leads = True
    _kept = {"_axis": "direction"}

    def __init__(
        self, tubes: Sequence[Rod], *, holes: int | ArrayLike | None = None, friction: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        title = validation.label("name", name)
        rods = _checked_tubes(tubes)
        axis, starts = _laid(rods)
        rubbing = validation.number("friction", friction, minimum=0.0)
        for i in range(1, len(rods)):
            _check_nested(rods, starts, i, f"tube {i} can't begin there")
        parts = [_holes_in(around, rod, holes) for around, rod in zip(rods[:-1], rods[1:], strict=True)]
        made = [
            Keyhole(rods[i + 1], starts[i] + s - starts[i + 1], rods[i].at(s), friction=rubbing)
            for i, within in enumerate(parts) for s in within
        ]  # fmt: skip
        holds = [rod.at(0.0) for rod in rods]
        self._put_together(rods, axis, holds, None, made, title)

    def _put_together(
        self, rods: Sequence[Rod], axis: FloatArray, holds: Sequence[Point], anchor: Point | None,
        holes: Sequence[Keyhole], name: str | None,
    ) -> None:  # fmt: skip
        """From its parts, those of a file or new ones; `anchor`: where the outermost tube is held."""
        self._rods, self._axis = tuple(rods), axis
        carriages = [Clamp(point) for point in holds]
        rows = [Row(APART, axis=a) for a in _AXES] + [Row(ROTATE, axis=a) for a in _AXES]
        super().__init__(holds[0], anchor or carriages[0].points[1], rows, Softness(), name)
        self._inner_carriages, self._holes = carriages[1:], tuple(holes)

    # ------------------------------------------------------------------------------------------------------- moving

    def advance(self, i: int, length: float) -> None:
        """Push tube `i` (0: the outermost) on by `length`, m; negative to withdraw it.

        It goes there at the carriage's `closing_speed`, in a single step if that is long enough. Raises `InputError`,
        and changes nothing, where a tube would no longer reach beyond the one around it, or begin behind its start.
        """
        k = self._number_of(i)
        way = validation.number("length", length)
        starts = self.starts
        starts[k] += way
        for inner in (k, k + 1):
            if 0 < inner < len(self._rods):
                _check_nested(self._rods, starts.tolist(), inner, f"tube {k} can't be advanced by {quoted(length)} m")
        anchor = self._anchors[k]
        anchor.position = anchor.position + way * self._axis

    def turn(self, i: int, radians: float) -> None:
        """Turn the start of tube `i` (0: the outermost) by `radians` about the axis, right-handed along the tubes.

        By less than half a turn at a time: step or settle before the next.
        """
        k = self._number_of(i)
        angle = validation.number("radians", radians)
        if not abs(angle) < math.pi:
            raise InputError(
                f"radians must be less than half a turn, π: step or settle in between, got {quoted(radians)}"
            )
        anchor = self._anchors[k]
        turned = quaternion_to_matrix(rotation_exp(angle * self._axis)) @ anchor.pose.rotation
        anchor.pose = Pose.from_rotation(anchor.position, turned)

    def _number_of(self, i: object) -> int:
        k = validation.count("i", i, 0)
        if k >= len(self._rods):
            raise InputError(f"i must be the number of a tube, 0 to {len(self._rods) - 1}, got {quoted(i)}")
        return k

    # ------------------------------------------------------------------------------------------------------- reading

    @property
    def tubes(self) -> tuple[Rod, ...]:
        """Its tubes, the outermost first."""
        return self._rods

    @property
    def axis(self) -> FloatArray:
        """Direction in which the carriages run: (3,), a unit vector."""
        return self._axis.copy()

    @property
    def starts(self) -> FloatArray:
        """Where the carriages are along the axis, from that of the outermost tube: (tubes,), m, 0 or negative."""
        places = np.array([anchor.position for anchor in self._anchors])
        return np.asarray((places - places[0]) @ self._axis)

    @property
    def lengths(self) -> FloatArray:
        """How far each tube reaches out of the one around it, by rest length; all of the outermost: (tubes,), m."""
        tips = self.starts + [rod.length for rod in self._rods]
        return np.asarray(np.diff(tips, prepend=self.starts[0]))

    @property
    def angles(self) -> FloatArray:
        """How the carriages are turned against that of the outermost tube, by their directors d1: (tubes,), rad."""
        first, second = self._anchors[0].pose.rotation[:, :2].T
        d1 = np.array([anchor.pose.rotation[:, 0] for anchor in self._anchors])
        return np.asarray(np.arctan2(d1 @ second, d1 @ first))

    @property
    def holes(self) -> tuple[Keyhole, ...]:
        """Where tubes run in others, from the outermost pair on, each from the start."""
        return self._holes

    @property
    def wrenches(self) -> FloatArray:
        """Force (N) and torque (N·m) that each carriage applies to the start of its tube: (tubes, 6), world frame."""
        return np.array([self.wrench, *(carriage.wrench for carriage in self._inner_carriages)])

    @property
    def enabled(self) -> bool:
        """Whether it holds the tubes and keeps them in one another. Can be set."""
        return bool(self._rows.enabled[0])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        AbstractConstraint.enabled.__set__(self, value)  # type: ignore[attr-defined]
        for part in self._companions():
            part.enabled = bool(value)

    @property
    def _anchors(self) -> list[Any]:
        """Points of the world that hold the tubes: the carriages."""
        return [self._points[1], *(carriage.points[1] for carriage in self._inner_carriages)]

    # ---------------------------------------------------------------------------------------------------- for scenes

    def _free_points(self) -> Sequence[Point]:
        return ()

    def _held_points(self) -> list[Point]:
        return [part.points[k] for part in self._companions() for k in (0, 1) if part.points[k].body in self._rods]

    def _companions(self) -> list[AbstractConstraint]:
        return [*self._inner_carriages, *self._holes]

    def _holds(self, body: Any) -> bool:
        return any(hole._holds(body) for hole in self._holes)

    def _bring(self, scene: Any) -> None:
        fresh = [rod for rod in self._rods if rod.scene is not scene]
        for rod in fresh:
            scene._check_new(rod)
        for rod in fresh:
            scene._take_in(rod)
        for hole in self._holes:
            hole._bring(scene)
        self._scene = scene

    def _enter(self, rows: Any, at: int, owner: int, dual: int) -> tuple[int, int]:
        for part in self._companions():
            part._scene = self._scene
        return super()._enter(rows, at, owner, dual)

    def _take_away(self, scene: Any) -> None:
        for hole in self._holes:
            hole._take_away(scene)
        for part in self._companions():
            part._scene = None

    # ----------------------------------------------------------------------------------------------------- for files

    def _describe(self, out: Any) -> dict[str, Any]:
        return {
            **super()._describe(out), "tubes": [out.body(rod) for rod in self._rods],
            "holds": [out.point(carriage.points[0]) for carriage in self._inner_carriages],
            "places": [out.point(hole.hole) for hole in self._holes],
            "sliders": [out.body(hole.slider) for hole in self._holes],
        }  # fmt: skip

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        made: Any = cls.__new__(cls)
        rods = [read.body(number, Rod) for number in entry["tubes"]]
        first, anchor = (read.point(point) for point in entry["points"])
        holds = [first, *(read.point(point) for point in entry["holds"])]
        places = [read.point(point) for point in entry["places"]]
        sliders = [read.body(number, Slider) for number in entry["sliders"]]
        if len(holds) != len(rods) or len(places) != len(sliders) or anchor.body is not None:
            raise ValueError("a nest has other tubes")
        holes = []
        for place, slider in zip(places, sliders, strict=True):
            holes.append(Keyhole(slider.rod, 0.5 * slider.rod.length, place, friction=slider.friction))
            holes[-1]._run_on(slider)
        made._put_together(rods, read.kept(entry, "_axis", "direction", 6), holds, anchor, holes, entry["name"])
        return made


def _checked_tubes(tubes: object) -> list[Rod]:
    """What users gave as tubes: open spline rods that differ, each with room for the next."""
    rods = validation.listed("tubes", tubes, (Rod,), "rods, the outermost first")
    if len(rods) < 2:
        raise InputError(f"a nest needs two tubes or more, got {len(rods)}: {quoted(rods)}")
    for i, rod in enumerate(rods):
        if rod in rods[:i]:
            raise InputError(f"{rod.name} is in the list of tubes twice")
        if rod.closed or rod.model != "spline":
            what = "closed" if rod.closed else f'a rod with model="{rod.model}", on which nothing slides'
            raise InputError(f"{rod.name}, tube {i} of a nest, must be an open spline rod, but is {what}")
    for around, rod in zip(rods[:-1], rods[1:], strict=True):
        bore = _bore(around)
        if bore is not None and rod.radius > bore:
            raise InputError(
                f"{rod.name}, of radius {rod.radius:g} m, does not fit into {around.name}, whose bore has the "
                f"radius {bore:g} m: list the outermost tube first"
            )
    return rods


def _bore(rod: Rod) -> float | None:
    """Inner radius of a tube, m; None where its section does not tell."""
    if not isinstance(rod.section, Section):
        return None
    kind, dimensions = rod.section.kind, rod.section.dimensions
    return None if kind == "custom" else float(dimensions[1]) if kind == "tube" else 0.0


def _laid(rods: Sequence[Rod]) -> tuple[FloatArray, list[float]]:
    """The common axis of straight rods, and where each begins along it, m from the first."""
    start = rods[0].at(0.0)
    axis, origin = start.frame[:, 2], start.position
    for i, rod in enumerate(rods):
        away = rod.control_points - origin
        aside = np.linalg.norm(away - np.outer(away @ axis, axis), axis=1).max()
        if aside > STRAIGHT * rod.length or not np.all(np.diff(away @ axis) > 0.0):
            raise InputError(
                f"{rod.name}, tube {i} of a nest, must lie straight along the axis of {rods[0].name}, as in a sheath, "
                f"but is up to {aside:g} m beside it or runs another way: give its shape as rest_curvature"
            )
    return np.array(axis), [float((rod.at(0.0).position - origin) @ axis) for rod in rods]


def _check_nested(rods: Sequence[Rod], starts: Sequence[float], i: int, refusal: str) -> None:
    """Raise unless tube `i` begins where the tube around it does, or behind, and reaches beyond it."""
    behind = starts[i - 1] - starts[i]
    out = starts[i] + rods[i].length - starts[i - 1] - rods[i - 1].length
    if behind < -STRAIGHT * rods[i].length:
        raise InputError(
            f"{refusal}: {rods[i].name} would begin {-behind:g} m beyond the start of {rods[i - 1].name} around it, "
            "and must begin there or behind"
        )
    if out < SPARE * rods[i].length:
        raise InputError(
            f"{refusal}: {rods[i].name} would reach {out:g} m out of {rods[i - 1].name} around it, and must by at "
            f"least {SPARE * rods[i].length:g} m"
        )


def _holes_in(around: Rod, rod: Rod, holes: int | ArrayLike | None) -> list[float]:
    """Where a tube has the holes that the next one runs through: rest lengths, m."""
    span = max(tube.length / (len(tube.control_points) - 3) for tube in (around, rod)) / around.length
    counted = holes is None or isinstance(holes, int | np.integer)
    if not counted:
        parts = validation.array("holes", holes, (None,))
        if not (0 < len(parts) <= MOST_HOLES and parts[0] > 0.0 and parts[-1] <= 1.0 and np.all(np.diff(parts) > 0.0)):
            raise InputError(
                f"holes must be a number, or rising parts of a tube's length in (0, 1], got {quoted(holes)}"
            )
    else:
        usual = max(int(0.5 / span), 1)
        n = usual if holes is None else validation.count("holes", holes, 1, MOST_HOLES)
        even = np.arange(1, n + 1) / n
        graded = 0.5 - 0.5 * np.cos(np.pi * even)
        # as much closer at the ends as the splines can follow
        share = np.clip((even[0] - CLOSEST * span) / (even[0] - graded[0]), 0.0, 1.0) if n > 1 else 0.0
        parts = (1.0 - share) * even + share * graded
    least = float(np.diff(parts, prepend=0.0).min())
    if least < (1.0 - 1e-9) * CLOSEST * span:
        raise InputError(
            f"holes must be {CLOSEST:g} of a span of the tubes' splines apart at least, which is "
            f"{CLOSEST * span * around.length:.3g} m in {around.name}, got {quoted(holes)}, which are "
            f"{least * around.length:.3g} m apart: give fewer, or tubes with more control_points"
        )
    return [float(part) * around.length for part in parts]
