"""A harness as a scene, brought to rest, and what is read of it there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.bodies.rod.point import RodPoint
from sennit.bodies.rod.rod import Rod
from sennit.bodies.world import World
from sennit.constraints.join import Fuse
from sennit.constraints.place import Clamp
from sennit.constraints.slide import Keyhole
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import rotation_between
from sennit.harness.laying import Laid, lay
from sennit.harness.plan import FIXED, Cable, Holder, Plan
from sennit.material import Material, Section
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["Along", "Harness", "Held", "Rest", "bring_to_rest", "build", "newtons"]

_STATIONS = 801
_POISSON = 0.4
_RELAXATION = 0.05
_POINTS = (40, 240)
"""Fewest and most control points of a cable."""
_PER_BEND = 6.0
"""Control points in a length of the allowed bend radius."""
_FEWEST, _FEWEST_POINTS = 8, 12
"""Samples, and control points, of a part of a cable."""
_ITERATIONS = 300
_MOST_STRAIN = 0.01
"""Of a cable by its tension: beyond, it is no longer as long as it was cut."""


def newtons(force: float) -> str:
    """A force in words: 2.35 N, 12.30 kN, 231.00 GN."""
    for size, unit in ((1e9, "GN"), (1e6, "MN"), (1e3, "kN")):
        if abs(force) >= 0.999995 * size:
            return f"{force / size:.2f} {unit}"
    return f"{force:.2f} N"


@dataclass
class Harness:
    """The scene of a harness."""

    plan: Plan
    scene: Scene
    rods: dict[str, list[Rod]]
    """Of each cable the parts between its ties, which hold both."""
    laid: dict[str, Laid]
    ties: list[tuple[Holder, list[Any]]]
    """What holds the cables, in the order of the table; then the junctions. A tie holds the ends of two parts."""

    def point(self, cable: str, share: float) -> RodPoint:
        """The point of a cable at a share of its length."""
        parts = self.rods[cable]
        s = share * sum(rod.length for rod in parts)
        for rod in parts[:-1]:
            if s < rod.length:
                return rod.at(s)
            s -= rod.length
        return parts[-1].at(min(s, parts[-1].length))

    def along(self, point: Any) -> float:
        """The length of its cable at which a point of a rod is, m."""
        rod = point.body if isinstance(point.body, Rod) else point.body.rod
        for parts in self.rods.values():
            if rod in parts:
                before = sum(part.length for part in parts[: parts.index(rod)])
                return float(before + (point.s if isinstance(point.body, Rod) else point.body.s))
        raise LookupError(f"{rod.name} is of no cable")


@dataclass(frozen=True)
class Along:
    """A cable at rest, at equal steps of its length."""

    cable: Cable
    s: FloatArray
    """Length from its start, (n,), m."""
    line: FloatArray
    """Places, (n, 3), m."""
    radius: FloatArray
    """Bend radius, m, (n,)."""
    tension: FloatArray
    """Negative where it is pushed, (n,), N."""
    cut_length: float
    route_length: float
    mass: float

    @property
    def strain(self) -> float:
        """The largest by tension or pressure, N over EA = 4 EI/r²: of a round section of one material."""
        return float(np.abs(self.tension).max()) * (0.5 * self.cable.diameter) ** 2 / (4.0 * self.cable.EI)

    @property
    def sharpest(self) -> int:
        """Where it is bent most."""
        return int(np.argmin(self.radius))


@dataclass(frozen=True)
class Held:
    """A holder at rest."""

    holder: Holder
    at: float
    """Length of the cable at which it is, m."""
    force: FloatArray
    """Of the cable on the holder, N, (3,)."""
    torque: FloatArray
    """Of the cable on the holder, N·m, (3,); zero in an eye."""
    lost: bool
    """Whether the cable has slipped out of it."""


@dataclass(frozen=True)
class Rest:
    """What a harness is like at rest."""

    cables: list[Along]
    held: list[Held]
    status: str
    stable: bool
    unbalanced: float
    """What the holders' forces and the weight leave over, over the weight."""

    def problems(self, most: float | None = None) -> list[str]:
        """What is wrong with it, in words; `most`: the largest force of a clip, N."""
        found = []
        if self.status != "converged":
            found.append("no equilibrium was found: the figures below are those of the last iterate")
        elif not self.stable:
            found.append("the equilibrium is not stable: the cable would snap into another one")
        for one in self.cables:
            k = one.sharpest
            if one.radius[k] < one.cable.bend_radius:
                found.append(
                    f"{one.cable.name} is bent too sharply: {1e3 * one.radius[k]:.0f} mm at {1e3 * one.s[k]:.0f} mm "
                    f"along it, {1e3 * one.cable.bend_radius:.0f} mm are allowed"
                )
            k = int(np.argmax(np.abs(one.tension)))
            if one.strain > _MOST_STRAIN:
                done = "stretched" if one.tension[k] > 0.0 else "pressed together"
                found.append(
                    f"{one.cable.name} is {done} by {100.0 * one.strain:.1f} % by {newtons(abs(one.tension[k]))}; at "
                    f"most {100.0 * _MOST_STRAIN:g} % is believed (EA is 4 EI/r²: are EI, diameter and slack right?)"
                )
        found += [f"{one.holder.name}: the cable has slipped out of it" for one in self.held if one.lost]
        for held in self.held:
            force = float(np.linalg.norm(held.force))
            if most is not None and force > most and held.holder.kind != "junction":
                found.append(f"{held.holder.name} carries {newtons(force)}, {newtons(most)} are allowed")
        return found


