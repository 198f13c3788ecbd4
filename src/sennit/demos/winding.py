"""A rod that is twisted between two clamps, and the ply that it winds up into."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import sennit as sn

__all__ = ["Ply", "Wound", "ply_of_tension", "wind"]


@dataclass(frozen=True)
class Ply:
    """Two strands of one rod that are wound about each other, as the ply of least energy has them."""

    angle: float
    """Of a strand to the axis of the ply, rad."""
    tension: float
    """On the ends of the rod, N."""
    torque: float
    """In the rod, N m."""


def ply_of_tension(tension: float, bend: float, radius: float) -> Ply:
    """The ply that a rod of bending stiffness `bend` (N m²) and `radius` (m) winds up into under `tension` (N).

    Of a rod of length L a part ℓ is wound up, at the angle α about an axis at the distance r: it is bent by sin²α/r and
    has sin 2α/(2r) of writhe a metre, which its twist loses. The energy

        ℓ B sin⁴α/(2 r²) + T ℓ − M ℓ sin 2α/(2r)

    has its minimum over α and ℓ where M = 2 B cos α sin³α/(r cos 2α) and T = B sin⁴α/r² (½ + 1/cos 2α): van der
    Heijden, Thompson, Physica D 112 (1998) 201; Clauvelin, Audoly, Neukirch, Macromolecules 41 (2008) 4479.
    """
    low, high = 0.0, 0.25 * math.pi - 1e-9
    for _ in range(200):
        angle = 0.5 * (low + high)
        found = bend * math.sin(angle) ** 4 / radius**2 * (0.5 + 1.0 / math.cos(2.0 * angle))
        low, high = (angle, high) if found < tension else (low, angle)
    torque = 2.0 * bend * math.cos(angle) * math.sin(angle) ** 3 / (radius * math.cos(2.0 * angle))
    return Ply(angle, tension, torque)


@dataclass
class Wound:
    """A clamped rod, and the clamp that turns it."""

    scene: sn.Scene
    rod: sn.Rod
    still: sn.Clamp
    turned: sn.Clamp
    pose: sn.Pose
    """Of the turned clamp without turns."""

    @property
    def bend(self) -> float:
        """Bending stiffness, N m²."""
        return float(self.rod.material.youngs_modulus * math.pi / 4.0 * self.radius**4)

    @property
    def radius(self) -> float:
        """Of the rod, m."""
        return float(self.rod.section.radius)

    def turn(self, turns: float) -> None:
        """Have the clamp turned by so many turns at the end of the next step."""
        angle = 2.0 * math.pi * turns
        c, s = math.cos(angle), math.sin(angle)
        about = np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))
        self.turned.target = sn.Pose.from_rotation(self.pose.position, about @ self.pose.rotation)

    @property
    def load(self) -> tuple[float, float]:
        """Tension (N) and torque (N m) on the turned clamp."""
        return abs(float(self.turned.force[0])), abs(float(self.turned.torque[0]))

    def ply_angle(self) -> float:
        """Median angle of strands that touch to the axis between them, rad: half of that between their tangents."""
        angles = []
        count = 2000
        line = self.rod.centerline(count)
        tangents = np.gradient(line, axis=0)
        tangents /= np.linalg.norm(tangents, axis=1)[:, None]
        for contact in self.scene.contacts:
            # both places are a radius from where they touch
            away = np.linalg.norm(line - contact.position, axis=1)
            a = int(away.argmin())
            far = np.abs(np.arange(count) - a) * self.rod.length / count > 5.0 * self.radius
            b = int(np.where(far, away, math.inf).argmin())
            if away[b] < 1.5 * self.radius:
                angles.append(0.5 * math.acos(min(abs(float(tangents[a] @ tangents[b])), 1.0)))
        return float(np.median(angles)) if angles else math.nan


def wind(
    points: int = 118, length: float = 1.0, radius: float = 3e-3, slack: float = 0.2, friction: float = 0.0,
    modulus: float = 1e7, drag: float = 4.0,
) -> Wound:  # fmt: skip
    """A rod in a shallow arch between two clamps, `slack` of its length nearer than they could be; not turned yet."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0), drag=drag)
    part = np.linspace(-0.5, 0.5, 600)
    x = (1.0 - slack) * length * part
    low, high = 0.0, length
    for _ in range(60):
        height = 0.5 * (low + high)
        z = height * np.cos(math.pi * part) ** 2
        low, high = (height, high) if np.hypot(np.diff(x), np.diff(z)).sum() < length else (low, height)
    curve = np.stack((x, 1e-3 * length * np.sin(2.0 * math.pi * part), z), axis=1)
    material = sn.Material(youngs_modulus=modulus, poisson_ratio=0.5, density=1000, relaxation_time=2e-3)
    rod = scene.add(
        sn.Rod.through(
            curve, section=sn.Section.circle(radius), material=material, control_points=points, straight=True
        )
    )
    still, turned = scene.add(sn.Clamp(rod.at(0.0))), scene.add(sn.Clamp(rod.at(rod.length)))
    scene.collide(rod, itself=True, friction=friction)
    return Wound(scene, rod, still, turned, rod.at(rod.length).pose)
