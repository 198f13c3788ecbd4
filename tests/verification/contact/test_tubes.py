"""Rods inside tubes: buckling in a horizontal well, friction, a wire in its catheter, and what must not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

r, c, GRAVITY = 2e-3, 8e-3, 9.81
STEEL = sn.Material(youngs_modulus=2e9, poisson_ratio=0.3, density=3000, relaxation_time=1e-3)
EI = 2e9 * math.pi * r**4 / 4
WEIGHT = math.pi * r * r * 3000 * GRAVITY
MASS = WEIGHT / GRAVITY


def in_well(lines, control_points: int, drag: float, push: float):
    """A rod along x in a horizontal tube, pinned on its bottom, and pushed at its far end."""
    scene = sn.Scene(drag=drag)
    length = lines[-1, 0]
    rod = scene.add(
        sn.Rod.through(
            lines, section=sn.Section.circle(r), material=STEEL, control_points=control_points, straight=True
        )
    )
    along_x = sn.Pose((0.5 * length, 0, 0), (math.sqrt(0.5), 0, math.sqrt(0.5), 0))
    scene.add(sn.Inside(rod, sn.Cylinder(c + r, 1.2 * length, along_x), friction=0.0))
    scene.add(sn.Fix(rod.at(0)))
    scene.add(sn.OnAxis(rod.at(rod.length), (1, 0, 0)))
    scene.add(sn.Load(rod.at(rod.length), force=(-push, 0, 0)))
    return scene, rod


def growth_of_modes(push: float, n: np.ndarray, length: float) -> np.ndarray:
    """m σ (σ + d) of modes sin(nπx/L) of the angle round the tube, of a rod that rests on its bottom."""
    x = np.linspace(0.0, length, 400)
    seed = 0.005 * c * np.sin(np.outer(x, n) * math.pi / length) @ np.where(n % 2, 1.0, -1.0)
    lines = np.column_stack((x, seed, -np.sqrt(c * c - seed**2)))
    drag = 100.0
    scene, rod = in_well(lines, 40, drag, push)

    def amplitudes():
        line = rod.centerline(401)
        return 2.0 / 401 * np.sin(np.outer(n, line[:, 0]) * math.pi / length) @ line[:, 1]

    scene.run(0.2, dt=1 / 240)
    begin = amplitudes()
    scene.run(0.4, dt=1 / 240)
    rate = np.log(np.abs(amplitudes() / begin)) / 0.4
    return MASS * rate * (rate + drag)


def test_lateral_buckling_in_a_horizontal_tube(validated):
    """Dawson and Paslay, J. Petroleum Technology 36 (1984) 1734: F = min over n of EI k² + w/(c k²), k = nπ/L."""
    length = 1.92
    n = np.arange(3, 6)  # others need far higher loads, and die out at once
    k = n * math.pi / length
    exact = EI * k**2 + WEIGHT / (c * k**2)
    low, high = 0.9 * exact.min(), 1.1 * exact.min()
    first, second = (growth_of_modes(force, n, length) for force in (low, high))
    # the growth of each mode is linear in the force
    found = low - first * (high - low) / (second - first)
    assert np.argmin(found) == np.argmin(exact)
    validated(
        "Rod in a horizontal tube", area="contact", quantity="load of lateral buckling",
        reference="Dawson and Paslay 1984", error=abs(found.min() / exact.min() - 1.0), bound=0.05,
    )  # fmt: skip


def test_helical_load_in_a_horizontal_tube(validated):
    """2.83 √(EI w/c): there the helix has the energy of the straight rod, bending + height − force × shortening.

    A. Lubinski's helix of constant pitch, and its load as in Y.-C. Chen, Y.-H. Lin, J. B. Cheatham, J. Petroleum
    Technology 42 (1990) 214. Here gravity makes the pitch uneven, which lowers the load by about 1 %.
    """
    exact = math.sqrt(8.0 * EI * WEIGHT / c)
    k = (2.0 * WEIGHT / (EI * c)) ** 0.25
    turns = 4
    length = 2.0 * math.pi * turns / k
    x = np.linspace(0.0, length, 600)
    lines = np.column_stack((x, c * np.sin(k * x), -c * np.cos(k * x)))
    scene, rod = in_well(lines, 80, 60.0, exact)
    scene.run(0.6, dt=1 / 120)
    line, bend = rod.centerline(2001), rod.curvatures(2001)
    angle = np.unwrap(np.arctan2(line[:, 1], -line[:, 2]))
    middle = (angle > angle[-1] * 0.25) & (angle < angle[-1] * 0.75)  # whole turns, away from the ends
    radius = np.hypot(line[middle, 1], line[middle, 2])
    assert radius.min() > 0.99 * c and radius.max() < 1.01 * c
    ds = rod.length / 2000
    slope = np.gradient(line[:, 0], ds)
    energy = 0.5 * EI * (bend[:, 0] ** 2 + bend[:, 1] ** 2) + WEIGHT * (line[:, 2] + c)
    stretched = np.linalg.norm(np.gradient(line, ds, axis=0), axis=1)
    found = energy[middle].sum() / (stretched - slope)[middle].sum()
    validated(
        "Rod in a horizontal tube", area="contact", quantity="load of helical buckling",
        reference="2.83 √(EI w/c)", error=abs(found / exact - 1.0), bound=0.05,
    )  # fmt: skip


@pytest.mark.parametrize("speed", [0.05, -0.05])
def test_a_heavy_rod_drags_by_its_weight(speed):
    """Pulled and pushed through a straight tube: the hand feels μ w L, but for what it carries itself."""
    friction, length = 0.25, 0.5
    scene = sn.Scene()
    rod = scene.add(
        sn.Rod.straight((0, 0, -c), (length, 0, -c), section=sn.Section.circle(r), material=STEEL, control_points=14)
    )
    along_x = sn.Pose((0.25, 0, 0), (math.sqrt(0.5), 0, math.sqrt(0.5), 0))
    tube = scene.add(sn.Inside(rod, sn.Cylinder(c + r, 2.0, along_x), friction=friction))
    hand = scene.add(sn.Follow(rod.at(rod.length), lambda t: (length + speed * t, 0, -c)))
    scene.run(0.5, dt=1 / 240)
    weight = rod.mass * GRAVITY
    assert abs(hand.force[0]) == pytest.approx(friction * (weight - hand.force[2]), rel=0.005)
    assert abs(hand.force[2]) < 0.05 * weight
    assert math.copysign(1.0, hand.force[0]) == math.copysign(1.0, speed)
    pair = scene.contacts.between(rod, tube)
    assert pair.force[2] + hand.force[2] == pytest.approx(weight, rel=1e-3)
    assert all(contact.state == "slip" and contact.second is tube for contact in scene.contacts)


def test_a_rope_in_a_bent_tube_is_a_capstan(validated):
    """Drawn round a quarter turn it lies on the inner side, whose radius is R: T₂/T₁ = e^{μθR/(R + r)}."""
    friction, bend, bore, arm, pull = 0.3, 0.1, 6e-3, 0.06, 20.0
    angle = np.linspace(0.0, 0.5 * math.pi, 91)
    axis = bend * np.column_stack((np.sin(angle), np.zeros(91), np.cos(angle)))
    axis = np.vstack(((-0.01, 0, bend), axis, (bend, 0, -0.01)))
    inner = bend - bore  # radius of the wall that it lies on
    lay = inner + r
    arc = lay * np.column_stack((np.sin(angle), np.zeros(91), np.cos(angle)))
    t = np.linspace(0.0, arm, 21)[1:]
    line = np.vstack((
        np.column_stack((-t[::-1], 0 * t, np.full(20, lay))), arc, np.column_stack((np.full(20, lay), 0 * t, -t))
    ))  # fmt: skip
    scene = sn.Scene(gravity=(0, 0, 0))
    soft = sn.Material(youngs_modulus=1e8, poisson_ratio=0.4, density=1100, relaxation_time=5e-3)
    rope = scene.add(sn.Rod.through(line, section=sn.Section.circle(r), material=soft, control_points=32))
    tube = scene.add(sn.Inside(rope, axis, radius=bore, friction=friction))
    scene.add(sn.Load(rope.at(0.0), force=(-pull, 0, 0)))
    hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: (lay, 0.0, -arm - 0.05 * max(t - 0.2, 0.0))))
    scene.run(0.3, dt=1 / 240)
    found = abs(hand.force[2]) / pull
    exact = math.exp(friction * 0.5 * math.pi * inner / lay)
    assert scene.contacts.between(rope, tube).count > 5
    validated(
        "Rope in a bent tube", area="contact", quantity="ratio of tensions", reference="e^{μθR/(R+r)}",
        error=abs(found / exact - 1.0), bound=0.02,
    )  # fmt: skip


@pytest.mark.parametrize("places", [7, 61])
def test_out_of_a_bent_tube_and_back(places):
    """A rod is drawn wholly out of the open end of a bent tube, away to the side, back, and in: nothing holds it there.

    With many places the last straight parts are shorter than the bore is wide.
    """
    bend, bore, length = 0.08, 6e-3, 0.08
    angle = np.linspace(0.0, 0.5 * math.pi, places)
    axis = bend * np.column_stack((np.sin(angle), np.zeros(places), np.cos(angle)))
    axis = np.vstack(((-0.1, 0, bend), axis))
    scene = sn.Scene(gravity=(0, 0, 0), drag=20.0)
    soft = sn.Material(youngs_modulus=2e7, poisson_ratio=0.4, density=1100, relaxation_time=5e-3)
    arc = np.linspace(0.0, 0.5 * math.pi, 61)
    lay = bend * np.column_stack((np.sin(arc), np.zeros(61), np.cos(arc)))
    lay = np.vstack(((-0.02, 0, bend), (-0.01, 0, bend), lay))
    lay = lay[np.cumsum(np.r_[0.0, np.linalg.norm(np.diff(lay, axis=0), axis=1)]) < length]
    rod = scene.add(sn.Rod.through(lay, section=sn.Section.circle(r), material=soft, control_points=24, straight=True))
    tube = scene.add(sn.Inside(rod, axis, radius=bore, friction=0.1))
    # the tip is led along the axis, out, aside, back below the mouth, and up to it
    tip = math.asin(rod.centerline(2)[-1][0] / bend)
    lead = [bend * np.array((math.sin(a), 0, math.cos(a))) for a in np.linspace(tip, 0.5 * math.pi, 8)]
    below, aside = np.array((bend, 0, -0.12)), np.array((bend + 0.02, 0.015, -0.11))
    way = [*lead, below, aside, below, (bend, 0, -0.02)]
    times = [*np.linspace(0.0, 0.4, 8), 0.9, 1.2, 1.5, 2.1]
    hand = scene.add(sn.Follow(rod.at(rod.length), sn.Route(times, way)))
    deepest = 0.0

    def play(time):
        nonlocal deepest
        for _ in range(round(240 * time)):
            scene.step(1 / 240)
            deepest = max(deepest, scene.contacts.deepest)

    play(0.9)
    assert rod.centerline(50)[:, 2].max() < 0.0  # all of it is out
    play(0.3)
    np.testing.assert_allclose(rod.centerline(2)[-1], aside, atol=1e-5)
    assert np.linalg.norm(hand.force) < 0.05 and not scene.contacts.between(rod, tube).touching
    play(0.9)
    line = rod.centerline(200)
    inside = line[:, 2] > 0.0
    assert inside.sum() > 100  # and most of it is in again
    assert tube.shape.clearance(line[inside]).min() > 0.8 * r
    assert deepest < 0.2 * r
    assert not [event for event in scene.events if event.kind in ("yielded", "held")]


def catheter(turn=None, **numbers):
    """A wire on its way through a catheter, both free, without gravity; all of it turned and moved by a pose."""
    pose = sn.Pose() if turn is None else turn
    scene = sn.Scene(gravity=(0, 0, 0))
    soft = sn.Material(youngs_modulus=2e7, poisson_ratio=0.4, density=1100, relaxation_time=2e-3)
    x = np.linspace(0.0, 0.3, 60)
    axis = pose @ np.column_stack((x, 0.03 * np.sin(10 * x), 0 * x))
    outer = scene.add(sn.Rod.through(
        axis, section=sn.Section.tube(5e-3, 4e-3), material=soft, control_points=14, straight=True, name="catheter"
    ))  # fmt: skip
    line = pose @ np.column_stack((x + 0.05, 0.03 * np.sin(10 * (x + 0.05)), 0 * x))
    wire = scene.add(sn.Rod.through(
        line, section=sn.Section.circle(2.5e-3), material=soft, control_points=16, straight=True, name="wire"
    ))  # fmt: skip
    wire.set_velocity(pose.rotation @ (0.4, 0.1, 0.3))
    tube = scene.add(sn.Inside(wire, outer, **numbers))
    return scene, wire, outer, tube


def test_what_the_wire_gets_the_catheter_loses():
    scene, wire, outer, _ = catheter(friction=0.2)
    before = scene.linear_momentum
    touched = 0
    for _ in range(40):
        scene.step(1 / 500)
        touched += len(scene.contacts)
        np.testing.assert_allclose(scene.linear_momentum, before, atol=1e-12)
    assert touched > 40
    assert all(contact.first is wire and contact.second is outer for contact in scene.contacts)
    assert scene.contacts.deepest < 0.1 * 2.5e-3
    # and it has dragged the catheter along
    assert np.linalg.norm(outer.velocities(20).mean(axis=0)) > 0.02


def test_the_wire_stays_inside_and_the_rest_is_out():
    scene, wire, outer, _ = catheter(friction=0.0)
    for _ in range(40):
        scene.step(1 / 500)
    axis, places = outer.centerline(2000), wire.centerline(200)
    away = np.linalg.norm(places[:, None] - axis, axis=2)
    foot = away.argmin(axis=1)
    inside = (foot > 0) & (foot < 1999)
    assert inside.sum() > 50 and (~inside).sum() > 20
    assert away.min(axis=1)[inside].max() < 4e-3 - 2.5e-3 + 0.1 * 2.5e-3


def test_turned_and_moved_nothing_else_changes():
    turn = sn.Pose((0.3, -0.2, 0.5), (0.6, 0.3, -0.5, 0.4))
    ends = []
    for pose in (sn.Pose(), turn):
        scene, wire, outer, _ = catheter(pose, friction=0.2)
        walls = pose @ np.array(((-0.1, 0, 0), (0.1, 0.02, 0), (0.6, 0.02, 0)))
        scene.add(sn.Inside(outer, walls, radius=np.array((0.012, 0.03, 0.03)), friction=0.1))
        scene.run(0.06, dt=1 / 500)
        ends.append([pose.inverse() @ rod.centerline(20) for rod in (wire, outer)])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)


def test_a_tube_that_moves_takes_its_rod_along():
    """Led sideways by an obstacle's path; the work that it does is on the account."""
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = scene.add(
        sn.Rod.straight((0, 0, -0.1), (0, 0, 0.1), section=sn.Section.circle(r), material=STEEL, control_points=8)
    )
    tube = scene.add(sn.Inside(rod, sn.Cylinder(c + r, 0.5), friction=0.0))
    tube.path = sn.Route([0, 0.1, 0.4], [(0, 0, 0), (0.02, 0, 0), (0.08, 0, 0)])
    scene.run(0.3, dt=1 / 240)
    middle = rod.centerline(3)[1]
    assert abs(middle[0] - tube.pose.position[0]) < 1.02 * c
    assert middle[0] > 0.04