def build(plan: Plan, scene: Scene | None = None, points: int | None = None) -> Harness:
    """Lay the cables of a plan, and put them and what holds them into a scene."""
    laid: dict[str, Laid] = {}
    junctions: dict[str, tuple[Holder, float]] = {}
    waiting = list(plan.cables)
    while waiting:  # trunks before what branches off them
        cable = next(one for one in waiting if one.trunk is None or one.trunk in laid)
        waiting.remove(cable)
        holders = plan.of(cable.name)
        if cable.trunk is not None:
            trunk = laid[cable.trunk]
            k = int(np.argmin(np.linalg.norm(trunk.route - cable.route[0], axis=1)))
            steps = np.linalg.norm(np.diff(trunk.curve, axis=0), axis=1)
            share = float(steps[:k].sum() / steps.sum())
            joint = Holder(
                f"{cable.name} on {cable.trunk}", "junction", cable.name, trunk.curve[k], None, cable.lines[0]
            )
            junctions[cable.name] = (joint, share)
            holders = [joint, *holders]
        laid[cable.name] = lay(cable, holders)
    made = Harness(plan, scene if scene is not None else Scene(name="Harness"), {}, laid, [])
    for cable in plan.cables:
        made.rods[cable.name] = [made.scene.add(rod) for rod in _parts(cable, laid[cable.name], plan, points)]
    for holder in plan.holders:
        made.ties.append((holder, [made.scene.add(tie) for tie in _ties(holder, made)]))
    for name, (joint, share) in junctions.items():
        trunk_name = next(cable.trunk for cable in plan.cables if cable.name == name)
        tie = Fuse(made.rods[name][0].at(0.0), made.point(str(trunk_name), share), name=joint.name)
        made.ties.append((joint, [made.scene.add(tie)]))
    return made


def _parts(cable: Cable, laid: Laid, plan: Plan, points: int | None) -> list[Rod]:
    """The rods of a cable: where a tie bites, the curvature jumps, which no spline does."""
    r = 0.5 * cable.diameter
    material = Material(
        cable.EI / (0.25 * math.pi * r**4), _POISSON, cable.kg_per_m / (math.pi * r * r), _RELAXATION, look="jacket"
    )
    s = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(laid.curve, axis=0), axis=1)))) / laid.cut_length
    ties = [one for one in plan.of(cable.name) if one.kind in FIXED and 1e-9 < laid.at[one.name] < 1.0 - 1e-9]
    ties.sort(key=lambda one: laid.at[one.name])
    marks = [0, *(int(np.argmin(np.abs(s / s[-1] - laid.at[one.name]))) for one in ties), len(s) - 1]
    rods = []
    for k, (a, b) in enumerate(zip(marks[:-1], marks[1:], strict=True)):
        if b - a < _FEWEST:
            raise ties[min(k, len(ties) - 1)].line.refused(
                f"{ties[min(k, len(ties) - 1)].name} holds {cable.name} too close to what holds it next"
            )
        length = float(s[b] - s[a]) * laid.cut_length
        wanted = math.ceil(_PER_BEND * length / cable.bend_radius)
        count = min(max(wanted, _POINTS[0] if len(marks) == 2 else _FEWEST_POINTS), _POINTS[1])
        if points is not None:
            count = max(_FEWEST_POINTS, round(points * (s[b] - s[a]) / s[-1]))
        name = cable.name if len(marks) == 2 else f"{cable.name} {k + 1}"
        rods.append(
            Rod.through(
                laid.curve[a : b + 1], section=Section.circle(r), material=material, control_points=count,
                straight=True, name=name,
            )
        )  # fmt: skip
    return rods


