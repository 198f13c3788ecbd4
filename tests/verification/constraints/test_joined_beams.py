"""Rods tied to rods and to bodies: closed forms of beams."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene.kit import G

import sennit as sn

STEEL = sn.Material(2e11, 0.3, 7850)
SECTION = sn.Section.circle(5e-3)
EI = 2e11 * SECTION.I1
GJ = 2e11 / 2.6 * SECTION.J
L, P = 1.0, 1.0
# relative error of small-deflection theory: the slope squared, (P L^2 / 2 EI)^2 = 3e-5


def beam(scene, start, end, model="spline", n=8):
    return scene.add(sn.Rod.straight(start, end, section=SECTION, material=STEEL, control_points=n, model=model))


def test_two_fused_halves_are_one_cantilever(validated) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = beam(scene, (0, 0, 0), (L / 2, 0, 0)), beam(scene, (L / 2, 0, 0), (L, 0, 0))
    clamp = scene.add(sn.Clamp(a.at(0.0)))
    joint = scene.add(sn.Fuse(a.at(L / 2), b.at(0.0)))
    scene.add(sn.Load(b.at(L / 2), force=(0, 0, -P)))
    report = scene.settle()
    assert report.stable
    validated(
        "Two rods fused to one cantilever",
        area="constraints",
        quantity="deflection",
        reference="PL³/3EI",
        error=abs(b.at(L / 2).position[2] / (-P * L**3 / (3 * EI)) - 1),
        bound=1e-3,
    )
    # what the far half does to the near one: the load and its moment about the joint
    assert joint.force == pytest.approx((0, 0, -P), abs=1e-6)
    assert joint.torque == pytest.approx((0, P * L / 2, 0), abs=1e-4)
    assert clamp.force == pytest.approx((0, 0, P), abs=1e-6)
    assert clamp.torque == pytest.approx((0, -P * L, 0), abs=1e-4)


@pytest.mark.parametrize(("align", "closed_form"), [(True, P * L**3 / (192 * EI)), (False, P * L**3 / (48 * EI))])
def test_a_joint_in_the_middle(align: bool, closed_form: float, validated) -> None:
    """Clamped at both ends, loaded in the middle: P L^3 / 192 EI whole, two cantilevers of P / 2 when it may turn."""
    assert closed_form == pytest.approx(P * L**3 / (192 * EI) if align else P / 2 * (L / 2) ** 3 / (3 * EI))
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = beam(scene, (0, 0, 0), (L / 2, 0, 0)), beam(scene, (L, 0, 0), (L / 2, 0, 0))
    scene.add(sn.Clamp(a.at(0.0)))
    scene.add(sn.Clamp(b.at(0.0)))
    joint = scene.add(sn.Fuse(a.at(L / 2), b.at(L / 2), align=align))
    scene.add(sn.Load(a.at(L / 2), force=(0, 0, -P)))
    scene.settle()
    # the ends do not draw in: membrane stress takes EA (d / L)^3 16 / P = 1e-3 of the load where it may turn
    validated(
        "Two clamped rods joined in the middle, stiff or free to turn",
        area="constraints",
        quantity="deflection",
        reference="PL³/192EI, PL³/48EI",
        error=abs(a.at(L / 2).position[2] / -closed_form - 1),
        bound=5e-3,
    )
    if not align:
        assert np.abs(joint.torque).max() < 1e-12


def test_a_spline_and_a_discrete_half() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    a = beam(scene, (0, 0, 0), (L / 2, 0, 0))
    b = beam(scene, (L / 2, 0, 0), (L, 0, 0), model="discrete", n=41)
    scene.add(sn.Clamp(a.at(0.0)))
    scene.add(sn.Fuse(a.at(L / 2), b.at(0.0)))
    scene.add(sn.Load(b.at(L / 2), force=(0, 0, -P)))
    scene.settle()
    # the frame of a discrete rod's end is its first edge's: half an edge is rigid, 1 / 80 of its length
    assert b.at(L / 2).position[2] == pytest.approx(-P * L**3 / (3 * EI), rel=0.03)


def test_twist_through_a_fuse(validated) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = beam(scene, (0, 0, 0), (L / 2, 0, 0)), beam(scene, (L / 2, 0, 0), (L, 0, 0))
    clamp = scene.add(sn.Clamp(a.at(0.0)))
    joint = scene.add(sn.Fuse(a.at(L / 2), b.at(0.0)))
    torque = 2.0
    scene.add(sn.Load(b.at(L / 2), torque=(torque, 0, 0)))
    d2 = b.at(L / 2).frame[:, 1].copy()
    scene.settle()
    turned = np.arctan2(np.cross(d2, b.at(L / 2).frame[:, 1])[0], d2 @ b.at(L / 2).frame[:, 1])
    validated(
        "Twist through a fuse",
        area="constraints",
        quantity="angle",
        reference="TL/GJ",
        error=abs(turned / (torque * L / GJ) - 1),
        bound=1e-6,
    )
    assert joint.torque == pytest.approx((torque, 0, 0), abs=1e-8)
    assert clamp.torque == pytest.approx((-torque, 0, 0), abs=1e-8)


def test_a_weight_locked_to_a_beam(validated) -> None:
    """A body of weight W whose centre is d beyond the tip: force W and moment W d."""
    d, mass = 0.1, 0.2
    scene = sn.Scene()
    light = sn.Material(2e11, 0.3, 1e-3)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (L, 0, 0), section=SECTION, material=light, control_points=8))
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.1, 0.1), mass=mass, position=(L + d, 0, 0)))
    scene.add(sn.Clamp(rod.at(0.0)))
    lock = scene.add(sn.Lock(box.at((-d, 0, 0)), rod.at(L)))
    scene.settle()
    w = mass * G
    validated(
        "Body locked to a beam, off its tip",
        area="constraints",
        quantity="deflection",
        reference="WL³/3EI + WdL²/2EI",
        error=abs(rod.at(L).position[2] / (-w * L**3 / (3 * EI) - w * d * L**2 / (2 * EI)) - 1),
        bound=2e-3,
    )
    slope = w * L**2 / (2 * EI) + w * d * L / EI
    assert box.pose.position[2] - rod.at(L).position[2] == pytest.approx(-d * slope, rel=5e-3)
    assert lock.force == pytest.approx((0, 0, w), abs=1e-6)
    assert lock.torque == pytest.approx((0, -w * d, 0), abs=1e-3)


def test_pinned_and_aligned_is_a_clamp_that_lets_roll() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = beam(scene, (0, 0, 0), (L, 0, 0))
    scene.add(sn.Fix(rod.at(0.0)))
    align = scene.add(sn.Align(rod.at(0.0), (1, 0, 0)))
    scene.add(sn.OnPlane(rod.at(L), (0, 1, 0)))
    scene.add(sn.Load(rod.at(L), force=(0, 0, -P)))
    for _ in range(300):
        scene.step(0.05)  # its roll is free, so there is no static solve; backward Euler comes to rest
    assert rod.at(L).position[2] == pytest.approx(-P * L**3 / (3 * EI), rel=1e-3)
    assert align.torque == pytest.approx((0, -P * L, 0), abs=1e-3)


def test_a_beam_on_a_relative_plane(validated) -> None:
    """The tip of one cantilever rests on a plane that the tip of another carries: they share the load."""
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = beam(scene, (0, 0, 0), (L, 0, 0)), beam(scene, (2 * L, 0, 0), (L, 0, 0))
    scene.add(sn.Clamp(a.at(0.0)))
    scene.add(sn.Clamp(b.at(0.0)))
    plane = scene.add(sn.OnPlane(a.at(L), (0, 0, 1), of=b.at(L)))
    scene.add(sn.Load(a.at(L), force=(0, 0, -P)))
    scene.settle()
    validated(
        "Beam that rests on a plane carried by another",
        area="constraints",
        quantity="deflection",
        reference="PL³/6EI",
        error=abs(a.at(L).position[2] / (-P / 2 * L**3 / (3 * EI)) - 1),
        bound=2e-3,
    )
    assert b.at(L).position[2] == pytest.approx(a.at(L).position[2], rel=1e-3)
    assert plane.force[2] == pytest.approx(P / 2, rel=1e-3)


def test_a_distance_between_beams() -> None:
    """A rod of fixed length from tip to tip, upright: the same load on both."""
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = beam(scene, (0, 0, 0), (L, 0, 0)), beam(scene, (0, 0, 0.3), (L, 0, 0.3))
    scene.add(sn.Clamp(a.at(0.0)))
    scene.add(sn.Clamp(b.at(0.0)))
    bar = scene.add(sn.Distance(a.at(L), b.at(L)))
    scene.add(sn.Load(a.at(L), force=(0, 0, -P)))
    scene.settle()
    assert a.at(L).position[2] == pytest.approx(-P / 2 * L**3 / (3 * EI), rel=1e-3)
    assert bar.force == pytest.approx((0, 0, P / 2), abs=1e-3)
    assert np.linalg.norm(a.at(L).position - b.at(L).position) == pytest.approx(0.3, abs=1e-10)
