"""Rods touch zones: ropes lie on pads and dent them, by balance, conservation and what the pad by itself says."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from references import meshes
from references.rotation import exp

import sennit as sn
from sennit.elastostatics.patch import locate

E, NU, G = 5e4, 0.45, 9.81
TOP, RADIUS = 0.02, 2e-3
LIMP = sn.Material(youngs_modulus=1e4, poisson_ratio=0.4, density=4000, relaxation_time=0.05)
STIFF = sn.Material(youngs_modulus=2e9, poisson_ratio=0.3, density=4000, relaxation_time=1e-4)


@cache
def block(cells: int = 7) -> sn.Zone:
    vertices, faces = meshes.block((0.04, 0.04, TOP), (cells, cells, 3))
    return sn.Zone.from_mesh(vertices, faces, material=sn.Material(E, NU, 1000.0), fixed=vertices[:, 2] < 1e-9)


def pad(scene: sn.Scene, on: Any = None, relaxation_time: float = 0.0, cells: int = 7) -> sn.Zone:
    """A block of gel, 4 cm square and 2 cm high, from the origin of its frame on, held at its lower side."""
    material = sn.Material(E, NU, 1000.0, relaxation_time=relaxation_time)
    return scene.add(block(cells).with_material(material, "pad"), on=on)


def rope(scene: sn.Scene, start: Any, end: Any, material: sn.Material = LIMP, control_points: int = 16) -> sn.Rod:
    section = sn.Section.circle(RADIUS)
    made = sn.Rod.straight(start, end, section=section, material=material, control_points=control_points, name="rope")
    return scene.add(made)


@cache
def laid() -> tuple[Any, ...]:
    """A limp rope that was laid on a pad, aslant."""
    scene = sn.Scene(drag=5.0)
    zone = pad(scene)
    cord = rope(scene, (0.005, 0.015, TOP + RADIUS + 1e-4), (0.034, 0.024, TOP + RADIUS + 1e-4))
    pair = scene.collide(cord, zone, friction=0.5)
    scene.run(2.0, dt=1 / 240)
    return scene, zone, cord, pair


def test_what_lies_on_a_pad_is_its_weight() -> None:
    """Forces and moments balance, and steps leave what rests where it is."""
    scene, zone, cord, pair = laid()
    weight = cord.mass * G
    assert pair.force == pytest.approx((0, 0, weight), abs=1e-5 * weight)
    assert zone.place_forces.sum(axis=0) == pytest.approx((0, 0, -weight), abs=1e-5 * weight)
    about = sum(np.cross(contact.position, contact.force) for contact in scene.contacts)
    middle = cord.centerline(401)
    middle = 0.5 * (middle[:-1] + middle[1:]).mean(axis=0)
    assert about == pytest.approx(np.cross(middle, (0, 0, weight)), abs=1e-3 * weight * 0.03)
    place = cord.control_points
    scene.run(0.1, dt=1 / 240)
    assert cord.control_points == pytest.approx(place, abs=1e-6)


def test_a_limp_rope_presses_by_its_weight_all_along(validated: Any) -> None:
    """Pressure per length is weight per length where ends are far: bending carries it over 2 mm only."""
    scene, _, cord, _ = laid()
    line = cord.centerline(101)
    share = np.array([np.argmin(np.linalg.norm(line - c.position, axis=1)) / 100 for c in scene.contacts])
    force = np.array([c.force[2] for c in scene.contacts])
    order = np.argsort(share)
    borne = np.cumsum(force[order]) - 0.5 * force[order]
    inside = (share[order] > 0.2) & (share[order] < 0.8)
    pressure = np.polyfit(share[order][inside], borne[inside], 1)[0]
    validated(
        "Limp rope on a pad", area="contact", quantity="force per length", reference="its weight per length",
        error=abs(pressure / (cord.mass * G) - 1), bound=0.03,
    )  # fmt: skip


def test_a_rope_dents_a_pad_as_a_line_of_weight(validated: Any) -> None:
    """The pad by itself, under weight spread evenly along the line and shared by hats, is dented as deep."""
    _, zone, cord, _ = laid()
    line, loads = cord.centerline(401), {}
    for place in 0.5 * (line[:-1] + line[1:]):
        face, shares, _, _ = locate(zone.surface, (place[0], place[1], TOP))
        for vertex, share in zip(zone.surface.faces[face].tolist(), shares, strict=True):
            loads[vertex] = loads.get(vertex, 0.0) + share * cord.mass * G / 400
    alone = zone.solve(loads={vertex: (0, 0, -load) for vertex, load in loads.items()})
    shares = {vertex: load / (cord.mass * G) for vertex, load in loads.items()}
    dent, expected = (
        sum(share * state.displacements[vertex, 2] for vertex, share in shares.items()) for state in (zone, alone)
    )
    validated(
        "Limp rope on a pad", area="contact", quantity="mean dent below it", reference="a line of weight on the pad",
        error=abs(dent / expected - 1), bound=0.03,
    )  # fmt: skip


def test_a_bar_presses_as_press_has_it(validated: Any) -> None:
    """A stiff bar that is led into a pad along a line of its vertices, and a cylinder that `Zone.press` presses."""
    scene = sn.Scene(gravity=(0, 0, 0))
    zone, thick, edge = pad(scene, cells=6), 5e-3, 0.04 / 6
    height = TOP + thick - 1e-3
    bar = scene.add(sn.Rod.straight(
        (edge, 0.02, height), (5 * edge, 0.02, height), section=sn.Section.circle(thick), material=STIFF,
        control_points=19,
    ))  # fmt: skip
    for s in (0.0, bar.length):
        scene.add(sn.Clamp(bar.at(s)))
    pair = scene.collide(bar, zone, friction=0.0)
    scene.settle()
    turn = np.array(((0, 0, 1), (0, 1, 0), (-1, 0, 0)), float)
    middle = sn.Pose.from_rotation((0.02, 0.02, height), turn)
    alone = zone.press(sn.Cylinder(thick, 5 * edge, middle))
    validated(
        "Bar pressed into a pad", area="contact", quantity="force", reference="`Zone.press` with a cylinder",
        error=abs(pair.force[2] / -alone.force[2] - 1), bound=0.02,
    )  # fmt: skip


@pytest.mark.parametrize(("share", "slides"), [(0.95, False), (1.05, True)])
def test_friction_holds_a_bar_to_its_bound(share: float, slides: bool) -> None:
    """Pulled along itself; N is its weight. A pad gives way a little before it lets go."""
    scene, friction = sn.Scene(), 0.4
    pad(scene, relaxation_time=0.02)
    bar = rope(scene, (0.005, 0.02, TOP + RADIUS), (0.03, 0.02, TOP + RADIUS), STIFF, 8)
    pull = scene.add(sn.Load(bar.at(0.5 * bar.length)))
    scene.collide(bar, friction=friction)
    scene.run(0.2, dt=1 / 240)
    weight, start = bar.mass * G, bar.control_points[0, 0]
    for i in range(60):
        pull.force = (min(i / 30, 1.0) * share * friction * weight, 0, 0)
        scene.step(1 / 240)
    first = bar.control_points[0, 0]
    scene.run(0.25, dt=1 / 240)
    way = bar.control_points[0, 0] - first
    if slides:
        assert way > 0.5 * 0.5 * (share - 1) * friction * G * 0.25**2
    else:
        assert abs(way) < 1e-6
        assert first - start < 1e-3


def clash(h: float, turned: bool = False) -> tuple[Any, ...]:
    """A rope is thrown at a viscous pad on a free bone, in free space; and all of that turned."""
    scene = sn.Scene(gravity=(0, 0, 0))
    Q, shift = (exp(np.array((0.4, -0.9, 0.6))), np.array((0.3, -0.1, 0.2))) if turned else (np.eye(3), np.zeros(3))
    bone = sn.RigidBody.box((0.05, 0.05, 0.02), mass=0.05, position=(0, 0, 0))
    bone.pose = sn.Pose.from_rotation(shift + Q @ (0.02, 0.02, -0.02), Q)
    scene.add(bone)
    zone = pad(scene, on=bone.at((-0.02, -0.02, 0.02)), relaxation_time=0.01)
    ends = np.array(((0.002, 0.016, TOP + 0.003), (0.036, 0.026, TOP + 0.0035)))
    cord = rope(scene, *(shift + ends @ Q.T), sn.Material(1e6, 0.4, 4000, relaxation_time=1e-3), 10)
    cord.set_velocity(Q @ (0.05, 0.02, -0.3))
    pair = scene.collide(cord, zone, friction=0.4)
    linear, angular, energies, largest = scene.linear_momentum, scene.angular_momentum, [scene.energy.total], 0.0
    for _ in range(round(0.1 / h)):
        scene.step(h)
        energies.append(scene.energy.total)
        largest = max(largest, float(np.linalg.norm(pair.force)))
    assert largest > 0.05
    lost = np.linalg.norm(scene.angular_momentum - angular) / (cord.mass * 0.3 * 0.04)
    return Q.T @ (cord.control_points[0] - shift), scene.linear_momentum - linear, lost, np.array(energies)


def test_a_clash_keeps_momentum_and_gives_no_energy(validated: Any) -> None:
    """Forces are equal and opposite and act at one place: linear momentum is exact, angular of the scheme's order."""
    lost = []
    for h in (1 / 240, 1 / 480, 1 / 960):
        _, linear, angular, energies = clash(h)
        assert np.abs(linear).max() < 1e-13
        assert np.diff(energies).max() < 1e-9 * energies[0]
        assert energies[-1] < 0.9 * energies[0]
        lost.append(angular)
    order = math.log2(lost[0] / lost[2]) / 2
    assert order > 0.8
    validated(
        "Rope that hits a pad on a free body", area="contact", quantity="angular momentum", reference="conservation",
        error=lost[2], bound=0.01, order=order,
    )  # fmt: skip


