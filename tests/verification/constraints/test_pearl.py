"""Pearls: masses that slide on rods, alone and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import STIFF, WIRE, G

import sennit as sn

DT = 0.01
R = 0.01


def wire_in(scene, slope=0.0, length=1.0, n=8, heading=0.0):
    d = np.array((np.cos(slope) * np.cos(heading), np.cos(slope) * np.sin(heading), -np.sin(slope)))
    wire = scene.add(sn.Rod.straight((0, 0, 0), length * d, section=WIRE, material=STIFF, control_points=n))
    clamps = [scene.add(sn.Clamp(wire.at(s))) for s in (0.0, length)]
    return wire, clamps, d


# --- one pearl on a slope


@pytest.mark.parametrize("n", [4, 6, 17])
@pytest.mark.parametrize("slope", [0.3, 1.2])
def test_travel_does_not_depend_on_the_mesh(slope: float, n: int, validated) -> None:
    """g sin(slope) t^2 / 2 of metres, not of the spline's parameter; backward Euler's own sum."""
    scene = sn.Scene()
    wire, _, d = wire_in(scene, slope, n=n)
    pearl = scene.add(sn.Pearl(wire, at=0.2, mass=0.01, radius=R))
    steps = 20
    for _ in range(steps):
        scene.step(DT)
    travel = G * np.sin(slope) * DT * DT * steps * (steps + 1) / 2
    validated(
        "Pearl on a sloping wire, any mesh",
        area="constraints",
        quantity="travel",
        reference="g sin α t²/2, stepwise",
        error=abs((pearl.s - 0.2) / travel - 1),
        bound=1e-4,
    )
    assert pearl.at().position == pytest.approx((0.2 + travel) * d, abs=1e-4)
    assert pearl.at().velocity == pytest.approx(G * np.sin(slope) * DT * steps * d, abs=2e-4)


def test_a_long_wire_and_a_short_one() -> None:
    # |r'| is 2 on one and 1/2 on the other
    ends = []
    for length, n in ((10.0, 8), (2.5, 8)):
        scene = sn.Scene()
        wire, _, _ = wire_in(scene, 0.5, length=length, n=n)
        for s in np.linspace(0, length, 12)[1:-1]:
            scene.add(sn.Fix(wire.at(s), compliance=1e-9))
        pearl = scene.add(sn.Pearl(wire, at=0.3, mass=0.01, radius=R))
        scene.run(0.3, dt=DT)
        ends.append(pearl.s)
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


@pytest.mark.parametrize(("slope", "friction"), [(0.5, 0.2), (0.9, 0.5), (0.3, 0.3)])
def test_friction(slope: float, friction: float, validated) -> None:
    scene = sn.Scene()
    wire, _, _ = wire_in(scene, slope)
    pearl = scene.add(sn.Pearl(wire, at=0.2, mass=0.01, radius=R, friction=friction))
    steps = 20
    for _ in range(steps):
        scene.step(DT)
    a = G * (np.sin(slope) - friction * np.cos(slope))
    validated(
        "Pearl on a sloping wire, with friction",
        area="constraints",
        quantity="travel",
        reference="g(sin α − μ cos α)t²/2, stepwise",
        error=abs((pearl.s - 0.2) / (a * DT * DT * steps * (steps + 1) / 2) - 1),
        bound=2e-2,
    )


@pytest.mark.parametrize("slope", [0.25, -0.25])
def test_friction_holds_a_pearl(slope: float) -> None:
    # tan 0.25 = 0.255 < 0.28
    scene = sn.Scene()
    wire, _, _ = wire_in(scene, slope)
    pearl = scene.add(sn.Pearl(wire, at=0.5, mass=0.01, radius=R, friction=0.28))
    scene.run(0.5, dt=DT)
    assert pearl.s == pytest.approx(0.5, abs=1e-6)


def test_friction_brings_a_pearl_to_rest() -> None:
    """Thrown along a level wire it stops after v^2 / 2 mu g, and does not turn back."""
    scene = sn.Scene()
    wire, _, d = wire_in(scene)
    pearl = scene.add(sn.Pearl(wire, at=0.2, mass=0.01, radius=R, friction=0.5))
    dt = 2e-3
    push = scene.add(sn.Load(pearl.at(), force=1.0 * d))
    for _ in range(10):
        scene.step(dt)
    scene.remove(push)
    v, s = pearl.at().velocity @ d, pearl.s
    assert v == pytest.approx((1.0 / 0.01 - 0.5 * G) * 10 * dt, rel=0.02)
    assert v * v / (2 * 0.5 * G) < 0.5
    scene.run(v / (0.5 * G) + 0.1, dt=dt)
    assert pearl.s - s == pytest.approx(v * v / (2 * 0.5 * G), rel=0.02)
    assert abs(pearl.at().velocity @ d) < 1e-6


def test_drag() -> None:
    c, mass = 0.2, 0.01
    scene = sn.Scene()
    wire, clamps, d = wire_in(scene, np.pi / 2, heading=0.0)
    pearl = scene.add(sn.Pearl(wire, at=0.1, mass=mass, radius=R, sliding_drag=c))
    scene.run(0.8, dt=DT)
    assert pearl.at().velocity @ d == pytest.approx(mass * G / c, rel=1e-4)
    # the wire is dragged down by the pearl's weight
    wire_weight = STIFF.density * WIRE.area * G
    assert sum(clamp.force[2] for clamp in clamps) == pytest.approx(mass * G + wire_weight, rel=1e-4)


def test_a_pearl_on_a_curved_wire_trades_height_for_speed(validated) -> None:
    """A quarter circle without friction: v^2 = 2 g h, whatever |r'| and its curvature are."""
    radius = 0.4
    angle = np.linspace(0, np.pi / 2, 60)
    curve = radius * np.column_stack((1 - np.cos(angle), np.zeros(60), -np.sin(angle)))
    scene = sn.Scene(integrator="bdf2")
    wire = scene.add(sn.Rod.through(curve, section=WIRE, material=STIFF, control_points=12))
    for s in np.linspace(0, wire.length, 5):
        scene.add(sn.Fix(wire.at(s)) if 0 < s < wire.length else sn.Clamp(wire.at(s)))
    pearl = scene.add(sn.Pearl(wire, at=0.15, mass=0.01, radius=R))
    start = pearl.at().position[2]
    for _ in range(250):
        scene.step(1e-3)
    p = pearl.at()
    fallen = start - p.position[2]
    assert fallen > 0.1
    validated(
        "Pearl on a quarter circle",
        area="constraints",
        quantity="speed squared",
        reference="2gh",
        error=abs(p.velocity @ p.velocity / (2 * G * fallen) - 1),
        bound=0.01,
    )
    assert np.linalg.norm(np.cross(p.velocity, p.frame[:, 2])) < 1e-2 * np.linalg.norm(p.velocity)


