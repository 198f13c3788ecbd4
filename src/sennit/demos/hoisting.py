"""What the demonstrations of hoisting share: facts, each measured against what it should be, and parts to draw."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

import sennit as sn
from sennit.demos.stage import Show
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.facets import Facets

__all__ = [
    "Fact", "Hoist", "Line", "Place", "between", "block", "eased", "line_of", "moved", "person", "place_of", "ramped",
    "rope", "towards", "turned", "wheel",
]  # fmt: skip

Place: TypeAlias = tuple[FloatArray, FloatArray]
"""Position (3,), m, and rotation (3, 3) of a body."""
Line: TypeAlias = tuple[FloatArray, FloatArray]
"""Points (n, 3), m, along a cable, and its tension there, (n,), N."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What was measured and what it should be: `expected`, give or take `within`; or less than that, with `below`."""

    name: str
    measured: float
    expected: float
    within: float
    unit: str = ""
    below: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is as it should be; a number that is none is not."""
        if self.below:
            return self.measured < self.expected
        return abs(self.measured - self.expected) <= self.within

    @property
    def line(self) -> str:
        """For a table."""
        less = "<" if self.below else " "
        return f"  {self.name:<48}{self.measured:>11.5g}  {less}{self.expected:>11.5g}  {self.unit}".rstrip()


class Hoist(Show):
    """A show whose check is a list of facts."""

    @abc.abstractmethod
    def facts(self) -> list[Fact]:
        """What was found."""

    def check(self) -> list[str]:
        """A line for each fact that does not hold."""
        wrong = []
        for fact in self.facts():
            if not fact.holds:
                least = "less than " if fact.below else ""
                found = f"{fact.name}: {fact.measured:.5g} {fact.unit}".rstrip()
                wrong.append(f"{found} where {least}{fact.expected:.5g} was expected")
        return wrong

    def findings(self) -> str:
        """All facts as a table."""
        head = f"  {'':<48}{'measured':>11}  {'expected':>12}"
        return "\n".join(("what was measured is what it should be.", head, *(fact.line for fact in self.facts())))


def ramped(time: float, start: float, stop: float, ramp: float) -> float:
    """Speed as a part of the full one: 0 before `start` and after `stop`, rising and falling within `ramp` (s)."""
    return float(np.clip(min(time - start, stop - time) / ramp, 0.0, 1.0))


# --------------------------------------------------------------------------------------------------------- driving


def towards(way: float, most: float, brake: float, gain: float = 1.5) -> float:
    """Speed at which to go a `way` that is left, so that braking at `brake` ends there: at most `most`.

    Close to the end it is in proportion to the way, `gain` (1/s) times it, so that it comes to rest.
    """
    return math.copysign(min(most, math.sqrt(2.0 * brake * abs(way)), gain * abs(way)), way)


def between(speed: float, back: float, ahead: float, brake: float) -> float:
    """`speed`, but no faster than can be braked within the room that is left `back` and `ahead`."""
    return min(max(speed, -math.sqrt(2.0 * brake * max(back, 0.0))), math.sqrt(2.0 * brake * max(ahead, 0.0)))


def eased(speed: float, asked: float, change: float) -> float:
    """`speed`, nearer to what is `asked` by `change` at most."""
    return speed + min(max(asked - speed, -change), change)


# --------------------------------------------------------------------------------------------------------- drawing


def place_of(body: sn.RigidBody) -> Place:
    """Where a body is now."""
    pose = body.pose
    return np.array(pose.position), np.array(pose.rotation)


def turned(place: Place, point: ArrayLike) -> FloatArray:
    """World position (..., 3) of what lies at `point` in a body's frame."""
    return place[0] + np.asarray(point, dtype=np.float64) @ place[1].T


def moved(facets: Facets, place: Place) -> Facets:
    """What is drawn in a body's frame, where the body is."""
    return type(facets)(turned(place, facets.corners), facets.normals @ place[1].T, facets.colours, facets.gloss)


def line_of(cable: sn.Cable, longest: float = 0.5) -> Line:
    """Where a cable runs now, its spans cut into pieces of at most `longest` (m), and its tension there."""
    line, tensions = cable.path(), cable.tensions
    wheels = [(sheave.point.position, sheave.radius) for sheave in cable.sheaves if sheave is not None]
    points, pulls, span = [line[:1]], [tensions[:1]], 0
    on_wheel = False
    for start, end in zip(line[:-1], line[1:], strict=True):
        gap = float(np.linalg.norm(end - start))
        arc = any(
            gap < 0.2 * radius and max(np.linalg.norm(p - centre) for p in (start, end)) < 1.01 * radius
            for centre, radius in wheels
        )
        span += on_wheel and not arc
        on_wheel = arc
        pieces = max(1, int(np.ceil(gap / longest)))
        part = np.linspace(0.0, 1.0, pieces + 1)[1:, None]
        points.append(start + part * (end - start))
        pulls.append(np.full(pieces, tensions[min(span, len(tensions) - 1)]))
    return np.concatenate(points), np.concatenate(pulls)


def rope(line: Line, radius: float, highest: float) -> Facets:
    """A cable, coloured by its tension from 0 to `highest` (N)."""
    from sennit.export.solids import ramp, tube

    return tube(line[0], radius, ramp(line[1], 0.0, highest), sides=6)


def block(place: Place, half: tuple[float, float, float], colour: ArrayLike, at: ArrayLike = (0, 0, 0)) -> Facets:
    """A box of half sides `half` (m) along the axes of a body, its middle `at` a point of the body's frame."""
    from sennit.export import solids

    return solids.block(turned(place, at), place[1], 2.0 * np.array(half), colour)


def wheel(
    centre: ArrayLike, axis: ArrayLike, radius: float, angle: float, width: float, colour: ArrayLike = (92, 100, 112)
) -> Facets:
    """A wheel of `width` (m), turned by `angle` (rad); its sectors show how it turns."""
    from sennit.export.facets import circle, loft

    n = np.asarray(axis, dtype=np.float64)
    n = n / np.linalg.norm(n)
    u = np.cross((0.0, 0.0, 1.0) if abs(n[2]) < 0.9 else (1.0, 0.0, 0.0), n)
    u /= np.linalg.norm(u)
    v = np.cross(n, u)
    u, v = np.cos(angle) * u + np.sin(angle) * v, np.cos(angle) * v - np.sin(angle) * u
    sides = 24
    tones = np.where((np.arange(sides) // 4 % 2 == 0)[:, None], np.asarray(colour), 0.5 * np.asarray(colour) + 110.0)
    centres = np.asarray(centre) + np.outer((-0.5 * width, 0.5 * width), n)
    ones = np.ones((2, 1))
    return loft(centres, radius * u * ones, radius * v * ones, circle(sides), tones, gloss=0.2, capped=True)


def person(feet: FloatArray, colour: ArrayLike, tall: float = 1.0) -> Facets:
    """Someone who stands with the `feet` (3,), m; `tall`: against 1.7 m."""
    from sennit.export.facets import Facets
    from sennit.export.solids import ball, tube

    stand = tall * np.array((0.0, 0.12, 0.45, 0.9, 1.2, 1.36, 1.42))
    girth = np.array((0.13, 0.14, 0.15, 0.19, 0.22, 0.15, 0.06))
    body = tube(feet + np.outer(stand, (0.0, 0.0, 1.0)), girth, colour, sides=10)
    head = ball(feet + np.array((0.0, 0.0, 1.57 * tall)), 0.13, (222, 178, 146), gloss=0.2)
    return Facets.joined((body, head))