def test_a_clash_that_is_turned_is_the_same() -> None:
    place, turned = clash(1 / 240)[0], clash(1 / 240, turned=True)[0]
    assert turned == pytest.approx(place, abs=2e-4 * np.linalg.norm(place))


def thrown() -> tuple[sn.Scene, sn.Rod, sn.Zone]:
    scene = sn.Scene()
    zone = pad(scene, relaxation_time=0.01)
    cord = rope(scene, (0.004, 0.015, TOP + 0.006), (0.03, 0.022, TOP + 0.004))
    cord.set_velocity((0.2, 0, -0.3))
    scene.collide(cord, zone, friction=0.4)
    scene.run(0.05, dt=1 / 240)
    return scene, cord, zone


def test_a_file_goes_on_bitwise_and_snapshots_come_back(tmp_path: Any) -> None:
    scene, cord, zone = thrown()
    assert [event.subjects for event in scene.events if event.kind == "touch"] == [(cord, zone)]
    scene.save(tmp_path / "scene.npz")
    loaded, kept = sn.Scene.load(tmp_path / "scene.npz"), scene.snapshot()
    for one in (scene, loaded):
        one.run(0.05, dt=1 / 240)
    ends = [body for one in (scene, loaded) for body in one.bodies if isinstance(body, sn.Rod)]
    assert (ends[0].control_points == ends[1].control_points).all()
    place = cord.control_points
    scene.restore(kept)
    scene.run(0.05, dt=1 / 240)
    assert (cord.control_points == place).all()


def test_a_thread_that_is_sewn_through_a_pad_runs_inside_of_it() -> None:
    """What a constraint ties to a zone does not touch it, unless the pair is named."""
    scene = sn.Scene(gravity=(0, 0, 0))
    zone = pad(scene)
    thread = rope(scene, (0.02, 0.02, 0.01), (0.02, 0.02, 0.05), control_points=8)
    scene.add(sn.Keyhole(thread, 0.01, zone.at((0.02, 0.02, TOP), radius=0.01)))
    scene.collide()
    scene.step(1 / 240)
    assert not list(scene.contacts)
    assert not [event for event in scene.events if event.kind == "overlap"]
    free = rope(scene, (0.005, 0.01, TOP + RADIUS), (0.03, 0.01, TOP + RADIUS), control_points=8)
    free.set_velocity((0, 0, -0.01))
    scene.step(1 / 240)
    assert scene.contacts.between(free, zone).touching
