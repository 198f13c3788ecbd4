"""Bodies that are made of something else while their scene runs: as if made so, and the work is told."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from unit.scene.kit import bits

import sennit as sn
from sennit import InputError

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=5e-3)
GUM = sn.Material(2e6, 0.45, 1400, relaxation_time=2e-2)
THIN, THICK = sn.Section.circle(6e-3), sn.Section.rectangle(0.02, 0.012)
HUGE = sn.Section.custom(area=1e304, I1=1e304, I2=1e304, J=1e304, shear1=1.0, shear2=1.0)
MODELS = ("spline", "discrete")


def rising(s: float) -> tuple[float, float]:
    return s, 2 * s * s


CHANGES: dict[str, tuple[Callable[[sn.Rod], None], dict]] = {
    "material": (lambda rod: setattr(rod, "material", GUM), {"material": GUM}),
    "section": (lambda rod: setattr(rod, "section", THICK), {"section": THICK}),
    "damping": (lambda rod: setattr(rod, "damping", 0.05), {"material": sn.Material(1e7, 0.4, 1000, 0.05)}),
    "curvature": (lambda rod: setattr(rod, "rest_curvature", (1.5, -2.0)), {"rest_curvature": (1.5, -2.0)}),
    "curvature and twist": (lambda rod: setattr(rod, "rest_curvature", (1, 2, 3)), {"rest_curvature": (1, 2, 3)}),
    "twist": (lambda rod: setattr(rod, "rest_twist", 4.0), {"rest_twist": 4.0}),
    "curvature along s": (lambda rod: setattr(rod, "rest_curvature", rising), {"rest_curvature": rising}),
}  # fmt: skip


def rope(model: str = "spline", **given) -> sn.Rod:
    options = {"section": THIN, "material": HEMP, "control_points": 12, "model": model} | given
    return sn.Rod.straight((0, 0, 0), (0.8, 0, 0), **options)


def held(rod: sn.Rod, **options) -> sn.Scene:
    """A rod that is clamped at its start, with a ball at its end, and a pearl where there can be one."""
    scene = sn.Scene(**options)
    scene.add(rod)
    scene.add(sn.Clamp(rod.at(0.0)))
    ball = scene.add(sn.RigidBody.sphere(0.02, mass=0.05, position=(0.8, 0, 0)))
    scene.add(sn.Ball(ball.at(), rod.at(0.8)))
    return scene


def place(scene: sn.Scene) -> np.ndarray:
    return np.vstack([body.centerline(40) if isinstance(body, sn.Rod) else body.position for body in scene.bodies])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("what", CHANGES)
def test_equal_to_a_rod_made_so(what: str, model: str) -> None:
    """In every table, and so in every later step, bit by bit."""
    change, given = CHANGES[what]
    ours, made = rope(model), rope(model, **given)
    scene, other = held(ours), held(made)
    change(ours)
    for name in ("rods", "masses", "bends", "stretches"):
        mine, wanted = ours.tables.part(name), made.tables.part(name)
        for field, array in wanted.fields("parameter").items():
            assert np.array_equal(getattr(mine, field), array), (name, field)
    for each in (scene, other):
        each.run(0.1, 0.005)
    assert np.array_equal(place(scene), place(other))
    assert ours.mass == made.mass and np.array_equal(ours.stiffness, made.stiffness)


@pytest.mark.parametrize("what", CHANGES)
def test_changed_on_the_way_equal_to_a_rod_made_so_that_was_put_there(what: str) -> None:
    """Statics to 1e-8 m; steps to rounding, from the same shape and velocities."""
    change, given = CHANGES[what]
    ours, made = rope(), rope(**given)
    scene, other = held(ours), held(made)
    scene.run(0.1, 0.005)
    change(ours)
    other.step(0.005)
    for mine, theirs in zip(scene._numbered(), other._numbered(), strict=True):
        for field, numbers in theirs._state_arrays().items():
            numbers[...] = mine._state_arrays()[field]
    other._system.refresh()
    other._clock.last_step = 0.0
    for each in (scene, other):
        each.run(0.05, 0.005)
    assert place(scene) == pytest.approx(place(other), abs=1e-13)
    for each in (scene, other):
        each.settle()
    assert place(scene) == pytest.approx(place(other), abs=1e-8)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("what", CHANGES)
def test_work_of_a_change_is_counted(what: str, integrator: str) -> None:
    """What is stored and moves just after a change, less what did just before; and steps go on without a word."""
    scene = held(rope(), integrator=integrator)
    rod = scene.bodies[0]
    scene.run(0.05, 0.0025)
    before, told = scene.energy.total, scene.energy_put_in
    assert told == 0.0
    CHANGES[what][0](rod)
    assert scene.energy_put_in == pytest.approx(scene.energy.total - before, rel=1e-12, abs=1e-15)
    scene.run(0.05, 0.0025)
    assert {event.kind for event in scene.events} <= {"fallback"}


def test_constant_curvature_makes_a_free_cantilever_a_circle(validated) -> None:
    """A robot's arm without load takes its rest shape: a circle of radius 1/κ̂."""
    scene = sn.Scene(gravity=(0, 0, 0))
    arm = scene.add(rope(control_points=24))
    scene.add(sn.Clamp(arm.at(0.0)))
    scene.settle()
    arm.rest_curvature = (0.0, 5.0)
    scene.settle()
    length, radius = 0.8, 0.2
    tip = arm.at(length).position
    across = 1.0 - math.cos(length / radius)
    # κ2 turns the tangent about d2, which is up: κ2 > 0 takes the tip to the side of d1
    ideal = radius * np.array((math.sin(length / radius), across, 0.0))
    assert arm.frames(2)[0, :, 1] == pytest.approx((0, 0, 1))
    validated(
        "Arm whose rest curvature is set while it runs", area="rods in scenes", quantity="tip, of the length",
        reference="circle of radius 1/κ̂", error=float(np.linalg.norm(tip - ideal)) / length,
        bound=1e-4,
    )  # fmt: skip


