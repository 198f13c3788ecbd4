"""Rods that are cut: nothing changes but what is cut, and everything stays where it was."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.scene.scene import Scene

HEMP = sn.Material(1e7, 0.4, 1000.0, relaxation_time=0.01)
THICK = sn.Section.circle(0.01)
G = 9.81

Validated = Callable[..., None]


def lines_of(body: Any) -> Any:
    """The centreline of a rod."""
    return body.centerline(30)


def wound(model: str = "spline", closed: bool = False, points: int = 24) -> sn.Rod:
    """A bent and twisted rod."""
    t = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=not closed)
    places = np.column_stack((np.cos(t) + (0.0 if closed else 0.1) * t, np.sin(t), 0.1 * np.sin(2.0 * t)))
    return sn.Rod.through(
        places, section=THICK, material=HEMP, control_points=points, closed=closed, model=model, rest_twist=0.3,
        name="rope",
    )  # type: ignore[arg-type]  # fmt: skip


def moving(model: str = "spline", closed: bool = False, points: int = 24) -> tuple[Scene, sn.Rod]:
    """It alone, in motion, under no weight."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator="bdf2")
    rod = scene.add(wound(model, closed, points))
    rod.control_velocities = 0.3 * np.random.default_rng(1).normal(size=rod.control_points.shape)
    scene.run(0.05, dt=1e-3)
    return scene, rod


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_pieces_are_the_same_curve_in_the_same_motion(model: str) -> None:
    """Velocities are the whole's, and so are places and frames but within three spans of a spline's cut."""
    scene, rod = moving(model)
    length, s = rod.length, np.linspace(0.0, rod.length, 200)
    before = [(p.position, p.frame, p.velocity) for p in map(rod.at, s)]
    first, rest = rod.cut(0.45 * length)
    assert first is rod and scene.bodies == (rod, rest) and rest.name == "rope (2)"
    assert first.length + rest.length == pytest.approx(length, rel=1e-9)
    cut = first.length
    assert abs(cut - 0.45 * length) < 0.6 * length / 21.0
    for at, (position, frame, velocity) in zip(s, before, strict=True):
        point = first.at(at) if at <= cut else rest.at(min(at - cut, rest.length))
        assert np.allclose(point.velocity, velocity, atol=1e-12)
        far = abs(at - cut) > 3.01 * length / 21.0
        assert np.linalg.norm(point.position - position) < (1e-12 if far or model == "discrete" else 3e-4 * length)
        assert not far or np.allclose(point.frame, frame, atol=1e-8)


def test_a_closed_rod_opens_where_it_is_cut() -> None:
    scene, rod = moving(closed=True)
    length, mass, s = rod.length, rod.mass, np.linspace(0.0, rod.length, 200, endpoint=False)
    before = np.array([rod.at(x).position for x in s])
    knots = rod.knots
    assert rod.cut(0.45 * length) == (rod,)
    begin = knots[np.abs(knots - 0.45 * length).argmin()]
    assert not rod.closed and scene.bodies == (rod,) and rod.length == pytest.approx(length, rel=1e-9)
    assert rod.mass == pytest.approx(mass, rel=1e-12)
    there = (s - begin) % length
    now = np.array([rod.at(min(x, rod.length)).position for x in there])
    away = (there > 0.15 * length) & (there < 0.85 * length)
    assert np.allclose(now[away], before[away], atol=1e-12)
    assert np.linalg.norm(now - before, axis=1).max() < 3e-4 * length
    scene.run(0.1, dt=1e-3)
    assert np.linalg.norm(rod.at(0.0).position - rod.at(rod.length).position) > 1e-3  # it springs open


@pytest.mark.parametrize(("model", "closed"), [("spline", False), ("spline", True), ("discrete", False)])
def test_momentum_mass_and_energy_stay(model: str, closed: bool) -> None:
    scene, rod = moving(model, closed)
    momentum, spin, energy, mass = scene.linear_momentum, scene.angular_momentum, scene.energy, rod.mass
    pieces = rod.cut(0.4 * rod.length)
    assert sum(piece.mass for piece in pieces) == pytest.approx(mass, rel=1e-12)
    assert scene.energy.kinetic == pytest.approx(energy.kinetic, rel=1e-9 if model == "spline" else 1e-4)
    assert np.allclose(scene.linear_momentum, momentum, atol=1e-13)
    assert np.linalg.norm(scene.angular_momentum - spin) < 1e-3 * np.linalg.norm(spin) + 1e-12
    # Nothing is stored by a cut: what is left out, or taken twice, is a span's share of the bending.
    assert abs(scene.energy.total - energy.total) < 0.15 * energy.bend
    scene.run(0.05, dt=1e-3)
    assert np.allclose(scene.linear_momentum, momentum, atol=1e-10)


