"""Properties that any scene has: random trees of bodies, random cones of planes, random rigid motions."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from references.rotation import exp
from scipy.optimize import nnls
from unit.scene import kit
from unit.scene.kit import CONSTRAINTS, Motion

import sennit as sn

SETTINGS = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)
DT = 5e-3


def vectors(size: float):
    return st.tuples(*[st.floats(-size, size, allow_nan=False, width=32)] * 3).map(np.array)


JOINTS = [name for name, rows in CONSTRAINTS.items() if rows.two and name != "distance, at most"]
STRAIGHT = ("spline", "discrete", "rigid")
LINKS = st.lists(
    st.tuples(st.sampled_from(STRAIGHT), st.sampled_from(JOINTS), st.integers(0, 5)), min_size=1, max_size=4
)


def tree(links, motion: Motion = kit.STILL, gravity=(0, 0, 0)):
    """Bodies at random places, each tied to one that came before."""
    scene = sn.Scene(gravity=motion.vector(np.array(gravity, dtype=float)))
    points = [kit.rigid(scene, kit.A, motion)]
    for k, (kind, name, parent) in enumerate(links):
        q = points[parent % len(points)]
        p = kit.KINDS[kind](scene, kit.A + 0.15 * np.array((k + 1, (k * k) % 3, -k)), motion)
        # what closes a gap at once would throw things about: distances and slides are made where things are
        if name in ("ball", "fuse, free to turn", "fuse", "lock", "hinge"):
            name = "distance"
        scene.add(CONSTRAINTS[name].make(p, q, motion))
        points.append(p)
    return scene


@SETTINGS
@given(LINKS, vectors(2.0), vectors(3.0))
def test_any_tree_keeps_its_momentum(links, velocity, spin) -> None:
    scene = tree(links)
    scene.bodies[0].velocity, scene.bodies[0].angular_velocity = velocity, spin
    before, _ = kit.total_momentum(*scene.bodies)
    for _ in range(4):
        scene.step(DT)
    after, _ = kit.total_momentum(*scene.bodies)
    assert np.abs(after - before).max() < 1e-10 * (1 + np.abs(before).max())


@SETTINGS
@given(LINKS, vectors(3.0), vectors(2.0), vectors(2.0))
def test_any_tree_falls_the_same_everywhere(links, turn, shift, velocity) -> None:
    motion = Motion(exp(turn), shift)
    ends = []
    for place in (kit.STILL, motion):
        scene = tree(links, place, gravity=(0, 0, -9.81))
        scene.add(sn.Fix(scene.bodies[0].at((0, 0, 0))))
        scene.bodies[0].angular_velocity = place.vector(velocity)
        for _ in range(5):
            scene.step(DT)
        ends.append([body.at((0.1, 0, 0) if isinstance(body, sn.RigidBody) else 0.3).position for body in scene.bodies])
    for here, there in zip(*ends, strict=True):
        assert np.abs(motion.point(here) - there).max() < 1e-7


@SETTINGS
@given(st.lists(vectors(1.0).filter(lambda n: np.linalg.norm(n) > 0.2), min_size=1, max_size=7), vectors(10.0))
def test_a_ball_in_a_cone_of_planes(normals, force) -> None:
    """From rest in the cone's corner one step is the projection of the force: min |F + N^T l|, l >= 0, another way."""
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(radius=0.1, mass=2.0, position=(0, 0, 0)))
    planes = [scene.add(sn.OnPlane(ball.at((0, 0, 0)), n, bound="at_least")) for n in normals]
    scene.add(sn.Load(ball.at((0, 0, 0)), force=force))
    scene.step(0.01)
    units = np.array([n / np.linalg.norm(n) for n in normals])
    pushes, _ = nnls(units.T, -force)
    total = force + units.T @ pushes
    assert np.abs(ball.velocity - 0.01 * total / 2.0).max() < 1e-7
    got = np.array([plane.force @ n for plane, n in zip(planes, units, strict=True)])
    assert got.min() > -1e-9
    assert np.abs(sum(plane.force for plane in planes) - (total - force)).max() < 1e-5
    assert (units @ ball.pose.position).min() > -1e-9


@SETTINGS
@given(LINKS, st.integers(0, 5), vectors(2.0))
def test_a_snapshot_at_any_step_continues_the_same(links, when, spin) -> None:
    scene = tree(links, gravity=(0, 0, -9.81))
    scene.bodies[0].angular_velocity = spin
    for _ in range(when):
        scene.step(DT)
    there = scene.snapshot()
    scene.run(3 * DT, dt=DT)
    end = kit.bits(scene)
    scene.restore(there)
    scene.run(3 * DT, dt=DT)
    assert kit.bits(scene) == end


@SETTINGS
@given(vectors(0.5), vectors(0.25), st.floats(0.0625, 0.5, width=32))
def test_a_leash_never_pushes(velocity, place, length) -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(radius=0.1, mass=2.0, position=place))
    ball.velocity = velocity
    # begins slack or just taut
    length = max(float(length), float(np.linalg.norm(place)))
    leash = scene.add(sn.Distance(ball.at((0, 0, 0)), sn.World.at((0, 0, 0)), length=length + 1e-3, bound="at_most"))
    for _ in range(40):
        scene.step(0.01)
        assert leash.force @ ball.pose.position <= 1e-12
        # one step's curvature, (h v)^2 / 2 l with v^2 <= 2 g (2 l) + v0^2
        assert np.linalg.norm(ball.pose.position) < length + 1e-3 + 1e-4 * (40 * length + 1.0) / (2 * length)