def test_stiffness_jump_is_the_energy_difference_of_a_stretched_spring(validated) -> None:
    """A weight on a rope of EA, which becomes EA': EA' ε²/2 − EA ε²/2 a metre is put in, ε = m g/EA."""
    scene = sn.Scene()
    line = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, -1), section=THIN, material=sn.Material(1e7, 0.4, 1e-3)))
    scene.add(sn.Fix(line.at(0.0)))
    weight = scene.add(sn.RigidBody.sphere(0.02, mass=1.0, position=(0, 0, -1)))
    scene.add(sn.Ball(weight.at(), line.at(1.0)))
    scene.settle()
    line.material = sn.Material(3e7, 0.4, 1e-3)
    strain = 9.81 / (1e7 * THIN.area)
    work = 0.5 * (3e7 - 1e7) * THIN.area * strain**2
    validated(
        "Loaded line whose modulus is set while it runs", area="rods in scenes", quantity="work put in",
        reference="(E' − E) A ε² L/2", error=abs(scene.energy_put_in / work - 1.0), bound=1e-5,
    )  # fmt: skip


def test_a_heavier_body_keeps_its_velocity_and_its_work_is_counted() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    body = scene.add(sn.RigidBody.box((0.1, 0.2, 0.3), mass=2.0))
    body.velocity, body.angular_velocity = (1, 2, 0), (0.3, 4.0, -0.2)
    scene.run(0.1, 0.01)
    velocity, spin, kinetic = body.velocity, body.angular_velocity, scene.energy.kinetic
    body.mass = 5.0
    assert np.array_equal(body.velocity, velocity)
    assert body.angular_velocity == pytest.approx(spin, rel=1e-14)
    assert scene.energy.kinetic == pytest.approx(2.5 * kinetic, rel=1e-13)
    assert scene.energy_put_in == pytest.approx(1.5 * kinetic, rel=1e-12)
    body.inertia = (0.02, 0.03, 0.04)
    momentum = scene.angular_momentum
    turn = body.pose.rotation
    assert momentum == pytest.approx(
        turn @ np.diag((0.02, 0.03, 0.04)) @ turn.T @ spin + 5.0 * np.cross(body.position, velocity), rel=1e-12
    )
    scene.run(0.2, 0.01)
    assert scene.angular_momentum == pytest.approx(momentum, rel=1e-9, abs=1e-12)
    assert not scene.events