@pytest.mark.parametrize("points", [24, 48, 96])
def test_what_a_spline_moves_at_a_cut_vanishes_with_its_spans(points: int) -> None:
    """A bent rod at rest: what moves falls with the third power of the length of spans, or faster."""
    rod = wound(points=points)
    s = np.linspace(0.0, rod.length, 400)
    before = np.array([rod.at(x).position for x in s])
    first, rest = rod.cut(0.5 * rod.length)
    cut = first.length
    now = [first.at(x).position if x <= cut else rest.at(min(x - cut, rest.length)).position for x in s]
    assert np.linalg.norm(np.array(now) - before, axis=1).max() < 2e-3 * (24.0 / points) ** 3


# ------------------------------------------------------------------------------------------------- what is tied to it


@pytest.mark.parametrize("tilt", [0.0, 1e-6, 1e-4, 1e-2, 0.1])
@pytest.mark.parametrize("load", [0.0, 20.0])
def test_the_ends_of_a_cut_in_a_straight_rope_are_not_thrown_aside(tilt: float, load: float) -> None:
    """Where nothing is bent, no place to the side meets the strain of the spans at a cut: none is looked for.

    What is missing at an end is at most how much strains differ along the rope, times the length of a span.
    """
    scene = sn.Scene()
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 2), (tilt, 0, 1), section=sn.Section.circle(6e-3), material=sn.Material(1e7, 0.4, 1000.0),
            control_points=30,
        )
    )  # fmt: skip
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Load(rope.at(0.5), force=(0, 0, -load)))
    scene.settle()
    places = np.linspace(0.02, 0.98, 97)
    before = np.array([rope.at(s).position for s in places])
    span, EA = rope.length / 27, 1e7 * rope.section.area
    missing = span * (load + 9.81 * rope.mass) / EA
    energy = scene.energy.total
    first, second = rope.cut(0.54)
    cut = first.length
    after = np.array([(first.at(s) if s <= cut else second.at(s - cut)).position for s in places])
    assert np.linalg.norm(after - before, axis=1).max() < missing
    assert abs(scene.energy.total - energy) < (load + 9.81 * rope.mass) * missing


def test_ties_loads_and_sliders_stay_where_they_were() -> None:
    scene = sn.Scene()
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (2, 0, 1), section=THICK, material=HEMP, control_points=30, name="rope")
    )
    for s in (0.0, 2.0):
        scene.add(sn.Fix(rope.at(s)))
    boxes = [scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.1, position=(s, 0, 0.9))) for s in (0.5, 1.5)]
    balls = [scene.add(sn.Ball(box.at((0, 0, 0.05)), rope.at(s))) for box, s in zip(boxes, (0.5, 1.5), strict=True)]
    load = scene.add(sn.Load(rope.at(1.7), force=(0, 0.3, 0)))
    pearls = [scene.add(sn.Pearl(rope, at=s, mass=0.02, radius=0.02)) for s in (0.3, 0.7, 1.3)]
    hole = scene.add(sn.Keyhole(rope, at=1.8, hole=(1.8, 0, 1)))
    scene.run(0.2, dt=2e-3)

    def places() -> list[object]:
        return [ball.points[1].position for ball in balls] + [load.point.position] + [p.position for p in pearls]

    before, speeds, slid = places(), [pearl.at().velocity for pearl in pearls], [pearl.s for pearl in pearls]
    first, rest = rope.cut(1.0)
    assert np.allclose(places(), before, atol=1e-9)
    assert [ball.points[1].body for ball in balls] == [first, rest] and load.point.body is rest
    assert [pearl.rod for pearl in pearls] == [first, first, rest]
    assert pearls[2].s == pytest.approx(slid[2] - first.length, abs=1e-9)
    assert np.allclose([pearl.at().velocity for pearl in pearls], speeds, atol=1e-9)
    assert hole.points[0].body.rod is rest
    assert [e.kind for e in scene.events] == ["cut"] and scene.events[-1].subjects == (first, rest)
    scene.run(1.0, dt=2e-3)
    for ball in balls:
        assert abs(ball.violation).max() < 1e-4
    for pearl in pearls:
        assert 0.02 - 1e-6 <= pearl.s <= pearl.rod.length - 0.02 + 1e-6
    # The two ends hang on their fixes now, below them.
    assert first.at(first.length).position[2] < 0.9 and rest.at(0.0).position[2] < 0.9