@pytest.mark.parametrize("points", [40, 120])
def test_an_open_end_has_a_round_rim(points, validated):
    """A rod that sticks out of a tube is bent over its rim, and drawn in again: spans of seven and of two radii.

    The wall is as thick as the bore's radius R, so that its rim is a circle of radius R/2 about a ring of radius 3R/2.
    """
    bore, radius, mouth = 0.01, 2e-3, 0.1
    scene = sn.Scene(gravity=(0, 0, 0), drag=2.0)
    stuff = sn.Material(1e9, 0.4, 1200, relaxation_time=1e-2)
    wire = scene.add(sn.Rod.straight(
        (-0.2, 0, 0), (0.3, 0, 0), section=sn.Section.circle(radius), material=stuff, control_points=points
    ))  # fmt: skip
    scene.add(sn.Inside(wire, [(-0.4, 0, 0), (mouth, 0, 0)], bore))
    behind = scene.add(sn.Fix(wire.at(0.0)))
    hand = scene.add(sn.Fix(wire.at(wire.length), compliance=1e-4))
    start, first = hand.target.copy(), behind.target.copy()
    deepest = 0.0
    for k in range(200):
        hand.target = start - min(k / 120, 1.0) * np.array((0.05, 0.0, 0.15))
        scene.step(1 / 240)
        x, rho = wire.centerline(2001)[:, 0], np.hypot(*wire.centerline(2001)[:, 1:].T)
        rim = np.hypot(x - mouth, rho - 1.5 * bore) - 0.5 * bore
        deepest = max(deepest, -float((np.where(x <= mouth, bore - rho, rim) - radius).min()))
    validated(
        "Rod bent over the rim of an open tube", area="contact", quantity="overlap, of the rod's radius",
        reference="circle about a ring", error=deepest / radius, bound=0.1,
    )  # fmt: skip
    contact = max(scene.contacts, key=lambda each: float(np.linalg.norm(each.force)))
    x, _, z = contact.position
    across = np.array((x - mouth, 0.0, z + 1.5 * bore))
    assert np.linalg.norm(across) == pytest.approx(0.5 * bore, rel=0.02)
    assert contact.normal @ across == pytest.approx(0.5 * bore, rel=0.02)
    hand.enabled = False
    for k in range(240):
        behind.target = first - (0.15 * min(k / 200, 1.0), 0.0, 0.0)
        scene.step(1 / 240)
    rho = np.hypot(*wire.centerline(2001)[:, 1:].T)
    inside = wire.centerline(2001)[:, 0] < mouth
    assert rho[inside].max() < bore - 0.95 * radius