def test_friction_of_a_running_pearl() -> None:
    """A pearl on a slope of 30° slides at μ = 0.3 and holds at 0.7 (tan 30° = 0.577)."""
    scene = sn.Scene()
    line = scene.add(sn.Rod.straight((0, 0, 0), (math.cos(math.pi / 6), 0, -0.5), section=THIN, material=HEMP))
    for s in np.linspace(0.0, 1.0, 27):
        scene.add(sn.Fix(line.at(s)))
    pearl = scene.add(sn.Pearl(line, 0.3, mass=0.01, radius=0.01, friction=0.7))
    scene.run(0.2, 0.01)
    assert pearl.s == pytest.approx(0.3, abs=1e-6)
    pearl.friction = 0.3
    kept = scene.snapshot()
    scene.run(0.2, 0.01)
    way = 0.5 * 9.81 * (0.5 - 0.3 * math.cos(math.pi / 6)) * 0.2**2
    assert pearl.s - 0.3 == pytest.approx(way, rel=0.12)
    pearl.friction = 0.9
    scene.restore(kept)
    assert pearl.friction == 0.3
    scene.reset()
    assert pearl.friction == 0.7


def changed(scene: sn.Scene) -> None:
    rod, ball = scene.bodies[:2]
    rod.material, rod.section = GUM, THICK
    rod.rest_curvature = (0.0, 2.0)
    ball.mass = 0.2


def test_snapshots_and_reset_follow() -> None:
    scene = held(rope())
    scene.run(0.05, 0.005)
    first = scene.snapshot()
    changed(scene)
    scene.run(0.05, 0.005)
    second, end = scene.snapshot(), place(scene)
    scene.run(0.05, 0.005)
    later = place(scene)
    scene.restore(first)
    rod, ball = scene.bodies[:2]
    assert rod.section is THIN and rod.material is HEMP and ball.mass == 0.05 and not rod.rest_strains()[1].any()
    assert scene.energy_put_in == 0.0
    changed(scene)
    scene.run(0.05, 0.005)
    assert np.array_equal(place(scene), end)
    rod.rest_twist = 9.0
    scene.restore(second)
    assert rod.section is THICK and ball.mass == 0.2 and not rod.rest_twist.any()
    scene.run(0.05, 0.005)
    assert np.array_equal(place(scene), later)
    scene.reset()
    assert rod.section is THIN and rod.material is HEMP and ball.mass == 0.05 and scene.energy_put_in == 0.0
    scene.run(0.05, 0.005)
    scene.restore(first)
    begun = place(scene)
    scene.reset()
    scene.run(0.05, 0.005)
    assert np.array_equal(place(scene), begun)


@pytest.mark.parametrize("how", ["file", "pickle"])
def test_files_and_pickles_follow(how: str, tmp_path) -> None:
    scene = held(rope())
    scene.run(0.05, 0.005)
    changed(scene)
    scene.run(0.02, 0.005)
    if how == "file":
        scene.save(tmp_path / "a.npz")
        other = sn.Scene.load(tmp_path / "a.npz")
    else:
        other = pickle.loads(pickle.dumps(scene))
    assert other.energy_put_in == scene.energy_put_in != 0.0
    assert other.bodies[0].section == THICK and other.bodies[1].mass == 0.2
    for each in (scene, other):
        each.run(0.05, 0.005)
    assert np.array_equal(place(scene), place(other))
    other.bodies[0].rest_curvature = (1.0, 0.0)
    other.reset()
    begun = (0.0, 2.0) if how == "file" else (0.0, 0.0)
    assert other.bodies[0].rest_curvature == pytest.approx(np.tile(begun, (18, 1)))


def test_no_matrix_is_analysed_anew() -> None:
    scene = held(rope())
    scene.step(0.005)
    system, plan = scene._system, scene._system.plan(False)
    changed(scene)
    scene.step(0.005)
    assert scene._system is system and system.plan(False) is plan


def test_thicker_where_things_touch() -> None:
    """A rope on a table is lifted by what its radius has grown, and lies there."""
    scene = sn.Scene()
    line = scene.add(rope(section=sn.Section.circle(4e-3), material=sn.Material(1e7, 0.4, 50)))  # no sag to see
    scene.add(sn.Obstacle(sn.Plane((0, 0, -4e-3), (0, 0, 1))))
    scene.collide(friction=0.3)
    scene.run(0.05, 0.005)
    line.section = sn.Section.circle(4.1e-3)
    scene.run(0.05, 0.005)
    scene.settle()
    assert line.centerline(20)[:, 2] == pytest.approx(1e-4, abs=1e-5)


