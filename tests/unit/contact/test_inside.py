"""Rods inside tubes: what is refused, who touches whom, and that snapshots, files and pictures hold them."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.portrait.bounds import bounds
from sennit.portrait.of_scene import portrait_of

RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1100, relaxation_time=2e-3)
AXIS = np.array(((-0.1, 0, 0), (0.3, 0, 0)))


def rod(y: float = 0.0, radius: float = 2e-3, **options) -> sn.Rod:
    return sn.Rod.straight(
        (0, y, 0), (0.1, y, 0), section=sn.Section.circle(radius), material=RUBBER, control_points=6, **options
    )


def lying() -> tuple[sn.Scene, sn.Rod, sn.Inside]:
    """A rod that falls onto the bottom of a tube that is led sideways, and slides there."""
    scene = sn.Scene()
    wire = scene.add(rod(name="wire"))
    tube = scene.add(sn.Inside(wire, AXIS, radius=np.array((3e-3, 4e-3)), friction=0.2, name="vessel"))
    tube.path = sn.Route([0.0, 1.0], [(0, 0, 0), (0.1, 0.02, 0)])
    return scene, wire, tube


def sleeved() -> tuple[sn.Scene, sn.Rod, sn.Rod, sn.Inside]:
    scene = sn.Scene(gravity=(0, 0, 0))
    wire = scene.add(rod(name="wire"))
    outer = scene.add(sn.Rod.straight(
        (0.02, 0, 0), (0.15, 0, 0), section=sn.Section.tube(5e-3, 3e-3), material=RUBBER, control_points=7,
        name="sleeve",
    ))  # fmt: skip
    tube = scene.add(sn.Inside(wire, outer, friction=0.1))
    wire.set_velocity((0.1, 0, 0.3))
    return scene, wire, outer, tube


def test_what_it_tells() -> None:
    wire = rod(name="wire")
    tube = sn.Inside(wire, sn.Cylinder(3e-3, 1.0))
    assert tube.rod is wire and tube.tube is None and tube.radius == 3e-3
    assert tube.name.startswith("tube ") and repr(sn.Inside(wire, AXIS, 3e-3, name="vein")) == "<Inside 'vein'>"
    assert sn.Inside(wire, [AXIS, AXIS + 1.0], [3e-3, (4e-3, 5e-3)]).radius == 3e-3
    assert sn.Inside(wire, [sn.Cylinder(3e-3, 1.0), AXIS], 5e-3).radius == 3e-3
    sleeve = sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.tube(6e-3, 5e-3), material=RUBBER)
    assert sn.Inside(wire, sleeve).radius == 5e-3 and sn.Inside(wire, sleeve, 4e-3).tube is sleeve
    assert sn.Inside(wire, [(0, 0, 0), (1, 0, 0)], 3e-3).radius == 3e-3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((sn.Cylinder(1e-3, 1.0),), "larger than that of wire, 0.002 m, got 0.001"),
        ((AXIS, 2e-3), "larger than that of wire"),
        ((AXIS,), "radius is missing"),
        ((AXIS, -1.0), "above 0"),
        ((AXIS, (1.0, 2.0, 3.0)), "radius must be an array"),
        ((AXIS, (0.01, 2.0)), "change by less"),
        ((AXIS[:1], 1.0), "two or more places"),
        (((AXIS[0], AXIS[0]), 1.0), "none twice"),
        (([AXIS, AXIS], (1.0, 1.0, 1.0)), "one for each of the 2 tubes"),
        ((sn.Cylinder(3e-3, 1.0), 3e-3), "that of the Cylinder"),
        ((sn.Sphere((0, 0, 0), 1.0),), "tube must be a Cylinder"),
        (([],), "tube must be a Cylinder"),
        ((None,), "tube must be a Cylinder"),
    ],
)
def test_tubes_that_are_none(arguments, words) -> None:
    with pytest.raises(sn.InputError, match=words):
        sn.Inside(rod(name="wire"), *arguments)


def test_rods_that_do_not_fit() -> None:
    wire = rod(name="wire")
    with pytest.raises(sn.InputError, match="wire can't be inside itself"):
        sn.Inside(wire, wire, 3e-3)
    with pytest.raises(sn.InputError, match="no tube, which would tell it"):
        sn.Inside(wire, rod(1.0))
    with pytest.raises(sn.InputError, match="rod must be a Rod"):
        sn.Inside(sn.RigidBody.sphere(0.1, mass=1.0), AXIS, 3e-3)
    with pytest.raises(sn.InputError, match="friction must be"):
        sn.Inside(wire, AXIS, 3e-3, friction=-0.1)


def test_things_that_are_not_in_the_scene() -> None:
    scene, wire, other = sn.Scene(), rod(), rod(1.0)
    tube = sn.Inside(wire, AXIS, 3e-3)
    with pytest.raises(sn.InputError, match="not in this scene"):
        scene.add(tube)
    scene.add(wire)
    with pytest.raises(sn.InputError, match="not in this scene"):
        scene.add(sn.Inside(wire, other, 3e-3))
    assert scene.obstacles == () and not scene._rules.rules
    scene.add(tube)
    with pytest.raises(sn.InputError, match="is still used by tube"):
        scene.remove(wire)
    scene.remove(tube)
    assert not scene._rules.rules and tube.scene is None
    scene.remove(wire)


def test_a_rod_that_begins_outside() -> None:
    for place, tube in ((0.0032, AXIS), (0.01, AXIS), (1.0, AXIS)):
        scene = sn.Scene()
        wire = scene.add(rod(place, name="wire"))
        scene.add(sn.Inside(wire, tube, 4e-3, name="vessel"))
        with pytest.raises(sn.InputError, match="wire begins .* outside of the bore of vessel, at s = 0"):
            scene.step(1 / 240)
        assert scene.time == 0.0
        wire.set_shape(np.column_stack((np.linspace(0, 0.1, 20), np.zeros(20), np.zeros(20))))
        scene.step(1 / 240)
    scene = sn.Scene()  # in front of an open end it is free
    wire = scene.add(rod(0.02))
    scene.add(sn.Inside(wire, AXIS + np.array((0.5, 0, 0)), 4e-3))
    scene.step(1 / 240)


def test_nothing_else_is_switched_on() -> None:
    """Others pass through the wall and each other; and what holds for everything does not hold for tubes."""
    scene, wire, tube = lying()
    other = scene.add(rod(0.003, name="other"))
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.01, position=(0.25, 0, 0.012)))
    scene.run(0.05, dt=1 / 240)
    pairs = {(contact.first, contact.second) for contact in scene.contacts}
    assert pairs == {(wire, tube)}
    assert ball.position[2] == pytest.approx(0.012 - 0.5 * 9.81 * 0.05**2, abs=2e-3)
    scene.ignore(wire, other)
    scene.collide()
    scene.run(0.02, dt=1 / 240)
    assert not any(contact.second is tube and contact.first is not wire for contact in scene.contacts)


def test_numbers_can_be_changed() -> None:
    scene, wire, tube = lying()
    scene.run(0.05, dt=1 / 240)
    pair = scene.contacts.between(wire, tube)
    assert pair.friction == 0.2 and pair.touching and pair.force[2] > 0.0
    pair.friction = 0.05
    assert scene.contacts.between(wire, tube).friction == 0.05
    assert scene.collide(wire, tube, friction=0.4).count == pair.count
    scene.run(0.02, dt=1 / 240)
    scene.remove(tube)
    scene.run(0.02, dt=1 / 240)
    assert len(scene.contacts) == 0


def test_a_sleeve_holds_from_inside_and_not_from_outside() -> None:
    scene, wire, outer, tube = sleeved()
    scene.collide(friction=0.3)
    scene.run(0.04, dt=1 / 500)
    assert {(contact.first, contact.second) for contact in scene.contacts} <= {(wire, outer)}
    assert any(event.kind == "touch" and event.subjects == (wire, outer) for event in scene.events)
    assert scene.contacts.between(wire, tube).count == scene.contacts.between(wire, outer).count
    for name, value in (("pose", sn.Pose()), ("path", None), ("surface_velocity", (1, 0, 0))):
        with pytest.raises(sn.InputError, match="the tube is sleeve"):
            setattr(tube, name, value)


@pytest.mark.parametrize("make", [lying, sleeved])
def test_snapshots_and_files_go_on_bit_for_bit(make, tmp_path) -> None:
    scene, wire, *_ = make()
    h = 1 / 400
    scene.run(30 * h, dt=h)
    assert len(scene.contacts) > 0
    kept = scene.snapshot()
    path = tmp_path / "tube.npz"
    scene.save(path)
    scene.run(20 * h, dt=h)
    end = wire.control_points.copy()
    scene.restore(kept)
    scene.run(20 * h, dt=h)
    np.testing.assert_array_equal(wire.control_points, end)
    again = sn.Scene.load(path)
    tube = again.obstacles[-1]
    assert isinstance(tube, sn.Inside) and tube.rod is again.bodies[0] and tube.radius == scene.obstacles[-1].radius
    assert tube.name == scene.obstacles[-1].name or scene.obstacles[-1]._name is None
    again.run(20 * h, dt=h)
    np.testing.assert_array_equal(again.bodies[0].control_points, end)
    again.save(tmp_path / "again.npz")
    assert len(sn.Scene.load(tmp_path / "again.npz")._rules.rules) == len(scene._rules.rules)


def test_a_snapshot_brings_a_tube_back() -> None:
    scene, wire, tube = lying()
    scene.run(0.05, dt=1 / 240)
    kept = scene.snapshot()
    scene.remove(tube)
    scene.run(0.05, dt=1 / 240)
    scene.restore(kept)
    assert tube.scene is scene and scene.contacts.between(wire, tube).friction == 0.2
    scene.run(0.05, dt=1 / 240)
    assert scene.contacts.between(wire, tube).touching


def test_it_is_seen_through() -> None:
    scene, *_ = lying()
    portrait = portrait_of(scene)
    (part,) = [part for part in portrait.cast.parts if part.name == "vessel"]
    assert part.role == "obstacle" and 0.0 < part.opacity < 1.0
    away = np.hypot(part.vertices[:, 1], part.vertices[:, 2])
    assert away.min() == pytest.approx(3e-3) and away.max() == pytest.approx(4e-3)
    low, high = bounds(portrait.cast, portrait.capture())
    assert low[0] <= -0.1 and high[0] >= 0.3
    scene, *_ = sleeved()
    assert len(portrait_of(scene).cast.parts) == 2