def _ties(holder: Holder, harness: Harness) -> list[Any]:
    """What holds a cable there."""
    share = harness.laid[holder.cable].at[holder.name]
    ends = not 1e-9 < share < 1.0 - 1e-9
    if holder.kind not in FIXED:
        if ends:
            raise holder.line.refused(
                f"{holder.name} slides on the end of a cable, and would slip off: use a connector"
            )
        point = harness.point(holder.cable, share)
        way = None
        if holder.kind == "clip":
            way = point.frame[:, 2] if holder.direction is None else holder.direction
        return [Keyhole(point.body, point.s, World.at(holder.place), way, name=holder.name)]
    parts = harness.rods[holder.cable]
    if ends:
        points = [parts[0].at(0.0) if share < 0.5 else parts[-1].at(parts[-1].length)]
    else:
        after = harness.point(holder.cable, share + 1e-6)
        k = parts.index(after.body)
        points = [parts[k - 1].at(parts[k - 1].length), parts[k].at(0.0)]
    frame = points[-1].frame
    way = frame[:, 2] if holder.direction is None else holder.direction
    ties = []
    for point in points:
        turn = Pose((0.0, 0.0, 0.0), rotation_between(point.frame[:, 2], way)).rotation
        ties.append(Clamp(point, Pose.from_rotation(holder.place, turn @ point.frame), name=holder.name))
    return ties


def bring_to_rest(harness: Harness) -> Rest:
    """Find the equilibrium, and read it."""
    report = harness.scene.settle(max_iterations=_ITERATIONS, throw=False)
    return read(harness, report.status, bool(report.stable))


def read(harness: Harness, status: str = "converged", stable: bool = True) -> Rest:
    """What is told of a harness as it is now."""
    held = []
    for holder, ties in harness.ties:
        free = holder.kind == "eye"
        force = -sum((tie.force for tie in ties), np.zeros(3))
        torque = np.zeros(3) if free else -sum((tie.torque for tie in ties), np.zeros(3))
        lost = any(isinstance(tie, Keyhole) and tie.released for tie in ties)
        held.append(Held(holder, harness.along(ties[-1].points[0]), force, torque, lost))
    cables = [_along(harness, cable) for cable in harness.plan.cables]
    weight = float(sum(one.mass for one in cables)) * harness.scene.gravity
    carried = sum((one.force for one in held if one.holder.kind != "junction"), np.zeros(3))
    size = max(
        float(np.linalg.norm(weight)), max((float(np.linalg.norm(one.force)) for one in held), default=0.0), 1e-12
    )
    return Rest(cables, held, status, stable, float(np.linalg.norm(carried - weight)) / size)


def _along(harness: Harness, cable: Cable) -> Along:
    parts, laid = harness.rods[cable.name], harness.laid[cable.name]
    length = sum(rod.length for rod in parts)
    found = []
    before = 0.0
    for rod in parts:
        count = max(101, round(_STATIONS * rod.length / length))
        s = before + np.linspace(0.0, rod.length, count)
        found.append((s, rod.centerline(count), rod.tensions(count)))
        before += rod.length
    s, line, tension = (np.concatenate([one[k] for one in found]) for k in range(3))
    radius = cable.EI / np.maximum(_moments(harness, cable, s, line), 1e-9 * cable.EI)
    mass = sum(rod.mass for rod in parts)
    return Along(cable, s, line, radius, tension, length, laid.route_length, mass)


def _moments(harness: Harness, cable: Cable, s: FloatArray, line: FloatArray) -> FloatArray:
    """Bending moment along a cable, N·m, (n,), from what acts on the part before each place.

    A spline cannot bend in a corner: beside a holder that turns it, its curvature is smooth where the moment jumps. The
    moment of the forces is sharp there, as statics has it: M(s) = Σ [τ + (x − r(s)) × F] over holders and weight.
    """
    weight = cable.kg_per_m * harness.scene.gravity
    acting: list[tuple[float, FloatArray, FloatArray, FloatArray]] = []
    for holder, ties in harness.ties:
        for tie in ties:
            for sign, point in ((1.0, tie.points[0]), (-1.0, tie.points[1])):
                rods = harness.rods[cable.name]
                body = point.body
                if body in rods or getattr(body, "rod", None) in rods:
                    torque = np.zeros(3) if holder.kind == "eye" else sign * tie.torque
                    acting.append((harness.along(point), point.position, sign * tie.force, torque))
    moment = np.zeros_like(line)
    for at, place, force, torque in acting:
        behind = s > at + 1e-12
        moment[behind] += torque + np.cross(place - line[behind], force)
    # the weight of what lies before: ∫ (r(σ) − r(s)) × w dσ
    length = np.concatenate(((0.0,), np.cumsum(np.diff(s))))
    middle = 0.5 * (line[1:] + line[:-1]) * np.diff(s)[:, None]
    first = np.concatenate((np.zeros((1, 3)), np.cumsum(middle, axis=0)))
    moment += np.cross(first - length[:, None] * line, weight)
    tangent = np.gradient(line, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1), 1e-300)[:, None]
    across = moment - np.einsum("ij,ij->i", moment, tangent)[:, None] * tangent
    return np.asarray(np.linalg.norm(across, axis=1))
