"""Cables that come to lie on bodies and leave them: shortest paths of their closed forms, pendulum on a peg, edges."""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.rotation import exp
from verification.cables.rig import G, ball, energy, path_of, rope

import sennit as sn

H = 1 / 120
ACROSS = exp(np.array([np.pi / 2, 0, 0]))  # turns a cylinder's axis into y


def locked(scene, body, position=(0, 0, 0), rotation=None):
    body.pose = sn.Pose.from_rotation(np.array(position, dtype=float), np.eye(3) if rotation is None else rotation)
    scene.add(body)
    scene.add(sn.Clamp(body.at()))
    return body


def swept(body, rotation, first, last, length: float, heights, stiffness=100.0):
    """A cable from a held ball at `last` to a world point over `first` that is moved through `heights`."""
    scene = sn.Scene(gravity=(0, 0, 0))
    locked(scene, body, rotation=rotation)
    end = ball(scene, 1.0, last, radius=0.01)
    scene.add(sn.Fix(end.at()))
    hand = sn.World.at((first[0], first[1], heights[0]))
    cable = scene.add(rope([end.at(), hand], stiffness, length=length, around=[body]))
    for z in heights:
        hand.position = (first[0], first[1], z)
        scene.step(H)
        yield z, cable


def test_box_edges(validated):
    # lowered past one edge of the top, then past the other, and back
    p, q = (-3.0, -0.4), (3.0, 0.4, 0.5)
    down = np.linspace(2.5, 0.6, 120)
    seen = set()
    for z, cable in swept(
        sn.RigidBody.box(size=(2, 2, 2), mass=1.0), None, p, q, 5.8, np.concatenate([down, down[::-1]])
    ):
        d = np.hypot(2, 0.5)
        if z > 2.05:  # the straight line clears the edge at (1, 1)
            seen.add("free")
            expected = float(np.linalg.norm(np.array((*p, z)) - q))
        elif 1.02 < z < 1.95:
            seen.add("one")
            expected = hoists.edges_path(np.hypot(4, z - 1), d, 0.8)
        elif z < 0.98:
            seen.add("two")
            expected = hoists.edges_path(np.hypot(2, 1 - z), d, 0.8, between=2.0)
        else:
            continue
        validated(
            "Cable drawn over a box's edges",
            area="cables",
            quantity="length",
            reference="unfolded faces",
            error=abs(cable.path_length / expected - 1),
            bound=1e-9,
        )
        assert cable.elongation == pytest.approx(expected - 5.8, rel=1e-7)
        # the polyline that is drawn is as long
        assert path_of(cable) == pytest.approx(expected, rel=1e-6)
    assert seen == {"free", "one", "two"}


@pytest.mark.parametrize("aside", [0.0, 0.8])
def test_cylinder(aside, validated):
    # along y, radius 1; the end is held behind it
    q = (2.5, 0.4 + aside, 0.2)
    down = np.linspace(2.6, 0.3, 120)
    start = float(np.linalg.norm(np.array((-2.0, 0.4, 2.6)) - q))  # clear of it
    wrapped = 0
    for z, cable in swept(
        sn.RigidBody.cylinder(1.0, 8.0, mass=1.0),
        ACROSS,
        (-2.0, 0.4),
        q,
        0.905 * start,
        np.concatenate([down, down[::-1]]),
    ):
        expected = hoists.cylinder_path((-2.0, 0.4, z), q, (0, 0, 0), (0, 1, 0), 1.0)
        straight = float(np.linalg.norm(np.array((-2.0, 0.4, z)) - q))
        wrapped += expected > straight + 1e-3
        validated(
            "Cable drawn over a cylinder",
            area="cables",
            quantity="length",
            reference="helix and tangents",
            error=abs(cable.path_length / expected - 1),
            bound=1e-7,
        )
    assert 40 < wrapped < 220


def test_ball(validated):
    q = (2.0, 0.3, 0.2)
    down = np.linspace(2.4, 0.4, 120)
    start = float(np.linalg.norm(np.array((-2.0, 0.1, 2.4)) - q))
    wrapped = 0
    for z, cable in swept(
        sn.RigidBody.sphere(1.0, mass=1.0), None, (-2.0, 0.1), q, 0.905 * start, np.concatenate([down, down[::-1]])
    ):
        expected = hoists.sphere_path((-2.0, 0.1, z), q, (0, 0, 0), 1.0)
        straight = float(np.linalg.norm(np.array((-2.0, 0.1, z)) - q))
        wrapped += expected > straight + 1e-3
        validated(
            "Cable drawn over a ball",
            area="cables",
            quantity="length",
            reference="great circle and tangents",
            error=abs(cable.path_length / expected - 1),
            bound=1e-7,
        )
    assert 40 < wrapped < 220


PEG = hoists.Peg(2.0, 0.15, -1.0, 0.1)


