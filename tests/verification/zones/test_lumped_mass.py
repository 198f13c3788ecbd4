"""Mass of flesh as rigid bodies that are fused to places of a zone: ω² = k/m with the stiffness that `touch` has."""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import block

import sennit as sn

SIDE, TOP, RADIUS = 0.04, 0.02, 8e-3
GEL = sn.Material(5e4, 0.45, 1000.0)


def pad() -> sn.Zone:
    vertices, faces = block((SIDE, SIDE, TOP), (10, 10, 5), (-SIDE / 2, -SIDE / 2, 0.0))
    return sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=vertices[:, 2] < 1e-9)


def lump(scene: sn.Scene, zone: sn.Zone, place: tuple[float, float, float], mass: float) -> sn.RigidBody:
    """A small body that moves as the patch about `place` does."""
    body = scene.add(sn.RigidBody.sphere(radius=1e-3, mass=mass, position=place))
    scene.add(sn.Fuse(body.at(), zone.at(place, radius=RADIUS)))
    return body


def frequencies(signal: np.ndarray, dt: float) -> np.ndarray:
    """Angular frequencies between upward crossings of zero, rad/s."""
    up = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    at = up - signal[up] / (signal[up + 1] - signal[up])
    return np.asarray(2.0 * np.pi / (np.diff(at) * dt))


def test_one_lump_swings_at_the_root_of_stiffness_over_mass(validated) -> None:
    zone, mass, top = pad(), 0.004, (0.0, 0.0, TOP)
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    scene.add(zone)
    body = lump(scene, zone, top, mass)
    # Amid the top neither moment nor sideways force comes with a push along z.
    stiffness = 1.0 / zone.touch(top, force=(0, 0, -1), radius=RADIUS).probe.compliance[2, 2]
    omega = np.sqrt(stiffness / mass)
    dt, start = 2.0 * np.pi / omega / 200, body.position[2]
    body.velocity = (0.0, 0.0, -0.05)
    heights = []
    for _ in range(1100):
        scene.step(dt)
        heights.append(body.position[2] - start)
    found = frequencies(np.array(heights), dt)
    # The midpoint rule's own frequency is lower by (ω dt)²/12.
    wanted = 2.0 * np.arctan(0.5 * omega * dt) / dt
    assert len(found) >= 4 and np.ptp(found) < 1e-3 * omega
    validated(
        "A lump of mass on a pad", area="zones", quantity="frequency of its swing", reference="ω² = k/m of `touch`",
        error=abs(found.mean() / wanted - 1.0), bound=1e-3,
    )  # fmt: skip


def test_two_lumps_swing_in_the_modes_of_their_stiffness(validated) -> None:
    """Mutual compliance counts: in phase and against each other, each its own frequency."""
    zone, mass = pad(), 0.004
    places = ((-0.007, 0.0, TOP), (0.007, 0.0, TOP))
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    scene.add(zone)
    bodies = [lump(scene, zone, place, mass) for place in places]
    for body, place in zip(bodies, places, strict=True):
        scene.add(sn.OnAxis(body.at(), (0, 0, 1), place))
        scene.add(sn.Align(body.at()))
    report = scene.settle()
    assert report.converged
    # Stiffness of the two as the scene has them: loads one at a time, at rest.
    compliance = np.zeros((2, 2))
    for k, body in enumerate(bodies):
        load = scene.add(sn.Load(body.at(), force=(0, 0, 0.01)))
        assert scene.settle(tolerance=1e-10).converged
        compliance[:, k] = [b.position[2] - TOP for b in bodies]
        compliance[:, k] /= 0.01
        scene.remove(load)
        assert scene.settle(tolerance=1e-10).converged
    assert compliance[0, 1] == pytest.approx(compliance[1, 0], rel=1e-4)
    assert 0.05 < compliance[0, 1] / compliance[0, 0] < 0.9
    errors = []
    for sign in (1.0, -1.0):
        omega = 1.0 / np.sqrt(mass * (compliance[0, 0] + sign * compliance[0, 1]))
        dt, begun = 2.0 * np.pi / omega / 200, scene.snapshot()
        bodies[0].velocity, bodies[1].velocity = (0, 0, -0.02), (0, 0, -0.02 * sign)
        heights = []
        for _ in range(700):
            scene.step(dt)
            heights.append(bodies[0].position[2] - TOP)
        found = frequencies(np.array(heights), dt)
        errors.append(abs(found.mean() / (2.0 * np.arctan(0.5 * omega * dt) / dt) - 1.0))
        scene.restore(begun)
    validated(
        "Two lumps on a pad, with and against each other", area="zones", quantity="frequencies of their swings",
        reference="eigenvalues of k and m", error=max(errors), bound=2e-3,
    )  # fmt: skip