def test_too_thick_for_its_tube() -> None:
    scene = sn.Scene()
    wire = scene.add(rope(section=sn.Section.circle(1e-3)))
    scene.add(sn.Inside(wire, [(-0.1, 0, 0), (0.9, 0, 0)], radius=2e-3))
    scene.step(1e-3)
    before = bits(scene)
    with pytest.raises(InputError, match="not fit into"):
        wire.section = sn.Section.circle(3e-3)
    assert bits(scene) == before


def test_arrays_along_the_rod() -> None:
    rod = rope()
    places, _ = rod.rest_strains()
    rod.rest_curvature = [(0, 0), (0, 1), (0, 4)]
    assert rod.rest_curvature[:, 1] == pytest.approx(np.interp(places, (0, 0.4, 0.8), (0, 1, 4)))
    kept = rod.rest_curvature
    rod.rest_curvature = kept
    assert np.array_equal(rod.rest_curvature, kept)
    rod.rest_twist = np.linspace(0, 1, 5)
    assert rod.rest_twist == pytest.approx(places / 0.8)
    rod.rest_twist = lambda s: 3.0 * s
    assert rod.rest_twist == pytest.approx(3.0 * places)
    assert np.array_equal(rod.rest_curvature, kept)
    made = rope(rest_curvature=[(0, 0), (0, 1), (0, 4)])
    assert np.array_equal(made.rest_curvature, kept)
    rod.rest_strains()[1][:] = 7.0  # a copy
    assert np.array_equal(rod.rest_curvature, kept)


calls = iter(range(10**6))
BAD: tuple[tuple[str, object, str], ...] = (
    ("section", 0.01, "section must be a sennit.Section, a list .* got 0.01"),
    ("material", None, "material must be a sennit.Material, a list .* got None"),
    ("damping", -1.0, "damping must be .* got -1"),
    ("rest_curvature", (1.0,), "rest_curvature must be an array"),
    ("rest_curvature", (1.0, math.nan), "rest_curvature must hold finite numbers"),
    ("rest_curvature", [[1.0, 2.0]], "two rows or more"),
    ("rest_curvature", lambda s: (1.0, math.inf) if s > 0.4 else (1.0, 1.0), r"rest_curvature\(0\.4\d+\) must hold"),
    ("rest_curvature", lambda s: "bent", r"rest_curvature\(0\.0"),
    ("rest_curvature", lambda s: (float(next(calls)), 0.0), "function of s alone: at s = 0.7"),
    ("rest_curvature", lambda s: (0, 0, 0) if s > 0.4 else (0, 0), "as many numbers everywhere"),
    ("rest_twist", "tight", "rest_twist must be an array"),
    ("section", HUGE, "would be|too large or too small"),
)


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_matter_is_refused_and_changes_nothing(name: str, value: object, message: str) -> None:
    scene = held(rope())
    scene.step(0.005)
    before = bits(scene)
    with pytest.raises(InputError, match=message):
        setattr(scene.bodies[0], name, value)
    assert bits(scene) == before


def test_bad_masses_and_frictions() -> None:
    scene = held(rope())
    ball = scene.bodies[1]
    slider = scene.add(sn.Slider(scene.bodies[0], 0.2))
    scene.step(0.005)
    before = bits(scene)
    for name, value, message in (
        ("mass", -1.0, "mass must be"), ("mass", math.inf, "mass must be"), ("inertia", (1, 1, 5), "none exceeds"),
        ("inertia", 3.0, "inertia must be"), ("mass", 1e-320, "too large or too small"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            setattr(ball, name, value)
    with pytest.raises(InputError, match="made without"):
        slider.friction = 0.2
    assert bits(scene) == before


def test_batches_of_a_changed_scene() -> None:
    scene = held(rope())
    changed(scene)
    batch = sn.Batch(scene, 2)
    batch.vary(scene.bodies[0], "youngs_modulus", np.array((1e6, 5e6)))
    for refused in ("section", "damping", "mass"):
        with pytest.raises(InputError, match="set takes one of"):
            batch.set(scene.bodies[0 if refused != "mass" else 1], refused, np.zeros(2))
    batch.step(0.005, 4)
    one = batch.scene(1)
    assert one.bodies[0].material.youngs_modulus == 5e6 and one.bodies[0].section == THICK
    one.bodies[0].material = HEMP
    one.reset()
    assert one.bodies[0].material.youngs_modulus == 5e6