def test_what_is_cut_off_falls_freely(validated: Validated) -> None:
    """A rope hangs at rest by its upper end and is cut: the lower piece falls with g; the upper one stays held."""
    scene = sn.Scene(integrator="midpoint")
    rope = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, -1), section=THICK, material=HEMP, control_points=20))
    hold = scene.add(sn.Fix(rope.at(0.0)))
    scene.settle()
    assert hold.force[2] == pytest.approx(rope.mass * G, rel=1e-6)
    upper, lower = rope.cut(0.5)
    masses = lower.tables.masses.total

    def middle() -> float:
        return float(masses @ lower.control_points[:, 2] / masses.sum())

    begin = middle()
    scene.run(0.3, dt=1e-3)
    way = 0.5 * G * 0.3**2
    validated(
        "Hanging rope cut through", area="rods in scenes", quantity="way that the lower piece has fallen",
        reference="free fall, gt²/2", error=abs(begin - middle() - way) / way, bound=1e-9,
    )  # fmt: skip
    scene.integrator = "euler"
    scene.run(2.0, dt=2e-3)
    assert hold.force[2] == pytest.approx(upper.mass * G, rel=1e-3)


# --------------------------------------------------------------------------------------------------------- going back


@pytest.mark.parametrize(("model", "closed"), [("spline", False), ("spline", True), ("discrete", False)])
def test_snapshots_from_before_and_after_a_cut_go_on_bitwise(model: str, closed: bool) -> None:
    scene, rod = moving(model, closed)
    scene.add(sn.Load(rod.at(0.7 * rod.length), force=(0, 0, 0.1)))
    scene.run(0.01, dt=1e-3)
    whole = scene.snapshot()
    scene.run(0.02, dt=1e-3)
    at_last = rod.centerline(30)
    scene.restore(whole)
    rod.cut(0.5 * rod.length)
    cut = scene.snapshot()
    scene.run(0.02, dt=1e-3)
    pieces = scene.bodies
    cut_last = [lines_of(piece) for piece in pieces]
    for _ in range(2):
        scene.restore(whole)
        assert rod.closed == closed and scene.bodies == (rod,) and scene.loads[0].point.body is rod
        scene.run(0.02, dt=1e-3)
        assert np.array_equal(rod.centerline(30), at_last)
        scene.restore(cut)
        assert scene.bodies == pieces
        scene.run(0.02, dt=1e-3)
        assert all(np.array_equal(lines_of(piece), line) for piece, line in zip(pieces, cut_last, strict=True))
    scene.reset()  # what is in the scene stays: pieces begin where they were cut
    assert scene.bodies == pieces and scene.time == 0.0
    scene.restore(whole)
    scene.reset()
    scene.run(0.01, dt=1e-3)
    assert rod.closed == closed and scene.bodies == (rod,)


def test_files_and_other_processes_hold_pieces(tmp_path: Path) -> None:
    scene, rod = moving()
    scene.add(sn.Load(rod.at(0.7 * rod.length), force=(0, 0, 0.1)))
    whole = scene.snapshot()
    rod.cut(0.5 * rod.length)
    rod.breaking_load = 1e4
    scene.run(0.01, dt=1e-3)
    scene.save(tmp_path / "cut.npz")
    other = sn.Scene.load(tmp_path / "cut.npz")
    sent, sent_whole = pickle.loads(pickle.dumps((scene, whole)))
    for one in (scene, other, sent):
        one.run(0.02, dt=1e-3)
    for one in (other, sent):
        assert [b.name for b in one.bodies] == ["rope", "rope (2)"]
        assert one.bodies[0].breaking_load == 1e4
        assert all(np.array_equal(lines_of(a), lines_of(b)) for a, b in zip(scene.bodies, one.bodies, strict=True))
    for one, state in ((scene, whole), (sent, sent_whole)):
        one.restore(state)
        one.run(0.02, dt=1e-3)
    assert len(sent.bodies) == 1
    assert np.array_equal(lines_of(sent.bodies[0]), lines_of(rod))