# --- momentum


def free_rod_with_pearl(**options):
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = kit.rod(scene, kit.A, length=1.0, s=0.5, n=8)
    pearl = scene.add(sn.Pearl(rod, at=0.5, mass=0.05, radius=R, **options))
    return scene, rod, pearl


@pytest.mark.parametrize("options", [{}, {"sliding_drag": 0.5}, {"friction": 0.4}])
def test_momentum_is_kept_when_a_pearl_slides_on_a_free_rod(options: dict, validated) -> None:
    scene, rod, pearl = free_rod_with_pearl(**options)
    force = 0.2 * kit.DIRECTION
    push = scene.add(sn.Load(pearl.at(), force=force))
    for _ in range(5):
        scene.step(DT)
    scene.remove(push)
    for _ in range(20):
        scene.step(DT)
        total = kit.momentum(rod)[0] + 0.05 * pearl.at().velocity
        # with drag 2.5e-9 was measured, of 1e-2; why is not known
        validated(
            "Pearl that slides on a free rod, drag or friction",
            area="constraints",
            quantity="momentum (N s)",
            reference="the impulse applied",
            error=np.abs(total - 5 * DT * force).max(),
            bound=1e-8 if "sliding_drag" in options else 1e-10,
        )
    slip = (pearl.at().velocity - rod.at(pearl.s).velocity) @ kit.DIRECTION
    moved = pearl.s - 0.5
    assert moved > 1e-3
    if options == {"sliding_drag": 0.5}:
        # m M / (m + M) slip' = -c slip
        mass = kit.SOFT.density * kit.ROPE.area
        reduced = 0.05 * mass / (0.05 + mass)
        start = 5 * DT * 0.2 / 0.05
        assert 0 < slip < start * np.exp(-0.5 * 20 * DT / reduced) * 1.5
    elif not options:
        # without friction the rod never learns of it
        assert np.abs(kit.momentum(rod)[0]).max() < 1e-9


def test_a_push_across_is_shared_at_the_schemes_order() -> None:
    """The rod bends and turns: pearl and rod together keep the impulse, up to what one step's turning changes."""
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        scene, rod, pearl = free_rod_with_pearl()
        across = np.cross(kit.DIRECTION, (0, 0, 1.0))
        force = 0.2 * kit.DIRECTION + 0.2 * across
        push = scene.add(sn.Load(pearl.at(), force=force))
        scene.run(0.02, dt=dt)
        scene.remove(push)
        scene.run(0.08, dt=dt)
        total = kit.momentum(rod)[0] + 0.05 * pearl.at().velocity
        errors.append(np.linalg.norm(total - 0.02 * force) / np.linalg.norm(0.02 * force))
    assert errors[-1] < 0.02
    assert errors[-1] < 1e-9 or errors[0] / errors[-1] > 2.5


def test_a_pearl_weighs_on_its_rod() -> None:
    """Settled half-way along a level wire it is carried by both clamps alike."""
    scene = sn.Scene()
    wire, clamps, _ = wire_in(scene)
    scene.add(sn.Pearl(wire, at=0.5, mass=0.02, radius=R, friction=0.5))
    scene.run(0.5, dt=DT)
    wire_weight = STIFF.density * WIRE.area * G
    for clamp in clamps:
        assert clamp.force[2] == pytest.approx((0.02 * G + wire_weight) / 2, rel=1e-4)


def test_a_pearl_moves_with_its_rod() -> None:
    scene = sn.Scene()
    rod = kit.rod(scene, kit.A, along=np.array((1.0, 0, 0)))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=0.05, radius=R))
    start = pearl.at().position.copy()
    for _ in range(20):
        scene.step(DT)
    assert pearl.at().position == pytest.approx(np.add(start, (0, 0, kit.drop(0, 20, DT))), abs=1e-9)
    assert pearl.s == pytest.approx(0.3, abs=1e-9)
