"""What is read of a batch is what `Scene` tells of each scene: of every kind of body, point and constraint."""

from __future__ import annotations

import numpy as np
import pytest
from references.batches import drawn, tell

import sennit as sn

SAME = {
    "positions": "position", "velocities": "velocity", "angular_velocities": "angular_velocity", "frames": "frame",
    "forces": "force", "torques": "torque",
}  # fmt: skip
"""Readings of a batch, and what a thing of a scene calls them."""


def check(found, wanted) -> None:
    """Equal to rounding, which is that of sums in another order."""
    wanted = np.asarray(wanted)
    assert found.shape[1:] == wanted.shape
    size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    assert np.abs(found - wanted).max(initial=0.0) <= 1e-13 * size


def check_readings(batch, scene, alone) -> None:
    """All that is read by the things of `scene` is what those of `alone` tell."""
    pairs = list(zip(scene.bodies, alone.bodies, strict=True))
    points = []
    for body, own in pairs:
        if isinstance(body, sn.Rod):
            check(batch.positions(body), own.control_points)
            check(batch.velocities(body), own.control_velocities)
            for count in (2, 13):
                check(batch.centerline(body, count), own.centerline(count))
                check(batch.frames(body, count), own.frames(count))
            points += [(body.at(s * body.length), own.at(s * own.length)) for s in (0.0, 0.37)]
        elif isinstance(body, sn.RigidBody):
            check(batch.positions(body), own.position)
            check(batch.velocities(body), own.velocity)
            check(batch.angular_velocities(body), own.angular_velocity)
            check(batch.frames(body), own.at().frame)
            points.append((body.at((0.1, 0.2, 0.3)), own.at((0.1, 0.2, 0.3))))
        else:
            points.append((body.at(), own.at()))
    for tie, own in zip(scene.constraints, alone.constraints, strict=True):
        points += zip(getattr(tie, "points", ()), getattr(own, "points", ()), strict=True)
        if not isinstance(tie, sn.Cable):
            for name in ("forces", "torques"):
                check(getattr(batch, name)(tie), getattr(own, SAME[name]))
    for point, own in points:
        for name in ("positions", "velocities", "angular_velocities", "frames"):
            check(getattr(batch, name)(point), getattr(own, SAME[name]))
    energy = alone.energy
    for name, values in batch.energies().items():
        size = max(abs(energy.kinetic), abs(energy.gravity), abs(energy.total), 1.0)
        assert np.abs(values - getattr(energy, name)).max() <= 1e-12 * size, name


@pytest.mark.parametrize("family", ["crane", "hand", "keyholes", "driven_pearls", "over_a_peg"])
def test_readings_are_those_of_scenes_by_themselves(family) -> None:
    (first, dt), (second, _) = drawn(family, 0), drawn(family, 0)
    batch = sn.Batch(first.scene, 2, threads=1)
    second.scene._compiled()
    check_readings(batch, first.scene, second.scene)
    for _ in range(5):
        if second.drive is not None:
            second.drive(second.scene.time)
            tell(batch, first.scene, second.scene)
        second.scene.step(dt)
        batch.step(dt)
    check_readings(batch, first.scene, second.scene)


def rope(model, closed=False):
    """A rope with a ball at its middle, moving: scene, rope, and the hand that holds it."""
    scene = sn.Scene(integrator="bdf2")
    hemp, section = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02), sn.Section.circle(5e-3)
    if closed:
        angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        ring = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)) / 5
        rod = sn.Rod.through(ring, section=section, material=hemp, control_points=12, closed=True)
    else:
        rod = sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=hemp, control_points=8, model=model)
    scene.add(rod)
    ball = scene.add(sn.RigidBody.sphere(0.03, mass=0.1, position=tuple(rod.at(0.3).position)))
    scene.add(sn.Ball(ball.at(), rod.at(0.3)))
    hand = scene.add(sn.Fix(rod.at(0.0)))
    ball.velocity = (0.3, 0.2, 0.1)
    rod.rolls = np.linspace(0.0, 0.0 if closed else 0.4, len(rod.rolls))
    assert scene.dofs  # its tables are made: it has seen where the hand is at first, as a batch of it has
    return scene, rod, hand


@pytest.mark.parametrize(("model", "closed"), [("spline", False), ("spline", True), ("discrete", False)])
def test_frames_and_curves_of_every_kind_of_rod(model, closed) -> None:
    """Each scene its own: led elsewhere, and put back."""
    scene, rod, hand = rope(model, closed)
    alone = [rope(model, closed) for _ in range(3)]
    batch = sn.Batch(scene, 3, threads=1)
    kept = batch.save()
    shifts = np.array(((0.0, 0.0, 0.0), (0.01, 0.02, 0.0), (0.0, -0.02, 0.03)))
    for _ in range(4):
        goals = batch.read(hand, "target") + shifts
        batch.set(hand, "target", goals)
        batch.step(5e-3)
        for goal, (own, _, own_hand) in zip(goals, alone, strict=True):
            own_hand.target = goal
            own.step(5e-3)
    curves, frames = batch.centerline(rod, 9), batch.frames(rod, 9)
    for i, (_, own, _) in enumerate(alone):
        check(curves[i : i + 1], own.centerline(9))
        check(frames[i : i + 1], own.frames(9))
    assert np.abs(curves[1] - curves[0]).max() > 1e-3
    turned = np.einsum("bkij,bkil->bkjl", frames, frames)
    assert np.allclose(turned, np.eye(3), rtol=0, atol=1e-12)
    batch.restore(kept, [1])
    _, again, _ = rope(model, closed)
    check(batch.frames(rod, 9)[1:2], again.frames(9))
    assert batch.frames(rod).shape == (3, 200, 3, 3)
    assert batch.centerline(rod).shape == (3, 200, 3)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_other_libraries_share_the_memory(library) -> None:
    """By DLPack, of strided views too: what they have of q, v and positions moves when steps are made."""
    module = pytest.importorskip(library)
    scene, rod, hand = rope("spline")
    batch = sn.Batch(scene, 3, threads=1)
    views = batch.q, batch.v, batch.positions(rod), batch.positions(scene.bodies[1])
    shared = [module.from_dlpack(view) for view in views]
    batch.set(hand, "target", (0.02, 0.01, 0.0))
    batch.step(5e-3, 3)
    for view, other in zip(views, shared, strict=True):
        assert tuple(other.shape) == view.shape
        place = other.data_ptr() if library == "torch" else other.ctypes.data
        assert place == view.ctypes.data
        assert np.array_equal(np.asarray(other), view)
    assert float(shared[1][0].max()) > 0.0


def test_jax_has_copies() -> None:
    """Its arrays never change, so it can't share what steps write."""
    pytest.importorskip("jax")
    from jax import numpy

    scene, rod, _ = rope("spline")
    batch = sn.Batch(scene, 3, threads=1)
    copied = numpy.asarray(batch.positions(rod))
    before = np.array(copied)
    batch.step(5e-3, 3)
    assert np.array_equal(np.asarray(copied), before)
    assert not np.array_equal(batch.positions(rod), before)


def test_what_is_no_rod_and_no_count() -> None:
    scene, rod, hand = rope("spline")
    batch = sn.Batch(scene, 2, threads=1)
    for bad in (1, 2.5, "many", -3):
        for read in (batch.frames, batch.centerline):
            with pytest.raises(sn.InputError, match="count must"):
                read(rod, bad)
    with pytest.raises(sn.InputError, match="give a rod"):
        batch.centerline(hand)
    with pytest.raises(sn.InputError, match="not in the scene"):
        batch.centerline(rope("spline")[1])