@pytest.mark.parametrize("place", [0.2, 0.35, 0.5, 0.62, 0.8])
def test_a_file_holds_what_is_tied_to_the_end_of_a_piece(place: float, tmp_path: Path) -> None:
    """Whose place by its parameter was beyond the piece's length by a bit, for two of these."""
    steel = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)
    scene = Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(5e-3), material=steel))
    end = scene.add(sn.Fix(rope.at(rope.length)))
    _, rest = rope.cut(place)
    assert end.points[0].s == rest.length
    scene.save(tmp_path / "cut.npz")
    again = Scene.load(tmp_path / "cut.npz")
    for each in (scene, again):
        each.step(5e-3)
    assert np.array_equal(scene.constraints[0].force, again.constraints[0].force)


def test_pieces_touch_what_the_rod_touched() -> None:
    scene = sn.Scene()
    rope = scene.add(
        sn.Rod.straight((0, 0, 0.0102), (1, 0, 0.0102), section=THICK, material=HEMP, control_points=20, name="rope")
    )
    table = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    scene.collide(rope, table, friction=0.5)
    scene.run(0.3, dt=5e-3)
    pieces = rope.cut(0.5)
    scene.run(0.5, dt=5e-3)
    for piece in pieces:
        assert piece.centerline(20)[:, 2].min() > 0.0099
        assert scene.contacts.between(piece, table).force[2] == pytest.approx(piece.mass * G, rel=1e-3)


def test_a_rule_for_a_pair_stays_one_when_the_rod_is_cut_and_restored(tmp_path: Path) -> None:
    """It holds where a constraint ties the two, for all pieces; `restore` makes it name two things again."""
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=THICK, material=HEMP, control_points=20))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.8, 0, 0.9)))
    other = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0, 0.9)))
    scene.collide(rope, box, friction=0.5)
    scene.collide(rope, [box, other], friction=0.1)
    scene.step(1e-3)
    snapshot, rules = scene.snapshot(), scene._rules
    assert rules.between(rope, box, True).friction == 0.5 and rules.between(rope, other, True) is None
    assert rules.between(rope, box, False).friction == 0.1
    first, second = rope.cut(0.5)
    scene.step(1e-3)
    scene.save(tmp_path / "cut.npz")
    again = sn.Scene.load(tmp_path / "cut.npz")
    for told, pieces, solid in (
        (rules, (first, second), (box, other)),
        (again._rules, (again.bodies[0], again.bodies[3]), again.bodies[1:3]),
    ):
        for piece in pieces:
            assert told.between(piece, solid[0], True).friction == 0.5
            assert told.between(piece, solid[1], True) is None
    scene.restore(snapshot)
    assert rules.rules[0].first == (rope,) and rules.between(second, box, False) is None
    scene.step(1e-3)


def test_snapshots_from_before_a_cut_come_back_in_plain_python_too() -> None:
    """Compiled kernels divide by zero without a word where a rod's control points are all at one place."""
    program = """if True:
        import sennit as sn
        hemp, scene = sn.Material(1e7, 0.4, 1000.0), sn.Scene()
        rope = sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(0.01), material=hemp, control_points=8)
        scene.add(rope)
        scene.add(sn.Clamp(rope.at(0)))
        snapshot = scene.snapshot()
        rope.cut(0.5)
        scene.restore(snapshot)
        scene.step(1e-2)
        print(len(scene.bodies))
    """
    told = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"SENNIT_KERNELS": "python"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert told.stdout.split() == ["1"]


# ------------------------------------------------------------------------------------------------------------ breaking


def hanging(load: float) -> tuple[Scene, sn.Rod]:
    """A rope that hangs at rest with a load at its end."""
    scene = sn.Scene()
    rope = scene.add(
        sn.Rod.straight((0, 0, 0), (0, 0, -1), section=THICK, material=HEMP, control_points=20, name="rope")
    )
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Load(rope.at(1.0), force=(0, 0, -load)))
    scene.settle()
    return scene, rope


