"""How a reference ``Rod`` is put to the library: the only module here that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np

import sennit as sn

from .rods import Field, Rod


def pose(position, rotation) -> sn.Pose:
    """A pose from a position and a rotation matrix."""
    return sn.Pose.from_rotation(np.asarray(position, dtype=float), np.asarray(rotation, dtype=float))


def planar_frame(angle: float) -> np.ndarray:
    """Columns d1 = z, d2 = t x z, d3 = t = (cos, sin, 0): bending in the (x, y) plane is about d1, and u1 = theta'."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[0.0, s, c], [0.0, -c, s], [1.0, 0.0, 0.0]])


def _plain(field: Field, length: float) -> Any:
    """A constant as three numbers, anything else as a function of one place s."""
    values = field(np.linspace(0.0, length, 11))
    if np.ptp(values, axis=1).max() == 0.0:
        return tuple(values[:, 0])
    return lambda s: field(np.array([s]))[:, 0]


def strand(rod: Rod, **options: Any) -> sn.Strand:
    """The strand with the stiffness and the rest shape of ``rod``."""
    extensible = rod.stiffness.shape == (6, 6)

    def full(matrix: np.ndarray) -> np.ndarray:
        if extensible:
            return matrix
        stiffness = np.zeros((6, 6))  # the shear part is not used: forbidden by extensible=False
        stiffness[:3, :3] = matrix
        stiffness[3:, 3:] = np.eye(3) * 1e3 * matrix[0, 0] / rod.length**2
        return stiffness

    along = rod.along
    return sn.Strand(
        length=rod.length,
        stiffness=full(rod.stiffness) if along is None else lambda s: full(along(np.array([s]))[0]),
        extensible=extensible,
        rest_curvature=_plain(rod.rest_curvature, rod.length),
        rest_stretch=_plain(rod.rest_stretch, rod.length),
        mass_per_length=1.0,
        **options,
    )


def loads(rod: Rod, tip: bool = True) -> dict[str, Any]:
    """Keyword arguments of ``Strand.solve``: the base, and the loads of ``rod`` (those at its tip only if ``tip``).

    A dead force beside follower ones is put as gravity on 1 kg/m.
    """
    places = np.linspace(0.0, rod.length, 11)
    chosen: dict[str, Any] = {"base": pose(rod.base_position, rod.base_rotation)}
    if tip:
        chosen.update(tip_force=rod.tip_force, tip_torque=rod.tip_torque, follower=rod.follower)
    if np.any(rod.dead_force(places)):
        chosen["gravity"] = tuple(rod.dead_force(places)[:, 0])
    if np.any(rod.force(places)) or np.any(rod.torque(places)):
        chosen.update(
            force=_plain(rod.force, rod.length),
            torque=_plain(rod.torque, rod.length),
            line_follower=rod.line_follower,
        )
    if rod.points:
        chosen["point_loads"] = [sn.PointLoad(p.s, p.force, p.torque, follower=p.follower) for p in rod.points]
    return chosen
