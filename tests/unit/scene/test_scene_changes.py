"""What happens to a scene when it is changed while it runs: nothing stale, nothing lost, nothing that explodes."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

SECTION, MATERIAL = sn.Section.circle(0.01), sn.Material(1e7, 0.4, 1000)


def rope(**options) -> sn.Rod:
    return sn.Rod.straight((0, 0, 0), (1, 0, 0), section=SECTION, material=MATERIAL, control_points=10, **options)


def ring() -> sn.Rod:
    angle = np.linspace(0, 2 * np.pi, 41)[:-1]
    points = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    return sn.Rod.through(points, section=SECTION, material=MATERIAL, control_points=24, closed=True)


def test_a_grip_dragged_through_a_floor_breaks_it_with_a_word() -> None:
    """A one-sided row that equality rows break has no force that could help."""
    scene = sn.Scene()
    rod = scene.add(rope())
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.OnPlane(rod.at(1.0), (0, 0, 1), (0, 0, 0), bound="at_least"))
    grip = scene.add(sn.Fix(rod.at(1.0)))
    scene.step(0.01)
    grip.target = (1, 0, 0.05)
    scene.step(0.01)
    assert rod.at(1.0).position[2] == pytest.approx(0.05, abs=1e-9)
    grip.target = (1, 0, -0.05)
    scene.step(0.01)
    assert rod.at(1.0).position == pytest.approx((1, 0, -0.05), abs=1e-9)
    assert [event.kind for event in scene.events if event.kind != "divided"] == ["yielded"]


def test_pearls_bunched_on_a_ring_stay_at_rest() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    thread = scene.add(ring())
    scene.add(sn.Clamp(thread.at(0.0)))
    pearls = [scene.add(sn.Pearl(thread, x, mass=0.01, radius=0.01)) for x in (1.0, 1.1, 1.2)]
    scene.run(0.1, dt=0.01)
    assert max(abs(pearl.sliding_velocity) for pearl in pearls) < 1e-6


def test_two_pearls_meet_on_either_side_of_a_ring() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    thread = scene.add(ring())
    for s in np.linspace(0.0, thread.length, 9)[:-1]:
        scene.add(sn.Fix(thread.at(s)))
    first = scene.add(sn.Pearl(thread, 1.0, mass=1e-4, radius=0.05))
    second = scene.add(sn.Pearl(thread, 1.5, mass=1e-4, radius=0.05))
    second.sliding_velocity = 4.0
    turns = 0
    for _ in range(400):
        scene.step(5e-3)
        turns = max(turns, int(first.sliding_velocity > 1.0))
    assert turns == 1, "the second went round and pushed the first from behind"
    assert abs(first.sliding_velocity) + abs(second.sliding_velocity) < 8.1


def test_setting_a_velocity_keeps_the_roll_that_a_clamp_holds() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), drag=5.0)
    turn = np.linspace(0, 4 * np.pi, 60)
    helix = np.column_stack((0.1 * np.cos(turn), 0.1 * np.sin(turn), 0.02 * turn))
    rod = scene.add(sn.Rod.through(helix, section=SECTION, material=MATERIAL, control_points=24))
    scene.add(sn.Clamp(rod.at(0.0)))
    end = scene.add(sn.Clamp(rod.at(rod.length)))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(5, 0, 0)))
    start = end.target
    for angle in np.linspace(0.0, 2.0, 41)[1:]:
        axis = start.rotation[:, 2]
        half = 0.5 * angle
        spin = sn.Pose((0, 0, 0), (np.cos(half), *(np.sin(half) * axis)))
        end.target = sn.Pose(start.position, (spin @ sn.Pose((0, 0, 0), start.quaternion)).quaternion)
        scene.step(0.02)
    scene.run(1.0, dt=0.02)
    torque = end.torque
    for _ in range(20):
        ball.velocity = (0, 0, 0)
        scene.step(0.02)
    assert np.linalg.norm(torque) > 0.05
    assert end.torque == pytest.approx(torque, rel=0.02, abs=0.01)


def test_a_damper_added_to_a_running_bdf2_scene_does_not_kick() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator="bdf2")
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 1)))
    scene.run(0.1)
    scene.add(sn.Distance(ball.at(), sn.World.at((0, 0, 0)), 0.5, compliance=1.0, damping=10.0))
    scene.step(0.01)
    assert ball.velocity[2] == pytest.approx(-0.005, abs=1e-3)


def test_a_point_shared_by_constraints_survives_a_file(tmp_path) -> None:
    scene = sn.Scene()
    rod = scene.add(rope())
    scene.add(sn.Clamp(rod.at(0.0)))
    p = rod.at(0.5)
    scene.add(sn.OnPlane(p, (0, 1, 0)))
    scene.add(sn.Align(p))
    scene.add(sn.Load(p, force=(0, 0, -0.1)))
    scene.run(0.05)
    scene.save(tmp_path / "shared.npz")
    other = sn.Scene.load(tmp_path / "shared.npz")
    scene.run(0.05)
    other.run(0.05)
    assert np.array_equal(other.bodies[0].control_points, rod.control_points)


def test_pearls_out_of_order_survive_a_file(tmp_path) -> None:
    scene = sn.Scene()
    rod = scene.add(rope())
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.Clamp(rod.at(1.0)))
    pearls = [scene.add(sn.Pearl(rod, s, mass=0.01, radius=r)) for s, r in ((0.8, 0.01), (0.2, 0.02), (0.5, 0.05))]
    pearls[1].sliding_velocity = 2.0
    scene.run(0.2, dt=0.005)
    scene.save(tmp_path / "pearls.npz")
    other = sn.Scene.load(tmp_path / "pearls.npz")
    scene.run(0.3, dt=0.005)
    other.run(0.3, dt=0.005)
    assert [body.s for body in other.bodies[1:]] == [pearl.s for pearl in pearls]


def test_restoring_what_was_removed_goes_on_as_before() -> None:
    def made() -> tuple[sn.Scene, sn.Slider]:
        scene = sn.Scene()
        rod = scene.add(rope())
        scene.add(sn.Clamp(rod.at(0.0)))
        return scene, scene.add(sn.Slider(rod, 0.2, mass=0.1, speed=0.5))

    scene, slider = made()
    scene.run(0.1)
    kept = scene.snapshot()
    scene.run(0.2)
    scene.remove(slider)
    scene.restore(kept)
    scene.step(0.01)
    assert slider.s == pytest.approx(0.255, abs=1e-6)


def test_redundancy_is_found_again_after_a_change() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.add(sn.Fix(ball.at()))
    second = scene.add(sn.Fix(ball.at()))
    scene.step(0.01)
    assert scene.report.redundant
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1, 0, 0)))
    scene.step(0.01)
    second.target = (0, 0, 1)
    scene.run(0.02, dt=0.01)
    assert "yielded" in [event.kind for event in scene.events]


def test_a_body_moves_to_another_scene_with_its_constraint() -> None:
    first, second = sn.Scene(), sn.Scene()
    ball = first.add(sn.RigidBody.sphere(0.1, mass=1.0))
    fix = first.add(sn.Fix(ball.at()))
    first.step(0.01)
    first.remove(fix)
    first.remove(ball)
    second.add(ball)
    second.add(fix)
    second.step(0.01)
    first.add(sn.RigidBody.sphere(0.1, mass=1.0))
    first.step(0.01)
    fix.target = (0, 0, 0.05)
    second.step(0.01)
    assert ball.position == pytest.approx((0, 0, 0.05), abs=1e-9)


def test_a_point_of_a_removed_rod_can_be_read() -> None:
    scene = sn.Scene()
    scene.add(rope())
    other = scene.add(rope())
    p = other.at(0.5)
    fix = scene.add(sn.Fix(p))
    scene.step(0.01)
    place = p.position
    scene.remove(fix)
    scene.remove(other)
    assert p.position == pytest.approx(place, abs=1e-12)


def test_an_empty_scene_lets_time_pass() -> None:
    scene = sn.Scene()
    scene.step(0.01)
    assert scene.time == 0.01
    assert scene.settle().converged


def test_softness_of_a_hinge_leaves_its_motor_firm() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    hinge = scene.add(sn.Hinge(ball.at(), sn.World.at((0, 0, 0)), (0, 0, 1), motor=sn.Motor(1.0)))
    hinge.angular_compliance = 1.0
    scene.run(0.1)
    assert hinge.angle == pytest.approx(0.1, abs=1e-3)


def test_a_motor_without_bound_and_limits_are_refused() -> None:
    ball = sn.RigidBody.sphere(0.1, mass=1.0)
    for joint in (sn.Hinge, sn.Prismatic):
        with pytest.raises(sn.InputError, match="max_"):
            joint(ball.at(), sn.World.at((0, 0, 0)), (0, 0, 1), limits=(-1, 1), motor=1.0)


def test_energy_is_the_same_however_often_it_is_read() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=2.0, position=(0, 0, 1)))
    ball.velocity = (3.0, 0, 0)
    first, second = scene.energy, scene.energy
    assert first == second
    assert first.kinetic == pytest.approx(9.0, rel=1e-15) and first.gravity == pytest.approx(2 * 9.81, rel=1e-15)


def test_energy_of_a_spring_beside_a_damper() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    ball.velocity = (0, 0, 1)
    scene.add(sn.Fix(ball.at(), compliance=1e-2, damping=50.0))
    scene.step(1e-3)
    z = ball.position[2]
    assert scene.energy.constraints == pytest.approx(0.5 * z * z / 1e-2, rel=1e-9)


def test_infinite_compliance_without_a_damper_holds_nothing() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=1e-4))
    scene.add(sn.Fix(ball.at(), compliance=np.inf))
    scene.run(1.0, dt=1e-3)
    assert ball.position[2] == pytest.approx(-4.905, rel=2e-3)


def test_a_hole_at_the_very_end_does_not_let_go_by_rounding() -> None:
    for length in (0.7, 0.3, 1 / 3, 0.123):
        scene = sn.Scene(gravity=(0, 0, 0))
        rod = scene.add(
            sn.Rod.straight((0, 0, 0), (length, 0, 0), section=SECTION, material=MATERIAL, control_points=8)
        )
        hole = scene.add(sn.Keyhole(rod, at=0.0, hole=sn.World.at((0, 0, 0)), sliding_drag=1.0))
        scene.run(0.05)
        assert not hole.released


def test_a_rod_set_in_rigid_motion() -> None:
    """v = u + w x (x - mean of the control points); a straight rod's momentum is m u."""
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = scene.add(rope())
    rod.set_velocity((1, 2, 3), (0, 0, 5))
    place, speed = rod.at(0.9).position, rod.at(0.9).velocity
    assert speed == pytest.approx(np.array((1, 2, 3)) + np.cross((0, 0, 5), place - (0.5, 0, 0)), abs=1e-9)
    assert scene.linear_momentum == pytest.approx(rod.mass * np.array((1, 2, 3)), rel=1e-9)


def test_what_a_motor_gives() -> None:
    """Held level by a motor at rest, a lever of mass m and arm r takes m g r; a weak one gives all that it has."""
    for most, wanted in ((np.inf, 2.0 * 9.81 * 0.3), (1.0, 1.0)):
        scene = sn.Scene()
        ball = scene.add(sn.RigidBody.sphere(0.05, mass=2.0, position=(0.3, 0, 0)))
        motor = sn.Motor(0.0, max_torque=most)
        hinge = scene.add(sn.Hinge(ball.at((-0.3, 0, 0)), sn.World.at((0, 0, 0)), (0, -1, 0), motor=motor))
        scene.step(1e-3)
        assert hinge.motor_effort == pytest.approx(wanted, rel=1e-6)