def test_a_rope_breaks_above_its_load_and_not_below(validated: Validated) -> None:
    """The tension of a hanging rope is the weight below and the load: above that it holds, below it breaks."""
    scene, rope = hanging(20.0)
    s = float(rope._s_at(rope.tables.stretch_u[:1])[0])  # where tension is known that is next to the upper end
    here = 20.0 + rope.mass * G * (1.0 - s)
    rope.breaking_load = 1.001 * here
    scene.run(0.5, dt=2e-3)
    assert not scene.events
    validated(
        "Hanging rope with a breaking load", area="rods in scenes", quantity="tension that is judged",
        reference="weight below and load", error=abs(float(rope.tables.stretch.tension.max()) - here) / here,
        bound=1e-4,
    )  # fmt: skip
    rope.breaking_load = 0.999 * here
    scene.run(4e-3, dt=2e-3)
    (event,) = scene.events
    assert event.kind == "broken" and event.subjects == scene.bodies and "rope (2)" in event.message
    assert rope.length == pytest.approx(2.0 / 17.0, rel=0.3)  # next to the end
    scene.run(0.2, dt=2e-3)
    assert len(scene.events) == 1  # nothing pulls any more
    assert lines_of(scene.bodies[1])[:, 2].max() < -0.2


def test_a_rod_breaks_where_it_is_bent_most() -> None:
    """A cantilever that a force bends: at its clamp, once FL/EI exceeds the limit."""
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=THICK, material=HEMP, control_points=30))
    scene.add(sn.Clamp(rod.at(0.0)))
    pull = scene.add(sn.Load(rod.at(1.0), force=(0, 0, 0)))
    EI = 1e7 * np.pi * 1e-8 / 4.0
    rod.breaking_curvature = 0.5  # the elastica's is FL/EI to 5 % there
    for force in 0.1 * EI * np.arange(1, 10):
        pull.force = (0, 0, force)
        scene.settle()
        scene.step(1e-3)
        assert len(scene.bodies) == (1 if force / EI < 0.55 else 2)
        if len(scene.bodies) == 2:
            break
    assert len(scene.bodies) == 2 and rod.length < 0.12


def test_what_can_not_break_says_so() -> None:
    scene, rope = hanging(20.0)
    scene.add(sn.Pearl(rope, at=0.1, mass=0.01, radius=0.07))
    rope.breaking_load = 5.0
    scene.run(0.02, dt=2e-3)
    assert [e.kind for e in scene.events] == ["unbroken"] and rope.breaking_load is None
    rope.breaking_load = 100.0
    with pytest.raises(sn.InputError, match="not break"):
        sn.Batch(scene, 2)


# ---------------------------------------------------------------------------------------------------------- bad input


def test_cuts_at_ends_and_of_short_rods_are_refused() -> None:
    scene, rod = moving()
    time = scene.time
    for s in (0.0, rod.length, 0.01 * rod.length, 0.99 * rod.length):
        with pytest.raises(sn.InputError, match="two pieces"):
            rod.cut(s)
    for bad in (-0.1, 2.0 * rod.length, np.nan, "middle"):
        with pytest.raises(sn.InputError, match="s must"):
            rod.cut(bad)  # type: ignore[arg-type]
    short = sn.Rod.straight((0, 0, 0), (1, 0, 0), section=THICK, material=HEMP, control_points=6)
    with pytest.raises(sn.InputError, match="3 spans"):
        short.cut(0.5)
    with pytest.raises(sn.InputError, match="3 spans"):
        short.breaking_load = 1.0
    for bad in (0.0, -1.0, np.inf):
        with pytest.raises(sn.InputError, match="breaking_load"):
            rod.breaking_load = bad
    assert scene.bodies == (rod,) and scene.time == time and not scene.events


def test_rods_in_tubes_and_pearls_without_room_are_refused() -> None:
    scene = sn.Scene()
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=THICK, material=HEMP, control_points=20, name="wire"))
    pearl = scene.add(sn.Pearl(rod, at=0.1, mass=0.01, radius=0.09, name="bead"))
    with pytest.raises(sn.InputError, match="bead"):
        rod.cut(0.12)
    scene.remove(pearl)
    tube = scene.add(sn.Inside(rod, sn.Cylinder(0.05, 2.0, sn.Pose((0.5, 0, 0), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)))))
    with pytest.raises(sn.InputError, match="in or around"):
        rod.cut(0.5)
    scene.remove(tube)
    assert len(rod.cut(0.5)) == 2


def test_a_rod_in_no_scene_is_cut_too() -> None:
    rod = wound()
    line = rod.centerline(50)
    first, rest = rod.cut(0.5 * rod.length)
    assert first is rod and rest.scene is None
    assert np.linalg.norm(rest.at(rest.length).position - line[-1]) < 1e-12