def on_a_peg(h: float, seconds: float):
    scene = sn.Scene()
    peg = locked(scene, sn.RigidBody.cylinder(PEG.radius, 1.0, mass=1.0), (PEG.x, 0, PEG.z), ACROSS)
    start = PEG.place(-0.8)
    bob = ball(scene, 1.0, (start[0], 0, start[1]), radius=0.02)
    cable = scene.add(rope([sn.World.at((0, 0, 0)), bob.at()], 1e5, length=2.0, around=[peg]))
    places, energies, lengths, falls = [], [], [], []
    for _ in range(round(seconds / h)):
        scene.step(h)
        places.append(bob.position)
        energies.append(energy(scene, h))
        lengths.append(cable.path_length)
        falls.append(np.linalg.norm(bob.position))
    return np.array(places), np.array(energies), np.array(lengths), np.array(falls)


def test_pendulum_on_a_peg(validated):
    h = 1 / 240
    places, energies, lengths, reach = on_a_peg(h, 8.0)
    exact = PEG.swing(-0.8, h * np.arange(1, len(places) + 1))
    # 7 mm were seen: half a step at 1.5 m/s, and the peg
    validated(
        "Pendulum whose string winds about a peg, 8 s",
        area="cables",
        quantity="position (m)",
        reference="equation of motion by scipy",
        error=np.abs(places[:, [0, 2]] - exact).max(),
        bound=0.02,
    )
    assert np.abs(places[:, 1]).max() < 1e-9
    # both sides reach the height from which it was let go
    highest = -2 * np.cos(0.8)
    assert places[places[:, 0] > 0.3, 2].max() == pytest.approx(highest, abs=5e-3)
    assert places[-round(2.4 / h) :][:, 2].max() == pytest.approx(highest, abs=5e-3)
    # swing energy: 6 J
    swing = energies - places[0, 2] * G - PEG.z * G  # the peg weighs 1 kg too
    assert swing.max() < 0.02
    assert swing[-1] > -0.1
    # the string keeps its length round the peg, where its end is nearer to the anchor
    assert np.abs(lengths - 2.0).max() < 1e-3
    assert reach.min() < 1.9
    assert (np.abs(reach - lengths) < 1e-9).sum() > 0.3 * len(reach)


def test_weight_over_an_edge_and_away(validated):
    # gravity leans by 45 degrees: the load comes to hang off the edge, along gravity, away from both faces
    scene = sn.Scene(gravity=(G / np.sqrt(2), 0, -G / np.sqrt(2)), drag=2.0)
    block = locked(scene, sn.RigidBody.box(size=(2, 2, 2), mass=100.0))
    load = ball(scene, 50.0, (2.5, 0, 1.3))
    anchor = np.array([-3.0, 0, 1.5])
    cable = scene.add(rope([sn.World.at(anchor), load.at()], 1e5, around=[block]))
    total = cable.length
    assert total == pytest.approx(np.hypot(5.5, 0.2), rel=1e-12)
    scene.run(12.0, dt=H)
    edge = np.array([1.0, 0, 1.0])
    stretch = 50 * G / 1e5
    rest = total + stretch - np.linalg.norm(edge - anchor)
    validated(
        "Load that hangs over an edge",
        area="cables",
        quantity="position (m)",
        reference="statics",
        error=np.abs(load.position - edge - rest * np.array([1, 0, -1]) / np.sqrt(2)).max(),
        bound=1e-4,
    )
    assert cable.tension == pytest.approx(50 * G, rel=1e-4)
    assert cable.path_length == pytest.approx(total + stretch, abs=1e-5)
    # gravity turns up: the load hangs upwards from the anchor, and the block is left
    scene.gravity = (0, 0, G)
    scene.run(12.0, dt=H)
    assert load.position == pytest.approx(anchor + np.array([0, 0, total + stretch]), abs=1e-3)
    assert cable.path_length == pytest.approx(np.linalg.norm(load.position - anchor), rel=1e-9)


def test_edge_carries_the_pull():
    # over a free block's edge: what two parts pull is what the block feels; it rises off nothing else
    scene = sn.Scene(gravity=(0, 0, 0))
    block = scene.add(sn.RigidBody.box(size=(2, 2, 2), mass=100.0))
    left = sn.World.at((-3, 0, 1.5))
    held = ball(scene, 1.0, (3, 0, 1.5), radius=0.01)
    grip = scene.add(sn.Fix(held.at()))
    cable = scene.add(rope([left, held.at()], 1e3, length=5.9, around=[block]))
    for z in np.linspace(1.5, 0.0, 60):
        grip.target = (3, 0, z)
        left.position = (-3, 0, z)
        scene.step(H)
    assert cable.tension > 50.0
    v = np.array(block.velocity)
    scene.step(1e-4)
    # two edges, each bent from 2 across and z up to level: 2 T sin(angle) down
    z = block.position[2] + 1.0
    angle = np.arctan2(z, 2.0)
    pull = (block.velocity - v) / 1e-4 * 100.0
    assert pull[2] == pytest.approx(-2 * cable.tension * np.sin(angle), rel=0.01)
    assert abs(pull[0]) < 1e-3 * cable.tension
