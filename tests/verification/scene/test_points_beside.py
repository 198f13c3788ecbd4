"""Points beside a rod's axis: what acts on them, against closed forms and rigid arms that are fused to the rod."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.scene.kit import bits

import sennit as sn

LENGTH = 0.4
RUBBER = sn.Material(5e6, 0.4, 1100, relaxation_time=0.02)
CORD = sn.Section.circle(4e-3)


def cantilever(model: str = "spline", **options: Any) -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (0, 0, LENGTH), section=CORD, material=RUBBER, control_points=16, model=model)
    )
    scene.add(sn.Clamp(rod.at(0)))
    return scene, rod


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_eccentric_load(model: str, validated: Any) -> None:
    """A column pushed beside its axis: δ = e (sec √(P/EI) ℓ − 1) while deflections are small."""
    scene, rod = cantilever(model)
    EI = RUBBER.youngs_modulus * CORD.I1
    push, beside = EI / LENGTH**2, 1e-5
    scene.add(sn.Load(rod.at(LENGTH, offset=(beside, 0)), force=(0, 0, -push)))
    scene.settle()
    tip, d1 = rod.at(LENGTH), rod.at(0).frame[:, 0]
    shorter = LENGTH * (1 - push / (RUBBER.youngs_modulus * CORD.area))  # P/EA: 2.5e-5
    expected = beside * (1 / math.cos(shorter / LENGTH) - 1)
    validated(
        "Column pushed beside its axis", area="rods in scenes", quantity="deflection of the tip",
        reference="Timoshenko and Gere: secant formula", error=abs(abs(tip.position @ d1) / expected - 1),
        bound=1e-3 if model == "spline" else 2e-2,
    )  # fmt: skip


def test_a_push_beside_the_axis_twists(validated: Any) -> None:
    scene, rod = cantilever()
    tip = rod.at(LENGTH, offset=(0, 0.03))
    pull = 1e-4
    scene.add(sn.Load(tip, force=pull * tip.frame[:, 0]))
    scene.settle()
    GJ = RUBBER.shear_modulus * CORD.J
    turned = math.asin(float(np.cross(rod.at(0).frame[:, 1], rod.at(LENGTH).frame[:, 1])[2]))
    validated(
        "Rod pushed beside its axis", area="rods in scenes", quantity="twist of the tip",
        reference="Saint-Venant: F e ℓ/GJ", error=abs(abs(turned) / (pull * 0.03 * LENGTH / GJ) - 1), bound=1e-4,
    )  # fmt: skip


@pytest.mark.parametrize("tie", ["load", "spring", "cable"])
def test_as_a_rigid_arm_that_is_fused_to_the_rod(tie: str, validated: Any) -> None:
    """Shapes in equilibrium, far from straight."""
    places, iterations = [], []
    for fused in (False, True):
        scene, rod = cantilever()
        at, offset = 0.75 * LENGTH, (0.02, -0.03)
        point = rod.at(at, offset=offset)
        if fused:
            disc = scene.add(sn.RigidBody.sphere(0.01, mass=1e-3, position=rod.at(at).position))
            disc.pose = rod.at(at).pose
            scene.add(sn.Fuse(disc.at(), rod.at(at)))
            point = disc.at((*offset, 0))
        if tie == "load":
            scene.add(sn.Load(point, force=(0.02, 0.01, -0.02)))
        elif tie == "spring":
            scene.add(sn.Fix(point, point.position + np.array((0.05, 0.1, -0.03)), compliance=2.0))
        else:
            way = [sn.World.at((0.1, 0.1, 0.1)), point, sn.World.at((0.2, -0.1, 0.3))]
            scene.add(sn.Cable(way, stretch_stiffness=1e3, torsion=False)).pull = 0.05
        report = scene.settle()
        assert report.stable
        iterations.append(report.iterations)
        places.append(np.concatenate((point.position, rod.at(LENGTH).position, rod.at(LENGTH).frame[:, 0])))
        assert np.linalg.norm(rod.at(LENGTH).position - (0, 0, LENGTH)) > 0.1
    assert iterations[0] <= iterations[1] + 2  # second derivatives are there: it converges as with the arm
    validated(
        "Point beside a rod's axis", area="rods in scenes", quantity="places and directions, m",
        reference="a rigid arm fused to the rod", error=float(np.abs(places[0] - places[1]).max()), bound=1e-7,
    )  # fmt: skip


def test_energy_and_momentum_of_a_free_rod_with_a_weight_on_an_arm() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    still = sn.Material(5e6, 0.4, 1100)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, LENGTH), section=CORD, material=still, control_points=10))
    arm = rod.at(0.15, offset=(0.07, 0.05))
    box = scene.add(sn.RigidBody.box((0.02, 0.03, 0.04), mass=0.02, position=arm.position + np.array((0.03, 0, 0))))
    scene.add(sn.Ball(box.at((-0.03, 0, 0)), arm, compliance=1e-3))
    box.velocity, box.angular_velocity = (0.3, -0.4, 0.2), (2.0, 5.0, -3.0)
    energy, momentum, spin = scene.energy.total, scene.linear_momentum, scene.angular_momentum
    scene.run(0.5, dt=5e-4)
    assert scene.energy.total == pytest.approx(energy, rel=2e-2)
    assert np.abs(scene.linear_momentum - momentum).max() < 1e-9
    assert np.abs(scene.angular_momentum - spin).max() < 1e-3 * np.linalg.norm(spin)
    assert not scene.events


@pytest.mark.parametrize("dt", [1e-3, 0.02, 0.2])
@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_pulled_hard_on_a_long_arm(integrator: str, dt: float) -> None:
    """A thread has next to no inertia about its axis: a steady pull on an arm must not shake it."""
    scene = sn.Scene(integrator=integrator)
    thread = scene.add(sn.Rod.straight((0, 0, 0), (0.5, 0, 0), section=sn.Section.circle(5e-4), material=RUBBER))
    for s in (0.0, 0.5):
        scene.add(sn.Clamp(thread.at(s)))
    load = scene.add(sn.RigidBody.sphere(0.02, mass=0.05, position=(0.25, 0.0, -0.3)))
    scene.add(sn.Distance(load.at(), thread.at(0.25, offset=(0.02, 0.03))))
    steps = max(20, round(2.0 / dt)) if dt > 1e-3 else 500
    for _ in range(steps):
        scene.step(dt)
    assert np.linalg.norm(load.position) < 2.0
    assert np.linalg.norm(load.velocity) < 5.0


def test_it_is_cut_saved_and_carried_with_its_rod(tmp_path: Path) -> None:
    scene, rod = cantilever()
    point = rod.at(0.3, offset=(0.02, -0.01))
    load = scene.add(sn.Load(point, force=(0.02, 0.03, 0)))
    scene.run(0.1, dt=5e-3)
    scene.save(tmp_path / "rod.npz")
    again = sn.Scene.load(tmp_path / "rod.npz")
    assert bits(again) == bits(scene)
    assert np.array_equal(again.loads[0].point.position, point.position)
    before = point.position, point.velocity, point.frame
    _, rest = rod.cut(0.2)
    assert point.body is rest
    assert point.offset.tolist() == [0.02, -0.01]
    for now, then in zip((point.position, point.velocity, point.frame), before, strict=True):
        assert np.abs(now - then).max() < 1e-6 * (1 + np.abs(then).max())
    scene.run(0.05, dt=5e-3)
    assert load.point is point
    assert repr(rod.at(0.1, offset=(0.01, 0))).endswith("offset=(0.01, 0))>")


def test_no_offset_changes_nothing() -> None:
    """Of no offset nothing changes, to the bit."""
    results = []
    for options in ({}, {"offset": (0.0, 0.0)}):
        scene, rod = cantilever()
        scene.add(sn.Load(rod.at(LENGTH, **options), force=(0.01, 0.02, 0)))
        scene.run(0.1, dt=5e-3)
        results.append(bits(scene))
    assert results[0] == results[1]
