"""Rods in scenes as the tests need them, and the same rods as extensible, unshearable strands: an independent method.

Units of the dimensionless cases: length, bending stiffness and mass per length are 1, so that forces are in EI/L^2,
moments in EI/L and times in sqrt(rho A L^4/EI).  What is left of a round section is ``slenderness`` = EA L^2/EI, which
sets its radius, r = 2 L/sqrt(slenderness).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BSpline

import sennit as sn

MODELS = ("spline", "discrete")
INTEGRATORS = ("euler", "bdf2", "midpoint", "fourth")
RIGID_SHEAR = 1e6  # times EA: a shear strain of 1e-6 of the stretch, below every tolerance here


@dataclass(frozen=True)
class Make:
    """Section and material of a rod of length 1."""

    section: sn.Section
    material: sn.Material

    @property
    def bend1(self) -> float:
        return self.material.youngs_modulus * self.section.I1

    @property
    def bend2(self) -> float:
        return self.material.youngs_modulus * self.section.I2

    @property
    def twist(self) -> float:
        return self.material.shear_modulus * self.section.J

    @property
    def stretch(self) -> float:
        return self.material.youngs_modulus * self.section.area

    @property
    def mass_per_length(self) -> float:
        return self.section.mass_per_length(self.material)

    def straight(self, start, end, control_points: int, **options: Any) -> sn.Rod:
        return sn.Rod.straight(
            start, end, section=self.section, material=self.material, control_points=control_points, **options
        )

    def through(self, points, control_points: int, **options: Any) -> sn.Rod:
        return sn.Rod.through(
            points, section=self.section, material=self.material, control_points=control_points, **options
        )

    def strand(self, length: float = 1.0, nodes: int = 401, **options: Any) -> sn.Strand:
        """The Cosserat strand that stretches as the rod does and hardly shears: the same continuous problem."""
        shear = RIGID_SHEAR * self.stretch
        return sn.Strand(
            length=length,
            stiffness=np.diag([self.bend1, self.bend2, self.twist, shear, shear, self.stretch]),
            mass_per_length=self.mass_per_length,
            extensible=True,
            nodes=nodes,
            **options,
        )


def round_rod(slenderness: float, poisson_ratio: float = 0.3, relaxation_time: float = 0.0) -> Make:
    """EI = 1, rho A = 1 for a rod of length 1; GJ = 1/(1 + nu)."""
    radius = 2.0 / np.sqrt(slenderness)
    section = sn.Section.circle(radius)
    material = sn.Material(
        youngs_modulus=1.0 / section.I1,
        poisson_ratio=poisson_ratio,
        density=1.0 / section.area,
        relaxation_time=relaxation_time,
    )
    return Make(section, material)


def flat_rod(slenderness: float, ratio: float, poisson_ratio: float = 0.3) -> Make:
    """A rectangle, height = ``ratio`` times width: E I2 = 1 about d2, E I1 = ratio^2 about d1, EA = ``slenderness``."""
    width = np.sqrt(12.0 / slenderness)
    section = sn.Section.rectangle(width, ratio * width)
    return Make(section, sn.Material(1.0 / section.I2, poisson_ratio, 1.0 / section.area))


def pose_at(rod: sn.Rod, index: int) -> sn.Pose:
    """Pose of the first (0) or last (-1) section of a rod, as it is now."""
    return sn.Pose.from_rotation(rod.centerline(2)[index], rod.frames(2)[index])


def greville(control_points: int) -> np.ndarray:
    """Greville abscissae of the open-uniform cubic knots, as fractions of the length of a straight rod."""
    return np.array([_knots(control_points)[i + 1 : i + 4].mean() for i in range(control_points)]) / (
        control_points - 3
    )


def _knots(control_points: int) -> np.ndarray:
    spans = control_points - 3
    return np.concatenate([np.zeros(3), np.arange(spans + 1.0), np.full(3, float(spans))])


def controls(shape: Callable[[np.ndarray], np.ndarray], control_points: int, model: str) -> np.ndarray:
    """Control values of an open rod that interpolate ``shape``, a function of s/L.

    Discrete: the values at the nodes.  Spline: interpolation at the Greville abscissae, by scipy's basis.
    """
    if model == "discrete":
        return np.asarray(shape(np.linspace(0.0, 1.0, control_points)))
    sites = greville(control_points)
    matrix = BSpline.design_matrix(sites * (control_points - 3), _knots(control_points), 3).toarray()
    return np.linalg.solve(matrix, np.asarray(shape(sites)))


def fitted_slope(sizes, errors) -> float:
    """Slope of log(error) over log(size)."""
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(errors, dtype=float)), 1)[0])


def cells(control_points: int, model: str) -> int:
    """Spans of a spline, edges of a discrete rod: their length is L/cells."""
    return control_points - 3 if model == "spline" else control_points - 1


def mesh_error(rate: float, control_points: int, model: str) -> float:
    """What a position may be off by, over L, when the solution varies as exp(rate s/L).

    Spline: (rate h)^4/50; a third of it or less was measured on the elastica, the arch, the 45-degree bend and the
    helix.  Discrete: (rate h)^2/2; a chain of hinges sags (rate h)^2/8 from the curve, and its ends add as much.
    """
    h = rate / cells(control_points, model)
    return h**4 / 50.0 if model == "spline" else h**2 / 2.0


def free_scene(**options: Any) -> sn.Scene:
    """A scene without gravity."""
    return sn.Scene(gravity=(0.0, 0.0, 0.0), **options)
